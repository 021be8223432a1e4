"""Printing drafts: the Printer's text without the parts that follow, and with operations inside others."""

from __future__ import annotations

import re
from itertools import chain, takewhile
from typing import TYPE_CHECKING, NamedTuple

from miltext.drafting.omitting import STATEMENT
from miltext.ir.graph import Graph
from miltext.ir.parts import Value
from miltext.models.compact import VALUE
from miltext.printing.printer import CLOSING, OPERATION, Printer
from miltext.schema.operations import signature
from miltext.schema.paths import Key, Path, block_path
from miltext.syntax.literals import quote
from miltext.weight_files.printing import DigestPrinter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from miltext.ir.functions import Block
    from miltext.ir.parts import Op, Operand
    from miltext.printing.printer import Lines
    from miltext.printing.tensors import Style
    from miltext.schema import proto
    from miltext.weight_files.printing import Spell

_LITERAL = re.compile(r'[-+.0-9"]|\$0x|true$|false$|\[(?!(?:inf|nan)\b|.*(?:\$[A-Za-z]|[\[ ](?:inf|nan)\b))', re.DOTALL)
"""The beginning of a literal that a draft accepts without its type; there, `inf` without a sign is a name."""

_FOLDER = "@model_path/"
"""The beginning of a weight file's path, which `$blob` leaves out."""

WIDTH = 140
"""The greatest length of a line with an operation, other than a weight, inside another."""

DEPTH = 6
"""The greatest depth of operations inside a statement."""


class _NestedCall(NamedTuple):
    """An operation nested in another one, its text, and its depth.

    A weight has the depth 0, and never becomes a statement of its own, which would make the text longer.
    """

    op: Op
    text: str
    depth: int


def literal_of(printer: Printer, value: proto.Value) -> str | None:
    """Return the literal of a value as a draft accepts it without a type; None if a draft needs the type."""
    if value.docString or value.WhichOneof("value") != "immediateValue":
        return None
    literal = printer.literal(value)
    return literal if _LITERAL.match(literal) else None


def record_path(path: str) -> str | None:
    """Return the path of a weight file as `$blob` spells it; None for a path without such a spelling."""
    name = path.removeprefix(_FOLDER)
    if name != path and name and name[0] != "@":
        return name
    return path if path[:1] == "@" else None


