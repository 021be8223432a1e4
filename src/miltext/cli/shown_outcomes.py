"""The results of many models on standard output: a JSON line or a text for each, or one log in SARIF."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import click

from miltext.cli.habits import shown_name
from miltext.cli.streams import write_raw, write_text
from miltext.diagnostics import Diagnostic, codes, error, visible
from miltext.diagnostics.reports import FORM, Report, as_sarif, findings, joined_sarif

if TYPE_CHECKING:
    from miltext.batches.named_models import Input
    from miltext.cli.one_model import VerbOutcome
    from miltext.diagnostics.dynamic import Record


class ShownOutcomes(ABC):
    """The results of models, shown as they come."""

    def __init__(self, models: Sequence[Input]) -> None:
        self._names = [shown_name(each.name) for each in models]

    @abstractmethod
    def add(self, index: int, found: VerbOutcome) -> None:
        """Show a result, now or later."""

    def end(self) -> None:  # noqa: B027
        """Show the remaining outcomes."""


class JsonLines(ShownOutcomes):
    """A line of JSON for each model, in the order in which they come: the object of the verb, with `path` and `status`
    before it.
    """

    def add(self, index: int, found: VerbOutcome) -> None:
        name = self._names[index]
        whole = {"path": name, "status": found.status, **(record_of(found) or _failure(name, found))}
        line = json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"
        write_text("-", [line if line.isascii() else os.fsencode(line).decode(errors="replace")])
        if found.out:
            _show_errors(found)


class TextOutcomes(ShownOutcomes):
    """The text for each model, in the order of the models, with the name of the model above it if `is_headed`."""

    def __init__(self, models: Sequence[Input], *, is_headed: bool) -> None:
        super().__init__(models)
        self._is_headed = is_headed
        self._waiting: dict[int, VerbOutcome] = {}
        self._next = 0
        self._has_shown = False

    def add(self, index: int, found: VerbOutcome) -> None:
        self._waiting[index] = found
        while self._next in self._waiting:
            self._show(self._names[self._next], self._waiting.pop(self._next))
            self._next += 1

    def _show(self, name: str, found: VerbOutcome) -> None:
        if found.out and self._is_headed:
            between = "\n" if self._has_shown else ""
            write_text("-", [f"{between}==> {visible(name)} <==\n"])
            self._has_shown = True
        write_raw(found.out)
        _show_errors(found)


class SarifLog(ShownOutcomes):
    """One log of all models, in their order."""

    def __init__(self, models: Sequence[Input]) -> None:
        super().__init__(models)
        self._logs: dict[int, str] = {}

    def add(self, index: int, found: VerbOutcome) -> None:
        name = self._names[index]
        self._logs[index] = found.out or as_sarif([Report(name, [diagnostic_of(found)], None)], version("miltext"))
        if found.out:
            _show_errors(found)

    def end(self) -> None:
        write_text("-", [joined_sarif([self._logs[index] for index in sorted(self._logs)], version("miltext"))])


def record_of(found: VerbOutcome) -> Record | None:
    """Return the JSON of a verb; None if it wrote none, as it could not be called."""
    record: Record | None = json.loads(found.out) if found.out else None
    return record


def diagnostic_of(found: VerbOutcome) -> Diagnostic:
    """Return the reason why a verb has no result."""
    return error(codes.MODEL_WITHOUT_RESULT, found.err.strip().removeprefix("miltext: "))


def _failure(name: str, found: VerbOutcome) -> Record:
    return {"form": FORM, **findings([Report(name, [diagnostic_of(found)], None)])}


def _show_errors(found: VerbOutcome) -> None:
    if found.err:
        click.echo(found.err, err=True, nl=False, color=True)
