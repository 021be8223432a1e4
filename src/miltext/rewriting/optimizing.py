"""`miltext optimize`: all exact rules and passes until nothing changes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.choices import WriteOptions
from miltext.models.outputs import check_kept
from miltext.rewriting.packaged import exact, files_of, rules_of
from miltext.rewriting.rewriting import RewritePlan, carried_out
from miltext.syntax.keywords import option, taking

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.evaluation.carried import Named
    from miltext.rewriting.results import Rewriting


@dataclass(frozen=True, kw_only=True)
class OptimizeOptions(WriteOptions):
    """The options of `miltext.optimize`, which describes them."""

    skip: Iterable[str] | str = ()
    verify: bool = option(
        False, "Prove each different replacement, and the whole model before and after; write nothing if a proof fails."
    )
    inputs: Named | None = None


@dataclass(frozen=True)
class _OptimizeRequest(OptimizeOptions):
    source: Source
    output: str | os.PathLike[str] | None = None
    options: OptimizeOptions | None = field(default=None, kw_only=True)


@taking(_OptimizeRequest)
def optimize(request: _OptimizeRequest) -> Rewriting:
    """Remove unneeded operations, and write the model; return the removals.

    All packaged rules and passes that keep every bit of every number apply until none changes anything:
    `miltext rewrite --list` shows them. Names of inputs and outputs, the description, docStrings and all other parts
    stay, a compressed weight stays compressed, and unused weights go. A draft is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`, or a `.mil` for canonical text; None to write nothing.
        skip: Names of rules, passes or files of rules that do not apply.
        verify: Whether each different replacement must be proven on inputs with edge values, and the changed functions
            be equal bit for bit before and after.
        inputs: Arrays by name for this comparison, beside the drawn inputs.
        model: The model in a pipeline of several ML Programs.
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: An `OptimizeOptions`, in place of these keywords.

    Returns:
        The sites by rule, replaced or refused with reasons, the new program, and the warnings.

    Raises:
        MiltextError: MIL872 for a replacement or a function that is not exact, MIL873 for an unknown rule in `skip`;
            and the errors of `miltext.build`, and of `miltext.run` about `inputs`.

    Example:
        done = miltext.optimize("Model.mlpackage", "Smaller.mlpackage")
    """
    skip = [request.skip] if isinstance(request.skip, str) else [*request.skip]
    skipped = {*rules_of(skip)} if skip else set()
    if request.output is not None:
        check_kept(Path(request.output), files_of(skip))
    rules = [rule for rule in exact() if rule not in skipped]
    plan = RewritePlan(rules, verify=request.verify, inputs=request.inputs)
    return carried_out(plan, request.source, request.output, request)
