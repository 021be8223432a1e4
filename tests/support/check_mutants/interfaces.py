"""Mutants of what an operation is: its parameters, its opset, its declared types, its names and its blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support.check_mutants.constants import Constant, made, read
from support.check_mutants.sites import KNOWN, Copy, Mutant, Site

from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import Signature, signature
from miltext.schema.proto import Block, Operation, ValueType
from miltext.schema.types import ListType, StateType, TensorType, Type, read_type, spelled, write_type

NESTING = ("cond", "while_loop")


# ---- parameters


def signature_mutants(site: Site) -> Iterator[Mutant]:
    """Break what an operation is given: parameters that it lacks or does not have, names that are not there."""
    for parameter in [
        *site.operation.inputs,
        *(key for key in site.operation.attributes if key not in ("name", "val")),
    ]:
        yield from _misnamed(site, parameter)
        if parameter in site.operation.inputs:
            yield from _misbound(site, parameter)
    if site.operation.type != "const":
        copy = site.copy()
        copy.operation.inputs["bogus"].arguments.add().value.CopyFrom(made(Constant("int32", (), [1])))
        yield Mutant("unknown parameter", "", copy, "bogus")
    copy = site.copy()
    copy.operation.type += "_x"
    yield Mutant("unknown operation", "", copy)
    yield from _outputs(site)
    yield from _blocks(site)


def _misnamed(site: Site, parameter: str) -> Iterator[Mutant]:
    known = site.signature
    if known and parameter in known.parameters and known.parameters[parameter].required:
        copy = site.copy()
        del _holder(copy, parameter)[parameter]
        yield Mutant("missing required parameter", parameter, copy, parameter)
    copy = site.copy()
    holder = _holder(copy, parameter)
    holder[f"{parameter}_s"].CopyFrom(holder[parameter])
    del holder[parameter]
    yield Mutant("misspelt parameter", parameter, copy, parameter)


def _holder(copy: Copy, parameter: str) -> Any:
    """Return the map that has a parameter: of Arguments, or of Values."""
    operation = copy.operation
    return operation.inputs if parameter in operation.inputs else operation.attributes


def _misbound(site: Site, parameter: str) -> Iterator[Mutant]:
    known = site.signature
    variadic = known is not None and parameter in known.parameters and known.parameters[parameter].variadic
    if not variadic:
        copy = site.copy()
        arguments = copy.operation.inputs[parameter].arguments
        arguments.add().CopyFrom(arguments[0])
        yield Mutant("two values for one", parameter, copy, parameter)
    copy = site.copy()
    del copy.operation.inputs[parameter].arguments[:]
    yield Mutant("no value for a parameter", parameter, copy, parameter)
    copy = site.copy()
    copy.operation.inputs[parameter].arguments[0].Clear()
    yield Mutant("argument bound to nothing", parameter, copy)
    for kind, name in (("undefined name", "nobody"), ("use of own output", _first(site))):
        if name:
            copy = site.copy()
            copy.operation.inputs[parameter].arguments[0].name = name
            yield Mutant(kind, parameter, copy)


def _first(site: Site) -> str:
    return site.operation.outputs[0].name if site.operation.outputs else ""


def _outputs(site: Site) -> Iterator[Mutant]:
    if not site.operation.outputs:
        return
    copy = site.copy()
    copy.operation.outputs.add(name="one_more", type=copy.operation.outputs[0].type)
    yield Mutant("an output too many", "", copy)
    copy = site.copy()
    lost = copy.operation.outputs.pop().name
    if not site.is_nested:
        block, inputs = copy.block, [value.name for value in copy.function.inputs]
        kept = [name for name in block.outputs if name != lost] or inputs[:1]
        del block.outputs[:]
        block.outputs.extend(kept)
    yield Mutant("an output too few", "", copy)


def _blocks(site: Site) -> Iterator[Mutant]:
    copy = site.copy()
    blocks = copy.operation.blocks
    if site.operation.type not in NESTING:
        blocks.add()
        yield Mutant("a block that it does not have", "", copy)
        return
    blocks.add().CopyFrom(blocks[0])
    yield Mutant("a block too many", "", copy)
    copy = site.copy()
    copy.operation.blocks.pop()
    yield Mutant("a block too few", "", copy)


# ---- the opset


def opset_mutants(site: Site) -> Iterator[Mutant]:
    """Move the function to each opset in which the operation is another, or is not there."""
    now = site.signature
    for place, opset in enumerate(KNOWN):
        then = signature(site.operation.type, opset)
        if site.operation.type == "const" or (now and now.opset) == (then and then.opset):
            continue
        copy = site.copy()
        function = copy.function
        block = Block()
        block.CopyFrom(function.block_specializations[function.opset])
        del function.block_specializations[function.opset]
        function.opset = opset
        function.block_specializations[opset].CopyFrom(block)
        copy.path = (*copy.path[:3], type(copy.path[3])(opset), *copy.path[4:])
        kind = _moved(site, then) if place < KNOWN.index(site.opset) else "opset raised, another version"
        yield Mutant(kind, opset, copy, anywhere=kind == "operation newer than opset")


def _moved(site: Site, then: Signature | None) -> str:
    if then is None:
        return "operation newer than opset"
    newer = set(site.operation.inputs) - set(then.parameters)
    return "parameter newer than opset" if newer else "opset lowered, another version"


# ---- declared types


def declared_mutants(site: Site) -> Iterator[Mutant]:
    """Declare other types for the outputs."""
    for index, output in enumerate(site.operation.outputs):
        stated = read_type(output.type)
        for label, other in _others(stated):
            copy = site.copy()
            copy.operation.outputs[index].type.CopyFrom(ValueType() if other is None else write_type(other))
            yield Mutant(f"declared type: {label.split()[0]}", f"output {index}: {label}", copy)


def _others(stated: Type) -> Iterator[tuple[str, Type]]:
    if not isinstance(stated, TensorType):
        yield "tensor", TensorType("fp32", (3, 5, 7))
        return
    dtype, shape = stated
    yield from (
        (f"dtype {other}", TensorType(other, shape)) for other in ("fp16", "fp32", "int32", "bool") if other != dtype
    )
    yield "rank + 1", TensorType(dtype, (1, *shape))
    if shape:
        yield "rank - 1", TensorType(dtype, shape[1:])
    for place, size in enumerate(shape):
        if size is not None:
            yield f"dim {place}", TensorType(dtype, (*shape[:place], size + 1, *shape[place + 1 :]))
    yield "state", StateType(stated)
    yield "list", ListType(stated, 2)
    yield "none", None


# ---- names and consts


def structure_mutants(site: Site) -> Iterator[Mutant]:
    """Break names, their order and what blocks return; what is wrong may be told anywhere."""
    mutants = (*_names(site), *_order(site), *_const(site), *_nested(site))
    yield from (mutant._replace(anywhere=True) for mutant in mutants)


def _renamed(site: Site, name: str) -> Copy:
    """Return a copy whose first output has another name; the block gives that back where it gave the output."""
    copy = site.copy()
    outputs, old = copy.block.outputs, _first(site)
    copy.operation.outputs[0].name = name
    for index, given in enumerate(outputs):
        if given == old:
            outputs[index] = name
    return copy


def _names(site: Site) -> Iterator[Mutant]:
    if not site.operation.outputs:
        return
    original = site.copy()
    if original.function.inputs:
        yield Mutant("output named like an input", "", _renamed(site, original.function.inputs[0].name))
    before = original.block.operations[original.place - 1] if original.place else Operation()
    if before.outputs and before.outputs[0].name not in original.block.outputs:
        yield Mutant("name defined twice", "", _renamed(site, before.outputs[0].name))
    copy = site.copy()
    copy.operation.outputs[0].name = "9 bad/name"
    yield Mutant("name that is none", "", copy)
    if not site.is_nested:
        copy = site.copy()
        copy.block.outputs[0] = "nobody"
        yield Mutant("block output not defined", "", copy)


def _order(site: Site) -> Iterator[Mutant]:
    copy = site.copy()
    used = {binding.name for _, _, binding in site.bindings()}
    if copy.place and used & {output.name for output in copy.block.operations[copy.place - 1].outputs}:
        operations = copy.block.operations
        operations.insert(copy.place + 1, operations.pop(copy.place - 1))
        copy.path = (*copy.path[:-1], copy.place - 1)
        yield Mutant("use before definition", "", copy)


def _const(site: Site) -> Iterator[Mutant]:
    if site.operation.type != "const":
        return
    copy = site.copy()
    del copy.operation.attributes["val"]
    yield Mutant("const without val", "", copy)
    constant = read(site.operation.attributes["val"])
    if constant is None:
        return
    other = BY_NAME["bool" if constant.dtype != "bool" else "int32"].number
    copy = site.copy()
    copy.operation.attributes["val"].type.tensorType.dataType = other
    yield Mutant("const: value in another field", "", copy)
    if not constant.shape:
        return
    for kind, flat in (("too few", constant.flat[:-1]), ("too many", constant.flat + constant.flat[-1:])):
        copy = site.copy()
        copy.operation.attributes["val"].CopyFrom(made(constant._replace(flat=flat)))
        yield Mutant(f"const: an element {kind}", "", copy)
    copy = site.copy()
    copy.operation.attributes["val"].type.tensorType.dimensions[0].unknown.variadic = False
    yield Mutant("const: unknown dimension", "", copy)
    copy = site.copy()
    copy.operation.attributes["val"].type.tensorType.rank += 1
    yield Mutant("const: rank is not the count", "", copy)


# ---- what blocks inside take and give


def _nested(site: Site) -> Iterator[Mutant]:
    if site.operation.type not in NESTING:
        return
    for index, block in enumerate(site.operation.blocks):
        kind = f"{site.operation.type}: block"
        if block.outputs:
            yield from _given_back(site, index, kind)
        if block.inputs:
            copy = site.copy()
            copy.operation.blocks[index].inputs[0].type.CopyFrom(write_type(TensorType("string", (3,))))
            yield Mutant(f"{kind} takes another type", f"block {index}", copy)
        copy = site.copy()
        copy.operation.blocks[index].inputs.add(name="extra", type=write_type(TensorType("int32", ())))
        yield Mutant(f"{kind} takes too many", f"block {index}", copy)
        made = [output.name for operation in block.operations for output in operation.outputs]
        if made and not site.is_nested:
            copy = site.copy()
            del copy.block.outputs[:]
            copy.block.outputs.append(made[-1])
            yield Mutant("value of an inner block returned outside", f"block {index}", copy)


def _given_back(site: Site, index: int, kind: str) -> Iterator[Mutant]:
    given = list(site.operation.blocks[index].outputs)
    for label, outputs in (
        ("too few", given[:-1]),
        ("too many", [*given, given[0]]),
        ("a name that is not defined", ["nobody", *given[1:]]),
    ):
        copy = site.copy()
        _set_outputs(copy.operation.blocks[index], outputs)
        yield Mutant(f"{kind} gives {label}", f"block {index}", copy)
    for other in (
        TensorType("fp16", (7,)),
        TensorType("string", (2,)),
        TensorType("bool", (2,)),
        TensorType("fp32", (3, 5, 7, 11)),
    ):
        copy = site.copy()
        _set_outputs(copy.operation.blocks[index], [copy.add_input(write_type(other)), *given[1:]])
        yield Mutant(f"{kind} gives another type", f"block {index}: {spelled(other)}", copy)


def _set_outputs(block: Block, names: list[str]) -> None:
    del block.outputs[:]
    block.outputs.extend(names)
