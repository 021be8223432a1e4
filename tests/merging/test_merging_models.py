"""Merges of models: whatever git settles by itself, no offset comes to point into another file's bytes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest
from support.commands import miltext as run
from support.repositories import EXAMPLE

import miltext
from miltext.merging.conflicts import Markers
from miltext.merging.messages import merge_messages
from miltext.merging.models import Kept, MergedModel, merge_models
from miltext.models.model_weights import blob_values
from miltext.models.spec import SpecModel
from miltext.models.weights import BlobFile, BlobWriter
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Model as Spec

INNER = Path("Data/com.apple.CoreML")
NAME = "@model_path/weights/weight.bin"

Edit = Callable[[Path], None]


def folder_of(package: Path) -> Path:
    return package / INNER


def save(package: Path, spec: Spec) -> None:
    (folder_of(package) / "model.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))


def rewritten(package: Path, old: str, new: str) -> None:
    model = miltext.load(package)
    text = miltext.to_text(model.program)
    assert old in text
    assert model.spec is not None
    model.spec.mlProgram.CopyFrom(miltext.parse(text.replace(old, new)))
    save(package, model.spec)


def tanh(package: Path) -> None:
    rewritten(package, "= relu(", "= tanh(")


def sigmoid(package: Path) -> None:
    rewritten(package, "= relu(", "= sigmoid(")


def padding(package: Path) -> None:
    rewritten(package, 'string("same")', 'string("valid")')


def retrained(index: int, by: int) -> Edit:
    def edit(package: Path) -> None:
        path = folder_of(package) / "weights" / "weight.bin"
        data = bytearray(path.read_bytes())
        with BlobFile(path) as file:
            data[[*file][index].start] ^= by
        path.write_bytes(data)

    return edit


def laid_anew(package: Path) -> None:
    """Put a record before the others, which moves them all."""
    path = folder_of(package) / "weights" / "weight.bin"
    model = miltext.load(package)
    with BlobFile(path) as file, BlobWriter(path.with_name("new.bin")) as writer:
        writer.add_packed(BY_NAME["fp16"], bytes(range(64)))
        places = {blob.offset: writer.copy(blob) for blob in file}
    for held in blob_values(model.program):
        held.value.blobFileValue.offset = places[held.value.blobFileValue.offset]
    path.with_name("new.bin").replace(path)
    assert model.spec is not None
    save(package, model.spec)


def authored(name: str) -> Edit:
    def edit(package: Path) -> None:
        spec = miltext.load(package).spec
        assert spec is not None
        spec.description.metadata.author = name
        save(package, spec)

    return edit


FIRST, SECOND, OTHER = retrained(0, 1), retrained(1, 1), retrained(0, 2)


class Scene:
    """Three versions of a package, each in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages = [folder / f"{name}.mlpackage" for name in ("base", "ours", "theirs")]
        for package in self.packages:
            shutil.copytree(EXAMPLE, package)

    def edit(self, ours: Sequence[Edit], theirs: Sequence[Edit]) -> Scene:
        for package, edits in zip(self.packages[1:], (ours, theirs), strict=True):
            for edit in edits:
                edit(package)
        return self

    def as_git_does(self) -> tuple[MergedModel, Path]:
        """Merge as git's drivers do: what it settles by itself is kept, each other file is what its driver makes."""
        models = [miltext.load(package) for package in self.packages]
        files = "model.mlmodel", "weights/weight.bin"
        kept = [self.settled(file) for file in files]
        merged = self.folder / "merged"
        merged.mkdir()
        weights = {NAME: kept[1]} if kept[1] is not None else {}
        result = merge_models(models[0], models[1], models[2], merged, Markers(), Kept(kept[0], weights))
        for file, side in zip(files, kept, strict=True):
            source = folder_of(self.packages[side if side is not None else 1]) / file
            if side is not None or not (merged / file).exists():
                (merged / file).parent.mkdir(exist_ok=True)
                shutil.copyfile(source, merged / file)
        if kept[0] is None and result.model is not None:
            (merged / files[0]).write_bytes(result.model.SerializeToString(deterministic=True))
        return result, merged

    def settled(self, file: str) -> int | None:
        base, ours, theirs = [(folder_of(package) / file).read_bytes() for package in self.packages]
        if ours == theirs or base == theirs:
            return 1
        return 2 if base == ours else None


def contents(folder: Path) -> dict[str, str]:
    """What each weight holds, by its name."""
    spec = Spec.FromString((folder / "model.mlmodel").read_bytes())
    weights = SpecModel("mlmodel", "m", None, folder, spec).weights
    return {name: weights.digest(entry) for name, entry in weights.entries.items()}


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
def test_each_weight_holds_what_the_sides_made_of_it(ours: str, theirs: str, scene: Scene) -> None:
    scene.edit(EDITS[ours], EDITS[theirs])
    before, mine, other = [contents(folder_of(package)) for package in scene.packages]
    result, merged = scene.as_git_does()
    assert result.is_whole, result.conflicts
    wanted = {name: other[name] if mine[name] == held else mine[name] for name, held in before.items()}
    assert contents(merged) == wanted
    kinds = {each.type for each in operations(Spec.FromString((merged / "model.mlmodel").read_bytes()))}
    assert ("tanh" in kinds) == ("program" in (ours, theirs))
    assert result.errors == ()


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


def test_a_weight_that_git_takes_away_is_told(scene: Scene) -> None:
    """Theirs retrained a weight and changed an operation that ours changed too: ours has its weights nowhere."""
    scene.edit((tanh,), (sigmoid, FIRST))
    result, _ = scene.as_git_does()
    assert result.conflicts
    assert result.model is None


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


# ---- what stands around a program


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


def test_what_both_changed_of_a_description_is_told_by_its_place() -> None:
    base, ours, theirs = described(x="one"), described(x="a"), described(x="b")
    for spec, said in ((base, "1"), (ours, "2"), (theirs, "3")):
        spec.description.metadata.userDefined["mine"] = said
        spec.description.metadata.userDefined["com.github.apple.coremltools.version"] = said
        spec.description.input[0].type.multiArrayType.dataType = 65568
    ours.description.input[0].type.imageType.width = 1
    theirs.description.input[0].type.dictionaryType.SetInParent()
    assert {*merge_messages(base, ours, theirs)} == {
        "description.input[x].shortDescription",
        "description.input[x].type.Type",
        "description.metadata.userDefined[mine]",
    }
    assert ours.description.metadata.userDefined["com.github.apple.coremltools.version"] == "2"
