"""A merge decides first, and then writes: its decisions as data, and the text that follows from them."""

from __future__ import annotations

import pytest

from miltext.merging.conflicts import Conflict, Markers
from miltext.merging.merging import Merge, merge_texts
from miltext.merging.plans import OURS, THEIRS, MergeDecision
from miltext.merging.sides import Side

BASE = """\
program(1.3)
{
    func main<ios18>(fp16 x, fp16 y) {
            fp16 a = relu(x = x); // a
            fp16 b = add(x = a, y = y)[name = string("b")];
        } -> (b);
}
"""


def decided(ours: str, theirs: str, base: str = BASE) -> tuple[Merge, list[MergeDecision]]:
    merge = Merge(Side(base), Side(ours), Side(theirs))
    return merge, merge.decisions()


def shown(decisions: list[MergeDecision], ours: str, theirs: str) -> list[tuple[object, ...]]:
    """Who is taken, for what of ours, and the texts that replace parts of it."""
    texts = {OURS: ours, THEIRS: theirs}
    return [
        (
            each.side,
            ours[slice(*span)].strip() if (span := each.spans[OURS]) else "",
            *(texts[side][slice(*there)] for made in each.replaced for side, there in made.taken),
        )
        for each in decisions
    ]


HEAD = ["program(1.3)\n{", "func main<ios18>(fp16 x, fp16 y) {"]


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [
        (("", ""), ("", ""), [(OURS, BASE.strip())]),
        (("relu", "tanh"), ("", ""), [(OURS, BASE.replace("relu", "tanh").strip())]),
        (
            ("relu", "tanh"),
            ("x = a, y = y", "x = a, y = a"),
            [
                (OURS, HEAD[0]),
                (OURS, HEAD[1]),
                (OURS, "fp16 a = tanh(x = x); // a"),
                (THEIRS, 'fp16 b = add(x = a, y = y)[name = string("b")];'),
                (OURS, "} -> (b);"),
                (OURS, "}"),
            ],
        ),
        (
            ("x = a, y = y", "x = y, y = y"),
            ("add(x = a, y = y)", "add(x = a, y = a)"),
            [
                (OURS, HEAD[0]),
                (OURS, HEAD[1]),
                (OURS, "fp16 a = relu(x = x); // a"),
                (OURS, 'fp16 b = add(x = y, y = y)[name = string("b")];', "y = a"),
                (OURS, "} -> (b);"),
                (OURS, "}"),
            ],
        ),
        (
            ("relu", "tanh"),
            ("relu", "exp"),
            [
                (OURS, HEAD[0]),
                (OURS, HEAD[1]),
                (None, "fp16 a = tanh(x = x); // a"),
                (OURS, 'fp16 b = add(x = a, y = y)[name = string("b")];'),
                (OURS, "} -> (b);"),
                (OURS, "}"),
            ],
        ),
    ],
)
def test_decisions_state_whose_each_stretch_is(
    mine: tuple[str, str], other: tuple[str, str], expected: list[tuple[object, ...]]
) -> None:
    ours, theirs = BASE.replace(*mine), BASE.replace(*other)
    _, decisions = decided(ours, theirs)
    assert shown(decisions, ours, theirs) == expected


def test_a_decision_shows_its_places() -> None:
    ours = BASE.replace("relu", "tanh")
    [decision] = decided(ours, BASE)[1]
    assert str(decision) == (
        f"MergeDecision(side=1, spans=[Span(start=0, end={len(BASE)}), Span(start=0, end={len(ours)}), "
        f"Span(start=0, end={len(BASE)})], replaced=())"
    )


@pytest.mark.parametrize("comment", ["", "/* c */ ", "// c\n"])
def test_the_text_follows_from_the_decisions(comment: str) -> None:
    ours = BASE.replace("fp16 a = relu", f"{comment}fp16 c = relu").replace("x = a", "x = c")
    theirs = BASE.replace("(fp16 x, fp16 y)", "(fp16 x, fp16 y, fp16 z)").replace('string("b")', 'string("q")')
    merge, decisions = decided(ours, theirs)
    pieces = merge.pieces()
    assert Markers().text(pieces) == merge_texts(BASE, ours, theirs).text
    assert [isinstance(piece, Conflict) for piece in pieces] == [each.side is None for each in decisions]
    for name, side in (("ours", OURS), ("theirs", THEIRS)):
        spans = [span for each in decisions if (span := each.spans[side])]
        starts = [*(span.start for span in spans[1:]), len((BASE, ours, theirs)[side])]
        assert [span.end for span in spans] == starts, name
