"""Facts of ops that work element by element, and of reductions."""

from __future__ import annotations

from op_facts.words import SCALAR, Facts, axes, axis, takes

FACTS: Facts = {
    # iOS15/reduction.py
    "reduce_l1_norm reduce_l2_norm reduce_log_sum reduce_log_sum_exp reduce_max reduce_mean reduce_min reduce_prod"
    " reduce_sum reduce_sum_square": {"x": takes("[*d]"), "axes": axes("#d"), "keep_dims": SCALAR},
    "reduce_argmax reduce_argmin": {"x": takes("[*d]"), "axis": axis("#d"), "keep_dims": SCALAR},
}
