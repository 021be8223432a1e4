"""What a model can take and give, and the values near one that it can.

coremltools 9.0 describes inputs and outputs as multi-arrays of some data types (`converters/mil/backend/mil/load.py`),
refuses tensors of more than five dimensions (`converters/mil/mil/program.py`), and opens no model that takes a scalar
(`converters/mil/frontend/milproto/load.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from miltext.diagnostics import Note
from miltext.extraction.needs import free_names
from miltext.extraction.wanted import NO_INPUT, NO_OUTPUT, SHOWN, listed
from miltext.models.refusals import refusal
from miltext.printing.printer import type_text
from miltext.schema.dtypes import BY_NAME
from miltext.schema.features import ELEMENTS
from miltext.schema.operations import signature
from miltext.schema.types import TensorType, read_type, spelled

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.extraction.planning import Plan
    from miltext.schema.proto import Block, Function, NamedValueType, Operation, ValueType

MOST_DIMENSIONS = 5

OF_CLASSES = "classify"
"""The operation whose outputs may be what no others can: a label, and a dictionary of probabilities."""


def can_give(value_type: ValueType) -> bool:
    """Tell whether a model can give what is of this type, as a multi-array."""
    known = read_type(value_type)
    return isinstance(known, TensorType) and known.dtype in ELEMENTS and len(known.shape) <= MOST_DIMENSIONS


def can_take(value_type: ValueType) -> bool:
    """Tell whether a model can take what is of this type, as a multi-array."""
    return can_give(value_type) and not _is_scalar(value_type)


def _is_scalar(value_type: ValueType) -> bool:
    known = read_type(value_type)
    return isinstance(known, TensorType) and known.shape == ()


def _named(value_type: ValueType) -> str:
    """Return a type for a message; of a scalar that could be given, what bars it."""
    is_barred = _is_scalar(value_type) and can_give(value_type)
    return f"a scalar, {type_text(value_type)}" if is_barred else type_text(value_type)


class Border:
    """What a part takes besides the inputs of its function, and what it gives, held to what a model can.

    `function` is that of the whole Program, and `block` the own block of it.
    """

    def __init__(self, function: Function, block: Block, planned: Plan) -> None:
        self._function, self._operations, self._planned = function, block.operations, planned

    @cached_property
    def _makers(self) -> dict[str, Operation]:
        return {output.name: each for each in self._operations for output in each.outputs}

    @cached_property
    def _types(self) -> dict[str, ValueType]:
        made = {output.name: output.type for each in self._operations for output in each.outputs}
        return {value.name: value.type for value in self._function.inputs} | made

    def faults(self) -> Iterator[ModelError]:
        """Yield an error for each value that a model cannot take or give, with the values near it that it can."""
        for value in self._planned.new:
            if not can_take(value.type):
                message = f"`{value.name}` is {_named(value.type)}, which a model cannot take"
                notes = [*self._takeable(value.name), *self._cast(value, "take {} in the text, and `cast` that to {}")]
                yield refusal(NO_INPUT, message, None, *notes)
        for value in self._planned.given:
            if not can_give(value.type) and self._makers[value.name].type != OF_CLASSES:
                message = f"`{value.name}` is {_named(value.type)}, which a model cannot give"
                notes = [*self._givable(value.name), *self._cast(value, "`cast` it to {} in the text, and name that")]
                yield refusal(NO_OUTPUT, message, None, *notes)

    def _takeable(self, name: str) -> Iterator[Note]:
        """Yield a note with the nearest values before one that a model can take."""
        found = list(self._before(name))
        new = [each for each in found if each in self._makers]
        if new:
            asked = " ".join(f"--input {each}" for each in new[:SHOWN])
            yield Note(f"{listed(new)}, of which it is made, can be: {asked}")
        elif found:
            yield Note(f"it is made of {listed(found)}, which the function takes")

    def _before(self, name: str) -> Iterator[str]:
        """Yield the nearest values that one is made of, and that a model can take; no constants."""
        todo, seen = [name], {name}
        while todo:
            maker = self._makers.get(todo.pop(0))
            for each in dict.fromkeys(free_names(maker)) if maker is not None else ():
                if each not in seen and each in self._types:
                    seen.add(each)
                    if not can_take(self._types[each]):
                        todo.append(each)
                    elif each not in self._makers or self._makers[each].type != "const":
                        yield each

    def _givable(self, name: str) -> Iterator[Note]:
        """Yield a note with the nearest values after one that a model can give."""
        made, found = {name}, list[str]()
        for operation in self._operations:
            if not made.isdisjoint(free_names(operation)):
                names = [output.name for output in operation.outputs]
                found += [each for each in names if can_give(self._types[each])]
                made.update(each for each in names if not can_give(self._types[each]))
        if found:
            yield Note(f"{listed(found)}, made of it, can be")

    def _cast(self, value: NamedValueType, way: str) -> Iterator[Note]:
        """Yield a note with the `way` to cast a value, if that is all that is needed."""
        known = read_type(value.type)
        if not isinstance(known, TensorType) or len(known.shape) > MOST_DIMENSIONS:
            return
        if known.dtype in ELEMENTS:
            yield Note(f"or take {spelled(known._replace(shape=(1,)))} in the text, and `squeeze` that")
            return
        cast = signature("cast", self._function.opset)
        if cast is not None and known.dtype in cast.dtypes("x"):
            target = "fp32" if BY_NAME[known.dtype].kind == "float" else "int32"
            yield Note(f"or {way.format(target, known.dtype)}")
