"""How near two arrays are to each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt


def nearness(actual: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """Return the ratio of signal to noise in dB: infinite where both are equal, NaN where one has a NaN."""
    assert actual.shape == expected.shape
    exact = expected.astype(np.float64)
    signal, noise = (float(np.square(each).sum()) for each in (exact, actual - exact))
    if not noise:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf
