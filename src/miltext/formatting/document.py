"""A small algebra of documents: the layout of a phrase before its lines are known, and the rendered lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby, takewhile
from typing import Any, NamedTuple, TypeAlias


class CommentPlace(Enum):
    """Where a comment stands: with code on both sides, at the end of its line, or on a line of its own."""

    INLINE = 1
    LINE_END = 2
    OWN_LINE = 3


class Comment(NamedTuple):
    """A comment, as a piece of its token's document: so it moves along when phrases are sorted."""

    place: CommentPlace
    text: str


class Break(Enum):
    """A new line: in the text; before a group's item, four spaces deeper; or after a group's last item."""

    LINE = 1
    ITEM = 2
    CLOSING = 3


LINE = Break.LINE


class Indent(list["Piece"]):
    """Pieces whose lines begin deeper."""


class Group(list["Document"]):
    """The documents of a list's items: on one line with spaces between them, or an item a line."""


Piece: TypeAlias = str | Comment | Break | Indent | Group
Document: TypeAlias = str | list[Piece]


def joined(parts: Sequence[Document | Piece], between: str = "") -> Document:
    """Join several documents, or pieces, to one document."""
    try:
        return between.join(parts)  # type: ignore[arg-type]  # most have no other pieces than strings
    except TypeError:
        if between:
            parts = [piece for part in parts for piece in (between, part)][1:]
        return list(_merged(_spread(parts)))


def on_lines(parts: Iterable[Document | Piece]) -> list[Document | Piece]:
    """Return the pieces of parts, each on a line of its own."""
    return [piece for part in parts for piece in (LINE, part)]


def indented(parts: Sequence[Document | Piece]) -> Indent:
    """Return parts whose lines begin four spaces deeper."""
    return Indent(_spread(parts))


def parted(document: Document) -> tuple[list[Comment], Document, list[Comment]]:
    """Return the comments before a document, the document itself, and the comments after it."""
    pieces = _pieces(document)
    before: list[Any] = list(takewhile(_is_comment, pieces))
    after: list[Any] = list(takewhile(_is_comment, reversed(pieces)))[::-1]
    return before, joined(pieces[len(before) : len(pieces) - len(after)]), after


def inside(change: Callable[[str], Document], document: Document) -> Document:
    """Change the part between the comments around a document, if it is a string."""
    if isinstance(document, str):
        return change(document)
    before, core, after = parted(document)
    return joined([*before, change(core), *after]) if isinstance(core, str) else document


def comments_of(document: Document) -> Iterator[str]:
    """Yield the texts of the comments in a document."""
    todo: list[Document | Piece] = [document]
    while todo:
        piece = todo.pop()
        if isinstance(piece, Comment):
            yield piece.text
        elif isinstance(piece, list):
            todo += piece


def code_of(document: Document) -> str:
    """Return the strings of a document, without those in an Indent or a Group."""
    return document if isinstance(document, str) else "".join([piece for piece in document if isinstance(piece, str)])


def render(document: Document, width: int | None) -> str:
    """Return the text of a document; with `width`, its groups are broken where a line would be longer."""
    return "\n".join([_line(pieces, indent, width) for pieces, indent in _lines(_pieces(document))])


def keep_line_ends(original: str, text: str) -> str:
    """Return a text of plain newlines with the line ends of another, CRLF or LF: its first line decides for all."""
    first, newline, _ = original.partition("\n")
    return text.replace("\n", "\r\n") if newline and first.endswith("\r") else text


def _pieces(document: Document) -> list[Piece]:
    return [document] if isinstance(document, str) else document


def _is_comment(piece: Piece) -> bool:
    return isinstance(piece, Comment)


def _is_text(piece: Piece) -> bool:
    return isinstance(piece, str)


def _spread(parts: Iterable[Document | Piece]) -> list[Piece]:
    """Return the pieces of several documents."""
    pieces: list[Piece] = []
    for part in parts:
        if type(part) is list:
            pieces += part  # type: ignore[arg-type]  # no Group: that is a list of another type
        else:
            pieces.append(part)  # type: ignore[arg-type]
    return pieces


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces, with adjacent strings joined."""
    for are_text, run in groupby(pieces, _is_text):
        if not are_text:
            yield from run
        elif text := "".join(run):  # type: ignore[arg-type]
            yield text


def _lines(document: list[Piece]) -> Iterator[tuple[list[Piece], str]]:
    """Yield the pieces of each line, and its indentation."""
    line: list[Piece] = []
    indent = ""
    stack = [iter(document)]
    while stack:
        for piece in stack[-1]:
            if piece is LINE:
                yield line, indent
                line, indent = [], "    " * (len(stack) - 1)
            elif isinstance(piece, Indent):
                stack.append(iter(piece))
                break
            else:
                line.append(piece)
        else:
            stack.pop()
    yield line, indent


def _line(pieces: list[Piece], indent: str, width: int | None) -> str:
    """Return a line of the document as lines of text."""
    code = joined(pieces)
    if isinstance(code, str):
        return indent + code
    fitted: list[Piece] = []
    begun = 0  # where the last line begins
    for at, piece in enumerate(pieces):
        if not isinstance(piece, Group):
            fitted.append(piece)
            continue
        flat = list(_flat([piece]))
        trial = [*fitted[begun:], *flat, *takewhile(_is_text, pieces[at + 1 :])]
        inline = all(piece.place is CommentPlace.INLINE for piece in flat if isinstance(piece, Comment))
        if inline and (width is None or len(_broken(trial, indent).rpartition("\n")[2]) <= width):
            fitted += flat
        else:
            begun = len(fitted)
            fitted += _items(piece)
    return _broken(fitted, indent)


def _flat(pieces: list[Piece]) -> Iterator[Piece]:
    """Yield the pieces of a document that stays on one line."""
    for piece in pieces:
        if isinstance(piece, Group):
            yield from _flat(_pieces(joined(piece, " ")))
        else:
            yield piece


def _items(group: Group) -> Iterator[Piece]:
    """Yield the pieces of a group with an item a line; a group inside an item stays on its line."""
    for item in group:
        yield Break.ITEM
        yield from _flat(_pieces(item))
    yield Break.CLOSING


def _broken(pieces: list[Piece], indent: str) -> str:
    """Return the text of pieces without groups: lines end where comments and breaks demand it."""
    outer, inner = f"\n{indent}", f"\n{indent}    "
    texts, newline, started = [indent], "", False
    for piece in _merged(pieces):
        if isinstance(piece, Break):
            newline = inner if piece is Break.ITEM else outer
            continue
        place, text = piece if isinstance(piece, Comment) else (None, piece.strip(" "))  # type: ignore[union-attr]
        if not text:
            continue
        if place is CommentPlace.OWN_LINE and len(texts) > 1:
            newline = newline or (inner if started else outer)
        if newline and not place and text[0] in ")]}>":
            newline = outer
        spaced = len(texts) > 1 and _spaced(texts[-1], place, text)
        texts += [newline or " " * spaced, text]
        started = started or not place
        newline = (inner if started else outer) if place in (CommentPlace.LINE_END, CommentPlace.OWN_LINE) else ""
    return "".join(texts)


def _spaced(before: str, place: CommentPlace | None, text: str) -> bool:
    """Whether a space comes between a comment and code, or two comments."""
    if not place:
        return text[0] not in ",;)]}>"
    return place is CommentPlace.LINE_END or before[-1] not in "([<"
