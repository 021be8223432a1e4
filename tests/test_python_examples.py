"""Every example in Python of README and docs is run: here, or by the test of its page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from support.followed_page import blocks
from support.how_to_models import MODELS, how_to_model
from support.stand_ins import SIZES, place, stand_in

import miltext
from miltext.pytest_plugin import MilGolden
from miltext.testing import assert_same_numbers

FOLLOWED = {
    "docs/evaluation.md": "tests/evaluation/test_evaluation_page.py",
    "docs/generate.md": "tests/generation/test_generate_page.py",
    "docs/convert-weights.md": "tests/conversion/test_convert_weights_page.py",
    "docs/graph.md": "tests/ir/test_graph_page.py",
    "docs/lark.md": "tests/syntax/test_lark_page.py",
    "docs/validate-passes.md": "tests/pass_validation/test_validate_page.py",
}
"""The pages whose examples another test runs."""

NAMED = re.compile(r'"([\w/]+\.(?:mlpackage|mlmodelc|mlmodel|mil|toml|npz))"')

MADE = {
    "New.mlpackage",
    "NewPipeline.mlpackage",
    "Back.mlpackage",
    "Whole.mlpackage",
    "Both.mlpackage",
    "goldens/model.mil",
}
"""What examples make."""

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            hidden = relu(x);
            y = tanh(hidden);
        } -> (y);
}
"""


def _relu() -> Any:
    return miltext.parse(miltext.infer_draft(TEXT))


def _negative(candidate: Any) -> dict[str, Any]:
    taken: dict[str, Any] = miltext.Evaluator(candidate.model).inputs
    return {name: -np.ones(kind.shape) for name, kind in taken.items()}


KNOWN: dict[str, Any] = {
    "miltext": miltext,
    "np": np,
    "image": np.full(SIZES, 7, np.float32),
    "x": np.ones((2, 3), np.float16),
    "text": TEXT,
    "relu": _relu,
    "convert": lambda make: make(),
    "lowered": miltext.to_text,
    "inputs": _negative,
    "given": given,
    "assert_same_numbers": assert_same_numbers,
    "model": _relu(),
}
"""What readers have besides the names of an example."""


def _examples(page: str) -> list[str]:
    return [block.text for block in blocks((ROOT / page).read_text(encoding="utf-8")) if _is_python(block)]


def _is_python(block: Any) -> bool:
    return block.language == "python" and not block.word  # with a word, it is a file of a page that is followed


PAGES = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]


@pytest.mark.parametrize("page", [page for page in PAGES if _examples(page) and page not in FOLLOWED])
def test_the_examples_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page.startswith("docs/how-to/"):
        _place_models((ROOT / page).read_text(encoding="utf-8"), tmp_path)
    for example in _examples(page):
        _place(set(NAMED.findall(example)) - MADE, "miltext reduce" if "reduce" in example else "", tmp_path)
        names = dict(KNOWN)
        for update in ("1", "") if "assert_matches_golden" in example else ("",):
            monkeypatch.setenv("MIL_UPDATE", update)
            exec(example, names)
        for name, test in names.items():
            if name.startswith("test_"):
                _run(test, tmp_path)


def _place_models(text: str, folder: Path) -> None:
    """Put the models of a page of docs/how-to in a folder."""
    for name in MODELS:
        if name in text:
            pytest.importorskip("coremltools")
            place(how_to_model(name), folder / name)


def _place(found: set[str], line: str, folder: Path) -> None:
    """Put stand-ins in a folder for the names that are found in an example, and weights beside a text."""
    for name in found:
        made = stand_in(name, line)
        if made is not None and not (folder / name).exists():
            place(made, folder / name)
    if "model.mil" in found:
        weights = stand_in("DIR", line)
        assert isinstance(weights, Path)
        place(weights / "weights", folder / "weights")


def _run(test: Any, folder: Path) -> None:
    """Run what an example defines: a test with goldens, one of hypothesis, or a plain one."""
    if hasattr(test, "hypothesis"):
        settings(max_examples=2, deadline=None, database=None)(test)()
    elif test.__code__.co_argcount:
        for updating in (True, False):
            test(MilGolden(folder / "test_ops", updating, ""))
        assert (folder / "test_ops" / "relu.mil").exists()
    else:
        test()


def test_the_other_pages_have_their_tests() -> None:
    for page, test in FOLLOWED.items():
        assert _examples(page), page
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
