"""Edits of a document, as clients apply them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.lsp.documents import View


def workspace_edit(view: View, edits: Sequence[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    """Edits of the very version that they were made for; for a client that knows no versions, of the document."""
    if not view.client.versions:
        return lsp.WorkspaceEdit(changes={view.document.uri: edits})
    document = lsp.OptionalVersionedTextDocumentIdentifier(view.document.uri, view.document.version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, list(edits))])
