"""`miltext check --advisories` and `miltext.check(..., advisories=...)`, on texts, drafts and models of all kinds."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import Result
from conftest import CORPUS, ROOT, corpus_files
from support.mutations import MUTATIONS
from support.running import RUNNER

import miltext
from miltext.advisories.table import advisories, table_file
from miltext.cli import command
from miltext.schema.proto import Program

DRAFT = """\
program(1.3)
{
    func main<ios17>(tensor<fp16, [2, 4]> x) {
            y = softplus(x);
            z = floor_div(y, 1.0);
        } -> (z);
}
"""
TEXT = miltext.infer_draft(DRAFT)
ONE_DEVICE = DRAFT.replace("floor_div(y, 1.0)", "mod(y, 3.0)")


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, ["check", *map(str, arguments)])


def told(source: miltext.Source, choice: str = "all") -> list[str]:
    return [each.code for each in miltext.check(source, advisories=choice) if each.code.startswith("MIL88")]


# ---- in Python


def test_nothing_is_reported_unasked() -> None:
    assert [each.code for each in miltext.check(TEXT)] == []
    assert [each.code for each in miltext.check(DRAFT)] == ["MIL712"]


@pytest.mark.parametrize("text", [TEXT, DRAFT], ids=["text", "draft"])
def test_a_finding_has_a_place_a_source_and_a_rule(text: str) -> None:
    [softplus, division] = [each for each in miltext.check(text, advisories="usual") if each.code != "MIL712"]
    assert (softplus.severity, softplus.code) == ("warning", "MIL881")
    assert softplus.span is not None
    assert text[slice(*softplus.span)] == "softplus"
    assert softplus.message.startswith("`softplus` in fp16 drops to 0")
    [evidence, way] = [each.message for each in softplus.notes]
    assert "M3 Max and M4" in evidence
    assert "https://github.com/apple/coremltools/issues/2687" in evidence
    assert "`miltext rewrite softplus`" in way
    assert (division.severity, division.code) == ("note", "MIL884")


def test_a_program_and_a_model_are_advised_like_their_text(tmp_path: Path) -> None:
    program = miltext.parse(TEXT)
    package = tmp_path / "Model.mlpackage"
    miltext.build(TEXT, package)
    assert told(program) == told(miltext.load(package)) == told(package) == ["MIL881", "MIL884"]


def test_faults_of_one_device_are_reported_on_request() -> None:
    assert told(ONE_DEVICE, "usual") == ["MIL881"]
    assert told(ONE_DEVICE, "all") == ["MIL881", "MIL881"]


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="'usual' or 'all', not 'some'"):
        miltext.check(TEXT, advisories="some")
    with pytest.raises(TypeError):
        miltext.check(TEXT, advisories=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [TEXT, DRAFT], ids=["text", "draft"])
def test_a_comment_ignores_a_finding(text: str) -> None:
    lines = text.splitlines(keepends=True)
    at = next(index for index, line in enumerate(lines) if "softplus" in line)
    lines[at] = lines[at].rstrip("\n") + " // mil: ignore[MIL881] small numbers\n"
    ignoring = "".join(lines)
    assert told(ignoring) == ["MIL884"]
    assert {each.code for each in miltext.check(ignoring)} <= {"MIL712"}  # without advisories, it is no useless comment


def test_inner_blocks_and_functions_are_advised() -> None:
    nested = """\
program(1.3)
{
    func main<ios17>(tensor<fp16, [2, 4]> x, tensor<bool, []> c) {
            y = cond(c)
                () {
                    a = softplus(x);
                } -> (a)
                () {
                    b = relu(x);
                } -> (b);
        } -> (y);
}
"""
    assert told(nested) == told(miltext.infer_draft(nested)) == ["MIL881"]
    both = TEXT.rstrip().rstrip("}") + TEXT.split("{\n", 1)[1].replace("main", "other")
    assert told(both) == ["MIL881", "MIL884"] * 2


def test_constants_in_weight_files_are_read(tmp_path: Path) -> None:
    draft = (
        'program(1.3)\n{\n    func main<ios17>(tensor<fp16, [2, 4096]> x) {\n            y = mul(x, $npy("w.npy"));\n'
        "        } -> (y);\n}\n"
    )
    numbers = np.zeros((1, 4096), np.float16)
    finite, infinite = tmp_path / "Finite.mlpackage", tmp_path / "Infinite.mlpackage"
    path = tmp_path / "model.mil"
    path.write_text(draft, encoding="utf-8")
    np.save(tmp_path / "w.npy", numbers)
    miltext.build(path, finite)
    numbers[0, 7] = -np.inf
    np.save(tmp_path / "w.npy", numbers)
    miltext.build(path, infinite)
    assert "@model_path" in miltext.to_text(miltext.load(infinite))
    assert told(finite) == []
    assert told(infinite) == ["MIL882"]


def test_unreadable_weights_are_not_a_finding() -> None:
    text = """\
