"""Known ways to break a valid Program: each changes it in place and says where that shows.

A mutation takes a random source and a Program, and returns the places at any of which a report is right, or None where
the Program has nothing to break that way. A place is an operation, a function's head, or a block's end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from random import Random
from typing import Any, NamedTuple

from miltext.checking.inference.rules import LARGEST_SIZE
from miltext.schema.dtypes import BY_NUMBER
from miltext.schema.operations import Parameter, Signature, first_opset, opset_place, signature
from miltext.schema.paths import Key, Path
from miltext.schema.proto import Block, NamedValueType, Operation, Program

Mutation = Callable[[Random, Program], "list[Path] | None"]

MUTATIONS: dict[str, Mutation] = {}


class Site(NamedTuple):
    """An operation, its path, and the block, opset and Program that it is in."""

    operation: Operation
    path: Path
    block: Block
    opset: str
    program: Program


Change = Callable[[Random, Site], "list[Path] | None"]


def mutation(function: Mutation) -> Mutation:
    """Enter a mutation under its name, in words."""
    MUTATIONS[function.__name__.replace("_", " ")] = function
    return function


def at(fits: Callable[[Site], Any]) -> Callable[[Change], Mutation]:
    """Enter a change of an operation as a mutation, which makes it at a random one among those that fit."""

    def entered(change: Change) -> Mutation:
        @wraps(change)
        def mutate(random: Random, program: Program) -> list[Path] | None:
            fitting = [site for site in sites(program) if fits(site)]
            return change(random, random.choice(fitting)) if fitting else None

        return mutation(mutate)

    return entered


def _entries(held: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the entries of a map by key: a map of protobuf has another order in each process."""
    return [(key, held[key]) for key in sorted(held)]


def sites(program: Program) -> list[Site]:
    """List every operation of a Program."""
    found: list[Site] = []
    for name, function in _entries(program.functions):
        for opset, block in _entries(function.block_specializations):
            path: Path = ("functions", Key(name), "block_specializations", Key(opset))
            found += _sites(program, block, path, opset)
    return found


def _sites(program: Program, block: Block, path: Path, opset: str) -> Iterator[Site]:
    for index, operation in enumerate(block.operations):
        place = (*path, "operations", index)
        yield Site(operation, place, block, opset, program)
        for nested, inner in enumerate(operation.blocks):
            yield from _sites(program, inner, (*place, "blocks", nested), opset)


def known(site: Site) -> Signature | None:
    return signature(site.operation.type, site.opset)


def users(program: Program, name: str) -> list[Path]:
    """List where a value is used: operations, the heads of their blocks, whose inputs may stand for it, block ends."""
    places: list[Path] = []
    for site in sites(program):
        bindings = [binding for argument in site.operation.inputs.values() for binding in argument.arguments]
        if any(binding.name == name for binding in bindings):
            places.append(site.path)
            places += [(*site.path, "blocks", index, "inputs", 0) for index in range(len(site.operation.blocks))]
        for index, block in enumerate(site.operation.blocks):
            if name in block.outputs:
                places.append((*site.path, "blocks", index, "outputs", list(block.outputs).index(name)))
    return places + ends(program)


def ends(program: Program) -> list[Path]:
    """List the ends of the functions' blocks."""
    return [
        ("functions", Key(name), "block_specializations", Key(opset), "outputs", 0)
        for name, function in _entries(program.functions)
        for opset in sorted(function.block_specializations)
    ]


def parameters(site: Site, fits: Callable[[Parameter], Any]) -> list[str]:
    """List the parameters that an operation's inputs give and that fit."""
    found = known(site)
    listed = found.parameters if found else {}
    return [name for name in sorted(site.operation.inputs) if name in listed and fits(listed[name])]


def first_output(site: Site) -> NamedValueType:
    return site.operation.outputs[0]


# ---- names


def _named_bindings(operation: Operation) -> list[Any]:
    return [binding for _, each in _entries(operation.inputs) for binding in each.arguments if binding.name]


