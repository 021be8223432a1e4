"""Convolutions of quantized inputs by int8 weights, as the Neural Engine computes them: in integers.

The sum is exact, and multiplied by both scales at the end. From 2^31 on it is infinite, whatever the scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from miltext.checking.inference.operands import count
from miltext.evaluation.devices.halves import rounded_away
from miltext.evaluation.operations.convolution import convolved
from miltext.evaluation.rules import Array, Held, Ints, Rule, rule
from miltext.ir.parts import Value
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, StatedGraph
    from miltext.ir.parts import Op

QUANTIZED: dict[str, Rule] = {}
"""The rule for a quantized operation, by its type."""

LIMIT = 2.0**31
"""The least sum that is infinite."""

DEQUANTIZE = {"input": "x", "scale": "input_scale"}
WEIGHTS = {
    "constexpr_affine_dequantize": {"quantized_data": "weight", "scale": "weight_scale"},
    "constexpr_blockwise_shift_scale": {"data": "weight", "scale": "weight_scale"},
}
"""The parameters of the operations before a quantized one, and those of its rule."""

SHIFTS = {
    "dequantize": "zero_point",
    "constexpr_affine_dequantize": "zero_point",
    "constexpr_blockwise_shift_scale": "offset",
}
"""The parameter of the zero point."""


@rule("conv", into=QUANTIZED)
def conv(
    x: Held,
    weight: Held,
    bias: Held | None,
    strides: Ints | None,
    pad_type: str,
    pad: Ints | None,
    dilations: Ints | None,
    groups: int,
    input_scale: Array,
    weight_scale: Array,
) -> Held:
    """Return the convolution of integers, times both scales, plus `bias`."""
    scale = input_scale.astype(np.float64) * weight_scale.astype(np.float64)

    def multiply(rows: Array, columns: Array, starts: Array | None) -> Array:
        sums = rows.astype(np.float64) @ columns.astype(np.float64)
        by_row = scale if scale.size == 1 else scale.reshape(*rows.shape[:-1], 1)
        exact = np.where(np.abs(sums) < LIMIT, sums * by_row, np.copysign(np.inf, sums))
        return rounded_away(exact if starts is None else exact + starts)

    return convolved(x, weight, bias, (strides, dilations, pad_type, pad), groups, multiply, np.float16)


def quantized_arguments(op: Op, graph: StatedGraph) -> Mapping[str, Sequence[Binding]] | None:
    """Return the integers and scales that an operation is computed from; None if it is not a quantized one.

    Inputs and weights are int8 without a zero point; inputs have one scale, and weights one, or one for each output.
    """
    if op.type not in QUANTIZED:
        return None
    made: dict[str, Sequence[Binding]] = {}
    for parameter, makers in (("x", {"dequantize": DEQUANTIZE}), ("weight", WEIGHTS)):
        (source, *_) = graph.inputs[op].get(parameter) or [None]
        maker = getattr(source, "maker", None)
        if maker is None or maker.block is not op.block or maker.type not in makers:
            return None
        bound: dict[str, Sequence[Binding]] = {name: [each] for name, each in graph.attributes[maker].items()}
        bound |= graph.inputs[maker]
        names = makers[maker.type]
        if not names.keys() <= bound.keys() or not _fits(bound, names, SHIFTS[maker.type], graph, parameter):
            return None
        made |= {names[name]: bound[name] for name in names}
    return made


def _fits(
    bound: Mapping[str, Sequence[Binding]], names: Mapping[str, str], shift: str, graph: StatedGraph, parameter: str
) -> bool:
    """Return whether integers are int8, with a scale that the rule takes, and without a zero point."""
    data, scale = (graph.bound_type(bound[name][0]) for name in names)
    if not isinstance(data, TensorType) or not isinstance(scale, TensorType) or data.dtype != "int8":
        return False
    if any(not _is_zero(each, graph) for each in bound.get(shift, ())):
        return False
    sizes = scale.shape
    return count(sizes) == 1 or (parameter == "weight" and sizes[0] == count(sizes) == data.shape[0])


def _is_zero(binding: Binding, graph: StatedGraph) -> bool:
    """Return whether a zero point is known to be 0."""
    if isinstance(binding, Value):
        maker = binding.maker
        binding = None if maker is None else graph.attributes[maker].get("val")
    if binding is None or binding.value is None:
        return False
    return all(number == 0 for number in np.ravel(np.array(binding.value, object)))
