"""Edits planted in a program, and whether `diff` reports each as a cause, and nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

import numpy as np

import miltext
from miltext.descriptions.ranges import read_ranges
from miltext.diagnostics import Diagnostic, MiltextError
from miltext.diffing.structure import BlockDifference, ChangedOperation, FunctionDifference, MovedOperations
from miltext.drafting.reshaping import reshape
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.ir.functions import Block, Function
from miltext.ir.graph import Graph
from miltext.ir.parts import Op, Operand, Value, literal_of
from miltext.pairing.keyed import label
from miltext.schema.proto import Program
from miltext.schema.tensors import literal
from miltext.schema.types import TensorType
from miltext.syntax.names import name_text

MOST = 6
"""The most edits in one program."""

FLOATS = ("fp16", "fp32")

SIZES = re.compile(r"`(shape|begin|end|size|reps)` of")
"""The beginning of a note about a constant that holds nothing but sizes."""

SAME = ("relu", "tanh", "sigmoid", "abs", "square", "sign", "exp2", "cos", "sin", "softsign")
"""Operations whose output has the type of their only input."""


@dataclass
class Planted:
    """An edit: its kind, the names of the operations, inputs or values at which it may be reported, and those of other
    values that no other edit may touch, since the two might cancel each other.
    """

    kind: str
    names: set[str]
    beside: set[str] = field(default_factory=set)


@dataclass
class Outcome:
    """What became of the edits of a program: hidden ones, and causes without an edit."""

    planted: list[Planted]
    hidden: list[Planted]
    others: list[str]


Plant = Callable[[Random, Function], "Planted | None"]


def planted(seed: int) -> tuple[Program, Program, list[Planted]]:
    """Return a generated program, the same with edits, and the edits."""
    random = Random(seed)
    old = generate(seed, Options(ops=(8, 30), weights=32, control_flow=seed % 3 == 0, states=seed % 4 == 0))
    new, edits = old, list[Planted]()
    if random.random() < 0.4 and (resized := random.choice([_resized, _widened])(random, old)):
        new, edit = resized
        edits.append(edit)
    touched = {name for edit in edits for name in edit.names | edit.beside}
    for plant in random.choices(PLANTS, k=random.randint(1, MOST - len(edits))):
        graph = Graph(new)
        made = plant(random, next(iter(graph.functions.values())))
        if made is not None and touched.isdisjoint(made.names | made.beside):
            touched |= made.names | made.beside
            edits.append(made)
            new = graph.program()
    return old, new, edits


def outcome(old: Program, new: Program, edits: list[Planted]) -> Outcome:
    """Compare the causes of a difference with the edits."""
    difference = miltext.diff(old, new)
    causes = [names for function in difference.functions for names in _causes(function)]
    causes += [{*weight.operation.split(", ")} for weight in difference.weights.changed if weight.follows is None]
    hidden = [edit for edit in edits if not any(edit.names & names for names in causes)]
    others = [str(sorted(names)) for names in causes if not any(edit.names & names for edit in edits)]
    return Outcome(edits, hidden, others)


def other_numbers(old: Program, new: Program, seed: int) -> list[str] | None:
    """Return the outputs that differ on random inputs, but not by the summary of `diff`; None if that is unknown."""
    if any("random_" in op.type for program in (old, new) for op in Graph(program).walk()):
        return None  # other draws are no difference of the programs
    same = miltext.diff(old, new).summary.outputs.unreached
    try:
        found = miltext.compare(old, new, seed=seed)
    except MiltextError:
        return None  # as with inputs of other sizes
    return [each.name for each in found.outputs if each.name in same and each.measure.level < math.inf]


def _causes(function: FunctionDifference) -> Iterator[set[str]]:
    """Yield the names at which each cause of a function is reported."""
    yield from ({change.name} for change in function.changes if change.follows is None)
    yield from ({rename.old or "", rename.new or ""} for rename in function.renamed if rename.follows is None)
    for block in (each for outer in function.blocks for each in outer.walk()):
        yield from _causes_of(block)


def _causes_of(block: BlockDifference) -> Iterator[set[str]]:
    yield from ({change.kind} for change in block.changes if change.follows is None)
    for rename in block.renamed:
        if rename.follows is None and rename.kind != "name":
            yield {rename.old or "", rename.new or ""}
    for operation in block.operations:
        if isinstance(operation, MovedOperations):
            if operation.follows is None:
                yield {name for each in operation.names for name in each.split(", ")}
        elif isinstance(operation, ChangedOperation):
            own = [change for change in operation.changes if change.follows is None]
            if own:
                also = {name for change in own for name, _ in change.also}
                yield {*operation.name.split(", "), *also, *[use for use, _ in operation.used_as]}
        elif operation.follows is None:
            yield {*operation.name.split(", ")}


# ---- the edits


def _resized(random: Random, old: Program) -> tuple[Program, Planted] | None:
    """Give an input another size, as `reshape` does."""
    function = next(iter(Graph(old).functions.values()))
    inputs = [value for value in function.inputs if isinstance(value.type, TensorType) and value.type.shape]
    if not inputs:
        return None
    value = random.choice(inputs)
    assert isinstance(value.type, TensorType)
    sizes = [size or 1 for size in value.type.shape]
    axis = random.randrange(len(sizes))
    sizes[axis] += random.choice([1, 2, 3, sizes[axis]])
    try:
        notes: list[Diagnostic] = []
        text = reshape(miltext.to_text(old), read_ranges({value.name: sizes}), on_warning=notes.append)
        if any(note.code == "MIL490" and not SIZES.match(note.message) for note in notes):
            return None  # a number that depends on a size was computed anew, which is a cause
        found = [each for each in miltext.check(text) if each.severity == "error"]
        return None if found else (miltext.parse(text), Planted("size", {name_text(value.name)}))
    except MiltextError:
        return None


def _widened(random: Random, old: Program) -> tuple[Program, Planted] | None:
    """Give all values and constants of fp16 the type fp32, with the same numbers."""
    function = next(iter(Graph(old).functions.values()))
    text = miltext.to_text(old)
    names = {name_text(value.name) for value in function.inputs if _is_half(value)}
    with_constants = {op for op, _, name in _constants(function) if _is_half_literal(op.operand(name))}
    for op in function.walk():
        if op.is_constant and not any(isinstance(use.user, Block) for value in op.outputs for use in value.uses):
            continue
        has_halves = op in with_constants or any(map(_is_half, op.outputs))
        if has_halves and not any(_is_half(each) and not _is_constant(each) for each in op.used()):
            names |= _name(op)  # an operation that makes fp16 of other types, or takes only constants of it
    if not names or '"fp16"' in text:  # a cast is a cause of its own
        return None
    try:
        new = miltext.parse(text.replace("fp16", "fp32"))
        return None if any(each.severity == "error" for each in miltext.check(new)) else (new, Planted("wider", names))
    except MiltextError:
        return None


def _is_half(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.dtype == "fp16"


def _is_half_literal(operand: Operand) -> bool:
    held = literal_of(operand)
    return held is not None and (tensor := literal(held)) is not None and tensor.dtype.name == "fp16"


def _is_constant(value: Value) -> bool:
    return value.maker is not None and value.maker.is_constant


def _name(op: Op) -> set[str]:
    return {name_text(value.name) for value in op.outputs} or {label(op)}


def _floats(function: Function) -> list[Value]:
    return [
        value
        for op in function.walk()
        for value in op.outputs
        if not op.is_constant and isinstance(value.type, TensorType) and value.type.dtype in FLOATS and value.uses
    ]


def _inserted(random: Random, function: Function) -> Planted | None:
    """Put an operation between a value and its uses."""
    values = _floats(function)
    if not values:
        return None
    value = random.choice(values)
    name = function.fresh("planted")
    new = Op.new(random.choice(SAME[:5]), {"x": value}, {name: value.type})
    uses = [use for use in value.uses if use.op is not None and use.op.block is value.owner.block]  # type: ignore[union-attr]
    maker = value.maker
    if not uses or maker is None or maker.block is None:
        return None
    maker.block.insert_before(maker.next, new)
    value.replace_uses(new.outputs[0], uses)
    return Planted("inserted", {name}, {name_text(value.name)})


def _removed(random: Random, function: Function) -> Planted | None:
    """Take out an operation whose output has the type of its input."""
    outer = {value for block in function.blocks.values() for value in block.outputs}
    ops = [op for op in function.walk() if op.type in SAME and isinstance(op.operand("x"), Value)]
    ops = [op for op in ops if op.outputs[0] not in outer and op.outputs[0].uses]
    ops = [op for op in ops if op.operand("x").type == op.outputs[0].type]  # type: ignore[union-attr]
    if not ops:
        return None
    op = random.choice(ops)
    names = _name(op)
    op.replace_by(op.operand("x"))  # type: ignore[arg-type]
    return Planted("removed", names)


def _renamed(random: Random, function: Function) -> Planted | None:
    values = [value for value in function.defined() if value.uses]
    if not values:
        return None
    value = random.choice(values)
    old, value.name = name_text(value.name), function.fresh(random.choice(["other", "renamed", "q"]))
    return Planted("renamed", {old, name_text(value.name)})


def _moved(random: Random, function: Function) -> Planted | None:
    """Put an operation at another place between its operands and its users."""
    ops = [op for op in function.walk() if not op.is_constant and not any(each.is_state for each in op.used())]
    random.shuffle(ops)
    for op in ops:
        block = op.block
        assert block is not None
        around = [each for each in block if each is not op and not each.is_constant]
        places = {each: place for place, each in enumerate(block)}
        needs = [places[value.maker] for value in op.used() if value.maker in places]
        users = [places[user] for value in op.outputs for use in value.uses if (user := block.holding(use.user))]
        low, high = max(needs, default=-1), min(users, default=len(places))
        free = [each for each in around if low < places[each] < high]
        own = places[op]
        far = [each for each in free if abs(places[each] - own) > 1]
        if far:
            behind = op.next
            block.insert_before(random.choice(far), op)
            moved = list(block)
            between = moved[min(own, moved.index(op)) : max(own, moved.index(op)) + 1]
            if sum(not each.is_constant for each in between) > 1:
                return Planted("moved", {name for each in between for name in _name(each)})
            block.insert_before(behind, op)
    return None


def _rewired(random: Random, function: Function) -> Planted | None:
    """Give an argument, or an output of an inner block, another value of the same type."""
    uses = [
        (value, use)
        for value in function.defined()
        if value.type is not None and not _is_constant(value) and not value.is_state
        for use in value.uses
        if use.op is not None or isinstance(use.user.owner, Op)  # type: ignore[union-attr]
    ]
    random.shuffle(uses)
    if random.random() < 0.3:
        uses.sort(key=lambda each: each[1].op is not None)  # outputs of inner blocks first, which are few
    for value, use in uses:
        block = use.user if isinstance(use.user, Block) else use.user.block
        assert block is not None
        before = [*function.inputs, *block.inputs]
        for op in block:
            if op is use.user:
                break
            before += () if op.is_constant else op.outputs
        others = [each for each in before if each is not value and each.type == value.type]
        if others:
            other = random.choice(others)
            value.replace_uses(other, [use])
            beside = {name_text(value.name), name_text(other.name)}
            return Planted("rewired", {"outputs"} if use.op is None else _name(use.op), beside)
    return None


def _constants(function: Function) -> Iterator[tuple[Op, Value | None, str]]:
    """Yield the operations with a float constant as an argument, and its `const`, if it has one."""
    for op in function.walk():
        for parameter in op.inputs:
            held = literal_of(op.operand(parameter))
            if held is not None and not op.is_constant and (tensor := literal(held)) and tensor.dtype.name in FLOATS:
                yield op, op.values(parameter)[0] if op.values(parameter) else None, parameter


def _other_number(random: Random, function: Function, *, long: bool = False, step: float = 0.5) -> Planted | None:
    """Give a float argument other numbers: one of them plus a step, or at least the next number."""
    found = []
    for op, value, parameter in _constants(function):
        tensor = literal(literal_of(op.operand(parameter)))  # type: ignore[arg-type]
        assert tensor is not None
        if (tensor.count > 16) is long and (value is None or len(value.uses) == 1):
            found.append((op, value, parameter, tensor))
    found = [each for each in found if "scale" not in each[2]]  # a factor of sizes changes types
    if not found:
        return None
    op, value, parameter, tensor = random.choice(found)
    array = tensor.array().copy()
    place = random.randrange(max(1, array.size))
    was = array.flat[place]
    array.flat[place] += np.asarray(step, array.dtype)
    if array.flat[place] == was:
        array.flat[place] = np.nextafter(was, np.asarray(np.inf, array.dtype))
    if value is None:
        message = op.own_literal(parameter)
    else:
        assert value.maker is not None
        message = value.maker.own().attributes["val"]
    made = message.immediateValue.tensor
    field = made.WhichOneof("value")
    if field == "floats":
        made.floats.values[:] = [float(each) for each in array.ravel()]
    elif field == "bytes":
        made.bytes.values = array.tobytes()
    else:
        return None
    names = _name(op) | (set() if value is None else {name_text(value.name)})
    return Planted("weights" if long else "attribute", names)


def _attribute(random: Random, function: Function) -> Planted | None:
    return _other_number(random, function)


def _near(random: Random, function: Function) -> Planted | None:
    """Give a float argument numbers that fp16 does not distinguish from the old ones."""
    return _other_number(random, function, long=random.random() < 0.5, step=random.choice([2e-8, 1e-6]))


def _weights(random: Random, function: Function) -> Planted | None:
    return _other_number(random, function, long=True)


PLANTS: tuple[Plant, ...] = (_inserted, _removed, _renamed, _moved, _attribute, _near, _weights, _rewired)
