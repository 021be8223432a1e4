"""What is wrong with the connections of pipelines, and that no edit makes it so."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import corpus_files
from support.containers import NEURAL_NETWORK, write_package
from support.pipelines import binary, piped, unary, write_compiled
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError, line_and_column
from miltext.drafting.building import build
from miltext.pipelines.connections import agree
from miltext.pipelines.faults import faults, faults_in
from miltext.schema.proto import ArrayFeatureType, FeatureType, ImageFeatureType, Model


def told(spec: Model) -> list[tuple[str, str]]:
    return [(fault.code, fault.message) for fault in faults(spec)]


def two() -> Model:
    return piped(unary("x", "a"), unary("a", "y"))


def test_a_right_pipeline_has_none() -> None:
    for spec in (two(), piped(unary("x", "a"), two()), unary("x", "y"), piped(unary("x", "a"), unary("w", "a"))):
        assert told(spec) == []


def test_inputs_that_no_model_gives() -> None:
    spec = two()
    del spec.description.input[0]
    assert told(spec) == [("MIL457", "no model outputs `x`, which model 0 takes")]
    spec.pipeline.models[0].description.input[0].type.isOptional = True
    assert told(spec) == [("MIL457", "no model outputs `x`, which model 0 takes")]
    spec = two()
    spec.description.output[0].name = "z"
    assert told(spec) == [("MIL457", "no model outputs `z`, which the pipeline gives")]
    swapped = Model.FromString(two().SerializeToString())
    models = [Model.FromString(model.SerializeToString()) for model in swapped.pipeline.models]
    for model, other in zip(swapped.pipeline.models, reversed(models), strict=True):
        model.CopyFrom(other)
    assert told(swapped) == [("MIL457", "no model outputs `a`, which model 0 takes")]
    inside = piped(unary("x", "a"), two())
    inside.pipeline.models[1].pipeline.names.append("first")
    inside.pipeline.models[1].pipeline.models[1].description.input[0].name = "b"
    assert told(inside) == [("MIL457", "no model outputs `b`, which model 1/1 takes")]


def test_training_inputs_need_no_giver() -> None:
    spec = two()
    spec.pipeline.models[1].description.trainingInput.add(name="target")
    assert told(spec) == []


def test_types_that_do_not_agree() -> None:
    spec = piped(unary("x", "a"), binary("x", "a", "y"), names=("one", "two"))
    spec.pipeline.models[1].description.input[0].type.multiArrayType.shape[1] = 8
    spec.pipeline.models[0].description.output[0].type.multiArrayType.dataType = ArrayFeatureType.FLOAT16
    spec.description.output[0].type.stringType.SetInParent()
    assert told(spec) == [
        ("MIL456", 'the pipeline takes `x` as fp32 [1, 4], but model 1 "two" takes fp32 [1, 8]'),
        ("MIL456", 'model 0 "one" gives `a` as fp16 [1, 4], but model 1 "two" takes fp32 [1, 4]'),
        ("MIL456", 'model 1 "two" gives `y` as fp32 [1, 4], but the pipeline gives a string'),
    ]


def array(*shape: int, dtype: int = ArrayFeatureType.FLOAT32, ranges: int = 0, shapes: int = 0) -> FeatureType:
    made = ArrayFeatureType(shape=shape, dataType=dtype)
    for _ in range(ranges):
        made.shapeRange.sizeRanges.add(lowerBound=1, upperBound=9)
    if shapes:
        made.enumeratedShapes.shapes.add(shape=[1] * shapes)
    return FeatureType(multiArrayType=made)


def image(width: int, height: int, color: int = ImageFeatureType.RGB) -> FeatureType:
    return FeatureType(imageType=ImageFeatureType(width=width, height=height, colorSpace=color))


def of(kind: str, field: str = "") -> FeatureType:
    made = FeatureType()
    inner = getattr(made, f"{kind}Type")
    (getattr(inner, field) if field else inner).SetInParent()
    return made


AGREE = [
    (array(1, 4), array(1, 4), True),
    (array(1, 4), array(4, 1), False),
    (array(1, 4), array(4), False),
    (array(1, 4), array(1, 4, dtype=ArrayFeatureType.INT32), False),
    (array(1, 4, ranges=2), array(3, 3), True),
    (array(1, 4, ranges=2), array(3), False),
    (array(1, 4, shapes=2), array(3, 3), True),
    (array(1, 4, shapes=2), array(3, 3, ranges=3), False),
    (array(), array(1, 4), False),
    (array(), array(1, 4, ranges=2), False),
    (array(), array(), True),
    (image(8, 8), image(8, 8), True),
    (image(8, 8), image(8, 4), False),
    (image(8, 8), image(8, 8, ImageFeatureType.BGR), False),
    (image(8, 8), array(1, 3, 8, 8), False),
    (of("string"), of("string"), True),
    (of("string"), of("int64"), False),
    (of("dictionary", "int64KeyType"), of("dictionary", "stringKeyType"), False),
    (of("dictionary", "int64KeyType"), of("dictionary", "int64KeyType"), True),
    (of("sequence", "int64Type"), of("sequence", "stringType"), False),
    (of("sequence", "stringType"), of("sequence", "stringType"), True),
    (of("state", "arrayType"), of("state", "arrayType"), True),
    (FeatureType(), FeatureType(), True),
    (FeatureType(isOptional=True, stringType=of("string").stringType), of("string"), True),
]


@pytest.mark.parametrize(("one", "other", "expected"), AGREE)
def test_which_types_agree(one: FeatureType, other: FeatureType, expected: bool) -> None:
    assert agree(one, other) == agree(other, one) == expected


@pytest.mark.parametrize("path", corpus_files("pipelines/*.mlpackage"))
def test_pipelines_of_the_corpus_have_none(path: Path) -> None:
    spec = open_model(path).spec
    assert spec is not None
    assert told(spec) == []


def test_a_description_that_parts_models_is_refused(tmp_path: Path) -> None:
    path, toml, new = tmp_path / "P.mlmodel", tmp_path / "P.toml", tmp_path / "New.mlmodel"
    path.write_bytes(two().SerializeToString())
    text = miltext.describe(path)
    for old, wrong, code in (('"x"', '"w"', "MIL457"), ("[1, 4]", "[1, 8]", "MIL456")):
        toml.write_text(text.replace(old, wrong, 1))
        with pytest.raises(ModelError, match=f"{code}.*model 0 takes") as failure:
            build(open_model(path), new, description=toml)
        [found] = failure.value.diagnostics
        assert found.span is not None
        line, _ = line_and_column(toml.read_text(), found.span.start)
        assert toml.read_text().split("\n")[line - 1] == "[[model]]"
        assert "`miltext rename` changes a name in all models at once" in [note.message for note in found.notes]
        assert [each.code for each in build(open_model(path), new, description=toml, check=False, force=True)] == [code]
        new.unlink()
    toml.write_text(text.replace("[[input]]", "[[input]]\nshortDescription = 'what it looks at'", 1))
    assert build(open_model(path), new, description=toml) == []


# ---- of models that were read, and that are written again


def unfit(kind: str = "pipeline") -> Model:
    """A pipeline whose second model takes another type than the first one gives, and a third one what nobody gives."""
    made = piped(unary("x", "a"), unary("a", "b"), unary("b", "y"), kind=kind)
    made.pipeline.models[1].description.input[0].type.multiArrayType.shape[1] = 8
    made.pipeline.models[2].description.input[0].name = "c"
    return made


UNFIT = [
    ("MIL456", "model 0 gives `a` as fp32 [1, 4], but model 1 takes fp32 [1, 8]"),
    ("MIL457", "no model outputs `c`, which model 2 takes"),
]


@pytest.fixture(params=["mlmodel", "mlpackage", "mlmodelc"])
def unfit_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The pipeline that does not fit, in each kind of file."""
    path = tmp_path / f"P.{request.param}"
    if request.param == "mlmodelc":
        return write_compiled(path, unfit())
    if request.param == "mlmodel":
        path.write_bytes(unfit().SerializeToString())
    else:
        write_package(path, unfit().SerializeToString())
    return path


