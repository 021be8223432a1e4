"""`diff --git`: models of two revisions, with the real git in repositories of the tests' own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from support.commands import Ended, miltext
from support.containers import LFS

from miltext.review.repository import Repository, Snapshot
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Model
from miltext.weight_files.blob_storage import BlobWriter

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
SPEC = "Data/com.apple.CoreML/model.mlmodel"
WEIGHTS = "Data/com.apple.CoreML/weights/weight.bin"
TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> w = const()[name = string("w"), val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp16, [2]> y = add(x = x, y = w)[name = string("y")];
        } -> (y);
}
"""  # noqa: E501
ALONE = TEXT.replace('BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))', "[1, 2]")

Make = Callable[[Path], object]


@pytest.fixture(autouse=True)
def own_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A git without a user's settings, and a temporary folder that is empty afterwards."""
    made = tmp_path_factory.mktemp("made")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = {"HOME": str(made.parent), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(made.parent)}
    people = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for name, value in {**settings, **people}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    yield
    assert not [*made.iterdir()]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, tag: str) -> None:
    git(folder, "add", "-A", "--force")
    git(folder, "commit", "-q", "--allow-empty", "-m", tag)
    git(folder, "tag", tag)


def diff(folder: Path, *words: object, status: int = 1) -> str:
    """What `diff --git` writes."""
    done = ended(folder, *words)
    assert (done.returncode, done.stderr.decode()) == (status, "")
    return done.stdout.decode()


def ended(folder: Path, *words: object) -> Ended:
    return miltext("diff", "--git", *words, cwd=folder)


