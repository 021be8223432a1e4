"""The `[tool.miltext]` in the text of a pyproject.toml: its keys, what each takes, and where a mistake stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import tomlkit
from tomlkit.exceptions import TOMLKitError

from miltext.diagnostics import SettingsError, Span, error
from miltext.diagnostics.selection import near_code, normal, unknown
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.settings.settings import Settings

SECTION = ("tool", "miltext")

_MARK = "\ue000\ue001"
"""Characters of private use, to find a place by: tomlkit keeps a text as it is, but does not tell places in it."""

Keys = tuple[str | int, ...]
"""The way to a value: keys, and indices in arrays."""


class _Mistake(Exception):
    """What is wrong with the value, or with the key, to which a way leads."""

    def __init__(self, code: str, message: str, at: Keys, *, key: bool = False, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.is_key, self.suggestion = code, message, at, key, suggestion


def read_settings(text: str, file: str) -> Settings | None:
    """Return the settings in a text; None where it has no such section. Raise SettingsError."""
    try:
        document = tomlkit.parse(text)
        whole: Any = document.unwrap()
    except (TOMLKitError, ValueError, RecursionError) as failure:
        _refuse_toml(failure, text, file)
    tool = whole.get("tool")
    section = tool.get("miltext") if isinstance(tool, dict) else None
    if section is None:
        return None
    try:
        return _settings(section)
    except _Mistake as mistake:
        span = (_key_span if mistake.is_key else _value_span)(text, mistake.at)
        found = error(mistake.code, mistake.message, span, suggestion=mistake.suggestion)
        raise SettingsError([found], text=text, path=file) from None


def _refuse_toml(failure: Exception, text: str, file: str) -> NoReturn:
    """Raise SettingsError for what is not TOML, at the place that tomlkit names if it names one."""
    reason = re.sub(r" at line \d+ col \d+$", "", str(failure)) or "it is nested too deeply"
    span, line = None, getattr(failure, "line", None)
    if "Unexpected character: '\\x00'" in reason:  # so tomlkit sees the end
        reason, span = "it ends too early", Span(len(text), len(text))
    elif line is not None:
        start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + getattr(failure, "col", 0)
        span = Span(min(start, len(text)), min(start + 1, len(text)))
    raise SettingsError([error("MIL460", f"this is not TOML: {reason}", span)], text=text, path=file) from failure


# ---- what each setting takes


def _settings(section: object) -> Settings:
    if not isinstance(section, dict):
        raise _Mistake("MIL462", f"`tool.miltext` takes a table of settings, not {_kind(section)}", SECTION)
    found: dict[str, Any] = {}
    for key, value in section.items():
        at = (*SECTION, key)
        if key not in READERS:
            near = nearest(key.replace("_", "-"), READERS)
            message = f"`[tool.miltext]` has no setting `{key}`{did_you_mean(near)}"
            if near is None:
                message += f"; it has {', '.join(f'`{name}`' for name in READERS)}"
            raise _Mistake("MIL461", message, at, key=True, suggestion=near)
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
    """Raise _Mistake for a pattern that no path below the pyproject.toml can fit."""
    reason = next((reason for form, reason in IDLE.items() if re.search(form, pattern)), None)
    if reason is None:
        return
    meant = re.sub("/+", "/", pattern.replace("\\", "/")).lstrip("/")
    is_mended = '"' not in meant and not any(re.search(form, meant) for form in IDLE)
    message = f"no file fits the pattern `{pattern}`: {reason}"
    raise _Mistake("MIL464", message, at, key=key, suggestion=f'"{meant}"' if is_mended else None)


IDLE = {
    r"\A\s*\Z": "it is empty; write a name or a path",
    r"\\": "names are parted by `/`",
    r"\A(?:/|~|[A-Za-z]:)": "it is a path from the pyproject.toml, without a `/` or a drive before it",
    r"\A(?:\./)*\.\.(?:/|\Z)": "the settings speak of what is below the pyproject.toml",
    r"\A(?:\./*)+\Z": "it is the folder of the pyproject.toml; `*` stands for all that is in it",
    r"\A!": "there are no exceptions to patterns",
    r"\{[^{}/]*,[^{}/]*\}": "write each of the names in braces in a pattern of its own",
}
"""Spellings of patterns that fit nothing, and why."""


def _codes(value: object, at: Keys) -> tuple[str, ...]:
    words = _strings(value, at, 'codes, such as `["MIL603", "MIL7"]`')
    for index, word in enumerate(words):
        if told := unknown(word):
            near = near_code(word)
            raise _Mistake("MIL463", told, (*at, index), suggestion=None if near is None else f'"{near}"')
    return tuple(map(normal, words))


def _codes_by_pattern(value: object, at: Keys) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _wrong_type(value, at, 'a table of patterns and codes, such as `{ "old/*.mil" = ["MIL603"] }`')
    for pattern in value:
        _refuse_idle(pattern, (*at, pattern), key=True)
    return tuple((pattern, _codes(codes, (*at, pattern))) for pattern, codes in value.items())


READERS: dict[str, Callable[[object, Keys], Any]] = {
    "select": _codes,
    "ignore": _codes,
    "per-file-ignores": _codes_by_pattern,
    "exclude": _patterns,
    "unsafe-fixes": _flag,
    "drafts": _flag,
}
"""The settings, and what reads each."""


def _wrong_type(value: object, at: Keys, wanted: str) -> _Mistake:
    name = next(str(key) for key in at[::-1] if isinstance(key, str))
    suggestion = None
    if isinstance(value, str) and wanted.startswith("a list") and not isinstance(at[-1], int):
        suggestion = f'["{value}"]' if '"' not in value and "\\" not in value else None
    return _Mistake("MIL462", f"`{name}` takes {wanted}, not {_kind(value)}", at, suggestion=suggestion)


def _kind(value: object) -> str:
    """Return the noun for a value of TOML."""
    kinds = {bool: "truth value", str: "string", int: "number", float: "number", list: "list", dict: "table"}
    return f"a {kinds.get(type(value), 'date or time')}"


# ---- places


def _value_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where a value stands: a mark is put in its place, and looked for in the text that this makes."""
    document: Any = tomlkit.parse(text)
    holder = document
    for key in at[:-1]:
        holder = holder[key]
    written = holder[at[-1]].as_string() if hasattr(holder[at[-1]], "as_string") else ""
    holder[at[-1]] = _MARK
    before, mark, _ = document.as_string().partition(f'"{_MARK}"')
    if mark and text.startswith(before + written):
        return Span(len(before), len(before) + len(written))
    return _header_span(text, at)


def _key_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where the key of a value stands."""
    value = _value_span(text, at)
    key = None if value is None else re.search(r"""("[^"\n]*"|'[^'\n]*'|[\w-]+)\s*=\s*\Z""", text[: value.start])
    return value if key is None else Span(*key.span(1))


def _header_span(text: str, at: Sequence[str | int]) -> Span | None:
    """Return where the header of a table stands, or of one that is around it."""
    for key in reversed(at):
        header = re.search(rf"(?m)^[ \t]*\[.*?(\b{re.escape(str(key))}\b).*\]", text)
        if header:
            return Span(*header.span(1))
    return None
