"""Suggestions: which are certain, and texts that are mended by them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files
from hypothesis import given
from hypothesis import strategies as st
from support.laws.checking import check_mending, safe, unread_lines, unsafe

from miltext import Diagnostic, MiltextError, Span, check, parse
from miltext.checking.fixing import MOST_CHECKS, applied, is_fixable, mend
from miltext.diagnostics import SAFE, UNSAFE

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            tensor<fp16, [2, 3]> hidden = relu(x = x)[name = string("hidden")];
            bool flag = const()[val = bool(true)];
            tensor<fp16, [2, 3]> y = tanh(x = hidden);
        } -> (y);
}
"""


WRONG = [*sorted(GOLDEN.glob("check/*.mil")), *sorted(GOLDEN.glob("errors/*.mil")), *corpus_files("rejected/*.mil")]


def changed(old: str, new: str, text: str = TEXT) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


CERTAIN = [
    (";\n            bool", "\n            bool"),
    ("(y);", "(y)"),
    ("tensor<fp16, [2, 3]> y", "tensor<float16, [2, 3]> y"),
    ("tensor<fp16, [2, 3]> y", "tensor<half, [2, 3]> y"),
    ("tensor<fp16, [2, 3]> y", "tensor<FP16, [2, 3]> y"),
    ("func", "Func"),
    ('string("hidden")', 'string("hid\u202eden")'),
    ('string("hidden")', 'string("hid\x07den")'),
    ('string("hidden")', 'string("hid\tden")'),
    ("program", "\ufeffprogram"),
    ("relu(x = x)[", "relu(x = x) // mil: ignore[MIL603]\n["),
]
GUESSES = [
    ("x = hidden", "x = hiden"),
    ("tensor<fp16, [2, 3]> y", "tensor<fp61, [2, 3]> y"),
    ("tensor<fp16, [2, 3]> y", "tensor<fp16, [3, 2]> y"),
    ("= tanh", "= tanhh"),
    ("<ios18>", "<ios81>"),
]


@pytest.mark.parametrize(("right", "wrong"), CERTAIN)
def test_certain_suggestions_are_applied(right: str, wrong: str) -> None:
    text = changed(right, wrong)
    mended = mend(text, check, safe)
    assert (mended.diagnostics, mended.applied) == ([], 1)
    assert mended.text.count("\n") == text.count("\n")
    assert parse(mended.text).functions


@pytest.mark.parametrize(("right", "wrong"), GUESSES)
def test_guesses_are_fixed_only_on_request(right: str, wrong: str) -> None:
    text = changed(right, wrong)
    assert mend(text, check, safe)[:2] == (text, 0)
    mended = mend(text, check, unsafe)
    assert mended.text == TEXT
    assert mended.diagnostics == []


def test_suggestion_is_guess_unless_it_states_that_it_is_certain() -> None:
    assert Diagnostic("error", "MIL604", "").applicability == UNSAFE
    assert not is_fixable(Diagnostic("error", "MIL604", "", Span(0, 1), (), "x"), unsafe=False)
    assert not is_fixable(Diagnostic("error", "MIL604", "", None, (), "x", SAFE), unsafe=True)
    assert not is_fixable(Diagnostic("error", "MIL604", "", Span(0, 1), (), None, SAFE), unsafe=True)


def test_all_of_a_text_is_fixed_however_many_rounds_it_takes() -> None:
    text = TEXT
    for right, wrong in (CERTAIN[0], CERTAIN[2], CERTAIN[6], *GUESSES[:1], GUESSES[4]):
        text = changed(right, wrong, text)
    mended = mend(text, check, unsafe)
    assert mended.diagnostics == []
    assert mended.applied == 5
    assert parse(mended.text).functions
    assert mend(mended.text, check, unsafe) == mended._replace(applied=0)


def test_line_ends_and_comments_stay() -> None:
    text = changed("hidden);", "hiden); // hidden", TEXT).replace("\n", "\r\n")
    mended = mend(text, check, unsafe)
    assert mended.text == text.replace("hiden)", "hidden)")


def test_readable_parts_keep_their_meaning() -> None:
    text = TEXT.replace(";\n", "; // mil: ignore[MIL603] // why\n")
    mended = mend(text, check, safe)
    assert mended.text == TEXT.replace(";\n", "; // why\n")
    assert parse(mended.text) == parse(text)


def test_an_ignored_finding_is_not_fixed() -> None:
    text = changed("hidden);", "hiden); // mil: ignore[MIL604]", TEXT)
    assert mend(text, check, unsafe) == (text, 0, [], 0)


# ---- how suggestions are applied


