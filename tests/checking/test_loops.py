"""Loops and branches: what goes in, what a turn takes and returns, and what comes out fit together, sizes too."""

from __future__ import annotations

from itertools import product

import pytest

import miltext
from miltext.diagnostics import Diagnostic
from miltext.drafting.draft import infer_draft
from miltext.schema.opsets import OPSETS
from miltext.schema.types import Shape, TensorType, compatible, join, show, spelled

SHAPES: list[Shape] = [(), (2,), (3,), (None,), (2, 3), (None, 3)]

LOOP = """\
program(1.3)
{{
    func main<{opset}>({given} x, bool more) {{
            {gives} y = while_loop(loop_vars = (x))
                ({takes} a) {{
                    bool again = logical_not(x = more);
                }} -> (again)
                ({takes} b) {{
                    {made} c = odd(x = b);
                }} -> (c);
        }} -> (y);
}}
"""
"""A loop whose body makes a value with an operation of which nothing is known but what is stated."""


def typed(shape: Shape, dtype: str = "fp16") -> str:
    return spelled(TensorType(dtype, shape))


def errors(text: str) -> list[Diagnostic]:
    return [each for each in miltext.check(text) if each.severity == "error"]


def at(text: str, found: Diagnostic) -> str:
    assert found.span is not None
    return text[slice(*found.span)]


@pytest.mark.parametrize(("given", "takes"), list(product(SHAPES, SHAPES)), ids=str)
def test_the_outputs_of_a_turn_are_the_inputs_of_the_next(given: Shape, takes: Shape) -> None:
    for made, gives in product(SHAPES, SHAPES):
        text = LOOP.format(opset="ios16", given=typed(given), takes=typed(takes), made=typed(made), gives=typed(gives))
        found = errors(text)
        fits = compatible(given, takes) and compatible(takes, made) and compatible(made, gives)
        out = join(TensorType("fp16", given), TensorType("fp16", made))  # after no turn, or after some
        assert bool(found) == (not fits or not compatible(TensorType("fp16", gives), out))
        if compatible(given, takes) and not compatible(takes, made):
            [told] = found
            wanted = typed(takes if len(given) == len(made) else given)
            assert (told.code, at(text, told)) == ("MIL512", "c")
            assert f"{typed(made)} here" in told.message
            assert told.message.endswith(wanted)


@pytest.mark.parametrize("opset", [each.text for each in OPSETS])
def test_loops_are_held_to_their_sizes_in_each_opset(opset: str) -> None:
    same, other = typed((2, 3)), typed((3, 3))
    assert not errors(LOOP.format(opset=opset, given=same, takes=same, made=same, gives=same))
    assert errors(LOOP.format(opset=opset, given=same, takes=same, made=other, gives=same))


@pytest.mark.parametrize(
    ("shape", "dtype", "fits"),
    [
        ((), "bool", True),
        ((1,), "bool", True),
        ((None,), "bool", True),
        ((2,), "bool", False),
        ((0,), "bool", False),
        ((1, 1), "bool", False),
        ((None, None), "bool", False),
        ((), "int32", False),
        ((1,), "fp16", False),
    ],
    ids=str,
)
def test_a_condition_is_one_truth_value(shape: Shape, dtype: str, fits: bool) -> None:
    text = LOOP.format(opset="ios16", given=typed((2,)), takes=typed((2,)), made=typed((2,)), gives=typed((2,)))
    text = text.replace("bool again = logical_not(x = more)", f"{typed(shape, dtype)} again = odd(x = more)")
    found = errors(text)
    assert [(each.code, at(text, each)) for each in found] == ([] if fits else [("MIL512", "again")])
    assert all(spelled(TensorType(dtype, shape)) in each.message for each in found)


@pytest.mark.parametrize(("first", "second"), list(product(SHAPES, SHAPES)), ids=str)
def test_branches_return_the_types_of_the_operation(first: Shape, second: Shape) -> None:
    for gives in SHAPES:
        text = f"""program(1.3) {{ func main<ios16>(bool more) {{ {typed(gives)} y = cond(pred = more)
            () {{ {typed(first)} a = odd(x = more); }} -> (a)
            () {{ {typed(second)} b = odd(x = more); }} -> (b); }} -> (y); }}"""
        fits = compatible(first, second) and compatible(first, gives) and compatible(second, gives)
        found = errors(text)
        assert bool(found) == (not fits)
        assert len(found) <= 1


