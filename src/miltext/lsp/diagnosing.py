"""The results of a check of a text: diagnostics, and the edits that they suggest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from miltext.advisories.requested import requested
from miltext.checking.fixing import edit_of
from miltext.diagnostics import SAFE, Diagnostic, MiltextError, SettingsError, Span, codes, line_and_column
from miltext.diagnostics.codes import page
from miltext.diagnostics.option_words import found_by_command
from miltext.lsp.documents import shown_at
from miltext.placement.findings import requested_profile
from miltext.settings.project import settings_of
from miltext.syntax.editing import apart, between

if TYPE_CHECKING:
    from miltext.checking.further import Further
    from miltext.lsp.documents import Document, View
    from miltext.syntax.editing import Edit

SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


def moved(found: Iterable[Diagnostic], old: str, new: str) -> list[Diagnostic]:
    """Return the diagnostics of the text `old`, at their places in `new`, except for places that an edit between them
    touched.
    """
    shift = between(old, new)
    place = partial(shown_at, shift, old)
    kept = ((each, each.span and shift.untouched(each.span)) for each in found)
    return [
        each._replace(
            span=span,
            notes=tuple(note._replace(span=note.span and Span(*map(place, note.span))) for note in each.notes),
        )
        for each, span in kept
        if span or each.span is None
    ]


def selected(uri: str, found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics that a document's project selects: none for an excluded file.

    Invalid settings are reported first, and leave nothing out.
    """
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path is None:
        return found
    try:
        settings = settings_of(path)
    except SettingsError as failure:
        [refused] = failure.diagnostics
        place = f"{failure.path}:"
        if refused.span is not None and failure.text is not None:
            place += f"{line_and_column(failure.text, refused.span.start)[0]}:"
        return [refused._replace(message=f"{place} {refused.message}", span=None, suggestion=None), *found]
    selection = settings.selection(path)
    return [] if settings.excludes(path) else selection.chosen(found)


def further(path: str | None) -> list[Further]:
    """Return the checks for advisories, rules and a profile that the project of a text chooses; none for invalid
    settings.
    """
    try:
        settings = None if path is None else settings_of(path)
    except SettingsError:  # `selected` reports it
        settings = None
    if settings is None:
        return []
    return [each for each in (requested(settings), requested_profile(settings)) if each is not None]


def sent(document: Document) -> list[lsp.Diagnostic]:
    """Return the diagnostics of a document in the client's form."""
    return [_sent(document, diagnostic) for diagnostic in document.checked or ()]


def _sent(document: Document, diagnostic: Diagnostic) -> lsp.Diagnostic:
    [diagnostic] = found_by_command([diagnostic])
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(document.uri, document.range(*note.span)), note.message)
        for note in diagnostic.notes
        if note.span is not None
    ]
    return lsp.Diagnostic(
        document.range(*diagnostic.span or (0, 0)),
        "\n".join([diagnostic.message, *(note.message for note in diagnostic.notes if note.span is None)]),
        severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=lsp.CodeDescription(f"{page().as_uri()}#{diagnostic.code.lower()}"),
        source="miltext",
        related_information=related or None,
        data={"suggestion": diagnostic.suggestion} if diagnostic.suggestion is not None else None,
    )


# ---- code actions


def code_actions(view: View, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Return the edits that fix the diagnostics in a range, and for a draft the edit that writes out all its types."""
    wanted = params.context.only
    if wanted is None or any(kind in ("", lsp.CodeActionKind.QuickFix) for kind in wanted):
        return list(_actions(view, view.document.span(params.range)))
    return []


def _actions(view: View, chosen: Span) -> Iterator[lsp.CodeAction]:
    text = view.document.text
    for diagnostic in view.document.checked or ():
        span, suggestion = diagnostic.span, diagnostic.suggestion
        if span is None or span.start > chosen.end or span.end < chosen.start:
            continue
        if suggestion is not None:
            title = f"Change to `{suggestion}`" if suggestion else "Remove it"
            [edit] = apart(text, [edit_of(text, diagnostic)])
            yield _action(view, diagnostic, title, edit)
        elif diagnostic.code == codes.DRAFT and (whole := _inferred(text, view.document.path)) is not None:
            yield _action(view, diagnostic, "Write all types out", (0, len(text), whole))


def _action(view: View, diagnostic: Diagnostic, title: str, edit: Edit) -> lsp.CodeAction:
    return lsp.CodeAction(
        title,
        lsp.CodeActionKind.QuickFix,
        [_sent(view.document, diagnostic)],
        is_preferred=diagnostic.suggestion is not None and diagnostic.applicability == SAFE,
        edit=view.workspace_edit([edit]),
    )


def _inferred(text: str, path: str | None = None) -> str | None:
    """Return a draft completed; None if it cannot be."""
    from miltext.drafting.draft import infer_draft

    try:
        return infer_draft(text, path=path)
    except MiltextError:
        return None
