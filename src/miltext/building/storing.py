"""The values that move from a program into its weight file, and the weight files that it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import ModelError, Note, codes
from miltext.files.refusals import BlamedPart, WeightsError, refusal
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.tensors import literal, tensor_shape
from miltext.schema.walk import Held, values
from miltext.weight_files.blob_storage import ALIGNMENT
from miltext.weight_files.known_records import KnownRecords
from miltext.weight_files.model_weights import BlobFolder, blob_values
from miltext.weight_files.paths import MODEL_PATH
from miltext.weight_files.usage import value_size

if TYPE_CHECKING:
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Program, Value
    from miltext.schema.tensors import InType, Tensor
    from miltext.weight_files.blob_storage import BlobWriter

WEIGHT_FILE = "weights/weight.bin"
"""The place of coremltools' weights, below the folder for `@model_path`."""

WIDE_INTEGERS_SINCE = 9
"""The first specification version in which integers of 16 and 32 bits may be in a weight file."""


LARGEST = (1 << 31) - 1
"""The most bytes that protobuf's readers accept in one message."""


class Storing:
    """The values of a program to store: arrays that its text names, and large immediates.

    A value that cannot be in a weight file of that specification version becomes, or stays, an immediate value.
    `sources` are the files of the arrays.
    """

    def __init__(
        self, program: Program, arrays: dict[str, InType], externalize: int | None, specification_version: int
    ) -> None:
        self.program = program
        self.arrays = arrays
        self.sources = {array.origin for array in arrays.values() if array.origin is not None}
        self._wide = specification_version >= WIDE_INTEGERS_SINCE
        self._arrays: list[tuple[Value, InType]] = []
        self._immediates: list[Value] = []
        for held in list(values(program)):
            name = held.value.blobFileValue.fileName
            if name.startswith(MARK) and name in arrays:
                self._add(held.value, arrays[name])
            elif externalize is not None and self._moves(held, externalize):
                self._immediates.append(held.value)

    def __bool__(self) -> bool:
        return bool(self._arrays or self._immediates)

    def _storable(self, dtype: DType) -> bool:
        return dtype.blob is not None and (self._wide or dtype.kind == "float" or dtype.bits <= 8)

    def _moves(self, held: Held, fewest: int) -> bool:
        shape = tensor_shape(held.value.type)
        if not held.is_weight or shape is None or prod(shape) < fewest:
            return False
        found = literal(held.value)
        return found is not None and self._storable(found.dtype)

    @property
    def size(self) -> int:
        """The number of bytes that `write` reports as progress."""
        arrays = {array.identity: array.work() for _, array in self._arrays}
        return sum(arrays.values()) + sum(map(value_size, self._immediates))

    def _add(self, value: Value, array: InType) -> None:
        """Note an array; make it an immediate value if no weight file can contain its type."""
        if self._storable(array.dtype):
            self._arrays.append((value, array))
            return
        with _about(value):
            if array.size > LARGEST:
                held = f"a weight file cannot hold {array.dtype.name}"
                message = f"{held}, and {array.size} bytes are too many for the program"
                raise refusal(codes.UNSTORABLE_VALUE, message, array.origin)
            made = array.message()
        value.immediateValue.tensor.CopyFrom(made)

    def write(self, writer: BlobWriter, file_name: str, known: KnownRecords[int]) -> None:
        """Write the values to store, without duplicates and `known` values, and make them refer to the file."""
        added = KnownRecords[int]()
        offsets: dict[object, int] = {}
        for value, array in self._arrays:
            if array.identity not in offsets:
                with _about(value):
                    offsets[array.identity] = stored_once(array, writer, known, added)
            _refer(value, file_name, offsets[array.identity])
        for value in self._immediates:
            found = literal(value)
            assert found is not None
            _refer(value, file_name, stored_once(found, writer, known, added))


def stored_once(tensor: Tensor, writer: BlobWriter, known: KnownRecords[int], added: KnownRecords[int]) -> int:
    """Store a tensor unless an equal tensor is `known` or was added before; return the offset.

    Tensors added before are compared by reading the new file.
    """
    dtype, count = tensor.dtype, tensor.count
    there = known.find(dtype, count, tensor.pieces(folder=writer.folder))
    if there is not None:
        writer.advance(tensor.work())
        return there
    offset = writer.add_pieces(dtype, count, tensor.pieces(None, writer.advance, writer.folder))
    there = added.find(dtype, count, writer.last_pieces())
    if there is not None:
        writer.take_back()
        return there
    added.add(offset, dtype, count, writer.growing, offset + ALIGNMENT)
    return offset


@contextmanager
def _about(value: Value) -> Iterator[None]:
    """Return a `with` block whose errors name the array of a value."""
    try:
        yield
    except ModelError as failure:
        failure.about = BlamedPart("array", value.blobFileValue.fileName)
        raise


def _refer(value: Value, file_name: str, offset: int) -> None:
    value.blobFileValue.fileName = f"{MODEL_PATH}/{file_name}"
    value.blobFileValue.offset = offset


def named_files(program: Program, folder: BlobFolder) -> tuple[dict[str, Path], dict[str, WeightsError]]:
    """Return the weight files that a program names, by their paths below `@model_path`; and an error for each missing
    file, by fileName.

    Every record that the program refers to is checked. Raise WeightsError for a record that does not match its value.
    """
    found: dict[str, Path] = {}
    missing: dict[str, WeightsError] = {}
    for held in blob_values(program):
        name = held.value.blobFileValue.fileName
        if name in missing or name.startswith(MARK):
            continue
        try:
            found[name.partition("/")[2]] = folder.path(name)
        except WeightsError as failure:
            failure.about = BlamedPart("weight", name)
            if failure.diagnostics[0].code != codes.MISSING_WEIGHT_FILE:
                raise
            missing[name] = failure
        else:
            _check(held, folder)
    return found, missing


def _check(held: Held, folder: BlobFolder) -> None:
    """Check the record of a value; an error names the value."""
    try:
        folder.blob(held.value)
    except WeightsError as failure:
        finding = failure.diagnostics[0]
        place = f" in the function `{held.function}`" if held.function else ""
        note = Note(f"the record belongs to `{held.name}`{place}")
        failure.diagnostics[0] = finding._replace(notes=(note, *finding.notes))
        failure.about = BlamedPart("weight", held.value.blobFileValue.fileName)
        raise
