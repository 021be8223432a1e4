"""Arrays written into the text of a program, for parameters that are constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from support.one_operation import DTYPES

from miltext.schema.types import TensorType, spelled


def written(array: npt.ArrayLike) -> str:
    """Return the literal of an array, in text: each float to the bit."""
    values = np.asarray(array)
    return f"{spelled(TensorType(DTYPES[values.dtype], values.shape))}({_elements(values.tolist())})"


def _elements(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_elements, values))}]"
    return values.hex() if isinstance(values, float) else str(values).lower()