def at(start: int, end: int, suggestion: str, code: str = "MIL501") -> Diagnostic:
    return Diagnostic("warning", code, "", Span(start, end), (), suggestion, SAFE)


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("a; // c\nb", "// c", "a;\nb"),
        ("a; // c\r\nb", "// c", "a;\r\nb"),
        ("a; // c", "// c", "a;"),
        ("a; // c // d\nb", "// c", "a; // d\nb"),
        ("a;/* c */ b", "/* c */", "a; b"),
        ("a /* c */ b", "/* c */", "a b"),
        ("a;\n  // c\nb", "// c", "a;\nb"),
        ("a;\r\n\t// c  \r\nb", "// c", "a;\r\nb"),
        ("// c\nb", "// c", "b"),
        ("// c", "// c", ""),
    ],
)
def test_a_removal_leaves_no_blanks_at_the_end_of_a_line(text: str, gone: str, left: str) -> None:
    start = text.index(gone)
    assert applied(text, [at(start, start + len(gone), "")]).text == left


def rules(*wrong: str) -> Callable[[str], list[Diagnostic]]:
    """A check to which each of these letters is wrong, and its capital letter right."""

    def found(text: str) -> list[Diagnostic]:
        return [at(index, index + 1, letter.upper()) for index, letter in enumerate(text) if letter in wrong]

    return found


def test_neighbours_are_fixed_one_after_the_other() -> None:
    assert mend("aab", rules("a", "b"), safe) == ("AAB", 3, [], 0)


def test_overlapping_fixes_are_checked_again() -> None:
    def found(text: str) -> list[Diagnostic]:
        return [at(0, 4, "wxyz"), at(2, 3, "C")] if text == "abcd" else []

    assert mend("abcd", found, safe) == ("wxyz", 1, [], 0)


def test_several_insertions_at_one_place_are_made_one_by_one() -> None:
    def found(text: str) -> list[Diagnostic]:
        return [at(1, 1, ";", code) for code in ("MIL501", "MIL502")][text.count(";") :]

    assert mend("ab", found, safe) == ("a;;b", 2, [], 0)


def test_a_useless_suggestion_is_not_applied() -> None:
    def found(text: str) -> list[Diagnostic]:
        useless = [at(index, index + 1, "c") for index, letter in enumerate(text) if letter in "bc"]
        return rules("a")(text) + useless

    mended = mend("abaab", found, safe)
    assert (mended.text, mended.applied) == ("AbAAb", 3)


def test_a_suggestion_that_makes_more_errors_is_not_applied() -> None:
    def found(text: str) -> list[Diagnostic]:
        warnings = [at(index, index + 1, "!") for index, letter in enumerate(text) if letter == "a"] * 2
        return warnings + [Diagnostic("error", "MIL604", "") for letter in text if letter == "!"]

    assert mend("aba", found, safe)[:2] == ("aba", 0)


def test_a_fix_does_not_break_parsing_for_fewer_reports() -> None:
    def found(text: str) -> list[Diagnostic]:
        if "!" in text:
            return [Diagnostic("error", "MIL010", "")]
        return [Diagnostic("error", "MIL604", "", Span(index, index + 1), (), "!", SAFE) for index in range(len(text))]

    assert mend("aba", found, safe)[:2] == ("aba", 0)


def test_a_text_that_cannot_be_checked_is_not_an_improvement() -> None:
    def found(text: str) -> list[Diagnostic]:
        if not text:
            raise MiltextError([Diagnostic("error", "MIL256", "the file is empty")])
        return [at(0, 1, "")]

    assert mend("a", found, safe)[:2] == ("a", 0)


def test_suggestions_that_undo_each_other_come_to_an_end() -> None:
    def found(text: str) -> list[Diagnostic]:
        return [at(0, 1, "b" if text == "a" else "a")]

    assert mend("a", found, safe)[:2] == ("a", 0)


def test_findings_that_a_fix_reveals_are_fixed_too() -> None:
    def found(text: str) -> list[Diagnostic]:
        if text[0] == "a":
            return [at(0, 1, "A")._replace(severity="error", code="MIL010")]
        return [at(place, place + 1, text[place].upper()) for place in (1, 2) if text[place].islower()]

    assert mend("abc", found, safe) == ("ABC", 3, [], 0)


@pytest.mark.parametrize(("applicability", "text", "left"), [(SAFE, "Abc", 2), (UNSAFE, "abc", 1)])
def test_a_certain_fix_stays_if_it_reveals_more_errors(applicability: str, text: str, left: int) -> None:
    def found(text: str) -> list[Diagnostic]:
        if text[0] == "a":
            return [Diagnostic("error", "MIL010", "", Span(0, 1), (), "A", applicability)]
        return [Diagnostic("error", "MIL604", "", Span(place, place + 1)) for place in (1, 2)]

    mended = mend("abc", found, unsafe)
    assert (mended.text, len(mended.diagnostics), mended.useless) == (text, left, applicability == UNSAFE)


def test_a_certain_fix_stays_where_a_guess_does_no_good() -> None:
    def found(text: str) -> list[Diagnostic]:
        guess = Diagnostic("error", "MIL604", "", Span(1, 2), (), "B", UNSAFE)
        more = [Diagnostic("error", "MIL605", "")] * 2
        return [*([at(0, 1, "A")] if text[0] == "a" else []), *(more if text[1] == "B" else [guess])]

    assert mend("ab", found, unsafe)[:2] == ("Ab", 1)


