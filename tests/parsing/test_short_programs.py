"""Programs that people wrote by hand, in the short spelling: what they take, and that they are the same Programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN, corpus_files

import miltext
from miltext.schema.operations import signature
from miltext.schema.proto import Block, Operation, Program, Value

SHORT = GOLDEN / "short"

USUAL = {
    "conv": {"strides": "[1, 1]", "dilations": "[1, 1]", "pad": "[0, 0, 0, 0]"},
    "softmax": {"axis": "-1"},
}
"""Defaults that are no scalars, by operation and parameter; `softmax` has one that the table leaves out."""


def literal(value: Value) -> str:
    """A value as the text after its type; a blob with its type, a number as Python has it."""
    text = miltext.to_text(Program(attributes={"a": value}))
    typed = re.search(r"\[a = (.*)\]\n", text)
    assert typed is not None
    found = re.fullmatch(r"(?:bool|string|fp16|int32|tensor<int32, \[\d+\]>)\((.*)\)", typed[1])
    return found[1] if found else typed[1]


def is_default(op_type: str, name: str, given: Any) -> bool:
    """Whether an argument says what stands for it where it is left out."""
    known = signature(op_type, "ios18")
    assert known is not None
    default = known.parameters[name].default
    usual = USUAL.get(op_type, {}).get(name)
    spelled = str(default).lower() if isinstance(default, bool) else str(default)
    spelled = f'"{default}"' if isinstance(default, str) else spelled
    return given == ("constant", usual) or (default is not None and given == ("constant", spelled))


def operation(made: Operation, values: Mapping[str, Any]) -> Any:
    """An operation by what it is given, without its name, and without arguments that are defaults."""
    if made.type == "const":
        return ("constant", literal(made.attributes["val"]))
    given = {
        name: tuple(
            values[binding.name] if binding.name else ("constant", literal(binding.value))
            for binding in made.inputs[name].arguments
        )
        for name in made.inputs
    }
    kept = {name: each for name, each in given.items() if not (len(each) == 1 and is_default(made.type, name, each[0]))}
    return (made.type, tuple(sorted(kept.items())), tuple(str(output.type) for output in made.outputs))


def normal(program: Program) -> Any:
    """What a Program computes: each output as a tree of operations over inputs and constants.

    The names and the places of operations and constants are no part of it, nor is what the compiler notes beside.
    """
    [function] = program.functions.values()
    [block] = function.block_specializations.values()
    assert isinstance(block, Block)
    values: dict[str, Any] = {value.name: ("input", value.name) for value in function.inputs}
    numbers: dict[Any, int] = {}
    for made in block.operations:
        found = operation(made, values)
        shared = found if found[0] == "constant" else ("number", numbers.setdefault(found, len(numbers)))
        values |= {output.name: shared for output in made.outputs}
    inputs = [(value.name, str(value.type)) for value in function.inputs]
    return inputs, unfolded([values[name] for name in block.outputs], [*numbers])


def unfolded(outputs: list[Any], made: list[Any]) -> list[Any]:
    """The outputs with operations numbered in the order in which the outputs reach them."""
    order: dict[int, int] = {}
    found: list[Any] = []

    def renamed(each: Any) -> Any:
        if isinstance(each, tuple) and len(each) == 2 and each[0] == "number":
            if each[1] not in order:
                inner = renamed(made[each[1]])
                order[each[1]] = len(order)
                found.append(inner)
            return ("number", order[each[1]])
        return tuple(map(renamed, each)) if isinstance(each, tuple) else each

    return [*map(renamed, outputs), found]


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
    assert "MIL712" in codes <= {"MIL712", "MIL614"}  # a blob of the original stands at an odd place
    assert {found.code for found in miltext.check(miltext.infer_draft(text))} == codes - {"MIL712"}


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil"))
def test_it_is_the_program_that_people_wrote(path: Path) -> None:
    short = miltext.parse(miltext.infer_draft((SHORT / path.name).read_text(encoding="utf-8")))
    assert normal(short) == normal(full(path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("conv(", 'conv(pad_type = "same", x = '),
        ("offset = uint64(64)", "offset = uint64(128)"),
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
