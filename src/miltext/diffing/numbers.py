"""The effect of differences on numbers: for each cause, the first value that parts, and the outputs after it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError, render
from miltext.diagnostics.option_words import of_command
from miltext.diffing.structure import AddedOperation, ChangedOperation, RemovedOperation
from miltext.diffing.telling import USES, first_of
from miltext.ir.functions import Block
from miltext.ir.needs import reached, written
from miltext.ir.parts import Op
from miltext.pairing.keyed import label
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from miltext.diffing.lining_up import Texts
    from miltext.diffing.structure import FunctionDifference, WeightChange
    from miltext.evaluation.comparing.comparison import ComparedValue, Comparison
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value

SAME, NEAR, OTHER, UNKNOWN = "same", "near", "other", "unknown"
"""The verdicts: no output differs beyond rounding; no output is below the threshold, but weights differ beyond
rounding; an output is below it, or lost; the programs cannot be compared.
"""

ROUNDING = 50.0
"""The least ratio in dB of a weight that was only rounded, such as to fp16: the threshold of `compare` for fp16."""


@dataclass(frozen=True, slots=True)
class ValueRatio:
    """The ratio of a value in dB, infinite for equal values, and its loss in dB from the worst of its inputs."""

    name: str
    ratio: float
    lost: float = 0.0


@dataclass(frozen=True, slots=True)
class CauseNumbers:
    """The effect of the difference of an operation: `at` is the first compared value from it on that differs, None if
    none does, and `outputs` are the outputs that it reaches.
    """

    operation: str
    status: str
    at: ValueRatio | None
    outputs: tuple[ValueRatio, ...]


@dataclass(frozen=True, slots=True)
class DiffNumbers:
    """The numbers of two programs on the same inputs: the verdict, the outputs, the worst first, and the causes.

    `first` is the first value below the threshold, `problem` the reason why the programs cannot be compared. `seed` is
    the random inputs' seed, None without any. `function` is the function that was run. `empty` are the outputs with no
    number on either side: all of their elements are NaN.
    """

    verdict: str
    problem: str = ""
    function: str = ""
    seed: int | None = None
    first: str | None = None
    outputs: tuple[ValueRatio, ...] = ()
    lost: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    causes: tuple[CauseNumbers, ...] = field(default=())


def numbers_of(
    found: Comparison | MiltextError,
    functions: Iterable[FunctionDifference],
    weights: Iterable[WeightChange],
    texts: Texts | None,
) -> DiffNumbers:
    """Return the numbers of a comparison of two programs, or the reason why there is none."""
    if isinstance(found, MiltextError):
        head = render(found.diagnostics[0], found.text, found.path).splitlines()[0]
        return DiffNumbers(UNKNOWN, of_command(head))
    weights = [each for each in weights if name_text(each.function) == name_text(found.function) or not each.function]
    differ = any((each.measure.snr or 0) < ROUNDING for each in weights if each.measure and each.measure.changed)
    outputs = sorted(map(_ratio, found.outputs), key=lambda each: each.ratio)
    causes = _Causes(found, texts).causes(functions, weights) if texts is not None else ()
    return DiffNumbers(
        OTHER if not found.ok else NEAR if differ and outputs[0].ratio < math.inf else SAME,
        function=found.function,
        seed=found.seed,
        first=found.first.value.name if found.first is not None else None,
        outputs=tuple(outputs),
        lost=found.lost,
        empty=tuple(each.name for each in found.outputs if each.measure.nans == (each.measure.count,) * 2 != (0, 0)),
        causes=tuple(causes),
    )


def _ratio(value: ComparedValue) -> ValueRatio:
    return ValueRatio(value.name, value.measure.level, value.lost)


class _Causes:
    """The causes in the compared function, with the values after them."""

    def __init__(self, found: Comparison, texts: Texts) -> None:
        self._function = name_text(found.function)
        pair = next((each for each in texts.pairs if each.name == found.function), None)
        self._sides = (pair.old, pair.new) if pair is not None else (None, None)
        self._named = [_by_label(each) for each in self._sides]
        self._places = [_places(each) for each in self._sides]
        values = [each for each in (*found.values, *found.outputs) if each.kind not in ("constant", "state")]
        self._values = {each.old_name: each for each in values}, {each.name: each for each in values}
        self._outputs = {each.old_name: each for each in found.outputs}, {each.name: each for each in found.outputs}

    def causes(
        self, functions: Iterable[FunctionDifference], weights: Iterable[WeightChange]
    ) -> Iterator[CauseNumbers]:
        """Yield the numbers of each cause, in the order of the report."""
        for function in functions:
            if function.name == self._function and function.status == "changed":
                yield from self._function_causes(function)
        for weight in weights:
            if weight.follows is None:
                yield from self._cause(weight.operation, "weight", 1)

    def _function_causes(self, function: FunctionDifference) -> Iterator[CauseNumbers]:
        for block in function.blocks:
            for operation in (*block.added, *block.removed, *block.changed):
                if isinstance(operation, ChangedOperation):
                    if not operation.follows:
                        yield from self._cause(operation.name, "changed", 1)
                elif isinstance(operation, (AddedOperation, RemovedOperation)) and operation.follows is None:
                    is_new = isinstance(operation, AddedOperation)
                    yield from self._cause(operation.name, "added" if is_new else "removed", int(is_new))

    def _cause(self, name: str, status: str, side: int) -> Iterator[CauseNumbers]:
        op = self._named[side].get(name)
        if op is not None:
            places = self._places[side]
            reached = sorted(_reached(op) & places.keys(), key=places.__getitem__)
            outputs = [each for value in reached if (each := self._outputs[side].get(value.name)) is not None]
            nearest = (self._values[side].get(value.name) for value in reached)
            differing = (each for each in (*nearest, *outputs) if each is not None and each.measure.level < math.inf)
            at = next(differing, None)  # final states are among the outputs alone
            yield CauseNumbers(name, status, None if at is None else _ratio(at), tuple(map(_ratio, outputs)))


def _by_label(function: Function | None) -> Mapping[str, Op]:
    """Return the operations of a function's blocks by their displayed names."""
    blocks = function.blocks.values() if function is not None else ()
    return {label(op): op for block in blocks for op in block.walk()}


