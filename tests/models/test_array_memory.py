"""A weight goes from its file into a model in pieces: whatever its size, there is little of it in memory."""

from __future__ import annotations

import os
import shutil
import sys
from math import prod
from pathlib import Path

import pytest
from conftest import ROOT
from support.array_files import sparse_npy, text_of
from support.large_arrays import large_arrays, write
from support.memory import run
from support.weighted import DATA, WEIGHT, function_of, program_of

from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import CHUNK
from miltext.weight_files.blob_storage import BlobFile, BlobWriter, pieces_at

MOST = 90 << 20
"""Bytes of the whole process, of which Python, numpy and protobuf need some 40 million by themselves."""

LARGE = 16 << 20
"""Elements of four bytes, too many for what those leave."""

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


def test_weights_of_any_size_are_left_out_with_little_memory(tmp_path: Path) -> None:
    """Three records: of the first two, which are equal to the last byte, one stays, and the third goes."""
    count = 4 * LARGE
    (tmp_path / "weights").mkdir()
    with BlobWriter(tmp_path / WEIGHT) as writer:
        offsets = [writer.add_pieces(BY_NAME["fp16"], count, (bytes(CHUNK) for _ in range(count * 2 // CHUNK)))]
        offsets += [writer.add_pieces(BY_NAME["fp16"], count, pieces_at(writer.growing, 128, count * 2))]
        writer.add_pieces(BY_NAME["uint8"], count, (bytes(CHUNK) for _ in range(count // CHUNK)))
    names = {f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets)}
    (tmp_path / "m.mil").write_text(program_of(function_of(names, size=count)))
    made = run("build", tmp_path / "m.mil", "--prune-weights", "-o", tmp_path / "M.mlpackage")
    assert made.status == 0
    assert f"{3 * count + 128:,} of {5 * count + 256:,} bytes of weights were removed" in made.said
    assert made.resident < MOST
    path = tmp_path / "M.mlpackage" / DATA / WEIGHT
    assert path.stat().st_size == 2 * count + 128
    assert path.stat().st_blocks * 512 < count
    os.remove(path)


def test_weight_file_of_any_size_is_reported_with_little_memory(tmp_path: Path) -> None:
    """To git as text, too where it is cut off, or is no weight file at all."""
    size = 300 << 20
    with BlobWriter(tmp_path / "weight.bin") as writer:
        writer.add_pieces(BY_NAME["fp16"], size // 2, (bytes(CHUNK) for _ in range(size // CHUNK)))
    shutil.copy(tmp_path / "weight.bin", tmp_path / "cut-weight.bin")
    os.truncate(tmp_path / "cut-weight.bin", size // 2)
    with open(tmp_path / "no-weight.bin", "wb") as file:
        file.truncate(size)
    for name in ("weight.bin", "cut-weight.bin", "no-weight.bin"):
        told = run("textconv", tmp_path / name)
        assert (told.status, told.said) == (0, "")
        assert told.resident < MOST // 2, name
        os.remove(tmp_path / name)


def test_the_measure_can_fail(tmp_path: Path) -> None:
    """A file that is mapped and read counts."""
    sparse_npy(tmp_path / "w.npy", (2 * LARGE,))
    (tmp_path / "m.mil").write_text(text_of('$npy("w.npy")', "fp32", (2 * LARGE,)))
    assert run("build", tmp_path / "m.mil", "-o", tmp_path / "M.mlpackage").resident < MOST
    weights = run("weights", tmp_path / "M.mlpackage")
    assert weights.status == 0
    assert weights.resident > MOST
