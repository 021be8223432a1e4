"""`miltext merge` as a user meets it: what it writes, where, and how it ends; and what it says to git."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import miltext as run

BASE = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
            tensor<fp16, [2]> z = tanh(x = y)[name = string("z")];
        } -> (z);
}
"""
OURS, THEIRS = BASE.replace("relu", "relu6"), BASE.replace("tanh", "cos")
BOTH = OURS.replace("tanh", "cos")
OTHER = BASE.replace("relu", "silu")


class Files:
    """Texts in a folder, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        texts = {"base": BASE, "ours": OURS, "theirs": THEIRS, "other": OTHER, "empty": "", "broken": "program("}
        for name, text in texts.items():
            (folder / f"{name}.mil").write_text(text)
        (folder / "latin.mil").write_bytes(BASE.replace("main", "m\u00e4in").encode("latin-1"))
        (folder / "folder.mil").mkdir()

    def merge(self, *words: str, status: int = 0) -> tuple[str, str]:
        done = run("merge", *words, cwd=self.folder)
        assert done.returncode == status, done.stderr
        return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_merge_is_written_where_it_is_requested(files: Files) -> None:
    assert files.merge("base.mil", "ours.mil", "theirs.mil") == (BOTH, "")
    assert files.merge("base.mil", "ours.mil", "theirs.mil", "-o", "new.mil") == ("", "")
    assert (files.folder / "new.mil").read_text() == BOTH
    _, told = files.merge("base.mil", "ours.mil", "theirs.mil", "-o", "ours.mil", status=2)
    assert told == "miltext: ours.mil: it already exists; --force replaces it\n"
    assert files.merge("base.mil", "ours.mil", "theirs.mil", "-o", "ours.mil", "--force") == ("", "")
    assert (files.folder / "ours.mil").read_text() == BOTH
    assert files.merge("base.mil", "ours.mil", "ours.mil") == (BOTH, "")
    assert files.merge("empty.mil", "ours.mil", "ours.mil") == (BOTH, "")


def test_conflicts_have_the_names_of_the_files(files: Files) -> None:
    shown, told = files.merge("base.mil", "ours.mil", "other.mil", "--diff3", "--marker-size", "9", status=1)
    lines = [line for line in shown.splitlines() if line[0] in "<|=>"]
    assert lines == ["<<<<<<<<< ours.mil", "||||||||| base.mil", "=========", ">>>>>>>>> other.mil"]
    assert told == "miltext: ours.mil: a conflict, between markers\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("base.mil", "broken.mil", "theirs.mil"), "broken.mil:1:9: error[MIL005]"),
        (("base.mil", "ours.mil", "broken.mil"), "broken.mil:1:9: error[MIL005]"),
        (("broken.mil", "ours.mil", "theirs.mil"), "broken.mil:1:9: error[MIL005]"),
        (("base.mil", "ours.mil", "empty.mil"), "error[MIL256]"),
        (("base.mil", "latin.mil", "theirs.mil"), "error[MIL256]"),
        (("folder.mil", "ours.mil", "theirs.mil"), "error[MIL250]"),
        (("base.mil", "ours.mil", "nothing.mil"), "nothing.mil"),
        (("base.mil", "ours.mil"), "Missing argument"),
        (("base.mil", "ours.mil", "theirs.mil", "-o", "m.mlpackage"), "error[MIL401]"),
    ],
)
def test_an_impossible_merge_is_reported(files: Files, words: tuple[str, ...], said: str) -> None:
    shown, told = files.merge(*words, status=2)
    assert shown == ""
    assert said in told


def test_errors_that_neither_side_has_are_reported(files: Files) -> None:
    (files.folder / "ours.mil").write_text(BASE.replace("[2]", "[3]"))
    line = "            tensor<fp16, [2]> n = exp(x = y);\n"
    (files.folder / "theirs.mil").write_text(BASE.replace("        } ->", f"{line}        }} ->"))
    shown, told = files.merge("base.mil", "ours.mil", "theirs.mil", status=1)
    assert line in shown
    assert "error[MIL701]" in told
    assert files.merge("base.mil", "ours.mil", "theirs.mil", "--no-check") == (shown, "")


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (("%S", "%X", "%Y"), ["ours", "theirs"]),
        (("0123abc", "HEAD", "a branch"), ["HEAD", "a branch"]),
        ((), ["ours", "theirs"]),
    ],
)
def test_git_gives_names_to_the_versions(files: Files, labels: tuple[str, ...], wanted: list[str]) -> None:
    names = ("base.mil", "ours.mil", "other.mil")
    done = run("mergedriver", *names, "7", "a/m.mil", *labels, cwd=files.folder)
    assert done.returncode == 3
    assert done.stderr == b"miltext: a/m.mil: a conflict, between markers\n"
    text = (files.folder / "ours.mil").read_text()
    assert [line.split(" ", 1)[1] for line in text.splitlines() if line[0] in "<>"] == wanted


def test_texts_and_models_are_not_merged_with_one_another(files: Files) -> None:
    done = run("merge", "base.mil", "ours.mil", "X.mlpackage", cwd=files.folder)
    assert done.returncode == 2
    assert b"merge three texts or three models: X.mlpackage is a model" in done.stderr


def test_the_exit_status_leaves_files_to_git(files: Files) -> None:
    done = run("mergedriver", "base.mil", "broken.mil", "theirs.mil", "7", "m.mil", cwd=files.folder)
    assert done.returncode == 2
    assert (files.folder / "broken.mil").read_text() == "program("
    for name in ("Manifest.json", "m.mlpackage/Manifest.json"):
        assert run("mergedriver", "base.mil", "ours.mil", "theirs.mil", "7", name, cwd=files.folder).returncode == 3
    done = run("mergedriver", "base.mil", "ours.mil", "theirs.mil", "7", "m.mlmodelc/model.mil", cwd=files.folder)
    assert done.returncode == 3
    assert b"this is a part of a compiled model" in done.stderr
    assert (files.folder / "ours.mil").read_text() == OURS
