"""All ML Programs of a pipeline in one call of `print` and `check`, each named by its place."""

from __future__ import annotations

import json
import os
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.containers import LFS, NEURAL_NETWORK, TEXT, pipeline, write, write_package, write_pipeline_bundle
from support.pipelines import piped, unary, write_compiled

import miltext
from miltext.cli import command
from miltext.cli.pipeline_texts import file_name
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.descriptions.program_descriptions import describe
from miltext.drafting.building import build
from miltext.models.model import Stage
from miltext.schema.proto import Model as Spec

STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
BROKEN = TEXT.replace("x = x", "x = z")


def run(*arguments: object, data: bytes | None = None) -> Result:
    result = CliRunner(**STREAMS).invoke(command, [str(each) for each in arguments], input=data)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def printed(*arguments: object, data: bytes | None = None) -> str:
    result = run("print", *arguments, data=data)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@cache
def canonical(text: str) -> str:
    return miltext.to_text(miltext.parse(text))


def a_program(text: str = TEXT) -> Spec:
    return Spec(specificationVersion=9, mlProgram=miltext.parse(text))


NETWORK = Spec.FromString(NEURAL_NETWORK)


def nested() -> Spec:
    inner = pipeline(a_program(BROKEN), NETWORK, names=("deep", "x"), field="pipelineClassifier")
    return pipeline(NETWORK, a_program(), inner, a_program(BROKEN), names=("prepare", "head", "more"))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write_package(tmp_path / "P.mlpackage", nested().SerializeToString())


EXPECTED = f"""// 0 "prepare": neuralNetwork
// 1 "head": mlProgram
{canonical(TEXT)}
// 2 "more": pipelineClassifier
// 2/0 "deep": mlProgram
{canonical(BROKEN)}
// 2/1 "x": neuralNetwork
// 3: mlProgram
{canonical(BROKEN)}"""


# ---- print


def test_each_program_follows_a_comment_that_names_it(package: Path) -> None:
    assert printed(package) == EXPECTED
    assert printed(package, "--model", 1) == canonical(TEXT)
    assert printed("-", data=nested().SerializeToString()) == EXPECTED


@pytest.mark.parametrize("option", ["--compact", "--annotate", "--verify-roundtrip", "--elide=4", "--draft"])
def test_forms_match_each_program(option: str, package: Path) -> None:
    parts = [run("print", package, option, "--model", place).stdout for place in ("1", "2/0", "3")]
    whole = run("print", package, option)
    assert whole.exit_code == 0
    texts = "\n".join(line for line in whole.stdout.splitlines() if not line.startswith("// "))
    assert texts.replace("\n\n", "\n") + "\n" == "".join(parts)


def test_texts_of_the_compiler_are_apart_too(package: Path) -> None:
    shown = run("print", package, "--as-coremlc").stdout
    assert shown.count("}\n\n// ") == 2
    assert shown.endswith("}") == run("print", package, "--as-coremlc", "--model", 3).stdout.endswith("}")


def test_a_finding_about_a_program_names_the_program(package: Path) -> None:
    shown = run("print", package, "--draft").stderr
    assert f'{package}, model 2/0 "deep": warning[MIL604]' in shown
    assert f"{package}, model 3: warning[MIL604]" in shown


