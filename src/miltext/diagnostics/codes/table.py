"""The table of codes: each code is one row, and a constant with the code's name."""

from __future__ import annotations

from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"


class Row(NamedTuple):
    """A code's title, its severity, and the way out of it.

    A verb may change the severity for an input: `build` refuses unknown operations, and a fault of the original is a
    warning. The way out completes a message, so it begins with a small letter and has no full stop.
    """

    title: str
    severity: str
    way_out: str


TABLE: dict[str, Row] = {}
"""The rows of all codes."""


def code(number: str, title: str, severity: str, way_out: str) -> str:
    """Add a row to the table, and return its code."""
    TABLE[number] = Row(title, severity, way_out)
    return number
