"""The report of a profile's answers about a model, with the choice of the segmenter where estimates are known."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import listed, table, tally
from miltext.dumps.placed import ANE, PlacedOperation
from miltext.ir.graph import Graph
from miltext.placement.estimates import estimates
from miltext.placement.placements import DUMP, Placement
from miltext.placement.predicting import answers, tallies
from miltext.placement.report import ms
from miltext.placement.rules import REFUSED, SUPPORTED, UNKNOWN, known_system
from miltext.placement.segmenting import Choice, choices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.diagnostics.dynamic import Record
    from miltext.placement.predicting import Answer
    from miltext.schema.proto import Program

ACCURACY = "with Apple's own estimates, the cheapest way is the choice in 83 of the 84 known dumps"
"""The accuracy of the segmenter's model; tests/placement counts it."""

CPU = ("bnns", "classic_cpu")

MOST_TYPES = 6

MOST_OPERATIONS = 50
"""The most operations that a report lists one by one; it sums up those of a larger model, for one screen."""

MOST_SUMS = 40


class Prediction(NamedTuple):
    """The answers of a profile about a Program, and the choices by function, None where an estimate is unknown.

    `untimed` are the types of the operations without an estimate, by function.
    """

    profile: str
    answers: Sequence[Answer]
    chosen: Mapping[str, Choice | None]
    untimed: Mapping[str, Sequence[str]]


def predict(program: Program, profile: str) -> Prediction:
    """Return the prediction for a Program. Raise ModelError (MIL891) for an unknown profile."""
    found = answers(program, profile)
    ops = Graph(program).operations()
    placed = [
        PlacedOperation(
            each.function, each.type, each.name, None, (*CPU, ANE) if each.answer == SUPPORTED else CPU,
            times={} if each.answer == UNKNOWN else estimates(ops[each.path], taken=each.answer == SUPPORTED),
        )
        for each in found
    ]  # fmt: skip
    chosen: dict[str, Choice | None] = {}
    untimed: dict[str, list[str]] = {}
    for function in dict.fromkeys(each.function for each in placed):
        own = [each for each in placed if each.function == function]
        untimed[function] = list(Counter(each.type for each in own if not each.times))
        whole = choices(Placement("", DUMP, own)) if not untimed[function] else {}
        chosen[function] = whole.get(function)
    return Prediction(profile, found, chosen, untimed)


def prediction_lines(prediction: Prediction) -> Iterator[str]:
    """Yield the lines of a prediction: the sums by type and reason, each operation of a small model, and the choice."""
    if prediction.answers:
        yield from _sums(prediction)
        yield ""
    if 0 < len(prediction.answers) <= MOST_OPERATIONS:
        yield from _operations(prediction)
        yield ""
    counts = tallies(prediction.answers)
    named = ", ".join(f"{counts[each]} {each}" for each in (SUPPORTED, REFUSED, UNKNOWN))
    yield f"{tally(len(prediction.answers), 'operation')} on {known_system(prediction.profile)}: {named}"
    yield from (_choice(function, prediction) for function in prediction.chosen)
    if len(prediction.answers) > MOST_OPERATIONS:
        yield "each operation is in the JSON of this report, and in the printed text with its placement"


def _sums(prediction: Prediction) -> Iterator[str]:
    """Yield a table of answers by type and reason: refusals first, and the most frequent first."""
    counts = Counter((each.answer, each.type, _reason(each)) for each in prediction.answers)
    order = {REFUSED: 0, UNKNOWN: 1, SUPPORTED: 2}
    listed = sorted(counts.items(), key=lambda pair: (order[pair[0][0]], -pair[1], pair[0]))
    rows = [(answer, str(count), operation, reason) for (answer, operation, reason), count in listed]
    lines = table(rows[:MOST_SUMS], ("answer", "count", "type", "reason"))
    yield from (line.rstrip() for line in lines)
    if more := rows[MOST_SUMS:]:
        yield f"and {tally(len(more), 'more line')}, of {tally(sum(int(row[1]) for row in more), 'operation')}"


def _reason(answer: Answer) -> str:
    """Return the reason of an answer, equal for all operations of a rule: Apple's words keep their braces."""
    return answer.rule.message if answer.rule is not None else answer.message


def _operations(prediction: Prediction) -> Iterator[str]:
    """Yield the tables of operations and of runs of equal answers."""
    inside = len(prediction.chosen) > 1
    rows = [
        (*([each.function] if inside else []), each.name, each.type, each.answer, each.message)
        for each in prediction.answers
    ]
    first = ("in", "operation") if inside else ("operation",)
    yield from (line.rstrip() for line in table(rows, (*first, "type", "Neural Engine", "reason")))
    ways = dict.fromkeys((each.type, each.fix) for each in prediction.answers if each.fix)
    yield from (f"    way out for {name}: {fix}" for name, fix in ways)
    yield ""
    listed = [
        (function, answer, str(len(run)), f"{run[0].name} .. {run[-1].name}")
        for function, answer, run in runs(prediction)
    ]
    yield from table(listed, ("run in", "answer", "operations", "from .. to"))


def runs(prediction: Prediction) -> list[tuple[str, str, list[Answer]]]:
    """Return the runs of consecutive operations of a function with equal answers."""
    grouped = groupby(prediction.answers, lambda each: (each.function, each.answer))
    return [(function, answer, [*run]) for (function, answer), run in grouped]


def _choice(function: str, prediction: Prediction) -> str:
    chosen = prediction.chosen[function]
    if chosen is None:
        missing = listed(prediction.untimed[function], "and", MOST_TYPES)
        return f"{function}: no choice is predicted, because the estimates of {missing} are unknown"
    on = Counter(chosen.devices)
    devices = " and ".join(f"{on[each]} on the {name}" for each, name in (("ANE", "Neural Engine"), ("CPU", "CPU")))
    return f"{function}: the cheapest way has {devices}, for {ms(chosen.cost)} ms; {ACCURACY}"


def prediction_record(prediction: Prediction) -> Record:
    """Return a prediction as JSON."""
    return {
        "profile": prediction.profile,
        "answers": [
            {
                "function": each.function,
                "name": each.name,
                "type": each.type,
                "answer": each.answer,
                "message": each.message or None,
                "fix": each.fix or None,
                "when": None if each.rule is None else each.rule.when,
                "source": None if each.rule is None else each.rule.source,
            }
            for each in prediction.answers
        ],
        "counts": {each: tallies(prediction.answers)[each] for each in (SUPPORTED, REFUSED, UNKNOWN)},
        "choices": {
            function: None if chosen is None else {"devices": chosen.devices, "ms": chosen.cost}
            for function, chosen in prediction.chosen.items()
        },
        "without_estimates": {function: [*types] for function, types in prediction.untimed.items()},
        "accuracy": ACCURACY,
    }
