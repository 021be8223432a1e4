"""Laws of `miltext.diff`, on any Program that the schema allows and on programs like real ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conftest import wire
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import any_programs, tensor_type

import miltext
from miltext.diffing.difference import Difference
from miltext.diffing.structure import BlockDifference
from miltext.pairing.sequences import common, in_order, merged
from miltext.schema.proto import Block, Operation, Program

few = settings(max_examples=20)  # two models are compared in each, some of them large


def copy(program: Program) -> Program:
    return Program.FromString(program.SerializeToString())


def block_of(program: Program) -> Block:
    return program.functions["main"].block_specializations["CoreML8"]


def only_block(difference: Difference) -> BlockDifference:
    assert not difference.changes
    assert not difference.weights.changed
    (function,) = difference.functions
    (block,) = function.blocks
    assert (function.status, function.changes, block.status, block.changes) == ("changed", (), "changed", ())
    return block


# ---- any Program


@few
@given(any_programs)
def test_a_program_is_the_same_as_itself(program: Program) -> None:
    assert miltext.diff(program, copy(program), build_info=True, ignore_weights=True).same


@few
@given(any_programs, any_programs)
def test_any_two_programs_can_be_distinguished(a: Program, b: Program) -> None:
    difference = miltext.diff(a, b, build_info=True, ignore_weights=True)
    assert difference.same is miltext.diff(b, a, build_info=True, ignore_weights=True).same
    assert ("no difference" in difference.to_text(full=True)) is difference.same
    assert (difference.to_stat() == "no difference\n") is difference.same
    assert json.loads(json.dumps(difference.to_json(), allow_nan=False))["same"] is difference.same
    added, removed = (sum(line.startswith(sign) for line in difference.to_unified().splitlines()) for sign in "+-")
    assert not difference.same or (added, removed) == (0, 0)
    if wire(a) == wire(b):
        assert difference.same


def fields(message: Any) -> Iterator[tuple[Any, FieldDescriptor]]:
    """Every field that is set, of a message and of all messages in it, but for the entries of maps."""
    for field, value in message.ListFields():
        yield message, field
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = [value[key] for key in sorted(value)]
        else:
            inner = list(value) if hasattr(value, "append") or hasattr(value, "add") else [value]
        for each in inner:
            yield from fields(each)


@few
@given(any_programs.filter(lambda program: any(True for _ in fields(program))), st.data())
def test_any_removal_is_noticed(program: Program, data: st.DataObject) -> None:
    other = copy(program)
    message, field = data.draw(st.sampled_from(list(fields(other))))
    message.ClearField(field.name)
    assert miltext.diff(program, other, build_info=True, ignore_weights=True).same is (wire(program) == wire(other))


# ---- programs like real ones


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Operations that take values of earlier ones, and constants; all is used or given, or not."""
    program = Program(version=1)
    function = program.functions["main"]
    function.opset = "CoreML8"
    for name in ("x", "z"):
        function.inputs.add(name=name).type.CopyFrom(tensor_type(10, [1, 8]))
    block = block_of(program)
    values = ["x", "z"]
    for index in range(draw(st.integers(0, 12))):
        operation = block.operations.add(type=draw(st.sampled_from(["const", "relu", "add", "concat"])))
        operation.outputs.add(name=f"v{index}").type.CopyFrom(tensor_type(10, [1, 8]))
        if operation.type == "const":
            set_value(operation, draw(st.integers(0, 2)))
        else:
            taken = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
            for place, name in enumerate(taken):
                operation.inputs["values" if operation.type == "concat" else "xyz"[place]].arguments.add(name=name)
        values.append(f"v{index}")
    block.outputs.extend(draw(st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True)))
    return program


def set_value(operation: Operation, number: int) -> None:
    value = operation.attributes["val"]
    value.type.CopyFrom(tensor_type(23, []))
    value.immediateValue.tensor.ints.values[:] = [number]


def rename(program: Program, prefix: str) -> Program:
    """The program with other names for all its values."""
    other = copy(program)
    for value in other.functions["main"].inputs:
        value.name = prefix + value.name
    block = block_of(other)
    for operation in block.operations:
        for output in operation.outputs:
            output.name = prefix + output.name
        for argument in operation.inputs.values():
            for binding in argument.arguments:
                binding.name = prefix + binding.name
    block.outputs[:] = [prefix + name for name in block.outputs]
    return other


@few
@given(programs())
def test_other_names_give_only_renames(program: Program) -> None:
    difference = miltext.diff(program, rename(program, "other_"))
    (function,) = difference.functions
    blocks = function.blocks
    renamed = [*function.renamed, *(each for block in blocks for each in block.renamed)]
    assert (function.changes, difference.changes) == ((), ())
    assert not any(block.changes or block.operations for block in blocks)
    assert {(each.old, each.new) for each in renamed} == {
        (name, f"other_{name}") for name in ["x", "z", *[each.outputs[0].name for each in block_of(program).operations]]
    }


