"""The lexer's patterns in the dialects of the editors. Only what the lexer uses of Python's syntax is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from miltext.highlight import ON_A_LINE

if TYPE_CHECKING:
    from pygments.lexer import words

_CHAR = r"\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|.)|[^\\\]]"
_CLASS = rf"\[\^?(?:{_CHAR})+\]"
_PIECE = re.compile(
    rf"(?P<operator>\(\?:|\(\?=|[)|*+?$.])|\(\?!(?P<not_before>{_CLASS})\)|(?P<of>{_CLASS})|(?P<char>{_CHAR})"
)
_RANGE = re.compile(rf"({_CHAR})(?:-({_CHAR}))?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Dialect(NamedTuple):
    """An editor's spelling of what Python spells as `operators`, one `char`, a class, and `(?!...)`."""

    operators: dict[str, str]
    char: Callable[[str], str]
    of: Callable[[bool, list[tuple[str, str]]], str]
    not_before: Callable[[str], str]


def translate(pattern: str, dialect: Dialect) -> str:
    """Translate a pattern. Raise ValueError or KeyError at syntax that the lexer has not used so far."""
    found, position = [], 0
    while position < len(pattern):
        match = _PIECE.match(pattern, position)
        if match is None:
            raise ValueError(f"{pattern!r} is not read at {position}")
        position = match.end()
        if match["operator"]:
            found.append(dialect.operators[match["operator"]])
        elif match["char"]:
            found.append(dialect.char(_char(match["char"])))
        else:
            chars = dialect.of(*_ranges(match["of"] or match["not_before"]))
            found.append(chars if match["of"] else dialect.not_before(chars))
    return "".join(found)


def _ranges(chars: str) -> tuple[bool, list[tuple[str, str]]]:
    """Return whether a class is negated, and the first and last characters of its ranges."""
    negated = chars.startswith("[^")
    ranges = _RANGE.findall(chars[1 + negated : -1])
    return negated, [(_char(low), _char(high or low)) for low, high in ranges]


def _char(spelled: str) -> str:
    if spelled[0] != "\\" or len(spelled) == 1:
        return spelled
    kind, digits = spelled[1], spelled[2:]
    return chr(int(digits, 16)) if digits else _ESCAPES.get(kind, kind)


def listed(rule_pattern: str | words) -> str:
    """Spell a rule's pattern in Python's syntax, with its words listed."""
    if isinstance(rule_pattern, str):
        return rule_pattern
    return f"(?:{'|'.join(re.escape(word) for word in rule_pattern.words)}){rule_pattern.suffix}"


def as_pattern(rule_pattern: str | words) -> str:
    """Spell a rule's pattern in Python's syntax, with its words listed, for one that sees a line alone."""
    pattern = listed(rule_pattern)
    for gap, on_a_line in ON_A_LINE.items():
        pattern = pattern.replace(gap, on_a_line)
    return pattern


def oniguruma(rule_pattern: str | words) -> str:
    """Spell a pattern for TextMate and Sublime, which differ only in how they number a character."""
    return re.sub(r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})", r"\\x{\1\2}", as_pattern(rule_pattern))


# ---- highlight.js and Rouge, which see the whole text, as Pygments does


def javascript(rule_pattern: str | words) -> str:
    """Spell a pattern for highlight.js. Only a line feed ends a line, as in Python, and nothing follows the text."""
    return listed(rule_pattern).replace("(?=$)", r"(?=\n|(?![^]))").replace(r"\Z", "(?![^])")


def ruby(rule_pattern: str | words) -> str:
    """Spell a pattern for Ruby, between slashes."""
    pattern = listed(rule_pattern).replace(r"\Z", r"\z").replace("/", r"\/").replace("#", r"\#")
    return re.sub(r"\\x([0-9a-f]{2})", r"\\u00\1", pattern)


# ---- Vim


def _vim_char(char: str) -> str:
    return f"\\{char}" if char in r"\.*[]^$~#" else "\\r" if char == "\r" else char


def _vim_class(negated: bool, ranges: list[tuple[str, str]]) -> str:
    return f"[{'^' * negated}{''.join(_vim_range(max(low, chr(1)), high) for low, high in ranges)}]"


def _vim_range(low: str, high: str) -> str:
    shown = [_VIM_NAMED.get(char) or (char if " " <= char < "\x7f" else f"\\u{ord(char):04x}") for char in (low, high)]
    return shown[0] if low == high else "-".join(shown)


_VIM_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\", "]": r"\]", "^": r"\^", "-": r"\-"}
_VIM = Dialect(
    {"(?:": r"\%(", ")": r"\)", "|": r"\|", "*": "*", "+": r"\+", "?": r"\=", "$": "$", ".": "."},
    _vim_char,
    _vim_class,
    lambda chars: rf"{chars}\@!",
)


def split_ahead(pattern: str) -> tuple[str, str]:
    """Return what a pattern matches, and what it looks for behind that: either may be empty."""
    matched, _, ahead = pattern.partition("(?=")
    return matched, ahead.removesuffix(")")


def vim(rule_pattern: str | words) -> str:
    """Spell a pattern for Vim, between `#`s. One that looks ahead matches an empty text there."""
    matched, ahead = (translate(part, _VIM) for part in split_ahead(as_pattern(rule_pattern)))
    return rf"#{matched}\%({ahead}\)\@=#" if ahead else f"#{matched}#"


# ---- Emacs


def _emacs_char(char: str) -> str:
    return f"\\{char}" if char in r"\.*+?[]^$" else char


def _emacs_class(negated: bool, ranges: list[tuple[str, str]]) -> str:
    """Spell a class, in which Emacs has no escapes: `]` comes first, `-` last, and `^` anywhere but first."""
    spelled = [low if low == high else f"{low}-{high}" for low, high in ranges]
    place = {"]": 0, "^": 2, "-": 3}
    return f"[{'^' * negated}{''.join(sorted(spelled, key=lambda part: place.get(part, 1)))}]"


_EMACS = Dialect(
    {"(?:": r"\(?:", ")": r"\)", "|": r"\|", "*": "*", "+": "+", "?": "?", "$": "$", ".": "."},
    _emacs_char,
    _emacs_class,
    lambda _: r"\_>",  # what may not follow is what a symbol is made of
)


def emacs(pattern: str) -> str:
    """Spell a pattern for Emacs, which cannot look ahead."""
    return translate(pattern, _EMACS)
