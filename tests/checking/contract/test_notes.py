"""Notes about whole models: unknown fields, unused states, and models without a description."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_files
from support.commands import miltext
from support.containers import write_package
from support.pipelines import of_text, piped, unary

from miltext.containers.opening import open_model
from miltext.models.manifest import model_file
from miltext.schema.proto import Model
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.wire import sized, tag

UNKNOWN = sized(tag(999), b"new")


def checked(model: Path) -> str:
    """The report of a model without errors and warnings, on one line for each note."""
    ended = miltext("check", "--isolated", model)
    assert (ended.returncode, b"nothing found" in ended.stderr) == (0, True), (
        ended.stdout.decode() + ended.stderr.decode()
    )
    return ended.stdout.decode()


def package(folder: Path, spec: Model) -> Path:
    return write_package(folder / "M.mlpackage", spec.SerializeToString())


def two() -> Model:
    return piped(unary("x", "a"), unary("a", "y"), names=["first", "second"])


# ---- unknown fields

PLACES: dict[str, Callable[[Model], object]] = {
    "field 999": lambda spec: spec,
    "description.field 999": lambda spec: spec.description,
    "description.metadata.field 999": lambda spec: spec.description.metadata,
    "description.input[x].field 999": lambda spec: spec.description.input[0],
    "description.output[y].type.field 999": lambda spec: spec.description.output[0].type,
    "description.input[x].type.multiArrayType.field 999": lambda spec: spec.description.input[0].type.multiArrayType,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["mlpackage", "mlmodel"])
def test_an_unknown_field_around_a_program(place: str, kind: str, tmp_path: Path) -> None:
    spec = unary("x", "y")
    PLACES[place](spec).MergeFromString(UNKNOWN)  # type: ignore[attr-defined]
    path = package(tmp_path, spec)
    if kind == "mlmodel":
        path = Path(shutil.copy(model_file(path), tmp_path / "M.mlmodel"))
    before = spec.SerializeToString(deterministic=True)
    report = checked(path)
    assert f"note[MIL202]: `{place}` is not in the schema" in report
    assert report.count("[MIL202]") == 1
    assert open_model(path).spec.SerializeToString(deterministic=True) == before  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("the pipeline: `field 999`", lambda spec: spec),
        ("the pipeline: `description.field 999`", lambda spec: spec.description),
        ("the pipeline: `pipeline.field 999`", lambda spec: spec.pipeline),
        ('model 1 "second": `field 999`', lambda spec: spec.pipeline.models[1]),
        ('model 0 "first": `description.field 999`', lambda spec: spec.pipeline.models[0].description),
    ],
)
def test_an_unknown_field_in_a_pipeline(place: str, message: Callable[[Model], Model], tmp_path: Path) -> None:
    spec = two()
    message(spec).MergeFromString(UNKNOWN)
    assert f"note[MIL202]: {place} is not in the schema" in checked(package(tmp_path, spec))


def test_many_unknown_fields_are_one_note(tmp_path: Path) -> None:
    spec = unary("x", "y")
    for number in range(900, 905):
        spec.description.MergeFromString(sized(tag(number), b""))
    report = checked(package(tmp_path, spec))
    assert report.count("[MIL202]") == 1
    assert "`description.field 900`, `description.field 901`, `description.field 902` and 2 more are not" in report


def test_a_users_own_key_is_not_an_unknown_field(tmp_path: Path) -> None:
    spec = unary("x", "y")
    spec.description.metadata.userDefined["a.field 999"] = "field 999"
    assert checked(package(tmp_path, spec)) == ""


INSIDE: dict[str, Callable[[Model], object]] = {
    "Program": lambda spec: spec.mlProgram,
    'Function at functions["main"]': lambda spec: spec.mlProgram.functions["main"],
    "Operation at ": lambda spec: spec.mlProgram.functions["main"].block_specializations["CoreML6"].operations[0],
}


@pytest.mark.parametrize("place", INSIDE)
def test_an_unknown_field_in_a_program(place: str, tmp_path: Path) -> None:
    spec = unary("x", "y")
    INSIDE[place](spec).MergeFromString(UNKNOWN)  # type: ignore[attr-defined]
    report = checked(package(tmp_path, spec))
    assert f"note[MIL202]: field 999 of {place}" in report
    assert "the rest of the program was checked" in report


def test_the_rest_of_a_program_is_checked(tmp_path: Path) -> None:
    spec = unary("x", "y")
    spec.mlProgram.MergeFromString(UNKNOWN)
    spec.description.output[0].type.multiArrayType.shape[:] = [9]
    spec.mlProgram.functions["main"].block_specializations["CoreML6"].operations[0].type = "unheard_of"
    ended = miltext("check", "--isolated", package(tmp_path, spec))
    assert ended.returncode == 1
    for code in (b"note[MIL202]", b"error[MIL265]", b"[MIL501]"):
        assert code in ended.stdout


def test_a_program_of_a_newer_class_is_checked() -> None:
    """A field that the class of the message knows, and miltext's schema does not."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    import miltext as library
    from miltext.schema.proto import Program

    pool = descriptor_pool.DescriptorPool()

    def add(file: Any) -> None:
        for each in file.dependencies:
            add(each)
        made = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(made)
        for message in made.message_type:
            if message.name == "Program" and not any(field.number == 999 for field in message.field):
                message.field.add(name="newer", number=999, type=12, label=1)
        pool.Add(made)

    add(Program.DESCRIPTOR.file)
    described = pool.FindMessageTypeByName(Program.DESCRIPTOR.full_name)
    factory: Any = message_factory  # whose functions depend on the version of protobuf
    if hasattr(factory, "GetMessageClass"):
        newer = factory.GetMessageClass(described)
    else:  # protobuf before 4.22
        newer = factory.MessageFactory(pool).GetPrototype(described)
    program = newer.FromString(unary("x", "y").mlProgram.SerializeToString() + UNKNOWN)
    (found,) = library.check(program)
    assert (found.code, found.severity) == ("MIL202", "note")


