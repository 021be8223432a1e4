"""A Program as a graph that can be edited and written back without loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.ir.naming import settle_names
from miltext.ir.parts import Op
from miltext.ir.reading import read_function
from miltext.ir.writing import write_function
from miltext.schema import proto
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.programs import require_program
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Collection

    from miltext.ir.functions import Function
    from miltext.schema.paths import Path


class Graph:
    """A Program: its `functions` by name. The `message` that it was read from is never changed.

    A graph can be read from several threads, but edited only from one.
    """

    @with_room
    def __init__(self, program: proto.Program) -> None:
        """Read a Program of miltext's or coremltools' classes, which may have any errors."""
        require_program(program)
        self.message = program
        with gc_paused:
            self.functions: dict[str, Function] = {
                name: read_function(name, program.functions[name]) for name in sorted(program.functions)
            }

    @classmethod
    def alone(cls, name: str, opset: str, function: proto.Function | None = None) -> Graph:
        """Return the graph of a Program with one function alone, whose only block is for an opset.

        It is a copy of a function with one block, or a function with an empty block.
        """
        program = proto.Program()
        made = program.functions[name]
        made.CopyFrom(function or proto.Function())
        own = next(iter(made.block_specializations), opset)
        made.block_specializations[opset].CopyFrom(made.block_specializations[own])
        if own != opset:
            del made.block_specializations[own]
        made.opset = opset
        return cls(program)

    def __repr__(self) -> str:
        counts = (f"{name} of {sum(1 for _ in each.walk())} operations" for name, each in self.functions.items())
        return f"<Graph: {', '.join(counts) or 'no function'}>"

    def walk(self) -> Iterator[Op]:
        """Yield all operations, each before those inside it, in the order of the text."""
        for function in self.functions.values():
            yield from function.walk()

    def operations(self) -> dict[Path, Op]:
        """Return all operations by the paths of their messages, in the order of the text."""
        parts = (part for function in self.functions.values() for part in function.parts())
        return {path: part for path, part in parts if isinstance(part, Op)}

    @with_room
    def program(self, *, may_clash: Collection[str] = ()) -> proto.Program:
        """Return a Program with the contents of the graph, of the class that was read.

        Unedited parts are equal to the message that was read, unknown fields too. Values get fresh names if an edit
        made their names clash; in the functions that `may_clash`, only where a use would find another value.
        """
        made = self.message.__class__()
        made.CopyFrom(self.message)
        for name in [each for each in made.functions if each not in self.functions]:
            del made.functions[name]
        for name, function in self.functions.items():
            if function.is_edited:
                settle_names(function, may_clash=name in may_clash)
                read = self.message.functions.get(name)  # another one if the Program was edited meanwhile
                write_function(made.functions[name], function, is_copy=read is function.message)
        return made
