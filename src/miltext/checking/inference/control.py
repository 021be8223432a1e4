"""Rules for control flow, lists, states and classification."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, Conflict, Unknown, expect
from miltext.checking.inference.rules import rule, tensor
from miltext.schema.types import (
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
    """Return what both branches give back."""
    return _either(*(block.outputs for block in op.blocks))


@rule("while_loop")
def while_loop(op: Arguments) -> Sequence[Type]:
    """Return what goes in, or what the body, the second block, gives back."""
    bodies = [block.outputs for block in op.blocks[1:]]
    return _either([operand.type for operand in op.all("loop_vars")], *bodies)


def _either(*ways: Sequence[Type]) -> Sequence[Type]:
    """Return what values of one of two ways are, which must give equally many."""
    if len(ways) != 2 or len(ways[0]) != len(ways[1]):
        raise Unknown
    return [join(*types) for types in zip(*ways, strict=True)]


@rule("make_list")
def make_list(op: Arguments) -> Sequence[Type]:
    """Return a list of tensors of the shape given; its length may grow."""
    sizes = [operand.value for operand in op.all("elem_shape")]
    shape = tuple(size if type(size) is int else None for size in sizes)
    return [ListType(TensorType(named(op.scalar("dtype", str, "fp32")), shape), None)]


@rule("list_write", "list_scatter")
def list_write(op: Arguments) -> Sequence[Type]:
    """Return a list of the same elements."""
    return [ListType(expect(op.type("ls"), ListType).element, None)]


@rule("list_read")
def list_read(op: Arguments) -> Sequence[Type]:
    """Return one element."""
    return [expect(op.type("ls"), ListType).element]


@rule("list_gather")
def list_gather(op: Arguments) -> Sequence[Type]:
    """Return the elements at `indices`, in a dimension before their own."""
    element = expect(expect(op.type("ls"), ListType).element, TensorType)
    return tensor(element.dtype, *op.shape("indices", 1), *element.shape)


@rule("list_length")
def list_length(_: Arguments) -> Sequence[Type]:
    """Return one int32."""
    return tensor("int32")


@rule("read_state")
def read_state(op: Arguments) -> Sequence[Type]:
    """Return what the state holds."""
    return [expect(op.type("input"), StateType).wrapped]


@rule("write_state")
def write_state(op: Arguments) -> Sequence[Type]:
    """Return nothing; what is written is of the type that the state holds."""
    state = op.type("input") if op.has("input") else None
    data = op.type("data") if op.has("data") else None
    if isinstance(state, StateType) and not compatible(state.wrapped, data):
        raise Conflict(f"the state holds {spelled(state.wrapped)}, the data is {spelled(data)}")
    return []


@rule("classify")
def classify(op: Arguments) -> Sequence[Type]:
    """Return the class, and each class with its probability."""
    label = expect(op.type("classes"), ListType).element
    return [label, DictionaryType(label, TensorType("fp64", ()))]
