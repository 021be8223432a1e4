"""The outputs of inner blocks: other values there follow from the operations that make them."""

from __future__ import annotations

import pytest

import miltext
from miltext.diffing.structure import Change
from miltext.schema.proto import Program

LOOP = """program(1.3)
{{
    func main<ios18>(tensor<fp32, [2]> a, tensor<fp32, [2]> b, bool p) {{
            tensor<fp32, [2]> n, tensor<fp32, [2]> m = while_loop(loop_vars = (a, b))
                (tensor<fp32, [2]> j, tensor<fp32, [2]> i) {{
                    bool go = identity(x = p);
                }} -> (go)
                (tensor<fp32, [2]> k, tensor<fp32, [2]> l) {{
                    {body}
                }} -> ({outputs});
        }} -> (n, m);
}}
"""
COND = """program(1.3)
{{
    func main<ios18>(tensor<fp32, [2]> k, tensor<fp32, [2]> l, bool p) {{
            tensor<fp32, [2]> n, tensor<fp32, [2]> m = cond(pred = p)
                () {{
                    {body}
                }} -> ({outputs})
                () {{
                    tensor<fp32, [2]> f = sin(x = k);
                    tensor<fp32, [2]> g = abs(x = l);
                }} -> (f, g);
        }} -> (n, m);
}}
"""
OLD = "tensor<fp32, [2]> u = add(x = k, y = l); tensor<fp32, [2]> v = relu(x = l);"
T = "tensor<fp32, [2]>"


def program(shape: str, body: str = OLD, outputs: str = "u, v") -> Program:
    return miltext.parse(shape.format(body=body, outputs=outputs))


def outputs(old: Program, new: Program) -> list[Change]:
    """The changes of the outputs of inner blocks."""
    blocks = [
        block for function in miltext.diff(old, new).functions for outer in function.blocks for block in outer.walk()
    ]
    return [change for block in blocks for change in block.changes if change.kind == "outputs"]


@pytest.mark.parametrize("shape", [LOOP, COND], ids=["while_loop", "cond"])
@pytest.mark.parametrize(
    ("body", "given"),
    [
        (f"{OLD.replace('v', 'w')} {T} q = sqrt(x = w);", "u, q"),
        (f"{T} u = add(x = k, y = l); {T} s = square(x = l); {T} q = sqrt(x = s); {T} v = exp(x = q);", "u, v"),
        (f"{T} u = add(x = k, y = l); {T} v = relu6(x = k);", "u, v"),
        (f"{T} u = add(x = k, y = l); {T} v = concat(values = (l, k), axis = int32(0));", "u, v"),
    ],
    ids=["one more", "replaced by three", "another operation of another value", "several values"],
)
def test_outputs_follow_from_the_operations_that_make_them(shape: str, body: str, given: str) -> None:
    new = program(shape, body, given)
    old = program(shape)
    for pair in ((old, new), (new, old)):
        difference = miltext.diff(*pair)
        assert [each.follows is not None for each in outputs(*pair)] in ([], [True]), difference.to_text(full=True)
        assert miltext.diff(miltext.apply(difference, pair[0]), pair[1]).same


@pytest.mark.parametrize("shape", [LOOP, COND], ids=["while_loop", "cond"])
@pytest.mark.parametrize("given", ["v, u", "u, u", "u, l"])
def test_other_outputs_without_other_operations_are_a_cause(shape: str, given: str) -> None:
    (found,) = outputs(program(shape), program(shape, outputs=given))
    assert (found.follows, found.old, found.new) == (None, "(u, v)", f"({given})")


def test_an_added_operation_names_the_block_that_returns_it() -> None:
    new = program(COND, f"{OLD.replace('v', 'w')} {T} q = sqrt(x = w);", "u, q")
    text = miltext.diff(program(COND), new).to_text()
    assert f"            + {T} q = sqrt(x = w), now outputs of block 0 of n, m\n" in text
    assert "(removed)" not in text


def test_the_block_of_an_output_is_named() -> None:
    new = program(COND, f"{OLD} {T} q = sqrt(x = v);", "u, q")
    text = miltext.diff(program(COND), new).to_text(consequences=True)
    assert "q = sqrt(x = v), now outputs of block 0 of n, m\n" in text
    assert "        block 0 of n, m\n            ~ outputs: (u, v) -> (u, q)\n" in text
