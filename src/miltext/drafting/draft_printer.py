"""Printing drafts: the Printer's text with what follows left out, and operations inside others."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from miltext.drafting.omitting import STATEMENT
from miltext.models.compact import VALUE
from miltext.models.weight_printing import DigestPrinter
from miltext.printing.printer import CLOSING, OPERATION, Printer
from miltext.schema.operations import signature
from miltext.schema.paths import Key, Path
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from miltext.models.weight_printing import Spell
    from miltext.printing.printer import Lines
    from miltext.printing.tensors import Style
    from miltext.schema import proto

_LITERAL = re.compile(r'[-+.0-9"]|\$0x|true$|false$|\[(?!(?:inf|nan)\b|.*(?:\$[A-Za-z]|[\[ ](?:inf|nan)\b))', re.DOTALL)
"""How a literal begins that a draft takes without its type: `inf` without a sign is a name there."""

_FOLDER = "@model_path/"
"""Where a path begins that `$blob` says the rest of."""

WIDTH = 140
"""The longest line in which an operation stands inside another, but for weights."""

DEPTH = 6
"""How many operations a statement is deep at most."""


class _Call(NamedTuple):
    """What stands inside an operation: its place in the block, its text, and how deep it is.

    A weight, of depth 0, is not free to stand before: as a statement of its own, it makes the text longer.
    """

    at: int
    text: str
    depth: int


def literal_of(printer: Printer, value: proto.Value) -> str | None:
    """Return the literal of a value as a draft takes it without a type; None where it takes none."""
    if value.docString or value.WhichOneof("value") != "immediateValue":
        return None
    literal = printer.literal(value)
    return literal if _LITERAL.match(literal) else None


def record_path(path: str) -> str | None:
    """Return the path of a record of a weight file as `$blob` has it; None where it cannot say it."""
    name = path.removeprefix(_FOLDER)
    if name != path and name and name[0] != "@":
        return name
    return path if path[:1] == "@" else None


class DraftPrinter(DigestPrinter):
    """Prints a Program without the types at the paths of `gaps`; statements at those of `whole` as a Printer does.

    Operations at the paths of `movable` stand inside their users as far as the lines get no longer than WIDTH. `order`
    has the operations of each block in the order in which `infer` writes them. `spell` is that of a DigestPrinter.
    """

    def __init__(
        self, style: Style, gaps: Set[Path], whole: Set[Path], movable: Set[Path], spell: Spell | None = None
    ) -> None:
        super().__init__(spell, style)
        self._gaps = gaps
        self._whole = whole
        self._movable = movable
        self._version = ""
        self.order: dict[Path, list[int]] = {}

    def draft(self, program: proto.Program) -> Iterator[str]:
        """Yield the text of a Program, in pieces."""
        lines: Lines = {}
        for name, function in program.functions.items():
            self._version = function.opset
            for opset, block in function.block_specializations.items():
                path = ("functions", Key(name), "block_specializations", Key(opset))
                lines[name, opset] = [*self._statements(block, path, OPERATION)]
        yield from self.program(program, lines)
        yield "\n"

    def _statements(self, block: proto.Block, path: Path, indent: str) -> Iterator[str]:
        """Yield the statements of a block, with the operations inside them."""
        texts: list[str] = []
        inside: dict[str, _Call] = {}
        nested: dict[int, list[int]] = {}
        for index, operation in enumerate(block.operations):
            place = (*path, "operations", index)
            calls = self._calls(operation, place, inside)
            text = self._text(operation, place, calls)
            room = WIDTH - len(indent) - len(self._results(operation, place))
            while free := _too_much(calls, len(text) > room):
                del calls[free]
                text = self._text(operation, place, calls)
            nested[index] = [call.at for call in calls.values()]
            texts.append(text)
            if place in self._movable:
                weight = self._weight(operation.attributes[VALUE]) if operation.type == "const" else None
                depth = 0 if weight else 1 + max((call.depth for call in calls.values()), default=0)
                inside[operation.outputs[0].name] = _Call(index, weight or text, depth)
        gone = {index for found in nested.values() for index in found}
        order = self.order[path] = list[int]()
        for index, operation in enumerate(block.operations):
            if index not in gone:
                order += _in_order(index, nested)
                yield self._statement(operation, (*path, "operations", index), texts[index], indent)

    def _calls(self, operation: proto.Operation, place: Path, inside: Mapping[str, _Call]) -> dict[str, _Call]:
        """Return what may stand inside an operation, by the values, in the order of the text."""
        if not inside or place[:STATEMENT] in self._whole:
            return {}
        keys = self._keys(operation, place)
        bindings = [binding for key in (*keys[0], *keys[1]) for binding in operation.inputs[key].arguments]
        return {binding.name: inside[binding.name] for binding in bindings if binding.name in inside}

    # ---- one operation

    def _statement(self, operation: proto.Operation, place: Path, text: str, indent: str) -> str:
        text = f"{indent}{self._results(operation, place)}{text}"
        for at, block in enumerate(operation.blocks):
            path, closing = (*place, "blocks", at), f"{indent}    "
            assert closing != CLOSING
            inputs = ", ".join([self._output(value, (*path, "inputs", nth)) for nth, value in enumerate(block.inputs)])
            inner = "".join(self._block(block, closing, [*self._statements(block, path, f"{closing}    ")]))
            text += f"\n{closing}({inputs}) {inner}"
        return f"{text};\n"

    def _results(self, operation: proto.Operation, place: Path) -> str:
        """`y = `"""
        found = [self._output(output, (*place, "outputs", at)) for at, output in enumerate(operation.outputs)]
        return f"{', '.join(found)} = " if found else ""

    def _output(self, value: proto.NamedValueType, gap: Path) -> str:
        return self.name(value.name) if gap in self._gaps else self._named_value(value)

    def _text(self, operation: proto.Operation, place: Path, calls: Mapping[str, _Call]) -> str:
        """Return an operation without its outputs and blocks: `relu(x)`."""
        by_place, by_name = self._keys(operation, place)
        found = {}
        for key in (*by_place, *by_name):
            bindings = operation.inputs[key].arguments
            parts = [
                calls[binding.name].text
                if binding.name in calls
                else self._bound(binding, (*place, "inputs", Key(key), "arguments", at))
                for at, binding in enumerate(bindings)
            ]
            found[key] = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        arguments = [found[key] for key in by_place] + [f"{self.name(key)} = {found[key]}" for key in by_name]
        attributes = [self._attribute(key, operation.attributes[key], place) for key in sorted(operation.attributes)]
        ending = f"[{', '.join(attributes)}]" if attributes else ""
        return f"{self._operator(operation.type)}({', '.join(arguments)}){ending}"

    def _keys(self, operation: proto.Operation, place: Path) -> tuple[list[str], list[str]]:
        """Return the parameters of the arguments that stand without names, and those of the others.

        Required ones go without, and then those that are given values: `linear(x, w, b)`, but `softmax(x, axis = -1)`.
        """
        known, inputs = signature(operation.type, self._version), operation.inputs
        by_place: list[str] = []
        if known and place[:STATEMENT] not in self._whole:
            parameters = map(known.parameters.__getitem__, known.positions)
            found = takewhile(
                lambda each: each.name in inputs and (each.required or _is_value(inputs[each.name])), parameters
            )
            by_place = [each.name for each in found]
        return by_place, sorted(set(inputs).difference(by_place))

    def _bound(self, binding: proto.Argument.Binding, gap: Path) -> str:
        return self._untyped(binding.value, gap) or self._binding(binding)

    def _attribute(self, key: str, value: proto.Value, place: Path) -> str:
        text = self._untyped(value, (*place, "attributes", Key(key))) or self._weight(value) or self.value(value)
        return f"{self.name(key)} = {text}"

    def _weight(self, value: proto.Value) -> str | None:
        """Return a value that is a record of a weight file; as an argument, `infer` makes a `const` of it."""
        blob = value.blobFileValue if value.WhichOneof("value") == "blobFileValue" and not value.docString else None
        if blob is None:
            return None
        word, spelled = record_path(blob.fileName), self.spelled(value)
        spelled = spelled or (f"$blob({quote(word)}, {blob.offset})" if word else None)
        return f"{self.type_of(value, 'type').text}({spelled})" if spelled else None

    def _untyped(self, value: proto.Value, gap: Path) -> str | None:
        """Return the literal of a value that needs no type, unless it is left out."""
        return literal_of(self, value) if gap in self._gaps else None


def _too_much(calls: Mapping[str, _Call], is_long: bool) -> str | None:
    """Return the value that is to stand before an operation whose line is too long, or too deep; None if neither is."""
    if is_long:
        return max((name for name in calls if calls[name].depth), key=lambda name: len(calls[name].text), default=None)
    return next((name for name in calls if calls[name].depth >= DEPTH), None)


def _is_value(argument: proto.Argument) -> bool:
    """Tell whether no literal is among what is given."""
    return not any(each.value.WhichOneof("value") == "immediateValue" for each in argument.arguments)


def _in_order(index: int, nested: Mapping[int, list[int]]) -> Iterable[int]:
    """Return an operation after those inside it, in the order in which `infer` writes them."""
    todo, found = [index], []
    while todo:
        found.append(todo.pop())
        todo += nested[found[-1]]
    return reversed(found)
