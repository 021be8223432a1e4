"""docs/tutorial.md: who follows it sees what it says, and its three models compute what they should."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import ROOT, Check
from support.computing import Array, compute, softmax
from support.followed_page import follow
from support.model_checks import assert_coremltools_opens

import miltext
from miltext.cli import command

PAGE = ROOT / "docs" / "tutorial.md"
EXAMPLES = ROOT / "examples" / "tutorial"
NAMES = ("mlp", "conv", "attention")


@pytest.mark.skipif(os.name == "nt", reason="the page's commands are those of a Unix shell")
def test_the_page_can_be_followed_and_ends_with_the_examples(tmp_path: Path, matches_golden: Check) -> None:
    matches_golden(PAGE, follow(PAGE.read_text(encoding="utf-8"), tmp_path))
    examples = sorted(EXAMPLES.iterdir())
    assert {example.suffix for example in examples} == {".mil", ".npy", ".npz", ".py"}
    for example in examples:
        assert held(tmp_path / example.name) == held(example), example.name
    pytest.importorskip("coremltools", reason="some of the page's commands need coremltools")


def held(path: Path) -> object:
    """Return a file's text, or its arrays as types, shapes and bytes."""
    if path.suffix not in (".npy", ".npz"):
        return path.read_text(encoding="utf-8")
    loaded = np.load(path)
    arrays = {name: loaded[name] for name in loaded} if path.suffix == ".npz" else {"": loaded}
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


# ---- the programs are kept as examples


@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_check(name: str) -> None:
    result = CliRunner().invoke(command, ["check", "--isolated", str(EXAMPLES / f"{name}.mil")])
    assert (result.exit_code, re.findall(r"\[(MIL\d+)\]", result.output)) == (0, ["MIL712"])  # it is a draft


@pytest.fixture(scope="module", params=NAMES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An example and the model that `miltext build` makes of it."""
    package = tmp_path_factory.mktemp("built") / "M.mlpackage"
    result = CliRunner().invoke(command, ["build", str(EXAMPLES / f"{request.param}.mil"), "-o", str(package)])
    assert (result.exit_code, result.output) == (0, "")
    return request.param, package


def test_an_example_is_opened_by_coremltools(built: tuple[str, Path]) -> None:
    pytest.importorskip("coremltools", reason="needs coremltools")
    assert_coremltools_opens(built[1])


# ---- the models compute what they should; nothing of miltext or Core ML runs them here


def mlp(folder: Path, x: Array) -> Any:
    w1, b1, w2, b2 = (np.load(folder / f"{name}.npy").astype(float) for name in ("w1", "b1", "w2", "b2"))
    return softmax(np.maximum(x @ w1.T + b1, 0) @ w2.T + b2, -1)


def convolution(folder: Path, image: Array) -> Any:
    """The convolution by loops, then the batch norm that the page folds into it."""
    made: dict[str, Any] = runpy.run_path(str(EXAMPLES / "conv_weights.py"))
    padded, weight = np.pad(image[0], [(0, 0), (1, 1), (1, 1)]), made["weight"]
    edges = np.zeros((8, 8, 8))
    for o, row, column in np.ndindex(8, 8, 8):
        edges[o, row, column] = np.sum(padded[:, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3] * weight[o])
    gamma, beta, mean, variance = (made[name][:, None, None] for name in ("gamma", "beta", "mean", "variance"))
    normed = gamma * (edges - mean) / np.sqrt(variance + 1e-5) + beta
    return np.maximum(normed, 0).mean((1, 2))[None]


def attention(folder: Path, x: Array) -> Any:
    """One head after the other, one position after the other."""
    matrices = np.load(folder / "attention.npz")
    query, key, value = (x[0] @ matrices[name].astype(float).T for name in ("query", "key", "value"))
    mixed = np.zeros((10, 32))
    for head in (slice(0, 16), slice(16, 32)):
        for position in range(10):
            likeness = np.array([query[position, head] @ key[other, head] for other in range(10)]) / np.sqrt(16)
            weights = np.exp(likeness) / np.exp(likeness).sum()
            mixed[position, head] = sum(weights[other] * value[other, head] for other in range(10))
    return x + mixed @ matrices["output"].astype(float).T


EXPECTED = {
    "mlp": (mlp, "x", (1, 64)),
    "conv": (convolution, "image", (1, 3, 16, 16)),
    "attention": (attention, "x", (1, 10, 32)),
}


def test_a_model_computes_its_definition(
    built: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, package = built
    expected, parameter, shape = EXPECTED[name]
    monkeypatch.chdir(tmp_path)  # conv_weights.py saves its arrays
    x = np.random.default_rng(7).normal(0, 1, shape)
    (y,) = compute(miltext.load(package), **{parameter: x})
    assert y.shape == expected(EXAMPLES, x).shape
    np.testing.assert_allclose(y, expected(EXAMPLES, x), atol=2e-3)  # the weights are 16-bit floats
