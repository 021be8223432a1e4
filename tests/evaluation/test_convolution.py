"""Convolution and its transpose: each against a definition that goes over the elements one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from support.evaluation import computed
from support.layers import MODES, assert_near, layer, numbers

from miltext.evaluation.failures import OperationFailure
from miltext.evaluation.operations import windows


def defined(x: Any, weight: Any, bias: Any, strides: Any, dilations: Any, pads: Any, groups: int) -> Any:
    """Return the convolution, `pads` being what is added before and after each axis."""
    padded = np.pad(x, [(0, 0), (0, 0), *pads])
    kernel = weight.shape[2:]
    sizes = zip(padded.shape[2:], kernel, strides, dilations, strict=True)
    counts = [(size - (reach - 1) * dilation - 1) // stride + 1 for size, reach, stride, dilation in sizes]
    out = np.zeros((x.shape[0], weight.shape[0], *counts))
    of_group = weight.shape[0] // groups
    for n, o, *place in np.ndindex(out.shape):
        axes = zip(place, kernel, strides, dilations, strict=True)
        seen = [slice(at * stride, at * stride + reach * dilation, dilation) for at, reach, stride, dilation in axes]
        first = o // of_group * weight.shape[1]
        window: Any = (n, slice(first, first + weight.shape[1]), *seen)
        out[n, o][tuple(place)] = (padded[window] * weight[o]).sum()
    return out + bias.reshape(-1, *[1] * len(kernel))


def spread(x: Any, weight: Any, bias: Any, strides: Any, dilations: Any, groups: int) -> Any:
    """Return the transposed convolution before anything is left out: each element of `x` spreads the kernel."""
    kernel = weight.shape[2:]
    sizes = zip(x.shape[2:], kernel, strides, dilations, strict=True)
    whole = [(size - 1) * stride + (reach - 1) * dilation + 1 for size, reach, stride, dilation in sizes]
    out = np.zeros((x.shape[0], weight.shape[1] * groups, *whole))
    for n, c, *place in np.ndindex(x.shape):
        first = c // (x.shape[1] // groups) * weight.shape[1]
        for tap in np.ndindex(kernel):
            at = [p * s + t * d for p, s, t, d in zip(place, strides, tap, dilations, strict=True)]
            reached: Any = (n, slice(first, first + weight.shape[1]), *at)
            element: Any = (c, slice(None), *tap)
            out[reached] += x[n, c][tuple(place)] * weight[element]
    return out + bias.reshape(-1, *[1] * len(kernel))


SHAPES = {
    "1-d": ((2, 4, 9), (6, 4, 3)),
    "2-d": ((2, 4, 7, 6), (6, 4, 3, 2)),
    "3-d": ((1, 4, 5, 4, 6), (2, 4, 2, 3, 2)),
    "pointwise": ((2, 4, 5, 6), (3, 4, 1, 1)),
    "one image, pointwise": ((1, 4, 5, 6), (3, 4, 1, 1)),
    "as large as the kernel": ((3, 2, 4, 7), (5, 2, 4, 4)),
    "groups": ((2, 6, 5, 7), (4, 3, 3, 3)),
    "a kernel for each channel": ((2, 4, 6, 7), (4, 1, 3, 2)),
    "several kernels for each channel": ((2, 3, 8), (9, 1, 3)),
    "one channel": ((2, 1, 6, 7), (4, 1, 3, 2)),
    "an empty batch": ((0, 4, 7, 6), (6, 4, 3, 2)),
}
STEPS = {"by one": (1, 1), "strides": (2, 1), "wide strides": (3, 1), "dilations": (1, 2), "both": (2, 2)}


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("padded", [False, True], ids=["valid", "custom"])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_a_convolution_is_its_definition(shapes: str, steps: str, padded: bool, mode: Any) -> None:
    (shape, kernel), (stride, dilation) = SHAPES[shapes], STEPS[steps]
    rank, groups = len(shape) - 2, shape[1] // kernel[1]
    x, weight, bias = numbers(1, *shape), numbers(2, *kernel), numbers(3, kernel[0])
    strides, dilations = [stride, *[1] * (rank - 1)], [*[1] * (rank - 1), dilation]
    pads = [(axis + 1, 2 - axis) if padded else (0, 0) for axis in range(rank)]
    attributes = f'strides = {strides}, dilations = {dilations}, groups = {groups}, pad_type = "custom", '
    attributes += f"pad = {[each for pair in pads for each in pair]}"
    found = layer("conv", {"x": x}, attributes, mode=mode, weight=weight, bias=bias)
    assert_near(found, defined(x, weight, bias, strides, dilations, pads, groups), mode)


@pytest.mark.parametrize("pad_type", ["same", "same_lower"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "total"), [(7, 3, 1, 2), (7, 4, 1, 3), (8, 3, 2, 1), (5, 1, 3, 0)]
)
def test_same_makes_as_many_windows_as_strides(size: int, kernel: int, stride: int, total: int, pad_type: str) -> None:
    x, weight = numbers(1, 1, 2, size), numbers(2, 3, 2, kernel)
    less, more = total // 2, total - total // 2
    pads = [(less, more) if pad_type == "same" else (more, less)]
    found = layer("conv", {"x": x, "weight": weight}, f'pad_type = "{pad_type}", strides = [{stride}]')
    assert found.shape[2] == -(-size // stride)
    assert_near(found, defined(x, weight, np.zeros(3), [stride], [1], pads, 1), MODES[0])


def test_a_pad_without_custom_has_no_effect() -> None:
    x, weight = numbers(1, 1, 2, 6), numbers(2, 3, 2, 3)
    found = layer("conv", {"x": x, "weight": weight}, 'pad_type = "valid", pad = [1, 1]')
    assert_near(found, defined(x, weight, np.zeros(3), [1], [1], [(0, 0)], 1), MODES[0])


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("working", [1, 7, 50, 1000])
@pytest.mark.parametrize("shapes", ["1-d", "2-d", "3-d", "groups", "several kernels for each channel"])
def test_a_convolution_in_blocks_is_the_same(
    shapes: str, working: int, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miltext.evaluation.operations.convolution.WORKING_ELEMENTS", working)
    (shape, kernel) = SHAPES[shapes]
    x, weight, rank = numbers(1, *shape), numbers(2, *kernel), len(shape) - 2
    attributes = (
        f'pad_type = "custom", pad = {[1] * 2 * rank}, strides = {[2] * rank}, groups = {shape[1] // kernel[1]}'
    )
    found = layer("conv", {"x": x}, attributes, mode=mode, weight=weight)
    none = np.zeros(kernel[0])
    expected = defined(x, weight, none, [2] * rank, [1] * rank, [(1, 1)] * rank, shape[1] // kernel[1])
    assert_near(found, expected, mode)


def test_a_convolution_in_fp16_of_weights_in_fp32_is_fp16() -> None:
    text = """program(1.3) { func main<ios18>(tensor<fp16, [1, 2, 5]> x, tensor<fp32, [3, 2, 2]> w) {
        y = conv(x = x, weight = w); } -> (y); }"""
    x, weight = numbers(1, 1, 2, 5), numbers(2, 3, 2, 2)
    expected = defined(x, weight, np.zeros(3), [1], [1], [(0, 0)], 1)
    for compute in ("float32", "native"):
        found = computed(text, {"x": x, "w": weight}, compute=compute)["y"]
        np.testing.assert_array_equal(found, expected.astype(np.float16))


TRANSPOSED = {
    "1-d": ((2, 4, 5), (4, 3, 3)),
    "2-d": ((2, 4, 4, 3), (4, 3, 3, 2)),
    "3-d": ((1, 2, 3, 2, 3), (2, 3, 2, 3, 2)),
    "pointwise": ((1, 4, 3, 3), (4, 2, 1, 1)),
    "groups": ((2, 6, 4, 3), (6, 2, 3, 3)),
    "a kernel for each channel": ((2, 4, 5, 3), (4, 1, 3, 2)),
    "several kernels for each channel": ((2, 3, 5), (3, 2, 4)),
    "one place": ((1, 2, 1, 1), (2, 3, 4, 4)),
}
TRANSPOSED_STEPS = {**STEPS, "by four": (4, 1), "by four, dilated": (4, 2), "dilated more": (2, 3), "by six": (6, 4)}


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("padded", [False, True], ids=["valid", "custom"])
@pytest.mark.parametrize("steps", TRANSPOSED_STEPS)
@pytest.mark.parametrize("shapes", TRANSPOSED)
def test_a_transposed_convolution_is_its_definition(shapes: str, steps: str, padded: bool, mode: Any) -> None:
    (shape, kernel), (stride, dilation) = TRANSPOSED[shapes], TRANSPOSED_STEPS[steps]
    rank = len(shape) - 2
    groups = {"groups": 2, "a kernel for each channel": 4, "several kernels for each channel": 3}.get(shapes, 1)
    x, weight, bias = numbers(1, *shape), numbers(2, *kernel), numbers(3, kernel[1] * groups)
    strides, dilations = [stride] * rank, [dilation, *[1] * (rank - 1)]
    whole = spread(x, weight, bias, strides, dilations, groups)
    pads = [(0, 0)] * rank
    if padded:
        pads = [(min(1, size - 1), 1 if size > 3 else 0) for size in whole.shape[2:]]
    attributes = f'strides = {strides}, dilations = {dilations}, groups = {groups}, pad_type = "custom", '
    attributes += f"pad = {[each for pair in pads for each in pair]}"
    found = layer("conv_transpose", {"x": x}, attributes, mode=mode, weight=weight, bias=bias)
    cropped = [slice(first, size - end) for (first, end), size in zip(pads, whole.shape[2:], strict=True)]
    kept: Any = (..., *cropped)
    assert_near(found, whole[kept], mode)


@pytest.mark.parametrize(
    ("kernel", "stride", "before", "after"), [(3, 2, 0, 1), (4, 2, 1, 1), (5, 2, 1, 2), (2, 3, 0, -1)]
)
def test_a_transposed_convolution_of_the_same_size(kernel: int, stride: int, before: int, after: int) -> None:
    x, weight = numbers(1, 1, 2, 4), numbers(2, 2, 3, kernel)
    found = layer("conv_transpose", {"x": x, "weight": weight}, f'pad_type = "same", strides = [{stride}]')
    whole = np.pad(spread(x, weight, np.zeros(3), [stride], [1], 1), [(0, 0), (0, 0), (0, 2)])
    assert found.shape[2] == 4 * stride
    assert_near(found, whole[:, :, before : whole.shape[2] - 2 - after], MODES[0])


@pytest.mark.parametrize("size", [7, 8, 9, 10, 11])
@pytest.mark.parametrize("pad_type", ["valid", "custom", "same"])
def test_a_stated_shape_is_the_shape_of_the_result(size: int, pad_type: str) -> None:
    x, weight = numbers(1, 1, 2, 4), numbers(2, 2, 3, 4)
    attributes = f'pad_type = "{pad_type}", strides = [2], output_shape = [1, 3, {size}]'
    found = layer("conv_transpose", {"x": x, "weight": weight}, attributes)
    whole = np.pad(spread(x, weight, np.zeros(3), [2], [1], 1), [(0, 0), (0, 0), (0, 4)])
    before = 0 if pad_type == "custom" else max(0, 10 - size) // 2
    assert_near(found, whole[:, :, before : before + size], MODES[0])


@pytest.mark.parametrize("shape", [(2,), (2, 1, 1), (1, 1, 1), ()])
def test_quantized_weights_are_scaled_and_moved(shape: tuple[int, ...]) -> None:
    x, weight = numbers(1, 1, 3, 6), np.random.default_rng(2).integers(0, 256, (2, 3, 2)).astype(np.uint8)
    scale, offset = np.abs(numbers(3, *shape)) / 64, numbers(4, *shape)
    found = layer(
        "conv_quantized", {"x": x}, 'quantization_type = "linear"', weight=weight, quant_scale=scale, quant_bias=offset
    )
    each = (-1, 1, 1)
    dequantized = weight * scale.reshape(each) + offset.reshape(each)
    assert_near(found, defined(x, dequantized, np.zeros(2), [1], [1], [(0, 0)], 1), MODES[0])


def test_weights_of_a_table_that_nothing_holds_are_refused() -> None:
    weight, one = np.zeros((1, 1, 1), np.uint8), np.ones(())
    with pytest.raises(OperationFailure, match='`quantization_type` is "lut", of which only "linear" is defined'):
        layer(
            "conv_quantized",
            {"x": numbers(1, 1, 1, 2)},
            'quantization_type = "lut"',
            weight=weight,
            quant_scale=one,
            quant_bias=one,
        )


@pytest.mark.parametrize("sizes", [(), (1,), (10,), (3, 4), (2, 3, 5), (4, 0, 3), (0,)])
@pytest.mark.parametrize("most", [0, 1, 2, 5, 7, 100])
def test_blocks_cover_each_place_once(sizes: tuple[int, ...], most: int) -> None:
    covered = np.zeros(sizes, int)
    for block in windows.blocks(sizes, most):
        assert covered[block].size <= max(1, most)
        covered[block] += 1
    assert (covered == 1).all()


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "before"), list(product([1, 4, 7], [1, 3], [1, 2], [1, 2], [0, 1, 5]))
)
def test_a_tap_finds_each_window_that_has_the_place(
    size: int, kernel: int, stride: int, dilation: int, before: int
) -> None:
    window = windows.Sliding(size, kernel, stride, dilation, before, 6, 99)
    for place in range(kernel):
        to, of = windows.tap(window, place)
        places = {step: step * stride + place * dilation - before for step in range(6)}
        expected = {step: at for step, at in places.items() if 0 <= at < size}
        assert dict(zip(range(6)[to], range(size)[of], strict=True)) == expected
