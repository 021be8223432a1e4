"""Measure how long a large array takes from its file into a package, and how much memory the process has for it.

    python benchmarks/large_arrays.py               # 4 GiB each: minutes, and 8 GiB of room on the disk
    python benchmarks/large_arrays.py --mebibytes 64

It is for Linux, whose /proc knows the memory. The arrays are zeros, and their files have holes in place of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.array_files import text_of
from support.large_arrays import Large, large_arrays, write
from support.memory import run


def main() -> None:
    """Print a line for each kind of array."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=4096, help="the size of each array, a power of 4 (4096)")
    parser.add_argument("--only", metavar="WORDS", default="", help="those that have these words in their name")
    options = parser.parse_args()
    for name, large in large_arrays(options.mebibytes << 18).items():
        if options.only in name:
            with tempfile.TemporaryDirectory() as folder:
                print(f"{name:<34} {measured(Path(folder), large)}", flush=True)


def measured(folder: Path, large: Large) -> str:
    """Return the seconds and the memory of a build, as text."""
    write(folder, large)
    (folder / "m.mil").write_text(text_of(large.reference, large.dtype, large.shape))
    start = time.perf_counter()
    made = run("build", folder / "m.mil", "-o", folder / "M.mlpackage")
    seconds = time.perf_counter() - start
    return made.said or f"{seconds:6.1f} s {made.resident / (1 << 20):6.1f} MiB"


if __name__ == "__main__":
    main()
