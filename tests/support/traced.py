"""Packages that coremltools makes of models of torch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import miltext

if TYPE_CHECKING:
    from miltext.models.model import Model


def converted(
    model: Any, inputs: Mapping[str, Any], precision: str, folder: Path, states: Sequence[str] = (), target: str = ""
) -> Model:
    """Return the package that coremltools makes of a model, traced with these inputs; `states` are names of buffers."""
    ct = pytest.importorskip("coremltools", reason="coremltools converts the models")
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(model, tuple(inputs.values()), check_trace=False)
        made = ct.convert(
            traced,
            inputs=[ct.TensorType(name, each.shape, dtype=each.numpy().dtype) for name, each in inputs.items()],
            states=[
                ct.StateType(ct.TensorType(shape=getattr(model, each).shape, dtype=np.float16), name=each)
                for each in states
            ],
            compute_precision=ct.precision[precision],
            minimum_deployment_target=ct.target[target or ("iOS18" if states else "iOS17")],
            skip_model_load=True,
        )
        made.save(str(folder / "model.mlpackage"))
    return miltext.load(folder / "model.mlpackage")
