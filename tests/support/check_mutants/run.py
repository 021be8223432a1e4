"""A run over sites: each mutant of each family, judged, and tried as a draft."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from support.check_mutants import drafts
from support.check_mutants.interfaces import declared_mutants, opset_mutants, signature_mutants, structure_mutants
from support.check_mutants.judging import TOLD, VALID, Judged, judged, row, with_own_types
from support.check_mutants.operands import operand_mutants
from support.check_mutants.sites import Family, Mutant, Site, sites
from support.check_mutants.values import value_mutants

from miltext.diagnostics import PrintError
from miltext.parsing.parser import parse
from miltext.printing.printing import to_text
from miltext.schema.proto import Program

SEEDS = Path(__file__).resolve().parent / "seeds"


def unchanged(site: Site) -> Iterator[Mutant]:
    """Yield the site as it is."""
    yield Mutant("as it is", "", site.copy())


FAMILIES: dict[str, Family] = {
    "unchanged": unchanged,
    "signature": signature_mutants,
    "opset": opset_mutants,
    "operands": operand_mutants,
    "values": value_mutants,
    "declared": declared_mutants,
    "structure": structure_mutants,
}


def seeds() -> Iterator[tuple[str, Program]]:
    """Yield Programs with operations that converters seldom write."""
    for path in sorted(SEEDS.glob("*.mil")):
        yield path.name, parse(path.read_text(encoding="utf-8"))


def sites_of(programs: Iterable[tuple[str, Program]], most: int, only: Collection[str] = ()) -> list[Site]:
    """Return the sites of Programs and of the seeds, in an order that is the same each time: any part is a sample."""
    found = sites([*programs, *seeds()], most, only)
    Random(1).shuffle(found)
    return found


def rows(
    found: Iterable[Site], families: Iterable[str] = FAMILIES, *, try_drafts: bool = True, seconds: float = float("inf")
) -> Iterator[dict[str, Any]]:
    """Yield a row for each mutant of the sites, as many as there is time for."""
    end = time.monotonic() + seconds
    for site in found:
        if time.monotonic() > end:
            return
        for name in families:
            for mutant in FAMILIES[name](site):
                yield from _rows(mutant, site, try_drafts)


def _rows(mutant: Mutant, site: Site, try_drafts: bool) -> Iterator[dict[str, Any]]:
    """Yield the row of a mutant; where only its declared types do not follow, also that of one with other types."""
    found = judged(mutant)
    result = drafts.tried(mutant.copy.program) if try_drafts else None
    yield _row(mutant, site, found, result)
    retyped = with_own_types(mutant, found.refused)
    if retyped is not None:
        yield _row(retyped, site, judged(retyped), None)


def _row(mutant: Mutant, site: Site, found: Judged, result: drafts.Tried | None) -> dict[str, Any]:
    """Return what is worth writing down, with the text of what is not as it should be."""
    made = row(mutant, site, found)
    if result is not None:
        made |= {"draft": result.result, "draft_words": result.words}
    if found.verdict not in (TOLD, VALID) or (result and result.result in (*drafts.BAD, drafts.NOT_LOADED)):
        made["text"] = _text(mutant)
    return made


def _text(mutant: Mutant) -> str:
    """Return the text of a mutant's Program, cut to what can be read."""
    try:
        return to_text(mutant.copy.program)[-6000:]
    except PrintError as error:
        return str(error)