# ---- drafts, which leave the types out

TURNS = {
    "the same": ("c = relu(b)", (2,)),
    "longer": ("c = concat((b, b), 0, false)", (None,)),
    "shorter": ("c = slice_by_index(b, [1], [2], end_mask = [true])", (None,)),
    "once as long": ("c = add(b, [1, 2])", (2,)),
}


def draft(turn: str, before: str = "", after: str = "") -> str:
    return f"""program(1.3)
{{
    func main<ios16>(tensor<fp16, [2]> x, int32 n) {{
            y = while_loop(loop_vars = (x))
                (a) {{ again = less(n, 3); }} -> (again)
                (b) {{ {before}{turn};{after} }} -> (c);
        }} -> (y);
}}
"""


@pytest.mark.parametrize("turn", TURNS)
def test_a_draft_finds_the_sizes_that_its_loop_changes(turn: str) -> None:
    operation, carried = TURNS[turn]
    whole = infer_draft(draft(operation))
    for name in "yabc":
        assert f"{typed(carried)} {name}" in whole
    assert not errors(whole)
    assert infer_draft(whole) == whole


@pytest.mark.parametrize("depth", [1, 2, 5, 12])
@pytest.mark.parametrize("branches", [False, True], ids=["loops", "loops and branches"])
def test_loops_inside_loops_and_branches_carry_sizes_out(depth: int, branches: bool) -> None:
    turn = f"made{depth} = concat((b{depth}, b{depth}), 0, false);"
    for level in reversed(range(depth)):
        outer, inner = ("b" if level == 0 else f"b{level}"), f"b{level + 1}"
        condition = f"(a{level}) {{ m{level} = less(n, 3); }} -> (m{level})"
        body = f"({inner}) {{ {turn} }} -> (made{level + 1})"
        loop = f"loop{level} = while_loop(({outer})) {condition} {body};"
        turn = f"{loop} made{level} = relu(loop{level});"
        if branches:
            other = f"() {{ e{level} = concat(({outer}, x), 0, false); }} -> (e{level})"
            turn = f"p{level} = less(n, 5); made{level} = cond(p{level}) () {{ {loop} }} -> (loop{level}) {other};"
    whole = infer_draft(draft("c = relu(made0)", before=turn))
    assert "tensor<fp16, [?]> y = while_loop" in whole
    assert whole.count("tensor<fp16, [?]> loop") == depth
    assert not errors(whole)


def test_many_sizes_that_change_one_after_another_end_in_answer() -> None:
    names = [f"b{place}" for place in range(30)]
    inputs, first = ", ".join(names), "c = concat((b0, b0), 0, false);"
    text = f"""program(1.3) {{ func main<ios16>(tensor<fp16, [2]> x, int32 n) {{
        {", ".join(f"y{place}" for place in range(30))} = while_loop(({", ".join("x" for _ in names)}))
        ({inputs}) {{ again = less(n, 3); }} -> (again)
        ({inputs}) {{ {first} }} -> (c, {", ".join(names[:-1])}); }} -> (y0); }}"""
    found = errors(text)
    assert all(each.code == "MIL512" for each in found)


def test_a_changed_rank_is_reported_at_the_output_of_the_body() -> None:
    text = draft("c = expand_dims(b, [0])")
    [found] = errors(text)
    assert (found.code, at(text, found)) == ("MIL512", "c")
    assert show((1, 2)) in found.message


def test_a_stated_input_stays_as_it_is_stated() -> None:
    text = draft("c = concat((b, b), 0, false)").replace("(b) {", "(tensor<fp16, [2]> b) {")
    [found] = errors(text)
    assert (found.code, at(text, found)) == ("MIL512", "c")
    assert "it takes tensor<fp16, [2]>" in found.message


def test_a_misspelling_in_a_loop_is_reported_once() -> None:
    text = draft('d = const()[val = $npy("gone.npy")]; c = concat((b, b), 0, false)')
    assert len([each for each in miltext.check(text) if each.code == "MIL111"]) == 1
