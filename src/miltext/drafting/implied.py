"""The parts that the marker in a draft's head implies: names of operations, constants of their own, defaults.

`infer` writes these out by a rule, `checking/spelled_out`. The parts that it restores are removed from a Program.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from miltext.checking.operations import message_path
from miltext.checking.spelled_out import constant_name, implied_name, is_converted, owner_of, stays_inline
from miltext.drafting.given_defaults import Defaults
from miltext.drafting.omitting import STATEMENT
from miltext.ir.graph import Graph
from miltext.ir.parts import Value as Made
from miltext.models.compact import VALUE, is_plain_constant
from miltext.printing.renaming import NAME
from miltext.schema.operations import signature
from miltext.schema.types import spelled
from miltext.schema.value_builders import STRING, immediate
from miltext.syntax.names import DRAFT_WORDS, identifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Operand
    from miltext.schema.operations import Parameter
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program, Value


class Implied(NamedTuple):
    """A Program without the parts that the words of its draft's marker imply.

    `owners` are the operations that constants were taken into, by the constants' paths in the whole Program.
    """

    program: Program
    words: list[str]
    owners: dict[Path, Path]


class _Slot(NamedTuple):
    """The place of a constant among the arguments of an operation, whose constants are in this order."""

    order: int
    parameter: str
    place: int
    name: str


def implied(program: Program, dialect: str, kept: Set[Path]) -> Implied:
    """Return a copy of a Program without the parts that a marker can imply, except at the paths of `kept`."""
    graph = Graph(program)
    defaults = Defaults(program, dialect)
    taking = _Taking(graph, defaults, {word for word in DRAFT_WORDS if _HOLDS[word](graph, defaults)}, kept)
    for function in graph.functions.values():
        taking.function(function)
    return Implied(graph.program(), [word for word in DRAFT_WORDS if word in taking.used], taking.owners)


def _holds_names(graph: Graph, _: Defaults) -> bool:
    """Return whether each operation with an output has a name."""
    return all(NAME in op.attributes for op in graph.walk() if op.outputs)


def _holds_constants(graph: Graph, _: Defaults) -> bool:
    """Return whether no operation has a literal argument that would be a constant."""
    return not any(
        _is_literal(operand)
        for path, op in graph.operations().items()
        for name, operands in op.inputs.items()
        if not stays_inline(op.type, name, _parameter(op, name, path))
        for operand in operands
    )


def _parameter(op: Op, name: str, path: Path) -> Parameter | None:
    known = signature(op.type, str(path[3]))
    return known.parameters.get(name) if known else None


def _holds_defaults(_: Graph, defaults: Defaults) -> bool:
    """Return whether no operation leaves out a parameter with a default."""
    return not any(defaults.missing())


_HOLDS = {"names": _holds_names, "consts": _holds_constants, "defaults": _holds_defaults}
"""The condition for each word of the marker: if it holds, `infer` adds nothing to the Program for that word."""


class _Taking:
    """Removes implied parts from functions; `used` are the words of the marker needed for them."""

    def __init__(self, graph: Graph, defaults: Defaults, words: Set[str], kept: Set[Path]) -> None:
        self.places = {op: path for path, op in graph.operations().items()}
        self.defaults = defaults
        self.inferences = {message_path(each.path): each for each in defaults.inferred}
        self.words = words
        self.kept = kept
        self.used: set[str] = set()
        self.owners: dict[Path, Path] = {}
        self.names = Counter[str]()

    def function(self, function: Function) -> None:
        """Remove the implied parts from the operations of a function."""
        self.names = Counter(value.name for value in function.defined())
        free = [op for op in function.walk() if self.places[op][:STATEMENT] not in self.kept]
        for op in free:
            if op.type != "const":
                self.arguments(op)
        for op in free:
            if op.block is not None:
                self.name(op)

    def name(self, op: Op) -> None:
        """Remove the name of an operation if it is equal to the name of the first output."""
        if "names" in self.words and op.outputs and _is_named(op):
            del op.own().attributes[NAME]
            self.used.add("names")

    # ---- constants and defaults

    def arguments(self, op: Op) -> None:
        """Replace the constants before an operation by literals in it, or remove them if they are defaults."""
        found = self.own(op) if "consts" in self.words else {}
        free = self.free(op, {slot.parameter: each.attributes[VALUE] for each, slot in found.items()})
        first, middle = _split([*found.values()], free)
        for nth, (constant, slot) in [*enumerate(found.items())][first:]:
            if nth < middle:
                constant.outputs[0].replace_uses(constant.attributes[VALUE])
            else:
                op.remove_input(slot.parameter)
                self.used.add("defaults")
            constant.remove()
            self.used.add("consts")
            self.owners[self.places[constant]] = self.places[op]

    def free(self, op: Op, values: dict[str, Value]) -> list[str]:
        """Return the names of the arguments, and of these constants, equal to their defaults; remove such literals."""
        if "defaults" not in self.words:
            return []
        literals = op.literals()
        found = self.defaults.among(self.inferences[self.places[op]], {**values, **literals})
        for name in literals.keys() & {*found}:
            op.remove_input(name)
            self.used.add("defaults")
        return found

    def own(self, op: Op) -> dict[Op, _Slot]:
        """Return the constants before an operation that belong to it, in order; converted constants may be between."""
        owner = owner_of(op.type, [each.name for each in op.outputs], _name(op))
        found: dict[Op, _Slot] = {}
        for constant in takewhile(lambda each: each.type == "const" and op in each.users, _before(op)):
            slot = self.slot(constant, owner, op)
            if slot is not None:
                found[constant] = slot
            elif found or not any(is_converted(output.name) for output in constant.outputs):
                break
        return dict(reversed(found.items()))

    def slot(self, constant: Op, owner: str, op: Op) -> _Slot | None:
        """Return the place of an operation's own constant among its arguments; None for any other constant."""
        if not is_plain_constant(constant.message):
            return None
        [output] = constant.outputs
        if len(output.uses) != 1 or self.names[output.name] != 1:
            return None
        slot, is_inline = _slot(op, output, self.places[op])
        typed = spelled(output.type, self.defaults.dialect)
        before, after = constant_name(owner, slot.parameter, slot.name, typed)
        has_name = NAME in op.attributes or not op.outputs
        is_named = _is_named(constant) if has_name else NAME not in constant.attributes
        is_own = not is_inline and is_named and output.name == f"{identifier(before)}_0{after}"
        return slot if is_own else None


