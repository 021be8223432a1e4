"""Attributes of blocks and functions, and their edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from miltext.schema import proto

Message = TypeVar("Message", "proto.Block", "proto.Function")


class Attributed(Generic[Message]):
    """A part of a graph with attributes.

    `message` is the original message, and `changed` are the set attributes, None for removed ones.
    """

    __slots__ = ("changed", "is_edited", "message")

    def __init__(self, message: Message) -> None:
        self.message: Message = message
        self.changed: dict[str, proto.Value | None] = {}
        self.is_edited = False

    @property
    def attributes(self) -> dict[str, proto.Value]:
        """The attributes, read-only; `set_attribute` changes one."""
        stated = {**self.message.attributes, **self.changed}
        return {key: value for key, value in stated.items() if value is not None}

    def set_attribute(self, key: str, value: proto.Value | None) -> None:
        """Set an attribute, or remove it for None."""
        self.changed[key] = value
        self.touch()

    def touch(self) -> None:
        """Mark the part as edited."""
        raise NotImplementedError
