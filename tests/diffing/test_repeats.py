"""The same edit in layers is one entry; an edit that differs in a value, a type or a literal is not a part of it."""

from __future__ import annotations

import pytest

import miltext
from miltext.schema.proto import Program

TYPE = "tensor<fp16, [1, 20]>"
LONG = ", ".join(["1.0"] * 20)
OTHER = ", ".join(["9.0"] * 20)


def network(added: list[str] | None) -> Program:
    """Four layers, with an operation added between the two of each, or nothing."""
    lines = [
        f'{TYPE} mask_1 = abs(x = x)[name = string("mask_1")];',
        f'{TYPE} mask_2 = sign(x = x)[name = string("mask_2")];',
    ]
    before = "x"
    for layer in range(4):
        h, m, g = (f"layers_{layer}_{name}" for name in "hmg")
        lines.append(f'{TYPE} {h} = relu(x = {before})[name = string("{h}")];')
        if added:
            lines.append(f'{TYPE} {m} = {added[layer].format(h=h)}[name = string("{m}")];')
        lines.append(f'{TYPE} {g} = tanh(x = {m if added else h})[name = string("{g}")];')
        before = g
    body = "\n".join(lines)
    return miltext.parse(f"program(1.3)\n{{\n    func main<ios18>({TYPE} x) {{\n{body}\n    }} -> ({before});\n}}\n")


def told(added: list[str]) -> list[str]:
    lines = miltext.diff(network(None), network(added)).to_text().splitlines()
    return [line for line in lines if line.startswith("    + ")]


SAME = "add(x = {h}, y = mask_1)"


def test_the_same_edit_in_each_layer_is_one_entry() -> None:
    (line,) = told([SAME] * 4)
    assert line.startswith("    + in each of layers_0 … 3: ")


@pytest.mark.parametrize(
    ("same", "other"),
    [
        (SAME, "add(x = {h}, y = mask_2)"),
        (SAME, "add(x = {h}, y = {h})"),
        (SAME, "mul(x = {h}, y = mask_1)"),
        (f"mul(x = {{h}}, y = {TYPE}([[{LONG}]]))", f"mul(x = {{h}}, y = {TYPE}([[{OTHER}]]))"),
    ],
    ids=["another value", "its own value", "another type", "another long literal"],
)
def test_a_layer_that_differs_is_an_entry_of_its_own(same: str, other: str) -> None:
    lines = told([same, same, other, same])
    assert len(lines) == 2
    assert [("layers_2_m" in line) and "in each" not in line and "times" not in line for line in lines].count(True) == 1
