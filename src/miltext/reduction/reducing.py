"""Reduction of a model: steps in the order of their likely savings, each with few tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from miltext.diagnostics import codes
from miltext.diagnostics.arguments import checked, require_counts
from miltext.files.refusals import refusal
from miltext.reduction.bypassing import Bypass, bypass, bypasses
from miltext.reduction.graph import UnitGraph, extent
from miltext.reduction.inside import inner_operations, without
from miltext.reduction.merging import merge, twins
from miltext.reduction.searching import Ask, narrow, shrink
from miltext.reduction.selecting import Output, select, whole
from miltext.reduction.source import KINDS, OriginalModel
from miltext.reduction.trials import Candidate, OutOfTests, Test, Trials
from miltext.reduction.trimming import traits, trimmed
from miltext.reduction.unfolding import folds, unfold
from miltext.reduction.zeroing import numbers, zeroed

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.descriptions.ranges import Range
    from miltext.schema.proto import Program

T = TypeVar("T")

MOST_ELEMENTS = (1 << 24, 1 << 14)
"""The greatest number of elements of a constant that becomes zeros; the second is for text, which spells all zeros."""

Progress: TypeAlias = Callable[[Candidate, int], object]
"""A callback for the best candidate so far, and the number of tests."""


@dataclass
class Reduction:
    """The result of a reduction: the `original` and the `best` candidate, and the number of `tests`.

    `reused` counts known answers; `is_complete` is true if everything was tried. `is_steady` is false if the test
    failed on the best candidate when it was run again.
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


@checked()
def reduce(
    model: Source,
    test: Test,
    *,
    kind: str | None = None,
    jobs: int = 1,
    max_tests: int | None = None,
    ranges: Mapping[str, Range] | None = None,
    on_progress: Progress | None = None,
) -> Reduction:
    """Return the smallest part of a model on which a test still passes.

    No single operation, input or output of the result can be left out; after that, constants become zeros, and
    attributes and metadata are removed, if the test still passes. Candidates with new errors are not tested.

    Args:
        model: MIL text, a path, a Program or a Model.
        test: A function of a Candidate, which has a `program`, a `path` of its file and a `model` to run; it returns
            whether the fault still occurs, always the same for the same model.
        kind: The kind of the file: "mil", "mlpackage", "mlmodel" or "mlmodelc".  [the model's]
        jobs: The number of threads that call the test.
        max_tests: The most calls of the test.
        ranges: Sizes of inputs with a `?`, as in `miltext.build`, for a model that does not state them.
        on_progress: A function that gets the best candidate so far, and the number of tests, whenever that grew.

    Returns:
        The original, the best candidate and the number of tests.

    Raises:
        ModelError: MIL486 if the test does not pass on the model itself, and a model that cannot be read.
        ParseError: The text is not MIL text.
        ValueError: Another `kind`, or less than one thread or call.

    Example:
        small = miltext.reduce("Model.mlpackage", lambda candidate: "softmax" in str(candidate.program)).program
    """
    require_counts("reduce", jobs=jobs, max_tests=max_tests)
    source = OriginalModel(model, ranges)
    return reduce_source(source, test, kind=kind, jobs=jobs, max_tests=max_tests, on_progress=on_progress)


def reduce_source(
    source: OriginalModel,
    test: Test,
    *,
    kind: str | None = None,
    jobs: int = 1,
    max_tests: int | None = None,
    on_progress: Progress | None = None,
    written: Collection[str] = (),
    stop: Callable[[], object] = bool,
) -> Reduction:
    """Return the result of `reduce` for an opened model; `stop` ends running tests after an interruption.

    Only candidates that can be `written` as each of these kinds are tested.
    """
    if (kind or source.kind) not in KINDS:
        raise ValueError(f"a candidate must be written as {', '.join(KINDS)}, not as {kind}")
    original = Candidate(source, source.program, kind or source.kind)
    with Trials(test, original, jobs=jobs, most=max_tests, written=written, stop=stop) as trials:
        original.require(written)  # if it cannot be written, the error is raised here
        if not trials.ask([original])[0]:
            raise refusal(codes.TEST_FAILS_ON_MODEL, "the test does not pass on the model itself", source.name)
        is_text = "mil" in (original.kind, *written)
        work = Reducing(source, trials, original, on_progress, is_text=is_text)
        is_complete = work.run()
        is_steady = work.best is original or trials.once_more(work.best)
    return Reduction(original, work.best, trials.tests, trials.reused, is_complete, is_steady)


