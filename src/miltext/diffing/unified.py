"""Two programs as a unified diff of their texts, lined up by structure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from miltext.diffing.comparing import arguments
from miltext.diffing.spelling import SHOWN
from miltext.diffing.telling import VERDICTS, change_text, model_title, rename_text, told_renames
from miltext.diffing.values import DIGITS
from miltext.models.pairing.sequences import common, merged
from miltext.models.weight_printing import digest_text
from miltext.printing.printer import OPERATION, Printer
from miltext.printing.tensors import Style
from miltext.schema.proto import Function, Operation, Value
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference
    from miltext.models.pairing.contents import Contents
    from miltext.models.pairing.graph import Graph, Node, Region
    from miltext.models.pairing.pairing import PairedBlock, PairedFunction
    from miltext.schema.proto import NamedValueType, Program

Shell = TypeVar("Shell", bound="Function | Operation")

CONTEXT = 3
"""How many unchanged lines are shown around a change."""

_WITH_LINES = ("version", "docString", "attribute")
"""The kinds of changes of a program that are lines of its text."""

Line: TypeAlias = "tuple[str, str]"
"""A line of a diff: ` `, `-` or `+`, and its text."""


class _Page(Printer):
    """Prints parts of a program as lines without long literals."""

    def __init__(self) -> None:
        super().__init__(style=Style(elide=SHOWN))

    def head(self, program: Program) -> str:
        return next(iter(self.program(program))).rstrip("\n")

    def attributes(self, program: Program) -> str:
        return self._attributes(program.attributes)

    def function(self, name: str, function: Function) -> list[str]:
        return "".join(self._function(name, function)).splitlines()

    def operation(self, operation: Operation, indent: str) -> list[str]:
        return self._operation(operation, indent).splitlines()


@dataclass(frozen=True)
class Texts:
    """The texts of two programs whose functions are paired, line by line.

    `different` are the operations of the new one that differ from their partners; `same_attributes` says whether the
    programs' attributes are the same, as far as they count.
    """

    old: Graph
    new: Graph
    pairs: Sequence[PairedFunction]
    different: Collection[Node]
    same_attributes: bool
    _page: _Page = field(default_factory=_Page)

    def drafts(self) -> Iterator[Line]:
        """Yield the lines of both programs' drafts, in which weights are digests as far as they can be read."""
        from miltext.drafting.writing import draft_text

        style, before = Style(floats="decimal", elide=SHOWN), self.old.program
        if self.same_attributes:
            before = own_copy(before)
            before.attributes.clear()
            for key, value in self.new.program.attributes.items():
                before.attributes[key].CopyFrom(value)
        sides = (before, self.old.contents), (self.new.program, self.new.contents)
        texts = [draft_text(program, style, spell=partial(_digest, contents)) for program, contents in sides]
        yield from _aligned(*[text.splitlines() for text in texts])

    def lines(self) -> Iterator[Line]:
        """Yield the lines of both texts; meanwhile the old Program's values have their names in the new one."""
        self._name(self.old.known_as)
        try:
            yield from self._lines()
        finally:
            self._name(self.old.names)

    def _name(self, names: Sequence[str]) -> None:
        """Give all values of the old Program's paired functions their names."""
        for pair in self.pairs:
            if pair.old and pair.new:
                _name_each(pair.old.function.inputs, pair.old.inputs.inputs, names)
                for region in pair.old.blocks.values():
                    _rename(region, names)

    def _lines(self) -> Iterator[Line]:
        old, new, page = self.old.program, self.new.program, self._page
        yield from _either([page.head(old)], [page.head(new)])
        before, now = [[page.attributes(each)] if each.attributes else [] for each in (old, new)]
        yield from _either(now if self.same_attributes else before, now)
        yield " ", "{"
        for pair in self.pairs:
            yield from self._function(pair)
        yield " ", "}"

    # ---- functions, blocks and operations

    def _function(self, pair: PairedFunction) -> Iterator[Line]:
        old, new = pair.old and pair.old.function, pair.new and pair.new.function
        if old and new and len(pair.blocks) == 1:
            shells = [self._page.function(pair.name, _shell(each)) for each in (old, new)]
            if len(shells[0]) == len(shells[1]) == 2:
                yield from self._around(shells, pair.blocks, OPERATION)
                return
        yield from _aligned(*[self._page.function(pair.name, each) if each else [] for each in (old, new)])

    def _around(self, shells: Sequence[Sequence[str]], blocks: Sequence[PairedBlock], indent: str) -> Iterator[Line]:
        """Yield the lines around blocks, and the blocks in their places."""
        left = iter(blocks)
        for before, now in zip(*shells, strict=True):
            yield from _either([before], [now])
            if now.endswith("{"):
                yield from self._block(next(left), indent)

    def _block(self, pair: PairedBlock, indent: str) -> Iterator[Line]:
        for a, b in pair.steps():
            if a and b and b.index in pair.inner:
                yield from self._nest(a, b, pair.inner[b.index], indent)
            elif a and b and b not in self.different:
                yield from ((" ", line) for line in self._page.operation(b.operation, indent))
            else:
                yield from self._sides(a, b, indent)

    def _nest(self, a: Node, b: Node, inner: Sequence[PairedBlock], indent: str) -> Iterator[Line]:
        """Yield two operations with inner blocks."""
        if not all(pair.old and pair.new for pair in inner):
            yield from _aligned(*[self._page.operation(each.operation, indent) for each in (a, b)])
            return
        before, now = [self._page.operation(_shell(each.operation), indent) for each in (a, b)]
        head = before[:1] if b in self.different else now[:1]
        yield from self._around([head + before[1:], now], inner, indent + " " * 8)

    def _sides(self, a: Node | None, b: Node | None, indent: str) -> Iterator[Line]:
        """Yield two operations that differ, or one that has no partner at this place."""
        for sign, node, graph in (("-", a, self.old), ("+", b, self.new)):
            if node:
                *lines, last = self._page.operation(node.operation, indent)
                digests = _digests(node, graph) if a and b else []
                yield from ((sign, line) for line in [*lines, f"{last} // {', '.join(digests)}" if digests else last])


