"""The `[tool.miltext]` in the text of a pyproject.toml: its keys, their values, and the places of mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from miltext.diagnostics import SettingsError, codes, error
from miltext.diagnostics.selection import near_code, normal, unknown
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.settings.settings import ADVISORIES, OFF, Settings
from miltext.toml.reading import Keys, Mistake, NotToml, noun, read_toml

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json, Record

SECTION = ("tool", "miltext")


def read_settings(text: str, file: str) -> Settings | None:
    """Return the settings in a text; None if it has no such section. Raise SettingsError."""
    try:
        whole = read_toml(text)
    except NotToml as failure:
        found = error(codes.UNREADABLE_SETTINGS, f"this is not TOML: {failure.reason}", failure.span)
        raise SettingsError([found], text=text, path=file) from failure
    tool = whole.get("tool")
    section = tool.get("miltext") if isinstance(tool, dict) else None
    if section is None:
        return None
    try:
        return _settings(section)
    except Mistake as mistake:
        raise SettingsError([mistake.diagnostic(text)], text=text, path=file) from None


# ---- the values of each setting


def _settings(section: object) -> Settings:
    if not isinstance(section, dict):
        raise Mistake(codes.SETTING_TYPE, f"`tool.miltext` takes a table of settings, not {noun(section)}", SECTION)
    found: Record = {}
    for key, value in section.items():
        at = (*SECTION, key)
        if key not in READERS:
            near = nearest(key.replace("_", "-"), READERS)
            message = f"`[tool.miltext]` has no setting `{key}`{did_you_mean(near)}"
            if near is None:
                message += f"; it has {', '.join(f'`{name}`' for name in READERS)}"
            raise Mistake(codes.UNKNOWN_SETTING, message, at, key=True, suggestion=near)
        found[key.replace("-", "_")] = READERS[key](value, at)
    return Settings(**found)


def _flag(value: object, at: Keys) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(value, at, "`true` or `false`")
    return value


def _strings(value: object, at: Keys, what: str = 'patterns, such as `["build", "old/*.mil"]`') -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong_type(value, at, f"a list of {what}")
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise _wrong_type(item, (*at, index), f"a list of {what}")
    return tuple(value)


def _patterns(value: object, at: Keys) -> tuple[str, ...]:
    patterns = _strings(value, at)
    for index, pattern in enumerate(patterns):
        _refuse_idle(pattern, (*at, index))
    return patterns


def _refuse_idle(pattern: str, at: Keys, *, key: bool = False) -> None:
    """Raise Mistake for a pattern that no path below the pyproject.toml can match."""
    reason = next((reason for form, reason in IDLE.items() if re.search(form, pattern)), None)
    if reason is None:
        return
    meant = re.sub("/+", "/", pattern.replace("\\", "/")).lstrip("/")
    is_mended = '"' not in meant and not any(re.search(form, meant) for form in IDLE)
    message = f"no file fits the pattern `{pattern}`: {reason}"
    raise Mistake(codes.PATTERN_WITHOUT_FILES, message, at, key=key, suggestion=f'"{meant}"' if is_mended else None)


IDLE = {
    r"\A\s*\Z": "it is empty; write a name or a path",
    r"\\": "names are separated by `/`",
    r"\A(?:/|~|[A-Za-z]:)": "it is a path from the pyproject.toml, without a `/` or a drive before it",
    r"\A(?:\./)*\.\.(?:/|\Z)": "the settings apply to files below the pyproject.toml",
    r"\A(?:\./*)+\Z": "it is the folder of the pyproject.toml; `*` stands for all of its files",
    r"\A!": "there are no exceptions to patterns",
    r"\{[^{}/]*,[^{}/]*\}": "write each of the names in braces in a pattern of its own",
}
"""Spellings of patterns that match nothing, and the reasons."""


def _codes(value: object, at: Keys) -> tuple[str, ...]:
    words = _strings(value, at, f'codes, such as `["{codes.SHADOWED_VALUE}", "MIL7"]`')
    for index, word in enumerate(words):
        if problem := unknown(word):
            near = near_code(word)
            raise Mistake(
                codes.UNKNOWN_CODE_IN_SETTINGS, problem, (*at, index), suggestion=None if near is None else f'"{near}"'
            )
    return tuple(map(normal, words))


def _codes_by_pattern(value: object, at: Keys) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _wrong_type(
            value, at, f'a table of patterns and codes, such as `{{ "old/*.mil" = ["{codes.SHADOWED_VALUE}"] }}`'
        )
    for pattern in value:
        _refuse_idle(pattern, (*at, pattern), key=True)
    return tuple((pattern, _codes(listed, (*at, pattern))) for pattern, listed in value.items())


def _advisories(value: object, at: Keys) -> str:
    if not isinstance(value, str) or value not in ADVISORIES:
        listed = ", ".join(f'`"{each}"`' for each in ADVISORIES[:-1])
        raise _wrong_type(value, at, f'{listed} or `"{ADVISORIES[-1]}"`')
    return value


def _rules(value: object, at: Keys) -> tuple[str, ...]:
    what = 'rules, such as `["softmax", "rules.mil"]`'
    words = _strings(value, at, what)
    for index, word in enumerate(words):
        if word.endswith(".py"):
            message = f"`{word}` is a rule file in Python, whose code is run by `miltext rewrite` alone: name a `.mil`"
            raise Mistake(codes.SETTING_TYPE, message, (*at, index), suggestion=None)
    return words


def _profile(value: object, at: Keys) -> str:
    if not isinstance(value, str):
        raise _wrong_type(value, at, f'a profile of the Neural Engine, or `"{OFF}"`')
    return value


READERS: dict[str, Callable[[object, Keys], Json]] = {
    "select": _codes,
    "ignore": _codes,
    "per-file-ignores": _codes_by_pattern,
    "exclude": _patterns,
    "unsafe-fixes": _flag,
    "drafts": _flag,
    "advisories": _advisories,
    "rules": _rules,
    "profile": _profile,
}
"""The settings, each with its reader."""


def _wrong_type(value: object, at: Keys, wanted: str) -> Mistake:
    name = next(str(key) for key in at[::-1] if isinstance(key, str))
    suggestion = None
    if isinstance(value, str) and wanted.startswith("a list") and not isinstance(at[-1], int):
        suggestion = f'["{value}"]' if '"' not in value and "\\" not in value else None
    return Mistake(codes.SETTING_TYPE, f"`{name}` takes {wanted}, not {noun(value)}", at, suggestion=suggestion)
