"""`miltext check` of compiled models: places in their files, forms of the report, --from, and odd files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from conftest import EXAMPLE
from support.containers import LFS, write_package
from support.pipelines import piped, unary
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.compiled import stated
from miltext.compiled.analytics import analytics, parse_analytics
from miltext.containers.opening import open_model
from miltext.models.manifest import model_file

METADATA, ANALYTICS, DESCRIPTION = "metadata.json", "analytics/coremldata.bin", "coremldata.bin"


def checked(*arguments: object) -> Result:
    result = RUNNER.invoke(command, ["check", *map(str, arguments)])
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def said(*arguments: object) -> list[str]:
    """The code, severity and file of each finding, and its line if it has one."""
    found = json.loads(checked(*arguments, "--format", "json").stdout)["diagnostics"]
    bundle = os.fspath(arguments[0])  # type: ignore[call-overload]
    return [
        f"{each['code']} {each['severity']} {os.path.relpath(each['path'], bundle)}"
        + (f":{each['start']['line']}" if each["start"] else "")
        for each in found
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled model with weights, and a compiled pipeline of two models; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    miltext.build(open_model(EXAMPLE), folder / "C.mlmodelc")
    spec = piped(unary("x", "a"), unary("a", "y", "other"), names=["first", "second"])
    package = write_package(folder / "P.mlpackage", spec.SerializeToString())
    miltext.build(open_model(package), folder / "P.mlmodelc", check=False)
    return folder


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "C.mlmodelc", tmp_path / "C.mlmodelc")
    return tmp_path / "C.mlmodelc"


@pytest.fixture
def pipeline(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "P.mlmodelc", tmp_path / "P.mlmodelc")
    return tmp_path / "P.mlmodelc"


def replaced(path: Path, old: str, new: str) -> None:
    data = path.read_text(encoding="utf-8")
    assert old in data
    path.write_text(data.replace(old, new, 1), encoding="utf-8")


# ---- places, forms, choices


def test_each_finding_is_reported_at_its_file_and_key(bundle: Path) -> None:
    replaced(bundle / METADATA, '"13.0"', '"12.0"')
    replaced(bundle / "model.mil", "tensor<fp32, [1, 1, 16, 16]> image", "tensor<fp32, [1, 1, 16, 17]> image")
    lines = (bundle / METADATA).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"macOS"' in text)
    assert f"MIL261 warning metadata.json:{line}" in said(bundle)
    assert "MIL265 error model.mil:4" in said(bundle)
    assert f"{bundle / METADATA}:{line}:7: warning[MIL261]" in checked(bundle).stdout


def test_machines_get_the_file_and_the_place(bundle: Path) -> None:
    replaced(bundle / METADATA, '"13.0"', '"12.0"')
    (result,) = json.loads(checked(bundle, "--format", "sarif").stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == (bundle / METADATA).as_uri()
    assert place["region"]["startColumn"] == 7
    assert f"::warning file={bundle / METADATA},line=" in checked(bundle, "--format", "github").stdout


def test_codes_are_chosen(bundle: Path) -> None:
    (bundle / "weights" / "weight.bin").unlink()
    (bundle / ANALYTICS).unlink()
    assert checked(bundle).exit_code == 1
    assert said(bundle, "--ignore", "MIL264") == ["MIL262 warning analytics/coremldata.bin"]
    assert said(bundle, "--select", "MIL264") == ["MIL264 error weights/weight.bin"]
    result = checked(bundle, "--ignore", "MIL26")
    assert (result.exit_code, result.stderr) == (0, "nothing found in 1 program\n")
    assert "1 error, 1 warning in 1 program" in checked(bundle).stderr


def test_the_api_names_the_files(bundle: Path) -> None:
    replaced(bundle / METADATA, '"13.0"', '"12.0"')
    (found,) = miltext.check(open_model(bundle))
    assert found.message == 'metadata.json states "12.0" for `availability.macOS`, but it is "13.0"'
    assert found.span is None  # places are those of the program's text


def test_a_stage_is_reported_with_its_place(pipeline: Path) -> None:
    (pipeline / "model1" / ANALYTICS).write_bytes(b"")
    result = checked(pipeline)
    where = pipeline / "model1" / ANALYTICS
    assert f"{where}: warning[MIL262]" in result.stdout
    assert "1 warning in 2 programs" in result.stderr
    (first,) = json.loads(checked(pipeline, "--format", "json").stdout)["diagnostics"]
    assert (first["model"], first["path"]) == ("1", str(where))


@pytest.mark.parametrize("start", ["", "model1"], ids=["by its path", "inside of it"])
def test_a_stage_by_itself_is_one(start: str, pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pipeline / start)
    result = checked("." if start else "model1")
    assert (result.exit_code, result.stderr) == (0, "nothing found in 1 program\n")


# ---- --from


def test_from_names_the_source_of_the_compiled_model(bundle: Path, made: Path, tmp_path: Path) -> None:
    assert checked(bundle, "--from", EXAMPLE).exit_code == 0
    assert checked(bundle, "--from", model_file(EXAMPLE)).exit_code == 0
    renamed = tmp_path / "Other.mlmodel"
    shutil.copyfile(model_file(EXAMPLE), renamed)
    assert said(bundle, "--from", renamed) == ["MIL262 note analytics/coremldata.bin"]
    assert said(bundle, "--from", made / "P.mlpackage") == ["MIL262 warning analytics/coremldata.bin"]
    assert said(made / "P.mlmodelc", "--from", made / "P.mlpackage") == []


def test_from_must_name_a_model_that_can_be_compiled(bundle: Path, made: Path, tmp_path: Path) -> None:
    result = checked(bundle, "--from", made / "C.mlmodelc")
    assert (result.exit_code, "`miltext diff" in result.stderr) == (2, True)
    (tmp_path / "a.mil").write_text(miltext.to_text(unary("x", "y").mlProgram))
    result = checked(bundle, "--from", tmp_path / "a.mil")
    assert (result.exit_code, ".mlpackage or .mlmodel" in result.stderr) == (2, True)
    assert checked(tmp_path / "a.mil", "--from", made / "C.mlmodelc").exit_code == 0  # which may have its values
    assert checked(bundle, "--from", bundle / "weights").exit_code == 1
    assert checked(bundle, "--from", tmp_path / "absent").exit_code == 2


def test_from_is_of_one_compiled_model(bundle: Path, made: Path) -> None:
    result = checked(bundle, made / "C.mlmodelc", "--from", EXAMPLE)
    assert (result.exit_code, "one by one" in result.stderr) == (2, True)
    shutil.copytree(bundle, bundle.with_name("D.mlmodelc"))
    assert checked(bundle.parent, "--from", EXAMPLE).exit_code == 2
    assert checked(bundle, bundle, "--from", EXAMPLE).exit_code == 0


# ---- odd files


def linked(target: str) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        path.unlink()
        path.symlink_to(target or path.name)

    return change


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


ODD: dict[str, Callable[[Path], object]] = {
    "absent": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "a folder": made_a_folder,
    "a link to nowhere": linked("nowhere"),
    "a link to elsewhere": linked("/etc/hostname"),
    "a loop": linked(""),
    "a pointer": lambda path: path.write_bytes(LFS),
    "zeros": lambda path: path.write_bytes(bytes(100)),
    "large numbers": lambda path: path.write_bytes(b"\xff" * 100),
}


@pytest.mark.parametrize("name", [METADATA, ANALYTICS, DESCRIPTION, "weights/weight.bin"])
@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_an_odd_file_is_reported_at_its_name(change: Callable[[Path], object], name: str, bundle: Path) -> None:
    change(bundle / name)
    found = said(bundle)
    (here,) = [each for each in found if each.endswith(f" {name}")]
    assert ("note" in here) == (change is ODD["a pointer"] and not name.startswith("weights/"))
    others = {each.split()[-1] for each in found} - {name}
    assert others <= ({"model.mil:4", "."} if name == DESCRIPTION else {"."})
    text = checked(bundle).stdout
    assert "Errno" not in text
    assert text.count(str(bundle)) == text.count(f"{bundle}{os.sep}") + text.count(f"{bundle}:")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "line 1, column 1"),
        (b"{}", "not a list of one object"),
        (b"[]", "not a list of one object"),
        (b"[{}, {}]", "not a list of one object"),
        (b'["a"]', "not a list of one object"),
        (b"[{}]", "metadata.json lacks `availability`"),
        (b'[{"a": 1, "a": 2}]', "has the key `a` twice"),
        (b'[{"a": NaN}]', "`NaN` is not a number of JSON"),
        (b'[{"a": -Infinity}]', "`-Infinity` is not a number of JSON"),
        (b'[{"a": %s}]' % (b"9" * 5000), "a number of 5000 digits"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xff\xff\xff", "not Unicode"),
        (b"[{}", "line 1, column 4"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_json_that_cannot_be_read_gives_a_reason(data: bytes, reason: str, bundle: Path) -> None:
    (bundle / METADATA).write_bytes(data)
    result = checked(bundle)
    assert (result.exit_code, result.stdout.count("MIL261")) == (1, 1)
    assert reason in result.stdout


def test_other_spellings_of_json_are_read(bundle: Path) -> None:
    (model,) = json.loads((bundle / METADATA).read_bytes())
    for text in (
        json.dumps([model]).encode(),
        b"\xef\xbb\xbf" + json.dumps([model]).encode(),
        json.dumps([model], indent=4).replace("\n", "\r\n").encode(),
        json.dumps([model], ensure_ascii=False).encode("utf-16"),
    ):
        (bundle / METADATA).write_bytes(text)
        assert said(bundle) == []
    model["computePrecision"] = "Float7"
    (bundle / METADATA).write_bytes(b"\xef\xbb\xbf" + json.dumps([model], indent=4).replace("\n", "\r\n").encode())
    lines = (bundle / METADATA).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"computePrecision"' in text)
    assert said(bundle) == [f"MIL261 warning metadata.json:{line}"]


DIFFERENT: dict[str, tuple[dict[str, Any], str]] = {
    "a count": ({"mlProgramOperationTypeHistogram": {"Ios16.relu": 1.5}}, "relu"),
    "a truth value": ({"specificationVersion": True}, "states true for `specificationVersion`, but it is 7"),
    "a fraction": ({"specificationVersion": 7.0}, "states 7.0 for `specificationVersion`"),
    "null": ({"userDefinedMetadata": None}, "states null for `userDefinedMetadata`"),
    "entries without names": ({"inputSchema": [{}]}, "is not a list of objects with names"),
    "no list": ({"inputSchema": "x"}, "is not a list of objects with names"),
    "no object": ({"mlProgramOperationTypeHistogram": 3}, "is not an object"),
    "no text": ({"generatedClassName": 3}, "is not a text"),
    "a long value": ({"computePrecision": "x" * 5000}, "..."),
    "a long list": ({"inputSchema": ["x" * 5000]}, "..."),
    "a long name": ({"inputSchema": [{"name": "x" * 5000}]}, "..."),
    "a long key": ({"userDefinedMetadata": {"x" * 5000: ""}, "generatedClassName": ["x" * 5000]}, "..."),
}


@pytest.mark.parametrize(("changes", "message"), DIFFERENT.values(), ids=DIFFERENT)
def test_odd_values_in_json_are_reported(changes: dict[str, Any], message: str, bundle: Path) -> None:
    (model,) = json.loads((bundle / METADATA).read_bytes())
    (bundle / METADATA).write_text(json.dumps([{**model, **changes}]), encoding="utf-8")
    result = checked(bundle)
    assert (result.exit_code, message in result.stdout) == (1, True)
    assert max(map(len, result.stdout.splitlines())) < 400


def test_unknown_keys_are_not_reported(bundle: Path) -> None:
    (model,) = json.loads((bundle / METADATA).read_bytes())
    (bundle / METADATA).write_text(json.dumps([{**model, "classLabels": ["a"], "new": {}}]), encoding="utf-8")
    assert said(bundle) == []


def test_a_huge_file_is_not_read(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stated, "MOST", 200)
    result = checked(bundle)
    assert f"{bundle / ANALYTICS}: warning[MIL262]: analytics/coremldata.bin has 243 bytes" in result.stdout


def test_files_that_may_not_be_read_are_reported(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_bytes = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path.name == METADATA:
            raise PermissionError(13, "Permission denied", str(path))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    assert "warning[MIL261]: the file cannot be read: Permission denied\n" in checked(bundle).stdout


def test_a_link_to_a_compiled_model_is_checked(bundle: Path, tmp_path: Path) -> None:
    link = tmp_path / "Link.mlmodelc"
    link.symlink_to(bundle.name)
    assert said(link) == []
    (bundle / ANALYTICS).unlink()
    assert f"{link / ANALYTICS}: warning[MIL262]" in checked(link).stdout


def test_unknown_files_are_a_note(bundle: Path) -> None:
    for index in range(12):
        (bundle / f"note {index}.txt").write_text("mine")
    result = checked(bundle)
    assert (result.exit_code, said(bundle)) == (0, ["MIL267 note ."])
    assert f"{bundle}: note[MIL267]: this is not a known part of a compiled model: `note 0.txt`" in result.stdout
    assert "and 2 more" in result.stdout


def test_a_folder_like_a_models_hides_nothing(bundle: Path) -> None:
    (bundle / "model0").mkdir()
    (bundle / "model0" / "mine.txt").write_text("mine")
    replaced(bundle / METADATA, '"13.0"', '"12.0"')
    assert [each.partition(":")[0] for each in said(bundle)] == ["MIL261 warning metadata.json", "MIL267 note ."]


def test_a_program_that_cannot_be_read_hides_nothing_around_it(bundle: Path) -> None:
    (bundle / "model.mil").write_text("program(1.0) { func")
    (bundle / ANALYTICS).unlink()
    assert said(bundle)[0] == "MIL262 warning analytics/coremldata.bin"
    assert "MIL264" not in checked(bundle).stdout


TEXTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "absent": (Path.unlink, "MIL255"),
    "a folder": (made_a_folder, "MIL255"),
    "a link to nowhere": (linked("nowhere"), "MIL255"),
    "a link to elsewhere": (linked("/etc/hostname"), "MIL255"),
    "a loop": (linked(""), "MIL255"),
    "a pointer": (ODD["a pointer"], "MIL252"),
    "empty": (ODD["empty"], "MIL256"),
    "not UTF-8": (ODD["large numbers"], "MIL256"),
    "binary": (ODD["zeros"], "MIL256"),
}


@pytest.mark.parametrize(("change", "code"), TEXTS.values(), ids=TEXTS)
def test_a_text_that_cannot_be_read_hides_nothing_else(
    change: Callable[[Path], object], code: str, bundle: Path, pipeline: Path
) -> None:
    for folder, text in ((bundle, bundle / "model.mil"), (pipeline, pipeline / "model1" / "model.mil")):
        change(text)
        (text.parent / ANALYTICS).unlink()
        (folder / METADATA).unlink()
    replaced(pipeline / "model0" / "model.mil", "x = x", "x = gone")
    found = [
        *(f"MIL262 warning {bundle / ANALYTICS}", f"MIL261 warning {bundle / METADATA}"),
        *(f"{code} error {bundle / 'model.mil'}", f"MIL261 warning {pipeline / METADATA}"),
        *(f"MIL604 error {pipeline / 'model0' / 'model.mil'}", f"MIL262 warning {pipeline / 'model1' / ANALYTICS}"),
        f"{code} error {pipeline / 'model1' / 'model.mil'}",
    ]
    for paths in ([bundle, pipeline], [bundle.parent]):
        reported = json.loads(checked(*paths, "--format", "json").stdout)["diagnostics"]
        assert sorted(f"{each['code']} {each['severity']} {each['path']}" for each in reported) == sorted(found)
    assert f"{bundle / 'model.mil'}: error[{code}]" in checked(bundle, pipeline).stdout


# ---- pipelines


def swapped(pipeline: Path) -> None:
    (pipeline / "model0").rename(pipeline / "model")
    (pipeline / "model1").rename(pipeline / "model0")
    (pipeline / "model").rename(pipeline / "model1")


def copied(pipeline: Path, name: str) -> None:
    shutil.copytree(pipeline / "model1", pipeline / name)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


PIPELINES: dict[str, tuple[Callable[[Path], object], str]] = {
    "models that changed places": (swapped, "error[MIL457]: no model outputs `a`"),
    "one more": (
        lambda path: copied(path, "model2"),
        "coremldata.bin counts 2 models of the pipeline, but there is `model2`",
    ),
    "a gap": (lambda path: copied(path, "model3"), "`model3` is not one of the pipeline's models"),
    "one less": (
        lambda path: shutil.rmtree(path / "model1"),
        "coremldata.bin counts 2 models of the pipeline, but `model1` is not a folder there",
    ),
    "a cut description": (lambda path: cut(path / DESCRIPTION), "as what follows the description"),
    "cut names": (lambda path: cut(path / "modelNames" / DESCRIPTION), "MIL266"),
    "no metadata": (lambda path: (path / METADATA).unlink(), "metadata.json is missing"),
    "an inner cut": (lambda path: cut(path / "model1" / DESCRIPTION), "as what follows the description"),
}


@pytest.mark.parametrize(("change", "message"), PIPELINES.values(), ids=PIPELINES)
def test_pipelines_are_checked_as_a_whole(change: Callable[[Path], object], message: str, pipeline: Path) -> None:
    change(pipeline)
    result = checked(pipeline)
    assert (result.exit_code, message in result.stdout) == (1, True), result.stdout


def without(*names: str) -> Callable[[Path], None]:
    def change(pipeline: Path) -> None:
        for path in (pipeline / name for name in names):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return change


def linked_elsewhere(pipeline: Path) -> None:
    (pipeline / "model1").rename(pipeline.with_name("elsewhere"))
    (pipeline / "model1").symlink_to("../elsewhere")


def counting(number: int) -> Callable[[Path], None]:
    def change(pipeline: Path) -> None:
        data = (pipeline / DESCRIPTION).read_bytes()
        (pipeline / DESCRIPTION).write_bytes(data[:-16] + number.to_bytes(8, "little") + data[-8:])

    return change


COUNT = "MIL266 error coremldata.bin"

LACKING: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "the last": (without("model1"), [COUNT]),
    "the first": (without("model0"), ["MIL266 warning model1", "MIL255 error ."]),
    "all": (without("model0", "model1"), ["MIL255 error ."]),
    "a copy": (lambda path: copied(path, "model2"), [COUNT]),
    "a copy beyond a gap": (lambda path: copied(path, "model3"), ["MIL266 warning model3"]),
    "a copy of another number": (lambda path: copied(path, "model01"), ["MIL266 warning model01"]),
    "a link": (linked_elsewhere, [COUNT, "MIL266 warning model1"]),
    "a greater number": (counting(3), [COUNT]),
    "a smaller number": (counting(1), [COUNT]),
    "no models": (counting(0), [COUNT]),
    "a huge number": (counting((1 << 64) - 1), [COUNT]),
    "nothing known of one": (
        without("model1/model.mil", f"model1/{DESCRIPTION}"),
        ["MIL260 error model1/coremldata.bin"],
    ),
}


@pytest.mark.parametrize(("change", "told"), LACKING.values(), ids=LACKING)
def test_missing_models_are_reported_alone(change: Callable[[Path], object], told: list[str], pipeline: Path) -> None:
    change(pipeline)
    assert said(pipeline) == told
    assert checked(pipeline).exit_code == 1
    assert said(pipeline.parent) == [f"{each.rpartition(' ')[0]} {_below(each)}" for each in told]


def _below(told: str) -> str:
    return os.path.normpath(os.path.join("P.mlmodelc", told.rpartition(" ")[2]))


def test_a_pipeline_without_models_is_not_taken_for_another_kind(pipeline: Path) -> None:
    shutil.rmtree(pipeline / "model0")
    result = checked(pipeline)
    assert f"{pipeline}: error[MIL255]: the pipeline has no models: its folder has no folder `model0`" in result.stdout
    assert "convert" not in result.stdout


def test_analytics_with_more_or_twice(bundle: Path) -> None:
    data = (bundle / ANALYTICS).read_bytes()
    tables = parse_analytics(data, "it")
    (bundle / ANALYTICS).write_bytes(data + data)
    assert "unknown layout" in checked(bundle).stdout
    (bundle / ANALYTICS).write_bytes(analytics({**tables, "More": {}}))
    assert "has `More`, which the compiler does not write" in checked(bundle).stdout
