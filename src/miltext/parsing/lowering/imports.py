"""References in a text to functions of models in files beside it."""

from __future__ import annotations

import json
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from miltext.parsing.lowering.names import string_bytes
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.parsing.lowering.values import Children

_MARK = f"$import-{token_hex(16)}/"
"""The prefix of the type of an operation that stands for an import: no text can contain it."""


class ImportReference(NamedTuple):
    """A reference to a function of a model: `$import("encoder.mlpackage")`, `$import("encoder.mlpackage", "main")`.

    `file` is relative to the text's folder; without a `function`, it is the default one.
    """

    file: str
    function: str | None = None

    def __str__(self) -> str:
        return f"$import({', '.join(quote(part) for part in self if part is not None)})"


def reference_of(children: Children) -> ImportReference:
    """Return the reference that the children of a phrase spell. Raise LoweringError for a wrong string."""
    return ImportReference(*(string_bytes(token).decode() for token in children[2:-1:2]))


def marked(reference: ImportReference) -> str:
    """Return the type of an operation that stands for an import, as a token."""
    return f"${quote(_MARK + json.dumps(reference))}"


def import_named(operation_type: str) -> ImportReference | None:
    """Return the reference of the type of an operation that stands for an import; None for any other type."""
    return ImportReference(*json.loads(operation_type[len(_MARK) :])) if operation_type.startswith(_MARK) else None
