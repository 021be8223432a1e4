"""`miltext.check` with `numbers`: the findings of `check --numbers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.running import RUNNER

import miltext
from miltext.bounds import findings
from miltext.cli import command

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 2]> x) {
            y = linear(x, weight = tensor<fp16, [1, 2]>([[4800, -4800]]));
        } -> (y);
}
"""
WHOLE = miltext.infer_draft(DRAFT)
SUM = "`y` (linear) may add up to 38400 on the way, and a sum of 32768 or more is infinite on the Neural Engine"


def codes(source: Any, **options: Any) -> list[str]:
    return [each.code for each in miltext.check(source, **options)]


def test_numbers_are_bounded_on_request_alone() -> None:
    assert codes(WHOLE) == []
    assert codes(WHOLE, numbers={}) == ["MIL852"]
    (found,) = miltext.check(WHOLE, numbers={"x": (-4, 4)})
    assert (found.code, found.message) == ("MIL850", SUM)
    assert found.span is not None
    assert WHOLE[found.span.start :].startswith("tensor<fp16, [1, 1]> y = linear")
    assert codes(WHOLE, numbers={"x": (-1, 1)}) == []


def test_every_kind_of_source_has_the_same_findings(tmp_path: Path) -> None:
    path = tmp_path / "sum.mil"
    path.write_text(WHOLE, encoding="utf-8")
    package = tmp_path / "Sum.mlpackage"
    miltext.build(WHOLE, package)
    for source in (WHOLE, DRAFT, path, str(path), miltext.parse(WHOLE), miltext.load(path), package):
        found = miltext.check(source, numbers={"x": (-4, 4)})
        assert [each.message for each in found if each.code.startswith("MIL85")] == [SUM], source
    assert codes(WHOLE, path=str(path), numbers={"x": (-4, 4)}) == ["MIL850"]
    made = RUNNER.invoke(command, ["check", "--numbers", "--input-range", "x=-4:4", str(path)])
    assert f"warning[MIL850]: {SUM}" in made.stdout


@pytest.mark.parametrize("infer", [False, True])
def test_a_comment_ignores_a_finding(infer: bool, tmp_path: Path) -> None:
    draft = DRAFT.replace("]]));", "]]));  // mil: ignore[MIL850]")
    text = miltext.infer_draft(draft) if infer else draft
    assert [each for each in codes(text, numbers={"x": (-4, 4)}) if each != "MIL712"] == []
    assert "MIL852" in codes(text, numbers={})
    path = tmp_path / "sum.mil"
    path.write_text(text, encoding="utf-8")
    made = RUNNER.invoke(command, ["check", "--numbers", "--input-range", "x=-4:4", str(path)])
    assert (made.exit_code, "MIL850" in made.stdout) == (0, False)


def test_a_program_with_errors_has_only_these() -> None:
    assert codes(WHOLE.replace("x = x", "x = q"), numbers={}) == ["MIL604"]


def test_a_program_that_cannot_be_run_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise miltext.MiltextError([miltext.Diagnostic("error", "MIL838", "it cannot be computed")])

    monkeypatch.setattr(findings, "number_findings", failing)
    assert codes(WHOLE, numbers={}) == ["MIL838"]


@pytest.mark.parametrize("ends", [(1, 0), (0,), (0, 1, 2), 3, "ab", (0, float("inf")), (float("nan"), 1), None])
def test_a_wrong_range_is_refused(ends: Any) -> None:
    with pytest.raises(ValueError, match="the range of 'x' in `numbers` must be two numbers, the least first, not"):
        miltext.check(WHOLE, numbers={"x": ends})


def test_a_range_of_no_input_is_refused() -> None:
    with pytest.raises(ValueError, match="'z' in `numbers` is not an input; the inputs are x"):
        miltext.check(WHOLE, numbers={"z": (0, 1)})
    with pytest.raises(TypeError, match="`numbers` of check"):
        miltext.check(WHOLE, numbers=["x"])  # type: ignore[arg-type]
