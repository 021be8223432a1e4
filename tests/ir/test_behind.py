"""The values behind others."""

from __future__ import annotations

import miltext
from miltext.ir.graph import Graph
from miltext.ir.needs import behind
from miltext.ir.parts import Value

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x, tensor<bool, []> b) {
            tensor<fp32, [2]> k = const()[name = string("k"), val = tensor<fp32, [2]>([1, 2])];
            tensor<fp32, [2]> y = add(x = x, y = k)[name = string("y")];
            tensor<fp32, [2]> z = mul(x = y, y = x)[name = string("z")];
            tensor<fp32, [2]> c = cond(pred = b)[name = string("c")]
                () {
                    tensor<fp32, [2]> t = relu(x = y)[name = string("t")];
                } -> (t)
                () {
                    tensor<fp32, [2]> f = relu(x = z)[name = string("f")];
                } -> (f);
        } -> (c);
}
"""


def values() -> dict[str, Value]:
    return {value.name: value for value in Graph(miltext.parse(TEXT)).functions["main"].defined()}


def names(*start: str, stop: str = "") -> list[str]:
    known = values()
    return [each.name for each in behind([known[name] for name in start], lambda value: value.name != stop)]


def test_each_value_comes_once_the_nearest_first() -> None:
    assert names("z") == ["z", "y", "x", "k"]
    assert names("z", "z") == names("z")


def test_captured_values_are_behind_an_operation_with_blocks() -> None:
    assert set(names("c")) == {"c", "b", "y", "z", "x", "k"}


def test_nothing_is_behind_a_value_that_does_not_pass() -> None:
    assert names("c", stop="c") == ["c"]
    assert "k" not in names("z", stop="y")
    assert names("x") == ["x"]
    assert names() == []
