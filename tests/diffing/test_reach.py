"""Outputs that have the same numbers: not after an edit of a state, and not under the name of another output."""

from __future__ import annotations

import pytest
from support.planted_edits import other_numbers, planted

import miltext

STATE = "state<tensor<fp16, [1, 4]>> s"
INPUTS = f"tensor<fp16, [1, 4]> x, {STATE}"
READ = 'tensor<fp16, [1, 4]> r = read_state(input = s)[name = string("r")];'
WRITE = 'write_state(input = s, data = x)[name = string("w")];'
OUT = 'tensor<fp16, [1, 4]> o = tanh(x = r)[name = string("o")];'


def text(body: list[str], outputs: str = "o", inputs: str = INPUTS) -> str:
    lines = "\n".join(body)
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{lines}\n    }} -> ({outputs});\n}}\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([WRITE, READ, OUT], [READ, OUT]),
        ([READ, OUT], [WRITE, READ, OUT]),
        ([READ, OUT, WRITE], [WRITE, READ, OUT]),
    ],
    ids=["a write removed", "a write added", "a write moved before the read"],
)
def test_an_edit_of_a_state_reaches_its_readers(old: list[str], new: list[str]) -> None:
    outputs = miltext.diff(text(old), text(new)).summary.outputs
    assert (outputs.reached, outputs.unreached) == (("o",), ())


def test_swapped_names_of_outputs_are_other_numbers() -> None:
    one, two = "tensor<fp16, [1, 4]> {} = relu(x = x);", "tensor<fp16, [1, 4]> {} = tanh(x = x);"
    plain = "tensor<fp16, [1, 4]> x"
    old = text([one.format("a"), two.format("b")], "a, b", plain)
    new = text([one.format("b"), two.format("a")], "b, a", plain)
    assert miltext.diff(old, new).summary.outputs.unreached == ()


def test_a_constant_that_becomes_zero_is_a_cause() -> None:
    body = "tensor<{0}, [1, 4]> a = relu(x = x); tensor<{0}, [1, 4]> o = add(x = a, y = {0}(1e-10));"
    old, new = (text([body.format(dtype)], inputs=f"tensor<{dtype}, [1, 4]> x") for dtype in ("fp32", "fp16"))
    (block,) = miltext.diff(old, new).functions[0].blocks
    (added,) = (each for each in block.changed if each.name == "o")
    assert [change.follows for change in added.changes if change.name == "y"] == [None]


T = "tensor<fp16, [1, 4]>"
CHAIN = f"{T} a = relu(x = x); {T} b = tanh(x = a);"
ACROSS = f"{T} u = relu(x = k); {T} v = tanh(x = l);"


def branches(body: str, output: str, other: str = "o") -> str:
    """Return the call of a `cond`, whose first branch has a body and an output."""
    second = f"{T} o = sin(x = x); {T} q = cos(x = o);"
    return f"cond(pred = p) () {{ {body} }} -> ({output}) () {{ {second} }} -> ({other});"


def cond(*branch: str) -> str:
    return text([f"{T} y = {branches(*branch)}"], "y", f"bool p, {T} x")


def loop(first: str, second: str, outputs: str) -> str:
    """Return a loop with the inputs and the outputs of its body."""
    head = f"while_loop(loop_vars = (x, w)) ({T} i, {T} j) {{ bool go = identity(x = p); }} -> (go)"
    body = f"({T} {first}, {T} {second}) {{ {ACROSS} }} -> ({outputs});"
    return text([f"{T} y, {T} z = {head} {body}"], "y, z", f"bool p, {T} x, {T} w")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (cond(CHAIN, "a"), cond(CHAIN, "b")),
        (cond(CHAIN, "b"), cond(CHAIN, "a")),
        (cond(CHAIN, "b"), cond(f"{T} a = relu(x = x);", "a")),
        (cond(CHAIN, "b"), cond(CHAIN, "x")),
        (cond(CHAIN, "b", "o"), cond(CHAIN, "b", "q")),
        (cond(f"{T} u = {branches(CHAIN, 'a')}", "u"), cond(f"{T} u = {branches(CHAIN, 'b')}", "u")),
        (loop("k", "l", "u, v"), loop("k", "l", "v, u")),
        (loop("k", "l", "u, v"), loop("l", "k", "u, v")),
        (loop("k", "l", "u, v"), loop("k", "l", "u, l")),
    ],
    ids=[
        "a later value",
        "an earlier one",
        "a removed one",
        "an outer one",
        "the other branch",
        "a branch in a branch",
        "outputs of a loop swapped",
        "inputs of a loop swapped",
        "a loop's own input",
    ],
)
def test_other_values_of_inner_blocks_are_other_numbers(old: str, new: str) -> None:
    assert miltext.diff(old, new).summary.outputs.unreached == ()


def test_outputs_that_no_edit_reaches_have_the_same_numbers() -> None:
    found = [other_numbers(*edited[:2], seed) for seed in range(40) if (edited := planted(seed))[2]]
    assert sum(each is not None for each in found) > 15
    assert [each for each in found if each] == []
