"""Decisions in an edited text on a merge in conflict: the side of the description, and the model of each program."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from miltext.merging.plans import OURS, THEIRS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from miltext.merging.messages import Clash


class UndecidedSide(Exception):
    """The text does not determine the side to take."""


def side_taken(text: str, clashes: Sequence[Clash]) -> int:
    """Return the side whose comments a text keeps on places that both sides changed: 1 for ours, 2 for theirs.

    If the comment of one side was removed at a place, the side without a comment there is taken. Raise UndecidedSide.
    """
    shown = {line.strip() for line in text.splitlines() if line.lstrip().startswith("//")}
    taken = [_sides_at(clash, shown) for clash in clashes]
    if missing := [clash for clash, sides in zip(clashes, taken, strict=True) if not sides]:
        raise UndecidedSide(f"the text keeps neither side's comments on {_places(missing)}; keep those of one side")
    if both := [clash for clash, sides in zip(clashes, taken, strict=True) if len(sides) > 1]:
        raise UndecidedSide(f"the text keeps the comments of both sides on {_places(both)}; keep those of one side")
    sides = set[int]().union(*taken)
    if len(sides) > 1:
        raise UndecidedSide(
            f"the text keeps comments of ours and of theirs, on {_places(clashes)}; keep those of one side"
        )
    return THEIRS if THEIRS in sides else OURS


def _sides_at(clash: Clash, shown: Collection[str]) -> set[int]:
    """Return the sides whose comments are in the text; the side without comments if there are none."""
    comments = {side: clash.conflict[side] for side in (OURS, THEIRS)}
    if comments[OURS] == comments[THEIRS]:
        raise UndecidedSide(
            f"the comments do not determine the side of `{clash.place}`: take one side as a whole, ours or theirs"
        )
    found = {side for side, comment in comments.items() if comment in shown}
    return found or {side for side, comment in comments.items() if not comment}


def _places(clashes: Sequence[Clash]) -> str:
    return ", ".join(f"`{clash.place}`" for clash in clashes)


def programs_in(text: str, headings: Collection[str], needed: Collection[str]) -> dict[str, str]:
    """Return the text of each program below its heading, after empty lines in place of the text before it, so that
    places stay valid.

    An empty heading stands for the whole text with one program. Raise UndecidedSide for a missing or repeated heading
    in `needed`, and for text before the first heading.
    """
    if "" in headings:
        return {"": text}
    lines = text.splitlines(keepends=True)
    starts = [index for index, line in enumerate(lines) if line.strip() in headings]
    for line in lines[: starts[0] if starts else len(lines)]:
        if line.strip() and not line.lstrip().startswith("//"):
            said = "above all headings, which name the model of a program" if headings else "but there is none to merge"
            raise UndecidedSide(f"the text has a program {said}: `{line.strip()}`")
    found = dict[str, str]()
    for start, end in pairwise([*starts, len(lines)]):
        heading = lines[start].strip()
        if heading in found:
            raise UndecidedSide(f"the line `{heading}` occurs twice in the text; keep one of them, above its program")
        found[heading] = "\n" * start + "".join(lines[start:end])
    if missing := sorted({*needed} - found.keys()):
        raise UndecidedSide(f"the text has no line `{missing[0]}`; put it back, above the program of that model")
    return found