def test_a_model_that_was_read_reports_its_faults(unfit_path: Path) -> None:
    assert [(fault.code, fault.message) for fault in faults_in(open_model(unfit_path))] == UNFIT


def test_check_reports_them(unfit_path: Path) -> None:
    result = RUNNER.invoke(command, ["check", "--ignore", "MIL26", str(unfit_path)])
    assert result.exit_code == 1
    for code, message in UNFIT:
        assert f"error[{code}]: {message}" in result.stdout
    assert result.stderr == "2 errors in 3 programs\n"
    assert RUNNER.invoke(command, ["check", "--ignore", "MIL45,MIL26", str(unfit_path)]).exit_code == 0


def test_a_nested_pipeline_and_one_without_programs_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "P.mlmodel"
    path.write_bytes(piped(unary("w", "x"), unfit()).SerializeToString())
    told = RUNNER.invoke(command, ["check", str(path)]).stdout
    assert "model 1/0 gives `a` as fp32 [1, 4], but model 1/1 takes fp32 [1, 8]" in told
    networks = unfit()
    for model in networks.pipeline.models:
        model.ClearField("mlProgram")
        model.MergeFromString(NEURAL_NETWORK)
    path.write_bytes(networks.SerializeToString())
    told = RUNNER.invoke(command, ["check", str(tmp_path)]).stdout
    assert "error[MIL456]" in told
    assert "skipped" in told


def test_verbs_report_earlier_faults(unfit_path: Path, tmp_path: Path) -> None:
    new = tmp_path / "New.mlpackage"
    verbs = (
        ["build", unfit_path],
        ["rename", unfit_path, "y", "z"],
        ["rename", unfit_path, "inner", "i", "--model", "0"],
    )
    for verb in verbs:
        result = RUNNER.invoke(command, [*map(str, verb), "-o", str(new), "--force"])
        assert result.exit_code == 0, result.stderr
        for code, message in UNFIT:
            assert result.stderr.count(f"warning[{code}]: {message}; the original has this error, too") == 1
        result = RUNNER.invoke(command, [*map(str, verb), "-o", str(new), "--force", "--no-check"])
        assert "MIL45" not in result.stderr


def test_an_edit_that_fixes_a_fault_reports_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "P.mlmodel"
    spec = piped(unary("x", "a"), unary("a", "y"))
    path.write_bytes(spec.SerializeToString())
    first, second = tmp_path / "1.mlmodel", tmp_path / "2.mlmodel"
    result = RUNNER.invoke(command, ["reshape", str(path), "x=1,8", "--model", "0", "-o", str(first), "--no-check"])
    assert "warning[MIL456]" in result.stderr
    assert RUNNER.invoke(command, ["check", str(first)]).exit_code == 1
    result = RUNNER.invoke(command, ["reshape", str(first), "a=1,8", "--model", "1", "-o", str(second)])
    assert (result.exit_code, "MIL456" in result.stderr) == (0, False)
    assert RUNNER.invoke(command, ["check", str(second)]).exit_code == 0
