"""Patterns: functions of a rule file whose operations are looked for in a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import named
from miltext.checking.literal_types import Misfit, usual_type
from miltext.diagnostics import ParseError
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.ir.needs import behind
from miltext.ir.parts import Op, Value
from miltext.parsing.elaboration import UNNAMED
from miltext.parsing.parser import parse_value
from miltext.parsing.spans import find
from miltext.schema.operations import all_names, first_opset, versions
from miltext.schema.paths import Key, Path
from miltext.schema.types import spelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Operand
    from miltext.parsing.recovery import Recovered

ANY = "_"
"""The name of an argument that does not matter."""

USUAL = ("int32", "fp64", "bool", "string")
"""The data types that hold the literals of patterns, whose data type is left open."""


class WrongRule(ValueError):
    """A mistake in a rule file: the message, and the path of the phrase in its Program."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path


class Place(NamedTuple):
    """An argument of a pattern's operation: the parameter, and the place among its arguments."""

    op: Op
    parameter: str
    at: int


class RulePattern:
    """The operations of a pattern; its last operation, the `root`, makes all `outputs`.

    `inputs` are the named values by name, `open` the literals whose data type is left open, and `paths` the paths of
    the operations.
    """

    def __init__(self, function: Function, read: Recovered) -> None:
        """Read a function. Raise WrongRule for any other function."""
        self.function = function
        self.name = function.name
        self.path: Path = ("functions", Key(function.name))
        self.inputs = {value.name: value for value in function.inputs}
        self.paths: dict[Op, Path] = {part: path for path, part in function.parts() if isinstance(part, Op)}
        self.open: set[Place] = set()
        block = function.block
        if block is None or not block.outputs:
            raise WrongRule(f"{named(self.name)} has no output: return the value to find", self.path)
        self.outputs = [*block.outputs]
        require_own_names(function, self.path)
        if nested := next((op for op in self.ops if op.blocks), None):
            raise WrongRule("an operation with blocks cannot be part of a pattern", self.paths[nested])
        self.root = self._root(block)
        self._require_uses()
        self._read_literals(read)
        for op in self.ops:
            self._check(op, read)

    @property
    def ops(self) -> list[Op]:
        """The operations, in order."""
        return [*self.paths]

    @property
    def names(self) -> set[str]:
        """The names of all values."""
        return {value.name for value in self.function.defined()}

    def arguments(self, op: Op) -> Iterator[tuple[Place, Operand]]:
        """Yield the arguments of an operation."""
        for parameter, operands in op.inputs.items():
            for index, operand in enumerate(operands):
                yield Place(op, parameter, index), operand

    def _root(self, block: Block) -> Op:
        """Return the operation that makes the outputs, and that all others lead to."""
        makers = {value.maker for value in self.outputs}
        root = self.outputs[0].maker
        if root is None or len(makers) > 1:
            raise WrongRule(f"the outputs of {named(self.name)} must all be of its last operation", self.path)
        reached = {value.maker for value in behind(self.outputs)}
        for op in self.ops:
            if op not in reached:
                message = f"nothing that {named(self.name)} returns needs this operation: remove it, or use its value"
                raise WrongRule(message, self.paths[op])
        return root

    def _require_uses(self) -> None:
        """Raise WrongRule for an input that no operation uses, which a match does not bind."""
        for index, value in enumerate(self.function.inputs):
            if not value.uses:
                message = f"no operation of {named(self.name)} uses {named(value.name)}: use it, or remove it"
                raise WrongRule(message, (*self.path, "inputs", index))

    def _read_literals(self, read: Recovered) -> None:
        """Read the literals without types, whose data types stay open."""
        for op, path in self.paths.items():
            for place, operand in [*self.arguments(op)]:
                gap = (*path, "inputs", Key(place.parameter), "arguments", place.at)
                if operand is not None or gap not in read.drafts:
                    continue
                start, end = read.drafts[gap].last
                op.inputs[place.parameter][place.at] = _literal(read.text[start:end], gap)
                self.open.add(place)

    def _check(self, op: Op, read: Recovered) -> None:
        """Raise WrongRule for an operation that a pattern cannot contain."""
        path = self.paths[op]
        if op.is_constant:
            raise WrongRule("a pattern has no constants: write a literal, or a name for any value", path)
        if extra := [each for each in op.attributes if each != "name"]:
            raise WrongRule(f"the attribute {named(extra[0])} cannot be part of a pattern", path)
        require_known(op, path, read)
        for place, operand in self.arguments(op):
            at = (*path, "inputs", Key(place.parameter))
            if isinstance(operand, Value) and operand.owner is None and operand.name != ANY:
                message = (
                    f"{named(operand.name)} is neither an input of {named(self.name)} nor made before: name it there"
                )
                raise WrongRule(message, at)
            if operand is None:
                raise WrongRule(f"{named(place.parameter)} is bound to nothing", at)


def require_own_names(function: Function, path: Path) -> None:
    """Raise WrongRule for a name that two values of a pattern or a replacement have."""
    values = [(value, (*path, "inputs", index)) for index, value in enumerate(function.inputs)]
    for at, part in function.parts():
        if isinstance(part, Op) and part.block is function.block:
            values += [(value, (*at, "outputs", index)) for index, value in enumerate(part.outputs)]
    seen = set[str]()
    for value, at in values:
        if value.name in seen:
            raise WrongRule(f"{named(function.name)} has two values {named(value.name)}: rename one of them", at)
        seen.add(value.name)


def require_known(op: Op, path: Path, read: Recovered) -> None:
    """Raise WrongRule for an operation, or an argument of it, that no opset has, and for one value where a list stands.

    A name stands for one value, so a list has parentheses.
    """
    if first_opset(op.type) is None:
        raise WrongRule(f"there is no operation {named(op.type)}{did_you_mean(nearest(op.type, all_names()))}", path)
    parameters = {name: each for version in versions(op.type) for name, each in version.parameters.items()}
    for name, operands in op.inputs.items():
        at = (*path, "inputs", Key(name))
        if name.startswith(UNNAMED):
            raise WrongRule(f"{named(op.type)} takes {listed(parameters, 'and') or 'no arguments'} only", at)
        if name not in parameters:
            meant = did_you_mean(nearest(name, parameters))
            raise WrongRule(f"{named(op.type)} has no parameter {named(name)}{meant}", at)
        if parameters[name].variadic and len(operands) == 1 and not _has_parentheses(at, read):
            message = f"{named(name)} of {named(op.type)} is a list: write its values in parentheses, one by one"
            raise WrongRule(message, at)


def _has_parentheses(path: Path, read: Recovered) -> bool:
    """Return whether an argument is written as a list."""
    assert read.root is not None, "a Program was read from it"
    span = find(read.root, path).span
    return read.text[span.start : span.end].endswith(")")


def _literal(text: str, gap: Path) -> Operand:
    """Return a literal in one of the USUAL data types. Raise WrongRule."""
    try:
        return parse_value(f"{spelled(usual_type(text, USUAL))}({text})")
    except Misfit as misfit:
        raise WrongRule(str(misfit), gap) from None
    except ParseError as failure:
        raise WrongRule(failure.diagnostics[0].message, gap) from None


def belongs(name: str, prefix: str, rules: Mapping[str, object]) -> str | None:
    """Return the rule that a function such as `example_RULE_2` belongs to by its name; None for another function."""
    if not name.startswith(prefix):
        return None
    rest = name[len(prefix) :]
    return max((each for each in rules if rest == each or rest.startswith(f"{each}_")), key=len, default=None)
