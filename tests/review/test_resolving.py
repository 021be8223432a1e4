"""Packages that git left in conflict, made whole again: one side's, or that of an edited text."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from support.git_scenes import PACKAGE, Checkout, Scene, biased, held, records, require_sound
from support.package_versions import (
    FIRST,
    OTHER,
    SECOND,
    Edit,
    authored,
    contents,
    exported_again,
    folder_of,
    in_two_files,
    laid_anew,
    rewritten,
    sigmoid,
    tanh,
)

import miltext
from miltext.merging.manifests import merge_manifests

if shutil.which("git") is None:
    pytest.skip("needs git", allow_module_level=True)

MODEL = f"{PACKAGE}/Data/com.apple.CoreML/model.mlmodel"
TEXT = f"{PACKAGE}.conflict.mil"
lfs = pytest.mark.skipif(shutil.which("git-lfs") is None, reason="needs git-lfs")


Edits = tuple[list[Edit], list[Edit]]
"""What ours and theirs do."""


@pytest.mark.any_version
@lfs
@pytest.mark.parametrize("seed", [1, 4, 9, 14])
def test_random_edits_of_packages_are_merged_or_resolved(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    (tmp_path / "made").mkdir()
    template = Checkout(tmp_path / "made" / "repository", identity=True)
    template.set_up(Scene.of(seed).lfs)
    assert held(Scene.of(seed), tmp_path, template.folder) in ("merged", "resolved", "nothing left to pick")


# ---- one side


WEIGHTS_OF_THEIRS: dict[str, Edits] = {
    "retrained": ([tanh], [sigmoid, FIRST]),
    "laid out anew": ([tanh], [sigmoid, laid_anew, SECOND]),
    "another file": ([tanh], [sigmoid, in_two_files]),
    "a model of theirs alone": ([FIRST], [OTHER, laid_anew]),
}


@pytest.mark.parametrize("kind", WEIGHTS_OF_THEIRS)
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_side_is_whole_where_git_took_the_weights_of_theirs(kind: str, side: str, checkout: Checkout) -> None:
    shown = checkout.merge(*WEIGHTS_OF_THEIRS[kind])
    assert "`miltext merge --resolve ours Model.mlpackage` takes ours whole" in shown
    assert records(checkout.package) == 2  # before it is resolved, too
    said = checkout.resolve(side, PACKAGE)
    assert said == f"miltext: {PACKAGE}: {side} whole, with its weights\n"
    assert checkout.git("diff", "--cached", "--raw", "--no-textconv", side, "--", PACKAGE) == ""
    assert checkout.git("status", "--porcelain").count("??") == 0  # and the text with the conflicts is gone
    assert records(checkout.package) == 2
    checkout.git("commit", "-q", "--no-edit")


@pytest.mark.any_version
def test_the_recipe_of_git_alone_mixed_both_sides(checkout: Checkout) -> None:
    """What `git checkout --ours` leaves is neither side: theirs' weight file stays beside our model."""
    checkout.merge(*WEIGHTS_OF_THEIRS["laid out anew"])
    checkout.git("checkout", "--ours", "--", PACKAGE)
    with pytest.raises(AssertionError):
        records(checkout.package)
    checkout.resolve("ours", PACKAGE)
    require_sound(checkout.package)


