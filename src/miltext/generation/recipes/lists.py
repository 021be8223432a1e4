"""Recipes for lists with a certain number of elements, and for states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.inference.operands import Operand
from miltext.generation.recipes.table import recipe
from miltext.generation.scope import Redraw, ScopedValue
from miltext.schema.types import ListType, StateType, TensorType, is_whole

if TYPE_CHECKING:
    from miltext.generation.calls import Call


HELD = "fp16"
"""The data type of states: the only type that Core ML takes (`miltext.schema.refused`, MIL620)."""


@recipe("make_list")
def make_list(call: Call) -> None:
    """Generate the shape of the elements, and their number at first."""
    has_named_size = call.choices.rarely()
    if has_named_size:
        call.number("elem_shape", "n", dtype="string")
    for _ in range(call.choices.integer(1, 3)):
        call.number("elem_shape", call.choices.integer(1, 4), dtype="int32")
    length = call.choices.integer(1, 3)
    call.number("init_length", length)
    call.length = 0 if has_named_size else length  # elements have no shape before the first write
    if call.choices.rarely():
        call.is_fixed = True
        call.number("dynamic_length", False)
    if call.choices.flag():
        call.number("dtype", call.choices.pick(["fp32", "fp16", "int32", "bool"]))
    call.leave_out("init_length", "dtype", "dynamic_length")


def a_list(call: Call, least: int = 0) -> tuple[ScopedValue, TensorType]:
    """Generate a list of at least so many elements: one in scope, or a new one. Return the list, and the type of its
    elements, with a number for a symbolic size.
    """
    found = call.choices.pick([*(item for item in call.growth.in_reach() if isinstance(item.type, ListType)), None])
    if found is None:
        [found] = call.growth.add("make_list")
    if found.length < least:
        raise Redraw
    call.is_fixed = found.is_fixed
    call.give_item("ls", found)
    held = found.type
    if not isinstance(held, ListType) or not isinstance(held.element, TensorType):
        raise Redraw
    sizes = tuple(call.choices.integer(1, 4) if size is None else size for size in held.element.shape)
    return found, TensorType(held.element.dtype, sizes)


@recipe("list_write")
def list_write(call: Call) -> None:
    """Generate an element, and the place of an existing element, or the next one."""
    ls, element = a_list(call)
    place = call.choices.integer(0, max(0, ls.length - ls.is_fixed))
    call.length = max(ls.length, place + 1)
    call.number("index", place)
    call.of_shape("value", element.shape, element.dtype)


@recipe("list_scatter")
def list_scatter(call: Call) -> None:
    """Generate elements, and their places."""
    ls, element = a_list(call, 1)
    count = call.choices.integer(1, ls.length)
    call.length = ls.length
    call.vector("indices", call.choices.shuffled(range(ls.length))[:count])
    call.of_shape("value", (count, *element.shape), element.dtype)


@recipe("list_read")
def list_read(call: Call) -> None:
    """Generate the place of an existing element."""
    ls, _ = a_list(call, 1)
    call.number("index", call.choices.integer(0, ls.length - 1))


@recipe("list_gather")
def list_gather(call: Call) -> None:
    """Generate existing places; elements of different sizes cannot form one tensor."""
    ls, _ = a_list(call, 1)
    if isinstance(ls.type, ListType) and not is_whole(ls.type.element):
        raise Redraw
    call.vector("indices", [call.choices.integer(0, ls.length - 1) for _ in range(call.choices.integer(1, 3))])


@recipe("list_length")
def list_length(call: Call) -> None:
    """Generate a list."""
    a_list(call)


@recipe("read_state")
def read_state(call: Call) -> None:
    """Generate a state."""
    a_state(call)


def a_state(call: Call) -> TensorType:
    """Generate a state of the function, or a new one. Return the type inside it."""
    found = call.choices.pick([*call.scope.states, None]) or new_state(call)
    call.give_item("input", found)
    if not isinstance(found.type, StateType) or not isinstance(found.type.wrapped, TensorType):
        raise Redraw
    return found.type.wrapped


def new_state(call: Call) -> ScopedValue:
    """Add a state to the function."""
    scope, choices = call.scope, call.choices
    held = TensorType(HELD, tuple(choices.integer(1, 4) for _ in range(choices.integer(1, 3))))
    if not scope.options.allows_dtype(HELD):
        raise Redraw
    item = ScopedValue(scope.name("state"), Operand(StateType(held), constant=False))
    scope.states.append(item)
    return item


@recipe("write_state")
def write_state(call: Call) -> None:
    """Generate a state, and its new contents."""
    held = a_state(call)
    call.of_shape("data", held.shape, held.dtype)
