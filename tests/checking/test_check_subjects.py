"""The sources of `check`: text, Programs, models and paths; and a path in place of a text."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from conftest import ROOT, corpus_files

import miltext
from miltext.checking.verifier import check_text
from miltext.diagnostics.selection import keeps_from_reading
from miltext.schema.proto import Model

TEXT = """\
program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x) {
            tensor<fp32, [2]> y = rellu(x = x);
        } -> (y);
}
"""


def test_a_path_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    path.write_text(TEXT)
    assert miltext.check(path) == miltext.check(TEXT) != []
    assert miltext.check(ROOT / "examples" / "Classifier.mlpackage") == []
    with pytest.raises(miltext.ModelError, match="MIL250"):
        miltext.check(tmp_path / "absent.mil")


def test_arrays_are_looked_for_beside_a_path(tmp_path: Path) -> None:
    path = tmp_path / "d.mil"
    path.write_text('program(1.3)\n{\n    func main<ios18>(fp32 x) { y = mul(x, $npy("w.npy")); } -> (y);\n}\n')
    (told,) = [each for each in miltext.check(path) if each.severity == "error"]
    assert "w.npy" in told.message
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "w.npy", numpy.ones(2, "float32"))
    assert [each for each in miltext.check(path) if each.severity == "error"] == []


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize(
    "name",
    [
        "m.mil",
        "program.mil",
        "program.mlpackage",
        "../a b/M.mlpackage",
        "M.mlpackage/",
        "C:\\models\\M.mlmodelc",
        "~/q.pb",
        "x.mlmodel",
        "ä.txtpb",
    ],
)
def test_a_path_as_text_is_reported(name: str, end: str) -> None:
    (told,) = miltext.check(name + end, path="m.mil")
    assert (told.code, told.span) == ("MIL010", (0, len(name)))
    assert "looks like a path" in told.message
    assert "miltext.load" in told.message
    with pytest.raises(miltext.ParseError, match="looks like a path"):
        miltext.parse(name + end)


@pytest.mark.parametrize("text", ["", "mil", ".mil", "m.mil x", "program(1.3) {} // m.mil", "a.mil\nb.mil", "f(m.mil"])
def test_other_broken_texts_are_not_taken_for_paths(text: str) -> None:
    assert all("looks like a path" not in told.message for told in miltext.check(text, path="m.mil"))


MADE = """\
program(1.3)
{{
    func main<ios18>({taken} x) {{
            {given} y = cast(dtype = string("{dtype}"), x = x)[name = string("y")];
        }} -> (y);
}}
"""

PORTS = [
    ("tensor<bool, [2]>", "tensor<fp16, [2]>", "x", "bool"),
    ("bool", "fp16", "x", "bool"),
    ("tensor<uint8, [2]>", "tensor<fp16, [2]>", "x", "uint8"),
    ("tensor<fp16, [2]>", "tensor<uint8, [2]>", "y", "uint8"),
    ("tensor<fp16, [2]>", "tensor<bool, [2]>", "y", "bool"),
    ("tensor<fp16, [2]>", "tensor<int16, [2]>", "y", "int16"),
    ("tensor<fp16, [2]>", "tensor<int32, [2]>", "", ""),
    ("tensor<int8, [2]>", "tensor<fp32, [2]>", "", ""),
]
"""Types of what a model takes and gives; which of them no description can have, and its data type."""


@pytest.mark.parametrize(("taken", "given", "name", "dtype"), PORTS)
def test_a_type_that_no_model_takes_or_gives_is_found_in_a_model(
    taken: str, given: str, name: str, dtype: str, tmp_path: Path
) -> None:
    """`build` alone refused it: an error in a model, and a warning in a file that `build` may take."""
    text = MADE.format(taken=taken, given=given, dtype=given.removeprefix("tensor<").partition(",")[0])
    model = Model(specificationVersion=9, mlProgram=miltext.parse(text))
    for side, each in (("input", "x"), ("output", "y")):
        getattr(model.description, side).add(name=each).type.multiArrayType.shape.append(2)
    path = tmp_path / "m.mlmodel"
    path.write_bytes(model.SerializeToString())
    found = [each for each in miltext.check(path) if each.code == "MIL420"]
    assert [each.message.partition(",")[0] for each in found] == ([f"{NOUNS[name]} is of {dtype}"] if name else [])
    around = ("MIL265", "MIL420")
    assert miltext.check(text) == [each for each in miltext.check(path) if each.code not in around]
    assert not [each for each in found if keeps_from_reading(each)]
    written = tmp_path / "m.mil"
    written.write_text(text)
    warned = [each._replace(severity="warning") for each in found]
    assert miltext.check(written) == [*miltext.check(text), *warned]
    assert check_text(text, str(written)).diagnostics == miltext.check(written)
    if name:
        with pytest.raises(miltext.MiltextError, match="MIL420"):
            miltext.build(written, tmp_path / "New.mlpackage")
    else:
        miltext.build(written, tmp_path / "New.mlpackage")


NOUNS = {"x": "the input `x`", "y": "the output `y`"}


@pytest.mark.parametrize("path", corpus_files("**/*.mlpackage", "**/*.mlmodel"))
def test_no_model_of_the_corpus_has_such_a_type(path: Path) -> None:
    with suppress(miltext.ModelError):
        assert not [each for each in miltext.check(path) if each.code == "MIL420"]
