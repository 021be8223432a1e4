"""The types of what operations give back, inferred from what they are given.

`infer_types` goes over a Program; `infer` asks the rule of one operation. A rule says nothing where it is not sure, so
that what it says can be held against what a Program declares.
"""

from __future__ import annotations

from miltext.checking.inference import control, creation, elementwise, images, indexing, layers, shapes
from miltext.checking.inference.program import Inference, infer, infer_types
from miltext.checking.inference.rules import RULES
from miltext.checking.inference.value_types import TensorType, spelled

__all__ = ["RULES", "Inference", "TensorType", "infer", "infer_types", "spelled"]

_FAMILIES = (control, creation, elementwise, images, indexing, layers, shapes)  # importing each enters its rules
