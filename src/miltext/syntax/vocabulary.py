"""The words of MIL text by their kinds, for highlighters, completion and the editors' files.

Each comes from its own table: keywords from the grammar, data types from `dtypes`, operations and parameters from
`operations`. `keywords.json` keeps the words of the grammar, so that a highlighter needs no Lark; `editors/generate.py`
makes it.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import NamedTuple

from miltext.schema.dtypes import DTYPES
from miltext.schema.operations import all_names, signature
from miltext.schema.opsets import OPSETS

KEYWORDS_FILE = os.path.join(os.path.dirname(__file__), "keywords.json")


class Keywords(NamedTuple):
    """The words that the grammar itself writes, each kind sorted.

    `declarations` are `program` and `func`; `constructors` make types of others, as `tensor` does; `fields` stand
    before an equals sign inside a type or a BLOBFILE; `blobs` is `BLOBFILE`; `numbers` are the floats written as words.
    `markers` begin with `$`: of them, `type_markers` can replace a type.
    """

    declarations: tuple[str, ...]
    constructors: tuple[str, ...]
    fields: tuple[str, ...]
    blobs: tuple[str, ...]
    booleans: tuple[str, ...]
    numbers: tuple[str, ...]
    markers: tuple[str, ...]
    type_markers: tuple[str, ...]


@cache
def keywords() -> Keywords:
    """Return the grammar's words, from `keywords.json`."""
    with open(KEYWORDS_FILE, encoding="utf-8") as file:
        return Keywords(**{kind: tuple(words) for kind, words in json.load(file).items()})


def type_names() -> list[str]:
    """Return the words that begin a type: constructors and data types."""
    return [*keywords().constructors, *(dtype.name for dtype in DTYPES)]


def operation_names() -> list[str]:
    """Return the operations of all opsets, sorted."""
    return all_names()


def parameter_names() -> list[str]:
    """Return the parameters of all operations in all opsets, sorted."""
    signatures = (signature(name, opset.text) for name in all_names() for opset in OPSETS)
    return sorted({name for found in signatures if found for name in found.parameters})


# ---- from the grammar

_KINDS = {
    "program": "declarations",
    "function": "declarations",
    "type": "constructors",
    "blob": "blobs",
    "BOOL": "booleans",
    "INF": "numbers",
    "NAN": "numbers",
}
"""The kind of the words of a rule, or of a terminal of several words."""


def keywords_of_the_grammar() -> Keywords:
    """Return the words of `mil.lark`, compiled by Lark. Raise KeyError at a word of unknown kind."""
    from miltext.syntax.tables import lark_parser, words_of

    lark = lark_parser()
    words = {terminal.name: words_of(terminal.pattern.to_regexp()) for terminal in lark.terminals}
    del words["DTYPE"], words["DRAFT"]  # `dtypes` contains the data types; `draft` is a name nearly everywhere
    kinds: dict[str, set[str]] = {kind: set() for kind in Keywords._fields}
    for rule in lark.rules:
        symbols = [symbol.name for symbol in rule.expansion]
        for symbol, following in zip(symbols, [*symbols[1:], ""], strict=True):
            for word in words.get(symbol, ()):
                kinds[_kind(rule.origin.name, symbol, word, following)].add(word)
                if word.startswith("$") and rule.origin.name == "type":
                    kinds["type_markers"].add(word)
    return Keywords(**{kind: tuple(sorted(found)) for kind, found in kinds.items()})


def _kind(rule: str, symbol: str, word: str, following: str) -> str:
    if word.startswith("$"):
        return "markers"
    if following == "EQUAL":
        return "fields"
    return _KINDS.get(symbol) or _KINDS[rule]
