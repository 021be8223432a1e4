"""Contradictions drawn by a seed, in whole packages: `scripts/contradictions.py` draws more of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from support.contradictions.drawing import CONTRADICTIONS, EQUIVALENT, Judged, draw, judge
from support.whole_models import MADE, whole

SEED = 31

PACKAGES = {name: partial(whole, name) for name in [*MADE, "kind/defaults", "kind/enumerated", "kind/image-enumerated",
            "kind/image-ranges", "kind/labels-int", "kind/labels-string", "kind/pipeline-2", "kind/pipeline-3",
            "kind/states", "kind/two-files", "package/functions", "package/int4", "package/palettized-3",
            "package/sparse", "package/pipeline"]}  # fmt: skip


@pytest.fixture(autouse=True)
def _coremltools() -> None:
    pytest.importorskip("coremltools")


def drawn(name: str) -> Judged:
    """The first change of a way, in one of the packages."""
    found = [*draw(PACKAGES, SEED, 1, {name: {**CONTRADICTIONS, **EQUIVALENT}[name]})]
    assert found, "it applies to none of the packages"
    return found[0]


PENDING = {"a flexible image without a size of its own", "a state among the inputs"}


@pytest.mark.parametrize("name", [name for name in EQUIVALENT if name not in PENDING])
def test_nothing_is_reported_where_any_value_is_right(name: str) -> None:
    judged = drawn(name)
    assert not judged.found, judged.change


def test_a_number_makes_the_same_change_again() -> None:
    judged = drawn("another size")
    assert judge(judged.way, judged.package, PACKAGES[judged.package], judged.number) == judged


def test_a_whole_package_has_no_contradiction(tmp_path: Path) -> None:
    way = EQUIVALENT["the order of items"]._replace(make=lambda case: "nothing")
    judged = judge(way, "rank-1", PACKAGES["rank-1"], 1)
    assert judged is not None
    assert not judged.is_reported
