"""The values that may cross a boundary: a description can carry them, with their bytes by their declared types."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from miltext.descriptions.program_descriptions import SINCE
from miltext.diagnostics import Note, codes
from miltext.extraction.borders import Border, is_takeable
from miltext.extraction.compile_time import compile_time_values
from miltext.files.refusals import refusal
from miltext.schema.features import ELEMENTS
from miltext.schema.types import TensorType, bytes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import ModelError
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value

_EVERYWHERE = ("fp16",)
"""The data types whose first specification version an older model may be raised to: programs compute in fp16."""


class Carrying:
    """The values of a function that may cross boundaries, in a model of a specification version.

    `ranges` are the known sizes of values with open sizes; with `is_piped`, such values cannot cross, because no output
    of a model describes its sizes, and a pipeline compares them. `images` are outputs, whose
    numbers Core ML rounds: no later part can have them as they are.
    """

    def __init__(
        self,
        function: Function,
        version: int,
        ranges: Mapping[str, Sizes],
        images: Collection[str],
        *,
        is_piped: bool,
    ) -> None:
        self._function, self._version, self._ranges, self._is_piped = function, version, ranges, is_piped
        self._images = {value for value in function.outputs if value.name in images}
        assert function.block is not None
        made = [*function.block.made()]
        self._names = Counter(each.name for each in (*function.inputs, *made))
        self._fixed = compile_time_values(function.block, function.own_opset or function.opset)

    def bytes(self, value: Value) -> int:
        """Return the bytes of a value, as `value_bytes` does with the known ranges."""
        return value_bytes(value, self._ranges)

    def can_cross(self, value: Value) -> bool:
        """Return whether a value may cross a boundary."""
        return (
            is_takeable(value)
            and value not in self._fixed
            and value not in self._images
            and self._names[value.name] == 1
            and self._is_in_version(value)
            and self._has_sizes(value)
        )

    def _is_in_version(self, value: Value) -> bool:
        known = value.type
        assert isinstance(known, TensorType)
        return known.dtype in _EVERYWHERE or SINCE.get(ELEMENTS[known.dtype], 0) <= self._version

    def _has_sizes(self, value: Value) -> bool:
        known = value.type
        assert isinstance(known, TensorType)
        return None not in known.shape or (value.name in self._ranges and not self._is_piped)

    def fault(self, value: Value) -> ModelError | None:
        """Return the error about a value that cannot cross; None if it can."""
        if value.message is None or self.can_cross(value):
            return None
        fault = next(Border(self._function, [value.message], []).faults(), None)
        if fault is not None:
            return fault
        if value in self._fixed:
            message = f"`{value.name}` has to be known when the program is compiled"
            return refusal(codes.IMPOSSIBLE_PART_INPUT, message)
        if value in self._images:
            message = f"`{value.name}` is an image outside, whose numbers Core ML rounds, and later operations use it"
            way = Note("build the model with a description in which it is a multi-array, and split that")
            return refusal(codes.IMPOSSIBLE_PART_INPUT, message, None, way)
        if self._names[value.name] > 1:
            return refusal(codes.IMPOSSIBLE_PART_INPUT, f"several values are named `{value.name}`")
        if not self._is_in_version(value):
            known = value.type
            assert isinstance(known, TensorType)
            message = f"`{value.name}` is {known.dtype}, which needs specification {SINCE[ELEMENTS[known.dtype]]}"
            return refusal(codes.IMPOSSIBLE_PART_INPUT, f"{message}: this model has {self._version}")
        return self._open(value)

    def _open(self, value: Value) -> ModelError:
        if self._is_piped and value.name in self._ranges:
            message = f"`{value.name}` has open sizes, which no output of a model in a pipeline describes"
            return refusal(codes.IMPOSSIBLE_PART_INPUT, message, None, Note("write the parts as packages instead"))
        message = f"`{value.name}` has open sizes, and no range of these follows from the inputs of the model"
        return refusal(codes.INPUT_WITHOUT_RANGE, message)


def value_bytes(value: Value, ranges: Mapping[str, Sizes]) -> int:
    """Return the bytes of a value by its type, with the greatest of open sizes, or the least where there is no end.

    0 for a value of unknown size.
    """
    known = value.type
    if isinstance(known, TensorType) and None in known.shape and value.name in ranges:
        sizes = (each.least if each.greatest is None else each.greatest for each in ranges[value.name])
        known = TensorType(known.dtype, (*sizes,))
    return bytes_of(known) or 0
