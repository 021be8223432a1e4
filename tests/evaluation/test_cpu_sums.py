"""Sums as on Core ML's CPU: the fast way in float32 gives the bits of numpy's fp16, term after term."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from support import engine

from miltext.evaluation.devices import products, sequential
from miltext.evaluation.devices.sequential import cpu_products

LEAST = 2.0**-24


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the ways as they are taken."""
    names: list[str] = []
    for name in ("_looped", "_accumulated", "_restore_negative_zeros"):
        way = getattr(sequential, name)

        def called(*arguments: Any, name: str = name, way: Any = way) -> Any:
            names.append(name)
            return way(*arguments)

        monkeypatch.setattr(sequential, name, called)
    return names


def slowly(rows: Any, columns: Any, starts: Any) -> Any:
    total = np.array(starts)
    with np.errstate(all="ignore"):
        for place in range(rows.shape[1]):
            total = total + rows[:, place, None] * columns[place]
    return np.where(np.isnan(total), np.float16(np.nan), total)


def same_bits(made: Any, wanted: Any) -> bool:
    return bool(np.array_equal(made.view(np.uint16), wanted.view(np.uint16)))


def drawn(random: np.random.Generator, shape: tuple[int, ...], scale: float) -> Any:
    """Return numbers of many sizes, some of them zeros of both signs, some subnormal."""
    made = (random.standard_normal(shape) * scale * 2.0 ** random.integers(-6, 2, shape)).astype(np.float16)
    chosen = random.random(shape)
    made[chosen < 0.2] = 0
    made[chosen < 0.1] = -0.0
    subnormal = (random.integers(-1023, 1024, shape) * LEAST).astype(np.float16)
    return np.where(chosen > 0.9, subnormal, made)


@pytest.mark.parametrize("seed", range(40))
def test_the_fast_way_gives_the_same_bits(seed: int, taken: list[str]) -> None:
    random = np.random.default_rng(seed)
    terms = int(random.integers(1, 40))
    rows, columns = ((23, 23), (1, 600), (600, 1), (70, 33))[seed % 4]
    weights = drawn(random, (rows, terms), 10.0 ** random.uniform(-4, 0.5))
    inputs = drawn(random, (terms, columns), 10.0 ** random.uniform(-4, 0.5))
    starts = drawn(random, (rows, columns), 10.0 ** random.uniform(-6, 1))
    made = cpu_products(weights, inputs, starts)
    assert "_looped" in taken
    assert "_accumulated" not in taken
    assert same_bits(made, slowly(weights, inputs, starts))


def test_products_and_sums_of_some_numbers_are_rounded_to_even(taken: list[str]) -> None:
    """All fractions of normal numbers, times numbers around 1: ties of products, and sums with a neighbour's half."""
    fractions = (np.arange(1024) + 1024).astype(np.float16)
    rows = np.stack([fractions / 1024, np.full(1024, 0.5, np.float16)], axis=1).astype(np.float16)
    factors = ((np.arange(-1024, 1024, 7)) / 1024).astype(np.float16)
    columns = np.stack([factors, np.full(factors.shape, 2.0**-10, np.float16)])
    starts = np.broadcast_to(np.float16(1.5), (1024, factors.size))
    assert same_bits(cpu_products(rows, columns, starts), slowly(rows, columns, starts))
    normal = np.where(factors == 0, np.float16(1), factors)[None]
    assert same_bits(cpu_products(rows[:, :1], normal, None), slowly(rows[:, :1], normal, np.float16(0)))
    assert {*taken} == {"_looped"}


FRACTIONS = (np.arange(1024) + 1024).astype(np.float16) / np.float16(1024)


