"""Constants that follow from sizes: what dimensions become, arrays of another length, numbers of another size."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest

from miltext.checking.resizing.cuts import count_of, parts
from miltext.checking.resizing.facts import SizeChange, Sizes
from miltext.checking.resizing.lineage import OPEN, Factor, lineage_of, recast
from miltext.checking.resizing.numbers import SizeFunction, form_of
from miltext.checking.resizing.patterns import diagonal, remade

SIZES = [(16, 24), (16, 12), (16, 8), (16, 32), (12, 20), (12, 18), (7, 9), (9, 5)]

# ---- dimensions


@pytest.mark.parametrize("seed", range(200))
def test_a_size_that_is_merged_and_split_again_is_unchanged(seed: int) -> None:
    """A shape of variables, merged at random and taken apart as it was, has the sizes of the variables at each step."""
    rng = random.Random(seed)
    old = [rng.choice((2, 3, 4, 5, 7, 8)) for _ in range(rng.randint(1, 6))]
    new = [rng.choice((size, size + 1, size * 2, 1, size + 4)) for size in old]
    lineage = lineage_of(tuple(old), tuple(new))
    cuts = sorted({0, len(old), *(rng.randint(0, len(old)) for _ in range(3))})
    runs = [slice(first, last) for first, last in pairwise(cuts)]
    assert lineage is not None
    merged = recast(lineage, [prod(old[run]) for run in runs])
    assert merged is not None
    assert (merged.shape, merged.split) == (tuple(prod(new[run]) for run in runs), ())
    again = recast(merged.lineage, old)
    assert again is not None
    assert (again.shape, again.split) == (tuple(new), ())


@pytest.mark.parametrize(
    ("old", "new", "sizes", "expected"),
    [
        ((1, 12, 16), (2, 20, 16), [1, 12, 2, 8], (2, 20, 2, 8)),
        ((1, 12, 16), (2, 20, 16), [12, 16], (40, 16)),
        ((1, 8, 8, 4), (1, 12, 16, 4), [1, 2, 4, 2, 4, 4], (1, 3, 4, 4, 4, 4)),
        ((1, 8, 8, 4), (3, 8, 8, 4), [2, 4, 2, 16], (6, 4, 2, 16)),
        ((16,), (24,), [4, 4], (6, 4)),
        ((16,), (20,), [2, 8], (2, 10)),
        ((16,), (None,), [4, 4], (None, 4)),
        ((4, 16), (4, None), [64], (None,)),
        ((16,), (19,), [4, 4], None),
        ((6, 4), (6, 8), [4, 6], None),
        ((0, 4), (0, 8), [4, 0], None),
        ((None, 4), (3, 4), [4], None),
    ],
)
def test_shapes_that_are_split(old: Any, new: Any, sizes: list[int], expected: object) -> None:
    lineage = lineage_of(old, new)
    made = recast(lineage, sizes) if lineage else None
    assert (made.shape if made else None) == expected


def test_the_dimension_that_a_shape_leaves_open_grows() -> None:
    lineage = lineage_of((4, 16), (4, 24))
    assert lineage is not None
    for open_at, expected in ((None, (4, 3, 8)), (1, (4, 3, 8)), (2, (4, 2, 12))):
        made = recast(lineage, [4, 2, 8], open_at)
        assert made is not None
        assert made.shape == expected
        assert made.split == ((Factor(16, 24), Factor(2, expected[1]), Factor(8, expected[2])),)
    assert lineage_of((4,), (None,)) == ((Factor(4, 4 * OPEN),),)


# ---- arrays

MADE: dict[str, Callable[[int], Any]] = {
    "arange": np.arange,
    "arange of floats": lambda n: np.arange(n, dtype=np.float32),
    "arange in fp16": lambda n: np.arange(n).astype(np.float16),
    "arange that falls": lambda n: np.arange(n - 1, -1, -1),
    "arange in a column": lambda n: np.arange(n)[None, :, None],
    "one value": lambda n: np.full(n, -1e4, np.float32),
    "rows of values of their own": lambda n: np.repeat(np.array([[1.0], [2.5]], np.float32), n, axis=1),
    "linspace from 0 to 1": lambda n: np.linspace(0, 1, n, dtype=np.float32),
    "linspace from -1 to 1": lambda n: np.linspace(-1, 1, n, dtype=np.float32),
    "linspace that falls": lambda n: np.linspace(1, -1, n, dtype=np.float32),
    "a scaled linspace": lambda n: (np.linspace(-1, 1, n) * 0.8).astype(np.float32),
    "even parts": lambda n: (np.arange(n) / n).astype(np.float32),
    "centres of even parts": lambda n: ((np.arange(n) + 0.5) / n).astype(np.float32),
    "centres from -1 to 1": lambda n: ((2 * np.arange(n) + 1) / n - 1).astype(np.float32),
    "rolled by three": lambda n: (np.arange(n) + 3) % n,
    "rolled by three back": lambda n: (np.arange(n) - 3) % n,
}


def _axis(array: Any, size: int) -> int:
    return next(axis for axis, each in enumerate(array.shape) if each == size)


@pytest.mark.parametrize(("before", "now"), SIZES)
@pytest.mark.parametrize("name", MADE)
def test_an_array_of_another_length(name: str, before: int, now: int) -> None:
    old, new = MADE[name](before), MADE[name](now)
    made = remade(old, _axis(old, before), now)
    assert made is not None
    assert made.array.dtype == new.dtype
    np.testing.assert_allclose(made.array, new, atol=2e-6 if new.dtype != np.float16 else 1e-2)


def _far(n: int) -> Any:
    return np.arange(n)[None] - np.arange(n)[:, None]


MASKS: dict[str, Callable[[int], Any]] = {
    "causal": lambda n: _far(n) > 0,
    "causal, added": lambda n: np.where(_far(n) > 0, -1e4, 0).astype(np.float32),
    "causal, to minus infinity": lambda n: np.where(_far(n) > 0, -np.inf, 0).astype(np.float32),
    "the identity": lambda n: np.eye(n, dtype=np.float16),
    "local": lambda n: np.abs(_far(n)) > 2,
    "by distance": lambda n: (-0.25 * np.abs(_far(n))).astype(np.float32),
    "in heads": lambda n: np.stack([_far(n) * slope for slope in (0.5, 0.25)])[None].astype(np.float32),
}


@pytest.mark.parametrize(("before", "now"), [pair for pair in SIZES if min(pair) > 6])
@pytest.mark.parametrize("name", MASKS)
def test_a_mask_along_the_diagonal(name: str, before: int, now: int) -> None:
    old, new = MASKS[name](before), MASKS[name](now)
    made = diagonal(old, (old.ndim - 2, old.ndim - 1), (now, now))
    assert made is not None
    assert made.array.dtype == new.dtype
    np.testing.assert_array_equal(made.array, new)


def test_constants_without_a_pattern() -> None:
    rng = np.random.default_rng(0)
    learned = rng.standard_normal((16, 4)).astype(np.float32)
    assert remade(learned, 0, 24) is None
    shorter = remade(learned, 0, 8)
    assert shorter is not None
    np.testing.assert_array_equal(shorter.array, learned[:8])
    assert remade(rng.permutation(16), 0, 24) is None
    assert diagonal(rng.standard_normal((16, 16)), (0, 1), (24, 24)) is None
    assert diagonal(_far(16) > 0, (0, 1), (24, 16)) is None
    assert diagonal(np.tri(3), (0, 1), (8, 8)) is None  # too small to say how it goes on


# ---- numbers

FORMS: dict[str, Callable[[float], float]] = {
    "16": lambda n: n,
    "1/16": lambda n: 1 / n,
    "√16": math.sqrt,
    "1/√16": lambda n: 1 / math.sqrt(n),
    "16 - 1": lambda n: n - 1,
    "16/(16 - 1)": lambda n: n / (n - 1),
    "√(16/(16 - 1))": lambda n: math.sqrt(n / (n - 1)),
    "2/(16 - 1)": lambda n: 2 / (n - 1),
    "log 16": math.log,
}


@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize("words", FORMS)
def test_a_number_that_a_size_gives(words: str, dtype: str) -> None:
    number = float(np.array(FORMS[words](16), {"fp16": np.float16, "fp32": np.float32}[dtype]))
    for sign in (1, -1):
        form = form_of(sign * number, dtype, Sizes(frozenset({SizeChange(16, 24)})))
        assert form is not None
        assert (form.words, form.is_sure) == (words, True)
        assert form.now == pytest.approx(sign * FORMS[words](24))
    assert form_of(number, dtype, Sizes(frozenset({SizeChange(40, 24)}))) is None
    steady = form_of(number, dtype, Sizes(frozenset({SizeChange(16, 24)}), frozenset({16})))
    assert steady is not None
    assert not steady.is_sure


def test_numbers_that_programs_have_anyway() -> None:
    changes = Sizes(frozenset({SizeChange(4, 6), SizeChange(3, 5)}))
    for number in (0.0, 1.0, math.inf, math.nan):
        assert form_of(number, "fp32", changes) is None
    form = form_of(2.0, "fp32", changes)
    assert form is not None
    assert not form.is_sure


@pytest.mark.parametrize(("base", "size"), [(0.9, 12), (0.99, 100), (1.1, 7), (0.95, 33)])
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_a_power_of_a_size(base: float, size: int, dtype: str) -> None:
    number = float(np.array(base**size, {"fp16": np.float16, "fp32": np.float32}[dtype]))
    form = form_of(number, dtype, Sizes(frozenset({SizeChange(size, size + 3)})))
    assert form is not None
    assert (form.words, form.is_sure) == (f"{base}^{size}", False)
    assert form_of(number, dtype, Sizes(frozenset({SizeChange(10**9, 3)}))) is None
    assert form_of(number, dtype, Sizes(frozenset({SizeChange(size + 2, size + 3)}))) is None


@pytest.mark.parametrize(("dtype", "most"), [("fp16", 0.01), ("fp32", 0.001)])
def test_few_numbers_are_powers_of_a_size(dtype: str, most: float) -> None:
    numbers = [float(each) for each in np.random.default_rng(0).uniform(0.001, 3, 2000).astype(np.float16)]
    usual = [1e-12, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.044715, 0.7978846, 65504.0, 1e4]
    changes = [Sizes(frozenset({SizeChange(size, size + 1)})) for size in (5, 6, 12, 64)]

    def powers(numbers: list[float]) -> list[SizeFunction]:
        found = [form_of(each, dtype, change) for each in numbers for change in changes]
        return [each for each in found if each and "^" in each.words]

    assert len(powers(numbers)) <= most * len(numbers) * len(changes)
    assert powers(usual) == []


# ---- cuts


@pytest.mark.parametrize(("size", "count"), [(16, 8), (16, 7), (12, 5), (16, 16), (9, 2)])
def test_cuts_into_even_parts(size: int, count: int) -> None:
    found = parts(size, count)
    assert found[0][0] == 0
    assert found[-1][1] == size
    assert count_of({1: {*found}}, 1, size) == count
    assert count_of({1: {*found[1:]}}, 1, size) == 0
    assert count_of({1: {*found}}, 0, size) == 0
