"""Entries of a description made from MIL types: the facts about an input, a state or an output that Core ML gives apps.

Types are described as by coremltools 9.0 (`converters/mil/backend/mil/load.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.sizes import GREATEST_SIZE
from miltext.diagnostics import codes
from miltext.files.refusals import BlamedPart, refusal
from miltext.printing.printer import type_text
from miltext.schema.features import ANY_SIZE, ELEMENTS, LABEL_ELEMENTS
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, FeatureType
from miltext.schema.tensors import tensor_dtype, tensor_shape

if TYPE_CHECKING:
    from miltext.schema.proto import ValueType


def feature(name: str, value_type: ValueType | None, side: str, function: str) -> FeatureDescription:
    """Return the description of one input, state or output, by its MIL type.

    A `?` of an input allows every size from 1 up. Raise ModelError: MIL420 for a type that no description can have,
    MIL422 for an output without a type.
    """
    noun = f"the {side} `{name}` of `{function}`"
    subject = BlamedPart(side, name, function)
    if value_type is None:
        raise refusal(codes.UNDEFINED_OUTPUT, f"{noun} is not defined", about=subject)
    made = feature_type(value_type, side)
    if made is None:
        message = f"{noun} is a {type_text(value_type)}, which a Core ML description cannot have"
        raise refusal(codes.TYPE_NOT_IN_DESCRIPTIONS, message, about=subject)
    return FeatureDescription(name=name, type=made)


def feature_type(value_type: ValueType, side: str) -> FeatureType | None:
    """Return the description of a type; None if no description can have it."""
    kind, dtype, made = value_type.WhichOneof("type"), tensor_dtype(value_type), FeatureType()
    if kind == "stateType":
        array = _array(value_type.stateType.wrappedType, side) if side == "state" else None
        if array is None or array.WhichOneof("ShapeFlexibility"):
            return None
        made.stateType.arrayType.CopyFrom(array)
    elif kind == "dictionaryType":
        key = tensor_dtype(value_type.dictionaryType.keyType)
        if key is None or key.name not in LABEL_ELEMENTS:
            return None
        getattr(made.dictionaryType, f"{key.name}KeyType").SetInParent()
    elif dtype is not None and dtype.name in LABEL_ELEMENTS and tensor_shape(value_type) == ():
        getattr(made, f"{dtype.name}Type").SetInParent()
    else:
        array = _array(value_type, side)
        return None if array is None else FeatureType(multiArrayType=array)
    return made


def _array(value_type: ValueType, side: str) -> ArrayFeatureType | None:
    """Return a multi-array; in an input, an unknown size is any from 1 up; in an output, unknown sizes are omitted."""
    dtype, tensor = tensor_dtype(value_type), value_type.tensorType
    if dtype is None or dtype.name not in ELEMENTS or tensor.rank != len(tensor.dimensions):
        return None
    if any(dimension.constant.size > GREATEST_SIZE for dimension in tensor.dimensions):
        return None
    made = ArrayFeatureType(dataType=ELEMENTS[dtype.name])
    shape = tensor_shape(value_type)
    if shape is not None:
        made.shape.extend(shape or ((1,) if side == "input" else ()))
    elif any(dimension.unknown.variadic for dimension in tensor.dimensions):
        return None
    elif side != "output":
        for dimension in tensor.dimensions:
            is_known = dimension.WhichOneof("dimension") == "constant"
            size = dimension.constant.size if is_known else 1
            made.shape.append(size)
            made.shapeRange.sizeRanges.add(lowerBound=size, upperBound=size if is_known else ANY_SIZE)
    return made
