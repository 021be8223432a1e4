"""Requests that are refused: what the server does not do, it says."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException


def refusal(message: str) -> JsonRpcException:
    """Return an answer that the request cannot be met, with the reason, which the client shows."""
    return JsonRpcException(message, lsp.LSPErrorCodes.RequestFailed)


def superseded() -> JsonRpcException:
    """Return an answer that the text has changed since the request."""
    return JsonRpcException("the text has changed", lsp.LSPErrorCodes.ContentModified)
