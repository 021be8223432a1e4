"""A check reports whatever is wrong with a text: every phrase of a draft, with each word and literal in it."""

from __future__ import annotations

import random
from itertools import groupby

import pytest
from support.grammar_phrases import Rule, nested, of_drafts, rules, shortest, statements, texts
from support.laws.checking import build_agrees, check_never_raises, first_error

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
def test_reserved_word_that_names_an_attribute_is_reported_once(word: str, literal: str) -> None:
    """It was a traceback where the value has no type, and hid all other findings from an editor."""
    around = "program(1.3) { func main<ios18>(fp16 x) { y = const()[%s = %s]; z = nope(x); } -> (x); }"
    found = miltext.check(around % (word, literal))
    [said] = [each for each in found if each.code == "MIL102"]
    assert said.message == f'`{word}` is a reserved word; as a name it is written `$"{word}"`'
    assert said.span == (around.index("%s"), around.index("%s") + len(word))
    assert any("nope" in each.message for each in found)
    typed = miltext.check(around % (word, "fp16(1)"))
    assert first_error(typed) == first_error(found)


def test_a_list_that_nests_too_deeply_is_reported_where_it_is() -> None:
    head, end = "program(1.3) { func main<ios18>(fp16 x) { y = add(x, ", "); z = nope(x); } -> (x); }"
    text = f"{head}{nested('1', 1500)}{end}"
    found = miltext.check(text)
    [said] = [each for each in found if each.code == "MIL006"]
    assert said.span is not None
    assert text[said.span.start] == "["


def at_depth(calls: int, text: str) -> object:
    """Return the first error of a text to a caller that is in so many calls."""
    return at_depth(calls - 1, text) if calls else first_error(miltext.check(text))


@pytest.mark.parametrize("depth", [100, 260, 300, 990])
@pytest.mark.parametrize("literal", ['$blob("w", 64)', '$npy("a.npy")', "1", "x"])
def test_the_place_of_a_deep_list_does_not_depend_on_the_caller(literal: str, depth: int) -> None:
    """`infer` and `build`, which ask from a call further in, said it of another bracket."""
    text = statement(f"y = const()[val = {nested(literal, depth)}]; z = add(x, y);")
    assert len({at_depth(calls, text) for calls in (0, 1, 2, 3, 50, 200)}) == 1
    check_never_raises(text)


def statement(written: str) -> str:
    return f"program(1.3) {{ func main<ios18>(tensor<fp16, [2]> x, bool p) {{ {written} }} -> (x); }}"


@pytest.mark.parametrize("after", ["y = relu(x)", "y = add(x, 1)", "y = relu(relu(x))"])
@pytest.mark.parametrize("quote", ['x"', '"x', 'x" ', '" ,'])
def test_an_open_string_is_reported_in_the_drafts_words(quote: str, after: str) -> None:
    """What is found is quoted as it is written, without the parameters that elaboration puts in."""
    text = f'program(1.3) {{ func main<ios18>(tensor<fp16, [2]> {quote}) {{ {after}[name = "y"]; }} -> (x); }}'
    said = [each.message for each in miltext.check(text)]
    assert not [each for each in said if "x = " in each]
    check_never_raises(text)


BROKEN = (
    *(
        "y = relu(x)",
        "y = relu(x = x);;",
        "tensor<fp16, [3]> y = relu(x = x); } }",
        "fp16 tensor fp16 y = relu(x = x);",
    ),
    *("tensor<fp16, [3]> y = relu(x = x); z = nope(x);", "tensor<fp16, [3]> y = relu(x = x); z = add(x, ;"),
    *("bool q = relu(x = x); y = an_op(x = x)", "let y = relu(x); } -> y", "y = q; z = q.relu()", "y = relu(string);"),
    'fp16 y = const()[val = fp16(BLOBFILE(path = string("w.bin"), offset = uint64(64)))]; z = add(x = y, y = p);',
    *(
        "tensor<fp16, [2]> y = relu(x = missing);",
        "tensor<fp16, [2]> x = relu(x = x);",
        "state<tensor<fp16, [2]>> s = f();",
    ),
)
"""Statements of which `build` said another mistake first than `check`, or of a model before those of the text."""


ELIDED = 'tensor<fp16, [2]>($elided(2, "sha256:6ca8"))'
LEFT_OUT = (
    f"tensor<fp16, [2]> y = add(x = x, y = {ELIDED});",
    f"tensor<fp16, [2]> w = const()[val = {ELIDED}]; tensor<fp16, [2]> y = add(x = w, y = {ELIDED});",
    f"w = add(x, {ELIDED}); y = add(w, {ELIDED});",
    f"y = cond(p) () {{ a = add(x, {ELIDED}); }} -> (a) () {{ b = relu(x); }} -> (b);",
    f"tensor<fp16, [2]> q = an_op(x = x); tensor<fp16, [2]> y = an_op(x = q, y = {ELIDED});",
    f"tensor<fp16, [3]> y = add(x = x, y = {ELIDED});",
    f"tensor<fp16, [2]> y = add(x = x, y = {ELIDED})",
    'y = add(x, $elided(2, "sha256:6ca8"));',
)
"""Statements with values that the text leaves out: a note to a check, for which `build` has no value."""


@pytest.mark.parametrize("written", [*BROKEN, *LEFT_OUT, ""])
@pytest.mark.parametrize("after", ["", "y2 = relu(x);", "tensor<fp16, [2]> y2 = relu(x = x);", "fp32 w = relu(x = x);"])
@pytest.mark.parametrize("opset", ["ios18", "ios17", "none"])
def test_build_refuses_a_text_for_the_first_error_of_a_check(written: str, after: str, opset: str) -> None:
    build_agrees(statement(f"{written} {after}").replace("ios18", opset))
    build_agrees(statement(f"{after} {written}").replace("ios18", opset))
    build_agrees(statement(f"{written} {after}").replace("-> (x)", "-> (y, nope)"))


@pytest.mark.parametrize("written", SHALLOW[::3], ids=lambda texts: texts[0][72:100])
def test_build_and_check_agree_on_statements_of_a_draft(written: list[str]) -> None:
    for text in random.Random(0).sample(written, min(len(written), 12)):
        build_agrees(text)
