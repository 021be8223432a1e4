"""One operation run, for tests: a call in a draft, and arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from support.evaluation import computed

from miltext.schema.operations import signature
from miltext.schema.types import TensorType, spelled

DTYPES = {
    np.dtype(numpy): name
    for numpy, name in [
        (np.float16, "fp16"),
        (np.float32, "fp32"),
        (np.bool_, "bool"),
        (np.int8, "int8"),
        (np.uint8, "uint8"),
        (np.int16, "int16"),
        (np.uint16, "uint16"),
        (np.int32, "int32"),
    ]
}
"""The data types that inputs of tests have."""


def applied(
    call: str,
    inputs: Mapping[str, Any],
    types: Mapping[str, str] | None = None,
    *,
    opset: str = "ios18",
    compute: str = "float32",
) -> list[Any]:
    """Return the outputs of a call, such as `relu(x)`, as a draft writes it, on arrays by name.

    Inputs are declared as the arrays are, but for those of which `types` says another. A call with several outputs says
    which, `a, b = split(x, ...)`; `types` may say that of the output of another, `made`.
    """
    types = dict(types or {})
    made_type = types.pop("made", "")
    stated = {name: spelled(TensorType(DTYPES[array.dtype], array.shape)) for name, array in inputs.items()}
    declared = ", ".join(f"{stating} {name}" for name, stating in {**stated, **types}.items())
    names = call.partition(" = ")[0] if re.match(r"\w+(, \w+)* = ", call) else "made"
    statement = call if names != "made" else f"{made_type} made = {call}"
    text = f"program(1.3) {{ func main<{opset}>({declared}) {{ {statement}; }} -> ({names}); }}"
    made = computed(text, inputs, compute=compute)
    return [made[name] for name in names.split(", ")]


def taken(op_type: str, opset: str = "ios18", parameter: str = "x") -> Iterator[npt.DTypeLike]:
    """Yield the data types that a parameter takes, by the table of operations."""
    known = signature(op_type, opset)
    assert known is not None
    dtypes = known.parameters[parameter].dtypes
    yield from (numpy for numpy, name in DTYPES.items() if name in dtypes or not dtypes)


def counted(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array whose elements differ, as far as the data type has as many."""
    count = np.arange(1, int(np.prod(shape)) + 1)
    return (count % 3 > 0 if np.dtype(dtype) == np.bool_ else count).astype(dtype).reshape(shape)
