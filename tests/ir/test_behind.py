"""The values behind others, and the order of operations that wait for their first use."""

from __future__ import annotations

import pytest

import miltext
from miltext.ir.graph import Graph
from miltext.ir.needs import behind, postponed
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


WAITING = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x) {
            tensor<fp32, [2]> a = relu(x = x)[name = string("a")];
            tensor<fp32, [2]> b = relu(x = a)[name = string("b")];
            tensor<fp32, [2]> c = relu(x = x)[name = string("c")];
            tensor<fp32, [2]> d = relu(x = x)[name = string("d")];
            tensor<fp32, [2]> e = add(x = b, y = x)[name = string("e")];
            tensor<fp32, [2]> f = add(x = a, y = e)[name = string("f")];
        } -> (f);
}
"""


@pytest.mark.parametrize(
    ("waiting", "order"),
    [("", "abcdef"), ("abcdef", "abcdef"), ("ab", "cdabef"), ("a", "abcdef"), ("b", "acdbef"), ("c", "abdefc")],
)
def test_waiting_operations_come_just_before_their_first_use(waiting: str, order: str) -> None:
    block = Graph(miltext.parse(WAITING)).functions["main"].block
    assert block is not None
    moved = postponed(block, {op for op in block if op.outputs[0].name in waiting})
    assert "".join(op.outputs[0].name for op in moved) == order
