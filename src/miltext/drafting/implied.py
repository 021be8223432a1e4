"""What the marker in a draft's head implies: names of operations, constants of their own, defaults.

`infer` writes these out by a rule, `checking/spelled_out`. What it would write anew is taken out of a Program.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.operations import message_path
from miltext.checking.spelled_out import constant_name, implied_name, is_converted, owner_of, stays_inline
from miltext.drafting.given_defaults import Defaults
from miltext.drafting.omitting import STATEMENT
from miltext.models.compact import VALUE, is_plain_constant
from miltext.printing.renaming import NAME
from miltext.schema.operations import signature
from miltext.schema.proto import Block
from miltext.schema.types import read_type, spelled
from miltext.schema.value_builders import STRING, immediate
from miltext.schema.walk import block_parts, operations, uses_of
from miltext.syntax.names import identifier
from miltext.syntax.programs import own_copy
from miltext.syntax.vocabulary import DRAFT_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from miltext.schema.operations import Parameter, Signature
    from miltext.schema.paths import Path
    from miltext.schema.proto import Operation, Program, Value


class Implied(NamedTuple):
    """A Program without what the words of its draft's marker imply.

    `owners` are the operations that constants were taken into, by the constants' paths in the whole Program.
    """

    program: Program
    words: list[str]
    owners: dict[Path, Path]


class _Slot(NamedTuple):
    """Where a constant is given to an operation; the constants of an operation stand in this order."""

    order: int
    parameter: str
    place: int
    name: str
    is_inline: bool


def implied(program: Program, dialect: str, kept: Set[Path]) -> Implied:
    """Return a copy of a Program without what a marker can imply, but for the operations at the paths of `kept`."""
    made = own_copy(program)
    defaults = Defaults(made, dialect)
    taking = _Taking(defaults, {word for word in DRAFT_WORDS if _HOLDS[word](made, defaults)}, kept)
    for name, function in made.functions.items():
        for opset, block in function.block_specializations.items():
            taking.function(block, ("functions", name, "block_specializations", opset))
    return Implied(made, [word for word in DRAFT_WORDS if word in taking.used], taking.owners)


def _holds_names(program: Program, _: Defaults) -> bool:
    """Tell whether each operation that gives something back has a name."""
    return all(NAME in each.attributes for _, each in operations(program) if each.outputs)


def _holds_constants(program: Program, _: Defaults) -> bool:
    """Tell whether no operation is given a literal that would be a constant."""
    return not any(
        binding.WhichOneof("binding") == "value"
        for path, each in operations(program)
        for name, argument in each.inputs.items()
        if not stays_inline(each.type, name, _parameter(each, name, str(path[3])))
        for binding in argument.arguments
    )


def _parameter(operation: Operation, name: str, opset: str) -> Parameter | None:
    known = signature(operation.type, opset)
    return known.parameters.get(name) if known else None


def _holds_defaults(_: Program, defaults: Defaults) -> bool:
    """Tell whether no operation leaves out what has a default."""
    return not any(defaults.missing())


_HOLDS = {"names": _holds_names, "consts": _holds_constants, "defaults": _holds_defaults}
"""What is true of a Program in which a word of the marker writes nothing anew."""


class _Taking:
    """Takes what is implied out of blocks; `used` are the words that are needed for it."""

    def __init__(self, defaults: Defaults, words: Set[str], kept: Set[Path]) -> None:
        self.defaults = defaults
        self.inferences = {message_path(each.path): each for each in defaults.operations}
        self.words = words
        self.kept = kept
        self.used: set[str] = set()
        self.owners: dict[Path, Path] = {}

    def function(self, block: Block, path: Path) -> None:
        """Take it out of the block of a function, and of those inside."""
        parts = [*block_parts(block, path)]
        uses = uses_of(part for _, part in parts)
        for place, part in reversed(parts):
            if isinstance(part, Block):
                self.block(part, place, {name for name, count in uses.items() if count == 1})

    def block(self, block: Block, path: Path, once: Set[str]) -> None:
        """Take it out of a block, in which the names of `once` are defined and used once."""
        gone = set[int]()
        for index, operation in enumerate(block.operations):
            place = (*path, "operations", index)
            if operation.type != "const" and place[:STATEMENT] not in self.kept:
                gone |= self.arguments(block, index, place, once)
        for index, operation in enumerate(block.operations):
            if (*path, "operations", index)[:STATEMENT] not in self.kept and index not in gone:
                self.name(operation)
        copy = Block(operations=[each for index, each in enumerate(block.operations) if index not in gone])
        del block.operations[:]
        block.operations.MergeFrom(copy.operations)

    def name(self, operation: Operation) -> None:
        """Take out the name that is that of the first output."""
        if "names" in self.words and operation.outputs and _is_named(operation):
            del operation.attributes[NAME]
            self.used.add("names")

    # ---- constants and defaults

    def arguments(self, block: Block, index: int, place: Path, once: Set[str]) -> set[int]:
        """Take the constants before an operation into it, or out if they are defaults; return their places."""
        operation = block.operations[index]
        found = self.own(block, index, place, once) if "consts" in self.words else {}
        free = self.free(operation, place, {slot.parameter: _value(block, at) for at, slot in found.items()})
        first, middle = _split([*found.values()], free)
        taken = [*found.items()][first:]
        for at, slot in taken[: middle - first]:
            operation.inputs[slot.parameter].arguments[slot.place].value.CopyFrom(_value(block, at))
        for _, slot in taken[middle - first :]:
            del operation.inputs[slot.parameter]
            self.used.add("defaults")
        self.used.update(["consts"] * bool(taken))
        self.owners |= {(*place[:-1], at): place for at, _ in taken}
        return {at for at, _ in taken}

    def free(self, operation: Operation, place: Path, values: dict[str, Value]) -> list[str]:
        """Return which of the arguments, and of these constants, say the default; leave out literals that do."""
        if "defaults" not in self.words:
            return []
        for name, argument in operation.inputs.items():
            if len(argument.arguments) == 1 and argument.arguments[0].WhichOneof("binding") == "value":
                values[name] = argument.arguments[0].value
        found = self.defaults.among(self.inferences[place], values)
        for name in [name for name in found if operation.inputs[name].arguments[0].WhichOneof("binding") == "value"]:
            del operation.inputs[name]
            self.used.add("defaults")
        return found

    def own(self, block: Block, index: int, place: Path, once: Set[str]) -> dict[int, _Slot]:
        """Return the constants before an operation that are its own, by their places; converted ones may be nearer."""
        operation = block.operations[index]
        known = signature(operation.type, str(self.inferences[place].arguments.opset))
        owner = owner_of(operation.type, [each.name for each in operation.outputs], _name(operation))
        slots, found = _slots(operation, known), dict[int, _Slot]()
        row = [*takewhile(lambda at: _is_used(block.operations[at], slots), range(index - 1, -1, -1))]
        is_own = [self.is_own(block.operations[at], owner, slots, operation, once) for at in row]
        nearer = next((nth for nth, own in enumerate(is_own) if own or not _is_converted(block, row[nth])), len(row))
        for at, own in zip(row[nearer:], is_own[nearer:], strict=True):
            if not own:
                break
            found[at] = slots[block.operations[at].outputs[0].name]
        return dict(reversed(found.items()))

    def is_own(
        self, constant: Operation, owner: str, slots: Mapping[str, _Slot], operation: Operation, once: Set[str]
    ) -> bool:
        """Tell whether a constant is for one operation, and called by it."""
        if not is_plain_constant(constant):
            return False
        [output] = constant.outputs
        slot = slots[output.name]
        if output.name not in once or slot.is_inline:
            return False
        typed = spelled(read_type(output.type), self.defaults.dialect)
        before, after = constant_name(owner, slot.parameter, slot.name, typed)
        has_name = NAME in operation.attributes or not operation.outputs
        is_named = _is_named(constant) if has_name else NAME not in constant.attributes
        return is_named and output.name == f"{identifier(before)}_0{after}"


def _split(slots: Sequence[_Slot], free: Sequence[str]) -> tuple[int, int]:
    """Return from which constant on a row can be literals, and from which on defaults: as many as possible.

    Literals come in the order of their slots, defaults in that of `free`.
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


