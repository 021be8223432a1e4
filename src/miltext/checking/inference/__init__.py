"""The types of what ops give back, inferred from what they are given.

`infer_types` goes over a Program; `infer` asks the rule of one op. A rule says nothing where it is not
sure, so that what it says can be held against what a Program declares.
"""

from __future__ import annotations

from miltext.checking.inference import control, creation, elementwise, images, indexing, layers, shapes
from miltext.checking.inference.operands import Arguments, Conflict, NestedBlock, Operand, read_value
from miltext.checking.inference.program import Inference, Path, infer, infer_types
from miltext.checking.inference.rules import RULES
from miltext.checking.inference.value_types import (
    DictionaryType,
    ListType,
    StateType,
    TensorType,
    TupleType,
    Type,
    compatible,
    is_known,
    read_type,
    spelled,
    write_type,
)

__all__ = [
    "RULES",
    "Arguments",
    "Conflict",
    "DictionaryType",
    "Inference",
    "ListType",
    "NestedBlock",
    "Operand",
    "Path",
    "StateType",
    "TensorType",
    "TupleType",
    "Type",
    "compatible",
    "infer",
    "infer_types",
    "is_known",
    "read_type",
    "read_value",
    "spelled",
    "write_type",
]

_FAMILIES = (control, creation, elementwise, images, indexing, layers, shapes)  # importing each enters its rules
