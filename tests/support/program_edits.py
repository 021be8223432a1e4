"""Edits of programs as people make them in a text, done here on the Program: a table that a law goes through.

Each edit changes one function of the Program that it is given, and returns what things are called afterwards; None
where there is nothing to edit so. `HARMLESS` are those after which a description has all that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from support.description_facts import Moves, Owner

from miltext.schema.proto import Block, Function, NamedValueType, Operation, Program, Value, ValueType
from miltext.schema.types import TensorType, read_type, write_type
from miltext.schema.value_builders import STRING, immediate
from miltext.schema.walk import own_block

Edit: TypeAlias = Callable[[Program, str, str], "list[Moves] | None"]
"""From a Program, the way to its stage and the name of a function, to each of what may be meant by the edit."""

EDITS: dict[str, Edit] = {}
HARMLESS: set[str] = set()

OTHER = {"fp32": "fp16", "fp16": "fp32", "int32": "fp32", "int8": "fp32"}
"""The data type that an input or output is given instead of its own."""


def _edit(edit: Edit) -> Edit:
    EDITS[edit.__name__.strip("_").replace("_", " ")] = edit
    return edit


def _harmless(edit: Edit) -> Edit:
    HARMLESS.add(edit.__name__.strip("_").replace("_", " "))
    return _edit(edit)


# ---- what there is in a function


def body(program: Program, function: str) -> Block:
    found = own_block(program.functions[function])
    assert found is not None
    return found


def taken(program: Program, function: str) -> list[NamedValueType]:
    """The inputs of a function, without its states."""
    return [each for each in program.functions[function].inputs if not each.type.HasField("stateType")]


def made(program: Program, function: str) -> dict[str, ValueType]:
    """The types of what the function's own block makes."""
    return {each.name: each.type for operation in body(program, function).operations for each in operation.outputs}


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for operation in block.operations:
        for inner in operation.blocks:
            yield from _blocks(inner)


def _replace(program: Program, function: str, names: dict[str, str], places: str = "input make use give") -> None:
    """Give values other names: where they are inputs, made, used or given out."""

    def changed(name: str) -> str:
        return names.get(name, name)

    for parameter in program.functions[function].inputs if "input" in places else ():
        parameter.name = changed(parameter.name)
    for block in _blocks(body(program, function)):
        for operation in block.operations:
            for value in operation.outputs if "make" in places else ():
                value.name = changed(value.name)
            for argument in operation.inputs.values() if "use" in places else ():
                for binding in argument.arguments:
                    if binding.WhichOneof("binding") == "name":
                        binding.name = changed(binding.name)
        if "give" in places:
            block.outputs[:] = [changed(name) for name in block.outputs]


def _renamed(program: Program, stage: str, function: str, side: str, *names: str) -> list[Moves] | None:
    """Name the first value of a side `new`, or with two names of one type, each by the other's."""
    if not names:
        return None
    pairs = dict(zip(names, reversed(names), strict=True)) if len(names) == 2 else {names[0]: "renamed"}
    _replace(program, function, pairs)
    return [Moves(entries={Owner(stage, function, side, old): new for old, new in pairs.items()})]


# ---- nothing, names, order


@_harmless
def _nothing(program: Program, stage: str, function: str) -> list[Moves]:
    return [Moves()]


@_harmless
def _rename_an_input(program: Program, stage: str, function: str) -> list[Moves] | None:
    return _renamed(program, stage, function, "input", *[each.name for each in taken(program, function)][:1])


@_harmless
def _rename_a_state(program: Program, stage: str, function: str) -> list[Moves] | None:
    states = [each.name for each in program.functions[function].inputs if each.type.HasField("stateType")]
    return _renamed(program, stage, function, "state", *states[:1])


@_harmless
def _rename_an_output(program: Program, stage: str, function: str) -> list[Moves] | None:
    return _renamed(program, stage, function, "output", *body(program, function).outputs[:1])


@_harmless
def _rename_all(program: Program, stage: str, function: str) -> list[Moves]:
    names = {each.name: f"new_{each.name}" for each in program.functions[function].inputs}
    names |= {name: f"new_{name}" for name in made(program, function)}
    _replace(program, function, names)
    sides = ("input", "output", "state")
    return [Moves(entries={Owner(stage, function, side, old): new for side in sides for old, new in names.items()})]


