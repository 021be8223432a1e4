"""The converted values of a program, for the report, and the arrays to store for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.conversion.numbers import Numbers, NumbersOf
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import InType

if TYPE_CHECKING:
    from miltext.conversion.halves import Loss
    from miltext.conversion.known import Precisions
    from miltext.schema.proto import Value
    from miltext.weight_files.model_weights import BlobFolder


class ConvertedConstant(NamedTuple):
    """A converted constant: its name for people, its function, its sizes and its loss.

    For a `compressed` weight with converted scales, the errors are upper bounds.
    """

    name: str
    function: str
    shape: tuple[int, ...]
    loss: Loss
    compressed: bool = False


class Contents:
    """The contents of a program's values, which are measured and converted; `arrays` are those to be stored."""

    def __init__(self, precisions: Precisions, folder: BlobFolder, arrays: dict[str, InType]) -> None:
        self.precisions = precisions
        self.arrays = dict(arrays)
        self.changes: list[ConvertedConstant] = []
        self._marks: dict[tuple[object, ...], str] = {}
        self._numbers = NumbersOf(folder, arrays)

    def numbers(self, value: Value, name: str) -> Numbers:
        """Return the numbers of a value. Raise as NumbersOf does."""
        return self._numbers(value, name)

    def overflow(self, numbers: Numbers) -> float | None:
        """Return the number outside of the new data type's range; None if there is none."""
        return numbers.loss.overflow if self.precisions.new == "fp16" else None

    def convert(self, value: Value, numbers: Numbers, name: str, function: str) -> None:
        """Replace the contents of a value by numbers in the new data type."""
        made = InType(numbers, BY_NAME[self.precisions.new])
        value.type.tensorType.dataType = made.dtype.number
        self.changes.append(ConvertedConstant(name, function, numbers.shape, numbers.loss))
        if value.WhichOneof("value") == "blobFileValue":
            mark = self._marks.setdefault(made.identity, f"{MARK}converted/{len(self._marks)}")
            self.arrays[mark] = made
            value.blobFileValue.fileName = mark
            value.blobFileValue.offset = 0
        else:
            value.immediateValue.tensor.CopyFrom(made.message())
