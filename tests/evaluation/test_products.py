"""Products of matrices, and attention: against sums in float64, and against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.evaluation import computed
from support.layers import MODES, assert_near, layer, numbers
from support.one_operation import applied

PAIRS = {
    "two matrices": ((3, 4), (4, 5)),
    "batches": ((2, 3, 4), (2, 4, 5)),
    "broadcast batches": ((2, 1, 3, 4), (6, 4, 5)),
    "many rows by one matrix": ((2, 6, 3, 4), (4, 5)),
    "one matrix by a batch": ((3, 4), (2, 4, 5)),
    "rank 5": ((2, 1, 2, 3, 4), (1, 3, 1, 4, 5)),
    "no rows": ((0, 4), (4, 5)),
    "no batch": ((0, 3, 4), (0, 4, 5)),
    "nothing to sum": ((3, 0), (0, 5)),
    "one of each": ((1, 1), (1, 1)),
}


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("swapped", [(False, False), (True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_product_of_matrices_is_one_of_each_pair(pair: str, swapped: tuple[bool, bool], mode: Any) -> None:
    x, y = (numbers(seed, *shape) for seed, shape in enumerate(PAIRS[pair]))
    expected = (x[..., :, :, None] * y[..., None, :, :]).sum(axis=-2)
    given = [each.swapaxes(-1, -2) if swap else each for each, swap in zip((x, y), swapped, strict=True)]
    words = [str(swap).lower() for swap in swapped]
    attributes = f"transpose_x = {words[0]}, transpose_y = {words[1]}"
    assert_near(layer("matmul", dict(zip("xy", given, strict=True)), attributes, mode=mode), expected, mode)


VECTORS = {
    "a vector by a matrix": ((4,), (4, 5), "j,jk->k"),
    "a matrix by a vector": ((3, 4), (4,), "ij,j->i"),
    "a batch by a vector": ((2, 3, 4), (4,), "bij,j->bi"),
    "two vectors": ((4,), (4,), "j,j->"),
}


@pytest.mark.parametrize("pair", VECTORS)
def test_a_vector_is_a_row_or_a_column(pair: str) -> None:
    left, right, equation = VECTORS[pair]
    x, y = numbers(1, *left), numbers(2, *right)
    assert_near(layer("matmul", {"x": x, "y": y}), np.asarray(np.einsum(equation, x, y)), MODES[0])


def test_integers_are_multiplied_as_integers() -> None:
    x, y = (np.random.default_rng(seed).integers(-(2**15), 2**15, (3, 3), np.int32) for seed in (1, 2))
    found = layer("matmul", {"x": x, "y": y}, "transpose_y = true")
    assert found.dtype == np.int32
    assert found.tolist() == [
        [sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) for column in y] for row in x
    ]


@pytest.mark.parametrize(("left", "right"), [("fp16", "fp32"), ("fp32", "fp16")])
@pytest.mark.parametrize("compute", ["float32", "native"])
def test_a_constant_takes_the_type_of_the_other_factor(left: str, right: str, compute: str) -> None:
    text = f"""program(1.3) {{ func main<ios17>(tensor<{left}, [2, 2]> x) {{
        w = const()[val = tensor<{right}, [2, 2]>([[1, 2], [3, 4]])];
        y = matmul(x = x, y = w); }} -> (y); }}"""
    found = computed(text, {"x": np.eye(2)}, compute=compute)["y"]
    assert (found.dtype, found.tolist()) == (np.dtype({"fp16": "f2", "fp32": "f4"}[left]), [[1, 2], [3, 4]])


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (2, 1, 2, 3, 4), (0, 4), (2, 0, 4)], ids=str)
def test_a_linear_layer_works_on_the_last_axis(shape: tuple[int, ...], with_bias: bool, mode: Any) -> None:
    x, weight, bias = numbers(1, *shape), numbers(2, 5, 4), numbers(3, 5)
    expected = (x[..., None, :] * weight).sum(axis=-1) + (bias if with_bias else 0)
    held = {"weight": weight, "bias": bias} if with_bias else {"weight": weight}
    assert_near(layer("linear", {"x": x}, mode=mode, **held), expected, mode)


EQUATIONS = {
    "nchw,nwhu->nchu": ((2, 3, 4, 5), (2, 5, 4, 6)),
    "abcd,adce->abce": ((1, 3, 4, 5), (2, 5, 1, 6)),
    "chw,whu->chu": ((3, 4, 5), (5, 4, 6)),
    "xyz,zyt->xyt": ((3, 1, 5), (5, 4, 6)),
}


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("equation", EQUATIONS)
def test_an_equation_multiplies_its_operands(equation: str, mode: Any) -> None:
    x, y = (numbers(seed, *shape) for seed, shape in enumerate(EQUATIONS[equation]))
    dtype, compute = mode
    heads = [f"tensor<{dtype}, {list(array.shape)}> {name}" for name, array in {"x": x, "y": y}.items()]
    text = f"""program(1.3) {{ func main<ios18>({", ".join(heads)}) {{
        z = einsum(values = (x, y), equation = "{equation}"); }} -> (z); }}"""
    left, right = np.moveaxis(x, -1, 0)[..., None], np.moveaxis(y, -3, 0)
    expected = sum(a * np.expand_dims(b, -3) for a, b in zip(left, right, strict=True))
    assert_near(computed(text, {"x": x, "y": y}, compute=compute)["z"], expected, mode)


def attended(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Return what attention is, score by score."""
    scores = (query[..., :, None, :] * key[..., None, :, :]).sum(axis=-1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    with np.errstate(invalid="ignore"):
        parts = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
        parts = parts / parts.sum(axis=-1, keepdims=True)
    return (parts[..., None] * value[..., None, :, :]).sum(axis=-2)


HEADS = {"one head": (2,), "heads": (2, 3), "rank 5": (1, 2, 2), "no batch": (0, 2)}
MASKS = {"no mask": None, "a row": (5,), "one for all": (4, 5), "of rows": (4, 1), "of a batch": (2, 1, 5)}


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("working", [1, 12, 1 << 19])
@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_attention_weighs_values_by_softmax(
    kind: str, mask: str, heads: str, working: int, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miltext.evaluation.operations.products.WORKING_ELEMENTS", working)
    rest, shape = HEADS[heads], MASKS[mask]
    given = {"query": numbers(1, *rest, 4, 6), "key": numbers(2, *rest, 5, 6), "value": numbers(3, *rest, 5, 3)}
    if shape is not None:
        if shape[0] == 2 and rest[-1] not in (1, 2):
            shape = (rest[-1], *shape[1:])
        given["attn_mask"] = numbers(4, *shape) > -0.5 if kind == "bool" else numbers(4, *shape)
    if shape == (4, 1):  # coremltools wants as many columns as keys
        given["attn_mask"] = np.ascontiguousarray(np.broadcast_to(given["attn_mask"], (4, 5)))
    expected = attended(*given.values())
    found = layer("scaled_dot_product_attention", given, mode=mode)
    assert_near(np.nan_to_num(found), np.nan_to_num(expected), mode)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


@pytest.mark.parametrize("masked", [None, "bool", "float"])
def test_attention_matches_torch(masked: str | None) -> None:
    torch = pytest.importorskip("torch")
    given = {"query": numbers(1, 2, 3, 7, 8), "key": numbers(2, 2, 3, 9, 8), "value": numbers(3, 2, 3, 9, 4)}
    if masked:
        mask = numbers(4, 7, 9)
        given["attn_mask"] = mask > -1 if masked == "bool" else mask
    expected = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, given.values())).numpy()
    assert_near(layer("scaled_dot_product_attention", given), expected, MODES[0])


def test_attention_holds_large_scores() -> None:
    x = np.full((1, 2, 4), 200.0)
    found = layer("scaled_dot_product_attention", {"query": x, "key": x, "value": numbers(1, 1, 2, 4)})
    assert np.isfinite(found).all()


def test_attention_writes_into_none_of_its_arguments() -> None:
    given = {name: numbers(seed, 1, 3, 4).astype(np.float32) for seed, name in enumerate(["query", "key", "value"])}
    given["attn_mask"] = np.array([[True, False, True]] * 3)
    before = {name: array.copy() for name, array in given.items()}
    layer("scaled_dot_product_attention", given)
    assert all((given[name] == array).all() for name, array in before.items())


def test_a_bias_may_have_fractions_where_products_are_integers() -> None:
    x = np.array([[4, 2, 3]], np.int32)
    [made] = applied("linear(x, [[1, 0, 1], [0, 1, 0]], bias = [0.5, -0.5])", {"x": x})
    assert made.dtype == np.int32
    assert made.tolist() == [[7, 1]]
