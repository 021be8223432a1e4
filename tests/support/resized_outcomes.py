"""What `reshape` makes of converted torch modules, beside what a conversion at the new sizes gives."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from support.model_checks import Reported
from support.new_findings import new_findings, original_findings, subject
from support.resized_modules import CASES, Sizes


@cache
def _module(name: str) -> Any:
    import torch

    torch.manual_seed(0)
    return CASES[name].make(torch).eval()


def convert(name: str, sizes: Sizes, precision: str, path: Path) -> None:
    """Convert a module for an input of these sizes. Raise whatever torch or coremltools raise."""
    import coremltools as ct
    import torch

    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        with torch.no_grad():
            traced = torch.jit.trace(_module(name), torch.zeros(sizes), check_trace=False)
        model = ct.convert(
            traced,
            inputs=[ct.TensorType(name="x", shape=sizes)],
            outputs=[ct.TensorType(name="y")],
            convert_to="mlprogram",
            compute_precision=getattr(ct.precision, precision),
            minimum_deployment_target=ct.target.iOS17,
            skip_model_load=True,
        )
        model.save(str(path))


class Refused(Exception):
    """What the verb said when it wrote nothing."""


class Outcome(NamedTuple):
    """What came of a case: a verdict, what was reported, and why it is no better.

    `found` are the findings of `check` in the new model that the old one does not have.
    """

    verdict: str
    told: tuple[str, ...]
    why: str = ""
    found: Counter[Reported] = Counter()


RIGHT, RIGHT_TOLD, REFUSED, TOLD, SILENT = "right", "right, reported", "refused", "wrong, reported", "WRONG IN SILENCE"


def outcome(name: str, new: Sizes, precision: str, folder: Path) -> Outcome:
    """Reshape a module's package, and compare with the conversion at the new sizes."""
    old = folder / f"{name} {precision}.mlpackage"
    if not old.exists():
        convert(name, CASES[name].old, precision, old)
    made = folder / "made.mlpackage"
    told: list[str] = []
    try:
        reshaped(old, {"x": new}, made, told)
    except Refused as refused:
        return Outcome(REFUSED, (), str(refused))
    found = new_findings(original_findings(old), made, alike=subject)
    truth = folder / f"{name} {precision} {new}.mlpackage"
    try:
        if not truth.exists():
            convert(name, new, precision, truth)
    except Exception as failure:  # noqa: BLE001 - whatever they raise
        return Outcome(TOLD if told else SILENT, tuple(told), f"no conversion: {failure!r}"[:200], found)
    why = difference(truth, made, new, precision)
    verdicts = (TOLD, RIGHT_TOLD) if told else (SILENT, RIGHT)
    return Outcome(verdicts[not why], tuple(told), why, found)


def reshaped(old: Path, sizes: dict[str, Sizes], made: Path, told: list[str]) -> None:
    """Reshape a package as the verb does; `told` gets the warnings."""
    from click.testing import CliRunner

    from miltext.cli import command

    words = [f"{name}={','.join(map(str, each))}" for name, each in sizes.items()]
    result = CliRunner().invoke(command, ["reshape", str(old), *words, "-o", str(made), "--force"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code:
        raise Refused(result.stderr)
    told += [line for line in result.stderr.splitlines() if ": warning[" in line]


def difference(truth: Path, made: Path, sizes: Sizes, precision: str) -> str:
    """Return how the outputs of two models differ for a random input; "" where they do not."""
    import numpy as np

    import miltext

    x = np.random.default_rng(0).standard_normal(sizes).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, computed = (miltext.run(miltext.load(path), {"x": x})["y"] for path in (truth, made))
    if expected.shape != computed.shape:
        return f"{computed.shape} instead of {expected.shape}"
    room = 2e-2 if precision == "FLOAT16" else 1e-4
    far = float(np.max(np.abs(expected.astype(np.float64) - computed))) if expected.size else 0.0
    return f"numbers are up to {far:.3g} apart" if far > room * max(1.0, float(np.max(np.abs(expected)))) else ""


def runs() -> Iterator[tuple[str, Sizes, str]]:
    """Yield each module with each of its new sizes and each precision."""
    for name, case in CASES.items():
        for new in case.new:
            for precision in ("FLOAT16", "FLOAT32"):
                yield name, new, precision
