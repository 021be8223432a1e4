"""The parts of a message that words cannot spell: wire bytes, which are merged into the spelled message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.parts import Whole, part_of
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.schema.proto import Message


def leftover(whole: Message, said: Message) -> bytes | None:
    """Return the bytes that make `whole` from the `said` message when they are merged into it; None if none do.

    They are empty if `said` is complete. They contain the fields that differ; of messages, the differing parts.
    """
    wanted = wire_of(whole)
    if wire_of(said) == wanted:
        return b""
    rest = _rest(part_of(whole), part_of(said))
    joined = type(said).FromString(wire_of(said) + rest)
    return rest if wire_of(joined) == wanted else None


def _rest(whole: Whole, said: Whole) -> bytes:
    """Return the fields of a message missing or different in the other, one after the other."""
    rest = b""
    for name, part in whole.parts.items():
        there = said.parts.get(name)
        if isinstance(part, Whole) and isinstance(there, Whole):
            inner = _rest(part, there)
            rest += part.with_content(inner) if inner else b""
        elif there is None or there.wire != part.wire:
            rest += part.wire
    return rest
