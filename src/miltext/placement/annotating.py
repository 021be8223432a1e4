"""Texts with a comment at each operation: backend, time and reason of a dump, or the answer of a profile."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import visible
from miltext.dumps.texts import read_dump
from miltext.formatting.formatter import format_tree
from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import phrases_by_path
from miltext.placement.predicting import answers
from miltext.placement.report import ms
from miltext.syntax.editing import changed
from miltext.syntax.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.dumps.placed import PlacedOperation
    from miltext.placement.predicting import Answer
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program
    from miltext.syntax.tree import Tree


class AnnotatedText(NamedTuple):
    """A text, its tree, and comments about its operations by the places where these end."""

    text: str
    tree: Tree
    comments: Mapping[int, str]

    def spelled(self) -> str:
        """Return the text with the comments."""
        return changed(self.text, [(end, end, f"  {comment}") for end, comment in self.comments.items()])


def annotated_dump(text: str, path: str | None = None) -> AnnotatedText:
    """Return a dump in canonical layout with the placement of each operation. Raise ParseError."""
    words = {each.path: placed_words(each) for each in read_dump(text, path).placed}
    tree = parse_tree(text, path, whole=True)
    laid_out = format_tree(text, tree, path=path)
    if laid_out != text:  # the runtime writes this layout
        tree = parse_tree(laid_out, path, whole=True)
    return _annotated(laid_out, tree, words)


def annotated_program(text: str, program: Program, profile: str) -> AnnotatedText:
    """Return the text of a Program with a profile's answer about each operation. Raise ModelError (MIL891)."""
    words = {each.path: answer_words(each) for each in answers(program, profile)}
    return _annotated(text, parse_tree(text, whole=True), words)


def placed_words(operation: PlacedOperation) -> str:
    """Return the words about an operation of a dump: `bnns, 0.5 ms; not on ane: Unsupported MIL operation "acos".`"""
    time = "" if operation.time is None else f", {ms(operation.time)} ms"
    reasons = "".join(f"; not on {backend}: {reason}" for backend, reason in sorted(operation.reasons.items()))
    return f"{operation.backend or 'no backend'}{time}{reasons}"


def answer_words(answer: Answer) -> str:
    """Return the words about an answer: `ane: not supported: Unsupported MIL operation "acos".`"""
    return f"ane: {answer.answer}{f': {answer.message}' if answer.message else ''}"


def _annotated(text: str, tree: Tree, words: Mapping[Path, str]) -> AnnotatedText:
    """Return a text with words as comments about the operations at paths."""
    with gc_paused:
        ends = {phrase.end: path for path, phrase in phrases_by_path(tree.root) if path in words}
    return AnnotatedText(text, tree, {end: f"// {visible(words[path])}" for end, path in sorted(ends.items())})


@lru_cache(maxsize=4)
def placed_at(text: str) -> Mapping[int, PlacedOperation]:
    """Return the operations of a dump by the places where they begin. Raise ParseError."""
    known = {each.path: each for each in read_dump(text).placed}
    found = phrases_by_path(parse_tree(text, whole=True).root)
    return {phrase.start: known[path] for path, phrase in found if path in known}