def write_text(path: Path, text: str = TEXT, numbers: tuple[float, float] = (1, 2)) -> Path:
    """A text, and the weights beside it if it names some."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if "BLOBFILE" in text:
        (path.parent / "weights").mkdir(exist_ok=True)
        with BlobWriter(path.parent / "weights" / "weight.bin") as writer:
            writer.add(BY_NAME["fp16"], np.array(numbers, np.float16))
    return path


def edit(spec: Path) -> None:
    """Have a model a tanh for its first relu."""
    made = Model.FromString(spec.read_bytes())
    operations = next(iter(made.mlProgram.functions["main"].block_specializations.values())).operations
    next(each for each in operations if each.type == "relu").type = "tanh"
    spec.write_bytes(made.SerializeToString(deterministic=True))


def change_weight(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)


# ---- what is told is what is told of two checkouts


def make_package(folder: Path, changed: bool) -> str:
    shutil.copytree(EXAMPLE, folder / "M.mlpackage")
    if changed:
        edit(folder / "M.mlpackage" / SPEC)
        change_weight(folder / "M.mlpackage" / WEIGHTS)
    return "M.mlpackage"


def make_mlmodel(folder: Path, changed: bool) -> str:
    made = folder / "models"
    shutil.copytree((EXAMPLE / SPEC).parent, made)
    if changed:
        edit(made / "model.mlmodel")
        change_weight(made / "weights" / "weight.bin")
    return "models/model.mlmodel"


def make_text(folder: Path, changed: bool) -> str:
    write_text(folder / "a b" / "m.mil", TEXT.replace("add", "sub") if changed else TEXT, (1, 3 if changed else 2))
    return "a b/m.mil"


def make_compiled(folder: Path, changed: bool) -> str:
    make_package(folder, changed)
    assert miltext("build", folder / "M.mlpackage", "-o", folder / "M.mlmodelc").returncode == 0
    shutil.rmtree(folder / "M.mlpackage")
    return "M.mlmodelc"


def make_pipeline(folder: Path, changed: bool) -> str:
    shutil.copytree((EXAMPLE / SPEC).parent, folder / "pipe")
    inner = Model.FromString((EXAMPLE / SPEC).read_bytes())
    made = Model(specificationVersion=inner.specificationVersion)
    made.pipeline.models.extend([inner, inner])
    made.pipeline.names.extend(["first", "second" if changed else "other"])
    (folder / "pipe" / "model.mlmodel").write_bytes(made.SerializeToString())
    if changed:
        change_weight(folder / "pipe" / "weights" / "weight.bin")
    return "pipe/model.mlmodel"


def make_without_weights(folder: Path, changed: bool) -> str:
    name = make_package(folder, changed)
    (folder / name / WEIGHTS).unlink()
    return name


KINDS = [make_package, make_mlmodel, make_text, make_compiled, make_pipeline, make_without_weights]
FORMS = [
    ("--full",),
    ("--stat",),
    ("--breaking",),
    ("--format", "json"),
    ("--format", "unified"),
    ("--format", "unified", "--draft"),
    ("--format", "markdown"),
    ("--format", "html"),
]


@pytest.mark.parametrize("make", KINDS)
def test_two_revisions_are_reported_as_two_checkouts(make: Callable[[Path, bool], str], repository: Path) -> None:
    for tag in ("one", "two"):
        for path in repository.iterdir():
            if path.name != ".git":
                shutil.rmtree(path)
        name = make(repository, tag == "two")
        commit(repository, tag)
        git(repository, "worktree", "add", "-q", "--detach", str(repository.parent / tag), tag)
    for words in FORMS:
        of_checkouts = miltext("diff", f"one/{name}", f"two/{name}", *words, cwd=repository.parent)
        of_revisions = ended(repository, "one..two", name, *words)
        said = of_checkouts.stdout.replace(b"one/", b"one:").replace(b"two/", b"two:")
        assert of_revisions.stdout == said
        assert (of_revisions.returncode, of_revisions.stderr) == (of_checkouts.returncode, b"")


# ---- which revisions


@pytest.fixture
def history(repository: Path) -> Path:
    """Texts of which `one`, `two` and `side`, which parts from `one`, have others."""
    for tag, number in (("one", "[1, 2]"), ("two", "[1, 3]")):
        write_text(repository / "m.mil", ALONE.replace("[1, 2]", number))
        write_text(repository / "same.mil", ALONE)
        commit(repository, tag)
    git(repository, "checkout", "-q", "-b", "topic", "one")
    write_text(repository / "m.mil", ALONE.replace("[1, 2]", "[1, 4]"))
    commit(repository, "side")
    git(repository, "checkout", "-q", "main")
    git(
        repository,
        "tag",
        "joined",
        git(repository, "commit-tree", "-p", "two", "-p", "side", "-m", "j", "two^{tree}")[:-1],
    )
    return repository


@pytest.mark.parametrize(
    ("words", "told", "names"),
    [
        ("one..two", "[1.0, 2.0] -> [1.0, 3.0]", ("one:", "two:")),
        ("two..one", "[1.0, 3.0] -> [1.0, 2.0]", ("two:", "one:")),
        ("two..side", "[1.0, 3.0] -> [1.0, 4.0]", ("two:", "side:")),
        ("two...side", "[1.0, 2.0] -> [1.0, 4.0]", ("[0-9a-f]{7,12}:", "side:")),
        ("one...side", "[1.0, 2.0] -> [1.0, 4.0]", ("one:", "side:")),
        ("one...", "[1.0, 2.0] -> [1.0, 3.0]", ("one:", "HEAD:")),
        ("one..", "[1.0, 2.0] -> [1.0, 3.0]", ("one:", "HEAD:")),
        ("..one", "[1.0, 3.0] -> [1.0, 2.0]", ("HEAD:", "one:")),
        ("side^!", "[1.0, 2.0] -> [1.0, 4.0]", ("side^:", "side:")),
        ("side^-", "[1.0, 2.0] -> [1.0, 4.0]", ("side^:", "side:")),
        ("joined^-2", "[1.0, 4.0] -> [1.0, 3.0]", ("joined^2:", "joined:")),
        (":/^one", "[1.0, 2.0] -> [1.0, 3.0]", (":/^one:", "")),
        (":/^one..two", "[1.0, 2.0] -> [1.0, 3.0]", (":/^one:", "two:")),
        (":/^one...side", "[1.0, 2.0] -> [1.0, 4.0]", (":/^one:", "side:")),
        ("HEAD^{/two}..side", "[1.0, 3.0] -> [1.0, 4.0]", ("HEAD^{/two}:", "side:")),
        ("one^{tree}..two", "[1.0, 2.0] -> [1.0, 3.0]", ("one^{tree}:", "two:")),
        ("one", "[1.0, 2.0] -> [1.0, 3.0]", ("one:", "")),
    ],
)
def test_revisions_are_read_as_git_reads_them(words: str, told: str, names: tuple[str, str], history: Path) -> None:
    old, new, *_, line = diff(history, words, "m.mil").splitlines()
    assert told in line
    assert new == f"+++ {names[1]}m.mil"
    assert old == f"--- {names[0]}m.mil" or re.fullmatch(f"--- {names[0]}m.mil", old)


def test_the_working_tree_and_the_index(history: Path) -> None:
    assert diff(history, "HEAD", status=0) == "no difference\n"
    write_text(history / "m.mil", ALONE.replace("[1, 2]", "[1, 5]"))
    assert "-> [1.0, 5.0]" in diff(history, "HEAD", "m.mil")
    assert diff(history, "HEAD", "--cached", status=0) == "no difference\n"
    git(history, "add", "m.mil")
    write_text(history / "m.mil", ALONE.replace("[1, 2]", "[1, 6]"))
    assert "-> [1.0, 6.0]" in diff(history, "", "m.mil")
    staged = diff(history, "HEAD", "--cached", "m.mil")
    assert "-> [1.0, 5.0]" in staged
    assert staged.splitlines()[1] == "+++ :m.mil"
    (history / "m.mil").unlink()
    assert diff(history, "HEAD").splitlines() == ["--- HEAD", "+++ the working tree", "- model m.mil: mlProgram"]


def test_untracked_files_belong_to_the_working_tree(history: Path) -> None:
    write_text(history / "untracked.mil", ALONE)
    (history / ".gitignore").write_text("ignored*\n")
    write_text(history / "ignored.mil", ALONE)
    assert diff(history, "HEAD").splitlines()[2:] == ["+ model untracked.mil: mlProgram"]
    assert diff(history, "HEAD", "--cached", status=0) == "no difference\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nope", "m.mil"), "error[MIL845]: `nope` is not a revision of this repository"),
        (
            ("m.mil",),
            (
                "error[MIL845]: `m.mil` is not a revision of this repository; "
                "for the file, write `miltext diff --git HEAD m.mil`"
            ),
        ),
        (("one..nope",), "error[MIL845]: `nope` is not a revision of this repository"),
        (("nope...one",), "error[MIL845]: `nope` is not a revision of this repository"),
        (
            ("two^@",),
            (
                "error[MIL845]: `two^@` means all parents of a commit: "
                "for a commit and its parent, write `miltext diff --git two^!`"
            ),
        ),
        (("two^-2",), "error[MIL845]: `two^2` is not a revision of this repository"),
        ((":/nowhere",), "error[MIL845]: `:/nowhere` is not a revision of this repository"),
        (("one...alone",), "error[MIL845]: `one` and `alone` have no commit in common"),
        (("--", "-one"), None),
        (("one..two", "--cached"), "error[MIL845]: the index is compared with one revision"),
        (("one", "missing.mil"), "missing.mil: error[MIL846]: neither of the two has a file or folder of this name"),
        (("one", "../m.mil"), "../m.mil: error[MIL846]: this is outside the repository"),
        (("one", "/m.mil"), "/m.mil: error[MIL846]: this is outside the repository"),
    ],
)
def test_objects_that_git_lacks_are_reported(words: tuple[str, ...], message: str | None, history: Path) -> None:
    git(history, "checkout", "-q", "--orphan", "lonely")
    commit(history, "alone")
    done = ended(history, *words)
    assert done.returncode == 2
    assert done.stdout == b""
    if message:
        assert done.stderr.decode().startswith(message)


def test_words_that_do_not_go_together(history: Path) -> None:
    for words in (["--cached", "a.mil", "b.mil"], ["--git", "HEAD", "-"], ["a.mil"], [], ["a.mil", "b.mil", "c.mil"]):
        assert miltext("diff", *words, cwd=history).returncode == 2


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert ended(tmp_path, "HEAD").stderr.startswith(b"error[MIL845]: git refuses: fatal: not a git repository")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ended(tmp_path, "HEAD").stderr.startswith(b"error[MIL845]: git cannot be run: ")


def test_an_index_with_conflicts(history: Path) -> None:
    subprocess.run(["git", "merge", "-q", "topic"], cwd=history, capture_output=True, check=False)
    assert b"error[MIL845]: the index has conflicts at `m.mil`" in ended(history, "HEAD", "--cached").stderr
    told = diff(history, "HEAD", status=2)
    assert told.startswith("# m.mil:")
    assert "; not compared\nundecided: " in told


# ---- which models


def test_every_model_that_differs_is_reported_below_its_name(repository: Path) -> None:
    for name in ("same", "changed one", "gone"):
        shutil.copytree(EXAMPLE, repository / "models" / f"{name}.mlpackage")
    for name in ("texts/m.mil", "a.mlmodel.mil", ".hidden/m.mil", "node_modules/m.mil"):
        write_text(repository / name, ALONE)
    commit(repository, "one")
    edit(repository / "models" / "changed one.mlpackage" / SPEC)
    shutil.rmtree(repository / "models" / "gone.mlpackage")
    write_text(repository / "models" / "new.mil", ALONE.replace("add", "mul"))
    for path in repository.rglob("m*.mil"):
        path.write_text(path.read_text().replace("add", "sub"))
    (repository / "a.mlmodel.mil").write_text("a sidecar is not looked at")
    commit(repository, "two")
    lines = diff(repository, "one..two").splitlines()
    assert [line for line in lines if "model " in line] == [
        "model models/changed one.mlpackage",
        "- model models/gone.mlpackage: mlProgram",
        "+ model models/new.mil: mlProgram",
        "model texts/m.mil",
    ]
    below = diff(repository / "models", "one..two", ".", "--stat").splitlines()
    assert [" ".join(line.split()) for line in below[:3]] == [
        "| parameters bytes of weights",
        "model changed one.mlpackage: main | ~1 342 684 B",
        "total | ~1 342 684 B",
    ]
    assert below[3:] == [
        "model gone.mlpackage: removed",
        "model new.mil: added",
    ]
    found = json.loads(diff(repository, "one..two", "models", "texts", "--format", "json"))
    assert [(each["place"], each["type"], each["status"]) for each in found["models"]] == [
        ("models/changed one.mlpackage", "mlProgram", "changed"),
        ("models/gone.mlpackage", "mlProgram", "removed"),
        ("models/new.mil", "mlProgram", "added"),
        ("texts/m.mil", "mlProgram", "changed"),
    ]
    assert (found["old"], found["new"], found["same"]) == ("one", "two", False)
    assert diff(repository, "one..two", "--breaking").splitlines()[2:] == ["- model models/gone.mlpackage: mlProgram"]
    assert diff(repository, "one..two", "models/new.mil", "--breaking", status=0) == "no breaking change\n"


def test_a_model_inside_and_a_path_from_elsewhere(repository: Path) -> None:
    shutil.copytree(EXAMPLE, repository / "M.mlpackage")
    commit(repository, "one")
    edit(repository / "M.mlpackage" / SPEC)
    told = "operation: relu -> tanh"
    inner = repository / "M.mlpackage" / "Data" / "com.apple.CoreML"
    assert told in diff(repository, "HEAD", repository / "M.mlpackage")
    assert told in diff(inner, "HEAD", "model.mlmodel")
    assert diff(inner, "HEAD", "model.mlmodel").startswith(f"--- HEAD:M.mlpackage/{SPEC}\n+++ model.mlmodel\n")
    assert told in diff(inner, "HEAD", "../../../M.mlpackage")
    assert "model ../..\n" in diff(inner, "HEAD", ".")


def test_a_repository_that_is_a_model(repository: Path) -> None:
    shutil.copytree(EXAMPLE, repository, dirs_exist_ok=True)
    commit(repository, "one")
    edit(repository / SPEC)
    assert "operation: relu -> tanh" in diff(repository, "HEAD")


def test_weights_beside_a_text_belong_to_it(repository: Path) -> None:
    for name in ("m.mil", "n.mil"):
        write_text(repository / "texts" / name)
    write_text(repository / "texts" / "alone.mil", ALONE)
    (repository / "texts" / "notes.txt").write_text("one")
    commit(repository, "one")
    (repository / "texts" / "notes.txt").write_text("two")
    assert diff(repository, "one", status=0) == "no difference\n"
    write_text(repository / "texts" / "m.mil", numbers=(1, 3))
    commit(repository, "two")
    told = diff(repository, "one..two").splitlines()
    assert [line for line in told if line.startswith("model")] == ["model texts/m.mil", "model texts/n.mil"]
    assert "1 of 2 elements, max 1, mean 0.5, SNR 7.0 dB" in told[-1]
    (repository / "texts" / "weights" / "weight.bin").unlink()
    assert "the file does not exist" in diff(repository, "one", "texts/m.mil", status=2)


@pytest.mark.parametrize("name", ["New.mlpackage", "elsewhere/sub/Old.mlpackage"])
def test_a_renamed_model_is_compared_with_its_old_version(name: str, repository: Path) -> None:
    shutil.copytree(EXAMPLE, repository / "Old.mlpackage")
    write_text(repository / "old.mil", ALONE)
    commit(repository, "one")
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    git(repository, "mv", "Old.mlpackage", name)
    edit(repository / name / SPEC)
    git(repository, "mv", "old.mil", "new.mil")
    commit(repository, "two")
    told = diff(repository, "one..two").splitlines()
    assert f"    ~ place: Old.mlpackage -> {name}" in told
    assert "            operation: relu -> tanh" in told
    assert told[-2:] == ["model new.mil", "    ~ place: old.mil -> new.mil"]
    assert diff(repository, "one..two", "Old.mlpackage").splitlines()[2:] == ["- model Old.mlpackage: mlProgram"]
    assert diff(repository, "one..two", "--breaking", status=0) == "no breaking change\n"


def test_two_names_are_one_model_if_it_was_renamed_between(repository: Path) -> None:
    write_text(repository / "a.mil", ALONE)
    commit(repository, "one")
    (repository / "a.mil").unlink()
    write_text(repository / "b.mil", ALONE.replace("add", "sub") + "// " + "nothing alike " * 100 + "\n")
    assert diff(repository, "one", "--stat").splitlines() == ["model a.mil: removed", "model b.mil: added"]
    assert "~ place: a.mil -> b.mil" in diff(repository, "one", "a.mil", "b.mil")


def test_an_unreadable_model_does_not_stop_the_comparison(repository: Path) -> None:
    for name in ("a.mil", "b.mil", "c.mil"):
        write_text(repository / name, ALONE)
    (repository / "c.mil").write_text("always broken")
    commit(repository, "one")
    write_text(repository / "a.mil", ALONE.replace("add(", "add(("))
    commit(repository, "two")
    broken = "two:a.mil:5:42: error[MIL010]: "
    told = diff(repository, "one..two", status=2).splitlines()
    assert told[0].startswith(f"# {broken}")
    assert told[0].endswith("; not compared")
    write_text(repository / "b.mil", ALONE.replace("add", "sub"))
    commit(repository, "three")
    assert f"# {broken}".replace("two", "three") in diff(repository, "one..three")
    done = ended(repository, "one..two", "a.mil")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(broken)


# ---- what git has of files


def test_equal_files_are_not_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLE, repository / "M.mlpackage")
    (repository / "broken.mlmodel").write_bytes(b"\1\2\3")
    commit(repository, "one")
    commit(repository, "two")

    def refuse(*_: object) -> None:
        raise AssertionError("a file was fetched")

    monkeypatch.setattr(Snapshot, "fetch", refuse)
    for words in (("one..two",), ("one..two", "M.mlpackage"), ("one", "broken.mlmodel")):
        assert diff(repository, *words, status=0) == "no difference\n"


def test_a_file_that_both_have_is_written_once(repository: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, repository / "M.mlpackage")
    commit(repository, "one")
    edit(repository / "M.mlpackage" / SPEC)
    commit(repository, "two")
    whole = Repository(repository)
    old, new = [Snapshot(whole, tag, whole.tree_of(tag), tmp_path / tag) for tag in ("one", "two")]
    for side, other in ((old, new), (new, old)):
        side.fetch(side.parts("M.mlpackage"), other)
    for name, links in ((WEIGHTS, 2), (SPEC, 1)):
        assert [(side.folder / "M.mlpackage" / name).stat().st_nlink for side in (old, new)] == [links, links]


def make_bare(repository: Path) -> tuple[Path, list[str]]:
    git(repository, "clone", "-q", "--bare", ".", "../bare.git")
    return repository.parent / "bare.git", ["one..two"]


def make_worktree(repository: Path) -> tuple[Path, list[str]]:
    git(repository, "worktree", "add", "-q", "../linked", "one")
    return repository.parent / "linked", ["two"]


def make_sparse(repository: Path) -> tuple[Path, list[str]]:
    git(repository, "sparse-checkout", "set", "--no-cone", "/nothing")
    return repository, ["one..two"]


def make_split(repository: Path) -> tuple[Path, list[str]]:
    git(repository, "update-index", "--split-index")
    git(repository, "checkout", "-q", "one", "--", "m.mil")
    return repository, ["two", "--cached"]


PLACES = [make_bare, make_worktree, make_sparse, make_split]


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("make", PLACES)
def test_all_kinds_of_repositories(make: Callable[[Path], tuple[Path, list[str]]], form: str, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q", f"--object-format={form}")
    for tag, operation in (("one", "add"), ("two", "sub")):
        write_text(repository / "m.mil", TEXT.replace("add", operation))
        commit(repository, tag)
    folder, words = make(repository)
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    told = diff(folder, *words, "m.mil")
    assert re.search("operation: (add -> sub|sub -> add)", told)
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before


def test_a_bare_repository_has_no_working_tree(repository: Path) -> None:
    write_text(repository / "m.mil", ALONE)
    commit(repository, "one")
    folder, _ = make_bare(repository)
    assert ended(folder, "one").stderr.startswith(b"error[MIL845]: this repository is bare: ")


def test_files_are_written_as_into_a_checkout(repository: Path) -> None:
    """Filters, such as that of git-lfs, line ends, and attributes of the revision itself."""
    git(repository, "config", "filter.turned.smudge", "tr ab ba")
    git(repository, "config", "filter.turned.clean", "tr ab ba")
    (repository / ".gitattributes").write_text("*.mil filter=turned eol=crlf\n")
    write_text(repository / "m.mil", ALONE)
    commit(repository, "one")
    assert "bdd(" in git(repository, "show", "one:m.mil")
    write_text(repository / "m.mil", ALONE.replace("add", "sub"))
    commit(repository, "two")
    assert "operation: add -> sub" in diff(repository, "one..two", "m.mil")


def test_a_pointer_of_git_lfs_is_reported(repository: Path) -> None:
    shutil.copytree(EXAMPLE, repository / "M.mlpackage")
    commit(repository, "one")
    (repository / "M.mlpackage" / SPEC).write_bytes(LFS)
    commit(repository, "two")
    shutil.copy(EXAMPLE / SPEC, repository / "M.mlpackage" / SPEC)
    (repository / "M.mlpackage" / WEIGHTS).write_bytes(LFS)
    commit(repository, "three")
    done = ended(repository, "one..two", "M.mlpackage")
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"two:M.mlpackage/{SPEC}: error[MIL252]: this is a git-lfs pointer")
    assert b"`git lfs fetch origin REVISION`" in done.stderr
    assert diff(repository, "one..three", "M.mlpackage", status=2).startswith("# three:M.mlpackage: ")


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_links_lead_to_their_targets_in_the_revision(repository: Path) -> None:
    write_text(repository / "real" / "m.mil")
    (repository / "linked.mil").symlink_to("real/m.mil")
    (repository / "folder").symlink_to("real")
    (repository / "nowhere.mil").symlink_to("missing.mil")
    commit(repository, "one")
    write_text(repository / "real" / "m.mil", TEXT.replace("add", "sub"), (1, 3))
    commit(repository, "two")
    assert "operation: add -> sub" in diff(repository, "one..two", "linked.mil")
    told = diff(repository, "one..two", "folder/m.mil")
    assert "operation: add -> sub" in told
    assert "weights: 1 differs" in told
    assert told == diff(repository, "one..two", "real/m.mil").replace(":real/", ":folder/")
    assert "operation: add -> sub" in diff(repository, "one", "folder/m.mil")
    (repository / "nowhere.mil").unlink()
    (repository / "nowhere.mil").symlink_to("other.mil")
    commit(repository, "three")
    assert ended(repository, "two..three", "nowhere.mil").stderr.startswith(b"two:nowhere.mil: error[MIL250]: ")


def test_a_submodule_is_a_repository_of_its_own(repository: Path) -> None:
    inner = repository / "vendor"
    inner.mkdir()
    git(inner, "init", "-q")
    write_text(inner / "m.mil", ALONE)
    commit(inner, "one")
    git(repository, "-c", "advice.addEmbeddedRepo=false", "add", "vendor")
    commit(repository, "one")
    write_text(inner / "m.mil", ALONE.replace("add", "sub"))
    for name in ("vendor", "vendor/m.mil"):
        done = ended(repository, "one", name)
        assert done.stderr.decode().startswith(f"{name}: error[MIL846]: `vendor` is a submodule, a repository of its")
    assert diff(repository, "one", status=0).startswith("# vendor: this submodule has another commit; ")
    commit(inner, "two")
    commit(repository, "two")
    for words in ("one", "one..two", "HEAD^"):
        assert diff(repository, words, status=0).startswith("# vendor: this submodule has another commit; ")
    assert diff(repository, "two", status=0) == "no difference\n"
    (repository / "folder").mkdir()
    write_text(repository / "folder" / "m.mil", ALONE)
    assert diff(repository, "one", "folder").splitlines()[2:] == ["+ model folder/m.mil: mlProgram"]
    assert "operation: add -> sub" in diff(inner, "one", "m.mil")


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not for Windows")
def test_names_of_all_kinds(repository: Path) -> None:
    names = ["a\tb.mil", "two\nlines.mil", '"quoted".mil', "-x.mil", "*.mil", ":(top).mil", "\u00e4.mil", "sp ace.mil"]
    for name in names:
        write_text(repository / name, ALONE)
    commit(repository, "one")
    for name in names:
        write_text(repository / name, ALONE.replace("add", "sub"))
    assert diff(repository, "one", "--stat").count(": main ") == len(names)
    assert "model two\ufffdlines.mil\n" in diff(repository, "one")
    for name in names:
        assert "operation: add -> sub" in diff(repository, "one", "--", name)


def test_a_repository_without_commits(repository: Path) -> None:
    write_text(repository / "m.mil", ALONE)
    assert ended(repository, "HEAD").stderr.startswith(b"error[MIL845]: `HEAD` is not a revision")


def test_a_model_of_a_pipeline(repository: Path) -> None:
    name = make_pipeline(repository, changed=False)
    commit(repository, "one")
    change_weight(repository / "pipe" / "weights" / "weight.bin")
    assert diff(repository, "one", name, "--model", "1", "--stat").splitlines()[3:] == ["weights: 1 differs, 1 equal"]


def test_a_page_is_written_from_revisions(history: Path, tmp_path: Path) -> None:
    diff(history, "one..two", "m.mil", "--format", "html", "-o", tmp_path / "page.html")
    assert "[1.0, 3.0]" in re.sub("<[^>]+>", "", (tmp_path / "page.html").read_text())  # words that differ are marked
    done = ended(history, "one", "m.mil", "-o", "m.mil")
    assert (done.returncode, b"error[MIL40" in done.stderr) == (2, True)
    assert (history / "m.mil").read_text() == ALONE.replace("[1, 2]", "[1, 3]")
