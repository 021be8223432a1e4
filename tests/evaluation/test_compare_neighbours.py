"""`compare`: the odd neighbours of what it is made for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from miltext import MiltextError, compare

INF = math.inf


def program(body: str, outputs: str = "y", inputs: str = "tensor<fp32, [2, 3]> x") -> str:
    """A text whose types are left out: `compare` takes drafts."""
    return f"program(1.3) {{ func main<ios18>({inputs}) {{ {body} }} -> ({outputs}); }}"


ROOT = program("y = sqrt(x = x);")
GIVEN = {"x": np.array([[4, -4, 9], [1, 16, 25]], np.float32)}


@pytest.mark.parametrize("odd", [math.nan, INF, -INF])
def test_numbers_from_elsewhere_may_be_odd(odd: float) -> None:
    expected = np.array([[2, odd, 3], [1, 4, 5]], np.float32)
    comparison = compare(ROOT, None, GIVEN, against={"y": expected})
    assert comparison.ok is math.isnan(odd)
    assert [(each.side, each.kind) for each in comparison.oddities] == [("new", "NaN")]
    assert "NaN first comes from `y` (sqrt) in the new one" in comparison.to_text()


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"min_snr": math.nan}, "min_snr"),
        ({"runs": 0}, "runs"),
        ({"runs": -1}, "runs"),
    ],
)
def test_choices_that_would_check_nothing_are_refused(choices: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        compare(ROOT, ROOT, **choices)


@pytest.mark.parametrize("min_snr", [INF, -INF, 0.0])
def test_thresholds_at_the_ends(min_snr: float) -> None:
    assert compare(ROOT, ROOT, min_snr=min_snr).ok
    assert compare(ROOT, program("y = sin(x = x);"), GIVEN, min_snr=min_snr).ok is (min_snr == -INF)


def test_most_is_not_lost_at_a_number() -> None:
    body = "k = const()[val = fp32({})]; h = mul(x = x, y = k); y = exp(x = h);"
    comparison = compare(program(body.format("1.0")), program(body.format("1.00001")))
    assert comparison.steepest is not None
    assert comparison.steepest.value.name == "h"
    assert comparison.steepest.value.lost > 50
    assert "most is lost at `h` (mul)" in comparison.to_text()


def test_most_is_not_lost_at_an_index() -> None:
    body = "i = add(x = {}, y = j); y = gather(x = x, indices = i, axis = 1);"
    inputs = "tensor<fp32, [2, 3]> x, tensor<int32, [1]> j"
    given = {"x": np.array([[1, 1.00001, 2]] * 2, np.float32), "j": np.zeros(1, np.int32)}
    one, other = (program(body.format(number), inputs=inputs) for number in (0, 1))
    comparison = compare(one, other, given)
    assert comparison.steepest is None or comparison.steepest.value.name == "y"
