"""Merges of models: whatever git settles by itself, no offset comes to point into another file's bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random

import pytest
from support.commands import miltext as run
from support.package_versions import (
    FIRST,
    OTHER,
    SECOND,
    Edit,
    Scene,
    authored,
    contents,
    folder_of,
    held,
    laid_anew,
    padding,
    sigmoid,
    spelled,
    tanh,
)

import miltext
from miltext.merging.messages import merge_messages
from miltext.schema.proto import Model as Spec


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


EDITS: dict[str, Sequence[Edit]] = {
    "program": (tanh,),
    "first": (FIRST,),
    "layout": (laid_anew,),
    "layout, second": (laid_anew, SECOND),
    "program, layout, second": (padding, laid_anew, SECOND),
}


@pytest.mark.parametrize(("ours", "theirs"), [*product(EDITS, EDITS)])
def test_each_weight_has_the_numbers_of_the_merged_sides(ours: str, theirs: str, scene: Scene) -> None:
    scene.edit(EDITS[ours], EDITS[theirs])
    before, mine, other = [contents(folder_of(package)) for package in scene.packages]
    result, merged = scene.as_git_does()
    assert result.is_whole, result.conflicts
    wanted = {name: other[name] if mine[name] == held else mine[name] for name, held in before.items()}
    assert contents(merged) == wanted
    kinds = {each.type for each in operations(Spec.FromString((merged / "model.mlmodel").read_bytes()))}
    assert ("tanh" in kinds) == ("program" in (ours, theirs))
    assert result.errors == ()


SPELLED: dict[str, tuple[Sequence[Edit], Sequence[Edit]]] = {
    "both weights": ((FIRST,), (SECOND,)),
    "program and layout": ((tanh, FIRST), (laid_anew, SECOND)),
    "layouts": ((laid_anew, FIRST), (padding, SECOND)),
    "program": ((tanh,), (FIRST,)),
}


@pytest.mark.parametrize("name", ["weights/./weight.bin", "weights//weight.bin", "./weights/weight.bin"])
@pytest.mark.parametrize("edits", SPELLED)
@pytest.mark.parametrize("where", ["in all", "in ours", "in theirs"])
def test_a_weight_file_is_one_however_it_is_called(name: str, edits: str, where: str, scene: Scene) -> None:
    for side, package in zip(("in base", "in ours", "in theirs"), scene.packages, strict=True):
        if where in ("in all", side):
            spelled(name)(package)
    scene.edit(*SPELLED[edits])
    before, mine, other = [contents(folder_of(package)) for package in scene.packages]
    wanted = {name: other[name] if mine[name] == held else mine[name] for name, held in before.items()}
    result, merged = scene.as_git_does()
    assert result.is_whole, result.conflicts
    assert contents(merged) == wanted
    made = scene.folder / "made.mlpackage"
    done = run("merge", *scene.packages, "-o", made)
    assert (done.returncode, done.stderr) == (0, b"")
    assert contents(folder_of(made)) == wanted


@pytest.mark.parametrize("seed", range(8))
def test_random_edits_leave_no_weight_to_another_file(seed: int, scene: Scene) -> None:
    held(Random(seed), scene)


def operations(spec: Spec) -> list[miltext.schema.proto.Operation]:
    return list(next(iter(spec.mlProgram.functions["main"].block_specializations.values())).operations)


CONFLICTS = {
    "one operation": ((tanh,), (sigmoid,)),
    "one weight": ((FIRST,), (OTHER,)),
    "one weight, laid anew": ((FIRST, laid_anew), (OTHER, padding)),
    "one operation, ours laid anew": ((tanh, laid_anew), (sigmoid,)),
    "one operation, theirs laid anew": ((tanh,), (sigmoid, laid_anew)),
    "the author": ((authored("a"),), (authored("b"),)),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_leaves_ours_whole(name: str, scene: Scene) -> None:
    scene.edit(*CONFLICTS[name])
    result, merged = scene.as_git_does()
    assert result.conflicts
    assert contents(merged) == contents(folder_of(scene.packages[1]))
    ours, left = (
        Spec.FromString((folder / "model.mlmodel").read_bytes()) for folder in (folder_of(scene.packages[1]), merged)
    )
    assert [each.type for each in operations(left)] == [each.type for each in operations(ours)]
    assert left.description == ours.description


def test_theirs_stays_where_git_takes_the_weights_of_ours_away(scene: Scene) -> None:
    """Theirs retrained a weight and changed an operation that ours changed too: ours has its weights nowhere."""
    scene.edit((tanh,), (sigmoid, FIRST))
    result, merged = scene.as_git_does()
    assert result.conflicts
    assert result.side == 2
    left = Spec.FromString((merged / "model.mlmodel").read_bytes())
    assert "sigmoid" in [each.type for each in operations(left)]
    assert contents(merged) == contents(folder_of(scene.packages[2]))


# ---- by hand


def test_packages_are_merged_by_hand(scene: Scene) -> None:
    scene.edit((tanh, FIRST), (padding, SECOND, authored("b")))
    target = scene.folder / "merged.mlpackage"
    done = run("merge", *scene.packages, "-o", target)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    merged = miltext.load(target)
    before, mine, other = [contents(folder_of(package)) for package in scene.packages]
    assert {name: merged.weights.digest(entry) for name, entry in merged.weights.entries.items()} == {
        name: other[name] if mine[name] == held else mine[name] for name, held in before.items()
    }
    assert merged.metadata is not None
    assert merged.metadata.author == "b"
    assert run("merge", *scene.packages, "-o", target).returncode == 2
    assert run("merge", *scene.packages, "-o", target, "--force").returncode == 0


def test_a_conflict_by_hand_is_a_text_beside(scene: Scene) -> None:
    scene.edit((tanh,), (sigmoid,))
    target = scene.folder / "merged.mlpackage"
    done = run("merge", *scene.packages, "-o", target)
    assert done.returncode == 1
    assert not target.exists()
    text = Path(f"{target}.conflict.mil").read_text()
    assert text.count("<<<<<<<") == 1
    assert "both sides changed an operation" in done.stderr.decode()
    assert run("merge", *scene.packages).returncode == 2


def test_only_force_replaces_an_edited_conflict_text(scene: Scene) -> None:
    scene.edit((tanh,), (sigmoid,))
    target = scene.folder / "merged.mlpackage"
    text = Path(f"{target}.conflict.mil")
    for _ in range(2):  # the text that it wrote itself is not in the way
        assert run("merge", *scene.packages, "-o", target).returncode == 1
    written = text.read_text()
    text.write_text(written.replace("<<<<<<<", "// <<<<<<<"))
    done = run("merge", *scene.packages, "-o", target)
    assert (done.returncode, f"{text}: it already exists; --force".encode() in done.stderr) == (2, True), done.stderr
    assert text.read_text() != written
    assert run("merge", *scene.packages, "-o", target, "--force").returncode == 1
    assert text.read_text() == written


# ---- what is around a program


def described(**features: str) -> Spec:
    spec = Spec(specificationVersion=8)
    for name, text in features.items():
        spec.description.input.add(name=name, shortDescription=text)
    return spec


@pytest.mark.parametrize(
    ("ours", "theirs", "wanted"),
    [
        (described(x="a", y="b"), described(x="one", y=""), described(x="a", y="b")),
        (described(x="one", y="", z="c"), described(x="two", y=""), described(x="two", y="", z="c")),
        (described(y=""), described(x="one", y="b"), described(y="b")),
        (described(y="", x="one"), described(x="one", y="", z=""), described(y="", x="one", z="")),
    ],
)
def test_descriptions_are_merged_by_name(ours: Spec, theirs: Spec, wanted: Spec) -> None:
    assert merge_messages(described(x="one", y=""), ours, theirs) == []
    assert sorted(each.name + each.shortDescription for each in ours.description.input) == sorted(
        each.name + each.shortDescription for each in wanted.description.input
    )


def test_a_conflict_of_descriptions_is_named_by_its_place() -> None:
    base, ours, theirs = described(x="one"), described(x="a"), described(x="b")
    for spec, said in ((base, "1"), (ours, "2"), (theirs, "3")):
        spec.description.metadata.userDefined["mine"] = said
        spec.description.metadata.userDefined["com.github.apple.coremltools.version"] = said
        spec.description.input[0].type.multiArrayType.dataType = 65568
    ours.description.input[0].type.imageType.width = 1
    theirs.description.input[0].type.dictionaryType.SetInParent()
    assert {clash.place for clash in merge_messages(base, ours, theirs)} == {
        "description.input[x].shortDescription",
        "description.input[x].type.Type",
        "description.metadata.userDefined[mine]",
    }
    assert ours.description.metadata.userDefined["com.github.apple.coremltools.version"] == "2"


def test_a_message_that_both_begin_is_merged_field_by_field() -> None:
    base, ours, theirs = Spec(), Spec(), Spec()
    ours.description.metadata.author = "a"
    theirs.description.metadata.license = "b"
    assert merge_messages(base, ours, theirs) == []
    assert [ours.description.metadata.author, ours.description.metadata.license] == ["a", "b"]
    theirs.description.metadata.author = "c"
    (clash,) = merge_messages(base, ours, theirs)
    assert clash.place == "description.metadata.author"
    assert merge_messages(theirs, ours, base)[0].values[2] is None


def test_an_output_that_each_side_replaces_is_a_conflict() -> None:
    base, ours, theirs = Spec(), Spec(), Spec()
    for spec, name in ((base, "a"), (ours, "b"), (theirs, "c")):
        spec.description.output.add(name=name)
    (clash,) = merge_messages(base, ours, theirs)
    assert clash.conflict == tuple(f'// description.output: name: "{name}"' for name in "abc")
    assert [each.name for each in ours.description.output] == ["b"]


def test_the_conflict_text_shows_conflicts_of_the_description(scene: Scene) -> None:
    scene.edit((authored("a\nA"), tanh), (authored("b"),))
    result, _ = scene.as_git_does()
    assert result.text.startswith(
        """<<<<<<< ours
// description.metadata.author: "a\\nA"
=======
// description.metadata.author: "b"
>>>>>>> theirs
program(1.3)"""
    )
    assert "= tanh(" in result.text
