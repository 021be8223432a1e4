"""Calls that an operation cannot take, beside ones that it can, and what `check` says of one."""

from __future__ import annotations

from typing import NamedTuple

import miltext


class Row(NamedTuple):
    """A call that is wrong, the code, the words about its argument, and a call that is right."""

    wrong: str
    code: str
    message: str
    right: str
    opset: str = "ios18"


def findings(text: str, severity: str) -> list[tuple[str, str, str]]:
    """The code of each finding, its words, and what is at its place; not that the call's own type is open then."""
    return [
        (told.code, told.message, text[told.span.start : told.span.end])
        for told in miltext.check(text)
        if told.severity == severity and told.span and told.code not in ("MIL711", "MIL712")
    ]
