"""What a small program computes: a few operations in numpy, written from their definitions, in 64-bit floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from miltext.models.model import Model
from miltext.schema.proto import Argument, Value

Array: TypeAlias = "npt.NDArray[Any]"


def compute(model: Model, **inputs: Array) -> list[Array]:
    """Return the outputs of a model's function `main`."""
    function = model.program.functions["main"]
    block = function.block_specializations[function.opset]
    known: dict[str, Any] = {**inputs}
    for operation in block.operations:
        held = operation.attributes["val"] if operation.type == "const" else None
        if held is not None:
            made = _value(model, held)
        else:
            made = OPERATIONS[operation.type](
                **{name: _argument(model, known, argument) for name, argument in operation.inputs.items()}
            )
        known[operation.outputs[0].name] = made
    return [known[name] for name in block.outputs]


def _argument(model: Model, known: Mapping[str, Any], argument: Argument) -> Any:
    (binding,) = argument.arguments
    return known[binding.name] if binding.HasField("name") else _value(model, binding.value)


def _value(model: Model, value: Value) -> Any:
    strings = value.immediateValue.tensor.strings.values
    if strings:
        return strings[0]
    array = model.weights[value]
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def softmax(x: Array, axis: Array | int) -> Array:
    powers = np.exp(x - x.max(int(axis), keepdims=True))
    made: Array = powers / powers.sum(int(axis), keepdims=True)
    return made


def matmul(x: Array, y: Array, transpose_y: bool = False) -> Array:
    return x @ (np.swapaxes(y, -1, -2) if transpose_y else y)


def conv(x: Array, weight: Array, pad: Array, strides: Array, pad_type: str, bias: Array | float = 0) -> Array:
    assert pad_type == "custom"
    top, bottom, left, right = pad
    padded = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], (2, 3))
    steps = windows[:, :, :: strides[0], :: strides[1]]
    made: Array = np.einsum("nchwij,ocij->nohw", steps, weight) + np.reshape(bias, (1, -1, 1, 1))
    return made


OPERATIONS: dict[str, Callable[..., Array]] = {
    "add": lambda x, y: x + y,
    "conv": conv,
    "linear": lambda x, weight, bias=0.0: x @ weight.T + bias,
    "matmul": matmul,
    "mul": lambda x, y: x * y,
    "reduce_mean": lambda x, axes, keep_dims=False: x.mean(tuple(axes), keepdims=bool(keep_dims)),
    "relu": lambda x: np.maximum(x, 0),
    "reshape": lambda x, shape: x.reshape(shape),
    "softmax": softmax,
    "transpose": lambda x, perm: x.transpose(perm),
}
