"""Compiled models on the command line: built, summarized, compared file by file, and checked."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from conftest import corpus_files
from models.test_build_safety import blob, text_model, weight_file
from support.commands import RUNNER
from support.containers import LFS, write_package
from support.pipelines import binary, piped, unary

import miltext
from miltext.cli import command
from miltext.compiled.analytics import analytics
from miltext.compiled.stated import stated
from miltext.containers.opening import open_model
from miltext.schema.proto import Model

EXAMPLE = Path(__file__).parents[2] / "examples" / "Classifier.mlpackage"


def invoked(*arguments: object) -> Result:
    return RUNNER.invoke(command, list(map(str, arguments)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled model with weights, not to be changed."""
    path = tmp_path_factory.mktemp("made") / "C.mlmodelc"
    miltext.build(open_model(EXAMPLE), path)
    return path


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "C.mlmodelc")
    return tmp_path / "C.mlmodelc"


def edited(path: Path, **changes: Any) -> None:
    (model,) = json.loads(path.read_bytes())
    path.write_text(json.dumps([{**model, **changes}]))


# ---- build


def test_build_from_a_draft_a_description_and_ranges(tmp_path: Path) -> None:
    draft = tmp_path / "draft.mil"
    draft.write_text("program(1.3)\n{\n    func main<ios16>(tensor<fp32, [?, 4]> x) { y = relu(x = x); } -> (y);\n}\n")
    options = ["--range", "x=1..8,4", "--coremlc-version", "1.2.3", "--coremlc-mil-version", "4.5"]
    assert invoked("build", draft, "-o", tmp_path / "D.mlmodelc", *options).exit_code == 0
    text = (tmp_path / "D.mlmodelc" / "model.mil").read_text()
    for said in (
        '"coremlc-version", "1.2.3"',
        '"coremlc-component-MIL", "4.5"',
        '"RangeDims", {{"x", [[1, 8], [4, 4]]}}',
    ):
        assert said in text
    toml = tmp_path / "d.toml"
    assert invoked("describe", tmp_path / "D.mlmodelc", "-o", toml).exit_code == 0
    toml.write_text(toml.read_text().replace("[metadata]", '[metadata]\nauthor = "Somebody"'))
    result = invoked("build", tmp_path / "D.mlmodelc", "--description", toml, "-o", tmp_path / "E.mlmodelc")
    assert result.exit_code == 0, result.output
    assert "author: Somebody" in invoked("info", tmp_path / "E.mlmodelc").output


def test_one_version_leaves_the_other_as_the_newest_known(tmp_path: Path) -> None:
    assert invoked("build", EXAMPLE, "-o", tmp_path / "A.mlmodelc", "--coremlc-version", "7").exit_code == 0
    text = (tmp_path / "A.mlmodelc" / "model.mil").read_text()
    assert '{"coremlc-component-MIL", "3600.16.1"}' in text
    assert '{"coremlc-version", "7"}' in text


@pytest.mark.parametrize("option", ["--coremlc-version", "--coremlc-mil-version"])
def test_versions_are_for_compiled_models(option: str, tmp_path: Path) -> None:
    result = invoked("build", EXAMPLE, "-o", tmp_path / "A.mlpackage", option, "1")
    assert (result.exit_code, "only an .mlmodelc" in result.stderr) == (2, True)
    assert not [*tmp_path.iterdir()]


def test_edits_are_compiled_at_once(tmp_path: Path) -> None:
    outputs = {"rename": ("image", "picture"), "expose": ("lit_cast_fp16",)}
    for verb, words in outputs.items():
        result = invoked(verb, EXAMPLE, *words, "-o", tmp_path / f"{verb}.mlmodelc")
        assert result.exit_code == 0, result.output
        assert words[-1] in (tmp_path / f"{verb}.mlmodelc" / "metadata.json").read_text()
    miltext.load(EXAMPLE).save(tmp_path / "saved.mlmodelc")
    assert invoked("diff", EXAMPLE, tmp_path / "saved.mlmodelc").exit_code == 0


def test_a_refusal_explains_how_to_allow_the_model(tmp_path: Path) -> None:
    spec = unary("x", "y")
    spec.specificationVersion = 11
    package = write_package(tmp_path / "P.mlpackage", spec.SerializeToString())
    output = tmp_path / "P.mlmodelc"
    result = invoked("build", package, "-o", output, "--no-check")
    assert (result.exit_code, output.exists()) == (1, False)
    assert "MIL441" in result.stderr
    assert "--allow-unproven" in result.stderr
    result = invoked("build", package, "-o", output, "--no-check", "--allow-unproven")
    assert (result.exit_code, "warning[MIL214]" in result.stderr, output.exists()) == (0, True, True)


