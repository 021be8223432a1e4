"""What `check` takes: text, Programs, models and paths; and a path that is given as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT

import miltext

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
def test_a_path_as_text_is_told(name: str, end: str) -> None:
    (told,) = miltext.check(name + end)
    assert (told.code, told.span) == ("MIL010", (0, len(name)))
    assert "looks like a path" in told.message
    assert "miltext.load" in told.message
    with pytest.raises(miltext.ParseError, match="looks like a path"):
        miltext.parse(name + end)


@pytest.mark.parametrize("text", ["", "mil", ".mil", "m.mil x", "program(1.3) {} // m.mil", "a.mil\nb.mil", "f(m.mil"])
def test_other_broken_texts_are_not_taken_for_paths(text: str) -> None:
    assert all("looks like a path" not in told.message for told in miltext.check(text))
