"""Outlines: scopes and repeats as `size` and `diff` find them, on one screen, of any program."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import CORPUS, EXAMPLE, corpus_files
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.generation.programs import generate
from miltext.ir.graph import Graph
from miltext.schema.proto import Program
from miltext.scopes.families import TIMES
from miltext.scopes.outline import LINES, outline_lines

LAYER = """\
            {0}_attn_a = relu(x = {1});
            {0}_attn_b = exp(x = {0}_attn_a);
            {0}_attn_c = exp(x = {0}_attn_b);
            {0}_mlp_a = tanh(x = {0}_attn_c);
            {0}_mlp_b = tanh(x = {0}_mlp_a);
            {0}_out = add(x = {0}_mlp_b, y = {1});
"""


def text(lines: str, outputs: str) -> str:
    return f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [2]> x) {{\n{lines}        }} -> ({outputs});\n}}\n"


def layers(count: int, names: str = "layers_{}") -> Program:
    """Return a program of equal layers."""
    lines, last = "", "x"
    for name in map(names.format, range(count)):
        lines += LAYER.format(name, last)
        last = f"{name}_out"
    return miltext.parse(miltext.infer_draft(text(lines, last)))


def lines_of(program: Program) -> list[str]:
    return [*outline_lines(program)]


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


def test_repeats_are_shown_once() -> None:
    assert lines_of(layers(17)) == [
        "main(x) -> (layers_16_out): 102 operations",
        f"  layers_0 … 16 {TIMES}17: exp {TIMES}2, tanh {TIMES}2, add, relu",
        f"    attn: exp {TIMES}2, relu",
        f"    mlp: tanh {TIMES}2",
        "    (others): add",
    ]


def test_repeats_that_differ_are_about() -> None:
    program = layers(4)
    graph = Graph(program)
    ops = [op for op in graph.functions["main"].walk() if op.outputs[0].name == "layers_2_attn_c"]
    ops[0].own().type = "log"
    (_, first, *_) = lines_of(graph.program())
    assert first == f"  layers_0 … 3 {TIMES}4, about: exp {TIMES}2, tanh {TIMES}2, add, relu"


def test_without_scopes_there_are_types() -> None:
    names = ["x", *"abcdefgh"]
    body = "".join(f"            {new} = relu(x = {old});\n" for old, new in pairwise(names))
    program = miltext.parse(miltext.infer_draft(text(body, "h")))
    assert lines_of(program) == [f"main(x) -> (h): 8 operations: relu {TIMES}8"]
    assert lines_of(miltext.parse(text("", "x"))) == ["main(x) -> (x): 0 operations"]
    assert lines_of(Program(version=1)) == []


def test_several_functions_share_the_screen() -> None:
    program = layers(5)
    for number in range(9):
        program.functions[f"f{number}"].CopyFrom(program.functions["main"])
    lines = lines_of(program)
    assert sum(line.startswith(("main(", "f")) for line in lines) == 10
    assert len(lines) <= LINES


def test_a_model_of_thousands_of_operations_is_on_one_screen() -> None:
    encoder = CORPUS / "pairs" / "FluidAudio__160ms_streaming_encoder" / "model.mil"
    if not encoder.exists():
        pytest.skip("needs the corpus")
    result = run("print", "--outline", encoder)
    lines = result.stdout.splitlines()
    assert 10 <= len(lines) <= LINES
    (layer,) = [line for line in lines if line.startswith("  encoder_layers_0")]
    assert layer.startswith(f"  encoder_layers_0 … 16 {TIMES}17, about: transpose {TIMES}9, linear {TIMES}8, ")
    size = miltext.size(encoder)
    assert {each.scope for each in size.scopes if each.scope.startswith("encoder_layers")} == {
        f"encoder_layers_{number}" for number in range(17)
    }


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_outlines_of_generated_programs(first: int) -> None:
    for seed in range(first, first + 20):
        program = generate(seed)
        lines = lines_of(program)
        for function in Graph(program).functions.values():
            count = sum(not op.is_constant for op in function.walk())
            assert any(line.startswith(function.name) and f": {count} operation" in line for line in lines)
        assert len(lines) <= LINES


def test_drafts_and_pipelines_and_targets(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((4, 2), np.float16))
    draft = tmp_path / "draft.mil"
    draft.write_text(
        text('            w = const()[val = $npy("w.npy")];\n            y = linear(x = x, weight = w);\n', "y")
    )
    assert run("print", "--outline", draft).stdout == "main(x) -> (y): 1 operation: linear\n"
    target = tmp_path / "outline.txt"
    for _ in range(2):
        assert run("print", "--outline", EXAMPLE, "-o", target).exit_code == 0
    assert target.read_text().startswith("main(image) -> (classLabel, classLabel_probs): 9 operations: cast")
    target.write_text("notes of mine\n")
    refused = run("print", "--outline", EXAMPLE, "-o", target)
    assert (refused.exit_code, target.read_text()) == (2, "notes of mine\n")
    assert "does not fit an outline" in run("print", "--outline", EXAMPLE, "-o", tmp_path / "x.mil").stderr
    for option in (["--draft"], ["--elide", "3"], ["--html"], ["--compact"]):
        assert "--outline can be combined only with" in run("print", "--outline", *option, EXAMPLE).stderr
    pipeline = CORPUS / "pipelines" / "yolov8n-nms.mlpackage"
    if pipeline.exists():
        shown = run("print", "--outline", pipeline).stdout
        assert shown.startswith("// 0: mlProgram\nmain(image) -> (var_841_1, var_845): 183 operations\n")
        assert shown.endswith("// 1: nonMaximumSuppression\n")
        assert run("print", "--outline", pipeline, "--model", "0").stdout in shown


def test_outlines_are_linear_in_the_operations() -> None:
    program = layers(400, "stack_layers_{}")
    assert lines_of(program)[1].startswith(f"  stack_layers_0 … 399 {TIMES}400: ")


@pytest.mark.parametrize("path", corpus_files("apple/GenAI-Genesis__yolo11n.mil"), ids=lambda path: path.name)
def test_layers_of_one_operation_repeat_among_larger_ones(path: Path) -> None:
    """In yolo11n, every second layer is a single convolution: it is a layer, and not part of its neighbour."""
    program = miltext.load(path).program
    labels = [line.strip().partition(":")[0] for line in lines_of(program)]
    assert f"model_0 … 10, 13, 16, 17, 19, 20, 22, 23 {TIMES}18, about" in labels
