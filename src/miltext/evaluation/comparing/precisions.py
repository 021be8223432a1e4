"""Computations that differ only in precision: the same operation in both programs, with rounded numbers in one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.comparing.partners import Sameness
from miltext.evaluation.values import Constants
from miltext.ir.parts import Op, Value
from miltext.pairing.keyed import NAME
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried
    from miltext.schema import proto

FLOATS = frozenset(name for name, dtype in BY_NAME.items() if dtype.kind == "float")
"""The names of floats, between which a cast only rounds."""


@np.errstate(all="ignore")
def is_rounded(one: Carried, other: Carried) -> bool:
    """Return whether two constants differ only by rounding to the coarser type of the two.

    A number too large for that type may be infinity in it, or its largest number; a number too small may be 0, or its
    least.
    """
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return False
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return bool(np.array_equal(a, b)) or {*map(str, chain(a.flat, b.flat))} <= FLOATS
    if a.dtype.itemsize < b.dtype.itemsize:
        a, b = b, a
    made = a.astype(b.dtype)
    limits = np.finfo(b.dtype)
    too_large = np.isinf(made) & (b == np.copysign(limits.max, made))
    too_small = (made == 0) & (np.abs(b) <= limits.smallest_subnormal)
    return bool(((made == b) | (np.isnan(made) & np.isnan(b)) | too_large | too_small).all())


def but_rounded(is_kept: Callable[[int], bool]) -> Sameness:
    """Return the criteria for operations equal except for precision: casts between floats are ignored.

    `is_kept` returns whether the constants of a pair differ only by rounding.
    """
    return Sameness(_are_alike, _before_casts, is_kept)


def _before_casts(value: Value) -> Value:
    """Return the source of a value before casts between floats, or the value itself."""
    while (source := _rounded(value)) is not None:
        value = source
    return value


def _rounded(value: Value) -> Value | None:
    """Return the operand of the cast to a float that makes a value, if any."""
    if value.maker is None or value.maker.type != "cast" or not isinstance(value.type, TensorType):
        return None
    source = value.maker.operand("x") if value.type.dtype in FLOATS else None
    return source if isinstance(source, Value) else None


def _are_alike(op: Op, other: Op) -> bool:
    """Return whether two operations have the same type, and literals that differ only in precision."""
    literals, theirs = _literals(op), _literals(other)
    are_alike = op.type == other.type and literals.keys() == theirs.keys()
    return are_alike and all(_match(each, theirs[key]) for key, each in literals.items())


def _match(one: proto.Value, other: proto.Value) -> bool:
    """Return whether two values differ only by rounding; values in files must be equal."""
    if one == other or "blobFileValue" in (one.WhichOneof("value"), other.WhichOneof("value")):
        return bool(one == other)
    constants = Constants(None)
    return is_rounded(constants.read(one), constants.read(other))


def _literals(op: Op) -> dict[tuple[str, int], proto.Value]:
    """Return the values in an operation itself, by their places; not its name."""
    found = {(key, -1): value for key, value in op.attributes.items() if key != NAME}
    for parameter, operands in op.inputs.items():
        for place, operand in enumerate(operands):
            if operand is not None and not isinstance(operand, Value):
                found[parameter, place] = operand
    return found
