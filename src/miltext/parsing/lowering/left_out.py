"""Lowering of text with omitted values: all other parts get their final form."""

from __future__ import annotations

import json
from secrets import token_hex
from typing import TYPE_CHECKING

from miltext.parsing.lowering import Lowering
from miltext.parsing.lowering.arrays import ArrayReference
from miltext.parsing.lowering.blobs import blob_message
from miltext.parsing.lowering.imports import marked, reference_of
from miltext.parsing.lowering.values import ArrayFile, Raw
from miltext.schema.fields import BLOB
from miltext.schema.wire import sized

if TYPE_CHECKING:
    from miltext.parsing.lowering.types import LoweredType
    from miltext.parsing.lowering.values import Children
    from miltext.schema.proto import Value

MARK = f"$left-out-{token_hex(16)}/"
"""The prefix of the fileName of a value to be filled in later: no text can contain it."""


LEFT_OUT = sized(BLOB, blob_message(MARK.encode(), 0))
"""The content of an omitted value."""


class NamingArrays(Lowering):
    """A Lowering that accepts arrays, as the names of their files."""

    def array_file(self, children: Children) -> Raw:
        return NamedArray(children)


class LeavingOut(NamingArrays):
    """A Lowering that accepts omitted literals, as values of unknown content, and arrays and imports, as the names of
    their files.
    """

    def elided(self, children: Children) -> Raw:
        return _LeftOut(children)

    def imported(self, children: Children) -> str:
        return marked(reference_of(children))


class _LeftOut(Raw):
    def content(self, value_type: LoweredType) -> bytes:
        return LEFT_OUT


class NamedArray(ArrayFile):
    """An array in the fileName of its value; `array_named` reads this name."""

    def content(self, value_type: LoweredType | None = None) -> bytes:
        return sized(BLOB, blob_message(f"{MARK}{json.dumps(self.reference)}".encode(), 0))


def array_named(value: Value) -> ArrayReference | None:
    """Return the array of a value that NamingArrays made; None for any other value."""
    name = value.blobFileValue.fileName
    return ArrayReference(*json.loads(name[len(MARK) :])) if name.startswith(f"{MARK}[") else None
