"""The parts of a weight file that programs use."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from miltext.schema.packing import packed_size
from miltext.weights.blob_storage import ALIGNMENT, aligned
from miltext.weights.model_weights import blob_values
from miltext.weights.tensors import tensor_dtype, tensor_shape

if TYPE_CHECKING:
    from miltext.schema.proto import Program, Value


def used_sizes(programs: Iterable[Program]) -> dict[str, dict[int, int]]:
    """Return the bytes of data at each offset that values name, by fileName.

    They are computed from the types of the values: no file is read.
    """
    found: dict[str, dict[int, int]] = {}
    for program in programs:
        for held in blob_values(program):
            blob = held.value.blobFileValue
            found.setdefault(blob.fileName, {})[blob.offset] = _size(held.value)
    return found


def _size(value: Value) -> int:
    """Return the bytes of a value of a known type and shape, 0 for another."""
    dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
    return 0 if dtype is None or shape is None else packed_size(prod(shape), dtype.bits)


def used_bytes(sizes: dict[int, int]) -> int:
    """Return the bytes of a weight file with only these records, whose sizes are given by offset."""
    return layout(sizes[offset] for offset in sorted(sizes))[1]


def layout(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Return the offsets of records of these sizes in a file with no others, and the file's size."""
    offsets, end = [], ALIGNMENT
    for size in sizes:
        offsets.append(aligned(end))
        end = offsets[-1] + ALIGNMENT + size
    return offsets, end
