"""What coremltools' own loader says of a program, at the place of the operation that it says it of.

The loader stops at the first thing that it does not take, and takes less than Core ML does: what it says is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding
from miltext.schema.paths import Key, Path
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Block, Operation, Program

NOT_INSTALLED = "MIL480"

LONG = 300
"""From how many characters on what it says is cut."""

OPERATION = "op_spec"
"""What the loader calls the operation that it is loading, in the functions that do."""


def loader_findings(model: Model) -> list[Finding]:
    """The complaint of coremltools' loader about a model's program, if it has one, or why it cannot be asked.

    Raises ModelError: MIL480 without coremltools; and what asking for the program raises.
    """
    from miltext.coreml import to_pymil
    from miltext.diagnostics import ModelError

    program = model.program
    try:
        to_pymil(model)
    except ModelError as refused:
        reason = refused.diagnostics[0]
        if reason.code == NOT_INSTALLED:
            raise
        return [Finding((), reason.code, f"coremltools cannot be asked: {reason.message}", severity="warning")]
    except Exception as failure:  # noqa: BLE001  # whatever the loader runs into is what it says
        operation = _loaded(failure.__traceback__)
        path = (*_path(program, operation), "type") if operation else ()
        return [Finding(path, "MIL801", f"coremltools does not load this: {_said(failure)}", severity="warning")]
    return []


def _said(failure: Exception) -> str:
    """What an exception says; of one that says no more than a key, its name too."""
    first = failure.args[0] if failure.args else ""
    said = " ".join((first if isinstance(first, str) else str(failure)).split())
    return shown(said, LONG) if " " in said else f"{type(failure).__name__}: {shown(said, LONG)}".rstrip(": ")


def _loaded(trace: TracebackType | None) -> Operation | None:
    """The operation that the loader was at: that of the innermost function that has one."""
    found = None
    while trace is not None:
        found = trace.tb_frame.f_locals.get(OPERATION, found)
        trace = trace.tb_next
    return found


def _path(program: Program, operation: Operation) -> Path:
    """The path of an operation of coremltools' copy: the first of that type that makes the same values."""
    made = [output.name for output in operation.outputs]
    for name, function in program.functions.items():
        for opset, block in function.block_specializations.items():
            for found, path in _operations(block, ("functions", Key(name), "block_specializations", Key(opset))):
                if found.type == operation.type and [output.name for output in found.outputs] == made:
                    return path
    return ()


def _operations(block: Block, path: Path) -> Iterator[tuple[Operation, Path]]:
    for index, operation in enumerate(block.operations):
        place = (*path, "operations", index)
        yield operation, place
        for nested, inner in enumerate(operation.blocks):
            yield from _operations(inner, (*place, "blocks", nested))
