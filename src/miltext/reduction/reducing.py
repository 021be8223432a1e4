"""Making a model small: moves in the order in which they are likely to save the most, each as few tests as it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from miltext.models.refusals import refusal
from miltext.reduction.graph import Graph
from miltext.reduction.merging import merge, twins
from miltext.reduction.searching import shrink
from miltext.reduction.selecting import Output, select
from miltext.reduction.source import KINDS, Source
from miltext.reduction.trials import Candidate, OutOfTests, Test, Trials
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.evaluation.subjects import Runnable
    from miltext.schema.proto import Program

T = TypeVar("T")

NOT_THERE = "MIL486"
"""The code of a model on which the test does not pass to begin with."""


@dataclass
class Reduction:
    """What a reduction did: the `original` and the `best` candidate, and how many `tests` were run for that.

    `reused` answers were known, `is_complete` says that nothing was left to try, and `is_steady` that the test passed
    on the best candidate when it was run on it once more.
    """

    original: Candidate
    best: Candidate
    tests: int
    reused: int
    is_complete: bool
    is_steady: bool

    @property
    def program(self) -> Program:
        """The Program of the best candidate."""
        return self.best.program


def reduce(
    model: Runnable,
    test: Test,
    *,
    kind: str | None = None,
    jobs: int = 1,
    max_tests: int | None = None,
    on_best: Callable[[Candidate, int], object] | None = None,
) -> Reduction:
    """Return the smallest model, made of parts of another one, on which a test still passes.

    `test` gets each Candidate, which has a `program`, a `path` where it is written as one of the `kind` ("mil",
    "mlpackage", "mlmodel" or "mlmodelc"; by default that of the model), and a `model` to run; it returns whether what
    is looked for is still there. It should always say the same of the same model, and is called by `jobs` threads at
    once, and at most `max_tests` times; candidates with an error that the original does not have are not tested.
    `on_best` is called with each smaller candidate that passes, and the number of tests so far.

    No single operation, input or output of the result can go; after that, constants become zeros and attributes and
    metadata are left out, as far as the test passes. Raise ModelError (MIL486) where it does not pass on the model
    itself, ValueError for another `kind`, whatever the test raises, and ParseError and ModelError as `miltext.run`.
    """
    return reduce_source(Source(model), test, kind=kind, jobs=jobs, max_tests=max_tests, on_best=on_best)


def reduce_source(
    source: Source,
    test: Test,
    *,
    kind: str | None = None,
    jobs: int = 1,
    max_tests: int | None = None,
    on_best: Callable[[Candidate, int], object] | None = None,
    written: bool = False,
    stop: Callable[[], object] = bool,
) -> Reduction:
    """Return what `reduce` does, for a model that is opened; with `written`, tests are of candidates that have a path.

    `stop` ends the tests that are running, when something else ends the search.
    """
    if (kind or source.kind) not in KINDS:
        raise ValueError(f"a candidate is written as {', '.join(KINDS)}, not as {kind}")
    original = Candidate(source, source.program, kind or source.kind)
    with Trials(test, original, jobs=jobs, most=max_tests, written=written, stop=stop) as trials:
        if written:
            _ = original.path  # where it cannot be written, this is the time to say why
        if not trials.ask([original])[0]:
            raise refusal(NOT_THERE, "the test does not pass on the model itself", source.name)
        work = Reducing(source, trials, original, on_best)
        is_complete = work.run()
        is_steady = work.best is original or trials.once_more(work.best)
    return Reduction(original, work.best, trials.tests, trials.reused, is_complete, is_steady)


class Reducing:
    """A reduction at work; `best` is the smallest candidate that passed so far."""

    def __init__(
        self, source: Source, trials: Trials, original: Candidate, on_best: Callable[[Candidate, int], object] | None
    ) -> None:
        self.best = self._original = original
        self._source, self._trials, self._on_best = source, trials, on_best

    def run(self) -> bool:
        """Make the best candidate as small as it gets; return whether everything was tried."""
        moves = (self.operations, self.outputs, self.inputs)
        try:
            before = None
            while before is not self.best:
                before = self.best
                for move in moves:
                    move()
        except OutOfTests:
            return False
        return True

    def operations(self) -> None:
        """Leave out operations; with all of its operations, a function goes."""
        graph = Graph(self.best.program)
        self._shrink(graph.parts, lambda parts: select(graph, parts))

    def outputs(self) -> None:
        """Leave out outputs that are not all that an operation is there for."""
        graph = Graph(self.best.program)
        outputs = [Output(nth, name) for nth, scope in enumerate(graph.scopes) for name in scope.block.outputs]
        if len(outputs) > len(graph.scopes):
            self._shrink(outputs, lambda kept: select(graph, graph.parts, {*kept}))

    def inputs(self) -> None:
        """Have an input take the place of others of its type."""
        program = self.best.program
        found = twins(program)
        self._shrink(found, lambda kept: merge(program, {*found}.difference(kept)))

    def _shrink(self, items: Sequence[T], make: Callable[[Sequence[T]], Program | None]) -> None:
        """Find the fewest items of whose program the test passes."""
        fewest = len(items)
        before = wire_of(self.best.program)

        def ask(parts: Sequence[Sequence[T]]) -> list[bool]:
            nonlocal fewest
            made = [self._candidate(make(part)) for part in parts]
            answers = self._trials.ask(made)
            for part, candidate, answer in zip(parts, made, answers, strict=True):
                if answer and candidate is not None and len(part) < fewest:
                    fewest = len(part)
                    self._take(candidate, before)
            return answers

        shrink(items, ask, self._trials.jobs)

    def _candidate(self, program: Program | None) -> Candidate | None:
        if program is None:
            return None
        return Candidate(self._source, program, self.best._kind, is_bare=self.best.is_bare)

    def _take(self, candidate: Candidate, before: bytes) -> None:
        """Have a candidate as the best one, unless it is what was the best `before`."""
        if wire_of(candidate.program) != before:
            self.best = candidate
            if self._on_best:
                self._on_best(candidate, self._trials.tests)
