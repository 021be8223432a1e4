"""`miltext.testing.programs`: valid Programs for hypothesis, which shrink to small ones."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, find, given, settings

from miltext.checking.programs import findings_in
from miltext.diagnostics import MiltextError
from miltext.schema.proto import Program
from miltext.schema.walk import operations
from miltext.testing import programs


def types_of(made: Program) -> list[str]:
    return [operation.type for _, operation in operations(made)]


@settings(max_examples=25)
@given(programs(ops=(1, 6)))
def test_drawn_programs_are_valid(made: Program) -> None:
    assert findings_in(made) == []


def test_a_program_shrinks_to_the_relevant_operations() -> None:
    """Earlier operations go away, whose results it took, later ones, and constants of their own."""
    few = programs(operations=["abs", "conv", "relu"], ops=(1, 3), opsets=["ios17"])
    some = settings(max_examples=300, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    assert types_of(find(few, lambda made: "conv" in types_of(made), settings=some)) == ["conv"]


def test_options_are_refused_at_once() -> None:
    with pytest.raises(MiltextError, match="there is no operation"):
        programs(operations=["convv"])


def test_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "miltext.testing.drawn", raising=False)
    with pytest.raises(MiltextError, match="hypothesis is not installed") as refused:
        programs()
    assert refused.value.diagnostics[0].code == "MIL484"
