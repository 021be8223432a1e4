"""`parse(to_text(p)) == p` for every Program, in each dialect and style, by the fast way and by the slow one."""

from __future__ import annotations

import re
from typing import Any

from conftest import wire
from google.protobuf import text_format

from miltext import PrintError, parse, to_text
from miltext.parsing.strict import strict_findings
from miltext.printing.plain_operations import Operations
from miltext.printing.printer import Printer
from miltext.printing.tensors import Style
from miltext.schema.proto import Program
from miltext.syntax.programs import own_copy

DIALECTS = [(dialect, floats) for dialect in ("1.3", "1.0") for floats in ("hex", "decimal")]
STYLES = [Style(), Style("1.0"), Style(floats="decimal", elide=2), Style(strict=True)]


def check_printing(program: Program) -> None:
    """The law, and that printing is a fixed point."""
    for dialect, floats in DIALECTS:
        text = to_text(program, dialect=dialect, floats=floats)
        again = parse(text)
        assert wire(again) == wire(program)
        assert to_text(again, dialect=dialect, floats=floats) == text
        assert text.startswith(f"program({dialect})")
        assert text.endswith("}\n")


def by_messages(program: Any, style: Style) -> str:
    """What the Printer says of a Program, or why it says nothing."""
    try:
        return "".join(Printer(style).program(own_copy(program)))
    except PrintError as failure:
        return str(failure)


def by_wire(program: Any, style: Style) -> str:
    """The same, with plain operations printed from their wire."""
    printer = Printer(style)
    operations = Operations(printer)
    try:
        return "".join(printer.program(own_copy(program, operations.take_out), operations.lines))
    except PrintError as failure:
        return str(failure)


def check_both_ways(program: Any) -> None:
    """An operation's line from its wire is what the Printer says of its message."""
    for style in STYLES:
        assert by_wire(program, style) == by_messages(program, style)


def check_strictness(program: Program) -> None:
    """Strict printing refuses a Program exactly where strict reading refuses its text."""
    text = to_text(program)
    ours = [finding for finding in strict_findings(text) if finding.severity == "error"]
    try:
        strict = to_text(program, strict=True)
    except PrintError as refused:
        assert [finding.code for finding in refused.diagnostics] == ["MIL201"]  # noqa: PT017  # both ends are right
        assert ours
    else:
        assert strict == text
        assert not ours


NANS = re.compile(r"-nan|\$0x[7f]f[0-9a-f]{6}\b|\$0x[7f]ff[0-9a-f]{13}\b")
"""NaNs of 32 and 64 bits, which are all `nan` in protobuf's text."""


def check_text_format(program: Program) -> None:
    """protobuf's own text says the same."""
    again = text_format.Parse(text_format.MessageToString(program), Program())
    assert NANS.sub("nan", to_text(again)) == NANS.sub("nan", to_text(program))
