"""`pytest --once`, with which .ci/run tries the installed wheel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import conftest
import pytest

CASES = ["a.py::test_x[1]", "a.py::test_x[a[b]::c]", "a.py::test_y", "a.py::Some::test_x[1]", "b.py::test_x[1]"]
MARKED = ["b.py::test_y", "b.py::test_z[1]", "b.py::test_z[2]"]


class Case:
    """A test as pytest has it, as far as it is asked."""

    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid

    def get_closest_marker(self, name: str) -> str | None:
        return name if name == "any_version" and self.nodeid in MARKED else None


@pytest.mark.parametrize(("once", "left"), [(True, [0, 2, 3, 4]), (False, [0, 1, 2, 3, 4, 5, 6, 7])])
def test_the_first_case_of_each_unmarked_test_stays(once: bool, left: list[int]) -> None:
    told: list[Any] = []
    hook = SimpleNamespace(pytest_deselected=lambda *, items: told.extend(items))
    config: Any = SimpleNamespace(getoption={"--once": once}.get, hook=hook)
    items: list[Any] = [Case(case) for case in [*CASES, *MARKED]]
    before = list(items)
    conftest.pytest_collection_modifyitems(config, items)
    assert items == [before[place] for place in left]
    assert {*told} == {*before} - {*items}
