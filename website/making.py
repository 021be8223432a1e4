"""All pages that are made of the code, by their names in the site."""

from __future__ import annotations

from functools import cache

from website import api, codes, grammar, operations, verbs

MAKERS = (verbs, api, operations, codes, grammar)


@cache
def pages() -> dict[str, str]:
    """Return the Markdown of each page that is made; one of the same name in docs/ gives way to it."""
    return {name: text for maker in MAKERS for name, text in maker.pages().items()}
