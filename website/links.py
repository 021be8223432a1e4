"""Links of the repository's pages: between files there, and so between the pages of the site, or to files on GitHub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from posixpath import basename, dirname, join, normpath, relpath

from miltext.diagnostics import home
from miltext.reference.entries import entries
from website import ROOT
from website.markdown import outside_spans

OUTSIDE = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "editors/README.md": "editors.md",
    "fuzz/README.md": "project/fuzzing.md",
    "website/README.md": "project/website.md",
}
"""Pages of the repository outside of docs/ that are pages of the site, by their paths."""

_TOLD = {
    "README.md": "index.md",
    "grammar/mil.lark": "grammar.md",
    "grammar/mil_fast.lark": "grammar.md",
    "docs/operations.md": "operations/index.md",
    "docs/python.md": "api/index.md",
    "website/pages/playground.md": "playground.md",
}
"""Files that a page of the site tells of in their place."""

_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()[^()\s]+(?=\))|(?<=\ssrc=\")[^\"]+|(?<=\shref=\")[^\"]+|(?<=\ssrcset=\")[^\"]+")
_NAMED = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|#|/")


def page_of(path: str) -> str | None:
    """Return the site's name of a file of the repository, None for one that is not in the site."""
    if found := OUTSIDE.get(path) or _TOLD.get(path):
        return found
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def family_page(family: str) -> str:
    """Return the site's name of the page of a family of operations."""
    return f"operations/{family.replace(' ', '-')}.md"


Places = Mapping[str, Mapping[str, str]]
"""The pages of the anchors of pages that are divided; the page of no anchor lists the others."""


def for_site(markdown: str, source: str, page: str, places: Places | None = None) -> str:
    """Return a page's Markdown with the links that it has in the repository, as the file `source`, made for the site.

    A link to a file that is not a page leads to the home of the repository, and without one it becomes plain words.
    One that leads nowhere stays, and MkDocs warns of it.
    """

    def changed(text: str) -> str:
        if not home.HOME:
            text = _NAMED.sub(lambda link: link[1] if _is_beside(link[2], source) else link[0], text)
        return outside_spans(
            text, lambda piece: _LINK.sub(lambda link: _target(link[0], source, page, places or {}), piece)
        )

    done, end = [], 0
    for block in _FENCE.finditer(markdown):
        done += [changed(markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*done, changed(markdown[end:])])


def _target(link: str, source: str, page: str, places: Places) -> str:
    if link.startswith("#") and page_of(source) in places:
        link = f"{basename(source)}{link}"
    if _ELSEWHERE.match(link):
        return link
    path, sign, anchor = link.partition("#")
    file = normpath(join(dirname(source), path))
    if file == "docs/operations.md" and anchor in entries():
        return relpath(family_page(entries()[anchor].family), dirname(page) or ".") + sign + anchor
    found = page_of(file)
    if found is not None:
        own = places.get(found)
        found = found if own is None else own.get(anchor, own[""])
        return relpath(found, dirname(page) or ".") + sign + anchor
    return home.page(file, is_folder=(ROOT / file).is_dir()) + sign + anchor if _exists(file) else link


def _is_beside(link: str, source: str) -> bool:
    """Tell whether a link leads to a file of the repository that is not a page of the site."""
    file = normpath(join(dirname(source), link.partition("#")[0]))
    return not _ELSEWHERE.match(link) and page_of(file) is None and _exists(file)


@cache
def _exists(file: str) -> bool:
    return not file.startswith("..") and (ROOT / file).exists()
