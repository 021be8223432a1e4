"""Verbs that read a model also read a draft, which is completed first, with its arrays."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import miltext
from miltext.cli import command

PLAIN = "program(1.3) {{ func main<ios18>(tensor<fp16, [1, 2]> x) {{ {} }} -> (y); }}"
W = np.arange(1, 5, dtype=np.float16).reshape(2, 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "w.npy", W)
    (tmp_path / "plain.mil").write_text(PLAIN.format("y = relu(x);"))
    (tmp_path / "arrays.mil").write_text(PLAIN.format('y = linear(relu(x), $npy("w.npy"));'))
    assert run("infer", "plain.mil", "-o", "whole.mil")[0] == 0
    assert run("infer", "arrays.mil", "-o", "whole_arrays.mil")[0] == 0
    return tmp_path


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(command, [*arguments], input=stdin)
    return result.exit_code, result.output


FORMS = (["print"], ["print", "--compact"], ["print", "--draft"], ["info"], ["weights"])


@pytest.mark.parametrize("form", FORMS, ids="_".join)
def test_a_draft_is_read_as_its_completed_text(folder: Path, form: list[str]) -> None:
    status, shown = run(*form, "plain.mil")
    assert (status, shown) == run(*form, "whole.mil")
    assert status == 0
    assert run(*form, "-", stdin=(folder / "plain.mil").read_text()) == (0, shown)


def test_a_page_of_a_draft_is_written(folder: Path) -> None:
    assert run("print", "plain.mil", "-o", "p.html")[0] == 0
    assert "relu" in (folder / "p.html").read_text()


@pytest.mark.parametrize("name", ["arrays.mil", "whole_arrays.mil"])
def test_the_weights_of_a_text_are_its_arrays(folder: Path, name: str) -> None:
    status, shown = run("weights", name, "--save", "saved", "--format", "json")
    [weight] = json.loads(shown)["weights"]
    assert (status, weight["name"], weight["file"], weight["offset"]) == (0, "y_weight", "w.npy", None)
    assert np.array_equal(np.load(folder / "saved" / "y_weight.npy"), W)
    assert run("weights", name)[1].splitlines()[1].startswith("y_weight  fp16  2x2    8      -       ")
    found = miltext.weights(folder / name)
    gc.collect()
    assert np.array_equal(found["y_weight"], W)


@pytest.mark.parametrize("name", ["arrays.mil", "whole_arrays.mil"])
def test_info_counts_the_arrays_of_a_text(folder: Path, name: str) -> None:
    status, shown = run("info", name)
    assert (status, "4 parameters of fp16, 8 bytes" in shown, ".bin" in shown) == (0, True, False)
    (folder / "w.npy").unlink()
    status, shown = run("info", name)
    assert (status, f"{name}:" in shown, "MIL413" in shown) == (1, True, True)


@pytest.mark.parametrize("name", ["arrays.mil", "whole_arrays.mil"])
def test_a_text_with_arrays_is_described(folder: Path, name: str) -> None:
    status, shown = run("describe", name)
    assert (status, 'name = "y"' in shown) == (0, True)


@pytest.mark.parametrize("name", ["arrays.mil", "whole_arrays.mil"])
def test_numbers_of_arrays_are_printed_on_request(folder: Path, name: str) -> None:
    status, shown = run("print", name, "--inline-weights")
    assert (status, miltext.parse(shown).SerializeToString() != b"", "[[0x1p+0, 0x1p+1]" in shown) == (0, True, True)
    status, shown = run("print", name, "--compact")
    assert (status, "@model_path" in shown) == (0, False)


@pytest.mark.parametrize("form", [[], ["--html"], ["--annotate"], ["--inline-weights", "1"], ["--as-coremlc"]])
@pytest.mark.parametrize("name", ["arrays.mil", "whole_arrays.mil"])
def test_a_printed_text_names_no_arrays(folder: Path, name: str, form: list[str]) -> None:
    status, shown = run("print", name, *form)
    assert (status, "error[MIL111]" in shown, "`miltext infer` writes the completed text" in shown) == (1, True, True)
    assert shown.startswith(f"{name}:")


@pytest.mark.parametrize("verb", [["info"], ["weights"], ["print"]], ids="_".join)
def test_the_errors_of_a_draft_have_their_places(folder: Path, verb: list[str]) -> None:
    (folder / "wrong.mil").write_text(PLAIN.format("y = relu(q);"))
    status, shown = run(*verb, "wrong.mil")
    assert (status, shown.startswith("wrong.mil:1:68: error[")) == (1, True)


def test_parse_names_the_way_for_a_draft(folder: Path) -> None:
    status, shown = run("parse", "plain.mil", "-o", "p.pb")
    assert (status, "error[MIL112]" in shown, "`miltext infer`" in shown) == (1, True, True)


def test_one_mistake_is_one_finding(folder: Path) -> None:
    assert "    1 operation: 1 relu\n" in run("info", "plain.mil")[1]
