"""Comments that ignore findings: what they take, what is wrong with them, and that no layout changes it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from conftest import GOLDEN

from miltext import Diagnostic, ParseError, check, format_text, infer_draft, parse
from miltext.diagnostics.selection import keeps_from_reading

HEAD = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2, 3]> x) {\n"
TAIL = "        } -> (y);\n}\n"
OWN = "            tensor<fp16, [2, 3]> y = my_own(x = x);"


def text_of(*lines: str) -> str:
    return HEAD + "".join(f"{line}\n" for line in lines) + TAIL


def told(text: str) -> list[tuple[str, int]]:
    """The code and the line, from 1, of each finding."""
    return [(each.code, text.count("\n", 0, each.span.start if each.span else 0) + 1) for each in check(text)]


def one(text: str, code: str) -> Diagnostic:
    [found] = [each for each in check(text) if each.code == code]
    return found


def of(found: Diagnostic, text: str) -> str:
    """The part of a text that a finding is about."""
    assert found.span is not None
    return text[slice(*found.span)]


def test_without_a_comment_the_operation_is_reported() -> None:
    assert told(text_of(OWN)) == [("MIL501", 4)]


@pytest.mark.parametrize(
    "comment",
    [
        "// mil: ignore",
        "//mil:ignore",
        "// mil: ignore[MIL501]",
        "// mil: ignore[mil501]",
        "//  mil: ignore [ MIL501 , ]",
        "// mil: ignore[MIL5]",
        "// mil: ignore[MIL]",
        "// mil: ignore[ALL]",
        "// mil: ignore[MIL501] our own operation",
        "// mil: ignore // our own operation",
        "// our own operation // mil: ignore[MIL501]",
        "/* ours */ // mil: ignore[MIL501]",
        "// mil: ignore[MIL501]\r",
        "// mil: ignore[MIL50] // mil: ignore[MIL501]",
    ],
)
def test_a_comment_ignores_findings_on_its_line(comment: str) -> None:
    assert told(text_of(f"{OWN} {comment}")) == []


@pytest.mark.parametrize(
    "line",
    [
        f"{OWN} // mil ignore",
        f"{OWN} // MIL501",
        f"{OWN.replace('x);', 'x)[name = string(`// mil: ignore`)];').replace('`', chr(34))}",
        f"/* // mil: ignore */ {OWN.strip()}",
        f"/* \n // mil: ignore \n */ {OWN.strip()}",
    ],
)
def test_other_comments_ignore_nothing(line: str) -> None:
    assert [code for code, _ in told(text_of(line))] == ["MIL501"]


@pytest.mark.parametrize("lines", [("// mil: ignore[MIL501]", OWN), (OWN, "// mil: ignore[MIL501]")])
def test_a_comment_on_a_line_of_its_own_ignores_nothing(lines: tuple[str, str]) -> None:
    assert sorted(code for code, _ in told(text_of(*lines))) == ["MIL501", "MIL713"]


BROKEN = """            tensor<fp16, [2, 3]> y = my_own(%s
                x = x,%s
                other = x%s
            );%s"""
COMMENT = " // mil: ignore[MIL501]"
PLACES = [("", "", "", ""), *(tuple(COMMENT if at == each else "" for at in range(4)) for each in range(4))]


@pytest.mark.parametrize("places", PLACES[1:])
def test_a_comment_applies_to_a_whole_operation(places: tuple[str, ...]) -> None:
    assert told(text_of(BROKEN % PLACES[0])) == [("MIL501", 4)]
    assert told(text_of(BROKEN % places)) == []


def test_a_comment_does_not_apply_to_neighbours() -> None:
    lines = [OWN.replace("y =", f"{name} =") for name in "aby"]
    lines[1] += " // mil: ignore"
    assert told(text_of(*lines)) == [("MIL501", 4), ("MIL501", 6)]
    both = f"{OWN.replace('y =', 'a =')} {OWN.strip()} // mil: ignore"
    assert told(text_of(both)) == []


def test_a_comment_at_the_head_of_a_block_applies_to_the_head() -> None:
    text = text_of(OWN, "// mil: ignore[MIL6]").replace("x) {", "x) { // mil: ignore[MIL501]")
    assert sorted(told(text)) == [("MIL501", 4), ("MIL713", 3), ("MIL713", 5)]


@pytest.mark.parametrize("broken", [OWN.replace("my_own(x = x)", "relu(x = z)"), OWN.replace(");", ")")])
def test_with_errors_no_comment_counts_as_unused(broken: str) -> None:
    text = text_of(f"{OWN.replace('y =', 'a =')} // mil: ignore[MIL501, MIL603]", broken)
    assert "MIL713" not in {code for code, _ in told(text)}
    assert "error" in {each.severity for each in check(text)}


# ---- what cannot be ignored


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (OWN.replace(");", ")") + " // mil: ignore", "MIL010"),
        (OWN.replace("fp16", "fp61") + " // mil: ignore[MIL104]", "MIL104"),
        (OWN.replace("x = x", "x = int32(5000000000)") + " // mil: ignore[ALL]", "MIL020"),
    ],
)
def test_the_error_of_an_unreadable_text_is_reported(line: str, code: str) -> None:
    assert code in {code for code, _ in told(text_of(line))}


def test_an_error_in_a_program_can_be_ignored() -> None:
    text = text_of(OWN.replace("my_own(x = x)", "relu(x = z)"))
    assert [each.severity for each in check(text)] == ["error"]
    assert told(text.replace("z);", "z); // mil: ignore[MIL604]")) == []


def test_a_draft_whose_gap_is_ignored_is_refused_all_the_same() -> None:
    draft = text_of("_ y = my_own(x = x); // mil: ignore")
    assert [code for code, _ in told(draft)] == ["MIL712", "MIL501"]
    assert [code for code, _ in told(draft.replace("ignore", "ignore[MIL501, MIL7]"))] == ["MIL501"]
    with pytest.raises(ParseError) as refused:
        infer_draft(draft)
    assert {each.code for each in refused.value.diagnostics} == {"MIL501"}


@pytest.mark.parametrize(
    "gap",
    ["_ a = relu(x = x);", 'tensor<fp16, [3]> a = const()[val = tensor<fp16, [3]>($elided(3, "sha256:00"))];'],
)
def test_a_text_with_gaps_does_not_report_unused_comments(gap: str) -> None:
    text = text_of(gap, OWN.replace("my_own", "relu") + " // mil: ignore[MIL7]")
    assert "MIL713" not in {code for code, _ in told(text)}
    assert {each.severity for each in check(text)} <= {"warning", "note"}


# ---- what is wrong with a comment


@pytest.mark.parametrize(
    ("comment", "about", "mended"),
    [
        ("// mil: ignore", "// mil: ignore", ""),
        ("// mil: ignore[MIL603]", "// mil: ignore[MIL603]", ""),
        ("// mil: ignore[MIL603, MIL604]", "// mil: ignore[MIL603, MIL604]", ""),
        ("// why // mil: ignore[MIL603] because", "// mil: ignore[MIL603]", ""),
    ],
)
def test_a_comment_that_ignores_nothing_is_reported(comment: str, about: str, mended: str) -> None:
    text = text_of(OWN.replace("my_own", "relu") + " " + comment)
    found = one(text, "MIL713")
    assert (found.severity, of(found, text), found.suggestion, found.applicability) == (
        "warning",
        about,
        mended,
        "safe",
    )


@pytest.mark.parametrize(
    ("codes", "left"),
    [("MIL501, MIL603", "MIL501"), ("MIL7,MIL5,MIL6", "MIL5"), ("MIL603, MIL501, MIL50", "MIL501, MIL50")],
)
def test_only_the_codes_that_ignore_nothing_are_to_go(codes: str, left: str) -> None:
    found = one(text_of(f"{OWN} // mil: ignore[{codes}]"), "MIL713")
    assert found.suggestion == f"// mil: ignore[{left}]"
    assert told(text_of(f"{OWN} {found.suggestion}")) == []


def test_findings_of_coremltools_may_be_ignored_beforehand() -> None:
    assert told(text_of(f"{OWN} // mil: ignore[MIL501, MIL801]")) == []


@pytest.mark.parametrize(
    ("comment", "about", "meant"),
    [
        ("// mil: ignore[MIL999]", "MIL999", "MIL499"),
        ("// mil: ignore[MIL501, MLI603]", "MLI603", "MIL603"),
        ("// mil: ignore[E501]", "E501", None),
        ("// mil: ignore[]", "// mil: ignore[]", None),
        ("// mil: ignore[ , ]", "// mil: ignore[ , ]", None),
        ("// mil: ignore MIL501", "// mil: ignore MIL501", "// mil: ignore[MIL501]"),
        ("// mil: ignore: MIL501, MIL6", "// mil: ignore: MIL501, MIL6", "// mil: ignore[MIL501, MIL6]"),
        ("// mil: ignore[MIL501", "// mil: ignore[MIL501", "// mil: ignore[MIL501]"),
        ("// mil: ignore the rest", "// mil: ignore the rest", None),
        ("// mil: ignore-line", "// mil: ignore-line", None),
    ],
)
def test_a_comment_without_a_known_code_is_reported(comment: str, about: str, meant: str | None) -> None:
    text = text_of(f"{OWN} {comment}")
    found = one(text, "MIL714")
    assert (of(found, text), found.suggestion, found.applicability) == (about, meant, "unsafe")
    assert ("MIL501", 4) in told(text) or "MIL501," in comment


@pytest.mark.parametrize("comment", ["// MIL: ignore[MIL501]", "// Mil: Ignore[mil501]", "//mil:IGNORE"])
def test_letters_of_either_case_are_taken(comment: str) -> None:
    assert told(text_of(f"{OWN} {comment}")) == []


@pytest.mark.parametrize(
    ("comment", "about", "meant"),
    [
        ("/* mil: ignore[MIL501] */", "/* mil: ignore[MIL501] */", "// mil: ignore[MIL501]"),
        ("/* MIL: ignore MIL501, MIL5 */", "/* MIL: ignore MIL501, MIL5 */", "// mil: ignore[MIL501, MIL5]"),
        ("// ignore[MIL501]", "// ignore[MIL501]", "// mil: ignore[MIL501]"),
        ("/* mil: ignore */", "/* mil: ignore */", None),
        ("/** mil: ignore[MIL501] **/ // why", "/** mil: ignore[MIL501] **/", None),
        ("/* mil: ignore[MIL501] our own */", "/* mil: ignore[MIL501] our own */", None),
        ("/* mil: ignore[MIL501]\n */", "/* mil: ignore[MIL501]\n */", None),
        ("// mil ignore[MIL501] why", "// mil ignore[MIL501]", "// mil: ignore[MIL501]"),
        ("// miltext: ignore[MIL501]", "// miltext: ignore[MIL501]", "// mil: ignore[MIL501]"),
        ("// mil: noqa", "// mil: noqa", None),
        ("// noqa: MIL501", "// noqa: MIL501", "// mil: ignore[MIL501]"),
        ("// type: ignore[MIL501]", "// type: ignore[MIL501]", "// mil: ignore[MIL501]"),
        ("// mil: disable=MIL501", "// mil: disable=MIL501", "// mil: ignore[MIL501]"),
    ],
)
def test_a_comment_written_otherwise_is_reported(comment: str, about: str, meant: str | None) -> None:
    text = text_of(f"{OWN} {comment}")
    found = one(text, "MIL714")
    assert (of(found, text), found.suggestion, found.applicability) == (about, meant, "unsafe")
    assert ("MIL501", 4) in told(text)
    if meant:
        assert told(text.replace(about, meant)) == []


@pytest.mark.parametrize(
    "comment",
    ["// ignore this", "// we ignore what MIL says", "/* ignored: MIL501 */", "// see MIL501", "/* // mil: ignore */"],
)
def test_other_comments_are_left_alone(comment: str) -> None:
    assert told(text_of(f"{OWN} {comment}")) == [("MIL501", 4)]


def test_a_comment_does_not_apply_to_comments() -> None:
    text = text_of(OWN.replace("my_own", "relu") + " // mil: ignore[MIL7] // mil: ignore[MIL603]")
    assert told(text) == [("MIL713", 4), ("MIL713", 4)]


# ---- the layout


@pytest.mark.parametrize("width", [None, 1, 40, 80])
@pytest.mark.parametrize("places", PLACES)
def test_fmt_keeps_the_ignored_findings(width: int | None, places: tuple[str, ...]) -> None:
    text = text_of(
        OWN.replace("y =", "a =") + " // mil: ignore[MIL501]",
        BROKEN.replace("y =", "b =") % places,
        OWN.replace("x = x", "x = undefined") + " // mil: ignore[MIL604, MIL5]",
    ).replace("(tensor<fp16, [2, 3]> x) {", "(tensor<fp16, [2, 3]> x, tensor<fp16, [1]> x) { // mil: ignore[MIL602]")
    before = [code for code, _ in told(text)]
    once = format_text(text, width=width)
    assert [code for code, _ in told(once)] == before
    assert [code for code, _ in told(format_text(once))] == before
    assert before == ["MIL501"][: places == PLACES[0]]


def test_line_ends_do_not_matter() -> None:
    text = text_of(f"{OWN} // mil: ignore[MIL501]")
    assert told(text.replace("\n", "\r\n")) == []


@pytest.mark.any_version
def test_many_comments_take_no_longer_than_the_check() -> None:
    lines = [OWN.replace("y =", f"v{index} =") for index in range(4000)]
    plain, ignoring = text_of(*lines, OWN), text_of(*(f"{line} // mil: ignore[MIL501]" for line in lines), OWN)
    check(text_of(OWN))
    start = time.perf_counter()
    assert len(check(plain)) == 4001
    middle = time.perf_counter()
    assert len(check(ignoring)) == 1
    assert time.perf_counter() - middle < 5 * (middle - start) + 1


UNREADABLE = [*sorted(GOLDEN.glob("errors/*.mil")), *sorted(GOLDEN.glob("check/*.mil"))]
WORDS = {"all codes": "", "each code": "[{codes}]", "beginnings": "[MIL0, MIL1, MIL2, MIL7, MIL9]"}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("path", UNREADABLE, ids=lambda path: path.stem)
def test_no_comment_hides_an_error_of_reading(path: Path, words: str) -> None:
    text = path.read_bytes().decode()
    listed = ", ".join(sorted({each.code for each in check(text)}))
    comment = f" // mil: ignore{words.format(codes=listed)}"
    plain, ignoring = (
        re.sub(r"(?m)^[^\r\n]*[;{,](?=\r?$)", lambda line: line[0] + more, text)  # noqa: B023 - within the line
        for more in (comment.replace("mil:", "xxx:"), comment)
    )
    found, left = check(plain), check(ignoring)
    assert [each for each in found if keeps_from_reading(each) and each not in left] == []
    assert is_refused(plain) == is_refused(ignoring)


def is_refused(text: str) -> bool:
    try:
        parse(text)
    except ParseError:
        return True
    return False


GAPS = {
    "MIL107": 'tensor<fp16, [2, 3]> y = add(x = x, y = tensor<fp16, [2, 3]>($elided(6, "sha256:00")));',
    "MIL712": "y = relu(x = x);",
}


@pytest.mark.parametrize("code", GAPS)
def test_a_note_about_gaps_is_ignored_only_by_its_code(code: str) -> None:
    text = text_of(GAPS[code])
    for comment, is_left in (("", True), (" // mil: ignore", True), (f" // mil: ignore[{code}]", False)):
        commented = text_of(GAPS[code] + comment)
        assert (code in [found for found, _ in told(commented)]) == is_left
    assert is_refused(text)
