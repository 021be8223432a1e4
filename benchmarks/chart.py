"""The picture of docs/performance.md: how much longer peers take than miltext, out of the page's own tables.

    python benchmarks/chart.py            # write docs/images/performance.svg; `run.py --write-docs` does, too
    python benchmarks/chart.py --check    # fail if it is stale

A bar to the right is a peer that takes longer; to the left, one that takes less. The scale is logarithmic.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "performance.svg"

GROUPS = {
    "Parse": (
        ("pair: parse", "text_format.Parse", "protobuf's text format"),
        ("pair: parse", "json_format.Parse", "protobuf's JSON"),
        ("pair: parse", "coremltools, proto to pymil", "coremltools' loader"),
        ("neighbours, MLIR: parse", "xDSL's parser", "xDSL, of MLIR"),
        ("neighbours, long names: parse", "onnx.parser (C++)", "onnx.parser, in C++"),
    ),
    "Print": (
        ("pair: print", "text_format.MessageToString", "protobuf's text format"),
        ("pair: print", "json_format.MessageToJson", "protobuf's JSON"),
        ("pair: print", "coremltools, str(pymil)", "coremltools' str()"),
        ("neighbours, MLIR: print", "xDSL's printer", "xDSL, of MLIR"),
        ("neighbours, long names: print", "onnx.printer (C++)", "onnx.printer, in C++"),
    ),
}
"""The bars: the contest, the contender there, and what the picture calls it."""

WIDTH, LEFT, RIGHT = 720, 190, 60
ROW, HEAD, TOP, BOTTOM = 24, 34, 30, 44
LEAST, MOST = 0.2, 60.0
"""The ends of the scale, as ratios to miltext's time."""
TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50)

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328; } .paper { fill: #ffffff; } .head { font-weight: 600; }
.tick { fill: #59636e; font-size: 11px; } line { stroke: #d0d7de; } .one { stroke: #1f2328; }
.slower { fill: #0550ae; } .faster { fill: #8a3700; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .paper { fill: #0d1117; } .tick { fill: #a5adb7; } line { stroke: #30363d; }
.one { stroke: #e6edf3; } .slower { fill: #79c0ff; } .faster { fill: #ffa657; } }
"""


class Bar(NamedTuple):
    """A peer, and its time as a ratio to miltext's, as the table has it."""

    label: str
    ratio: str

    @property
    def number(self) -> float:
        """The ratio as a number."""
        return float(self.ratio.removesuffix("x"))


def bars(page: str) -> dict[str, list[Bar]]:
    """Return the bars of each group whose figures the page has; a peer that was not installed has none."""
    return {
        title: [Bar(label, ratio) for contest, name, label in rows if (ratio := _ratio(page, contest, name))]
        for title, rows in GROUPS.items()
    }


def _ratio(page: str, contest: str, name: str) -> str | None:
    """Return the column `to the first's` of a contender in the table of a contest."""
    table = re.search(rf"^\| {re.escape(contest)} +\|.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    for row in table[1].splitlines() if table else ():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if cells[0] == name:
            return cells[3] or None
    return None


def picture(page: str) -> str:
    """Return the SVG of a page's figures."""
    groups = bars(page)
    height = TOP + BOTTOM + sum(HEAD + ROW * len(group) for group in groups.values())
    shapes, top = [], TOP
    for title, group in groups.items():
        shapes.append(_text(16, top + 20, title, "head"))
        top += HEAD
        for bar in group:
            shapes += _bar(bar, top)
            top += ROW
    return "\n".join(
        [*_frame(height), f"<title>{escape(description(page))}</title>", *_scale(height), *shapes, "</svg>", ""]
    )


def description(page: str) -> str:
    """Return what the picture says, in words."""
    said = [
        f"{title.lower()}: " + ", ".join(f"{each.label} {each.ratio}" for each in group)
        for title, group in bars(page).items()
    ]
    return f"Time beside miltext's, which is 1x; {'; '.join(said)}"


def _frame(height: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f"<style>\n{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
    ]


def _scale(height: int) -> list[str]:
    """Return the lines of the scale with their numbers, and what it counts."""
    bottom = height - BOTTOM
    made = [_text((LEFT + WIDTH - RIGHT) / 2, height - 10, "time of the peer, beside miltext's", "tick", "middle")]
    for tick in TICKS:
        at = _place(tick)
        kind = ' class="one"' if tick == 1 else ""
        made.append(f'<line{kind} x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{bottom}"/>')
        made.append(_text(at, bottom + 16, f"{tick:g}x", "tick", "middle"))
    return made


def _bar(bar: Bar, top: int) -> list[str]:
    one, end = _place(1), _place(bar.number)
    kind = "slower" if bar.number >= 1 else "faster"
    left, width = min(one, end), max(abs(end - one), 1)
    return [
        _text(LEFT - 12, top + 13, bar.label, anchor="end"),
        f'<rect class="{kind}" x="{left:.1f}" y="{top + 2}" width="{width:.1f}" height="{ROW - 9}" rx="2"/>',
        _text(max(one, end) + 5, top + 13, bar.ratio),
    ]


def _place(ratio: float) -> float:
    """Return where a ratio is, from the left."""
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def write(page: str) -> None:
    """Write the picture of a page's figures."""
    PICTURE.write_text(picture(page), encoding="utf-8", newline="\n")


def main() -> None:
    """Write the picture, or say that it is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the picture is stale")
    check, page = parser.parse_args().check, PAGE.read_text(encoding="utf-8")
    if not check:
        write(page)
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture(page):
        sys.exit(f"stale: {PICTURE.name} (run benchmarks/chart.py)")


if __name__ == "__main__":
    main()
