"""Modules of torch, converted and reshaped: what they compute is what a conversion at the new sizes computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.resized_modules import CASES
from support.resized_outcomes import REFUSED, RIGHT, RIGHT_TOLD, SILENT, TOLD, outcome

pytest.importorskip("torch", reason="torch has the modules")
pytest.importorskip("coremltools", reason="coremltools converts them")

EXPECTED = {
    "slice all but two": RIGHT_TOLD,
    "slice both ends": RIGHT_TOLD,
    "crop to half": RIGHT_TOLD,
    "transposed convolution": RIGHT,
    "roll": RIGHT_TOLD,
    "grid sample": RIGHT_TOLD,
    "expand": RIGHT_TOLD,
    "adaptive average to four": RIGHT_TOLD,
    "adaptive average of a row": RIGHT_TOLD,
    "pad to 40": RIGHT_TOLD,
    "interpolate bilinear to 20": RIGHT_TOLD,
    "std": RIGHT_TOLD,
    "divide by the root of a size": RIGHT_TOLD,
    "attention": RIGHT,
    "causal attention": RIGHT_TOLD,
    "attention over pixels": RIGHT,
    "softmax over rows": RIGHT,
    "recurrent": RIGHT,
    "learned positions": REFUSED,
    "unrolled over time": REFUSED,
    "recurrent both ways": REFUSED,
    "interpolate to 32": TOLD,
    "put at both ends": REFUSED,
    "clamp to the last place": RIGHT_TOLD,
    "mean of pairs": RIGHT_TOLD,
}
"""What comes of a module at its first new size: of `TOLD`, a factor of 2 may have been meant."""


@pytest.mark.parametrize("name", EXPECTED)
def test_a_module_at_another_size(name: str, tmp_path: Path) -> None:
    precision = ("FLOAT16", "FLOAT32")[sorted(EXPECTED).index(name) % 2]
    came = outcome(name, CASES[name].new[0], precision, tmp_path)
    assert came.verdict == EXPECTED[name], came
    assert came.verdict != SILENT
    assert not came.found
