"""The data types in `metadata.json`: those in which a function computes, and those in which its weights are stored."""

from __future__ import annotations

import pytest

import miltext
from miltext.compiled.precision import joined, stored_as, used_types
from miltext.ir.functions import Function
from miltext.ir.reading import read_function

HEAD = "program(1.3)\n{\n    func main<ios18>("


def function(inputs: str, *operations: str, output: str = "y") -> Function:
    body = "".join(f"            {each};\n" for each in operations)
    text = f"{HEAD}{inputs}) {{\n{body}        }} -> ({output});\n}}\n"
    return read_function("main", miltext.parse(text).functions["main"])


def operations_of(made: Function) -> list[miltext.ir.parts.Op]:
    assert made.block is not None
    return [*made.block.walk()]


# ---- the types in which a function computes

CAST = 'tensor<fp16, [4]> c = cast(dtype = string("fp16"), x = i)[name = string("c")]'
AGAIN = 'tensor<fp16, [4]> d = cast(dtype = string("fp16"), x = i)[name = string("d")]'
ADD = 'tensor<fp16, [4]> y = add(x = c, y = c)[name = string("y")]'
OWN = 'tensor<int32, [4]> z = add(x = i, y = i)[name = string("z")]'
ABS = 'tensor<fp16, [4]> y = abs(x = x)[name = string("y")]'
DEQUANTIZE = 'tensor<fp16, [4]> c = dequantize(input = i, scale = fp16(0.5))[name = string("c")]'
INSIDE = """tensor<fp16, [4]> y = cond(pred = p)[name = string("y")]
                () { CAST; } -> (c) () { AGAIN; } -> (d)"""


@pytest.mark.parametrize(
    ("inputs", "operations", "output", "expected"),
    [
        ("tensor<int32, [4]> i", [CAST, ADD], "y", "Float16"),
        ("tensor<int32, [4]> i", [CAST, AGAIN, ADD], "y", "Float16"),
        ("tensor<int32, [4]> i, tensor<int32, [4]> j", [CAST, ADD], "y, j", "Mixed (Float16, Int32)"),
        ("tensor<int32, [4]> i", [CAST, ADD], "y, i", "Mixed (Float16, Int32)"),
        ("tensor<int32, [4]> i", [CAST, ADD, OWN], "y", "Mixed (Float16, Int32)"),
        ("tensor<fp16, [4]> x, tensor<fp32, [4]> unused", [ABS], "y", "Mixed (Float16, Float32)"),
        ("tensor<fp32, [4]> i", [CAST], "c", "Float16"),
        ("tensor<fp16, [4]> i", [CAST, ADD], "y", "Float16"),
        ("tensor<int8, [4]> i", [DEQUANTIZE, ADD], "y", "Float16"),
        (
            "tensor<bool, []> p, tensor<fp32, [4]> i",
            [INSIDE.replace("CAST", CAST).replace("AGAIN", AGAIN)],
            "y",
            "Float16",
        ),
    ],
    ids=[
        "cast",
        "twice",
        "beside an output",
        "output too",
        "used too",
        "unused",
        "alone",
        "same type",
        "dequantized",
        "in blocks",
    ],
)
def test_inputs_that_are_only_converted_do_not_count(
    inputs: str, operations: list[str], output: str, expected: str
) -> None:
    made = function(inputs, *operations, output=output)
    assert joined(used_types(made, operations_of(made))) == expected


# ---- the types in which weights are stored


def in_file(kind: str, offset: int) -> str:
    return f'tensor<{kind}>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({offset})))'


def table(indices: str, lut: str) -> str:
    return f'tensor<fp16, [2, 16]> w = constexpr_lut_to_dense(indices = {indices}, lut = {lut})[name = string("w")]'


ADDED = 'tensor<fp16, [2, 16]> y = add(x = x, y = w)[name = string("y")]'
BYTES, BITS, TABLE = "uint8, [2, 16]", "uint4, [2, 16]", "fp16, [1, 1, 256, 1]"
BLOCKS = (
    f"constexpr_blockwise_shift_scale(data = {in_file('int4, [2, 16]', 64)}, scale = {in_file('fp16, [2, 1]', 128)})"
)
INLINE = "tensor<fp16, [1, 1, 4, 1]>([[[[0x0p+0], [0x1p+0], [0x1p+1], [0x1.8p+1]]]])"


@pytest.mark.parametrize(
    ("operations", "expected", "kind"),
    [
        (
            [table(in_file(BYTES, 64), in_file(TABLE, 128))],
            "Mixed (Float16, Palettized (8 bits), UInt8)",
            "elsewhere",
        ),
        (
            [table(in_file(BITS, 64), in_file("fp16, [1, 1, 16, 1]", 128))],
            "Mixed (Float16, Palettized (4 bits), UInt4)",
            "never",
        ),
        ([table(in_file("uint2, [2, 16]", 64), INLINE)], "Mixed (Palettized (2 bits), UInt2)", "never"),
        (
            [
                f'tensor<{BYTES}> i = const()[name = string("i"), val = {in_file(BYTES, 64)}]',
                f'tensor<{TABLE}> t = const()[name = string("t"), val = {in_file(TABLE, 128)}]',
                table("i", "t"),
            ],
            "Mixed (Float16, Palettized (8 bits), UInt8)",
            "never",
        ),
        (
            [f'tensor<fp16, [2, 16]> w = {BLOCKS}[name = string("w")]'],
            "Mixed (Float16, Int4)",
            "never",
        ),
    ],
    ids=["8 bits", "4 bits", "table in the program", "named parts", "blocks"],
)
def test_weights_of_ios18_count_by_their_parts(operations: list[str], expected: str, kind: str) -> None:
    made = function("tensor<fp16, [2, 16]> x", *operations, ADDED)
    words, doubts = stored_as(operations_of(made))
    assert (joined(words), {"elsewhere" if doubt.source else "never" for doubt in doubts}) == (expected, {kind})
