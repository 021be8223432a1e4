"""The costs of each counted operation in a program, and of each function, with its peak."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import InputConflict, Unknown
from miltext.checking.inference.program import Walk, result
from miltext.checking.inference.reading import StatedGraph
from miltext.costing.formulas import PICKS, UNKNOWN, VIEWS, multiply_accumulates
from miltext.costing.memory import Peak, peak_of
from miltext.costing.work import FunctionCost, OperationCost, Work, total
from miltext.diagnostics.wording import listed
from miltext.ir.flow import FLOWS
from miltext.ir.parts import Value
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import KeyedGraph, label
from miltext.schema.operations import signature
from miltext.schema.types import (
    StateType,
    TensorType,
    bytes_of,
    compatible,
    filled,
    is_whole,
    read_type,
)
from miltext.scopes.scopes import function_scopes
from miltext.scopes.weight_extents import holders_of
from miltext.syntax.names import name_text
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from miltext.checking.inference.operands import Arguments, Operand
    from miltext.checking.inference.program import Path
    from miltext.costing.sized import SizedModel
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op
    from miltext.models.model import Stage
    from miltext.schema.types import Type

MOST_NAMES = 3
"""The most names in a note."""

TURNS = "one turn of each `{}` counts"
BRANCHES = "of each `{}`, only the block with more multiply-accumulates counts, or with more bytes"


class CostedOperation(NamedTuple):
    """An operation of the graph, and its cost."""

    op: Op
    cost: OperationCost


class CostedProgram:
    """A program of a model: its `rows`, one for each counted operation, its `functions`, and `notes`."""

    @with_room
    def __init__(self, stage: Stage, made: SizedModel, function: str | None, keys: Keys) -> None:
        self.stage = stage
        contents = ProgramContents(keys, made.model.model_path, made.model.keeps)
        self.graph = KeyedGraph(own_copy(made.model.program), keys, contents)
        self._held = {op: sum(size.bytes for size in held.values()) for op, held in holders_of(self.graph).items()}
        self._walk = _ArgumentWalk(StatedGraph(self.graph.message, self.graph))
        self._walk.program()
        self._open: list[str] = []
        self._unknown: list[str] = []
        self._flows: set[str] = set()
        self.rows: list[CostedOperation] = []
        names = [function] if function is not None else [*self.graph.functions]
        self.functions = [self._function(self.graph.functions[name]) for name in names]
        self.notes = (*made.notes, *self._notes())

    def _function(self, function: Function) -> FunctionCost:
        name, scopes = name_text(function.name), function_scopes(function)
        block = function.block or next(iter(function.blocks.values()), None)
        made = self._rows(block, lambda op: (self.stage.place, name, scopes[op])) if block is not None else []
        self.rows += made
        states = [_held_by(value.type) for value in function.inputs if isinstance(value.type, StateType)]
        shapes = [(value.name, value.type) for value in function.inputs]
        inputs = tuple((name_text(each), kind.shape) for each, kind in shapes if isinstance(kind, TensorType))
        peak = peak_of(block, function.inputs, self._size) if block is not None else Peak(0, None, ())
        values = sorted(((name_text(each.name), self._size(each)) for each in peak.values), key=lambda each: -each[1])
        return FunctionCost(
            *(self.stage.place, name, inputs, len(made), total(each.cost.work for each in made), sum(states)),
            *(peak.bytes, label(peak.op) if peak.op is not None else None, (*values,)),
        )

    def _rows(self, block: Block, place: Callable[[Op], tuple[str, str, str]]) -> list[CostedOperation]:
        """Return the counted operations of a block, and of the blocks inside them."""
        found: list[CostedOperation] = []
        for op in block:
            if op.is_constant:
                continue
            work = Work() if op.blocks else self._work(op)
            found.append(CostedOperation(op, OperationCost(*place(op), label(op), name_text(op.type), work)))
            inner = [self._rows(each, place) for each in op.blocks]
            if inner:
                self._flows.add(op.type)
            if inner and _decides(op.type):
                inner = [max(inner, key=_most_of)]
            found += [row for rows in inner for row in rows]
        return found

    def _work(self, op: Op) -> Work:
        """Return the work of an operation without blocks; none of a view."""
        if op.type in UNKNOWN or signature(op.type, self._walk.opsets[op]) is None:
            self._unknown.append(op.type)
        if op.type in VIEWS:
            return Work()
        return Work(self._macs(op), *self._read(op), self._written(op))

    def _macs(self, op: Op) -> int:
        made = self._type(op.outputs[0]) if op.outputs else None
        shape = made.shape if isinstance(made, TensorType) else ()
        try:
            return multiply_accumulates(self._walk.given[op], shape)
        except (Unknown, InputConflict):
            self._open.append(label(op))
            return 0

    def _read(self, op: Op) -> tuple[int, int]:
        """Return the bytes that an operation reads, each argument once, and the bytes of weights among them."""
        picked = op.operand(PICKS[op.type]) if op.type in PICKS and op.outputs else None
        read = weights = self._held.get(op, 0)
        if picked is not None and not isinstance(picked, Value):
            read = weights = _part(read, self._size(op.outputs[0]), bytes_of(read_type(picked.type)))
        for value in dict.fromkeys(op.operands):
            maker = value.maker if value.is_constant else None
            whole = self._size(value) if maker is None else self._held.get(maker, 0)
            if self._type(value) is None:
                self._open.append(name_text(value.name))
            if value is picked:
                whole = _part(whole, self._size(op.outputs[0]), self._bytes(value))
            read += whole
            weights += whole if maker is not None else 0
        return read, weights

    def _written(self, op: Op) -> int:
        """Return the bytes that an operation writes: its outputs, and a state."""
        sizes = [self._bytes(value) for value in op.outputs]
        if None in sizes:
            self._open.append(label(op))
        states = [value.type for value in op.operands if value.is_state]
        return sum(size or 0 for size in sizes) + sum(map(_held_by, states))

    def _size(self, value: Value) -> int:
        """Return the bytes of a value besides weights and states; 0 for an unknown size."""
        return 0 if value.is_constant else self._bytes(value) or 0

    def _bytes(self, value: Value) -> int | None:
        return bytes_of(self._type(value))

    def _type(self, value: Value) -> Type:
        return self._walk.operand(value).type

    def _notes(self) -> Iterator[str]:
        """Yield the uncounted costs, with reasons."""
        for what, why in self.graph.contents.unread.items():
            yield f"{what}: {why}; sizes there are computed from types"
        names = [*dict.fromkeys(self._open)]
        if names:
            yield f"sizes of {listed(names, 'and', MOST_NAMES)} do not follow from the sizes of inputs, and count as 0"
        unknown = [*dict.fromkeys(self._unknown)]
        if unknown:
            yield f"the multiply-accumulates of {listed(unknown, 'and', MOST_NAMES)} are not known, and count as 0"
        for kind in sorted(self._flows):
            yield (BRANCHES if _decides(kind) else TURNS).format(name_text(kind))


class _ArgumentWalk(Walk):
    """Inference that keeps the arguments of each operation, and the opset of its block."""

    def __init__(self, graph: StatedGraph) -> None:
        super().__init__(graph)
        self.given: dict[Op, Arguments] = {}
        self.opsets: dict[Op, str] = {}

    def made(self, op: Op, index: int, followed: Type, arguments: Arguments, path: Path) -> Operand:
        """Return an output with the sizes that follow in place of open ones."""
        operand = super().made(op, index, followed, arguments, path)
        if is_whole(operand.type) or not compatible(operand.type, followed):
            return operand
        return result(arguments, filled(operand.type, followed))

    def operation(self, op: Op, path: Path) -> None:
        super().operation(op, path)
        self.given[op], self.opsets[op] = self.found[-1].arguments, self.opset


def _decides(kind: str) -> bool:
    """Return whether only one block of an operation of this type runs."""
    return kind in FLOWS and bool(FLOWS[kind].decides)


def _most_of(rows: Sequence[CostedOperation]) -> tuple[int, int]:
    work = total(each.cost.work for each in rows)
    return work.macs, work.bytes


def _part(whole: int, taken: int, size: int | None) -> int:
    """Return the share of a value's bytes for the bytes that are taken of its size, all of them at most."""
    return min(whole, -(-whole * taken // size)) if size else whole


def _held_by(type: Type) -> int:
    """Return the bytes of a state."""
    return (bytes_of(type.wrapped) or 0) if isinstance(type, StateType) else 0
