"""Which operation is at a place of a text, line by line and column by column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import corpus_files
from support.short_drafts import FEED_FORWARD

from miltext.parsing.locating import at_place
from miltext.parsing.parser import parse_tree

NESTED = """program(1.3)
{
    func main<ios18>(bool p, tensor<fp16, [2]> x) {
            tensor<fp16, [2]> a = relu(x = x); tensor<fp16, [2]> b = tanh(x = a);
            tensor<fp16, [2]> c = cond(pred = p)
                () {
                    tensor<fp16, [2]> d = sin(x = b);
                } -> (d)
                () {
                } -> (a);

        } -> (c);
}
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_column_is_of_the_operation_that_is_there(end: str) -> None:
    text = NESTED.replace("\n", end)
    root = parse_tree(text, whole=True).root
    for number, line in enumerate(text.split("\n"), 1):
        types: list[str | None] = ["cond" if 5 <= number <= 10 else None]
        if number in (4, 7):
            types = ["relu", "tanh"] if number == 4 else ["sin"]
        found = [at_place(text, root, number, column) for column in (None, *range(len(line) + 1))]
        told = [each and each.type for each in found]
        if number == 4:
            second = line.index("tensor", line.index(";"))
            assert told[1:] == ["relu"] * (second - 1) + [None] + ["tanh"] * (len(line) + 1 - second)
        assert {*told} - {None} == {*types} - {None}, (number, told)
        assert told[0] == types[0]


@pytest.mark.parametrize("path", corpus_files("apple/*.mil"))
def test_an_operation_is_found_at_its_column_and_before_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    root = parse_tree(text, whole=True).root
    starts = [match.start() for match in re.finditer(r"^ {12,}[a-z][^\n]*= \w", text, re.MULTILINE)]
    for start in starts[:: len(starts) // 20 + 1]:
        line = text.count("\n", 0, start) + 1
        first = at_place(text, root, line)
        assert first is not None
        assert [at_place(text, root, line, column) for column in (0, 11, 12, 13)] == [first] * 4


def test_an_operation_inside_another_is_found_by_itself() -> None:
    root = parse_tree(FEED_FORWARD, whole=True).root
    number = FEED_FORWARD[: FEED_FORWARD.index("gate = ")].count("\n") + 1
    line = FEED_FORWARD.split("\n")[number - 1]
    types = [at_place(FEED_FORWARD, root, number, column) for column in range(line.index("gate"), len(line))]
    made = [(found.type, found.outputs, line[found.span.start - line_start(number) :][:4]) for found in types if found]
    assert list(dict.fromkeys(f"{kind} {outputs} {begins}" for kind, outputs, begins in made)) == [
        "mul ['gate'] gate",
        "silu [] silu",
        "conv [] conv",
    ]
    first = at_place(FEED_FORWARD, root, number)
    assert first is not None
    assert first.outputs == ["gate"]
    named = at_place(FEED_FORWARD, root, FEED_FORWARD[: FEED_FORWARD.index("mean = ")].count("\n") + 1)
    assert named is not None
    assert named.name == "mean"


def line_start(number: int) -> int:
    return sum(len(line) + 1 for line in FEED_FORWARD.split("\n")[: number - 1])
