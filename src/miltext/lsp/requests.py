"""The requests that are served, in one table: who answers which, and what the client is told of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lsprotocol import types as lsp

from miltext.lsp import (
    completion,
    diagnosing,
    formatting,
    hover,
    inlay_hints,
    navigation,
    outline,
    renaming,
    semantic_tokens,
    signature_help,
)


class Request(NamedTuple):
    """A request: `answer` takes a View and the request's parameters.

    `waits` for a reading of the very text; else that of an earlier version will do. What may take long is done in a
    thread, so that other requests need not wait for it.
    """

    method: str
    answer: Callable[[Any, Any], Any]
    options: Any = None
    waits: bool = True
    is_long: bool = False


REQUESTS = (
    Request(lsp.TEXT_DOCUMENT_CODE_ACTION, diagnosing.code_actions, is_long=True),
    Request(lsp.TEXT_DOCUMENT_COMPLETION, completion.complete, completion.OPTIONS, waits=False),
    Request(lsp.TEXT_DOCUMENT_DECLARATION, navigation.definition),
    Request(lsp.TEXT_DOCUMENT_DEFINITION, navigation.definition),
    Request(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, navigation.highlights),
    Request(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, outline.symbols, is_long=True),
    Request(lsp.TEXT_DOCUMENT_FOLDING_RANGE, outline.folding, is_long=True),
    Request(lsp.TEXT_DOCUMENT_FORMATTING, formatting.format_document, is_long=True),
    Request(lsp.TEXT_DOCUMENT_HOVER, hover.hover, is_long=True),
    Request(lsp.TEXT_DOCUMENT_INLAY_HINT, inlay_hints.inlay_hints, is_long=True),
    Request(lsp.TEXT_DOCUMENT_PREPARE_RENAME, renaming.prepare),
    Request(lsp.TEXT_DOCUMENT_RANGE_FORMATTING, formatting.format_range, is_long=True),
    Request(lsp.TEXT_DOCUMENT_REFERENCES, navigation.references),
    Request(lsp.TEXT_DOCUMENT_RENAME, renaming.rename, is_long=True),
    Request(lsp.TEXT_DOCUMENT_SELECTION_RANGE, outline.selections),
    Request(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, semantic_tokens.tokens, semantic_tokens.LEGEND, is_long=True),
    Request(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, semantic_tokens.tokens_in_range, semantic_tokens.LEGEND, is_long=True
    ),
    Request(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, signature_help.signature_help, signature_help.OPTIONS, waits=False),
)
