"""Small networks of torch of many kinds, with fixed random weights, for what holds of any network that is converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from support.torch_models import Attention, Encoder, Mobile, Recurrent, Residual, UNet, fixed
from torch import nn
from torch.nn import functional


class Ordinary(NamedTuple):
    """How a network is made, and the shape of its input; `words`: how many words it knows, if it takes these."""

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    words: int = 0

    def whole(self) -> tuple[nn.Module, torch.Tensor]:
        """Return the network with weights that are always the same, and an input of it."""
        network = fixed(self.make)
        torch.manual_seed(29)
        if self.words:
            return network, torch.randint(0, self.words, self.shape, dtype=torch.int32)
        return network, torch.randn(self.shape)


class Beside(nn.Module):
    """A network whose input goes past it."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        return x + self.layers(x)


class Last(nn.Module):
    """A norm over the channels of images, which come last for it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Scaled(nn.Module):
    """Channels that are scaled by numbers that were small at first (Touvron et al. 2021)."""

    def __init__(self, width: int, at_first: float) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((width, 1, 1), at_first))

    def forward(self, x: Any) -> Any:
        return x * self.scale


def modern(at_first: float = 0.1) -> nn.Module:
    """Make convolutions with the norms of transformers (Liu et al. 2022)."""
    wide = [nn.Conv2d(24, 96, 1), nn.GELU(), nn.Conv2d(96, 24, 1), Scaled(24, at_first)]
    blocks = [Beside(nn.Conv2d(24, 24, 7, 1, 3, groups=24), Last(24), *wide) for _ in range(3)]
    return nn.Sequential(nn.Conv2d(3, 24, 4, 4), Last(24), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def _swapped() -> nn.Module:
    class Swapped(nn.Module):
        """Layers across places and across channels in turns (Tolstikhin et al. 2021)."""

        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(24) for _ in range(4))
            self.places = nn.ModuleList(self.wide(16, 32) for _ in range(2))
            self.channels = nn.ModuleList(self.wide(24, 48) for _ in range(2))

        @staticmethod
        def wide(size: int, inner: int) -> nn.Module:
            return nn.Sequential(nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, size))

        def forward(self, x: Any) -> Any:
            for layer in range(2):
                x = x + self.places[layer](self.norms[2 * layer](x).transpose(1, 2)).transpose(1, 2)
                x = x + self.channels[layer](self.norms[2 * layer + 1](x))
            return x.mean(1)

    return Swapped()


class Waves(nn.Module):
    """Gated convolutions of a row that look further back each (van den Oord et al. 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.head = nn.Conv1d(1, 16, 1), nn.Conv1d(16, 8, 1)
        self.gated = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2**layer) for layer in range(5))
        self.kept = nn.ModuleList(nn.Conv1d(16, 16, 1) for _ in range(5))

    def forward(self, x: Any) -> Any:
        x, told = self.first(x), 0
        for layer, (gated, kept) in enumerate(zip(self.gated, self.kept, strict=True)):
            made, gate = gated(functional.pad(x, (2**layer, 0))).chunk(2, 1)
            made = kept(made.tanh() * gate.sigmoid())
            told, x = told + made, x + made
        return functional.log_softmax(self.head(functional.relu(told)), 1)


class Spectrum(nn.Module):
    """A spectrum by products with waves, its logarithm, and layers over that."""

    def __init__(self) -> None:
        super().__init__()
        turns = torch.arange(33)[:, None] * torch.arange(64) * (2 * torch.pi / 64)
        waves = torch.cat([turns.cos(), turns.sin()]) * torch.hann_window(64)
        self.register_buffer("waves", waves[:, None])
        self.register_buffer("bands", torch.rand(20, 33) ** 4)
        self.layers = nn.Sequential(nn.Conv1d(20, 24, 3, 1, 1), nn.BatchNorm1d(24), nn.ReLU(), nn.Conv1d(24, 6, 3))

    def forward(self, x: Any) -> Any:
        made = functional.conv1d(x, self.waves, stride=16)
        power = made[:, :33] ** 2 + made[:, 33:] ** 2
        return self.layers(torch.log(self.bands @ power + 1e-5)).mean(2)


