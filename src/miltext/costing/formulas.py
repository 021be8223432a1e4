"""The multiply-accumulates of each operation that has some, and the operations that move fewer bytes than they take.

docs/cost.md contains these tables.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Unknown
from miltext.schema.operations import RECAST
from miltext.schema.types import known_sizes

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Arguments
    from miltext.schema.types import Shape

Sizes: TypeAlias = "tuple[int, ...]"

COREMLTOOLS = "https://github.com/apple/coremltools/blob/9.0/coremltools/converters/mil/mil/ops/defs"
TORCH = "https://github.com/pytorch/pytorch/blob/v2.7.0/torch/utils/flop_counter.py"


class Formula(NamedTuple):
    """The number of multiply-accumulates, `macs`: a function of the arguments and the shape of the first output.

    `words` is the formula for the documentation. `defined` is the file of coremltools that defines the operation, and
    `counter` the function of torch that counts the same, twice.
    """

    macs: Callable[[Arguments, Sizes], int]
    words: str
    defined: str
    counter: str


def multiply_accumulates(op: Arguments, made: Shape) -> int:
    """Return the number of multiply-accumulates of an operation, whose first output has the shape `made`.

    Raise Unknown if a size is not known.
    """
    formula = FORMULAS.get(op.op_type)
    return 0 if formula is None else formula.macs(op, known(made))


def known(shape: Shape) -> Sizes:
    """Return a shape without open sizes. Raise Unknown for an open size."""
    sizes = known_sizes(shape)
    if sizes is None:
        raise Unknown
    return sizes


def _shape(op: Arguments, name: str, least: int = 0) -> Sizes:
    return known(op.shape(name, least=least))


def _conv(op: Arguments, made: Sizes) -> int:
    return prod(made) * prod(_shape(op, "weight", 2)[1:])


def _conv_transpose(op: Arguments, _made: Sizes) -> int:
    return prod(_shape(op, "x")) * prod(_shape(op, "weight", 2)[1:])


def _linear(op: Arguments, made: Sizes) -> int:
    return prod(made) * _shape(op, "weight", 2)[1]


def _matmul(op: Arguments, made: Sizes) -> int:
    x = _shape(op, "x", 1)
    return prod(made) * x[-2 if op.scalar("transpose_x", bool, False) and len(x) > 1 else -1]


def _einsum(op: Arguments, made: Sizes) -> int:
    """Count by the last size of the first value, over which both equations that Core ML takes add products."""
    first = known(op.tensors("values")[0].shape)
    if not first:
        raise Unknown
    return prod(made) * first[-1]


def _attention(op: Arguments, made: Sizes) -> int:
    query, key, value = (_shape(op, name, 2) for name in ("query", "key", "value"))
    return prod(made[:-1]) * key[-2] * (query[-1] + value[-1])


def _recurrent(op: Arguments, _made: Sizes) -> int:
    weights = sum(prod(_shape(op, name)) for name in op.operands if name.startswith("weight_"))
    return prod(_shape(op, "x", 2)[:2]) * weights


_RECURRENT = Formula(
    _recurrent, "steps · batch · (elements of all `weight_…`)", "iOS15/recurrent.py", "its `mm_flop` and `addmm_flop`"
)

FORMULAS: dict[str, Formula] = {
    "conv": Formula(
        _conv,
        "(elements of the output) · (input channels / `groups`) · (elements of a kernel)",
        "iOS15/conv.py",
        "`conv_flop_count`",
    ),
    "conv_quantized": Formula(_conv, "as `conv`", "iOS15/conv.py", "`conv_flop_count`"),
    "conv_transpose": Formula(
        _conv_transpose,
        "(elements of `x`) · (output channels / `groups`) · (elements of a kernel)",
        "iOS15/conv.py",
        "`conv_flop_count` with `transposed`",
    ),
    "linear": Formula(_linear, "(elements of the output) · (columns of `weight`)", "iOS15/linear.py", "`addmm_flop`"),
    "matmul": Formula(
        _matmul, "(elements of the output) · (the size that both share)", "iOS15/linear.py", "`mm_flop`, `bmm_flop`"
    ),
    "einsum": Formula(
        _einsum, "(elements of the output) · (the size of the summed letter)", "iOS15/linear.py", "`bmm_flop`"
    ),
    "scaled_dot_product_attention": Formula(
        _attention,
        "(batches · heads · queries) · keys · (size of a query + size of a value)",
        "iOS18/transformers.py",
        "`sdpa_flop_count`",
    ),
    "lstm": _RECURRENT,
    "gru": _RECURRENT,
    "rnn": _RECURRENT,
}
"""The operations that multiply and accumulate. A bias, an activation and a mask add nothing."""

UNKNOWN = ("custom_layer",)
"""The operations that a class of an app computes."""

NOT_COUNTED = (
    "elementwise operations and activations",
    "norms, such as `layer_norm` and `batch_norm`, and `softmax`",
    "reductions, pools and cumulative sums",
    "resizes, resamplings, pads and every other movement of elements",
    "casts, quantizations, and the decompression of weights",
)
"""Uncounted kinds of work, although they take time."""

VIEWS = {
    **dict.fromkeys(("identity", "reshape_like", *RECAST), "x"),
    "read_state": "input",
}
"""The operations whose output has the elements of one argument in the same order, and the parameter: a view takes no
memory of its own, and moves no bytes.
"""

PICKS = {
    **dict.fromkeys(("gather", "gather_along_axis", "gather_nd", "slice_by_index", "slice_by_size"), "x"),
    **dict.fromkeys(("list_gather", "list_read"), "ls"),
}
"""The operations that read only the elements that they return, and the parameter with all elements."""
