"""A compiled model that is read, perhaps edited, and compiled again keeps what only Apple's compiler could say."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from pathlib import Path

import pytest
from click.testing import CliRunner
from models.test_compiling import FILES, written
from support.containers import write_package
from support.pipelines import piped, unary

import miltext
from miltext.cli import command
from miltext.compiled.analytics import parse_analytics, source_hash
from miltext.diagnostics import ModelError
from miltext.models.manifest import model_file
from miltext.printing.coremlc import Versions, as_coremlc
from miltext.printing.flexible_shapes import shape_information
from miltext.schema.proto import Model


def stated_versions(bundle: Path) -> list[str]:
    return [
        ", ".join(re.findall(r'\{"coremlc-[^"]*", "([^"]*)"\}', each.read_text()))
        for each in sorted(bundle.rglob("model.mil"))
    ]


def test_versions_stay_where_a_compiled_model_is_edited(tmp_path: Path) -> None:
    """In its text, by a verb, and in a pipeline whose models were compiled at different times."""
    old = written(unary("x", "y"), tmp_path, versions=Versions("1.2", "3.4"))
    text = tmp_path / "edited.mil"
    text.write_text(miltext.to_text(unary("x", "y").mlProgram))  # without the entries
    miltext.build(text, tmp_path / "A.mlmodelc", original=old, check=False)
    assert stated_versions(tmp_path / "A.mlmodelc") == ["1.2, 3.4"]
    text.write_text((old / "model.mil").read_text().replace("3.4", "5.6"))  # with others
    miltext.build(text, tmp_path / "B.mlmodelc", original=old, check=False)
    assert stated_versions(tmp_path / "B.mlmodelc") == ["1.2, 5.6"]
    miltext.build(old, tmp_path / "C.mlmodelc", renames={"x": "z"}, check=False)
    assert stated_versions(tmp_path / "C.mlmodelc") == ["1.2, 3.4"]
    whole = written(piped(unary("x", "a"), unary("a", "y")), tmp_path / "2", versions=Versions("1.2", "3.4"))
    stage = whole / "model1" / "model.mil"
    stage.write_text(stage.read_text().replace("3.4", "7.8"))
    miltext.build(whole, tmp_path / "D.mlmodelc", check=False)
    assert stated_versions(tmp_path / "D.mlmodelc") == ["1.2, 3.4", "1.2, 7.8"]
    miltext.build(whole, tmp_path / "E.mlmodelc", versions=Versions(component="9"), check=False)
    assert stated_versions(tmp_path / "E.mlmodelc") == ["9, 3.4", "9, 7.8"]
    miltext.build(old, tmp_path / "P.mlpackage", check=False)
    assert "coremlc" not in miltext.to_text(miltext.load(tmp_path / "P.mlpackage").program)


def enumerating() -> Model:
    made = unary("x", "y")
    for rows in (4, 1, 2):
        made.description.input[0].type.multiArrayType.enumeratedShapes.shapes.add(shape=[rows, 4])
    return made


HASHES = {"00000000": "9e38c1a4", "00000001": "543d0f94", "00000002": "0badcafe"}


def hashed(bundle: Path) -> Path:
    """A compiled model with keys as Apple's compiler makes them, which are in their own order."""
    text = (bundle / "model.mil").read_text()
    for number, key in HASHES.items():
        assert number in text
        text = text.replace(number, key)
    program = miltext.parse(text)
    pairs = program.functions["main"].attributes["FlexibleShapeInformation"].immediateValue.tuple.values[1]
    held = pairs.immediateValue.tuple.values[1].immediateValue.dictionary.values
    held.sort(key=lambda pair: str(pair.key.immediateValue.tensor.strings.values[0]))
    (bundle / "model.mil").write_text(as_coremlc(program, 7))
    return bundle


def test_keys_of_enumerated_shapes_stay_where_the_shapes_do(tmp_path: Path) -> None:
    bundle = hashed(written(enumerating(), tmp_path))
    text = (bundle / "model.mil").read_text()
    assert text.index("0badcafe") < text.index("543d0f94") < text.index("9e38c1a4")
    told = miltext.build(bundle, tmp_path / "A.mlmodelc", check=False)
    assert "enumerated" not in "".join(each.message for each in told)
    assert (tmp_path / "A.mlmodelc" / "model.mil").read_text() == text
    miltext.build(bundle, tmp_path / "P.mlpackage", check=False)
    assert "FlexibleShape" not in miltext.to_text(miltext.load(tmp_path / "P.mlpackage").program)
    source = model_file(tmp_path / "P.mlpackage").read_bytes()
    tables = parse_analytics((tmp_path / "A.mlmodelc" / FILES[0]).read_bytes(), "it")
    assert tables["SpecificationDetails"]["modelHash"] == b64encode(hashlib.sha256(source).digest()).decode()


