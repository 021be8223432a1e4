"""The symbols of a document: its functions, in these the scopes of operations, and operations by their outputs.

Scopes are those of the graph of a page, which the outline shows too. A symbol is a stretch of the text, so a constant
before the operations of a scope belongs to it if its first user does; elsewhere it stays in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.printing.graph import nodes
from miltext.printing.reading import TextReader
from miltext.scopes.families import TIMES, family, relative, spread
from miltext.scopes.outline import listed_types
from miltext.scopes.scopes import types_in, without_neighbours
from miltext.syntax import phrases
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.phrases import Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from miltext.lsp.documents import View
    from miltext.printing.graph_scopes import GraphNode
    from miltext.syntax.tree import Node


def symbols(view: View, _: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    """Return the functions, in each its scopes and operations, and in these the operations of their blocks.

    Scopes of one family that follow one another are in a symbol for all of them, with their number.
    """
    with gc_paused:
        return symbols_in(view.reading.root, view.range, _scoped(view))


def _scoped(view: View) -> dict[int, GraphNode]:
    """Return the nodes of functions and blocks by the identity of their phrases, as `symbols_in` takes them; none if
    blocks are nested too deep for a graph.
    """
    try:
        numbered = nodes(TextReader(view.text, view.reading.root, scopes=view.scopes))
    except RecursionError:
        return {}
    return {id(node.part.phrase): node for _, node in numbered if node.part is not None}


def symbols_in(
    root: Node, place: Callable[[int, int], lsp.Range], scoped: Mapping[int, GraphNode] | None = None
) -> list[lsp.DocumentSymbol]:
    """Return the symbols of a tree; `place` returns the range of a span of its text.

    `scoped` are the nodes of functions and blocks, by the identity of their phrases, whose operations are in scopes.
    """
    return [_Symbols(place, scoped or {}).function(function) for function in phrases.functions(root)]


class _Symbols:
    """The symbols of a text; arguments are those of `symbols_in`."""

    def __init__(self, place: Callable[[int, int], lsp.Range], scoped: Mapping[int, GraphNode]) -> None:
        self._place = place
        self._scoped = scoped

    def function(self, function: Node) -> lsp.DocumentSymbol:
        inside: list[lsp.DocumentSymbol] = []
        for body in phrases.bodies(function):
            inside += self._block(body, body if id(body) in self._scoped else function)
        opset = phrases.opset_name(function) or None
        return self._symbol(function, phrases.made(function), lsp.SymbolKind.Function, opset, inside)

    def _block(self, body: Node, around: Node) -> list[lsp.DocumentSymbol]:
        """Return the operations of a block, in the scopes of the node of `around`."""
        operations = [*phrases.operations(phrases.block(body))]
        found = [self._operation(each) for each in operations]
        node = self._scoped.get(id(around))
        return _ScopedSymbols([each.start for each in operations], found).divided(node.inside) if node else found

    def _operation(self, operation: Node) -> lsp.DocumentSymbol:
        detail, made = phrases.name_in(operation), phrases.made(operation)
        inside = [each for inner in phrases.inner_blocks(operation) for each in self._block(inner, inner)]
        if made:
            kind = lsp.SymbolKind.Constant if detail == "const" else lsp.SymbolKind.Variable
            return self._symbol(operation, made, kind, detail, inside)
        token = phrases.name_token(operation)
        named = [Name.of(token)] if token else []
        return self._symbol(operation, named, lsp.SymbolKind.Event, detail or None, inside)

    def _symbol(
        self,
        phrase: Node,
        names: list[Name],
        kind: lsp.SymbolKind,
        detail: str | None,
        inside: list[lsp.DocumentSymbol],
    ) -> lsp.DocumentSymbol:
        """Return a symbol with the first name; the protocol requires a nonempty name, at a place inside the symbol."""
        name = next(iter(names), None)
        is_inside = name is not None and phrase.start <= name.start <= name.end <= phrase.end
        whole, chosen = (self._place(each.start, each.end) for each in (phrase, name if name and is_inside else phrase))
        return lsp.DocumentSymbol(
            name.text if name and name.text else "?", kind, whole, chosen, detail, children=inside or None
        )


# ---- scopes


@dataclass(slots=True)
class _Stretch:
    """A scope as a stretch of operations: its label, its `first` operation in the text, which may be a constant, and
    its last one, the types of its operations, and the scopes inside.
    """

    label: str
    first: int
    last: int
    types: Counter[str]
    inside: list[_Stretch]


class _ScopedSymbols:
    """A block's operations in scopes; `starts` are their places in the text, and `symbols` their symbols."""

    def __init__(self, starts: Sequence[int], symbols: Sequence[lsp.DocumentSymbol]) -> None:
        self._numbers = {start: number for number, start in enumerate(starts)}
        self._symbols = symbols

    def divided(self, nodes: Iterable[GraphNode]) -> list[lsp.DocumentSymbol]:
        """Return the symbols, those of operations in scopes in the symbols of these."""
        return [*self._range(0, len(self._symbols), self._stretches(without_neighbours(nodes), ""))]

    def _stretches(self, nodes: Iterable[GraphNode], around: str) -> list[_Stretch]:
        """Return the scopes among nodes in the scope with the label `around`."""
        scopes = (node for node in nodes if node.kind == "scope")
        return [found for node in scopes if (found := self._stretch(node, around))]

    def _stretch(self, node: GraphNode, around: str) -> _Stretch | None:
        """Return a scope with the constants before it that belong to it; None if all its operations are in others."""
        found = {kind: {*self._places(node, kind)} for kind in ("op", "const")}
        if not found["op"]:
            return None
        first, last = min(found["op"]), max(found["op"])
        while first - 1 in found["const"]:
            first -= 1
        label = relative(node.label, around)
        return _Stretch(label, first, last, Counter(types_in(node)), self._stretches(node.inside, node.label))

    def _places(self, node: GraphNode, kind: str) -> Iterator[int]:
        """Yield the numbers of the operations of a kind in a scope, without those inside others."""
        for inner in node.inside:
            if inner.kind == "scope":
                yield from self._places(inner, kind)
            elif inner.kind == kind and inner.part is not None and inner.part.phrase is not None:
                number = self._numbers.get(inner.part.phrase.start)
                if number is not None:
                    yield number

    def _range(self, start: int, end: int, stretches: Sequence[_Stretch]) -> Iterator[lsp.DocumentSymbol]:
        """Yield the symbols of a range of operations with these scopes."""
        for alike in self._repeats(stretches):
            yield from self._symbols[start : alike[0].first]
            yield self._repeated(alike) if len(alike) > 1 else self._scope(alike[0])
            start = alike[-1].last + 1
        yield from self._symbols[start:end]

    def _repeats(self, stretches: Sequence[_Stretch]) -> list[list[_Stretch]]:
        """Return the scopes of one family that have only constants between them."""
        found: list[list[_Stretch]] = []
        for each in stretches:
            last = found[-1][-1] if found else None
            if last and family(last.label) == family(each.label) and self._are_constants(last.last + 1, each.first):
                found[-1].append(each)
            else:
                found.append([each])
        return found

    def _are_constants(self, start: int, end: int) -> bool:
        return all(symbol.kind == lsp.SymbolKind.Constant for symbol in self._symbols[start:end])

    def _scope(self, scope: _Stretch) -> lsp.DocumentSymbol:
        inside = [*self._range(scope.first, scope.last + 1, scope.inside)]
        return _around(scope.label, listed_types(scope.types, 1).removeprefix(": "), inside)

    def _repeated(self, alike: Sequence[_Stretch]) -> lsp.DocumentSymbol:
        """Return one symbol of several scopes of a family."""
        types = sum((each.types for each in alike), Counter[str]())
        label = spread([each.label for each in alike])
        inside: list[lsp.DocumentSymbol] = []
        start = alike[0].first
        for each in alike:
            inside += [*self._symbols[start : each.first], self._scope(each)]
            start = each.last + 1
        return _around(label, f"{TIMES}{len(alike)}{listed_types(types, len(alike))}", inside)


def _around(name: str, detail: str, inside: list[lsp.DocumentSymbol]) -> lsp.DocumentSymbol:
    """Return the symbol of a scope, which is chosen at the first name in it."""
    whole = lsp.Range(inside[0].range.start, inside[-1].range.end)
    return lsp.DocumentSymbol(name, lsp.SymbolKind.Namespace, whole, inside[0].selection_range, detail, children=inside)