@pytest.mark.parametrize("exponent", [0, -13, -14, -15, -16, -17, -20, -24, -25, -26])
def test_every_product_of_two_fractions_is_rounded_as_fp16_does(exponent: int) -> None:
    """All pairs of fractions: normal products, products below the normal numbers, and those that vanish."""
    rows = (FRACTIONS * np.float16(2.0 ** (exponent // 2)))[:, None]
    columns = FRACTIONS[None] * np.float16(2.0 ** (exponent - exponent // 2))
    wanted = rows * columns
    assert same_bits(cpu_products(rows, columns, None), wanted)
    assert same_bits(cpu_products(-rows, columns, None), np.where(wanted == 0, np.float16(0), -wanted))
    mixed = np.where(np.arange(1024) % 2 == 0, np.float16(1), columns)  # normal products beside small ones
    assert same_bits(cpu_products(rows, mixed, None), rows * mixed)


def test_every_start_and_many_terms_are_added_as_fp16_does() -> None:
    """Among them are sums of 24 bits next to a power of two, where a step of float32 changes its size."""
    finite = np.arange(0x10000, dtype=np.uint16).view(np.float16)
    finite = finite[np.abs(finite) < 32768]
    near = np.array([2.0 ** (power - 24) * (1 + ulps * 2.0**-10) for power in range(1, 24, 3) for ulps in (0, 1, 1023)])
    terms = np.concatenate([near, -near, [0, LEAST, -LEAST, 1.5, -0.3331]]).astype(np.float16)
    starts = np.broadcast_to(finite[:, None], (finite.size, terms.size))
    made = cpu_products(np.ones((finite.size, 1), np.float16), terms[None], starts)
    assert same_bits(made, slowly(np.ones((finite.size, 1), np.float16), terms[None], starts))


@pytest.mark.parametrize("number", [8, 9, 10, 18, 100, 1000])
def test_the_scale_of_sums_returns(number: int, taken: list[str]) -> None:
    random = np.random.default_rng(number)
    weights, inputs = drawn(random, (30, number), 0.1), drawn(random, (number, 40), 1)
    starts = np.full((30, 40), LEAST, np.float16)
    assert same_bits(cpu_products(weights, inputs, starts), slowly(weights, inputs, starts))
    large = np.full((number, 40), 60000 / number, np.float16)
    ones = np.ones((30, number), np.float16)
    assert same_bits(cpu_products(ones, large, starts), slowly(ones, large, starts))
    assert "_looped" in taken


def test_without_blas_the_bits_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    weights, inputs, starts = drawn(random, (30, 50), 0.1), drawn(random, (50, 40), 1), drawn(random, (30, 40), 1)
    made = cpu_products(weights, inputs, starts)
    monkeypatch.setattr(products, "HAS_BLAS", False)
    assert same_bits(cpu_products(weights, inputs, starts), made)


def test_negative_zeros_stay_where_each_product_is_one(taken: list[str]) -> None:
    weights = np.full((16, 3), -(2.0**-14), np.float16)
    inputs = np.full((3, 40), 2.0**-12, np.float16)  # products of -2^-26, which are -0
    inputs[1, 20:] = 0
    inputs[2, 10:30] = -0.0  # their products are 0
    starts = np.full((16, 40), -0.0, np.float16)
    starts[8:] = 0
    made = cpu_products(weights, inputs, starts)
    assert same_bits(made, slowly(weights, inputs, starts))
    assert np.count_nonzero(np.signbit(made)) == 8 * 20
    assert "_restore_negative_zeros" in taken
    half = np.full((1, 600), 2.0**-11, np.float16)  # products of -2^-25: a tie, to even
    assert np.signbit(cpu_products(weights[:1, :1], half, np.full((1, 1), -0.0))).all()


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 65504.0])
@pytest.mark.parametrize("where", ["weights", "inputs", "starts"])
def test_special_numbers_are_added_in_fp16(special: float, where: str, taken: list[str]) -> None:
    random = np.random.default_rng(1)
    given = {
        name: random.standard_normal(shape).astype(np.float16)
        for name, shape in (("weights", (20, 6)), ("inputs", (6, 30)), ("starts", (20, 30)))
    }
    given[where][2, 3] = special
    assert same_bits(cpu_products(*given.values()), slowly(*given.values()))
    assert [*dict.fromkeys(taken)] == ["_accumulated"]


def test_a_sum_that_leaves_the_range_halfway_is_infinite(taken: list[str]) -> None:
    weights, inputs = np.array([[200, 200, -200]], np.float16), np.full((3, 300), 200, np.float16)
    assert np.isposinf(cpu_products(weights, inputs, None)).all()
    assert taken == ["_accumulated"]


def test_threads_compute_the_same_bits(monkeypatch: pytest.MonkeyPatch, taken: list[str]) -> None:
    random = np.random.default_rng(2)
    rows, columns = drawn(random, (2, 1, 70, 20), 1), drawn(random, (3, 20, 900), 1)
    bias = drawn(random, (70, 1), 1)
    columns[0, 0, 0] = np.inf  # a block that another way computes
    alone = cpu_products(rows, columns, bias)
    tiles = len(taken)
    monkeypatch.setattr(products, "WORTH_THREADS", 1)
    monkeypatch.setattr(products, "_cores", lambda: 3)
    assert same_bits(cpu_products(rows, columns, bias), alone)
    assert len(taken) > 2 * tiles
    for batch in np.ndindex(2, 3):
        assert same_bits(alone[batch], slowly(rows[batch[0], 0], columns[batch[1]], np.broadcast_to(bias, (70, 900))))


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(products, "WORTH_THREADS", 1)
    monkeypatch.setattr(products, "_cores", lambda: 2)
    with pytest.raises(MemoryError):
        products.products(failing, np.ones((4, 2), np.float16), np.ones((2, 4), np.float16), None)


def test_a_browser_starts_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert products._cores() >= 1
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert products._cores() == 1


@pytest.mark.parametrize("empty", [(0, 3, 300), (300, 3, 0), (20, 0, 20)])
def test_nothing_is_a_sum(empty: tuple[int, int, int]) -> None:
    rows, terms, columns = empty
    made = cpu_products(np.ones((rows, terms), np.float16), np.ones((terms, columns), np.float16), np.float16(2))
    assert made.shape == (rows, columns)
    assert np.all(made == 2)


@pytest.mark.parametrize("seed", range(12))
def test_convolutions_of_all_shapes_give_the_same_bits(
    seed: int, taken: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strides, dilations, groups and padding: an element at a time, in numpy's fp16."""
    monkeypatch.setattr(sequential, "WORTH_LOOPING", 1)
    random = np.random.default_rng(seed)
    groups, stride, dilation, pad = (int(random.integers(*ends)) for ends in ((1, 4), (1, 3), (1, 3), (0, 3)))
    inputs, outputs, kernel, size = 2 * groups, 3 * groups, int(random.integers(1, 4)), int(random.integers(15, 24))
    x, w = drawn(random, (2, inputs, size, size), 1), drawn(random, (outputs, 2, kernel, kernel), 0.5)
    b = drawn(random, (outputs,), 1)
    declared = ", ".join(f"tensor<fp16, {[*each.shape]}> {name}" for name, each in (("x", x), ("b", b)))
    weight = f"tensor<fp16, {[*w.shape]}>({w.tolist()})"
    settings = f"strides = [{stride}, {stride}], dilations = [{dilation}, {dilation}], groups = {groups}"
    operation = f'y = conv(x = x, weight = {weight}, bias = b, {settings}, pad_type = "custom", pad = {[pad] * 4});'
    made = engine.evaluator(declared, operation, "cpu").run({"x": x, "b": b})["y"]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    reach = dilation * (kernel - 1)
    wanted = np.empty_like(made)
    for place in np.ndindex(*made.shape[2:]):
        down, across = (stride * each for each in place)
        seen = padded[:, :, down : down + reach + 1 : dilation, across : across + reach + 1 : dilation]
        for group in range(groups):
            part, rows = seen[:, 2 * group : 2 * group + 2].reshape(2, -1), slice(3 * group, 3 * group + 3)
            sums = slowly(w[rows].reshape(3, -1), part.T, np.broadcast_to(b[rows, None], (3, 2)))
            index: Any = (slice(None), rows, *place)
            wanted[index] = sums.T
    assert same_bits(made, wanted)
    assert "_looped" in taken
