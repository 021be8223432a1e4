"""Small networks of torch of many kinds, with fixed random weights, for what hardly depends on the sizes of arrays.

They have the layers of real ones in as many operations: what a network repeats is as much repeated here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.torch_networks import Network, VisionTransformer, resnet18

Depth = Callable[[int], int]
"""How many layers a network has in this run, from how many it has in a whole one."""


def separable(depth: int) -> nn.Module:
    """Make convolutions by channel and across them in turns, as on phones (Howard et al. 2017)."""
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1)]
    for _ in range(depth):
        layers += [nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16), nn.ReLU6()]
        layers += [nn.Conv2d(16, 16, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Recurrent(nn.Module):
    """Layers of an LSTM in both directions, then of a GRU."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.both = nn.LSTM(16, 16, depth, bidirectional=True, batch_first=True)
        self.gated = nn.GRU(32, 16, 2, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return self.out(self.gated(self.both(x)[0])[0])


class UNet(nn.Module):
    """Down to small images and up again, beside what goes past (Ronneberger et al. 2015)."""

    def __init__(self, depth: int, width: int = 8) -> None:
        super().__init__()
        self.down = nn.ModuleList(_down(width if level else 3, width) for level in range(depth))
        self.up = nn.ModuleList(nn.ConvTranspose2d(width, width, 2, 2) for _ in range(depth))
        self.mixed = nn.ModuleList(nn.Sequential(nn.Conv2d(2 * width, width, 3, 1, 1), nn.GELU()) for _ in range(depth))

    def forward(self, x: Any) -> Any:
        past = []
        for layer in self.down:
            past.append(layer(x))
            x = functional.max_pool2d(past[-1], 2)
        for up, mixed, beside in zip(self.up, self.mixed, reversed(past), strict=True):
            x = mixed(torch.cat([up(x), beside], 1))
        return x


def _down(given: int, width: int) -> nn.Module:
    first, second = nn.Conv2d(given, width, 3, 1, 1), nn.Conv2d(width, width, 3, 1, 1)
    return nn.Sequential(first, nn.InstanceNorm2d(width), nn.GELU(), second, nn.SiLU())


class Masked(nn.Module):
    """A layer of an encoder of texts, with a mask (Devlin et al. 2018)."""

    def __init__(self, places: int, width: int, heads: int) -> None:
        super().__init__()
        self.whole, self.parts = (1, places, width), (1, places, heads, width // heads)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any, mask: Any) -> Any:
        y = self.before(x)
        query, key, value = (
            layer(y).reshape(self.parts).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-1, -2) / self.parts[-1] ** 0.5 + mask
        x = x + self.out((functional.softmax(scores, -1) @ value).transpose(1, 2).reshape(self.whole))
        return x + self.wide(self.after(x))


class Encoder(nn.Module):
    """An encoder of texts: words to vectors, then layers under one mask."""

    def __init__(self, depth: int, places: int = 16, width: int = 32) -> None:
        super().__init__()
        self.words = nn.Embedding(50, width)
        self.layers = nn.ModuleList(Masked(places, width, 4) for _ in range(depth))

    def forward(self, words: Any, mask: Any) -> Any:
        x = self.words(words)
        for layer in self.layers:
            x = layer(x, mask)
        return x


def small_network(name: str, depth: Depth) -> Network:
    """Make a network of `converted.NETWORKS`."""
    torch.set_num_threads(1)
    torch.manual_seed(15)
    words = {"words": np.zeros((1, 16), np.int32), "mask": np.zeros((1, 1, 16, 16), np.float32)}
    made: dict[str, Callable[[], tuple[nn.Module, dict[str, Any]]]] = {
        "resnet18": lambda: (resnet18(), _image(64)),
        "a vision transformer": lambda: (VisionTransformer(32, 8, 48, depth(12), 4), _image(32)),
        "a network of depthwise convolutions": lambda: (separable(depth(40)), _image(32)),
        "a recurrent network": lambda: (Recurrent(depth(6)), {"x": np.zeros((1, 8, 16), np.float32)}),
        "a U-Net": lambda: (UNet(depth(6)), _image(64)),
        "a BERT with a mask": lambda: (Encoder(depth(24)), words),
    }
    module, step = made[name]()
    return Network(module.eval(), [step])


def _image(side: int) -> dict[str, Any]:
    return {"x": np.zeros((1, 3, side, side), np.float32)}
