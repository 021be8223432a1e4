"""The files and models that the paths of a command line name, and the selected findings in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.advisories.requested import requested
from miltext.batches.named_models import EMPTY, Input, named_models
from miltext.checking.further import together
from miltext.cli.captured import captured
from miltext.cli.habits import place_of
from miltext.cli.streams import existing, fail
from miltext.settings.settings import OFF

if TYPE_CHECKING:
    from miltext.checking.further import Further
    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.selection import Selection
    from miltext.settings.settings import Settings


class Rules(NamedTuple):
    """The choices of the command line about findings, which override the projects' choices.

    `settings` replace the projects' own. `unsafe`, `drafts` and `advisories` are None without an option.
    """

    settings: Settings | None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    unsafe: bool | None = None
    drafts: bool | None = None
    force_exclude: bool = False
    advisories: str | None = None
    profile: str | None = None

    def settings_of(self, name: str) -> Settings:
        """Return the settings for a file or model; for standard input without a name, the settings of the working
        folder.
        """
        from miltext.settings.project import settings_of

        return settings_of(place_of(name)) if self.settings is None else self.settings

    def excludes(self, name: str, below: str | None) -> bool:
        """Whether a file or model is left out, found `below` a folder, or named, which needs `force_exclude`."""
        if below is not None:
            return self.settings_of(name).excludes(name, below=below)
        return self.force_exclude and self.settings_of(name).excludes(place_of(name))

    def selection(self, name: str) -> Selection:
        """Return the selection of findings in a file."""
        return self.settings_of(name).selection(place_of(name), self.select, self.ignore, self.drafts)

    def allows_unsafe(self, name: str) -> bool:
        """Whether uncertain suggestions are applied to a file."""
        return self.settings_of(name).unsafe_fixes if self.unsafe is None else self.unsafe

    def further(self, name: str) -> Further | None:
        """Return the check for the advisories and rules that are chosen for a file, and for the profile."""
        return together([requested(self.settings_of(name), self.advisories), self._profile(name)])

    def _profile(self, name: str) -> Further | None:
        settings = self.settings_of(name)
        if OFF in (self.profile, self.profile or settings.profile):
            return None
        from miltext.placement.findings import profile_check, requested_profile

        return requested_profile(settings) if self.profile is None else profile_check(self.profile)


def rules_of(config: str | None, isolated: bool, **choices: object) -> Rules:
    """Return the rules of a command line. Raise SettingsError for the file of `--config`."""
    from miltext.settings.project import settings_from
    from miltext.settings.settings import NONE

    if config is not None and isolated:
        raise click.UsageError("--isolated ignores all settings: leave out --config")
    settings = settings_from(existing(config)) if config is not None else NONE if isolated else None
    return Rules(settings, **choices)  # type: ignore[arg-type]


def option_codes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of an option that may be repeated, and has commas between them."""
    from miltext.diagnostics.selection import normal, unknown

    words = [word for value in values for word in value.split(",") if word.strip()]
    for word in words:
        if problem := unknown(word):
            raise click.BadParameter(problem)
    if values and not words:
        raise click.BadParameter("it names no code")
    return tuple(map(normal, words))


def inputs(paths: Sequence[str], rules: Rules, *, missing: bool = False) -> list[Input]:
    """Return the files and models of the paths, each once; for a plain folder, all below it.

    A path that does not exist ends the command; with `missing`, it counts as a model. In a run over many
    models, return only the current one.
    """
    kept = captured()
    if kept is not None and kept.model is not None:
        return [kept.model]
    named = (path if path == "-" or missing else existing(path) for path in paths)
    return named_models(named, rules.excludes, _refuse_empty)


def passed_over(found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Return the notes about a file that is not a program, and was only found in a folder."""
    return [each._replace(severity="note", message=f"skipped: {each.message}") for each in found]


def _refuse_empty(folder: str) -> None:
    fail(f"nothing to read in the folder {folder}: {EMPTY}")
