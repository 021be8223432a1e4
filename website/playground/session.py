"""What the playground's page asks miltext, in a worker: `answer` takes a question and returns JSON.

There are neither numpy nor protobuf's compiled backend. Offsets count UTF-16's units, as the page's strings do.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from miltext.advisories.check import check
from miltext.checking.fixing import edit_of, is_fixable, mend
from miltext.diagnostics import Diagnostic, MiltextError, ParseError
from miltext.diagnostics.codes import TITLES
from miltext.diagnostics.reports import Report, as_json
from miltext.drafting.draft import complete, complete_anew
from miltext.parsing.parser import attempt, lower
from miltext.schema.proto import Program
from website.playground.lost_numbers import lost_nans
from website.playground.opened_files import opened

MOST = 300
"""How many findings the page lists."""

ARRAYS = "MIL111"
"""The code of an array that a text names, and that is not to be had here."""

IN_FILES = (
    "The arrays that this text names are in files, and the playground has none: it checks what can be known without "
    "them. `miltext check draft.mil` reads them from beside the text."
)
ONE_NAN = (
    "{} a sign or a payload that protobuf's backend in the browser loses: below it is `nan`. Check, inferred and "
    "formatted text keep it, and so does miltext outside of the browser."
)

Answer = dict[str, Any]


def answer(question: str, subject: str) -> str:
    """Answer a question about a text, or a folder: one of QUESTIONS. What is refused is told as findings."""
    try:
        made = QUESTIONS[question](subject)
    except MiltextError as error:
        made = {"findings": told(error.diagnostics, subject if error.text in (None, subject) else None)}
    return json.dumps(made, ensure_ascii=False)


# ---- the questions


def findings(text: str) -> Answer:
    """Tell all that is wrong with a text, and how many suggestions are certain."""
    found = check(text) if text.strip() else []
    severities = Counter(each.severity for each in found)
    return {
        "findings": told(found, text),
        "total": len(found),
        "errors": severities["error"],
        "warnings": severities["warning"],
        "noted": severities["note"],
        "certain": sum(is_fixable(each, unsafe=False) for each in found),
        "notes": [IN_FILES] if any(each.code == ARRAYS for each in found) else [],
    }


def mended(text: str) -> Answer:
    """Apply all suggestions that are certain."""
    made = mend(text, check, lambda found: is_fixable(found, unsafe=False))
    return {"text": made.text, "applied": made.applied}


def inferred(text: str) -> Answer:
    """Fill in a draft, with all types of outputs that follow inferred anew."""
    made = complete_anew(text)
    if made.text is None:
        raise _refused(made.diagnostics, text)
    return {"text": made.text}


def formatted(text: str) -> Answer:
    """Lay a text out."""
    from miltext.formatting.formatter import format_text

    return {"text": format_text(text)}


def program(text: str) -> Answer:
    """Tell the Program of a text, or of a draft that is filled in, in protobuf's text format."""
    from google.protobuf import text_format

    whole, notes = _whole(text)
    wire = lower(whole)
    if "$0x" in whole.lower() and (lost := lost_nans(wire)):
        notes.append(ONE_NAN.format("A NaN has" if lost == 1 else f"{lost} NaNs have"))
    return {"text": text_format.MessageToString(Program.FromString(wire)), "notes": notes}


def graph(text: str) -> Answer:
    """Tell the operations of a text, or of a draft as it is written, as a graph. Raise ParseError."""
    from miltext.parsing.parser import parse_tree
    from miltext.printing import graph as graphs
    from miltext.printing.reading import TextReader

    parse_tree(text, whole=True)
    return {"graph": graphs.graph(TextReader(text))}


def _whole(text: str) -> tuple[str, list[str]]:
    """Return a text, or what a draft is when it is filled in, and what to say of that. Raise MiltextError."""
    if attempt(text) is not None:
        return text, []
    made = complete(text)
    if made.text is None:
        raise _refused(made.diagnostics, text)
    return made.text, ["This is a draft: what is shown is of its inferred text."]


def _refused(found: Sequence[Diagnostic], text: str) -> MiltextError:
    """Return the error of a draft that cannot be filled in."""
    return ParseError([each for each in found if each.severity == "error"], text=text)


QUESTIONS: dict[str, Callable[[str], Answer]] = {
    "findings": findings,
    "mended": mended,
    "inferred": inferred,
    "formatted": formatted,
    "program": program,
    "graph": graph,
    "opened": opened,
}


# ---- findings as JSON


def told(found: Sequence[Diagnostic], text: str | None) -> list[Answer]:
    """Tell the first MOST findings, each with the edit that it suggests; without a text, they have no places."""
    units = Units(text or "")
    shown = list(found[:MOST])
    records = json.loads(as_json([Report("", shown, text)]))["diagnostics"]
    for record, diagnostic in zip(records, shown, strict=True):
        record["title"] = TITLES[diagnostic.code]
        record["edit"] = None if text is None else edit(diagnostic, text, units)
        for place in (record, *record["notes"]):
            for point in filter(None, (place["start"], place["end"])):
                point["unit"] = units.at(point["offset"])
    return records  # type: ignore[no-any-return]


def edit(diagnostic: Diagnostic, text: str, units: Units) -> Answer | None:
    """Return what applying a suggestion changes: from where to where, and what comes there."""
    if not is_fixable(diagnostic, unsafe=True):
        return None
    start, end, _ = edit_of(text, diagnostic)
    return {"from": units.at(start), "to": units.at(end), "insert": diagnostic.suggestion}


class Units:
    """Offsets in UTF-16's units of those in code points."""

    def __init__(self, text: str) -> None:
        is_plain = text.isascii() or max(text) <= "\uffff"  # as nearly every text
        self.wide = [] if is_plain else [at for at, char in enumerate(text) if char > "\uffff"]

    def at(self, offset: int) -> int:
        """Return where an offset is: each wide character before it takes two."""
        return offset + bisect_left(self.wide, offset)
