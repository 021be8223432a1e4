"""Models of parts: what their descriptions say, which weights they have, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLE
from support.containers import write_package
from support.pipelines import piped, unary
from support.running import RUNNER
from support.weighted import function_of, held_weights, numbers, program_of, text_model, write_weights

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model, read_model
from miltext.descriptions.program_descriptions import describe, known_version
from miltext.diagnostics import ModelError, render
from miltext.extraction.borders import can_give, can_take
from miltext.extraction.extracting import extract, part_text
from miltext.models.model import Model
from miltext.schema.proto import Model as Spec
from miltext.schema.proto import Program

DRAFT = """
program(1.3)
{
    func main<%s>(%s) {
%s
    } -> (%s);
}
"""


def draft(statements: str, outputs: str, inputs: str = "tensor<fp32, [2, 3]> x", opset: str = "ios18") -> str:
    return DRAFT % (opset, inputs, statements, outputs)


def package(folder: Path, text: str, **choices: Any) -> Path:
    miltext.build(read_model(text.encode(), "whole.mil"), folder, **choices)
    return folder


def changes(model: Model | Path, values: str, output: Path, given: str = "", **choices: Any) -> list[str]:
    """Extract, and return what was told: warnings by their codes, and what changed in the description."""
    told: list[str] = []
    warnings = extract(
        model, values.split(), output, inputs=given.split(), on_change=lambda each: told.append(str(each)), **choices
    )
    return [*(each.code for each in warnings), *told]


def refused(source: Model | Path, values: str, output: Path, given: str = "", **choices: Any) -> str:
    with pytest.raises(ModelError) as failure:
        extract(source, values.split(), output, inputs=given.split(), **choices)
    assert not output.exists()
    return "\n".join(render(each) for each in failure.value.diagnostics)


def interface(path: Path) -> str:
    """What the description says that a model takes and gives."""
    description = open_model(path).description
    assert description is not None
    sides = (description.input, description.state, description.output)
    return " | ".join(" ".join(entry.name for entry in side) for side in sides)


# ---- the description


def test_remaining_features_keep_their_descriptions(tmp_path: Path) -> None:
    out = tmp_path / "Part.mlpackage"
    assert changes(EXAMPLE, "classLabel pooled_cast_fp16", out) == [
        "- output classLabel_probs: dictionary, keys string",
        "+ output pooled_cast_fp16: fp16 [1, 6, 4, 4]",
        '- predictedProbabilitiesName: "classLabel_probs"',
    ]
    made, whole = miltext.load(out), miltext.load(EXAMPLE)
    assert made.description is not None
    assert whole.description is not None
    assert made.description.input == whole.description.input
    assert made.description.metadata == whole.description.metadata
    assert made.description.output[0] == whole.description.output[0]
    assert made.description.predictedFeatureName == "classLabel"


def test_an_output_that_becomes_an_input_is_described_again(tmp_path: Path) -> None:
    text = draft("a = relu(x); b = exp(a); c = tanh(b);", "b, c")
    whole, out = package(tmp_path / "Whole.mlpackage", text), tmp_path / "Part.mlpackage"
    told = changes(whole, "c", out, "b")
    assert told == ["- input x: fp32 [2, 3]", "+ input b: fp32 [2, 3]", "- output b: fp32 [2, 3]"]


def test_nothing_is_taken_for_renamed(tmp_path: Path) -> None:
    whole = package(tmp_path / "Whole.mlpackage", draft("a = relu(x); b = exp(a);", "b"))
    spec = open_model(whole)
    assert spec.description is not None
    spec.description.output[0].shortDescription = "the last"
    spec.description.input[0].shortDescription = "the first"
    spec.save(whole, force=True)
    out = tmp_path / "Part.mlpackage"
    assert changes(whole, "a", out) == ['- output b: fp32 [2, 3], description "the last"', "+ output a: fp32 [2, 3]"]
    made = open_model(out).description
    assert made is not None
    assert [(each.name, each.shortDescription) for each in (*made.input, *made.output)] == [
        ("x", "the first"),
        ("a", ""),
    ]
    assert "the output `b` was removed, and had a short description" in refused(
        whole, "a", tmp_path / "N.mlpackage", no_loss=True
    )


def test_images_and_ranges_stay_with_their_inputs(tmp_path: Path) -> None:
    text = draft(
        "a = relu(x); b = exp(z); c = add(a, b);", "c", "tensor<fp32, [1, 3, 8, 8]> x, tensor<fp32, [1, 3, 8, ?]> z"
    )
    whole = package(tmp_path / "Whole.mlpackage", text, ranges={"z": "1,3,8,1..9"})
    source = open_model(whole)
    assert source.description is not None
    image = source.description.input[0].type.imageType
    image.width = image.height = 8
    image.colorSpace = image.RGB
    source.save(whole, force=True)
    for value, kept in [("a", 0), ("b", 1)]:
        out = tmp_path / f"{value}.mlpackage"
        changes(whole, value, out)
        made = open_model(out).description
        assert made is not None
        assert list(made.input) == [source.description.input[kept]]


def test_training_inputs_and_class_labels_follow_their_values(tmp_path: Path) -> None:
    told = changes(EXAMPLE, "classLabel_probs", tmp_path / "Part.mlpackage", "scores_cast_fp16")
    assert told == [
        "- input image: fp32 [1, 1, 16, 16]",
        "+ input scores_cast_fp16: fp16 [1, 3]",
        "- output classLabel: string",
        '- predictedFeatureName: "classLabel"',
        '- predictedProbabilitiesName: "classLabel_probs"',
    ]


def test_a_specification_before_fp16_is_raised(tmp_path: Path) -> None:
    whole = package(
        tmp_path / "Whole.mlpackage",
        draft('a = cast(x, "fp16"); b = relu(a); c = cast(b, "fp32");', "c", opset="ios15"),
    )
    assert changes(whole, "b", tmp_path / "Part.mlpackage", "a") == [
        "~ specification: 6 -> 7",
        "- input x: fp32 [2, 3]",
        "+ input a: fp16 [2, 3]",
        "- output c: fp32 [2, 3]",
        "+ output b: fp16 [2, 3]",
    ]


@pytest.mark.parametrize(("opset", "told"), [("ios16", ["MIL448", "~ specification: 7 -> 9"]), ("ios18", [])])
def test_a_part_without_inputs_is_reported_for_core_ml(opset: str, told: list[str], tmp_path: Path) -> None:
    text = draft("c = const()[val = [1.0]]; d = const()[val = 2.0]; a = add(x, c);", "a", opset=opset)
    whole = package(tmp_path / "Whole.mlpackage", text)
    assert changes(whole, "c", tmp_path / "Part.mlpackage") == [
        *told,
        "- input x: fp32 [2, 3]",
        "- output a: fp32 [2, 3]",
        "+ output c: fp32 [1]",
    ]
    assert interface(tmp_path / "Part.mlpackage") == " |  | c"


def limits(package: Path) -> list[tuple[int, int]]:
    made = open_model(package).description
    assert made is not None
    return [(each.lowerBound, each.upperBound) for each in made.input[0].type.multiArrayType.shapeRange.sizeRanges]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("a = relu(x);", [(1, 1), (2, 8)]),
        ("a = concat(axis = 1, interleave = false, values = (x, x));", [(1, 1), (4, 16)]),
        ("a = transpose(perm = [1, 0], x = x);", [(2, 8), (1, 1)]),
    ],
)
def test_sizes_that_are_open_follow_from_ranges(tmp_path: Path, statement: str, expected: list[object]) -> None:
    text = draft(f"{statement} b = exp(a);", "b", "tensor<fp32, [1, ?]> x")
    whole, out = package(tmp_path / "Whole.mlpackage", text, ranges={"x": "1,2..8"}), tmp_path / "Part.mlpackage"
    changes(whole, "b", out, "a")
    assert limits(out) == expected
    changes(whole, "b", out, "a", ranges={"a": [1, (1, 5)] if expected[0] == (1, 1) else [(1, 5), 1]}, force=True)
    assert (1, 5) in limits(out)


def test_sizes_that_are_open_and_do_not_follow_need_a_range(tmp_path: Path) -> None:
    text = draft("a = non_zero(x = x); b = sub(x = a, y = 1);", "b", "tensor<fp32, [1, ?]> x")
    whole, out = package(tmp_path / "Whole.mlpackage", text, ranges={"x": "1,1..8"}), tmp_path / "Part.mlpackage"
    assert "error[MIL452]" in refused(whole, "b", out, "a")
    changes(whole, "b", out, "a", ranges={"a": "1..8,2"})
    assert limits(out) == [(1, 8), (2, 2)]


# ---- weights


def test_only_used_weights_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "whole"
    offsets = write_weights(folder / "weights" / "weight.bin", [numbers(1), numbers(2), numbers(3)])
    kinds = {name: ("weights/weight.bin", offset) for name, offset in zip("abc", offsets, strict=True)}
    source = text_model(program_of(function_of(kinds)), folder)
    miltext.build(source, tmp_path / "Whole.mlpackage")
    for whole in (source, tmp_path / "Whole.mlpackage"):
        out = tmp_path / "Part.mlpackage"
        extract(whole, ["b_sum"], out, inputs=["a_sum"], force=True)
        assert {name for _, name in held_weights(out)} == {"b/0"}
        blobs = out / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
        assert blobs.stat().st_size < (folder / "weights" / "weight.bin").stat().st_size


def test_weights_of_a_text_matter_only_where_used(tmp_path: Path) -> None:
    (offset,) = write_weights(tmp_path / "weights" / "weight.bin", [numbers(1)])
    kinds = {"a": ("weights/weight.bin", offset), "b": ("weights/other.bin", 64)}
    source = text_model(program_of(function_of(kinds)), tmp_path / "elsewhere")
    assert "error[MIL302]" in refused(source, "a_sum", tmp_path / "Part.mlpackage")
    extract(source, "a_sum", tmp_path / "Part.mlpackage", weights=tmp_path)
    assert held_weights(tmp_path / "Part.mlpackage") == {("0/main", "a/0"): [1.0] * 40}
    assert "error[MIL302]" in refused(source, "b_sum", tmp_path / "Other.mlpackage", weights=tmp_path)


def test_a_draft_names_only_used_arrays(tmp_path: Path) -> None:
    text = draft('a = add(x, $npy("a.npy")); b = add(a, $npy("b.npy")); c = relu(b);', "c")
    (tmp_path / "whole.mil").write_text(text, encoding="utf-8")
    np.save(tmp_path / "a.npy", np.ones((2, 3), np.float32))
    np.save(tmp_path / "b.npy", np.full((2, 3), 2, np.float32))
    out = tmp_path / "Part.mlpackage"
    extract(tmp_path / "whole.mil", ["c"], out, inputs=["a"])
    made = miltext.run(out, {"a": np.zeros((2, 3), np.float32)})
    assert np.array_equal(made["c"], np.full((2, 3), 2, np.float32))
    made_text, _ = part_text(open_model(tmp_path / "whole.mil"), ["a"])
    assert '$npy("a.npy")' in made_text
    assert "b.npy" not in made_text


# ---- types

TYPES = """
    m = greater(x, 0.0); n = logical_not(m); s = select(n, x, 1.0);
    i = cast(x, "int16"); j = gather(z, i, axis = 0);
    l = make_list(init_length = 2, elem_shape = (3)); w = list_write(l, 0, r); g = list_read(w, 0);
