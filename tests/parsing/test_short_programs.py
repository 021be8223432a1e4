"""Programs that people wrote by hand, in the short spelling: what they take, and that they are the same Programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files
from support.normal_form import normal

import miltext
from miltext.schema.proto import Program

SHORT = GOLDEN / "short"


def full(path: Path) -> Program:
    return miltext.parse(path.read_text(encoding="utf-8"))


def count(program: Program) -> int:
    return sum(
        len(block.operations) for each in program.functions.values() for block in each.block_specializations.values()
    )


@pytest.mark.parametrize("path", sorted(SHORT.glob("*.mil")), ids=lambda path: path.stem)
def test_a_short_program_is_valid_and_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert miltext.format_text(text) == text
    codes = {found.code for found in miltext.check(text)}
    assert "MIL712" in codes <= {"MIL712", "MIL614"}  # a blob of the original is at an odd place
    assert {found.code for found in miltext.check(miltext.infer_draft(text))} == codes - {"MIL712"}


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil"))
def test_the_short_spelling_means_the_written_program(path: Path) -> None:
    short = miltext.parse(miltext.infer_draft((SHORT / path.name).read_text(encoding="utf-8")))
    assert normal(short) == normal(full(path))
    assert short.attributes == full(path).attributes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("conv(", 'conv(pad_type = "same", x = '),
        ('weight.bin", 64)', 'weight.bin", 128)'),
        ('"fp32");', '"int32");'),
    ],
)
def test_another_program_is_not_the_same(old: str, new: str) -> None:
    text = (SHORT / "Espresso__conv.mil").read_text(encoding="utf-8")
    changed = text.replace(old, new, 1).replace('x = cast(x, "fp16"), ', 'x = cast(x, "fp16"), weight = ')
    assert changed != text
    infer = miltext.infer_draft
    assert normal(miltext.parse(infer(changed))) != normal(miltext.parse(infer(text)))


def test_the_programs_together_take_30_characters_an_operation() -> None:
    """Of the full programs, with heads, constants and indentation; many of the characters say where a weight is."""
    paths = [Path(case.values[0]) for case in corpus_files("handwritten/*.mil") if not case.marks]
    if not paths:
        pytest.skip("needs the corpus")
    taken = sum(len((SHORT / path.name).read_text(encoding="utf-8").partition("\n")[2]) for path in paths)
    assert len(paths) == 8
    assert taken <= 30 * sum(count(full(path)) for path in paths)
