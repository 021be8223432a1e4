"""Each editor's own engine highlights our texts as the parser reads them, and others as the lexer does."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CORPUS, GOLDEN
from pygments.token import Error
from support.highlighters import HIGHLIGHTERS, texts_of
from support.token_roles import Piece, classes_of, contradictions

from miltext.highlight import MilLexer

GOLDENS = GOLDEN / "highlight"
FOLDERS = ("apple", "handwritten", "runtime_dumps")
LONG = 1 << 17
"""Bytes of a text that editors take too long to read."""

PARSED = [
    GOLDENS / "everything.mil",
    GOLDENS / "short.mil",
    *(path for folder in FOLDERS for path in sorted(CORPUS.glob(f"{folder}/*.mil")) if path.stat().st_size < LONG),
]
REJECTED = sorted(CORPUS.glob("rejected/*.mil"))
BROKEN = GOLDENS / "broken.mil"


@pytest.mark.parametrize("name", HIGHLIGHTERS)
def test_an_editor_reads_a_text_as_we_do(name: str, tmp_path: Path) -> None:
    highlighter = HIGHLIGHTERS[name]
    if reason := highlighter.missing():
        pytest.skip(reason)
    paths = [*PARSED, *REJECTED, BROKEN]
    texts, found = texts_of(paths), highlighter.read(paths, tmp_path)
    for path, text, pieces in zip(paths, texts, found, strict=True):
        if path in PARSED:
            assert contradictions(text, pieces, highlighter.names) == [], path.name
        else:
            assert differences(name, text, pieces) == [], path.name
        errors = [piece for piece in pieces if piece[1] == highlighter.names[Error]]
        assert bool(errors) == (path is BROKEN), errors


def differences(name: str, text: str, pieces: list[Piece]) -> list[tuple[int, str, str]]:
    """Where a highlighter's class is not the lexer's: the offset, the lexer's class, and the highlighter's."""
    names = HIGHLIGHTERS[name].names
    read = ((start, names.get(token, ""), piece) for start, token, piece in MilLexer().get_tokens_unprocessed(text))
    both = zip(classes_of(text, read), classes_of(text, pieces), text, strict=True)
    return [(at, ours, theirs) for at, (ours, theirs, char) in enumerate(both) if ours != theirs and not char.isspace()]
