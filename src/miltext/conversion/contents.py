"""The converted values of a program, for the report, and the arrays to store for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.conversion.numbers import Numbers
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import InType, tensor_form

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
    """The contents of a program's values, which are measured and converted.

    They are in the `folder` of weight files, or among the `arrays` to be stored, such as those that a text names.
    """

    def __init__(self, precisions: Precisions, folder: BlobFolder, arrays: dict[str, InType]) -> None:
        self.precisions = precisions
        self.arrays = dict(arrays)
        self.changes: list[ConvertedConstant] = []
        self._marks: dict[tuple[object, ...], str] = {}
        self._folder = folder
        self._known: dict[tuple[object, ...], Numbers] = {}

    def numbers(self, value: Value, name: str) -> Numbers:
        """Return the numbers of a value, with its displayed name: the same object for the same record.

        Raise WeightsError for a weight file, and ModelError (MIL438) for a value that does not match its type.
        """
        form = tensor_form(value.type)
        source = (self.arrays.get(value.blobFileValue.fileName) or self._folder.tensor(value)) if form else None
        if form is None or source is None:
            message = f"the value of `{name}` cannot be converted: its contents do not fit its type"
            raise refusal(codes.UNCONVERTIBLE_VALUE, message)
        made = Numbers(source, form[1], self._folder.progress)
        return self._known.setdefault((*form, *made.identity), made)

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
