"""Models in git's own commands, with the real git in repositories of the tests' own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CORPUS, slow_imports
from support.containers import LFS, NEURAL_NETWORK
from support.repositories import EXAMPLE, MODEL, WEIGHTS, Repository, changes

import miltext
from miltext.review.textconv import ModelForm, file_text
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

if shutil.which("git") is None:
    pytest.skip("needs git", allow_module_level=True)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def kept_texts(repository: Repository) -> list[str]:
    """The texts that are kept for git."""
    folder = repository.folder / ".git" / "miltext-texts"
    return [path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()]


def test_git_shows_a_changed_model_as_text(repository: Repository) -> None:
    repository.miltext("git", "setup")
    repository.edit()
    assert changes(repository.git("diff")) == ["-relu", "+tanh"]
    repository.commit()
    for command in (("log", "-p", "-1"), ("show",), ("diff", "HEAD~")):
        assert changes(repository.git(*command)) == ["-relu", "+tanh"]
    assert "func main" in repository.git("show").split("@@")[2]
    assert kept_texts(repository)


def test_an_upgrade_forgets_the_texts_of_the_version_before(repository: Repository) -> None:
    repository.miltext("git", "setup")
    repository.edit()
    repository.commit()
    repository.git("show")
    repository.miltext("git", "setup")
    assert not kept_texts(repository)
    assert changes(repository.git("show")) == ["-relu", "+tanh"]


def test_a_changed_weight_is_a_changed_digest(repository: Repository) -> None:
    repository.miltext("git", "setup")
    path = repository.folder / WEIGHTS
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    lines = [line for line in repository.git("diff", "-U0").splitlines() if "sha256:" in line]
    assert [line[0] for line in lines] == ["-", "+"]
    assert lines[0].split()[1:-1] == lines[1].split()[1:-1]


def test_difftool_compares_by_structure(repository: Repository) -> None:
    repository.miltext("git", "setup")
    (repository.folder / "notes.txt").write_text("one\n")
    repository.commit()
    repository.edit()
    (repository.folder / "notes.txt").write_text("two\n")
    shown = repository.git("difftool", "-y", "--", "*.mlmodel")
    assert "relu" in shown
    assert "tanh" in shown
    assert "[name = string" not in shown
    assert "+two" in repository.git("difftool", "-y", "--", "notes.txt")


def test_difftool_shows_a_model_that_came_and_a_weight_file(repository: Repository) -> None:
    repository.miltext("git", "setup")
    shown = repository.git("difftool", "-y", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "HEAD")
    assert "+program(1.3)" in shown
    assert "sha256:" in shown


def test_a_tool_that_was_chosen_stays(repository: Repository) -> None:
    repository.git("config", "diff.tool", "meld")
    repository.miltext("git", "setup")
    assert repository.git("config", "diff.tool") == "meld\n"
    repository.miltext("git", "undo")
    assert repository.git("config", "diff.tool") == "meld\n"


@pytest.mark.parametrize("key", ["diff.tool", "merge.tool"])
def test_tool_that_was_chosen_for_all_repositories_stays_in_each(repository: Repository, key: str) -> None:
    repository.git("config", "--global", key, "meld")
    repository.git("config", "diff.miltext.binary", "true")
    repository.miltext("git", "setup")
    assert "diff.tool=" not in repository.git("config", "--local", "--list")
    repository.miltext("git", "undo")
    assert re.findall("^diff.*", repository.git("config", "--local", "--list"), re.MULTILINE) == [
        "diff.miltext.binary=true"
    ]


@pytest.mark.parametrize("scope", [(), ("--global",)], ids=["local", "global"])
def test_a_dry_run_writes_nothing_and_undo_leaves_no_trace(repository: Repository, scope: tuple[str, ...]) -> None:
    attributes = repository.folder / ".git" / "info" / "attributes"
    if scope:
        attributes = repository.home / ".config" / "git" / "attributes"
    attributes.parent.mkdir(parents=True, exist_ok=True)
    attributes.write_bytes(b"*.png binary\n")
    before = repository.state()
    planned = repository.miltext("git", "setup", "--dry-run", *scope)
    assert repository.state() == before
    assert repository.miltext("git", "setup", *scope) == planned
    once = repository.state()
    assert b"*.mlmodel diff=miltext" in once[str(attributes)]
    assert "diff.miltext.textconv" in planned
    repository.miltext("git", "setup", *scope)
    assert repository.state() == once
    repository.edit()
    assert changes(repository.git("diff")) == ["-relu", "+tanh"]
    repository.miltext("git", "undo", *scope)
    after = {name: data for name, data in repository.state().items() if data}
    assert {name: data.replace(b"\t", b"") for name, data in after.items()} == {
        name: data.replace(b"\t", b"") for name, data in before.items()
    }
    assert "Binary files" in repository.git("diff")
    repository.miltext("git", "undo", *scope)


def gone(environment: Path) -> None:
    shutil.rmtree(environment)


def without_its_interpreter(environment: Path) -> None:
    (environment / "miltext").write_text(f"#!{environment}/python\n")


def broken(environment: Path) -> None:
    (environment / "miltext").write_text("#!/bin/sh\necho half a text\nexit 1\n")


def not_executable(environment: Path) -> None:
    (environment / "miltext").chmod(0o644)


MISFORTUNES = [gone, without_its_interpreter, broken, not_executable]


@pytest.fixture
def moving(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment whose miltext runs, by whose place it is recorded."""
    environment = tmp_path / "an environment"
    environment.mkdir()
    runs = shlex.join([sys.executable, "-m", "miltext"])
    (environment / "miltext").write_text(f'#!/bin/sh\nexec {runs} "$@"\n')
    (environment / "miltext").chmod(0o755)
    code = f"import sys; sys.executable = {str(environment / 'python')!r}; from miltext.cli import command; command()"
    monkeypatch.setattr(
        repository, "miltext", lambda *arguments: repository._run([sys.executable, "-c", code, *arguments], 0)
    )
    return environment


