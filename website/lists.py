"""Lists as GitHub reads them: what belongs to an item stands under its text, and not four columns in, as in MkDocs."""

from __future__ import annotations

import re

_ITEM = re.compile(r"( *)([-*+]|\d+\.)( +)(?=\S)")
_STEP = 4
"""How far Python-Markdown wants each level of a list to be indented."""


def for_site(markdown: str) -> str:
    """Return Markdown with the same lists, in which all that belongs to an item is indented as MkDocs reads it."""
    done, levels, after_blank, fence = list[str](), list[int](), True, ""
    is_loose = False  # whether an item before has more than a paragraph, so that one after it needs a line between
    for line in markdown.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        item = None if fence else _ITEM.match(line)
        if line.strip() and not fence and (after_blank or item):
            levels = [level for level in levels if level <= indent]
        if item and is_loose and not after_blank:
            done.append("")
        base = levels[-1] if levels else 0
        done.append(" " * (_STEP * len(levels)) + line[min(base, indent) :] if line.strip() else line)
        if item:
            levels.append(item.end())
        fence = _fence_after(line.strip(), fence)
        after_blank = not line.strip()
        is_loose = bool(levels) and not item and (is_loose or after_blank)
    return "\n".join(done)


def _fence_after(line: str, fence: str) -> str:
    """Return the fence of the block that the next line is in, empty for none."""
    if fence:
        return "" if line == fence else fence
    opening = re.match(r"```+|~~~+", line)
    return opening[0] if opening else ""
