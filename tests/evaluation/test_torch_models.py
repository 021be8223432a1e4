"""Whole models, converted from torch by coremltools: what is computed of them is what torch computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.evaluation import computed
from support.nearness import nearness
from support.traced import converted

from miltext.evaluation.arithmetic import COMPUTING, DEVICES

LEAST = {"FLOAT32": 100, "FLOAT16": 55}
"""How near to torch the outputs have to be, in dB, by the precision that a model is converted to."""

SHAPES: dict[str, tuple[int, ...]] = {
    "Residual": (1, 3, 64, 64),
    "Mobile": (2, 3, 48, 48),
    "Encoder": (1, 12),
    "Recurrent": (2, 9, 12),
    "UNet": (1, 3, 32, 32),
}
"""The models of one input, and the shape of that."""


@pytest.fixture
def models() -> Any:
    pytest.importorskip("torch", reason="needs torch: pip install -e '.[models]'")
    from support import torch_models

    return torch_models


@pytest.mark.parametrize("precision", LEAST)
@pytest.mark.parametrize("name", SHAPES)
def test_a_model_of_torch_computes_the_same(name: str, precision: str, models: Any, tmp_path: Path) -> None:
    import torch

    network = models.fixed(getattr(models, name))
    shape = SHAPES[name]
    x = torch.randint(0, 50, shape, dtype=torch.int32) if name == "Encoder" else torch.randn(shape)
    model = converted(network, {"x": x}, precision, tmp_path)
    with torch.no_grad():
        expected = network(x)
    outputs = expected if isinstance(expected, tuple) else (expected,)
    for compute in set(COMPUTING) - {*DEVICES}:
        actual = computed(model.program, {"x": x.numpy()}, weights=model.model_path, compute=compute)
        assert len(actual) == len(outputs)
        for (output, mine), theirs in zip(actual.items(), outputs, strict=True):
            assert nearness(mine, theirs.numpy()) >= LEAST[precision], (compute, output)


@pytest.mark.parametrize("precision", LEAST)
def test_a_decoder_keeps_the_same_state_as_torch(precision: str, models: Any, tmp_path: Path) -> None:
    import torch

    names = ["keys", "values", "total"]
    network, traced = models.fixed(models.Decoder), models.fixed(models.Decoder)
    if precision == "FLOAT32":  # coremltools' states are fp16, which then holds all that is kept to the bit
        network, traced = models.on_grid(network), models.on_grid(traced)
    sample = {"x": torch.ones(1, 16), "here": torch.zeros(4, 1)}
    model = converted(traced, sample, precision, tmp_path, names)
    state: dict[str, Any] = {}
    for step in range(3):
        x, here = torch.randint(-8, 9, (1, 16)) / 8, torch.eye(4)[:, step : step + 1]
        inputs = {"x": x.numpy(), "here": here.numpy()}
        (actual,) = computed(model.program, inputs, state=state, weights=model.model_path).values()
        with torch.no_grad():
            expected = network(x, here).numpy()
        assert nearness(actual, expected) >= LEAST[precision], step
        for name in names:
            kept = getattr(network, name).numpy()
            assert state[name].dtype == np.float16
            assert nearness(state[name], kept) >= LEAST[precision], (step, name)
            assert np.any(kept)
