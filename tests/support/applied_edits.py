"""Random edits of Programs for laws of `miltext.apply`: of names, order, constants, fields, functions and graphs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random

from conftest import wire
from support import graph_edits, program_edits
from support.field_edits import at, paths

import miltext
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.ir.graph import Graph
from miltext.ir.parts import Op, Value
from miltext.schema import proto
from miltext.schema.proto import Program

ProgramEdit = Callable[[Random, Program], Program]
"""An edit of a copy of a Program, which is returned, changed or not."""


def program_of(seed: int) -> Program:
    """A generated program, some with several functions."""
    return generate(seed, Options(functions=1 + seed % 2, ops=(1, 24)))


def edited(random: Random, program: Program, count: int) -> Program:
    """A Program with a number of random edits."""
    for _ in range(count):
        program = random.choice(EDITS)(random, program)
    return program


def as_people_do(random: Random, program: Program) -> Program:
    """One of the edits that people make in a text."""
    made = deepcopy(program)
    edit = random.choice([*program_edits.EDITS.values()])
    edit(made, "", random.choice(sorted(made.functions)))
    return made


def in_the_graph(random: Random, program: Program) -> Program:
    """A few edits of the graph that keep what is computed."""
    graph = Graph(program)
    graph_edits.edited(graph, random, random.randint(1, 4))
    return graph.program()


def of_literals(random: Random, program: Program) -> Program:
    """Constants written at some of their uses, and literals as constants of their own."""
    graph = Graph(program)
    for op in [*graph.walk()]:
        for parameter, operands in [*op.inputs.items()]:
            if op.is_constant or op.block is None or random.random() > 0.2:
                continue
            op.set_input(parameter, [_other_form(each, op, random) for each in operands])
    for op in [*graph.walk()]:
        if op.type == "const" and not op.is_used and random.random() < 0.7:
            op.remove()
    return graph.program()


def _other_form(operand: Value | proto.Value | None, user: Op, random: Random) -> Value | proto.Value | None:
    if isinstance(operand, Value):
        maker = operand.maker
        return maker.attributes["val"] if maker is not None and maker.type == "const" else operand
    if operand is None or user.block is None:
        return operand
    function = user.block.function
    const = Op(proto.Operation(type="const"))
    const.own().attributes["val"].CopyFrom(operand)
    const.outputs = [Value(name := function.fresh("k"), proto.NamedValueType(name=name, type=operand.type), const)]
    user.block.insert_before(user, const)
    return const.outputs[0]


def of_numbers(random: Random, program: Program) -> Program:
    """Other numbers in some constants and literals."""
    made = deepcopy(program)
    for path in [each for each in paths(made) if type(at(made, each)).__name__ == "TensorValue"]:
        tensor = at(made, path)
        if random.random() < 0.1 and (kind := tensor.WhichOneof("value")) in ("ints", "floats", "bools"):
            values = getattr(tensor, kind).values
            if values:
                place = random.randrange(len(values))
                values[place] = not values[place] if kind == "bools" else values[place] + random.randint(1, 3)
    return made


def of_a_field(random: Random, program: Program) -> Program:
    """A field taken out of any message, in any of its parts."""
    made = deepcopy(program)
    message = at(made, random.choice([*paths(made)]))
    fields = [field.name for field, _ in message.ListFields()]
    if fields:
        message.ClearField(random.choice(fields))
    return made


def of_operations(random: Random, program: Program) -> Program:
    """Operations in another order, repeated or taken out, whether the rest can be read or not."""
    made = deepcopy(program)
    blocks = [at(made, each) for each in paths(made) if type(at(made, each)).__name__ == "Block"]
    operations = random.choice(blocks).operations
    kept = [deepcopy(each) for each in operations]
    choice = random.randrange(3)
    if kept and choice == 0:
        kept.insert(random.randrange(len(kept)), kept.pop(random.randrange(len(kept))))
    elif kept and choice == 1:
        kept.pop(random.randrange(len(kept)))
    elif kept:
        kept.insert(random.randrange(len(kept)), deepcopy(random.choice(kept)))
    del operations[:]
    operations.extend(kept)
    return made


def another(random: Random, program: Program) -> Program:
    """Another program altogether, now and then."""
    return program_of(random.randrange(1 << 16)) if random.random() < 0.1 else program


EDITS: list[ProgramEdit] = [
    as_people_do,
    as_people_do,
    in_the_graph,
    of_literals,
    of_numbers,
    of_a_field,
    of_operations,
    another,
]


def left_over(old: Program, new: Program) -> str:
    """What differs between a new Program and the old one with their difference; nothing if the law holds."""
    difference = miltext.diff(old, new, build_info=True, ignore_weights=True)
    before = wire(old)
    made = miltext.apply(difference, old)
    assert wire(old) == before
    left = miltext.diff(made, new, build_info=True, ignore_weights=True)
    return "" if left.same else left.to_text(full=True)
