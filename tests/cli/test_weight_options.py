"""`--weights`, `--weights-as` and `--prune-weights`, as a user meets them."""

from __future__ import annotations

import os
import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.containers import pipeline, spec, write_package
from support.weighted import (
    DATA,
    WEIGHT,
    build,
    function_of,
    held_weights,
    numbers,
    program_of,
    text_model,
    write_weights,
)

import miltext
from miltext.cli import command

STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [str(each) for each in arguments])


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stderr or result.stdout


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with A.mlpackage, which has the weights 1 and 2, and B.mlpackage with 2 and 3."""
    for name, values in (("a", (1, 2)), ("b", (2, 3))):
        offsets = write_weights(tmp_path / name / WEIGHT, [numbers(each) for each in values])
        text = program_of(function_of({f"w{index}": (WEIGHT, offset) for index, offset in enumerate(offsets)}, name))
        build(text_model(text, tmp_path / name), tmp_path / f"{name.upper()}.mlpackage")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def merged(*options: str) -> None:
    """both.mil, of which B's functions name another weight file."""
    done("print", "A.mlpackage", "-o", "a.mil")
    done("print", "B.mlpackage", *options, "-o", "b.mil")
    a, b = (Path(name).read_text() for name in ("a.mil", "b.mil"))
    Path("both.mil").write_text(a[: a.rindex("}")] + b[b.index("    func") :])


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("b.bin", "b.bin=B.mlpackage"),
        ("b.bin", f"weights/b.bin=B.mlpackage/{DATA}/{WEIGHT}"),
        ("weight.bin=b.bin", "b.bin=B.mlpackage"),
        ("weights/weight.bin=weights/b.bin", "b.bin=b/weights"),
        ("@model_path/weights/weight.bin=@model_path/more/b.bin", "more/b.bin=B.mlpackage"),
    ],
)
def test_two_packages_become_one(name: str, given: str, packages: Path) -> None:
    merged("--weights-as", name)
    shown = done("build", "both.mil", "--from", "A.mlpackage", "--weights", given, "-o", "AB.mlpackage")
    assert [line[:10] for line in shown.splitlines()] == ["+ function", "+ input x ", "+ output w"]
    assert [each[0] for each in held_weights(packages / "AB.mlpackage").values()] == [1, 2, 2, 3]
    arguments = ["build", "AB.mlpackage", "--prune-weights", "-o", "Small.mlpackage"]
    assert done(*arguments).startswith("AB.mlpackage: note[MIL312]: 192 of 800 bytes of weights were removed")
    assert [each[0] for each in held_weights(packages / "Small.mlpackage").values()] == [1, 2, 2, 3]


def test_without_another_name_the_way_out_is_reported(packages: Path) -> None:
    merged()
    result = run("build", "both.mil", "--from", "A.mlpackage", "--weights", "B.mlpackage", "-o", "AB.mlpackage")
    assert result.exit_code == 1
    for saying in ("both.mil:4:", "error[MIL310]", "--weights-as NAME", "--weights NAME=FILE"):
        assert saying in result.stderr
    assert not os.path.exists("AB.mlpackage")


def test_folders_and_names(packages: Path) -> None:
    """A folder may have a `=` in its name; several options are several places."""
    merged("--weights-as", "b.bin")
    os.mkdir("b.bin=x")
    os.link(packages / "b" / WEIGHT, "b.bin=x/b.bin")
    done("build", "both.mil", "--weights", "b.bin=x", "--weights", "A.mlpackage", "-o", "AB.mlpackage")
    assert [each[0] for each in held_weights(packages / "AB.mlpackage").values()] == [1, 2, 2, 3]
    for word, status, saying in (
        ("gone", 2, "not found: gone"),
        ("", 2, "empty"),
        ("b.bin=gone", 1, "MIL302"),
        ("c.bin=B.mlpackage", 1, "MIL311"),
        ("b.bin=", 1, "MIL3"),
    ):
        result = run("build", "both.mil", "--from", "A.mlpackage", "--weights", word, "-o", "C.mlpackage")
        assert (result.exit_code, saying in result.stderr) == (status, True), result.stderr
        assert "Traceback" not in result.stderr
        assert not os.path.exists("C.mlpackage")


@pytest.mark.parametrize("option", [[], ["--draft"], ["--dialect", "1.0"], ["--verify-roundtrip"], ["--elide", "3"]])
def test_text_with_another_name(option: list[str], packages: Path) -> None:
    said = done("print", "A.mlpackage", *option, "--weights-as", "b.bin")
    assert said.count('weights/b.bin"') == 2
    assert "weight.bin" not in said
    assert said.replace("b.bin", "weight.bin") == done("print", "A.mlpackage", *option)