class Sharper(nn.Module):
    """Images of twice the size, by shuffled channels, beside those that are interpolated."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1), nn.PReLU(16), nn.Conv2d(16, 12, 3, 1, 1))

    def forward(self, x: Any) -> Any:
        larger = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return (larger + functional.pixel_shuffle(self.layers(x), 2)).clamp(-3, 3)


class Pictured(nn.Module):
    """Images of noise: transposed convolutions and norms of each image."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(12, 16 * 16)
        self.layers = nn.Sequential(
            *(nn.ConvTranspose2d(16, 12, 4, 2, 1), nn.InstanceNorm2d(12, affine=True), nn.LeakyReLU(0.2)),
            *(nn.ConvTranspose2d(12, 8, 4, 2, 1), nn.InstanceNorm2d(8, affine=True), nn.LeakyReLU(0.2)),
            *(nn.Conv2d(8, 3, 3, 1, 1), nn.Tanh()),
        )

    def forward(self, x: Any) -> Any:
        return self.layers(self.first(x).reshape(1, 16, 4, 4))


class Between(nn.Module):
    """What is known of an input as a mean and a spread, and back (Kingma and Welling 2013), without chance."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Linear(40, 32), nn.Softplus(), nn.Linear(32, 16), nn.ELU())
        self.mean, self.spread = nn.Linear(16, 6), nn.Linear(16, 6)
        self.up = nn.Sequential(nn.Linear(6, 32), nn.SELU(), nn.Linear(32, 40), nn.Sigmoid())

    def forward(self, x: Any) -> Any:
        x = self.down(x)
        mean, spread = self.mean(x), self.spread(x)
        apart = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1)
        return self.up(mean + (0.5 * spread).exp() * 0.3), apart


class Found(nn.Module):
    """Boxes and scores of places in images, out of a grid (Redmon et al. 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 21, 3, 2, 1))
        rows, columns = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
        self.register_buffer("grid", torch.stack([columns, rows], -1)[None, None])
        self.register_buffer("sizes", torch.tensor([[10, 13], [16, 30], [33, 23]]).reshape(1, 3, 1, 1, 2).float())

    def forward(self, x: Any) -> Any:
        made = self.layers(x).reshape(1, 3, 7, 8, 8).permute(0, 1, 3, 4, 2).sigmoid()
        middle = (made[..., :2] * 2 - 0.5 + self.grid) * 4
        size = (made[..., 2:4] * 2) ** 2 * self.sizes
        boxes = torch.cat([middle - size / 2, middle + size / 2], -1)
        return boxes.reshape(1, -1, 4), (made[..., 4:5] * made[..., 5:]).reshape(1, -1, 2)