program(1.3)
{
    func main<ios17>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> c = const()[name = string("c"), val = tensor<fp16, [2]>(
                BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp16, [2]> y = mul(x = x, y = c)[name = string("y")];
        } -> (y);
}
"""
    assert told(text) == []


def test_a_broken_text_has_its_advisories_beside_its_errors() -> None:
    found = miltext.check(TEXT.replace("floor_div(", "floor_dvi("), advisories="all")
    assert {"MIL501", "MIL881"} <= {each.code for each in found}
    for text in ("", "program(1.3)\n{\n}\n", "program(1.3)", TEXT[:80]):
        assert miltext.check(text, path="a.mil", advisories="all") == miltext.check(text, path="a.mil")


def test_broken_programs_do_not_stop_it() -> None:
    """Undefined names, missing arguments and types, doubled names, wrong blocks."""
    random, checked = Random(3), 0
    programs = [miltext.load(ROOT / "examples" / "Classifier.mlpackage").program]
    for rule in table_file().rules:
        draft = table_file().alone(rule.examples[0])
        programs.append(miltext.parse(miltext.infer_draft(draft)))
    for program in programs:
        for mutate in MUTATIONS.values():
            broken = Program()
            broken.CopyFrom(program)
            if mutate(random, broken) is not None:
                miltext.check(broken, advisories="all")
                checked += 1
    assert checked > 300


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil"))
def test_the_corpus_has_no_usual_faults(path: Path) -> None:
    assert told(path, "usual") == []


# ---- the command


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mil"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_command_reports_on_request(model: Path) -> None:
    assert (run(model).exit_code, run(model).stdout) == (0, "")
    ended = run("--advisories", model)
    assert ended.exit_code == 1
    assert "warning[MIL881]: `softplus` in fp16" in ended.stdout
    assert "note: advisory `softplus_fp16`" in ended.stdout
    assert "note[MIL884]" in ended.stdout


def test_a_fault_of_conversion_alone_does_not_fail(model: Path) -> None:
    ended = run("--advisories", "--ignore", "MIL881", model)
    assert (ended.exit_code, "MIL884" in ended.stdout, "MIL881" in ended.stdout) == (0, True, False)
    assert run("--advisories", "--select", "MIL882", model).stdout == ""


def test_machines_read_it(model: Path) -> None:
    found = json.loads(run("--advisories", "--json", model).stdout)
    assert [each["code"] for each in found["diagnostics"]] == ["MIL881", "MIL884"]
    assert "issues/2687" in found["diagnostics"][0]["notes"][0]["message"]
    log = json.loads(run("--advisories", "--format", "sarif", model).stdout)
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == ["MIL881", "MIL884"]
    assert "::warning" in run("--advisories", "--format", "github", model).stdout


def test_a_project_turns_them_on(model: Path) -> None:
    settings = model.with_name("pyproject.toml")
    settings.write_text('[tool.miltext]\nadvisories = "usual"\n', encoding="utf-8")
    assert "MIL881" in run(model).stdout
    assert run("--no-advisories", model).stdout == ""
    assert run("--isolated", model).stdout == ""
    model.write_text(miltext.infer_draft(ONE_DEVICE), encoding="utf-8")
    assert run(model).stdout.count("MIL881") == 1
    assert run("--all-advisories", model).stdout.count("MIL881") == 2


def test_a_wrong_setting_is_refused(model: Path) -> None:
    model.with_name("pyproject.toml").write_text("[tool.miltext]\nadvisories = true\n", encoding="utf-8")
    ended = run(model)
    assert ended.exit_code == 2
    assert '`advisories` takes `"off"`, `"usual"` or `"all"`' in ended.stderr


def test_fixes_go_on_beside_them(model: Path) -> None:
    model.write_text(TEXT.replace(";\n", "\n", 1), encoding="utf-8")
    ended = run("--advisories", "--fix", model)
    assert ended.exit_code == 1
    assert model.read_text(encoding="utf-8") == TEXT
    assert "MIL881" in ended.stdout


def test_the_list(model: Path) -> None:
    text = run("--list").stdout
    assert [each.name for each in advisories() if f"{each.name} (" not in text] == []
    listed = json.loads(run("--advisories", "--list", "--json").stdout)["advisories"]
    assert [each["name"] for each in listed] == [each.name for each in advisories("usual")]
    assert listed[0]["sources"][0].startswith("https://")
    assert run("--list", model).exit_code == 2
    assert run("--list", "--format", "sarif").exit_code == 2


def test_models_of_a_pipeline_are_advised() -> None:
    pipeline = CORPUS / "pipelines" / "yolov8n-nms.mlpackage"
    if not pipeline.exists():
        pytest.skip("needs the corpus")
    assert miltext.check(pipeline, advisories="usual") == miltext.check(pipeline)
