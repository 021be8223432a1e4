"""What running a program takes beside torch, which runs the same network: on one thread, in one process, in turns."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import miltext
from benchmarks.measure import Contender, Contest, returned
from miltext.evaluation.evaluator import Evaluator

ROOT = Path(__file__).resolve().parent.parent

NETWORKS = {"resnet18": 224, "ViT-B/16": 224, "a stateful decoder": 512}
"""The networks, and how large each is: the side of its images, or its width."""

SMALL = {
    "depthwise convolutions, 5 by 5": (28, 3.0),
    "a small U-Net": (64, 4.0),
    "a small LSTM": (50, 8.0),
    "a small GRU": (50, 8.0),
}
"""Networks of small work, how large each is, the side of its images or its steps, and how many times torch's time it
takes at most in fp32.
"""

PRECISIONS = {"fp32": 70.0, "fp16": 45.0}
"""The precisions that they are converted to, and how near to torch they come, in dB at least."""

CONVERTED = [f"{name}, {precision}" for name in NETWORKS for precision in PRECISIONS]
"""What the networks are called, once they are converted."""

FP32, FP16 = "fp32", "fp16"

MILTEXT, TORCH, BOUND = "miltext", "torch", "twice the weights and the two largest values"


class Pair:
    """A network, and the package that coremltools makes of it, both made when they are first asked for."""

    def __init__(self, name: str, size: int, precision: str, folder: Path) -> None:
        self.name = name
        self.size = size
        self.precision = precision
        self.package = folder / f"{name.replace('/', '-')} {precision}.mlpackage"

    @cached_property
    def network(self) -> Any:
        """The network in torch, once it is converted."""
        network = import_module("benchmarks.torch_networks").network(self.name, self.size)
        network.convert(self.precision, self.package)
        return network

    @cached_property
    def evaluator(self) -> Evaluator:
        """The evaluator, once it has computed what torch does."""
        expected, evaluator = self.network.run(), Evaluator(miltext.load(self.package))
        noise = self._run(evaluator) - expected
        near = 10 * np.log10(np.square(expected, dtype=float).sum() / np.square(noise, dtype=float).sum())
        assert near > PRECISIONS[self.precision], f"{self.package.stem}: {near:.1f} dB beside torch"
        return evaluator

    def _run(self, evaluator: Evaluator) -> Any:
        state: dict[str, Any] = {}
        for step in self.network.steps:
            made = evaluator.run(step, state=state)
        return next(iter(made.values()))

    def run(self) -> Any:
        """Run the network by miltext."""
        return self._run(self.evaluator)

    def run_torch(self) -> Any:
        """Run the network by torch."""
        return self.network.run()

    @cached_property
    def memory(self) -> list[int]:
        """How much memory a run has at most, and should have at most (`benchmarks/peak_memory.py`)."""
        arrays = self.package.with_suffix(".npz")
        np.savez(arrays, **self.network.steps[0])
        call = [sys.executable, "-m", "benchmarks.peak_memory", str(self.package), str(arrays)]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
        return [int(figure) for figure in done.stdout.split()]


def evaluation(size: Callable[[int], int]) -> Iterator[Contest]:
    """Run networks beside torch, and measure how much memory that takes."""
    installed = bool(find_spec("torch") and find_spec("coremltools"))
    with tempfile.TemporaryDirectory() as folder:
        for name, whole in NETWORKS.items():
            for precision in PRECISIONS:
                pair = Pair(name, max(64, size(whole)), precision, Path(folder))
                yield Contest(f"{name}, {precision}: run", "run", _racing(pair, installed))
                on_linux = installed and sys.platform == "linux"
                yield Contest(f"{name}, {precision}: memory", "memory", _weighing(pair, on_linux))
        for name, (whole, _) in SMALL.items():
            pairs = {precision: Pair(name, whole, precision, Path(folder)) for precision in PRECISIONS}
            yield Contest(f"{name}: run", "run", _racing(pairs[FP32], installed))
            yield Contest(f"{name}: precisions", "run", _racing_each_other(pairs, installed))


def _racing_each_other(pairs: dict[str, Pair], installed: bool) -> list[Contender]:
    if not installed:
        return [Contender(precision, None) for precision in (FP16, FP32)]
    return [
        Contender(each, pairs[each].run, before=partial(getattr, pairs[each], "evaluator")) for each in (FP16, FP32)
    ]


def _racing(pair: Pair, installed: bool) -> list[Contender]:
    if not installed:
        return [Contender(MILTEXT, None), Contender(TORCH, None)]
    return [
        Contender(MILTEXT, pair.run, before=lambda: pair.evaluator),
        Contender(TORCH, pair.run_torch, before=lambda: pair.network),
    ]


def _weighing(pair: Pair, installed: bool) -> list[Contender]:
    if not installed:
        return [Contender(MILTEXT, None), Contender(BOUND, None)]
    return [
        Contender(MILTEXT, lambda: pair.memory[0], gauge=returned),
        Contender(BOUND, lambda: pair.memory[1], gauge=returned),
    ]
