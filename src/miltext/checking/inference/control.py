"""Rules for control flow, lists, states and classification."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, InputConflict, Operand, Unknown, count, expect
from miltext.checking.inference.rules import rule, tensor
from miltext.diagnostics import codes
from miltext.schema.types import (
    DictionaryType,
    Dimension,
    ListType,
    StateType,
    TensorType,
    Type,
    compatible,
    join,
    show,
    spelled,
)

CLASSES = (TensorType("string", ()), TensorType("int64", ()))
"""The types allowed for the names of classes."""


@rule("cond")
def cond(op: Arguments) -> Sequence[Type]:
    """Return the types of the branches' outputs, joined."""
    return _either(*(block.outputs for block in op.blocks))


@rule("while_loop")
def while_loop(op: Arguments) -> Sequence[Type]:
    """Return the types of the incoming values, joined with the outputs of the body, the second block."""
    bodies = [block.outputs for block in op.blocks[1:]]
    return _either([operand.type for operand in op.all("loop_vars")], *bodies)


def _either(*ways: Sequence[Type]) -> Sequence[Type]:
    """Return the joined types of the values of two branches, which must return the same number of values."""
    if len(ways) != 2 or len(ways[0]) != len(ways[1]):
        raise Unknown
    return [join(*types) for types in zip(*ways, strict=True)]


@rule("make_list")
def make_list(op: Arguments) -> Sequence[Type]:
    """Return a list of tensors of the shape given; its length may grow."""
    shape = tuple(_element_size(operand, place) for place, operand in enumerate(op.all("elem_shape")))
    return [ListType(TensorType(named(op.scalar("dtype", str, "fp32")), shape), None)]


def _element_size(operand: Operand, place: int) -> Dimension:
    """Return a size of a shape, None for a size known only by name."""
    if isinstance(operand.type, TensorType) and operand.type.shape:
        given = f"a tensor of shape {show(operand.type.shape)}"
        raise InputConflict(
            f"takes scalars, one for each size, not {given}", "elem_shape", code=codes.WRONG_ARGUMENT_RANK, place=place
        )
    if type(operand.value) is not int:
        return None
    if operand.value < 0:
        raise InputConflict(
            f"takes sizes from 0 on, not {operand.value}", "elem_shape", code=codes.VALUE_OUT_OF_RANGE, place=place
        )
    return operand.value


@rule("list_write")
def list_write(op: Arguments) -> Sequence[Type]:
    """Return a list of the same elements as `value`."""
    return [_list_with(op, op.type("value"))]


@rule("list_scatter")
def list_scatter(op: Arguments) -> Sequence[Type]:
    """Return a list of the same elements; `value` contains several along its first dimension."""
    value = op.tensor("value")
    return [_list_with(op, TensorType(value.dtype, value.shape[1:]))]


def _list_with(op: Arguments, element: Type) -> Type:
    held = expect(op.type("ls"), ListType).element
    if not compatible(held, element):
        elements = "is" if op.op_type == "list_write" else "has elements that are"
        raise InputConflict(f"{elements} {spelled(element)}, and `ls` holds {spelled(held)}", "value", "ls")
    return ListType(held, None)


@rule("list_read")
def list_read(op: Arguments) -> Sequence[Type]:
    """Return one element."""
    return [expect(op.type("ls"), ListType).element]


@rule("list_gather")
def list_gather(op: Arguments) -> Sequence[Type]:
    """Return the elements at `indices`, along a new first dimension."""
    element = expect(expect(op.type("ls"), ListType).element, TensorType)
    return tensor(element.dtype, *op.shape("indices", 1), *element.shape)


@rule("list_length")
def list_length(_: Arguments) -> Sequence[Type]:
    """Return one int32."""
    return tensor("int32")


@rule("read_state")
def read_state(op: Arguments) -> Sequence[Type]:
    """Return the type inside the state."""
    return [expect(op.type("input"), StateType).wrapped]


@rule("write_state")
def write_state(op: Arguments) -> Sequence[Type]:
    """Return nothing; the written value must have the type of the state's contents."""
    state = op.type("input") if op.has("input") else None
    data = op.type("data") if op.has("data") else None
    if isinstance(state, StateType) and not compatible(state.wrapped, data):
        raise InputConflict(f"is {spelled(data)}, and the state holds {spelled(state.wrapped)}", "data", "input")
    return []


@rule("classify")
def classify(op: Arguments) -> Sequence[Type]:
    """Return the class, and each class with its probability."""
    classes = expect(op.type("classes"), ListType)
    if classes.element not in CLASSES:
        raise InputConflict(f"takes a list of string or int64, not of {spelled(classes.element)}", "classes")
    given = count(op.shape("probabilities"))
    if not compatible(classes.length, given):
        raise InputConflict(
            f"has {classes.length} classes, but `probabilities` has {given} elements", "classes", "probabilities"
        )
    return [classes.element, DictionaryType(classes.element, TensorType("fp64", ()))]