def _slots(operation: Operation, known: Signature | None) -> dict[str, _Slot]:
    """Return where an operation is given the values of names."""
    found = {}
    order = {name: place for place, name in enumerate(known.parameters if known else ())}
    for name, argument in operation.inputs.items():
        parameter = known.parameters.get(name) if known else None
        is_one = len(argument.arguments) == 1 and not (parameter and parameter.variadic)
        is_inline = stays_inline(operation.type, name, parameter)
        for place, binding in enumerate(argument.arguments):
            number = "" if is_one else str(place)
            found[binding.name] = _Slot(order.get(name, len(order)), name, place, number, is_inline)
    return found


def _is_used(operation: Operation, slots: Mapping[str, _Slot]) -> bool:
    """Tell whether this is a constant that an operation with these slots uses."""
    return operation.type == "const" and any(output.name in slots for output in operation.outputs)


def _is_converted(block: Block, index: int) -> bool:
    return any(is_converted(output.name) for output in block.operations[index].outputs)


def _value(block: Block, index: int) -> Value:
    return block.operations[index].attributes[VALUE]


def _name(operation: Operation) -> str | None:
    """Return the attribute `name` of an operation, if it is a string."""
    strings = operation.attributes[NAME].immediateValue.tensor.strings.values if NAME in operation.attributes else ()
    return next(iter(strings)) if len(strings) == 1 else None


def _is_named(operation: Operation) -> bool:
    """Tell whether an operation has the name that its first output implies."""
    named = operation.attributes.get(NAME)
    return named == immediate(STRING, implied_name(operation.outputs[0].name))
