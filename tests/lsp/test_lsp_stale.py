"""Places of a reading in a later version of its document, at the end of the text above all."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

from lsprotocol import types as lsp

from miltext.diagnostics import Note, Span, codes, error
from miltext.lsp.diagnosing import moved
from miltext.lsp.documents import Document, View
from miltext.lsp.positions import Positions
from miltext.lsp.reading import NOTHING, Reading, read_whole

HEAD = "program(1.3) {\n  func main<ios18>(fp32 x) {\n  } -> (x);\n"

ENDS = {  # the end read, the end now, and the end of the read text in it
    "unedited": ("}", "}", "}"),
    "replaced by less": ("} // end", "};", "};"),
    "replaced by more": ("}", "]\n// more", "]\n// more"),
    "replaced by lines": ("// a\n}\n", "// b\n\n\n;", "// b\n\n\n;"),
    "replaced line end": ("}\n", "}\r\n", "}\r\n"),
    "replaced CRLF": ("}\r\n", "}\n", "}\n"),
    "CRLF replaced by a word": ("}\r\n", "}x", "}x"),
    "replaced beside equal text": ("ab}", "axy", "axy"),
    "replaced beyond the BMP": ("}", "😀é", "😀é"),
    "appended": ("}", "}\n// more", "}"),
    "appended CRLF": ("}", "}\r\n", "}"),
    "appended LF to CR": ("}\r", "}\r\n", "}\r"),
    "appended the same": ("}", "}}", "}"),
    "removed": ("}\n// more", "}", "}"),
    "removed LF of CRLF": ("}\r\n", "}\r", "}\r"),
    "inserted before": ("}", "// more\n}", "// more\n}"),
    "edited before": ("a }", "b }", "b }"),
}


def view_of(read: str, now: str) -> View:
    return View(Document("", 1, Positions(now)), read_whole(read) or Reading(read, NOTHING, [], is_whole=False))


@pytest.mark.parametrize(("read", "now", "end"), ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("start", [0, 13, len(HEAD)])
def test_a_stale_range_ends_with_the_text_at_its_end(read: str, now: str, end: str, start: int) -> None:
    view = view_of(HEAD + read, HEAD + now)
    assert view.range(start, len(HEAD + read)) == view.document.range(start, len(HEAD + end))


@pytest.mark.parametrize(("read", "now", "end"), ENDS.values(), ids=ENDS)
def test_a_moved_note_ends_with_the_text_at_its_end(read: str, now: str, end: str) -> None:
    notes = [Note("a note", Span(0, len(HEAD + read))), Note("without a place", None)]
    found = error(codes.SYNTAX_ERROR, "an error", Span(0, 7), *notes)
    [kept] = moved([found], HEAD + read, HEAD + now)
    assert [note.span for note in kept.notes] == [Span(0, len(HEAD + end)), None]


@pytest.mark.parametrize(("read", "now", "end"), [("", "", 0), ("", "new", 0), ("old", "", 0), ("old", "new", 3)])
def test_a_range_of_a_whole_text_ends_in_it(read: str, now: str, end: int) -> None:
    view = view_of(read, now)
    assert view.range(0, len(read)) == view.document.range(0, end)
    assert view.range(len(read), len(read)) == view.document.range(end, end)


def test_a_range_inside_a_replaced_end_is_where_it_begins() -> None:
    view = view_of(HEAD + "} // end", HEAD + "];")
    assert view.range(0, len(HEAD) + 3) == view.document.range(0, len(HEAD))
    assert view.range(0, 13) == lsp.Range(lsp.Position(0, 0), lsp.Position(0, 13))
