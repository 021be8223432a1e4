"""The choice of boundaries, against all choices."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from miltext.splitting.choosing import SLACK, SplitUnit, TooLarge, evenly, within


def size(units: list[SplitUnit]) -> int:
    return sum({key: size for unit in units for key, size in unit.weights.items()}.values())


def parts(units: list[SplitUnit], starts: list[int]) -> list[list[SplitUnit]]:
    return [units[one:other] for one, other in pairwise([*starts, len(units)])]


def crossing(units: list[SplitUnit], starts: list[int]) -> int:
    return sum(units[start].crossing for start in starts[1:])


def all_starts(count: int, number: int) -> list[list[int]]:
    return [[0, *each] for each in combinations(range(1, count), number - 1)]


def made(seed: int) -> list[SplitUnit]:
    """Random units, some of which share weights, or have none."""
    rng = random.Random(seed)
    sizes = {key: rng.randint(1, 9) for key in range(8)}
    chosen = [rng.sample([*sizes], rng.randint(0, 3)) for _ in range(rng.randint(1, 9))]
    return [
        SplitUnit({key: sizes[key] for key in keys}, rng.randint(0, 5) if place else 0)
        for place, keys in enumerate(chosen)
    ]


@pytest.mark.parametrize("seed", range(200))
def test_parts_within_a_limit_are_few_with_few_bytes_across(seed: int) -> None:
    units = made(seed)
    most = random.Random(-seed).randint(1, 40)
    if any(sum(unit.weights.values()) > most for unit in units):
        with pytest.raises(TooLarge) as raised:
            within(units, most)
        assert sum(units[raised.value.unit].weights.values()) > most
        return
    choices = (each for number in range(1, len(units) + 1) for each in all_starts(len(units), number))
    possible = [each for each in choices if all(size(part) <= most for part in parts(units, each))]
    best = min((len(each), crossing(units, each)) for each in possible)
    found = within(units, most)
    assert found in possible
    assert (len(found), crossing(units, found)) == best


@pytest.mark.parametrize("seed", range(200))
def test_a_number_of_parts_is_even_with_few_bytes_across(seed: int) -> None:
    units = made(seed)
    for number in range(1, len(units) + 1):
        found = evenly(units, number)
        choices = all_starts(len(units), number)
        share = size(units) / number
        least = min(max(map(size, parts(units, each))) for each in choices)
        most = max(least, int(share + share / SLACK))
        possible = [each for each in choices if max(map(size, parts(units, each))) <= most]
        assert found in possible
        assert crossing(units, found) == min(crossing(units, each) for each in possible)
