"""`no difference` names the facts about tools that it leaves out, only where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXAMPLE
from support.pipelines import of_text, piped, unary
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.schema.proto import Model

TEXT = "program(1.3){} {{ func main<ios18>(tensor<fp32, [2]> x) {{ tensor<fp32, [2]> y = relu(x = x); }} -> (y); }}"
SAID = "no difference (facts about tools differ, and are left out: `build_info=True`)\n"
SHOWN = SAID.replace("build_info=True", "--build-info")
KEY = "com.github.apple.coremltools.version"


def built(version: str | None) -> str:
    said = f'{{"coremltools-version", "{version}"}}'
    return TEXT.format("" if version is None else f"\n[buildInfo = dict<string, string>({{{said}}})]")


def described(version: str, spec: Model | None = None) -> Model:
    made = spec or unary("x", "y")
    made.description.metadata.userDefined[KEY] = version
    return made


def saved(path: Path, spec: Model) -> Path:
    path.write_bytes(spec.SerializeToString())
    return path


def told(*arguments: object) -> tuple[int, str]:
    result = RUNNER.invoke(command, ["diff", *map(str, arguments)])
    return result.exit_code, result.stdout


@pytest.mark.parametrize(
    ("old", "new", "differ"),
    [("8.0", "8.1", True), ("8.0", None, True), (None, "8.0", True), ("8.0", "8.0", False), (None, None, False)],
)
def test_another_build_info_is_named(old: str | None, new: str | None, differ: bool) -> None:
    found = miltext.diff(built(old), built(new))
    assert (found.same, found.to_text()) == (True, SAID if differ else "no difference\n")
    assert found.to_json() == miltext.diff(built(None), built(None)).to_json() | {"old": found.old, "new": found.new}
    programs = [miltext.parse(built(each)) for each in (old, new)]
    assert miltext.diff(programs[0], programs[1]).to_text() == found.to_text()


def test_another_version_in_the_metadata_is_named(tmp_path: Path) -> None:
    one, other = (saved(tmp_path / f"{each}.mlmodel", described(each)) for each in ("8", "9"))
    assert told(one, other) == (0, SHOWN)
    assert told(one, one) == (0, "no difference\n")
    status, shown = told(one, other, "--build-info")
    assert (status, KEY in shown) == (1, True)
    assert told(one, other, "-o", tmp_path / "d.txt")[0] == 0
    assert told(one, one, "-o", tmp_path / "d.txt")[0] == 0  # a difference is replaced by another one


def test_pipelines_of_other_tools_are_named(tmp_path: Path) -> None:
    def pipeline(version: str) -> Model:
        stages = (of_text(TEXT.format("").replace(" y ", " h ").replace("(y)", "(h)")), unary("h", "y"))
        return described(version, piped(*stages))

    one, other = (saved(tmp_path / f"{each}.mlmodel", pipeline(each)) for each in ("8", "9"))
    assert told(one, other) == (0, SHOWN)
    assert told(one, one) == (0, "no difference\n")


def test_only_other_differences_are_reported(tmp_path: Path) -> None:
    one, other = saved(tmp_path / "a.mlmodel", described("8")), saved(tmp_path / "b.mlmodel", described("9"))
    assert "--build-info" not in told(one, EXAMPLE)[1]
    assert told(one, other, "--breaking") == (0, "no breaking change\n")


def test_a_compiled_model_and_its_source_are_equal(tmp_path: Path) -> None:
    """The compiler adds its own version to each program."""
    one = saved(tmp_path / "a.mlmodel", unary("x", "y"))
    bundle = tmp_path / "a.mlmodelc"
    assert RUNNER.invoke(command, ["build", str(one), "-o", str(bundle)]).exit_code == 0
    assert told(one, bundle) == told(bundle, one) == (0, "no difference\n")
