"""Goldens read for a comparison: a literal that a golden pins by its digest is compared by that digest alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.parsing.lowering import Lowering
from miltext.parsing.lowering.names import string_bytes
from miltext.parsing.lowering.values import Raw, immediate
from miltext.parsing.parser import lower
from miltext.schema.fields import TENSOR
from miltext.schema.proto import TensorValue

if TYPE_CHECKING:
    from miltext.parsing.lowering.types import LoweredType
    from miltext.parsing.lowering.values import Children

_MARKED = re.compile(r'\$strings\(\["(sha256:[0-9a-f]+)"\]\)')


def lower_with_digests(text: str) -> bytes:
    """Return the wire bytes of a golden's Program, with digests in place of their literals. Raise ParseError."""
    return lower(text, lowering=_WithDigests())


def without_marks(text: str) -> str:
    """Return the text of a Difference between such Programs, with the digests as they are."""
    return _MARKED.sub(r"\1", text)


class _WithDigests(Lowering):
    def elided(self, children: Children) -> Raw:
        return _Digest(children)


class _Digest(Raw):
    """`$elided(1000, "sha256:...")`"""

    def content(self, value_type: LoweredType) -> bytes:
        digest = string_bytes(self.children[4]).decode()
        tensor = TensorValue(strings=TensorValue.RepeatedStrings(values=[digest]))
        return immediate(TENSOR, tensor.SerializeToString(deterministic=True))
