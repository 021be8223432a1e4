"""Names: identifiers, defined once in their scope, and used only in the scope of their definition.

The rules are stated in the comments of Apple's `MIL.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from miltext.checking.findings import LONG, Finding, Remark, named, opset_named
from miltext.checking.inference import TensorType, spelled
from miltext.checking.inference.reading import ReadBlock
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import bool_meant, did_you_mean, nearest
from miltext.schema.dtypes import ELSEWHERE
from miltext.schema.operations import words_of
from miltext.schema.opsets import OPSETS, PROTO_BY_TEXT
from miltext.schema.paths import Key, Path, block_path
from miltext.syntax.literals import quote, shown
from miltext.syntax.names import name_text, unfit

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Declared, Operation, Program, ReadFunction

Definition: TypeAlias = "tuple[Path, str, int]"
"""Where a name is defined: the path of an Operation, Block or Function, the field there, and the index in it."""

SUGGESTED_OPSET = "ios18"
"""The suggestion for a missing opset: the first with every operation of the table."""

NOTHING = frozenset({"None", "none", "null", "NULL", "nil", "nullptr"})
"""The words of other languages for no value."""

_NOT_FINITE = re.compile("inf|infinity|(?P<nan>nan)", re.IGNORECASE)

COMPARISONS = 200_000
"""The most names compared with missing ones, to find the intended name: about a second's worth."""

Scope: TypeAlias = "dict[str, Definition]"


def name_findings(program: Program, dialect: str = "1.3", *, each_use: bool = False) -> Iterator[Finding]:
    """Yield the errors in the names of a Program; values are suggested in the dialect.

    A missing name is reported once in a function, or with `each_use` at every use.
    """
    yield from _keys(program.attributes, ())
    for name, function in program.functions.items():
        if _is_odd(name):
            yield _not_an_identifier(name, ("functions", Key(name), "key"))
        yield from _function(name, function, dialect, each_use)


def _function(name: str, function: ReadFunction, dialect: str, each_use: bool) -> Iterator[Finding]:
    path: Path = ("functions", Key(name))
    yield from _keys(function.attributes, path)
    yield from _opsets(name, function, path)
    inputs: Scope = {}
    for index, value in enumerate(function.inputs):
        yield from _define(value, (path, "inputs", index), inputs, {})
    for opset, block in function.blocks.items():
        walk = _Specialization(block, block_path(name, opset), dialect, each_use)
        yield from walk.block(block, inputs, walk.path)


def _opsets(name: str, function: ReadFunction, path: Path) -> Iterator[Finding]:
    opset, blocks = function.opset, function.blocks
    own = [each for each in blocks if each]
    others = f"; it has blocks for {', '.join(sorted(map(opset_named, own)))}" if own else ""
    if not opset:
        meant = f"{name_text(name)}<{SUGGESTED_OPSET}>"
        hint = others or f"; write it after the name: `{shown(meant, LONG)}`"
        yield Finding(
            (*path, "key"),
            codes.MISSING_OPSET_BLOCK,
            f"the function has no opset{hint}",
            suggestion=None if own else meant,
        )
    elif opset not in blocks:
        yield Finding(
            (*path, "opset"),
            codes.MISSING_OPSET_BLOCK,
            f"the function has no block for its opset `{opset_named(opset)}`{others}",
        )
    for each in sorted({opset, *blocks} - {known.proto for known in OPSETS} - {""}):
        near = nearest(each, PROTO_BY_TEXT)
        place = (*path, "opset") if each == opset else (*block_path(name, each), "key")
        message = f"unknown opset `{opset_named(each)}`{did_you_mean(near)}"
        yield Finding(place, codes.UNKNOWN_OPSET, message, suggestion=near, severity="warning")


def _keys(names: Iterable[str], path: Path) -> list[Finding]:
    """Return the errors in the names of the attributes of the message at `path`."""
    return [_not_an_identifier(name, (*path, "attributes", Key(name), "key")) for name in names if _is_odd(name)]


def _is_odd(name: str) -> bool:
    """Return whether a name is not an identifier, so that the text has to quote it."""
    return name_text(name)[0] == "$"  # as `unfit`, but remembered


def _not_an_identifier(name: str, path: Path) -> Finding:
    return Finding(
        path, codes.INVALID_IDENTIFIER, f"the name {quote(name)} {unfit(name)}" if name else "a name is missing here"
    )


def _define(value: Declared, place: Definition, own: Scope, outer: Scope) -> list[Finding]:
    """Enter a name into its own scope, the innermost; `outer` contains the names of the scopes around it."""
    name = value.name
    found = [_defined_again(name, place, own, outer)] if name in own or name in outer else []
    if _is_odd(name):
        found.append(_not_an_identifier(name, (*_path(place), "name")))
    own.setdefault(name, place)
    return found


def _defined_again(name: str, place: Definition, own: Scope, outer: Scope) -> Finding:
    path = (*_path(place), "name")
    if name in own:
        remark = Remark("first defined here", (*_path(own[name]), "name"))
        return Finding(path, codes.DUPLICATE_VALUE, f"{named(name)} is already defined in this scope", (remark,))
    remark = Remark("the outer one is defined here", (*_path(outer[name]), "name"))
    message = f"{named(name)} hides a value of the same name outside"
    return Finding(path, codes.SHADOWED_VALUE, message, (remark,), severity="warning")


def _path(definition: Definition) -> Path:
    path, field, index = definition
    return (*path, field, index)