def test_another_ending_names_all_three(tmp_path: Path) -> None:
    result = invoked("build", EXAMPLE, "-o", tmp_path / "M.coreml")
    assert "MIL401" in result.stderr
    assert all(ending in result.stderr for ending in (".mlpackage", ".mlmodel ", ".mlmodelc"))


# ---- info


def test_info_shows_the_statements_of_a_compiled_model(bundle: Path) -> None:
    record = json.loads(invoked("info", bundle, "--json").output)["compiled"]
    assert record["modelName"] == "model"
    assert record["storagePrecision"] == "Float16"
    assert record["availability"]["watchOS"] == "9.0"
    shown = invoked("info", bundle).output
    assert f"compiled from model.mlmodel, SHA-256 {record['modelHash']}\n" in shown
    assert "computes in Mixed (Float16, Float32, Int32)\n" in shown
    assert "compiled" not in json.loads(invoked("info", EXAMPLE, "--json").output)
    assert record["analytics"]["NeuralNetworkModelDetails"] == {"containsCustomLayer": "0", "modelDimension": "0"}
    assert record["compiler"] == {"coremlc-component-MIL": "3600.16.1", "coremlc-version": "3600.25.1"}
    for line in (
        "coremlc-version: 3600.25.1",
        "NeuralNetworkModelDetails: containsCustomLayer 0, modelDimension 0",
        "class in Xcode: C",
    ):
        assert f"  {line}\n" in shown


def test_info_shows_a_pipeline_and_its_models(tmp_path: Path) -> None:
    package = write_package(tmp_path / "P.mlpackage", piped(unary("x", "a"), unary("a", "y")).SerializeToString())
    miltext.build(package, tmp_path / "P.mlmodelc", check=False)
    record = json.loads(invoked("info", tmp_path / "P.mlmodelc", "--json").output)
    assert record["compiled"]["analytics"]["PipelineModelDetails"] == {"modelDimension": "2"}
    assert record["compiled"]["modelName"] == "model"
    assert [each["compiled"]["compiler"]["coremlc-version"] for each in record["models"]] == ["3600.25.1"] * 2
    shown = invoked("info", tmp_path / "P.mlmodelc").output
    assert "\n  PipelineModelDetails: modelDimension 2\n" in shown
    assert shown.count("\n    coremlc-version: 3600.25.1\n") == 2


ODD_FILES: dict[str, bytes | None] = {
    "not JSON": b"{",
    "not a list": b"{}",
    "two": b"[{}, {}]",
    "words": b'["words"]',
    "deep": b"[" * 100_000,
    "other types": b'[{"availability": ["iOS"], "computePrecision": {"a": 1}, "storagePrecision": null}]',
    "pointer": LFS,
    "empty": b"",
    "absent": None,
}


