"""Errors of a merged text that neither side has, such as mismatched types."""

from __future__ import annotations

import re
from collections import Counter

from miltext.checking.verifier import check
from miltext.diagnostics import Diagnostic

_WEIGHT = re.compile(r"BLOBFILE\s*\(([^;]*?\)\s*)\)")
"""A weight's file and place in a text."""


def new_errors(merged: str, ours: str, theirs: str, path: str | None = None) -> list[Diagnostic]:
    """Return the errors of a merged text that neither side has. Arrays are read relative to `path`."""
    found = _errors(merged, path) if merged not in (ours, theirs) else []
    if not found:
        return []
    known = Counter[tuple[str, str]]()
    for text in (ours, theirs):
        known |= Counter(map(_said, _errors(text, path)))
    reported = list[Diagnostic]()
    for each in found:
        known[_said(each)] -= 1
        if known[_said(each)] < 0:
            reported.append(each)
    return reported


def moved_weights(base: str, ours: str, theirs: str) -> str | None:
    """Return the message for a merged text whose sides place weights differently in a file; None if they do not."""
    places = [{*_WEIGHT.findall(text)} for text in (base, ours, theirs)]
    if places[1] in (places[0], places[2]) or places[2] == places[0]:
        return None
    return (
        "both sides changed the places of weights, which are not merged with a text: check that each weight is at its "
        "place in the file"
    )


def _errors(text: str, path: str | None) -> list[Diagnostic]:
    return [each for each in check(text, path=path) if each.severity == "error"]


def _said(found: Diagnostic) -> tuple[str, str]:
    return found.code, found.message