def test_a_folder_gets_a_file_for_each(package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "texts"
    for _ in range(2):  # into a new folder, and into one with such texts
        done = run("print", package, "-o", folder)
        assert (done.exit_code, done.stdout) == (0, "")
        assert done.stderr.splitlines() == [
            '0 "prepare": neuralNetwork, without a text',
            f'1 "head": mlProgram, written to {folder / "1-head.mil"}',
            '2 "more": pipelineClassifier, without a text',
            f'2/0 "deep": mlProgram, written to {folder / "2.0-deep.mil"}',
            '2/1 "x": neuralNetwork, without a text',
            f"3: mlProgram, written to {folder / '3.mil'}",
        ]
        made = {path.name: path.read_text() for path in folder.iterdir()}
        assert made == {"1-head.mil": canonical(TEXT), "2.0-deep.mil": canonical(BROKEN), "3.mil": canonical(BROKEN)}
    pages = run("print", package, "--html", "-o", tmp_path / "pages")
    assert pages.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["1-head.html", "2.0-deep.html", "3.html"]


def test_a_file_does_not_get_several(package: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text(TEXT)
    for output in ("new.mil", "there", "page.html", "New.mlpackage"):
        refused = run("print", package, "-o", tmp_path / output)
        assert (refused.exit_code, "has 3 ML Programs" in refused.stderr) == (2, True), refused.stderr
        assert "error[MIL428]" in refused.stderr
        assert "--model" in refused.stderr
    assert (tmp_path / "there").read_text() == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["P.mlpackage", "there"]
    page = run("print", package, "--html")
    assert (page.exit_code, page.stdout, "error[MIL428]" in page.stderr) == (2, "", True)


def test_a_folder_that_cannot_be_written_gets_nothing(package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "3.mil").mkdir()
    assert run("print", package, "-o", folder).exit_code == 2
    assert [path.name for path in folder.iterdir()] == ["3.mil"]
    for inside in (package, package / "texts"):
        assert run("print", package, "-o", inside).exit_code == 2
    other = write_package(tmp_path / "model", nested().SerializeToString())
    refused = run("print", package, "-o", other)
    assert (refused.exit_code, "MIL402" in refused.stderr) == (2, True)


ODD_NAMES = {
    "": "1.mil",
    "a b/c": "1-a_b_c.mil",
    "..": "1-__.mil",
    "\u540d\n": "1-__.mil",
    "x" * 200: f"1-{'x' * 64}.mil",
}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_of_files_are_safe(name: str, tmp_path: Path) -> None:
    path = write_package(
        tmp_path / "P.mlpackage", pipeline(a_program(), a_program(), names=("a", name)).SerializeToString()
    )
    assert run("print", path, "-o", tmp_path / "texts").exit_code == 0
    assert sorted(os.listdir(tmp_path / "texts")) == ["0-a.mil", ODD_NAMES[name]]
    assert all(line.startswith(("// ", "program")) for line in printed(path).splitlines() if line[:1] not in " {}")


def test_stages_of_one_name_have_files_of_their_own() -> None:
    model = TextModel(TEXT.encode(), "m.mil", None)
    model.pipeline_name = "same"
    assert [file_name(Stage(place, model), "mil") for place in ("1/0", "10")] == ["1.0-same.mil", "10-same.mil"]


def test_an_unreadable_stage_is_reported_before_writing(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "C.mlmodelc")
    whole = run("print", folder)
    assert [line for line in whole.stdout.splitlines() if line.startswith("//")] == [
        '// 0 "prepare": neuralNetwork',
        '// 1 "net": mlProgram',
        "// 2: mlProgram",
    ]
    write(folder / "model2" / "model.mil", LFS)
    refused = run("print", folder)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "MIL252" in refused.stderr
    assert run("print", folder, "-o", tmp_path / "texts").exit_code == 1
    assert not (tmp_path / "texts").exists()
    assert run("print", folder, "--model", 1).exit_code == 0


def test_a_pipeline_without_programs_has_no_text(tmp_path: Path) -> None:
    inner = pipeline(NETWORK, names=("deep",))
    for data, saying in (
        (pipeline(NETWORK, inner, names=("a", "b")), "none of the models in this pipeline is an ML Program"),
        (Spec.FromString(b"\x08\x09\xd2\x0c\x00"), "of the kind `pipeline`"),
    ):
        path = write(tmp_path / "p.mlmodel", data.SerializeToString())
        for verb in ("print", "check", "sidecar"):
            result = run(verb, path)
            assert (result.exit_code, "MIL254" in result.stdout + result.stderr) == (1, True)
            assert saying in result.stdout + result.stderr
        assert run("info", path).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.mlmodel"]


# ---- check


def test_findings_are_reported_under_the_place_of_their_program(package: Path) -> None:
    result = run("check", "--ignore", "MIL265", package)
    assert result.exit_code == 1
    heads = [line for line in result.stdout.splitlines() if "error[" in line]
    assert heads == [
        f'{package}, model 2/0 "deep":4:47: error[MIL604]: `z` is not defined',
        f"{package}, model 3:4:47: error[MIL604]: `z` is not defined",
    ]
    assert result.stderr == "2 errors in 3 programs\n"


def test_a_pipeline_beside_another_kind_of_pipeline_is_checked(tmp_path: Path) -> None:
    data = pipeline(a_program(), pipeline(NETWORK)).SerializeToString()
    result = run("check", write(tmp_path / "p.mlmodel", data))
    assert (result.exit_code, result.stderr) == (0, "nothing found in 1 program\n")


def test_reports_for_machines_have_the_place(package: Path) -> None:
    found = json.loads(run("check", "--ignore", "MIL265", "--format", "json", package).stdout)["diagnostics"]
    assert [(each["path"], each["model"], each["start"]["line"]) for each in found] == [
        (str(package), "2/0", 4),
        (str(package), "3", 4),
    ]
    (log,) = json.loads(run("check", "--ignore", "MIL265", "--format", "sarif", package).stdout)["runs"]
    places = [each["locations"][0]["logicalLocations"][0] for each in log["results"]]
    assert places == [
        {"fullyQualifiedName": "2/0", "name": '2/0 "deep"', "kind": "module"},
        {"fullyQualifiedName": "3", "name": "3", "kind": "module"},
    ]
    lines = run("check", "--ignore", "MIL265", "--format", "github", package).stdout.splitlines()
    assert [f"file={package.as_posix()},line=4" in line for line in lines] == [True, True]
    assert 'title=MIL604 in model 2/0 "deep"::' in lines[0]


def test_a_compiled_stage_is_reported_by_its_own_file(tmp_path: Path) -> None:
    folder = write_pipeline_bundle(tmp_path / "C.mlmodelc")
    (folder / "model1" / "model.mil").write_text(BROKEN)
    (folder / "model2" / "model.mil").write_bytes(LFS)
    ignoring = ("--ignore", "MIL26")  # what the made-up folders lack
    result = run("check", *ignoring, folder)
    assert f"{folder / 'model1' / 'model.mil'}:4:47: error[MIL604]" in result.stdout
    assert "error[MIL252]" in result.stdout
    found = json.loads(run("check", *ignoring, "--format", "json", folder).stdout)["diagnostics"]
    assert [(each["model"], each["code"]) for each in found] == [("1", "MIL604"), ("2", "MIL252")]


# ---- pipelines that coremltools makes


@pytest.mark.parametrize("count", [2, 3])
def test_pipelines_of_coremltools(count: int, tmp_path: Path) -> None:
    ct = pytest.importorskip("coremltools")
    steps = ("relu", "tanh", "sigmoid")[:count]
    models = []
    for index, step in enumerate(steps):
        text = TEXT.replace("fp16", "fp32").replace("relu", step)
        text = text.replace("x)", f"v{index})").replace("> x", f"> v{index}").replace("y", f"v{index + 1}")
        path = tmp_path / f"{step}.mlpackage"
        assert build(TextModel(text.encode(), "m.mil", None), path) == []
        models.append(ct.models.MLModel(str(path), skip_model_load=True))
    made = tmp_path / "P.mlpackage"
    ct.utils.make_pipeline(*models).save(str(made))
    shown = printed(made)
    assert [f"= {step}(" in shown for step in steps] == [True] * count
    places = [line for line in shown.splitlines() if line.startswith("// ")]
    assert places == [f"// {stage.title}: mlProgram" for stage in open_model(made).stages()]
    assert run("print", made, "-o", tmp_path / "texts").exit_code == 0
    assert len(os.listdir(tmp_path / "texts")) == count
    assert run("check", made).stderr == f"nothing found in {count} programs\n"
    for index, name in enumerate(sorted(os.listdir(tmp_path / "texts"))):
        source = tmp_path / "texts" / name
        done = run("build", source, "--from", made, "--model", index, "-o", tmp_path / f"{index}.mlpackage")
        assert (done.exit_code, done.stderr) == (0, "")
        assert open_model(tmp_path / f"{index}.mlpackage").spec == open_model(made).spec


def test_the_text_of_an_only_program_is_written_to_a_file(tmp_path: Path) -> None:
    path = write_package(tmp_path / "Q.mlpackage", pipeline(NETWORK, a_program(), NETWORK).SerializeToString())
    for name, begins in (("only.mil", canonical(TEXT)), ("only.html", "<!DOCTYPE html>"), ("old", canonical(TEXT))):
        out = tmp_path / name
        if name == "old":
            out.write_text("program(1.3)\n{\n}\n")
        html = ["--html"] if name.endswith("html") else []
        assert printed(path, "-o", out, *html) == ""
        assert out.read_text().startswith(begins)
    assert printed(path, "--html").startswith("<!DOCTYPE html>")
    assert printed(path).startswith("// 0: neuralNetwork\n// 1: mlProgram\n")
    run("print", path, "-o", tmp_path / "texts")
    assert [each.name for each in (tmp_path / "texts").iterdir()] == ["1.mil"]


# ---- and back


def only_program_in(place: str) -> Spec:
    """A pipeline with an only ML Program: beside others, alone, or in a pipeline inside."""
    program = described()
    if place == "beside others":
        return pipeline(NETWORK, program, NETWORK, names=("a", "b", "c"))
    return pipeline(program) if place == "alone" else pipeline(NETWORK, pipeline(program, NETWORK))


def described() -> Spec:
    made = a_program()
    made.description.CopyFrom(describe(made.mlProgram, None))
    return made


PLACES = ["beside others", "alone", "inside"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", [[], ["--draft"]], ids=["text", "draft"])
def test_build_takes_the_only_program_that_print_takes(way: list[str], place: str, tmp_path: Path) -> None:
    package, text = tmp_path / "P.mlpackage", tmp_path / "x.mil"
    write_package(package, only_program_in(place).SerializeToString())
    assert run("print", package, *way, "-o", text).exit_code == 0
    text.write_text(text.read_text(encoding="utf-8").replace("relu", "tanh"), encoding="utf-8")
    chosen = ["--model", open_model(package).programs()[0].place]
    for words, name in (([], "A.mlpackage"), (chosen, "B.mlpackage")):
        made = run("build", text, "--from", package, "-o", tmp_path / name, *words)
        assert made.exit_code == 0, made.stderr
    found = [open_model(tmp_path / name).spec for name in ("A.mlpackage", "B.mlpackage")]
    wanted = only_program_in(place)
    wanted.ParseFromString(wanted.SerializeToString().replace(b"relu", b"tanh"))
    assert found == [wanted, wanted]


def test_build_takes_the_only_program_of_a_compiled_pipeline(tmp_path: Path) -> None:
    bundle, text = write_compiled(tmp_path / "P.mlmodelc", piped(unary("x", "y"))), tmp_path / "x.mil"
    assert run("print", bundle, "-o", text).exit_code == 0
    text.write_text(text.read_text(encoding="utf-8").replace("tanh", "sigmoid"), encoding="utf-8")
    made = run("build", text, "--from", bundle, "-o", tmp_path / "N.mlpackage")
    assert made.exit_code == 0, made.stderr
    (stage,) = open_model(tmp_path / "N.mlpackage").programs()
    assert stage.model.program.functions["main"] == miltext.parse(text.read_text(encoding="utf-8")).functions["main"]


def test_build_requests_a_choice_in_a_compiled_pipeline(tmp_path: Path) -> None:
    write_pipeline_bundle(tmp_path / "P.mlmodelc")
    (tmp_path / "x.mil").write_text(TEXT)
    made = run("build", tmp_path / "x.mil", "--from", tmp_path / "P.mlmodelc", "-o", tmp_path / "N.mlpackage")
    assert "MIL257" in made.stderr


def test_build_requests_a_choice_of_several_programs(package: Path, tmp_path: Path) -> None:
    (tmp_path / "x.mil").write_text(TEXT)
    made = run("build", tmp_path / "x.mil", "--from", package, "-o", tmp_path / "N.mlpackage")
    assert (made.exit_code, "MIL257" in made.stderr) == (1, True)


def test_build_takes_no_program_where_there_is_none(tmp_path: Path) -> None:
    write_package(tmp_path / "P.mlpackage", pipeline(NETWORK).SerializeToString())
    (tmp_path / "x.mil").write_text(TEXT)
    made = run("build", tmp_path / "x.mil", "--from", tmp_path / "P.mlpackage", "-o", tmp_path / "N.mlpackage")
    assert (made.exit_code, "MIL257" in made.stderr) == (1, True)
