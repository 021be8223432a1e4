"""Torch modules of ordinary kinds, whose conversion writes sizes into constants. They get torch when they are made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Sizes = tuple[int, ...]
Enter: TypeAlias = "Callable[[Callable[[Any, Any, Any], Any]], None]"


class Case(NamedTuple):
    """A module, the sizes of its input, and others to try; `make` is given `torch`."""

    make: Callable[[Any], Any]
    old: Sizes
    new: tuple[Sizes, ...]


CASES: dict[str, Case] = {}

IMAGE = (1, 4, 16, 16)
IMAGES = ((1, 4, 24, 16), (1, 4, 24, 24), (1, 4, 12, 16), (1, 4, 8, 8), (3, 4, 16, 16))
ROW = (1, 4, 16)
ROWS = ((1, 4, 24), (1, 4, 12), (1, 4, 8), (1, 4, 32), (2, 4, 16))
TOKENS = (1, 12, 16)
SEQUENCES = ((1, 20, 16), (1, 18, 16), (1, 6, 16), (2, 12, 16), (2, 20, 16))


def _simple(name: str, old: Sizes, new: tuple[Sizes, ...], forward: Callable[[Any, Any], Any]) -> None:
    """Enter a module that has no weights: `forward` is given what torch has, and the input."""

    def make(t: Any) -> Any:
        class Simple(t.nn.Module):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return forward(t, x)

        return Simple()

    CASES[name] = Case(make, old, new)


def _layers(name: str, old: Sizes, new: tuple[Sizes, ...], layers: Callable[[Any], list[Any]]) -> None:
    """Enter a module that is a sequence of layers."""
    CASES[name] = Case(lambda t: t.nn.Sequential(*layers(t.nn)), old, new)


def _with(name: str, old: Sizes, new: tuple[Sizes, ...], parts: Callable[[Any], dict[str, Any]]) -> Enter:
    """Return a decorator that enters a module with parts: the function is given torch, the module and the input."""

    def enter(forward: Callable[[Any, Any, Any], Any]) -> None:
        def make(t: Any) -> Any:
            class Whole(t.nn.Module):  # type: ignore[misc]
                def __init__(self) -> None:
                    super().__init__()
                    for key, part in parts(t).items():
                        if isinstance(part, t.Tensor):
                            self.register_buffer(key, part)
                        else:
                            setattr(self, key, part)

                def forward(self, x: Any) -> Any:
                    return forward(t, self, x)

            return Whole()

        CASES[name] = Case(make, old, new)

    return enter


def _s(x: Any) -> tuple[int, ...]:
    """Return the sizes of a tensor as numbers, which a trace takes for constants."""
    return tuple(map(int, x.shape))


def _f(t: Any) -> Any:
    return t.nn.functional


_simple("slice all but two", IMAGE, IMAGES, lambda t, x: x[:, :, :-2].relu())
_simple("slice both ends", IMAGE, IMAGES, lambda t, x: x[:, :, 2:-2, 1:-1] * 2)
_simple("slice the last three", ROW, ROWS, lambda t, x: x[:, :, -3:].relu())
_simple("crop to half", IMAGE, IMAGES, lambda t, x: x[:, :, : _s(x)[2] // 2, : _s(x)[3] // 2].relu())
_simple(
    "crop the centre",
    IMAGE,
    IMAGES,
    lambda t, x: x[:, :, _s(x)[2] // 4 : 3 * _s(x)[2] // 4, _s(x)[3] // 4 : 3 * _s(x)[3] // 4].relu(),
)
_simple("differences", ROW, ROWS, lambda t, x: x[:, :, 1:] - x[:, :, :-1])
_simple("every second", ROW, ROWS, lambda t, x: x[:, :, ::2].tanh())
_simple("the last one", TOKENS, SEQUENCES, lambda t, x: x[:, -1].relu())
_simple("the first one", TOKENS, SEQUENCES, lambda t, x: x[:, 0].relu())
_simple("the middle one", TOKENS, SEQUENCES, lambda t, x: x[:, _s(x)[1] // 2].relu())
_simple("roll", IMAGE, IMAGES, lambda t, x: t.roll(x, (3, 2), (2, 3)).relu())
_simple("roll by half", ROW, ROWS, lambda t, x: t.roll(x, _s(x)[2] // 2, 2).relu())
_simple("flip", ROW, ROWS, lambda t, x: x.flip(2).relu())
_simple("chunk in two", ROW, ROWS, lambda t, x: t.cat([c.relu() for c in x.chunk(2, 2)[::-1]], 1))
_simple("split by six", TOKENS, SEQUENCES, lambda t, x: t.stack([c.sum(1) for c in x.split(6, 1)], 1))
_simple("flatten", IMAGE, IMAGES, lambda t, x: x.flatten(1).relu())
_simple("view to rows", IMAGE, IMAGES, lambda t, x: x.view(_s(x)[0], _s(x)[1], -1).softmax(-1))
_simple(
    "patches by view",
    IMAGE,
    IMAGES,
    lambda t, x: x.reshape(_s(x)[0], 4, _s(x)[2] // 4, 4, _s(x)[3] // 4, 4).permute(0, 2, 4, 3, 5, 1).flatten(1, 2),
)
_simple("expand", TOKENS, SEQUENCES, lambda t, x: x.mean(1, keepdim=True).expand(-1, _s(x)[1], -1) + 1)
_simple("repeat", ROW, ROWS, lambda t, x: x.mean(2, keepdim=True).repeat(1, 2, _s(x)[2]) * 3)
_simple("repeat twice", ROW, ROWS, lambda t, x: x.repeat(1, 1, 2) * 3)
_simple("pad by two", IMAGE, IMAGES, lambda t, x: _f(t).pad(x, (2, 2, 2, 2)).relu())
_simple("pad to 40", IMAGE, IMAGES, lambda t, x: _f(t).pad(x, (0, 40 - _s(x)[3], 0, 40 - _s(x)[2])).relu())
_simple("reflect", IMAGE, IMAGES, lambda t, x: _f(t).pad(x, (1, 1, 1, 1), mode="reflect").relu())
_simple("interpolate to 32", IMAGE, IMAGES, lambda t, x: _f(t).interpolate(x, size=(32, 32)))
_simple(
    "interpolate bilinear to 20",
    IMAGE,
    IMAGES,
    lambda t, x: _f(t).interpolate(x, size=(20, 20), mode="bilinear", align_corners=False),
)
_simple(
    "interpolate to 31 with corners",
    IMAGE,
    IMAGES,
    lambda t, x: _f(t).interpolate(x, size=(31, 31), mode="bilinear", align_corners=True),
)
_simple("interpolate by two", IMAGE, IMAGES, lambda t, x: _f(t).interpolate(x, scale_factor=2.0, mode="nearest"))
_simple(
    "interpolate to twice the size",
    IMAGE,
    IMAGES,
    lambda t, x: _f(t).interpolate(x, size=(_s(x)[2] * 2, _s(x)[3] * 2), mode="bilinear"),
)
_simple("adaptive average to one", IMAGE, IMAGES, lambda t, x: _f(t).adaptive_avg_pool2d(x, 1).flatten(1))
_simple("adaptive average to four", IMAGE, IMAGES, lambda t, x: _f(t).adaptive_avg_pool2d(x, 4) * 2)
_simple("adaptive maximum to two", IMAGE, IMAGES, lambda t, x: _f(t).adaptive_max_pool2d(x, 2) * 2)
_simple("adaptive average of a row", ROW, ROWS, lambda t, x: _f(t).adaptive_avg_pool1d(x, 8) * 2)
_simple("average over all by a window", IMAGE, IMAGES, lambda t, x: _f(t).avg_pool2d(x, (_s(x)[2], _s(x)[3])) + 1)
_simple("maximum by two", IMAGE, IMAGES, lambda t, x: _f(t).max_pool2d(x, 2) + 1)
_simple("std", TOKENS, SEQUENCES, lambda t, x: x.std(1) + 1)
_simple("var of all", IMAGE, IMAGES, lambda t, x: x.var((1, 2, 3)) + 1)
_simple("divide by the root of a size", TOKENS, SEQUENCES, lambda t, x: x / _s(x)[1] ** 0.5)
_simple("sum over a size", IMAGE, IMAGES, lambda t, x: x.sum((2, 3)) / (_s(x)[2] * _s(x)[3]))
_simple("subtract the mean by hand", ROW, ROWS, lambda t, x: x - x.sum(2, keepdim=True) / _s(x)[2])
_simple("add positions", TOKENS, SEQUENCES, lambda t, x: x + t.arange(_s(x)[1]).float()[None, :, None])
_simple("positions from zero to one", ROW, ROWS, lambda t, x: x * t.linspace(0, 1, _s(x)[2]))
_simple("reverse by an index", TOKENS, SEQUENCES, lambda t, x: x.index_select(1, t.arange(_s(x)[1] - 1, -1, -1)).relu())
_simple("sort", ROW, ROWS, lambda t, x: x.sort(2)[0] * 2)
_simple("the best half", ROW, ROWS, lambda t, x: x.topk(_s(x)[2] // 2, 2)[0] * 2)
_simple("cumulative sum", ROW, ROWS, lambda t, x: x.cumsum(2) / _s(x)[2])
_simple("concatenate zeros", ROW, ROWS, lambda t, x: t.cat([x, t.zeros(_s(x)[0], 2, _s(x)[2])], 1).relu())
_simple(
    "coordinates",
    IMAGE,
    IMAGES,
    lambda t, x: t.cat(
        [
            x,
            t.linspace(-1, 1, _s(x)[2])[None, None, :, None].expand(_s(x)[0], 1, -1, _s(x)[3]),
            t.linspace(-1, 1, _s(x)[3])[None, None, None].expand(_s(x)[0], 1, _s(x)[2], -1),
        ],
        1,
    ),
)
_simple("pixel shuffle", IMAGE, IMAGES, lambda t, x: _f(t).pixel_shuffle(x, 2) + 1)
_simple("softmax over rows", IMAGE, IMAGES, lambda t, x: x.flatten(2).softmax(-1).view(_s(x)))
_layers("transposed convolution", IMAGE, IMAGES, lambda nn: [nn.ConvTranspose2d(4, 3, 3, 2, 1, 1), nn.ReLU()])
_layers(
    "transposed convolution by two",
    IMAGE,
    IMAGES,
    lambda nn: [nn.Conv2d(4, 6, 3, 2, 1), nn.ConvTranspose2d(6, 3, 2, 2)],
)
_layers(
    "convolutions",
    IMAGE,
    IMAGES,
    lambda nn: [nn.Conv2d(4, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2)],
)
_layers(
    "classifier with a fixed head",
    IMAGE,
    IMAGES,
    lambda nn: [nn.Conv2d(4, 2, 3, 2, 1), nn.Flatten(), nn.Linear(128, 3)],
)
_layers(
    "classifier with a mean",
    IMAGE,
    IMAGES,
    lambda nn: [nn.Conv2d(4, 6, 3, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)],
)
_layers(
    "classifier with adaptive windows",
    IMAGE,
    IMAGES,
    lambda nn: [nn.Conv2d(4, 6, 3, 1, 1), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, 3)],
)
_layers("group norm", IMAGE, IMAGES, lambda nn: [nn.GroupNorm(2, 4), nn.SiLU()])
_layers("instance norm", IMAGE, IMAGES, lambda nn: [nn.InstanceNorm2d(4, affine=True), nn.SiLU()])
_layers("layer norm and linear", TOKENS, SEQUENCES, lambda nn: [nn.LayerNorm(16), nn.Linear(16, 8), nn.GELU()])


@_with("grid sample", IMAGE, IMAGES, lambda t: {})
def _grid(t: Any, own: Any, x: Any) -> Any:
    theta = t.tensor([[[0.9, 0.1, 0.05], [-0.1, 0.8, -0.05]]]).expand(_s(x)[0], -1, -1)
    grid = _f(t).affine_grid(theta, (_s(x)[0], 4, _s(x)[2], _s(x)[3]), align_corners=False)
    return _f(t).grid_sample(x, grid, align_corners=False)


@_with("grid of coordinates", IMAGE, IMAGES, lambda t: {})
def _own_grid(t: Any, own: Any, x: Any) -> Any:
    rows, columns = t.linspace(-1, 1, _s(x)[2]), t.linspace(-1, 1, _s(x)[3])
    grid = t.stack([columns[None].expand(_s(x)[2], -1), rows[:, None].expand(-1, _s(x)[3])], -1)
    return _f(t).grid_sample(x, grid[None].expand(_s(x)[0], -1, -1, -1) * 0.8, align_corners=True)


def _heads(t: Any) -> dict[str, Any]:
    return {"q": t.nn.Linear(16, 16), "k": t.nn.Linear(16, 16), "v": t.nn.Linear(16, 16)}


def _attention(t: Any, own: Any, x: Any, mask: Callable[[Any], Any]) -> Any:
    batch, length, _ = _s(x)
    q, k, v = (layer(x).view(batch, length, 2, 8).transpose(1, 2) for layer in (own.q, own.k, own.v))
    scores = mask(q @ k.transpose(-1, -2) / 8**0.5).softmax(-1)
    return (scores @ v).transpose(1, 2).reshape(batch, length, 16)


@_with("attention", TOKENS, SEQUENCES, _heads)
def _plain(t: Any, own: Any, x: Any) -> Any:
    return _attention(t, own, x, lambda scores: scores)


def _layer(t: Any) -> dict[str, Any]:
    nn = t.nn
    return {
        **_heads(t),
        "before": nn.LayerNorm(16),
        "between": nn.LayerNorm(16),
        "up": nn.Linear(16, 32),
        "down": nn.Linear(32, 16),
    }


@_with("an encoder layer", TOKENS, SEQUENCES, _layer)
def _encoder(t: Any, own: Any, x: Any) -> Any:
    x = x + _attention(t, own, own.before(x), lambda scores: scores)
    return x + own.down(_f(t).gelu(own.up(own.between(x))))


@_with("causal attention", TOKENS, SEQUENCES, _heads)
def _causal(t: Any, own: Any, x: Any) -> Any:
    keep = t.tril(t.ones(_s(x)[1], _s(x)[1]))
    return _attention(t, own, x, lambda scores: scores.masked_fill(keep == 0, -1e4))


@_with("causal attention by an added mask", TOKENS, SEQUENCES, _heads)
def _added(t: Any, own: Any, x: Any) -> Any:
    mask = t.triu(t.full((_s(x)[1], _s(x)[1]), -1e4), 1)
    return _attention(t, own, x, lambda scores: scores + mask)


@_with("learned positions", TOKENS, SEQUENCES, lambda t: {"table": t.randn(32, 16)})
def _learned(t: Any, own: Any, x: Any) -> Any:
    return (x + own.table[: _s(x)[1]]).relu()


@_with("embedded positions", TOKENS, SEQUENCES, lambda t: {"table": t.nn.Embedding(32, 16)})
def _embedded(t: Any, own: Any, x: Any) -> Any:
    return x + own.table(t.arange(_s(x)[1]))


@_with("rotary positions", TOKENS, SEQUENCES, lambda t: {})
def _rotary(t: Any, own: Any, x: Any) -> Any:
    angles = t.arange(_s(x)[1]).float()[:, None] * (10000 ** (-t.arange(8).float() / 8))
    left, right = x.chunk(2, -1)
    return t.cat([left * angles.cos() - right * angles.sin(), right * angles.cos() + left * angles.sin()], -1)


@_with("unrolled over time", (1, 6, 8), ((1, 9, 8), (1, 4, 8), (2, 6, 8)), lambda t: {"cell": t.nn.Linear(16, 8)})
def _unrolled(t: Any, own: Any, x: Any) -> Any:
    state = x[:, 0] * 0
    for step in range(_s(x)[1]):
        state = own.cell(t.cat([x[:, step], state], 1)).tanh()
    return state


@_with("recurrent", TOKENS, SEQUENCES, lambda t: {"layer": t.nn.LSTM(16, 8, batch_first=True)})
def _recurrent(t: Any, own: Any, x: Any) -> Any:
    return own.layer(x)[0]


@_with(
    "patches and a head",
    IMAGE,
    ((1, 4, 24, 16), (1, 4, 8, 8), (2, 4, 16, 16)),
    lambda t: {"patch": t.nn.Conv2d(4, 8, 4, 4), "head": t.nn.Linear(8, 3)},
)
def _patched(t: Any, own: Any, x: Any) -> Any:
    return own.head(own.patch(x).flatten(2).transpose(1, 2).mean(1))


@_with("class token", TOKENS, SEQUENCES, lambda t: {"token": t.randn(1, 1, 16), "head": t.nn.Linear(16, 3)})
def _token(t: Any, own: Any, x: Any) -> Any:
    return own.head(t.cat([own.token.expand(_s(x)[0], -1, -1), x], 1)[:, 0])


@_with(
    "u-net", IMAGE, IMAGES[:4], lambda t: {"down": t.nn.Conv2d(4, 4, 3, 2, 1), "up": t.nn.ConvTranspose2d(4, 4, 2, 2)}
)
def _unet(t: Any, own: Any, x: Any) -> Any:
    inner = own.down(x).relu()
    return t.cat([own.up(inner), _f(t).interpolate(inner, size=_s(x)[2:]), x], 1)


@_with("squeeze and excite", IMAGE, IMAGES, lambda t: {"gate": t.nn.Conv2d(4, 4, 1)})
def _gated(t: Any, own: Any, x: Any) -> Any:
    return x * own.gate(_f(t).adaptive_avg_pool2d(x, 1)).sigmoid()


@_with("windows", (1, 8, 8, 4), ((1, 12, 8, 4), (1, 16, 16, 4), (2, 8, 8, 4)), lambda t: {"layer": t.nn.Linear(4, 4)})
def _windows(t: Any, own: Any, x: Any) -> Any:
    batch, height, width, _ = _s(x)
    cut = x.view(batch, height // 4, 4, width // 4, 4, 4).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, 4)
    back = own.layer(cut).view(batch, height // 4, width // 4, 4, 4, 4).permute(0, 1, 3, 2, 4, 5)
    return back.reshape(batch, height, width, 4)


# ---- more of them, written after the rules were

_simple("select the last row", IMAGE, IMAGES, lambda t, x: x.select(2, -1).relu())
_simple("narrow", ROW, ROWS, lambda t, x: x.narrow(2, 1, _s(x)[2] - 2).relu())
_simple("pick three", TOKENS, ((1, 20, 16), (2, 12, 16)), lambda t, x: x[:, [0, 5, 7]].relu())
_simple("repeat each", ROW, ROWS, lambda t, x: x.repeat_interleave(2, 2) + 1)
_simple("repeat the edge", ROW, ROWS, lambda t, x: t.cat([x, x[:, :, -1:]], 2).relu())
_simple("shift in time", TOKENS, SEQUENCES, lambda t, x: t.cat([x[:, 1:], t.zeros(_s(x)[0], 1, 16)], 1) + x)
_simple("pad by its edge", IMAGE, IMAGES, lambda t, x: _f(t).pad(x, (2, 2, 1, 1), mode="replicate").relu())
_simple("pad to a multiple of 32", IMAGE, IMAGES, lambda t, x: _f(t).pad(x, (0, -_s(x)[3] % 32, 0, -_s(x)[2] % 32)) + 1)
_simple("pad before", ROW, ROWS, lambda t, x: _f(t).pad(x, (2, 0)).relu())
_simple("first five by a mask", TOKENS, SEQUENCES, lambda t, x: x * (t.arange(_s(x)[1]) < 5).float()[None, :, None])
_simple("times the identity", ROW, ROWS, lambda t, x: x @ (t.eye(_s(x)[2]) * 2))
_simple("hann window", ROW, ROWS, lambda t, x: x * t.hann_window(_s(x)[2]))
_simple("normalize", IMAGE, IMAGES, lambda t, x: _f(t).normalize(x, dim=1) + 1)
_simple("layer norm of all", IMAGE, IMAGES, lambda t, x: _f(t).layer_norm(x, _s(x)[1:]))
_simple(
    "softmax by the root of a size",
    TOKENS,
    SEQUENCES,
    lambda t, x: (x @ x.transpose(1, 2) / _s(x)[1] ** 0.5).softmax(-1),
)
_simple("pairwise", TOKENS, SEQUENCES, lambda t, x: (x[:, :, None] - x[:, None]).abs().sum(-1))
_simple(
    "pairwise without itself",
    TOKENS,
    SEQUENCES,
    lambda t, x: (x @ x.transpose(1, 2)).masked_fill(t.eye(_s(x)[1]).bool(), -1e4).softmax(-1),
)
_simple(
    "linear bias by distance",
    TOKENS,
    SEQUENCES,
    lambda t, x: (
        x @ x.transpose(1, 2) - 0.25 * (t.arange(_s(x)[1])[None] - t.arange(_s(x)[1])[:, None]).abs()
    ).softmax(-1),
)
_simple(
    "local attention",
    TOKENS,
    SEQUENCES,
    lambda t, x: (
        (x @ x.transpose(1, 2))
        .masked_fill((t.arange(_s(x)[1])[None] - t.arange(_s(x)[1])[:, None]).abs() > 2, -1e4)
        .softmax(-1)
    ),
)
_simple(
    "channel shuffle",
    IMAGE,
    IMAGES,
    lambda t, x: x.view(_s(x)[0], 2, 2, *_s(x)[2:]).transpose(1, 2).reshape(*_s(x)) + 1,
)
_simple("space to depth", IMAGE, IMAGES, lambda t, x: _f(t).pixel_unshuffle(x, 2) + 1)
_simple("patch merging", IMAGE, IMAGES, lambda t, x: t.cat([x[:, :, 0::2, 0::2], x[:, :, 1::2, 1::2]], 1).relu())
_simple("view in two", IMAGE, IMAGES, lambda t, x: x.view(_s(x)[0], 2, -1).softmax(-1))
_simple("view in eights", ROW, ((1, 4, 24), (1, 4, 32), (2, 4, 16)), lambda t, x: x.view(_s(x)[0], -1, 8).softmax(-1))
_simple(
    "blocks of a row",
    ROW,
    ((1, 4, 24), (1, 4, 32), (2, 4, 16)),
    lambda t, x: x.view(_s(x)[0], 4, _s(x)[2] // 4, 4).sum(-1).relu(),
)
_simple("halves of a row", ROW, ROWS, lambda t, x: x.view(_s(x)[0], 4, 2, _s(x)[2] // 2).sum(2).relu())
_simple(
    "batch and time together",
    TOKENS,
    SEQUENCES,
    lambda t, x: x.reshape(_s(x)[0] * _s(x)[1], 16).softmax(-1).view(*_s(x)),
)
_simple("sum in einsum", TOKENS, SEQUENCES, lambda t, x: t.einsum("bnd,bmd->bnm", x, x) + 1)
_simple("interpolate by a half", IMAGE, IMAGES, lambda t, x: _f(t).interpolate(x, scale_factor=0.5, mode="bilinear"))
_simple(
    "interpolate to half the size",
    IMAGE,
    IMAGES,
    lambda t, x: _f(t).interpolate(x, size=(_s(x)[2] // 2, _s(x)[3] // 2)),
)
_simple("adaptive average to seven", IMAGE, IMAGES[:3], lambda t, x: _f(t).adaptive_avg_pool2d(x, 7) + 1)
_simple("adaptive average to rows", IMAGE, IMAGES, lambda t, x: _f(t).adaptive_avg_pool2d(x, (1, _s(x)[3])) + 1)
_simple("average by three", IMAGE, IMAGES, lambda t, x: _f(t).avg_pool2d(x, 3, 1, 1) + 1)
_simple("greatest of all", IMAGE, IMAGES, lambda t, x: x.amax((2, 3)) + 1)
_simple("where the greatest is", ROW, ROWS, lambda t, x: x.argmax(2).float() / _s(x)[2])
_simple(
    "share of a position", ROW, ROWS, lambda t, x: (x.softmax(2) * t.arange(_s(x)[2]).float()).sum(2) / (_s(x)[2] - 1)
)
_simple(
    "standard score",
    IMAGE,
    IMAGES,
    lambda t, x: (x - x.mean((2, 3), keepdim=True)) / (x.std((2, 3), keepdim=True) + 1e-5),
)
_simple(
    "gram matrix", IMAGE, IMAGES, lambda t, x: x.flatten(2) @ x.flatten(2).transpose(1, 2) / (4 * _s(x)[2] * _s(x)[3])
)
_simple("mean square by hand", TOKENS, SEQUENCES, lambda t, x: (x * x).sum((1, 2)) / (_s(x)[1] * 16))
_simple("unbind the last", TOKENS, SEQUENCES, lambda t, x: x.unbind(1)[-1].relu())
_simple("split unevenly", ROW, ROWS, lambda t, x: t.cat(x.split([4, _s(x)[2] - 4], 2)[::-1], 2).relu())
_simple("crop by four", IMAGE, IMAGES, lambda t, x: x[:, :, 4:-4, :12].relu() if _s(x)[2] > 8 else x.relu())
_simple(
    "crop from the centre to eight",
    IMAGE,
    IMAGES,
    lambda t, x: x[:, :, (_s(x)[2] - 8) // 2 : (_s(x)[2] + 8) // 2].relu(),
)
_simple("last half", ROW, ROWS, lambda t, x: x[:, :, _s(x)[2] // 2 :].relu())
_simple("last half from the end", ROW, ROWS, lambda t, x: x[:, :, -(_s(x)[2] // 2) :].relu())
_simple("scale by the size", ROW, ROWS, lambda t, x: x * _s(x)[2])
_simple("logarithm of a size", TOKENS, SEQUENCES, lambda t, x: x * math.log(_s(x)[1]))
_simple("indices of every second", ROW, ROWS, lambda t, x: x.index_select(2, t.arange(0, _s(x)[2], 2)) + 1)
_simple("cosine positions", TOKENS, SEQUENCES, lambda t, x: x + (t.arange(_s(x)[1]).float() * 0.1).cos()[:, None])
_simple("mean of what is above zero", ROW, ROWS, lambda t, x: (x > 0).float().mean(2) + 1)
_layers("transposed convolution of a row", ROW, ROWS, lambda nn: [nn.ConvTranspose1d(4, 3, 4, 2, 1), nn.Tanh()])
_layers(
    "strided convolutions", IMAGE, IMAGES, lambda nn: [nn.Conv2d(4, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1), nn.PReLU(4)]
)
_layers(
    "upsample and convolve",
    IMAGE,
    IMAGES,
    lambda nn: [nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(4, 2, 3)],
)
_layers(
    "reflected convolution", IMAGE, IMAGES, lambda nn: [nn.ReflectionPad2d(2), nn.Conv2d(4, 2, 5), nn.InstanceNorm2d(2)]
)
_layers(
    "dilated convolutions of a row",
    ROW,
    ROWS,
    lambda nn: [nn.Conv1d(4, 4, 3, padding=2, dilation=2), nn.GELU(), nn.BatchNorm1d(4)],
)
_layers("gated convolution", IMAGE, IMAGES, lambda nn: [nn.Conv2d(4, 8, 1), nn.GLU(1)])


@_with(
    "recurrent both ways", TOKENS, SEQUENCES, lambda t: {"layer": t.nn.GRU(16, 8, batch_first=True, bidirectional=True)}
)
def _both_ways(t: Any, own: Any, x: Any) -> Any:
    return own.layer(x)[0]


@_with(
    "class token and positions", TOKENS, SEQUENCES, lambda t: {"token": t.randn(1, 1, 16), "table": t.randn(1, 32, 16)}
)
def _token_and_positions(t: Any, own: Any, x: Any) -> Any:
    whole = t.cat([own.token.expand(_s(x)[0], -1, -1), x], 1)
    return (whole + own.table[:, : _s(whole)[1]]).relu()


@_with("embedding", TOKENS, SEQUENCES, lambda t: {"table": t.nn.Embedding(8, 4)})
def _embedding(t: Any, own: Any, x: Any) -> Any:
    return own.table((x.abs() * 2).long().clamp(max=7)).flatten(2)


@_with("positions by interpolation", IMAGE, IMAGES, lambda t: {"table": t.randn(1, 4, 8, 8)})
def _interpolated(t: Any, own: Any, x: Any) -> Any:
    return x + _f(t).interpolate(own.table, size=_s(x)[2:], mode="bilinear")


@_with(
    "shifted windows",
    (1, 8, 8, 4),
    ((1, 12, 8, 4), (1, 16, 16, 4), (2, 8, 8, 4)),
    lambda t: {"layer": t.nn.Linear(4, 4)},
)
def _shifted(t: Any, own: Any, x: Any) -> Any:
    batch, height, width, _ = _s(x)
    moved = t.roll(x, (-2, -2), (1, 2))
    cut = moved.view(batch, height // 4, 4, width // 4, 4, 4).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, 4)
    scores = (cut @ own.layer(cut).transpose(1, 2)).softmax(-1) @ cut
    back = (
        scores.view(batch, height // 4, width // 4, 4, 4, 4).permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, 4)
    )
    return t.roll(back, (2, 2), (1, 2))


@_with("attention over pixels", IMAGE, IMAGES, lambda t: {"qkv": t.nn.Conv2d(4, 12, 1)})
def _pixels(t: Any, own: Any, x: Any) -> Any:
    q, k, v = own.qkv(x).flatten(2).chunk(3, 1)
    return ((q.transpose(1, 2) @ k * 4**-0.5).softmax(-1) @ v.transpose(1, 2)).transpose(1, 2).view(*_s(x)) + x


@_with("fused attention", TOKENS, SEQUENCES, _heads)
def _fused(t: Any, own: Any, x: Any) -> Any:
    batch, length, _ = _s(x)
    q, k, v = (layer(x).view(batch, length, 2, 8).transpose(1, 2) for layer in (own.q, own.k, own.v))
    return _f(t).scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, 16)


@_with("pyramid", IMAGE, IMAGES, lambda t: {"a": t.nn.Conv2d(4, 4, 1), "b": t.nn.Conv2d(4, 4, 1)})
def _pyramid(t: Any, own: Any, x: Any) -> Any:
    small = own.a(_f(t).avg_pool2d(x, 4))
    return own.b(x) + _f(t).interpolate(small, size=_s(x)[2:], mode="bilinear", align_corners=False)


@_with("global context", IMAGE, IMAGES, lambda t: {"gate": t.nn.Linear(4, 4)})
def _context(t: Any, own: Any, x: Any) -> Any:
    mean = own.gate(x.mean((2, 3))).view(_s(x)[0], 4, 1, 1).expand(-1, -1, *_s(x)[2:])
    return t.cat([x, mean], 1)


# ---- places and bounds


def _put_at_ends(t: Any, x: Any) -> Any:
    whole = x.clone()
    whole[:, :, 0] = 0
    whole[:, :, -1] = 1
    return whole * 2


_simple("put at both ends", ROW, ROWS, _put_at_ends)
_simple("clamp to the last place", ROW, ROWS, lambda t, x: (x * 20).clamp(0, _s(x)[2] - 1))
_simple(
    "unfold and fold",
    IMAGE,
    ((1, 4, 24, 16), (1, 4, 8, 8)),
    lambda t, x: _f(t).fold(_f(t).unfold(x, 2, stride=2), _s(x)[2:], 2, stride=2),
)
_simple(
    "entropy as a part of the greatest",
    ROW,
    ROWS,
    lambda t, x: -(x.softmax(2) * x.log_softmax(2)).sum(2) / math.log(_s(x)[2]),
)
_simple("mean with one more", ROW, ROWS, lambda t, x: x.sum(2) / (_s(x)[2] + 1))
_simple(
    "mean of pairs",
    TOKENS,
    SEQUENCES,
    lambda t, x: (x @ x.transpose(1, 2)).sum((1, 2)) / (_s(x)[1] * (_s(x)[1] - 1) / 2),
)