def test_the_search_for_fixes_ends() -> None:
    found, checks = counted(lambda text: [at(2 * index, 2 * index + 1, "b") for index in range(1000)])
    mended = mend("a-" * 1000, found, safe)
    assert (mended.applied, mended.useless) == (0, None)
    assert len(checks) == MOST_CHECKS + 1


# ---- many mistakes


def counted(found: Callable[[str], list[Diagnostic]]) -> tuple[Callable[[str], list[Diagnostic]], list[str]]:
    """The same check, and the texts that it has been asked about."""
    texts: list[str] = []

    def counting(text: str) -> list[Diagnostic]:
        texts.append(text)
        return found(text)

    return counting, texts


def lines_of(*lines: str) -> str:
    return changed("            bool flag = const()[val = bool(true)];\n", "".join(f"{line}\n" for line in lines))


TWICE_WRONG = {
    "type and end": ("tensor<half, [2, 3]> {0} = relu(x = x)", "tensor<fp16, [2, 3]> {0} = relu(x = x);"),
    "type and attribute": (
        "tensor<FP16, [2, 3]> {0} = relu(x = x)[name = {0}];",
        'tensor<fp16, [2, 3]> {0} = relu(x = x)[name = string("{0}")];',
    ),
    "argument and attribute": (
        "tensor<fp16, [2, 3]> {0} = relu(x == x)[name = {0}];",
        'tensor<fp16, [2, 3]> {0} = relu(x = x)[name = string("{0}")];',
    ),
    "three in a row": (
        "tensor<float16, [2, 3]> {0} = relu(x: x,)[name = '{0}']",
        'tensor<fp16, [2, 3]> {0} = relu(x = x)[name = string("{0}")];',
    ),
}


@pytest.mark.parametrize("count", [2, 20, 200])
@pytest.mark.parametrize(("wrong", "right"), TWICE_WRONG.values(), ids=TWICE_WRONG)
def test_many_lines_of_mistakes_take_few_checks(wrong: str, right: str, count: int) -> None:
    found, checks = counted(check)
    mended = mend(lines_of(*[wrong.format(f"v{index}") for index in range(count)]), found, safe)
    assert mended.text == lines_of(*[right.format(f"v{index}") for index in range(count)])
    assert (mended.diagnostics, mended.useless) == ([], 0)
    assert len(checks) <= 6


@pytest.mark.parametrize("count", [2, 20, 200])
def test_suggestions_that_do_no_good_do_not_keep_many_others(count: int) -> None:
    def found(text: str) -> list[Diagnostic]:
        hopeless = [at(index, index + 1, "c") for index, letter in enumerate(text) if letter in "bc"]
        return rules("a", "d")(text) + hopeless

    counting, checks = counted(found)
    mended = mend("ad\nb\n" * count, counting, safe)
    assert mended.text == "AD\nb\n" * count
    assert (mended.applied, mended.useless) == (2 * count, count)
    assert len(checks) <= 8


@pytest.mark.parametrize(
    ("wrong", "right", "left"),
    [
        ("fp16 v = relu(x = x)[name = v, n = x];", 'string("v")', "MIL1"),
        ("float16 v = relu(x = x)", "fp16 v = relu(x = x);", "MIL701"),
        ("tensor<half, [2, 3]> v = relu(x = x, q = x)", "tensor<fp16, [2, 3]> v = relu(x = x, q = x);", "MIL504"),
        ("tensor<half, [2, 3]> v = my_own(q = x, r = x)", "tensor<fp16, [2, 3]> v = my_own(q = x, r = x);", "MIL501"),
    ],
)
def test_a_fix_that_reveals_other_mistakes_is_applied(wrong: str, right: str, left: str) -> None:
    mended = mend(lines_of(wrong), check, safe)
    assert right in mended.text
    assert {each.code[: len(left)] for each in mended.diagnostics} == {left}
    assert not [each for each in mended.diagnostics if safe(each)]


@pytest.mark.parametrize("chosen", [safe, unsafe], ids=["safe", "unsafe"])
@pytest.mark.parametrize(
    "path",
    [
        *sorted((GOLDEN / "check").glob("*.mil")),
        *sorted((GOLDEN / "errors").glob("*.mil")),
        *corpus_files("rejected/*.mil"),
    ],
    ids=lambda path: getattr(path, "name", None),
)
def test_no_text_is_made_worse(path: Path, chosen: Callable[[Diagnostic], bool]) -> None:
    check_mending(path.read_bytes().decode(errors="replace"), chosen)


@given(st.data())
def test_no_mistake_is_answered_by_more_of_them(data: st.DataObject) -> None:
    """Whatever is cut out of a text or put into it, what is left by mending is no worse, and mending ends."""
    text = TEXT
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 3))
        put = data.draw(st.sampled_from(["", ";", "\n", "x", " True ", "float16", "// mil: ignore", "\t", "(", "}"]))
        text = text[:start] + put + text[start + gone :]
    before = check(text)
    mended = mend(text, check, unsafe)
    assert unread_lines(mended.text, mended.diagnostics) <= unread_lines(text, before)
    assert mended.diagnostics == check(mended.text)
    assert (mended.applied == 0) == (mended.text == text)
