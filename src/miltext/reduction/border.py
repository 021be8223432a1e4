"""Which values may come into a model, or go out of it: those that a Core ML description can have."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from miltext.models.building.description import SINCE
from miltext.models.building.features import feature_type
from miltext.schema.opsets import SPECIFICATION_BY_PROTO
from miltext.schema.proto import ValueType

if TYPE_CHECKING:
    from miltext.schema.function_io import SIDES  # noqa: F401


def may_cross(value_type: ValueType, side: str, opset: str) -> bool:
    """Tell whether a value of a type may be an "input" or "output" of a function of an opset."""
    return _may_cross(value_type.SerializeToString(deterministic=True), side, opset)


@cache
def _may_cross(wire: bytes, side: str, opset: str) -> bool:
    made = feature_type(ValueType.FromString(wire), side)
    if made is None:
        return False
    kind = made.WhichOneof("Type")
    return kind != "multiArrayType" or SINCE.get(made.multiArrayType.dataType, 0) <= SPECIFICATION_BY_PROTO.get(opset, 0)
