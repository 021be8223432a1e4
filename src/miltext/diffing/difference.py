"""All differences between two programs, and their forms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from miltext.diagnostics.plain import field_names, plain
from miltext.diffing.edits import NO_EDITS, Edits, ModelEdit
from miltext.diffing.report import LIMIT, Shown, report
from miltext.diffing.structure import (
    EDITS,
    BlockDifference,
    Change,
    DiffSummary,
    FunctionDifference,
    WeightDifference,
)
from miltext.diffing.telling import LEFT_OUT, VERDICTS, count_line, counts, model_title
from miltext.diffing.text import render_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.diagnostics import MiltextError
    from miltext.diagnostics.dynamic import Json, Record
    from miltext.diffing.lining_up import Texts
    from miltext.diffing.numbers import DiffNumbers
    from miltext.diffing.scope_stats import DiffStat
    from miltext.diffing.unified import Line
    from miltext.evaluation.comparing.comparison import Comparison
    from miltext.models.model import Model

FORM = 1
"""The version of the JSON form, which docs/diff.md describes; it changes when readers would break."""


@dataclass(frozen=True, repr=False)
class Difference:
    """The differences between two models or programs, named `old` and `new`.

    `changes` are the changes of the model and the program themselves, `notes` the parts that could not be compared.
    `functions` are the functions with a difference, added and removed ones too, and `models` the models of two
    pipelines that differ. `complete` is true if all relevant weights and all contents of a pipeline's models were read,
    `breaking` if only changes that break callers are listed. `numbers` compare both on the same inputs, if they were
    run. `to_text` is for people, `to_markdown` for a comment, `to_html` a page, `to_json` for programs, `to_unified`
    for tools that show patches, `to_stat` a summary.

    For two Models, the specification versions and descriptions are compared too; for two compiled models, also their
    analytics, `metadata.json` and other files; for a compiled model and another model, changes that the compiler makes
    to every program are ignored. Two pipelines are compared model by model: models of the same name are paired, and the
    others by position. Models of other kinds are compared as bytes.
    """

    old: str
    new: str
    notes: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    functions: tuple[FunctionDifference, ...] = ()
    weights: WeightDifference = field(default_factory=WeightDifference)
    complete: bool = True
    models: tuple[ModelDifference, ...] = ()
    breaking: bool = False
    summary: DiffSummary = field(default_factory=DiffSummary)
    numbers: DiffNumbers | None = None
    _left_out: bool = field(default=False, repr=False, compare=False)
    _texts: Texts | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        found = "; ".join(count_line(*each) for each in counts(self))
        return f"<Difference {self.old!r} -> {self.new!r}: {found}>"

    def __bool__(self) -> bool:
        """Return whether they differ, or may differ in parts that were not read."""
        return self.same is not True

    @property
    def same(self) -> bool | None:
        """Whether there is no difference; None if none was found, but some parts were not read."""
        if self.changes or self.functions or self.weights.changed or self.models:
            return False
        return True if self.complete else None

    @property
    def texts(self) -> Texts | None:
        """The two compared programs, for the forms that show them and for `miltext.apply`; None for other models."""
        return self._texts

    @cached_property
    def stat(self) -> DiffStat:
        """The numbers of differences by function and scope; none of models without a program."""
        from miltext.diffing.scope_stats import DiffStat, scope_stats

        return scope_stats(self.functions, self.weights.changed, self._texts) if self._texts else DiffStat()

    @property
    def verdict(self) -> str:
        """The sentence for a Difference without differences; it names differences that were left out."""
        return VERDICTS.get((self.breaking, self.same), "") + (LEFT_OUT if self._left_out and self.same else "")

    @property
    def added(self) -> tuple[FunctionDifference, ...]:
        """The functions that only the new program has."""
        return self._with_status("added")

    @property
    def removed(self) -> tuple[FunctionDifference, ...]:
        """The functions that only the old program has."""
        return self._with_status("removed")

    @property
    def changed(self) -> tuple[FunctionDifference, ...]:
        """The functions that both have, with differences."""
        return self._with_status("changed")

    def with_numbers(self, found: Comparison | MiltextError) -> Difference:
        """Return the difference with the numbers of a comparison of the two, or with the reason why there is none."""
        from miltext.diffing.numbers import numbers_of

        return replace(self, numbers=numbers_of(found, self.functions, self.weights.changed, self._texts))

    def _with_status(self, status: str) -> tuple[FunctionDifference, ...]:
        return tuple([function for function in self.functions if function.status == status])

    def to_text(self, *, color: bool = False, full: bool = False, consequences: bool = False) -> str:
        """Return the differences as text for people, with ANSI colours if `color`.

        Long lists of names and weights, repeated edits and consequences are folded unless `full`; with `consequences`,
        these are listed.
        """
        return render_text(report(self, Shown(full, consequences)), color)

    def to_markdown(self, *, full: bool = False, consequences: bool = False, limit: int = LIMIT) -> str:
        """Return the differences for the comment of a pull request, of at most `limit` characters.

        It has fewer than 200 lines unless `full`: long lists are summed up. In a longer text, the longest lines are cut
        first, and then the last lines are omitted; each cut states the size of the missing part. Raise ValueError for a
        limit below 1,000.
        """
        from miltext.diffing.markdown import LINES, render_markdown

        found = report(self, Shown(full, consequences, ("the full report", "")))
        return render_markdown(found, limit, inf if full else LINES)

    def to_html(self) -> str:
        """Return all of the differences as one HTML page, with both texts in two panes below them, and both graphs."""
        from miltext.diffing.html_report import render_html

        return render_html(self, report(self, Shown(ways=("", ""))))

    def to_stat(self, *, width: int | None = None, color: bool = False) -> str:
        """Return the numbers of differences as a table, with a line for each function and scope.

        For a `width` in columns, each line ends in a bar of its added, removed, changed and moved operations if there
        is room, with ANSI colours if `color`.
        """
        from miltext.diffing.stat_table import render_stat

        return render_stat(self, width, color)

    def to_json(self) -> Record:
        """Return everything, for `json.dumps`: infinities are the strings `inf` and `-inf`."""
        return {"form": FORM, "breaking": self.breaking, **plain(self, _fields)}

    def to_unified(self, *, draft: bool = False) -> str:
        """Return both texts as a unified diff, with operations lined up by structure.

        The old text uses the new names of values, and renames come before the diff. With `draft`, the texts are drafts
        as from `to_draft`, with weights as digests, and are aligned by lines.
        """
        from miltext.diffing.unified import draft_lines, lines, render_unified

        made: Iterable[Line] = ()
        if self._texts and not self.same:
            made = draft_lines(self._texts) if draft else lines(self._texts)
        own = render_unified(self, made, are_renamed=not draft)
        inner = [(each, each.difference) for each in self.models if each.difference is not None]
        texts = [f"# model {model_title(each)}\n{found.to_unified(draft=draft)}" for each, found in inner]
        return "".join([own, *texts])


_JSON_FIELDS = (
    "same",
    "old",
    "new",
    "notes",
    "summary",
    "stat",
    "numbers",
    "changes",
    "functions",
    "weights",
    "models",
)
"""The fields of a Difference in its JSON form."""


def _fields(thing: Json) -> Iterable[str]:
    """Return the names of the fields of an object in JSON, the operations of a block by kind."""
    every = _JSON_FIELDS if isinstance(thing, Difference) else field_names(thing)
    names = [each for each in every if each not in (EDITS, "repeat")]
    if isinstance(thing, BlockDifference):
        names[names.index("operations") :] = ["added", "removed", "changed", "moved"]
    return names


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """The differences of a model in a pipeline. `status` is as in a block, `place` its path, as in `1/0`, and `name`
    its name in the new pipeline or, if it was removed, in the old one.

    `difference` is None where only one pipeline has the model; its `changes` have another `name` or `place`, too.
    """

    place: str
    name: str
    type: str
    status: str
    difference: Difference | None
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)

    def sides(self, old: Model, new: Model) -> tuple[Model, Model]:
        """Return the two models of a difference, which are in these pipelines."""
        (at,) = [each.at for each in self.edits.walk() if isinstance(each, ModelEdit)]
        return old.models[at], new.models[int(self.place.rpartition("/")[2])]