"""
TYPED = "tensor<fp32, [2, 3]> x, tensor<fp32, [3]> r, tensor<fp32, [4]> z"

REFUSED: dict[tuple[str, str], list[str]] = {
    ("n", ""): [
        "error[MIL448]: `n` is tensor<bool, [2, 3]>, which cannot be an output of a model",
        "note: `s`, made of it, can be",
        "note: or `cast` it to int32 in the text, and name the output of the `cast`",
    ],
    ("s", "n"): [
        "error[MIL446]: `n` is tensor<bool, [2, 3]>, which cannot be an input of a model",
        "note: it is made of `x`, which the function takes",
        "note: or declare it as int32 in the text, and `cast` it to bool",
    ],
    ("j", "i"): [
        "error[MIL446]: `i` is tensor<int16, [2, 3]>, which cannot be an input of a model",
        "note: it is made of `x`, which the function takes",
        "note: or declare it as int32 in the text, and `cast` it to int16",
    ],
    ("g", "w"): [
        "error[MIL446]: `w` is list<tensor<fp32, [3]>, ?>, which cannot be an input of a model",
        "note: it is made of `r`, which the function takes",
    ],
    ("w", ""): [
        "error[MIL448]: `w` is list<tensor<fp32, [3]>, ?>, which cannot be an output of a model",
        "note: `g`, made of it, can be",
    ],
}


@pytest.mark.parametrize("names", REFUSED, ids=str)
def test_types_that_no_model_takes_or_gives_are_refused(names: tuple[str, str], tmp_path: Path) -> None:
    source = read_model(draft(TYPES, "s, j, g", TYPED).encode(), "whole.mil")
    lines = refused(source, names[0], tmp_path / "Part.mlpackage", names[1]).splitlines()
    assert [each for each in lines if each != lines[-1]] == REFUSED[names]
    text, told = part_text(source, [names[0]], names[1].split())
    assert [(each.severity, each.message) for each in told] == [("warning", REFUSED[names][0].partition(": ")[2])]
    assert miltext.check(text) == []


def test_an_indescribable_type_is_refused_even_without_a_check(tmp_path: Path) -> None:
    source = read_model(draft(TYPES, "s, j, g", TYPED).encode(), "whole.mil")
    assert "error[MIL420]" in refused(source, "n", tmp_path / "Part.mlpackage", check=False)


def test_the_nearest_values_are_named_that_can_be_inputs(tmp_path: Path) -> None:
    text = draft(
        "a = relu(x); c = const()[val = 0.5]; m = greater(a, c); n = logical_not(m); s = select(n, x, a);", "s"
    )
    told = refused(read_model(text.encode(), "w.mil"), "s", tmp_path / "Part.mlpackage", "n")
    assert "`a`, its source, can be one" in told


def test_more_than_five_dimensions_are_refused(tmp_path: Path) -> None:
    six = "tensor<fp32, [1, 1, 1, 1, 2, 3]>"
    text = draft(f"c = const()[val = {six}([[[[[[1, 2, 3], [4, 5, 6]]]]]])]; y = squeeze(c, axes = [0]);", "y")
    source = read_model(text.encode(), "w.mil")
    assert "which cannot be an input of a model" in refused(source, "y", tmp_path / "P.mlpackage", "c")
    assert "which cannot be an output of a model" in refused(source, "c", tmp_path / "P.mlpackage")


def test_a_scalar_is_given_and_not_taken(tmp_path: Path) -> None:
    whole = read_model(draft("m = exp(x); n = reduce_max(m); y = add(x, n);", "y").encode(), "w.mil")
    assert changes(whole, "n", tmp_path / "Part.mlpackage") == []
    assert refused(whole, "y", tmp_path / "Other.mlpackage", "n").splitlines()[:3] == [
        "error[MIL446]: `n` is a scalar, fp32, which cannot be an input of a model",
        "note: `m`, its source, can be one",
        "note: or declare it as tensor<fp32, [1]> in the text, and `squeeze` it",
    ]
    extract(whole, "y", tmp_path / "Tried.mlpackage", inputs="n", check=False)  # to see what Core ML says of it
    assert interface(tmp_path / "Tried.mlpackage") == "x n |  | y"


# ---- functions, states, pipelines

STATEFUL = """
    old = read_state(k); sum = add(old, x); write_state(k, sum); new = read_state(k);
    seen = read_state(v); y = add(new, seen);
