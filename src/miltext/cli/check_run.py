"""A run of `miltext check`: the reports about each file or model, with fixes, and counts for the last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from miltext.cli.checked_paths import Rules, passed_over
from miltext.cli.fixing_files import Fixing, is_text
from miltext.cli.streams import FAILED, WRONG, fail, open_whole
from miltext.diagnostics import MiltextError, codes, error

if TYPE_CHECKING:
    from miltext.batches.named_models import Input
    from miltext.checking.contract.fixing import ModelFix
    from miltext.checking.verifier import Checked
    from miltext.compiled.stated import CompiledSource
    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.reports import Report
    from miltext.drafting.as_built import AsBuilt
    from miltext.models.model import Model, Stage
    from miltext.schema.proto import Program


FIXED = ("mlpackage", "mlmodel")
"""The kinds of models whose descriptions are fixed; a compiled one is compiled again."""

FOLLOWED = (codes.MISFIT_DESCRIPTION, codes.PIPELINE_TYPE_CLASH, codes.PIPELINE_CONNECTION_LOST)
"""The codes of contradictions that a fix of a description may solve."""

INPUT = "input "
"""The prefix of the names of inputs among the counts."""


@dataclass
class Original:
    """The model of `--from`: `nested` chooses its program for a text, and `source` are the facts about it that the
    analytics of a compiled model contain.
    """

    whole: Model
    nested: str | None
    source: CompiledSource | None

    def __post_init__(self) -> None:
        self.programs: list[Program] = [each.model.program for each in self.whole.select_all()]
        self._last: tuple[Model, AsBuilt | None] | None = None

    def as_built(self, text: Model) -> AsBuilt | None:
        """Return the model that a build of a text would write; the model of the last text is kept."""
        from miltext.drafting.as_built import as_built

        if self._last is None or self._last[0] is not text:
            self._last = text, as_built(text, self.whole, self.nested)
        return self._last[1]


@dataclass
class CheckRun:
    """A run of the command: its options, and the number of suggestions left that could be applied.

    `fixable` counts the suggestions that `--fix` would apply, `unsafe` further ones with `--unsafe-fixes`, and `around`
    the reports about the surroundings of programs: in pipelines, and in the files of compiled models; `rule_files`
    counts the rule files. `ranges` are the ranges of inputs if numbers are bounded, else None, and `bounded` the inputs
    of programs whose numbers were bounded.
    """

    rules: Rules
    fixing: Fixing | None
    loader: bool
    prefer: str
    original: Original | None
    weights_data: bool = False
    ranges: Mapping[str, tuple[float, float]] | None = None
    bounded: set[str] = field(default_factory=set)
    fixable: int = 0
    unsafe: int = 0
    around: int = 0
    rule_files: int = 0

    @property
    def _source(self) -> CompiledSource | None:
        return self.original.source if self.original is not None else None

    # ---- the findings

    def reports(self, each: Input) -> Iterator[Report]:
        """Yield the findings in each program of a file or model, and before them the findings around it."""
        from miltext.models.model import Stage
        from miltext.parsing.rule_texts import is_rule_file

        around: list[Report] = []
        opened: Model | None = None
        programs: Iterable[Report]
        try:
            opened = open_whole(each.name)
            if is_text(opened) and is_rule_file(opened.text or ""):
                yield self._of_rules(opened, each.name)
                return
            opened = self._followed(opened, each.name)
            whole, place = self._whole(opened)
            around = self._around(whole)
            stages = [Stage("", opened) if stage.place == place else stage for stage in whole.select_all()]
        except MiltextError as error:
            programs = [_refused(error, each.name, was_found=each.found)]
        else:
            programs = (report for stage in stages for report in self._of_stage(stage, each.name))
        contradicts = False
        for report in chain(self._chosen(around, each.name), programs):
            contradicts |= any(found.code in FOLLOWED and found.severity != "note" for found in report.diagnostics)
            yield report
        if contradicts and opened is not None and self.fixing is None:
            self._count_fixable(opened, each.name)

    def _of_rules(self, file: Model, name: str) -> Report:
        """Return the findings in a rule file."""
        from miltext.diagnostics.reports import Report
        from miltext.rewriting.rule_checking import rule_findings

        self.rule_files += 1
        found = rule_findings(file.text or "", file.name)
        return Report(file.name, self.rules.selection(name).chosen(found), file.text)

    def _whole(self, opened: Model) -> tuple[Model, str]:
        """Return the whole model of a path, and the place of the path's program in it: for a text with an original, the
        model that a build of it would write.
        """
        built = self._as_built(opened)
        return (opened, "") if built is None or built.whole is None else (built.whole, built.place)

    def _around(self, whole: Model) -> list[Report]:
        """Return the findings around the programs of a model."""
        from miltext.checking.contract.whole import whole_findings
        from miltext.diagnostics.reports import Report

        return [Report(*each) for each in whole_findings(whole, self._source)] + self._of_weights_data(whole)

    def _as_built(self, model: Model) -> AsBuilt | None:
        return self.original.as_built(model) if self.original is not None and is_text(model) else None

    def _of_weights_data(self, whole: Model) -> list[Report]:
        """Return the doubtful numbers in the weights of a model, if that is requested."""
        if not self.weights_data:
            return []
        from miltext.checking.contract.weights_data import weight_data_findings
        from miltext.cli.progress import weights_bar
        from miltext.diagnostics.reports import Report

        with weights_bar("reading weights", whole) as progress:
            return [Report(*each) for each in weight_data_findings(whole, progress.add)]

    def _followed(self, whole: Model, name: str) -> Model:
        """Fix the description of a model, or its program, if that is requested; return the model in its file."""
        fix = self._fix_of(whole, name) if self.fixing is not None else None
        if fix is None or self.fixing is None:
            return whole
        unsafe = self.rules.allows_unsafe(name)
        if self.fixing.fix_description(whole, fix, unsafe=unsafe):
            return open_whole(name)
        if fix.losses and not unsafe:
            self.unsafe += fix.solved
        return whole

    def _count_fixable(self, whole: Model, name: str) -> None:
        """Count the contradictions that a fix of the description would solve."""
        if fix := self._fix_of(whole, name):
            if fix.losses and not self.rules.allows_unsafe(name):
                self.unsafe += fix.solved
            else:
                self.fixable += fix.solved

    def _fix_of(self, whole: Model, name: str) -> ModelFix | None:
        if whole.kind not in FIXED or not self.rules.selection(name).asks_for(error(codes.MISFIT_DESCRIPTION, "")):
            return None
        from miltext.checking.contract.fixing import fix_of

        return fix_of(whole, self.prefer)

    def _chosen(self, around: Iterable[Report], name: str) -> Iterator[Report]:
        """Yield the reports around a program that contain selected findings, with these alone."""
        selection = self.rules.selection(name)
        for report in around:
            if found := selection.chosen(report.diagnostics):
                self.around += 1
                yield report._replace(diagnostics=found)

    def _of_stage(self, stage: Stage, name: str) -> Iterator[Report]:
        from miltext.checking.contract.whole import bundle_files
        from miltext.diagnostics.reports import Report

        files = bundle_files(stage.model, self._source) if stage.place else ()
        yield from self._chosen((_named(Report(*each), stage) for each in files), name)
        checked = self._checked(stage.model, name)
        yield _named(checked, stage)
        if self.ranges is not None and not any(each.severity == "error" for each in checked.diagnostics):
            yield from self._chosen([_named(self._of_numbers(stage.model), stage)], name)

    def _of_numbers(self, model: Model) -> Report:
        """Return the findings about the numbers that a program computes."""
        from miltext.bounds.findings import checked_numbers
        from miltext.diagnostics.reports import Report
        from miltext.evaluation.subjects import opened

        subject = opened(model)
        self.bounded.update(each.name for function in subject.graph.functions.values() for each in function.inputs)
        try:
            found, text = checked_numbers(subject, self.ranges or {})
        except MiltextError as error:
            return _refused(error, model.name)
        return Report(model.name, found, text, printed=model.text is None)

    def _checked(self, model: Model, name: str) -> Report:
        from miltext.checking.fixing import is_fixable
        from miltext.diagnostics.reports import Report

        selection, unsafe = self.rules.selection(name), self.rules.allows_unsafe(name)
        try:
            if self.fixing is None:
                found, text = self._examined(model)
            else:
                found, text = self.fixing.fix(
                    model, self._examined, lambda each: selection.keeps(each) and is_fixable(each, unsafe=unsafe)
                )
        except MiltextError as error:
            return _refused(error, model.name)
        left = selection.chosen(found)
        if is_text(model):
            fixable = sum(is_fixable(each, unsafe=unsafe) for each in left)
            self.fixable += fixable
            self.unsafe += sum(is_fixable(each, unsafe=True) for each in left) - fixable
        return Report(model.name, left, text, printed=model.text is None)

    def _examined(self, model: Model) -> Checked:
        from miltext.checking.verifier import Checked, examine

        built = self._as_built(model)
        originals = self.original.programs if self.original is not None else ()
        described = None if built is None else built.described
        try:
            found, text = examine(
                model,
                with_coremltools=self.loader,
                originals=originals,
                described=described,
                also=self.rules.further(model.name),
            )
        except MiltextError as error:
            if error.diagnostics[0].code == codes.NO_COREMLTOOLS:
                fail(f"{error.diagnostics[0].message}: {error.diagnostics[0].notes[0].message}")
            raise
        return Checked(found if built is None else built.added(found), text)

    # ---- the end

    def counts(self, reports: Sequence[Report]) -> Counter[str]:
        """Return the sums for the last line of a report, and the inputs of programs whose numbers were bounded."""
        found = Counter(each.severity for report in reports for each in report.diagnostics)
        return found + Counter(
            {
                "program": len(reports) - self.around - self.rule_files,
                "rule file": self.rule_files,
                "fixable": self.fixable,
                "unsafe": self.unsafe,
                "fixed": self.fixing.fixed if self.fixing is not None else 0,
                **{f"{INPUT}{name}": 1 for name in self.bounded},
            }
        )

    def status(self, reports: Sequence[Report]) -> int:
        """Return the exit status."""
        found = [each for report in reports for each in report.diagnostics]
        if any(each.code == codes.UNREADABLE_FILE for each in found) or (self.fixing and self.fixing.failed):
            return FAILED
        if self.fixing is not None and self.fixing.diff:
            return WRONG if self.fixing.changed else 0
        return WRONG if any(each.severity in ("error", "warning") for each in found) else 0


def _named(report: Report, stage: Stage) -> Report:
    """Return a report that names its model in the pipeline."""
    name = stage.name if report.path == stage.model.name else report.path
    return report._replace(model=stage.place, title=stage.title, name=name)


def _refused(error: MiltextError, name: str, *, was_found: bool = False) -> Report:
    """Return the report of a model that could not be checked; as a note if it was only found in a folder."""
    from miltext.diagnostics.reports import Report

    found: Sequence[Diagnostic] = error.diagnostics
    if was_found and found[0].code == codes.NOT_AN_ML_PROGRAM:
        found = passed_over(found)
    return Report(error.path or name, found, error.text)
