"""The public check: the errors and warnings of the verifier, and known faults and bounds of numbers on request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from miltext.checking.findings import elsewhere
from miltext.checking.verifier import folder_of, found_in
from miltext.diagnostics import MiltextError
from miltext.diagnostics.arguments import checked
from miltext.models.model import Model
from miltext.parsing.rule_texts import is_rule_file

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.diagnostics import Diagnostic


@checked("path", "advisories", "numbers")
def check(
    source: Source,
    *,
    path: str | None = None,
    advisories: str | None = None,
    numbers: Mapping[str, Any] | None = None,
) -> list[Diagnostic]:
    """Return all errors and warnings of MIL text, a Program, a model or the file of a path, in the order of the text.

    A comment such as `// mil: ignore[MIL603]` at the end of a line suppresses findings there. A model that was changed
    in memory is checked as `save` would write it: its description follows the changes of its program. A rule file is
    checked as rules: their patterns, replacements and conditions, and the programs of their examples.

    Args:
        source: MIL text, a path, a Program or a Model. With a `path`, a string is MIL text.
        path: The path of a text: array files, `$npy("w.npy")`, are read from its folder; without one, there is no
            folder.
        advisories: Also report known faults of Core ML and coremltools that the program meets: "usual" for faults that
            do not depend on one device, "all" for all.
        numbers: Also bound the numbers that fp16 computes, if there are no errors: sums out of range, and functions
            that fail. The least and the greatest number of each input by its name; an omitted input has the range of
            the description, or is unlimited. An error reports a program that cannot be run.

    Returns:
        The findings. Their spans point into the text; for a Program or a model, into the output of `to_text`. Findings
        in the programs of a pipeline have no spans; their messages begin with the places.

    Raises:
        ModelError: The program of a model cannot be read.
        OSError: The file of a path cannot be read.
        ValueError: Another word for `advisories`, or an invalid range or an unknown input in `numbers`.

    Example:
        errors = [each for each in miltext.check("Model.mlpackage") if each.severity == "error"]
    """
    return _found(source, path, advisories, numbers)


def _found(
    source: Source, path: str | None, advisories: str | None, numbers: Mapping[str, Any] | None
) -> list[Diagnostic]:
    """Return the findings of `check`, with known faults and bounds of numbers if requested."""
    from miltext.containers.sources import is_text, model_of, require_source

    require_source(source)
    also = None
    if advisories is not None:
        from miltext.advisories.advising import further

        also = further(advisories)
    ranges = None if numbers is None else {name: _range(name, ends) for name, ends in numbers.items()}
    if isinstance(source, str) and (path is not None or is_text(source)):
        if is_rule_file(source):
            return _of_rules(source, path)
        found = found_in(source, path, also)
        return found if ranges is None else found + _of_numbers(model_of(source, folder_of(path)), found, ranges)
    model = model_of(source) if isinstance(source, str | PathLike) else source
    if isinstance(model, Model) and model.kind == "mil" and is_rule_file(model.text or ""):
        return _of_rules(model.text or "", model.name)
    found = found_in(model, also=also)
    return found if ranges is None else found + _of_numbers(model_of(model), found, ranges)


def _range(name: str, ends: Any) -> tuple[float, float]:
    """Return the range of an input. Raise ValueError for anything else."""
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"the range of {name!r} in `numbers` must be two numbers, the least first, not {ends!r}")
    return low, high


def _of_numbers(model: Model, found: list[Diagnostic], ranges: Mapping[str, tuple[float, float]]) -> list[Diagnostic]:
    """Return the findings about the numbers of a model's programs; none for a model with errors."""
    from miltext.bounds.findings import checked_numbers
    from miltext.evaluation.subjects import opened

    if any(each.severity == "error" for each in found):
        return []
    stages = [(stage.name, opened(stage.model)) for stage in model.select_all()]
    functions = [each for _, subject in stages for each in subject.graph.functions.values()]
    known = {each.name for function in functions for each in function.inputs}
    if unused := sorted(ranges.keys() - known):
        raise ValueError(f"{unused[0]!r} in `numbers` is not an input; the inputs are {', '.join(sorted(known))}")
    made: list[Diagnostic] = []
    for name, subject in stages:
        try:
            bounded, text = checked_numbers(subject, ranges)
        except MiltextError as error:  # a program that cannot be run, as the command reports
            bounded, text = error.diagnostics, error.text
        made += [elsewhere(each, text, name) if model.is_pipeline else each for each in bounded]
    return made


def _of_rules(text: str, path: str | None) -> list[Diagnostic]:
    """Return the findings in a rule file."""
    from miltext.rewriting.rule_checking import rule_findings

    return rule_findings(text, path)
