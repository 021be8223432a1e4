"""All pages that are made of the code, and parts of long pages, by their names in the site."""

from __future__ import annotations

from functools import cache

from website import ROOT, api, codes, grammar, operations, parts, verbs

MAKERS = (verbs, api, operations, codes, grammar)


@cache
def pages() -> dict[str, str]:
    """Return the Markdown of each page that is made; one of the same name in docs/ gives way to it."""
    whole = {name: text for name, text in _made().items() if name not in parts.SPLIT}
    return {**whole, **{name: text for each in _divided().values() for name, text in each.pages.items()}}


def places() -> dict[str, dict[str, str]]:
    """Return the pages of the anchors of each divided page."""
    return {name: each.places for name, each in _divided().items()}


def sources() -> dict[str, str]:
    """Return the files of the repository that parts of pages are made of, by the names of the parts."""
    return {page: parts.source_of(name) for name, each in _divided().items() for page in each.pages}


def forget() -> None:
    """Make all pages anew at the next request."""
    for each in (pages, _made, _divided):
        each.cache_clear()


@cache
def _made() -> dict[str, str]:
    return {name: text for maker in MAKERS for name, text in maker.pages().items()}


@cache
def _divided() -> dict[str, parts.Divided]:
    made = _made()
    texts = {name: made.get(name) or _read(name) for name in parts.SPLIT}
    return {name: parts.divided(name, text) for name, text in texts.items()}


def _read(name: str) -> str:
    return (ROOT / parts.source_of(name)).read_text(encoding="utf-8")
