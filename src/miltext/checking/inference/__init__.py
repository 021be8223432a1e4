"""The types of operations' outputs, inferred from their inputs.

`infer_types` infers a whole Program. A rule returns nothing in doubt, so that its results can be compared with the
declared types of a Program.
"""

from __future__ import annotations

from miltext.checking.inference import (  # noqa: F401  # importing each enters its rules
    compression,
    control,
    creation,
    elementwise,
    images,
    joining,
    layers,
    picking,
    products,
    reshaping,
    slicing,
)
from miltext.checking.inference.program import Inference, infer_types
from miltext.checking.inference.rules import RULES
from miltext.schema.types import TensorType, spelled

__all__ = ["RULES", "Inference", "TensorType", "infer_types", "spelled"]
