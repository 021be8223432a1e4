"""Replacement of constants by zeros of the same type."""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from math import prod
from typing import TYPE_CHECKING

from miltext.schema.tensors import Literal, literal, tensor_form
from miltext.schema.walk import values
from miltext.weight_files.usage import value_size

if TYPE_CHECKING:
    from miltext.schema.proto import Program
    from miltext.schema.walk import Held

FEWEST = 2
"""The least number of elements of a constant, for a single number is as short as zero."""


def numbers(program: Program, most: int) -> list[int]:
    """Return the places among a program's values of possible zeros, up to a number of elements.

    These are weights of floats; integers may be shapes, axes, or places in other weights.
    """
    return [place for place, held in enumerate(values(program)) if _may_be_zero(held, most)]


def zeroed(program: Program, places: Collection[int]) -> Program:
    """Return a Program with zeros at some places."""
    made = deepcopy(program)
    for place, held in enumerate([*values(made)]):
        form = tensor_form(held.value.type) if place in places else None
        if form is not None:
            zeros = Literal(*form, bytes(value_size(held.value)))
            held.value.immediateValue.tensor.CopyFrom(zeros.message())
    return made


def _may_be_zero(held: Held, most: int) -> bool:
    form = tensor_form(held.value.type) if held.is_weight else None
    if form is None or form[0].kind != "float" or not FEWEST <= prod(form[1]) <= most:
        return False
    tensor = literal(held.value)
    return any(tensor.data) if tensor is not None else held.value.WhichOneof("value") == "blobFileValue"
