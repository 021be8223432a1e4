"""Facts of layers: convolution, pooling, products of matrices, attention, recurrence, images, normalization."""

from __future__ import annotations

from op_facts.words import Facts, number, takes, word

FACTS: Facts = {
    # iOS15/conv.py
    "conv": {
        "x": takes("[n, c, *d{1,3}]"),
        "weight": takes("[o, i, *k{1,3}]"),
        "bias": takes("[o]"),
        "strides": takes("[#d]", least="1"),
        "pad_type": word("valid custom same same_lower"),
        "pad": takes("[2*#d]", least="0"),
        "dilations": takes("[#d]", least="1"),
        "groups": number(least="1"),
    },
}
