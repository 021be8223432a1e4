"""The interface of a function: the names and types of its inputs, states and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.walk import own_block

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, Program, ValueType

Types = dict[str, "ValueType | None"]


SIDES = ("input", "state", "output")
"""The fields of a description for a function's inputs, states and outputs."""


class Interface(NamedTuple):
    """Types by name, in the function's order: copies, unaffected by later changes of the Program.

    The type of an undefined output is None.
    """

    inputs: Types
    states: Types
    outputs: Types

    @property
    def sides(self) -> Mapping[str, Types]:
        """The three, by the names in SIDES."""
        return dict(zip(SIDES, self, strict=True))


def interfaces(program: Program) -> dict[str, Interface]:
    """Return the Interface of each function, by name."""
    return {name: interface(program.functions[name]) for name in sorted(program.functions)}


def interface(function: Function) -> Interface:
    """Return the Interface of a function; without a block of its own, it has no outputs."""
    parameters: Types = {value.name: deepcopy(value.type) for value in function.inputs}
    states: Types = {name: kind for name, kind in parameters.items() if kind and kind.WhichOneof("type") == "stateType"}
    inputs: Types = {name: kind for name, kind in parameters.items() if name not in states}
    block = own_block(function)
    return Interface(inputs, states, _outputs(block, parameters) if block is not None else {})


def _outputs(block: Block, parameters: Types) -> Types:
    """Return the types of the block's outputs; most are made near its end."""
    found: Types = {}
    missing = set(block.outputs)
    for operation in reversed(block.operations):
        for value in operation.outputs:
            if value.name in missing:
                missing.discard(value.name)
                found[value.name] = deepcopy(value.type)
        if not missing:
            break
    return {name: found.get(name, parameters.get(name)) for name in block.outputs}
