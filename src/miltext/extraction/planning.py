"""The plan of a part: the kept operations of a Program, and the renamed values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Note, codes
from miltext.extraction.compile_time import needed_when_compiled
from miltext.extraction.wanted import Wanted, function_with, listed, top_values
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.ir.needs import Needs

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Value
    from miltext.schema.proto import NamedValueType, Program


class BlockPlan(NamedTuple):
    """The kept part of a block: its `ops` in order, by place, and its outputs.

    `given` are the values that become inputs; their operations may be kept for other outputs, and then compute values
    of these new names.
    """

    ops: Mapping[int, Op]
    outputs: Sequence[Value]
    given: Mapping[Value, str]


class PartPlan(NamedTuple):
    """The kept part of a graph: a function, by name, with the blocks of these opsets, and its inputs `taken`.

    `new` are its further inputs, `given` its outputs. Other functions, and the blocks `left_out`, are removed.
    """

    graph: Graph
    function: str
    blocks: Mapping[str, BlockPlan]
    taken: list[str]
    new: list[NamedValueType]
    given: list[NamedValueType]
    left_out: list[str]

    @property
    def outputs(self) -> list[str]:
        """The names of its outputs."""
        return [value.name for value in self.given]


class AssignedPart(NamedTuple):
    """A part by its operations: their places in the own block of a function, and the names of its inputs and outputs.

    `taken` are inputs of the function, in its order; `inputs` are made by operations of other parts, which make no
    value of this one.
    """

    function: str
    places: Sequence[int]
    taken: Sequence[str]
    inputs: Sequence[str]
    outputs: Sequence[str]


def plan_assigned(assigned: AssignedPart, program: Program) -> PartPlan:
    """Return the plan of a part whose operations are known; operations that no output needs stay, too."""
    graph = Graph(program)
    function = graph.functions[assigned.function]
    opset, block, values = function.own_opset, function.block, top_values(function)
    assert opset is not None
    assert block is not None, "the operations are in the function's own block"
    ops = [*block]
    kept = {place: ops[place] for place in assigned.places}
    given = {values[each]: function.fresh(f"{each}_unused") for each in assigned.inputs}
    return PartPlan(
        graph,
        assigned.function,
        {opset: BlockPlan(kept, [values[each] for each in assigned.outputs], given)},
        [*assigned.taken],
        [_declared(values[each]) for each in assigned.inputs],
        [_declared(values[each]) for each in assigned.outputs],
        [each for each in function.blocks if each != opset],
    )


def plan_function(name: str, program: Program) -> PartPlan:
    """Return the plan of a whole function, with all of its inputs and blocks."""
    graph = Graph(program)
    function = graph.functions[name]
    blocks = {opset: BlockPlan(dict(enumerate(each)), each.outputs, {}) for opset, each in function.blocks.items()}
    inputs, outputs = [each.name for each in function.inputs], [_declared(each) for each in function.outputs]
    return PartPlan(graph, name, blocks, inputs, [], outputs, [])


def _declared(value: Value) -> NamedValueType:
    assert value.message is not None, "a value at a border is declared"
    return value.message


def plan(program: Program, wanted: Wanted, function: str | None = None, *, later_writes: bool = True) -> PartPlan:
    """Return the plan of the part of a Program with the wanted outputs. Raise ModelError as `cut` does."""
    graph = Graph(program)
    name = function_with(graph, wanted, function)
    chosen = graph.functions[name]
    own = chosen.own_opset
    assert own is not None  # or the function would not have the values
    types = _types(chosen, own, wanted)
    alike = [each for each in chosen.blocks if each == own or _types(chosen, each, wanted) == types]
    parts = {opset: _BlockPart(chosen, opset, wanted, later_writes) for opset in alike}
    taken = set[str]().union(*(part.taken for part in parts.values()))
    for part in parts.values():
        part.check(taken)
    inputs = [value.name for value in chosen.inputs]
    return PartPlan(
        graph,
        name,
        {opset: part.plan() for opset, part in parts.items()},
        [each for each in inputs if each in taken],
        [types[each] for each in wanted.inputs if each not in inputs],
        [types[each] for each in wanted.outputs],
        [each for each in chosen.blocks if each not in alike],
    )


def _types(function: Function, opset: str, wanted: Wanted) -> dict[str, NamedValueType]:
    """Return the declarations of the wanted values, by name; for several with one name, the last."""
    declared = {name: value.message for name, value in top_values(function, opset).items()}
    return {name: message for name in wanted.names if (message := declared.get(name)) is not None}


class _BlockPart:
    """The wanted part of a block; `taken` are the names of its values from outside."""

    def __init__(self, function: Function, opset: str, wanted: Wanted, later_writes: bool) -> None:
        self._function, self._block, self._opset = function, function.blocks[opset], opset
        values = top_values(function, opset)
        self._outputs = [values[name] for name in wanted.outputs]
        self._given = [values[name] for name in wanted.inputs]
        self._needs = Needs(self._block)
        self._needed = self._needs.of(self._outputs, {*self._given}, later_writes=later_writes)
        self.taken = {value.name for value in self._needed.outside}

    def check(self, taken: Collection[str]) -> None:
        """Refuse outputs without an operation, inputs that no output needs, and inputs that have to be constants."""
        for value in self._outputs:
            if value.maker is None:
                raise refusal(
                    codes.IMPOSSIBLE_PART_OUTPUT, f"`{value.name}` is an input of the function: no operation makes it"
                )
        for value in self._given:
            if value.name not in taken:
                raise self._unneeded(value)
        made = [value for value in self._given if value.maker is not None]
        for constant in needed_when_compiled(self._needed.ops, made, self._opset):
            message = f"`{constant.source.name}` has to be known when the program is compiled, for {constant}"
            raise refusal(codes.IMPOSSIBLE_PART_INPUT, message)

    def _unneeded(self, value: Value) -> ModelError:
        """Return the error about an input that no output needs, with its users."""
        if self._uses(self._outputs, value):
            others = [each.name for each in self._given if each is not value and self._uses([each], value)]
            why = f"the values that need it are inputs: {listed(others)}"
        else:
            outputs = [*dict.fromkeys(self._block.outputs)]
            needing = [each.name for each in outputs if each is not value and self._uses([each], value)]
            other = "other " if value in outputs else ""
            why = f"{listed(needing)} would need it" if needing else f"no {other}output of the function needs it"
        return refusal(codes.NEEDLESS_PART_INPUT, f"no output of the part needs `{value.name}`", None, Note(why))

    def _uses(self, outputs: Iterable[Value], value: Value) -> bool:
        """Return whether outputs depend on a value."""
        return value in self._needs.of(outputs, {value}).outside

    def plan(self) -> BlockPlan:
        """Return the plan of the block."""
        places = {op: place for place, op in enumerate(self._needs.ops)}
        ops = {places[op]: op for op in self._needed.ops}
        made = [value for value in self._given if value.maker is not None]
        unused = {value: self._function.fresh(f"{value.name}_unused") for value in made}
        return BlockPlan(ops, self._outputs, unused)
