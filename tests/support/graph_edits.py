"""Random edits of graphs that keep what a program computes, whatever they do to names and places."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from miltext.ir.functions import Block, Function
from miltext.ir.graph import Graph
from miltext.ir.needs import sort
from miltext.ir.parts import Op, Value
from miltext.schema.types import TensorType

GraphEdit = Callable[[Random, Function], bool]
"""An edit of one function; it returns whether it found something to change."""


def edited(graph: Graph, random: Random, count: int) -> list[str]:
    """Make random edits, and return the names of those that changed something."""
    done = []
    for _ in range(count):
        edit = random.choice(EDITS)
        if edit(random, random.choice(list(graph.functions.values()))):
            done.append(edit.__name__)
    return done


def outer_values(function: Function) -> set[Value]:
    """The values by whose names others know a function."""
    return {*function.inputs, *(each for block in function.blocks.values() for each in block.outputs)}


def renames(random: Random, function: Function) -> bool:
    """Give a value the name of another, wherever that is."""
    values = list(function.defined())
    chosen = random.choice(values)
    if chosen in outer_values(function):
        return False
    chosen.name = random.choice([*values, *function.undefined.values()]).name
    return True


def inserts(random: Random, function: Function) -> bool:
    """Put an identity between a tensor and some of its uses, under a name that may be taken."""
    ops = [op for op in function.walk() if op.outputs and isinstance(op.outputs[0].type, TensorType)]
    made = [op for op in ops if op.outputs[0].uses and not op.is_constant]
    if not made:
        return False
    op = random.choice(made)
    value = op.outputs[0]
    uses = [use for use in value.uses if use.op is not None and random.random() < 0.7]
    name = random.choice([value.name, random.choice(ops).outputs[0].name, function.fresh(value.name)])
    new = Op.new("identity", {"x": value}, {name: value.type})
    assert op.block is not None
    op.block.insert_before(op.next, new)
    value.replace_uses(new.outputs[0], uses)
    return True


def moves(random: Random, function: Function) -> bool:
    """Put an operation anywhere in its block, and bring the block into order."""
    ops = list(function.walk())
    op = random.choice(ops)
    block = op.block
    assert block is not None
    if any(each.is_state for each in (*op.operands, *op.captured())):
        return False
    block.insert_before(random.choice([*block, None]), op) if len(list(block)) > 1 else None
    sort(block)
    return True


def sinks(random: Random, function: Function) -> bool:
    """Move an operation into the inner block that alone uses it."""
    for op in random.sample(ops := list(function.walk()), len(ops)):
        users = {_user_block(use.user) for value in op.outputs for use in value.uses}
        if len(users) == 1 and (block := users.pop()) is not op.block and not op.type.startswith("random"):
            block.insert_before(block.first, op)
            return True
    return False


def hoists(random: Random, function: Function) -> bool:
    """Move a constant out of an inner block, before the operation that holds it."""
    for op in random.sample(ops := list(function.walk()), len(ops)):
        if op.type == "const" and op.block is not None and isinstance(op.block.owner, Op):
            outer = op.block.owner
            assert outer.block is not None
            outer.block.insert_before(outer, op)
            return True
    return False


def removes(random: Random, function: Function) -> bool:
    """Take out an operation that nothing uses."""
    unused = [op for op in function.walk() if op.outputs and not op.is_used]
    unused = [op for op in unused if not any(each.is_state for each in (*op.operands, *op.captured()))]
    if unused:
        random.choice(unused).remove()
    return bool(unused)


def shares(random: Random, function: Function) -> bool:
    """Have the uses of one constant take an equal one of the same block, and remove it."""
    first: dict[tuple[Block | None, bytes], Op] = {}
    for op in list(function.walk()):
        if op.type == "const" and "val" in op.attributes and op.outputs[0] not in outer_values(function):
            key = op.block, op.attributes["val"].SerializeToString(deterministic=True)
            if key in first and op.outputs[0].type == first[key].outputs[0].type:
                op.replace_by(first[key].outputs[0])
                return True
            first[key] = op
    return False


def _user_block(user: Op | Block) -> Block:
    block = user if isinstance(user, Block) else user.block
    assert block is not None
    return block


EDITS: list[GraphEdit] = [renames, inserts, moves, sinks, hoists, removes, shares]
