"""Draw contradictions by a seed, make each in a copy of a package, and judge whether `check` reports it."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from support.contradictions import (
    wrong_features,
    wrong_manifests,
    wrong_programs,
    wrong_stages,
    wrong_types,
    wrong_weights,
)
from support.contradictions.contradicted import CONTRADICTIONS, EQUIVALENT, Case, Inapplicable, Way
from support.model_checks import Reported, reported
from support.new_findings import original_findings

ROOMS = (wrong_features, wrong_types, wrong_weights, wrong_manifests, wrong_stages, wrong_programs)
"""The modules that fill the tables."""


class Judged(NamedTuple):
    """A change of a package, and the findings that `check` reports of it and not of the package itself.

    The number makes the same change again.
    """

    way: Way
    package: str
    change: str
    number: int
    found: Counter[Reported]

    @property
    def is_reported(self) -> bool:
        return bool(self.found)

    @property
    def is_named(self) -> bool:
        """Whether a message names anything that was changed."""
        words = re.findall("`([^`]+)`", self.change)
        return any(word in each.message for word in words for each in self.found) or not words

    @property
    def failed(self) -> bool:
        """Whether `check` ended without a finding, by an error of its own."""
        return any("Traceback" in each.message or "MIL900" in each.code for each in self.found)


def draw(
    packages: Mapping[str, Callable[[], Path]], seed: int, count: int, table: Mapping[str, Way]
) -> Iterator[Judged]:
    """Judge so many changes, each way in turn, on packages drawn by the seed.

    A way that applies to no package is skipped.
    """
    ways = [*table.values()]
    random = Random(seed)
    random.shuffle(ways)
    inapplicable: set[str] = set()
    for turn in range(count + len(ways)):
        if count == 0 or len(inapplicable) == len(ways):
            return
        way = ways[turn % len(ways)]
        if way.name in inapplicable:
            continue
        names = [*packages]
        random.shuffle(names)
        judged = next(
            (each for name in names if (each := judge(way, name, packages[name], random.getrandbits(32)))), None
        )
        if judged is None:
            inapplicable.add(way.name)
            continue
        count -= 1
        yield judged


def judge(way: Way, name: str, package: Callable[[], Path], number: int) -> Judged | None:
    """Make a change by this number in a copy of a package; None if nothing of the kind is there."""
    source = package()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / source.name
        case = Case(source, copy, Random(number))
        try:
            change = way.make(case)
        except Inapplicable:
            return None
        case.save()
        return Judged(way, name, change, number, reported(copy) - original_findings(source))


def figure(judged: Sequence[Judged]) -> float:
    """The share of the contradictions that are reported, in percent."""
    return 100 * sum(each.is_reported and not each.failed for each in judged) / max(1, len(judged))


__all__ = ["CONTRADICTIONS", "EQUIVALENT", "Judged", "draw", "figure", "judge"]
