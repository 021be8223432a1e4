"""`diff --stat`: the numbers of differences by function and scope, and their table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import CORPUS
from support.commands import miltext as run
from support.containers import NEURAL_NETWORK, write_package
from support.diff_cases import FOLDER
from support.pipelines import piped, unary

import miltext
from miltext.diffing.scope_stats import DiffStat, ScopeStat
from miltext.diffing.stat_table import LONGEST, SHORTEST
from miltext.models.outputs import check_output
from miltext.schema.proto import Model, Program
from miltext.scopes.families import TIMES

LAYER = """
    tensor<fp32, [8, 8]> layers_{index}_linear_weight = const()[name = string("layers_{index}_linear_weight"),
        val = tensor<fp32, [8, 8]>({weight})];
    tensor<fp32, [2, 8]> layers_{index}_linear = matmul(x = {value}, y = layers_{index}_linear_weight,
        transpose_x = bool(false), transpose_y = bool(false))[name = string("layers_{index}_linear")];
    tensor<fp32, [2, 8]> layers_{index}_out = {kind}(x = layers_{index}_linear)[name = string("layers_{index}_out")];
"""


def layers(count: int, kinds: dict[int, str] | None = None, weights: dict[int, float] | None = None) -> Program:
    """A chain of layers, each with a weight of 64 elements, and `relu` at its end unless another kind is given."""
    body, value = "", "x"
    for index in range(count):
        weight = [[float((weights or {}).get(index, 1))] * 8] * 8
        body += LAYER.format(index=index, value=value, kind=(kinds or {}).get(index, "relu"), weight=weight)
        value = f"layers_{index}_out"
    head = "program(1.3)\n{ func main<ios18>(tensor<fp32, [2, 8]> x) {"
    return miltext.parse(f"{head}{body}}} -> ({value}); }}")


def table(text: str) -> list[list[str]]:
    """The words of each line of the table, the cell of the name first."""
    cut = [line.partition(" |") for line in text.splitlines() if " |" in line]
    return [[" ".join(name.split()), *rest.split()] for name, _, rest in cut]


def test_equal_layers_are_one_line() -> None:
    difference = miltext.diff(layers(5), layers(5, dict.fromkeys(range(5), "tanh")))
    assert table(difference.to_stat()) == [
        ["", "parameters", "bytes", "of", "weights"],
        [f"main/layers {TIMES}5", "~5", "320", "1.28", "kB"],
        ["total", "~5", "320", "1.28", "kB"],
    ]
    assert [each.scope for each in difference.stat.scopes] == [f"layers_{index}" for index in range(5)]


def test_a_layer_with_other_numbers_has_its_own_line() -> None:
    new = layers(5, {**dict.fromkeys(range(5), "tanh"), 2: "relu"}, {2: 3.0})
    rows = table(miltext.diff(layers(5), new).to_stat())
    assert [row[0] for row in rows] == ["", f"main/layers_0, 1, 3, 4 {TIMES}4", "main/layers_2", "total"]
    assert rows[1][1:3] == ["~4", "256"]
    assert rows[2][1:3] == ["1", "64"]


def test_layers_without_differences_have_no_line() -> None:
    rows = table(miltext.diff(layers(4), layers(4, {3: "tanh"})).to_stat())
    assert rows[1:] == [["main/layers_3", "~1", "64", "256", "B"], ["total", "~1", "256", "1.02", "kB"]]


def test_a_removed_layer_is_where_the_bytes_are() -> None:
    difference = miltext.diff(layers(4), layers(3))
    (row,) = [each for each in difference.stat.scopes if each.removed]
    assert (row.scope, row.old_bytes, row.new_bytes, row.old_parameters) == ("layers_3", 256, 0, 64)
    assert difference.stat.total.new_bytes - difference.stat.total.old_bytes == -256
    assert re.search(r"main/layers_3 .*-64 .*256 B +-256 B$", difference.to_stat(), re.MULTILINE)


def test_a_compressed_weight_keeps_its_parameters() -> None:
    folder = FOLDER / "weight_palettized"
    (row,) = miltext.diff(folder / "a.mil", folder / "b.mil").stat.scopes
    assert row.old_parameters == row.new_parameters
    assert row.new_bytes < row.old_bytes


SHARED = """program(1.3)
{{
{functions}
}}
"""
FUNCTION = """    func {name}<ios18>(tensor<fp32, [2, 8]> x) {{
            tensor<fp32, [8, 8]> w = const()[name = string("w"), val = tensor<fp32, [8, 8]>(BLOBFILE(
                path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp32, [2, 8]> y = matmul(x = x, y = w, transpose_x = bool(false), transpose_y = bool(false))
                [name = string("y")];
        }} -> (y);
"""


def test_a_weight_that_functions_share_is_counted_once() -> None:
    """The function that stays has the bytes, though another one came first: removing that saves nothing."""
    both = SHARED.format(functions=FUNCTION.format(name="first") + FUNCTION.format(name="main"))
    difference = miltext.diff(both, SHARED.format(functions=FUNCTION.format(name="main")), ignore_weights=True)
    (row,) = difference.stat.scopes
    assert row == ScopeStat("first", "", removed=2, interface=1)
    assert (difference.stat.total.old_bytes, difference.stat.total.new_bytes) == (256, 256)


def test_a_function_alone() -> None:
    folder = FOLDER / "rename_only_function"
    text = miltext.diff(folder / "a.mil", folder / "b.mil").to_stat()
    assert re.search(r"^ \w+ +\| .*renamed from \w+$", text, re.MULTILINE)
    folder = FOLDER / "add_function"
    text = miltext.diff(folder / "a.mil", folder / "b.mil").to_stat()
    assert re.search(r"^ \w+ +\| .*\+\d+ .*added$", text, re.MULTILINE)


def test_the_bar_fits_the_terminal() -> None:
    difference = miltext.diff(layers(30), layers(28, dict.fromkeys(range(0, 20, 2), "tanh")))
    plain = difference.to_stat()
    for width in range(20, 140, 7):
        lines = difference.to_stat(width=width).splitlines()
        room = width - max(map(len, plain.splitlines())) - 2
        assert all(len(line) <= max(width, len(before)) for line, before in zip(lines, plain.splitlines(), strict=True))
        assert (lines == plain.splitlines()) == (room < SHORTEST)
    bars = re.findall(r"[-~+>]+$", difference.to_stat(width=200), re.MULTILINE)
    assert bars == ["~" * 10, "--", "--"]
    assert f"\x1b[33m{'~'}" in difference.to_stat(width=200, color=True)


def test_long_bars_are_to_scale() -> None:
    one, many = layers(1), layers(1, {0: "tanh"})
    body = "".join(f"tensor<fp32, [2, 8]> n{index} = tanh(x = layers_0_out);\n" for index in range(500))
    many = miltext.parse(
        miltext.to_text(many).replace("        } -> (layers_0_out)", f"{body}        }} -> (layers_0_out)")
    )
    difference = miltext.diff(one, many)
    lines = difference.to_stat(width=120).splitlines()
    bars = [bar for line in lines if (bar := re.search(r"[+~]*$", line)[0])]  # type: ignore[index]
    room = 120 - max(map(len, difference.to_stat().splitlines())) - 2
    assert max(map(len, bars)) == min(room, LONGEST)
    assert "~" in "".join(bars)


def test_no_difference_has_no_table() -> None:
    assert miltext.diff(layers(2), layers(2)).to_stat(width=100) == "no difference\n"


def test_a_model_of_another_kind_has_only_its_changes(tmp_path: Path) -> None:
    paths = [tmp_path / "a.mlmodel", tmp_path / "b.mlmodel"]
    paths[0].write_bytes(NEURAL_NETWORK)
    paths[1].write_bytes(NEURAL_NETWORK.replace(b"\x08\x04", b"\x08\x05", 1))
    difference = miltext.diff(*paths)
    assert difference.to_stat(width=100) == "model: 1 change\n"
    assert difference.stat == DiffStat()


def _wire(spec: Model) -> bytes:
    return spec.SerializeToString()


@pytest.mark.parametrize("width", [None, 120])
def test_pipelines_begin_with_the_model(tmp_path: Path, width: int | None) -> None:
    specs = [piped(unary("x", "a"), unary("a", "b", inner), names=["one", "two"]) for inner in ("inner", "other")]
    paths = [tmp_path / "A.mlpackage", tmp_path / "B.mlpackage"]
    difference = miltext.diff(*[write_package(*each) for each in zip(paths, map(_wire, specs), strict=True)])
    rows = table(difference.to_stat(width=width))
    assert [row[0] for row in rows] == ["", 'model 1 "two": main', "total"]
    assert difference.models[0].difference
    assert difference.to_json()["models"][0]["difference"]["stat"]["total"]["renamed"] == 1


def test_wide_names_keep_the_columns(tmp_path: Path) -> None:
    specs = [piped(unary("x", "a"), unary("a", "b", inner), names=["one", "\u5c64"]) for inner in ("inner", "other")]
    paths = [tmp_path / "A.mlpackage", tmp_path / "B.mlpackage"]
    difference = miltext.diff(*[write_package(*each) for each in zip(paths, map(_wire, specs), strict=True)])
    lines = difference.to_stat().splitlines()
    assert "\u5c64" in lines[1]
    assert lines[1].index("|") + 1 == lines[2].index("|")


def test_json_has_the_numbers_of_the_table(tmp_path: Path) -> None:
    new = layers(5, dict.fromkeys(range(4), "tanh"))
    for name, program in (("a", layers(5)), ("b", new)):
        (tmp_path / f"{name}.mil").write_text(miltext.to_text(program))
    told = json.loads(run("diff", tmp_path / "a.mil", tmp_path / "b.mil", "--format", "json").stdout)
    text = run("diff", tmp_path / "a.mil", tmp_path / "b.mil", "--stat").stdout.decode()
    assert text == miltext.diff(tmp_path / "a.mil", tmp_path / "b.mil").to_stat()
    (row,) = [row for row in table(text) if row[0].startswith("main")]
    assert row[1] == f"~{sum(each['changed'] for each in told['stat']['scopes'])}"
    assert told["stat"]["total"]["changed"] == 4


def test_a_table_may_replace_a_table(tmp_path: Path) -> None:
    text = tmp_path / "counts"
    text.write_text(miltext.diff(layers(3), layers(3, {0: "tanh"})).to_stat())
    check_output(str(text), "difference")
    text.write_text("  | my own\n notes | of things\n")
    with pytest.raises(miltext.ModelError):
        check_output(str(text), "difference")


ENCODERS = (
    CORPUS / "pairs/FluidAudio__160ms_streaming_encoder/model.mlmodel",
    CORPUS / "changes/streaming_encoder/1280ms.mlmodel",
)


@pytest.mark.skipif(not ENCODERS[1].exists(), reason="needs the corpus")
def test_the_streaming_encoder_in_few_lines() -> None:
    difference = miltext.diff(*ENCODERS)
    text = difference.to_stat()
    assert len(text.splitlines()) <= 15
    assert f"main/encoder_layers_1 … 16 {TIMES}16" in text
    scopes = {each.scope: each for each in difference.stat.scopes}
    assert scopes["encoder_layers_1"].new_bytes - scopes["encoder_layers_1"].old_bytes == 28672
