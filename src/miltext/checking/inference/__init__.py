"""The types of what operations give back, inferred from what they are given.

`infer_types` goes over a Program. A rule says nothing where it is not sure, so that what it says can be held against
what a Program declares.
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