@pytest.mark.any_version
def test_several_resolved_packages_are_named_like_one(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.merge([tanh], [sigmoid])
    (checkout.folder / "a folder").mkdir()
    inner = Checkout(checkout.folder / "a folder", identity=True)
    inner.environment["HOME"] = checkout.environment["HOME"]
    inner.resolve("theirs", f"../{MODEL}")
    assert checkout.unmerged == ""


@pytest.mark.any_version
def test_a_deleted_package_is_resolved_both_ways(checkout: Checkout) -> None:
    def deleted(package: Path) -> None:
        shutil.rmtree(package)

    checkout.merge([tanh, FIRST], [deleted])
    assert checkout.unmerged
    checkout.resolve("theirs", PACKAGE)
    assert not checkout.package.exists()
    checkout.git("reset", "-q", "--hard")
    checkout.run("git", "merge", "--no-edit", "theirs")
    checkout.resolve("ours", PACKAGE)
    assert records(checkout.package) == 2


# ---- an edited text


@pytest.mark.parametrize("side", [1, 2])
def test_a_text_has_the_weights_of_both_sides(side: int, checkout: Checkout) -> None:
    checkout.merge([tanh, SECOND], [sigmoid, laid_anew, FIRST])
    assert "MIL863" in checkout.resolve(TEXT, PACKAGE, status=1)
    checkout.take_in_text(side)
    checkout.resolve(TEXT, PACKAGE)
    assert checkout.unmerged == ""
    assert not (checkout.folder / TEXT).exists()
    after = contents(folder_of(checkout.package))
    checkout.git("commit", "-q", "--no-edit")
    for name, commit, edit in (("scores", "ours", "tanh"), ("edges", "theirs", "sigmoid")):
        text = miltext.to_text(miltext.load(checkout.package).program)
        assert (f"= {edit}(" in text) == (side == (1 if edit == "tanh" else 2))
        checkout.git("checkout", "-q", commit)
        whole = contents(folder_of(checkout.package))
        checkout.git("checkout", "-q", "-")
        assert [after[each] == whole[each] for each in after if each.startswith(name)] == [True]


def test_comments_state_whose_description_it_is(checkout: Checkout) -> None:
    checkout.merge([tanh, authored("mine")], [biased, authored("other")])
    path = checkout.folder / TEXT
    text = path.read_text()
    assert '// description.metadata.author: "mine"\n' in text
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith(("//", "<", "=", ">"))))
    assert "keeps neither side's comments on `description.metadata.author`" in checkout.resolve(TEXT, PACKAGE, status=1)
    path.write_text(text)
    checkout.take_in_text(2)
    checkout.resolve(TEXT, PACKAGE)
    model = miltext.load(checkout.package)
    assert model.description is not None
    assert model.description.metadata.author == "other"
    assert ["= tanh(" in miltext.to_text(model.program), "0x1p-3" in miltext.to_text(model.program)] == [True, True]


def test_a_text_with_errors_changes_nothing(checkout: Checkout) -> None:
    checkout.merge([tanh], [sigmoid, FIRST])
    checkout.take_in_text(1)
    path = checkout.folder / TEXT
    path.write_text(path.read_text().replace("= tanh(x = ", "= tanh(x = no_"))
    before = checkout.git("ls-files", "-s", "-u")
    assert "error[MIL" in checkout.resolve(TEXT, PACKAGE, status=1)
    assert checkout.git("ls-files", "-s", "-u") == before
    assert path.exists()


@pytest.mark.any_version
def test_the_mergetool_of_git_opens_the_text_once(checkout: Checkout) -> None:
    """Two files of the package are in conflict, and git goes from one to the next."""
    checkout.merge([tanh, FIRST], [sigmoid, OTHER])
    assert len({line.split("\t")[1] for line in checkout.unmerged.splitlines()}) == 2
    checkout.git("config", "mergetool.keepBackup", "false")
    path = checkout.folder / TEXT
    checkout.environment["GIT_EDITOR"] = "sed -i.old -e '/^<<<<<<</,/^=======/d' -e '/^>>>>>>>/d'"
    done = checkout.run("git", "mergetool", "-t", "miltext", "--no-prompt")
    assert done.returncode == 0, done.stderr
    assert checkout.unmerged == ""
    assert not path.exists()
    assert records(checkout.package) == 2
    assert "= sigmoid(" in miltext.to_text(miltext.load(checkout.package).program)


# ---- what is refused


@pytest.mark.any_version
def test_without_a_conflict_there_is_nothing_to_resolve(checkout: Checkout) -> None:
    checkout.merge([tanh], [FIRST])
    assert "error[MIL860]: no file of this model is in conflict" in checkout.resolve("ours", PACKAGE, status=2)
    assert "MIL860" in checkout.resolve("ours", "nothing", status=2)
    assert "MIL846" in checkout.resolve("ours", "../elsewhere", status=2)


