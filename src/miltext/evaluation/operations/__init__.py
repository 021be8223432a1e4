"""The rules, by family."""

from __future__ import annotations

from miltext.evaluation.operations import (  # noqa: F401  # importing each enters its rules
    activations,
    compression,
    control,
    convolution,
    creation,
    elementwise,
    images,
    joining,
    normalization,
    picking,
    pooling,
    products,
    recurrence,
    reductions,
    reshaping,
    slicing,
)
