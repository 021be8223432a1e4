"""Divide a model with gigabytes of weights, and measure it: `python scripts/try_large_splits.py --size 4`.

The model is a chain of linear operations with different weights, in blocks of 64 MB. The script prints the most memory
of `miltext split`, and its time against `cp -r` of the package with a sync of the disk. It needs Linux, and three times
the size on the disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.memory import run

import miltext
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

BLOCK = 64 << 20
"""The bytes of each weight: a square matrix of fp16."""

SIDE = 5792
"""The rows and columns of a weight of nearly that size."""


@click.command()
@click.option("--size", type=float, default=4.0, help="Gigabytes of weights.  [4]")
@click.option("--parts", type=int, default=8, help="Parts.  [8]")
@click.option("--folder", type=click.Path(path_type=Path), help="A folder on the disk to measure.")
@click.option("--turns", type=int, default=5, help="Measurements of each.  [5]")
def main(size: float, parts: int, folder: Path | None, turns: int) -> None:
    """Print the memory and the times."""
    with tempfile.TemporaryDirectory(dir=folder) as there:
        model = made(Path(there), max(parts, round(size * 1e9 / BLOCK)))
        bytes_ = sum(path.stat().st_size for path in model.rglob("*") if path.is_file())
        print(f"{bytes_ / 1e9:.2f} GB in {model.name}", flush=True)
        times = []
        for turn in range(turns):
            copied = _copied(model, Path(there, f"copy{turn}"))
            divided, resident = _divided(model, Path(there, f"parts{turn}"), parts)
            times.append((copied, divided))
            print(f"cp -r and sync: {copied:.1f} s; split --parts {parts} and sync: {divided:.1f} s, ", end="")
            print(f"{divided / copied:.2f} times; {resident / 1e6:.0f} MB resident", flush=True)
        copied, divided = (median(column) for column in zip(*times, strict=True))
        print(f"medians: {copied:.1f} s and {divided:.1f} s, {divided / copied:.2f} times")


def made(folder: Path, count: int) -> Path:
    """Write a package with so many weights."""
    places = _write_weights(folder, count)
    held = f'tensor<fp16, [{SIDE}, {SIDE}]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64'
    lines = [f"h{each + 1} = linear(x = h{each}, weight = {held}({offset}))));" for each, offset in enumerate(places)]
    head = f"func main<ios18>(tensor<fp16, [1, {SIDE}]> h0)"
    text = f"program(1.3) {{ {head} {{ {''.join(lines)} }} -> (h{count}); }}"
    miltext.build(text, folder / "Large.mlpackage", weights=folder / "given")
    shutil.rmtree(folder / "given")
    return folder / "Large.mlpackage"


def _write_weights(folder: Path, count: int) -> list[int]:
    """Write a weight file, and return the offsets of its records."""
    (folder / "given" / "weights").mkdir(parents=True)
    with BlobWriter(folder / "given" / "weights" / "weight.bin") as writer:
        return [writer.add_pieces(BY_NAME["fp16"], SIDE * SIDE, _pieces(2 * SIDE * SIDE)) for _ in range(count)]


def _pieces(size: int) -> Iterator[bytes]:
    """Yield random bytes that are small numbers of fp16: no disk and no file system stores them as less."""
    while size:
        piece = os.urandom(min(size, 1 << 20))
        yield piece
        size -= len(piece)


def _copied(model: Path, target: Path) -> float:
    _settle()
    start = time.monotonic()
    subprocess.run(["cp", "-r", model, target], check=True)
    os.sync()
    taken = time.monotonic() - start
    shutil.rmtree(target)
    return taken


def _divided(model: Path, target: Path, parts: int) -> tuple[float, int]:
    _settle()
    start = time.monotonic()
    done = run("split", model, "--parts", parts, "-o", target)
    os.sync()
    taken = time.monotonic() - start
    if done.status:
        raise SystemExit(done.said)
    shutil.rmtree(target)
    return taken, done.resident


def _settle() -> None:
    """Write what is left to the disk, so that it counts for no measurement."""
    os.sync()
    time.sleep(2)


if __name__ == "__main__":
    main()
