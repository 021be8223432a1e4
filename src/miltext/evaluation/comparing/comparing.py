"""`compare`: run two programs on the same inputs, and compare their values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.evaluation.comparing.comparison import Comparison
from miltext.evaluation.comparing.lockstep import Lockstep
from miltext.evaluation.comparing.options import CompareOptions
from miltext.evaluation.comparing.runners import Feeder, arranged, arranged_against, numbers_given, refused, side
from miltext.evaluation.comparing.thresholds import UNEVEN, OwnNumbers, usual_against, usual_between
from miltext.evaluation.comparing.verdict import Verdict
from miltext.evaluation.evaluator import require_seed
from miltext.pairing.contents import Keys
from miltext.syntax.keywords import taking

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.evaluation.carried import Named
    from miltext.evaluation.subjects import Subject

AGAINST = "the numbers given"
"""The displayed name of arrays that a program is compared with."""


@dataclass(frozen=True)
class _CompareRequest(CompareOptions):
    a: Source | Subject
    b: Source | Subject | None = None
    inputs: Named | None = None
    options: CompareOptions | None = field(default=None, kw_only=True)


@taking(_CompareRequest)
def compare(request: _CompareRequest) -> Comparison:
    """Run two programs on the same inputs, and return the distances of the values of `b` from the values of `a`.

    Values are paired as by `diff`, so that renamed values, another order and inserted operations do not matter.

    Args:
        a: MIL text, a path, a Program or a Model.
        b: The other program, of any source.
        inputs: Arrays named as in `a`, or else as in `b`. Without them, or with a `seed` for missing ones, they are
            random.
        against: In place of `b`, the arrays of values of `a`, outputs or inner ones, for example from a device or
            another framework.
        function: The function to run.
        min_snr: The ratio in dB below which a value is too far.  [80 where both come from fp32 alone, 50 where both
            come from fp16 or less, and 40 where only one does, or comes from compressed weights; arrays count as fp32,
            unless they are fp16]
        seed: The seed of random inputs and operations.
        state: The initial states.
        runs: The number of runs, each with the states of the run before and other random inputs.
        compute: As in `miltext.run`. With "ane" or "cpu", the new model is computed as on that device, and the old one
            in float32.
        weights: As in `miltext.run`, but not for packages and compiled models, which have their own.
        allow_nan: As in `miltext.run`.
        progress: A function that is called for each operation.
        options: A `CompareOptions`, in place of these keywords.

    Returns:
        The comparison: `ok`, and the distance of each value.

    Raises:
        MiltextError: A program that cannot be run, wrong inputs (MIL842 if the inputs of the two models differ), or
            nothing to compare (MIL843, MIL844).
        OSError: A file cannot be read.

    Example:
        same = miltext.compare("Old.mlpackage", "New.mlpackage", seed=0).ok
    """
    _require(request)
    require_seed(request.seed)
    return _Comparing(request).comparison()


class _Comparing:
    """A comparison in progress."""

    def __init__(self, request: _CompareRequest) -> None:
        self.request = request
        self.arrays = None if request.against is None else numbers_given(request.against)
        keys = Keys()
        self.sides = [side(request.a, "old", keys, request.weights)]
        if request.b is not None:
            self.sides.append(side(request.b, "new", keys, request.weights))
        if self.arrays is None:
            self.arrangement = arranged(self.sides[0], self.sides[1], request.function, request.compute)
        else:
            self.arrangement = arranged_against(self.sides[0], self.arrays, request.function, request.compute)

    def comparison(self) -> Comparison:
        """Run the programs, and return the comparison."""
        feeder = Feeder(self.arrangement, self.request.state or {}, self.request.allow_nan)
        verdict, partners = self._verdict(feeder), self.arrangement.partners
        outputs, missed = tuple(verdict.values(outputs=True)), (*verdict.missed(),)
        if not outputs:
            raise refused(codes.NOTHING_TO_COMPARE, "; ".join(missed))
        return Comparison(
            old=AGAINST if self.arrays is not None else self.sides[0].name,
            new=self.sides[-1].name,
            min_snr=min(output.min_snr for output in outputs),
            outputs=outputs,
            values=tuple(verdict.values(outputs=False)),
            origins=tuple(verdict.origins()),
            steepest=verdict.steepest(),
            oddities=tuple(verdict.oddities()),
            notes=(*self.arrangement.notes(), *self._guesses(), *missed, *verdict.uneven()),
            lost=tuple(partners.lost),
            seed=(self.request.seed or 0) if feeder.has_random else None,
            function=self.arrangement.runners[-1].walked.function.name,
            locate=self.sides[-1].subject.located,
        )

    def _verdict(self, feeder: Feeder) -> Verdict:
        """Run the programs, and return the verdict about their values."""
        requested, arrangement, usual = self.request, self.arrangement, self._usual()
        thresholds = usual if requested.min_snr is None else [requested.min_snr] * len(usual)
        walked = arrangement.runners[0].walked if self.arrays is None else None
        lockstep = Lockstep(walked, arrangement.partners, thresholds)
        for run in range(requested.runs):
            given = feeder.given(requested.inputs or {}, requested.seed, run)
            feeder.run(lockstep, given, self.arrays or {}, requested.seed or 0, requested.progress or _nobody)
        return Verdict(lockstep, {index for index, threshold in enumerate(usual) if threshold == UNEVEN})

    def _usual(self) -> list[float]:
        """Return the default threshold of each pair."""
        runners, pairs = self.arrangement.runners, self.arrangement.partners.pairs
        if self.arrays is None:
            return usual_between(runners[0], runners[1], pairs)
        return usual_against(self.arrays, runners[0], pairs, own=isinstance(self.request.against, OwnNumbers))

    def _guesses(self) -> Iterator[str]:
        """Yield a note about given arrays, compared with results of random inputs without a chosen seed."""
        is_chosen = self.request.inputs or self.request.seed is not None
        if self.arrays is not None and not is_chosen and self.arrangement.runners[0].evaluator.inputs:
            yield "the stored numbers are of other inputs: pass those"


def _require(request: _CompareRequest) -> None:
    """Raise TypeError or ValueError for arguments without a comparison, or without effect."""
    if (request.b is None) == (request.against is None):
        raise TypeError("compare takes two programs, or one and `against`: give either `b` or `against`")
    if request.runs < 1 or (request.min_snr is not None and math.isnan(request.min_snr)):
        raise ValueError(f"`runs` must be 1 or more, and `min_snr` a number, not {request.runs} and {request.min_snr}")
    if request.against is not None and request.runs > 1:
        raise TypeError("`against` has the numbers of one run: leave out `runs`")


def _nobody(_: int) -> None:
    """Ignore progress."""
