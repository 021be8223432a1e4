"""Networks of torch with fixed random weights, as coremltools converts them: resnet18, ViT-B/16, a stateful decoder.

And small ones: depthwise convolutions, a U-Net, recurrent layers. They are those of the papers, in torch's own layers
(torchvision need not be installed). All sizes are numbers of Python, since coremltools 9 does not convert sizes that
torch takes off a tensor, beside numpy 2.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import coremltools
import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Two convolutions, and what goes past them (He et al. 2015)."""

    def __init__(self, given: int, made: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(given, made, 3, stride, 1, bias=False), nn.BatchNorm2d(made), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(made, made, 3, 1, 1, bias=False), nn.BatchNorm2d(made))
        self.past: nn.Module = nn.Identity()
        if stride != 1 or given != made:
            self.past = nn.Sequential(nn.Conv2d(given, made, 1, stride, bias=False), nn.BatchNorm2d(made))

    def forward(self, x: Any) -> Any:
        return functional.relu(self.second(self.first(x)) + self.past(x))


def resnet18() -> nn.Module:
    """Make resnet18: a stem, four pairs of blocks, an average, a linear layer."""
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    sizes = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    blocks = [block for given, made, stride in sizes for block in (Block(given, made, stride), Block(made, made, 1))]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class Layer(nn.Module):
    """A layer of a transformer: attention and a wide part, each after a norm and beside what goes past it."""

    def __init__(self, places: int, width: int, heads: int) -> None:
        super().__init__()
        self.whole, self.parts = (1, places, width), (1, places, 3, heads, width // heads)
        self.before, self.after = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        query, key, value = self.mixed(self.before(x)).reshape(self.parts).permute(2, 0, 3, 1, 4).unbind(0)
        found = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(found.transpose(1, 2).reshape(self.whole))
        return x + self.wide(self.after(x))


class VisionTransformer(nn.Module):
    """A transformer over patches of an image (Dosovitskiy et al. 2020): ViT-B/16 in the sizes by default."""

    def __init__(self, side: int = 224, patch: int = 16, width: int = 768, depth: int = 12, heads: int = 12) -> None:
        super().__init__()
        places = (side // patch) ** 2 + 1
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.randn(1, 1, width) / 50)
        self.places = nn.Parameter(torch.randn(1, places, width) / 50)
        self.layers = nn.Sequential(*(Layer(places, width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 1000)

    def forward(self, x: Any) -> Any:
        x = torch.cat([self.first, self.patches(x).flatten(2).transpose(1, 2)], 1) + self.places
        return self.head(self.norm(self.layers(x))[:, 0])


class Decoder(nn.Module):
    """A decoder of one token at a time, which keeps the keys and values of those before.

    `here` is 1 at the place of the token, and 0 elsewhere; `mask` is added to the scores of the places.
    """

    def __init__(self, words: int = 8000, places: int = 128, width: int = 512, depth: int = 6, heads: int = 8) -> None:
        super().__init__()
        self.words, self.whole, self.parts = nn.Embedding(words, width), (1, width), (3, heads, 1, width // heads)
        self.places = nn.Parameter(torch.randn(places, width) / 50)
        self.before = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.mixed = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(depth))
        self.out = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.wide = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(depth)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)
        self.register_buffer("keys", torch.zeros(depth, heads, places, width // heads))
        self.register_buffer("values", torch.zeros(depth, heads, places, width // heads))

    def forward(self, token: Any, mask: Any, here: Any) -> Any:
        x, written = self.words(token)[0] + here @ self.places, here.reshape(1, -1, 1)
        for layer, wide in enumerate(self.wide):
            query, key, value = self.mixed[layer](self.before[layer](x)).reshape(self.parts).unbind(0)
            self.keys[layer] = self.keys[layer] * (1 - written) + key * written
            self.values[layer] = self.values[layer] * (1 - written) + value * written
            scores = query @ self.keys[layer].transpose(-1, -2) / self.parts[-1] ** 0.5 + mask
            x = x + self.out[layer]((functional.softmax(scores, -1) @ self.values[layer]).reshape(self.whole))
            x = x + wide(x)
        return self.head(self.norm(x))


def depthwise() -> nn.Module:
    """Make six convolutions of each of 96 channels alone, 5 by 5, as in the middle of networks for phones."""
    layers = ((nn.Conv2d(96, 96, 5, 1, 2, groups=96), nn.ReLU6()) for _ in range(6))
    return nn.Sequential(*(module for layer in layers for module in layer))


class UNet(nn.Module):
    """A U-Net of 8 to 32 channels (Ronneberger et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(self.pair(*sizes) for sizes in [(3, 8), (8, 16), (16, 32)])
        self.up = nn.ModuleList(nn.ConvTranspose2d(*sizes, 2, 2) for sizes in [(32, 16), (16, 8)])
        self.after = nn.ModuleList(self.pair(*sizes) for sizes in [(32, 16), (16, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    @staticmethod
    def pair(given: int, made: int) -> nn.Module:
        return nn.Sequential(
            *(nn.Conv2d(given, made, 3, 1, 1, bias=False), nn.BatchNorm2d(made), nn.ReLU()),
            *(nn.Conv2d(made, made, 3, 1, 1, bias=False), nn.BatchNorm2d(made), nn.ReLU()),
        )

    def forward(self, x: Any) -> Any:
        first = self.down[0](x)
        second = self.down[1](functional.max_pool2d(first, 2))
        x = self.down[2](functional.max_pool2d(second, 2))
        x = self.after[0](torch.cat([self.up[0](x), second], 1))
        return self.head(self.after[1](torch.cat([self.up[1](x), first], 1)))


class Recurrent(nn.Module):
    """One recurrent layer, of 32 numbers to 64, and what it makes of each step."""

    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.layer: Any = kind(32, 64, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.layer(x)[0]


class Network(NamedTuple):
    """A network, the arrays by name of each step of a run, and the names of its states."""

    module: nn.Module
    steps: list[dict[str, np.ndarray[Any, Any]]]
    states: tuple[str, ...] = ()

    def run(self) -> np.ndarray[Any, Any]:
        """Return what the last step computes, states being zeros at first."""
        with torch.no_grad():
            for name in self.states:
                getattr(self.module, name).zero_()
            for step in self.steps:
                made = self.module(*map(torch.from_numpy, step.values()))
        return np.asarray(made)

    def convert(self, precision: str, path: Path) -> None:
        """Write the network as a model package that computes in "fp32" or "fp16"; states are fp16, as they must be."""
        example = {name: torch.from_numpy(array) for name, array in self.steps[0].items()}
        with warnings.catch_warnings(), torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            logging.disable(logging.ERROR)
            traced = torch.jit.trace(self.module, tuple(example.values()), check_trace=False)
            made = coremltools.convert(traced, **self._options(precision, example))
            logging.disable(logging.NOTSET)
        made.save(str(path))

    def _options(self, precision: str, example: Mapping[str, Any]) -> dict[str, Any]:
        types = {name: np.int32 if tensor.dtype == torch.int32 else np.float32 for name, tensor in example.items()}
        shapes = {name: tuple(getattr(self.module, name).shape) for name in self.states}
        state = {name: coremltools.TensorType(shape=shape, dtype=np.float16) for name, shape in shapes.items()}
        return {
            "inputs": [
                coremltools.TensorType(name, tensor.shape, dtype=types[name]) for name, tensor in example.items()
            ],
            "states": [coremltools.StateType(wrapped, name=name) for name, wrapped in state.items()] or None,
            "compute_precision": {"fp32": coremltools.precision.FLOAT32, "fp16": coremltools.precision.FLOAT16}[
                precision
            ],
            "minimum_deployment_target": coremltools.target.iOS18,
            "skip_model_load": True,
        }


def network(name: str, size: int) -> Network:
    """Make a network of `evaluation`, for one thread; `size` is the side of an image, a width, or a number of steps."""
    torch.set_num_threads(1)
    torch.manual_seed(15)
    if name == "a stateful decoder":
        module = Decoder(width=size).eval()
        return Network(module, [_token(place, len(module.places)) for place in range(3)], ("keys", "values"))
    module, shape = MAKERS[name](size)
    return Network(module.eval(), [{"x": np.random.default_rng(15).random(shape, np.float32)}])


MAKERS: dict[str, Callable[[int], tuple[nn.Module, tuple[int, ...]]]] = {
    "resnet18": lambda size: (resnet18(), (1, 3, size, size)),
    "ViT-B/16": lambda size: (VisionTransformer(size), (1, 3, size, size)),
    "depthwise convolutions, 5 by 5": lambda size: (depthwise(), (1, 96, size, size)),
    "a small U-Net": lambda size: (UNet(), (1, 3, size, size)),
    "a small LSTM": lambda size: (Recurrent(nn.LSTM), (1, size, 32)),
    "a small GRU": lambda size: (Recurrent(nn.GRU), (1, size, 32)),
}
"""The networks without states, and the shapes of what they take, by their size."""


def _token(place: int, places: int) -> dict[str, np.ndarray[Any, Any]]:
    seen = np.arange(places)[None] <= place
    here = np.arange(places)[None] == place
    token = np.array([[7 * place + 1]], np.int32)
    return {"token": token, "mask": np.where(seen, 0, -1e4).astype(np.float32), "here": here.astype(np.float32)}
