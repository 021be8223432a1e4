"""Search for the operations of a pattern in a graph, from its last operation up to its inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.checking.defaults import defaults
from miltext.checking.inference.operands import Arguments, read_value
from miltext.checking.inference.operands import Operand as Given
from miltext.ir.parts import Op, Value, literal_of, maker_of
from miltext.parsing.parser import parse_value
from miltext.rewriting.operands import BoundValue, ConstantContents, resolved
from miltext.rewriting.patterns import ANY, Place, RulePattern
from miltext.schema.operations import signature
from miltext.schema.types import ListType, StateType, TensorType, Type, read_type

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array
    from miltext.ir.parts import Operand

COMMUTING = frozenset("add mul maximum minimum equal not_equal logical_and logical_or logical_xor".split())
"""The operations whose arguments `x` and `y` may be in either order."""


class Match(NamedTuple):
    """A match: the operations for each operation of the pattern, and the values bound to its names."""

    ops: dict[Op, Op]
    bound: dict[str, BoundValue]


class _Argument(NamedTuple):
    """An argument of the program to compare with that of a pattern at its `place`."""

    place: Place
    wanted: Operand
    bound: BoundValue


class Matcher:
    """Finds matches of a pattern in a block for an `opset`."""

    def __init__(self, pattern: RulePattern, contents: ConstantContents, opset: str) -> None:
        self._pattern = pattern
        self._contents = contents
        self._opset = opset
        self._ops: dict[Op, Op] = {}
        self._bound: dict[str, BoundValue] = {}

    def matches(self, root: Op, given: dict[str, BoundValue] | None = None) -> Iterator[Match]:
        """Yield the matches whose last operation is `root`; names may be bound already."""
        self._ops, self._bound = {}, dict(given or {})
        for _ in self._op(self._pattern.root, root):
            yield Match(dict(self._ops), dict(self._bound))

    def _op(self, wanted: Op, op: Op) -> Iterator[None]:
        """Bind an operation of the pattern, and go on from each way to bind its arguments."""
        if wanted in self._ops:
            if self._ops[wanted] is op:
                yield
            return
        if wanted.type != op.type or op in self._ops.values() or len(wanted.outputs) != len(op.outputs) or op.blocks:
            return
        if not all(
            each.type is None or is_within(own.type, each.type)
            for each, own in zip(wanted.outputs, op.outputs, strict=True)
        ):
            return
        self._ops[wanted] = op
        fresh = [name for name in (value.name for value in wanted.outputs) if name not in self._bound]
        for name, value in zip((value.name for value in wanted.outputs), op.outputs, strict=True):
            if name in fresh:
                self._bound[name] = BoundValue(value, op, "")
        for arguments in self._orders(wanted, op):
            yield from self._arguments(arguments, 0)
        for name in fresh:
            del self._bound[name]
        del self._ops[wanted]

    def _orders(self, wanted: Op, op: Op) -> Iterator[list[_Argument]]:
        """Yield the arguments of both in each allowed order."""
        pairs = self._pairs(wanted, op)
        if pairs is None:
            return
        yield pairs
        sides = {each.place.parameter: each for each in pairs}
        if op.type in COMMUTING and {*sides} == {"x", "y"} and len(pairs) == 2:
            x, y = sides["x"], sides["y"]
            yield [x._replace(bound=y.bound), y._replace(bound=x.bound)]

    def _pairs(self, wanted: Op, op: Op) -> list[_Argument] | None:
        """Return the arguments of both by parameter; None if their numbers differ, or one is not a default."""
        pairs = []
        taken = {name for name in (*op.inputs, *op.attributes) if name != "name"}
        left_out = None
        for name, operands in wanted.inputs.items():
            found = operands_of(op, name)
            is_given = bool(found)
            if not is_given and len(operands) == 1:
                left_out = usual_operands(op, self._opset) if left_out is None else left_out
                found = [left_out.get(name)]
            if len(found) != len(operands):
                return None
            for index, (each, operand) in enumerate(zip(operands, found, strict=True)):
                pairs.append(_Argument(Place(wanted, name, index), each, BoundValue(operand, op, name, is_given)))
        extra = taken - {*wanted.inputs}
        if extra and not self._are_defaults(op, extra):
            return None
        return pairs

    def _arguments(self, arguments: list[_Argument], start: int) -> Iterator[None]:
        if start == len(arguments):
            yield
            return
        for _ in self._argument(arguments[start]):
            yield from self._arguments(arguments, start + 1)

    def _argument(self, argument: _Argument) -> Iterator[None]:
        """Bind an argument of the pattern, if it can be bound so."""
        wanted, bound = argument.wanted, argument.bound
        if not isinstance(wanted, Value):
            if self._is_literal(argument):
                yield
        elif wanted.name == ANY and wanted.owner is None:
            yield
        elif wanted.maker is not None:
            maker = maker_of(bound.operand)
            place = wanted.maker.outputs.index(wanted)
            if maker is not None and place < len(maker.outputs) and maker.outputs[place] is bound.operand:
                yield from self._op(wanted.maker, maker)
        elif wanted.name in self._bound:
            if self._is_same(self._bound[wanted.name], bound):
                yield
        elif wanted.type is None or is_within(bound.type, wanted.type):
            self._bound[wanted.name] = bound
            yield
            del self._bound[wanted.name]

    # ---- constants

    def _is_literal(self, argument: _Argument) -> bool:
        """Return whether an argument is the literal of a pattern, as a number of the argument's data type."""
        found, stated = self._contents.array(argument.bound.literal), argument.bound.type
        wanted = self._contents.array(literal_of(argument.wanted))
        if found is None or wanted is None or not isinstance(stated, TensorType | ListType):
            return False
        if argument.place not in self._pattern.open and _dtype(argument.wanted) != _dtype(argument.bound.literal):
            return False
        made = _as(wanted, found)
        return made is not None and _same_bits(resolved(argument.bound, made), resolved(argument.bound, found))

    def _is_same(self, first: BoundValue, second: BoundValue) -> bool:
        """Return whether two arguments are one value, or equal constants; axes are counted from the front."""
        if first.operand is second.operand and (first.operand is not None or first.parameter == second.parameter):
            return True
        one, other = self._contents.array(first.literal), self._contents.array(second.literal)
        if one is None or other is None or _dtype(first.literal) != _dtype(second.literal):
            return False
        one, other = resolved(first, one), resolved(second, other)
        return one.shape == other.shape and _same_bits(one, other)

    def _are_defaults(self, op: Op, names: set[str]) -> bool:
        """Return whether arguments have the defaults of their parameters."""
        usual = usual_operands(op, self._opset, names)
        for name in names:
            found = [self._contents.array(literal_of(each)) for each in operands_of(op, name)]
            wanted = self._contents.array(literal_of(usual.get(name)))
            if len(found) != 1 or found[0] is None or wanted is None:
                return False
            made = _as(wanted, found[0])
            if made is None or not _same_bits(made, found[0]):
                return False
        return True