def _rename(region: Region, names: Sequence[str]) -> None:
    block = region.block
    _name_each(block.inputs, region.inputs, names)
    for node in region.nodes:
        inputs, numbers = node.operation.inputs, iter(node.operands)
        for binding in [each for key in sorted(inputs) for each in inputs[key].arguments]:
            if binding.HasField("name"):
                binding.name = names[next(numbers)]
        for inner in node.blocks:
            _rename(inner, names)
        _name_each(node.operation.outputs, node.values, names)
    block.outputs[:] = [names[value] for value in region.outputs]


def _name_each(named: Iterable[NamedValueType], values: Sequence[int], names: Sequence[str]) -> None:
    for each, value in zip(named, values, strict=True):
        each.name = names[value]


def _digest(contents: Contents, value: Value) -> str | None:
    """Return the spelling of a weight in a draft; None of one that cannot be read."""
    blob = contents.blob(value)
    return digest_text(blob) if blob else None


def _digests(node: Node, graph: Graph) -> list[str]:
    """Return the digests of an operation's weights, shortened."""
    if not node.weighty:
        return []
    bound = [each for values in arguments(node).values() for each in values]
    values = [each for each in [*bound, *node.operation.attributes.values()] if isinstance(each, Value)]
    return [f"sha256:{blob.digest()[:DIGITS]}" for each in values if (blob := graph.contents.blob(each))]


def _shell(message: Shell) -> Shell:
    """Return a function or operation without the operations in its blocks."""
    shell = deepcopy(message)
    for block in shell.block_specializations.values() if isinstance(shell, Function) else shell.blocks:
        del block.operations[:]
    return shell


def _either(before: Sequence[str], now: Sequence[str]) -> Iterator[Line]:
    """Yield lines that are the same once, others as removed and added."""
    if before == now:
        yield from ((" ", line) for line in now)
    else:
        yield from (("-", line) for line in before)
        yield from (("+", line) for line in now)


def _aligned(before: Sequence[str], now: Sequence[str]) -> Iterator[Line]:
    """Yield lines without a structure, lined up as text."""
    for i, j in merged(common(before, now), len(before), len(now)):
        yield ("+", now[j]) if i is None and j is not None else ("-" if j is None else " ", before[i or 0])


def hunks(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the lines near changes, under heads with their numbers."""
    old = new = 1
    done = 0
    for start, stop in _stretches(lines):
        old, new = old + start - done, new + start - done
        signs = [sign for sign, _ in lines[start:stop]]
        counts = len(signs) - signs.count("+"), len(signs) - signs.count("-")
        yield f"@@ -{_range(old, counts[0])} +{_range(new, counts[1])} @@"
        yield from (sign + text for sign, text in lines[start:stop])
        old, new, done = old + counts[0], new + counts[1], stop


def _stretches(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines that have changes, with their context."""
    changed = [place for place, (sign, _) in enumerate(lines) if sign != " "]
    start = max(0, changed[0] - CONTEXT) if changed else 0
    for place, following in zip_longest(changed, changed[1:], fillvalue=len(lines) + 2 * CONTEXT + 1):
        if following - place > 2 * CONTEXT + 1:
            yield start, min(len(lines), place + 1 + CONTEXT)
            start = following - CONTEXT


def _range(first: int, count: int) -> str:
    return f"{first}" if count == 1 else f"{first if count else first - 1},{count}"


def render_unified(difference: Difference, lines: Iterable[Line], *, are_renamed: bool) -> str:
    """Return the lines that differ, with their context, after all that has no line in a program.

    What was renamed is told where the lines `are_renamed`: the old ones have the new names.
    """
    said = [*difference.notes, *([VERDICTS[None]] if difference.same is None else [])]
    told = [change for change in difference.changes if change.kind not in _WITH_LINES]
    said += [change_text(change, with_kind=True) for change in told]
    for function in difference.functions if are_renamed else ():
        if function.name != function.old_name:
            said.append(f"renamed: {function.old_name} -> {function.name} (function)")
        blocks = [each for block in function.blocks for each in block.walk()]
        renamed = [*function.renamed, *(rename for block in blocks for rename in block.renamed)]
        said += [f"renamed: {rename_text(rename)}" for rename in told_renames(renamed)]
    said += [f"{model.status}: model {model_title(model)}" for model in difference.models if not model.difference]
    shown = [f"# {line}" for line in said]
    found = list(hunks([*lines]))
    heads = [f"--- {difference.old}", f"+++ {difference.new}"] if found else []
    return "".join(f"{line}\n" for line in [*shown, *heads, *found])
