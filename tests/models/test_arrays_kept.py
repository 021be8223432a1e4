"""Arrays that a text names are still there when the model is built, wherever that is written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from models.test_build_text import function, program
from support.model_checks import assert_coremltools_opens

import miltext
from miltext.containers.programs import TextModel
from miltext.diagnostics import ModelError
from miltext.drafting.building import build
from miltext.models.model import Model

ARRAY = np.arange(2, dtype=np.float16)
DATA = "Data/com.apple.CoreML"


def text_with(file: str, kind: str = "fp16", is_draft: bool = False, word: str = "$npy", key: str = "") -> str:
    """A program, or a draft of it, that adds an array of two elements."""
    reference = f'{word}("{file}"{key})'
    value = reference if is_draft else f"tensor<{kind}, [2]>({reference})"
    declared = "" if is_draft else f"tensor<{kind}, [2]> "
    made = f'            {declared}y = const()[name = string("y"), val = {value}];'
    return program(function("tensor<fp16, [2]> x", "x, y", made))


def source(folder: Path, text: str) -> TextModel:
    path = folder / "b.mil"
    path.write_text(text, encoding="utf-8")
    return TextModel(text.encode(), str(path), path)


def array_at(path: Path, array: np.ndarray = ARRAY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)
    return path


NAMES = ["A.mlpackage/mine/w.npy", "./A.mlpackage//mine/../mine/w.npy", f"A.mlpackage/{DATA}/w.npy"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package that has an array of the user's in it."""
    output = tmp_path / "A.mlpackage"
    array_at(tmp_path / "w.npy")
    build(source(tmp_path, text_with("w.npy")), output)
    array_at(output / "mine" / "w.npy")
    return output


def refused(text: str, output: Path, original: Model | None = None) -> None:
    before = {path: path.read_bytes() for path in output.parent.rglob("*") if path.is_file()}
    model = source(output.parent, text)
    before[output.parent / "b.mil"] = text.encode()
    with pytest.raises(ModelError) as failure:
        build(model, output, force=True, original=original)
    (found,) = failure.value.diagnostics
    assert found.code == "MIL402"
    assert "contains the input" in found.message
    assert found.notes
    assert {path: path.read_bytes() for path in output.parent.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("is_draft", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_package_with_an_array_of_the_text_is_not_replaced(package: Path, name: str, is_draft: bool) -> None:
    array_at(package / DATA / "w.npy")
    refused(text_with(name, is_draft=is_draft), package)


def test_an_array_that_becomes_a_literal_is_refused(package: Path) -> None:
    array_at(package / "mine" / "w.npy", np.arange(2, dtype=np.int32))
    refused(text_with("A.mlpackage/mine/w.npy", "int32"), package)


def test_an_array_of_an_archive_is_refused(package: Path) -> None:
    np.savez(package / "mine" / "w.npz", k=ARRAY)
    refused(text_with("A.mlpackage/mine/w.npz", word="$npz", key=', "k"'), package)


@pytest.mark.parametrize("way", ["file", "folder", "out of it", "target"])
def test_an_array_behind_a_link_is_refused(package: Path, way: str) -> None:
    folder, name = package.parent, "link"
    if way == "file":
        (folder / "link").symlink_to("A.mlpackage/mine/w.npy")
    elif way == "folder":
        (folder / "link").symlink_to("A.mlpackage/mine")
        name = "link/w.npy"
    elif way == "out of it":
        (package / "link").symlink_to("../w.npy")
        name = "A.mlpackage/link"
    else:
        os.rename(package, folder / "Real.mlpackage")
        package.symlink_to("Real.mlpackage")
        name = "Real.mlpackage/mine/w.npy"
    refused(text_with(name), package)


def test_an_array_is_refused_with_another_original(package: Path, tmp_path: Path) -> None:
    build(source(tmp_path, text_with("w.npy")), tmp_path / "B.mlpackage")
    original = miltext.load(tmp_path / "B.mlpackage")
    refused(text_with("A.mlpackage/mine/w.npy"), package, original=original)


def test_an_array_in_the_original_is_kept(package: Path, tmp_path: Path) -> None:
    text = source(tmp_path, text_with("A.mlpackage/mine/w.npy"))
    build(text, package, original=miltext.load(package), force=True)
    np.testing.assert_array_equal(np.load(package / "mine" / "w.npy"), ARRAY)
    assert_coremltools_opens(package)


def test_arrays_beside_the_output_do_not_block_replacing(package: Path, tmp_path: Path) -> None:
    array_at(tmp_path / "A.mlpackage.npy")
    build(source(tmp_path, text_with("A.mlpackage.npy")), package, force=True)
    assert not (package / "mine").exists()
    build(source(tmp_path, text_with("A.mlpackage/../w.npy")), package, force=True)


def test_a_file_that_is_an_array_is_not_replaced_by_a_model(tmp_path: Path) -> None:
    array_at(tmp_path / "w.npy").rename(tmp_path / "M.mlmodel")
    refused(text_with("M.mlmodel"), tmp_path / "M.mlmodel")


def test_an_array_is_not_replaced_by_the_weights_of_a_model(tmp_path: Path) -> None:
    """The old model has this weight file for itself, but the text reads it now."""
    array_at(tmp_path / "w.npy")
    output, own = tmp_path / "M.mlmodel", tmp_path / "weights" / "weight.bin"
    build(source(tmp_path, text_with("w.npy")), output)
    array_at(tmp_path / "w.npy").replace(own)
    build(source(tmp_path, text_with("weights/weight.bin")), output, force=True)
    np.testing.assert_array_equal(np.load(own), ARRAY)
    np.testing.assert_array_equal(miltext.load(output).weights["y"], ARRAY)
