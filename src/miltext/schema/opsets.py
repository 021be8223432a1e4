"""Opsets: their spellings in text and in the proto, and the first specification with each.

The spellings of iOS15 to iOS18 are from texts of Apple's compiler. For CoreML9 no such text is public, but a text that
Core ML loads has `ios19` (github.com/liuliu/ccv, `lib/nnc/mfa/ccv_nnc_mfa_ane_rowwise_coreml.mm`), and so has
`Ios19.dequantize` in the metadata.json of a model of specification 10. `ios26` follows the name of coremltools' target,
`iOS26`. The specification versions are from Apple's `Model.proto`.
"""

from __future__ import annotations

from typing import NamedTuple

DIALECTS = ("1.0", "1.3")
"""The two versions of MIL text that Apple's compiler prints."""


class Opset(NamedTuple):
    """One opset: `text` in MIL text, `proto` in a Program, `specification` of the Model that may use it.

    `aliases` are other names in texts, which are read and never printed.
    """

    text: str
    proto: str
    specification: int
    aliases: tuple[str, ...] = ()


OPSETS: tuple[Opset, ...] = (
    Opset("ios15", "CoreML5", 6),
    Opset("ios16", "CoreML6", 7),
    Opset("ios17", "CoreML7", 8),
    Opset("ios18", "CoreML8", 9),
    Opset("ios19", "CoreML9", 10, ("ios26",)),
)

PROTO_BY_TEXT: dict[str, str] = {name: opset.proto for opset in OPSETS for name in (opset.text, *opset.aliases)}
TEXT_BY_PROTO: dict[str, str] = {opset.proto: opset.text for opset in OPSETS}
OPSET_BY_NAME: dict[str, Opset] = {
    name: opset for opset in OPSETS for name in (opset.proto, opset.text, *opset.aliases)
}
"""Each opset by all its names, also by the text's name in a Program."""


def specification_of(name: str) -> int:
    """Return the specification version of an opset, by any of its names; 0 for an unknown one."""
    opset = OPSET_BY_NAME.get(name)
    return opset.specification if opset is not None else 0


def plain_opset(name: str) -> str:
    """Return the name in the proto of an opset, by any of its names; an unknown name stays unchanged."""
    return PROTO_BY_TEXT.get(name, name)