@_harmless
def _swap_inputs(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Swap two names; where the types are equal, it may as well be the uses that were swapped."""
    inputs = taken(program, function)
    if len(inputs) < 2:
        return None
    swapped = _renamed(program, stage, function, "input", inputs[0].name, inputs[1].name) or []
    return [*swapped, *[Moves()] * (inputs[0].type == inputs[1].type)]


@_harmless
def _swap_states(program: Program, stage: str, function: str) -> list[Moves] | None:
    states = [each for each in program.functions[function].inputs if each.type.HasField("stateType")]
    if len(states) < 2:
        return None
    return [*(_renamed(program, stage, function, "state", states[0].name, states[1].name) or []), Moves()]


@_harmless
def _reorder(program: Program, stage: str, function: str) -> list[Moves]:
    inputs = program.functions[function].inputs
    kept = [NamedValueType.FromString(each.SerializeToString()) for each in reversed(inputs)]
    del inputs[:]
    inputs.extend(kept)
    outputs = body(program, function).outputs
    outputs[:] = [*reversed(outputs)]
    return [Moves()]


@_harmless
def _rename_inner_values(program: Program, stage: str, function: str) -> list[Moves]:
    given = {*body(program, function).outputs, *(each.name for each in program.functions[function].inputs)}
    _replace(program, function, {name: f"inner_{name}" for name in made(program, function) if name not in given})
    return [Moves()]


@_harmless
def _rename_and_swap(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Name two inputs otherwise, in the other order."""
    inputs = taken(program, function)
    if len(inputs) < 2:
        return None
    names = {inputs[0].name: "zulu", inputs[1].name: "alpha"}
    _replace(program, function, names)
    _reorder(program, stage, function)
    return [Moves(entries={Owner(stage, function, "input", old): new for old, new in names.items()})]


@_harmless
def _give_out_an_input(program: Program, stage: str, function: str) -> list[Moves] | None:
    inputs, outputs = taken(program, function), body(program, function).outputs
    if not inputs or inputs[0].name in outputs or None in read_type(inputs[0].type).shape:  # type: ignore[union-attr]
        return None
    outputs.append(inputs[0].name)
    return [Moves()]


# ---- operations


def _operation(kind: str, name: str, type: ValueType, **arguments: str | Value) -> Operation:
    operation = Operation(type=kind)
    operation.outputs.add(name=name, type=type)
    for key, argument in arguments.items():
        binding = operation.inputs[key].arguments.add()
        if isinstance(argument, str):
            binding.name = argument
        else:
            binding.value.CopyFrom(argument)
    return operation


def _cast(name: str, source: str, dtype: str, type: ValueType) -> Operation:
    return _operation("cast", name, type, x=source, dtype=immediate(STRING, dtype))


@_harmless
def _expose(program: Program, stage: str, function: str) -> list[Moves] | None:
    inner = exposable(program, function)
    body(program, function).outputs.extend(inner)
    return [Moves()] if inner else None


def exposable(program: Program, function: str) -> list[str]:
    """The inner values of a function's block that Core ML can describe as arrays."""
    block = body(program, function)
    inner = [value for each in block.operations if each.type != "const" for value in each.outputs]
    known = {each.name: read_type(each.type) for each in inner if each.name not in block.outputs}
    return [name for name, each in known.items() if isinstance(each, TensorType) and each.dtype in OTHER and each.shape]


@_edit
def _cut_operations(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Leave out each `relu`, and what follows from an output's being one: that it is another value."""
    block = body(program, function)
    found = {
        each.outputs[0].name: each.inputs["x"].arguments[0].name for each in block.operations if each.type == "relu"
    }
    for index in reversed(range(len(block.operations))):
        if block.operations[index].type == "relu":
            del block.operations[index]
    _replace(program, function, found, "use give")
    return (
        [Moves(entries={Owner(stage, function, "output", name): new for name, new in found.items()})] if found else None
    )


@_harmless
def _insert_operations(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Give each output of one type a `relu` of its own, under the name that it had."""
    block, types = body(program, function), made(program, function)
    found = [name for name in block.outputs if _dtype(types.get(name)) in ("fp16", "fp32")]
    _replace(program, function, {name: f"{name}_before" for name in found}, "make use")
    block.operations.extend([_operation("relu", name, types[name], x=f"{name}_before") for name in found])
    return [Moves()] if found else None


def _dtype(type: ValueType | None) -> str:
    known = read_type(type) if type is not None else None
    return known.dtype if isinstance(known, TensorType) else ""


# ---- what is taken and given


@_edit
def _cut_an_output(program: Program, stage: str, function: str) -> list[Moves] | None:
    outputs = body(program, function).outputs
    if len(outputs) < 2:
        return None
    return [Moves(entries={Owner(stage, function, "output", outputs.pop()): None})]


@_edit
def _cut_an_input(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Have another input of the type used instead."""
    inputs = taken(program, function)
    for index, gone in enumerate(inputs):
        others = [each.name for each in inputs if each.type == gone.type and each.name != gone.name]
        if others:
            name = gone.name
            del program.functions[function].inputs[[*program.functions[function].inputs].index(inputs[index])]
            _replace(program, function, {name: others[0]}, "use give")
            return [Moves(entries={Owner(stage, function, "input", name): None})]
    return None


@_harmless
def _add_an_input(program: Program, stage: str, function: str) -> list[Moves] | None:
    inputs = taken(program, function)
    stated = read_type(inputs[0].type) if inputs else None
    if stated is None or None in stated.shape:  # type: ignore[union-attr]
        return None
    program.functions[function].inputs.add(name="another", type=inputs[0].type)
    return [Moves()]


@_edit
def _another_data_type_in(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Have each input be of another data type, and cast to the one that it had."""
    casts, names = [], {}
    for each in taken(program, function):
        known = read_type(each.type)
        if isinstance(known, TensorType) and known.dtype in OTHER:
            names[each.name] = f"{each.name}_cast"
            casts.append(_cast(names[each.name], each.name, known.dtype, each.type))
            each.type.CopyFrom(write_type(known._replace(dtype=OTHER[known.dtype])))
    _replace(
        program, function, {each.inputs["x"].arguments[0].name: each.outputs[0].name for each in casts}, "use give"
    )
    operations = body(program, function).operations
    kept = [Operation.FromString(each.SerializeToString()) for each in operations]
    del operations[:]
    operations.extend([*casts, *kept])
    return [Moves()] if casts else None


@_edit
def _another_data_type_out(program: Program, stage: str, function: str) -> list[Moves] | None:
    block, types = body(program, function), made(program, function)
    found = [name for name in block.outputs if _dtype(types.get(name)) in OTHER]
    _replace(program, function, {name: f"{name}_before" for name in found}, "make use")
    for name in found:
        known = read_type(types[name])
        assert isinstance(known, TensorType)
        changed = known._replace(dtype=OTHER[known.dtype])
        block.operations.append(_cast(name, f"{name}_before", changed.dtype, write_type(changed)))
    return [Moves()] if found else None


@_edit
def _rename_and_retype(program: Program, stage: str, function: str) -> list[Moves] | None:
    """Have each input be of another data type, under another name."""
    names = {each.name: f"new_{each.name}" for each in taken(program, function)}
    _replace(program, function, names)
    moves = _another_data_type_in(program, stage, function)
    entries = {Owner(stage, function, "input", old): new for old, new in names.items()}
    return [Moves(entries=entries)] if moves else None


# ---- functions


def _give(program: Program, functions: dict[str, str]) -> None:
    """Have functions be those that others were, which are gone unless they are given, too."""
    kept = {name: Function.FromString(program.functions[old].SerializeToString()) for name, old in functions.items()}
    for old in functions.values():
        del program.functions[old]
    for name, function in kept.items():
        program.functions[name].CopyFrom(function)


@_harmless
def _rename_the_function(program: Program, stage: str, function: str) -> list[Moves]:
    _give(program, {"renamed": function})
    return [Moves({Owner(stage, function): "renamed"})]


@_harmless
def _copy_the_function(program: Program, stage: str, function: str) -> list[Moves]:
    program.functions["copied"].CopyFrom(program.functions[function])
    return [Moves()]


@_edit
def _cut_the_function(program: Program, stage: str, function: str) -> list[Moves] | None:
    if len(program.functions) < 2:
        return None
    del program.functions[function]
    return [Moves({Owner(stage, function): None})]


@_harmless
def _swap_functions(program: Program, stage: str, function: str) -> list[Moves] | None:
    other = next((name for name in sorted(program.functions) if name != function), None)
    if other is None:
        return None
    _give(program, {function: other, other: function})
    return [Moves({Owner(stage, function): other, Owner(stage, other): function})]
