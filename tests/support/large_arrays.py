"""Arrays of any size, all zeros, in each kind of file and in each way in which they are read."""

from __future__ import annotations

import zipfile
from math import isqrt
from pathlib import Path
from typing import NamedTuple

from support.array_files import sparse_npy, sparse_safetensors


class Large(NamedTuple):
    """An array, what names it in a text, and the type that it becomes."""

    descr: str
    shape: tuple[int, ...]
    reference: str
    dtype: str
    fortran: bool = False


NPY, NPZ, SAFETENSORS = '$npy("w.npy")', '$npz("w.npz", "w")', '$safetensors("w.safetensors", "w")'


def large_arrays(count: int) -> dict[str, Large]:
    """Arrays of `4 * count` bytes; `count` is a power of 4."""
    square, wide = (isqrt(count), isqrt(count)), (16, count // 16)
    return {
        "in C order": Large("<f4", (count,), NPY, "fp32"),
        "in Fortran order": Large("<f4", square, NPY, "fp32", fortran=True),
        "in Fortran order, wide": Large("<f4", wide, NPY, "fp32", fortran=True),
        "in Fortran order, of 4 axes": Large("<f4", (isqrt(count) // 8, isqrt(count), 4, 2), NPY, "fp32", fortran=True),
        "in the other byte order": Large(">f4", (count,), NPY, "fp32"),
        "narrowed to 3 bits": Large("<i8", (count // 2,), NPY, "uint3"),
        "converted": Large("<f8", (count // 2,), f"fp16 {NPY}", "fp16"),
        "in an archive": Large("<f4", (count,), NPZ, "fp32"),
        "in an archive, in Fortran order": Large("<f4", square, NPZ, "fp32", fortran=True),
        "in safetensors": Large("F32", (count,), SAFETENSORS, "fp32"),
        "in safetensors, of bf16": Large("BF16", (2 * count,), f"fp16 {SAFETENSORS}", "fp16"),
    }


def write(folder: Path, large: Large) -> None:
    """Write the file of an array, which takes no room on the disk, or little."""
    if "$safetensors" in large.reference:
        sparse_safetensors(folder / "w.safetensors", large.shape, large.descr, 2 if large.descr == "BF16" else 4)
        return
    sparse_npy(folder / "w.npy", large.shape, large.descr, large.fortran)
    if "$npz" in large.reference:
        with zipfile.ZipFile(folder / "w.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(folder / "w.npy", "w.npy")
        (folder / "w.npy").unlink()
