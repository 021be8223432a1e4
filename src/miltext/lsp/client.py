"""The client: its abilities to handle answers, and its errors."""

from __future__ import annotations

from typing import NamedTuple

from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException

_ITEM = "text_document.completion.completion_item"


class Abilities(NamedTuple):
    """`snippets`: fill in the open parts of a completion; `documentation`: show Markdown beside a completion;
    `markdown`: show it elsewhere; `versions`: refuse edits for another version of a document.

    The defaults are for a client that declares nothing.
    """

    snippets: bool = False
    documentation: bool = False
    markdown: bool = True
    versions: bool = False

    @classmethod
    def of(cls, client: lsp.ClientCapabilities) -> Abilities:
        """Return the abilities that a client declares; Markdown in hovers is assumed without a declaration."""
        shown = get_capability(client, "text_document.hover.content_format", None)
        return cls(
            bool(get_capability(client, f"{_ITEM}.snippet_support", False)),
            lsp.MarkupKind.Markdown in (get_capability(client, f"{_ITEM}.documentation_format", None) or ()),
            shown is None or lsp.MarkupKind.Markdown in shown,
            bool(get_capability(client, "workspace.workspace_edit.document_changes", False)),
        )

    def markup(self, markdown: str) -> lsp.MarkupContent:
        """Return a text in the client's form: without Markdown's fences and quotes, if it does not know these."""
        if self.markdown:
            return lsp.MarkupContent(lsp.MarkupKind.Markdown, markdown)
        return lsp.MarkupContent(lsp.MarkupKind.PlainText, plain(markdown))

    def documented(self, markdown: str) -> lsp.MarkupContent | str:
        """Return a text in the client's form, for display beside a completion."""
        return lsp.MarkupContent(lsp.MarkupKind.Markdown, markdown) if self.documentation else plain(markdown)


def plain(markdown: str) -> str:
    """Return miltext's Markdown without its fences and quotes."""
    lines = [line for line in markdown.splitlines() if not line.startswith("```")]
    return "\n".join(lines).replace("`", "")


def request_failed(message: str) -> JsonRpcException:
    """Return the error for a request that cannot be met, with the reason, which the client shows."""
    return JsonRpcException(message, lsp.LSPErrorCodes.RequestFailed)


def content_modified() -> JsonRpcException:
    """Return the error for a text that has changed since the request."""
    return JsonRpcException("the text has changed", lsp.LSPErrorCodes.ContentModified)
