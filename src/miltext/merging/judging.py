"""Errors of a merged text or model that neither side has, such as mismatched types."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from miltext.checking.contract.whole import contract_findings
from miltext.checking.verifier import check
from miltext.diagnostics import Diagnostic, error
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.models.model import Model

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


def new_contradictions(merged: Model, ours: Model, theirs: Model) -> list[Diagnostic]:
    """Return the contradictions between programs and descriptions of a merged model that neither side has."""
    known = _contradictions(ours) | _contradictions(theirs)
    return [error(code, message) for code, message in (_contradictions(merged) - known).elements()]


def _contradictions(whole: Model) -> Counter[tuple[str, str]]:
    """Return the codes and messages of the contradictions in the models of a pipeline, or in a model."""
    return Counter(
        (each.code, f"model {quote(stage.model.pipeline_name)}: {each.message}" if stage.place else each.message)
        for stage in whole.programs()
        for each in contract_findings(stage.model)
        if each.severity != "note"
    )


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
