"""The symbols of a workspace: functions and values of the open documents, and of the texts in the client's folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from miltext.diagnostics import ParseError
from miltext.files.writing import texts_below
from miltext.lsp.documents import Document
from miltext.lsp.positions import Positions
from miltext.lsp.reading import NOTHING
from miltext.lsp.symbols import symbols_in
from miltext.parsing.parser import parse_tree
from miltext.parsing.recovery import tree_past

if TYPE_CHECKING:
    from miltext.syntax.tree import Node

MOST = 1000
"""The most symbols of an answer: people do not read longer lists."""


class Symbol(NamedTuple):
    """A function or a value. `function` is the value's function, empty for a function itself."""

    name: str
    kind: lsp.SymbolKind
    place: lsp.Range
    function: str


class WorkspaceFiles:
    """The symbols of texts on the disk, each read when it is new or changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], list[Symbol]]] = {}

    def symbols(self, path: str, encoding: str) -> list[Symbol]:
        """Return the symbols of a file; none for an unreadable one."""
        try:
            now = os.stat(path)
            state = now.st_mtime_ns, now.st_size
            known = self._known.get(path)
            if known is None or known[0] != state:
                with open(path, "rb") as file:
                    text = file.read().decode()
                known = self._known[path] = state, _symbols(Document(path, 0, Positions(text, encoding)))
        except (OSError, UnicodeDecodeError):
            self._known.pop(path, None)
            return []
        return known[1]


def found(
    query: str, documents: Iterable[Document], folders: Iterable[str], files: WorkspaceFiles, encoding: str
) -> list[lsp.SymbolInformation]:
    """Return the symbols whose names contain the letters of a query in its order, the nearest first, MOST at most.

    Without a query, these are the functions. An open document is taken as it is in the editor.
    """
    letters = re.compile(".*?".join(map(re.escape, query)), re.IGNORECASE | re.DOTALL)
    ranked = [
        (_distance(query.lower(), symbol.name.lower()), uri, symbol)
        for uri, symbols in _all(documents, folders, files, encoding)
        for symbol in symbols
        if (letters.search(symbol.name) if query else not symbol.function)
    ]
    ranked.sort(key=lambda each: (each[0], each[2].name, each[1], each[2].place.start.line))
    return [
        lsp.SymbolInformation(
            lsp.Location(uri, symbol.place), symbol.name, symbol.kind, container_name=symbol.function or None
        )
        for _, uri, symbol in ranked[:MOST]
    ]


def _distance(query: str, name: str) -> int:
    """Return the distance of a name from a query: equal, beginning with it, containing it, containing its letters."""
    if name == query:
        return 0
    return 1 if name.startswith(query) else 2 if query in name else 3


def _all(
    documents: Iterable[Document], folders: Iterable[str], files: WorkspaceFiles, encoding: str
) -> Iterator[tuple[str, list[Symbol]]]:
    """Yield the symbols of each document and file, by its URI."""
    open_paths = set()
    for document in documents:
        open_paths.add(document.path and os.path.realpath(document.path))
        yield document.uri, _symbols(document)
    for path in dict.fromkeys(path for folder in folders for path in _texts(folder)):
        uri = from_fs_path(os.path.abspath(path))
        if uri and os.path.realpath(path) not in open_paths:
            yield uri, files.symbols(path, encoding)


def _texts(folder: str) -> list[str]:
    try:
        return texts_below(folder)
    except OSError:
        return []


def _symbols(document: Document) -> list[Symbol]:
    root = document.reading.root if document.reading else _tree(document.text)
    return [
        symbol
        for function in symbols_in(root, document.range)
        for symbol in (
            Symbol(function.name, function.kind, function.selection_range, ""),
            *_inside(function, function.name),
        )
    ]


def _tree(text: str) -> Node:
    """Return the tree of a text, past its mistakes."""
    try:
        return parse_tree(text, whole=True).root
    except (ParseError, RecursionError):
        return tree_past(text) or NOTHING


def _inside(outer: lsp.DocumentSymbol, function: str) -> Iterator[Symbol]:
    todo = list(reversed(outer.children or ()))
    while todo:
        each = todo.pop()
        yield Symbol(each.name, each.kind, each.selection_range, function)
        todo += reversed(each.children or ())
