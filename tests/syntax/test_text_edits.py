"""Edits of texts: each change stands alone, whatever it touches; the places of both texts correspond."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.gaps import FORMS, commented, tokens

import miltext
from miltext.building.editing import expose, rename
from miltext.checking.fixing import applied, mend
from miltext.containers.opening import read_model
from miltext.diagnostics import Diagnostic, MiltextError, Span
from miltext.extraction.extracting import part_text
from miltext.merging.conflicts import Markers
from miltext.merging.merging import merge_texts
from miltext.parsing.parser import parse_tree
from miltext.syntax.editing import apart, between, edited, proven
from miltext.syntax.lexer import END, FINE, lexer
from miltext.syntax.literals import quote
from miltext.syntax.names import name_text

NAMES = ["v", "c/0", "a b", "fp16", "func", "0", "é", 'say "hi"', "_"]
"""An identifier, others that need quotes, words of the language, and what stands for a type in a draft."""

TEMPLATE = """\
program(1.3)
{
    func main<ios18>(fp16 VALUE, tensor<fp16, [2]> x) [FlexibleShapeInformation = tuple<string>((TEXT))] {
            fp16 first = mul(x = VALUE, y = fp16(2));
            tensor<fp16, [2]> both = stack(axis = int32(0), values = (VALUE, first))[KEY = string("both")];
        } -> (VALUE, both);
    func made<ios18>(fp16 x, bool p) {
            fp16 VALUE = relu(x = x)[KEY = string(TEXT)];
            fp16 z = cond(pred = p) () { fp16 w = relu(x = VALUE); } -> (w) () { } -> (VALUE);
        } -> (z);
}
"""


def text_of(name: str, *, quoted: bool) -> str:
    """The template with a value of a name; if `quoted`, names that need no quotes have them, keys too."""
    spelled, key = (f"${quote(name)}", '$"name"') if quoted else (name_text(name), "name")
    return TEMPLATE.replace("VALUE", spelled).replace("TEXT", quote(name)).replace("KEY", key)


@cache
def words(text: str) -> list[str]:
    return [word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != END]


def tight(text: str) -> str:
    """A text without a blank where none is needed: `fp16$"c/0"=relu(`."""
    made = ""
    for word in words(text):
        joins = re.match(r"[-+.\w@]", word) and re.search(r"[-+.\w@]\Z", made)
        made += f" {word}" if joins else word
        made += "\n" if word.startswith("//") else ""
    assert words(made) == words(text)
    return made


LAYOUTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "tight": tight,
    "windows": lambda text: text.replace("\n", "\r\n"),
    "comments": lambda text: commented(text, {gap: FORMS[gap % len(FORMS)] for gap in range(len(tokens(text)) + 1)}),
    "tight comments": lambda text: commented(tight(text), dict.fromkeys(range(len(tokens(text)) + 1), "/* %d */")),
    "line comments": lambda text: commented(text, dict.fromkeys(range(len(tokens(text)) + 1), "//%d (\r\n")),
}


def comments(text: str) -> list[str]:
    return [text[slice(*span)] for span in parse_tree(text).comments]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(("old", "new"), [*pairwise([*NAMES, NAMES[0]]), *pairwise([*NAMES, NAMES[0]][::-2])])
def test_a_rename_has_the_findings_of_the_new_name(old: str, new: str, quoted: bool, layout: str) -> None:
    text = LAYOUTS[layout](text_of(old, quoted=quoted))
    made = rename(text, old, new, any_name=True)
    assert miltext.parse(made) == miltext.parse(text_of(new, quoted=False))
    assert comments(made) == comments(text)
    assert miltext.parse(rename(made, new, old, any_name=True)) == miltext.parse(text)


def test_a_key_that_is_quoted_moves() -> None:
    text = text_of("v", quoted=True)
    assert '$"name" = string("v")' in text
    assert '$"name" = string("new")' in rename(text, "v", "new")


def test_a_rename_leaves_a_wrong_string_as_it_is() -> None:
    text = "program(1.3) { func main<ios18>(fp16 x) { fp16 v = relu(x = x)[name = string(STRING)]; } -> (v); }"
    text = text.replace("STRING", r'"\q"')
    assert rename(text, "v", "new") == text.replace(" v", " new").replace("(v)", "(new)")


SHORT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> VALUE, fp16 k) {
            a = mul(relu(VALUE), k);
            _ b, c = split(concat((a, VALUE), axis = 0), num_splits = 2, axis = 0)[KEY = "b"];
            d = while_loop((VALUE)) (_ e) { f = reduce_max(less(e, k), [0]); } -> (f) (g) { h = add(g, VALUE); } -> (h);
        } -> (d, c, VALUE);
}
"""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_rename_in_a_draft_has_the_findings_of_the_new_name(name: str, layout: str) -> None:
    plain = SHORT.replace("KEY", "name")
    text = LAYOUTS[layout](SHORT.replace("VALUE", '$"old"').replace("KEY", '$"name"'))
    made = rename(text, "old", name, any_name=True)
    assert words_alone(made) == words_alone(plain.replace("VALUE", name_text(name)).replace("name =", '$"name" ='))
    for value in ("b", "e"):
        made = rename(text, value, name, any_name=True)
        assert len(words_alone(made)) == len(words_alone(text))
        assert comments(made) == comments(text)
        assert words_alone(rename(made, name, value, any_name=True)) == words_alone(text)


