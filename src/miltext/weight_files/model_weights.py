"""The weights of a model: its weight files, and each weight by name, in a file or in the program."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain, count
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.diagnostics import codes
from miltext.files.refusals import WeightsError, refusal
from miltext.schema.dtypes import packed_size
from miltext.schema.tensors import literal, tensor_dtype, tensor_form, tensor_shape
from miltext.schema.walk import Held, is_compressed, values
from miltext.weight_files.blob_storage import ALIGNMENT, Blob, BlobFile
from miltext.weight_files.paths import MODEL_PATH, resolve

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.files.writing import Progress
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Program, Value
    from miltext.schema.tensors import Tensor

FEWEST = 10
"""The least number of elements of a constant in coremltools' weight file; smaller ones are settings, not weights."""


def blob_values(program: Program) -> Iterator[Held]:
    """Yield the Values of a Program that are in weight files."""
    return (held for held in values(program) if held.value.WhichOneof("value") == "blobFileValue")


def is_weight_file(path: Path) -> bool:
    """Return whether a file begins like a weight file."""
    with suppress(WeightsError), BlobFile(path) as file:
        return (len(file), file.size) == (0, ALIGNMENT) or bool(file.blob(ALIGNMENT))
    return False


class BlobFolder:
    """The weight files in the folder for `@model_path`; each is opened when a value first names it.

    Raise WeightsError: MIL301 to MIL306 as `resolve` and `BlobFile` do, MIL302 without a folder, MIL309 for a record
    that does not match its value. `progress` is for readers of the records: it gets the number of read bytes.
    """

    def __init__(self, model_path: Path | None, progress: Progress | None = None) -> None:
        self.model_path = model_path
        self.progress = progress
        self._paths: dict[str, Path] = {}
        self._files: dict[Path, BlobFile] = {}

    def path(self, file_name: str) -> Path:
        """Return the real path of the file in a BlobFileValue's fileName."""
        if self.model_path is None:
            raise refusal(
                codes.MISSING_WEIGHT_FILE, f"the folder of the weight file `{file_name}` is unknown", "<stdin>"
            )
        return resolve(file_name, self.model_path)

    def blob(self, value: Value) -> Blob:
        """Return the record of a value in a weight file; errors name the file below the given folder."""
        try:
            return self._blob(value)
        except WeightsError as failure:
            if self.model_path is not None and failure.path is not None:
                near = self.model_path / value.blobFileValue.fileName.partition("/")[2]
                failure.path = str(near) if os.path.realpath(near) == failure.path else failure.path
            raise

    def tensor(self, value: Value) -> Tensor | None:
        """Return the record of a value in a weight file, or the immediate numbers of a value; None without numbers."""
        return self.blob(value) if value.WhichOneof("value") == "blobFileValue" else literal(value)

    def _blob(self, value: Value) -> Blob:
        named = value.blobFileValue
        path = self._paths.get(named.fileName)
        if path is None:
            path = self._paths[named.fileName] = self.path(named.fileName)
        if path not in self._files:
            self._files[path] = BlobFile(path)
        blob = self._files[path].blob(named.offset)
        dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
        if dtype is None or (shape is None and dtype != blob.dtype):
            message = f"the record at offset {blob.offset} holds {blob.dtype.name}, but its value has another type"
            raise refusal(codes.MISFIT_RECORD, message, blob.path)
        return blob if shape is None else blob.require(dtype, prod(shape))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()


class LooseFolder(BlobFolder):
    """A folder of weight files, each under its path in the model or under its bare name."""

    def path(self, file_name: str) -> Path:
        try:
            return super().path(file_name)
        except WeightsError as failure:
            if (
                failure.diagnostics[0].code == codes.MISSING_WEIGHT_FILE
                and self.model_path is not None
                and "/" in file_name
            ):
                with suppress(WeightsError):
                    return resolve(f"{MODEL_PATH}/{file_name.rpartition('/')[2]}", self.model_path)
            raise


class Weight(NamedTuple):
    """One weight: its names, type and shape, and its place.

    `size` is in bytes, computed from the type: the file need not exist. `value` is the Value itself; `blob` its
    reference to a weight file, None for a weight in the program.
    """

    name: str
    function: str
    dtype: DType
    shape: tuple[int, ...]
    size: int
    value: Value
    blob: Value.BlobFileValue | None

    @property
    def elements(self) -> int:
        """The number of its elements."""
        return prod(self.shape)


