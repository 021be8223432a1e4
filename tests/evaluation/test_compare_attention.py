"""`compare` finds a planted fault in masked attention first, whatever the mask hides, and reports it once.

`scripts/try_compare.py` does the same with networks of torch, and a thousand faults.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.nearness import nearness

import miltext
from miltext import Comparison, compare, run
from miltext.schema.proto import Program

MASKS = {"-1e4": -1e4, "-65504": -65504.0, "-inf": -math.inf}

LAYER = {
    "q": "linear(x = {last}, weight = {q}, bias = {b})",
    "k": "linear(x = {last}, weight = {k}, bias = {b})",
    "v": "linear(x = {last}, weight = {v}, bias = {b})",
    "qs": "reshape(x = q, shape = [1, 6, 2, 6])",
    "ks": "reshape(x = k, shape = [1, 6, 2, 6])",
    "vs": "reshape(x = v, shape = [1, 6, 2, 6])",
    "qt": "transpose(x = qs, perm = [0, 2, 1, 3])",
    "kt": "transpose(x = ks, perm = [0, 2, 1, 3])",
    "vt": "transpose(x = vs, perm = [0, 2, 1, 3])",
    "s": "matmul(x = qt, y = kt, transpose_x = false, transpose_y = true)",
    "c": "mul(x = s, y = 0.4)",
    "m": "add(x = c, y = mask)",
    "p": "softmax(x = m, axis = -1)",
    "o": "matmul(x = p, y = vt, transpose_x = false, transpose_y = false)",
    "ot": "transpose(x = o, perm = [0, 2, 1, 3])",
    "os": "reshape(x = ot, shape = [1, 6, 12])",
    "w": "linear(x = os, weight = {o}, bias = {b})",
    "r": "add(x = {last}, y = w)",
    "n": "layer_norm(x = r, axes = [-1], epsilon = 0.001)",
}
"""The operations of a layer by the names of their values, which the number of the layer follows."""

CHOSEN = {"m": "select(cond = seen, a = c, b = mask)"}
"""What a decoder has instead: scores are chosen, not added to."""


def literal(seed: int, *shape: int) -> str:
    numbers = np.round(np.random.default_rng(seed).standard_normal(shape) * 0.6, 3)
    return str(numbers.tolist())


@functools.cache
def network(kind: str, dtype: str, name: str = "", edit: Callable[[str], str] = str) -> Program:
    """Return an encoder or a decoder of two layers, in which one operation is edited."""
    lines, last = [], "x"
    if kind == "decoder":
        lines.append("zero = mul(x = mask, y = 1.0); seen = greater(x = zero, y = -1.0);")
    for layer in (0, 1):
        weights = {each: literal(10 * layer + seed, 12, 12) for seed, each in enumerate("qkvo")}
        for value, body in (LAYER | (CHOSEN if kind == "decoder" else {})).items():
            done = edit(body) if f"{value}{layer}" == name else body
            done = done.format(last=last, b=literal(99, 12), **weights)
            for other in LAYER:
                done = done.replace(f" = {other},", f" = {other}{layer},").replace(
                    f" = {other})", f" = {other}{layer})"
                )
            lines.append(f"{value}{layer} = {done};")
        last = f"n{layer}"
    size = "1, 1, 1, 6" if kind == "encoder" else "1, 1, 6, 6"
    inputs = f"tensor<{dtype}, [1, 6, 12]> x, tensor<{dtype}, [{size}]> mask"
    text = f"program(1.3) {{ func main<ios18>({inputs}) {{ {' '.join(lines)} }} -> ({last}); }}"
    return miltext.parse(miltext.infer_draft(text))


def given(kind: str, mask: str) -> dict[str, Any]:
    """Return inputs, of which the mask hides two places of six, or all that comes later."""
    hidden = np.arange(6) > 3 if kind == "encoder" else ~np.tri(6, dtype=bool)
    x = np.random.default_rng(3).standard_normal((1, 6, 12)).astype(np.float32)
    return {"x": x, "mask": np.where(hidden, MASKS[mask], 0).astype(np.float32).reshape(1, 1, -1, 6)}


def another(old: str, new: str) -> Callable[[str], str]:
    def edit(body: str) -> str:
        assert old in body, body
        return body.replace(old, new)

    return edit


FAULTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a weight of queries": ("q", another("{q}", "{k}")),
    "a weight of keys": ("k", another("{k}", "{v}")),
    "a weight of values": ("v", another("{v}", "{q}")),
    "a bias of queries": ("q", another("bias = {b}", "bias = {b}".replace("{b}", literal(98, 12)))),
    "the axes of queries": ("qt", another("[0, 2, 1, 3]", "[0, 2, 3, 1]")),
    "the axes of keys": ("kt", another("[0, 2, 1, 3]", "[0, 2, 3, 1]")),
    "the side of keys": ("s", another("transpose_y = true", "transpose_y = false")),
    "the scale": ("c", another("0.4", "0.42")),
    "a sum for the scale": ("c", another("mul", "add")),
    "the axis of softmax": ("p", another("-1", "-2")),
    "sigmoid for softmax": ("p", another("softmax(x = m, axis = -1)", "sigmoid(x = m)")),
    "the side of probabilities": ("o", another("transpose_x = false", "transpose_x = true")),
    "the axes after": ("ot", another("[0, 2, 1, 3]", "[0, 3, 1, 2]")),
    "the weight after": ("w", another("{o}", "{q}")),
    "a difference after": ("r", another("add", "sub")),
}
"""What is done to which operation."""


def first(comparison: Comparison) -> str | None:
    return comparison.first.value.name if comparison.first else None


SETTINGS = list(
    itertools.product(["encoder", "decoder"], [("fp32", "fp32"), ("fp16", "fp16"), ("fp32", "fp16")], [0, 1])
)
"""The kinds of networks, the data types of both, and the layers; each fault meets three of them."""


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_the_first_origin(mask: str, fault: str) -> None:
    kind, dtypes, layer = SETTINGS[(5 * list(MASKS).index(mask) + list(FAULTS).index(fault)) % len(SETTINGS)]
    value, edit = FAULTS[fault]
    name = f"{value}{layer}"
    one, other = network(kind, dtypes[0]), network(kind, dtypes[1], name, edit)
    comparison = compare(one, other, given(kind, mask), allow_nan=True)
    assert not comparison.ok
    assert first(comparison) == name
    assert [each.value.name for each in comparison.origins if each.reaches_output] == [name]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_equal_values_are_not_reported(kind: str, mask: str) -> None:
    inputs = given(kind, mask)
    (exact,), (made,) = (run(network(kind, dtype), inputs, allow_nan=True).values() for dtype in ("fp32", "fp16"))
    assert nearness(made, exact) > 40
    comparison = compare(network(kind, "fp32"), network(kind, "fp16"), inputs, allow_nan=True)
    assert comparison.origins == ()
    assert comparison.ok


@pytest.mark.parametrize("mask", [each for each in MASKS if each != "-inf"])
@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
def test_a_mask_that_prefers_masked_values(mask: str, dtype: str) -> None:
    """The numbers that the mask adds to what is seen are lost beside those that hide."""
    bias = np.where(np.tri(6, dtype=bool), np.arange(6) / 8, MASKS[mask]).astype(np.float32)
    text = (
        "program(1.3) { func main<ios18>(tensor<{t}, [6, 6]> x) { b = const()[val = tensor<{t}, [6, 6]>({bias})]; "
        "s = add(x = x, y = b); p = softmax(x = s, axis = -1); y = mul(x = p, y = 2.0); } -> (y); }"
    ).replace("{t}", dtype)
    one, other = (text.replace("{bias}", str(each.tolist())) for each in (bias, np.where(bias > 0, bias / 4, bias)))
    comparison = compare(one, other, {"x": np.random.default_rng(1).standard_normal((6, 6)).astype(np.float32)})
    assert first(comparison) == "b"
    assert comparison.first is not None
    assert comparison.first.reaches_output
    assert comparison.first.measure.saturated == 15


def healing(operation: str, more: str = "") -> str:
    """Return a draft of three layers that heal what they are given by more than 40 dB, and lose it again."""
    layers = "".join(
        f"a{i} = add(x = {f'd{i - 1}' if i else 'h'}, y = 300.0); d{i} = sub(x = a{i}, y = 300.0); " for i in range(3)
    )
    return (
        "program(1.3) { func main<ios18>(tensor<fp32, [64]> x) { "
        f"h = {operation}; {layers} {more} y = mul(x = d2, y = 2.0); }} -> (y); }}"
    )


def test_one_fault_is_one_origin_however_often_it_heals() -> None:
    inputs = {"x": np.random.default_rng(5).random(64).astype(np.float32)}
    comparison = compare(healing("mul(x = x, y = 1.0)"), healing("mul(x = x, y = 1.01)"), inputs)
    levels = {each.name: each.measure.level for each in comparison.values}
    assert levels["h"] < 50
    assert levels["a0"] > 90
    assert levels["d0"] < 50
    assert [each.value.name for each in comparison.origins] == ["h"]


def test_a_second_fault_after_a_recovery_is_another_origin() -> None:
    inputs = {"x": np.random.default_rng(5).random(64).astype(np.float32)}
    wrong = healing("mul(x = x, y = 1.01)").replace("d2 = sub(x = a2, y = 300.0)", "d2 = sub(x = a2, y = 200.0)")
    comparison = compare(healing("mul(x = x, y = 1.0)"), wrong, inputs)
    assert {each.value.name for each in comparison.origins} == {"h", "d2"}
