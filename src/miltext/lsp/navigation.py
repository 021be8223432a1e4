"""Where a name is defined and where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from miltext.lsp.documents import View
    from miltext.lsp.scopes import Value


def value_at(view: View, position: lsp.Position) -> Value | None:
    """Return what the name at a position means."""
    found = view.scopes.at(view.offset(position))
    return found[1] if found else None


def definition(view: View, params: lsp.DefinitionParams | lsp.DeclarationParams) -> lsp.Location | None:
    """Where the name at a place is defined."""
    value = value_at(view, params.position)
    return view.location(value.name.start, value.name.end) if value else None


def references(view: View, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    """Where the name at a place is used and, if asked for, defined."""
    value = value_at(view, params.position)
    if value is None:
        return None
    names = value.names if params.context.include_declaration else sorted(value.uses)
    return [view.location(name.start, name.end) for name in names]


def highlights(view: View, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight] | None:
    """Return the name at a place wherever it stands: as it is written where it is defined, and read elsewhere."""
    value = value_at(view, params.position)
    if value is None:
        return None
    kinds = {value.name: lsp.DocumentHighlightKind.Write}
    return [
        lsp.DocumentHighlight(view.range(name.start, name.end), kinds.get(name, lsp.DocumentHighlightKind.Read))
        for name in value.names
    ]
