"""`compare`: two programs run on the same inputs, and their values compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import codes
from miltext.evaluation.comparing.comparison import Comparison
from miltext.evaluation.comparing.lockstep import Lockstep
from miltext.evaluation.comparing.runners import Feeder, arranged, arranged_against, numbers_given, refused, side
from miltext.evaluation.comparing.thresholds import UNEVEN, OwnNumbers, usual_against, usual_between
from miltext.evaluation.comparing.verdict import Verdict
from miltext.evaluation.evaluator import require_seed
from miltext.pairing.keyed import Keys

if TYPE_CHECKING:
    import os

    from miltext.evaluation.comparing.runners import Arrangement, Runner
    from miltext.evaluation.subjects import Runnable, Subject

AGAINST = "the numbers given"
"""Name shown for arrays that a program is compared with."""


def compare(
    a: Runnable | Subject,
    b: Runnable | Subject | None = None,
    inputs: Mapping[str, Any] | None = None,
    *,
    against: Mapping[str, Any] | None = None,
    function: str = "main",
    min_snr: float | None = None,
    seed: int | None = None,
    state: Mapping[str, Any] | None = None,
    runs: int = 1,
    compute: str = "float32",
    weights: str | os.PathLike[str] | None = None,
    allow_nan: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Comparison:
    """Run two programs on the same inputs, and return how far the values of `b` are from those in `a`.

    Each program is the path of a model, a Model, a Program, or MIL text. Their values are paired as `diff` pairs them,
    so that renamed values, another order and inserted operations do not matter. With `against` instead of `b`, values
    of `a`, outputs or inner ones, are compared with the arrays of these names, as made by a device or another
    framework.

    `inputs` are named as in `a`, or else as in `b`. Without `inputs`, and with a `seed` for missing ones, they are
    random; the seed also applies to random operations. `state` contains the initial states, and `runs` is the number of
    runs of the two programs, each with the states of the run before and other random inputs. `min_snr` is the ratio in
    dB below which a value is too far: if it is None, 80 where both come from fp32 alone, 50 where both come from fp16
    or less, and 40 where only one does, or comes from compressed weights; arrays count as fp32, unless they are fp16.
    `compute` and `allow_nan` are as in `run`, and so is `weights`, but not for packages and compiled models, which have
    their own; `progress` is called for each operation.

    Raise MiltextError for a program that cannot be run, for inputs that do not fit (MIL842 where the inputs of the two
    models differ), and where nothing can be compared (MIL843, MIL844); OSError for files.
    """
    _require(b, against, min_snr, runs)
    require_seed(seed)
    arrays = None if against is None else numbers_given(against)
    keys = Keys()
    sides = [side(source, name, keys, weights) for source, name in ((a, "old"), (b, "new")) if source is not None]
    if arrays is None:
        arrangement = arranged(sides[0], sides[1], function, compute)
    else:
        arrangement = arranged_against(sides[0], arrays, function, compute)
    runners = arrangement.runners
    usual = _usual(arrangement, arrays, own=isinstance(against, OwnNumbers))
    thresholds = usual if min_snr is None else [min_snr] * len(usual)
    lockstep = Lockstep(runners[0].walked if against is None else None, arrangement.partners, thresholds)
    feeder = Feeder(arrangement, state or {}, allow_nan)
    for run in range(runs):
        given = feeder.given(inputs or {}, seed, run)
        feeder.run(lockstep, given, arrays or {}, seed or 0, progress or _nobody)
    verdict = Verdict(lockstep, {index for index, threshold in enumerate(usual) if threshold == UNEVEN})
    outputs, missed = tuple(verdict.values(outputs=True)), (*verdict.missed(),)
    if not outputs:
        raise refused(codes.NOTHING_TO_COMPARE, "; ".join(missed))
    guesses = _guesses(arrays, inputs or seed is not None, runners)
    return Comparison(
        old=AGAINST if against is not None else sides[0].name,
        new=sides[-1].name,
        min_snr=min(output.min_snr for output in outputs),
        outputs=outputs,
        values=tuple(verdict.values(outputs=False)),
        origins=tuple(verdict.origins()),
        steepest=verdict.steepest(),
        oddities=tuple(verdict.oddities()),
        notes=(*arrangement.notes(), *guesses, *missed, *verdict.uneven()),
        lost=tuple(arrangement.partners.lost),
        told=sides[-1].subject.told,
    )


def _require(b: object, against: object, min_snr: float | None, runs: int) -> None:
    """Raise TypeError or ValueError for arguments that name no comparison, or would check nothing."""
    if (b is None) == (against is None):
        raise TypeError("compare takes two programs, or one and `against`: give either `b` or `against`")
    if runs < 1 or (min_snr is not None and math.isnan(min_snr)):
        raise ValueError(f"`runs` is 1 or more, and `min_snr` a number: not {runs} and {min_snr}")
    if against is not None and runs > 1:
        raise TypeError("`against` has the numbers of one run: leave out `runs`")


def _guesses(arrays: Mapping[str, Any] | None, is_chosen: object, runners: Sequence[Runner]) -> Iterator[str]:
    """Yield a note where numbers from elsewhere are compared with results of random inputs that the caller did not
    choose.
    """
    if arrays is not None and not is_chosen and runners[0].evaluator.inputs:
        yield "the inputs are random: give those that the numbers were made from"


def _nobody(_: int) -> None:
    """Ignore progress."""


def _usual(arrangement: Arrangement, arrays: Mapping[str, Any] | None, *, own: bool) -> list[float]:
    """Return the default threshold of each pair."""
    runners, pairs = arrangement.runners, arrangement.partners.pairs
    if arrays is None:
        return usual_between(runners[0], runners[1], pairs)
    return usual_against(arrays, runners[0], pairs, own=own)