@at(lambda site: _named_bindings(site.operation))
def a_use_of_nothing(random: Random, site: Site) -> list[Path]:
    random.choice(_named_bindings(site.operation)).name = "nobody"
    return [site.path]


@at(lambda site: _named_bindings(site.operation))
def a_misspelt_use(random: Random, site: Site) -> list[Path]:
    random.choice(_named_bindings(site.operation)).name += "x"
    return [site.path]


def _is_used_next(site: Site) -> bool:
    after = list(site.block.operations)[int(site.path[-1]) + 1 :][:1]
    names = {output.name for output in site.operation.outputs}
    return bool(after) and any(binding.name in names for binding in _named_bindings(after[0]))


@at(_is_used_next)
def an_operation_before_what_it_uses(random: Random, site: Site) -> list[Path]:
    index = int(site.path[-1])
    first, second = Operation(), Operation()
    first.CopyFrom(site.block.operations[index])
    second.CopyFrom(site.block.operations[index + 1])
    site.block.operations[index].CopyFrom(second)
    site.block.operations[index + 1].CopyFrom(first)
    return [site.path]


def _is_used(site: Site) -> bool:
    name, ending = first_output(site).name, ends(site.program)
    return any(place not in ending for place in users(site.program, name)) or any(
        name in block.outputs
        for function in site.program.functions.values()
        for block in function.block_specializations.values()
    )


@at(lambda site: len(site.operation.outputs) == 1 and _is_used(site))
def an_operation_too_few(random: Random, site: Site) -> list[Path]:
    name = first_output(site).name
    del site.block.operations[int(site.path[-1])]
    return users(site.program, name)


@at(lambda site: len(site.operation.outputs) == 1 and _is_used(site))
def an_output_of_another_name(random: Random, site: Site) -> list[Path]:
    name, first_output(site).name = first_output(site).name, "renamed"
    return [site.path, *users(site.program, name)]


@at(lambda site: site.operation.outputs and int(site.path[-1]) > 0)
def a_name_twice(random: Random, site: Site) -> list[Path] | None:
    before = site.block.operations[int(site.path[-1]) - 1]
    if not before.outputs:
        return None
    first_output(site).name = before.outputs[0].name
    return [site.path]


@mutation
def a_block_output_of_nothing(random: Random, program: Program) -> list[Path] | None:
    path = random.choice(ends(program))
    block = program.functions[str(path[1])].block_specializations[str(path[3])]
    if not block.outputs:
        return None
    block.outputs[0] = "nobody"
    return [path]


@at(lambda site: site.operation.outputs)
def a_name_that_is_none(random: Random, site: Site) -> list[Path]:
    first_output(site).name = "a/b"
    return [site.path]


# ---- operations


@at(known)
def an_unknown_operation(random: Random, site: Site) -> list[Path]:
    site.operation.type += "_of_my_own"
    return [site.path]


@at(lambda site: parameters(site, lambda parameter: parameter.required))
def a_required_parameter_too_few(random: Random, site: Site) -> list[Path]:
    del site.operation.inputs[random.choice(sorted(parameters(site, lambda parameter: parameter.required)))]
    return [site.path]


@at(lambda site: (found := known(site)) and not found.open and site.operation.inputs)
def a_misspelt_parameter(random: Random, site: Site) -> list[Path]:
    name = random.choice(sorted(site.operation.inputs))
    site.operation.inputs[name + "s"].CopyFrom(site.operation.inputs[name])
    del site.operation.inputs[name]
    return [site.path]


@at(lambda site: (found := known(site)) and not found.open and site.operation.inputs)
def a_parameter_too_many(random: Random, site: Site) -> list[Path]:
    site.operation.inputs["something_else"].CopyFrom(site.operation.inputs[min(site.operation.inputs)])
    return [site.path]


