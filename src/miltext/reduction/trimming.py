"""The parts of a Program without effect on its computation: attributes of operations, blocks and functions, and its
comment.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from miltext.schema.proto import Program
from miltext.schema.walk import parts

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
    made = Program()
    made.CopyFrom(program)
    keys: dict[int, list[str]] = {}
    for trait in gone:
        if trait.is_attribute:
            keys.setdefault(trait.part, []).append(trait.key)
        else:
            made.ClearField(COMMENT)
    for place, (_, part) in enumerate(parts(made)):
        for key in keys.get(place, ()):
            del part.attributes[key]
    return made