@pytest.mark.any_version
def test_changes_since_are_not_lost(checkout: Checkout) -> None:
    checkout.merge([tanh], [sigmoid, FIRST])
    manifest = checkout.package / "Manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()), indent=1))  # as coremltools lays it out anew
    weights = folder_of(checkout.package) / "weights" / "weight.bin"
    weights.write_bytes(weights.read_bytes() + b"\0")
    assert "weight.bin` has changes that would be lost" in checkout.resolve("ours", PACKAGE, status=2)
    checkout.resolve("ours", PACKAGE, "--force")
    assert checkout.git("diff", "--cached", "--raw", "--no-textconv", "ours") == ""


@pytest.mark.any_version
def test_ours_can_be_taken_if_merged_commits_are_unknown(checkout: Checkout) -> None:
    checkout.edit([])
    checkout.commit()
    sides: dict[str, list[list[Edit]]] = {"theirs": [[sigmoid], [FIRST]], "ours": [[tanh]]}
    for name, edits in sides.items():
        checkout.git("checkout", "-q", "-B", name, "main")
        for each in edits:
            checkout.edit(each)
            checkout.commit()
    checkout.run("git", "merge", "--squash", "theirs")
    assert "MIL861" in checkout.resolve("theirs", PACKAGE, status=2)
    assert "MIL861" in checkout.resolve("theirs", PACKAGE, "--force", status=2)
    assert "MIL862" in checkout.resolve("ours", PACKAGE, status=2)  # the index may have had changes before
    checkout.resolve("ours", PACKAGE, "--force")
    assert checkout.git("diff", "--cached", "--raw", "--no-textconv", "ours") == ""


# ---- both sides add the package


@pytest.mark.any_version
def test_a_package_that_both_sides_exported_is_one(checkout: Checkout) -> None:
    checkout.merge([exported_again(1)], [exported_again(2)], added=True)
    assert checkout.unmerged == ""
    require_sound(checkout.package)


@pytest.mark.any_version
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_packages_that_both_sides_added_otherwise_are_resolved(side: str, checkout: Checkout) -> None:
    shown = checkout.merge([exported_again(1), tanh, FIRST], [exported_again(2), sigmoid, laid_anew], added=True)
    assert "both sides changed " in shown
    assert "<<<<" not in (checkout.package / "Manifest.json").read_text()
    require_sound(checkout.package)
    checkout.resolve(side, PACKAGE)
    require_sound(checkout.package)


def manifest(*items: str, prefix: str = "", root: str = "m.mlmodel", **more: str) -> bytes:
    entries = {f"{prefix}{path}": {"path": path, "name": path} for path in items}
    held = {"fileFormatVersion": "1.0.0", "itemInfoEntries": entries, "rootModelIdentifier": f"{prefix}{root}", **more}
    return json.dumps(held).encode()


BASE = manifest("m.mlmodel", "weights")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        (BASE, manifest("m.mlmodel", "weights", prefix="a"), manifest("m.mlmodel", "weights", prefix="b"), 1),
        (b"", manifest("m.mlmodel", "weights", prefix="a"), manifest("m.mlmodel", "weights", prefix="b"), 1),
        (BASE, BASE, manifest("m.mlmodel", prefix="b"), ("m.mlmodel",)),
        (
            BASE,
            manifest("m.mlmodel", "weights", "a"),
            manifest("m.mlmodel", "weights", "b"),
            ("m.mlmodel", "weights", "a", "b"),
        ),
        (b"", manifest("m.mlmodel", "a"), manifest("m.mlmodel", "b", prefix="b"), ("m.mlmodel", "a", "b")),
        (b"", manifest("m.mlmodel"), manifest("m.mlmodel", fileFormatVersion="2"), None),
        (b"", manifest("m.mlmodel"), manifest("n.mlmodel", root="n.mlmodel"), None),
        (BASE, b"{", BASE, None),
        (BASE, BASE, b"{", None),
        (BASE, b"{", b"{", b"{"),
        (b"<<<<<<<", BASE, BASE, 1),
        (BASE, manifest("m.mlmodel"), manifest("m.mlmodel", "weights", "a"), ("m.mlmodel", "a")),
    ],
)
def test_manifests_are_merged_item_by_item(base: bytes, ours: bytes, theirs: bytes, wanted: object) -> None:
    made = merge_manifests(base, ours, theirs)
    if wanted is None or isinstance(wanted, bytes):
        assert made == wanted
    elif wanted == 1:
        assert made == ours
    else:
        assert made is not None
        held = json.loads(made)
        assert [each["path"] for each in held["itemInfoEntries"].values()] == [*wanted]  # type: ignore[misc]
        assert held["itemInfoEntries"][held["rootModelIdentifier"]]["path"] == "m.mlmodel"


