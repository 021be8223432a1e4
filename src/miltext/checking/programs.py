"""All errors and warnings of a Program, and their places in the text that it was read from.

`verify` checks its names (`scopes`), its types and values (`values`), its blocks, its operations against their
signatures and inferred types (`operations`), and constructs that Core ML refuses although loaders accept them
(`refused`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.blocks import specialization_findings
from miltext.checking.findings import located
from miltext.checking.ignores import without_ignored
from miltext.checking.import_calls import import_findings
from miltext.checking.inference.reading import StatedGraph
from miltext.checking.operations import operation_findings
from miltext.checking.refused import refused_findings
from miltext.checking.scopes import name_findings
from miltext.checking.values import value_findings
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import dialect_of
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Collection

    from miltext.checking.arrays import Arrays
    from miltext.checking.findings import Finding
    from miltext.diagnostics import Diagnostic
    from miltext.schema.paths import Path as Place
    from miltext.schema.proto import Program


@with_room
def findings_in(
    program: Program, text: str | None = None, *, each_use: bool = False, undescribed: str = ""
) -> list[Finding]:
    """Return all findings about a Program, before they have places; suggest types in the dialect of its text.

    An undefined name is reported once per function, or with `each_use` at each use. `undescribed` is as in
    `refused_findings`.
    """
    with gc_paused:
        dialect = "1.3" if text is None else dialect_of(text)
        return verify(program, dialect, each_use=each_use, undescribed=undescribed)


@with_room
def as_diagnostics(findings: Collection[Finding], text: str | None) -> list[Diagnostic]:
    """Return findings with their places in the text that their Program was read from; without places for None.

    Findings ignored by the text's comments are left out. The text is read only if there are findings.
    """
    with gc_paused:
        found = located(findings, text)
    return found if text is None else without_ignored(text, found)


def verify(
    program: Program | StatedGraph,
    dialect: str = "1.3",
    faulty: set[Place] | None = None,
    arrays: Arrays | None = None,
    *,
    each_use: bool = False,
    undescribed: str = "",
) -> list[Finding]:
    """Return all findings about a Program; suggest types in the dialect. The `arrays` belong to its text.

    Add to `faulty` the paths of operations with wrong inputs, even if the error was reported before. An undefined name
    is reported once per function, or with `each_use` at each use. `undescribed` is as in `refused_findings`.
    """
    graph = program if isinstance(program, StatedGraph) else StatedGraph(program)
    return [
        *name_findings(graph, dialect, each_use=each_use),
        *specialization_findings(graph),
        *value_findings(graph, arrays),
        *operation_findings(graph, dialect, faulty),
        *refused_findings(graph, undescribed),
        *(import_findings(graph, arrays.imports, dialect) if arrays and arrays.has_imports else ()),
    ]
