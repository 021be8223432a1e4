"""`miltext check --fix` of packages and .mlmodels: the description follows the program, or names follow it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from conftest import EXAMPLE
from support.containers import write_package
from support.pipelines import piped, unary
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.models.manifest import model_file
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, Model, ModelDescription


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A whole package with weights, an image-sized input and descriptions."""
    made = tmp_path / "M.mlpackage"
    miltext.build(open_model(EXAMPLE), made)
    return made


def run(*arguments: object) -> Result:
    result = RUNNER.invoke(command, ["check", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def spec_of(package: Path) -> Model:
    return Model.FromString(model_file(package).read_bytes())


def edit(package: Path, change: Callable[[Model], object]) -> bytes:
    spec = spec_of(package)
    change(spec)
    data = spec.SerializeToString()
    model_file(package).write_bytes(data)
    return data


def others(package: Path) -> dict[str, tuple[bytes, int]]:
    """The bytes and times of all files but the model's."""
    files = (path for path in package.rglob("*") if path.is_file() and path != model_file(package))
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def first(spec: Model, side: str = "input") -> FeatureDescription:
    entry: FeatureDescription = getattr(spec.description, side)[0]
    return entry


def ghost(spec: Model) -> None:
    made = spec.description.input.add(name="ghost")
    made.type.multiArrayType.dataType = ArrayFeatureType.FLOAT32
    made.type.multiArrayType.shape.append(2)


def described_ghost(spec: Model) -> None:
    ghost(spec)
    spec.description.input[-1].shortDescription = "keep me"


def state(spec: Model) -> None:
    made = spec.description.state.add(name="cache")
    made.type.stateType.arrayType.shape.append(1)
    made.type.stateType.arrayType.dataType = ArrayFeatureType.FLOAT16


def size(spec: Model) -> None:
    first(spec, "output").type.multiArrayType.shape[:] = [99]


def element(spec: Model) -> None:
    first(spec, "output").type.multiArrayType.dataType = ArrayFeatureType.INT32


CERTAIN: dict[str, Callable[[Model], object]] = {
    "an input with another name": lambda spec: setattr(first(spec), "name", "picture"),
    "an output with another name": lambda spec: setattr(first(spec, "output"), "name", "label"),
    "no inputs": lambda spec: spec.description.ClearField("input"),
    "no outputs": lambda spec: spec.description.ClearField("output"),
    "nothing described": lambda spec: spec.description.CopyFrom(ModelDescription(metadata=spec.description.metadata)),
    "an input that does not exist": ghost,
    "one input twice": lambda spec: spec.description.input.add().CopyFrom(first(spec)),
    "an input without a type": lambda spec: first(spec).type.Clear(),
    "an output of another size": size,
    "an output of another data type": element,
    "a state that does not exist": state,
    "a version too old": lambda spec: setattr(spec, "specificationVersion", 5),
}


@pytest.mark.parametrize("change", CERTAIN.values(), ids=CERTAIN)
def test_the_description_follows_the_program(change: Callable[[Model], object], package: Path) -> None:
    whole = spec_of(package)
    edit(package, change)
    before = others(package)
    found = run(package)
    assert (found.exit_code, "fixable with --fix" in found.stderr) == (1, True)
    fixed = run("--fix", package)
    assert (fixed.exit_code, fixed.stdout) == (0, "")
    assert " fixed, 0 left in 1 program" in fixed.stderr
    assert others(package) == before
    made = spec_of(package)
    assert made.mlProgram == whole.mlProgram
    assert made.description.metadata == whole.description.metadata
    assert made.specificationVersion == whole.specificationVersion
    assert run(package).exit_code == 0
    data = model_file(package).read_bytes()
    assert run("--fix", package).exit_code == 0
    assert model_file(package).read_bytes() == data


def test_a_renamed_entry_keeps_its_texts(package: Path) -> None:
    def change(spec: Model) -> None:
        first(spec).name, first(spec).shortDescription = "picture", "a picture"

    name = first(spec_of(package)).name
    edit(package, change)
    assert run("--fix", package).exit_code == 0
    entry = first(spec_of(package))
    assert (entry.name, entry.shortDescription) == (name, "a picture")


def two(spec: Model) -> None:
    """Two entries that could be the input."""
    ghost(spec)
    first(spec).name = "picture"
    first(spec).shortDescription = "a picture"


UNCERTAIN: dict[str, Callable[[Model], object]] = {
    "a text is lost": described_ghost,
    "two names": two,
    "a prediction": lambda spec: setattr(spec.description, "predictedFeatureName", "nothing"),
}


@pytest.mark.parametrize("change", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_fix_that_loses_facts_is_not_certain(change: Callable[[Model], object], package: Path) -> None:
    data = edit(package, change)
    left = run("--fix", package)
    assert left.exit_code == 1
    assert "not fixed: " in left.stderr
    assert "--unsafe-fixes" in left.stderr.splitlines()[-1]
    assert model_file(package).read_bytes() == data
    fixed = run("--fix", "--unsafe-fixes", package)
    assert fixed.exit_code == 0
    assert "was removed" in fixed.stderr
    assert run(package).exit_code == 0


def test_a_difference_is_shown_and_nothing_written(package: Path) -> None:
    data = edit(package, CERTAIN["an input with another name"])
    shown = run("--diff", package)
    assert shown.exit_code == 1
    assert '-name = "picture"\n+name = "image"\n' in shown.stdout
    assert "2 would be fixed in 1 program" in shown.stderr
    assert model_file(package).read_bytes() == data


def test_names_in_the_program_follow_if_preferred(package: Path) -> None:
    edit(package, CERTAIN["an input with another name"])
    described = spec_of(package).description
    shown = run("--diff", "--prefer", "description", package)
    assert "> picture)" in shown.stdout
    assert run("--fix", "--prefer", "description", package).exit_code == 0
    made = spec_of(package)
    assert made.description == described
    assert [each.name for each in made.mlProgram.functions["main"].inputs] == ["picture"]
    assert run(package).exit_code == 0


def test_sizes_in_the_program_do_not_follow(package: Path) -> None:
    data = edit(package, size)
    left = run("--fix", "--prefer", "description", package)
    assert left.exit_code == 1
    assert "changes only names in the program" in left.stderr
    assert model_file(package).read_bytes() == data


@pytest.mark.parametrize("side", ["input", "output"])
def test_the_program_keeps_a_name_that_an_entry_lacks(side: str, package: Path) -> None:
    data = edit(package, lambda spec: setattr(first(spec, side), "name", ""))
    left = run("--fix", "--unsafe-fixes", "--prefer", "description", package)
    assert left.exit_code == 1
    assert "changes only names in the program" in left.stderr
    assert model_file(package).read_bytes() == data


@pytest.mark.parametrize("place", ["model", "folder", "package"])
def test_a_link_is_not_followed(place: str, package: Path) -> None:
    edit(package, CERTAIN["no inputs"])
    linked = {"model": model_file(package), "folder": model_file(package).parent, "package": package}[place]
    real = linked.with_name(f"real-{linked.name}")
    shutil.move(linked, real)
    linked.symlink_to(real, target_is_directory=real.is_dir())
    data = model_file(package).read_bytes()
    left = run("--fix", package)
    assert left.exit_code == (2 if "leads outside" in left.output else 1)
    assert "is a link" in left.stderr or "leads outside" in left.output
    assert model_file(package).read_bytes() == data


def test_an_mlmodel_is_fixed_like_a_package(package: Path, tmp_path: Path) -> None:
    edit(package, CERTAIN["no outputs"])
    shutil.copytree(model_file(package).parent, tmp_path / "folder")
    file = tmp_path / "folder" / "model.mlmodel"
    assert "2 fixed, 0 left" in run("--fix", file).stderr
    assert run(file).exit_code == 0


def test_a_compiled_model_is_not_fixed(package: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "M.mlmodelc"
    edit(package, CERTAIN["no outputs"])
    miltext.build(open_model(package), bundle, check=False, allow_unproven=True)
    files = {path: path.read_bytes() for path in bundle.rglob("*") if path.is_file()}
    found = run("--fix", bundle)
    assert found.exit_code == 1
    assert {path: path.read_bytes() for path in files} == files


def test_an_ignored_code_is_not_fixed(package: Path) -> None:
    data = edit(package, CERTAIN["no outputs"])
    result = run("--fix", "--ignore", "MIL265", package)
    assert result.exit_code == 0
    assert model_file(package).read_bytes() == data


def test_a_stage_of_a_pipeline_is_fixed(tmp_path: Path) -> None:
    spec = piped(unary("x", "a"), unary("a", "y"))
    first(spec.pipeline.models[1], "output").type.multiArrayType.shape[:] = [99]
    package = write_package(tmp_path / "P.mlpackage", spec.SerializeToString())
    assert run(package).exit_code == 1
    fixed = run("--fix", package)
    assert fixed.exit_code == 0, fixed.output
    assert run(package).exit_code == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_reported(package: Path) -> None:
    data = edit(package, CERTAIN["no outputs"])
    model_file(package).parent.chmod(0o500)
    left = run("--fix", package)
    model_file(package).parent.chmod(0o700)
    assert left.exit_code == 1
    assert "cannot be written" in left.stderr
    assert model_file(package).read_bytes() == data