class DraftPrinter(DigestPrinter):
    """Prints a Program without the types at the paths of `gaps`; it prints the statements at the paths of `whole` as a
    Printer does.

    Operations at the paths of `movable` are inside their users unless a line gets longer than WIDTH. `spell` is the
    function of a DigestPrinter.
    """

    def __init__(
        self, style: Style, gaps: Set[Path], whole: Set[Path], movable: Set[Path], spell: Spell | None = None
    ) -> None:
        super().__init__(spell, style)
        self._gaps = gaps
        self._whole = whole
        self._movable = movable
        self._version = ""
        self._order: dict[Block, list[Op]] = {}

    def in_order(self, program: proto.Program) -> proto.Program | None:
        """Return a Program in the order of its draft by `infer`; None for its own order."""
        graph = Graph(program)
        self._lines(graph)
        moved = [(block, ops) for block, ops in self._order.items() if ops != [*block]]
        for block, ops in moved:
            block.append(*ops)
        return graph.program() if moved else None

    def draft(self, program: proto.Program) -> Iterator[str]:
        """Yield the text of a Program, in pieces."""
        yield from self.program(program, self._lines(Graph(program)))
        yield "\n"

    def _lines(self, graph: Graph) -> Lines:
        """Return the statements of each block of a function."""
        lines: Lines = {}
        for function in graph.functions.values():
            self._version = function.message.opset
            for opset, block in function.blocks.items():
                path = block_path(function.name, opset)
                lines[function.name, opset] = [*self._statements(block, path, OPERATION)]
        return lines

    def _statements(self, block: Block, path: Path, indent: str) -> Iterator[str]:
        """Yield the statements of a block, with the operations inside them."""
        texts: dict[Op, str] = {}
        inside: dict[Value, _NestedCall] = {}
        lines: dict[Op, list[Op]] = {}
        places = {op: (*path, "operations", index) for index, op in enumerate(block)}
        for op, place in places.items():
            calls = self._calls(op, place, inside)
            text = self._text(op, place, calls)
            room = WIDTH - len(indent) - len(self._results(op, place))
            while free := _too_much(calls, len(text) > room):
                del calls[free]
                text = self._text(op, place, calls)
            lines[op] = [*chain.from_iterable(lines.pop(call.op) for call in calls.values()), op]
            texts[op] = text
            if place in self._movable:
                weight = self._weight(op.attributes[VALUE]) if op.type == "const" else None
                depth = 0 if weight else 1 + max((call.depth for call in calls.values()), default=0)
                inside[op.outputs[0]] = _NestedCall(op, weight or text, depth)
        self._order[block] = [*chain.from_iterable(lines.values())]
        for op in lines:
            yield self._statement(op, places[op], texts[op], indent)

    def _calls(self, op: Op, place: Path, inside: Mapping[Value, _NestedCall]) -> dict[Value, _NestedCall]:
        """Return the operations that may be inside an operation, by their values, in the order of the text."""
        if not inside or place[:STATEMENT] in self._whole:
            return {}
        by_place, by_name = self._keys(op, place)
        return {value: inside[value] for key in (*by_place, *by_name) for value in op.values(key) if value in inside}

    # ---- one operation

    def _statement(self, op: Op, place: Path, text: str, indent: str) -> str:
        text = f"{indent}{self._results(op, place)}{text}"
        for at, block in enumerate(op.blocks):
            path, closing = (*place, "blocks", at), f"{indent}    "
            assert closing != CLOSING
            declared = enumerate(block.message.inputs)
            inputs = ", ".join([self._output(value, (*path, "inputs", nth)) for nth, value in declared])
            inner = "".join(self._block(block.message, closing, [*self._statements(block, path, f"{closing}    ")]))
            text += f"\n{closing}({inputs}) {inner}"
        return f"{text};\n"

    def _results(self, op: Op, place: Path) -> str:
        """`y = `"""
        found = [self._output(output, (*place, "outputs", at)) for at, output in enumerate(op.message.outputs)]
        return f"{', '.join(found)} = " if found else ""

    def _output(self, value: proto.NamedValueType, gap: Path) -> str:
        return self.name(value.name) if gap in self._gaps else self._named_value(value)

    def _text(self, op: Op, place: Path, calls: Mapping[Value, _NestedCall]) -> str:
        """Return an operation without its outputs and blocks: `relu(x)`."""
        by_place, by_name = self._keys(op, place)
        found = {}
        for key in (*by_place, *by_name):
            path = (*place, "inputs", Key(key), "arguments")
            parts = [self._bound(operand, (*path, at), calls) for at, operand in enumerate(op.inputs[key])]
            found[key] = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        arguments = [found[key] for key in by_place] + [f"{self.name(key)} = {found[key]}" for key in by_name]
        attributes = [self._attribute(key, op.attributes[key], place) for key in sorted(op.attributes)]
        ending = f"[{', '.join(attributes)}]" if attributes else ""
        return f"{self._operator(op.type)}({', '.join(arguments)}){ending}"

    def _keys(self, op: Op, place: Path) -> tuple[list[str], list[str]]:
        """Return the parameters of the positional arguments, and the parameters of the named arguments.

        Arguments for required parameters are positional, and so are the next ones if they are values:
        `linear(x, w, b)`, but `softmax(x, axis = -1)`.
        """
        known, inputs = signature(op.type, self._version), op.inputs
        by_place: list[str] = []
        if known and place[:STATEMENT] not in self._whole:
            parameters = map(known.parameters.__getitem__, known.positions)
            found = takewhile(
                lambda each: each.name in inputs and (each.required or _is_value(inputs[each.name])), parameters
            )
            by_place = [each.name for each in found]
        return by_place, sorted(set(inputs).difference(by_place))

    def _bound(self, operand: Operand, gap: Path, calls: Mapping[Value, _NestedCall]) -> str:
        if isinstance(operand, Value):
            return calls[operand].text if operand in calls else self.name(operand.name)
        assert operand is not None, "a program with errors has no draft"
        return self._untyped(operand, gap) or self.value(operand)

    def _attribute(self, key: str, value: proto.Value, place: Path) -> str:
        text = self._untyped(value, (*place, "attributes", Key(key))) or self._weight(value) or self.value(value)
        return f"{self.name(key)} = {text}"

    def _weight(self, value: proto.Value) -> str | None:
        """Return a value in a weight file as text, else None; `infer` makes a `const` of such an argument."""
        blob = value.blobFileValue if value.WhichOneof("value") == "blobFileValue" and not value.docString else None
        if blob is None:
            return None
        word, spelled = record_path(blob.fileName), self.spelled(value)
        spelled = spelled or (f"$blob({quote(word)}, {blob.offset})" if word else None)
        return f"{self.type_of(value, 'type').text}({spelled})" if spelled else None

    def _untyped(self, value: proto.Value, gap: Path) -> str | None:
        """Return the literal of a value whose type is left out; None for any other value."""
        return literal_of(self, value) if gap in self._gaps else None


def _too_much(calls: Mapping[Value, _NestedCall], is_long: bool) -> Value | None:
    """Return the nested value to write before a too long or too deep operation; else None."""
    if is_long:
        return max((each for each in calls if calls[each].depth), key=lambda each: len(calls[each].text), default=None)
    return next((each for each in calls if calls[each].depth >= DEPTH), None)


def _is_value(operands: Sequence[Operand]) -> bool:
    """Return whether none of the operands is a literal."""
    literals = (each for each in operands if each is not None and not isinstance(each, Value))
    return not any(each.WhichOneof("value") == "immediateValue" for each in literals)
