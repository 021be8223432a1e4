"""`miltext.coreml.validate_passes`: the faults that it finds in coremltools' passes, and in passes made faulty here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import EXAMPLE
from support.real_packages import package

import miltext
from miltext.coreml import from_pymil, to_pymil, validate_passes
from miltext.diagnostics.home import install
from miltext.files.refusals import WeightsError
from miltext.pass_validation.allowances import allowance
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

if TYPE_CHECKING:
    from miltext.pass_validation.reports import PassReport, PassValidation

ct = pytest.importorskip("coremltools")

NOOP, TRANSPOSES, REDUNDANT = (
    f"common::{name}" for name in ("noop_elimination", "reduce_transposes", "remove_redundant_ops")
)


def main(body: str, outputs: str = "y", inputs: str = "tensor<fp32, [2, 3]> x", opset: str = "ios17") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{body}\n        }} -> ({outputs});\n}}\n"


FLOOR_DIV = main("moved = add(x, 0.25);\nwhole = floor_div(moved, 1.0);\ny = mul(whole, 3.0);")

REDUCE_MEAN = "turned = transpose({x}, [1, 0]);\n{y} = reduce_mean(turned);"

HALVES = (
    "common::add_fp16_cast changes numbers on purpose, which are not judged: "
    "all numbers get 10 bits, and the range of fp16"
)

CLEAN = main("a = relu(x);\nb = transpose(a, [1, 0]);\ny = softmax(b, axis = 0);")


def only(done: PassValidation) -> PassReport:
    (report,) = done.reports
    return report


INNER = main("""
flag = greater(reduce_sum(x, axes = [0, 1]), 0.0);
tensor<fp32, [2, 3]> chosen = cond(pred = flag)
    () { a = sin(x); whole = floor_div(a, 1.0); b = mul(whole, 2.0); } -> (b)
    () { c = cos(x); d = tanh(c); } -> (d);
