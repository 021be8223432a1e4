"""Renaming: every place of one value or function, and nothing else.

The edits are tried before they are sent: in the text that they make, every name must mean what it meant before, if it
meant anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.lsp.edits import workspace_edit
from miltext.lsp.reading import read_whole
from miltext.lsp.refusals import refusal
from miltext.parsing.locating import string_of
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.renaming import NAME
from miltext.syntax.literals import LiteralError, quote
from miltext.syntax.names import name_text
from miltext.syntax.tree import named, walk

if TYPE_CHECKING:
    from miltext.lsp.documents import View
    from miltext.lsp.scopes import Scopes, Value
    from miltext.syntax.tree import Node

Edit = tuple[int, int, str]


def prepare(view: View, params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
    """Return the name at a place, if it can be renamed."""
    found = view.scopes.at(view.offset(params.position))
    if found is None or found[1] is None:
        return None
    _require_whole(view)
    return lsp.PrepareRenamePlaceholder(view.range(found[0].start, found[0].end), found[0].text)


def rename(view: View, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """Return the edits that give the value or the function at a place another name.

    An operation's `name` that repeats the value's goes along. Refused are a name that is none, one that is taken where
    it would be seen, and a text that breaks off from the grammar, for names in it may be hidden.
    """
    found = view.scopes.at(view.offset(params.position))
    if found is None or found[1] is None:
        raise refusal("this is not the name of a value or a function")
    _require_whole(view)
    new, value = params.new_name, found[1]
    if name_text(new) != new:
        raise refusal(f"{quote(new)} is not a valid name: use letters, digits, `_` and `@`, but not a reserved word")
    _require_free(new, value)
    edits = sorted(set(_edits(value, new)))
    _require_same_meaning(view, edits, value, new)
    return workspace_edit(view, [lsp.TextEdit(view.range(start, end), text) for start, end, text in edits])


def _require_whole(view: View) -> None:
    if view.shift is not None or not view.reading.is_whole:
        raise refusal("the text has errors that may hide names; fix them first")


def _require_free(new: str, value: Value) -> None:
    if new == value.name.text:
        return
    if len(value.scope.values[value.name.text]) > 1:
        raise refusal(f"`{value.name.text}` is defined more than once here, so the intended one is unclear")
    for scope in chain(value.scope.around(), value.scope.inside()):
        if new in scope.values:
            raise refusal(f"`{new}` is taken")


def _edits(value: Value, new: str) -> Iterator[Edit]:
    for name in value.names:
        yield name.start, name.end, new
    for token in _repeated(value):
        if _says(token, value.name.text):
            yield token.start, token.end, quote(new)


def _says(token: Node, name: str) -> bool:
    """Whether a string is this name; one with an escape that no string has, which is an error elsewhere, is none."""
    try:
        return string_of(token) == name
    except LiteralError:
        return False


def _repeated(value: Value) -> Iterator[Node]:
    """Yield the strings that may repeat a value's name: its operation's `name`, and what notes inputs of flexible
    shapes.
    """
    if value.is_function:
        return
    phrase, key = (value.operation, NAME) if value.operation else (value.scope.phrase, ATTRIBUTE)
    for attributes in named(phrase, "attributes"):
        for attribute in named(attributes, "attribute"):
            if attribute.children[0].token == key:
                held = attribute.children[2]
                parts = held.children if key == NAME else walk(held)
                yield from (part for part in parts if part.name == "STRING")


def _require_same_meaning(view: View, edits: list[Edit], value: Value, new: str) -> None:
    text = view.text
    for start, end, replacement in reversed(edits):
        text = text[:start] + replacement + text[end:]
    after, meant = read_whole(text), _meaning(view.scopes)
    found = _meaning(after.scopes) if after else []
    same = len(found) == len(meant) and all(old in (None, now) for old, now in zip(meant, found, strict=True))
    if not same:
        raise refusal(f"with `{new}` in place of `{value.name.text}`, names would not mean what they do now")


def _meaning(scopes: Scopes) -> list[int | None]:
    """Of each name in the order of the text, which one defines it."""
    places = {name: place for place, (name, _) in enumerate(scopes.found)}
    return [places[value.name] if value else None for _, value in scopes.found]
