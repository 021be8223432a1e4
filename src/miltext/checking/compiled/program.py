"""Differences between the inputs and outputs of a compiled model's program and its description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding
from miltext.compiled.coremldata import FILE_NAME, TEXT
from miltext.descriptions.mismatches import entry_mismatches
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION, required_version
from miltext.diagnostics import codes
from miltext.pipelines.type_words import type_words
from miltext.printing.coremlc import LAST_OF_DIALECT_1_0
from miltext.printing.flexible_shapes import ATTRIBUTE, KEYS, flexible, read_information
from miltext.schema.features import COLORS, PREDICTIONS, word_of
from miltext.schema.function_io import interface
from miltext.schema.paths import Key, block_path
from miltext.schema.types import read_type, spelled
from miltext.schema.walk import blocks_of, own_opset

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json, Record
    from miltext.printing.flexible_shapes import Flexible
    from miltext.schema.paths import Path
    from miltext.schema.proto import FeatureDescription, Function, ModelDescription, Program, ValueType


def program_findings(program: Program, version: int, description: ModelDescription, dialect: str) -> Iterator[Finding]:
    """Yield contradictions between a compiled program and its description, at their places in the program."""
    yield from description_findings(program, version, description)
    wanted = "1.0" if version <= LAST_OF_DIALECT_1_0 else "1.3"
    if dialect != wanted:
        message = f"the compiler writes models of the specification version {version} in the dialect {wanted}"
        yield _found((), f"{message}, and not {dialect}")
    for name, described in _described(description).items():
        if name in program.functions:
            path: Path = ("functions", Key(name))
            yield from _order(name, program.functions[name], described, path)
            yield from _flexible(program.functions[name], described, path)


def description_findings(program: Program, version: int, description: ModelDescription) -> Iterator[Finding]:
    """Yield contradictions between a program and its description, whether it is compiled or about to be."""
    least = required_version(program, description)
    if version < least:
        yield _found((), f"{FILE_NAME} has the specification version {version}, but what is there needs {least}")
    yield from _functions(program, description)
    described = _described(description)
    for name in sorted(program.functions):
        if name in described:
            yield from _function(name, program.functions[name], described[name])
        elif description.functions or DEFAULT_FUNCTION in program.functions:
            yield _found(("functions", Key(name), "key"), f"{FILE_NAME} does not describe the function `{name}`")


def _described(description: ModelDescription) -> Record:
    """Return the description of each function, by name; without a list of them, `main` alone is described."""
    return {each.name: each for each in description.functions} or {DEFAULT_FUNCTION: description}


def _functions(program: Program, description: ModelDescription) -> Iterator[Finding]:
    """Yield the errors in the list of the described functions."""
    names = [each.name for each in description.functions]
    for name in sorted({*_described(description)} - {*program.functions}):
        yield _found((), f"{FILE_NAME} describes the function `{name}`, which {TEXT} lacks")
    for name in _doubled(names):
        yield _found((), f"{FILE_NAME} describes the function `{name}` twice")
    if names and not description.defaultFunctionName:
        yield _found((), f"{FILE_NAME} lists functions, and does not name the default one")
    elif names and description.defaultFunctionName not in names:
        yield _found((), f"{FILE_NAME} names the default function `{description.defaultFunctionName}`, which it lacks")


def _found(path: Path, message: str, severity: str = "warning") -> Finding:
    return Finding(path, codes.MISFIT_COMPILED_DESCRIPTION, message, severity=severity)


def _function(name: str, function: Function, described: Json) -> Iterator[Finding]:
    path: Path = ("functions", Key(name))
    outputs, block = _outputs(name, function)
    places = {value.name: (*path, "inputs", index) for index, value in enumerate(function.inputs)}
    given = {name: (*block, "outputs", index) for index, name in enumerate(outputs)}
    for output in _doubled(outputs):
        yield _found(given[output], f"{TEXT} has the output `{output}` of `{name}` twice")
    for side, types in interface(function).sides.items():
        entries = getattr(described, side)
        yield from _names(entries, [*types], side, name, path)
        for entry in entries:
            declared = types.get(entry.name)
            if declared is not None:
                yield from _type(entry, declared, side, (given if side == "output" else places)[entry.name])
    for key in PREDICTIONS:
        if (predicted := getattr(described, key)) and predicted not in given:
            yield _found(path, f"{FILE_NAME} has the {key} `{predicted}`, which is not an output of `{name}`")


def _outputs(name: str, function: Function) -> tuple[list[str], Path]:
    """Return the names of a function's outputs, and the path of the block that gives them."""
    blocks = blocks_of(function)
    opset = own_opset(function.opset, blocks)
    return [] if opset is None else [*blocks[opset].outputs], block_path(name, opset or "")


