"""Merges of texts and packages by the real git, in repositories of the tests' own."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from support.repositories import MODEL, WEIGHTS, Repository

import miltext
from miltext.weight_files.blob_storage import BlobFile

if shutil.which("git") is None:
    pytest.skip("needs git", allow_module_level=True)

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> a = relu(x = x)[name = string("a")];
            tensor<fp16, [2]> b = tanh(x = a)[name = string("b")];
            tensor<fp16, [2]> c = exp(x = b)[name = string("c")];
        } -> (c);
}
"""
OURS = TEXT.replace("> a =", "> first =").replace("x = a", "x = first")
THEIRS = TEXT.replace("tanh", "sigmoid")
BOTH = OURS.replace("tanh", "sigmoid")
NAME = "a folder/m 1.mil"


class Merging(Repository):
    """A repository with a text, where git asks miltext to merge."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.git("branch", "-M", "main")
        self.miltext("git", "setup")
        self.text = self.folder / NAME
        self.text.parent.mkdir()
        self.write(TEXT)

    def write(self, text: str) -> None:
        self.text.write_text(text, newline="")
        self.commit()

    def branches(self, ours: str, theirs: str, base: str = "main") -> None:
        """Have a branch `theirs`, and be on one, `ours`, each with its text."""
        for name, text in (("theirs", theirs), ("ours", ours)):
            self.git("checkout", "-q", "-B", name, base)
            self.write(text)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Merging:
    return Merging(tmp_path_factory.mktemp("merging"))


@pytest.fixture
def merging(shared: Merging) -> Merging:
    for command in (("reset", "-q", "--hard"), ("clean", "-fdq"), ("checkout", "-q", "main")):
        shared.git(*command)
    return shared


def test_texts_are_merged_where_commits_are_picked(merging: Merging) -> None:
    merging.branches(OURS, THEIRS)
    merging.git("cherry-pick", "theirs")
    assert merging.text.read_text() == BOTH


def test_a_stash_is_applied_to_a_changed_text(merging: Merging) -> None:
    merging.branches(OURS, THEIRS)
    merging.text.write_text(OURS.replace("exp", "square"))
    merging.git("stash", "-q")
    merging.git("checkout", "-q", "theirs")
    merging.git("stash", "apply", "-q")
    assert merging.text.read_text() == THEIRS.replace("exp", "square")


def test_a_conflict_is_between_markers_of_git(merging: Merging) -> None:
    merging.branches(TEXT.replace("tanh", "cos"), THEIRS)
    shown = merging.git("-c", "merge.conflictStyle=diff3", "merge", "theirs", status=1)
    assert f"miltext: {NAME}: a conflict, between markers" in shown
    text = merging.text.read_text()
    assert [text.count(mark) for mark in ("<<<<<<< ", "||||||| ", ">>>>>>> ")] == [1, 1, 1]
    assert "cos" in text
    assert "sigmoid" in text
    assert merging.git("status", "--short").startswith("UU ")


def test_a_base_of_two_with_a_conflict_keeps_none_of_it(merging: Merging) -> None:
    """In a criss-cross, git merges the bases first; what is in conflict there was never agreed on."""
    merging.branches(TEXT.replace("tanh", "cos"), THEIRS)
    for name, other, text in (("one", "theirs", "cos"), ("two", "ours", "sigmoid")):
        merging.git("checkout", "-q", "-B", name, "ours" if name == "one" else "theirs")
        merging.git("merge", other, status=1)
        merging.write(TEXT.replace("tanh", text))
    merging.write(TEXT.replace("tanh", "sigmoid").replace("exp", "square"))
    merging.git("merge", "-q", "one", status=1)
    text = merging.text.read_text()
    assert text.count("<<<<<<<") == text.count(">>>>>>>") == 1
    assert "square" in text
    assert "cos" in text


def test_a_text_that_both_added_is_merged_by_name(merging: Merging) -> None:
    for name, text in (("theirs", THEIRS), ("ours", OURS)):
        merging.git("checkout", "-q", "-B", name, "main")
        (merging.folder / "added.mil").write_text(text)
        merging.commit()
    merging.git("merge", "theirs", status=1)
    text = (merging.folder / "added.mil").read_text()
    assert text.count("<<<<<<<") == 1  # around `b`; what has other names is there twice
    assert ["> first =" in text, "> a =" in text] == [True, True]


def test_an_unreadable_input_is_merged_line_by_line(merging: Merging) -> None:
    broken = TEXT.replace("program(1.3)", "program(1.3")
    merging.branches(broken.replace("tanh", "cos"), broken.replace("exp", "square"))
    shown = merging.git("merge", "--no-edit", "theirs", status=1)
    assert "miltext cannot merge this; git does it by itself" in shown
    assert "<<<<<<< ours" in merging.text.read_text()


def test_errors_that_neither_side_has_stop_a_merge(merging: Merging) -> None:
    longer = TEXT.replace("[2]", "[3]")
    merging.branches(
        longer,
        TEXT.replace("= exp(x = b)", "= exp(x = n)").replace(
            "            tensor<fp16, [2]> c",
            "            tensor<fp16, [2]> n = square(x = b);\n            tensor<fp16, [2]> c",
        ),
    )
    shown = merging.git("merge", "theirs", status=1)
    assert "error[MIL701]" in shown
    assert "<<<<<<<" not in merging.text.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs scripts of sh, and such names")
def test_git_merges_by_itself_where_miltext_is_removed(merging: Merging) -> None:
    driver = merging.git("config", "merge.miltext-text.driver")
    binary = merging.git("config", "merge.miltext.driver")
    gone = [each.strip().replace(each.split()[4], "/nowhere/miltext") for each in (driver, binary)]
    (merging.folder / "odd\nname.mil").write_text(TEXT)
    merging.commit()
    for name, change in (("theirs", "sigmoid"), ("ours", "cos")):
        merging.git("checkout", "-q", "-B", name, "main")
        (merging.folder / "odd\nname.mil").write_text(TEXT.replace("tanh", change))
        (merging.folder / MODEL).write_bytes(change.encode())
        merging.commit()
    settings = ("-c", f"merge.miltext-text.driver={gone[0]}", "-c", f"merge.miltext.driver={gone[1]}")
    assert "not found" not in merging.git(*settings, "merge", "theirs", status=1)
    assert "<<<<<<< ours" in (merging.folder / "odd\nname.mil").read_text()
    assert (merging.folder / MODEL).read_bytes() == b"cos"
    merging.git("merge", "--abort")
    assert "odd\nname.mil: a conflict" in merging.git("merge", "theirs", status=1)
    assert (merging.folder / MODEL).read_bytes() == b"cos"


def test_a_merge_without_a_working_tree(merging: Merging, tmp_path: Path) -> None:
    merging.branches(OURS, THEIRS)
    merging.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    shutil.copyfile(merging.folder / ".git" / "info" / "attributes", tmp_path / "bare" / "info" / "attributes")
    driver = merging.git("config", "merge.miltext-text.driver").strip()
    merging.git("-C", str(tmp_path / "bare"), "config", "merge.miltext-text.driver", driver)
    tree = merging.git("-C", str(tmp_path / "bare"), "merge-tree", "--write-tree", "ours", "theirs").split()[0]
    assert merging.git("-C", str(tmp_path / "bare"), "show", f"{tree}:{NAME}") == BOTH
    merging.git("worktree", "add", "-q", "--detach", str(tmp_path / "another"), "ours")
    merging.git("-C", str(tmp_path / "another"), "merge", "-q", "--no-edit", "theirs")
    assert (tmp_path / "another" / NAME).read_text() == BOTH


# ---- packages


def rewritten(merging: Merging, old: str, new: str) -> None:
    model = miltext.load(merging.folder / MODEL)
    assert model.spec is not None
    model.spec.mlProgram.CopyFrom(miltext.parse(miltext.to_text(model.program).replace(old, new)))
    (merging.folder / MODEL).write_bytes(model.spec.SerializeToString(deterministic=True))


def retrained(merging: Merging, index: int) -> None:
    path = merging.folder / WEIGHTS
    data = bytearray(path.read_bytes())
    with BlobFile(path) as file:
        data[[*file][index].start] ^= 1
    path.write_bytes(data)


def digests(merging: Merging) -> dict[str, str]:
    weights = miltext.load(merging.folder / MODEL).weights
    return {name: weights.digest(entry) for name, entry in weights.entries.items()}


def package_branches(merging: Merging, kinds: tuple[str, str]) -> None:
    """Have both branches retrain a weight, and change an operation."""
    for index, (name, kind) in enumerate(zip(("theirs", "ours"), kinds, strict=True)):
        merging.git("checkout", "-q", "-B", name, "main")
        retrained(merging, index)
        old = "= relu(" if kind in ("tanh", "sigmoid") else 'string("same")'
        rewritten(merging, old, f"= {kind}(" if "relu" in old else f'string("{kind}")')
        merging.commit()


@pytest.mark.parametrize("command", [("merge", "-q", "theirs"), ("rebase", "-q", "--onto", "theirs", "main")])
def test_a_package_is_merged_with_its_weights(merging: Merging, command: tuple[str, ...]) -> None:
    package_branches(merging, ("tanh", "valid"))
    before = digests(merging)
    merging.git(*command)
    text = miltext.to_text(miltext.load(merging.folder / MODEL).program)
    assert "= tanh(" in text
    assert 'string("valid")' in text
    assert sum(before[name] != held for name, held in digests(merging).items()) == 1
    assert merging.git("status", "--short") == ""


def test_earlier_commits_are_not_merged_ones(merging: Merging) -> None:
    """Branches that are gone, but in the reflog, changed a part of the package alike, and another part not so."""
    for name in ("theirs", "ours"):
        merging.git("checkout", "-q", "-B", name, "main")
        retrained(merging, int(name == "ours"))
        merging.commit()
    package_branches(merging, ("tanh", "valid"))
    before = digests(merging)
    merging.git("merge", "-q", "theirs")
    assert sum(before[name] != held for name, held in digests(merging).items()) == 1
    assert "= tanh(" in miltext.to_text(miltext.load(merging.folder / MODEL).program)


@pytest.mark.parametrize("command", [("merge", "--no-edit"), ("rebase", "--onto", "release", "main")])
def test_a_topic_that_was_merged_elsewhere_is_merged_again(merging: Merging, command: tuple[str, ...]) -> None:
    """The merge elsewhere changed the model as the topic did, beside other weights."""
    for name, old, new in (("theirs", "same", "valid"), ("release", "relu(", "tanh("), ("ours", "", "")):
        merging.git("checkout", "-q", "-B", name, "main")
        rewritten(merging, old, new) if old else retrained(merging, 1)
        merging.commit()
    topic = merging.git("rev-parse", "theirs").strip()
    merging.git("merge", "-q", "--no-edit", topic)
    for _ in range(2):
        merging.git("checkout", "-q", "--detach", "release")
        merging.git(command[0], "-q", *command[1:], topic)
        text = miltext.to_text(miltext.load(merging.folder / MODEL).program)
        assert ["= tanh(" in text, 'string("valid")' in text] == [True, True]


def test_a_model_without_a_folder_is_merged(merging: Merging) -> None:
    shutil.copyfile(merging.folder / MODEL, merging.folder / "top.mlmodel")
    model = miltext.load(merging.folder / "top.mlmodel")
    assert model.spec is not None
    del next(iter(model.spec.mlProgram.functions["main"].block_specializations.values())).operations[:]
    for branch, field, value in (("base", "author", ""), ("theirs", "author", "a"), ("ours", "license", "b")):
        merging.git("checkout", "-q", "-B", branch, "main" if branch == "base" else "base")
        spec = type(model.spec).FromString(model.spec.SerializeToString())
        setattr(spec.description.metadata, field, value)
        (merging.folder / "top.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))
        merging.commit()
    merging.git("merge", "-q", "--no-edit", "theirs")
    spec = type(model.spec).FromString((merging.folder / "top.mlmodel").read_bytes())
    assert [spec.description.metadata.author, spec.description.metadata.license] == ["a", "b"]


def test_a_package_whose_commits_nothing_reports_stays_ours(merging: Merging) -> None:
    package_branches(merging, ("tanh", "valid"))
    merging.git("mv", "Model.mlpackage", "A model.mlpackage")
    merging.commit()
    shown = merging.git("merge", "theirs", status=1)
    assert "`miltext merge --resolve ours 'A model.mlpackage'` takes ours whole" in shown
    assert "MIL861" in merging.miltext("merge", "--resolve", "theirs", "A model.mlpackage", status=2)
    merging.miltext("merge", "--resolve", "ours", "A model.mlpackage")
    assert merging.git("status", "--short") == ""


def test_a_package_that_theirs_renamed_is_taken_from_its_commit(merging: Merging) -> None:
    """`--resolve` finds no side under the new name, whichever it is asked for."""
    package_branches(merging, ("tanh", "valid"))
    merging.git("checkout", "-q", "theirs")
    merging.git("mv", "Model.mlpackage", "A model.mlpackage")
    merging.commit()
    merging.git("checkout", "-q", "ours")
    shown = merging.git("merge", "theirs", status=1)
    command = "git restore --source=COMMIT --staged --worktree -- 'A model.mlpackage'"
    assert f"only theirs has this name: `{command}` takes theirs" in shown
    assert "--resolve" not in shown
    assert command.replace("'A model.mlpackage'", "MODEL") in merging.miltext(
        "merge", "--resolve", "theirs", "A model.mlpackage", status=2
    )
    merging.git(*shlex.split(command.replace("COMMIT", "MERGE_HEAD"))[1:])
    assert merging.git("diff", "--cached", "--raw", "--no-textconv", "theirs", "--", "A model.mlpackage") == ""
    assert "U" not in merging.git("status", "--short")


def test_a_package_in_conflict_stays_ours(merging: Merging) -> None:
    package_branches(merging, ("tanh", "sigmoid"))
    ours = [(merging.folder / name).read_bytes() for name in (MODEL, WEIGHTS)]
    shown = merging.git("merge", "theirs", status=1)
    assert [(merging.folder / name).read_bytes() for name in (MODEL, WEIGHTS)] == ours
    assert "the merged text is in Model.mlpackage.conflict.mil" in shown
    text = (merging.folder / "Model.mlpackage.conflict.mil").read_text()
    assert text.count("<<<<<<<") == 1
    assert merging.git("status", "--short").count("UU ") == 2


def test_manifests_compare_paths_and_not_identifiers(merging: Merging) -> None:
    path = merging.folder / "Model.mlpackage" / "Manifest.json"
    for name in ("theirs", "ours"):
        merging.git("checkout", "-q", "-B", name, "main")
        manifest = json.loads(path.read_text())
        for number, old in enumerate(sorted(manifest["itemInfoEntries"])):
            path.write_text(path.read_text().replace(old, f"{name}-{number}"))
        assert merging.git("diff").count("\n@@") == 0
        textconv = merging.git("config", "diff.miltext-manifest.textconv").strip()
        gone = textconv.replace(textconv.split()[2].removeprefix("t=$("), "/nowhere/miltext")
        assert "/nowhere/" in gone
        assert f'+        "{name}-1": {{' in merging.git("-c", f"diff.miltext-manifest.textconv={gone}", "diff")
        merging.commit()
    merging.git("merge", "-q", "--no-edit", "theirs")
    assert "ours-0" in path.read_text()
    assert miltext.load(merging.folder / "Model.mlpackage").type == "mlProgram"


def test_words_of_a_text_are_distinguished(merging: Merging) -> None:
    merging.text.write_text(THEIRS.replace("x = a", "x = a_1"))
    shown = merging.git("diff", "--word-diff", "--", NAME)
    assert "[-tanh-]{+sigmoid+}(x = [-a-]{+a_1+})" in shown
