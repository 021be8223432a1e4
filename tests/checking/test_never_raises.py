"""A check reports whatever is wrong with a text: every phrase of a draft, with each word and literal in it."""

from __future__ import annotations

import random
from itertools import groupby

import pytest
from support.grammar_phrases import Rule, nested, of_drafts, rules, shortest, statements, texts
from support.laws.checking import check_never_raises, first_error

import miltext

DEEP = (986, 990, 1500, 1985, 1999)
"""How deep lists nest where Python's calls, protobuf or the parser end."""


def test_the_grammar_is_covered() -> None:
    """What is written of each symbol is read as that: no rule is left without a text."""
    covered = {rule.callback for rule in of_drafts()}
    assert {"draft_marker", "draft_value", "draft_binding", "draft_attribute", "positional_argument"} <= covered
    assert all(symbol in shortest() for rule in rules() for symbol in rule.symbols)


@pytest.mark.parametrize("rule", of_drafts(), ids=lambda rule: f"{rule.callback}:{'_'.join(rule.symbols)}"[:60])
def test_any_phrase_of_a_draft_is_checked(rule: Rule) -> None:
    for text in texts(rule, (1, 3)):
        check_never_raises(text)


SHALLOW = [[*each] for _, each in groupby(statements((2,)), key=lambda text: text[: text.index("bool p") + 16])]


@pytest.mark.parametrize("written", SHALLOW, ids=lambda texts: texts[0][72:100])
def test_any_statement_of_a_draft_is_checked(written: list[str]) -> None:
    for text in written:
        check_never_raises(text)


@pytest.mark.parametrize("depth", DEEP)
def test_a_list_of_any_depth_is_checked(depth: int) -> None:
    deep = [text for text in statements((depth,)) if len(text) > depth]
    for text in random.Random(depth).sample(deep, 8):
        check_never_raises(text)


@pytest.mark.parametrize("literal", ["0.5", "[1]", '"s"', "true"])
@pytest.mark.parametrize("word", ["fp16", "bool", "tensor", "true", "state"])
def test_a_reserved_word_that_names_an_attribute_is_reported_once(word: str, literal: str) -> None:
    """It was a traceback where the value has no type, and hid all other findings from an editor."""
    around = "program(1.3) { func main<ios18>(fp16 x) { y = const()[%s = %s]; z = nope(x); } -> (x); }"
    found = miltext.check(around % (word, literal))
    [said] = [each for each in found if each.code == "MIL102"]
    assert said.message == f'`{word}` is a reserved word; as a name it is written `$"{word}"`'
    assert said.span == (around.index("%s"), around.index("%s") + len(word))
    assert any("nope" in each.message for each in found)
    typed = miltext.check(around % (word, "fp16(1)"))
    assert first_error(typed) == first_error(found)


def test_a_list_that_nests_too_deeply_is_reported_where_it_stands() -> None:
    head, end = "program(1.3) { func main<ios18>(fp16 x) { y = add(x, ", "); z = nope(x); } -> (x); }"
    text = f"{head}{nested('1', 1500)}{end}"
    found = miltext.check(text)
    [said] = [each for each in found if each.code == "MIL006"]
    assert said.span is not None
    assert text[said.span.start] == "["