@pytest.mark.skipif(sys.platform == "win32", reason="needs scripts of sh")
@pytest.mark.parametrize(
    ("scope", "misfortune"),
    [((), misfortune) for misfortune in MISFORTUNES] + [(("--global",), gone)],  # a scope is but where git has settings
    ids=[*(f"local-{misfortune.__name__}" for misfortune in MISFORTUNES), "global-gone"],
)
def test_git_continues_where_miltext_is_removed(
    repository: Repository, moving: Path, scope: tuple[str, ...], misfortune: Callable[[Path], None]
) -> None:
    repository.miltext("git", "setup", *scope)
    repository.edit()
    repository.commit()
    script = (moving / "miltext").read_bytes()
    assert changes(repository.git("difftool", "-y", "HEAD~", "--", "*.mlmodel")) == []
    misfortune(moving)
    names = [repository.git("rev-parse", f"{commit}:{MODEL}").strip() for commit in ("HEAD~", "HEAD")]
    again = f"miltext cannot be run; to record where it is now: miltext git setup{''.join(map(' {}'.format, scope))}"
    for command in (("log", "-p", "-1"), ("show",), ("diff", "HEAD~"), ("log", "-p", "--all", "-3", "--", "*.mlmodel")):
        shown = repository.git(*command)
        assert f" {again}\n-{names[0]}\n+{names[1]}\n" in shown
        assert shown.count("cannot be run") == shown.count("\n@@ ")
    assert "\nindex " in repository.git("difftool", "-y", "HEAD~", "--", "*.mlmodel")
    repository.git("log", "-p")
    moving.mkdir(exist_ok=True)
    (moving / "miltext").write_bytes(script)
    (moving / "miltext").chmod(0o755)
    for _ in range(2):  # what git kept is forgotten, and from then on it keeps texts again
        assert changes(repository.git("show")) == ["-relu", "+tanh"]
    assert any("relu" in text for text in kept_texts(repository))
    repository.miltext("git", "setup", *scope)
    assert changes(repository.git("show")) == ["-relu", "+tanh"]