def test_keys_of_other_shapes_are_guesses(tmp_path: Path) -> None:
    bundle = hashed(written(enumerating(), tmp_path))
    text = (bundle / "model.mil").read_text()
    (bundle / "model.mil").write_text(text.replace('{"x", [2, 4]}', '{"x", [3, 4]}'))
    with pytest.raises(ModelError, match=r"MIL441.*keys of enumerated shapes"):
        miltext.build(bundle, tmp_path / "A.mlmodelc", check=False)
    (bundle / "model.mil").write_text(text)
    with pytest.raises(ModelError, match=r"MIL441.*keys of enumerated shapes"):
        miltext.build(bundle, tmp_path / "A.mlmodelc", check=False, renames={"x": "z"})
    renamed = CliRunner().invoke(command, ["rename", str(bundle), "x", "z", "-o", str(tmp_path / "A.mlmodelc")])
    assert (renamed.exit_code, "MIL441" in renamed.output) == (1, True)


def ranged(spec: Model) -> Model:
    for least, most in ((1, 8), (4, 4)):
        spec.description.input[0].type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=most)
    return spec


def with_shapes(spec: Model, described: Model) -> Model:
    """The model with the attribute that the compiler makes for another description."""
    made, _ = shape_information(described.description.input)
    assert made is not None
    spec.mlProgram.functions["main"].attributes["FlexibleShapeInformation"].CopyFrom(made)
    return spec


OWN = {
    "without a flexible input": (unary("x", "y"), enumerating()),
    "another one": (ranged(unary("x", "y")), enumerating()),
    "the same": (ranged(unary("x", "y")), ranged(unary("x", "y"))),
}


@pytest.mark.parametrize(("spec", "described"), OWN.values(), ids=OWN)
@pytest.mark.parametrize("is_piped", [False, True], ids=["", "in a pipeline"])
def test_shapes_of_its_own_are_reported_and_made_of_description(
    spec: Model, described: Model, is_piped: bool, tmp_path: Path
) -> None:
    both = spec, with_shapes(Model.FromString(spec.SerializeToString()), described)
    plain, own = (piped(each, unary("y", "z")) if is_piped else each for each in both)
    (tmp_path / "own").mkdir()
    expected, bundle = written(plain, tmp_path), tmp_path / "own" / "Out.mlmodelc"
    package = write_package(tmp_path / "own" / "In.mlpackage", own.SerializeToString())
    told = [each.message for each in miltext.build(package, bundle, check=False) if each.code == "MIL443"]
    where = " of the model 0" if is_piped else ""
    lost = f"`FlexibleShapeInformation` of `main`{where}, which is made from the description"
    assert told == [f"a compiled model does not have this, and it is lost: {lost}"]
    inner = "model0/model.mil" if is_piped else "model.mil"
    assert (bundle / inner).read_bytes() == (expected / inner).read_bytes()
    tables = parse_analytics((bundle / FILES[0]).read_bytes(), "it")
    assert tables["SpecificationDetails"]["modelHash"] == source_hash(model_file(package).read_bytes())
    with pytest.raises(ModelError, match=r"MIL454.*FlexibleShapeInformation"):
        miltext.build(package, tmp_path / "C.mlmodelc", check=False, no_loss=True)


def test_shapes_of_a_compilers_text_are_kept_with_their_keys(tmp_path: Path) -> None:
    bundle = hashed(written(enumerating(), tmp_path))
    text = (bundle / "model.mil").read_text()
    (tmp_path / "alone.mil").write_text(text)
    miltext.build(tmp_path / "alone.mil", tmp_path / "A.mlmodelc", original=tmp_path / "In.mlpackage", check=False)
    assert (tmp_path / "A.mlmodelc" / "model.mil").read_text() == text


def test_a_compiled_model_without_versions_gets_the_newest(tmp_path: Path) -> None:
    bundle = written(unary("x", "y"), tmp_path)
    text = (bundle / "model.mil").read_text()
    (bundle / "model.mil").write_text(re.sub(r"\[buildInfo[^\n]*\n", "", text))
    miltext.build(bundle, tmp_path / "A.mlmodelc", check=False)
    assert (tmp_path / "A.mlmodelc" / "model.mil").read_text() == text
