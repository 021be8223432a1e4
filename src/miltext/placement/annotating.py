"""Texts with a comment at each operation: backend, time and reason of a dump, or the answer of a profile."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from miltext.diagnostics import visible
from miltext.dumps.texts import read_dump
from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import phrases_by_path
from miltext.placement.predicting import answers
from miltext.placement.report import ms
from miltext.syntax.editing import changed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.dumps.placed import PlacedOperation
    from miltext.placement.predicting import Answer
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program


def annotated_dump(text: str, path: str | None = None) -> str:
    """Return a dump with a comment at the end of each operation. Raise ParseError."""
    return _annotated(text, {each.path: placed_words(each) for each in read_dump(text, path).placed})


def annotated_program(text: str, program: Program, profile: str) -> str:
    """Return the text of a Program with a profile's answer at the end of each operation. Raise ModelError (MIL891)."""
    return _annotated(text, {each.path: answer_words(each) for each in answers(program, profile)})


def placed_words(operation: PlacedOperation) -> str:
    """Return the words about an operation of a dump: `bnns, 0.5 ms; not on ane: Unsupported MIL operation "acos".`"""
    time = "" if operation.time is None else f", {ms(operation.time)} ms"
    reasons = "".join(f"; not on {backend}: {reason}" for backend, reason in sorted(operation.reasons.items()))
    return f"{operation.backend or 'no backend'}{time}{reasons}"


def answer_words(answer: Answer) -> str:
    """Return the words about an answer: `ane: not supported: Unsupported MIL operation "acos".`"""
    return f"ane: {answer.answer}{f': {answer.message}' if answer.message else ''}"


def _annotated(text: str, words: Mapping[Path, str]) -> str:
    """Return a text with words as comments at the ends of the operations at paths."""
    ends = [(phrase.end, path) for path, phrase in phrases_by_path(parse_tree(text, whole=True).root) if path in words]
    return changed(text, [(end, end, f"  // {visible(words[path])}") for end, path in sorted(ends)])


@lru_cache(maxsize=4)
def placed_at(text: str) -> Mapping[int, PlacedOperation]:
    """Return the operations of a dump by the places where they begin. Raise ParseError."""
    known = {each.path: each for each in read_dump(text).placed}
    found = phrases_by_path(parse_tree(text, whole=True).root)
    return {phrase.start: known[path] for path, phrase in found if path in known}