def test_outside_a_repository_is_one_message(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "miltext", "git", "setup"],
        cwd=tmp_path,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"miltext: fatal: not a git repository")


# ---- the texts themselves


def described(path: Path) -> str:
    return "".join(file_text(path))


def test_a_model_is_its_program_with_its_other_parts() -> None:
    path = EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel"
    model = miltext.load(path)
    text = "".join(file_text(path, ModelForm(build_info=True)))
    assert text.startswith(f"// specificationVersion: {model.specification_version}\n// description {{\n")
    assert miltext.parse(text) == model.program


def test_facts_that_change_with_each_export_are_not_shown() -> None:
    path = EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel"
    text = described(path)
    whole = "".join(file_text(path, ModelForm(build_info=True)))
    for stamp in ("buildInfo", "com.github.apple.coremltools.version"):
        assert stamp in whole
        assert stamp not in text
    program = miltext.load(path).program
    del program.attributes["buildInfo"]
    assert miltext.parse(text) == program
    assert "0x" not in text  # numbers are decimals


def test_the_place_of_a_file_changes_nothing(tmp_path: Path) -> None:
    path = EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel"
    alone = tmp_path / "AbC_model.mlmodel"
    alone.write_bytes(path.read_bytes())
    assert described(alone) == described(path)


def test_a_model_of_another_kind_and_a_pipeline_are_shown(tmp_path: Path) -> None:
    spec = miltext.schema.proto.Model
    inner = spec.FromString((EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel").read_bytes())
    network = spec.FromString(NEURAL_NETWORK)
    pipeline = spec(specificationVersion=9)
    pipeline.pipeline.models.extend([network, inner])
    pipeline.pipeline.names.extend(["first", "second"])
    path = tmp_path / "m.mlmodel"
    path.write_bytes(pipeline.SerializeToString())
    text = described(path)
    assert '// ---- model 0 "first": neuralNetwork\n// specificationVersion: 4\n// a neuralNetwork, which ' in text
    del inner.mlProgram.attributes["buildInfo"]
    assert text.partition("---- model 1")[2].count("\nprogram(1.3)\n") == 1
    assert miltext.parse("program(1.3)\n" + text.rpartition("\nprogram(1.3)\n")[2]) == inner.mlProgram


@pytest.mark.parametrize("name", ["model.mlmodel", "coremldata.bin", "weight.bin"])
@pytest.mark.parametrize(
    "data", [b"", b"version https://git-lfs.github.com/spec/v1\n", b"\0\1" * 99, b"program(1.3) {"]
)
def test_any_file_has_a_text(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert "sha256:" in described(path)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *[(name, "MIL252") for name in ("model.mlmodel", "a_model.mlmodel", "coremldata.bin", "model.mil", "m.pb")],
        *[(name, "MIL303") for name in ("weight.bin", "1-weight.bin")],
    ],
)
def test_a_git_lfs_pointer_is_reported_as_that(name: str, code: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(LFS)
    texts = [described(tmp_path / name)]
    (tmp_path / name).write_bytes(LFS.replace(b"aaa", b"bbb"))
    texts.append(described(tmp_path / name))
    assert texts[0] != texts[1]
    for text in texts:
        assert text.startswith(f"// {code}: this is a git-lfs pointer instead of the ")
        assert "// run `git lfs pull` in the model's repository\n" in text


def test_the_parts_of_bundles(tmp_path: Path) -> None:
    with BlobWriter(tmp_path / "weight.bin") as writer:
        writer.add_packed(BY_NAME["fp16"], b"\0\0\1\1")
    assert [line.split()[:3] for line in described(tmp_path / "weight.bin").splitlines()] == [
        ["offset", "type", "elements"],
        ["64", "fp16", "2"],
    ]
    for path in sorted(CORPUS.glob("*/*.mlmodelc/**/coremldata.bin")):
        if path.parent.name != "analytics":
            assert re.search(r"^(// )?specificationVersion: \d+$", described(path), re.MULTILINE)


def test_a_small_model_is_shown_without_slow_imports() -> None:
    path = EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel"
    assert slow_imports("textconv", path) == []
