"""Normalization: each kind against its formula in float64, axis by axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.layers import MODES, NEAR, assert_near, layer, numbers

SHAPES = [(2, 3, 5), (2, 3, 4, 5), (1, 3, 2, 2, 3), (0, 3, 4)]


def along(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    """Return `x` with mean 0 and variance 1 along axes."""
    count = np.prod([x.shape[axis] for axis in axes])
    mean = x.sum(axis=axes, keepdims=True) / count
    return (x - mean) / ((((x - mean) ** 2).sum(axis=axes, keepdims=True)) / count + epsilon) ** 0.5


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize(
    "scaled", [(), ("gamma",), ("beta",), ("gamma", "beta")], ids=lambda names: "+".join(names) or "plain"
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("op", ["batch_norm", "instance_norm"])
def test_channels_are_normalized(op: str, shape: tuple[int, ...], scaled: tuple[str, ...], mode: Any) -> None:
    x = numbers(1, *shape)
    held = {name: numbers(seed, 3) for seed, name in enumerate(scaled)}
    by_channel = (3, *[1] * (len(shape) - 2))
    if op == "batch_norm":
        held |= {"mean": numbers(4, 3), "variance": np.abs(numbers(5, 3))}
        mean, variance = (held[name].reshape(by_channel) for name in ("mean", "variance"))
        expected = (x - mean) / np.sqrt(variance + 0.125)
    else:
        expected = along(x, tuple(range(2, len(shape))), 0.125)
    expected = expected * held.get("gamma", np.ones(3)).reshape(by_channel)
    expected = expected + held.get("beta", np.zeros(3)).reshape(by_channel)
    assert_near(layer(op, {"x": x}, "epsilon = 0.125", mode=mode, **held), expected, mode)


IN_PARTS = {
    "batch_norm": "epsilon = 0.125",
    "instance_norm": "epsilon = 0.125",
    "layer_norm": "axes = [-1]",
    "layer_norm, middle axis": "axes = [1]",
    "l2_norm": "epsilon = 0.5",
    "local_response_norm": "size = 3",
}


@pytest.mark.parametrize("elements", [1, 7, 30])
@pytest.mark.parametrize("what", IN_PARTS)
def test_a_normalization_in_parts_is_the_same(what: str, elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    op, x = what.partition(",")[0], numbers(1, 2, 3, 4, 5)
    sizes = {"layer_norm": 3 if "middle" in what else 5}
    held = {name: np.abs(numbers(seed, sizes.get(op, 3))) for seed, name in enumerate(["gamma", "beta"])}
    if op == "batch_norm":
        held |= {"mean": numbers(7, 3), "variance": np.abs(numbers(8, 3))}
    if op in ("l2_norm", "local_response_norm"):
        held = {}
    whole = layer(op, {"x": x}, IN_PARTS[what], **held)
    monkeypatch.setattr("miltext.evaluation.operations.windows.PART_ELEMENTS", elements)
    assert_near(layer(op, {"x": x}, IN_PARTS[what], **held), whole.astype(np.float64), MODES[0])


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("axes", [(-1,), (1,), (0, 2), (-1, -2), (2, 1), (0, 1, 2), None], ids=str)
@pytest.mark.parametrize("scaled", [(), ("gamma",), ("gamma", "beta")], ids=lambda names: "+".join(names) or "plain")
def test_a_layer_is_normalized_along_its_axes(axes: Any, scaled: tuple[str, ...], mode: Any) -> None:
    x = numbers(1, 4, 5, 6)
    places = tuple(sorted(axis % 3 for axis in axes or range(3)))
    held = {name: numbers(seed, *(x.shape[axis] for axis in places)) for seed, name in enumerate(scaled)}
    sizes = [size if axis in places else 1 for axis, size in enumerate(x.shape)]
    expected = along(x, places, 1e-5) * held.get("gamma", np.ones(1)).reshape(sizes if "gamma" in held else 1)
    expected = expected + held.get("beta", np.zeros(1)).reshape(sizes if "beta" in held else 1)
    attributes = "" if axes is None else f"axes = {list(axes)}"
    assert_near(layer("layer_norm", {"x": x}, attributes, mode=mode, **held), expected, mode)


@pytest.mark.parametrize("shape", [(5,), (1, 1), (2, 0), (0, 4), (2, 3, 1, 2, 4)], ids=str)
def test_a_layer_of_any_rank_is_normalized(shape: tuple[int, ...]) -> None:
    x = numbers(1, *shape)
    with np.errstate(all="ignore"):
        expected = along(x, (len(shape) - 1,), 1e-5)
    assert_near(layer("layer_norm", {"x": x}, "axes = [-1]"), expected, MODES[0])


def test_a_small_variance_on_a_large_mean_survives() -> None:
    x = 1000 + numbers(1, 2, 3, 8) / 64
    x = x.astype(np.float32).astype(np.float64)
    for op, attributes in (("layer_norm", "axes = [2], epsilon = 1e-9"), ("instance_norm", "epsilon = 1e-9")):
        found = layer(op, {"x": x}, attributes)
        np.testing.assert_allclose(found, along(x, (2,), 1e-9), atol=0.02)  # the mean alone is off by 2^-15 or so


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("epsilon", [None, 5.75])
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 4, 2), (0, 2, 3, 4)], ids=str)
def test_the_last_three_axes_are_divided_by_their_length(
    shape: tuple[int, ...], epsilon: float | None, mode: Any
) -> None:
    x = numbers(1, *shape)
    expected = np.empty_like(x)
    for place in np.ndindex(shape[:-3]):
        expected[place] = x[place] / np.sqrt((x[place] ** 2).sum() + (epsilon or 1e-6))
    attributes = "" if epsilon is None else f"epsilon = {epsilon}"
    assert_near(layer("l2_norm", {"x": x}, attributes, mode=mode), expected, mode)


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("shape", [(2, 5, 3), (1, 6, 2, 3), (1, 1, 2)], ids=str)
def test_channels_are_divided_by_their_neighbours(shape: tuple[int, ...], size: int, mode: Any) -> None:
    x, expected = numbers(1, *shape), np.empty(shape)
    for channel in range(shape[1]):  # torch has size // 2 of them before, and one less after where size is even
        near = x[:, max(0, channel - size // 2) : channel + (size - 1) // 2 + 1]
        expected[:, channel] = x[:, channel] / (1.5 + 0.25 / size * (near**2).sum(axis=1)) ** 0.625
    found = layer("local_response_norm", {"x": x}, f"size = {size}, alpha = 0.25, beta = 0.625, k = 1.5", mode=mode)
    assert_near(found, expected, mode)


def test_neighbours_match_torch() -> None:
    torch = pytest.importorskip("torch")
    x = numbers(1, 2, 7, 3, 4)
    for size in (1, 2, 3, 4, 6):
        expected = torch.nn.functional.local_response_norm(torch.tensor(x), size, 0.5).numpy()
        found = layer("local_response_norm", {"x": x}, f"size = {size}, alpha = 0.5")
        np.testing.assert_allclose(found, expected, atol=NEAR[MODES[0]] * 4)