def test_names_that_cannot_be_had(packages: Path) -> None:
    names = {"v": ("weights/v.bin", 64), "w": (WEIGHT, 64)}
    Path("two.mil").write_text(program_of(function_of(names)))
    Path("none.mil").write_text(program_of(function_of({})))
    for text, words, saying in (
        ("two.mil", ["b.bin"], "OLD=NEW"),
        ("two.mil", ["x.bin=b.bin"], "  weights/v.bin\n  weights/weight.bin"),
        ("two.mil", ["v.bin=weight.bin"], "two weight files 'weights/weight.bin'"),
        ("two.mil", ["v.bin=b.bin", "v.bin=c.bin"], "two names"),
        ("none.mil", ["b.bin"], "there are: none"),
        ("a/m.mil", ["../b.bin"], "leads outside"),
        ("a/m.mil", [""], "does not start"),
        ("a/m.mil", [".."], "does not start"),
        ("a/m.mil", ["C:b"], "drive letter"),
        ("a/m.mil", ["/b.bin"], "absolute"),
    ):
        result = run("print", text, *[part for word in words for part in ("--weights-as", word)])
        assert (result.exit_code, saying in result.stderr) == (2, True), result.output
    swapped = done("print", "two.mil", "--weights-as", "v.bin=weight.bin", "--weights-as", "weight.bin=v.bin")
    assert swapped.index("weight.bin") < swapped.index("v.bin")
    for option in ("--annotate", "--as-coremlc", "--compact", "--html"):
        assert run("print", "a/m.mil", "--weights-as", "b.bin", option).exit_code == 2


def test_the_values_of_weights_may_go_into_the_text_first(packages: Path) -> None:
    result = run("print", "A.mlpackage", "--inline-weights", "--weights-as", "b.bin")
    assert (result.exit_code, "there are: none" in result.stderr) == (2, True)


def pipeline_of(*names: str) -> Path:
    """A pipeline of programs, each of which names one of these weight files."""
    models = [spec() for _ in names]
    for model, name in zip(models, names, strict=True):
        model.mlProgram.CopyFrom(miltext.parse(program_of(function_of({"w": (f"weights/{name}", 64)}))))
    return write_package(Path("P.mlpackage"), pipeline(*models).SerializeToString())


@pytest.mark.parametrize("files", [True, False], ids=["files", "a stream"])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["0.bin=a.bin"], ["a.bin", "1.bin"]),
        (["1.bin=a.bin"], ["0.bin", "a.bin"]),
        (["0.bin=1.bin", "1.bin=0.bin"], ["1.bin", "0.bin"]),
        (["a.bin"], None),
        (["0.bin=1.bin"], None),
        (["2.bin=a.bin"], None),
    ],
)
def test_names_in_a_pipeline_match_all_programs(
    words: list[str], expected: list[str] | None, files: bool, packages: Path
) -> None:
    source = pipeline_of("0.bin", "1.bin")
    asked = [part for word in words for part in ("--weights-as", word)]
    result = run("print", source, *asked, *(["-o", "texts"] if files else []))
    assert result.exit_code == (0 if expected else 2), result.stderr
    if not expected:
        assert (result.stdout, os.path.exists("texts")) == ("", False)
        return
    text = "".join(each.read_text() for each in sorted(Path("texts").iterdir())) if files else result.stdout
    assert re.findall(r"weights/(.*)\"", text) == expected


def test_programs_that_share_a_file_may_share_its_name(packages: Path) -> None:
    source = pipeline_of("0.bin", "0.bin")
    assert re.findall(r"weights/(.*)\"", run("print", source, "--weights-as", "a.bin").stdout) == ["a.bin", "a.bin"]
    assert run("print", source, "--model", "1", "--weights-as", "a.bin").stdout.count("a.bin") == 1


def test_an_omitted_part_is_reported(packages: Path) -> None:
    text = miltext.to_text(miltext.load("A.mlpackage").program)
    lines = [line for line in text.splitlines() if " w1 = " not in line and " w1_sum = " not in line]
    Path("cut.mil").write_text("\n".join(lines).replace("-> (w1_sum)", "-> (w0_sum)"))
    said = done("build", "cut.mil", "--from", "A.mlpackage", "--prune-weights", "-o", "B.mlpackage", "--force")
    assert "cut.mil: note[MIL312]: 192 of 400 bytes of weights were removed: nothing uses them\n" in said
    shown = done("info", "B.mlpackage")
    assert "weight.bin: 1 record, 208 bytes\n" in shown
