"""The table of codes: each code is one row, which its name stands for."""

from __future__ import annotations

from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"


class Row(NamedTuple):
    """A code's title, its severity, and the way out of it.

    The severity is the first report's. A verb may change it for an input: `build` refuses unknown operations, and a
    fault of the original is a warning. The way out completes a message, so it has neither a capital nor a full stop.
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
