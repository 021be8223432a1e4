"""Walks over a Program: its functions, blocks, operations and values, also in inner blocks, in the order of the
text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard, TypeVar

from miltext.schema import proto
from miltext.schema.opsets import plain_opset
from miltext.schema.paths import Key, Path, block_path, is_repeated

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, Message, Operation, Program, Value

    Part: TypeAlias = Program | Function | Block | Operation

Whole = TypeVar("Whole", bound="Function | Operation")


class Held(NamedTuple):
    """A Value of a Program and its holder: a function's name, its operation if it has one, and the name of its
    attribute or argument there.
    """

    value: Value
    function: str
    operation: Operation | None
    key: str

    @property
    def name(self) -> str:
        """The displayed name: the output of a `const`; else the operation's output and the argument, `w.lut`."""
        operation = self.operation
        if operation is None:
            return self.key
        output = operation.outputs[0].name if operation.outputs else operation.type
        return output if (operation.type, self.key) == ("const", "val") else f"{output}.{self.key}"

    @property
    def is_weight(self) -> bool:
        """Whether coremltools keeps such a value in the weight file: a `const`, or a part of a compressed one."""
        operation = self.operation
        if operation is None:
            return False
        return (operation.type, self.key) == ("const", "val") or is_compressed(operation.type)


def is_compressed(op_type: str) -> bool:
    """Return whether an operation of this type makes a constant from a compressed form."""
    return op_type.startswith("constexpr_")


def is_constant(op_type: str) -> bool:
    """Return whether operations of this type are constants: a `const`, or a compressed one."""
    return op_type == "const" or is_compressed(op_type)


def own_block(function: Function) -> Block | None:
    """Return the block of the function's own opset, or the only one there is."""
    opset = own_opset(function.opset, function.block_specializations)
    return None if opset is None else function.block_specializations[opset]


def blocks_of(function: Function) -> dict[str, Block]:
    """Return the blocks of a function by their opsets, in the order of these."""
    return {opset: function.block_specializations[opset] for opset in sorted(function.block_specializations)}


def own_opset(opset: str, blocks: Collection[str]) -> str | None:
    """Return the opset of a function's own block among its blocks: the function's, by any of its names, or the only
    one.
    """
    if opset in blocks:
        return opset
    named = [each for each in sorted(blocks) if plain_opset(each) == plain_opset(opset)]
    return next(iter(named or (blocks if len(blocks) == 1 else ())), None)


def without_operations(message: Whole) -> Whole:
    """Return a copy of a function or an operation without the operations in its blocks."""
    made = deepcopy(message)
    for block in made.blocks if isinstance(made, proto.Operation) else made.block_specializations.values():
        del block.operations[:]
    return made


def sizes_of_blocks(operation: Operation) -> list[int]:
    """Return the number of operations in each block of an operation."""
    return [len(block.operations) for block in operation.blocks]


def only_function(program: Program, opset: str, operations: Iterable[Operation], outputs: Iterable[str]) -> None:
    """Make `main`, with operations for an opset, the only function of a Program."""
    function = program.functions["main"]
    function.opset = opset
    block = function.block_specializations[opset]
    block.operations.extend(operations)
    block.outputs.extend(outputs)


def messages(program: Message) -> Iterator[tuple[Path, Message]]:
    """Yield each message of a Program, with its path."""
    todo: list[tuple[Path, Message]] = [((), program)]
    while todo:
        path, message = todo.pop()
        yield path, message
        for field, content in message.ListFields():
            if field.message_type is None:
                continue
            if field.message_type.GetOptions().map_entry:
                todo += [((*path, field.name, Key(key)), content[key]) for key in content]
            elif is_repeated(field):
                todo += [((*path, field.name, index), inner) for index, inner in enumerate(content)]
            else:
                todo.append(((*path, field.name), content))


def parts(program: Program) -> Iterator[tuple[Path, Part]]:
    """Yield the Program and each of its functions, blocks and operations, with its path."""
    yield (), program
    for name in sorted(program.functions):
        function = program.functions[name]
        yield ("functions", Key(name)), function
        for opset, block in blocks_of(function).items():
            yield from block_parts(block, block_path(name, opset))


def statements(program: Program) -> Iterator[tuple[Path, Operation]]:
    """Yield the operations of a Program outside of other operations, with their paths."""
    for name in sorted(program.functions):
        for opset, block in blocks_of(program.functions[name]).items():
            path = block_path(name, opset)
            yield from (((*path, "operations", index), each) for index, each in enumerate(block.operations))


def block_parts(block: Block, path: Path = ()) -> Iterator[tuple[Path, Part]]:
    """Yield a block and each of its operations and inner blocks, with its path."""
    yield path, block
    for index, operation in enumerate(block.operations):
        place = (*path, "operations", index)
        yield place, operation
        for nested, inner in enumerate(operation.blocks):
            yield from block_parts(inner, (*place, "blocks", nested))


def operations_in(block: Block) -> Iterator[Operation]:
    """Yield a block's operations, each before its inner ones."""
    return (part for _, part in block_parts(block) if _is_operation(part))


def operations(program: Program) -> Iterator[tuple[Path, Operation]]:
    """Yield each operation of a Program, with its path."""
    return ((path, part) for path, part in parts(program) if _is_operation(part))


def _is_operation(part: Part) -> TypeGuard[Operation]:
    return part.DESCRIPTOR.name == "Operation"  # the class may be of coremltools' copy of the schema


def values(program: Program) -> Iterator[Held]:
    """Yield every Value used as an attribute or an argument, and every Value inside such a Value."""
    for path, part in parts(program):
        function = str(path[1]) if path else ""
        operation = part if _is_operation(part) else None
        found = [(key, part.attributes[key]) for key in sorted(part.attributes)]
        if operation is not None:
            found = [*_arguments(operation), *found]
        for key, value in found:
            for each in (value, *inner_values(value)):
                yield Held(each, function, operation, key)


def _arguments(operation: Operation) -> Iterator[tuple[str, Value]]:
    for key in sorted(operation.inputs):
        for binding in operation.inputs[key].arguments:
            if binding.WhichOneof("binding") == "value":
                yield key, binding.value


def inner_values(value: Value) -> Iterator[Value]:
    """Yield each Value inside a list, a tuple or a dictionary, at any depth."""
    if value.WhichOneof("value") != "immediateValue":
        return
    immediate = value.immediateValue
    kind = immediate.WhichOneof("value")
    if kind == "dictionary":
        inside = [each for pair in immediate.dictionary.values for each in (pair.key, pair.value)]
    elif kind in ("list", "tuple"):
        inside = list((immediate.list if kind == "list" else immediate.tuple).values)
    else:
        return
    for each in inside:
        yield each
        yield from inner_values(each)