def _split(slots: Sequence[_Slot], free: Sequence[str]) -> tuple[int, int]:
    """Return the first constant that can be a literal, and the first that can be a default: as many as possible.

    Literals come in the order of their slots, defaults in the order of `free`.
    """
    order = {name: place for place, name in enumerate(free)}
    places = [order.get(slot.parameter, len(free)) for slot in slots]
    middle = len(slots)
    while middle and places[middle - 1] < (places[middle] if middle < len(slots) else len(free)):
        middle -= 1
    starts = [0, 0]
    for at in range(1, len(slots)):
        starts.append(starts[at] if slots[at - 1] < slots[at] else at)
    best = min(range(middle, len(slots) + 1), key=lambda at: (starts[at], at))
    return starts[best], best


def _slot(op: Op, value: Made, path: Path) -> tuple[_Slot, bool]:
    """Return the place where an operation uses a value with one use, and whether a literal there stays a literal."""
    [use] = value.uses
    known = signature(op.type, str(path[3]))
    order = [*known.parameters] if known else []
    parameter = known.parameters.get(use.parameter) if known else None
    is_one = len(op.inputs[use.parameter]) == 1 and not (parameter and parameter.variadic)
    at = order.index(use.parameter) if parameter else len(order)
    slot = _Slot(at, use.parameter, use.place, "" if is_one else str(use.place))
    return slot, stays_inline(op.type, use.parameter, parameter)


def _before(op: Op) -> Iterator[Op]:
    """Yield the operations before an operation of its block, the nearest first."""
    while op.previous is not None:
        op = op.previous
        yield op


def _is_literal(operand: Operand) -> TypeGuard[Value]:
    return operand is not None and not isinstance(operand, Made)


def _name(op: Op) -> str | None:
    """Return the attribute `name` of an operation, if it is a string."""
    strings = op.attributes[NAME].immediateValue.tensor.strings.values if NAME in op.attributes else ()
    return next(iter(strings)) if len(strings) == 1 else None


def _is_named(op: Op) -> bool:
    """Return whether an operation has the name that its first output implies."""
    named = op.attributes.get(NAME)
    return named == immediate(STRING, implied_name(op.outputs[0].name))
