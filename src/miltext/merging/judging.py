"""Errors of a merged text or model that neither side has, such as mismatched types."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from miltext.checking.contract.whole import contradictions_in
from miltext.checking.findings import described_fact
from miltext.checking.verifier import found_in
from miltext.diagnostics import Diagnostic, error
from miltext.merging.plans import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from miltext.models.model import Model

T = TypeVar("T")

_WEIGHT = re.compile(r"BLOBFILE\s*\(([^;]*?\)\s*)\)")
"""A weight's file and place in a text."""


def new_errors(merged: str, ours: str, theirs: str, path: str | None = None) -> list[Diagnostic]:
    """Return the errors of a merged text that neither side has. Arrays are read relative to `path`."""
    found = _errors(merged, path) if merged not in (ours, theirs) else []
    return [*_of_neither(found, [_errors(text, path) for text in (ours, theirs)] if found else [], _said)]


def new_contradictions(merged: Model, ours: Model, theirs: Model) -> list[Diagnostic]:
    """Return the contradictions between programs and descriptions of a merged model that neither side has.

    A contradiction of a side may have other types and sizes in the merged model.
    """
    found, *sides = ([*contradictions_in(model)] for model in (merged, ours, theirs))
    return [error(each.code, each.message) for each in _of_neither(found, sides, described_fact)]


def _of_neither(found: Iterable[T], sides: Iterable[Iterable[T]], key: Callable[[T], Hashable]) -> Iterator[T]:
    """Yield the items whose key no side has as often."""
    known: Counter[Hashable] = Counter()
    for side in sides:
        known |= Counter(map(key, side))
    for each in found:
        known[key(each)] -= 1
        if known[key(each)] < 0:
            yield each


def moved_weights(base: str, ours: str, theirs: str) -> str | None:
    """Return the message for a merged text whose sides place weights differently in a file; None if they do not."""
    places = [{*_WEIGHT.findall(text)} for text in (base, ours, theirs)]
    if chosen(places) is not None:
        return None
    return (
        "both sides changed the places of weights, which are not merged with a text: check that each weight is at its "
        "place in the file"
    )


def _errors(text: str, path: str | None) -> list[Diagnostic]:
    return [each for each in found_in(text, path=path) if each.severity == "error"]


def _said(found: Diagnostic) -> tuple[str, str]:
    return found.code, found.message
