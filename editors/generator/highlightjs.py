"""The lexer's states as a language module of highlight.js, which makes its modes of them."""

from __future__ import annotations

import json

from generator.patterns import javascript
from generator.states import Entry, entered, read_states
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

CLASSES: dict[_TokenType, str] = {
    Comment.Single: "comment",
    Comment.Multiline: "comment",
    Error: "illegal",
    Keyword: "built_in",
    Keyword.Constant: "literal",
    Keyword.Declaration: "keyword",
    Keyword.Pseudo: "meta",
    Keyword.Type: "type",
    Name: "variable",
    Name.Attribute: "attr",
    Name.Builtin: "title.function.builtin",
    Name.Function: "title.function",
    Name.Namespace: "symbol",
    Name.Variable: "variable.constant",
    Number.Float: "number",
    Number.Hex: "number",
    Number.Integer: "number",
    Operator: "operator",
    Punctuation: "punctuation",
    String.Double: "string",
    String.Escape: "char.escape",
}
"""The class of each of the lexer's tokens: those of highlight.js' own themes, and `illegal`."""

HEAD = """\
// MIL, the text of Core ML's programs, for highlight.js 11.
// Made by editors/generate.py from src/miltext/highlight.py.

// A rule is its pattern, its class, and the state that it enters, or "#pop" if it leaves one. A string is the name of a
// state whose rules take its place. A rule without a class only looks ahead.
"""

MODULE = """
const flat = (name) => STATES[name].flatMap((entry) => (typeof entry === "string" ? flat(entry) : [entry]));
const looksAhead = ([, scope, target]) => target === "#pop" && scope === null;
const endOf = (name) => flat(name).filter(looksAhead).map(([pattern]) => pattern).join("|") || "(?!)";

export default function mil() {
  const contents = Object.fromEntries(ENTERED.map((name) => [name, []]));
  const mode = ([pattern, scope, target]) => {
    if (!target) return { match: pattern, scope };
    if (target === "#pop") return { match: pattern, scope, endsParent: true };
    return { begin: pattern, beginScope: scope, end: endOf(target), contains: contents[target] };
  };
  for (const name of ENTERED) {
    const unread = { match: `(?!${endOf(name)})[^ \\\\t\\\\r\\\\n]`, scope: "illegal" };
    contents[name].push(...flat(name).filter((rule) => !looksAhead(rule)).map(mode), unread);
  }
  return { name: "MIL", aliases: ["mil"], disableAutodetect: true, contains: contents.root };
}
"""


def highlightjs_module() -> str:
    """Make the file `highlightjs-mil.mjs`."""
    states = read_states()
    lines = [HEAD, f"const ENTERED = {json.dumps(entered(states))};", "const STATES = {"]
    for name, entries in states.items():
        rules = [_entry(entry) for entry in entries if isinstance(entry, str) or entry.token is not Whitespace]
        lines += [f"  {json.dumps(name)}: [", *(f"    {rule}," for rule in rules), "  ],"]
    return "\n".join([*lines, "};"]) + "\n" + MODULE


def _entry(entry: Entry) -> str:
    if isinstance(entry, str):
        return json.dumps(entry)
    target = "#pop" if entry.leaves else entry.enters
    return json.dumps(
        [javascript(entry.pattern), CLASSES[entry.token] if entry.token else None, *filter(None, [target])]
    )