@at(lambda site: parameters(site, lambda parameter: not parameter.variadic))
def two_values_for_one(random: Random, site: Site) -> list[Path]:
    bindings = site.operation.inputs[min(parameters(site, lambda parameter: not parameter.variadic))].arguments
    bindings.add().CopyFrom(bindings[0])
    return [site.path]


@at(lambda site: _named_bindings(site.operation))
def an_argument_of_nothing(random: Random, site: Site) -> list[Path]:
    random.choice(_named_bindings(site.operation)).Clear()
    return [site.path]


@at(lambda site: parameters(site, lambda parameter: parameter.constant))
def a_variable_for_a_constant(random: Random, site: Site) -> list[Path] | None:
    name = random.choice(sorted(parameters(site, lambda parameter: parameter.constant)))
    function = site.program.functions[str(site.path[1])]
    if not function.inputs:
        return None
    binding = site.operation.inputs[name].arguments[0]
    binding.name = function.inputs[0].name
    return [site.path]


@at(lambda site: (found := known(site)) and found.outputs == (1, 1))
def an_output_too_many(random: Random, site: Site) -> list[Path]:
    site.operation.outputs.add(name="one_more", type=first_output(site).type)
    return [site.path]


@at(lambda site: (found := known(site)) and found.outputs == (1, 1))
def no_output(random: Random, site: Site) -> list[Path]:
    name = first_output(site).name
    del site.operation.outputs[:]
    return [site.path, *users(site.program, name)]


@mutation
def an_operation_of_a_later_opset(random: Random, program: Program) -> list[Path] | None:
    function = random.choice([program.functions[name] for name in sorted(program.functions)])
    newer = [site for site in sites(program) if opset_place(first_opset(site.operation.type)) > opset_place("ios15")]
    newer = [site for site in newer if first_opset(site.operation.type)]
    if not newer or function.opset == "CoreML5" or len(program.functions) > 1:
        return None
    block = Block()
    block.CopyFrom(function.block_specializations[function.opset])
    del function.block_specializations[function.opset]
    function.opset = "CoreML5"
    function.block_specializations["CoreML5"].CopyFrom(block)
    return [(*site.path[:3], Key("CoreML5"), *site.path[4:]) for site in newer]


# ---- types


def _has_tensor(site: Site) -> bool:
    outputs = site.operation.outputs
    return bool(outputs) and all(output.type.HasField("tensorType") for output in outputs)


def _sized(site: Site) -> bool:
    return _has_tensor(site) and any(size.WhichOneof("dimension") == "constant" for size in _sizes(site))


def _sizes(site: Site) -> Any:
    return first_output(site).type.tensorType.dimensions


@at(_has_tensor)
def another_data_type(random: Random, site: Site) -> list[Path]:
    tensor = random.choice(list(site.operation.outputs)).type.tensorType
    tensor.dataType = random.choice([number for number in (1, 10, 11, 23) if number != tensor.dataType])
    return [site.path]


@at(_sized)
def another_dimension(random: Random, site: Site) -> list[Path]:
    size = random.choice([size for size in _sizes(site) if size.WhichOneof("dimension") == "constant"]).constant
    size.size += 1 if size.size < LARGEST_SIZE else -1
    return [site.path]


@at(_has_tensor)
def a_dimension_too_many(random: Random, site: Site) -> list[Path]:
    _sizes(site).add().constant.size = 1
    first_output(site).type.tensorType.rank += 1
    return [site.path]


@at(_has_tensor)
def a_rank_that_is_not_the_count(random: Random, site: Site) -> list[Path]:
    first_output(site).type.tensorType.rank += 1
    return [site.path]


@at(_has_tensor)
def no_type(random: Random, site: Site) -> list[Path]:
    first_output(site).ClearField("type")
    return [site.path]


