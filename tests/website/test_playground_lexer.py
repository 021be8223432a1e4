"""The playground's editor gives each character the class that miltext's own lexer gives it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT
from pygments.token import Whitespace

from miltext.highlight import MilLexer

sys.path.insert(0, str(ROOT))

from website.playground.highlighting import rules, shown_class

LEXER = ROOT / "website" / "playground" / "page" / "lexer.js"


def expected(text: str) -> list[str]:
    """The classes of the characters of each line, as Pygments has them."""
    marks = ""
    for _, token, piece in MilLexer().get_tokens_unprocessed(text):
        mark = " " if token is Whitespace else shown_class(token) or " "
        marks += "".join("\n" if char == "\n" else mark for char in piece)
    return marks.split("\n")


def test_the_editor_highlights_as_our_lexer_does() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    files = {path: path.read_bytes().decode(errors="replace") for path in sorted(GOLDEN.rglob("*.mil"))}
    texts = {path: text for path, text in files.items() if "\r" not in text and len(text) < 5000}
    assert len(texts) > 200
    script = Path(__file__).with_name("playground_lexer.mjs")
    asked = json.dumps({"rules": rules(), "texts": [*texts.values()]})
    done = subprocess.run(["node", script, LEXER.as_uri()], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for (path, text), made in zip(texts.items(), json.loads(done.stdout), strict=True):
        assert made == expected(text), path
