"""Search for operations by name, by words in their descriptions, by family and by opset."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from miltext.diagnostics.suggestions import did_you_mean, nearest, one_slip_from
from miltext.diagnostics.wording import listed
from miltext.reference.entries import Entry, entries, families
from miltext.schema.elsewhere import meant
from miltext.schema.operations import first_opset, signature
from miltext.schema.opsets import OPSET_BY_NAME, OPSETS


class UnknownWord(ValueError):
    """An unknown word, with a suggestion."""


class Found(NamedTuple):
    """The found operations in the version of `opset`, None for the newest, and whether the words are `names`."""

    entries: list[Entry]
    opset: str | None
    names: bool


def find(words: Sequence[str], opset: str | None = None, family: str | None = None) -> Found:
    """Return the operations that words name; in a family, or if a word is not a name, the operations whose texts
    contain all words.

    Without words, return all operations. Raise UnknownWord for an unknown word, and for a search without results.
    """
    opset = None if opset is None else known_opset(opset)
    family = None if family is None else known_family(family)
    words = [part for word in words for part in word.split()]
    if not family and (told := named(words, opset)):
        return Found(told, opset, True)
    found = matching(words, opset, family)
    if not found:
        raise _nothing(words, opset, family)
    return Found(found, opset, False)


def known_opset(word: str) -> str:
    """Return an opset's spelling in text, from any of its names in any case. Raise UnknownWord."""
    spellings = {name.lower(): opset.text for name, opset in OPSET_BY_NAME.items()}
    if word.lower() not in spellings:
        raise UnknownWord(
            f"the opset `{word}` is not known; there are {listed((opset.text for opset in OPSETS), 'and')}"
        )
    return spellings[word.lower()]


def known_family(word: str) -> str:
    """Return a family's name, in any case, with any sign between its words. Raise UnknownWord."""
    names = {_plain(name): name for name in families()}
    if _plain(word) not in names:
        near = did_you_mean(nearest(word, families())) or f"; there are {listed(families(), 'and')}"
        raise UnknownWord(f"the family `{word}` is not known{near}")
    return names[_plain(word)]


def known_operation(word: str) -> str | None:
    """Return the operation that a word names, in any case, with or without `_`; None if it does not name one."""
    return _by_plain_name().get(_plain(word))


@functools.cache
def _by_plain_name() -> dict[str, str]:
    return {_plain(name): name for name in entries()}


def named(words: Sequence[str], opset: str | None = None) -> list[Entry]:
    """Return the operations that words name, each once; none unless each word names an operation.

    Raise UnknownWord for an operation that the opset lacks.
    """
    found = [known_operation(word) for word in words]
    names = [name for name in dict.fromkeys(found) if name is not None]
    if None in found:
        return []
    for name in names:
        if signature(name, opset) is None:
            raise UnknownWord(f"`{name}` came with {first_opset(name)}, and {opset} does not have it")
    return [entries()[name] for name in names]


def matching(words: Iterable[str], opset: str | None = None, family: str | None = None) -> list[Entry]:
    """Return the operations of an opset and a family whose names, here or elsewhere, and descriptions contain all of
    some words.
    """
    wanted = [word.lower() for word in words]
    return [
        entry
        for entry in entries().values()
        if family in (None, entry.family)
        and signature(entry.name, opset)
        and all(_speaks_of(entry, word) for word in wanted)
    ]


def _speaks_of(entry: Entry, word: str) -> bool:
    """Return whether a word matches an operation: part of its name, the beginning of a word in its description or
    family, or its name in another framework.
    """
    plain, text = _plain(word), f"{entry.family} {entry.description}".lower()
    if (known := meant(word)) and entry.name in known.names:
        return True
    return (plain != "" and plain in _plain(entry.name)) or bool(
        re.search(rf"(?:(?<!\w)|(?!\w)){re.escape(word)}", text)
    )


def related(entry: Entry) -> list[str]:
    """Return the other operations whose names or descriptions contain an operation's name as a word."""
    word = re.compile(rf"(?<![^\W_]){entry.name}(?![^\W_])")
    texts = {other.name: f"{other.name} {other.description}" for other in entries().values()}
    return [name for name, text in texts.items() if name != entry.name and word.search(text)]


def _nothing(words: Sequence[str], opset: str | None, family: str | None) -> UnknownWord:
    """Return the error for a search without results."""
    if family:
        where = f" in {opset}" if opset else ""
        described = f" whose description contains {listed(words, 'and')}" if words else ""
        return UnknownWord(f"the family `{family}` has no operation{described}{where}")
    if len(words) > 1:
        return UnknownWord(
            f"no description of an operation contains all of {listed(words, 'and')}; `miltext ops` lists all"
        )
    known = meant(words[0])
    way = f"; {known.way}" if known and known.way else did_you_mean(one_slip_from(words[0], entries()))
    return UnknownWord(f"the operation `{words[0]}` is not known{way or '; `miltext ops` lists all'}")


def _plain(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter not in "_- ")
