"""Operations of valid Programs that can be broken: where they are, what they see, and copies of them to change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from support.check_mutants.loader import refusal

from miltext.schema.operations import Signature, signature
from miltext.schema.opsets import OPSETS
from miltext.schema.paths import Key, Path
from miltext.schema.proto import Argument, Block, Function, Operation, Program, Value, ValueType
from miltext.schema.types import TensorType, read_type, write_type
from miltext.schema.value_builders import immediate
from miltext.schema.walk import operations

KNOWN = tuple(opset.proto for opset in OPSETS[:4])
"""The opsets that coremltools 9.0 loads."""

MOST_OPERATIONS = 400
"""The most operations of a block from which sites are taken."""


class Copy:
    """A copy of a site's Program, to be changed; `path` leads to the site's operation."""

    def __init__(self, program: Program, path: Path) -> None:
        self.program = Program()
        self.program.CopyFrom(program)
        self.path = path

    @property
    def function(self) -> Function:
        return self.program.functions[str(self.path[1])]

    @property
    def block(self) -> Block:
        """The block that holds the operation."""
        block: Block = at(self.program, self.path[:-2])
        return block

    @property
    def operation(self) -> Operation:
        operation: Operation = at(self.program, self.path)
        return operation

    @property
    def place(self) -> int:
        return int(self.path[-1])

    def add_input(self, type: ValueType, name: str = "mutant") -> str:
        """Give the function one more input, and return its name."""
        self.function.inputs.add(name=name, type=type)
        return name

    def insert(self, operation: Operation) -> None:
        """Put an operation before that of the site."""
        self.block.operations.insert(self.place, operation)
        self.path = (*self.path[:-1], self.place + 1)

    def retype(self, types: Iterable[Any]) -> None:
        """Declare other types for the outputs, those that are None as they were."""
        for output, follows in zip(self.operation.outputs, types, strict=True):
            if follows is not None:
                output.type.CopyFrom(write_type(follows))


class Seen(NamedTuple):
    """A name that the operation sees: its type, and its value where that is written in a const."""

    type: ValueType
    value: Value | None


class Site:
    """An operation of a Program that coremltools loads."""

    def __init__(self, source: str, program: Program, path: Path) -> None:
        self.source = source
        self.program = program
        self.path = path

    def copy(self) -> Copy:
        return Copy(self.program, self.path)

    @cached_property
    def operation(self) -> Operation:
        return self.copy().operation

    @property
    def opset(self) -> str:
        return str(self.path[3])

    @property
    def is_nested(self) -> bool:
        return len(self.path) > 6

    @property
    def signature(self) -> Signature | None:
        return signature(self.operation.type, self.opset)

    def bindings(self) -> Iterator[tuple[str, int, Argument.Binding]]:
        """Yield each parameter with the index of a binding and the binding."""
        for parameter in sorted(self.operation.inputs):
            for index, binding in enumerate(self.operation.inputs[parameter].arguments):
                yield parameter, index, binding

    @cached_property
    def scope(self) -> dict[str, Seen]:
        """What the operation sees, by name."""
        function = self.program.functions[str(self.path[1])]
        seen = {value.name: Seen(value.type, None) for value in function.inputs}
        for end in range(4, len(self.path), 4):  # a block, then the place of an operation in it
            block: Block = at(self.program, self.path[:end])
            seen |= {value.name: Seen(value.type, None) for value in block.inputs}
            for operation in block.operations[: int(self.path[end + 1])]:
                value = operation.attributes["val"] if operation.type == "const" else None
                seen |= {output.name: Seen(output.type, value) for output in operation.outputs}
        return seen

    def given(self, binding: Argument.Binding) -> Seen | None:
        """Return what a binding gives; None where its name is not seen."""
        if binding.WhichOneof("binding") == "value":
            return Seen(binding.value.type, binding.value)
        return self.scope.get(binding.name)


def at(program: Program, path: Path) -> Any:
    """Return the message at a path."""
    message: Any = program
    for step in path:
        if isinstance(step, str) and not isinstance(step, Key):
            message = getattr(message, step)
        else:
            message = message[str(step) if isinstance(step, Key) else step]
    return message


class _Candidate(NamedTuple):
    size: int
    source: str
    program: Program
    path: Path
    signs: tuple[Hashable, ...]


def sites(programs: Iterable[tuple[str, Program]], most: int, only: Collection[str] = ()) -> list[Site]:
    """Return at most that many sites of each operation (or `only` some), small Programs first.

    They differ as far as they can: in their opsets, then also in their parameters, then also in the types that they
    return.
    """
    by_type = defaultdict[str, list[_Candidate]](list)
    for source, program in programs:
        for operation_type, candidate in _candidates(source, program):
            if not only or operation_type in only:
                by_type[operation_type].append(candidate)
    return [site for name in sorted(by_type) for site in _varied(by_type[name], most)]


def _candidates(source: str, program: Program) -> Iterator[tuple[str, _Candidate]]:
    if len(program.functions) != 1:
        return
    (function,) = program.functions.values()
    block = function.block_specializations.get(function.opset)
    if function.opset not in KNOWN or block is None or len(block.operations) > MOST_OPERATIONS:
        return
    for path, operation in operations(program):
        if path[3] == function.opset:
            types = tuple(map(_sign, (output.type for output in operation.outputs)))
            signs = (function.opset, tuple(sorted(operation.inputs)), types)
            yield operation.type, _Candidate(len(block.operations), source, program, path, signs)


def _sign(type: ValueType) -> Hashable:
    read = read_type(type)
    return (read.dtype, len(read.shape)) if isinstance(read, TensorType) else None


def _varied(candidates: list[_Candidate], most: int) -> list[Site]:
    picked: list[Site] = []
    seen = set[Hashable]()
    for parts in (1, 2, 3):
        for candidate in sorted(candidates, key=lambda each: (each.size, each.source, str(each.path))):
            sign = candidate.signs[:parts]
            if len(picked) < most and sign not in seen and (site := cut(candidate)) is not None:
                seen.add(sign)
                picked.append(site)
    return picked


def cut(candidate: _Candidate) -> Site | None:
    """Return the site of an operation, the last of its Program where it is not inside another, after what it needs.

    None where coremltools does not load that.
    """
    copy = Copy(candidate.program, candidate.path)
    if len(copy.path) == 6:
        block, operation = copy.block, copy.operation
        before = block.operations[: copy.place]
        outputs = [output.name for output in operation.outputs] or _something(copy.function, before)
        kept = _needed(before, {*_used(operation), *outputs})
        copy.path = (*copy.path[:-1], len(kept))
        block.CopyFrom(Block(outputs=outputs, operations=[*kept, operation]))
    _make_loadable(copy)
    site = Site(candidate.source, copy.program, copy.path)
    return site if refusal(site.program) is None else None


def _make_loadable(copy: Copy) -> None:
    """Drop inputs that are not used, and squeeze scalars out of tensors: coremltools takes no scalar as an input."""
    inputs, block = copy.function.inputs, at(copy.program, copy.path[:4])
    used = {*block.outputs}.union(*map(_used, block.operations))
    for index in reversed(range(len(inputs))):
        if inputs[index].name not in used:
            del inputs[index]
    for value in inputs:
        stated = read_type(value.type)
        if isinstance(stated, TensorType) and not stated.shape:
            scalar, value.name = value.name, f"{value.name}_of_1"
            block.operations.insert(0, squeezed(value.name, scalar, stated.dtype))
            value.type.CopyFrom(write_type(TensorType(stated.dtype, (1,))))
            copy.path = (*copy.path[:5], int(copy.path[5]) + 1, *copy.path[6:])


def squeezed(name: str, made: str, dtype: str) -> Operation:
    """Return the operation that makes a scalar of a tensor of one element."""
    operation = Operation(type="squeeze")
    operation.inputs["x"].arguments.add(name=name)
    operation.inputs["axes"].arguments.add().value.CopyFrom(immediate(TensorType("int32", (1,)), [0]))
    operation.outputs.add(name=made, type=write_type(TensorType(dtype, ())))
    return operation


def _needed(operations: Iterable[Operation], names: set[str]) -> list[Operation]:
    """Return those of the operations whose outputs are named, or are needed for them."""
    kept = list[Operation]()
    for operation in reversed([*operations]):
        if not names.isdisjoint(output.name for output in operation.outputs):
            kept.append(operation)
            names |= _used(operation)
    return kept[::-1]


def _used(operation: Operation) -> set[str]:
    """Return the names that an operation uses, in its blocks too."""
    used = {each.name for argument in operation.inputs.values() for each in argument.arguments}
    for block in operation.blocks:
        used.update(block.outputs, *map(_used, block.operations))
    return used


def _something(function: Function, operations: Iterable[Operation]) -> list[str]:
    """Return the name of a value that a block can return: of the last operation that makes one, or an input."""
    made = [output.name for each in operations for output in each.outputs if each.type != "const"]
    inputs = [value.name for value in function.inputs if not value.type.HasField("stateType")]
    return made[-1:] or inputs[:1]


Family = Callable[[Site], "Iterator[Mutant]"]


class Mutant(NamedTuple):
    """A Program of which one operation was broken: the kind of mistake, and how exactly.

    What is said of it is asked to name the `parameter`, if that is not None; where shapes of several have to fit, it
    may name the one that it clashes with (`clashes`). It may be said `anywhere`, or has to be at the operation. What is
    `nonsense` is wrong even where coremltools does not notice.
    """

    kind: str
    label: str
    copy: Copy
    parameter: str | None = None
    clashes: bool = False
    anywhere: bool = False
    nonsense: bool = False
