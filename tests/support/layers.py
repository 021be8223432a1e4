"""Programs of one layer, and how near to its definition in float64 a layer must come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from support.evaluation import computed

MODES = [("fp32", "float32"), ("fp16", "float32"), ("fp16", "native")]
"""The data types that layers are tried in, and how each is computed."""

TYPES = {"fp32": np.float32, "fp16": np.float16}

NEAR = {("fp32", "float32"): 1e-6, ("fp16", "float32"): 5e-4, ("fp16", "native"): 1e-2}
"""How far off each may be, as a part of the largest value: of fp16, rounding alone takes 2^-11."""


def numbers(seed: int, *shape: int) -> Any:
    """Return numbers that fp16 holds."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16).astype(np.float64)


def layer(
    op: str, inputs: Mapping[str, Any], constants: str = "", *, mode: tuple[str, str] = MODES[0], **held: Any
) -> Any:
    """Return what an op makes of its `inputs`, arrays by parameter, in a mode; `held` are arrays that are constants.

    `constants` are further arguments, as a draft has them.
    """
    dtype, compute = mode
    types = {name: dtype if array.dtype.kind == "f" else _spelled(array) for name, array in inputs.items()}
    heads = [f"tensor<{types[name]}, {list(array.shape)}> {name}" for name, array in inputs.items()]
    lines = [f"w_{name} = const()[val = {_literal(array, dtype)}];" for name, array in held.items()]
    arguments = [f"{name} = {name}" for name in inputs] + [f"{name} = w_{name}" for name in held]
    call = ", ".join([*arguments, constants] if constants else arguments)
    text = f"program(1.3) {{ func main<ios18>({', '.join(heads)}) {{ {' '.join(lines)} y = {op}({call}); }} -> (y); }}"
    return computed(text, inputs, compute=compute)["y"]


def assert_near(found: Any, expected: Any, mode: tuple[str, str]) -> None:
    """Hold what was computed in a mode against its definition."""
    assert found.dtype == TYPES[mode[0]]
    assert found.shape == expected.shape
    largest = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected)).max(initial=1)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=NEAR[mode] * largest)


def _literal(array: Any, dtype: str) -> str:
    return f"tensor<{dtype if array.dtype.kind == 'f' else _spelled(array)}, {list(array.shape)}>({array.tolist()})"


def _spelled(array: Any) -> str:
    return str(array.dtype.name)
