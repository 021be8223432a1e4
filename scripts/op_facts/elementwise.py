"""Facts of ops that work element by element, and of reductions."""

from __future__ import annotations

from op_facts.words import ANY, SCALAR, Facts, axes, axis, takes, word

_ALPHA = {"x": ANY, "alpha": SCALAR}
_ALPHA_AND_BETA = {**_ALPHA, "beta": SCALAR}
_REDUCED = takes("[*d{1,}]")

FACTS: Facts = {
    # iOS15/elementwise_unary.py, iOS15/activation.py
    "abs acos asin atan atanh ceil cos cosh erf exp exp2 floor logical_not round sign sin sinh sqrt square tan tanh"
    " relu relu6 sigmoid silu softplus softsign": {"x": ANY},
    "identity": {"x": ANY},  # iOS15/tensor_operation.py
    # iOS15/elementwise_unary.py
    "inverse log rsqrt": {"x": ANY, "epsilon": SCALAR},
    "threshold": _ALPHA,
    "clip": _ALPHA_AND_BETA,
    "cast": {"x": ANY, "dtype": word("fp16 fp32 int32 bool")},
    # iOS17/elementwise_unary.py
    "cast@ios17": {"dtype": word("fp16 fp32 int8 uint8 int16 uint16 int32 bool")},
    # iOS15/activation.py
    "elu leaky_relu thresholded_relu": _ALPHA,
    "clamped_relu linear_activation scaled_tanh sigmoid_hard": _ALPHA_AND_BETA,
    "gelu": {"x": ANY, "mode": word("EXACT TANH_APPROXIMATION SIGMOID_APPROXIMATION")},
    "prelu": {"x": takes("[n, c, *d{1,3}]"), "alpha": takes("[c]")},
    "softplus_parametric": {"x": takes("[n, c, *d{1,}]"), "alpha": takes("[c]"), "beta": takes("[c]")},
    "softmax": {"x": takes("[*d{1,}] | []"), "axis": axis("#d")},  # torch's softmax of a scalar names axis 0
    # iOS15/elementwise_binary.py
    "add sub mul real_div floor_div mod pow maximum minimum equal not_equal greater greater_equal less less_equal"
    " logical_and logical_or logical_xor": {"x": ANY, "y": ANY},
    # iOS15/control_flow.py
    "select": {"cond": ANY, "a": ANY, "b": ANY},
    # iOS15/reduction.py
    "reduce_l1_norm reduce_l2_norm reduce_log_sum reduce_log_sum_exp reduce_max reduce_mean reduce_min reduce_prod"
    " reduce_sum reduce_sum_square": {"x": _REDUCED, "axes": axes("#d"), "keep_dims": SCALAR},
    "reduce_argmax reduce_argmin": {"x": _REDUCED, "axis": axis("#d"), "keep_dims": SCALAR},
    # iOS17/reduction.py
    "reduce_argmax reduce_argmin@ios17": {"output_dtype": word("int32 uint16", any_case=True)},
}
