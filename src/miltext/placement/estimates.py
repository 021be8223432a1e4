"""Estimates of Core ML for operations that move memory: milliseconds by backend.

They are the bytes of inputs, outputs and constants, divided by a bandwidth. Those of all other operations follow from
unpublished decision trees, so they are unknown here.
Source: the study's notes on dispatch; tests/placement compares each operation below with its estimates in the dumps.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.dumps.placed import ANE
from miltext.ir.parts import Value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, read_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.ir.parts import Op
    from miltext.schema.types import Type

OF_MEMORY = frozenset(
    "acos affine argsort asin atanh band_part cast clip cosh crop_resize cumsum dequantize expand_dims fill_like "
    "gather_along_axis gather_nd greater greater_equal instance_norm leaky_relu logical_and mod one_hot quantize "
    "random_normal reduce_argmax reduce_log_sum_exp reduce_prod resize scaled_dot_product_attention scatter "
    "scatter_along_axis select sinh slice_by_size sliding_windows softmax squeeze tan".split()
)
"""The operations whose estimates in all dumps are the formula's, within a part in 100,000."""

BANDWIDTH = 68 * 2**30
"""Bytes per second on the Neural Engine; on the CPU, everything takes `ON_CPU` times as long."""

ON_CPU = 1.2
RELU = 100e9
"""Bytes per second of a relu on every backend."""


def estimates(op: Op, *, taken: bool) -> dict[str, float]:
    """Return the estimates of an operation, with one for the Neural Engine if that takes it; none if unknown."""
    sizes = [*_sizes(op)]
    known = [size for size in sizes if size is not None]
    if (op.type not in OF_MEMORY and op.type != "relu") or len(known) < len(sizes):
        return {}
    ms = 1000 * sum(known)
    engine, cpu = (ms / RELU, ms / RELU) if op.type == "relu" else (ms / BANDWIDTH, ms / BANDWIDTH * ON_CPU)
    return {"bnns": cpu, "classic_cpu": cpu, **({ANE: engine} if taken else {})}


def _sizes(op: Op) -> Iterator[float | None]:
    """Yield the bytes of each input, constant and output; None for an unknown size."""
    for operands in op.inputs.values():
        for each in operands:
            if each is not None:
                yield _bytes(each.type if isinstance(each, Value) else read_type(each.type))
    yield from (_bytes(value.type) for value in op.outputs)


def _bytes(type: Type) -> float | None:
    if not isinstance(type, TensorType):
        return None
    sizes = [size for size in type.shape if size is not None]
    if type.dtype == "string":
        return 0
    return prod(sizes) * BY_NAME[type.dtype].bits / 8 if len(sizes) == len(type.shape) else None
