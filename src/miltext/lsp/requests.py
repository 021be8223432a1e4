"""The requests about a document, in one table: the method of each, the function that answers it, and its options.

`server` itself registers `completionItem/resolve`, `workspace/symbol` and `shutdown`, which are not about a document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types as lsp

from miltext.lsp import completion, diagnosing, folding, formatting, hints, hover, naming, semantic_tokens, symbols

if TYPE_CHECKING:
    from miltext.lsp.documents import View


class Request(NamedTuple):
    """A request: `answer` takes a View and the request's parameters, of the method's type in the protocol.

    A request that `waits` needs a reading of the current text; for others, a reading of an earlier version is enough. A
    request that `is_long` is answered in a thread, so that others need not wait for it.
    """

    method: str
    answer: Callable[[View, Any], Any]
    options: object = None
    waits: bool = True
    is_long: bool = False


TOKENS, TOKENS_IN_RANGE = lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE

REQUESTS = (
    Request(lsp.TEXT_DOCUMENT_CODE_ACTION, diagnosing.code_actions, is_long=True),
    Request(lsp.TEXT_DOCUMENT_COMPLETION, completion.complete, completion.OPTIONS, waits=False),
    Request(lsp.TEXT_DOCUMENT_DECLARATION, naming.definition),
    Request(lsp.TEXT_DOCUMENT_DEFINITION, naming.definition),
    Request(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, naming.highlights),
    Request(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, symbols.symbols, is_long=True),
    Request(lsp.TEXT_DOCUMENT_FOLDING_RANGE, folding.folding, is_long=True),
    Request(lsp.TEXT_DOCUMENT_FORMATTING, formatting.format_document, is_long=True),
    Request(lsp.TEXT_DOCUMENT_HOVER, hover.hover, is_long=True),
    Request(lsp.TEXT_DOCUMENT_INLAY_HINT, hints.inlay_hints, is_long=True),
    Request(lsp.TEXT_DOCUMENT_PREPARE_RENAME, naming.prepare),
    Request(lsp.TEXT_DOCUMENT_RANGE_FORMATTING, formatting.format_range, is_long=True),
    Request(lsp.TEXT_DOCUMENT_REFERENCES, naming.references),
    Request(lsp.TEXT_DOCUMENT_RENAME, naming.rename, is_long=True),
    Request(lsp.TEXT_DOCUMENT_SELECTION_RANGE, folding.selections),
    Request(TOKENS, semantic_tokens.tokens, semantic_tokens.LEGEND, is_long=True),
    Request(TOKENS_IN_RANGE, semantic_tokens.tokens_in_range, semantic_tokens.LEGEND, is_long=True),
    Request(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, completion.signature_help, completion.SIGNATURE_OPTIONS, waits=False),
)
