"""The entries of a report."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

SIGNS = {"+": "added", "-": "removed", "~": "changed", ">": "moved", "=": "renamed", "#": "not compared", "@": "in"}
"""The meaning of a finding's sign; `@` is the sign of a heading, and is not shown."""

At: TypeAlias = "tuple[str, ...]"
"""The place of a finding: the `path_of` its model, empty for the whole; then `function` with its name, `operation` with
the function, the block, and the index in it, and so on into inner blocks, or `value` with the function and the value's
name. An index is of the new program; an index after `-` belongs to an operation that only the old program has.
"""


class Replaced(NamedTuple):
    """The part `old -> new` of an entry's words, and the place where it starts."""

    start: int
    old: str
    new: str


class ReportEntry(NamedTuple):
    """One finding: its sign, its words, the findings below it, and its place in the texts.

    Several `words` are the columns of a row. `folded` are the findings that this one stands for; `inner` are only
    counted if the entry is `closed`. `what` and `scope` are the noun and the scope by which a sum counts the finding;
    `replaced` is the part of its words that names the replaced value.
    """

    sign: str
    words: tuple[str, ...]
    inner: tuple[ReportEntry, ...] = ()
    at: At = ()
    folded: tuple[ReportEntry, ...] = ()
    closed: bool = False
    what: str = ""
    scope: str = ""
    replaced: Replaced | None = None


class ScopedEntry(NamedTuple):
    """A finding about an operation: the operation's name, the scope, the entry, and a key that equal edits share."""

    name: str
    scope: str
    entry: ReportEntry
    repeat: str
