"""What a compiled model cannot hold is told by name, or refused: for each field around a program in the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from models.test_build_safety import blob, contents, weight_file
from models.test_compiling import in_package
from support.compiled import normal
from support.containers import NEURAL_NETWORK, write_package
from support.pipelines import piped, unary

import miltext
from miltext.building.compiling.judging import unheld
from miltext.compiled.coremldata import coremldata, parse_coremldata
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError, PrintError
from miltext.files.refusals import WeightsError
from miltext.printing.coremlc import Versions
from miltext.schema.paths import is_repeated
from miltext.schema.proto import Model, Pipeline

Steps = tuple[Any, ...]


def fields_of(descriptor: Any, above: Steps = ()) -> Iterator[Steps]:
    """Yield the way to each field below a message, a program aside; and to one that the schema does not have."""
    yield (*above, None)
    for field in descriptor.fields:
        way = (*above, field)
        yield way
        seen = [each.message_type for each in above]
        if field.message_type is not None and field.message_type not in seen and field.name != "mlProgram":
            yield from fields_of(field.message_type, way)


def filled(message: Any, steps: Steps) -> None:
    """Set the field at the end of the way, in the messages that are around it."""
    for field in steps[:-1]:
        if field.message_type.GetOptions().map_entry:
            return  # whose entries have no other fields
        held = getattr(message, field.name)
        message = held.add() if is_repeated(field) else held
        message.SetInParent()
    field = steps[-1]
    if field is None:
        message.MergeFromString(b"\xfa\x3f\x01\x00")  # field 1023
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        getattr(message, field.name)["key"] = "value"
    elif field.message_type is not None:
        held = getattr(message, field.name)
        (held.add() if is_repeated(field) else held).SetInParent()
    else:
        word = b"\x01" if field.type == FieldDescriptor.TYPE_BYTES else "y"
        kinds = {FieldDescriptor.CPPTYPE_STRING: word, FieldDescriptor.CPPTYPE_BOOL: True}
        value = kinds.get(field.cpp_type, 1)
        if is_repeated(field):
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)


def named(steps: Steps) -> str:
    return ".".join("unknown" if field is None else field.name for field in steps)


WAYS = [*fields_of(Model.DESCRIPTOR)]
AROUND = [way for way in WAYS if way[0] is None or (way[0].name != "description" and "description" not in named(way))]
DESCRIBED = [way for way in WAYS if way[0] is not None and way[0].name == "description"]


def test_the_ways_cover_the_schema() -> None:
    names = {*map(named, WAYS)}
    assert {"isUpdatable", "unknown", "description.metadata.userDefined", "pipeline.models.isUpdatable"} <= names
    assert "description.input.type.multiArrayType.shapeRange.sizeRanges.unknown" in names
    assert len(DESCRIBED) > 600


def outcome(spec: Model, folder: Path) -> str:
    """What became of a model that was compiled and turned back: what was told of it, if that was not all kept."""
    package = write_package(folder / "P.mlpackage", spec.SerializeToString())
    try:
        found = miltext.build(package, folder / "C.mlmodelc", allow_unproven=True, check=False)
        miltext.build(folder / "C.mlmodelc", folder / "Q.mlpackage", check=False)
    except (ModelError, PrintError) as failure:
        return failure.diagnostics[0].code
    back = open_model(folder / "Q.mlpackage").spec
    assert back is not None
    told = [each.message for each in found if each.code == "MIL443"]
    return "; ".join(told) if told or normal(back) != normal(spec) else "kept"


@pytest.mark.parametrize("way", AROUND, ids=named)
def test_a_models_other_fields_are_kept_reported_or_refused(way: Steps, tmp_path: Path) -> None:
    spec = piped(unary("x", "y")) if named(way).startswith("pipeline.") else unary("x", "y")
    before = spec.SerializeToString(deterministic=True)
    filled(spec, way)
    name = "the unknown field 1023" if way[-1] is None else f"`{way[-1].name}`"
    result = outcome(spec, tmp_path)
    is_changed = spec.SerializeToString(deterministic=True) != before
    assert result in ("kept", "MIL440", "MIL253", "MIL202") or (is_changed and name in result), result
    if way[-1] is None and len(way) == 1:
        assert name in result


def test_any_description_is_kept(tmp_path: Path) -> None:
    """Each field alone in the file, and then as many as there can be at once."""
    every = unary("x", "y")
    for way in DESCRIBED:
        spec = Model(specificationVersion=7)
        spec.mlProgram.SetInParent()
        filled(spec, way)
        filled(every, way)
        assert [*unheld(spec)] == []
        spec.description.metadata.SetInParent()
        assert parse_coremldata(coremldata(spec), "it").description == spec.description, named(way)
    assert outcome(every, tmp_path) == "kept"


def test_losses_of_stages_are_reported_with_their_places() -> None:
    made = piped(unary("x", "a"), unary("a", "y"))
    made.pipeline.models[1].isUpdatable = True
    made.pipeline.models[1].MergeFromString(b"\xfa\x3f\x01\x00\xfa\x3f\x01\x00")
    made.pipeline.MergeFromString(b"\xfa\x3f\x01\x00")
    assert [*unheld(made)] == [
        "the unknown field 1023 of Pipeline",
        "`isUpdatable` of the model 1",
        "the unknown field 1023 of Model of the model 1",
    ]


def test_a_loss_is_refused_if_requested(tmp_path: Path) -> None:
    spec = unary("x", "y")
    source = in_package(spec, tmp_path / "1")
    miltext.build(source, tmp_path / "C.mlmodelc", check=False, no_loss=True)
    spec.isUpdatable = True
    source = in_package(spec, tmp_path / "2")
    with pytest.raises(ModelError, match=r"MIL454.*`isUpdatable`"):
        miltext.build(source, tmp_path / "D.mlmodelc", check=False, no_loss=True)
    assert not (tmp_path / "D.mlmodelc").exists()


def document(spec: Model) -> None:
    spec.mlProgram.docString = "said of it"


def turn_inputs(spec: Model) -> None:
    function = spec.mlProgram.functions["main"]
    function.inputs.add().CopyFrom(function.inputs[0])
    function.inputs[1].name = "b"
    spec.description.input.insert(0, spec.description.input[0])
    spec.description.input[0].name = "b"


@pytest.mark.parametrize("change", [document, turn_inputs])
@pytest.mark.parametrize("is_piped", [False, True], ids=["", "in a pipeline"])
def test_parts_that_the_compiler_omits_are_refused_too(
    change: Callable[[Model], None], is_piped: bool, tmp_path: Path
) -> None:
    made = piped(unary("x", "a"), unary("a", "y")) if is_piped else unary("x", "y")
    change(made.pipeline.models[1] if is_piped else made)
    source, output = in_package(made, tmp_path), tmp_path / "C.mlmodelc"
    (told,) = (each.message for each in miltext.build(source, output, check=False) if each.code == "MIL210")
    before = contents(output)
    with pytest.raises(ModelError) as failure:
        miltext.build(source, output, check=False, no_loss=True, force=True)
    (said,) = failure.value.diagnostics
    assert (said.code, said.message) == ("MIL454", told)
    assert contents(output) == before
    miltext.build(source, tmp_path / "N.mlpackage", check=False, no_loss=True)


@pytest.mark.parametrize("names", [[], ["", "b"], ["a"], ["a", ""], ["", ""], ["a", "a"], ["a", "b", "more"]])
def test_names_of_models_come_back_as_they_were(names: list[str], tmp_path: Path) -> None:
    made = piped(unary("x", "a"), unary("a", "y", "other"), names=names)
    assert outcome(made, tmp_path) == "kept"


# ---- packages


@pytest.mark.parametrize("ending", [".mlmodel", ".mlmodelc"])
def test_files_of_a_package_that_are_lost_are_reported(ending: str, tmp_path: Path) -> None:
    weight_file(tmp_path)
    (tmp_path / "a.mil").write_text(blob())
    miltext.build(tmp_path / "a.mil", tmp_path / "P.mlpackage")
    package = tmp_path / "P.mlpackage"
    assert "MIL442" not in {each.code for each in miltext.build(package, tmp_path / f"A{ending}")}
    (package / "Data" / "com.example").mkdir()
    (package / "Data" / "com.example" / "notes.txt").write_text("mine")
    (package / "Data" / "com.apple.CoreML" / "weights" / "unused.bin").write_bytes(b"")
    found = [each for each in miltext.build(package, tmp_path / f"B{ending}") if each.code == "MIL442"]
    assert [each.message.partition(": ")[2] for each in found] == [
        "Data/com.apple.CoreML/weights/unused.bin, Data/com.example/notes.txt"
    ]
    assert "MIL442" not in {each.code for each in miltext.build(package, tmp_path / "C.mlpackage")}


def test_weights_that_edit_leaves_out_are_not_files_lost(tmp_path: Path) -> None:
    weight_file(tmp_path)
    (tmp_path / "a.mil").write_text(blob())
    miltext.build(tmp_path / "a.mil", tmp_path / "P.mlpackage")
    edited = tmp_path / "edited.mil"
    edited.write_text(miltext.to_text(unary("x", "y").mlProgram))
    found = miltext.build(edited, tmp_path / "C.mlmodelc", original=tmp_path / "P.mlpackage", check=False)
    assert "MIL442" not in {each.code for each in found}


def test_weights_that_are_missing_are_not_compiled(tmp_path: Path) -> None:
    """A package is written again without them, with a warning; a compiled one could not be loaded."""
    weight_file(tmp_path)
    (tmp_path / "a.mil").write_text(blob())
    miltext.build(tmp_path / "a.mil", tmp_path / "P.mlpackage")
    (tmp_path / "P.mlpackage" / "Data" / "com.apple.CoreML" / "weights" / "weight.bin").unlink()
    before = contents(tmp_path)
    with pytest.raises(
        WeightsError, match=r"MIL302\]: the weight file `@model_path/weights/weight.bin` does not exist"
    ):
        miltext.build(tmp_path / "P.mlpackage", tmp_path / "C.mlmodelc")
    assert contents(tmp_path) == before
    found = miltext.build(tmp_path / "P.mlpackage", tmp_path / "Q.mlpackage")
    assert "MIL451" in {each.code for each in found}


# ---- kinds and options


KINDS: dict[str, tuple[Model, str]] = {
    "empty pipeline": (Model(specificationVersion=7, pipeline=Pipeline()), r"MIL440.*the pipeline has no models"),
    "nested": (piped(piped(unary("x", "y"))), r"MIL440.*a stage of the kind `pipeline`"),
    "untyped stage": (
        Model(specificationVersion=7, pipeline=Pipeline(models=[Model()])),
        "MIL253.*the model 0 of this",
    ),
    "regressor": (piped(unary("x", "y"), kind="pipelineRegressor"), "MIL440.*pipelineRegressor"),
}


@pytest.mark.parametrize(("spec", "said"), KINDS.values(), ids=KINDS)
def test_a_model_that_cannot_be_compiled_gives_a_reason(spec: Model, said: str, tmp_path: Path) -> None:
    source = in_package(spec, tmp_path)
    with pytest.raises(ModelError, match=said):
        miltext.build(source, tmp_path / "C.mlmodelc", check=False)
    assert [each.name for each in tmp_path.iterdir()] == ["P.mlpackage"]


@pytest.mark.parametrize("is_unproven", [False, True], ids=["", "allowed"])
@pytest.mark.parametrize("version", [0, -1, -(2**31)])
@pytest.mark.parametrize("place", ["model", "pipeline", "stage"])
def test_a_version_that_no_model_has_is_refused(place: str, version: int, is_unproven: bool, tmp_path: Path) -> None:
    spec = unary("x", "y") if place == "model" else piped(unary("x", "a"), unary("a", "y"))
    (spec.pipeline.models[1] if place == "stage" else spec).specificationVersion = version
    source = in_package(spec, tmp_path)
    where = " of the model 1" if place == "stage" else ""
    said = rf"P.mlpackage: error\[MIL440\]: the specification version{where} is {version},"
    with pytest.raises(ModelError, match=said):
        miltext.build(source, tmp_path / "C.mlmodelc", check=False, allow_unproven=is_unproven)
    assert not (tmp_path / "C.mlmodelc").exists()


def test_a_stage_that_shows_no_kind_gives_a_reason(tmp_path: Path) -> None:
    source = in_package(piped(unary("x", "a"), unary("a", "y")), tmp_path)
    miltext.build(source, tmp_path / "C.mlmodelc", check=False)
    for name in ("model.mil", "coremldata.bin"):
        (tmp_path / "C.mlmodelc" / "model1" / name).unlink()
    with pytest.raises(ModelError, match=r"model1: error\[MIL255\]: the compiled model has no model.mil"):
        miltext.build(tmp_path / "C.mlmodelc", tmp_path / "D.mlmodelc", check=False)


def test_another_kind_of_model_cannot_be_compiled(tmp_path: Path) -> None:
    (tmp_path / "N.mlmodel").write_bytes(NEURAL_NETWORK)
    with pytest.raises(ModelError, match=r"MIL440.*`neuralNetwork`"):
        miltext.build(tmp_path / "N.mlmodel", tmp_path / "C.mlmodelc")


@pytest.mark.parametrize("version", ["", "abc", "1\n2", '1"', "latest", "1.", ".1", "1..2", "-1", " 1", "\u0663"])
def test_the_compiler_could_state_the_version(version: str, tmp_path: Path) -> None:
    source = in_package(unary("x", "y"), tmp_path)
    for versions in (Versions(component=version), Versions(compiler=version)):
        with pytest.raises(PrintError, match="MIL215"):
            miltext.build(source, tmp_path / "C.mlmodelc", check=False, versions=versions)
    assert not (tmp_path / "C.mlmodelc").exists()


@pytest.mark.parametrize("options", [{"versions": Versions("1")}, {"allow_unproven": True}], ids=str)
@pytest.mark.parametrize("ending", [".mlpackage", ".mlmodel"])
def test_options_of_compiled_models_are_for_them_alone(ending: str, options: dict[str, Any], tmp_path: Path) -> None:
    source = in_package(unary("x", "y"), tmp_path)
    with pytest.raises(ModelError, match=r"MIL444.*only an .mlmodelc"):
        miltext.build(source, tmp_path / f"Q{ending}", check=False, **options)
    assert not (tmp_path / f"Q{ending}").exists()
