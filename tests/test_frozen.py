"""The texts of every release stay readable: tests/golden/frozen keeps some of each, and nothing rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GOLDEN, wire
from google.protobuf import text_format

from miltext import format_text, parse
from miltext.schema.proto import Program

TEXTS = sorted((GOLDEN / "frozen").glob("*/*.mil"))


def test_texts_of_a_release_exist() -> None:
    assert TEXTS


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_released_text_reads_as_it_did(path: Path) -> None:
    described = path.with_name(f"{path.name.split('.')[0]}.txtpb").read_text(encoding="utf-8")
    text = path.read_bytes().decode()
    assert wire(parse(text)) == wire(text_format.Parse(described, Program()))
    assert wire(parse(format_text(text))) == wire(parse(text))
