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
EVERY_GOLDEN = [path for path in sorted(GOLDEN.rglob("*.mil")) if path.stat().st_size < LONG]

ODD = {
    "empty": "",
    "a line ending alone": "\n",
    "astral characters": '// \U0001f600\nprogram(1.3)[a = string("\U0001f600 \\u{1f600}"), b = int32(1)] {}\n',
    "escapes of HTML": '/* <b>&amp;</b> */ program(1.3)[a = string("<\'>&lt;\\"")] {}\n',
    "no last line ending": "program(1.3) {} // end",
    "an open string": 'program(1.3)[a = string("open\n)] {}\n',
    "an open comment": "program(1.3) {} /* open\n * text\n",
    "closing marks alone": ")]}>;",
}
PAGES = ("highlight.js", "shiki", "rouge")
WHOLE = ("highlight.js", "rouge")
"""Of these, those that see a whole text at once: they know what is on the next line, as Pygments does."""


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


@pytest.mark.parametrize("name", WHOLE)
def test_a_page_colours_goldens_as_pygments_does(name: str, tmp_path: Path) -> None:
    assert_same_as_the_lexer(name, EVERY_GOLDEN, tmp_path)


@pytest.mark.parametrize("name", WHOLE)
def test_a_page_colours_crlf_as_pygments_does(name: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.mil" for number in range(2)]
    for path, source in zip(paths, (GOLDENS / "everything.mil", BROKEN), strict=True):
        path.write_bytes(source.read_bytes().replace(b"\n", b"\r\n"))
    assert_same_as_the_lexer(name, paths, tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_colours_odd_texts_as_pygments_does(name: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{case}.mil" for case in ODD]
    for path, text in zip(paths, ODD.values(), strict=True):
        path.write_bytes(text.encode())
    assert_same_as_the_lexer(name, paths, tmp_path)


def assert_same_as_the_lexer(name: str, paths: list[Path], scratch: Path) -> None:
    highlighter = HIGHLIGHTERS[name]
    if reason := highlighter.missing():
        pytest.skip(reason)
    found = highlighter.read(paths, scratch)
    for path, text, pieces in zip(paths, texts_of(paths), found, strict=True):
        assert differences(name, text, pieces) == [], path


def differences(name: str, text: str, pieces: list[Piece]) -> list[tuple[int, str, str]]:
    """Where a highlighter's class is not the lexer's: the offset, the lexer's class, and the highlighter's."""
    names = HIGHLIGHTERS[name].names
    read = ((start, names.get(token, ""), piece) for start, token, piece in MilLexer().get_tokens_unprocessed(text))
    both = zip(classes_of(text, read), classes_of(text, pieces), text, strict=True)
    return [(at, ours, theirs) for at, (ours, theirs, char) in enumerate(both) if ours != theirs and not char.isspace()]
