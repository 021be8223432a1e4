"""Numbers with a decimal prefix: three digits, and never a thousand of a unit."""

from __future__ import annotations

import pytest

from miltext.diffing.telling import in_bytes, in_units

UNITS = {
    0: "0",
    999: "999",
    1000: "1 k",
    1234: "1.23 k",
    999_499: "999 k",
    999_500: "1 M",
    999_499_999: "999 M",
    999_500_000: "1 G",
    999_499_999_999: "999 G",
    999_500_000_000: "1 T",
    4_371_993_600: "4.37 G",
}


@pytest.mark.parametrize("number", UNITS)
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_has_three_digits(number: int, sign: str) -> None:
    assert in_units(-number if sign else number) == (sign if number else "") + UNITS[number]


def test_bytes_have_their_unit() -> None:
    assert [in_bytes(size) for size in (999, 1000, 999_999)] == ["999 B", "1 kB", "1 MB"]
