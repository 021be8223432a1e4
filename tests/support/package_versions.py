"""Three versions of a package, edited at random, and what git's drivers make of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from posixpath import normpath
from random import Random
from uuid import UUID

from support.model_checks import findings
from support.new_findings import new_findings, of_any_side
from support.repositories import EXAMPLE

import miltext
from miltext.containers.spec import SpecModel
from miltext.merging.conflicts import Markers
from miltext.merging.models import Kept, MergedModel, merge_models
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Model as Spec
from miltext.weight_files.blob_storage import BlobFile, BlobWriter
from miltext.weight_files.model_weights import blob_values

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
        if normpath(held.value.blobFileValue.fileName) == NAME:  # and not the file that `in_two_files` made
            held.value.blobFileValue.offset = places[held.value.blobFileValue.offset]
    path.with_name("new.bin").replace(path)
    assert model.spec is not None
    save(package, model.spec)


def in_two_files(package: Path) -> None:
    """Move the last record to a weight file of its own."""
    path = folder_of(package) / "weights" / "weight.bin"
    model = miltext.load(package)
    held = max(blob_values(model.program), key=lambda each: each.value.blobFileValue.offset).value.blobFileValue
    with BlobFile(path) as file, BlobWriter(path.with_name("1-weight.bin")) as writer:
        held.offset = writer.copy(file.blob(held.offset))
    held.fileName = "@model_path/weights/1-weight.bin"
    assert model.spec is not None
    save(package, model.spec)


def spelled(name: str) -> Edit:
    """Name the weight file of the first weight otherwise."""

    def edit(package: Path) -> None:
        model = miltext.load(package)
        next(blob_values(model.program)).value.blobFileValue.fileName = f"@model_path/{name}"
        assert model.spec is not None
        save(package, model.spec)

    return edit


def exported_again(seed: int) -> Edit:
    """Give the items of the manifest other identifiers, as each export does, and state another time."""

    def edit(package: Path) -> None:
        path = package / "Manifest.json"
        random, text = Random(seed), path.read_text()
        for name in json.loads(text)["itemInfoEntries"]:
            text = text.replace(name, str(UUID(int=random.getrandbits(128))))
        path.write_text(text)
        spec = miltext.load(package).spec
        assert spec is not None
        spec.description.metadata.userDefined["com.github.apple.coremltools.version"] = f"9.{seed}"
        save(package, spec)

    return edit


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

    def package_of(self, merged: Path) -> Path:
        """Return a package with the merged files, and else those that all versions have."""
        package = Path(shutil.copytree(self.packages[0], self.folder / "Merged.mlpackage"))
        shutil.copytree(merged, folder_of(package), dirs_exist_ok=True)
        return package

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


ALL = (tanh, sigmoid, padding, FIRST, SECOND, OTHER, laid_anew)


def held(random: Random, scene: Scene) -> str:
    """Merge versions with edits at random, as git does; return how it ended. Raise AssertionError where a weight holds
    what no side has for it, or where `check` of the merged package reports what it reports of no side.
    """
    ours, theirs = (random.sample(ALL, random.randrange(4)) for _ in range(2))
    named = " and ".join(", ".join(getattr(edit, "__name__", "?") for edit in side) for side in (ours, theirs))
    scene.edit([edit for edit in ours if _fits(edit, ours)], [edit for edit in theirs if _fits(edit, theirs)])
    before, mine, other = [contents(folder_of(package)) for package in scene.packages]
    result, merged = scene.as_git_does()
    if result.is_whole:
        wanted = {name: other[name] if mine[name] == held else mine[name] for name, held in before.items()}
        assert contents(merged) == wanted, named
        assert not any(mine[name] != held != other[name] != mine[name] for name, held in before.items()), named
        known = of_any_side(*(findings(package) for package in scene.packages[1:]))
        assert not new_findings(known, scene.package_of(merged)), named
    elif result.model is not None or scene.settled("weights/weight.bin") != 2:
        assert contents(merged) == (other if result.side == 2 else mine), named
    return "merged" if result.is_whole else "conflict"


def _fits(edit: Edit, edits: Sequence[Edit]) -> bool:
    """Whether an edit finds what it changes: the operation that another one makes another of is gone."""
    return edit is not sigmoid or tanh not in edits
