"""How near each value has to be to its reference: by what both are computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import StateType, TensorType, Type
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.evaluation.comparing.partners import Pair, Walked
    from miltext.evaluation.comparing.runners import Runner

COARSE = frozenset(name for name, dtype in BY_NAME.items() if dtype.kind == "float" and dtype.bits < 32)
"""The floats whose rounding shows in what is computed from them."""

FINE, EVEN, UNEVEN = 80.0, 50.0, 40.0
"""The thresholds in dB: both come from fp32 alone; both from a coarser float; one of them, or from compressed weights.

A conversion to fp16 usually leaves 50 to 70 dB, another order of sums in fp16 55 or more, in fp32 100 or more.
"""

ROUNDED, COMPRESSED = 1, 2
"""What makes numbers coarse, as flags: a coarse float, and a compressed weight."""

SIZES_ONLY = frozenset({"shape", "fill_like", "list_length"})
"""The operations that look at the sizes of what they take, and not at its numbers."""


class OwnNumbers(dict[str, Any]):
    """Numbers from elsewhere that the program computed itself, as it was: they are as coarse as its own."""


def usual_between(old: Runner, new: Runner, pairs: list[Pair]) -> list[float]:
    """Return the usual threshold of each pair of two programs."""
    before, after = coarseness(old), coarseness(new)
    return [_threshold(before[pair.old], after[pair.new]) for pair in pairs]


def usual_against(arrays: Mapping[str, Any], runner: Runner, pairs: list[Pair], *, own: bool) -> list[float]:
    """Return that of each pair of an array and a value; arrays count as fp32 unless they are fp16, or `own`.

    The old numbers are the places of the arrays.
    """
    found, given = coarseness(runner), list(arrays.values())
    if own:
        return [EVEN if found[pair.new] & ROUNDED else FINE for pair in pairs]
    halves = [getattr(array, "dtype", None) == np.float16 for array in given]
    return [UNEVEN if halves[pair.old] or found[pair.new] else FINE for pair in pairs]


def _threshold(old: int, new: int) -> float:
    if old != new:
        return UNEVEN
    return EVEN if old & ROUNDED else FINE


def coarseness(runner: Runner) -> dict[int, int]:
    """Return what makes each value of a function coarse, as flags: its own type, and all that it is computed from."""
    walked = runner.walked
    found = {number: _own(walked, number, runner.type(number)) for number in walked.paths}
    found |= dict.fromkeys(walked.around, 0)
    users: dict[int, list[int]] = {}
    for number in found:
        maker = walked.graph.makers[number]
        if maker is None or maker.operation.type not in SIZES_ONLY:
            for source in walked.sources(number):
                users.setdefault(source, []).append(number)
    waiting = [number for number, flags in found.items() if flags]
    while waiting:
        number = waiting.pop()
        for user in users.get(number, ()):
            if found[user] | found[number] != found[user]:
                found[user] |= found[number]
                waiting.append(user)
    return found


def _own(walked: Walked, number: int, type: Type) -> int:
    """Return what makes a value coarse by itself."""
    held = type.wrapped if isinstance(type, StateType) else type
    maker = walked.graph.makers[number]
    rounded = ROUNDED if isinstance(held, TensorType) and held.dtype in COARSE else 0
    return rounded | (COMPRESSED if maker is not None and is_compressed(maker.operation.type) else 0)
