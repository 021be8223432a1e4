"""Every example of docs/language.md says what the page claims."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import miltext
from miltext.diagnostics import Diagnostic
from miltext.syntax.names import DRAFT_WORDS

PAGE = Path(__file__).parents[1] / "docs" / "language.md"

BLOCKS = re.findall(r"```mil (\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

WRAPPED = {
    "program": "%s",
    "operation": "program(1.3) { func main<ios18>() { %s } -> (); }",
    "types": "program(1.3) { func main<ios18>(%s x) { } -> (); }",
    "values": "program(1.3) [a = %s] { }",
}


def examples() -> list[str]:
    texts = []
    for kind, block in BLOCKS:
        parts = block.strip().splitlines() if kind in ("types", "values") else [block.strip()]
        texts += [WRAPPED[kind] % part for part in parts]
    return texts


def test_the_page_has_examples_of_every_kind() -> None:
    assert {kind for kind, _ in BLOCKS} == set(WRAPPED)
    assert len(examples()) > 35


@pytest.mark.parametrize("text", examples())
def test_an_example_reads_back_equal_from_its_print(text: str) -> None:
    program = miltext.parse(text)
    again = miltext.parse(miltext.to_text(program))
    assert again.SerializeToString(deterministic=True) == program.SerializeToString(deterministic=True)


def errors(findings: list[Diagnostic]) -> list[Diagnostic]:
    return [finding for finding in findings if finding.severity == "error"]


@pytest.mark.parametrize("text", examples())
def test_strict_refuses_exactly_the_marked_spellings(text: str) -> None:
    assert bool(errors(miltext.strict_findings(text))) == ("$" in text)


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "program"])
def test_a_program_on_the_page_is_in_the_canonical_layout(text: str) -> None:
    assert miltext.to_text(miltext.parse(text)) == text


DRAFTS = re.findall(r"```draft\n(.*?)```.*?```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_drafts() -> None:
    assert len(DRAFTS) == 9


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The path of a text beside the arrays and the models that the page names."""
    safetensors = pytest.importorskip("safetensors.numpy")
    np.save(tmp_path / "w1.npy", np.zeros((3, 4), np.float16))
    np.savez(tmp_path / "layer.npz", bias=np.zeros(3, np.float16))
    safetensors.save_file({"layer.1.weight": np.zeros((5, 3), np.float32)}, tmp_path / "model.safetensors")
    head = "program(1.3) { func main<ios18>(tensor<fp16, [2, %d]> %s) { %s } -> (%s);"
    narrow = "code = slice_by_size(x, [0, 0], [2, 3]);"
    miltext.build(head % (4, "x", narrow, "code") + "}", tmp_path / "encoder.mlpackage")
    both = "func both<ios18>(tensor<fp16, [2, 3]> code) { a = relu(code); b = tanh(code); } -> (a, b); }"
    (tmp_path / "heads.mil").write_text(head % (3, "code", "", "code") + both)
    return str(tmp_path / "draft.mil")


@pytest.mark.parametrize(("draft", "whole"), DRAFTS)
def test_a_draft_is_inferred_as_the_page_shows(draft: str, whole: str, path: str) -> None:
    program = f"program(1.3) {{ func main<ios18>(tensor<fp16, [2, 4]> x) {{\n{draft}}} -> (x); }}"
    text = miltext.infer_draft(program, path=path)
    made = text[text.index(") {\n") + 4 : text.rindex("        } -> (x);")]
    assert [line.strip() for line in made.splitlines()] == [line.strip() for line in whole.splitlines()]
    with pytest.raises(miltext.ParseError, match=r"MIL11[23]"):
        miltext.parse(f"program(1.3) {{ func main<ios18>(tensor<fp16, [2, 4]> x) {{\n{draft}}} -> (x); }}")


PRINTED = re.findall(
    r"```mil program\n([^`]*)```\s*```draft printed\n([^`]*)```.*?```draft dropped\n([^`]*)```",
    PAGE.read_text(encoding="utf-8"),
    re.DOTALL,
)


def test_a_program_is_printed_as_a_draft_as_the_page_shows() -> None:
    [(whole, draft, dropped)] = PRINTED
    program = miltext.parse(whole)
    assert miltext.to_draft(program) == draft
    assert miltext.to_draft(program, drop_names=True) == dropped
    assert miltext.parse(miltext.infer_draft(draft)) == program


WHOLE_DRAFTS = re.findall(
    r"```draft program\n(.*?)```.*?```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


def test_a_draft_that_requests_more_is_written_out_as_page_shows() -> None:
    [(draft, whole)] = WHOLE_DRAFTS
    assert miltext.infer_draft(draft) == whole
    assert miltext.format_text(draft) == draft
    plain, words = re.sub(r" \$draft\((.*?)\)", "", draft), re.findall(r"\w+", draft)[4:7]
    assert words == [*DRAFT_WORDS]
    assert miltext.infer_draft(plain, names=True, consts=True, defaults=True) == whole
    assert miltext.infer_draft(plain) != whole
