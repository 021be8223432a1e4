"""The files and models that the paths of a command line name, and the selected findings in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.advisories.requested import requested
from miltext.checking.further import together
from miltext.cli.habits import place_of
from miltext.cli.streams import existing, fail, whole_model
from miltext.diagnostics import MiltextError, codes
from miltext.files.writing import MODEL_FOLDERS
from miltext.settings.settings import OFF

if TYPE_CHECKING:
    from miltext.checking.further import Further
    from miltext.diagnostics.selection import Selection
    from miltext.settings.settings import Settings

TEXTS, FILES = (".mil",), (".mil", ".mlmodel")
"""The ends of the names of texts, and of the files found in a folder."""


MODEL_PARTS = (
    "Manifest.json",
    "coremldata.bin",
    "metadata.json",
    "analytics",
    "weights",
    "model0",
    "model.espresso.net",
)
"""Files of a model: a folder that contains any of them is a model, whatever its name. A lone model.mil is a result of
`print -o`.
"""


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


class Input(NamedTuple):
    """A file or model to check, either `found` in a folder or named."""

    name: str
    found: bool


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


def inputs(paths: Sequence[str], rules: Rules) -> list[Input]:
    """Return the files and models of the paths, each once; for a plain folder, all below it.

    A file in a package or bundle stands for the whole model.
    """
    each: dict[str, Input] = {}
    for path in paths:
        path = path if path == "-" else _whole(existing(path))
        is_folder = path != "-" and _is_plain_folder(path)
        for name in _below(path, rules) if is_folder else [path]:
            if not (rules.force_exclude and rules.settings_of(name).excludes(place_of(name))):
                each.setdefault(name if name == "-" else os.path.realpath(name), Input(name, is_folder))
    return list(each.values())


def _whole(path: str) -> str:
    """Return the path of the model around a file of it; any other path is as it was written.

    A folder in a compiled pipeline may be one of its models.
    """
    whole = whole_model(path)
    return str(whole) if whole.suffix.lower() in MODEL_FOLDERS and os.path.isfile(path) else path


def _is_plain_folder(path: str) -> bool:
    """Whether a folder may contain models, but is none itself."""
    from miltext.containers.opening import open_model

    if not os.path.isdir(path) or path.lower().endswith(MODEL_FOLDERS):
        return False
    if not any(os.path.exists(os.path.join(path, part)) for part in MODEL_PARTS):
        return True
    try:
        open_model(path)
    except MiltextError as error:
        return error.diagnostics[0].code == codes.NOT_A_MODEL_FOLDER
    return False


def _below(folder: str, rules: Rules) -> list[str]:
    """Return every text and model below, except for sidecars, which contain less than their models."""
    from miltext.files.writing import below
    from miltext.review.sidecar import is_sidecar

    names = below(folder, FILES, MODEL_FOLDERS)
    if not names:
        fail(
            f"nothing to check in the folder {folder}: no {', '.join(FILES + MODEL_FOLDERS[:1])} or {MODEL_FOLDERS[1]}"
        )
    texts = [name for name in names if not is_sidecar(name)]
    return [name for name in texts if not rules.settings_of(name).excludes(name, below=folder)]
