"""Arrays in files beside a text: types and shapes from their headers, and their data in pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from miltext.diagnostics import ModelError
from miltext.models.arrays import stored
from miltext.models.arrays.opening import open_array
from miltext.parsing.lowering.arrays import ArrayReference
from miltext.schema.dtypes import BY_NAME
from miltext.schema.packing import unpack

NPY = ArrayReference("$npy", "w.npy")


def saved(folder: Path, array: npt.NDArray[Any]) -> ArrayReference:
    np.save(folder / "w.npy", array)
    return NPY


def read(folder: Path, reference: ArrayReference, dtype: str | None = None) -> npt.NDArray[Any]:
    """The elements of an array as a value of the type has them."""
    found = open_array(reference, folder)
    kind = BY_NAME[dtype] if dtype else found.dtype
    data = b"".join(found.pieces(kind))
    assert len(data) == found.size(kind)
    return unpack(data, kind, found.header.number).reshape(found.shape)


def refused(code: str, folder: Path, reference: ArrayReference, dtype: str | None = None) -> str:
    with pytest.raises(ModelError) as failure:
        read(folder, reference, dtype)
    (found,) = failure.value.diagnostics
    assert found.code == code
    assert found.notes
    assert str(reference) in found.message
    return found.message


def test_a_reference_is_shown_as_it_is_written() -> None:
    assert str(NPY) == '$npy("w.npy")'
    assert str(ArrayReference("$npz", 'a "b".npz', "k\n", "fp16")) == 'fp16 $npz("a \\"b\\".npz", "k\\n")'


TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (7,), (3, 5), (2, 3, 4)])
def test_every_type_is_read_as_it_is(
    kind: str, order: str, shape: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PIECE", 8)
    array = (np.arange(np.prod(shape, dtype=int)) * 37 % 113).astype(order + kind).reshape(shape)
    reference = saved(tmp_path, array)
    found = open_array(reference, tmp_path)
    assert (found.shape, found.dtype.bits) == (shape, array.itemsize * 8)
    assert found.dtype.kind[0] == ("b" if kind == "?" else kind[0])
    made = read(tmp_path, reference)
    assert made.dtype == array.dtype.newbyteorder("<")
    assert np.array_equal(made, array)
