"""Diagnostics: what `miltext check` says of a text, as clients show it, and the edits that its suggestions make."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.diagnostics import Diagnostic, MiltextError, error
from miltext.diagnostics.codes import page
from miltext.lsp.documents import Document, offset_of
from miltext.lsp.edits import workspace_edit
from miltext.lsp.positions import Shift

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.lsp.documents import View

SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}

DRAFT_NOTICE = "MIL712"


def checked(text: str) -> list[Diagnostic]:
    """Return what checking finds; where it fails itself, that."""
    from miltext.checking.verifier import check

    try:
        return check(text)
    except Exception as failure:  # whatever it is, the server lives on and says so
        logging.getLogger("miltext").exception("checking failed")
        return [error("MIL900", f"internal error: the check failed: {type(failure).__name__}: {failure}")]


def moved(found: Iterable[Diagnostic], old: str, new: str) -> list[Diagnostic]:
    """Return what was found of the text `old`, at its places in `new`; what the edits between them touched is
    left out.
    """
    shift = Shift.between(old, new)
    return [
        diagnostic._replace(
            span=shift.span(diagnostic.span),
            notes=tuple(note._replace(span=shift.span(note.span)) for note in diagnostic.notes),
        )
        for diagnostic in found
        if diagnostic.span is None or not shift.touches(diagnostic.span)
    ]


def sent(document: Document) -> list[lsp.Diagnostic]:
    """Return the diagnostics of a document as the client takes them."""
    return [_sent(document, diagnostic) for diagnostic in document.checked or ()]


def _sent(document: Document, diagnostic: Diagnostic) -> lsp.Diagnostic:
    placed = [(note.message, note.span) for note in diagnostic.notes]
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(document.uri, _range(document, span)), message)
        for message, span in placed
        if span is not None
    ]
    message = "\n".join([diagnostic.message, *(message for message, span in placed if span is None)])
    return lsp.Diagnostic(
        _range(document, diagnostic.span),
        message,
        severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=lsp.CodeDescription(f"{page().as_uri()}#{diagnostic.code.lower()}"),
        source="miltext",
        related_information=related or None,
        data={"suggestion": diagnostic.suggestion} if diagnostic.suggestion is not None else None,
    )


def _range(document: Document, span: Span | None) -> lsp.Range:
    start, end = (span.start, span.end) if span else (0, 0)
    return lsp.Range(lsp.Position(*document.positions.position(start)), lsp.Position(*document.positions.position(end)))


# ---- code actions


def code_actions(view: View, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Return the edits that fix the diagnostics in a range, and for a draft the one that writes all its types."""
    only = params.context.only
    if only is not None and not any(_is_quick_fix(kind) for kind in only):
        return []
    return list(_actions(view, params.range))


def _is_quick_fix(kind: str) -> bool:
    return kind in ("", lsp.CodeActionKind.QuickFix.value)


def _actions(view: View, range: lsp.Range) -> Iterator[lsp.CodeAction]:
    document = view.document
    start, end = sorted(offset_of(document.positions, place) for place in (range.start, range.end))
    for diagnostic in document.checked or ():
        span = diagnostic.span
        if span is None or span.start > end or span.end < start:
            continue
        if diagnostic.suggestion is not None:
            edit = lsp.TextEdit(_range(document, span), diagnostic.suggestion)
            yield _action(view, diagnostic, f"Change to `{diagnostic.suggestion}`", edit)
        elif diagnostic.code == DRAFT_NOTICE and (whole := _inferred(document.text)) is not None:
            everything = lsp.Range(lsp.Position(0, 0), lsp.Position(*document.positions.position(len(document.text))))
            yield _action(view, diagnostic, "Write all types out", lsp.TextEdit(everything, whole))


def _action(view: View, diagnostic: Diagnostic, title: str, edit: lsp.TextEdit) -> lsp.CodeAction:
    return lsp.CodeAction(
        title,
        lsp.CodeActionKind.QuickFix,
        [_sent(view.document, diagnostic)],
        is_preferred=diagnostic.suggestion is not None,
        edit=workspace_edit(view, [edit]),
    )


def _inferred(text: str) -> str | None:
    """Return a draft made whole; None where that cannot be done."""
    from miltext.checking.verifier import infer_draft

    try:
        return infer_draft(text)
    except MiltextError:
        return None
