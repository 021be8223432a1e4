"""Weight files of made-up numbers, for real programs that came without theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from support.weight_records import header, record

from miltext.schema.dtypes import DType, packed_size
from miltext.schema.paths import is_repeated
from miltext.schema.proto import Program, Value
from miltext.schema.tensors import tensor_dtype, tensor_shape

HERE = "@model_path/"


def stored_values(message: Any) -> Iterator[Value]:
    """Yield each Value of a message, however deep, that a weight file holds."""
    for field, held in message.ListFields():
        if field.message_type is None:
            continue
        is_map = field.message_type.GetOptions().map_entry
        for each in held.values() if is_map else held if is_repeated(field) else [held]:
            if isinstance(each, Value) and each.WhichOneof("value") == "blobFileValue":
                yield each
            elif hasattr(each, "ListFields"):
                yield from stored_values(each)


def write_weights(program: Program, folder: Path) -> Path:
    """Write files that hold a number for each weight of a program, and return the folder of `@model_path`."""
    generator = np.random.default_rng(0)
    for value in stored_values(program):
        path, offset = folder / value.blobFileValue.fileName.removeprefix(HERE), value.blobFileValue.offset
        path.parent.mkdir(parents=True, exist_ok=True)
        dtype, shape = tensor_dtype(value.type), tensor_shape(value.type)
        assert dtype is not None
        assert shape is not None
        data = _numbers(dtype, int(np.prod(shape)), generator)
        with path.open("r+b" if path.exists() else "wb") as stream:
            stream.write(header())
            stream.seek(offset)
            stream.write(record(number=dtype.blob or 0, size=len(data), start=offset + 64))
            stream.write(data)
    return folder


def _numbers(dtype: DType, count: int, generator: np.random.Generator) -> bytes:
    """Return small numbers of a data type, as a weight file holds them: those of integers from 0 to 1."""
    if dtype.kind == "float":
        return (generator.standard_normal(count) / 8).astype(dtype.numpy).tobytes()
    return generator.integers(0, 2, packed_size(count, dtype.bits), np.uint8).tobytes()
