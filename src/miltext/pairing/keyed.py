"""The graph of a Program with integers for its operations, values and types, for comparisons of two programs.

Both programs share the table of integers: equal integers mean equal objects, without the collisions of hashes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.ir.parts import Op, Value
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.parts import Block, Operand
    from miltext.pairing.contents import Keys, ProgramContents
    from miltext.schema.proto import Program

NAME = "name"
"""The attribute that only names an operation, and is not compared."""

_UNSET = -1
"""A binding to nothing, among the keys of literals."""

EXACT, SHAPED, TYPED, HELD, LOOSE = range(5)
"""The levels of likeness at which two operations, by themselves, may correspond.

EXACT: equal except for names; SHAPED: except for the values of literals too; TYPED: of one type; HELD: both a `const`,
or a compressed one; LOOSE: both constant, or both not.
"""


@dataclass(eq=False, slots=True)
class OperationFacts:
    """The facts of an operation at an `index` of its block.

    `operands` are the values of its arguments, each in the slot of the same index: a number for an argument's key and a
    position in it. `captures` are the outer values that its inner blocks use. `kinds` are integers, by level, for the
    operation without its connections; all except the exact level are computed on demand. `weighty` is true for an
    operation with weights. An operation that depends on an input is `grounded`; any other is a constant.
    """

    index: int
    slots: tuple[int, ...]
    operands: list[Value]
    captures: list[Value]
    kinds: dict[int, int]
    weighty: bool = False
    grounded: bool = False


class KeyedGraph(Graph):
    """A graph to be compared and not edited, with the `facts` of its operations and the keys of its values' `types`.

    A comparison adds `tokens`, equal integers for corresponding values, and `known_as`, names in the other program.
    """

    def __init__(self, program: Program, keys: Keys, contents: ProgramContents) -> None:
        super().__init__(program)
        self.keys = keys
        self.contents = contents
        self.facts: dict[Op, OperationFacts] = {}
        self.types: dict[Value, int] = {}
        self.tokens: dict[Value, int] = {}
        self.known_as: dict[Value, str] = {}
        with gc_paused:
            for function in self.functions.values():
                self._function(function)

    def _function(self, function: Function) -> None:
        self._declare(function.inputs)
        for block in function.blocks.values():
            self._block(block)
        for name, value in function.undefined.items():
            self.types[value] = self.keys["undefined"]
            self.tokens[value] = self.keys["undefined", name]

    def name_of(self, value: Value) -> str:
        """Return the name of a value in the other program, or its own."""
        return self.known_as.get(value, value.name)

    def tokens_of(self, values: Iterable[Value]) -> list[int | None]:
        """Return the tokens of values."""
        return [self.tokens.get(value) for value in values]

    def _declare(self, values: Iterable[Value]) -> tuple[int, ...]:
        """Enter the types of values; return their keys."""
        keys = []
        for value in values:
            assert value.message is not None, "a defined value is declared"
            self.types[value] = key = self.contents.type_key(value.message)
            keys.append(key)
        return tuple(keys)

    def _block(self, block: Block) -> None:
        """Enter the operations of a block."""
        self._declare(block.inputs)
        for index, op in enumerate(block):
            self._op(op, index)

    def _captured(self, block: Block) -> list[Value]:
        """Return the outer values that a block inside an operation uses, in order."""
        used: dict[Value, None] = {}
        for op in block:
            used.update(dict.fromkeys(self.facts[op].operands))
            used.update(dict.fromkeys(self.facts[op].captures))
        used.update(dict.fromkeys(block.outputs))
        return [value for value in used if value.owner is not None and value.home is not block]

    def _op(self, op: Op, index: int) -> None:
        facts = self.facts[op] = OperationFacts(index, (), [], [], {})
        arguments = self._arguments(op, facts)
        if op.blocks:
            for block in op.blocks:
                self._block(block)
            facts.captures = [*dict.fromkeys(value for block in op.blocks for value in self._captured(block))]
        for value in (*facts.operands, *facts.captures):
            maker = value.maker
            if maker is None or self.facts[maker].grounded:
                facts.grounded = True
                break
        message = op.message
        attributes = message.attributes
        stated = [(key, self.contents.key(attributes[key])) for key in sorted(attributes) if key != NAME]
        if self.contents.weights and not self.contents.weights.isdisjoint([number for _, number in stated]):
            facts.weighty = True
        types = self._declare(op.outputs)
        facts.kinds[EXACT] = self.keys["operation", message.type, arguments, tuple(stated), types, len(op.blocks)]

    def _arguments(self, op: Op, facts: OperationFacts) -> tuple[Hashable, ...]:
        """Return the keys of the arguments and their literals, and note the values that they name."""
        slots: list[int] = []
        arguments: list[Hashable] = []
        for key, operands in op.inputs.items():
            arguments.append(key)
            for position, operand in enumerate(operands):
                if isinstance(operand, Value):
                    slots.append(self.keys["slot", key, position])
                    facts.operands.append(operand)
                    arguments.append(None)
                elif operand is not None:
                    number = self.contents.key(operand)
                    facts.weighty = facts.weighty or number in self.contents.weights
                    arguments.append(number)
                else:
                    arguments.append(_UNSET)
        facts.slots = tuple(slots)
        return tuple(arguments)


def names_of(op: Op) -> tuple[str, ...]:
    """Return the names of an operation's outputs."""
    return tuple([value.name for value in op.outputs])


def label(op: Op) -> str:
    """Return the displayed name of an operation: the names of its outputs, or its type if there are none."""
    return ", ".join([name_text(value.name) for value in op.outputs]) or f"{name_text(op.type)}(...)"


def stated(op: Op) -> dict[str, list[Operand]]:
    """Return the attributes of an operation, except its name, in the form of arguments."""
    return {name_text(key): [value] for key, value in op.attributes.items() if key != NAME}
