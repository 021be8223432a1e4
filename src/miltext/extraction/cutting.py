"""The part of a Program between values: a Program again, whose only function takes and gives those."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from miltext.diagnostics import Note
from miltext.extraction.compile_time import needed_when_compiled
from miltext.extraction.needs import OUTSIDE, Needed, Needs
from miltext.extraction.wanted import NO_INPUT, NO_OUTPUT, UNNEEDED, Wanted, function_with, listed
from miltext.models.refusals import refusal
from miltext.printing.flexible_shapes import keep_inputs
from miltext.schema.walk import own_opset
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import fitting
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.schema.proto import Block, Function, NamedValueType, Program


@with_room
def cut(
    program: Program,
    outputs: Iterable[str],
    inputs: Iterable[str] = (),
    *,
    function: str | None = None,
    later_writes: bool = True,
) -> Program:
    """Return the part of a Program that makes the `outputs`, given the `inputs`: a Program with that one function.

    Names, types, attributes and order stay. The function is the one that has all of the values, or the one of the name
    `function`; it takes those of its inputs that are still needed, and then the `inputs`, of the types that they have.
    All that is written to a state that the part uses is in it; without `later_writes`, only what is written before a
    use. Blocks for other opsets are in it if they have the values, too. A value that is given in the place of one
    output of several gets a new name where it is made.

    Raise ModelError: MIL430 for what is unknown, MIL446 for what cannot be an input, MIL447 for an input that no
    output needs, MIL448 for what cannot be an output.
    """
    wanted = Wanted([*outputs], [*inputs])
    with gc_paused:
        name = function_with(program, wanted, function)
        made = program.__class__()
        made.CopyFrom(program)
        for other in [each for each in made.functions if each != name]:
            del made.functions[other]
        _cut_function(made.functions[name], wanted, later_writes)
    return made


def _cut_function(function: Function, wanted: Wanted, later_writes: bool) -> None:
    """Leave in a function what is wanted."""
    blocks, own = function.block_specializations, own_opset(function)
    assert own is not None  # or the function would not have the values
    types = _types(function, blocks[own], wanted)
    for opset in [each for each in blocks if each != own and _types(function, blocks[each], wanted) != types]:
        del blocks[opset]
    parts = {opset: _Part(function, blocks[opset], wanted, later_writes) for opset in sorted(blocks)}
    taken = set[str]().union(*(part.needed.names for part in parts.values()))
    new = [types[name] for name in wanted.inputs if name not in {value.name for value in function.inputs}]
    for opset, part in parts.items():
        part.check(taken, opset)
        part.keep()
    kept = [value for value in function.inputs if value.name in taken]
    del function.inputs[:]
    function.inputs.extend([*kept, *new])
    keep_inputs(function.attributes, taken)


def _types(function: Function, block: Block, wanted: Wanted) -> dict[str, NamedValueType]:
    """Return what declares the wanted values, by name; of several of one name the last."""
    names = {*wanted.names}
    made = {output.name: output for each in block.operations for output in each.outputs if output.name in names}
    return {value.name: value for value in function.inputs if value.name in names} | made


class _Part:
    """The part of a block that is wanted."""

    def __init__(self, function: Function, block: Block, wanted: Wanted, later_writes: bool) -> None:
        self._function, self._block, self._wanted = function, block, wanted
        self._needs = Needs(function, block)
        self.needed: Needed = self._needs.of(wanted.outputs, wanted.inputs, later_writes=later_writes)

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
            needing = [each for each in self._block.outputs if self._uses([each], name)]
            why = f"{listed(needing)} would need it" if needing else "no output of the function needs it"
        return refusal(UNNEEDED, f"no output of the part needs `{name}`", None, Note(why))

    def _uses(self, outputs: Iterable[str], name: str) -> bool:
        """Tell whether outputs are made of a value."""
        return name in self._needs.of(outputs, [name]).names

    def keep(self) -> None:
        """Leave in the block only what is needed, and what is wanted as its outputs."""
        block, given = self._block, {*self._wanted.inputs}
        kept = [block.operations[place] for place in self.needed.operations]
        del block.operations[:]
        block.operations.extend(kept)
        for operation in block.operations if given else ():
            for output in operation.outputs:
                if output.name in given:
                    output.name = self._new_name(output.name)
        del block.outputs[:]
        block.outputs.extend(self._wanted.outputs)

    def _new_name(self, name: str) -> str:
        """Return a name for what is made in the place of a value that is given, and that nothing uses now."""
        new = fitting(f"{name}_unused", self._needs.makers) or name
        self._needs.makers[new] = OUTSIDE
        return new
