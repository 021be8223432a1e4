"""`diff` of drafts, and of texts that name arrays: numbers are read from the files, and errors have their places."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import miltext
from miltext.cli import command

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3]> x) {
            y = linear(relu(x), $npy("w.npy"), bias = $npz("b.npz", "bias"));
        } -> (y);
}
"""
W = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.save(tmp_path / "w.npy", W)
    np.savez(tmp_path / "b.npz", bias=np.array([1, 2], np.float32))
    (tmp_path / "old.mil").write_text(DRAFT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, [*arguments])
    return result.exit_code, result.output


def other(folder: Path, old: str, new: str, name: str = "new.mil") -> None:
    (folder / name).write_text(DRAFT.replace(old, new))


def test_operations_of_drafts_are_compared(folder: Path) -> None:
    other(folder, "relu(", "tanh(")
    status, shown = run("diff", "old.mil", "new.mil")
    assert (status, shown.startswith("--- old.mil\n+++ new.mil\n")) == (1, True)
    assert shown.endswith("func main\n    ~ y_x: tanh\n        operation: relu -> tanh\n")


def test_completed_texts_are_compared(folder: Path) -> None:
    other(folder, "relu(", "tanh(")
    for name in ("old", "new"):
        assert run("infer", f"{name}.mil", "-o", f"{name}_whole.mil")[0] == 0
    assert "operation: relu -> tanh" in run("diff", "old_whole.mil", "new_whole.mil")[1]
    assert run("diff", "old.mil", "old_whole.mil") == (0, "no difference\n")
    assert run("diff", "old.mil", "old.mil") == (0, "no difference\n")


def test_numbers_are_read_from_the_files(folder: Path) -> None:
    changed = W.copy()
    changed[1, 2] += 1
    np.save(folder / "changed.npy", changed)
    np.save(folder / "same.npy", W)
    other(folder, "w.npy", "changed.npy")
    other(folder, "w.npy", "same.npy", name="same.mil")
    status, shown = run("diff", "old.mil", "new.mil")
    assert status == 1
    assert "weights: 1 differs, 1 equal" in shown
    assert "1 of 6 elements, max 1" in shown
    assert run("diff", "old.mil", "same.mil") == (0, "no difference\n")


def test_a_draft_is_compared_with_its_model(folder: Path) -> None:
    assert run("build", "old.mil", "-o", "M.mlpackage")[0] == 0
    assert run("diff", "old.mil", "M.mlpackage") == (0, "no difference\n")
    assert run("diff", "M.mlpackage", "old.mil") == (0, "no difference\n")


def test_a_missing_array_has_its_place_in_the_draft(folder: Path) -> None:
    other(folder, "w.npy", "none.npy")
    for call in (["new.mil", "old.mil"], ["old.mil", "new.mil"], ["old.mil", "new.mil", "--format", "json"]):
        status, shown = run("diff", *call)
        assert status == 2
        if "json" in call:
            [found] = json.loads(shown)["diagnostics"]
            assert (found["path"], found["start"]["line"]) == ("new.mil", 4)
        else:
            assert shown.startswith('new.mil:4:33: error[MIL413]: `$npy("none.npy")` cannot be read')
            assert 'linear(relu(x), $npy("none.npy")' in shown


def test_every_form_of_the_difference_can_be_made_later(folder: Path) -> None:
    """The weight files of the drafts last as long as they are needed."""
    np.save(folder / "changed.npy", W + 1)
    other(folder, "w.npy", "changed.npy")
    found = miltext.diff("old.mil", "new.mil")
    gc.collect()
    assert "sha256:" in found.to_unified()
    assert "$elided" not in found.to_html()
    assert "`y_weight`" in found.to_markdown()


def test_breaking_changes_of_drafts_are_found(folder: Path) -> None:
    other(folder, "[1, 3]> x", "[1, 3]> z")
    (folder / "new.mil").write_text((folder / "new.mil").read_text().replace("relu(x)", "relu(z)"))
    status, shown = run("diff", "--breaking", "old.mil", "new.mil")
    assert (status, "input" in shown) == (1, True)
    assert run("diff", "--breaking", "old.mil", "old.mil")[0] == 0


@pytest.mark.parametrize("verb", ["diff", "compare"])
def test_a_text_with_other_errors_is_refused_with_them(folder: Path, verb: str) -> None:
    other(folder, "relu(x)", "relu(q)")
    status, shown = run(verb, "old.mil", "new.mil")
    assert (status, "MIL111" in shown, "new.mil:4:29: error[" in shown) == (2, False, True)


def test_a_program_by_itself_has_no_array_files(folder: Path) -> None:
    with pytest.raises(miltext.ParseError, match="MIL111") as raised:
        miltext.to_text(folder / "old.mil")
    assert raised.value.text == DRAFT
