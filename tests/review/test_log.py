"""`miltext log`: the history of a model, with the real git in repositories of the tests' own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from review.test_revisions import (
    ALONE,
    EXAMPLE,
    SPEC,
    TEXT,
    WEIGHTS,
    change_weight,
    edit,
    git,
    make_pipeline,
    own_git,
    repository,
    write_text,
)
from support.commands import Ended, miltext
from support.containers import LFS, NEURAL_NETWORK
from support.containers import TEXT as SMALL

import miltext as library
from miltext.review.history import History
from miltext.review.repository import Repository, Snapshot
from miltext.schema.proto import Model

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

__all__ = ["own_git", "repository"]


def commit(folder: Path, subject: str) -> None:
    """Commit all files, and name the commit after the subject."""
    git(folder, "add", "-A", "--force")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    git(folder, "tag", subject.replace(" ", "-"))


def ended(folder: Path, *words: object) -> Ended:
    return miltext("log", *words, cwd=folder)


def log(folder: Path, *words: object) -> list[str]:
    """The subject of each commit and what is told of it."""
    done = ended(folder, *words)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    lines = done.stdout.decode().splitlines()
    assert all(re.match(r"[0-9a-f]{7,} \d{4}-\d\d-\d\d ", line) for line in lines)
    return [line.split(" ", 2)[2] for line in lines]


def refused(folder: Path, *words: object) -> str:
    done = ended(folder, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    return done.stderr.decode()


def described(spec: Path) -> None:
    made = Model.FromString(spec.read_bytes())
    made.description.metadata.author += "somebody"
    spec.write_bytes(made.SerializeToString(deterministic=True))


# ---- what is told of a commit


def test_each_commit_has_a_line(repository: Path) -> None:
    package = repository / "M.mlpackage"
    shutil.copytree(EXAMPLE, package)
    commit(repository, "first")
    edit(package / SPEC)
    commit(repository, "tanh")
    described(package / SPEC)
    commit(repository, "author")
    change_weight(package / WEIGHTS)
    commit(repository, "retrained")
    (package / "Manifest.json").write_text((package / "Manifest.json").read_text() + "\n")
    commit(repository, "spaces")
    (repository / "other").write_text("")
    commit(repository, "elsewhere")
    library.rename(package, "image", "picture", repository / "N.mlpackage")
    shutil.rmtree(package)
    (repository / "N.mlpackage").rename(package)
    commit(repository, "renamed")
    assert log(repository, "M.mlpackage") == [
        "renamed | input `image` renamed to `picture`, breaks callers",
        "spaces | no difference",
        "retrained | 1 weight changed",
        "author | metadata only",
        "tanh | +1 tanh, -1 relu",
        "first | first version: 27 operations, 684 B",
    ]


def test_operations_and_bytes(repository: Path) -> None:
    write_text(repository / "m.mil", SMALL)
    commit(repository, "one")
    more = 'tensor<fp16, [1, 4]> z = tanh(x = y)[name = string("z")];\n        } -> (z)'
    more = SMALL.replace("        } -> (y)", f"            {more}")
    big = 'tensor<fp16, [512]> w = const()[name = string("w"), val = tensor<fp16, [512]>([' + "1, " * 511 + "1])];\n"
    write_text(repository / "m.mil", more)
    commit(repository, "two")
    write_text(
        repository / "m.mil",
        more.replace("            tensor<fp16, [1, 4]> y", f"{big}            tensor<fp16, [1, 4]> y"),
    )
    commit(repository, "three")
    lines = log(repository, "m.mil")
    assert lines[0].startswith("three | +1.02 kB")
    assert lines[1].startswith("two | +1 tanh")
    assert lines[2] == "one | first version: 1 operation, 0 B"


# ---- names


@pytest.mark.parametrize("unlike", [False, True])
def test_a_renamed_package_is_followed(repository: Path, unlike: bool) -> None:
    shutil.copytree(EXAMPLE, repository / "M.mlpackage")
    shutil.copytree(EXAMPLE, repository / "Other.mlpackage")
    commit(repository, "one")
    edit(repository / "M.mlpackage" / SPEC)
    commit(repository, "two")
    git(repository, "mv", "M.mlpackage", "N.mlpackage")
    if unlike:
        described(repository / "N.mlpackage" / SPEC)
    commit(repository, "three")
    change_weight(repository / "N.mlpackage" / WEIGHTS)
    commit(repository, "four")
    edit(repository / "Other.mlpackage" / SPEC)
    commit(repository, "another one")
    more = ", metadata only" * unlike
    assert log(repository, "N.mlpackage") == [
        "four | 1 weight changed",
        f"three | renamed from `M.mlpackage`{more}",
        "two | +1 tanh, -1 relu",
        "one | first version: 27 operations, 684 B",
    ]
    assert log(repository, "M.mlpackage", "-n", 1) == ["three | renamed to `N.mlpackage`"]
    (told,) = json.loads(ended(repository, "N.mlpackage", "three^!", "--json").stdout)["commits"]
    assert (told["path"], told["oldPath"], told["status"]) == ("N.mlpackage", "M.mlpackage", "changed")


def test_a_text_renamed_twice_and_a_name_that_is_used_again(repository: Path) -> None:
    write_text(repository / "a.mil", ALONE)
    commit(repository, "one")
    git(repository, "mv", "a.mil", "b.mil")
    commit(repository, "two")
    (repository / "folder").mkdir()
    git(repository, "mv", "b.mil", "folder/c.mil")
    commit(repository, "three")
    write_text(repository / "a.mil", SMALL)
    commit(repository, "an unlike a.mil")
    write_text(repository / "folder" / "c.mil", ALONE.replace("add", "sub"))
    commit(repository, "four")
    assert log(repository / "folder", "c.mil") == [
        "four | +1 sub, -1 add",
        "three | renamed from `../b.mil`",
        "two | renamed from `../a.mil`",
        "one | first version: 2 operations, 0 B",
    ]


def test_a_file_that_became_a_package(repository: Path) -> None:
    shutil.copy(EXAMPLE / SPEC, repository / "M.mlmodel")
    (repository / "weights").mkdir()
    shutil.copy(EXAMPLE / WEIGHTS, repository / "weights" / "weight.bin")
    commit(repository, "one")
    (repository / "M.mlmodel").unlink()
    shutil.rmtree(repository / "weights")
    shutil.copytree(EXAMPLE, repository / "M.mlpackage")
    commit(repository, "two")
    assert log(repository, "M.mlpackage") == [
        "two | renamed from `M.mlmodel`",
        "one | first version: 27 operations, 684 B",
    ]


def test_a_model_that_was_removed_and_added_again(repository: Path) -> None:
    write_text(repository / "m.mil", ALONE)
    commit(repository, "one")
    (repository / "m.mil").unlink()
    commit(repository, "two")
    write_text(repository / "m.mil", ALONE)
    commit(repository, "three")
    (repository / "m.mil").unlink()
    commit(repository, "four")
    expected = ["four | removed", "three | added again: 2 operations, 0 B", "two | removed"]
    assert log(repository, "m.mil")[:3] == expected
    assert log(repository, "m.mil", "two..three") == expected[1:2]


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not for Windows")
def test_names_of_all_kinds(repository: Path) -> None:
    names = ["two\nlines.mil", '"quoted".mil', "-x.mil", "*.mil", ":(top).mil", "\u00e4.mil", "sp ace.mil"]
    for place, name in enumerate(names):
        write_text(repository / name, ALONE.replace("1, 2", f"{place}, 2") + f"// {'other ' * place * 99}\n")
    commit(repository, "one")
    write_text(repository / "plain.mil", ALONE)
    commit(repository, "plain")
    for name in names:
        assert log(repository, "--", name) == ["one | first version: 2 operations, 0 B"]
    for name in names:
        git(repository, "mv", "--", name, f"x{names.index(name)}.mil")
    commit(repository, "renamed")
    assert "renamed | renamed from `sp ace.mil`" in log(repository, f"x{len(names) - 1}.mil")


# ---- weights


def test_weights_beside_a_text(repository: Path) -> None:
    """Also commits that change nothing but the weights, and files that an older version names."""
    write_text(repository / "m.mil", TEXT)
    commit(repository, "one")
    write_text(repository / "m.mil", TEXT, (3, 4))
    commit(repository, "two")
    (repository / "weights" / "unused.bin").write_bytes(b"0")
    commit(repository, "unused")
    (repository / "weights" / "weight.bin").rename(repository / "weights" / "other.bin")
    (repository / "m.mil").write_text(TEXT.replace("weight.bin", "other.bin"))
    commit(repository, "three")
    write_text(repository / "n.mil", TEXT, (9, 9))
    commit(repository, "a file of the old name")
    change_weight(repository / "weights" / "other.bin")
    commit(repository, "four")
    assert log(repository, "m.mil") == [
        "four | 1 weight changed",
        "three | no difference",
        "two | 1 weight changed",
        "one | first version: 2 operations, 4 B",
    ]


def test_pointers_of_git_lfs(repository: Path) -> None:
    package = repository / "M.mlpackage"
    shutil.copytree(EXAMPLE, package)
    (package / WEIGHTS).write_bytes(LFS)
    commit(repository, "one")
    edit(package / SPEC)
    (package / WEIGHTS).write_bytes(LFS.replace(b"a" * 64, b"b" * 64))
    commit(repository, "two")
    (package / SPEC).write_bytes(LFS)
    commit(repository, "three")
    first, second, third = log(repository, "M.mlpackage")
    assert first == "three | model not here: git-lfs has not fetched it"
    assert second == "two | +1 tanh, -1 relu, weights not here"
    assert third == "one | first version: 27 operations, 684 B"


def test_weights_that_are_not_here_are_never_no_difference(repository: Path) -> None:
    package = repository / "M.mlpackage"
    shutil.copytree(EXAMPLE, package)
    (package / WEIGHTS).write_bytes(LFS)
    commit(repository, "one")
    (package / WEIGHTS).write_bytes(LFS.replace(b"a" * 64, b"b" * 64))
    commit(repository, "two")
    assert log(repository, "M.mlpackage", "-n", 1) == ["two | weights not here"]
    (told,) = json.loads(ended(repository, "M.mlpackage", "-n", 1, "--json").stdout)["commits"]
    assert told["same"] is None


# ---- models of all kinds


def test_a_pipeline(repository: Path) -> None:
    name = make_pipeline(repository, changed=False)
    commit(repository, "one")
    change_weight(repository / "pipe" / "weights" / "weight.bin")
    commit(repository, "two")
    second, first = log(repository, name)
    assert second == 'two | model 0 "first": 1 weight changed, model 1 "other": 1 weight changed'
    assert re.match(r"one \| first version: pipeline of \d models, \d+ operations, ", first)


def test_a_model_of_another_kind(repository: Path) -> None:
    (repository / "m.mlmodel").write_bytes(NEURAL_NETWORK)
    commit(repository, "one")
    (repository / "m.mlmodel").write_bytes(NEURAL_NETWORK.replace(b"\x08\x04", b"\x08\x05", 1))
    commit(repository, "two")
    (repository / "m.mlmodel").write_bytes(NEURAL_NETWORK + b"\xa2\x1f\x02\x10\x01")
    commit(repository, "three")
    third, *others = log(repository, "m.mlmodel")
    assert "contents" in third
    assert others == ["two | specification 4 -> 5", "one | first version: neuralNetwork"]


def test_an_unreadable_version_is_one_of_several(repository: Path) -> None:
    write_text(repository / "m.mil", TEXT)
    commit(repository, "one")
    write_text(repository / "m.mil", TEXT, (3, 4))
    commit(repository, "two")
    write_text(repository / "m.mil", "program(1.3) {")
    commit(repository, "three")
    write_text(repository / "m.mil", TEXT, (3, 4))
    commit(repository, "four")
    found = log(repository, "m.mil")
    assert found[0].startswith("four | not readable: ")
    assert re.fullmatch(r"three \| not readable: \w+:m\.mil:1:\d+: error\[MIL\d+\].*", found[1])
    assert found[2:] == ["two | 1 weight changed", "one | first version: 2 operations, 4 B"]


# ---- shapes of histories


def test_merges(repository: Path) -> None:
    """Commits of a branch are listed by themselves; the merge only if the model is another than on both sides."""
    write_text(repository / "m.mil", ALONE)
    commit(repository, "one")
    git(repository, "switch", "-qc", "topic")
    write_text(repository / "m.mil", ALONE.replace("add", "sub"))
    commit(repository, "on topic")
    git(repository, "switch", "-q", "main")
    (repository / "other").write_text("")
    commit(repository, "on main")
    git(repository, "merge", "-q", "--no-ff", "-m", "plain merge", "topic")
    assert log(repository, "m.mil") == ["on topic | +1 sub, -1 add", "one | first version: 2 operations, 0 B"]
    assert log(repository, "m.mil", "--first-parent") == [
        "plain merge | +1 sub, -1 add",
        "one | first version: 2 operations, 0 B",
    ]
    git(repository, "switch", "-qc", "other", "HEAD^")
    write_text(repository / "m.mil", ALONE.replace("add", "mul"))
    commit(repository, "on other")
    git(repository, "switch", "-q", "main")
    subprocess.run(["git", "merge", "-q", "other"], cwd=repository, capture_output=True, check=False)
    write_text(repository / "m.mil", ALONE.replace("add", "real_div"))
    commit(repository, "real merge")
    found = log(repository, "m.mil")
    assert found[0] == "real merge | +1 real_div, -1 sub"
    assert sorted(found[1:3]) == ["on other | +1 mul, -1 add", "on topic | +1 sub, -1 add"]


def test_a_branch_that_still_has_the_old_name(repository: Path) -> None:
    write_text(repository / "a.mil", ALONE)
    commit(repository, "one")
    git(repository, "switch", "-qc", "topic")
    write_text(repository / "a.mil", ALONE.replace("[1, 2]", "[1, 3]"))
    commit(repository, "on topic")
    git(repository, "switch", "-q", "main")
    git(repository, "mv", "a.mil", "b.mil")
    commit(repository, "two")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "topic")
    found = log(repository, "b.mil")
    assert {line.partition(" |")[0] for line in found} >= {"one", "two", "on topic"}
    assert "on topic | 1 operation changed" in found


def test_a_range_a_revision_and_a_number(repository: Path) -> None:
    for tag, kind in (("one", "add"), ("two", "sub"), ("three", "mul"), ("four", "real_div")):
        write_text(repository / "m.mil", ALONE.replace("add", kind))
        commit(repository, tag)
    names = ["four", "three", "two", "one"]
    ranges: list[tuple[str, ...]] = [(), ("two..four",), ("two..",), ("..",), ("two",), ("four..one",), ("two^!",)]
    ranges += [("-n", "2"), ("three", "-n", "1")]
    told = {words: [each.partition(" |")[0] for each in log(repository, "m.mil", *words)] for words in ranges}
    assert told == {
        (): names,
        ("two..four",): ["four", "three"],
        ("two..",): ["four", "three"],
        ("..",): [],
        ("two",): ["two", "one"],
        ("-n", "2"): ["four", "three"],
        ("three", "-n", "1"): ["three"],
        ("four..one",): [],
        ("two^!",): ["two"],
    }


def test_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    for tag, kind in (("one", "add"), ("two", "sub"), ("three", "mul")):
        write_text(repository / "m.mil", ALONE.replace("add", kind))
        commit(repository, tag)
    git(tmp_path, "clone", "-q", "--depth", "2", repository.as_uri(), "clone")
    assert log(tmp_path / "clone", "m.mil") == [
        "three | +1 mul, -1 sub",
        "two | the clone begins here: 2 operations, 0 B",
    ]


def test_a_bare_repository(repository: Path, tmp_path: Path) -> None:
    write_text(repository / "m.mil", ALONE)
    commit(repository, "one")
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare")
    assert log(tmp_path / "bare", "m.mil") == ["one | first version: 2 operations, 0 B"]


def test_settings_of_git_change_nothing(repository: Path) -> None:
    write_text(repository / "a.mil", ALONE)
    commit(repository, "one")
    git(repository, "mv", "a.mil", "b.mil")
    commit(repository, "two")
    before = log(repository, "b.mil")
    for key, value in (
        ("log.follow", "true"),
        ("log.showSignature", "true"),
        ("color.ui", "always"),
        ("log.decorate", "full"),
        ("format.pretty", "fuller"),
        ("diff.renames", "false"),
        ("core.pager", "false"),
        ("i18n.logOutputEncoding", "latin1"),
        ("log.date", "relative"),
        ("core.quotePath", "true"),
    ):
        git(repository, "config", key, value)
    assert log(repository, "b.mil") == before


def test_a_subject_of_any_letters(repository: Path) -> None:
    write_text(repository / "m.mil", ALONE)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "W\u00f6rter \u5c64 \x1b[31m| \u202e", "-m", "more")
    (line,) = log(repository, "m.mil")
    assert line == "W\u00f6rter \u5c64 \ufffd[31m| \ufffd | first version: 2 operations, 0 B"


# ---- nothing to list


def test_paths_without_history(repository: Path, tmp_path: Path) -> None:
    assert "error[MIL845]: `HEAD` is not a revision" in refused(repository, "m.mil")
    write_text(repository / "m.mil", ALONE)
    commit(repository, "one")
    write_text(repository / "new.mil", ALONE)
    assert "new.mil: error[MIL846]: this is not in git yet" in refused(repository, "new.mil")
    assert "nope.mil: error[MIL846]: no commit has such a file" in refused(repository, "nope.mil")
    assert "error[MIL846]: this is outside the repository" in refused(repository, "../m.mil")
    assert "error[MIL846]: this is a repository" in refused(repository, ".")
    assert "error[MIL845]: `nope` is not a revision" in refused(repository, "m.mil", "nope")
    assert "error[MIL845]: `nope` is not a revision" in refused(repository, "m.mil", "one..nope")
    assert "error[MIL845]: `-x` is not a revision" in refused(repository, "--", "m.mil", "-x")
    assert "error[MIL845]: git refuses: fatal: not a git repository" in refused(tmp_path, "m.mil")
    assert "MIL845" in json.loads(ended(tmp_path, "m.mil", "--json").stdout)["diagnostics"][0]["code"]


def test_a_folder_without_a_model(repository: Path) -> None:
    write_text(repository / "models" / "m.mil", ALONE)
    commit(repository, "one")
    assert "models: error[MIL846]: this folder is not a model: name a model in it" in refused(repository, "models")


# ---- one commit after another


def test_a_commit_is_read_on_demand(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tag in ("one", "two", "three", "four"):
        write_text(repository / "m.mil", ALONE.replace("1, 2", f"{len(tag)}, {ord(tag[0])}"))
        commit(repository, tag)
    made: list[str] = []
    before = Snapshot.__init__

    def counted(self: Snapshot, repository: Repository, label: str, tree: str | None, folder: Path) -> None:
        made.append(label)
        before(self, repository, label, tree, folder)

    monkeypatch.setattr(Snapshot, "__init__", counted)
    entries = History(repository, "m.mil", "HEAD").entries()
    numbers = []
    for subject in ("four", "three"):
        assert next(entries).commit.subject == subject
        numbers.append(len(made))
        assert not [*Path(tempfile.gettempdir()).iterdir()]
    entries.close()
    assert numbers == [4, 6]  # the newest one is looked at first


def test_an_object_that_is_gone(repository: Path) -> None:
    """As in a partial clone without a connection: the other commits are listed."""
    for tag, kind in (("one", "add"), ("two", "sub"), ("three", "mul")):
        write_text(repository / "m.mil", ALONE.replace("add", kind))
        commit(repository, tag)
    blob = git(repository, "rev-parse", "one:m.mil").strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    third, *others = log(repository, "m.mil")
    assert third == "three | +1 mul, -1 sub"
    assert len(others) == 2
    assert all(re.match(r"\w+ \| not readable: error\[MIL845\]: git refuses: ", line) for line in others)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_end_leaves_no_files(repository: Path) -> None:
    for place in range(6):
        write_text(repository / "m.mil", ALONE.replace("[1, 2]", f"[1, {place}]"))
        commit(repository, f"c{place}")
    environment = {**os.environ, "TMPDIR": tempfile.gettempdir()}
    for ending in (signal.SIGTERM, signal.SIGINT):
        running = subprocess.Popen(
            [sys.executable, "-m", "miltext", "log", "m.mil"], cwd=repository, stdout=subprocess.PIPE, env=environment
        )
        assert running.stdout is not None
        assert b" | 1 operation changed" in running.stdout.readline()
        running.send_signal(ending)
        running.communicate(timeout=30)
        time.sleep(0.1)
        assert not [*Path(tempfile.gettempdir()).iterdir()]
