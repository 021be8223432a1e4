"""Findings about places of a program that known faults concern."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from miltext.advisories.table import advisories
from miltext.checking.findings import Finding
from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.sites import Finder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from miltext.advisories.table import Advisory
    from miltext.checking.further import Further
    from miltext.ir.functions import Block, Function
    from miltext.schema.proto import Program


def further(choice: str | None) -> Further | None:
    """Return the check for the advisories of a choice; None for no choice. Raise ValueError for another word."""
    return None if choice is None else partial(advise, advisories(choice))


def advise(chosen: tuple[Advisory, ...], program: Program, folder: Path | None) -> list[Finding]:
    """Return the findings about a program; its weight files are in the folder."""
    contents = ConstantContents(folder)
    return [each for function in Graph(program).functions.values() for each in _in_function(chosen, function, contents)]


def _in_function(chosen: tuple[Advisory, ...], function: Function, contents: ConstantContents) -> Iterator[Finding]:
    found = [
        (op, advisory)
        for opset, block in function.blocks.items()
        for op, advisory in _in_block(chosen, block, opset, contents)
    ]
    paths = {part: path for path, part in function.parts() if isinstance(part, Op)} if found else {}
    for op, advisory in found:
        lines = filter(None, (advisory.evidence, advisory.way_out))
        yield Finding(
            (*paths[op], "type"),
            advisory.code,
            advisory.message,
            severity=advisory.severity,
            notes=tuple(lines),
        )


def _in_block(
    chosen: tuple[Advisory, ...], block: Block, opset: str, contents: ConstantContents
) -> Iterator[tuple[Op, Advisory]]:
    by_type = defaultdict(list)
    for op in block.walk():
        by_type[op.type].append(op)
    for advisory in chosen:
        ops = by_type.get(advisory.operation, ())
        finder = Finder(advisory.rule, contents, opset) if ops else None
        for op in ops:
            if finder is not None and finder.found(op) is not None:
                yield op, advisory
