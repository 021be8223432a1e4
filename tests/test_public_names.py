"""The public names: one table, from which each is imported when it is first used, and type checkers see the same."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLE

import miltext


def seen_by_type_checkers() -> dict[str, str]:
    """The modules of the names that are imported for type checkers alone."""
    (guarded,) = [each for each in ast.parse(inspect.getsource(miltext)).body if isinstance(each, ast.If)]
    imports = [each for each in guarded.body if isinstance(each, ast.ImportFrom) and each.module != "typing"]
    return {alias.asname or "": str(each.module) for each in imports for alias in each.names}


def test_type_checkers_see_the_names_of_the_table() -> None:
    assert seen_by_type_checkers() == miltext._HOME
    assert miltext.__all__ == list(miltext._HOME)


@pytest.mark.parametrize("name", miltext.__all__)
def test_each_name_is_the_object_of_its_module(name: str) -> None:
    assert name in dir(miltext)
    value = getattr(miltext, name)
    assert name == "Source" or value.__name__ == name  # an alias has no name of its own
    assert value is vars(miltext)[name]


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'miltext' has no attribute 'prase'"):
        miltext.prase  # noqa: B018


REPRS: dict[str, tuple[Callable[[str], object], str]] = {
    "Difference": (lambda model: miltext.diff(model, model), "<Difference {} -> {}: no difference>"),
    "Weights": (miltext.weights, "<Weights: edges_weight_0_to_fp16, scores_weight_0_to_fp16>"),
    "Weights, none": (lambda _: miltext.weights("program(1.3) {}"), "<Weights: none>"),
    "SourceMap": (
        lambda _: miltext.parse_with_source("program(1.3) {} // end")[1],
        "<SourceMap: 1 places, 1 comments>",
    ),
    "Comparison": (
        lambda model: miltext.compare(model, model, seed=0),
        "<Comparison {} -> {}: none of 2 outputs fell, none lost>",
    ),
}


@pytest.mark.parametrize("name", REPRS)
def test_a_repr_is_short_and_informative(name: str) -> None:
    make, expected = REPRS[name]
    model = str(EXAMPLE)
    assert repr(make(model)) == expected.format(repr(model), repr(model))


def test_the_repr_of_a_conversion_and_of_a_difference(tmp_path: Path) -> None:
    made = miltext.convert_weights(str(EXAMPLE), "fp32", tmp_path / "M.mlpackage")
    assert repr(made) == "<Conversion to fp32: 4 constants, 684 -> 1368 bytes>"
    changed = miltext.diff(str(EXAMPLE), tmp_path / "M.mlpackage")
    assert changed
    assert re.fullmatch(r"<Difference '.*' -> '.*': (.+; )*.+>", repr(changed))
    assert len(repr(changed)) < 600