SHOWN = 3
"""The number of names in the repr of weights."""


class Weights(Mapping[str, Any]):
    """A model's weights as numpy arrays, by name or by Value, each read at its use.

    A weight's name is the name of its `const`, or `OUTPUT.ARGUMENT` for an argument of another operation, as in
    `w.lut`; if functions have different weights of one name, it is `FUNCTION/NAME`. The names are the program's at the
    first use. An array is a read-only view of the file; bf16 and fp8 are their bit patterns (uint16, uint8), sub-byte
    types are unpacked (int8, uint8). Raise KeyError for any other name, and WeightsError for an unreadable weight.
    """

    def __init__(self, program: Program, model_path: Path | None) -> None:
        self._program = program
        self._folder = BlobFolder(model_path)
        self.keeps: object = None  # an object that must live as long: the temporary folder of the files

    def __repr__(self) -> str:
        first = [*self][:SHOWN]
        more = f" and {len(self) - len(first)} more" if len(self) > len(first) else ""
        return f"<Weights: {', '.join(first) or 'none'}{more}>"

    def __getitem__(self, key: str | Value) -> npt.NDArray[Any]:
        value = self.entries[key].value if isinstance(key, str) else key
        form = tensor_form(value.type)
        if form is None:
            raise KeyError("this Value is not a tensor of a known shape")
        return self.tensor(value).array(form[1])

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def entries(self) -> dict[str, Weight]:
        """Every weight by name, in the order of the program."""
        named: dict[str, list[Weight]] = {}
        for weight in filter(None, map(_weight, values(self._program))):
            named.setdefault(weight.name, []).append(weight)
        found: dict[str, Weight] = {}
        for name, weights in named.items():
            alone = all(each.value == weights[0].value for each in weights)
            for weight in weights[:1] if alone else weights:
                found[name if alone else _unlike(f"{weight.function}/{name}", found)] = weight
        return found

    def in_files(self) -> list[Weight]:
        """Return the weights in weight files."""
        return [weight for weight in self.entries.values() if weight.blob is not None]

    def digest(self, weight: Weight, progress: Progress | None = None) -> str:
        """Return the digest of a weight's type and elements, in a file or in the program."""
        return self.tensor(weight.value).digest(progress)

    def tensor(self, value: Value) -> Tensor:
        """Return the numbers of a Value."""
        found = self._folder.tensor(value)
        if found is None:
            raise KeyError("an array cannot hold the contents of this Value")
        return found


def small_weights(program: Program) -> Iterator[Weight]:
    """Yield the weights in a program with fewer elements than FEWEST: parts of compressed weights, such as a scale, and
    constants of one or more dimensions, such as the bias of a small layer.
    """
    for held in values(program):
        weight = _weight(held, 0)
        is_part = held.operation is not None and is_compressed(held.operation.type)
        if weight is not None and weight.blob is None and weight.elements < FEWEST and (weight.shape or is_part):
            yield weight


def misfits(program: Program) -> Iterator[str]:
    """Yield the names of constants with the type of a weight whose numbers do not fill it, or exceed its range."""
    for held in values(program):
        form = tensor_form(held.value.type) if held.is_weight else None
        is_long = form is not None and form[0].kind != "string" and prod(form[1]) >= FEWEST
        if is_long and held.value.HasField("immediateValue") and literal(held.value) is None:
            yield held.name


def _weight(held: Held, fewest: int = FEWEST) -> Weight | None:
    """Return the weight of a Value, None if it is none."""
    value = held.value
    form = tensor_form(value.type)
    if form is None:
        return None
    dtype, shape = form
    in_file = value.WhichOneof("value") == "blobFileValue"
    if not in_file and not (held.is_weight and prod(shape) >= fewest and literal(value)):
        return None
    size = packed_size(prod(shape), dtype.bits)
    return Weight(held.name, held.function, dtype, shape, size, value, value.blobFileValue if in_file else None)


def _unlike(name: str, taken: Mapping[str, object]) -> str:
    """Return the name, with a number if two values of a function share it, as in sibling blocks."""
    numbered = (f"{name}@{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)
