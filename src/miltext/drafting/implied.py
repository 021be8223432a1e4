"""What the marker in a draft's head implies: names of operations, constants of their own, defaults.

`infer` writes these out by a rule, `checking/spelled_out`. What it would write anew is taken out of a Program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.operations import message_path
from miltext.checking.spelled_out import constant_name, owner_of
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
    from collections.abc import Mapping, Set

    from miltext.schema.operations import Signature
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
    """Tell whether no operation is given a literal."""
    return not any(
        binding.WhichOneof("binding") == "value"
        for _, each in operations(program)
        for argument in each.inputs.values()
        for binding in argument.arguments
    )


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
        if "names" in self.words and operation.outputs and _is_named(operation, operation.outputs[0].name):
            del operation.attributes[NAME]
            self.used.add("names")

    # ---- constants and defaults

    def arguments(self, block: Block, index: int, place: Path, once: Set[str]) -> set[int]:
        """Take the constants directly before an operation into it, or out if they are defaults; return their places."""
        operation = block.operations[index]
        known = signature(operation.type, str(self.inferences[place].arguments.opset))
        found = self.before(block, index, once, _slots(operation, known)) if "consts" in self.words else []
        free = self.free(operation, place, {slot.parameter: _value(block, at) for at, slot in found})
        gone, last, is_default = set[int](), None, True
        for at, slot in found:
            if is_default and (slot.parameter not in free or (last and slot > last)):
                last, is_default = None, False
            if last and slot > last:
                break
            if is_default:
                del operation.inputs[slot.parameter]
            else:
                operation.inputs[slot.parameter].arguments[slot.place].value.CopyFrom(_value(block, at))
            self.used.update(["consts"], ["defaults"] if is_default else [])
            self.owners |= {(*place[:-1], at): place}
            gone.add(at)
            last = slot
        return gone

    def free(self, operation: Operation, place: Path, values: dict[str, Value]) -> set[str]:
        """Return which of the arguments, and of these constants, say the default; leave out literals that do."""
        if "defaults" not in self.words:
            return set()
        for name, argument in operation.inputs.items():
            if len(argument.arguments) == 1 and argument.arguments[0].WhichOneof("binding") == "value":
                values[name] = argument.arguments[0].value
        found = self.defaults.among(self.inferences[place], values)
        for name in [name for name in found if operation.inputs[name].arguments[0].WhichOneof("binding") == "value"]:
            del operation.inputs[name]
            self.used.add("defaults")
        return found

    def before(self, block: Block, index: int, once: Set[str], slots: Mapping[str, _Slot]) -> list[tuple[int, _Slot]]:
        """Return the constants directly before an operation that are its own, last first."""
        found: list[tuple[int, _Slot]] = []
        operation = block.operations[index]
        owner = owner_of(operation.type, [each.name for each in operation.outputs], _name(operation))
        for at in range(index - 1, -1, -1):
            constant = block.operations[at]
            slot = slots.get(constant.outputs[0].name) if is_plain_constant(constant) else None
            if (
                slot is None
                or constant.outputs[0].name not in once
                or not self.is_own(constant, owner, slot, operation)
            ):
                break
            found.append((at, slot))
        return found

    def is_own(self, constant: Operation, owner: str, slot: _Slot, operation: Operation) -> bool:
        """Tell whether a constant is called by the operation that it is for."""
        [output] = constant.outputs
        typed = spelled(read_type(output.type), self.defaults.dialect)
        before, after = constant_name(owner, slot.parameter, slot.name, typed)
        is_named = _is_named(constant, output.name) if NAME in operation.attributes else NAME not in constant.attributes
        return is_named and output.name == f"{identifier(before)}_0{after}"


def _slots(operation: Operation, known: Signature | None) -> dict[str, _Slot]:
    """Return where an operation is given the values of names."""
    found = {}
    order = {name: place for place, name in enumerate(known.parameters if known else ())}
    for name, argument in operation.inputs.items():
        parameter = known.parameters.get(name) if known else None
        is_one = len(argument.arguments) == 1 and not (parameter and parameter.variadic)
        for place, binding in enumerate(argument.arguments if not (parameter and parameter.attribute) else ()):
            found[binding.name] = _Slot(order.get(name, len(order)), name, place, "" if is_one else str(place))
    return found


def _value(block: Block, index: int) -> Value:
    return block.operations[index].attributes[VALUE]


def _name(operation: Operation) -> str | None:
    """Return the attribute `name` of an operation, if it is a string."""
    strings = operation.attributes[NAME].immediateValue.tensor.strings.values if NAME in operation.attributes else ()
    return next(iter(strings)) if len(strings) == 1 else None


def _is_named(operation: Operation, name: str) -> bool:
    return NAME in operation.attributes and operation.attributes[NAME] == immediate(STRING, name)