"""
STATES = "tensor<fp16, [4]> x, state<tensor<fp16, [4]>> k, state<tensor<fp16, [4]>> v"


def test_states_that_are_used_stay_described(tmp_path: Path) -> None:
    whole = package(tmp_path / "Whole.mlpackage", draft(STATEFUL, "y", STATES))
    changes(whole, "sum", tmp_path / "Part.mlpackage")
    assert interface(tmp_path / "Part.mlpackage") == "x | k | sum"
    numbers: list[float] = []
    for model in (whole, tmp_path / "Part.mlpackage"):
        state: dict[str, Any] = {}
        for _ in range(2):  # what is written after the last use is there in the next prediction
            made = miltext.run(model, {"x": np.ones(4)}, state=state, values=["sum"])
            numbers.append(float(made["sum"][0]))
    assert numbers == [1, 2, 1, 2]


def test_the_function_that_has_the_values_is_the_only_one(tmp_path: Path) -> None:
    two = miltext.infer_draft(
        "program(1.3) { func main<ios18>(tensor<fp32, [4]> x) { a = relu(x); y = exp(a); } -> (y); "
        "func other<ios18>(tensor<fp32, [4]> x) { b = tanh(x); z = exp(b); } -> (z); }"
    )
    whole, out = package(tmp_path / "Whole.mlpackage", two), tmp_path / "Part.mlpackage"
    told = changes(whole, "b", out)
    assert "- function main" in told
    description = open_model(out).description
    assert description is not None
    assert ([each.name for each in description.functions], description.defaultFunctionName) == (["other"], "other")
    assert np.array_equal(miltext.run(out, {"x": np.zeros(4)})["b"], np.zeros(4))


def test_a_model_of_a_pipeline_becomes_a_model_of_its_own(tmp_path: Path) -> None:
    spec = piped(unary("x", "y", "first"), unary("y", "z", "second"), names=("head", "tail"))
    whole, out = write_package(tmp_path / "P.mlpackage", spec.SerializeToString()), tmp_path / "Part.mlpackage"
    assert changes(whole, "second", out) == ["- output z: fp32 [1, 4]", "+ output second: fp32 [1, 4]"]
    made = open_model(out)
    assert (made.type, interface(out)) == ("mlProgram", "y |  | second")
    extract(whole, ["first"], out, model="head", force=True)
    assert interface(out) == "x |  | first"
    extract(whole, "y", out, force=True)  # which the other takes
    assert interface(out) == "x |  | y"
    assert "error[MIL257]" in refused(whole, "x", tmp_path / "N.mlpackage")  # none makes it
    assert "error[MIL448]" in refused(whole, "y", tmp_path / "N.mlpackage", model="tail")
    assert "error[MIL430]" in refused(whole, "first", tmp_path / "N.mlpackage", model=1)


def test_blocks_that_lack_values_are_left_out_and_reported(tmp_path: Path) -> None:
    whole = Program(version=1)
    for opset, body in {"CoreML8": "a = relu(x); y = exp(a);", "CoreML7": "y = exp(x);"}.items():
        one = miltext.parse(miltext.infer_draft(draft(body, "y"))).functions["main"]
        whole.functions["main"].block_specializations[opset].CopyFrom(one.block_specializations["CoreML8"])
    whole.functions["main"].inputs.extend(one.inputs)
    whole.functions["main"].opset = "CoreML8"
    described = describe(whole)
    spec = Spec(specificationVersion=known_version(whole, described), description=described, mlProgram=whole)
    model = write_package(tmp_path / "Whole.mlpackage", spec.SerializeToString())
    (told, *_) = extract(model, ["a"], tmp_path / "Part.mlpackage")
    assert (told.code, told.message) == (
        "MIL449",
        "the block of `main` for `ios17` is left out, as it does not have the values",
    )
    assert extract(model, ["y"], tmp_path / "Other.mlpackage") == []
    text, (warned,) = part_text(read_model(miltext.to_text(whole).encode(), "w.mil"), ["a"])
    assert warned == told
    assert "ios17" not in text


# ---- where it comes from, and where it goes


@pytest.mark.parametrize("ending", ["mlpackage", "mlmodel", "mlmodelc"])
def test_a_part_of_any_kind_of_model_may_have_any_kind(ending: str, tmp_path: Path) -> None:
    whole = tmp_path / f"Whole.{ending}"
    text = miltext.infer_draft(draft("a = relu(x); b = exp(a); c = tanh(b);", "c"))
    miltext.build(read_model(text.encode(), "w.mil"), whole)
    for other in ("mlpackage", "mlmodel", "mlmodelc"):
        out = tmp_path / f"Part.{other}"
        extract(whole, ["b"], out, inputs=["a"])
        made = miltext.run(out, {"a": np.zeros((2, 3))})
        assert np.array_equal(made["b"], np.ones((2, 3)))


def test_a_part_replaces_the_whole_only_on_request(tmp_path: Path) -> None:
    whole = package(tmp_path / "Whole.mlpackage", draft("a = relu(x); b = exp(a); c = tanh(b);", "c"))
    with pytest.raises(FileExistsError):
        extract(whole, ["b"], whole)
    extract(whole, ["b"], whole, force=True)
    assert interface(whole) == "x |  | b"
    extract(whole, ["b"], whole, force=True, inputs=["a"])
    assert interface(whole) == "a |  | b"


def test_an_error_of_the_whole_is_a_warning(tmp_path: Path) -> None:
    text = miltext.infer_draft(draft("a = relu(x); b = exp(a); c = tanh(b);", "c")).replace("[2, 3]> b", "[3, 2]> b")
    whole = tmp_path / "Whole.mlpackage"
    miltext.build(read_model(text.encode(), "w.mil"), whole, check=False)
    assert [each.code for each in extract(whole, ["b"], tmp_path / "Part.mlpackage")] == ["MIL701"]
    assert extract(whole, ["a"], tmp_path / "A.mlpackage") == []
    with pytest.raises(miltext.MiltextError, match="MIL701"):
        extract(read_model(text.encode(), "w.mil"), ["b"], tmp_path / "B.mlpackage")
    extract(read_model(text.encode(), "w.mil"), ["b"], tmp_path / "B.mlpackage", check=False)


def test_types_that_models_take_and_give_match_multi_arrays() -> None:
    kinds = {"fp32": True, "fp16": True, "int32": True, "int8": True, "bool": False, "int16": False, "string": False}
    for dtype, is_known in kinds.items():
        program = miltext.parse(f"program(1.3) {{ func main<ios18>(tensor<{dtype}, [4]> x, {dtype} y) {{ }} -> (x); }}")
        vector, scalar = (value.type for value in program.functions["main"].inputs)
        assert (can_take(vector), can_give(vector)) == (is_known, is_known)
        assert (can_take(scalar), can_give(scalar)) == (False, is_known)


@pytest.mark.parametrize(("verb", "arguments"), [("extract", ["a"]), ("rename", ["a", "b"]), ("expose", ["a"])])
def test_the_message_about_another_ending_lists_texts(verb: str, arguments: list[str], tmp_path: Path) -> None:
    text = "program(1.3)\n{\nfunc main<ios17>(tensor<fp32, [2]> x) { a = sin(x); y = cos(a); } -> (y);\n}\n"
    (tmp_path / "Model.mil").write_text(text, encoding="utf-8")
    made = RUNNER.invoke(command, [verb, str(tmp_path / "Model.mil"), *arguments, "-o", str(tmp_path / "New.txt")])
    assert made.exit_code != 0
    assert "[MIL401]" in made.stderr
    assert ".mlmodelc or .mil, not `New.txt`" in made.stderr
    assert not (tmp_path / "New.txt").exists()
