"""Transformers of torch with masked attention, two encoders and two decoders, as coremltools converts them."""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import coremltools as ct
import numpy as np
import torch
from torch import nn
from torch.nn import functional

import miltext
from miltext.evaluation.evaluator import Evaluator
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Block, Operation, Program, Value
from miltext.schema.types import TensorType, read_type, write_type
from miltext.schema.walk import own_block

PLACES, WIDTH, HEADS, WORDS = 8, 32, 4, 40
PART = WIDTH // HEADS

MASKS = {"-1e4": -1e4, "-65504": -65504.0, "-inf": -math.inf}
"""The numbers that are added to, or put for, the scores of what must not be looked at."""


class Attention(nn.Module):
    """Attention of several heads; `masked` says how scores are masked."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def parts(self, x: Any) -> tuple[Any, Any, Any]:
        made = (each(x).reshape(1, PLACES, HEADS, PART).transpose(1, 2) for each in (self.query, self.key, self.value))
        query, key, value = made
        return query, key, value

    def joined(self, found: Any) -> Any:
        return self.out(found.transpose(1, 2).reshape(1, PLACES, WIDTH))


class Added(Attention):
    """The mask is added to scaled scores, as in BERT."""

    def forward(self, x: Any, mask: Any) -> Any:
        query, key, value = self.parts(x)
        scores = query @ key.transpose(-1, -2) / math.sqrt(PART) + mask
        return self.joined(functional.softmax(scores, -1) @ value)


class Chosen(Attention):
    """The scores of a scaled query are kept where the mask is not, as by `masked_fill`."""

    def forward(self, x: Any, mask: Any) -> Any:
        query, key, value = self.parts(x)
        scores = (query * PART**-0.5) @ key.transpose(-1, -2)
        scores = torch.where(mask == 0, scores, mask)
        return self.joined(functional.softmax(scores, -1) @ value)


class Turned(Attention):
    """Keys and queries are normalized and turned by their places, the mask added, softmax written out."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.arange(PLACES)[:, None] / 100 ** (torch.arange(PART // 2) / (PART // 2))
        self.register_buffer("cos", torch.cos(angles).repeat(1, 2))
        self.register_buffer("sin", torch.sin(angles).repeat(1, 2))
        self.norms = nn.ModuleList(nn.LayerNorm(PART) for _ in range(2))

    def turned(self, x: Any) -> Any:
        first, second = x[..., : PART // 2], x[..., PART // 2 :]
        return x * self.cos + torch.cat([-second, first], -1) * self.sin

    def forward(self, x: Any, mask: Any) -> Any:
        query, key, value = self.parts(x)
        query, key = self.turned(self.norms[0](query)), self.turned(self.norms[1](key))
        scores = query @ key.transpose(-1, -2) / math.sqrt(PART) + mask
        return self.joined(functional.softmax(scores, -1) @ value)


class Network(nn.Module):
    """Two layers over tokens. `before`: norms come before what they belong to, as in GPT, and not after."""

    def __init__(self, attention: type[Attention], *, causal: bool, before: bool, mask: float) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Parameter(torch.randn(1, PLACES, WIDTH))
        self.attention = nn.ModuleList(attention() for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(5))
        self.wide = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)) for _ in range(2)
        )
        self.head = nn.Linear(WIDTH, WORDS)
        self.causal, self.before, self.mask = causal, before, mask
        seen = torch.ones(PLACES, PLACES).tril()
        self.register_buffer("hidden", torch.where(seen == 1, 0.0, torch.tensor(mask))[None, None])

    def forward(self, tokens: Any, kept: Any) -> Any:
        x = self.words(tokens) + self.places
        mask = self.hidden
        if not self.causal:
            mask = torch.where(kept[:, None, None] > 0.5, torch.tensor(0.0), torch.tensor(self.mask))
        else:
            x = x * kept[:, :, None]
        for layer, (attention, wide) in enumerate(zip(self.attention, self.wide, strict=True)):
            one, two = self.norms[2 * layer], self.norms[2 * layer + 1]
            if self.before:
                x = x + attention(one(x), mask)
                x = x + wide(two(x))
            else:
                x = one(x + attention(x, mask))
                x = two(x + wide(x))
        return self.head(self.norms[4](x))


NETWORKS: dict[str, dict[str, Any]] = {
    "BERT": {"attention": Added, "causal": False, "before": False},
    "encoder of chosen scores": {"attention": Chosen, "causal": False, "before": True},
    "GPT": {"attention": Added, "causal": True, "before": True},
    "decoder with turned keys": {"attention": Turned, "causal": True, "before": True},
}
"""The four networks, by name, and what they are made of."""


class Converted(NamedTuple):
    """A network as a Program that holds its weights, and inputs of it."""

    program: Program
    inputs: dict[str, np.ndarray[Any, Any]]


def converted(name: str, mask: float, precision: str) -> Converted:
    """Return a network as coremltools converts it to "fp32" or "fp16"."""
    torch.manual_seed(29)
    network = Network(**NETWORKS[name], mask=mask).eval()
    kept = np.ones((1, PLACES), np.float32)
    kept[0, -3:] = 0 if not network.causal else 0.5
    inputs: dict[str, Any] = {"tokens": np.arange(3, 3 + 4 * PLACES, 4, dtype=np.int32)[None], "kept": kept}
    with warnings.catch_warnings(), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(network, tuple(map(torch.from_numpy, inputs.values())), check_trace=False)
        made = ct.convert(
            traced,
            inputs=[ct.TensorType(each, array.shape, dtype=array.dtype) for each, array in inputs.items()],
            compute_precision={"fp32": ct.precision.FLOAT32, "fp16": ct.precision.FLOAT16}[precision],
            minimum_deployment_target=ct.target.iOS17,
            skip_model_load=True,
        )
        path = Path(folder) / "model.mlpackage"
        made.save(str(path))
        model = miltext.load(path)
        program = Program()
        program.CopyFrom(model.program)
        _hold_weights(program, Evaluator(model), inputs)
    return Converted(program, inputs)


def _hold_weights(program: Program, evaluator: Evaluator, inputs: Mapping[str, Any]) -> None:
    """Write into a Program what its constants have in files."""
    for operation in block_of(program).operations:
        if operation.type == "const" and operation.attributes["val"].WhichOneof("value") == "blobFileValue":
            name = operation.outputs[0].name
            hold(operation, evaluator.run(inputs, values=[name])[name])


def block_of(program: Program) -> Block:
    """Return the block of a network."""
    block = own_block(program.functions["main"])
    assert block is not None
    return block


def held(operation: Operation) -> np.ndarray[Any, Any]:
    """Return the numbers of a const of floats."""
    kind = read_type(operation.outputs[0].type)
    assert isinstance(kind, TensorType)
    tensor = operation.attributes["val"].immediateValue.tensor
    if kind.dtype == "fp16":
        return np.frombuffer(tensor.bytes.values, np.float16).reshape(kind.shape)
    return np.array(tensor.floats.values, np.float32).reshape(kind.shape)


def hold(operation: Operation, array: np.ndarray[Any, Any]) -> None:
    """Have a const of floats hold other numbers, of its type."""
    kind = read_type(operation.outputs[0].type)
    assert isinstance(kind, TensorType)
    value = Value(type=write_type(kind))
    if kind.dtype == "fp16":
        value.immediateValue.tensor.bytes.values = array.astype(np.float16).tobytes()
    else:
        assert BY_NAME[kind.dtype].bits == 32
        value.immediateValue.tensor.floats.values.extend(array.astype(np.float32).reshape(-1).tolist())
    operation.attributes["val"].CopyFrom(value)
