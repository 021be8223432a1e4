"""The inputs of proofs."""

from __future__ import annotations

import numpy as np
import pytest

import miltext
from miltext.rewriting.inputs import InputDrawer, takes_integers
from miltext.schema.types import TensorType

FLOATS = TensorType("fp16", (3, 40))


def test_inputs_are_drawn_with_edges_of_their_types() -> None:
    drawn = [*InputDrawer({"x": FLOATS, "n": TensorType("int16", (64, 4))}, integers=True).inputs()]
    assert len(drawn) == 40
    floats, whole = (np.concatenate([each[name].reshape(-1) for each in drawn]) for name in "xn")
    assert np.isnan(floats).any()
    assert {np.inf, -np.inf, 65504.0, -65504.0} <= {*floats.tolist()}
    assert {32767, -32768, 0, -1} <= {*whole.tolist()}
    assert {each["x"].dtype for each in drawn} == {np.dtype(np.float16)}
    assert {each["n"].dtype for each in drawn} == {np.dtype(np.int16)}


def test_large_inputs_are_drawn_once() -> None:
    assert len([*InputDrawer({"x": TensorType("fp16", (10, 100))}).inputs()]) == 10


def test_a_domain_bounds_all_numbers() -> None:
    drawn = [*InputDrawer({"x": FLOATS}, 2.0).inputs()]
    assert max(float(np.abs(each["x"]).max()) for each in drawn) == 2.0


def test_no_inputs_need_one_run_and_no_elements_none_fails() -> None:
    assert [*InputDrawer({}).inputs()] == [{}]
    assert {each["x"].shape for each in InputDrawer({"x": TensorType("fp32", (0, 4))}).inputs()} == {(0, 4)}


@pytest.mark.parametrize("name", ["fill", "random_normal", "tile"])
def test_sizes_stay_small(name: str) -> None:
    assert not takes_integers(["add", name])
    assert {0, 1} == {*next(InputDrawer({"n": TensorType("int32", (99,))}).inputs())["n"].tolist()}


def test_a_proof_finds_integers_that_fp32_rounds() -> None:
    rules = """program(1.3)[rules = "1"]
{
    func find_back(x)[where = "dtype(x) == int32"] {
            y = cast(cast(x, "fp32"), "int32");
        } -> (y);
    func replace_back(x) {
        } -> (x);
}
"""
    text = """program(1.3)
{
    func main<ios17>(tensor<int32, [40]> x) {
            y = abs(cast(cast(x, "fp32"), "int32"));
        } -> (y);
}
"""
    assert len(miltext.rewrite(text, rules).replaced) == 1
    with pytest.raises(miltext.MiltextError, match="not as exact as declared"):
        miltext.rewrite(text, rules, verify=True)
