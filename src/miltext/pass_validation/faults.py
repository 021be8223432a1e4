"""The faults of a pass, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from miltext.checking.findings import named
from miltext.rewriting.verifying import new_errors
from miltext.schema.function_io import interfaces
from miltext.schema.types import read_type, spelled

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from miltext.schema.function_io import Types
    from miltext.schema.proto import Program, ValueType

RAISED, INVALID, INTERFACE, NUMBERS = "raised", "invalid", "interface", "numbers"
"""The kinds of faults: the pass raised an error; its program is invalid; inputs or outputs were lost, renamed or have
another type; and outputs have other numbers.
"""

LIBRARY = "coremltools"

CHECK, WRITE, LOAD = "check", "write", "load"
"""The finder of an invalid program, the first part of its key."""


@dataclass(frozen=True)
class PassFault:
    """A fault of a pass: its kind, its `key`, which is equal for the same fault in a smaller program, and the message.

    Of numbers, `function` is the function, `inputs` are the arrays that show the fault, and `before` and `after` the
    values that differ, by the name of the output or state.
    """

    kind: str
    key: tuple[Hashable, ...]
    message: str
    function: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


def raised(failure: Exception) -> PassFault:
    """Return the fault of a pass that raised an error."""
    return PassFault(RAISED, origin_of(failure), in_words(failure))


def unwritable(failure: Exception) -> PassFault:
    """Return the fault of a program that coremltools cannot write."""
    message = f"coremltools cannot write the program any more: {in_words(failure)}"
    return PassFault(INVALID, (WRITE, *origin_of(failure)), message)


def unloadable(failure: Exception) -> PassFault:
    """Return the fault of a program that coremltools cannot load."""
    message = f"coremltools cannot load the program any more: {in_words(failure)}"
    return PassFault(INVALID, (LOAD, *origin_of(failure)), message)


def interface_fault(before: Program, after: Program, *, may_rename: bool) -> PassFault | None:
    """Return the first difference between the inputs, states and outputs of two programs, each paired by its place."""
    old, new = interfaces(before), interfaces(after)
    for function, stated in old.items():
        if function not in new:
            return PassFault(INTERFACE, ("function",), f"the function {named(function)} is lost")
        for side, types in stated.sides.items():
            found = _difference(side, types, new[function].sides[side], may_rename=may_rename)
            for what, message in found:
                return PassFault(INTERFACE, (side, what), message, function)
    return None


def check_fault(before: Program, after: Program) -> PassFault | None:
    """Return the first error of `check` that a program did not have before the pass."""
    for finding in new_errors(before, after):
        return PassFault(INVALID, (CHECK, finding.code), f"{finding.code}: {finding.message}")
    return None


def _difference(side: str, old: Types, new: Types, *, may_rename: bool) -> Iterator[tuple[str, str]]:
    if len(new) < len(old):
        lost = [name for name in old if name not in new]
        yield "lost", f"the {side} {named(lost[0] if lost else [*old][-1])} is lost"
    elif len(new) > len(old):
        added = [name for name in new if name not in old]
        yield "added", f"the {side} {named(added[0])} is new"
    for (name, was), (renamed, now) in zip(old.items(), new.items(), strict=False):
        if name != renamed and not may_rename:
            yield "renamed", f"the {side} {named(name)} is called {named(renamed)}"
        if _spelled(was) != _spelled(now):
            yield "type", f"the {side} {named(name)} was {_spelled(was)}, and is {_spelled(now)}"


def _spelled(type: ValueType | None) -> str:
    return "undefined" if type is None else spelled(read_type(type))


def origin_of(failure: Exception) -> tuple[str, str, int]:
    """Return the name of an error, and the file and line of coremltools that raised it."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(failure.__traceback__)]
    inside = [each for each in frames if LIBRARY in each[0]] or frames or [("", 0)]
    path, line = inside[-1]
    return type(failure).__name__, path.rpartition(f"{LIBRARY}/")[2], line


def in_words(failure: Exception) -> str:
    """Return the name and the text of an error, and where coremltools raised it."""
    name, path, line = origin_of(failure)
    said = " ".join(str(failure).split())
    return f"{name}: {said}, at {path}:{line}" if said else f"{name} at {path}:{line}"
