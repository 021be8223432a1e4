"""The bytes written for a description: those of the file, or one order, whatever order a map has in a process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE, corpus_files
from support.containers import write_package
from support.kinds import KINDS, kind
from support.pipelines import piped, unary

import miltext
from miltext.building.build import build
from miltext.building.choices import BuildChoices
from miltext.containers.opening import open_model
from miltext.schema.proto import Model
from miltext.schema.wire import spans, wire_of

DESCRIPTION = 2
"""The number of `Model.description`."""

PACKAGES = [EXAMPLE, *corpus_files("**/*.mlpackage", "**/*.mlmodel")]


def model_file(path: Path) -> Path:
    return path if path.is_file() else next(path.glob("Data/**/*.mlmodel"))


def description_bytes(path: Path) -> bytes:
    """The bytes of the description in a model's file, as they are there."""
    data = model_file(path).read_bytes()
    return b"".join(data[content:end] for number, _, content, end in spans(data) if number == DESCRIPTION)


def built(path: Path, described: Path, folder: Path) -> list[Path]:
    """The models that are built of a model with the description of another."""
    (folder / "own.toml").write_text(miltext.describe(described), encoding="utf-8")
    targets = [folder / f"{described.stem}A.mlpackage", folder / f"{described.stem}B.mlmodel"]
    for target in targets:
        build(open_model(path), target, BuildChoices(description=folder / "own.toml"))
    return targets


def assert_kept(path: Path, folder: Path) -> None:
    """A model that is built without a change has its own bytes; an edited one, the one order of equal descriptions."""
    file = model_file(path)
    for target in built(path, path, folder):
        assert model_file(target).read_bytes() == file.read_bytes()
    edited = Model.FromString(file.read_bytes())
    edited.description.metadata.author = "Another author"
    (folder / "edited.mlmodel").write_bytes(edited.SerializeToString())
    for target in built(path, folder / "edited.mlmodel", folder):
        assert description_bytes(target) == wire_of(edited.description)


@pytest.mark.parametrize("path", PACKAGES, ids=str)
def test_real_descriptions_are_written_in_one_order(path: Any, tmp_path: Path) -> None:
    try:
        open_model(path)
    except miltext.ModelError:
        pytest.skip("a model that cannot be read")
    assert_kept(path, tmp_path)


@pytest.mark.parametrize("name", KINDS)
def test_descriptions_of_coremltools_are_written_in_one_order(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    assert_kept(kind(name), tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_entries_in_a_file_makes_no_other_bytes(seed: int, tmp_path: Path) -> None:
    """The same entries, one after the other in another order, and in stages too."""
    keys = [f"key.{(index * 7 + seed * 3) % 20:02}" for index in range(20)]
    stage = unary("x", "y")
    stage.description.metadata.SetInParent()
    entries = b"".join(bytes([0xA2, 0x06, 14, 10, 6]) + key.encode() + bytes([18, 4]) + b"said" for key in keys)
    stage.description.metadata.MergeFromString(entries)
    whole = piped(stage, unary("y", "z"))
    whole.description.metadata.MergeFromString(entries)
    for index, spec in enumerate((stage, whole)):
        folder = tmp_path / str(index)
        folder.mkdir()
        assert_kept(write_package(folder / "It.mlpackage", spec.SerializeToString()), folder)
        written = Model.FromString((folder / "editedB.mlmodel").read_bytes())
        assert (folder / "editedB.mlmodel").read_bytes() == wire_of(written)
        assert sorted(written.description.metadata.userDefined) == sorted(keys)


def test_field_of_model_that_no_one_knows_is_described_and_built(tmp_path: Path) -> None:
    spec, field = unary("x", "y"), bytes([0xCA, 0xE6, 0x03, 1, 65])
    spec.MergeFromString(field)
    package = write_package(tmp_path / "It.mlpackage", wire_of(spec))
    (tmp_path / "own.toml").write_text(miltext.describe(package), encoding="utf-8")
    assert f'unspelled = "{field.hex()}"' in (tmp_path / "own.toml").read_text(encoding="utf-8")
    (tmp_path / "it.mil").write_text(miltext.to_text(spec.mlProgram), encoding="utf-8")
    for source in (tmp_path / "it.mil", package):
        made = tmp_path / f"{source.stem}{source.suffix}.mlmodel"
        miltext.build(source, made, description=tmp_path / "own.toml")
        assert wire_of(Model.FromString(made.read_bytes())) == wire_of(spec)
    text = (tmp_path / "own.toml").read_text(encoding="utf-8").replace(field.hex(), f"{field.hex()[:-2]}42")
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    with pytest.raises(miltext.ModelError, match="cannot be changed"):
        miltext.build(package, tmp_path / "Other.mlmodel", description=tmp_path / "own.toml")
