"""The types of a model's inputs and outputs, and the nearest values of such types.

coremltools 9.0 describes inputs and outputs as multi-arrays of some data types (`converters/mil/backend/mil/load.py`),
refuses tensors of more than five dimensions (`converters/mil/mil/program.py`), and opens no model with a scalar input
(`converters/mil/frontend/milproto/load.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.diagnostics import Note, codes
from miltext.extraction.wanted import SHOWN, listed, top_values
from miltext.files.refusals import refusal
from miltext.ir.needs import behind
from miltext.printing.printer import type_text
from miltext.schema.dtypes import BY_NAME
from miltext.schema.features import ELEMENTS
from miltext.schema.operations import signature
from miltext.schema.types import TensorType, read_type, spelled

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.extraction.planning import PartPlan
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.schema.proto import NamedValueType, ValueType

MOST_DIMENSIONS = 5

OF_CLASSES = "classify"
"""The only operation whose outputs may be a label and a dictionary of probabilities."""


def can_give(value_type: ValueType) -> bool:
    """Return whether a value of this type can be an output of a model, as a multi-array."""
    known = read_type(value_type)
    return isinstance(known, TensorType) and known.dtype in ELEMENTS and len(known.shape) <= MOST_DIMENSIONS


def can_take(value_type: ValueType) -> bool:
    """Return whether a value of this type can be an input of a model, as a multi-array."""
    return can_give(value_type) and not _is_scalar(value_type)


def _is_scalar(value_type: ValueType) -> bool:
    known = read_type(value_type)
    return isinstance(known, TensorType) and known.shape == ()


def is_givable(value: Value) -> bool:
    """Return whether a value can be an output of a model, as a multi-array."""
    return value.message is not None and can_give(value.message.type)


def is_takeable(value: Value) -> bool:
    """Return whether a value can be an input of a model, as a multi-array."""
    return value.message is not None and can_take(value.message.type)


def _named(value_type: ValueType) -> str:
    """Return a type for a message; for a scalar that could be an output, the reason why it cannot be an input."""
    is_barred = _is_scalar(value_type) and can_give(value_type)
    return f"a scalar, {type_text(value_type)}" if is_barred else type_text(value_type)


class Border:
    """The new inputs of a part and its outputs, checked against the limits of models."""

    def __init__(self, function: Function, new: Sequence[NamedValueType], given: Sequence[NamedValueType]) -> None:
        self._new, self._given = new, given
        self._opset = function.message.opset
        self._values = top_values(function)

    @classmethod
    def of(cls, planned: PartPlan) -> Border:
        """Return the border of a planned part."""
        return cls(planned.graph.functions[planned.function], planned.new, planned.given)

    def faults(self) -> Iterator[ModelError]:
        """Yield an error for each impossible input or output, with the nearest possible values."""
        for value in self._new:
            if not can_take(value.type):
                message = f"`{value.name}` is {_named(value.type)}, which cannot be an input of a model"
                notes = [
                    *self._takeable(value.name),
                    *self._cast(value, "declare it as {} in the text, and `cast` it to {}"),
                ]
                yield refusal(codes.IMPOSSIBLE_PART_INPUT, message, None, *notes)
        for value in self._given:
            maker = self._values[value.name].maker
            if not can_give(value.type) and (maker is None or maker.type != OF_CLASSES):
                message = f"`{value.name}` is {_named(value.type)}, which cannot be an output of a model"
                notes = [
                    *self._givable(value.name),
                    *self._cast(value, "`cast` it to {} in the text, and name the output of the `cast`"),
                ]
                yield refusal(codes.IMPOSSIBLE_PART_OUTPUT, message, None, *notes)

    def _takeable(self, name: str) -> Iterator[Note]:
        """Yield a note with the nearest values before a value that can be inputs."""
        found = [*self._before(self._values[name])]
        new = [each.name for each in found if each.maker is not None]
        if new:
            named = listed(new[:SHOWN])
            yield Note(f"{named}, its source, can be one" if len(new) == 1 else f"its sources can be inputs: {named}")
        elif found:
            yield Note(f"it is made of {listed([each.name for each in found])}, which the function takes")

    def _before(self, value: Value) -> Iterator[Value]:
        """Yield the nearest values before a value that can be inputs, without constants."""
        for each in behind([value], lambda each: each is value or not is_takeable(each)):
            if each is not value and is_takeable(each) and (each.maker is None or each.maker.type != "const"):
                yield each

    def _givable(self, name: str) -> Iterator[Note]:
        """Yield a note with the nearest values after a value that can be outputs."""
        value = self._values[name]
        block = value.maker.block if value.maker is not None else None
        made, found = {value}, list[str]()
        for op in block or ():
            if not made.isdisjoint(op.used()):
                found += [each.name for each in op.outputs if is_givable(each)]
                made.update(each for each in op.outputs if not is_givable(each))
        if found:
            yield Note(f"{listed(found)}, made of it, can be")

    def _cast(self, value: NamedValueType, way: str) -> Iterator[Note]:
        """Yield a note with the `way` to cast a value, if a cast is enough."""
        known = read_type(value.type)
        if not isinstance(known, TensorType) or len(known.shape) > MOST_DIMENSIONS:
            return
        if known.dtype in ELEMENTS:
            yield Note(f"or declare it as {spelled(known._replace(shape=(1,)))} in the text, and `squeeze` it")
            return
        cast = signature("cast", self._opset)
        if cast is not None and known.dtype in cast.dtypes("x"):
            target = "fp32" if BY_NAME[known.dtype].kind == "float" else "int32"
            yield Note(f"or {way.format(target, known.dtype)}")
