"""Quantized tensors and compressed constants, held against their formulas element by element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil
from typing import Any

import numpy as np
import pytest
from support.evaluation import computed
from support.one_operation import applied

import miltext
from miltext.evaluation.failures import OperationFailure


def constants(call: str, opset: str = "ios18", outputs: int = 1, compute: str = "float32") -> list[Any]:
    """The outputs of a call that takes constants only."""
    names = ", ".join(f"made{place}" for place in range(outputs))
    text = f"program(1.3) {{ func main<{opset}>(fp32 x) {{ {names} = {call}; }} -> ({names}); }}"
    made = computed(text, {"x": np.float32(0)}, compute=compute)
    return [made[name] for name in names.split(", ")]


def spelled(dtype: str, array: Any) -> str:
    """An array as a literal of a draft."""
    array = np.asarray(array)
    if not array.shape:
        return f"{dtype}({array.item()})"
    return f"tensor<{dtype}, [{', '.join(map(str, array.shape))}]>({array.tolist()})"


def cells(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return iter(np.ndindex(*shape))


NUMPY = {"fp16": np.float16, "fp32": np.float32}
COMPUTED = pytest.mark.parametrize(("dtype", "compute"), [("fp32", "float32"), ("fp16", "float32"), ("fp16", "native")])

# ---- one scale, or one for each place along an axis


@COMPUTED
@pytest.mark.parametrize(
    ("kind", "scale", "zero_point", "axis", "expected"),
    [
        ("int8", 0.5, None, None, [[-128, -4, -1], [0, 1, 127]]),
        ("int8", 0.5, 3, None, [[-128, -1, 2], [3, 4, 127]]),
        ("uint8", 0.5, 128, None, [[0, 124, 127], [128, 129, 255]]),
        ("int8", [0.5, 0.25], [0, 1], 0, [[-128, -4, -1], [1, 3, 127]]),
        ("uint8", [1.0, 2.0, 0.5], [10, 20, 30], -1, [[0, 19, 29], [10, 20, 255]]),
    ],
)
def test_quantize(
    kind: str, scale: Any, zero_point: Any, axis: int | None, expected: Any, dtype: str, compute: str
) -> None:
    x = np.array([[-300, -2, -0.6], [0.1, 0.5, 300]], NUMPY[dtype])
    options = "" if zero_point is None else f", zero_point = {spelled(kind, zero_point)}"
    options += "" if axis is None else f", axis = {axis}"
    call = f'quantize(input = x, scale = {spelled(dtype, scale)}, output_dtype = "{kind}"{options})'
    [made] = applied(call, {"x": x}, compute=compute)
    assert made.tolist() == expected
    assert made.dtype == kind


def test_quantize_rounds_halves_to_even_before_the_zero_point() -> None:
    x = np.array([-1.5, -0.5, 0.5, 1.5, 2.5], np.float32)
    call = 'quantize(input = x, scale = 1.0, zero_point = int8(1), output_dtype = "int8")'
    assert applied(call, {"x": x})[0].tolist() == [-1, 1, 1, 3, 3]


@COMPUTED
@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((), None), ((4,), None), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((0, 3), 1), ((1, 2, 1, 3, 2), 3)],
)
@pytest.mark.parametrize("shifted", [True, False])
def test_dequantize(
    shape: tuple[int, ...], axis: int | None, kind: str, dtype: str, shifted: bool, compute: str
) -> None:
    random, least = np.random.default_rng(0), np.iinfo(kind).min
    x = random.integers(least, least + 256, shape).astype(kind)
    sizes = () if axis is None else (shape[axis],)
    scale, zero = random.choice([0.5, 0.25, 0.125], sizes), random.integers(least, least + 256, sizes)
    options = f", zero_point = {spelled(kind, zero)}" if shifted else ""
    options += "" if axis is None else f", axis = {axis}"
    [made] = applied(f"dequantize(input = x, scale = {spelled(dtype, scale)}{options})", {"x": x}, compute=compute)
    expected = np.empty(shape)
    for at in cells(shape):
        place = () if axis is None else (at[axis],)
        expected[at] = float(scale[place]) * (int(x[at]) - int(zero[place]) * shifted)
    assert made.dtype == NUMPY[dtype]
    assert np.array_equal(made, expected)
    if shape and x.size:
        call = f"constexpr_affine_dequantize(quantized_data = {spelled(kind, x)}, scale = {spelled(dtype, scale)}"
        call += f", zero_point = {spelled(kind, zero * shifted)}, axis = {axis or 0})"
        for opset in ("ios16", "ios18"):
            assert np.array_equal(constants(call, opset, compute=compute)[0], expected)


def test_a_zero_point_may_be_a_float() -> None:
    data = "tensor<uint8, [2]>([0, 255])"
    call = f"constexpr_affine_dequantize(quantized_data = {data}, scale = 2.0, zero_point = 0.5, axis = 0)"
    assert constants(call)[0].tolist() == [-1, 509]


def test_a_constant_is_cast() -> None:
    [made] = constants('constexpr_cast(source_val = tensor<fp16, [2]>([0.1, 65504]), output_dtype = "fp32")', "ios16")
    assert made.dtype == np.float32
    assert made.tolist() == [float(np.float16(0.1)), 65504]


# ---- a scale for each block

KINDS = {"int4": (-8, 7), "uint4": (0, 15), "int8": (-128, 127), "uint8": (0, 255)}


@COMPUTED
@pytest.mark.parametrize("kind", [*KINDS, "fp16", "fp32"])
@pytest.mark.parametrize("offset", ["none", "same", "float"])
@pytest.mark.parametrize(
    ("shape", "blocks"), [((4,), (2,)), ((4, 6), (1, 1)), ((4, 6), (2, 3)), ((4, 6), (4, 1)), ((2, 4, 3), (1, 2, 3))]
)
def test_blockwise_shift_scale(
    shape: tuple[int, ...], blocks: tuple[int, ...], kind: str, offset: str, dtype: str, compute: str
) -> None:
    random, (least, most) = np.random.default_rng(0), KINDS.get(kind, (-8, 7))
    data = random.integers(least, most + 1, shape)
    scale, shift = random.choice([0.5, 0.25, 2], blocks), random.integers(least, most + 1, blocks)
    shifts = {"none": "", "same": f", offset = {spelled(kind, shift)}", "float": f", offset = {spelled(dtype, shift)}"}
    options = f"scale = {spelled(dtype, scale)}{shifts[offset]}"
    expected = np.empty(shape)
    for at in cells(shape):
        block = tuple(place * count // size for place, count, size in zip(at, blocks, shape, strict=True))
        expected[at] = scale[block] * (data[at] - (offset != "none") * shift[block])
    call = f"constexpr_blockwise_shift_scale(data = {spelled(kind, data)}, {options})"
    [made] = constants(call, compute=compute)
    assert made.dtype == NUMPY[dtype]
    assert np.array_equal(made, expected)
    mask = random.integers(0, 2, shape)
    given = f"data_mask = {spelled('uint1', mask)}, nonzero_data = {spelled(kind, data[mask == 1])}"
    call = f"constexpr_sparse_blockwise_shift_scale({given}, {options})"
    same, made = constants(call, outputs=2, compute=compute)
    assert np.array_equal(same, mask)
    assert made.dtype == NUMPY[dtype]
    assert np.array_equal(made, expected[mask == 1])


# ---- look-up tables


def packed(numbers: Any, bits: int) -> list[int]:
    """Numbers in bytes, bit by bit, the least first."""
    stream = "".join(format(int(number), f"0{bits}b")[::-1] for number in np.ravel(numbers))
    return [int(stream[first : first + 8].ljust(8, "0")[::-1], 2) for first in range(0, len(stream), 8)]


@pytest.mark.parametrize("whole", [False, True], ids=["packed", "whole bytes"])
@pytest.mark.parametrize("dtype", ["fp16", "fp32", "int8", "uint8"])
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (5,), (3, 7), (2, 3, 2, 2)])
@pytest.mark.parametrize("bits", [1, 2, 4, 6, 8])
def test_a_table_of_packed_indices(bits: int, shape: tuple[int, ...], dtype: str, whole: bool) -> None:
    random = np.random.default_rng(0)
    indices, lut = random.integers(0, 1 << bits, shape), random.permutation(1 << bits) % 127
    octets = indices.ravel().tolist() if whole and indices.size * bits > 24 else packed(indices, bits)
    call = f"constexpr_lut_to_dense(indices = {spelled('uint8', octets)}, lut = {spelled(dtype, lut)}"
    [made] = constants(f"{call}, shape = {spelled('uint32', shape)})", "ios16")
    assert made.dtype == dtype.replace("fp", "float")
    assert np.array_equal(made, lut[indices])


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "int8", "uint8"])
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize(
    ("shape", "blocks", "size", "axis"),
    [
        ((5,), (1,), 1, None),
        ((4, 6), (1, 1), 1, None),
        ((4, 6), (2, 3), 1, None),
        ((4, 6), (4, 1), 1, 1),
        ((4, 6), (1, 1), 2, 0),
        ((4, 6), (2, 3), 3, 1),
        ((2, 4, 3), (1, 2, 1), 2, -1),
        ((2, 4, 3), (2, 2, 3), 4, -2),
        ((2, 2, 1, 3, 2), (1, 2, 1, 1, 2), 2, 2),
    ],
)
def test_tables_for_blocks(
    shape: tuple[int, ...], blocks: tuple[int, ...], size: int, axis: int | None, bits: int, dtype: str
) -> None:
    random = np.random.default_rng(0)
    indices = random.integers(0, 1 << bits, shape)
    lut = random.integers(0, 127, (*blocks, 1 << bits, size))
    axis_given = "" if axis is None else f", vector_axis = {axis}"
    expected = np.empty(
        [width * size if axis is not None and at == axis % len(shape) else width for at, width in enumerate(shape)]
    )
    for at in cells(expected.shape):
        entry = [
            place // size if axis is not None and turn == axis % len(shape) else place for turn, place in enumerate(at)
        ]
        block = tuple(place * count // width for place, count, width in zip(entry, blocks, shape, strict=True))
        expected[at] = lut[block][indices[tuple(entry)]][0 if axis is None else at[axis] % size]
    options = f"lut = {spelled(dtype, lut)}{axis_given}"
    [made] = constants(f"constexpr_lut_to_dense(indices = {spelled(f'uint{bits}', indices)}, {options})")
    assert made.dtype == dtype.replace("fp", "float")
    assert np.array_equal(made, expected)
    mask = random.integers(0, 2, shape)
    wide = mask if axis is None else mask.repeat(size, axis)
    call = f"constexpr_lut_to_sparse(indices_mask = {spelled('uint1', mask)}, indices_nonzero_data = "
    same, made = constants(f"{call}{spelled(f'uint{bits}', indices[mask == 1])}, {options})", outputs=2)
    assert np.array_equal(same, wide)
    assert np.array_equal(made, expected[wide == 1])


def test_tables_are_looked_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miltext.evaluation.operations.compression.MOST", 4)
    test_tables_for_blocks((4, 6), (2, 3), 3, 1, 3, "fp16")
    test_tables_for_blocks((5,), (1,), 1, None, 2, "fp32")


# ---- sparse data


@pytest.mark.parametrize("opset", ["ios16", "ios18"])
@pytest.mark.parametrize("kind", ["fp16", "fp32", "int8", "uint8", "int4", "uint4"])
@pytest.mark.parametrize("shape", [(1,), (8,), (9,), (3, 7), (2, 3, 2, 2)])
@pytest.mark.parametrize("ones", ["none", "some", "all"])
def test_sparse_data(ones: str, shape: tuple[int, ...], kind: str, opset: str) -> None:
    if opset == "ios16" and kind.endswith("int4"):
        return
    mask = {
        "none": np.zeros(shape, int),
        "some": np.random.default_rng(0).integers(0, 2, shape),
        "all": np.ones(shape, int),
    }[ones]
    data = np.arange(1, mask.sum() + 1) % 7 + 1
    expected = np.zeros(shape)
    expected.flat[np.flatnonzero(mask)] = data
    held = spelled("uint8", packed(mask, 1)) if opset == "ios16" else spelled("uint1", mask)
    given = spelled(kind, data) if data.size else f"tensor<{kind}, [0]>([])"
    option = f", shape = {spelled('uint32', shape)}" if opset == "ios16" else ""
    [made] = constants(f"constexpr_sparse_to_dense(nonzero_data = {given}, mask = {held}{option})", opset)
    assert np.array_equal(made, expected)


# ---- what does not fit together, in programs that nobody checked


@pytest.mark.parametrize(
    ("stated", "call", "told"),
    [
        (
            "ios18> tensor<fp32, [3]>",
            "constexpr_sparse_to_dense(mask = tensor<uint1, [3]>([1, 0, 1]), nonzero_data = tensor<fp32, [1]>([5.0]))",
            "`mask` has 2 ones, for 1 elements",
        ),
        (
            "ios16> tensor<fp32, [9]>",
            (
                "constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([1]), nonzero_data = tensor<fp32, [1]>([5.0]), "
                "shape = tensor<uint32, [1]>([9])]"
            ),
            r"`shape` is [9]: 9 numbers of 1 bits take 2 bytes, not 1",
        ),
        (
            "ios16> tensor<fp32, [9]>",
            (
                "constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([1]), lut = tensor<fp32, [4]>([1, 2, 3, 4]), "
                "shape = tensor<uint32, [1]>([9])]"
            ),
            r"`shape` is [9]: 9 numbers of 2 bits take 3 bytes, not 1",
        ),
        (
            "ios18> tensor<fp32, [3]>",
            "constexpr_lut_to_dense(indices = tensor<uint2, [3]>([1, 2, 3]), lut = tensor<fp32, [1, 1, 1]>([[[1]]]))",
            "index 1 is out of bounds",
        ),
        (
            "ios18> tensor<fp32, [3]>",
            "constexpr_blockwise_shift_scale(data = tensor<int8, [3]>([1, 2, 3]), scale = tensor<fp32, [2]>([1, 2]))",
            "cannot reshape",
        ),
    ],
)
def test_a_mismatch_is_reported(stated: str, call: str, told: str) -> None:
    opset, _, made = stated.partition("> ")
    text = f"program(1.3) {{ func main<{opset}>(fp32 x) {{ {made} y = {call}; }} -> (y); }}"
    with pytest.raises(OperationFailure, match=re.escape(told)):
        computed(miltext.parse(text), {"x": np.float32(0)})


def test_bits_are_as_defined() -> None:
    assert packed([1, 2, 3], 2) == [0b111001]
    assert packed([1, 2, 3], 6) == [0b10000001, 0b00110000, 0b00]
    assert len(packed(np.zeros(5), 3)) == ceil(15 / 8)
