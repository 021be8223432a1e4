"""The required ratio of each value, from the types and weights that both sides are computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.carried import Carried, Named
from miltext.ir.needs import reached
from miltext.ir.parts import Value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import StateType, TensorType, Type
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.evaluation.comparing.partners import Pair
    from miltext.evaluation.comparing.runners import Runner

COARSE = frozenset(name for name, dtype in BY_NAME.items() if dtype.kind == "float" and dtype.bits < 32)
"""The floats whose rounding shows in values computed from them."""

FINE, EVEN, UNEVEN = 80.0, 50.0, 40.0
"""The thresholds in dB: both sides come only from fp32; both from a coarser float; only one does, or comes from
compressed weights.

A conversion to fp16 usually leaves 50 to 70 dB, another order of sums in fp16 55 or more, in fp32 100 or more.
"""

ROUNDED, COMPRESSED = 1, 2
"""Causes of coarse numbers, as flags: a coarse float, and a compressed weight."""

SIZES_ONLY = frozenset({"shape", "fill_like", "list_length"})
"""The operations that use only the sizes of their inputs."""


class OwnNumbers(dict[str, Carried]):
    """Arrays that an earlier version of the program computed: they are as coarse as its own values."""


def usual_between(old: Runner, new: Runner, pairs: list[Pair]) -> list[float]:
    """Return the usual threshold of each pair of two programs."""
    before, after = coarseness(old), coarseness(new)
    return [_threshold(before[pair.old], after[pair.new]) for pair in pairs if isinstance(pair.old, Value)]


def usual_against(arrays: Named, runner: Runner, pairs: list[Pair], *, own: bool) -> list[float]:
    """Return the usual threshold of each pair of an array and a value; arrays count as fp32 unless fp16, or `own`."""
    found = coarseness(runner)
    if own:
        return [EVEN if found[pair.new] & ROUNDED else FINE for pair in pairs]
    halves = [getattr(array, "dtype", None) == np.float16 for array in arrays.values()]
    return [UNEVEN if half or found[pair.new] else FINE for half, pair in zip(halves, pairs, strict=True)]


def _threshold(old: int, new: int) -> float:
    if old != new:
        return UNEVEN
    return EVEN if old & ROUNDED else FINE


def coarseness(runner: Runner) -> dict[Value, int]:
    """Return the coarseness of each value of a function, as flags: its own, and of all its sources."""
    walked = runner.walked
    found = {value: _own(value, runner.type(value)) for value in walked.values}
    found |= dict.fromkeys((value for op in walked.paths for block in op.blocks for value in block.inputs), 0)
    users: dict[Value, list[Value]] = {}
    for value in found:
        if value.maker is None or value.maker.type not in SIZES_ONLY:
            for source in walked.sources(value):
                users.setdefault(source, []).append(value)
    for flag in (ROUNDED, COMPRESSED):
        for value in reached([each for each in found if found[each] & flag], lambda each: users.get(each, ())):
            found[value] |= flag
    return found


def _own(value: Value, type: Type) -> int:
    """Return the coarseness of a value without its sources, as flags."""
    held = type.wrapped if isinstance(type, StateType) else type
    rounded = ROUNDED if isinstance(held, TensorType) and held.dtype in COARSE else 0
    return rounded | (COMPRESSED if value.maker is not None and is_compressed(value.maker.type) else 0)