y = relu(chosen);""")

UNLOADABLE = main("y = instance_norm(x, gamma = [1.0, 1.0]);", inputs="tensor<fp16, [1, 2, 3, 3]> x")
"""The loader gives `beta` a default of fp32, which it then refuses beside fp16."""

# ---- coremltools' own faults


def test_a_floor_div_by_one_is_removed() -> None:
    report = only(validate_passes(FLOOR_DIV))
    assert (report.pass_name, report.kind, report.function) == (NOOP, "numbers", "main")
    assert report.op_types == ("floor_div", "mul")
    assert report.is_reduced
    assert report.confirmed
    assert report.confirmation.startswith("by coremltools' value inference, ")
    assert {*report.before} == {*report.after} == {"y"}
    assert not np.array_equal(report.before["y"], report.after["y"])
    assert np.array_equal(np.floor(report.inputs["moved"]) * 3, report.before["y"])


def test_a_floor_div_at_the_border_shows_the_fault_after_casts() -> None:
    text = main("y = floor_div(x, 1.0);")
    assert not validate_passes(text, passes=[NOOP])
    assert only(validate_passes(text)).op_types == ("floor_div", "cast")


def test_the_axes_of_a_reduction_after_a_transpose_are_missed() -> None:
    report = only(validate_passes(main(REDUCE_MEAN.format(x="x", y="y"))))
    assert (report.pass_name, report.kind) == (TRANSPOSES, "raised")
    assert report.message.startswith("KeyError: 'axes', at converters/mil/mil/passes/defs/optimize_repeat_ops.py:")
    assert report.op_types == ("transpose", "reduce_mean")
    assert report.confirmed
    assert report.inputs == {}


def test_an_error_in_the_middle_hides_no_other_fault() -> None:
    """The pass is undone, and later passes run; it has the same fault again, and is reported once."""
    body = "\n".join(
        [
            "a = relu(x);",
            REDUCE_MEAN.format(x="a", y="m"),
            "b = sin(a);",
            "whole = floor_div(b, 1.0);",
            "c = mul(whole, m);",
            "y = tanh(c);",
        ]
    )
    done = validate_passes(main(body))
    assert [(each.pass_name, each.kind) for each in done.reports] == [(NOOP, "numbers"), (TRANSPOSES, "raised")]
    assert all(each.confirmed and len(each.op_types) <= 3 for each in done.reports)
    assert "common::add_fp16_cast" in done.changing


def test_the_last_of_three_writes_to_a_state_is_removed() -> None:
    """The first has the same arguments, and the write between them is overlooked."""
    body = "write_state(s, x);\nwrite_state(s, [1.0, 2.0]);\nwrite_state(s, x);\ny = relu(x);"
    kinds = "state<tensor<fp16, [2]>> s, tensor<fp16, [2]> x"
    report = only(validate_passes(main(body, inputs=kinds, opset="ios18")))
    assert (report.pass_name, report.kind, report.confirmed) == (REDUNDANT, "numbers", True)
    assert report.op_types.count("write_state") == 3
    assert "s" in report.before


def test_a_value_without_inference_is_computed_by_the_evaluator() -> None:
    """coremltools infers no value of a convolution, and the same one is there before and after the pass."""
    body = "whole = floor_div(x, 1.0);\ny = conv(whole, [[[[2.0]]]]);"
    report = only(validate_passes(main(body, inputs="tensor<fp32, [1, 1, 2, 2]> x")))
    assert (report.pass_name, report.op_types, report.confirmed) == (NOOP, ("floor_div", "conv"), True)
    assert report.confirmation.startswith("by coremltools' value inference, and the evaluator for `conv`, ")


def test_a_constant_that_a_pass_negates_in_place_is_shared() -> None:
    """The pass takes the constant of `sub` for the bias times -1, and negates it for `mul`, too."""
    body = """c = const()[val = tensor<fp32, [1, 2, 1]>([[[1.0], [2.0]]])];
        a = sub(conv(x, [[[1.0], [0.0]], [[0.0], [1.0]]]), c);
        b = mul(x, c);"""
    report = only(validate_passes(main(body, "a, b", "tensor<fp32, [1, 2, 4]> x")))
    assert (report.pass_name, report.kind, report.confirmed) == ("common::fuse_conv_bias", "numbers", True)
    assert {*report.op_types} == {"conv", "sub", "mul"}
    assert np.array_equal(report.before["b"], -report.after["b"])


def test_a_fault_at_an_unused_operation_is_reduced() -> None:
    """The values of the last split can be no outputs, so that nothing else keeps it."""
    lines = [f"a{at} = {each}(x);" for at, each in enumerate(("sin", "cos", "tanh", "exp", "relu", "sigmoid"))]
    split = """p, q, r = split(cast(x, "bool"), num_splits = 3, axis = 1);
        s, t = split(stack((q, q), axis = 1), split_sizes = [1, 1], axis = 1);"""
    outputs = ", ".join(f"a{at}" for at in range(len(lines)))
    report = only(validate_passes(main("\n".join([*lines, split]), outputs)))
    assert (report.pass_name, report.kind, report.confirmed) == ("common::fuse_stack_split", "raised", True)
    assert report.confirmation == "coremltools itself raises the error"
    assert {"cast", "split", "stack"} < {*report.op_types}
    assert len(report.op_types) == 5


def test_negative_numbers_are_cast_to_unsigned_ones() -> None:
    """Of two operations, the second one is computed in uint16."""
    body = "a = squeeze(x, axes = [0]);\ny = squeeze(x, axes = [0]);"
    given = {"x": np.array([[-1, 0, 7]])}
    report = only(validate_passes(main(body, "a, y", "tensor<int32, [1, 3]> x"), inputs=given))
    assert (report.pass_name, report.kind, report.confirmed) == ("common::add_int16_cast", "numbers", True)
    assert report.after["y"].tolist() == [65535, 0, 7]
    assert report.inputs["x"].dtype == np.int32


# ---- programs of all forms


def test_a_clean_program_has_no_report() -> None:
    done = validate_passes(CLEAN)
    assert not done
    assert (done.reports, done.notes, done.not_loaded) == ((), (HALVES,), "")
    assert "\nno fault; other passes that changed the program: " in done.to_text()
    assert repr(done) == "<PassValidation: 0 faults of passes>"


@pytest.mark.parametrize("output", ["x", "y"])
def test_a_program_without_operations(output: str) -> None:
    body = "" if output == "x" else 'fp32 y = const()[name = string("y"), val = fp32(1)];'
    done = validate_passes(main(body, output))
    assert [each.kind for each in done.reports] == []


def test_several_functions_are_distinguished() -> None:
    second = FLOOR_DIV.partition("{\n")[2].rpartition("}")[0].replace("main", "second")
    text = CLEAN.replace("<ios17>", "<ios18>").rpartition("}")[0] + second.replace("<ios17>", "<ios18>") + "}\n"
    report = only(validate_passes(text))
    assert (report.pass_name, report.function, report.op_types) == (NOOP, "second", ("floor_div", "mul"))
    assert {*report.program.functions} == {"second"}


def test_a_fault_in_an_inner_block() -> None:
    report = only(validate_passes(INNER))
    assert (report.pass_name, report.kind) == (NOOP, "numbers")
    assert "floor_div" in report.op_types
    assert len(report.op_types) <= 4


def test_a_size_that_is_open() -> None:
    report = only(validate_passes(FLOOR_DIV.replace("[2, 3]", "[?, 3]")))
    assert report.inputs["moved"].shape == (2, 3)


def test_a_classifier() -> None:
    """coremltools adds `classify` after the passes, one of which does not know it."""
    report = only(validate_passes(str(EXAMPLE)))
    assert (report.pass_name, report.kind, report.op_types) == ("common::add_fp16_cast", "raised", ("classify",))


@pytest.mark.parametrize("name", ["fp16", "stateful", "functions", "palettized-6"])
def test_real_packages(name: str) -> None:
    assert not validate_passes(package(name))


def test_a_program_of_coremltools() -> None:
    pymil = to_pymil(from_pymil(to_pymil(miltext.load(package("fp16")))))
    before = len(list(pymil.functions["main"].operations))
    assert not validate_passes(pymil)
    assert len(list(pymil.functions["main"].operations)) == before, "the caller's program stays as it is"


def test_random_numbers_are_not_compared() -> None:
    body = "r = random_uniform(shape = [2, 3], low = 0.0, high = 1.0, seed = 1);\ny = add(x, r);"
    done = validate_passes(main(body))
    assert not done
    assert done.notes == ("the numbers of the function `main` are not compared: it has random numbers", HALVES)


def test_inexact_passes_have_their_bounds() -> None:
    """x / 3 becomes x * (1 / 3), which is not the same number for all x; and `floor` enlarges the difference."""
    done = validate_passes(main("third = real_div(x, 3.0);\ny = floor(mul(third, 3.0));"))
    assert not done
    assert "common::divide_to_multiply" in done.changing
    assert allowance("common::divide_to_multiply").reason


def test_a_program_that_coremltools_does_not_load() -> None:
    done = validate_passes(UNLOADABLE)
    assert not done
    assert done.not_loaded
    assert (done.changing, done.reports) == ((), ())
    assert done.to_text().startswith(f"not loaded: {done.not_loaded}\n")
    assert repr(done) == "<PassValidation: not loaded>"
    assert json.loads(json.dumps(done.to_json()))["not_loaded"] == done.not_loaded


STORED = """program(1.3) {{ func main<ios17>(tensor<fp32, [12]> x) {{
    tensor<fp32, [12]> w = const()[val = tensor<fp32, [12]>({})];
    tensor<fp32, [12]> v = const()[val = tensor<fp32, [12]>({})];
    tensor<fp32, [12]> y = add(x = mul(x = x, y = w), y = v);
}} -> (y); }}"""


def stored(folder: Path, *names: str) -> Path:
    """Write a text with weights in two files, and of these the named ones."""
    files = [f'BLOBFILE(path = string("@model_path/{each}/weight.bin"), offset = uint64(64))' for each in ("a", "b")]
    for name in names:
        (folder / name).mkdir()
        with BlobWriter(folder / name / "weight.bin") as writer:
            writer.add(BY_NAME["fp32"], np.arange(12, dtype=np.float32))
    text = folder / "model.mil"
    text.write_text(STORED.format(*files))
    return text


def test_weights_that_are_missing_or_broken(tmp_path: Path) -> None:
    path = stored(tmp_path, "a")
    with pytest.raises(WeightsError, match=r"b/weight\.bin") as raised:
        validate_passes(path)
    assert [each.code for each in raised.value.diagnostics] == ["MIL302"]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "weight.bin").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(WeightsError):
        validate_passes(path)
    with pytest.raises(WeightsError, match="the folder of the weight file"):
        validate_passes(path.read_text())


def test_weights_in_several_folders(tmp_path: Path) -> None:
    with pytest.raises(miltext.ModelError) as raised:
        validate_passes(stored(tmp_path, "a", "b"))
    assert [each.code for each in raised.value.diagnostics] == ["MIL481"]


# ---- arguments


def test_given_inputs_come_first() -> None:
    given = {"x": np.array([[0.5, -3.0, 7.25], [1e5, -0.0, 2.0]], np.float32)}
    report = only(validate_passes(FLOOR_DIV, inputs=given))
    assert np.array_equal(report.inputs["moved"], given["x"] + np.float32(0.25))


def test_chosen_passes_run_alone() -> None:
    done = validate_passes(FLOOR_DIV, passes=["common::dead_code_elimination"])
    assert not done
    assert only(validate_passes(FLOOR_DIV, passes=[NOOP])).place == 0


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"no pass '.*'; did you mean `common::noop_elimination`\?"):
        validate_passes(CLEAN, passes=["common::noop_eliminaton"])
    with pytest.raises(ValueError, match="`runs` of validate_passes\\(\\) must be 1 or more, not 0"):
        validate_passes(CLEAN, runs=0)
    with pytest.raises(TypeError, match="`passes` of validate_passes"):
        validate_passes(CLEAN, passes="common::noop_elimination")
    with pytest.raises(TypeError, match="expected MIL text, a path, a Program or a Model, not int"):
        validate_passes(3)
    with pytest.raises(miltext.MiltextError, match="MIL"):
        validate_passes(CLEAN.replace("relu", "rleu"))


def test_inputs_that_do_not_fit() -> None:
    with pytest.raises(
        ValueError, match="`inputs` of validate_passes\\(\\) match no function of the program: main has `x`"
    ):
        validate_passes(CLEAN, inputs={"z": np.zeros(3)})
    with pytest.raises(miltext.MiltextError, match="MIL833"):
        validate_passes(CLEAN, inputs={"x": np.zeros((1, 1, 7))})


WITHOUT = """
import sys
sys.modules["coremltools"] = None
from miltext.coreml import validate_passes
from miltext import ModelError
try:
    validate_passes("program(1.3) {}")
