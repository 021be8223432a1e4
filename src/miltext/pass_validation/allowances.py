"""The passes that change numbers or names on purpose, each with the reason and the bound.

All others must keep each number, bit for bit, except that zeros of both signs are equal: coremltools takes `x + 0` for
`x`. The reasons follow from the replacements that coremltools 9.0 describes in the docstrings of its passes
(`converters/mil/mil/passes/defs`).
"""

from __future__ import annotations

from typing import NamedTuple

from miltext.rewriting.exactness import Exactness

EXACT = Exactness("ulp 0")
"""The bound of a pass that only removes, moves or replaces operations."""


class Allowance(NamedTuple):
    """The changes allowed to a pass: of the `numbers`, and the `names` of inputs and outputs.

    `numbers` is `exact`; `close`, when only operations that the pass changed are judged, each by the thresholds of
    `miltext.compare`, on finite inputs; or `free`, when numbers are not judged. `reason` is the reason.
    """

    numbers: str = "exact"
    names: bool = False
    reason: str = ""


_ORDER = "sums and products in another order"
_FEWER = "one rounding less"

_TABLE = {
    "add_fp16_cast": Allowance("free", reason="all numbers get 10 bits, and the range of fp16"),
    "const_elimination": Allowance("close", reason="constants are computed by numpy, not by Core ML's operations"),
    "distributive_quantized_binary_op_scale_normalization": Allowance("close", reason="other scales"),
    "divide_to_multiply": Allowance("close", reason="a reciprocal is rounded before the product"),
    "expand_dynamic_linear": Allowance("close", reason=_FEWER),
    "fuse_conv_batchnorm": Allowance("close", reason=_ORDER),
    "fuse_conv_bias": Allowance("close", reason=_FEWER),
    "fuse_conv_scale": Allowance("close", reason=_ORDER),
    "fuse_dilated_conv": Allowance("close", reason=_ORDER),
    "fuse_elementwise_to_batchnorm": Allowance("close", reason=_ORDER),
    "fuse_gelu_exact": Allowance("close", reason=_FEWER),
    "fuse_gelu_tanh_approximation": Allowance("close", reason=_FEWER),
    "fuse_layernorm_or_instancenorm": Allowance("close", reason=_ORDER),
    "fuse_linear_bias": Allowance("close", reason=_FEWER),
    "fuse_matmul_weight_bias": Allowance("close", reason=_FEWER),
    "fuse_onehot_matmul_to_gather": Allowance("close", reason="products with zeros are left out"),
    "fuse_pad_conv": Allowance("close", reason=_ORDER),
    "fuse_reduce_mean": Allowance("close", reason=_ORDER),
    "fuse_transpose_matmul": Allowance("close", reason=_ORDER),
    "merge_affine_dequantize_with_consecutive_ops": Allowance("close", reason=_FEWER),
    "sanitize_input_output_names": Allowance(names=True, reason="names become identifiers"),
}
"""The passes by name, without `common::`."""


def allowance(name: str) -> Allowance:
    """Return the changes allowed to a pass."""
    return _TABLE.get(name.removeprefix("common::"), Allowance())
