"""The normal form: equal for Programs that compute the same, and for no others."""

from __future__ import annotations

import pytest
from support.normal_form import normal

import miltext

TEXT = """\
program(1.3)
{{
    func main<ios18>(tensor<fp16, [2, 4]> x, bool p, state<tensor<fp16, [2, 4]>> s) {{
{body}
        }} -> (y);
}}
"""


def of(body: str) -> object:
    return normal(miltext.parse(miltext.infer_draft(TEXT.format(body=body))))


SAME = {
    "a constant, an argument": ("y = add(x, 0.5);", 'h = const()[val = 0.5]; y = add(x, h)[name = "a"];'),
    "a constant for two": (
        "y = mul(add(x, 0.5), 0.5);",
        "a = const()[val = 0.5]; b = const()[val = 0.5]; z = add(x, a); y = mul(z, b);",
    ),
    "another name": ("z = relu(x); y = tanh(z);", "y = tanh(relu(x));"),
    "one that is made twice": ("z = relu(x); y = add(z, z);", "y = add(relu(x), relu(x));"),
    "another place": (
        "a = relu(x); b = tanh(x); y = sub(a, b);",
        "b = tanh(x); a = relu(x); y = sub(a, b);",
    ),
    "a default": ("y = softmax(x);", "y = softmax(x, axis = -1);"),
    "a default of the type beside it": ("y = rsqrt(x);", "y = rsqrt(x, epsilon = 1e-12);"),
    "a default of the rank": ("y = layer_norm(x);", "y = layer_norm(x, axes = [0, 1], epsilon = 1e-5);"),
    "in a block": (
        "y = cond(p)() { a = add(x, 0.5); } -> (a) () { a = relu(x); } -> (a);",
        "h = const()[val = 0.5]; y = cond(p)() { b = add(x, h); } -> (b) () { c = relu(x); } -> (c);",
    ),
    "inputs of a block": (
        "y, n = while_loop((x, int32(0)))(_ a, i) { c = less(i, 3); } -> (c) (_ a, i) { d = add(i, 1); } -> (a, d);",
        "y, m = while_loop((x, int32(0)))(q, j) { c = less(j, 3); } -> (c) (_ a, i) { o = add(i, 1); } -> (a, o);",
    ),
    "one that nothing uses": ("y = relu(x);", "z = tanh(x); y = relu(x);"),
}

OTHER = {
    "another number": ("y = add(x, 0.5);", "y = add(x, 0.25);"),
    "another data type": ('y = cast(add(1, 2), "fp16");', 'y = cast(add(fp16(1), fp16(2)), "fp16");'),
    "another sign of zero": ("y = add(x, 0.0);", "y = add(x, -0.0);"),
    "no default": ("y = softmax(x);", "y = softmax(x, axis = 0);"),
    "another order of operands": ("y = sub(x, tanh(x));", "y = sub(tanh(x), x);"),
    "another output": (
        "a, b = split(x, axis = 1, num_splits = 2); y = relu(a);",
        "a, b = split(x, axis = 1, num_splits = 2); y = relu(b);",
    ),
    "a state is read later": (
        "a = read_state(s); write_state(s, relu(a)); y = tanh(a);",
        "a = read_state(s); write_state(s, relu(a)); y = tanh(read_state(s));",
    ),
    "a state is not written": ("a = read_state(s); write_state(s, x); y = tanh(a);", "y = tanh(read_state(s));"),
    "one random value for two": (
        "a = random_normal([2, 4], 0.0); y = sub(a, a);",
        "a = random_normal([2, 4], 0.0); b = random_normal([2, 4], 0.0); y = sub(a, b);",
    ),
    "another block": (
        "y = cond(p)() { a = tanh(x); } -> (a) () { a = relu(x); } -> (a);",
        "y = cond(p)() { a = relu(x); } -> (a) () { a = tanh(x); } -> (a);",
    ),
    "another input of a block": (
        "y, z = while_loop((x, x))(_ a, b) { c = less(0, 3); } -> (c) (_ a, b) { d = relu(a); } -> (d, a);",
        "y, z = while_loop((x, x))(_ a, b) { c = less(0, 3); } -> (c) (_ a, b) { d = relu(b); } -> (d, a);",
    ),
}


@pytest.mark.parametrize("one", SAME)
def test_same(one: str) -> None:
    first, second = SAME[one]
    assert of(first) == of(second)


@pytest.mark.parametrize("one", OTHER)
def test_other(one: str) -> None:
    first, second = OTHER[one]
    assert of(first) != of(second)


def test_functions_and_the_names_of_outputs_are_part_of_it() -> None:
    text = TEXT.format(body="y = relu(x);")
    second = text[text.index("    func") : text.rindex("}")]
    infer = miltext.infer_draft
    two = normal(miltext.parse(infer(text.replace(second, second + second.replace("main", "other")))))
    assert len(two) == 2
    assert len({str(found) for found in two.values()}) == 1
    renamed = normal(miltext.parse(infer(text.replace("y = relu", "z = relu").replace("(y)", "(z)"))))
    assert renamed != of("y = relu(x);")
