"""Facts of ops that make tensors out of shapes or numbers."""

from __future__ import annotations

from op_facts.words import ANY, SCALAR, Facts, number, takes, word

_SHAPE = takes("[?]", least="0")
_RANDOM = {"shape": _SHAPE, "seed": SCALAR}

FACTS: Facts = {
    # iOS15/tensor_operation.py
    "fill": {"shape": _SHAPE, "value": SCALAR},
    "range_1d": {"start": SCALAR, "end": SCALAR, "step": SCALAR},
    # iOS16/tensor_operation.py
    "fill_like": {"ref_tensor": ANY, "value": SCALAR},
    # iOS15/random.py
    "random_bernoulli": {**_RANDOM, "prob": number("0", "1")},
    "random_normal": {**_RANDOM, "mean": SCALAR, "stddev": number("0")},
    "random_uniform": {**_RANDOM, "low": SCALAR, "high": SCALAR},
    "random_categorical": {
        "x": takes("[*d{1,}]"),
        "mode": word("logits probs"),
        "size": number("1"),
        "seed": SCALAR,
    },
}
