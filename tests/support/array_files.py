"""Files of arrays as nobody's library writes them: headers that say whatever they are told to."""

from __future__ import annotations

import json
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy_format

Entry = dict[str, Any]


def npy_bytes(array: npt.NDArray[Any]) -> bytes:
    """What numpy.save writes."""
    import io

    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npy_of(
    shape: object, data: bytes = b"", descr: object = "<f4", fortran: object = False, version: tuple[int, int] = (1, 0)
) -> bytes:
    """A `.npy` with such a header, whatever is there, before such data."""
    text = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode() + b"\n"
    return npy_with(text, data, version)


def npy_with(text: bytes, data: bytes = b"", version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    """A `.npy` with a text as its header, which is said to have another length if that is given."""
    form = "<H" if version[0] == 1 else "<I"
    size = struct.pack(form, len(text) if length is None else length)
    return npy_format.MAGIC_PREFIX + bytes(version) + size + text + data


def npz(path: Path, *members: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive with such members, in that order, names twice too."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", compression) as archive:
        warnings.simplefilter("ignore")  # it is of names that are there twice
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return path


def tensor(dtype: str, shape: list[int], start: int, end: int) -> Entry:
    """An entry of a header of safetensors."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def safetensors(header: bytes | dict[str, Entry], data: bytes = b"", length: int | None = None) -> bytes:
    """A `.safetensors` with such a header, which is said to have another length if that is given."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def sparse_npy(path: Path, shape: tuple[int, ...], descr: str = "<f4", fortran: bool = False) -> Path:
    """A `.npy` of zeros, which takes no room on the disk."""
    with open(path, "wb") as file:
        npy_format.write_array_header_2_0(file, {"descr": descr, "fortran_order": fortran, "shape": shape})
        file.truncate(file.tell() + int(np.prod(shape)) * np.dtype(descr).itemsize)
    return path


def sparse_safetensors(path: Path, shape: tuple[int, ...], dtype: str = "F32", size: int = 4) -> Path:
    """A `.safetensors` of zeros with one array `w`, which takes no room on the disk."""
    bytes_of_data = int(np.prod(shape)) * size
    with open(path, "wb") as file:
        file.write(safetensors({"w": tensor(dtype, [*shape], 0, bytes_of_data)}))
        file.truncate(file.tell() + bytes_of_data)
    return path


def text_of(reference: str, dtype: str, shape: tuple[int, ...]) -> str:
    """A program with a constant that is the array which a reference names."""
    kind = f"tensor<{dtype}, {[*shape]}>"
    value = f"            {kind} w = const()[val = {kind}({reference})];\n            fp32 y = relu(x = x);\n"
    return f"program(1.3)\n{{\n    func main<ios18>(fp32 x) {{\n{value}        }} -> (y);\n}}\n"
