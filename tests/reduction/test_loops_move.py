"""Loops that a smaller program would never leave are not offered to a test."""

from __future__ import annotations

import pytest

from miltext import Candidate, parse, reduce
from miltext.drafting.draft import infer_draft
from miltext.reduction.looping import standing
from miltext.schema.proto import Program
from miltext.schema.walk import operations

INPUTS = "tensor<int32, [1]> c, tensor<int32, [1]> d, tensor<fp32, [2, 4]> x, state<tensor<fp16, [1]>> s"
CONDITION = "l = less(p, 12); m = squeeze(l, axes = [0]);"


def loop(body: str, results: str, condition: str = CONDITION) -> Program:
    """A loop of two counters and a tensor."""
    made = f"cc, dd, v = while_loop((c, d, x))\n(p, q, z) {{ {condition} }} -> (m)\n"
    made += f"(a, b, t) {{ {body} }} -> ({results});"
    return parse(infer_draft(f"program(1.3)\n{{\nfunc main<ios18>({INPUTS}) {{\n{made}\n}} -> (cc, dd, v);\n}}\n"))


BOTH = "l = less(p, 12); k = less(q, 5); j = logical_and(l, k); m = squeeze(j, axes = [0]);"
STATE = "r = read_state(s); l = less(r, 12.0); m = squeeze(l, axes = [0]);"


@pytest.mark.parametrize(
    ("body", "results", "condition", "found"),
    [
        ("n = add(a, 1); u = exp(t);", "n, b, u", CONDITION, []),
        ("n = add(a, 1); u = exp(t);", "a, n, u", CONDITION, ["", "0"]),
        ("u = exp(t);", "c, b, u", CONDITION, ["", "0"]),
        ("u = exp(t);", "d, b, u", CONDITION, ["", "0"]),
        ("n = const()[val = tensor<int32, [1]>([40])];", "n, b, t", CONDITION, ["", "0"]),
        ("n = add(b, 1);", "n, b, t", CONDITION, ["", "0"]),
        ("n = add(c, 1);", "n, b, t", CONDITION, ["", "0"]),
        ("n = add(b, 1);", "b, n, t", CONDITION, []),
        ("n = add(b, 1); o = add(a, 1);", "n, o, t", CONDITION, []),
        ("", "b, a, t", CONDITION, ["", "0"]),
        ("n = add(a, b);", "n, b, t", BOTH, ["1"]),
        ("n = add(b, 1);", "a, n, t", BOTH, ["0"]),
        ("n = add(a, 1); o = add(b, n);", "n, o, t", BOTH, []),
        ("n = add(a, 1);", "n, b, t", "m = const()[val = bool(true)];", [""]),
        ("n = cond(true) () { e = add(a, 1); } -> (e) () {} -> (a);", "n, b, t", CONDITION, []),
        ("n = cond(true) () {} -> (a) () {} -> (a);", "n, b, t", CONDITION, ["", "0"]),
        ("w = read_state(s); y = add(w, 1.0); write_state(input = s, data = y);", "a, b, t", STATE, []),
        ("w = read_state(s);", "a, b, t", STATE, [""]),
    ],
)
def test_variables_of_the_condition_move_or_not(body: str, results: str, condition: str, found: list[str]) -> None:
    assert sorted(each.variable for each in standing(loop(body, results, condition))) == found


def test_a_loop_in_a_loop_is_seen() -> None:
    inner = "n = while_loop(a) (e) { f = less(e, 9); g = squeeze(f, axes = [0]); } -> (g) (h) { %s } -> (%s);"
    assert standing(loop(inner % ("i = add(h, 2);", "i"), "n, b, t")) == set()
    found = standing(loop(inner % ("", "h"), "n, b, t"))
    assert {(each.loop, each.variable) for each in found} == {("n", ""), ("n", "0"), ("cc", ""), ("cc", "0")}


def test_no_candidate_stops_to_count() -> None:
    """The counter of each loop is made by an `add` in its body."""
    whole = loop("n = add(a, 1); u = exp(t); w = add(u, t);", "n, b, w")

    def test(candidate: Candidate) -> bool:
        loops = [each for _, each in operations(candidate.program) if each.type == "while_loop"]
        for each in loops:
            body = each.blocks[-1]
            (maker,) = [inner for inner in body.operations for value in inner.outputs if value.name == body.outputs[0]]
            assert maker.type == "add"
        return any(inner.type == "exp" for each in loops for inner in each.blocks[-1].operations)

    found = reduce(whole, test)
    kept = sorted(each.type for _, each in operations(found.program) if each.type != "const")
    assert kept == ["add", "exp", "less", "squeeze", "while_loop"]


def test_a_loop_that_never_ended_may_be_reduced() -> None:
    whole = loop("u = exp(t); w = tanh(u);", "a, b, w")
    found = reduce(whole, lambda each: "exp" in str(each.program) and "while_loop" in str(each.program))
    assert "tanh" not in str(found.program)