# ---- states

STATES = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> read, state<tensor<fp16, [2]>> written,
        state<tensor<fp16, [2]>> spare) {
            tensor<fp16, [2]> old = read_state(input = read)[name = string("old")];
            write_state(data = x, input = written)[name = string("w")];
            tensor<fp16, [2]> y = add(x = x, y = old)[name = string("y")];
        } -> (y);
}
"""


def test_a_state_that_nothing_uses(tmp_path: Path) -> None:
    report = checked(package(tmp_path, of_text(STATES)))
    assert "note[MIL272]: the state `spare` of `main` is not used" in report
    assert report.count("[MIL272]") == 1


def test_a_state_used_in_an_inner_block_is_used(tmp_path: Path) -> None:
    inner = """tensor<bool, []> p = const()[name = string("p"), val = bool(true)];
            tensor<fp16, [2]> y = cond(pred = p)[name = string("y")]
                () {
                    tensor<fp16, [2]> a = read_state(input = spare)[name = string("a")];
                } -> (a)
                () {
                    tensor<fp16, [2]> b = relu(x = x)[name = string("b")];
                } -> (b);
        } -> (y);"""
    text = STATES[: STATES.index("            tensor<fp16, [2]> y")] + "            " + inner + "\n}\n"
    assert checked(package(tmp_path, of_text(text))) == ""


# ---- no description


def test_a_model_without_a_description(tmp_path: Path) -> None:
    spec = unary("x", "y")
    spec.ClearField("description")
    path = package(tmp_path, spec)
    assert "note[MIL265]: the model has no description" in checked(path)
    before = model_file(path).read_bytes()
    assert miltext("check", "--fix", path).returncode == 0
    assert model_file(path).read_bytes() == before


def test_the_way_out_describes_the_model(tmp_path: Path) -> None:
    spec = unary("x", "y")
    described = spec.description.SerializeToString()
    spec.ClearField("description")
    path, text, made = package(tmp_path, spec), tmp_path / "m.mil", tmp_path / "New.mlpackage"
    assert miltext("print", path, "-o", text).returncode == 0
    assert miltext("build", text, "--weights", path, "-o", made).returncode == 0
    found = open_model(made).description
    assert found is not None
    assert found.input == type(found).FromString(described).input
    assert checked(made) == ""


def test_a_stage_without_a_description(tmp_path: Path) -> None:
    spec = two()
    spec.pipeline.models[1].ClearField("description")
    report = checked(package(tmp_path, spec))
    assert report.count("the model has no description") == 1
    assert 'model 1 "second"' in report


@pytest.mark.parametrize("path", corpus_files("pairs/mlmodelc-export__quantized-constexpr/model.mlmodel"))
def test_the_undescribed_model_of_the_corpus_lacks_only_weights(path: Path) -> None:
    spec = open_model(path).spec
    assert spec is not None
    assert (spec.HasField("description"), spec.WhichOneof("Type")) == (False, PROGRAM)
    ended = miltext("check", "--ignore", "MIL264", "--isolated", path)
    assert (ended.returncode, b"note[MIL265]" in ended.stdout) == (0, True)
