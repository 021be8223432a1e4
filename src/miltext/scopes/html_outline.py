"""The outline of a text for its HTML page: rows of scopes, which unfold, with links to their lines.

A link has the number of its node in the graph of the page as `data-node`. Rows unfold and links lead without scripts.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.scopes.outline import OutlineScope, opened_scopes, outline_of_nodes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from miltext.printing.graph_scopes import GraphNode

SHOWN = 36
"""The rows that are unfolded at first, unless there are more functions or outermost scopes: about a screen, with rows
for the places of repeated scopes.
"""


def outline_html(nodes: Iterable[GraphNode]) -> str:
    """Return the rows of the outermost nodes of a graph; empty without functions."""
    functions = outline_of_nodes(nodes)
    opened = opened_scopes(functions, SHOWN)
    rows = (_row(each.signature, each.words(each.scope in opened), each.scope, opened) for each in functions)
    return "".join(piece for row in rows for piece in row)


def _row(label: str, words: str, scope: OutlineScope, opened: Collection[OutlineScope]) -> Iterator[str]:
    """Yield a row: a link to the place of a scope without others, or a row that unfolds, with the scopes inside and,
    for a repeated scope, links to its places.
    """
    words = escape(words, quote=False)
    is_single = len(scope.places) == 1
    if is_single and not scope.inside:
        yield f"<p>{_link(scope.places[0], label)}{words}</p>\n"
        return
    line = f" {_line_link(scope.places[0])}" if is_single else ""
    is_open = " open" if scope in opened else ""
    yield f"<details{is_open}><summary><b>{escape(label, quote=False)}</b>{words}{line}</summary>\n"
    for each in scope.rows:
        yield from _row(each.label, each.words, each, opened)
    if not is_single:
        yield _links(scope.places) if not scope.inside else _folded_links(scope.places)
    yield "</details>\n"


def _folded_links(places: list[GraphNode]) -> str:
    return f"<details><summary>{tally(len(places), 'scope')}</summary>\n{_links(places)}</details>\n"


def _links(places: list[GraphNode]) -> str:
    links = (_link(each, each.label) if each.kind == "scope" else _line_link(each) for each in places)
    return f"<p>{' '.join(links)}</p>\n"


def _line_link(node: GraphNode) -> str:
    return _link(node, f"line {node.line}")


def _link(node: GraphNode, words: str) -> str:
    return f'<a href="#L{node.line}" data-node="{node.number}">{escape(words, quote=False)}</a>'
