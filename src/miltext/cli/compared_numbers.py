"""Two programs run on the same inputs, which options give or which are random."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.cli.given_inputs import given_inputs, naming_options
from miltext.cli.progress import Progress

if TYPE_CHECKING:
    from miltext.cli.given_inputs import InputChoices
    from miltext.cli.habits import Chosen
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.comparing.comparison import Comparison
    from miltext.evaluation.subjects import Subject


def compared_numbers(
    first: Subject, second: Subject | None, given: InputChoices, against: Named | None = None, **options: Chosen
) -> Comparison:
    """Return the comparison of two programs, or of one with arrays; `options` are those of `miltext.compare`."""
    from miltext.evaluation.comparing.comparing import compare

    if given.shapes and given.seed is None and not given.read:
        given = given._replace(seed=0)
    inputs = _inputs(first, given, options["function"])
    naming = naming_options(given) if inputs else nullcontext()  # without inputs, all of them are random
    with naming, Progress("comparing", lambda: sum(_operations(each) for each in (first, second) if each)) as progress:
        found = compare(first, second, inputs, against=against, seed=given.seed, progress=progress.add, **options)
    return replace(found, seed=given.seed) if given.shapes and given.seed is not None else found


def _inputs(subject: Subject, given: InputChoices, function: str) -> dict[str, Carried]:
    """Return the given inputs, and random ones for given shapes; `compare` makes all others."""
    from miltext.evaluation.evaluator import Evaluator

    evaluator = Evaluator(subject, function, check=False)
    if not given.shapes:
        return given_inputs(evaluator, given._replace(seed=None))
    found = given_inputs(evaluator, given)
    left = given_inputs(evaluator, given._replace(seed=None, shapes={}))
    return {name: value for name, value in found.items() if name in left or name in given.shapes}


def _operations(subject: Subject) -> int:
    """Return the number of operations of a program, without operations of inner blocks."""
    from miltext.schema.walk import statements

    return sum(1 for _ in statements(subject.program))