def operands_of(op: Op, name: str) -> Sequence[Operand]:
    """Return the arguments of a parameter, which may be kept as an attribute."""
    if name in op.inputs:
        return op.inputs[name]
    return [op.attributes[name]] if name in op.attributes else []


def usual_operands(op: Op, opset: str, names: Collection[str] = ()) -> dict[str, Operand]:
    """Return the defaults of left out parameters, of the named ones, too, as literals."""
    operands = {
        name: [_given(each) for each in operands_of(op, name)]
        for name in (*op.inputs, *op.attributes)
        if name not in names and name != "name"
    }
    if signature(op.type, opset) is None:
        return {}
    found = defaults(Arguments(op.type, operands, opset), "1.3")
    return {name: _literal(text) for name, (_, text) in found.items()}


_literal = cache(parse_value)
"""Reads the text of a default; operations share the literal, for an edit copies it first."""


def _given(operand: Operand) -> Given:
    """Return an argument with its type and value for inference."""
    literal = literal_of(operand)
    if literal is not None:
        stated = read_type(literal.type)
        return Given(stated, value=read_value(literal, stated))
    return Given(operand.type if isinstance(operand, Value) else None, constant=False)


def _dtype(operand: Operand) -> str | None:
    literal = literal_of(operand)
    stated = None if literal is None else read_type(literal.type)
    return stated.dtype if isinstance(stated, TensorType) else None


def is_within(type: Type, wanted: Type) -> bool:
    """Return whether a type is one of those that a pattern states: `?` is any size."""
    if isinstance(wanted, StateType | ListType) or not isinstance(wanted, TensorType):
        return type == wanted
    if not isinstance(type, TensorType) or type.dtype != wanted.dtype or len(type.shape) != len(wanted.shape):
        return False
    return all(size is None or size == own for own, size in zip(type.shape, wanted.shape, strict=True))


def _as(wanted: Array, found: Array) -> Array | None:
    """Return the numbers of a literal in the data type and form of a constant; None if they do not fit.

    A single number is also a constant of one element.
    """
    if wanted.size == 1 and found.size == 1:
        wanted = wanted.reshape(found.shape)
    if wanted.shape != found.shape:
        return None
    kinds = {wanted.dtype.kind, found.dtype.kind}
    if ("b" in kinds or "O" in kinds) and len(kinds) > 1:
        return None
    with np.errstate(all="ignore"):
        made = wanted.astype(found.dtype)
        is_whole = found.dtype.kind == "f" or wanted.dtype.kind != "f" or bool((made == wanted).all())
    return made if is_whole else None


def _same_bits(one: Array, other: Array) -> bool:
    """Return whether arrays of one type are equal bit for bit: -0.0 is not 0.0."""
    if one.dtype != other.dtype or one.size != other.size:
        return False
    return (
        bool((one.reshape(-1) == other.reshape(-1)).all()) if one.dtype == object else one.tobytes() == other.tobytes()
    )
