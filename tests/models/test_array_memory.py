"""A weight goes from its file into a model in pieces: whatever its size, there is little of it in memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import ROOT
from support.array_files import sparse_npy, sparse_safetensors, text_of
from support.memory import run

from miltext.models.weights import BlobFile

MOST = 100 << 20
"""Bytes of the whole process, of which Python, numpy and protobuf need some 40 million by themselves."""

LARGE = 64 << 20
"""Elements."""

GRAMMAR = (ROOT / "grammar" / "mil.lark").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc how much memory there is")


class Large(NamedTuple):
    """An array, what names it, and the type that it becomes."""

    file: str
    descr: str
    shape: tuple[int, ...]
    fortran: bool
    reference: str
    dtype: str


ARRAYS = {
    "in C order": Large("w.npy", "<f4", (LARGE,), False, '$npy("w.npy")', "fp32"),
    "in Fortran order": Large("w.npy", "<f4", (1 << 13, 1 << 13), True, '$npy("w.npy")', "fp32"),
    "in Fortran order, wide": Large("w.npy", "<f4", (1 << 4, 1 << 22), True, '$npy("w.npy")', "fp32"),
    "in the other byte order": Large("w.npy", ">f4", (LARGE,), False, '$npy("w.npy")', "fp32"),
    "narrowed to bits": Large("w.npy", "<i8", (LARGE // 2,), False, '$npy("w.npy")', "uint3"),
    "converted": Large("w.npy", "<f8", (LARGE // 2,), False, 'fp16 $npy("w.npy")', "fp16"),
    "in an archive": Large("w.npz", "<f4", (LARGE,), False, '$npz("w.npz", "w")', "fp32"),
    "in an archive, in Fortran order": Large("w.npz", "<f4", (1 << 13, 1 << 13), True, '$npz("w.npz", "w")', "fp32"),
    "in safetensors": Large("w.safetensors", "F32", (LARGE,), False, '$safetensors("w.safetensors", "w")', "fp32"),
    "of bf16": Large("w.safetensors", "BF16", (2 * LARGE,), False, 'fp16 $safetensors("w.safetensors", "w")', "fp16"),
}


def write(folder: Path, large: Large) -> None:
    """Write the file of an array, all zeros."""
    path = folder / large.file
    if path.suffix == ".safetensors":
        pytest.importorskip("safetensors")
        sparse_safetensors(path, large.shape, large.descr, 2 if large.descr == "BF16" else 4)
        return
    sparse_npy(folder / "w.npy", large.shape, large.descr, large.fortran)
    if path.suffix == ".npz":
        import zipfile

        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(folder / "w.npy", "w.npy")
        (folder / "w.npy").unlink()


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_any_size_takes_little_memory(name: str, tmp_path: Path) -> None:
    large = ARRAYS[name]
    word = large.reference.partition("(")[0].rpartition(" ")[2]
    if f'"{word}"' not in GRAMMAR or (large.reference[0] != "$" and '"$npz"' not in GRAMMAR):
        pytest.skip("the language does not have this yet")
    write(tmp_path, large)
    (tmp_path / "m.mil").write_text(text_of(large.reference, large.dtype, large.shape))
    made = run("build", tmp_path / "m.mil", "-o", tmp_path / "M.mlpackage")
    assert (made.status, made.said) == (0, "")
    assert made.resident < MOST
    path = tmp_path / "M.mlpackage/Data/com.apple.CoreML/weights/weight.bin"
    with BlobFile(path) as file:
        (blob,) = file
        assert (blob.dtype.name, blob.count) == (large.dtype, np.prod(large.shape))
        assert not any(chunk.any() for chunk in blob.chunks())
    os.remove(path)


def test_the_measure_can_fail(tmp_path: Path) -> None:
    """A file that is mapped and read counts."""
    sparse_npy(tmp_path / "w.npy", (LARGE,))
    (tmp_path / "m.mil").write_text(text_of('$npy("w.npy")', "fp32", (LARGE,)))
    assert run("build", tmp_path / "m.mil", "-o", tmp_path / "M.mlpackage").resident < MOST
    weights = run("weights", tmp_path / "M.mlpackage")
    assert weights.status == 0
    assert weights.resident > MOST
