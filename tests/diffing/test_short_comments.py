"""A comment on a pull request has fewer than 200 lines, whatever differs: longer lists are summed up."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from conftest import CORPUS
from support.laws.differing import SUM, markdown_says_all
from support.told_forms import of_markdown

import miltext
from miltext.diffing.entries import ReportEntry
from miltext.diffing.markdown import LINES
from miltext.diffing.summing import summed

ENCODERS = (
    "pairs/FluidAudio__160ms_streaming_encoder/model.mlmodel",
    "changes/streaming_encoder/1280ms.mlmodel",
)
UNRELATED = "bundles/ironmill-base.mlpackage"


def network(types: list[str], count: int, name: str = "v") -> str:
    """The text of a chain of operations in scopes of 100, of these types in turn."""
    names = ["x", *[f"layers_{index // 100}_{name}_{index}" for index in range(count)]]
    lines = [
        f"tensor<fp16, [{3 + index}]> {made} = {types[index % len(types)]}(x = {taken});"
        for index, (taken, made) in enumerate(pairwise(names))
    ]
    return f"program(1.3)\n{{ func main<ios18>(tensor<fp16, [2]> x) {{ {' '.join(lines)} }} -> ({names[-1]}); }}"


def all_different(count: int) -> miltext.Difference:
    """The difference of two networks that have no operation in common."""
    texts = (network(["relu", "tanh"], count), network(["exp", "erf", "abs"], count, "w").replace("fp16", "fp32"))
    return miltext.diff(*map(miltext.parse, texts))


def functions(count: int) -> miltext.Difference:
    """The difference of programs in which each of many functions has a change."""
    text = "func f{0}<ios18>(fp16 x) {{ fp16 y = {1}(x = x); }} -> (y);"
    made = ("\n".join(text.format(index, kind) for index in range(count)) for kind in ("relu", "tanh"))
    return miltext.diff(*[miltext.parse(f"program(1.3)\n{{ {each} }}") for each in made])


def counted(markdown: str) -> list[tuple[int, int]]:
    """For each sum, its number of edits, and the numbers of its kinds together."""
    lines = [words for _, words in of_markdown(markdown)]
    found = []
    for place, words in enumerate(lines):
        if (total := re.fullmatch(r"and (\d+) more; `miltext diff --full` lists all", words)) is None:
            continue
        numbers: list[int] = []
        for line in lines[place + 1 :]:
            if re.search(r" follow|consequence", line) or not re.match(r"(in [^:]*: )?\d+ [a-z]", line):
                break
            numbers += map(int, re.findall(r"(?:^|, )(\d+) ", re.sub(r"^in [^:]*: ", "", line)))
        found.append((int(total[1]), sum(numbers)))
    return found


def check(difference: miltext.Difference) -> str:
    """The comment of a difference: short, in its limit, and its sums add up."""
    for consequences in (False, True):
        for limit in (1000, 65_536):
            markdown = difference.to_markdown(consequences=consequences, limit=limit)
            assert markdown.count("\n") <= LINES < 200
            assert len(markdown) <= limit
    sums = counted(difference.to_markdown(limit=1 << 30))
    assert [total for total, _ in sums] == [kinds for _, kinds in sums]
    markdown_says_all(difference, full=False)
    markdown_says_all(difference, full=True)
    return difference.to_markdown()


@pytest.mark.skipif(not CORPUS.exists(), reason="needs the corpus")
@pytest.mark.parametrize(("old", "new"), [*permutations(ENCODERS), (ENCODERS[0], UNRELATED), (UNRELATED, ENCODERS[0])])
def test_real_models(old: str, new: str) -> None:
    comment = check(miltext.diff(CORPUS / old, CORPUS / new))
    assert (SUM in comment) == (UNRELATED in (old, new))
    if SUM in comment:
        assert re.search(r"in encoder_layers_0 … 16: 153 transpose (removed|added), 136 linear ", comment)


@pytest.mark.any_version
def test_three_thousand_operations_all_different() -> None:
    difference = all_different(3000)
    comment = check(difference)
    listed = len(re.findall(r"^[+-] tensor", comment, re.MULTILINE))
    folds = [int(each) for each in re.findall(r"^[+-] (?:in each of|(\d+) times)", comment, re.MULTILINE) if each]
    (total,) = [total for total, _ in counted(comment)]
    assert listed + sum(folds) + total == 6000
    assert re.search(r"in layers_0 … 29: \d+ (relu|tanh) removed", comment)
    full = difference.to_markdown(full=True, limit=1 << 30)
    assert full.count("\n") > 6000
    assert SUM not in full


def test_many_functions() -> None:
    comment = check(functions(400))
    assert re.search(r"^- and \d+ more; `miltext diff --full` lists all$", comment, re.MULTILINE)
    assert re.search(r"\d+ functions changed", comment)


def test_many_notes() -> None:
    difference = replace(functions(2), notes=tuple(f"note {index}" for index in range(1000)))
    comment = difference.to_markdown()
    assert comment.count("\n") < 200
    assert re.search(r"and \d+ more; `miltext diff --full` lists all", comment)


def test_a_short_list_is_not_summed() -> None:
    difference = all_different(20)
    comment = check(difference)
    assert SUM not in comment


# ---- sums


def entries(*kinds: tuple[str, str, str]) -> list[ReportEntry]:
    return [
        ReportEntry(sign, (f"{what} {index}",), what=what, scope=scope)
        for index, (sign, what, scope) in enumerate(kinds)
    ]


def lines(findings: tuple[ReportEntry, ...]) -> list[str]:
    return [line for each in findings for line in (each.words[0], *lines(each.inner))]


def test_a_sum_counts_by_scope_and_kind() -> None:
    found = entries(
        *[("+", "conv", "layers_1")] * 4, *[("-", "add", "layers_2")] * 2, ("~", "value", ""), ("+", "change", "")
    )
    assert lines(summed(found, 2, "; way")) == [
        "conv 0",
        "conv 1",
        "and 6 more; way",
        "in layers_1, 2: 2 conv added, 2 add removed",
        "1 value changed, 1 change",
    ]


def test_more_scopes_than_fit_are_one_line() -> None:
    found = entries(*[("+", "conv", f"{name}_0") for name in "abcdefgh"])
    assert lines(summed(found, 6, ""))[6:] == ["and 2 more", "in g_0: 1 conv added", "in h_0: 1 conv added"]
    assert lines(summed(found, 3, ""))[-1] == "in 3 other scopes: 3 conv added"


def test_more_kinds_than_fit_are_one() -> None:
    found = entries(*[("+", f"op{index}", "") for index in range(20)])
    assert lines(summed(found, 1, ""))[-1].endswith(", 11 of other kinds")


def test_folded_findings_are_counted() -> None:
    inside = tuple(entries(*[("~", "conv", "")] * 7))
    fold = ReportEntry("~", ("7 times",), folded=inside, what="conv")
    assert lines(summed([*entries(("+", "add", "")), fold], 1, "")) == ["add 0", "and 7 more", "7 conv changed"]


def test_one_long_entry_is_summed_inside_and_headings_stay() -> None:
    block = ReportEntry("@", ("block 0",), tuple(entries(*[("+", "add", "")] * 9)), what="block")
    loop = ReportEntry("~", ("loop",), (block,), what="while_loop")
    assert lines(summed([loop], 3, "")) == ["loop", "block 0", "add 0", "add 1", "add 2", "and 6 more", "6 add added"]


def test_nothing_is_summed_to_nothing() -> None:
    assert summed([], 1, "") == ()
    closed = ReportEntry("", ("9 types follow",), tuple(entries(*[("~", "add", "")] * 9)), closed=True, what="cause")
    assert summed([closed], 1, "") == (closed,)
