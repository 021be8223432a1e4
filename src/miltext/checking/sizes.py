"""The sizes of programs that coremltools can open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import ListType, StateType, TensorType

if TYPE_CHECKING:
    from miltext.schema.types import Type

GREATEST = BY_NAME["int32"].maximum
"""The greatest size in a program: MIL's own operations count with int32, `shape` and `reshape` among them.

Source: coremltools/converters/mil/mil/ops/defs, where shapes are numpy arrays of int32. coremltools cannot open pools
and convolutions with greater sizes; it can open some other operations, which the rule refuses as well.
"""

WAY_OUT = "choose smaller sizes"


def greatest_size(type: Type) -> int:
    """Return the greatest size of a tensor, a state or the tensors of a list; 0 where none is known."""
    if isinstance(type, StateType):
        return greatest_size(type.wrapped)
    if isinstance(type, ListType):
        return max(type.length or 0, greatest_size(type.element))
    return max((size or 0 for size in type.shape), default=0) if isinstance(type, TensorType) else 0


def too_large(what: str, size: int) -> str:
    """Return the message about an object with a size beyond the greatest."""
    return f"{what} {size}, and coremltools opens programs with sizes up to {GREATEST}"
