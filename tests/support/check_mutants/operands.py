"""Mutants of the types of what an operation is given: other data types, ranks, shapes and kinds of values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from support.check_mutants.constants import Constant, in_weight_file, made, read, size
from support.check_mutants.sites import Copy, Mutant, Site, squeezed

from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Operation, Value
from miltext.schema.types import Shape, StateType, TensorType, read_type, write_type
from miltext.schema.walk import is_compressed

DTYPES = ("fp16", "fp32", "int32", "bool", "string", "int8", "uint8", "int16")

MOST_WRITTEN = 4096
"""The most elements of a constant that is written into the Program; a larger one is in a weight file."""

MOST_DIMENSIONS = 5
"""How many dimensions of an operand are changed, one by one."""


def operand_mutants(site: Site) -> Iterator[Mutant]:
    """Give an operation operands of other types."""
    known = site.signature
    for parameter, index, binding in site.bindings():
        given = site.given(binding)
        if given is None:
            continue
        stated = read_type(given.type)
        if isinstance(stated, StateType):
            yield from _states(site, parameter, index, stated)
        elif given.type.WhichOneof("type") == "listType":
            copy = site.copy()
            _bind(copy, parameter, index, copy.add_input(write_type(TensorType("fp32", (2,)))))
            yield Mutant("tensor for a list", parameter, copy, parameter)
        elif isinstance(stated, TensorType):
            facts = known.parameters.get(parameter) if known else None
            constant = is_compressed(site.operation.type) or (facts is not None and facts.constant)
            yield from _tensors(_Operand(site, parameter, index, stated, given.value, constant))


def _bind(copy: Copy, parameter: str, index: int, name: str) -> None:
    copy.operation.inputs[parameter].arguments[index].name = name


def _states(site: Site, parameter: str, index: int, state: StateType) -> Iterator[Mutant]:
    wrapped = state.wrapped
    assert isinstance(wrapped, TensorType)
    shape, dtype = wrapped.shape, wrapped.dtype
    grown = tuple(each if each is None else each + 1 for each in shape)
    for kind, other in (
        ("tensor for a state", wrapped),
        ("state of another shape", StateType(TensorType(dtype, grown))),
        ("state of another dtype", StateType(TensorType("fp32" if dtype != "fp32" else "fp16", shape))),
        ("state of another rank", StateType(TensorType(dtype, (*shape, 1)))),
    ):
        copy = site.copy()
        _bind(copy, parameter, index, copy.add_input(write_type(other)))
        yield Mutant(kind, parameter, copy, parameter, clashes=True)


class _Operand(NamedTuple):
    """A tensor that a parameter is bound to; `value` is what it holds, if that is known."""

    site: Site
    parameter: str
    place: int
    type: TensorType
    value: Value | None
    constant: bool

    @property
    def noun(self) -> str:
        return "a constant" if self.constant else "an operand"


def _tensors(operand: _Operand) -> Iterator[Mutant]:
    dtype, parameter, constant = operand.type.dtype, operand.parameter, operand.constant
    for other in DTYPES:
        if other != dtype:
            copy = _replaced(operand, TensorType(other, operand.type.shape))
            yield Mutant(f"data type of {operand.noun}", f"{parameter}: {dtype} -> {other}", copy, parameter, True)
    for aspect, label, shape in _shapes(operand.type.shape):
        copy = _replaced(operand, TensorType(dtype, shape))
        tensor_for_scalar = constant and not operand.type.shape
        kind = f"{aspect} of {operand.noun}"
        yield Mutant(kind, f"{parameter}: {label}", copy, parameter, clashes=True, nonsense=tensor_for_scalar)
    for place, each in enumerate(operand.type.shape[:4] if operand.value is None else ()):
        if each is not None:
            copy = _replaced(operand, TensorType(dtype, _with(operand.type.shape, place, None)))
            yield Mutant("unknown dimension", f"{parameter}: dim {place} = ?", copy, parameter, clashes=True)
    copy = operand.site.copy()
    _bind(copy, parameter, operand.place, copy.add_input(write_type(StateType(operand.type))))
    yield Mutant("state for a tensor", parameter, copy, parameter)
    if (constant or operand.value is not None) and (unknown := _unknown(operand)) is not None:
        yield Mutant("variable for a constant", parameter, unknown, parameter)


def _shapes(shape: Shape) -> Iterator[tuple[str, str, Shape]]:
    yield "rank", "rank + 1", (1, *shape)
    yield "rank", "rank + 1 (end)", (*shape, 1)
    if shape:
        yield "rank", "rank - 1", shape[1:]
    if len(shape) > 1:
        yield "rank", "rank 0", ()
    for place, each in enumerate(shape[:MOST_DIMENSIONS]):
        if each is not None:
            yield "shape", f"dim {place} + 1", _with(shape, place, each + 1)
            if each > 1:
                yield "shape", f"dim {place} = 1", _with(shape, place, 1)


def _with(shape: Shape, place: int, size: int | None) -> Shape:
    return (*shape[:place], size, *shape[place + 1 :])


def _replaced(operand: _Operand, type: TensorType) -> Copy:
    """Return a copy in which the operand is of another type: as constant as it was, with its numbers again and again.

    coremltools takes no scalar as a function's input, so that one is a constant.
    """
    copy = operand.site.copy()
    argument = copy.operation.inputs[operand.parameter].arguments[operand.place]
    if operand.value is None or None in type.shape:
        if type.shape or type.dtype == "string":
            argument.name = copy.add_input(write_type(type))
        else:
            argument.value.CopyFrom(made(Constant(type.dtype, (), [1])))
    elif size(type.shape) <= MOST_WRITTEN:
        argument.value.CopyFrom(made(Constant(*type, _numbers(read(operand.value), type))))
    elif is_compressed(operand.site.operation.type):
        argument.value.CopyFrom(in_weight_file(*type))
    else:
        argument.name = "mutant"
        copy.insert(_const(in_weight_file(*type)))
    return copy


def _const(value: Value) -> Operation:
    operation = Operation(type="const")
    operation.attributes["val"].CopyFrom(value)
    operation.outputs.add(name="mutant", type=value.type)
    return operation


def _numbers(constant: Constant | None, type: TensorType) -> list[Any]:
    """Return elements for a constant of another type: those that it had, as far as the type has them."""
    count, kind = size(type.shape), BY_NAME[type.dtype].kind
    if constant is not None and constant.dtype == type.dtype and len(constant.flat) == count:
        return constant.flat
    if kind in ("string", "bool"):
        return (["sam"] if kind == "string" else [True]) * count
    if constant is None or constant.dtype == "string" or not constant.flat or not _fits(constant, type):
        return [1] * count
    flat = [float(each) if kind == "float" else int(each) for each in constant.flat]
    return (flat * count)[:count]


def _fits(constant: Constant, type: TensorType) -> bool:
    dtype = BY_NAME[type.dtype]
    return dtype.kind == "float" or all(
        abs(each) < 2**31 and dtype.minimum <= each <= dtype.maximum for each in constant.flat
    )


def _unknown(operand: _Operand) -> Copy | None:
    """Return a copy in which the operand is not a constant but an input; a scalar is one that was squeezed."""
    copy, stated = operand.site.copy(), operand.type
    if stated.shape:
        _bind(copy, operand.parameter, operand.place, copy.add_input(write_type(stated)))
        return copy
    if stated.dtype not in ("int32", "fp16", "fp32", "bool"):
        return None
    _bind(copy, operand.parameter, operand.place, "mutant")
    name = copy.add_input(write_type(TensorType(stated.dtype, (1,))), "mutant_of_1")
    copy.insert(squeezed(name, "mutant", stated.dtype))
    return copy
