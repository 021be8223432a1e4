"""Hold networks in fp32 against themselves in fp16, by `compare`: `python scripts/try_precisions.py`.

The networks are those of `tests/support/ordinary_networks.py` and, with --modules, of `resized_modules.py`. Each is
converted from torch in fp32, and to fp16 in two ways: by coremltools, and by `miltext convert-weights`. Where the
outputs agree within 40 dB, nothing may be found, and `check` of what `convert-weights` makes may report nothing that
the network in fp32 does not have: the exit code is 1 if something is. The script needs the tests'
requirements, torch and coremltools.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import coremltools as ct
import numpy as np
import torch
from support.new_findings import new_findings, original_findings, subject
from support.ordinary_networks import ORDINARY
from support.resized_modules import CASES

from miltext import Comparison, compare, convert_weights

AGREE, APART, FOUND = "agree", "are apart", "agree, and something is found"
NEW = "new findings of check"
OURS = 1
"""The place of the first pair that `convert-weights` made."""

LEAST = 40.0
"""From how many dB on outputs agree."""


@click.command()
@click.option("--only", multiple=True, help="Only networks whose name has this in it; may be repeated.")
@click.option("--modules", is_flag=True, help="Also single modules, of many kinds.")
@click.option("--seeds", default=1, help="How many inputs each network is given.  [1]")
@click.option("--keep", type=click.Path(path_type=Path), help="A folder for conversions, which are made once there.")
@click.option("--verbose", is_flag=True, help="Also networks in which nothing is found.")
def main(only: tuple[str, ...], modules: bool, seeds: int, keep: Path | None, verbose: bool) -> None:
    """Print what is found in networks whose precisions agree, and how many do; exit with 1 if something is."""
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        folder = keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        for name, make in _networks(modules):
            if only and not any(part in name for part in only):
                continue
            for number, (way, old, new, inputs) in enumerate(_pairs(name, make, folder, seeds)):
                counts[NEW] += _new_findings(name, old, new) if number == OURS else 0
                comparison = compare(old, new, inputs)
                verdict = _verdict(comparison)
                counts[verdict] += 1
                if verbose or verdict != AGREE:
                    print(f"{name}, {way}: {verdict}, {_worst(comparison):.1f} dB", *_told(comparison), sep="\n    ")
                    sys.stdout.flush()
    print(*(f"{counts[verdict]} {verdict}" for verdict in (AGREE, APART, FOUND, NEW)), sep="; ")
    sys.exit(bool(counts[FOUND] or counts[NEW]) or not counts[AGREE])


def _networks(modules: bool) -> Iterator[tuple[str, Callable[[], tuple[Any, Any]]]]:
    """Yield the networks by name, and what makes them and an input."""
    for name, network in ORDINARY.items():
        yield name, network.whole
    for name, case in CASES.items() if modules else ():
        torch.manual_seed(29)
        yield f"module: {name}", lambda case=case: (case.make(torch).eval(), torch.randn(case.old))  # type: ignore[misc]


def _pairs(
    name: str, make: Callable[[], tuple[Any, Any]], folder: Path, seeds: int
) -> Iterator[tuple[str, Path, Path, dict[str, Any]]]:
    """Yield the package in fp32, each of those in fp16 with the way that it was made, and inputs."""
    paths = {kind: folder / f"{name}, {kind}.mlpackage".replace(": ", " ") for kind in ("fp32", "fp16", "ours")}
    network, sample = make()
    for kind in ("fp32", "fp16"):
        if not paths[kind].exists():
            _convert(network, sample, kind, paths[kind])
    if not paths["ours"].exists():
        convert_weights(paths["fp32"], "fp16", paths["ours"])
    for seed in range(seeds):
        numbers = sample if seed == 0 or not sample.is_floating_point() else torch.randn(sample.shape)
        for kind, way in ("fp16", "by coremltools"), ("ours", "by convert-weights"):
            yield f"{way}, {seed}", paths["fp32"], paths[kind], {"x": numbers.numpy()}


def _new_findings(name: str, old: Path, new: Path) -> int:
    """Print the findings of `check` in a converted package that the original does not have; return how many."""
    found = new_findings(original_findings(old), new, alike=subject)
    for each in found.elements():
        print(f"{name}: {NEW}: {each}", flush=True)
    return found.total()


def _convert(network: Any, sample: Any, kind: str, path: Path) -> None:
    with torch.no_grad():
        traced = torch.jit.trace(network, sample, check_trace=False)
    dtype = np.float32 if sample.is_floating_point() else np.int32
    made = ct.convert(
        traced,
        inputs=[ct.TensorType("x", tuple(sample.shape), dtype=dtype)],
        outputs=None,
        compute_precision={"fp32": ct.precision.FLOAT32, "fp16": ct.precision.FLOAT16}[kind],
        minimum_deployment_target=ct.target.iOS17,
        skip_model_load=True,
    )
    made.save(str(path))


def _worst(comparison: Comparison) -> float:
    return min(output.measure.level for output in comparison.outputs)


def _verdict(comparison: Comparison) -> str:
    if _worst(comparison) < LEAST or comparison.lost:
        return APART
    return FOUND if comparison.origins else AGREE


def _told(comparison: Comparison) -> Iterator[str]:
    for origin in comparison.origins:
        value = origin.value
        yield f"{value.name} ({value.operation}, {value.type}) falls to {origin.measure.level:.1f} dB"


if __name__ == "__main__":
    main()
