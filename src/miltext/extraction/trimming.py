"""The text of a part: the original text without the removed phrases. Comments and layout of the rest stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import bodies_of
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.printer import Printer
from miltext.printing.tensors import Style
from miltext.syntax import phrases
from miltext.syntax.editing import Edit, appended, proven
from miltext.syntax.lexer import dialect_of
from miltext.syntax.names import name_text
from miltext.syntax.phrases import name_in
from miltext.syntax.removal import Removal

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.extraction.planning import BlockPlan, PartPlan
    from miltext.schema.proto import Function
    from miltext.syntax.tree import Node


def trimmed(text: str, planned: PartPlan, function: Function) -> str:
    """Return a text with only the planned part; `function` is the new form of the function."""
    tree = parse_tree(text, whole=True)
    return proven(text, _Trimming(text, tree.comments, planned).edits(tree.root, function))


class _Trimming:
    """The edits that reduce a text to the planned part."""

    def __init__(self, text: str, comments: Sequence[Span], planned: PartPlan) -> None:
        self._planned = planned
        self._removal = Removal(text, comments)
        self._printer = Printer(Style(dialect_of(text)))

    def edits(self, program: Node, made: Function) -> Iterator[Edit]:
        """Yield the edits of a text, whose program is the phrase; `made` is the new form of its function."""
        functions = list(phrases.functions(program))
        yield from self._removal.statements(functions, [name_in(each) == self._planned.function for each in functions])
        (function,) = (each for each in functions if name_in(each) == self._planned.function)
        yield from self._parameters(function)
        yield from self._information(function, made)
        bodies = list(bodies_of(function))
        kept = [self._planned.blocks.get(str(path[-1])) for path, _ in bodies]
        yield from self._removal.statements([body for _, body in bodies], [each is not None for each in kept])
        for (_, body), planned in zip(bodies, kept, strict=True):
            if planned is not None:
                yield from self._block(phrases.block(body), planned)

    def _block(self, block: Node, planned: BlockPlan) -> Iterator[Edit]:
        operations = list(phrases.operations(block))
        yield from self._removal.statements(operations, [place in planned.ops for place in range(len(operations))])
        for place, op in planned.ops.items() if planned.given else ():
            for output, (start, end, _) in zip(op.outputs, phrases.made(operations[place]), strict=True):
                if output in planned.given:
                    yield start, end, name_text(planned.given[output])
        listed, tokens = phrases.output_list(block), list(phrases.returned(block))
        if [name_in(token) for token in tokens] != self._planned.outputs:
            start, end = (tokens[0].start, tokens[-1].end) if tokens else (listed.end - 1, listed.end - 1)
            yield start, end, ", ".join(map(name_text, self._planned.outputs))

    # ---- lists in brackets

    def _parameters(self, function: Node) -> Iterator[Edit]:
        values = list(phrases.inputs(function))
        kept = [name_in(value) in self._planned.taken for value in values]
        yield from self._removal.items(phrases.parameters(function), kept)
        if self._planned.new:
            types = [f"{self._printer.type_of(each, 'type').text} {name_text(each.name)}" for each in self._planned.new]
            last = next((value for value, stays in reversed([*zip(values, kept, strict=True)]) if stays), None)
            place = phrases.parameters(function).start + 1 if last is None else last.end
            yield appended(place, types, is_first=last is None)

    def _information(self, function: Node, made: Function) -> Iterator[Edit]:
        """Yield the edits of the notes on flexible inputs, which Apple's compiler writes."""
        brackets = phrases.attribute_list(function)
        kept = [name_in(each) != ATTRIBUTE for each in phrases.attributes(function)]
        if ATTRIBUTE in made.attributes:
            for each in phrases.attributes_named(function, ATTRIBUTE):
                yield *phrases.held(each).span, self._printer.value(made.attributes[ATTRIBUTE])
        elif brackets:
            yield from self._removal.items(brackets, kept)
