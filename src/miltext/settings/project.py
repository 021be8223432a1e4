"""The settings of the project that a file belongs to, found upward from the file as ruff finds its own.

The nearest pyproject.toml with a `[tool.miltext]` counts. A file without it is skipped, and not even read as TOML.
"""

from __future__ import annotations

import os
import re
import stat
from functools import lru_cache
from pathlib import Path

from miltext.diagnostics import Note, SettingsError, codes, error
from miltext.settings.settings import NONE, Settings

NAME = "pyproject.toml"


_SECTION = re.compile(
    rb"""(?mx) ^(?:\xef\xbb\xbf)?[ \t]* (?:
        (?:\[+ [ \t]*)? (?:["']?tool["']? [ \t]*\.[ \t]*)? ["']?miltext["']? [ \t]* []=.]
      | ["']?tool["']? [ \t]* =
      | \[+ [ \t]* ["']?tool["']? [ \t]* \. [ \t]* ["']?miltext (?![\w-])
    )"""
)
"""The beginning of a `[tool.miltext]`, in any of TOML's spellings, even if its end is missing."""


def settings_of(path: str) -> Settings:
    """Return the settings for a file or a model. Raise SettingsError."""
    return settings_in(os.path.dirname(os.path.abspath(path)))


def settings_in(folder: str) -> Settings:
    """Return the settings for the files in a folder, by its absolute path. Raise SettingsError."""
    while True:
        file = os.path.join(folder, NAME)
        found = _as_it_is(file)
        if found is not None:
            return found._replace(root=folder)
        around = os.path.dirname(folder)
        if around == folder:
            return NONE
        folder = around


def settings_from(file: str) -> Settings:
    """Return the settings in a file that a user names; its patterns are relative to the working folder.

    Raise SettingsError, also for a file without settings.
    """
    found = _settings(file)
    if found is None:
        note = Note("add one, or name another file")
        raise SettingsError(
            [error(codes.UNREADABLE_SETTINGS, "there is no `[tool.miltext]` in this file", None, note)], path=file
        )
    return found._replace(root=os.getcwd())


def _as_it_is(file: str) -> Settings | None:
    """Return the settings in a file, None if there are none; the file is read again only after a change."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return _remembered(file, (status.st_mtime_ns, status.st_size)) if stat.S_ISREG(status.st_mode) else None


@lru_cache(maxsize=64)
def _remembered(file: str, _version: tuple[int, int]) -> Settings | None:
    return _settings(file)


def _settings(file: str) -> Settings | None:
    """Return the settings in a file, None if it has none. tomlkit is imported only if the file seems to have some."""
    try:
        data = Path(file).read_bytes()
        if not _SECTION.search(data):
            return None
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        reason = (isinstance(failure, OSError) and failure.strerror) or str(failure)
        raise SettingsError(
            [error(codes.UNREADABLE_SETTINGS, f"the settings cannot be read: {reason}")], path=file
        ) from failure
    from miltext.settings.reading import read_settings

    return read_settings(text, file)
