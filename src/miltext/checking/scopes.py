"""Checks of names: identifiers, defined once in their scope, and used only in that scope.

The rules are stated in the comments of Apple's `MIL.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from miltext.checking.findings import LONG, Finding, Remark, named, opset_named
from miltext.checking.inference import TensorType, spelled
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import bool_meant, did_you_mean, nearest, one_slip_from
from miltext.ir.parts import Op, Value
from miltext.parsing.lowering.imports import import_named
from miltext.schema.dtypes import ELSEWHERE
from miltext.schema.operations import words_of
from miltext.schema.opsets import PROTO_BY_TEXT, TEXT_BY_PROTO, plain_opset
from miltext.schema.paths import Key, Path, block_path
from miltext.syntax.literals import quote, shown
from miltext.syntax.names import name_text, opset_text, unfit

if TYPE_CHECKING:
    from miltext.checking.inference.reading import StatedGraph
    from miltext.ir.functions import Block, Function

SUGGESTED_OPSET = "ios18"
"""The suggestion for a missing opset: the first opset with all operations of the table."""

NOTHING = frozenset({"None", "none", "null", "NULL", "nil", "nullptr"})
"""The words of other languages for a missing value."""

_NOT_FINITE = re.compile("inf|infinity|(?P<nan>nan)", re.IGNORECASE)

COMPARISONS = 200_000
"""The greatest number of names compared with undefined ones to find the intended name: about a second."""


def name_findings(graph: StatedGraph, dialect: str = "1.3", *, each_use: bool = False) -> Iterator[Finding]:
    """Yield the errors in the names of a Program; values are suggested in the dialect.

    A missing name is reported once in a function, or with `each_use` at every use.
    """
    yield from _keys(graph.own_attributes, ())
    for name, function in graph.functions.items():
        path: Path = ("functions", Key(name))
        if _is_odd(name):
            yield _not_an_identifier(name, (*path, "key"))
        yield from _keys(graph.attributes[function], path)
        yield from _opsets(name, function, path)
        names = _Names(graph, function, dialect, each_use)
        yield from names.defined(function.inputs, (*path, "inputs"))
        for opset, block in function.blocks.items():
            yield from names.specialization(block, block_path(name, opset))


def _opsets(name: str, function: Function, path: Path) -> Iterator[Finding]:
    opset, blocks = function.message.opset, function.blocks
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
    elif not _has_block(function):
        yield Finding(
            (*path, "opset"),
            codes.MISSING_OPSET_BLOCK,
            f"the function has no block for its opset `{opset_named(opset)}`{others}",
        )
    for each in sorted({opset, *blocks} - TEXT_BY_PROTO.keys() - {""}):
        place = (*path, "opset") if each == opset else (*block_path(name, each), "key")
        yield _by_text_name(each, blocks, place) if each in PROTO_BY_TEXT else _unknown_opset(each, place)


def _has_block(function: Function) -> bool:
    """Return whether a function has a block for its opset, under any of its names."""
    return plain_opset(function.message.opset) in map(plain_opset, function.blocks)


def _unknown_opset(opset: str, place: Path) -> Finding:
    near = _near_opset(opset)
    message = f"unknown opset `{opset_named(opset)}`{did_you_mean(near)}"
    return Finding(place, codes.UNKNOWN_OPSET, message, suggestion=near, severity="warning")


def _near_opset(opset: str) -> str | None:
    """Return the known opset nearest to a name, in its usual spelling.

    For two digits, it is the version with exchanged digits, or else the nearest version.
    """
    near = one_slip_from(opset, PROTO_BY_TEXT) or nearest(opset, PROTO_BY_TEXT)
    if number := re.fullmatch("ios([0-9]{2})", opset.lower()):
        wanted = number[1]
        near = min(PROTO_BY_TEXT, key=lambda name: (name[:2:-1] != wanted, abs(int(name[3:]) - int(wanted))))
    return opset_text(PROTO_BY_TEXT[near]) if near else None


def _by_text_name(opset: str, blocks: Collection[str], place: Path) -> Finding:
    """Return the finding about a name of texts in a Program, where loaders look for the name of the schema."""
    plain = PROTO_BY_TEXT[opset]
    usual = opset_text(plain)
    has_both = opset in blocks and sum(plain_opset(each) == plain for each in blocks) > 1
    way = f"keep one of the function's blocks for `{usual}`" if has_both else f"write `{usual}` without quotes"
    message = f"the name of this opset in the Program is `{opset}`, which miltext reads as {plain}; {way}"
    suggestion = None if has_both else usual
    return Finding(place, codes.OPSET_BY_TEXT_NAME, message, suggestion=suggestion, severity="warning")


def _keys(names: Iterable[str], path: Path) -> list[Finding]:
    """Return the errors in the names of the attributes of the message at `path`."""
    return [_not_an_identifier(name, (*path, "attributes", Key(name), "key")) for name in names if _is_odd(name)]


def _is_odd(name: str) -> bool:
    """Return whether a name is not an identifier, and is quoted in the text."""
    return name_text(name)[0] == "$"  # as `unfit`, but remembered


def _not_an_identifier(name: str, path: Path) -> Finding:
    return Finding(
        path, codes.INVALID_IDENTIFIER, f"the name {quote(name)} {unfit(name)}" if name else "a name is missing here"
    )


class _Names:
    """The names of one function; in each of its blocks by opset, a missing name is reported once, or for `each_use`."""

    def __init__(self, graph: StatedGraph, function: Function, dialect: str, each_use: bool) -> None:
        self.graph = graph
        self.function = function
        self._dialect = dialect
        self._each_use = each_use
        self._missing: dict[str, Finding] = {}
        self._plain: set[str] = set()
        self._is_clean = not function.clashing and not function.undefined
        self._first: dict[Value, Value] = {}
        self._comparisons = COMPARISONS

    def specialization(self, block: Block, path: Path) -> Iterator[Finding]:
        """Check a block of the function itself."""
        self._missing = {}
        self._comparisons = COMPARISONS
        yield from self.block(block, path)

    def block(self, block: Block, path: Path) -> Iterator[Finding]:
        yield from _keys(self.graph.attributes[block], path)
        yield from self.defined(block.inputs, (*path, "inputs"))
        for index, op in enumerate(block):
            if not (self._is_clean and self.is_right(op)):
                yield from self.operation(op, (*path, "operations", index))
        for index, value in enumerate(block.outputs):
            if value.owner is None:
                yield from self.missing(value.name, block, (*path, "outputs", index))

    def is_right(self, op: Op) -> bool:
        """Return whether the names in an operation need no further check."""
        plain, outputs = self._plain, op.outputs
        return (
            op.type in plain
            and self.graph.attributes[op].keys() <= plain
            and op.inputs.keys() <= plain
            and len(outputs) == 1
            and not op.blocks
            and not _is_odd(outputs[0].name)
        )

    def operation(self, op: Op, path: Path) -> Iterator[Finding]:
        attributes = self.graph.attributes[op]
        if _is_odd(op.type) and import_named(op.type) is None:
            yield _not_an_identifier(op.type, (*path, "type"))
        yield from _keys(attributes, path)
        for key, operands in op.inputs.items():
            if _is_odd(key):
                yield _not_an_identifier(key, (*path, "inputs", Key(key), "key"))
            for index, each in enumerate(operands):
                if isinstance(each, Value) and each.owner is None and each.name:
                    yield from self.missing(each.name, op, (*path, "inputs", Key(key), "arguments", index, "name"))
        for index, block in enumerate(op.blocks):
            yield from self.block(block, (*path, "blocks", index))
        yield from self.defined(op.outputs, (*path, "outputs"))
        self._plain.update(word for word in (op.type, *attributes, *op.inputs) if not _is_odd(word))

    def defined(self, values: Iterable[Value], path: Path) -> Iterator[Finding]:
        """Yield the errors in the names of defined values."""
        for index, value in enumerate(values):
            if value in self.function.clashing:
                yield self.defined_again(value, (*path, index, "name"))
            if _is_odd(value.name):
                yield _not_an_identifier(value.name, (*path, index, "name"))

    def defined_again(self, value: Value, path: Path) -> Finding:
        before = self.function.clashing[value]
        first = self._first.get(before, before)  # of those in the scope of the one before
        place = (*self.places[first], "name")
        if first.home is value.home:
            self._first[value] = first
            remark = Remark("first defined here", place)
            return Finding(
                path, codes.DUPLICATE_VALUE, f"{named(value.name)} is already defined in this scope", (remark,)
            )
        remark = Remark("the outer one is defined here", place)
        message = f"{named(value.name)} hides a value of the same name outside"
        return Finding(path, codes.SHADOWED_VALUE, message, (remark,), severity="warning")

    def missing(self, name: str, user: Op | Block, path: Path) -> Iterator[Finding]:
        """Yield the finding about a name used outside of the scope of any definition, the first time."""
        if name not in self._missing:
            self._missing[name] = self._undefined(name, user, path)
        elif not self._each_use:
            return
        yield self._missing[name]._replace(path=path)

    def _undefined(self, name: str, user: Op | Block, path: Path) -> Finding:
        length = len(block_path("", ""))
        definitions = [place for place in self.everywhere.get(name, ()) if place[:length] == path[:length]]
        if not definitions:
            parameter = str(path[-4]) if path[-1] == "name" else None
            near = self.near(name, user, parameter)
            hint = "; leave the argument out" if parameter and name in NOTHING else did_you_mean(near)
            return Finding(path, codes.UNDEFINED_VALUE, f"{named(name)} is not defined{hint}", suggestion=near)
        later = [place for place in definitions if place[-2] == "outputs" and path[: len(place) - 4] == place[:-4]]
        remark = (Remark("defined here", (*(later or definitions)[0], "name")),)
        if later:
            return Finding(path, codes.USE_BEFORE_DEFINITION, f"{named(name)} is used before it is defined", remark)
        return Finding(
            path,
            codes.VALUE_OF_OTHER_BLOCK,
            f"{named(name)} is defined in another block, and is not visible here",
            remark,
        )

    def near(self, name: str, user: Op | Block, parameter: str | None) -> str | None:
        """Return the name that may be meant, in the text's spelling, or a literal for a word such as `True`.

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
        names = list(_in_sight(user)) if self._comparisons >= 0 else []
        self._comparisons -= len(names)
        near = nearest(name, names) if self._comparisons >= 0 else None
        if near is None and parameter and parameter.endswith("dtype") and name in ELSEWHERE:
            return f'{spelled(TensorType("string", ()), self._dialect)}("{ELSEWHERE[name]}")'
        return None if near is None else name_text(near)

    @cached_property
    def places(self) -> dict[Value, Path]:
        """The places where the values are defined."""
        found: dict[Value, Path] = {}
        inputs = ((("functions", Key(self.function.name)), self.function), *self.function.parts())
        for path, part in inputs:
            field = "outputs" if isinstance(part, Op) else "inputs"
            values = part.outputs if isinstance(part, Op) else part.inputs
            found.update((value, (*path, field, index)) for index, value in enumerate(values))
        return found

    @cached_property
    def everywhere(self) -> dict[str, list[Path]]:
        """The places of all definitions, by name."""
        found: dict[str, list[Path]] = {}
        for value, place in self.places.items():
            found.setdefault(value.name, []).append(place)
        return found


def _in_sight(user: Op | Block) -> Iterator[str]:
    """Yield the names in scope at an operation or at the end of a block: its block's, then from the outermost on."""
    around = []
    end, block = (user, user.block) if isinstance(user, Op) else (None, user)
    while block is not None:
        around.append([*block.inputs, *_made_before(block, end)])
        if not isinstance(block.owner, Op):
            around.append(block.owner.inputs)
            break
        end, block = block.owner, block.owner.block
    own, *outer = around
    return iter(dict.fromkeys(value.name for values in (own, *reversed(outer)) for value in values))


def _made_before(block: Block, end: Op | None) -> Iterator[Value]:
    op = block.first
    while op is not None and op is not end:
        yield from op.outputs
        op = op.next