def uses(operation: Operation) -> set[str]:
    return {binding.name for argument in operation.inputs.values() for binding in argument.arguments}


@few
@given(programs(), st.randoms())
def test_another_order_gives_only_moves(program: Program, random: Any) -> None:
    other = copy(program)
    left, done, order = [*block_of(program).operations], {"x", "z"}, []
    while left:
        ready = [each for each in left if uses(each) <= done]
        chosen = random.choice(ready)
        left.remove(chosen)
        done.add(chosen.outputs[0].name)
        order.append(chosen)
    block = block_of(other)
    del block.operations[:]
    block.operations.extend(order)
    difference = miltext.diff(program, other)
    if wire(program) == wire(other):
        assert difference.same
    else:
        found = only_block(difference)
        assert not found.renamed
        assert found.moved == found.operations


@few
@given(programs(), st.data())
def test_one_more_operation_is_an_addition(program: Program, data: st.DataObject) -> None:
    other = copy(program)
    block = block_of(other)
    operations = [*block.operations]
    place = data.draw(st.integers(0, len(operations)))
    new = Operation(type=data.draw(st.sampled_from(["relu", "tanh"])))
    known = ["x", "z", *[each.outputs[0].name for each in operations[:place]]]
    new.inputs["x"].arguments.add(name=data.draw(st.sampled_from(known)))
    new.outputs.add(name="new").type.CopyFrom(tensor_type(10, [1, 8]))
    del block.operations[:]
    block.operations.extend([*operations[:place], new, *operations[place:]])
    found = only_block(miltext.diff(program, other))
    assert [each.name for each in found.added] == ["new"]
    assert found.added == found.operations
    back = only_block(miltext.diff(other, program))
    assert [each.name for each in back.removed] == ["new"]
    assert back.removed == back.operations


@few
@given(programs().filter(lambda program: any(each.type == "const" for each in block_of(program).operations)), st.data())
def test_one_other_constant_is_a_change(program: Program, data: st.DataObject) -> None:
    other = copy(program)
    chosen = data.draw(st.sampled_from([each for each in block_of(other).operations if each.type == "const"]))
    set_value(chosen, 7)
    found = only_block(miltext.diff(program, other))
    (each,) = found.changed
    (change,) = each.changes
    uses = [(change.name, each.name), *[(argument, user) for user, argument in change.also]]
    name = chosen.outputs[0].name
    assert change.new == "7"
    users = (
        [] if name in block_of(other).outputs else [*used_by(block_of(other), name)]
    )  # what is returned stands alone
    assert uses == (users or [("val", name)])
    assert found.changed == found.operations
    assert not found.renamed


def used_by(block: Block, name: str) -> Iterator[tuple[str, str]]:
    """The arguments that take a value, in the order of the block: their names, and those of the operations."""
    for operation in block.operations:
        for key in sorted(operation.inputs):
            taken = [each.name for each in operation.inputs[key].arguments]
            yield from [(key, operation.outputs[0].name)] * taken.count(name)


# ---- sequences


items = st.lists(st.integers(0, 3), max_size=12)


def longest(a: list[int], b: list[int]) -> int:
    """The length of a longest common subsequence, by the table that everyone knows."""
    row = [0] * (len(b) + 1)
    for item in a:
        above = row
        row = [0]
        for j, other in enumerate(b):
            row.append(above[j] + 1 if item == other else max(above[j + 1], row[j]))
    return row[-1]


@given(items, items)
def test_the_common_part_of_two_sequences(a: list[int], b: list[int]) -> None:
    pairs = common(a, b)
    assert len(pairs) == longest(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    steps = list(merged(pairs, len(a), len(b)))
    assert [i for i, _ in steps if i is not None] == list(range(len(a)))
    assert [j for _, j in steps if j is not None] == list(range(len(b)))
    assert [step for step in steps if None not in step] == pairs


@given(st.permutations(range(8)))
def test_the_longest_choice_in_order(order: list[int]) -> None:
    chosen = in_order(list(enumerate(order)))
    assert chosen == sorted(chosen)
    seconds = [second for _, second in chosen]
    assert seconds == sorted(seconds)
    assert len(chosen) == longest(order, sorted(order))


def test_sequences_with_little_in_common_are_worked_through() -> None:
    a, b = [index * 2 for index in range(3000)], [index * 3 for index in range(2000)]
    pairs = common(a, b)
    assert [a[i] for i, _ in pairs] == [b[j] for _, j in pairs] == list(range(0, 6000, 6))
    shuffled = [(index * 7919) % 1009 for index in range(1009)]
    found = common(shuffled, list(range(1009)))
    assert found
    assert all(shuffled[i] == j for i, j in found)
    assert found == sorted(found)
