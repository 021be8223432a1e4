"""The text of a part: the text of the whole, without the removed phrases. Comments and layout of the rest stay.

A comment beside a phrase, or right above it, is removed with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import bodies_of
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.printer import Printer
from miltext.printing.tensors import Style
from miltext.syntax import phrases
from miltext.syntax.editing import Edit, proven
from miltext.syntax.lexer import dialect_of
from miltext.syntax.names import name_text
from miltext.syntax.phrases import name_in

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.extraction.planning import BlockPlan, PartPlan
    from miltext.schema.proto import Function
    from miltext.syntax.tree import Node

_SPACES = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"\r?\n|\Z")
_BLANK = re.compile(r"(?:[ \t]*\r?\n)*")


def trimmed(text: str, planned: PartPlan, function: Function) -> str:
    """Return a text with only the planned part; `function` is the new form of the function."""
    tree = parse_tree(text, whole=True)
    return proven(text, _Trimming(text, tree.comments, planned).edits(tree.root, function))


class _Trimming:
    """The edits that leave only the planned part in a text."""

    def __init__(self, text: str, comments: Iterable[Span], planned: PartPlan) -> None:
        self._text, self._planned = text, planned
        self._starts = {each.start: each for each in comments}
        self._ends = {each.end: each for each in self._starts.values()}
        self._printer = Printer(Style(dialect_of(text)))

    def edits(self, program: Node, made: Function) -> Iterator[Edit]:
        """Yield the edits of a text, whose program is the phrase; `made` is the new form of its function."""
        functions = list(phrases.functions(program))
        yield from self._without(functions, [name_in(each) == self._planned.function for each in functions])
        (function,) = (each for each in functions if name_in(each) == self._planned.function)
        yield from self._parameters(function)
        yield from self._information(function, made)
        bodies = list(bodies_of(function))
        kept = [self._planned.blocks.get(str(path[-1])) for path, _ in bodies]
        yield from self._without([body for _, body in bodies], [each is not None for each in kept])
        for (_, body), planned in zip(bodies, kept, strict=True):
            if planned is not None:
                yield from self._block(phrases.block(body), planned)

    def _block(self, block: Node, planned: BlockPlan) -> Iterator[Edit]:
        operations, kept = list(phrases.operations(block)), {*planned.operations}
        yield from self._without(operations, [place in kept for place in range(len(operations))])
        for (place, index), name in planned.renamed.items():
            start, end, _ = phrases.made(operations[place])[index]
            yield start, end, name_text(name)
        listed, tokens = phrases.output_list(block), list(phrases.returned(block))
        if [name_in(token) for token in tokens] != self._planned.outputs:
            start, end = (tokens[0].start, tokens[-1].end) if tokens else (listed.end - 1, listed.end - 1)
            yield start, end, ", ".join(map(name_text, self._planned.outputs))

    # ---- lists in brackets

    def _parameters(self, function: Node) -> Iterator[Edit]:
        values = list(phrases.inputs(function))
        kept = [name_in(value) in self._planned.taken for value in values]
        yield from self._without_listed(values, kept)
        if self._planned.new:
            types = [f"{self._printer.type_of(each, 'type').text} {name_text(each.name)}" for each in self._planned.new]
            last = next((value for value, stays in reversed([*zip(values, kept, strict=True)]) if stays), None)
            place = phrases.parameters(function).start + 1 if last is None else last.end
            yield place, place, ", ".join(types if last is None else ["", *types])

    def _information(self, function: Node, made: Function) -> Iterator[Edit]:
        """Yield the edits of the notes on flexible inputs, which Apple's compiler writes."""
        brackets, listed = phrases.attribute_list(function), list(phrases.attributes(function))
        kept = [name_in(each) != ATTRIBUTE for each in listed]
        if ATTRIBUTE in made.attributes:
            for each in phrases.attributes_named(function, ATTRIBUTE):
                yield *phrases.held(each).span, self._printer.value(made.attributes[ATTRIBUTE])
        elif brackets and kept == [False]:
            yield len(self._text[: brackets.start].rstrip(" ")), brackets.end, ""
        else:
            yield from self._without_listed(listed, kept)

    def _without_listed(self, listed: Sequence[Node], kept: Sequence[bool]) -> Iterator[Edit]:
        """Yield the edits that remove items of a list, each with a comma and the comments beside."""
        start = end = -1
        for first, last in self._gone_from_list(listed, kept):
            if start >= 0 and not self._is_space(end, first):
                yield (*self._whole_line(start, end), "")
                start = -1
            start, end = first if start < 0 else start, last
        if start >= 0:
            following = next((each.start for each in listed if each.start >= end), end)
            yield (*self._whole_line(start, following if self._is_space(end, following) else end), "")

    def _gone_from_list(self, listed: Sequence[Node], kept: Sequence[bool]) -> Iterator[tuple[int, int]]:
        """Yield the stretches of the removed items of a list, and of their commas: the commas after them, or at the end
        of the list the commas before them.
        """
        last = max((index for index, stays in enumerate(kept) if stays), default=-1)
        commas = [self._comma(one.end, other.start) for one, other in pairwise(listed)]
        for index, (each, stays) in enumerate(zip(listed, kept, strict=True)):
            is_rest = 0 <= last < index
            if is_rest:
                yield commas[index - 1], commas[index - 1] + 1
            if not stays:
                yield each.start, self._after_comments(each.end)
                if not is_rest and index < len(commas):
                    yield commas[index], self._after_comments(commas[index] + 1)

    def _comma(self, start: int, end: int) -> int:
        """Return the place of the comma between two places, with only comments around it."""
        while self._text[start] != "," and start < end:
            start = self._starts[start].end if start in self._starts else start + 1
        return start

    def _is_space(self, start: int, end: int) -> bool:
        return not self._text[start:end].strip()

    def _whole_line(self, start: int, end: int) -> tuple[int, int]:
        """Return a stretch with the rest of its line, if the line has no other content."""
        line = self._text.rfind("\n", 0, start) + 1
        if line and self._is_space(line, start) and self._text.startswith(("\n", "\r\n"), end):
            return line, self._after_line(end)
        return start, end

    # ---- sequences

    def _without(self, phrases: Sequence[Node], kept: Sequence[bool]) -> Iterator[Edit]:
        """Yield the edits that remove phrases of a sequence, with their comments."""
        first = after = -1
        for start, end in self._lines_of_gone(phrases, kept):
            next_first, next_after = self._stretch(start, end)
            if next_first > after:
                if after >= 0:
                    yield first, after, ""
                first = next_first
            first, after = self._with_empty_lines(first, next_after)
        if after >= 0:
            yield first, after, ""

    def _lines_of_gone(self, phrases: Sequence[Node], kept: Sequence[bool]) -> Iterator[tuple[int, int]]:
        """Yield the stretches of the removed phrases, all of a line as one."""
        start = end = -1
        for phrase, stays in zip(phrases, kept, strict=True):
            is_beside = start >= 0 and "\n" not in self._text[end : phrase.start]
            if start >= 0 and (stays or not is_beside):
                yield start, end
                start = -1
            if not stays:
                start, end = phrase.start if start < 0 else start, phrase.end
        if start >= 0:
            yield start, end

    def _stretch(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of text to remove with two places: for whole lines, also the comments beside and right
        above.
        """
        line, after = self._line_start(start), self._after_comments(end)
        if line is None or not _LINE_END.match(self._text, after):
            return start, self._after_spaces(end)
        return self._with_comments_above(line), self._after_line(after)

    def _with_empty_lines(self, first: int, after: int) -> tuple[int, int]:
        """Return a stretch of whole lines, with the empty lines that would separate nothing without it."""
        if self._text[after - 1] != "\n":
            return first, after
        code = self._end_of_code(first)
        blank = min(self._after_line(self._after_spaces(code)), first)
        if blank < first or self._text[code - 1] == "{":
            after = _after(_BLANK, self._text, after)
            if self._text.startswith("}", self._after_spaces(after)):
                first = blank
        return first, after

    def _end_of_code(self, place: int) -> int:
        """Return the end of the text before a place, without white space."""
        while place and self._text[place - 1].isspace():
            place -= 1
        return place

    def _line_start(self, place: int) -> int | None:
        """Return the start of the line of a place, if only spaces and comments are between."""
        start = self._text.rfind("\n", 0, place) + 1
        return start if self._after_comments(start) >= place else None

    def _after_spaces(self, place: int) -> int:
        return _after(_SPACES, self._text, place)

    def _after_comments(self, place: int) -> int:
        """Return the end of the comments beside a place, and of the spaces after them, all in its line."""
        place = self._after_spaces(place)
        while place in self._starts and "\n" not in self._text[place : self._starts[place].end]:
            place = self._after_spaces(self._starts[place].end)
        return place

    def _after_line(self, place: int) -> int:
        return _after(_LINE_END, self._text, place)

    def _with_comments_above(self, line: int) -> int:
        """Return the start of the comments right above a line, which have lines of their own; else the line."""
        while True:
            end = line - 2 if self._text[line - 2 : line] == "\r\n" else line - 1
            comment = self._ends.get(end)
            start = None if comment is None else self._line_start(comment.start)
            if start is None:
                return line
            line = start


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return place if found is None else found.end()
