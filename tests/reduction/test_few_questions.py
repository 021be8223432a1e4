"""Which items a test needs, and how many questions it takes to find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.reduction.searching import shrink

Passes = Callable[[set[int]], bool]


class Asked:
    """A test of sets, which counts the different sets that it is asked for."""

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.known: dict[frozenset[int], bool] = {}

    def __call__(self, parts: Sequence[Sequence[int]]) -> list[bool]:
        for part in parts:
            assert list(part) == sorted(set(part))
            self.known.setdefault(frozenset(part), self.passes(set(part)))
        return [self.known[frozenset(part)] for part in parts]


def shrunk(count: int, passes: Passes, width: int = 1) -> tuple[list[int], int]:
    asked = Asked(passes)
    found = shrink(range(count), asked, width)
    return found, len(asked.known)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize(
    ("needed", "most"),
    [
        ({0}, 25),
        ({999}, 30),
        ({500}, 35),
        ({0, 999}, 60),
        ({10, 900}, 60),
        ({400, 401}, 60),
        ({400, 401, 402, 404}, 75),
        ({1, 500, 998}, 100),
    ],
)
def test_needed_items_of_a_thousand_are_found_in_few_tests(needed: set[int], most: int, width: int) -> None:
    found, questions = shrunk(1000, needed.issubset, width)
    assert found == sorted(needed)
    assert questions <= most


@pytest.mark.parametrize(("needed", "most"), [({0}, 13), ({10, 900}, 26), ({1, 500, 998}, 40), ({7, 8, 9}, 30)])
def test_one_at_a_time_takes_fewest(needed: set[int], most: int) -> None:
    assert shrunk(1000, needed.issubset)[1] <= most


def test_an_empty_list_needs_no_test() -> None:
    assert shrunk(0, lambda _: True) == ([], 0)


def test_nothing_is_left_of_an_unneeded_part() -> None:
    assert shrunk(1000, lambda _: True) == ([], 1)


def test_all_is_left_if_all_is_needed() -> None:
    found, questions = shrunk(100, lambda part: len(part) == 100)
    assert found == list(range(100))
    assert questions <= 320


def test_a_test_that_fails_on_more_still_reaches_the_minimum() -> None:
    """It passes on the whole, and on parts without 3, 4 and 5 together; else never with 4 in them."""
    found, _ = shrunk(50, lambda part: 20 in part and (4 not in part or len(part) == 50))
    assert found == [20]


@given(st.sets(st.integers(0, 40)), st.integers(1, 5))
def test_the_least_part_is_found_anywhere(needed: set[int], width: int) -> None:
    assert shrunk(41, needed.issubset, width)[0] == sorted(needed)


def like(part: frozenset[int]) -> bool:
    raise NotImplementedError


@given(st.functions(like=like, returns=st.booleans(), pure=True), st.integers(1, 3))
def test_no_single_item_can_be_removed_for_any_test(said: Callable[[frozenset[int]], bool], width: int) -> None:
    whole = set(range(8))
    asked = Asked(lambda part: part == whole or said(frozenset(part)))
    found = shrink(sorted(whole), asked, width)
    assert asked([found]) == [True]
    assert not any(asked([[each for each in found if each != gone] for gone in found]))