def _places(function: Function | None) -> dict[Value, int]:
    """Return the place of each value of a function, in the order of the program."""
    return {} if function is None else {value: place for place, value in enumerate(function.defined())}


def _reached(op: Op) -> set[Value]:
    """Return the values that an operation reaches, through its users, the operations around and inside these, and the
    users of states that they write.
    """
    return {value for each in reached([op], _next) for value in (*each.outputs, *written(each))}


def _next(op: Op) -> Iterator[Op]:
    """Yield the operations inside an operation, its users, and the operations around it and around these."""
    yield from op.walk()
    users = [use.user for value in (*op.outputs, *written(op)) for use in value.uses]
    blocks = [user if isinstance(user, Block) else user.block for user in (op, *users)]
    around = [block.owner for block in blocks if block is not None]
    yield from (each for each in (*users, *around) if isinstance(each, Op))


# ---- words


def verdict_words(numbers: DiffNumbers) -> str:
    """Return the verdict in one line, for reviewers."""
    worst, inputs = ", ".join(_words(each) for each in numbers.outputs[:2]), inputs_words(numbers)
    if numbers.verdict == UNKNOWN:
        return f"cannot be compared: {numbers.problem}"
    if numbers.verdict == SAME:
        empty = f"; {first_of([*map(name_text, numbers.empty)])}: nothing but NaN" if numbers.empty else ""
        if all(each.ratio == math.inf for each in numbers.outputs):
            return f"the same program in another form, for {inputs}: all outputs are equal{empty}"
        return f"the same program in another form, for {inputs}: no output differs beyond rounding ({worst}){empty}"
    if numbers.verdict == NEAR:
        return f"other weights, but no output is below the threshold of `miltext compare` ({worst})"
    lost = [f"output {name_text(name)} is gone" for name in numbers.lost]
    first = f", first at {name_text(numbers.first)}" if numbers.first is not None else ""
    return f"other numbers: {', '.join([worst, *lost])}{first}"


def _words(value: ValueRatio) -> str:
    ratio = "equal" if value.ratio == math.inf else f"{value.ratio:.1f} dB"
    return f"{name_text(value.name)} {ratio}"


def cause_words(cause: CauseNumbers) -> str:
    """Return the effect of a cause: `b changed: b 23.0 dB, 57.0 dB lost there; y 21.0 dB`."""
    head = f"{cause.operation} {cause.status}"
    if cause.at is None:
        return f"{head}: no compared value differs after it"
    lost = f", {cause.at.lost:.1f} dB lost there" if 0 < cause.at.lost < math.inf else ""
    others = [_words(each) for each in cause.outputs if each.name != cause.at.name]
    return f"{head}: {_words(cause.at)}{lost}{'; ' if others else ''}{', '.join(others)}"


def together_words(numbers: DiffNumbers) -> Iterator[str]:
    """Yield `y: one ratio for b and c together` for the values after several causes, whose parts in the ratio are
    not known.
    """
    causes: dict[str, dict[str, None]] = {}
    for cause in numbers.causes:
        for value in ((cause.at,) if cause.at is not None else ()) + cause.outputs:
            if value.ratio < math.inf:
                causes.setdefault(value.name, {})[cause.operation] = None
    shared: dict[tuple[str, ...], list[str]] = {}
    for name, operations in causes.items():
        if len(operations) > 1:
            shared.setdefault((*operations,), []).append(name_text(name))
    for together, values in shared.items():
        ratio = "one ratio" if len(values) == 1 else "one ratio each"
        *most, last = together if len(together) <= USES else (*together[:USES], f"{len(together) - USES} more")
        yield f"{first_of(values)}: {ratio} for {', '.join(most)} and {last} together"


def inputs_words(numbers: DiffNumbers) -> str:
    """Return the inputs that the programs were run on."""
    return "the given inputs" if numbers.seed is None else f"random inputs of seed {numbers.seed}"