class _Specialization:
    """The names of one block of a function and of all blocks inside it.

    A missing name is reported once, or again as the first time for `each_use`.
    """

    def __init__(self, body: ReadBlock, path: Path, dialect: str, each_use: bool) -> None:
        self.body = body
        self.path = path
        self._dialect = dialect
        self._each_use = each_use
        self._missing: dict[str, Finding] = {}
        self._plain: set[str] = set()
        self._comparisons = COMPARISONS

    def block(self, block: ReadBlock, outer: Scope, path: Path) -> Iterator[Finding]:
        """Go over a block; `outer` contains the names of the scopes around it."""
        own: Scope = {}
        yield from _keys(block.attributes, path)
        for index, value in enumerate(block.inputs):
            yield from _define(value, (path, "inputs", index), own, outer)
        for index, operation in enumerate(block.operations):
            if not self.is_right(operation, own, outer, path, index):
                yield from self.operation(operation, own, outer, (*path, "operations", index))
        for index, name in enumerate(block.outputs):
            if name not in own and name not in outer:
                yield from self.missing(name, chain(own, outer), (*path, "outputs", index))

    def is_right(self, operation: Operation, own: Scope, outer: Scope, path: Path, index: int) -> bool:
        """Enter the output of an operation if its names are plainly right; return whether they are."""
        plain, outputs = self._plain, operation.outputs
        if operation.type not in plain or not operation.attributes.keys() <= plain:
            return False
        for key, bindings in operation.inputs.items():
            if key not in plain:
                return False
            for name in bindings:
                if name.__class__ is str and name not in own and name not in outer and name:
                    return False
        if len(outputs) != 1 or operation.blocks:
            return False
        name = outputs[0].name
        if name in own or name in outer or _is_odd(name):
            return False
        own[name] = (*path, "operations", index), "outputs", 0
        return True

    def operation(self, operation: Operation, own: Scope, outer: Scope, path: Path) -> Iterator[Finding]:
        if _is_odd(operation.type):
            yield _not_an_identifier(operation.type, (*path, "type"))
        yield from _keys(operation.attributes, path)
        for key in sorted(operation.inputs):
            if _is_odd(key):
                yield _not_an_identifier(key, (*path, "inputs", Key(key), "key"))
            for index, name in enumerate(operation.inputs[key]):
                if isinstance(name, str) and name and name not in own and name not in outer:
                    place = (*path, "inputs", Key(key), "arguments", index, "name")
                    yield from self.missing(name, chain(own, outer), place)
        for index, block in enumerate(operation.blocks):
            yield from self.block(block, {**outer, **own}, (*path, "blocks", index))
        for index, value in enumerate(operation.outputs):
            yield from _define(value, (path, "outputs", index), own, outer)
        words = operation.type, *operation.attributes, *operation.inputs
        self._plain.update(word for word in words if not _is_odd(word))

    def missing(self, name: str, seen: Iterable[str], path: Path) -> Iterator[Finding]:
        """Yield the finding about a name used outside of the scope of any definition, the first time."""
        if name not in self._missing:
            self._missing[name] = self._undefined(name, seen, path)
        elif not self._each_use:
            return
        yield self._missing[name]._replace(path=path)

    def _undefined(self, name: str, seen: Iterable[str], path: Path) -> Finding:
        definitions = self.everywhere.get(name)
        if not definitions:
            parameter = str(path[-4]) if path[-1] == "name" else None
            near = self.near(name, seen, parameter)
            hint = "; leave the argument out" if parameter and name in NOTHING else did_you_mean(near)
            return Finding(path, codes.UNDEFINED_VALUE, f"{named(name)} is not defined{hint}", suggestion=near)
        later = [place for place in definitions if place[1] == "outputs" and path[: len(place[0]) - 2] == place[0][:-2]]
        remark = (Remark("defined here", (*_path((later or definitions)[0]), "name")),)
        if later:
            return Finding(path, codes.USE_BEFORE_DEFINITION, f"{named(name)} is used before it is defined", remark)
        return Finding(
            path,
            codes.VALUE_OF_OTHER_BLOCK,
            f"{named(name)} is defined in another block and not seen from here",
            remark,
        )

    def near(self, name: str, seen: Iterable[str], parameter: str | None) -> str | None:
        """Return the name that was perhaps meant, as the text spells it, or where one is bound a literal: `True`.

        `parameter` is the parameter that the name is bound to, if any.
        """
        if parameter and name in NOTHING:
            return None
        if parameter and (truth := bool_meant(name, spelled(TensorType("bool", ()), self._dialect))):
            return truth
        if parameter and (infinity := _NOT_FINITE.fullmatch(name)):
            return f"{spelled(TensorType('fp16', ()), self._dialect)}({'nan' if infinity['nan'] else 'inf'})"
        if parameter and name in words_of(parameter):
            return f'{spelled(TensorType("string", ()), self._dialect)}("{name}")'
        names = list(seen)
        self._comparisons -= len(names)
        near = nearest(name, names) if self._comparisons >= 0 else None
        if near is None and parameter and parameter.endswith("dtype") and name in ELSEWHERE:
            return f'{spelled(TensorType("string", ()), self._dialect)}("{ELSEWHERE[name]}")'
        return None if near is None else name_text(near)

    @cached_property
    def everywhere(self) -> dict[str, list[Definition]]:
        """All definitions in this block and in those inside it, by name."""
        found: dict[str, list[Definition]] = {}
        for path, part in self.body.parts(self.path):
            field, values = ("inputs", part.inputs) if isinstance(part, ReadBlock) else ("outputs", part.outputs)
            for index, value in enumerate(values):
                found.setdefault(value.name, []).append((path, field, index))
        return found
