"""Findings about a dump of the Core ML runtime, which is not a Program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, in_order, located
from miltext.checking.further import further_findings
from miltext.checking.programs import verify
from miltext.diagnostics import ParseError, codes
from miltext.dumps.recognition import SELECTED
from miltext.dumps.texts import read_dump
from miltext.schema.paths import Key
from miltext.syntax.lexer import dialect_of
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from miltext.checking.further import Further
    from miltext.diagnostics import Diagnostic
    from miltext.dumps.texts import Dump


def dump_findings(
    text: str, path: str | None = None, also: Further | None = None, folder: Path | None = None
) -> list[Diagnostic]:
    """Return the findings about a dump: the first mistake of an unreadable one, or all errors in its contents.

    `also` is the further check of its operations.

    The runtime adds operations that no model contains, so an unknown operation is not a mistake.
    """
    try:
        dump = read_dump(text, path)
    except ParseError as refused:
        return refused.diagnostics
    stated = [each for each in verify(dump.stated, dialect_of(text)) if each.code != codes.UNKNOWN_OPERATION]
    return in_order(located([*stated, *_contradictions(dump), *further_findings(also, dump.stated, folder)], text))


def _contradictions(dump: Dump) -> Iterator[Finding]:
    """Yield a finding for each operation on a backend that does not support it."""
    for each in dump.placed:
        if each.backend is not None and each.supported and each.backend not in each.supported:
            message = (
                f"the selected backend {quote(each.backend)} is not among the supported ones: "
                f"{', '.join(each.supported)}"
            )
            path = (*each.path, "attributes", Key(SELECTED))
            yield Finding(path, codes.CONTRADICTORY_DUMP, message, severity="warning")