@mutation
def another_data_type_of_an_input(random: Random, program: Program) -> list[Path] | None:
    found = [
        (Key(name), value)
        for name, function in _entries(program.functions)
        for value in function.inputs
        if value.type.HasField("tensorType") and _is_typed(program, value.name)
    ]
    if not found:
        return None
    name, value = random.choice(found)
    tensor = value.type.tensorType
    tensor.dataType = 10 if BY_NUMBER[tensor.dataType].name != "fp16" else 23
    return [("functions", name, "inputs", 0), *users(program, value.name)]


def _is_typed(program: Program, name: str) -> bool:
    """Whether something else uses a value than what takes any data type and returns one of its own."""
    places = users(program, name)
    using = [site for site in sites(program) if site.path in places]
    return any(site.operation.type not in ("cast", "shape") for site in using)


# ---- values


def _constant(site: Site) -> bool:
    return site.operation.type == "const" and "val" in site.operation.attributes


def _listed(site: Site) -> bool:
    if not _constant(site):
        return False
    value = site.operation.attributes["val"]
    tensor = value.immediateValue.tensor
    field = tensor.WhichOneof("value")
    return value.type.HasField("tensorType") and field is not None and len(getattr(tensor, field).values) > 0


@at(_constant)
def no_val(random: Random, site: Site) -> list[Path]:
    del site.operation.attributes["val"]
    return [site.path]


@at(_listed)
def an_element_too_few(random: Random, site: Site) -> list[Path]:
    tensor = site.operation.attributes["val"].immediateValue.tensor
    values = getattr(tensor, str(tensor.WhichOneof("value")))
    if isinstance(values.values, bytes):
        values.values = values.values[:-1]
    else:
        del values.values[-1]
    return [site.path]


@at(lambda site: _listed(site) and len(_sizes(site)))
def a_constant_of_unknown_size(random: Random, site: Site) -> list[Path]:
    size = site.operation.attributes["val"].type.tensorType.dimensions[0]
    size.unknown.variadic = False
    return [site.path]


@at(_constant)
def a_constant_of_another_type(random: Random, site: Site) -> list[Path]:
    tensor = site.operation.attributes["val"].type.tensorType
    tensor.dataType = 11 if tensor.dataType != 11 else 10
    return [site.path]


@mutation
def a_blob_at_no_record(random: Random, program: Program) -> list[Path] | None:
    blobs = [
        (site.path, value)
        for site in sites(program)
        for value in [
            *[value for _, value in _entries(site.operation.attributes)],
            *[binding.value for _, each in _entries(site.operation.inputs) for binding in each.arguments],
        ]
        if value.HasField("blobFileValue")
    ]
    if not blobs:
        return None
    path, value = random.choice(blobs)
    value.blobFileValue.offset += 1
    return [path]


@at(_constant)
def a_value_of_nothing(random: Random, site: Site) -> list[Path]:
    site.operation.attributes["val"].ClearField("value")
    return [site.path]


@at(lambda site: site.operation.blocks)
def a_block_too_few(random: Random, site: Site) -> list[Path]:
    del site.operation.blocks[-1]
    return [site.path]


@at(lambda site: site.operation.blocks and site.operation.blocks[0].inputs)
def a_block_input_too_few(random: Random, site: Site) -> list[Path]:
    del site.operation.blocks[0].inputs[-1]
    return [site.path, (*site.path, "blocks", 0)]


@mutation
def no_block_for_the_opset(random: Random, program: Program) -> list[Path] | None:
    name = random.choice(sorted(program.functions))
    program.functions[name].opset = "CoreML9" if program.functions[name].opset != "CoreML9" else "CoreML8"
    return [("functions", Key(name), "opset")]


@mutation
def a_misspelt_opset(random: Random, program: Program) -> list[Path] | None:
    name = random.choice(sorted(program.functions))
    function = program.functions[name]
    block = Block()
    block.CopyFrom(function.block_specializations[function.opset])
    del function.block_specializations[function.opset]
    function.opset = "ios81"
    function.block_specializations["ios81"].CopyFrom(block)
    return [("functions", Key(name), "opset")]
