"""Drafts: MIL text with types left to inference, the types of outputs (`_ y = ...`) and of literals (`axis = 1`).

The signature of its operation determines the type of a literal; if that leaves a choice, the data types beside the
literal decide. The type of an output follows by the rules of `miltext.checking.inference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.arrays import Arrays
from miltext.checking.draft_types import DraftTypes
from miltext.checking.draft_walk import DraftWalk
from miltext.checking.findings import Finding, counted, operations_around
from miltext.diagnostics import Diagnostic, Span, codes
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.phrases import draft_words, name_in, program_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miltext.checking.inference.operands import Operand
    from miltext.parsing.recovery import Recovered
    from miltext.schema.paths import Path
    from miltext.schema.types import Type
    from miltext.syntax.tree import Node

    Operands = Mapping[str, Sequence[Operand]]


MOST_WALKS = 8
"""The greatest number of walks over a draft to infer the types of its loops' variables. coremltools builds the blocks
of a loop at most twice (iOS15/control_flow.py); a type that still changes then is an error.
"""


def draft_types(read: Recovered, arrays: Arrays | None = None) -> DraftTypes:
    """Infer the types that a draft leaves out, write them into its Program, and report types that cannot be inferred.

    The `arrays` are the arrays named in the draft; without them, it has no folder. A loop variable has the type of its
    initial value, with a `?` for each size that changes between turns: the walks over the draft stop when no type
    changes.
    """
    types = nothing_inferred(read)
    if read.program is None or not (read.drafts or read.elaborated):
        return types
    arrays = arrays or Arrays(None)
    before = read.program.__class__()
    carried: dict[Path, Type] = {}
    has_loops = any(gap[-2] == "inputs" and any(operations_around(gap)) for gap in read.drafts)
    if has_loops:
        before.CopyFrom(read.program)
    for turn in range(MOST_WALKS):
        walk = DraftWalk(read, types, arrays, carried)
        walk.program()
        wider = walk.wider
        del walk
        gc_paused.sweep()
        if not wider or turn + 1 == MOST_WALKS:
            break
        carried |= wider
        types = nothing_inferred(read)
        arrays.report_again()
        read.program.CopyFrom(before)
    types.findings.extend(_outside(gap) for gap in sorted(types.open, key=str) if not any(operations_around(gap)))
    return types


def nothing_inferred(read: Recovered) -> DraftTypes:
    """Return the types of a draft before any is inferred."""
    return DraftTypes(read, {}, [], [], {}, {}, [], set(read.drafts), set(), {})


def _outside(gap: Path) -> Finding:
    """Return the finding about an omission outside of any operation."""
    if gap[-2] == "inputs":
        return Finding(gap, codes.NOT_INFERRED, "an input of a function needs its type; write it before the name")
    return Finding(
        gap, codes.NOT_INFERRED, "the type of this literal cannot be inferred: no operation uses it; write it out"
    )


def marker_of(root: Node | None) -> Node | None:
    """Return the marker in the head of a draft; None without one."""
    return next((field for field in program_fields(root) if field.name == "draft_marker"), None) if root else None


def marker_words(root: Node | None) -> set[str]:
    """Return the words of the marker in the head of a draft, apart from `types`."""
    marker = marker_of(root)
    return {name_in(word) for word in draft_words(marker)} if marker else set()


def draft_notice(read: Recovered) -> list[Diagnostic]:
    """Return the note about a draft, at its first omitted part; none for any other text."""
    first = read.elaborated.first if read.elaborated else None
    if first is not None:
        message = "this is a draft in the short spelling; `miltext infer` writes it out"
        return [Diagnostic("note", codes.DRAFT, message, Span(first, first + 1))]
    if not read.drafts:
        marker = marker_of(read.root)
        message = "this is a draft, whose head requests more than types; `miltext infer` writes it out"
        return [Diagnostic("note", codes.DRAFT, message, marker.span)] if marker else []
    place = min(gap.span for gap in read.drafts.values())
    types = counted(len(read.drafts), "type")
    message = f"this is a draft, which leaves out {types}; `miltext infer` fills in the missing parts"
    return [Diagnostic("note", codes.DRAFT, message, place)]
