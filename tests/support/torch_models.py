"""Models of torch with fixed random weights, of the kinds that people convert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    """A residual network: batch norms, strides, a projection beside a block, an average over each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        sizes = [(16, 16, 1), (16, 32, 2), (32, 64, 2)]
        self.blocks = nn.ModuleList(self.block(*size) for size in sizes)
        self.beside = nn.ModuleList(
            nn.Sequential(nn.Conv2d(given, made, 1, stride, bias=False), nn.BatchNorm2d(made))
            for given, made, stride in sizes
        )
        self.head = nn.Linear(64, 10)

    @staticmethod
    def block(given: int, made: int, stride: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(given, made, 3, stride, 1, bias=False),
            nn.BatchNorm2d(made),
            nn.ReLU(),
            nn.Conv2d(made, made, 3, 1, 1, bias=False),
            nn.BatchNorm2d(made),
        )

    def forward(self, x: Any) -> Any:
        x = self.pool(self.stem(x))
        for block, beside in zip(self.blocks, self.beside, strict=True):
            x = functional.relu(block(x) + beside(x))
        return self.head(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


class Mobile(nn.Module):
    """A network for phones: convolutions of each channel alone, hard swish, and channels that weigh each other."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
        self.blocks = nn.ModuleList(self.block(*size) for size in [(16, 48, 3, 1), (16, 64, 5, 2)])
        self.weighing = nn.ModuleList(
            nn.Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(size, 8, 1), nn.ReLU(), nn.Conv2d(8, size, 1), nn.Hardsigmoid()
            )
            for size in (48, 64)
        )
        self.narrow = nn.ModuleList(
            nn.Sequential(nn.Conv2d(size, 16, 1, bias=False), nn.BatchNorm2d(16)) for size in (48, 64)
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(16, 32), nn.Hardswish(), nn.Linear(32, 7), nn.Softmax(1))

    @staticmethod
    def block(given: int, wide: int, kernel: int, stride: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(given, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.Hardswish(),
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
        )

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        for block, weighing, narrow in zip(self.blocks, self.weighing, self.narrow, strict=True):
            wide = block(x)
            made = narrow(wide * weighing(wide))
            x = x + made if x.shape == made.shape else made
        return self.head(functional.avg_pool2d(x, x.shape[-1]))


class Attention(nn.Module):
    """Attention of several heads, in which each place looks at all.

    All sizes are Python's numbers: coremltools 9 cannot convert those that torch takes off a tensor beside numpy 2.4.
    """

    def __init__(self, places: int, size: int, heads: int) -> None:
        super().__init__()
        self.whole, self.parts = (1, places, size), (1, places, heads, size // heads)
        self.asked, self.held, self.told, self.out = (nn.Linear(size, size) for _ in range(4))

    def forward(self, x: Any) -> Any:
        asked, held, told = (each(x).reshape(self.parts).transpose(1, 2) for each in (self.asked, self.held, self.told))
        found = functional.scaled_dot_product_attention(asked, held, told)
        return self.out(found.transpose(1, 2).reshape(self.whole))


class Encoder(nn.Module):
    """A transformer encoder over tokens: an embedding, two layers with norms before, GELU."""

    def __init__(self, places: int = 12, size: int = 32) -> None:
        super().__init__()
        self.words = nn.Embedding(50, size)
        self.places = nn.Parameter(torch.randn(1, places, size))
        self.attention = nn.ModuleList(Attention(places, size, 4) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(5))
        self.wide = nn.ModuleList(
            nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size)) for _ in range(2)
        )

    def forward(self, tokens: Any) -> Any:
        x = self.words(tokens) + self.places
        for layer in range(2):
            x = x + self.attention[layer](self.norms[2 * layer](x))
            x = x + self.wide[layer](self.norms[2 * layer + 1](x))
        return self.norms[4](x)


class Recurrent(nn.Module):
    """A bidirectional LSTM of two layers, then a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(12, 16, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(32, 20, batch_first=True)
        self.head = nn.Linear(20, 5)

    def forward(self, x: Any) -> Any:
        sequence, (hidden, _) = self.lstm(x)
        made, last = self.gru(sequence)
        return self.head(made), hidden, last


class UNet(nn.Module):
    """A network down and up again: a transposed convolution, two ways to resize, and what is handed across."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(self.pair(*size) for size in [(3, 8), (8, 16), (16, 32)])
        self.up = nn.ConvTranspose2d(32, 16, 2, 2)
        self.after = nn.ModuleList(self.pair(*size) for size in [(32, 16), (24, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    @staticmethod
    def pair(given: int, made: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(given, made, 3, 1, 1), nn.GroupNorm(4, made), nn.SiLU())

    def forward(self, x: Any) -> Any:
        first = self.down[0](x)
        second = self.down[1](functional.max_pool2d(first, 2))
        third = self.down[2](functional.avg_pool2d(second, 2))
        x = self.after[0](torch.cat([self.up(third), second], 1))
        x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        x = self.after[1](torch.cat([x, first], 1))
        return torch.sigmoid(functional.interpolate(self.head(x), scale_factor=2, mode="nearest"))


class Decoder(nn.Module):
    """A decoder that keeps what it has seen: a cache of keys and values, and a running sum."""

    def __init__(self, size: int = 16, places: int = 4) -> None:
        super().__init__()
        self.asked, self.held, self.told, self.out = (nn.Linear(size, size) for _ in range(4))
        self.register_buffer("keys", torch.zeros(places, size))
        self.register_buffer("values", torch.zeros(places, size))
        self.register_buffer("total", torch.zeros(1, size))

    def forward(self, x: Any, here: Any) -> Any:
        # `here` is 1 at the place of this step, and 0 elsewhere.
        self.keys.mul_(1 - here).add_(here * self.held(x))
        self.values.mul_(1 - here).add_(here * self.told(x))
        self.total.add_(x)
        weights = functional.softmax(self.asked(x) @ self.keys.t() / 4, -1)
        return self.out(weights @ self.values) + self.total


def fixed(make: Callable[[], nn.Module]) -> nn.Module:
    """Return a model with weights that are always the same, and batch norms that have seen something."""
    torch.manual_seed(15)
    model = make().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
    return model


def on_grid(model: nn.Module) -> nn.Module:
    """Return a model whose weights are whole numbers of 64ths: sums of their products lose nothing in fp32."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(64).round_().div_(64)
    return model
