"""The wanted values, and the function that contains them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.editing import unknown_value
from miltext.diagnostics import ModelError, Note, codes, error, wording
from miltext.diagnostics.arguments import require_names
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Value


SHOWN = 3
"""The most names in a message."""


class Wanted(NamedTuple):
    """The names of the outputs of a part and of its further inputs, beside the function's own."""

    outputs: list[str]
    inputs: list[str]

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys([*self.outputs, *self.inputs]))

    def code(self, name: str) -> str:
        """Return the code of the error about a value."""
        return codes.IMPOSSIBLE_PART_OUTPUT if name in self.outputs else codes.IMPOSSIBLE_PART_INPUT


def wanted_values(outputs: Iterable[str] | str, inputs: Iterable[str] | str) -> Wanted:
    """Return the wanted values; a string is one name."""
    wanted = Wanted(*([each] if isinstance(each, str) else [*each] for each in (outputs, inputs)))
    require_names(*wanted.outputs, *wanted.inputs)
    return wanted


def listed(names: list[str]) -> str:
    """Return names for a message; of many, the first ones."""
    return wording.listed(names, "and", SHOWN)


def function_with(graph: Graph, wanted: Wanted, name: str | None) -> str:
    """Return the name of the function with all values in its own block: the function `name`, or the only one.

    Raise ModelError: MIL430 for an unknown name, MIL446 and MIL448 for a value of an inner block, for a value named
    twice or for both sides, and if none or several functions have all values.
    """
    _refuse_repeated(wanted)
    if name is not None and name not in graph.functions:
        raise unknown_function(graph, name)
    functions = [name] if name is not None else [*graph.functions]
    found = [each for each in functions if makes(graph.functions[each], wanted)]
    values = {each: {*top_values(graph.functions[each])} for each in functions} if len(found) != 1 else {}
    found = found or [each for each in functions if values[each].issuperset(wanted.names)]
    if len(found) == 1:
        return found[0]
    raise _several(wanted, found) if found else _missing(graph, wanted, values)


def unknown_function(graph: Graph, name: str) -> ModelError:
    """Return the error about a function that a program lacks."""
    message = f"unknown function `{name}`{did_you_mean(nearest(name, graph.functions))}"
    there = listed([*graph.functions]) if graph.functions else "no functions"
    return ModelError([error(codes.UNKNOWN_NAME, message, None, Note(f"the program has {there}"))])


def _refuse_repeated(wanted: Wanted) -> None:
    if not wanted.outputs:
        raise refusal(codes.IMPOSSIBLE_PART_OUTPUT, "no output of the part is named")
    for side, code in ((wanted.outputs, codes.IMPOSSIBLE_PART_OUTPUT), (wanted.inputs, codes.IMPOSSIBLE_PART_INPUT)):
        twice = next((name for name in side if side.count(name) > 1), None)
        if twice is not None:
            raise refusal(code, f"`{twice}` is named twice")
    both = next((name for name in wanted.outputs if name in wanted.inputs), None)
    if both is not None:
        raise refusal(
            codes.IMPOSSIBLE_PART_OUTPUT, f"`{both}` is named both as an input and as an output: leave out one of them"
        )


def makes(function: Function, wanted: Wanted) -> bool:
    """Return whether a function's own block computes the wanted outputs and contains the wanted inputs."""
    values = top_values(function)
    return all(name in values and values[name].maker for name in wanted.outputs) and {*wanted.inputs} <= {*values}


def top_values(function: Function, opset: str | None = None) -> dict[str, Value]:
    """Return a function's inputs and the values of a block, by name: its own block, or the one for an opset."""
    block = function.block if opset is None else function.blocks[opset]
    return {value.name: value for value in (*function.inputs, *(block.made() if block is not None else ()))}


def _several(wanted: Wanted, functions: list[str]) -> ModelError:
    message = f"the functions {listed(functions)} each have {listed(wanted.names)}"
    return refusal(codes.IMPOSSIBLE_PART_OUTPUT, message, None, Note("choose one of the functions"))


def _missing(graph: Graph, wanted: Wanted, values: Mapping[str, set[str]]) -> ModelError:
    """Return the error for values that no function has together."""
    known = set[str]().union(*values.values())
    for name in wanted.names:
        if name not in known:
            if any(name in inner_names(graph.functions[function]) for function in values):
                return refusal(wanted.code(name), f"`{name}` is a value of an inner block, which cannot be cut")
            return unknown_value(name, known, None)
    homes = [f"`{name}` is in {listed([each for each in values if name in values[each]])}" for name in wanted.names]
    return refusal(codes.IMPOSSIBLE_PART_OUTPUT, f"no function has all of the values: {', '.join(homes[:SHOWN])}")


def inner_names(function: Function) -> set[str]:
    """Return the names of the values inside the blocks of a function's operations."""
    inner = (block for own in function.blocks.values() for op in own for block in op.blocks)
    return {value.name for block in inner for value in block.defined()}
