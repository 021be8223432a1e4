"""Sizes of models: they add up to the weight files, and name scope, operation and form of each weight."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import CORPUS, EXAMPLE
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.sizing.growth import growth_between
from miltext.sizing.report import size_lines
from miltext.sizing.sizes import ModelSize

WEIGHTS = Path("Data", "com.apple.CoreML", "weights", "weight.bin")

PACKAGES = sorted(CORPUS.glob("*/*.mlpackage")) + sorted(CORPUS.glob("*/*.mlmodelc"))

LAYERS = """\
program(1.3)
{{
    func main<ios18>(tensor<fp16, [1, 16]> x) {{
            layer_0_out = linear(x, weight = layer_0_weight, bias = layer_0_bias);
            layer_1_out = linear(layer_0_out, weight = layer_1_weight, bias = layer_1_bias);
            head_out = linear(layer_1_out, weight = head_weight);
            again = linear(head_out, weight = head_weight);
        }} -> (again);
}}
"""


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


def layers(path: Path, *, twice: bool = True) -> Path:
    """Build a model of two equal layers and a head that two operations share."""
    number = np.random.default_rng(0).standard_normal
    lines = []
    for name, shape in (
        *((f"layer_{index}_weight", (16, 16)) for index in range(2)),
        *((f"layer_{index}_bias", (16,)) for index in range(2)),
        ("head_weight", (16, 16)),
    ):
        np.save(path.parent / f"{name}.npy", number(shape).astype(np.float16))
        lines.append(f'            {name} = const()[val = $npy("{name}.npy")];')
    text = LAYERS.format().replace("x) {\n", "x) {\n" + "\n".join(lines) + "\n")
    text = text if twice else text.replace("again = linear(head_out, weight = head_weight)", "again = relu(head_out)")
    source = path.with_suffix(".mil")
    source.write_text(text, encoding="utf-8")
    miltext.build(source, path, force=True)
    return path


def assert_adds_up(size: ModelSize) -> None:
    assert sum(each.bytes for each in size.scopes) == size.bytes
    assert sum(each.bytes for each in size.types) == size.bytes
    assert sum(each.parameters for each in size.scopes) == size.parameters
    assert sum(each.weights for each in size.scopes) == len(size.weights)
    assert sum(each.stored for each in size.weights) == sum(each.data for each in size.files)
    for each in size.files:
        assert each.bytes is None or each.data + each.layout + each.unused == each.bytes
        assert each.layout >= 0 or each.bytes is None


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_sizes_of_the_corpus_add_up(package: Path) -> None:
    size = miltext.size(package)
    assert_adds_up(size)
    record = json.loads(run("size", package, "--json").stdout)
    assert (record["bytes"], len(record["weights"])) == (size.bytes, len(size.weights))


def test_sizes_of_layers(tmp_path: Path) -> None:
    size = miltext.size(layers(tmp_path / "M.mlpackage"))
    assert_adds_up(size)
    assert size.bytes == 2 * (3 * 256 + 2 * 16)
    head = next(each for each in size.weights if each.name == "head_weight")
    assert (head.form, head.shape, head.bytes) == ("fp16", (16, 16), 512)
    assert [use[:2] for use in head.uses] == [("head_out", "linear"), ("again", "linear")]
    assert [(each.operation, each.weights) for each in size.types] == [("linear", 5)]
    shown = run("size", tmp_path / "M.mlpackage", "--limit", 1).stdout
    assert shown.count("more: a limit") == 2  # of scopes, and of weights
    assert "\N{MULTIPLICATION SIGN}2, 512 B each" in run("size", tmp_path / "M.mlpackage").stdout


def test_a_record_of_two_constants_counts_once(tmp_path: Path) -> None:
    package = layers(tmp_path / "M.mlpackage")
    text = miltext.to_text(miltext.load(package).program)
    line = next(line for line in text.split("\n") if "layer_1_weight = const" in line)
    zero = next(line for line in text.split("\n") if "layer_0_weight = const" in line)
    shared = text.replace(line, zero.replace("layer_0_weight", "layer_1_weight"))
    (package.parent / "weights").mkdir()
    shutil.copy(package / WEIGHTS, tmp_path / "weights" / "weight.bin")
    source = tmp_path / "shared.mil"
    source.write_text(shared, encoding="utf-8")
    size = miltext.size(source)
    assert [each.name for each in size.weights if each.bytes == 512] == ["layer_0_weight", "head_weight"]
    assert size.files[0].unused > 0
    assert_adds_up(size)


def test_rows_of_several_functions_name_them(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((16, 16), np.float16))
    functions = [
        f"    func {name}<ios18>(tensor<fp16, [1, 16]> x) {{\n"
        f'            w_{name} = const()[val = $npy("w.npy")];\n'
        f"            y = linear(x = x, weight = w_{name});\n        }} -> (y);\n"
        for name in ("main", "other")
    ]
    source = tmp_path / "two.mil"
    source.write_text(f"program(1.3)\n{{\n{''.join(functions)}}}\n", encoding="utf-8")
    assert any(line.endswith("  main/w_main") for line in size_lines(miltext.size(source)))
    source.write_text(f"program(1.3)\n{{\n{functions[0]}}}\n", encoding="utf-8")
    assert any(line.endswith("  w_main") for line in size_lines(miltext.size(source)))


def test_a_program_alone_and_without_weights() -> None:
    text = (
        "program(1.3)\n{\n    func main<ios17>(tensor<fp16, [2]> x) {\n            y = relu(x);\n        } -> (y);\n}\n"
    )
    for source in (text, miltext.parse(miltext.infer_draft(text))):
        size = miltext.size(source)
        assert (size.bytes, size.weights, size.types, size.files, size.notes) == (0, (), (), (), ())
        assert next(size_lines(size)) == "0 B of weights: 0 parameters in 0 weights"


def test_a_missing_weight_file_is_a_note(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "M.mlpackage")
    (tmp_path / "M.mlpackage" / WEIGHTS).unlink()
    size = miltext.size(tmp_path / "M.mlpackage")
    assert size.bytes == miltext.size(EXAMPLE).bytes
    assert "the file does not exist; sizes there are computed from types" in size.notes[0]
    assert size.files[0].bytes is None
    assert "does not exist" in run("size", tmp_path / "M.mlpackage").stdout


def test_a_pointer_of_git_lfs_is_a_note(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "M.mlpackage")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 896\n"
    (tmp_path / "M.mlpackage" / WEIGHTS).write_text(pointer, encoding="utf-8")
    ended = run("size", tmp_path / "M.mlpackage")
    assert ended.exit_code == 0
    assert "note: " in ended.stdout
    assert miltext.size(tmp_path / "M.mlpackage").bytes == 684


def test_unused_bytes_of_a_file_are_shown(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "M.mlpackage")
    with (tmp_path / "M.mlpackage" / WEIGHTS).open("ab") as file:
        file.write(bytes(640))
    [file_size] = miltext.size(tmp_path / "M.mlpackage").files
    assert file_size.unused == 640
    assert "640 B unused" in run("size", tmp_path / "M.mlpackage").stdout


@pytest.mark.skipif(not PACKAGES, reason="needs the corpus: see MILTEXT_CORPUS")
def test_a_pipeline_is_measured_whole() -> None:
    pipeline = CORPUS / "pipelines" / "yolov8n-nms.mlpackage"
    whole, first = miltext.size(pipeline), miltext.size(pipeline, model=0)
    assert whole.bytes == first.bytes
    assert {each.model for each in whole.weights} == {"0"}
    ended = run("size", pipeline, "--model", 0)
    assert ended.exit_code == 0
    assert run("size", pipeline, "--model", 1).exit_code == 1


def test_growth_is_sorted_and_adds_up(tmp_path: Path) -> None:
    old, new = layers(tmp_path / "Old.mlpackage"), tmp_path / "New.mlpackage"
    miltext.convert_weights(old, "fp32", new)
    growth = growth_between(miltext.open_model(old), miltext.open_model(new))
    assert growth
    assert (growth.old_bytes, growth.new_bytes) == (1600, 3200)
    assert sum(each.new_bytes - each.old_bytes for each in growth.weights) == 1600
    assert sum(each.new_bytes - each.old_bytes for each in growth.scopes) == 1600
    changes = [each.new_bytes - each.old_bytes for each in growth.weights]
    assert changes == sorted(changes, reverse=True)
    assert {(each.old_form, each.new_form) for each in growth.weights} == {("fp16", "fp32")}
    ended = run("size", new, "--against", old)
    assert ended.exit_code == 1
    assert ended.stdout.startswith("+1.6 kB: 1.6 kB -> 3.2 kB of weights")
    record = json.loads(run("size", new, "--against", old, "--json").stdout)
    assert record["newBytes"] - record["oldBytes"] == 1600


def test_equal_models_did_not_grow(tmp_path: Path) -> None:
    package = layers(tmp_path / "M.mlpackage")
    ended = run("size", package, "--against", package)
    assert (ended.exit_code, ended.stdout) == (0, f"no change: 1.6 kB of weights, {package} -> {package}\n")


def test_a_new_operation_is_the_growth(tmp_path: Path) -> None:
    old, new = layers(tmp_path / "Old.mlpackage"), tmp_path / "New.mlpackage"
    text = miltext.to_draft(miltext.load(old).program)
    assert "relu" not in text
    np.save(tmp_path / "extra.npy", np.ones((16, 16), np.float16))
    source = (tmp_path / "Old.mil").read_text(encoding="utf-8")
    added = '            extra = const()[val = $npy("extra.npy")];\n            y = linear(again, weight = extra);\n'
    source = source.replace("        } ->", f"{added}        }} ->")
    (tmp_path / "New.mil").write_text(source.replace("(again);\n}", "(y);\n}"), encoding="utf-8")
    miltext.build(tmp_path / "New.mil", new)
    growth = growth_between(miltext.open_model(old), miltext.open_model(new))
    assert [(each.name, each.old_form, each.new_form, each.new_bytes) for each in growth.weights] == [
        ("extra", None, "fp16", 512)
    ]
    assert growth.new_bytes - growth.old_bytes == 512
