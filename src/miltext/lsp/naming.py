"""Names: their definitions and uses, and renaming.

The edits of a rename are tried before they are sent: in the new text, every name that had a meaning must keep it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.building.editing import renaming
from miltext.lsp.client import request_failed
from miltext.lsp.imports import imported_text
from miltext.lsp.reading import read_whole
from miltext.syntax.editing import Edit, apart, proven
from miltext.syntax.literals import quote
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.lsp.documents import View
    from miltext.parsing.scopes import Meaning, Scope


def _value_at(view: View, position: lsp.Position) -> Meaning | None:
    """Return the meaning of the name at a position."""
    found = view.name_at(position)
    return found[1] if found else None


def definition(view: View, params: lsp.DefinitionParams | lsp.DeclarationParams) -> lsp.Location | None:
    """Return the place of the definition of the name at a place; of an imported text, its beginning."""
    phrases = view.chain(view.offset(params.position))
    model = next((each for each in reversed(phrases) if each.name == "imported"), None)
    if model is not None:
        path, start = imported_text(model, view.document.folder), lsp.Position(0, 0)
        return lsp.Location(path.absolute().as_uri(), lsp.Range(start, start)) if path else None
    value = _value_at(view, params.position)
    return lsp.Location(view.document.uri, view.range(value.name.start, value.name.end)) if value else None


def references(view: View, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    """Return the uses of the name at a place and, if requested, its definition."""
    value = _value_at(view, params.position)
    if value is None:
        return None
    names = value.names if params.context.include_declaration else sorted(value.uses)
    return [lsp.Location(view.document.uri, view.range(name.start, name.end)) for name in names]


def highlights(view: View, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight] | None:
    """Return all places of the name at a place: as written at its definition, and as read elsewhere."""
    value = _value_at(view, params.position)
    if value is None:
        return None
    kinds = {value.name: lsp.DocumentHighlightKind.Write}
    return [
        lsp.DocumentHighlight(view.range(name.start, name.end), kinds.get(name, lsp.DocumentHighlightKind.Read))
        for name in value.names
    ]


# ---- renaming


def prepare(view: View, params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
    """Return the name at a place, if it can be renamed."""
    found = view.name_at(params.position)
    if found is None or found[1] is None:
        return None
    _require_whole(view)
    return lsp.PrepareRenamePlaceholder(view.range(found[0].start, found[0].end), found[0].text)


def rename(view: View, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """Return the edits that rename the value or the function at a place.

    An operation's `name` that repeats the value's is renamed, too. Refuse an invalid name, a name defined in a scope
    where it would be visible, a name that would change other meanings, and a text that does not parse, for it may hide
    names.
    """
    new, value = params.new_name, _value_at(view, params.position)
    if value is None:
        raise request_failed("this is not the name of a value or a function")
    _require_whole(view)
    if name_text(new) != new:
        message = f"{quote(new)} is not a valid name: use letters, digits, `_` and `@`, but not a reserved word"
        raise request_failed(message)
    scopes = view.scopes.seeing(value)
    _require_free(new, value, scopes)
    noting = None if value.operation or value.is_function else scopes[0].phrase
    edits = [*renaming([(name, value) for name in value.names], new, noting)]
    _require_same_meaning(view, edits, value, new)
    return view.workspace_edit(apart(view.text, edits))


def _require_whole(view: View) -> None:
    if view.shift is not None or not view.reading.is_whole:
        raise request_failed("the text has errors that may hide names; fix them first")


def _require_free(new: str, value: Meaning, scopes: list[Scope]) -> None:
    old = value.name.text
    if new == old:
        return
    if len(scopes[0].values[old]) > 1:
        raise request_failed(f"`{old}` is defined more than once here, so the intended one is unclear")
    if any(new in scope.values for scope in (*scopes, *scopes[0].inside())):
        raise request_failed(f"`{new}` is already defined here; choose another name")


def _require_same_meaning(view: View, edits: list[Edit], value: Meaning, new: str) -> None:
    after, meant = read_whole(proven(view.text, edits)), view.scopes.meaning()
    found = after.scopes.meaning() if after else []
    if len(found) != len(meant) or any(old not in (None, now) for old, now in zip(meant, found, strict=True)):
        old = value.name.text
        raise request_failed(f"renaming `{old}` to `{new}` would change other names' meaning; choose another name")
