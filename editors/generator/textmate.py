"""The TextMate grammar and the Sublime syntax, which bat reads too: both give the lexer's tokens scopes."""

from __future__ import annotations

import json
from typing import Any

from generator.patterns import oniguruma
from generator.states import START, Entry, entered, exits, read_states
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

SCOPES: dict[_TokenType, str] = {
    Comment.Single: "comment.line.double-slash.mil",
    Comment.Multiline: "comment.block.mil",
    Error: "invalid.illegal.mil",
    Keyword: "keyword.other.blobfile.mil",
    Keyword.Constant: "constant.language.mil",
    Keyword.Declaration: "keyword.declaration.mil",
    Keyword.Pseudo: "storage.modifier.extension.mil",
    Keyword.Type: "support.type.mil",
    Name: "variable.other.use.mil",
    Name.Attribute: "variable.parameter.mil",
    Name.Builtin: "support.function.operation.mil",
    Name.Function: "entity.name.function.mil",
    Name.Namespace: "entity.name.namespace.opset.mil",
    Name.Variable: "variable.other.constant.definition.mil",
    Number.Float: "constant.numeric.float.mil",
    Number.Hex: "constant.numeric.hex.mil",
    Number.Integer: "constant.numeric.integer.mil",
    Operator: "keyword.operator.mil",
    Punctuation: "punctuation.mil",
    String.Double: "string.quoted.double.mil",
    String.Escape: "constant.character.escape.mil",
}
"""The scope of each of the lexer's tokens. Themes colour them by their first words."""

UNREAD = {"match": r"[^ \t\r\n]", "name": SCOPES[Error]}
"""The rule for what no other rule of a state reads: Pygments gives it an Error token by itself."""


def textmate_grammar() -> str:
    """Make the grammar that VS Code and other editors take."""
    states = read_states()
    repository = {name: {"patterns": [_textmate(states, entry) for entry in _shown(states, name)]} for name in states}
    for name in entered(states):
        repository[name]["patterns"].append(UNREAD)
    grammar = {
        "comment": "Made by editors/generate.py from src/miltext/highlight.py.",
        "name": "MIL",
        "scopeName": "source.mil",
        "fileTypes": ["mil"],
        "firstLineMatch": r"^program\s*\(",
        "patterns": [{"include": f"#{START}"}],
        "repository": repository,
    }
    return json.dumps(grammar, indent=1) + "\n"


def _shown(states: dict[str, list[Entry]], name: str) -> list[Entry]:
    """List a state's entries without white space, and without those that leave, which end what entered the state."""
    return [
        entry for entry in states[name] if isinstance(entry, str) or not (entry.leaves or entry.token is Whitespace)
    ]


def _textmate(states: dict[str, list[Entry]], entry: Entry) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"include": f"#{entry}"}
    scope = SCOPES[entry.token or Error]
    if entry.enters is None:
        return {"match": oniguruma(entry.pattern), "name": scope}
    ends = exits(states, entry.enters)
    captures = {str(group): {"name": SCOPES[rule.token]} for group, rule in enumerate(ends, 1) if rule.token}
    return {
        "begin": oniguruma(entry.pattern),
        "beginCaptures": {"0": {"name": scope}},
        "end": "|".join(f"({oniguruma(rule.pattern)})" for rule in ends),
        "endCaptures": captures,
        "patterns": [{"include": f"#{entry.enters}"}],
    }


def sublime_syntax() -> str:
    """Make the syntax for Sublime Text and bat: YAML, whose strings may be spelled as JSON's."""
    states = read_states()
    lines = ["%YAML 1.2", "---", "# Made by editors/generate.py from src/miltext/highlight.py."]
    lines += [
        "name: MIL",
        "scope: source.mil",
        "file_extensions: [mil]",
        r"first_line_match: '^program\s*\('",
        "contexts:",
    ]
    for name, entries in states.items():
        lines.append(f"  {_context(name)}:")
        for entry in entries:
            lines += _sublime(entry)
        if name in entered(states):
            lines += _matching(UNREAD["match"], UNREAD["name"])
    return "\n".join(lines) + "\n"


def _sublime(entry: Entry) -> list[str]:
    if isinstance(entry, str):
        return [f"    - include: {_context(entry)}"]
    if entry.token is Whitespace:
        return []
    lines = _matching(oniguruma(entry.pattern), SCOPES[entry.token] if entry.token else None)
    if entry.enters:
        lines.append(f"      push: {_context(entry.enters)}")
    return [*lines, "      pop: true"] if entry.leaves else lines


def _matching(pattern: str, scope: str | None) -> list[str]:
    return [f"    - match: {json.dumps(pattern)}", *([f"      scope: {scope}"] if scope else [])]


def _context(name: str) -> str:
    return "main" if name == START else name
