"""Contradictions drawn by a seed, in whole packages: `scripts/contradictions.py` draws more of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.contradictions.drawing import CONTRADICTIONS, EQUIVALENT, Judged, draw, judge
from support.whole_models import MADE, whole

SEED = 31

KINDS = ("defaults", "enumerated", "image-enumerated", "image-ranges", "int8", "labels-int", "labels-string",
         "pipeline-2", "pipeline-3", "states", "two-files")  # fmt: skip
SAVED = ("functions", "int4", "palettized-3", "sparse", "pipeline")
NAMES = [*MADE, *(f"kind/{name}" for name in KINDS), *(f"package/{name}" for name in SAVED)]
PACKAGES = {name: partial(whole, name) for name in NAMES}

PENDING = {"a version below that of a stage", "no program", "probabilities without a label"}
"""The ways whose rules are not there yet."""


def each(table: Iterable[str]) -> list[Any]:
    pending = pytest.mark.xfail(reason="no rule yet")
    return [pytest.param(name, marks=pending) if name in PENDING else name for name in table]


@pytest.fixture(autouse=True)
def _coremltools() -> None:
    pytest.importorskip("coremltools")


def drawn(name: str) -> Judged:
    """The first change of a way, in one of the packages."""
    found = [*draw(PACKAGES, SEED, 1, {name: {**CONTRADICTIONS, **EQUIVALENT}[name]})]
    assert found, "it applies to none of the packages"
    return found[0]


@pytest.mark.parametrize("name", each(EQUIVALENT))
def test_nothing_is_reported_where_any_value_is_right(name: str) -> None:
    judged = drawn(name)
    assert not judged.found, judged.change


@pytest.mark.parametrize("name", each(CONTRADICTIONS))
def test_each_contradiction_is_reported(name: str) -> None:
    judged = drawn(name)
    assert judged.is_reported, judged.change
    assert not judged.failed, judged.found


def test_a_number_makes_the_same_change_again() -> None:
    judged = drawn("another size")
    assert judge(judged.way, judged.package, PACKAGES[judged.package], judged.number) == judged


def test_a_whole_package_has_no_contradiction(tmp_path: Path) -> None:
    way = EQUIVALENT["the order of items"]._replace(make=lambda case: "nothing")
    judged = judge(way, "rank-1", PACKAGES["rank-1"], 1)
    assert judged is not None
    assert not judged.is_reported
