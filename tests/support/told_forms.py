"""What the forms of a difference tell, read back: the lines of text, of Markdown and of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from html.parser import HTMLParser

from miltext.diffing.text import COLORS

Line = tuple[str, str]
"""The sign and the words of a told thing; columns have two spaces between them."""


def of_text(text: str) -> list[Line]:
    """The lines of text, without the heads of the two."""
    lines = [line for line in text.splitlines() if not line.startswith(("--- ", "+++ "))]
    return [_signed(re.sub(r"(?<=\S) {2,}", "  ", line.strip())) for line in lines]


def _signed(line: str) -> Line:
    sign = line[0] if line[1:2] == " " and line[0] in COLORS else ""
    return sign, line[2:] if sign else line


# ---- Markdown


def of_markdown(text: str) -> list[Line]:
    """The lines of fences and tables, with their titles; of a title that names what is around it, the last part."""
    found: list[Line] = []
    fence = ""
    for line in text.splitlines():
        if fence:
            if line == fence:
                fence = ""
            else:
                found.append((line[0].strip(), line[1:].strip()))
        elif line.startswith("```"):
            fence = line.removesuffix("diff")
        else:
            found += _outside(line)
    assert not fence
    return found


def _outside(line: str) -> list[Line]:
    """What a line outside of fences tells."""
    if line.startswith("| ") and line != "| weight | type | difference |":
        cells = [plain(cell) for cell in re.split(r"(?<!\\) \| ", line[2:-2])]
        return [("~", "  ".join(cells)) if cells[1].strip() else _signed(f"= {cells[0]}")]
    if title := re.fullmatch(r"\*\*(.*)\*\*|<details><summary>(?:(<code>.*</code>), )?\d+ lines</summary>", line):
        words = plain(title[1] or title[2] or "")
        return [("", part) for part in words.split(" · ") if part]
    if line.startswith("* "):
        return [("", plain(line[2:]))]
    return [("", line[0].lower() + line[1:-1])] if re.match("No|Undecided", line) else []


def plain(markdown: str) -> str:
    """The words of a line, whose code is between backticks or in an element."""
    return unescape(re.sub(r"</?code>|`", "", markdown))


def counts_of_markdown(text: str) -> list[str]:
    """The counts below the heading."""
    lines = text.splitlines()[2:]
    return (
        [plain(line[2:]) for line in lines[: lines.index("")] if line.startswith("- ")]
        if "" in lines
        else [plain(line[2:]) for line in lines if line.startswith("- ")]
    )


# ---- HTML

WAY = re.compile(r"; (`\w+=True`|the full report) lists \w+$")
"""The way to open a fold, at the end of its line: a page needs none, and each other reader has it in other words."""


def without_ways(lines: Iterable[Line]) -> list[Line]:
    """Lines without the way to open a fold."""
    return [(sign, WAY.sub("", words)) for sign, words in lines]


class Page(HTMLParser):
    """The entries of a page: `lines` in their order, of which `closed` are those in folds and `standing` those of folds
    that stand for others, by their places; `counts`, ids of elements, where links lead, and the `leading` rows, which
    lead to an entry.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self.closed: set[int] = set()
        self.standing: set[int] = set()
        self.counts: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.rows: list[str] = []
        self.leading: list[str] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        assert not self._open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag not in ("meta", "input"):
            self._open.append((tag, given.get("class", "")))
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.leading += self.ids[-1:] if given.get("href", "").startswith("#t") else []
        if ("ul", "counts") in self._open and tag == "li":
            self.counts.append("")
        elif tag == "li":
            self._begin("")
        elif tag == "tr":
            self._begin("~")
        elif tag == "td":
            sign, words = self.lines[-1]
            self.lines[-1] = sign, f"{words}  " if words else ""
        elif tag == "p":
            self._begin("")
        elif given.get("class", "").startswith("row "):
            self.rows.append(given["class"][4:])

    def _begin(self, sign: str) -> None:
        """Begin a line, in the folds around it; what a fold has outside of its details stands for what is in them."""
        place, around = len(self.lines), self._open[:-1]
        self.lines.append((sign, ""))
        folds = [at for at, (tag, kinds) in enumerate(self._open) if tag == "li" and "fold" in kinds.split()]
        in_details = [at for at, each in enumerate(around) if each == ("details", "")]
        if in_details:
            self.closed.add(place)
        if folds and not [at for at in in_details if at > folds[-1]]:
            self.standing.add(place)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self._open]
        if ("ul", "counts") in self._open:
            self.counts[-1] += data.strip("\n")
        elif "small" in tags or "section" not in tags or ("div", "panes") in self._open or "th" in tags:
            return
        elif tags[-1] == "b":
            self.lines[-1] = data, ""
        elif tags[-1] in ("span", "td", "p", "del", "ins"):
            sign, words = self.lines[-1]
            self.lines[-1] = sign, words + data
