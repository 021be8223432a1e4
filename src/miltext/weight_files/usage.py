"""The parts of a weight file that programs use."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from miltext.schema.dtypes import packed_size
from miltext.schema.tensors import tensor_form
from miltext.weight_files.blob_storage import ALIGNMENT, aligned
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.schema.proto import NamedValueType, Program, Value


def used_sizes(programs: Iterable[Program]) -> dict[str, dict[int, int]]:
    """Return the number of bytes of data at each offset in values, by fileName.

    They are computed from the types of the values; no file is read.
    """
    found: dict[str, dict[int, int]] = {}
    for program in programs:
        for held in blob_values(program):
            blob = held.value.blobFileValue
            sizes = found.setdefault(blob.fileName, {})
            sizes[blob.offset] = max(value_size(held.value), sizes.get(blob.offset, 0))
    return found


def value_size(value: Value | NamedValueType) -> int:
    """Return the number of bytes of the elements of a known type and shape in a weight file, 0 for another type."""
    form = tensor_form(value.type)
    return packed_size(prod(form[1]), form[0].bits) if form else 0


def used_bytes(sizes: dict[int, int]) -> int:
    """Return the size of a weight file with only these records, whose sizes are given by offset."""
    return layout(sizes[offset] for offset in sorted(sizes))[1]


def layout(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Return the offsets of records of these sizes in a file with no others, and the file's size."""
    offsets, end = [], ALIGNMENT
    for size in sizes:
        offsets.append(aligned(end))
        end = offsets[-1] + ALIGNMENT + size
    return offsets, end
