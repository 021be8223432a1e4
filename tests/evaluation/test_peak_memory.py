"""The memory of large layers in fp16: their results, and little beside them; nothing is whole in float32."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import miltext
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.values import CARRIERS
from miltext.schema.types import TensorType

MEBIBYTE = 1 << 20

LAYERS = {
    "conv": ("[1, 3, 1024, 1024] x, [32, 3, 3, 3] w", 'conv(x = x, weight = w, pad_type = "same")'),
    "strided conv": ("[1, 32, 1024, 1024] x, [32, 32, 3, 3] w", "conv(x = x, weight = w, strides = [2, 2])"),
    "pointwise conv": ("[1, 32, 1024, 1024] x, [32, 32, 1, 1] w", "conv(x = x, weight = w)"),
    "conv of one axis": ("[1, 16, 1000000] x, [32, 16, 5] w", "conv(x = x, weight = w)"),
    "conv of three axes": ("[1, 8, 64, 128, 128] x, [16, 8, 3, 3, 3] w", "conv(x = x, weight = w)"),
    "conv by channel": ("[1, 32, 1024, 1024] x, [32, 1, 3, 3] w", "conv(x = x, weight = w, groups = 32)"),
    "conv_transpose": ("[1, 32, 512, 512] x, [32, 32, 2, 2] w", "conv_transpose(x = x, weight = w, strides = [2, 2])"),
    "max_pool": ("[1, 32, 1024, 1024] x", 'max_pool(x = x, kernel_sizes = [3, 3], pad_type = "same")'),
    "avg_pool": ("[1, 32, 1024, 1024] x", 'avg_pool(x = x, kernel_sizes = [2, 2], pad_type = "same")'),
    "layer_norm": ("[32, 1024, 1024] x", "layer_norm(x = x, axes = [-1])"),
    "instance_norm": ("[1, 32, 1024, 1024] x", "instance_norm(x = x)"),
    "local_response_norm": ("[1, 32, 1024, 1024] x", "local_response_norm(x = x, size = 5)"),
    "attention": (
        "[1, 8, 2048, 64] x, [1, 8, 2048, 64] w",
        "scaled_dot_product_attention(query = x, key = w, value = w)",
    ),
    "linear": ("[1, 4096] x", "linear(x = x, weight = w)"),
}
BESIDE = 24
"""MiB that a layer may need beside its result: blocks of work, and small inputs in float32."""


@pytest.mark.parametrize("layer", LAYERS)
def test_a_large_layer_needs_little_beside_its_result(layer: str) -> None:
    inputs, call = LAYERS[layer]
    heads = re.sub(r"(\[.*?\])", r"tensor<fp16, \1>", inputs)
    weight = "w = fill(shape = [8192, 4096], value = fp16(0.5)); " if layer == "linear" else ""
    text = miltext.infer_draft(f"program(1.3) {{ func main<ios18>({heads}) {{ {weight}y = {call}; }} -> (y); }}")
    evaluator = Evaluator(miltext.parse(text))
    kinds = {name: kind for name, kind in evaluator.inputs.items() if isinstance(kind, TensorType)}
    steps = evaluator.steps({name: np.ones(kind.shape, CARRIERS[kind.dtype]) for name, kind in kinds.items()})
    before = forget_peak()
    made = sum(value.nbytes for step in steps for value in step.values if isinstance(value, np.ndarray))
    beside = peak() - before - made / MEBIBYTE
    assert beside < BESIDE, f"{beside:.0f} MiB beside a result of {made / MEBIBYTE:.0f}"


def forget_peak() -> float:
    """Have the system forget how much memory there was at most, and return how many MiB there are now."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError as failure:
        pytest.skip(f"needs Linux, which tells the memory that a process has: {failure}")
    return peak()


def peak() -> float:
    """Return how many MiB were resident at most."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
