"""Print how much memory a run of a package takes, and what it should at most, in bytes: python -m this PACKAGE ARRAYS.

The first is the most that is resident at once, above the interpreter with its imports, mapped weights included. The
second is twice the weights and the two largest values. It is for Linux, whose /proc knows the memory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import miltext
from miltext.evaluation.evaluator import Evaluator

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "Classifier.mlpackage"


def main(package: str, arrays: str) -> None:
    """Run a package once on the arrays of an `.npz`."""
    _import_all()
    before = _peak()
    weights, sizes = 0, [0, 0]
    evaluator = Evaluator(miltext.load(package))
    with np.load(arrays) as given:
        steps = evaluator.steps({name: given[name] for name in evaluator.inputs}, {})
    for made in steps:
        size = sum(getattr(value, "nbytes", 0) for value in made.values)
        if made.step.operation.type == "const":
            weights += size
        else:
            sizes.append(size)
        del made
    print(_peak() - before, 2 * weights + sum(sorted(sizes)[-2:]))


def _import_all() -> None:
    """Have all be imported that a run of a package uses, and BLAS make its buffers."""
    np.ones((600, 600), np.float32) @ np.ones((600, 600), np.float32)
    evaluator = Evaluator(miltext.load(EXAMPLE))
    evaluator.run({name: np.zeros(kind.shape, np.float32) for name, kind in evaluator.inputs.items()})


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
