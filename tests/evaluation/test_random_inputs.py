"""Inputs of random numbers: the same for one seed, of the types that are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import miltext
from miltext.evaluation.features import Feature
from miltext.evaluation.random_inputs import random_inputs
from miltext.evaluation.values import CARRIERS
from miltext.schema.proto import ImageFeatureType
from miltext.schema.types import DictionaryType, ListType, TensorType, Type


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64", "bf16", "fp8e4m3fn"])
def test_floats_are_standard_normal(dtype: str) -> None:
    made = random_inputs({"x": TensorType(dtype, (100, 100))}, 3)["x"]
    assert (made.dtype, made.shape) == (CARRIERS[dtype], (100, 100))
    wide = made.astype(np.float64)
    assert abs(wide.mean()) < 0.03
    assert abs(wide.std() - 1) < 0.03


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "uint4", "bool"])
def test_integers_are_zero_or_one(dtype: str) -> None:
    made = random_inputs({"x": TensorType(dtype, (1000,))}, 3)["x"]
    assert made.dtype == CARRIERS[dtype]
    assert np.unique(made).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_an_image_has_whole_numbers_up_to_255(dtype: str) -> None:
    image = Feature(image=ImageFeatureType(width=50, height=50))
    made = random_inputs({"x": TensorType(dtype, (1, 3, 50, 50))}, features={"x": image})["x"]
    assert (made.min(), made.max()) == (0, 255)
    assert np.array_equal(made, np.round(made))


def test_an_input_has_the_same_numbers_beside_any_other() -> None:
    x, y = TensorType("fp32", (4,)), TensorType("fp32", (4,))
    alone, beside = random_inputs({"x": x}, 7), random_inputs({"y": y, "x": x}, 7)
    assert np.array_equal(alone["x"], beside["x"])
    assert not np.array_equal(beside["x"], beside["y"])
    assert not np.array_equal(alone["x"], random_inputs({"x": x}, 8)["x"])


def test_odd_shapes() -> None:
    types: dict[str, Type] = {"scalar": TensorType("fp16", ()), "none": TensorType("fp16", (0, 3))}
    types |= {name: TensorType("fp16", (None, 3)) for name in ("chosen", "default")}
    features = {name: Feature(default=(5, 3)) for name in ("chosen", "default")}
    made = random_inputs(types, features=features, shapes={"chosen": (2, 3)})
    shapes = {"scalar": (), "none": (0, 3), "chosen": (2, 3), "default": (5, 3)}
    assert {name: array.shape for name, array in made.items()} == shapes
    assert random_inputs({}) == {}


@pytest.mark.parametrize(
    ("type", "code"),
    [
        (TensorType("string", ()), "MIL831"),
        (DictionaryType(TensorType("string", ()), TensorType("fp64", ())), "MIL831"),
        (ListType(TensorType("fp32", (2,)), None), "MIL831"),
        (None, "MIL831"),
        (TensorType("fp32", (None, 3)), "MIL833"),
        (TensorType("fp32", (2**30, 2**30)), "MIL833"),
        (TensorType("int32", (2**62, 2**62)), "MIL833"),
    ],
)
def test_types_without_random_numbers_are_reported(type: Type, code: str) -> None:
    with pytest.raises(miltext.MiltextError) as caught:
        random_inputs({"odd": type})
    assert caught.value.diagnostics[0].code == code
    assert "`odd`" in caught.value.diagnostics[0].message
