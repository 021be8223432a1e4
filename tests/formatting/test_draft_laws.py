"""Any draft in the short spelling: it is laid out once and for all, keeps its comments, and stands for one program."""

from __future__ import annotations

import pytest
from conftest import wire
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drafts import Draft, drafts
from support.gaps import FORMS, commented, tokens

import miltext
from miltext.parsing.parser import parse_tree
from miltext.printing.renaming import rename_values


def meaning(text: str) -> bytes:
    """The wire of a program whose values are called by what makes them."""
    program = miltext.parse(text)
    rename_values(program)
    return wire(program)


def comments(text: str) -> list[str]:
    return ["".join(text[span.start : span.end].split()) for span in parse_tree(text).comments]


@pytest.mark.any_version
@settings(max_examples=60)
@given(drafts())
def test_a_draft_is_the_program_that_it_means(draft: Draft) -> None:
    whole = miltext.infer_draft(draft.short)
    assert whole == miltext.infer_draft(draft.short) == miltext.infer_draft(whole) == miltext.format_text(whole)
    assert meaning(whole) == meaning(draft.long)
    assert miltext.check(whole) == miltext.check(miltext.format_text(draft.long)) == []


@pytest.mark.any_version
@settings(max_examples=60)
@given(drafts(), st.data())
def test_a_draft_is_laid_out_with_its_comments(draft: Draft, data: st.DataObject) -> None:
    gaps = data.draw(st.lists(st.integers(0, len(tokens(draft.short))), max_size=5, unique=True))
    crowded = commented(draft.short, {gap: data.draw(st.sampled_from(FORMS)) for gap in gaps})
    for width in (None, 60):
        formatted = miltext.format_text(crowded, width=width)
        assert miltext.format_text(formatted, width=width) == formatted
        assert sorted(comments(formatted)) == sorted(comments(crowded))
        written = miltext.infer_draft(formatted)
        assert meaning(written) == meaning(draft.long)
        assert sorted(comments(written)) == sorted(comments(crowded))
