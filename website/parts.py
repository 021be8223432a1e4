"""Long pages in parts: a page for each section, and in its place a page that leads to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pymdownx.slugs import slugify

from website.links import OUTSIDE

SPLIT = {
    "diagnostics.md": ("## ", "### MIL"),
    "language.md": ("## ",),
    "diff.md": ("## ",),
    "json.md": ("## ",),
    "neural-engine.md": ("## ",),
    "performance.md": ("## ",),
    "api/functions.md": ("## ",),
    "api/classes.md": ("## ",),
    "project/architecture.md": ("## ",),
}
"""The pages that are divided, by their names in the site, with the beginnings of the headings of parts."""

KEPT = "## All codes"
"""A heading that stays on the page of all parts: its table leads to them."""

_slug = slugify(case="lower")
_OWN_ANCHOR = re.compile(r"\s*\{ #([\w.-]+) \}\s*$")
_LINKED = re.compile(r"\]\([^)]*\)|[\[\]`*]")


class Section(NamedTuple):
    """A heading of a page, its level, and the lines below it."""

    heading: str
    level: int
    lines: list[str]

    @property
    def title(self) -> str:
        """The heading without the anchor that it names."""
        return _OWN_ANCHOR.sub("", self.heading)

    @property
    def anchor(self) -> str:
        """The anchor of the heading: the one that it names, or its words."""
        own = _OWN_ANCHOR.search(self.heading)
        return own[1] if own else _slug(_LINKED.sub("", self.heading), "-")


class Divided(NamedTuple):
    """A page in parts: the Markdown of each page by its name, and the page of each anchor."""

    pages: dict[str, str]
    places: dict[str, str]


def source_of(page: str) -> str:
    """Return the file of the repository that a page is made of."""
    return next((source for source, made in OUTSIDE.items() if made == page), f"docs/{page}")


def divided(name: str, markdown: str) -> Divided:
    """Return the parts of a page; links to its anchors lead on from the page that lists them."""
    before, found = _sections(markdown, SPLIT[name])
    folder = name.removesuffix(".md")
    sections = {f"{folder}/{each.anchor}.md": each for each in found if any(each.lines)}
    places = {"": f"{folder}/index.md"}
    for page, each in sections.items():
        for line in _headings([f"# {each.heading}", *each.lines]):
            places.setdefault(Section(line.lstrip("# "), 1, []).anchor, page)
    index = "\n".join([*before, "## Parts", "", *_listed(sections.values(), "\n".join(before)), ""])
    return Divided({places[""]: index, **{page: _part(each) for page, each in sections.items()}}, places)


def _listed(sections: Iterable[Section], before: str) -> Iterator[str]:
    """Yield a list of the parts that the page does not list itself."""
    for each in sections:
        if f"{{ #{each.anchor} }}" not in before:
            yield f"- [{each.title}](#{each.anchor}){{ #{each.anchor} }}"


def _sections(markdown: str, marks: tuple[str, ...]) -> tuple[list[str], list[Section]]:
    """Return the lines before all parts, and the parts; `All codes` stays before them."""
    before, sections = list[str](), list[Section]()
    for line, is_code in _lines(markdown.split("\n")):
        if not is_code and line.startswith(marks) and line != KEPT:
            sections.append(Section(line.lstrip("# ").strip(), line.index(" "), []))
        else:
            (sections[-1].lines if sections else before).append(line)
    return before, sections


def _part(section: Section) -> str:
    """Return a section as a page: its headings begin at the first level."""
    raised = section.level - 1
    lines = [
        line[raised:] if not is_code and line.startswith("#" * section.level) else line
        for line, is_code in _lines(section.lines)
    ]
    return "\n".join([f"# {section.heading}", *lines]).strip("\n") + "\n"


def _headings(lines: list[str]) -> Iterator[str]:
    return (line for line, is_code in _lines(lines) if not is_code and line.startswith("#"))


def _lines(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is in a fence."""
    fence = ""
    for line in lines:
        opening = re.match(r"\s*(```+|~~~+)", line)
        yield line, bool(fence or opening)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif opening:
            fence = opening[1]