class Reducing:
    """A reduction in progress; `best` is the smallest candidate that has passed.

    After `_is_shaped`, only contents change, not the operations. `is_text` if any candidate is written as text.
    """

    def __init__(
        self,
        source: OriginalModel,
        trials: Trials,
        original: Candidate,
        on_progress: Progress | None,
        *,
        is_text: bool = False,
    ) -> None:
        self.best = original
        self._is_text = is_text
        self._is_shaped = False
        self._source, self._trials, self._on_progress = source, trials, on_progress

    def run(self) -> bool:
        """Make the best candidate as small as possible; return whether everything was tried."""
        first = (self.ends, self.detours, self.operations, self.blocks, self.insides)
        moves = (*first, self.outputs, self.inputs, self.other_detours)
        try:
            before = None
            while before is not self.best:
                before = self.best
                for move in moves:
                    move()
            self._is_shaped = True
            self.constants()
            self.traits()
            self.metadata()
        except OutOfTests:
            return False
        return True

    def ends(self) -> None:
        """Leave out operations after the last needed one, and before the first one."""
        graph = UnitGraph(self.best.program)
        self._shrink(graph.parts, lambda parts: select(graph, parts), narrow)

    def operations(self) -> None:
        """Leave out operations; a function without operations is left out, too."""
        graph = UnitGraph(self.best.program)
        self._shrink(graph.parts, lambda parts: select(graph, parts))

    def detours(self) -> None:
        """Replace operations by their inputs, if the values on both sides of them are needed."""
        self._around(bypasses(self.best.program))

    def other_detours(self) -> None:
        """Replace the remaining operations by their other inputs: the second of each, and so on."""
        rank = 1
        while found := bypasses(self.best.program, rank):
            self._around(found)
            rank += 1

    def _around(self, found: Sequence[Bypass]) -> None:
        program = self.best.program
        self._shrink(found, lambda kept: bypass(program, {*found}.difference(kept)))

    def blocks(self) -> None:
        """Move the operations of inner blocks to the enclosing block; unneeded ones are removed next."""
        program = self.best.program
        found = folds(program)
        self._shrink(found, lambda kept: whole(unfold(program, {*found}.difference(kept))))

    def insides(self) -> None:
        """Leave out operations inside the remaining blocks."""
        program = self.best.program
        found = inner_operations(program)
        self._shrink(found, lambda kept: without(program, {*found}.difference(kept)))

    def outputs(self) -> None:
        """Remove outputs, except if they are the only use of an operation."""
        graph = UnitGraph(self.best.program)
        outputs = [Output(nth, each.name) for nth, scope in enumerate(graph.scopes) for each in scope.block.outputs]
        if len(outputs) > len(graph.scopes):
            self._shrink(outputs, lambda kept: select(graph, graph.parts, {*kept}))

    def inputs(self) -> None:
        """Replace inputs by others of their type."""
        program = self.best.program
        found = twins(program)
        self._shrink(found, lambda kept: merge(program, {*found}.difference(kept)))

    def constants(self) -> None:
        """Replace the numbers of constants by zeros."""
        program = self.best.program
        found = numbers(program, MOST_ELEMENTS[self._is_text])
        self._shrink(found, lambda kept: zeroed(program, {*found}.difference(kept)))

    def traits(self) -> None:
        """Leave out attributes, and the Program's comment."""
        program = self.best.program
        found = traits(program)
        self._shrink(found, lambda kept: trimmed(program, {*found}.difference(kept)))

    def metadata(self) -> None:
        """Remove the metadata and the short descriptions, if the test passes without them."""
        bare = Candidate(self._source, self.best.program, self.best.kind, is_bare=True)
        if self._source.has_metadata and self._trials.ask([bare])[0]:
            self.best = bare

    def _shrink(
        self,
        items: Sequence[T],
        make: Callable[[Sequence[T]], Program | None],
        search: Callable[[Sequence[T], Ask[T], int], object] = shrink,
    ) -> None:
        """Find the fewest items on whose program the test passes."""
        fewest = len(items)

        def ask(parts: Sequence[Sequence[T]]) -> list[bool]:
            nonlocal fewest
            made = [self._candidate(make(part)) for part in parts]
            answers = self._trials.ask(made)
            for part, candidate, answer in zip(parts, made, answers, strict=True):
                if answer and candidate is not None and len(part) < fewest:
                    fewest = len(part)
                    self._take(candidate)
            if self._on_progress:
                self._on_progress(self.best, self._trials.tests)
            return answers

        search(items, ask, self._trials.jobs)

    def _candidate(self, program: Program | None) -> Candidate | None:
        if program is None:
            return None
        return Candidate(self._source, program, self.best.kind, is_bare=self.best.is_bare)

    def _take(self, candidate: Candidate) -> None:
        """Make a candidate the best one, unless its missing parts came back in another form."""
        if self._is_shaped or extent(candidate.program) < extent(self.best.program):
            self.best = candidate