def words_alone(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("outputs", ["x", "", "x, VALUE"])
def test_an_exposed_value_is_the_last_output(outputs: str, name: str, layout: str) -> None:
    text = "program(1.3) { func main<ios18>(fp16 x) { fp16 VALUE = relu(x = x); fp16 q = exp(x = VALUE); } -> (LIST); }"
    text = text.replace("LIST", outputs).replace("VALUE", f"${quote(name)}")
    whole = LAYOUTS[layout](text)
    names = ["q"] if "VALUE" in outputs else [name, "q"]
    made = expose(whole, names, any_name=True)
    expected = miltext.parse(text)
    expected.functions["main"].block_specializations["CoreML8"].outputs.extend(names)
    assert miltext.parse(made) == expected
    assert comments(made) == comments(whole)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_a_text_agrees_with_the_part_of_the_program(name: str, layout: str) -> None:
    text = text_of(name, quoted=True).replace(quote(name) + ")) [", "1)) [")
    whole = LAYOUTS[layout](text)
    for given_names in ((), (name,)):
        made, _ = part_text(read_model(whole.encode(), "whole.mil"), ["z"], given_names, function="made")
        bare, _ = part_text(read_model(text.encode(), "whole.mil"), ["z"], given_names, function="made")
        assert miltext.parse(made) == miltext.parse(bare)


@pytest.mark.parametrize("quoted", [False, True])
def test_inferred_types_stay_apart_from_names(quoted: bool) -> None:
    name = '$"y"' if quoted else "y"
    text = f"program(1.3){{func main<ios18>(tensor<fp16,[2]>x){{tensor<fp16,[2]>{name}=reduce_sum(x=x);}}->({name});}}"
    text = text.replace("x=x", "x=x,keep_dims=bool(false),axes=tensor<int32,[1]>([0])")
    assert miltext.parse(miltext.infer_draft(text, all=True)).functions["main"].inputs
    draft = text.replace("tensor<fp16,[2]>" + name, "_ " + name).replace("_ $", "_$")
    assert miltext.parse(miltext.infer_draft(draft)) == miltext.parse(miltext.infer_draft(text, all=True))


def test_a_renamed_value_stays_apart_from_its_type_in_a_merge() -> None:
    base = 'program(1.3) { func main<ios18>(fp16 x) { fp16$"a/b" = relu(x = x); fp16 z = exp(x = $"a/b"); } -> (z); }'
    ours = base.replace("relu(x = x)", 'relu(x = x)[name = string("r")]')
    theirs = base.replace('fp16$"a/b"', "fp16 c").replace('$"a/b"', "c")
    merged = merge_texts(base, ours, theirs, Markers())
    assert miltext.parse(merged.text) == miltext.parse(theirs.replace("relu(x = x)", 'relu(x = x)[name = string("r")]'))


def test_a_suggestion_stays_apart_from_adjacent_words() -> None:
    text = 'program(1.3) { func main<ios18>(fp16 x) { fp16$"a" = relu(x = x); } -> (b); }'
    fix = Diagnostic(
        "error", "MIL604", "it is called b", Span(text.index('$"a"'), text.index('$"a"') + 4), suggestion="b"
    )
    fixed = applied(text, [fix]).text
    assert "fp16 b = relu" in fixed
    assert mend(text, lambda each: [] if each == fixed else [fix], bool).text == fixed


@given(
    st.lists(st.sampled_from(['$"a"', "b", "fp16", "1", "-2.5", "(", "=", "/* c */", "//d\n", ", ", "]", "-inf"])),
    st.data(),
)
def test_edits_change_the_intended_words(given_words: list[str], data: st.DataObject) -> None:
    text = tight("".join(f"{word} " for word in given_words)) if given_words else ""
    found = lexer(FINE).tokens(text, 0)
    places = [(at, at + len(word)) for terminal, word, at in found if terminal not in (END, "COMMENT")]
    written = st.sampled_from(["", "n", '$"m"', "7", "(", "tensor<fp16, [1]>", "-> x"])
    edits = [(*each, data.draw(written)) for each in places if data.draw(st.booleans())]
    edits += [(at, at, data.draw(written)) for at in sorted({end for _, end in places}) if data.draw(st.booleans())]
    made = proven(text, edits)
    assert made == edited(text, edits).text
    assert sum(len(new) for *_, new in apart(text, edits)) <= len("".join(new for *_, new in edits)) + 2 * len(edits)


@pytest.mark.parametrize(("edit", "why"), [((3, 5, "x"), "in a word"), ((0, 9, "// it"), "what follows is a comment")])
def test_an_edit_that_would_change_more_is_refused(edit: tuple[int, int, str], why: str) -> None:
    with pytest.raises(MiltextError, match="MIL900") as refused:
        proven("program (1.3) { }", [edit], "a.mil")
    assert refused.value.path == "a.mil", why


@given(st.text("ab\r\n ", max_size=12), st.data())
def test_places_of_both_texts_correspond(text: str, data: st.DataObject) -> None:
    bounds = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    edits = [(start, end, data.draw(st.sampled_from(["", "(", ";;"]))) for start, end in [*pairwise(bounds)][::2]]
    made = edited(text, edits)
    inside = {at for start, end, _ in edits for at in range(start, end)}
    for at in range(len(text)):
        there = made.place_of(Span(at, at + 1))
        assert (there is None) == (at in inside)
        if there is not None:
            assert made.text[slice(*there)] == text[at]
            assert made.written(there) == (at, at + 1)
            assert made.copies(there)
    for start, _, written in edits:
        there = Span(made.place(start), made.place(start) + len(written))
        assert made.text[slice(*there)] == written


@given(*[st.text("ab", max_size=12)] * 4)
def test_unedited_parts_stay_or_move(head: str, old: str, new: str, tail: str) -> None:
    before, after = head + old + tail, head + new + tail
    shift = between(before, after)
    assert shift.text == after
    same = next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    assert all(0 <= shift.source(offset) <= len(before) for offset in range(len(after) + 1))
    for start in range(len(before) + 1):
        assert 0 <= shift.place(start) <= len(after)
        for end in range(start, len(before) + 1):
            place = shift.untouched(Span(start, end))
            if end < same or before == after:
                assert place == (start, end)
            if place is not None:
                assert f"^{before}$"[start : end + 2] == f"^{after}$"[place.start : place.end + 2]
                assert (shift.source(place.start), shift.source(place.end)) == (start, end)
                assert (shift.place(start), shift.place_of(Span(start, end))) == (place.start, place)


@pytest.mark.parametrize(
    ("before", "after", "span", "place"),
    [
        ("", "", (0, 0), (0, 0)),
        ("ab", "xab", (0, 1), None),
        ("ab", "abx", (2, 2), None),
        ("ab cd", "ab cdx", (3, 5), None),
        ("ab cd", "abx cd", (0, 2), None),
        ("ab cd ef", "ab x cd ef", (6, 8), (8, 10)),
        ("ab cd", "ab  cd", (0, 2), (0, 2)),
        ("abcd", "ad", (0, 1), None),
    ],
)
def test_a_span_at_the_border_of_an_edit_is_touched(
    before: str, after: str, span: tuple[int, int], place: tuple[int, int] | None
) -> None:
    assert between(before, after).untouched(Span(*span)) == place
