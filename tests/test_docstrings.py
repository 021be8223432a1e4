"""The docstrings of public functions: sections for all arguments, the result, errors and an example that runs."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE

import miltext

FUNCTIONS = [name for name in miltext.__all__ if inspect.isroutine(getattr(miltext, name))]
SECTIONS = ("Args", "Returns", "Raises", "Example")
DRAFT = "program(1.3) { func main<ios18>(tensor<fp16, [2, 3]> x) { hidden = relu(x); y = tanh(hidden); } -> (y); }\n"
NAMES = {
    "var_42": "probabilities",
    "conv_3": "lit_cast_fp16",
    "relu_3": "pooled_cast_fp16",
    "1, 3, 256, 256": "1, 1, 16, 16",
}
"""Names in examples that stand for a user's own, and those of the model here."""


def sections(name: str) -> dict[str, str]:
    parts = re.split(rf"^({'|'.join(SECTIONS)}):$", inspect.getdoc(getattr(miltext, name)) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(textwrap.dedent, parts[2::2]), strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_all_sections_in_order(name: str) -> None:
    assert tuple(sections(name)) == SECTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_argument_is_described(name: str) -> None:
    described = re.findall(r"^(\w[\w, ]*): \S", sections(name)["Args"], re.MULTILINE)
    listed = [each for names in described for each in names.split(", ")]
    assert sorted(listed) == sorted(inspect.signature(getattr(miltext, name)).parameters)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "lark_parser":
        pytest.importorskip("lark")
    for copy in ("Model", "Old", "New"):
        if f'"{copy}.mlpackage"' in sections(name)["Example"]:
            shutil.copytree(EXAMPLE, tmp_path / f"{copy}.mlpackage")
    text = miltext.infer_draft(DRAFT)
    (tmp_path / "model.mil").write_text(text, encoding="utf-8")
    (tmp_path / "draft.mil").write_text(DRAFT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    example = sections(name)["Example"]
    for theirs, ours in NAMES.items():
        example = example.replace(theirs, ours)
    exec(example, {"miltext": miltext, "np": np, "text": text})