except ModelError as failure:
    print(failure.diagnostics[0].code, failure)
"""


def test_without_coremltools() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, check=True, text=True)
    assert done.stdout.startswith("MIL480 ")
    assert install("coremltools") in done.stdout


def test_the_module_imports_little() -> None:
    code = "import sys, miltext.coreml; print([x for x in ('numpy', 'coremltools') if x in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


# ---- reports


def test_a_report_is_ready_for_a_bug_report(tmp_path: Path) -> None:
    done = validate_passes(FLOOR_DIV)
    report = only(done)
    text = report.to_text()
    assert text.startswith(f"{NOOP}: numbers: `y`[0, 0] was ")
    assert "  the program, of 2 operations:\n    program(1.3)\n" in text
    assert f"coremltools {ct.__version__}, numpy {np.__version__}, " in done.to_text()
    again = only(validate_passes(report.text, passes=[NOOP], inputs=report.inputs))
    assert (again.kind, again.op_types) == (report.kind, report.op_types)
    read = json.loads(json.dumps(done.to_json()))
    assert {*read} == {"form", "versions", "not_loaded", "reports", "changing", "notes"}
    assert read["reports"][0]["pass"] == NOOP
    assert read["reports"][0]["before"]["y"] == report.before["y"].tolist()
    assert read["reports"][0]["operations"] == ["floor_div", "mul"]


# ---- faulty passes


@pytest.fixture
def faulty() -> Iterator[Callable[[str, Callable[[Any], object]], str]]:
    """Register a pass that does what a function does with a function of a program."""
    from coremltools.converters.mil.mil.passes.graph_pass import AbstractGraphPass
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY, register_pass

    made: list[str] = []

    def register(name: str, act: Callable[[Any], object]) -> str:
        def apply(_: Any, prog: Any) -> None:
            for function in prog.functions.values():
                act(function)

        register_pass("test", override=True)(type(name, (AbstractGraphPass,), {"apply": apply}))
        made.append(f"test::{name}")
        return made[-1]

    yield register
    for name in made:
        PASS_REGISTRY.passes.pop(name)


def _found(function: Any, op_type: str) -> Any:
    return next((op for op in function.operations if op.op_type == op_type), None)


LONG = main("a = relu(x);\nb = sin(a);\nc = tanh(b);\nd = exp(c);\ny = sqrt(d);\nz = cos(a);", "y, z")


def test_an_output_that_is_lost(faulty: Any) -> None:
    name = faulty("loses", lambda function: function.set_outputs(function.outputs[:1]))
    report = only(validate_passes(LONG, passes=[name]))
    assert (report.kind, report.message, report.confirmed) == ("interface", "the output `z` is lost", True)
    assert len(report.op_types) <= 2


def test_an_output_that_is_renamed(faulty: Any) -> None:
    def rename(function: Any) -> None:
        function.outputs[0].name = "other"

    report = only(validate_passes(LONG, passes=[faulty("renames", rename)]))
    assert report.kind == "interface"
    assert re.fullmatch(r"the output `\w+` is called `other`", report.message)
    assert len(report.op_types) == 1


def test_a_pass_that_raises_for_one_operation(faulty: Any) -> None:
    def fail(function: Any) -> None:
        if _found(function, "tanh"):
            raise RuntimeError("no\n tanh")

    report = only(validate_passes(LONG, passes=[faulty("raises", fail)]))
    assert (report.kind, report.op_types) == ("raised", ("tanh",))
    assert report.message.startswith("RuntimeError: no tanh, at ")


def test_a_fault_that_needs_an_earlier_pass(faulty: Any) -> None:
    """The second pass fails on the objects that the first one saw, so that the file between them does not show it."""
    seen: list[Any] = []

    def fail(function: Any) -> None:
        if any(each is function for each in seen):
            raise RuntimeError("seen")

    def mark(function: Any) -> None:
        seen.append(function)
        next(iter(function.operations)).outputs[0].name = "renamed"

    first = faulty("marks", mark)
    report = only(validate_passes(LONG, passes=[first, faulty("remembers", fail)]))
    assert (report.kind, report.earlier) == ("raised", (first,))
    assert report.confirmed
    assert len(report.op_types) == 1
    assert f"  after {first}\n" in report.to_text()


def test_a_program_that_cannot_be_loaded(faulty: Any) -> None:
    """An axis beyond the rank."""

    def spoil(function: Any) -> None:
        op = _found(function, "softmax")
        if op is not None:
            op.axis._sym_val.val = np.int32(7)

    report = only(validate_passes(CLEAN, passes=[faulty("spoils", spoil)]))
    assert report.kind == "invalid", report.message
    assert "softmax" in report.op_types
