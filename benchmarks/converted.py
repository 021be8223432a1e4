"""Checking networks of many kinds as coremltools converts them from torch, beside parsing their texts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import miltext
from benchmarks.measure import Contender, Contest, cold_and_warm

NETWORKS = (
    "resnet18",
    "a vision transformer",
    "a network of depthwise convolutions",
    "a recurrent network",
    "a U-Net",
    "a BERT with a mask",
)

CHECK_PROGRAM, CHECK_TEXT, PARSE = "miltext.check, a Program", "miltext.check, a text", "miltext.parse"


def converted(size: Callable[[int], int]) -> Iterator[Contest]:
    """Check each network in turn with parsing it, as a Program and as a text; nothing may be found in it."""
    installed = bool(find_spec("torch") and find_spec("coremltools"))
    for name in NETWORKS:
        yield Contest(named(name), "run", _contenders(text_of(name, size)) if installed else _nobody())


def named(name: str) -> str:
    """Return the name of the contest of a network."""
    return f"{name}: check"


def text_of(name: str, size: Callable[[int], int]) -> str:
    """Return the text of a network that coremltools converts."""
    network = import_module("benchmarks.small_networks").small_network(name, lambda depth: max(1, size(depth)))
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "network.mlpackage")
        network.convert("fp16", package)
        return miltext.to_text(miltext.load(package).program)


def _contenders(text: str) -> list[Contender]:
    program = miltext.parse(text)
    if found := miltext.check(text):
        raise ValueError(found)
    return [
        *cold_and_warm(CHECK_PROGRAM, lambda: miltext.check(program)),
        *cold_and_warm(CHECK_TEXT, lambda: miltext.check(text)),
        *cold_and_warm(PARSE, lambda: miltext.parse(text)),
    ]


def _nobody() -> list[Contender]:
    names = [f"{name}{warm}" for name in (CHECK_PROGRAM, CHECK_TEXT, PARSE) for warm in ("", ", warm")]
    return [Contender(name, None) for name in names]
