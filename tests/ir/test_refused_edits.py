"""Edits that a graph refuses, and names that edits add: a refused edit changes nothing, and a fresh name is new."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import miltext
from miltext.ir.functions import Function
from miltext.ir.graph import Graph
from miltext.ir.parts import GraphError, Op
from miltext.schema.types import TensorType

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x, tensor<fp32, [2]> z) {
            tensor<fp32, [2]> a = relu(x = x);
            tensor<fp32, [1]> b, tensor<fp32, [1]> c = split(axis = int32(0), num_splits = int32(2), x = a);
            tensor<fp32, [2]> y = tanh(x = a);
        } -> (y, b, c);
}
"""

FP32 = TensorType("fp32", (2,))


def of_text() -> tuple[Graph, Function]:
    graph = Graph(miltext.parse(TEXT))
    return graph, graph.functions["main"]


def own(function: Function) -> Op:
    made = function.value("a").maker
    assert made is not None
    return made


def renamed(function: Function) -> None:
    function.value("a").name = "n"


def inserted(function: Function) -> None:
    assert function.block is not None
    function.block.append(Op.new("relu", {"x": function.value("x")}, {"n": FP32}))


def declared(function: Function) -> None:
    function.add_input("n", FP32)


def copied(function: Function) -> None:
    function.value("a").name = "n"
    assert function.block is not None
    function.block.append(own_copy(function))


def own_copy(function: Function) -> Op:
    maker = function.value("n").maker
    assert maker is not None
    return maker.copy()


EDITS = [renamed, inserted, declared, copied]


@pytest.mark.parametrize("edit", EDITS)
def test_a_name_that_an_edit_adds_is_not_fresh(edit: Callable[[Function], None]) -> None:
    _, function = of_text()
    assert function.fresh("m") == "m"
    edit(function)
    assert function.fresh("n") == "n_1"


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("again", [1, 2, 3])
def test_names_are_unique_after_a_fresh_one_and_any_edits(edit: Callable[[Function], None], again: int) -> None:
    graph, function = of_text()
    function.fresh("m")
    edit(function)
    for _ in range(again):
        inserted(function)
    written = graph.program()
    assert [each.code for each in miltext.check(written) if each.severity == "error" and "name" in each.message] == []
    names = [value.name for value in Graph(written).functions["main"].defined()]
    assert len(names) == len({*names})
    assert miltext.parse(miltext.to_text(written)) == written == graph.program()


def refused_outputs(function: Function) -> None:
    assert function.block is not None
    function.block.outputs = [*function.block.outputs, miltext.parse_value("fp32(1)")]  # type: ignore[list-item]


def refused_replacement(function: Function) -> None:
    split = function.value("b").maker
    assert split is not None
    split.replace_by(function.value("x"))


def refused_removal(function: Function) -> None:
    function.remove_input(function.value("y"))


def used_input(function: Function) -> None:
    function.remove_input(function.value("x"))


def input_twice(function: Function) -> None:
    function.set_inputs([function.inputs[0], function.inputs[0], function.inputs[1]])


def foreign_input(function: Function) -> None:
    function.set_inputs([*function.inputs, function.value("a")])


def name_as_argument(function: Function) -> None:
    own(function).set_input("x", "x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (refused_outputs, "a block returns values, and no literals"),
        (refused_replacement, "has 2 outputs, but 1 replace them"),
        (refused_removal, "`y` is still used"),
        (used_input, "`x` is still used"),
        (input_twice, "each input is another value"),
        (foreign_input, "each input is another value"),
        (name_as_argument, "`value` of a function finds the value `x`"),
    ],
)
def test_a_refused_edit_changes_nothing(edit: Callable[[Function], None], reason: str) -> None:
    graph, function = of_text()
    with pytest.raises(GraphError, match=reason):
        edit(function)
    assert graph.program() == miltext.parse(TEXT)


def test_a_value_that_is_no_input_is_not_removed_as_one() -> None:
    _, function = of_text()
    unused = function.add_input("n", FP32)
    function.remove_input(unused)
    with pytest.raises(GraphError, match="`n` is no input of the function `main`"):
        function.remove_input(unused)