class Turned(nn.Module):
    """A layer of a decoder with root mean squares, turned keys and gated width (Touvron et al. 2023)."""

    def __init__(self, hidden: float = -torch.inf, places: int = 10, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(40, width), nn.Linear(width, 40, bias=False)
        self.whole, self.parts = (1, places, width), (1, places, heads, width // heads)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(width, 80), nn.Linear(width, 80), nn.Linear(80, width)
        self.weights = nn.ParameterList(torch.rand(width) + 0.5 for _ in range(3))
        angles = torch.arange(places)[:, None] * 10000 ** (-torch.arange(width // heads // 2) / (width // heads // 2))
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))
        self.register_buffer("mask", torch.full((places, places), hidden).triu(1))

    def norm(self, x: Any, place: int) -> Any:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weights[place]

    def turned(self, x: Any) -> Any:
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat([-second, first], -1) * self.sin

    def forward(self, words: Any) -> Any:
        x = self.words(words)
        y = self.norm(x, 0)
        query, key, value = (each(y).reshape(self.parts).transpose(1, 2) for each in (self.query, self.key, self.value))
        scores = self.turned(query) @ self.turned(key).transpose(-1, -2) / self.parts[-1] ** 0.5 + self.mask
        x = x + self.out((functional.softmax(scores, -1) @ value).transpose(1, 2).reshape(self.whole))
        y = self.norm(x, 1)
        return self.head(self.norm(x + self.down(functional.silu(self.gate(y)) * self.up(y)), 2))


class Crossed(nn.Module):
    """Learned questions that look at an image (Carion et al. 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(3, 32, 8, 8), nn.GroupNorm(8, 32))
        self.asked = nn.Parameter(torch.randn(1, 6, 32))
        self.query, self.key, self.value = (nn.Linear(32, 32) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 5)

    def forward(self, x: Any) -> Any:
        seen = self.image(x).flatten(2).transpose(1, 2)
        weights = functional.softmax(self.query(self.asked) @ self.key(seen).transpose(1, 2) / 32**0.5, -1)
        return self.head(self.norm(self.asked + weights @ self.value(seen)))


class Alike(nn.Module):
    """Two halves of a batch as directions, and how alike these are (Radford et al. 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = (nn.Sequential(nn.Linear(20, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(2))

    def forward(self, x: Any) -> Any:
        one, other = functional.normalize(self.one(x[:4]), dim=-1), functional.normalize(self.other(x[4:]), dim=-1)
        return functional.softmax(14.3 * one @ other.t(), -1)


class Linked(nn.Module):
    """Nodes that get the mean of their neighbours (Kipf and Welling 2016)."""

    def __init__(self) -> None:
        super().__init__()
        links = ((torch.rand(14, 14) < 0.3) | torch.eye(14).bool()).float()
        self.register_buffer("links", links / links.sum(1, keepdim=True))
        self.first, self.second = nn.Linear(10, 24), nn.Linear(24, 4)

    def forward(self, x: Any) -> Any:
        return functional.log_softmax(self.second(self.links @ functional.relu(self.first(self.links @ x))), -1)


class Routed(nn.Module):
    """Experts, of which each place takes those that its gate chooses (Shazeer et al. 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)) for _ in range(4))

    def forward(self, x: Any) -> Any:
        scores = functional.softmax(self.gate(x), -1)
        least = scores.topk(2, -1)[0][..., -1:]
        kept = torch.where(scores >= least, scores, torch.zeros(()))
        kept = kept / kept.sum(-1, keepdim=True)
        return x + sum(kept[..., each, None] * expert(x) for each, expert in enumerate(self.experts))


class Chosen(nn.Module):
    """Slopes, thresholds and roundings written out by comparisons, as networks of people's own have them."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.three = nn.Linear(24, 48), nn.Linear(48, 48), nn.Linear(48, 6)

    def forward(self, x: Any) -> Any:
        x = self.one(x)
        x = torch.where(x > 0, x, 0.1 * x)
        x = self.two(x)
        x = x * (x > -0.5).float() * (x.abs() < 2).float()
        return self.three(x + 0.01 * (x * 8).floor() / 8)


class Stepped(nn.Module):
    """A cell that is unrolled over time, with what it summed so far."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.cell, self.head = nn.Linear(30, 20), nn.Linear(30, 20), nn.Linear(20, 3)

    def forward(self, x: Any) -> Any:
        state = x[:, 0, :1] * torch.zeros(1, 20)
        found = []
        for step in range(6):
            both = torch.cat([x[:, step], state], 1)
            gate = self.gate(both).sigmoid()
            state = state * gate + self.cell(both).tanh() * (1 - gate)
            found.append(self.head(state))
        return torch.stack(found, 1).cumsum(1)


class Windowed(nn.Module):
    """Attention in shifted windows, with a bias by distance (Liu et al. 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.inner = nn.Conv2d(3, 16, 4, 4), Attention(16, 16, 2)
        self.norm, self.after = nn.LayerNorm(16), nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        x = self.first(x).permute(0, 2, 3, 1)
        y = torch.roll(self.norm(x), (-2, -2), (1, 2)).reshape(1, 2, 4, 2, 4, 16).permute(0, 1, 3, 2, 4, 5)
        found = torch.cat([self.inner(each) for each in y.reshape(4, 16, 16).split(1)])
        found = found.reshape(1, 2, 2, 4, 4, 16).permute(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 16)
        return self.after(x + torch.roll(found, (2, 2), (1, 2))).mean((1, 2))


class Styled(nn.Module):
    """Products of channels, as of a style, of features of large numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 12, 3, 1, 1), nn.ReLU(), nn.Conv2d(12, 12, 3, 2, 1), nn.ReLU())

    def forward(self, x: Any) -> Any:
        made = self.layers(20 * x).flatten(2)
        return made @ made.transpose(1, 2) / made.shape[-1]


def _tabular() -> nn.Module:
    first = [nn.BatchNorm1d(30), nn.Linear(30, 64), nn.Mish(), nn.LayerNorm(64)]
    return nn.Sequential(*first, Beside(nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 64)), nn.Linear(64, 1))


def _solid() -> nn.Module:
    first = [nn.Conv3d(1, 8, 3, 1, 1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2)]
    return nn.Sequential(*first, nn.Conv3d(8, 12, 3), nn.ReLU(), nn.AvgPool3d(4), nn.Flatten())


class Sentence(nn.Module):
    """Words as vectors, convolutions over them, and the greatest of each (Kim 2014)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(60, 24)
        self.rows = nn.ModuleList(nn.Conv1d(24, 16, size) for size in (3, 4, 5))
        self.head = nn.Linear(48, 3)

    def forward(self, words: Any) -> Any:
        x = self.words(words).transpose(1, 2)
        return functional.softmax(self.head(torch.cat([functional.relu(row(x)).amax(2) for row in self.rows], 1)), -1)


ORDINARY: dict[str, Ordinary] = {
    "residual": Ordinary(Residual, (1, 3, 64, 64)),
    "for phones": Ordinary(Mobile, (1, 3, 48, 48)),
    "encoder": Ordinary(Encoder, (1, 12), 50),
    "recurrent": Ordinary(Recurrent, (1, 9, 12)),
    "u-net": Ordinary(UNet, (1, 3, 32, 32)),
    "convolutions with norms of transformers": Ordinary(modern, (1, 3, 32, 32)),
    "mixer": Ordinary(_swapped, (1, 16, 24)),
    "gated waves": Ordinary(Waves, (1, 1, 100)),
    "spectrum": Ordinary(Spectrum, (1, 1, 400)),
    "sharper images": Ordinary(Sharper, (1, 3, 16, 16)),
    "images of noise": Ordinary(Pictured, (1, 12)),
    "autoencoder": Ordinary(Between, (2, 40)),
    "detector": Ordinary(Found, (1, 3, 32, 32)),
    "decoder": Ordinary(Turned, (1, 10), 40),
    "decoder with the least mask": Ordinary(lambda: Turned(torch.finfo(torch.float32).min), (1, 10), 40),
    "questions to an image": Ordinary(Crossed, (1, 3, 32, 32)),
    "two towers": Ordinary(Alike, (8, 20)),
    "graph": Ordinary(Linked, (14, 10)),
    "experts": Ordinary(Routed, (1, 8, 16)),
    "comparisons": Ordinary(Chosen, (16, 24)),
    "unrolled": Ordinary(Stepped, (1, 6, 10)),
    "windows": Ordinary(Windowed, (1, 3, 32, 32)),
    "style": Ordinary(Styled, (1, 3, 32, 32)),
    "tables": Ordinary(_tabular, (5, 30)),
    "solid bodies": Ordinary(_solid, (1, 1, 12, 12, 12)),
    "sentences": Ordinary(Sentence, (1, 14), 60),
    "small scales": Ordinary(lambda: modern(1e-6), (1, 3, 32, 32)),
}
"""The networks by what they are."""
