"""Rewriting of a model by rules: its plan, the new program, and the model with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import require_ending
from miltext.building.choices import BuildChoices, WriteOptions
from miltext.building.given_weights import given_folder
from miltext.checking.moved_texts import require_arrays
from miltext.containers.sources import Source, model_of
from miltext.diagnostics import MiltextError, codes, error
from miltext.drafting.building import build_as_chosen
from miltext.drafting.programs import with_imported
from miltext.evaluation.subjects import opened
from miltext.files.writing import WITH_DESCRIPTION, write_file
from miltext.ir.graph import Graph
from miltext.models.outputs import check_kept, check_output
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.packaged import Rules, files_of, replacing, rules_of
from miltext.rewriting.planning import Rewriter
from miltext.rewriting.python_rules import PythonRule
from miltext.rewriting.results import Rewriting
from miltext.rewriting.verifying import Verifying, require_interfaces, require_no_new_errors, written
from miltext.rewriting.written_texts import filled_program, lost_comments, text_with_arrays
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.keywords import option, taking
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.building.given_weights import GivenWeights
    from miltext.evaluation.carried import Named
    from miltext.models.model import Model
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.whole_proofs import FunctionProof
    from miltext.schema.proto import ModelDescription, Program
    from miltext.schema.tensors import InType


@dataclass(frozen=True, kw_only=True)
class RewriteOptions(WriteOptions):
    """The options of `miltext.rewrite`, which describes them."""

    only: Iterable[str] | str = ()
    limit: int | None = option(None, "Make N replacements at most.", least=0, metavar="N")
    verify: bool = option(
        False, "Prove each different replacement, and the whole model before and after; write nothing if a proof fails."
    )
    inputs: Named | None = None


@dataclass(frozen=True)
class _RewriteRequest(RewriteOptions):
    source: Source
    rules: Rules
    output: str | os.PathLike[str] | None = None
    options: RewriteOptions | None = field(default=None, kw_only=True)


@taking(_RewriteRequest)
def rewrite(request: _RewriteRequest) -> Rewriting:
    """Rewrite a program by rules until none applies, and write the model with it; return all sites.

    The rules apply one after the other, each in the order of the text, also in inner blocks, and then all again until
    nothing changes. Names of inputs and outputs, the description and all other parts stay; unused weights go. A draft
    is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        rules: The path or the text of a rule file, the name of a packaged file, rule or pass, or several of these. A
            path that ends with `.py` is a rule file in Python, whose code is run.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`, or a `.mil` for canonical text; None to write nothing.
        only: The sites to replace: names of values, or `FUNCTION/VALUE`.  [all]
        limit: The most replacements.
        verify: Whether each different replacement must be proven on inputs with edge values, by its declared exactness,
            and the rewritten functions be compared with those before.
        inputs: Arrays by name for this comparison, beside the drawn inputs.
        model: The model in a pipeline of several ML Programs.
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: A `RewriteOptions`, in place of these keywords.

    Returns:
        The sites, replaced or refused with reasons, the new program, and the warnings.

    Raises:
        ParseError: MIL870 for a mistake in a rule file.
        MiltextError: MIL871 for rules that never come to rest, MIL872 for a replacement that is not as exact as
            declared, or a function that exact rules changed, MIL873 for an unknown rule, or a site in `only` that no
            rule matches; and the errors of `miltext.build`, and of `miltext.run` about `inputs`.

    Example:
        done = miltext.rewrite("Model.mlpackage", ["softmax", "casts"], "Out.mlpackage")
    """
    rules = replacing(rules_of(request.rules, run=True))
    if request.output is not None:
        check_kept(Path(request.output), files_of(request.rules))
    plan = RewritePlan(rules, _names(request.only), request.limit, request.verify, request.check, request.inputs)
    return carried_out(plan, request.source, request.output, request)


def carried_out(
    plan: RewritePlan, given: Source, output_path: str | os.PathLike[str] | None, options: WriteOptions
) -> Rewriting:
    """Rewrite a program as planned, and write the model with it, unless there is no output."""
    whole = model_of(given)
    is_text = output_path is not None and Path(output_path).suffix.lower() == ".mil"
    whole = whole if is_text else with_imported(whole)
    source = whole.select_only(options.model)
    if output_path is None:
        return plan.of_source(source, options.weights)
    output = Path(output_path)
    require_ending(output, "a rewritten model")
    if output.suffix.lower() == ".mil":
        return _write_text(plan, source, output, options)
    reported: list[Rewriting] = []
    choices = BuildChoices.of(
        options,
        original=whole if whole.kind in WITH_DESCRIPTION else None,
        prune_weights=True,
        edit=partial(plan.edit, source, options.weights, reported),
    )
    found = build_as_chosen(source, output, choices)
    [made] = reported
    made.warnings += [each for each in found if each.code != codes.UNUSED_WEIGHTS or each.notes]
    return made


def _names(only: Iterable[str] | str) -> tuple[str, ...]:
    return (only,) if isinstance(only, str) else tuple(only)


@dataclass
class RewritePlan:
    """The requested rewriting."""

    rules: Sequence[AnyRule]
    only: tuple[str, ...] = ()
    limit: int | None = None
    verify: bool = False
    check: bool = True
    inputs: Named | None = None

    def __post_init__(self) -> None:
        if self.inputs is not None and not self.verify:
            raise TypeError("`inputs` are for `verify`: pass `verify=True`, too")

    def of_source(self, source: Model, weights: GivenWeights | None) -> Rewriting:
        """Rewrite the program of a source without writing it."""
        subject = opened(source)
        folder = subject.folder if weights is None else given_folder(source, weights, subject.program)
        return self.run(subject.program, ConstantContents(folder), source.description)

    def edit(
        self,
        source: Model,
        weights: GivenWeights | None,
        made: list[Rewriting],
        program: Program,
        arrays: dict[str, InType],
    ) -> dict[str, InType]:
        """Rewrite a program to be written; return the arrays to store."""
        contents = ConstantContents(given_folder(source, weights, program), arrays)
        made[:] = [self.run(program, contents, source.description)]
        program.CopyFrom(made[0].program)
        return contents.arrays

    @with_room
    def run(self, program: Program, contents: ConstantContents, description: ModelDescription | None) -> Rewriting:
        """Rewrite a Program; the description states the sizes of its inputs."""
        with gc_paused:
            graph = Graph(program)
            before = _count(graph)
            verifying = Verifying(contents) if self.verify else None
            rewriter = Rewriter(
                graph, self.rules, contents, self.only, self.limit, verifying.require if verifying else None
            )
            rewriter.run()
            self._require_sites(rewriter)
            after = written(graph)
            if self.check and rewriter.replaced and any(isinstance(each, PythonRule) for each in self.rules):
                require_interfaces(program, after)
                require_no_new_errors(program, after)
            made = Rewriting(after, rewriter.sites, (before, _count(graph)))
            made.verified = verifying.kinds if verifying else None
            made.weights = rewriter.weighing.before, rewriter.weighing.now
            made.went = dict(rewriter.weighing.went)
        if self.verify:
            made.functions = self._proofs(program, made, contents, description)
        return made

    def _proofs(
        self, program: Program, made: Rewriting, contents: ConstantContents, description: ModelDescription | None
    ) -> list[FunctionProof]:
        """Return the proofs of the rewritten functions."""
        from miltext.rewriting.whole_proofs import WholeRewriting, prove_whole

        whole = WholeRewriting.of(program, made.program, self.rules, made.replaced)
        return prove_whole(whole, contents, description, self.inputs)

    def _require_sites(self, rewriter: Rewriter) -> None:
        """Raise MiltextError (MIL873) for a requested site that no rule matches."""
        if rewriter.is_full:
            return  # the sites after the last replacement were not visited
        known = {name for each in rewriter.sites for name in (each.value, f"{each.function}/{each.value}")}
        unknown = [error(codes.UNKNOWN_SITE, _unknown(name)) for name in self.only if name not in known]
        if unknown:
            raise MiltextError(unknown)


def _unknown(name: str) -> str:
    return f"no rule matches a site `{name}`: a dry run without `only` lists the sites"


def _count(graph: Graph) -> int:
    """Return the number of operations, constants aside."""
    return sum(not op.is_constant for op in graph.walk())


def _write_text(plan: RewritePlan, source: Model, output: Path, options: WriteOptions) -> Rewriting:
    """Write the canonical text of the new program.

    Raise FileExistsError for an existing file, unless `force`; MiltextError for new errors in the program.
    """
    check_output(str(output), "mil", str(source.path or "-"), force=options.force)
    program, arrays = filled_program(source)
    before = own_copy(program)
    folder = given_folder(source, options.weights, program)
    made = plan.run(program, ConstantContents(folder, arrays, stores=False), source.description)
    if options.check:
        require_no_new_errors(before, made.program)
    text = text_with_arrays(made.program, arrays)
    require_arrays(text, output, source.name, source.model_path)
    write_file(output, [text.encode()], replace=options.force)
    made.warnings += lost_comments(source)
    return made
