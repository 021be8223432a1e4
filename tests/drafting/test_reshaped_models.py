"""Models that coremltools makes, reshaped, held against what it makes of the same network for the other size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.draft_builds import run
from support.kinds import kind
from support.real_packages import convert, weights

import miltext

ct = pytest.importorskip("coremltools")


def crossed(mb: Any, x: Any) -> Any:
    """A network down and up again, with what is handed across."""
    first = mb.relu(x=mb.conv(x=x, weight=weights(4, 3, 3, 3), pad_type="same", name="conv"), name="first")
    down = mb.max_pool(x=first, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid", name="down")
    again = mb.upsample_bilinear(x=down, scale_factor_height=2.0, scale_factor_width=2.0, name="again")
    both = mb.concat(values=[again, first], axis=1, name="both")
    rows = mb.reshape(x=mb.reduce_mean(x=both, axes=[-1], keep_dims=False, name="mean"), shape=[8, -1], name="rows")
    return mb.transpose(x=rows, perm=[1, 0], name="y")


def reshaped(folder: Path, package: Path, *words: str) -> Any:
    """The package of a reshaped model, read by coremltools."""
    result = run("reshape", package, *words, "-o", folder / "New.mlpackage")
    assert result.exit_code == 0, result.stderr
    return ct.models.MLModel(str(folder / "New.mlpackage"), skip_model_load=True).get_spec()


def test_a_network_equals_the_one_made_for_the_other_size(tmp_path: Path) -> None:
    for name, shape in (("Small", (1, 3, 8, 8)), ("Large", (1, 3, 12, 20))):
        convert(crossed, shape, "iOS16").save(str(tmp_path / f"{name}.mlpackage"))
    made = reshaped(tmp_path, tmp_path / "Small.mlpackage", "x=1,3,12,20")
    expected = ct.models.MLModel(str(tmp_path / "Large.mlpackage"), skip_model_load=True).get_spec()
    assert made.mlProgram == expected.mlProgram
    assert [*made.description.input] == [*expected.description.input]
    assert [*made.description.output] == [*expected.description.output]
    x = np.random.default_rng(0).normal(0, 1, (1, 3, 12, 20)).astype(np.float32)
    new, other = (miltext.run(tmp_path / f"{name}.mlpackage", {"x": x}) for name in ("New", "Large"))
    assert all(np.array_equal(new[name], other[name]) for name in new)


def test_an_image_stays_one(tmp_path: Path) -> None:
    made = reshaped(tmp_path, kind("image-RGB"), "image=1,3,16,12")
    expected = ct.models.MLModel(str(kind("image-RGB")), skip_model_load=True).get_spec().description
    for each in (*expected.input, *expected.output):
        each.type.imageType.height, each.type.imageType.width = 16, 12
    assert made.description == expected


def test_an_image_of_any_size_in_a_range(tmp_path: Path) -> None:
    made = reshaped(tmp_path, kind("labels-string"), "image=1,3,4..16,6")
    expected = ct.models.MLModel(str(kind("labels-string")), skip_model_load=True).get_spec()
    sizes = expected.description.input[0].type.imageType.imageSizeRange
    sizes.heightRange.lowerBound, sizes.heightRange.upperBound = 4, 16
    sizes.widthRange.lowerBound, sizes.widthRange.upperBound = 6, 6
    assert made.description == expected.description


def test_one_of_several_functions(tmp_path: Path) -> None:
    package = kind("functions")
    assert "MIL435" in run("reshape", package, "x=1,3,4", "-o", tmp_path / "N.mlpackage").stderr
    before = ct.models.MLModel(str(package), skip_model_load=True).get_spec()
    made = reshaped(tmp_path, package, "image=1,3,9,6")
    changed = [
        name
        for name in before.mlProgram.functions
        if made.mlProgram.functions[name] != before.mlProgram.functions[name]
    ]
    assert changed == ["classify"]
    assert len(made.description.functions) == len(before.description.functions)
