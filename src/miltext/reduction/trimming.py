"""The parts of a Program without effect on its computation: attributes of operations, blocks and functions, and its
comment.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.walk import parts

if TYPE_CHECKING:
    from miltext.schema.proto import Program

COMMENT = "docString"
VALUE = "val"
"""The attribute for the value of a `const`."""


class Trait(NamedTuple):
    """An attribute by its key, or the comment of the Program, which has the place 0 among its parts."""

    part: int
    key: str
    is_attribute: bool = True


def traits(program: Program) -> list[Trait]:
    """Return the removable traits."""
    found = [Trait(0, COMMENT, False)] if program.docString else []
    for place, (_, part) in enumerate(parts(program)):
        found += [Trait(place, key) for key in sorted(part.attributes) if key != VALUE]
    return found


def trimmed(program: Program, gone: Collection[Trait]) -> Program:
    """Return a Program without some of its traits."""
    made = deepcopy(program)
    found = [part for _, part in parts(made)]
    for trait in gone:
        if trait.is_attribute:
            del found[trait.part].attributes[trait.key]
        else:
            made.ClearField(COMMENT)
    return made
