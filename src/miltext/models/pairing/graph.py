"""A Program as a graph: operations, the values that they make, and the users of each value.

Two programs are compared by small integers, from one table that both share: equal integers are equal things, and no
hash is trusted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.proto import Block
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.models.pairing.contents import Contents
    from miltext.schema.proto import Function, Operation, Program

NAME = "name"
"""The attribute that only names an operation, and is not compared."""

_UNSET = -1
"""A binding to nothing, among the keys of literals."""

EXACT, SHAPED, TYPED, HELD, LOOSE = range(5)
"""The levels of likeness at which two operations, by themselves, may correspond.

EXACT: equal except for names; SHAPED: except for the values of literals too; TYPED: of one type; HELD: both a `const`,
or a compressed one; LOOSE: both constant, or both not.
"""


class Keys(dict[Hashable, int]):
    """Integers by thing: a new one for a new thing, the same for equal things."""

    def __missing__(self, thing: Hashable) -> int:
        self[thing] = number = len(self)
        return number

    def fresh(self) -> int:
        """Return an integer that stands for nothing else."""
        return self["fresh", len(self)]


@dataclass(eq=False, slots=True)
class Node:
    """One operation.

    `names` and `values` are the names and numbers of its outputs; `operands` the numbers of the values that its
    arguments name, each in the slot of the same index: an argument's key and a position in it, as a number. `captures`
    are the values that its inner blocks take from outside. `kinds` are integers, by level, for the operation by itself,
    without its connections; all but the exact one are computed when they are needed. `weighty`: it has weights. A node
    that depends on an input is `grounded`; any other is a constant.
    """

    operation: Operation
    index: int
    names: tuple[str, ...] = ()
    values: list[int] = field(default_factory=list)
    slots: tuple[int, ...] = ()
    operands: list[int] = field(default_factory=list)
    blocks: list[Region] = field(default_factory=list)
    captures: list[int] = field(default_factory=list)
    kinds: dict[int, int] = field(default_factory=dict)
    weighty: bool = False
    grounded: bool = False

    @property
    def label(self) -> str:
        """The name of the operation for people: its outputs' names as text, or its type where it has none."""
        return ", ".join([name_text(name) for name in self.names]) or f"{name_text(self.operation.type)}(...)"


@dataclass(eq=False, slots=True)
class Region:
    """One block: the numbers of its `inputs` and `outputs` as values, and the operations.

    `scope` are the values by name that are defined here, `captures` those that are taken from outside, as keys in their
    order.
    """

    block: Block
    parent: Region | None = None
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    scope: dict[str, int] = field(default_factory=dict)
    captures: dict[int, None] = field(default_factory=dict)


class FunctionGraph(NamedTuple):
    """One function: its inputs as those of a block without operations, and its blocks by opset."""

    function: Function
    inputs: Region
    blocks: Mapping[str, Region]


class Graph:
    """A Program's functions by name, and lists of facts about its values, by number.

    `names` are the values' names, `types` the keys of their types, `makers` the nodes that make them (None for an
    input, and for an undefined name), `places` their places among the outputs. Comparing adds `tokens`, equal integers
    for values that correspond, and `known_as`, the names in the other program.
    """

    def __init__(self, program: Program, keys: Keys, contents: Contents) -> None:
        self.program = program
        self.keys = keys
        self.contents = contents
        self.names: list[str] = []
        self.types: list[int] = []
        self.known_as: list[str] = []
        self.makers: list[Node | None] = []
        self.places: list[int] = []
        self.tokens: list[int | None] = []
        self._free: dict[str, int] = {}
        self.functions = {name: self._function(program.functions[name]) for name in sorted(program.functions)}

    def _value(self, name: str, type_key: int, maker: Node | None, place: int) -> int:
        self.names.append(name)
        self.types.append(type_key)
        self.known_as.append(name)
        self.makers.append(maker)
        self.places.append(place)
        self.tokens.append(None)
        return len(self.names) - 1

    def _function(self, function: Function) -> FunctionGraph:
        inputs = self._region(Block(inputs=function.inputs), None)
        blocks = function.block_specializations
        return FunctionGraph(function, inputs, {key: self._region(blocks[key], inputs) for key in sorted(blocks)})

    def _region(self, block: Block, parent: Region | None) -> Region:
        region = Region(block, parent)
        for place, value in enumerate(block.inputs):
            region.scope[value.name] = number = self._value(value.name, self.contents.type_key(value), None, place)
            region.inputs.append(number)
        for index, operation in enumerate(block.operations):
            region.nodes.append(self._node(operation, index, region))
        region.outputs = [self._find(name, region) for name in block.outputs]
        return region

    def _find(self, name: str, region: Region) -> int:
        """Return the value of a name here; each region between here and its definition captures it."""
        passed: list[Region] = []
        place: Region | None = region
        while place is not None:
            number = place.scope.get(name)
            if number is not None:
                for inner in passed:
                    inner.captures[number] = None
                return number
            passed.append(place)
            place = place.parent
        if name not in self._free:
            self._free[name] = number = self._value(name, self.keys["undefined"], None, 0)
            self.tokens[number] = self.keys["undefined", name]
        return self._free[name]

    def _node(self, operation: Operation, index: int, region: Region) -> Node:
        node = Node(operation, index)
        arguments = self._read_arguments(node, region)
        if operation.blocks:
            node.blocks = [self._region(block, region) for block in operation.blocks]
            node.captures = list(dict.fromkeys(number for inner in node.blocks for number in inner.captures))
        for number in (*node.operands, *node.captures):
            maker = self.makers[number]
            if maker is None or maker.grounded:
                node.grounded = True
        attributes = operation.attributes
        stated = [(key, self.contents.key(attributes[key])) for key in sorted(attributes) if key != NAME]
        if not self.contents.weights.isdisjoint([number for _, number in stated]):
            node.weighty = True
        types = self._read_outputs(node, region)
        node.kinds[EXACT] = self.keys["operation", operation.type, arguments, tuple(stated), types, len(node.blocks)]
        return node

    def _read_arguments(self, node: Node, region: Region) -> tuple[Hashable, ...]:
        """Return the keys of the arguments and their literals, and make operands of the names."""
        slots: list[int] = []
        arguments: list[Hashable] = []
        inputs = node.operation.inputs
        for key in sorted(inputs):
            arguments.append(key)
            for position, binding in enumerate(inputs[key].arguments):
                if binding.HasField("name"):
                    slots.append(self.keys["slot", key, position])
                    node.operands.append(self._find(binding.name, region))
                    arguments.append(None)
                elif binding.HasField("value"):
                    number = self.contents.key(binding.value)
                    node.weighty = node.weighty or number in self.contents.weights
                    arguments.append(number)
                else:
                    arguments.append(_UNSET)
        node.slots = tuple(slots)
        return tuple(arguments)

    def _read_outputs(self, node: Node, region: Region) -> tuple[int, ...]:
        """Return the keys of the outputs' types."""
        outputs = node.operation.outputs
        node.names = tuple([output.name for output in outputs])
        types = tuple([self.contents.type_key(output) for output in outputs])
        for place, name in enumerate(node.names):
            region.scope[name] = number = self._value(name, types[place], node, place)
            node.values.append(number)
        return types
