"""A model divided and linked again is the model itself, and its parts compute what it does."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from support.kinds import PROGRAMS, kind
from support.splits import computed, functions, outcome, ways

import miltext
from miltext.containers.opening import open_model

pytest.importorskip("coremltools")

SOME = 6
"""The splits of each function in a test; scripts/try_splitting.py tries more."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_of_any_kind_is_itself_again(name: str, tmp_path: Path) -> None:
    for place, model in functions(kind(name), tmp_path):
        whole = computed(f"{name} {place}", model)
        for how in islice(ways(whole, random.Random(name)), SOME):
            what = outcome(whole, tmp_path, **how)
            assert not what.startswith("WRONG"), (how, what)


def test_the_parts_of_functions_are_the_functions(tmp_path: Path) -> None:
    path = kind("functions")
    made = miltext.split(path, tmp_path / "parts", functions=True)
    models = {each.function: tmp_path / "parts" / each.name for each in made.parts}
    description = open_model(path).description
    assert description is not None
    assert [*models] == [each.name for each in description.functions]
    default = description.defaultFunctionName  # the first function of a link becomes the default
    models = {name: models[name] for name in sorted(models, key=lambda name: name != default)}
    miltext.link(models, tmp_path / "Linked.mlpackage", functions=True, function={name: name for name in models})
    difference = miltext.diff(path, tmp_path / "Linked.mlpackage")
    changes = [
        each for each in difference.to_text().splitlines() if each[:1] in "+-~>" and each[:3] not in ("---", "+++")
    ]
    assert changes == ["~ description functions: (classify, mix, keep) -> (mix, classify, keep)"]