# ---- git-lfs, and git without a committer


@pytest.mark.any_version
@lfs
def test_files_in_git_lfs_are_merged_and_kept_there(lfs_checkout: Checkout) -> None:
    shown = lfs_checkout.merge([tanh, SECOND], [biased, FIRST])
    assert lfs_checkout.unmerged == "", shown
    require_sound(lfs_checkout.package)
    assert lfs_checkout.git("cat-file", "blob", f"HEAD:{MODEL}").startswith("version https://git-lfs")
    assert lfs_checkout.git("status", "--porcelain") == ""


@pytest.mark.any_version
@lfs
def test_a_text_that_git_lfs_keeps_is_merged(checkout: Checkout) -> None:
    (checkout.folder / ".gitattributes").write_text("*.mil filter=lfs -text\n")
    checkout.git("lfs", "install", "--local")
    base = "program(1.3) { func main<ios18>(fp16 x) { fp16 y = relu(x = x); fp16 z = exp(x = y); } -> (z); }\n"
    (checkout.folder / "m.mil").write_text(base)
    checkout.commit()
    for name, text in (("theirs", base.replace("relu", "tanh")), ("ours", base.replace("exp", "cos"))):
        checkout.git("checkout", "-q", "-B", name, "main")
        (checkout.folder / "m.mil").write_text(text)
        checkout.commit()
    checkout.git("merge", "-q", "--no-edit", "theirs")
    assert (checkout.folder / "m.mil").read_text() == base.replace("relu", "tanh").replace("exp", "cos")
    assert checkout.git("cat-file", "blob", "HEAD:m.mil").startswith("version https://git-lfs")


@pytest.mark.any_version
@lfs
def test_object_of_git_lfs_that_is_not_here_is_reported_as_that(lfs_checkout: Checkout) -> None:
    lfs_checkout.edit([])
    lfs_checkout.commit()
    for name, edit in (("theirs", biased), ("ours", tanh)):
        lfs_checkout.git("checkout", "-q", "-B", name, "main")
        lfs_checkout.edit([edit])
        lfs_checkout.commit()
    pointer = lfs_checkout.git("cat-file", "blob", f"theirs:{MODEL}")
    found = re.search("sha256:([0-9a-f]+)", pointer)
    assert found
    os.remove(next((lfs_checkout.folder / ".git" / "lfs" / "objects").rglob(found[1])))
    done = lfs_checkout.run("git", "merge", "--no-edit", "theirs")
    assert "model.mlmodel of theirs: its git-lfs object is not here: `git lfs fetch --all` gets it" in done.stderr
    assert lfs_checkout.unmerged
    lfs_checkout.resolve("ours", PACKAGE)
    require_sound(lfs_checkout.package)


@pytest.mark.any_version
@pytest.mark.parametrize("is_writable", [True, False])
def test_git_shows_models_where_it_knows_no_committer(is_writable: bool, checkout: Checkout) -> None:
    checkout.edit([])
    checkout.commit()
    checkout.edit([tanh])
    checkout.commit()
    checkout.edit([FIRST])
    if not is_writable:
        (checkout.folder / ".git" / "miltext-texts").write_text("a file is where texts would be kept")
    bare = Checkout(checkout.folder, identity=False)
    bare.environment = {name: bare.environment[name] for name in ("HOME", "PATH", "GIT_CONFIG_NOSYSTEM")}
    for _ in range(2):
        for words in (("diff",), ("log", "-p", "-1"), ("show",), ("diff", "HEAD~")):
            done = bare.run("git", "--no-pager", *words)
            assert (done.returncode, done.stderr) == (0, ""), words
            assert ("= tanh(" in done.stdout) == (words != ("diff",))
    assert (checkout.folder / ".git" / "miltext-texts").is_dir() == is_writable
    assert not checkout.git("for-each-ref", "refs/notes")