@pytest.mark.parametrize("content", ODD_FILES.values(), ids=ODD_FILES)
@pytest.mark.parametrize("name", ["metadata.json", "analytics/coremldata.bin"])
def test_odd_files_end_no_verb(name: str, content: bytes | None, bundle: Path, made: Path) -> None:
    (bundle / name).unlink()
    if content is not None:
        (bundle / name).write_bytes(content)
    for arguments in (["info", bundle], ["diff", bundle, made], ["check", bundle]):
        result = invoked(*arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code in (0, 1)


# ---- what errors name


BROKEN: dict[str, tuple[bytes, str]] = {
    "pointer": (LFS, "MIL303"),
    "empty": (b"", "MIL304"),
    "no record": (b"\1\0\0\0\2\0\0\0" + bytes(184), "MIL305"),
}


@pytest.mark.parametrize(("data", "code"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("ending", [".mlpackage", ".mlmodelc"])
def test_a_weight_file_is_named_as_the_model_is(
    ending: str, data: bytes, code: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLE if ending == ".mlpackage" else made, tmp_path / f"M{ending}")
    (file,) = (tmp_path / f"M{ending}").rglob("weight.bin")
    file.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    for start in (".", tmp_path):
        shown = invoked("build", Path(start, f"M{ending}"), "-o", "New.mlmodelc").stderr
        assert shown.startswith(f"{Path(start, file.relative_to(tmp_path))}: error[{code}]: ")
    os.symlink(f"M{ending}", f"Link{ending}")
    assert invoked("build", f"Link{ending}", "-o", "New.mlmodelc").stderr.startswith(f"Link{ending}")


def test_a_model_that_lacks_its_weights_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    weight_file(tmp_path)
    (tmp_path / "a.mil").write_text(blob())
    miltext.build("a.mil", "M.mlmodel")
    (tmp_path / "weights" / "weight.bin").unlink()
    shown = invoked("build", "M.mlmodel", "-o", "C.mlmodelc").stderr
    assert shown.startswith("M.mlmodel: error[MIL302]: the weight file `@model_path/weights/weight.bin` does not exist")


def unknown(spec: Model) -> None:
    spec.mlProgram.MergeFromString(b"\xfa\x3f\x01\x00")  # field 1023


def odd_info(spec: Model) -> None:
    spec.mlProgram.attributes["buildInfo"].type.tensorType.dataType = 2


UNWRITABLE: dict[Callable[[Model], None], str] = {unknown: "MIL202", odd_info: "MIL212"}


@pytest.mark.parametrize(("change", "code"), UNWRITABLE.items(), ids=lambda each: getattr(each, "__name__", ""))
@pytest.mark.parametrize("place", ["", "the model 1: "], ids=["", "in a pipeline"])
def test_a_model_that_has_no_text_is_named(
    place: str, change: Callable[[Model], None], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = piped(unary("x", "a"), unary("a", "y")) if place else unary("x", "y")
    change(spec.pipeline.models[1] if place else spec)
    Path("M.mlmodel").write_bytes(spec.SerializeToString())
    shown = invoked("build", "M.mlmodel", "-o", "C.mlmodelc", "--no-check").stderr
    assert shown.startswith(f"M.mlmodel: error[{code}]: {place}")
    assert not Path("C.mlmodelc").exists()
    assert (
        "M.mlmodel: error[MIL215]: "
        in invoked("build", "M.mlmodel", "-o", "C.mlmodelc", "--coremlc-version", "x", "--no-check").stderr
    )


# ---- diff


def added_file(bundle: Path) -> None:
    (bundle / "notes").mkdir()
    (bundle / "notes" / "a.txt").write_text("mine")


def another_hash(bundle: Path) -> None:
    tables = {"SpecificationDetails": {"modelHash": "else", "modelName": "model"}}
    (bundle / "analytics" / "coremldata.bin").write_bytes(analytics(tables))


def unreadable_analytics(bundle: Path) -> None:
    (bundle / "analytics" / "coremldata.bin").write_bytes(b"\xff" * 8)


def link_to_elsewhere(bundle: Path) -> None:
    os.symlink("/nowhere", bundle / "link")


def another_precision(bundle: Path) -> None:
    edited(bundle / "metadata.json", computePrecision="Float32", extra={"a": [1, {}]})


def another_name(bundle: Path) -> None:
    edited(bundle / "metadata.json", generatedClassName="Mine")


def other_tools(bundle: Path) -> None:
    edited(bundle / "metadata.json", userDefinedMetadata={"com.github.apple.coremltools.version": "1.0"})


DIFFERENCES: dict[Callable[[Path], None], list[str]] = {
    added_file: ["+ file notes/a.txt: 4 bytes, SHA-256 "],
    another_hash: [
        '~ analytics SpecificationDetails.modelHash: "8/jK4NCy9J5feiVfj0dMc9sQFsvrs+0yAAHbFRMJ1yc=" -> "else"'
    ],
    unreadable_analytics: ["file analytics/coremldata.bin: "],
    link_to_elsewhere: ["+ file link: a link to /nowhere"],
    another_precision: [
        '~ metadata.json computePrecision: "Mixed (Float16, Float32, Int32)" -> "Float32"',
        "+ metadata.json extra[a][0]: 1",
        "+ metadata.json extra[a][1]: {}",
    ],
    another_name: ['~ metadata.json generatedClassName: "C" -> "Mine"'],
}


@pytest.mark.parametrize(("change", "said"), DIFFERENCES.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_diff_compares_file_by_file(change: Callable[[Path], None], said: list[str], bundle: Path, made: Path) -> None:
    change(bundle)
    result = invoked("diff", made, bundle)
    assert result.exit_code == 1
    assert all(line in result.output for line in said)
    unified = invoked("diff", made, bundle, "--format", "unified").output
    assert all(line.lstrip("+-~ ") in unified for line in said)
    found = json.loads(invoked("diff", made, bundle, "--format", "json").output)
    assert (found["same"], {each["kind"] for each in found["changes"]} <= {"analytics", "metadata.json", "file"}) == (
        False,
        True,
    )


SAYS_NOTHING = [
    pytest.param(name, content, id=f"{name}, {how}")
    for name, readable in (("metadata.json", "other types"), ("analytics/coremldata.bin", "empty"))
    for how, content in ODD_FILES.items()
    if how != readable
]


@pytest.mark.parametrize(("name", "content"), SAYS_NOTHING)
def test_a_file_that_is_silent_is_compared_whole(name: str, content: bytes | None, bundle: Path, made: Path) -> None:
    (bundle / name).unlink()
    if content is not None:
        (bundle / name).write_bytes(content)
    there = [f"{len(data)} bytes" if data is not None else None for data in ((made / name).read_bytes(), content)]
    for one, other, sizes in ((made, bundle, there), (bundle, made, there[::-1])):
        (change,) = miltext.diff(one, other).changes
        assert (change.kind, change.name) == ("file", name)
        assert [text and text.partition(",")[0] for text in (change.old, change.new)] == sizes
    shutil.copytree(bundle, bundle.parent / "D.mlmodelc")
    assert miltext.diff(bundle, bundle.parent / "D.mlmodelc").same


def test_metadata_that_is_empty_has_no_values(bundle: Path, made: Path) -> None:
    (bundle / "metadata.json").write_text("[{}]")
    changes = miltext.diff(made, bundle).changes
    assert len(changes) > 10
    assert {(each.kind, each.new) for each in changes} == {("metadata.json", None)}
    assert all(each.name for each in changes)


def test_equal_bundles_are_equal_under_other_names(bundle: Path, made: Path, tmp_path: Path) -> None:
    assert invoked("diff", bundle, made).output == "no difference\n"
    miltext.build(open_model(EXAMPLE), tmp_path / "Other.mlmodelc")
    assert invoked("diff", made, tmp_path / "Other.mlmodelc").output == "no difference\n"
    assert invoked("diff", EXAMPLE, made).output == "no difference\n"


def ranging(spec: Model) -> Model:
    for least, most in ((1, 8), (4, 4)):
        spec.description.input[0].type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=most)
    return spec


DONE_TO = {
    "order": binary("z", "a", "y"),
    "shapes": ranging(unary("x", "y")),
    "both": ranging(binary("z", "a", "y")),
    "a pipeline": piped(ranging(binary("z", "a", "y")), unary("y", "w")),
}


@pytest.mark.parametrize("spec", DONE_TO.values(), ids=DONE_TO)
@pytest.mark.parametrize("ending", [".mlpackage", ".mlmodel"])
def test_constant_edits_of_the_compiler_are_not_differences(spec: Model, ending: str, tmp_path: Path) -> None:
    source, bundle = tmp_path / f"P{ending}", tmp_path / "C.mlmodelc"
    write_package(tmp_path / "P.mlpackage", spec.SerializeToString())
    (tmp_path / "P.mlmodel").write_bytes(spec.SerializeToString())
    miltext.build(source, bundle, check=False)
    for both in ((source, bundle), (bundle, source)):
        assert miltext.diff(*both).same
        assert miltext.diff(*both).to_unified() == ""
    miltext.build(bundle, tmp_path / "Q.mlpackage", check=False)
    assert miltext.diff(source, tmp_path / "Q.mlpackage").same


@pytest.mark.parametrize("order", [("z", "a"), ("a", "z")])
def test_the_order_of_two_compiled_models_is_compared(order: tuple[str, str], tmp_path: Path) -> None:
    """A package may have the order of its description, or that which the compiler gives."""
    spec = binary("z", "a", "y")
    spec.mlProgram.functions["main"].inputs.sort(key=lambda value: order.index(value.name))
    package = write_package(tmp_path / "P.mlpackage", spec.SerializeToString())
    miltext.build(package, tmp_path / "C.mlmodelc", check=False)
    assert miltext.diff(package, tmp_path / "C.mlmodelc").same
    shutil.copytree(tmp_path / "C.mlmodelc", tmp_path / "D.mlmodelc")
    text = (tmp_path / "D.mlmodelc" / "model.mil").read_text()
    a, z = "tensor<fp32, [1, 4]> a", "tensor<fp32, [1, 4]> z"
    (tmp_path / "D.mlmodelc" / "model.mil").write_text(text.replace(f"{a}, {z}", f"{z}, {a}"))
    (function,) = miltext.diff(tmp_path / "C.mlmodelc", tmp_path / "D.mlmodelc").functions
    assert [(each.kind, each.old, each.new) for each in function.changes] == [("inputs", "(a, z)", "(z, a)")]


def test_shapes_of_two_compiled_models_are_compared(tmp_path: Path) -> None:
    for name, spec in (("C", unary("x", "y")), ("D", ranging(unary("x", "y")))):
        (tmp_path / f"{name}.mlmodel").write_bytes(spec.SerializeToString())
        miltext.build(tmp_path / f"{name}.mlmodel", tmp_path / f"{name}.mlmodelc", check=False)
    shown = invoked("diff", tmp_path / "C.mlmodelc", tmp_path / "D.mlmodelc").output
    assert "+ attribute FlexibleShapeInformation" in shown


def test_tools_are_compared_only_if_requested(bundle: Path, made: Path) -> None:
    other_tools(bundle)
    assert invoked("diff", made, bundle).exit_code == 0
    assert "userDefinedMetadata" in invoked("diff", made, bundle, "--build-info").output


# ---- check


def test_a_built_model_fits(made: Path) -> None:
    assert invoked("check", made, "--from", EXAMPLE).exit_code == 0


def test_the_hash_of_another_package_is_reported(made: Path, tmp_path: Path) -> None:
    other = write_package(tmp_path / "Other.mlpackage", unary("x", "y").SerializeToString())
    result = invoked("check", made, "--from", other)
    assert result.exit_code == 1
    assert f"{made / 'analytics' / 'coremldata.bin'}: warning[MIL262]" in result.output


@pytest.mark.parametrize(
    ("changes", "is_told"),
    [
        ({"computePrecision": "Float32"}, True),
        ({"storagePrecision": "Int8"}, True),
        ({"specificationVersion": 9}, True),
        ({"author": "Somebody"}, True),
        ({"shortDescription": "Else"}, True),
        ({"userDefinedMetadata": {}}, True),
        ({"stateSchema": [{"name": "s"}]}, True),
        ({"inputSchema": []}, True),
        ({"outputSchema": []}, True),
        ({"mlProgramOperationTypeHistogram": {}}, True),
        ({"availability": {}}, True),
        ({"metadataOutputVersion": "4.0", "generatedClassName": "Mine"}, False),
    ],
)
def test_metadata_that_disagrees_is_reported(changes: dict[str, Any], is_told: bool, bundle: Path) -> None:
    edited(bundle / "metadata.json", **changes)
    result = invoked("check", bundle)
    assert (result.exit_code, "metadata.json:" in result.output) == (int(is_told), is_told)
    assert ("warning[MIL261]" in result.output) == is_told


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def pointed(path: Path) -> None:
    path.write_bytes(LFS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut, "MIL263 error"),
        (pointed, "MIL264 error"),
        (Path.unlink, "MIL264 error"),
    ],
)
def test_weights_are_looked_for(change: Callable[[Path], None], said: str, bundle: Path) -> None:
    change(bundle / "weights" / "weight.bin")
    (found,) = miltext.check(open_model(bundle))
    assert f"{found.code} {found.severity}" == said
    result = invoked("check", bundle)
    assert result.exit_code == 1
    assert f"{bundle / 'weights' / 'weight.bin'}: {found.severity}[{found.code}]" in result.output
    assert invoked("check", bundle, "--ignore", "MIL264").exit_code == (said == "MIL263 error")


def test_analytics_that_count_otherwise_are_reported(bundle: Path) -> None:
    tables = {"PipelineModelDetails": {"modelDimension": "2"}}
    (bundle / "analytics" / "coremldata.bin").write_bytes(analytics(tables))
    assert {each.code for each in miltext.check(open_model(bundle))} == {"MIL262"}


def test_inputs_that_only_one_file_has_are_reported(bundle: Path) -> None:
    text = (bundle / "model.mil").read_text()
    (bundle / "model.mil").write_text(text.replace("fp32, [1, 1, 16, 16]> image)", "fp32, [1, 1, 16, 16]> picture)"))
    (bundle / "model.mil").write_text((bundle / "model.mil").read_text().replace("x = image", "x = picture"))
    found = [each.message for each in miltext.check(open_model(bundle)) if each.code == "MIL265"]
    assert found == [
        (
            "`main` has no input `image` (description: input `image`, name): "
            "names must be those of the program; `miltext rename` changes them"
        ),
        "the input `picture` of `main` is not described",
    ]


@pytest.mark.parametrize("content", [b"x", None], ids=["damaged", "missing"])
def test_a_description_that_core_ml_cannot_read_is_reported(content: bytes | None, bundle: Path, made: Path) -> None:
    path = bundle / "coremldata.bin"
    path.unlink() if content is None else path.write_bytes(content)
    checked, compared = invoked("check", bundle), invoked("diff", made, bundle)
    assert (checked.exit_code, "error[MIL260]: coremldata.bin" in checked.output) == (1, True)
    assert (compared.exit_code, "file coremldata.bin: " in compared.output) == (1, True)
    path.unlink(missing_ok=True)
    shutil.copytree(bundle, bundle.with_name("Same.mlmodelc"))
    assert "coremldata.bin" not in invoked("diff", bundle, bundle.with_name("Same.mlmodelc")).stdout


def test_an_unreadable_description_is_an_error(bundle: Path) -> None:
    (bundle / "metadata.json").unlink()
    (bundle / "coremldata.bin").write_bytes(b"\xff" * 64)
    found = [(each.code, each.severity) for each in miltext.check(open_model(bundle))]
    assert found == [("MIL260", "error"), ("MIL261", "warning")]


def test_a_text_with_an_error_is_reported_alone(bundle: Path) -> None:
    (bundle / "model.mil").write_text("program(1.0) { func")
    assert {each.code[:4] for each in miltext.check(open_model(bundle))} == {"MIL0"}


def test_a_pipeline_is_checked_around_its_models_too(tmp_path: Path) -> None:
    spec = piped(unary("x", "a"), unary("a", "y", "other"))
    package = write_package(tmp_path / "P.mlpackage", spec.SerializeToString())
    bundle = tmp_path / "P.mlmodelc"
    miltext.build(open_model(package), bundle, check=False)
    assert invoked("check", bundle, "--from", package).exit_code == 0
    edited(bundle / "metadata.json", computePrecision="Int8")
    result = invoked("check", bundle)
    assert (result.exit_code, "warning[MIL261]" in result.output + result.stderr) == (1, True)
    assert invoked("check", bundle, "--ignore", "MIL261").exit_code == 0


@pytest.mark.parametrize("path", corpus_files("bundles/*.mlmodelc"))
def test_no_alarm_for_bundles_of_the_corpus(path: Path) -> None:
    assert [each for each in miltext.check(open_model(path)) if each.severity != "note"] == []


@pytest.mark.parametrize("path", corpus_files("bundles/*.mlmodelc"))
def test_apples_models_written_again_differ_only_in_the_hash(path: Path, tmp_path: Path) -> None:
    """The versions of the compiler and all files are as they were; the class is called by the folder."""
    again = tmp_path / f"{stated(path).metadata['generatedClassName']}.mlmodelc"
    told = miltext.build(open_model(path), again)
    assert {each.code for each in told} <= {"MIL214"}
    changes = miltext.diff(path, again, build_info=True, ignore_weights=True).changes
    assert [(each.kind, each.name) for each in changes] == [("analytics", "SpecificationDetails.modelHash")]
    assert (again / "model.mil").read_bytes() == (path / "model.mil").read_bytes()


def test_weights_that_a_text_names_are_stored_and_compared(tmp_path: Path) -> None:
    weight_file(tmp_path)
    miltext.build(text_model(blob(), tmp_path), tmp_path / "A.mlmodelc")
    shutil.copytree(tmp_path / "A.mlmodelc", tmp_path / "B.mlmodelc")
    data = bytearray((tmp_path / "B.mlmodelc" / "weights" / "weight.bin").read_bytes())
    data[-1] ^= 1
    (tmp_path / "B.mlmodelc" / "weights" / "weight.bin").write_bytes(data)
    found = json.loads(invoked("diff", tmp_path / "A.mlmodelc", tmp_path / "B.mlmodelc", "--format", "json").output)
    assert len(found["weights"]["changed"]) == 1
    assert [each for each in found["changes"] if each["kind"] == "file"] == []
