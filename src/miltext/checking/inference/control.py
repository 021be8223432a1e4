"""Rules for control flow, lists, states and classification."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, Conflict, expect
from miltext.checking.inference.rules import rule, tensor
from miltext.checking.inference.value_types import (
    DictionaryType,
    ListType,
    StateType,
    TensorType,
    Type,
    compatible,
    join,
    spelled,
)


@rule("cond")
def cond(op: Arguments) -> Sequence[Type]:
    """What both branches give back."""
    taken, other = (block.outputs for block in op.blocks)
    return [join(*types) for types in zip(taken, other, strict=True)]


@rule("while_loop")
def while_loop(op: Arguments) -> Sequence[Type]:
    """What goes in, or what the body, the second block, gives back."""
    _, body = op.blocks
    return [join(before.type, after) for before, after in zip(op.all("loop_vars"), body.outputs, strict=True)]


@rule("make_list")
def make_list(op: Arguments) -> Sequence[Type]:
    """A list of tensors of the shape given; its length may grow."""
    sizes = [operand.value for operand in op.all("elem_shape")]
    shape = tuple(size if isinstance(size, int) else None for size in sizes)
    return [ListType(TensorType(named(op.value("dtype", "fp32")), shape), None)]


@rule("list_write", "list_scatter")
def list_write(op: Arguments) -> Sequence[Type]:
    """A list of the same elements."""
    return [ListType(expect(op.type("ls"), ListType).element, None)]


@rule("list_read")
def list_read(op: Arguments) -> Sequence[Type]:
    """One element."""
    return [expect(op.type("ls"), ListType).element]


@rule("list_gather")
def list_gather(op: Arguments) -> Sequence[Type]:
    """The elements at `indices`, in a dimension before their own."""
    element = expect(expect(op.type("ls"), ListType).element, TensorType)
    return tensor(element.dtype, op.shape("indices", 1)[0], *element.shape)


@rule("list_length")
def list_length(_: Arguments) -> Sequence[Type]:
    """One int32."""
    return tensor("int32")


@rule("read_state")
def read_state(op: Arguments) -> Sequence[Type]:
    """What the state holds."""
    return [expect(op.type("input"), StateType).wrapped]


@rule("write_state")
def write_state(op: Arguments) -> Sequence[Type]:
    """Nothing; what is written is of the type that the state holds."""
    state = op.type("input") if op.has("input") else None
    data = op.type("data") if op.has("data") else None
    if isinstance(state, StateType) and not compatible(state.wrapped, data):
        raise Conflict(f"the state holds {spelled(state.wrapped)}, the data is {spelled(data)}")
    return []


@rule("classify")
def classify(op: Arguments) -> Sequence[Type]:
    """The class, and each class with its probability."""
    label = expect(op.type("classes"), ListType).element
    return [label, DictionaryType(label, TensorType("fp64", ()))]
