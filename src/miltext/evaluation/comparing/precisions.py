"""What two programs compute alike but for its precision: one operation on both sides, and numbers rounded on one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.evaluation.values import Constants
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, read_type

if TYPE_CHECKING:
    from miltext.evaluation.comparing.partners import Pair, Partners, Walked
    from miltext.models.pairing.graph import Node
    from miltext.schema.proto import Operation, Value

FLOATS = frozenset(name for name, dtype in BY_NAME.items() if dtype.kind == "float")
"""The names of floats, between which a cast only rounds."""


@np.errstate(all="ignore")
def is_rounded(one: Any, other: Any) -> bool:
    """Tell whether two constants are the same but for rounding to the coarser type of the two.

    What is too large for that type may be infinity in it, or its largest number, and what is too small 0, or its least.
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


def are_made_alike_but_rounded(
    old: Walked | None, partners: Partners, pair: Pair, is_kept: Callable[[int], bool]
) -> bool:
    """Tell whether one operation makes both values of a pair, of the same arguments but for their precision.

    Casts between floats are looked through. `is_kept` tells whether the constants of a pair are the same but rounded.
    """
    node, other = (walked.graph.makers[number] if walked else None for walked, number in _sides(old, partners, pair))
    if old is None or node is None or other is None or not _are_alike(node, other):
        return False
    for mine, theirs in zip(node.operands, other.operands, strict=True):
        index = partners.main.get(theirs, partners.main.get(_before_casts(partners.new, theirs)))
        if index is None or not is_kept(index):
            return False
        if _before_casts(old, partners.pairs[index].old) != _before_casts(old, mine):
            return False
    return True


def _sides(old: Walked | None, partners: Partners, pair: Pair) -> tuple[tuple[Walked | None, int], ...]:
    """Return each function with the value of it that its own operation makes: no cast that only one of them has."""
    if old is None:
        return (None, pair.old), (partners.new, pair.new)
    first, second = old.graph.makers[pair.old], partners.new.graph.makers[pair.new]
    if first is None or second is None or first.operation.type != second.operation.type:
        return (old, _before_casts(old, pair.old)), (partners.new, _before_casts(partners.new, pair.new))
    return (old, pair.old), (partners.new, pair.new)


def _before_casts(walked: Walked, number: int) -> int:
    """Return the value that casts between floats make a value of, or the value itself."""
    maker = walked.graph.makers[number]
    while maker is not None and _rounds(maker.operation):
        number = maker.operands[0]
        maker = walked.graph.makers[number]
    return number


def _rounds(operation: Operation) -> bool:
    """Tell whether an operation is a cast to a float, of a value that has a name."""
    if operation.type != "cast" or not operation.inputs["x"].arguments[0].HasField("name"):
        return False
    made = read_type(operation.outputs[0].type)
    return isinstance(made, TensorType) and made.dtype in FLOATS


def _are_alike(node: Node, other: Node) -> bool:
    """Tell whether two operations without blocks are of one type, with the same literals but for their precision."""
    one, two = node.operation, other.operation
    if one.type != two.type or node.slots != other.slots or node.blocks or other.blocks or not node.operands:
        return False
    literals, others = _literals(one), _literals(two)
    return literals.keys() == others.keys() and all(_match(each, others[key]) for key, each in literals.items())


def _match(one: Value, other: Value) -> bool:
    """Tell whether two values are the same but for rounding; of those in files, only what is equal is."""
    if one == other or "blobFileValue" in (one.WhichOneof("value"), other.WhichOneof("value")):
        return bool(one == other)
    constants = Constants(None)
    return is_rounded(constants.read(one), constants.read(other))


def _literals(operation: Operation) -> dict[tuple[str, int], Value]:
    """Return the values that stand in an operation itself, by where they do; not its name."""
    found = {(key, -1): value for key, value in operation.attributes.items() if key != "name"}
    for key in operation.inputs:
        for place, binding in enumerate(operation.inputs[key].arguments):
            if binding.HasField("value"):
                found[key, place] = binding.value
    return found
