"""Opsets: how the text spells them, how the proto does, and the specification that brings each.

The spellings of iOS15 to iOS18 are Apple's compiler's for the proto's names; `ios26` follows the same naming in
hand-written text. The specification versions are from Apple's `Model.proto`.
"""

from __future__ import annotations

from typing import NamedTuple

DIALECTS = ("1.0", "1.3")
"""The two versions of MIL text that Apple's compiler prints."""


class Opset(NamedTuple):
    """One opset: `text` in MIL text, `proto` in a Program, `specification` of the Model that may use it."""

    text: str
    proto: str
    specification: int


OPSETS: tuple[Opset, ...] = (
    Opset("ios15", "CoreML5", 6),
    Opset("ios16", "CoreML6", 7),
    Opset("ios17", "CoreML7", 8),
    Opset("ios18", "CoreML8", 9),
    Opset("ios26", "CoreML9", 10),
)

PROTO_BY_TEXT: dict[str, str] = {opset.text: opset.proto for opset in OPSETS}
TEXT_BY_PROTO: dict[str, str] = {opset.proto: opset.text for opset in OPSETS}
SPECIFICATION_BY_PROTO: dict[str, int] = {opset.proto: opset.specification for opset in OPSETS}
