"""Recipes for control flow: two branches that give the same types, and a loop that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.inference.operands import NestedBlock, Operand
from miltext.generation.recipes.table import recipe
from miltext.generation.scope import ScopedValue
from miltext.schema.types import TensorType, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.generation.calls import Call, Growing

INNER = 3
"""The most operations chosen for an inner block."""

OUTPUTS = 2
"""The most outputs of a branch, and the most tensors that go round in a loop."""

COUNTER = TensorType("int32", ())


@recipe("cond")
def cond(call: Call) -> None:
    """Generate a condition, and two branches whose outputs are of the same types."""
    call.tensor("pred", new=lambda: (1,))
    first = call.growth.inner()
    first.grow(call.choices.integer(1, INNER))
    most = call.choices.integer(1, OUTPUTS)
    outputs = [item for item in first.items if _may_leave(item)][-most:] or [first.value_of(TensorType("fp32", (1,)))]
    second = call.growth.inner()
    second.grow(call.choices.integer(0, INNER))
    others: list[ScopedValue] = []
    for item in outputs:
        others.append(_computed(second, item.type, others) or second.value_of(item.type))
    for branch, given in ((first, outputs), (second, others)):
        _add_block(call, branch, [], given)


def _computed(growth: Growing, type: Type, others: Sequence[ScopedValue]) -> ScopedValue | None:
    """Return a value of a type, computed in a block or around it, and not given yet."""
    made = [item for item in growth.items if item.type == type and item not in others]
    around = growth.outer.in_reach() if growth.outer else []
    found = [item for item in around if item.type == type and not item.is_settled]
    return made[-1] if made else growth.call("identity", x=found[-1])[0] if found else None


def _may_leave(item: ScopedValue) -> bool:
    return isinstance(item.type, TensorType) and None not in item.type.shape


@recipe("while_loop")
def while_loop(call: Call) -> None:
    """Generate a counter and tensors, a block that counts to a small number, and a block that makes new tensors."""
    start = call.growth.value_of(COUNTER, count=0)
    held = [_held(call) for _ in range(call.choices.integer(1, OUTPUTS))]
    for item in (start, *held):
        call.give_item("loop_vars", item)
    stem, types = call.scope.name("loop"), (COUNTER, *(item.type for item in held))
    one, other = (
        [ScopedValue(f"{stem}_{part}_{place}", Operand(each, constant=False)) for place, each in enumerate(types)]
        for part in ("while", "body")
    )
    condition = call.growth.inner(one)
    [goes_on] = condition.call("less", x=one[0], y=condition.value_of(COUNTER, count=call.choices.integer(1, 3)))
    _add_block(call, condition, one, [goes_on])
    body = call.growth.inner(other)
    [counted] = body.call("add", x=other[0], y=body.value_of(COUNTER, count=1))
    body.grow(call.choices.integer(0, INNER))
    given = [*other, counted]
    for item in other[1:]:
        made = [each for each in body.items if each.type == item.type and each not in given]
        given.append(made[-1] if made else body.call("identity", x=item)[0])
    _add_block(call, body, other, given[len(other) :])


def _held(call: Call) -> ScopedValue:
    """Choose the tensor that the loop carries."""
    found = [item for item in call.growth.in_reach() if _may_leave(item) and not item.operand.constant]
    return (
        call.choices.pick(found) if found else call.growth.value_of(TensorType("fp32", (call.choices.integer(1, 4),)))
    )


def _add_block(call: Call, growth: Growing, inputs: Sequence[ScopedValue], outputs: Sequence[ScopedValue]) -> None:
    call.messages.append(growth.block([item.name for item in outputs], inputs))
    call.blocks.append(NestedBlock([item.type for item in inputs], [item.type for item in outputs]))
