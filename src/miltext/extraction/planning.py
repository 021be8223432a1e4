"""What is to stay of a Program, and what is to be another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Note
from miltext.extraction.compile_time import needed_when_compiled
from miltext.extraction.needs import OUTSIDE, Needs
from miltext.extraction.wanted import NO_INPUT, NO_OUTPUT, UNNEEDED, Wanted, function_with, listed
from miltext.models.refusals import refusal
from miltext.schema.walk import own_opset
from miltext.syntax.names import fitting

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.schema.proto import Block, Function, NamedValueType, Program


class BlockPlan(NamedTuple):
    """The places of a block's operations that stay, in order; and new names of outputs, by the place of the operation
    and that of the output in it.
    """

    operations: list[int]
    renamed: Mapping[tuple[int, int], str]


class Plan(NamedTuple):
    """What stays of a Program: of a function, by its name, the blocks of these opsets, and the inputs `taken`.

    `new` is what it takes besides, `given` what it gives back. Other functions go, and the blocks that are `left_out`.
    """

    function: str
    blocks: Mapping[str, BlockPlan]
    taken: list[str]
    new: list[NamedValueType]
    given: list[NamedValueType]
    left_out: list[str]

    @property
    def outputs(self) -> list[str]:
        """The names of what it gives back."""
        return [value.name for value in self.given]


def plan(program: Program, wanted: Wanted, function: str | None = None, *, later_writes: bool = True) -> Plan:
    """Return what is to stay of a Program, so that it gives what is wanted. Raise ModelError as `cut` does."""
    name = function_with(program, wanted, function)
    chosen = program.functions[name]
    blocks, own = chosen.block_specializations, own_opset(chosen)
    assert own is not None  # or the function would not have the values
    types = _types(chosen, blocks[own], wanted)
    alike = [each for each in sorted(blocks) if each == own or _types(chosen, blocks[each], wanted) == types]
    parts = {opset: _Part(chosen, blocks[opset], wanted, later_writes) for opset in alike}
    taken = set[str]().union(*(part.needed.names for part in parts.values()))
    for opset, part in parts.items():
        part.check(taken, opset)
    inputs = [value.name for value in chosen.inputs]
    return Plan(
        name,
        {opset: part.plan() for opset, part in parts.items()},
        [each for each in inputs if each in taken],
        [types[each] for each in wanted.inputs if each not in inputs],
        [types[each] for each in wanted.outputs],
        [each for each in sorted(blocks) if each not in alike],
    )


def _types(function: Function, block: Block, wanted: Wanted) -> dict[str, NamedValueType]:
    """Return what declares the wanted values, by name; of several of one name the last."""
    names = {*wanted.names}
    made = {output.name: output for each in block.operations for output in each.outputs if output.name in names}
    return {value.name: value for value in function.inputs if value.name in names} | made


class _Part:
    """The part of a block that is wanted."""

    def __init__(self, function: Function, block: Block, wanted: Wanted, later_writes: bool) -> None:
        self._block, self._wanted = block, wanted
        self._needs = Needs(function, block)
        self.needed = self._needs.of(wanted.outputs, wanted.inputs, later_writes=later_writes)

    def check(self, taken: Collection[str], opset: str) -> None:
        """Refuse outputs that nothing makes, inputs that no output needs, and inputs that have to be constants."""
        for name in self._wanted.outputs:
            if self._needs.is_outside(name):
                raise refusal(NO_OUTPUT, f"`{name}` is an input of the function: no operation makes it")
        for name in self._wanted.inputs:
            if name not in taken:
                raise self._unneeded(name)
        operations = (self._block.operations[place] for place in self.needed.operations)
        given = [name for name in self._wanted.inputs if not self._needs.is_outside(name)]
        for constant in needed_when_compiled(operations, given, opset):
            message = f"`{constant.source}` has to be known when the program is compiled, for {constant}"
            raise refusal(NO_INPUT, message)

    def _unneeded(self, name: str) -> ModelError:
        """Return the error about an input that no output needs, with what needs it."""
        wanted = self._wanted
        if self._uses(wanted.outputs, name):
            others = [each for each in wanted.inputs if each != name and self._uses([each], name)]
            why = f"what needs it is given: {listed(others)}"
        else:
            needing = [each for each in self._block.outputs if each != name and self._uses([each], name)]
            other = "other " if name in self._block.outputs else ""
            why = f"{listed(needing)} would need it" if needing else f"no {other}output of the function needs it"
        return refusal(UNNEEDED, f"no output of the part needs `{name}`", None, Note(why))

    def _uses(self, outputs: Iterable[str], name: str) -> bool:
        """Tell whether outputs are made of a value."""
        return name in self._needs.of(outputs, [name]).names

    def plan(self) -> BlockPlan:
        """Return what stays of the block."""
        given, renamed = {*self._wanted.inputs}, {}
        for place in self.needed.operations if given else ():
            for index, output in enumerate(self._block.operations[place].outputs):
                if output.name in given:
                    renamed[place, index] = self._new_name(output.name)
        return BlockPlan(self.needed.operations, renamed)

    def _new_name(self, name: str) -> str:
        """Return a name for what is made in the place of a value that is given, and that nothing uses now."""
        new = fitting(f"{name}_unused", self._needs.makers) or name
        self._needs.makers[new] = OUTSIDE
        return new
