"""A weight goes from its file into a model in pieces: whatever its size, there is little of it in memory."""

from __future__ import annotations

import os
import sys
from math import prod
from pathlib import Path

import pytest
from conftest import ROOT
from support.array_files import sparse_npy, text_of
from support.large_arrays import large_arrays, write
from support.memory import run

from miltext.models.weights import BlobFile

MOST = 100 << 20
"""Bytes of the whole process, of which Python, numpy and protobuf need some 40 million by themselves."""

LARGE = 64 << 20
"""Elements of four bytes."""

GRAMMAR = (ROOT / "grammar" / "mil.lark").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc how much memory there is")

ARRAYS = large_arrays(LARGE)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_any_size_takes_little_memory(name: str, tmp_path: Path) -> None:
    large = ARRAYS[name]
    if "$safetensors" in large.reference:
        pytest.importorskip("safetensors")
    if '"$npz"' not in GRAMMAR and (large.reference[0] != "$" or "$npy" not in large.reference):
        pytest.skip("the language does not have this yet")
    write(tmp_path, large)
    (tmp_path / "m.mil").write_text(text_of(large.reference, large.dtype, large.shape))
    made = run("build", tmp_path / "m.mil", "-o", tmp_path / "M.mlpackage")
    assert (made.status, made.said) == (0, "")
    assert made.resident < MOST
    path = tmp_path / "M.mlpackage/Data/com.apple.CoreML/weights/weight.bin"
    with BlobFile(path) as file:
        (blob,) = file
        assert (blob.dtype.name, blob.count) == (large.dtype, prod(large.shape))
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
