"""The lexer's states and the vocabulary as Emacs Lisp: the data that `mil-mode` highlights and completes by."""

from __future__ import annotations

import json
from collections.abc import Iterator

from generator import queries
from generator.patterns import as_pattern, emacs, split_ahead
from generator.states import Entry, entered, read_states
from pygments.lexer import words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from miltext.syntax.names import DRAFT_WORDS
from miltext.syntax.vocabulary import keywords, operation_names, parameter_names, type_names

FACES: dict[_TokenType, str] = {
    Comment.Single: "font-lock-comment-face",
    Comment.Multiline: "font-lock-comment-face",
    Error: "mil-error",
    Keyword: "mil-blobfile",
    Keyword.Constant: "mil-constant",
    Keyword.Declaration: "font-lock-keyword-face",
    Keyword.Pseudo: "mil-marker",
    Keyword.Type: "font-lock-type-face",
    Name: "mil-use",
    Name.Attribute: "mil-parameter",
    Name.Builtin: "mil-operation",
    Name.Function: "font-lock-function-name-face",
    Name.Namespace: "mil-opset",
    Name.Variable: "font-lock-variable-name-face",
    Number.Float: "mil-number",
    Number.Hex: "mil-number",
    Number.Integer: "mil-number",
    Operator: "mil-operator",
    Punctuation: "mil-punctuation",
    String.Double: "font-lock-string-face",
    String.Escape: "mil-escape",
}
"""The face of each of the lexer's tokens: Emacs' own, or one that mil-mode.el defines."""

UNREAD = "[^ \t\r\n]"

HEAD = """\
;;; mil-tables.el --- The words and states of MIL  -*- lexical-binding: t -*-

;;; Commentary:

;; Made by editors/generate.py from src/miltext/highlight.py.

;;; Code:
"""

STATES_ARE = """\
  "The states of MIL text.
An entry is the name of a state whose rules take its place, or a rule: its
pattern or words, its face, and the state that it enters, or `pop' where it
leaves one.  The face `ahead' says that the rule only looks ahead.  A pair is a
pattern or words with the pattern of what must follow.")
"""

PATTERNS_ARE = """\
  "The nodes of tree-sitter that have a face, except for operations.")
"""


def emacs_tables() -> str:
    """Make the file `mil-tables.el`."""
    states = read_states()
    lines = [HEAD, "(defconst mil-states", "  '("]
    lines += [line for name in states for line in _state(states, name)]
    lines += ["    )", STATES_ARE]
    lines += ["(defconst mil-ts-patterns", "  '("]
    lines += [f"    {pattern}" for pattern in queries.patterns(FACES)]
    lines += ["    )", PATTERNS_ARE]
    lines += _words("mil-type-words", type_names(), "The words that begin a type.")
    lines += _words("mil-operations", operation_names(), "The operations of all opsets.")
    lines += _words("mil-parameters", parameter_names(), "The parameters of all operations.")
    lines += _words("mil-keywords", _keywords(), "The other words.")
    return "\n".join([*lines, "(provide 'mil-tables)", ";;; mil-tables.el ends here"]) + "\n"


def _keywords() -> list[str]:
    known = keywords()
    return [
        *known.declarations,
        *known.fields,
        *known.blobs,
        *known.booleans,
        *known.numbers,
        *known.markers,
        *DRAFT_WORDS,
    ]


def _state(states: dict[str, list[Entry]], name: str) -> Iterator[str]:
    yield f"    ({name}"
    for entry in states[name]:
        yield f"     {_entry(entry)}"
    if name in entered(states):
        yield f"     ({_string(UNREAD)} {FACES[Error]})"
    yield "     )"


def _entry(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    matched, ahead = map(emacs, split_ahead(as_pattern(entry.pattern)))
    pattern = _string(matched or ahead)
    if isinstance(entry.pattern, words):
        pattern = f"(words {' '.join(map(_string, entry.pattern.words))})"
    if matched and ahead:
        pattern = f"({pattern} . {_string(ahead)})"
    face = "nil" if entry.token is Whitespace else FACES[entry.token] if entry.token else "ahead"
    target = "pop" if entry.leaves else entry.enters
    return f"({pattern} {face}{f' {target}' if target else ''})"


def _string(text: str) -> str:
    """Spell a string in Emacs Lisp, which has the escapes of JSON."""
    return json.dumps(text)


def _words(name: str, listed: list[str], says: str) -> list[str]:
    return [f"(defconst {name}", f"  '({' '.join(map(_string, listed))})", f'  "{says}")', ""]
