"""The code of a rule file in Python, run because a user named the file to be run, and its failures at their lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from traceback import walk_tb
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError
from miltext.ir.parts import Op, literal_of
from miltext.rewriting.literals import literal_message
from miltext.rewriting.matching import operands_of, usual_operands
from miltext.rewriting.passes import UNWRITTEN, RuleSite
from miltext.schema.operations import signature

if TYPE_CHECKING:
    from types import TracebackType

    from miltext.diagnostics import Note, ParseError
    from miltext.evaluation.rules import Array
    from miltext.ir.graph import Graph
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema import proto

    Mistake = Callable[[str, int | None, Note], ParseError]

LONGEST = 200
"""The most characters of the message of an exception."""


class RuleConstants:
    """The constants of a program, for a rule in Python: the second argument of its function."""

    def __init__(self, contents: ConstantContents) -> None:
        self._contents = contents

    def read(self, op: Op, parameter: str) -> Array | None:
        """Return the array of an argument, or its default if it is omitted; None for any value that is computed.

        The contents of a `const` are `read(op, "val")`. Raise ValueError for a parameter that the operation lacks.
        """
        found = operands_of(op, parameter)
        if not found and op.block is not None:
            known = signature(op.type, op.block.opset)
            if known is not None and parameter not in known.parameters:
                raise ValueError(f"`{op.type}` has no parameter `{parameter}`")
            found = [usual_operands(op, op.block.opset, {parameter}).get(parameter)]
        return self._contents.array(literal_of(found[0])) if len(found) == 1 else None

    def literal(self, array: Array, *, in_file: bool = False) -> proto.Value:
        """Return an argument with the numbers of an array, to be stored in a weight file if requested."""
        made = np.asarray(array)
        return self._contents.store(made, in_file=True) if in_file else literal_message(made)


class RuleCode:
    """The functions of a rule file, after its code was run once."""

    def __init__(self, text: str, path: str, mistake: Mistake) -> None:
        """Run the code of a file. Raise ParseError (MIL870) if it fails: `mistake` returns the error of a line."""
        self._path = path
        self._mistake = mistake
        module = ModuleType(f"miltext rules {path}")
        module.__file__ = path
        sys.modules[module.__name__] = module  # dataclasses, for one, look for the module of a class there
        with self._failing("the file"):
            exec(compile(text, path, "exec"), module.__dict__)
        self._module = module

    def sites(self, name: str, takes: int, graph: Graph, contents: ConstantContents) -> Iterator[RuleSite]:
        """Yield the sites of a rule. Raise ParseError (MIL870) where its code fails, also in a change."""
        given = (graph, RuleConstants(contents))[:takes]
        function = getattr(self._module, name, None)
        with self._failing(named(name), getattr(getattr(function, "__code__", None), "co_firstlineno", None)):
            found = getattr(self._module, name)(*given)
            if not isinstance(found, Iterator):
                kind = type(found).__name__
                raise TypeError(f"a rule yields sites, but it returned {kind}: `yield miltext.RuleSite(op, change)`")
        while True:
            with self._failing(named(name)):
                site = next(found, None)
            if site is None:
                return
            with self._failing(named(name), getattr(getattr(found, "gi_frame", None), "f_lineno", None)):
                _require(site)
            yield site._replace(change=partial(self._change, name, site.change))

    def _change(self, name: str, change: Callable[[], object]) -> None:
        with self._failing(named(name)):
            change()

    @contextmanager
    def _failing(self, what: str, line: int | None = None) -> Iterator[None]:
        """Report an exception as a mistake of the file: in its last line that was running, or else in a given one."""
        try:
            yield
        except (Exception, SystemExit) as failure:
            message = f"{what} raised {type(failure).__name__}{_said(failure)}"
            place = _line(failure.__traceback__, self._path) or line
            raise self._mistake(message, place, UNWRITTEN) from failure


def _require(site: object) -> None:
    """Raise TypeError or ValueError for an object other than a site of the graph."""
    if not isinstance(site, RuleSite):
        raise TypeError(f"a rule yields miltext.RuleSite, not {type(site).__name__}")
    if not callable(site.change):
        raise TypeError(f"the change of a site must be a function without arguments, not {type(site.change).__name__}")
    for op in (site.root, *site.others):
        if not isinstance(op, Op):
            raise TypeError(f"a site consists of operations, not of {type(op).__name__}")
        if op.block is None:
            raise ValueError(f"{op!r} of a site is in no block: it was removed before")


def _line(trace: TracebackType | None, path: str) -> int | None:
    """Return the last line of a file in a traceback."""
    lines = [line for frame, line in walk_tb(trace) if frame.f_code.co_filename == path]
    return lines[-1] if lines else None


def _said(failure: BaseException) -> str:
    """Return the message of an exception after a colon, in one line; empty if it has none."""
    said = failure.diagnostics[0].message if isinstance(failure, MiltextError) else str(failure)
    first = said.strip().partition("\n")[0]
    return f": {first[:LONGEST]}" if first else ""
