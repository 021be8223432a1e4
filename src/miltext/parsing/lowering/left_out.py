"""Lowering of text that leaves values out: all but the values is what it will be once they are filled in."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING

from miltext.parsing.lowering import Lowering
from miltext.parsing.lowering.blobs import blob_message
from miltext.parsing.lowering.values import Raw
from miltext.schema.fields import BLOB
from miltext.schema.wire import sized

if TYPE_CHECKING:
    from miltext.parsing.lowering.types import LoweredType
    from miltext.parsing.lowering.values import Children

MARK = f"$left-out-{token_hex(16)}/"
"""How the fileName of a value begins that is yet to be filled in: as no text can have it."""


LEFT_OUT = sized(BLOB, blob_message(MARK.encode(), 0))
"""The content of a value that is left out."""


class LeavingOut(Lowering):
    """A Lowering to which a literal that is left out, or stands in an array's file, is a value of unknown content."""

    def elided(self, children: Children) -> Raw:
        return _LeftOut(children)

    array_file = elided


class _LeftOut(Raw):
    def content(self, value_type: LoweredType) -> bytes:
        return LEFT_OUT