def _doubled(names: list[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _names(entries: Json, names: list[str], side: str, function: str, path: Path) -> Iterator[Finding]:
    described = [entry.name for entry in entries]
    if "" in described:
        yield _found(path, f"{FILE_NAME} has an {side} of `{function}` without a name")
    for odd in sorted({*described}.symmetric_difference(names) - {""}):
        lacking = f"{TEXT} lacks" if odd in described else f"{FILE_NAME} lacks"
        yield _found(path, f"{lacking} the {side} `{odd}` of `{function}`")
    for name in _doubled(described):
        yield _found(path, f"{FILE_NAME} has the {side} `{name}` of `{function}` twice")


def _type(entry: FeatureDescription, declared: ValueType, side: str, path: Path) -> Iterator[Finding]:
    """Yield a type or shape other than the program's; a range without an end counts as one in a compiled model."""
    sizes, color = flexible(entry), entry.type.imageType.colorSpace
    if color and not word_of(color, COLORS):
        yield _found(path, f"{FILE_NAME} says that `{entry.name}` is an image of the unknown color space {color}")
    if any(
        each.code != codes.INPUT_WITHOUT_RANGE or sizes is None or not sizes.ranges
        for each in entry_mismatches(entry, declared, side)
    ):
        there = (
            f"by {FILE_NAME} {type_words(entry.type)}" if entry.type.WhichOneof("Type") else f"{FILE_NAME} has no type"
        )
        yield _found(path, f"the {side} `{entry.name}` is {spelled(read_type(declared))}, but {there}")


def _order(name: str, function: Function, described: Json, path: Path) -> Iterator[Finding]:
    """Yield inputs out of the compiler's order, by their names, and outputs in another order."""
    taken, (given, _) = [value.name for value in function.inputs], _outputs(name, function)
    ordered = sorted(taken, key=str.encode)
    if taken != ordered:
        first, second = _first_unlike(ordered, taken)
        yield _found(path, f"the compiler sorts the inputs of `{name}` by their names: `{first}` is before `{second}`")
    entries = [entry.name for entry in described.output]
    if given != entries and sorted(given) == sorted(entries):
        first, second = _first_unlike(entries, given)
        message = f"{FILE_NAME} lists the outputs of `{name}` in another order: `{first}` in place of `{second}`"
        yield _found(path, message, "note")


def _first_unlike(one: list[str], other: list[str]) -> tuple[str, str]:
    return next((left, right) for left, right in zip(one, other, strict=True) if left != right)


# ---- flexible shapes


def _flexible(function: Function, described: Json, path: Path) -> Iterator[Finding]:
    """Yield shapes that an input takes by the description alone, or by the program alone.

    Of several such inputs, of images, and of ranges without an end, the output of the compiler is not known. The keys
    of enumerated shapes, which only the compiler makes, are not compared.
    """
    said = read_information(function.attributes.get(ATTRIBUTE))
    known = {value.name for value in function.inputs}
    entries = {entry.name: flexible(entry) for entry in described.input}
    if sum(_shapes(each) is not None for each in entries.values()) > 1:
        return
    for name in [*entries, *(each for each in said if each not in entries)]:
        wanted, found = entries.get(name), said.get(name)
        shapes, expected = _shapes(found), _shapes(wanted)
        if wanted is not None and expected and {*wanted.doubts} - {KEYS}:
            continue
        if shapes != expected and (name in known or found is not None):
            says = f"says {_spelled(shapes)} of `{name}`" if shapes else f"has nothing of `{name}`"
            is_ = f"it is {_spelled(expected)}" if expected else "it has one shape"
            yield _found(path, f"{ATTRIBUTE} {says}, but by {FILE_NAME} {is_}")


Shapes = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
"""A default, the listed shapes, in any order, and ranges."""


def _shapes(sizes: Flexible | None) -> Shapes | None:
    if sizes is None or not (sizes.shapes or sizes.ranges):
        return None
    return tuple(sizes.default), tuple(sorted(map(tuple, sizes.shapes))), tuple(map(tuple, sizes.ranges))


def _spelled(shapes: Shapes | None) -> str:
    assert shapes is not None
    default, several, ranges = shapes
    sizes = [f"{list(default)} by default"]
    sizes += [f"one of {[list(each) for each in several]}"] * bool(several)
    sizes += [f"in the ranges {[list(each) for each in ranges]}"] * bool(ranges)
    return ", ".join(sizes)
