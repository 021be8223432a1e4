"""Positions in lines and units against offsets: each encoding, ends of lines, places that are none, and edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.lsp.positions import Positions

ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
TEXTS = st.text(st.sampled_from("ab\n\ré😀\u2028\x85\x0b漢\ud800"), max_size=30)


@given(TEXTS, st.sampled_from(sorted(ENCODINGS)), st.data())
def test_an_offset_is_found_again(text: str, encoding: str, data: st.DataObject) -> None:
    positions = Positions(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    line, character = positions.position(offset)
    inside_end = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
    assert positions.offset(line, character) == offset - inside_end
    before = text[positions.starts[line] : offset - inside_end]
    assert len(before.encode(ENCODINGS[encoding], "surrogatepass")) == character * UNIT[encoding]


@given(TEXTS, st.sampled_from(sorted(ENCODINGS)), st.integers(0, 40), st.integers(0, 40))
def test_every_position_is_somewhere(text: str, encoding: str, line: int, character: int) -> None:
    positions = Positions(text, encoding)
    offset = positions.offset(line, character)
    assert 0 <= offset <= len(text)
    assert positions.position(offset) <= (line, character)


def test_lines_end_where_the_protocol_states() -> None:
    positions = Positions("a\r\nb\rc\nd\u2028e\x85f")
    assert positions.starts == [0, 3, 5, 7]
    assert [positions.line_end(line) for line in range(4)] == [1, 4, 6, 12]
    assert Positions("").offset(0, 0) == 0


@pytest.mark.parametrize(("character", "offset"), [(0, 0), (1, 1), (2, 1), (3, 2), (9, 3)])
def test_a_position_inside_a_pair_is_where_the_pair_begins(character: int, offset: int) -> None:
    assert Positions("a😀b\nc").offset(0, character) == offset
