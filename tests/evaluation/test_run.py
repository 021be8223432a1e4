"""`miltext.run` and `miltext.Evaluator`: what they take, what they give back, and to whom that belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.evaluation import computed

import miltext
from miltext import MiltextError, run
from miltext.schema.proto import Program

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x) {
            a = relu(x = x);
            y = add(x = a, y = a);
        } -> (y);
}
"""
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
Y = 2 * np.maximum(X, 0)


def codes(caught: pytest.ExceptionInfo[MiltextError]) -> list[str]:
    return [each.code for each in caught.value.diagnostics]


# ---- what is run


def subjects(folder: Path) -> dict[str, Any]:
    """One program in each form that can be run."""
    text = miltext.infer_draft(DRAFT)
    path = folder / "program.mil"  # begins as a text does
    path.write_text(DRAFT, encoding="utf-8")
    model = miltext.load(path)
    package = folder / "Model.mlpackage"
    miltext.build(model, package)
    return {
        "text": text,
        "draft": DRAFT,
        "path": path,
        "a path as a string": str(path),
        "draft model": model,
        "package": package,
        "model": miltext.load(package),
        "program": miltext.parse(text),
    }


def test_each_form_of_a_program_can_be_run(tmp_path: Path) -> None:
    for form, subject in subjects(tmp_path).items():
        outputs = run(subject, {"x": X})
        assert list(outputs) == ["y"], form
        np.testing.assert_array_equal(outputs["y"], Y, form)


def test_a_text_in_one_line_is_a_text() -> None:
    np.testing.assert_array_equal(run(" ".join(DRAFT.split()), {"x": X})["y"], Y)


def test_coremltools_own_class_can_be_run() -> None:
    from_coremltools = pytest.importorskip("coremltools.proto.MIL_pb2").Program()
    from_coremltools.ParseFromString(miltext.parse(miltext.infer_draft(DRAFT)).SerializeToString())
    np.testing.assert_array_equal(run(from_coremltools, {"x": X})["y"], Y)
    assert not isinstance(from_coremltools, Program)


def test_what_is_not_a_program_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a message"):
        run(17, {})  # type: ignore[arg-type]


def test_the_helper_of_tests_gives_the_same() -> None:
    np.testing.assert_array_equal(computed(DRAFT, {"x": X})["y"], Y)
