"""The form of a compiled program: its dialect, the order of inputs and outputs, and its flexible shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.contract.interface import described_functions, misfit, outputs_of
from miltext.compiled.coremldata import FILE_NAME
from miltext.printing.coremlc import LAST_OF_DIALECT_1_0
from miltext.printing.flexible_shapes import ATTRIBUTE, KEYS, flexible, read_information
from miltext.schema.paths import Key

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.diagnostics.dynamic import Json
    from miltext.printing.flexible_shapes import Flexible
    from miltext.schema.paths import Path
    from miltext.schema.proto import Function, ModelDescription, Program


def program_findings(program: Program, version: int, description: ModelDescription, dialect: str) -> Iterator[Finding]:
    """Yield the parts of a compiled program that Apple's compiler writes otherwise for its description."""
    wanted = "1.0" if version <= LAST_OF_DIALECT_1_0 else "1.3"
    if dialect != wanted:
        message = f"the compiler writes models of the specification version {version} in the dialect {wanted}"
        yield misfit((), f"{message}, and not {dialect}")
    for name, described in described_functions(description).items():
        if name in program.functions:
            path: Path = ("functions", Key(name))
            yield from _order(name, program.functions[name], described, path)
            yield from _flexible(program.functions[name], described, path)


def _order(name: str, function: Function, described: Json, path: Path) -> Iterator[Finding]:
    """Yield inputs out of the compiler's order, by their names, and outputs in another order."""
    taken, (given, _) = [value.name for value in function.inputs], outputs_of(name, function)
    ordered = sorted(taken, key=str.encode)
    if taken != ordered:
        first, second = _first_unlike(ordered, taken)
        yield misfit(path, f"the compiler sorts the inputs of `{name}` by their names: `{first}` is before `{second}`")
    entries = [entry.name for entry in described.output]
    if given != entries and sorted(given) == sorted(entries):
        first, second = _first_unlike(entries, given)
        message = f"{FILE_NAME} lists the outputs of `{name}` in another order: `{first}` in place of `{second}`"
        yield misfit(path, message, "note")


def _first_unlike(one: list[str], other: list[str]) -> tuple[str, str]:
    return next((left, right) for left, right in zip(one, other, strict=True) if left != right)


# ---- flexible shapes


def _flexible(function: Function, described: Json, path: Path) -> Iterator[Finding]:
    """Yield shapes that an input takes by the description alone, or by the program alone.

    The compiler's output for several such inputs, for images, and for ranges without an end is unknown. The keys
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
            says = f"states {_spelled(shapes)} for `{name}`" if shapes else f"states nothing for `{name}`"
            is_ = f"it is {_spelled(expected)}" if expected else "it has one shape"
            yield misfit(path, f"{ATTRIBUTE} {says}, but by {FILE_NAME} {is_}")


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
