"""The inputs of functions and blocks with the edits of a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing.edits import InputAdded, InputRemoved, InputsEdit
from miltext.ir.functions import Block
from miltext.ir.parts import Op

if TYPE_CHECKING:
    from miltext.applying.entries import EntryTable
    from miltext.applying.partners import Partners
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.ir.planting import Planting


def edit_inputs(edits: EntryTable, partners: Partners, planting: Planting) -> None:
    """Sort, remove and add inputs."""
    for order in edits.of(InputsEdit):
        owner = _own(order.owner, partners)
        known = [partners.values[each] for each in order.inputs]
        following = iter(known)
        owner.set_inputs(next(following) if value in known else value for value in owner.inputs)
    for removed in edits.of(InputRemoved):
        value = partners.values[removed.old]
        assert value.owner is not None, "an input has an owner"
        assert not isinstance(value.owner, Op), "and is not an output"
        value.owner.set_inputs(each for each in value.owner.inputs if each is not value)
    for added in edits.of(InputAdded):
        owner = _own(added.owner, partners)
        (made,) = planting.declared([added.new], owner)
        place = _place(added.new, owner, partners, planting)
        owner.set_inputs([*owner.inputs[:place], made, *owner.inputs[place:]])


def _own(old: Function | Block, partners: Partners) -> Function | Block:
    return partners.blocks[old] if isinstance(old, Block) else partners.functions[old]


def _place(new: Value, owner: Function | Block, partners: Partners, planting: Planting) -> int:
    """Return the index for a new input: after the nearest existing input before it."""
    around = new.owner
    assert around is not None, "an input has an owner"
    assert not isinstance(around, Op), "and is not an output"
    for value in reversed(around.inputs[: around.inputs.index(new)]):
        own = planting.values.get(value) or partners.value(value)
        if own in owner.inputs:
            return owner.inputs.index(own) + 1
    return 0
