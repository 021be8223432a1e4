"""Edits of a text: other words in place of some of its stretches, and the proof that the rest is unchanged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics import MiltextError, codes, error
from miltext.schema.wire import wire_of
from miltext.syntax.lexer import END, FINE, lexer

if TYPE_CHECKING:
    from miltext.schema.proto import Program

Edit: TypeAlias = "tuple[int, int, str]"
"""A stretch of text, its start and end, and its replacement."""

_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@+-.")
"""The characters of names, words and numbers, which are one token where they touch."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits, none overlapping another; words that would join stay apart."""
    return _joined(text, apart(text, edits))


def proven(text: str, edits: Iterable[Edit], path: str | None = None) -> str:
    """Edit a text, and prove the result: its tokens are the unedited tokens and the edits' tokens, in order.

    Comments are tokens here. Raise MiltextError, which would be a fault of miltext's own, if the proof fails.
    """
    changes = apart(text, edits)
    made = _joined(text, changes)
    if _words(made) != _expected(text, changes):
        raise changed_meaning(path)
    return made


def require_program(made: Program | None, meant: Program | None, path: str | None = None) -> None:
    """Prove that an edited text spells a Program, where one is `meant`. Raise MiltextError as `proven` does."""
    if meant is not None and (made is None or wire_of(made) != wire_of(meant)):
        raise changed_meaning(path)


def changed_meaning(path: str | None) -> MiltextError:
    """Return the error about an edit that would change more than it is to change."""
    message = "the edited text would not say what it is to say: a fault in miltext; the text is left as it is"
    return MiltextError([error(codes.INTERNAL_ERROR, message)], path=path)


def apart(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """Return edits in the order of the text, with a blank where two words would join to one."""
    places, ordered = _Places(text), sorted(edits, key=lambda edit: edit[:2])
    found, done, before = list[Edit](), 0, ""
    following = [*(start for start, _, _ in ordered), -1][1:]
    for (start, end, written), beside in zip(ordered, following, strict=True):
        before = text[start - 1 : start] if start > done else before
        new = written
        if new and _touch(before, new) and places.part(start):
            new = f" {new}"
        before = new[-1:] or before
        if end != beside and _touch(before, text[end : end + 2]) and places.part(start) and places.part(end):
            new = f"{new} "
            before = " "
        found.append((start, end, new))
        done = end
    return found


def _touch(before: str, after: str) -> bool:
    """Return whether the end of `before` and the beginning of `after` would be read as one token."""
    return before[-1:] in _WORD and after[:1] in _WORD and bool(before and after)


class _Places:
    """The places between the tokens of a text, which is read only on demand."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _tokens(self) -> tuple[Sequence[int], Sequence[int]]:
        found = [(at, at + len(word)) for _, word, at in lexer(FINE).tokens(self.text, 0)]
        return [start for start, _ in found], [end for _, end in found]

    def part(self, place: int) -> bool:
        """Return whether no token is on both sides of a place."""
        starts, ends = self._tokens
        last = bisect_left(starts, place) - 1
        return last < 0 or ends[last] <= place


def _joined(text: str, changes: Iterable[Edit]) -> str:
    pieces, done = list[str](), 0
    for start, end, written in changes:
        pieces += [text[done : max(start, done)], written]
        done = end
    return "".join([*pieces, text[done:]])


def _words(text: str) -> list[str]:
    return [word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != END]


def _expected(text: str, changes: Sequence[Edit]) -> list[str]:
    """Return the words of a text with others in place of those in the stretches of the changes."""
    found, left = list[str](), iter([*changes, (len(text) + 1, len(text) + 1, "")])
    start, end, written = next(left)
    for terminal, word, at in lexer(FINE).tokens(text, 0):
        while at >= end and at >= start and start <= len(text):
            found += _words(written)
            start, end, written = next(left)
        if terminal != END and at + len(word) <= start:
            found.append(word)
    return found
