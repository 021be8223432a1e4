"""What gives elements another shape or order, held against numpy by another way, or torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.one_operation import applied, counted, taken

from miltext.evaluation.failures import OperationFailure

CASES: list[tuple[str, tuple[int, ...], Callable[[Any], Any]]] = [
    ("identity(x)", (2, 3), lambda x: x),
    ("identity(x)", (), lambda x: x),
    ("identity(x)", (0, 3), lambda x: x),
    ("reshape(x, shape = [3, 2])", (2, 3), lambda x: x.ravel().reshape(3, 2)),
    ("reshape(x, shape = [-1])", (2, 3), np.ravel),
    ("reshape(x, shape = [-1, 2])", (2, 3), lambda x: x.ravel().reshape(3, 2)),
    ("reshape(x, shape = [0, -1])", (2, 3), lambda x: x),
    ("reshape(x, shape = [-1, 0])", (2, 3, 4), np.concatenate),
    ("reshape(x, shape = [1, 0, -1, 0])", (2, 50), lambda x: x[None, None]),
    ("reshape(x, shape = [0, 0, 0])", (2, 3), lambda x: x[None]),
    ("reshape(x, shape = [1])", (), lambda x: np.array([x])),
    ("reshape(x, shape = [-1, 3])", (0, 3), lambda x: x),
    ("reshape(x, shape = [])", (1,), lambda x: x[0]),
    ("flatten2d(x)", (2, 3, 4), lambda x: np.stack([np.concatenate(row) for row in x])),
    ("flatten2d(x, axis = 0)", (2, 3), lambda x: np.concatenate(x)[None]),
    ("flatten2d(x, axis = -1)", (2, 3, 4), np.concatenate),
    ("flatten2d(x, axis = 3)", (2, 3, 4), lambda x: x.ravel()[:, None]),
    ("flatten2d(x)", (3,), lambda x: x[:, None]),
    ("flatten2d(x)", (0, 3), lambda x: x),
    ("expand_dims(x, axes = [0, 2])", (2, 3), lambda x: x[None, :, None]),
    ("expand_dims(x, axes = [-1])", (2, 3), lambda x: x[..., None]),
    ("expand_dims(x, axes = [-1, 0, 1])", (2,), lambda x: x[None, None, :, None]),
    ("expand_dims(x, axes = [0])", (), lambda x: np.array([x])),
    ("squeeze(x)", (1, 2, 1, 3), lambda x: x[0, :, 0]),
    ("squeeze(x, axes = [2])", (1, 2, 1, 3), lambda x: x[:, :, 0]),
    ("squeeze(x, axes = [-4, -2])", (1, 2, 1, 3), lambda x: x[0, :, 0]),
    ("squeeze(x)", (1,), lambda x: x[0]),
    ("squeeze(x)", (2, 3), lambda x: x),
    ("squeeze(x)", (1, 0), lambda x: x[0]),
    ("transpose(x, perm = [1, 0])", (2, 3), lambda x: np.stack([x[:, 0], x[:, 1], x[:, 2]])),
    ("transpose(x, perm = [-1, 0, -2])", (2, 3, 4), lambda x: np.moveaxis(x, 2, 0)),
    ("transpose(x, perm = [0])", (3,), lambda x: x),
    ("transpose(x, perm = [2, 1, 0])", (0, 3, 2), lambda x: np.swapaxes(x, 0, 2)),
    ("transpose(x, perm = [4, 3, 2, 1, 0])", (1, 2, 1, 3, 2), np.transpose),
    ("tile(x, reps = [2])", (3,), lambda x: np.concatenate([x, x])),
    ("tile(x, reps = [2, 3])", (2, 2), lambda x: np.vstack([np.hstack([x] * 3)] * 2)),
    ("tile(x, reps = [1, 1])", (2, 2), lambda x: x),
    ("tile(x, reps = [2, 3])", (0, 2), lambda x: np.hstack([x] * 3)),
    ("reverse(x)", (2, 3), lambda x: x[::-1, ::-1]),
    ("reverse(x, axes = [-1])", (2, 3), lambda x: x[:, ::-1]),
    ("reverse(x, axes = [0, 2])", (2, 3, 2), lambda x: x[::-1, :, ::-1]),
    ("reverse(x)", (0, 3), lambda x: x),
    ("reverse(x)", (), lambda x: x),
    ("pad(x, pad = [1, 2])", (3,), lambda x: np.concatenate([[0], x, [0, 0]])),
    ("pad(x, pad = [1, 2], constant_val = 7.0)", (2, 2), lambda x: np.array([[7, *row, 7, 7] for row in x])),
    ("pad(x, pad = [1, 0, 0, 1])", (2, 2), lambda x: np.vstack([np.zeros(3), np.hstack([x, np.zeros((2, 1))])])),
    ('pad(x, pad = [2, 1], mode = "reflect")', (2, 3), lambda x: x[:, [2, 1, 0, 1, 2, 1]]),
    ('pad(x, pad = [0, 2, 1, 0], mode = "reflect")', (3, 2), lambda x: x[[0, 1, 2, 1, 0]][:, [1, 0, 1]]),
    ('pad(x, pad = [2, 1], mode = "replicate")', (2, 3), lambda x: x[:, [0, 0, 0, 1, 2, 2]]),
    ('pad(x, pad = [3, 3], mode = "replicate")', (2, 3), lambda x: x[:, [0, 0, 0, 0, 1, 2, 2, 2, 2]]),
    ("pad(x, pad = [0, 0])", (0, 3), lambda x: x),
    ("pad(x, pad = [2, 0, 0, 0])", (0, 3), lambda x: np.zeros((2, 3))),
    (
        "pad(x, pad = [0, 0, 0, 0, 1, 1])",
        (2, 1, 3, 2),
        lambda x: np.concatenate([x[..., :1] * 0, x, x[..., :1] * 0], 3),
    ),
    ("crop(x, crop_height = [1, 0], crop_width = [1, 2])", (2, 3, 4), lambda x: x[:, [1, 2]][:, :, [1]]),
    ("crop(x, crop_height = [0, 0], crop_width = [0, 0])", (2, 1, 3, 4), lambda x: x),
    ("band_part(x)", (2, 3, 3), lambda x: x),
    ("band_part(x, lower = 0)", (2, 3, 4), np.triu),
    ("band_part(x, upper = 0)", (2, 3, 4), np.tril),
    ("band_part(x, lower = 0, upper = 0)", (3, 2), lambda x: np.tril(np.triu(x))),
    ("band_part(x, lower = 1, upper = 2)", (2, 5, 6), lambda x: np.tril(np.triu(x, -1), 2)),
    ("band_part(x, lower = 9, upper = 9)", (2, 2), lambda x: x),
    ("sliding_windows(x, axis = 0, size = 3)", (5,), lambda x: np.stack([x[:3], x[1:4], x[2:]])),
    ("sliding_windows(x, axis = -1, size = 2, stride = 2)", (2, 5), lambda x: np.stack([x[:, :2], x[:, 2:4]], 1)),
    ("sliding_windows(x, axis = 1, size = 2, stride = 3)", (2, 5, 3), lambda x: np.stack([x[:, :2], x[:, 3:]], 1)),
    ("sliding_windows(x, axis = 0, size = 4)", (4, 2), lambda x: x[None]),
    ("reverse_sequence(x, lengths = [2, 0, 3], seq_axis = 1)", (3, 3), lambda x: _reversed(x, [2, 0, 3])),
    ("reverse_sequence(x, lengths = [1, 3], seq_axis = -1)", (2, 3), lambda x: _reversed(x, [1, 3])),
    ("reverse_sequence(x, lengths = [2, 3], seq_axis = 0, batch_axis = 1)", (3, 2), lambda x: _reversed(x.T, [2, 3]).T),
]


def _reversed(x: Any, lengths: list[int]) -> Any:
    return np.stack(
        [np.concatenate([row[:length][::-1], row[length:]]) for row, length in zip(x, lengths, strict=True)]
    )


@pytest.mark.parametrize(("call", "shape", "expected"), CASES, ids=[f"{call} of {shape}" for call, shape, _ in CASES])
def test_elements_are_moved_as_defined(call: str, shape: tuple[int, ...], expected: Callable[[Any], Any]) -> None:
    for dtype in taken(call.partition("(")[0]):
        x = counted(shape, dtype)
        [made] = applied(call, {"x": x})
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, expected(x))


F = np.float32
RUNTIME: list[tuple[str, dict[str, str], dict[str, Any], Any]] = [
    ("reshape(x, shape = s)", {}, {"x": np.arange(6, dtype=F), "s": [2, 3]}, [[0, 1, 2], [3, 4, 5]]),
    ("reshape(x, shape = s)", {}, {"x": np.arange(6, dtype=F), "s": [-1, 2]}, [[0, 1], [2, 3], [4, 5]]),
    (
        "reshape(x, shape = s)",
        {"made": "tensor<fp32, [2, ?]>", "s": "tensor<int32, [?]>"},
        {"x": np.arange(4, dtype=F), "s": [2, 2]},
        [[0, 1], [2, 3]],
    ),
    ("reshape(x, shape = [3, 0])", {"x": "tensor<fp32, [3, ?]>"}, {"x": np.ones([3, 0], F)}, np.ones([3, 0])),
    ("reshape(x, shape = [0, -1])", {"x": "tensor<fp32, [?, ?]>"}, {"x": np.ones([2, 0], F)}, np.ones([2, 0])),
    ("flatten2d(x)", {"x": "tensor<fp32, [?, ?, 3]>"}, {"x": np.ones([2, 1, 3], F)}, np.ones([2, 3])),
    ("tile(x, reps = r)", {}, {"x": np.array([[1, 2]], F), "r": [2, 2]}, [[1, 2, 1, 2], [1, 2, 1, 2]]),
    ("pad(x, pad = p)", {}, {"x": np.array([[1, 2]], F), "p": [1, 0, 0, 1]}, [[0, 0, 0], [1, 2, 0]]),
    ("reverse_sequence(x, lengths = n, seq_axis = 1)", {}, {"x": np.array([[1, 2, 3]], F), "n": [2]}, [[2, 1, 3]]),
    ("shape(x)", {"x": "tensor<fp32, [?, 3]>"}, {"x": np.ones([0, 3], F)}, [0, 3]),
    ("shape(x)", {}, {"x": np.ones([], F)}, []),
    *(
        (call, {"x": f"tensor<fp32, {declared}>", "made": f"tensor<fp32, {kept}>"}, {"x": np.ones(shape, F)}, made)
        for call, declared, kept, shape, made in [
            ("squeeze(x)", "[?, 1, 3]", "[?, 3]", (1, 1, 3), np.ones([1, 3])),
            ("squeeze(x)", "[?, 1, 3]", "[?, 3]", (2, 1, 3), np.ones([2, 3])),
            ("squeeze(x)", "[1, ?, 3]", "[?, 3]", (1, 1, 3), np.ones([1, 3])),
            ("squeeze(x, axes = [0])", "[?, 3]", "[3]", (1, 3), np.ones(3)),
            ("squeeze(x, axes = [0])", "[?, 3]", "[?, 3]", (1, 3), np.ones([1, 3])),
            ("squeeze(x, axes = [0, 1])", "[?, 1]", "[?]", (1, 1), np.ones(1)),
        ]
    ),
]


@pytest.mark.parametrize(("call", "types", "inputs", "expected"), RUNTIME)
def test_sizes_may_be_known_only_at_run_time(
    call: str, types: dict[str, str], inputs: dict[str, Any], expected: Any
) -> None:
    arrays = {name: np.asarray(value, None if name == "x" else np.int32) for name, value in inputs.items()}
    [made] = applied(call, arrays, types)
    np.testing.assert_array_equal(made, expected)
    assert made.shape == np.shape(expected)


KEPT = [
    ("ios16", (2, 3, 6), [0, 0, 6], (2, 3, 6)),
    ("ios16", (2, 3, 6), [0, -1, 0], (2, 3, 6)),
    ("ios17", (2, 3, 6), [0, -1, 0], (2, 3, 6)),
    ("ios17", (2, 3, 6), [-1, 0], (6, 6)),
    ("ios17", (2, 3), [0, 0, -1], (1, 2, 3)),
    ("ios18", (2, 50), [1, 0, -1, 0], (1, 1, 2, 50)),
]


@pytest.mark.parametrize(("opset", "shape", "sizes", "expected"), KEPT)
def test_a_size_that_is_kept_is_counted_as_the_opset_does(
    opset: str, shape: tuple[int, ...], sizes: list[int], expected: tuple[int, ...]
) -> None:
    x = counted(shape, np.float32)
    for call in (f"reshape(x, shape = {sizes})", "reshape(x, shape = s)"):
        [made] = applied(call, {"x": x, "s": np.array(sizes, np.int32)}, opset=opset)
        np.testing.assert_array_equal(made, x.ravel().reshape(expected))


def test_zeros_before_ios17_need_as_many_dimensions() -> None:
    x, s = np.ones([2, 3], np.float32), np.array([0, 0, -1], np.int32)
    with pytest.raises(OperationFailure, match="`shape` keeps sizes of `x` with 0, and must have 2 numbers, not 3"):
        applied("reshape(x, shape = s)", {"x": x, "s": s}, opset="ios16")


STRETCHES = [
    ("(a, b)", "(0, 1)", "(1, 2)", "(false, false)", (4, 6)),
    ("(a, b)", "(0, 1)", "(1, 0)", "(false, true)", (4, 6)),
    ("(a, b, b)", "(0, 1, 2)", "(1, 2, 2)", "(false, false, false)", (4, 6)),
    ("(b, a)", "(-1, -2)", "(2, -1)", "(false, false)", (6, 4)),
    ("(c)", "(0)", "(0)", "(true)", (2, 3, 4)),
    ("(c, c)", "(1, 0)", "(0, 1)", "(true, false)", (3, 4, 2)),
]


@pytest.mark.parametrize(("references", "begins", "ends", "masks", "expected"), STRETCHES)
def test_a_shape_is_put_together_of_others(
    references: str, begins: str, ends: str, masks: str, expected: tuple[int, ...]
) -> None:
    x = counted((2, 12), np.float16)
    likes = {"a": np.ones([4, 5], np.int32), "b": np.ones([7, 6], np.bool_), "c": np.ones([2, 3, 4], np.float32)}
    call = f"reshape_like(x, {references}, begins = {begins}, ends = {ends}, end_masks = {masks})"
    [made] = applied(call, {"x": x, **likes})
    np.testing.assert_array_equal(made, x.ravel().reshape(expected))


# ---- blocks moved between dimensions

BLOCKS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Callable[..., Any]]] = {
    "depth_to_space(x, block_size = 2)": (
        (2, 8, 3, 2),
        (2, 2, 6, 4),
        lambda n, c, h, w: (n, ((h % 2) * 2 + w % 2) * 2 + c, h // 2, w // 2),
    ),
    "space_to_depth(x, block_size = 3)": (
        (2, 2, 3, 6),
        (2, 18, 1, 2),
        lambda n, c, h, w: (n, c % 2, h * 3 + c // 2 // 3, w * 3 + c // 2 % 3),
    ),
    "pixel_shuffle(x, upscale_factor = 2)": (
        (1, 12, 2, 3),
        (1, 3, 4, 6),
        lambda n, c, h, w: (n, (c * 2 + h % 2) * 2 + w % 2, h // 2, w // 2),
    ),
    "pixel_unshuffle(x, downscale_factor = 2)": (
        (1, 3, 4, 6),
        (1, 12, 2, 3),
        lambda n, c, h, w: (n, c // 4, h * 2 + c % 4 // 2, w * 2 + c % 2),
    ),
    "space_to_batch(x, block_shape = [2, 3], paddings = [[0, 0], [0, 0]])": (
        (2, 2, 4, 6),
        (12, 2, 2, 2),
        lambda n, c, h, w: (n % 2, c, h * 2 + n // 2 // 3, w * 3 + n // 2 % 3),
    ),
    "batch_to_space(x, block_shape = [3, 2], crops = [[1, 2], [0, 1]])": (
        (12, 1, 2, 3),
        (2, 1, 3, 5),
        lambda n, c, h, w: (((h + 1) % 3 * 2 + w % 2) * 2 + n, c, (h + 1) // 3, w // 2),
    ),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("call", BLOCKS)
def test_blocks_move_to_places_of_a_formula(call: str, dtype: type) -> None:
    shape, moved, source = BLOCKS[call]
    x = counted(shape, dtype)
    [made] = applied(call, {"x": x})
    assert made.shape == moved
    np.testing.assert_array_equal(made, x[source(*np.indices(moved))])


def test_a_space_moved_into_the_batch_is_padded_with_zeros() -> None:
    x = counted((1, 1, 1, 3), np.float32)
    [made] = applied("space_to_batch(x, block_shape = [2, 2], paddings = [[1, 0], [0, 1]])", {"x": x})
    assert made.ravel().tolist() == [0, 0, 0, 0, 1, 3, 2, 0]


@pytest.mark.parametrize("call", BLOCKS)
def test_blocks_of_nothing_stay_nothing(call: str) -> None:
    shape, moved, _ = BLOCKS[call]
    x = np.ones([0, *shape[1:]], np.float32)
    [made] = applied(call, {"x": x})
    assert made.shape == (0, *moved[1:])


@pytest.mark.parametrize(
    ("call", "name"), [("pixel_shuffle(x, upscale_factor = 3)", "shuffle"), ("pixel_unshuffle(x, 3)", "unshuffle")]
)
def test_pixels_are_shuffled_as_torch_does(call: str, name: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).random((2, 9, 3, 6), np.float32)
    [made] = applied(call, {"x": x})
    np.testing.assert_array_equal(made, getattr(functional, f"pixel_{name}")(torch.from_numpy(x), 3).numpy())


@pytest.mark.parametrize("mode", ["reflect", "replicate", "constant"])
def test_padding_matches_torch(mode: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).random((1, 2, 4, 5), np.float32)
    [made] = applied(f'pad(x, pad = [1, 2, 3, 4], mode = "{mode}")', {"x": x})
    np.testing.assert_array_equal(made, functional.pad(torch.from_numpy(x), (3, 4, 1, 2), mode=mode).numpy())


def test_elements_outside_of_a_band_are_zero_even_for_nan() -> None:
    [made] = applied("band_part(x, lower = 0)", {"x": np.full([2, 2], np.nan, np.float32)})
    np.testing.assert_array_equal(made, [[np.nan, np.nan], [0, np.nan]])


def test_padding_is_rounded_to_the_type_of_x() -> None:
    [made] = applied("pad(x, pad = [1, 0], constant_val = 0.1)", {"x": np.ones(1, np.float16)})
    assert made.dtype == np.float16
    assert made.tolist() == [float(np.float16(0.1)), 1]


# ---- values without a result

UNEVEN = [
    (
        "depth_to_space(x, block_size = 2)",
        (1, 6, 2, 2),
        "`block_size` requires a multiple of 4, but the number of chan",
    ),
    ("pixel_shuffle(x, upscale_factor = 2)", (0, 2, 2, 2), "`upscale_factor` requires a multiple of 4, but the number"),
    ("space_to_depth(x, block_size = 2)", (1, 1, 3, 2), "`block_size` requires a multiple of 2, but the height of `x`"),
    (
        "pixel_unshuffle(x, downscale_factor = 2)",
        (1, 1, 2, 5),
        "`downscale_factor` requires .* 2, but the width of `x` is 5",
    ),
    (
        "space_to_batch(x, [2, 1], paddings = [[1, 0], [0, 0]])",
        (1, 1, 2, 5),
        "`block_shape` .* 2, but the height .* is 3",
    ),
    (
        "batch_to_space(x, [2, 2], crops = [[0, 0], [0, 0]])",
        (6, 1, 2, 2),
        "`block_shape` .* 4, but the batch of `x` is 6",
    ),
]


@pytest.mark.parametrize(("call", "shape", "told"), UNEVEN)
def test_blocks_beyond_the_sizes_are_reported_at_the_operation(call: str, shape: tuple[int, ...], told: str) -> None:
    with pytest.raises(OperationFailure, match=told):
        applied(call, {"x": np.ones(shape, np.float32)}, {"x": "tensor<fp32, [?, ?, ?, ?]>"})


def test_a_vector_has_no_band() -> None:
    with pytest.raises(OperationFailure, match=r"`x` is \[4\], and has no matrices"):
        applied("band_part(x, lower = 0)", {"x": np.ones(4, np.float32)})


UNFIT = [
    ("reshape(x, shape = s)", [2, 2], r"`shape` requests \[2, 2\], and `x`, \[2, 3\], has 6 elements"),
    ("reshape(x, shape = s)", [-2, -3], r"`shape` requests \[-2, -3\]"),
    ("reshape(x, shape = s)", [-1, -1], r"the 6 elements of `x` leave no single size for its -1"),
    ("reshape(x, shape = s)", [-1, 4], r"`shape` is \[-1, 4\], and the 6 elements"),
    ("pad(x, pad = s)", [0, -1, 0, 0], r"`pad` is \[0, -1, 0, 0\], but must be two numbers from 0 on"),
    ('pad(x, pad = s, mode = "reflect")', [0, 0, 3, 0], r"`pad` is 3 at axis 1, more than the 3 of `x` there can fill"),
    ('pad(x, pad = s, mode = "replicate")', [3, 0, 0, 0], r"`pad` is 3 at axis 0, more than the 2 of `x` there"),
    ("reverse_sequence(x, lengths = s, seq_axis = 1)", [4, 0], "`lengths` must be 2 numbers from 0 to 3"),
    ("reverse_sequence(x, lengths = s, seq_axis = 1)", [-1, 0], "`lengths` must be 2 numbers from 0 to 3"),
    ("reverse_sequence(x, lengths = s)", [1, 1], "`seq_axis` and `batch_axis` are both 0, and must be two"),
    ("tile(x, reps = s)", [-1, 1], "has no result: "),
]


@pytest.mark.parametrize(("call", "given", "told"), UNFIT)
def test_values_without_a_result_are_reported_at_their_operation(call: str, given: list[int], told: str) -> None:
    with pytest.raises(OperationFailure, match=told):
        applied(call, {"x": np.ones([2, 3], np.float32), "s": np.array(given, np.int32)})