@pytest.mark.any_version
def test_an_edit_of_a_name_is_kept_beside_other_weights(checkout: Checkout) -> None:
    checkout.merge([lambda package: rewritten(package, "lit_cast_fp16", "bright")], [FIRST])
    assert checkout.unmerged == ""
    require_sound(checkout.package)


@pytest.mark.any_version
@pytest.mark.parametrize("name", ["-d/a b's", "ünï/[br]*?", 'a;b $x "z"'])
def test_packages_are_merged_and_shown_in_folders_of_any_name(name: str, checkout: Checkout) -> None:
    checkout.package = checkout.folder / name / "My Model.mlpackage"
    checkout.package.parent.mkdir(parents=True)
    checkout.merge([tanh, FIRST], [biased, SECOND])
    assert checkout.unmerged == ""
    require_sound(checkout.package)
    checkout.git("checkout", "-q", "--", ".")
    shown = checkout.run("git", "diff", "main")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "+            tensor<fp16, [1, 6, 8, 8]> lit_cast_fp16 = tanh(" in shown.stdout
    checkout.git("checkout", "-q", "-B", "others", "main")
    checkout.edit([sigmoid, laid_anew])
    checkout.commit()
    done = checkout.run("git", "merge", "ours")
    assert "both sides changed an operation" in done.stderr
    assert checkout.unmerged
    way_out = re.search("`miltext (merge --resolve ours .*?)`( |$)", done.stderr)
    assert way_out
    checkout.miltext(*shlex.split(way_out[1]))
    assert checkout.unmerged == ""
    require_sound(checkout.package)
    assert "sigmoid" in miltext.to_text(miltext.load(checkout.package).program)


@pytest.mark.any_version
def test_packages_are_merged_without_a_working_tree(checkout: Checkout, tmp_path: Path) -> None:
    """As servers do, to see whether a pull request can be merged."""
    checkout.merge([tanh, FIRST], [biased, SECOND])
    wanted = checkout.git("rev-parse", "HEAD^{tree}")
    bare = Checkout(tmp_path / "bare.git", identity=False)
    checkout.git("clone", "-q", "--bare", str(checkout.folder), str(bare.folder))
    bare.miltext("git", "setup")
    done = bare.run("git", "merge-tree", "--write-tree", "ours~", "theirs")
    if "usage" in done.stderr:
        pytest.skip("this git does not merge trees")
    assert (done.returncode, done.stdout, done.stderr) == (0, wanted, "")


@pytest.mark.any_version
@pytest.mark.parametrize("how", ["ours", "theirs", "text"])
def test_a_package_outside_a_sparse_checkout_is_made_whole(how: str, checkout: Checkout) -> None:
    (checkout.folder / "shown").mkdir()
    (checkout.folder / "shown" / "notes").touch()
    checkout.edit([])
    checkout.commit()
    for name, edits in (("theirs", [sigmoid, in_two_files, SECOND]), ("ours", [tanh])):
        checkout.git("checkout", "-q", "-B", name, "main")
        checkout.edit(edits)
        checkout.commit()
    checkout.git("sparse-checkout", "set", "shown")
    assert not checkout.package.exists()
    checkout.run("git", "merge", "--no-edit", "theirs")
    if how == "text":
        checkout.take_in_text(1)
        checkout.resolve(TEXT, PACKAGE)
    else:
        checkout.resolve(how, PACKAGE)
    assert checkout.unmerged == ""
    if how != "text":
        checkout.git("diff", "--cached", "--exit-code", "--raw", "--no-textconv", how, "--", PACKAGE)
    checkout.git("commit", "-q", "-m", "merged")
    checkout.git("sparse-checkout", "disable")
    require_sound(checkout.package)
    assert ("sigmoid" if how == "theirs" else "tanh") in miltext.to_text(miltext.load(checkout.package).program)
