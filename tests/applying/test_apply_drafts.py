"""Differences of drafts carried out: the arrays that a text names are weights like any others."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import numpy as np
import pytest

import miltext
from miltext.schema.proto import Program

DRAFT = """program(1.3)
{{
    func main<ios18>(tensor<fp32, [1, 3]> x) {{
            y = linear({x}, {weight}, bias = {bias});
        }} -> (y);
}}
"""
W = np.arange(6, dtype=np.float32).reshape(2, 3)
FORMS = {
    "npy": '$npy("w.npy")',
    "other npy": '$npy("other.npy")',
    "npz": '$npz("w.npz", "weight")',
    "safetensors": '$safetensors("w.safetensors", "weight")',
    "literal": "[[0, 1, 2], [3, 4, 6]]",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    safetensors = pytest.importorskip("safetensors.numpy")
    np.save(tmp_path / "w.npy", W)
    np.save(tmp_path / "other.npy", W + 7)
    np.savez(tmp_path / "w.npz", weight=W * 2)
    safetensors.save_file({"weight": W * 3}, tmp_path / "w.safetensors")
    for name, form in FORMS.items():
        (tmp_path / f"{name}.mil").write_text(draft(form))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draft(weight: str, x: str = "relu(x)", bias: str = "[1, 2]") -> str:
    return DRAFT.format(x=x, weight=weight, bias=bias)


@pytest.mark.parametrize(("old", "new"), [*((each, "npy") for each in FORMS), *(("npy", each) for each in FORMS)])
def test_a_draft_becomes_another_one(folder: Path, old: str, new: str) -> None:
    a, b = folder / f"{old}.mil", folder / f"{new}.mil"
    difference = miltext.diff(a, b, build_info=True)
    gc.collect()
    made = miltext.apply(difference, a)
    del difference
    gc.collect()  # the new weights last as long as the model, and the old ones, too
    assert isinstance(made, miltext.Model)
    assert miltext.diff(made, b, build_info=True).same


def test_an_unchanged_array_lasts_as_long_as_the_model(folder: Path) -> None:
    (folder / "new.mil").write_text(draft(FORMS["npy"], x="tanh(x)"))
    made = miltext.apply(miltext.diff("npy.mil", "new.mil"), "npy.mil")
    gc.collect()
    assert isinstance(made, miltext.Model)
    assert miltext.diff(made, "new.mil").same
    made.save(folder / "made.mlmodel")
    assert miltext.diff("made.mlmodel", "new.mil").same


def test_a_text_that_names_arrays_gives_a_model(folder: Path) -> None:
    difference = miltext.diff("npy.mil", "npz.mil")
    made = miltext.apply(difference, draft(FORMS["npy"]))
    assert isinstance(made, miltext.Model)
    assert miltext.diff(made, "npz.mil").same


def test_an_array_can_be_taken_from_another_draft(folder: Path) -> None:
    made = miltext.apply(miltext.diff("npy.mil", "npz.mil"), "npy.mil", weights_from="npz.mil")
    assert miltext.diff(made, "npz.mil").same
    with pytest.raises(miltext.ModelError, match=r"MIL498.*sha256:"):
        miltext.apply(miltext.diff("npy.mil", "npz.mil"), "npy.mil", weights_from="npy.mil")


def test_a_draft_without_its_arrays_is_refused(folder: Path) -> None:
    difference = miltext.diff("npy.mil", "npz.mil")
    (folder / "elsewhere").mkdir()
    shutil.copy("npy.mil", "elsewhere/npy.mil")
    with pytest.raises(miltext.ParseError, match=r"elsewhere/npy\.mil:4.*MIL413.*does not exist"):
        miltext.apply(difference, "elsewhere/npy.mil")


def test_a_program_has_no_folder_for_an_array(folder: Path) -> None:
    old = miltext.parse(miltext.to_text(folder / "literal.mil"))
    difference = miltext.diff(old, "npy.mil")
    with pytest.raises(miltext.ModelError, match=r"MIL498.*no folder.*path or a Model"):
        miltext.apply(difference, old)
    (folder / "old.mil").write_text(miltext.to_text(old))
    made = miltext.apply(difference, "old.mil")
    assert miltext.diff(made, "npy.mil").same
    assert isinstance(miltext.apply(miltext.diff(old, "literal.mil"), old), Program)
