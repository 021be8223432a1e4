"""Contradictions between the program of a model and its description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding
from miltext.descriptions.mismatches import entry_mismatches
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION, required_version
from miltext.diagnostics import codes
from miltext.pipelines.type_words import type_words
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import COLORS, PREDICTIONS, word_of
from miltext.schema.function_io import interface
from miltext.schema.paths import Key, block_path
from miltext.schema.types import read_type, spelled
from miltext.schema.walk import blocks_of, own_opset

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json, Record
    from miltext.schema.paths import Path
    from miltext.schema.proto import FeatureDescription, Function, ModelDescription, Program, ValueType


def interface_findings(program: Program, version: int, description: ModelDescription) -> Iterator[Finding]:
    """Yield the contradictions between a program and the description of its model, at places of the program."""
    least = required_version(program, description)
    if version < least:
        yield misfit((), f"the model has the specification version {version}, but what is there needs {least}")
    yield from _functions(program, description)
    described = described_functions(description)
    for name in sorted(program.functions):
        if name in described:
            yield from _function(name, program.functions[name], described[name])
        elif description.functions or DEFAULT_FUNCTION in program.functions:
            yield misfit(("functions", Key(name), "key"), f"the description does not describe the function `{name}`")


def described_functions(description: ModelDescription) -> Record:
    """Return the description of each function, by name; without a list of them, `main` alone is described."""
    return {each.name: each for each in description.functions} or {DEFAULT_FUNCTION: description}


def _functions(program: Program, description: ModelDescription) -> Iterator[Finding]:
    """Yield the errors in the list of the described functions."""
    names = [each.name for each in description.functions]
    for name in sorted({*described_functions(description)} - {*program.functions}):
        yield misfit((), f"the description describes the function `{name}`, which the program lacks")
    for name in _doubled(names):
        yield misfit((), f"the description describes the function `{name}` twice")
    if names and not description.defaultFunctionName:
        yield misfit((), "the description lists functions, and does not name the default one")
    elif names and description.defaultFunctionName not in names:
        yield misfit((), f"the description lacks its default function, `{description.defaultFunctionName}`")


def misfit(path: Path, message: str, severity: str = "warning") -> Finding:
    """Return the finding of a description that does not match the program at a path."""
    return Finding(path, codes.MISFIT_DESCRIPTION, message, severity=severity)


def _function(name: str, function: Function, described: Json) -> Iterator[Finding]:
    path: Path = ("functions", Key(name))
    outputs, block = outputs_of(name, function)
    places = {value.name: (*path, "inputs", index) for index, value in enumerate(function.inputs)}
    given = {name: (*block, "outputs", index) for index, name in enumerate(outputs)}
    for output in _doubled(outputs):
        yield misfit(given[output], f"the program has the output `{output}` of `{name}` twice")
    for side, types in interface(function).sides.items():
        entries = getattr(described, side)
        yield from _names(entries, [*types], side, name, path)
        for entry in entries:
            declared = types.get(entry.name)
            if declared is not None:
                yield from _type(entry, declared, side, (given if side == "output" else places)[entry.name])
    for key in PREDICTIONS:
        if (predicted := getattr(described, key)) and predicted not in given:
            yield misfit(path, f"the description has the {key} `{predicted}`, which is not an output of `{name}`")


def outputs_of(name: str, function: Function) -> tuple[list[str], Path]:
    """Return the names of a function's outputs, and the path of the block that gives them."""
    blocks = blocks_of(function)
    opset = own_opset(function.opset, blocks)
    return [] if opset is None else [*blocks[opset].outputs], block_path(name, opset or "")


def _doubled(names: list[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _names(entries: Json, names: list[str], side: str, function: str, path: Path) -> Iterator[Finding]:
    described = [entry.name for entry in entries]
    if "" in described:
        yield misfit(path, f"the description has an {side} of `{function}` without a name")
    for odd in sorted({*described}.symmetric_difference(names) - {""}):
        lacking = "the program lacks" if odd in described else "the description lacks"
        yield misfit(path, f"{lacking} the {side} `{odd}` of `{function}`")
    for name in _doubled(described):
        yield misfit(path, f"the description has the {side} `{name}` of `{function}` twice")


def _type(entry: FeatureDescription, declared: ValueType, side: str, path: Path) -> Iterator[Finding]:
    """Yield a type or shape other than the program's; a range without an end counts as one in a compiled model."""
    sizes, color = flexible(entry), entry.type.imageType.colorSpace
    if color and not word_of(color, COLORS):
        yield misfit(path, f"the description says that `{entry.name}` is an image of the unknown color space {color}")
    if any(
        each.code != codes.INPUT_WITHOUT_RANGE or sizes is None or not sizes.ranges
        for each in entry_mismatches(entry, declared, side)
    ):
        there = (
            f"by the description {type_words(entry.type)}"
            if entry.type.WhichOneof("Type")
            else "the description has no type"
        )
        yield misfit(path, f"the {side} `{entry.name}` is {spelled(read_type(declared))}, but {there}")
