"""Descriptions of operations: the entries of `operations.txt`, whose head describes its format."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from miltext.schema.operations import opset_place

_HEAD = re.compile(r"(\w+<(\w+)>\(.*\)) -> (\(.*\))")


class Example(NamedTuple):
    """A whole program for the opset `opset`, as a draft that can be inferred."""

    opset: str
    text: str


class Entry(NamedTuple):
    """An operation: a line about its computation, notes about parameters, the type of the result, and examples.

    There is an example for the first opset of the operation, and for each later opset that rejects the previous
    example.
    """

    name: str
    family: str
    description: str
    notes: dict[str, str]
    result: str
    examples: tuple[Example, ...]

    def example(self, opset: str | None = None) -> Example:
        """Return the example for an opset, by default the newest."""
        place = opset_place(opset)
        return [each for each in self.examples if opset_place(each.opset) <= place][-1]

    def note(self, parameter: str) -> str | None:
        """Return the note about a parameter, from the operation or from its family."""
        return self.notes.get(parameter) or families()[self.family].notes.get(parameter)


class Family(NamedTuple):
    """A family of operations: a line about them, and default notes and a default result."""

    description: str
    notes: dict[str, str]
    result: str


@functools.cache
def entries() -> dict[str, Entry]:
    """Return the entry of each operation by name, ordered by family and by name."""
    return {entry.name: entry for name, family, blocks in _families() for entry in _entries(name, family, blocks)}


@functools.cache
def families() -> dict[str, Family]:
    """Return each family of operations by its name."""
    return {name: family for name, family, _ in _families()}


@functools.cache
def _families() -> list[tuple[str, Family, list[str]]]:
    """Read each family with the text of its entries."""
    text = Path(__file__).with_name("operations.txt").read_text(encoding="utf-8")
    read = []
    for section in text.split("\n== ")[1:]:
        head, *blocks = section.split("\n= ")
        title, *lines = head.splitlines()
        name, _, description = title.partition(": ")
        notes, result = _notes_and_result(lines)
        read.append((name, Family(description, notes, result), blocks))
    return read


def _entries(name: str, family: Family, blocks: list[str]) -> Iterator[Entry]:
    for block in blocks:
        operation, description, *lines = block.rstrip().splitlines()
        notes, result = _notes_and_result(line for line in lines if line[0] != " ")
        programs = "\n".join(line[4:] for line in lines if line[0] == " ").split("\nfunc ")
        examples = tuple(_example(program.removeprefix("func ").splitlines()) for program in programs)
        yield Entry(operation, name, description, notes, result or family.result, examples)


def _notes_and_result(lines: Iterator[str] | list[str]) -> tuple[dict[str, str], str]:
    """Return the notes about parameters, and the type of the result, empty if there is none."""
    notes, result = dict[str, str](), ""
    for line in filter(None, lines):
        if line.startswith("-> "):
            result = line[3:]
        else:
            parameter, _, notes[parameter] = line.partition(": ")
    return notes, result


def _example(lines: list[str]) -> Example:
    """Make the program from `main<OPSET>(INPUTS) -> (OUTPUTS)` and its operations."""
    head = _HEAD.fullmatch(lines[0])
    if head is None:
        raise ValueError(f"{lines[0]!r} is not the head of an example")
    body = "".join(f"{' ' * 12}{line}\n" for line in lines[1:])
    return Example(head[2], f"program(1.3)\n{{\n    func {head[1]} {{\n{body}        }} -> {head[3]};\n}}\n")
