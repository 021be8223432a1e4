"""Division of a block's operations into nested scopes: by the beginnings of names, and where few values cross.

The names of operations reveal little if a converter numbers them (`var_304_cast_fp16`), but the names of their weights
reveal much (`encoder_layers_0_self_attn_linear_q_weight`): the scope of an operation is the beginning of that name
among these whose beginning is the most frequent. A scope is a stretch of operations, including the ones between without
a meaningful name, but none whose name is in another scope.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import ceil, log
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.printing.reading import TextPart

MOST = 32
"""The greatest number of nodes in a scope, without constants."""

FEW = 8
"""The greatest number of inputs, outputs, functions or blocks that a part shows without a scope for them."""

_ENDS = frozenset((*BY_NAME, "cast", "palettized", "promoted", "quantized", "to"))
"""Words that converters end a name with: the words before them reveal the origin of a value."""

_SHARE = 10
"""A word begins scopes only if, from its first to its last place, at least one in this number of operations has it."""

_DEEPEST = 24
"""The greatest number of words of a name for scopes."""

_WORD = re.compile(r"[^_./@]+")


@dataclass(slots=True)
class GraphNode:
    """A node of the graph: a part of the text or, without one, a scope; `number` is its place in `graph.nodes`."""

    kind: str
    label: str
    line: int
    part: TextPart | None = None
    inside: list[GraphNode] = field(default_factory=list)
    number: int = -1


class NamePath(NamedTuple):
    """The first words of a name, all but the last, and the name."""

    words: tuple[str, ...]
    name: str

    def label(self, depth: int) -> str:
        """Return the spelling of the first words of the name."""
        ends = [match.end() for match in _WORD.finditer(self.name)]
        return self.name[: ends[depth - 1]]


NOWHERE = NamePath((), "")


class OperationRun(NamedTuple):
    """The operations from `start` to before `end`, whose paths continue with one word; "" if they are in no scope."""

    word: str
    start: int
    end: int


def paths_of(names: Sequence[str]) -> list[NamePath]:
    """Return the paths of an operation's names, its own first: `a.b.weight_to_fp16` is in `a` and `b`.

    `input_37_cast_fp16` and `var_85_cast_fp16_0` have no path, and a constant's name that begins with the operation's
    own adds none.
    """
    found: list[NamePath] = []
    own: list[str] = []
    for spelled in names:
        name = spelled.removeprefix("$").strip('"')
        words = _WORD.findall(name)
        while words and (words[-1] in _ENDS or (words[-1].isdigit() and words[-2:-1] and words[-2] in _ENDS)):
            words.pop()
        if found and words[: len(own)] == own:
            continue
        own = own or words
        while words and words[-1].isdigit():
            words = words[:-1]
        found.append(NamePath(tuple(words[:-1][:_DEEPEST]), name))
    return found


def best_paths(names: Sequence[Sequence[str]]) -> list[NamePath]:
    """Return the path of each operation: the path with the most frequent beginning among its own and its constants'
    names.
    """
    found = [[path for path in paths_of(each) if path.words] for each in names]
    counts = Counter(word for paths in found for word in {path.words[0] for path in paths})
    return [max(paths, key=lambda path: (counts[path.words[0]], len(path.words)), default=NOWHERE) for paths in found]


def scopes(nodes: Sequence[GraphNode], names: Sequence[Sequence[str]], crossing: Sequence[int]) -> list[GraphNode]:
    """Return a block's operations in scopes; `names` are the names for each, and `crossing` counts the values that
    cross before each.
    """
    division = _Division(nodes, best_paths(names), crossing)
    return division.divided(0, len(nodes), (), division.runs(0, len(nodes), ()))


def folded(nodes: list[GraphNode]) -> list[GraphNode]:
    """Return nodes other than operations: unchanged if they are few, otherwise in a scope."""
    if len(nodes) <= FEW:
        return nodes
    return [_gather(scopes(nodes, [()] * len(nodes), [0] * len(nodes)))]


class _Division:
    """The operations of a block, as `scopes` gets them."""

    def __init__(self, nodes: Sequence[GraphNode], paths: Sequence[NamePath], crossing: Sequence[int]) -> None:
        self._nodes = nodes
        self._paths = paths
        self._crossing = crossing

    def divided(self, start: int, end: int, prefix: tuple[str, ...], runs: list[OperationRun]) -> list[GraphNode]:
        """Return the nodes of a range, with a scope for each of its runs."""
        found: list[GraphNode] = []
        places: list[int] = []
        at = start
        for run in runs:
            places += [*range(at, run.start), run.start]
            found += [*self._nodes[at : run.start], self._scope(run, (*prefix, run.word))]
            at = run.end
        found += self._nodes[at:end]
        places += range(at, end)
        return self._gathered(found, places)

    def _scope(self, run: OperationRun, prefix: tuple[str, ...]) -> GraphNode:
        """Return the scope of a run, under its longest common prefix."""
        while len(runs := self.runs(run.start, run.end, prefix)) == 1 and runs[0][1:] == run[1:]:
            prefix += (runs[0].word,)
        path = next(path for path in self._paths[run.start : run.end] if path.words[: len(prefix)] == prefix)
        inside = self.divided(run.start, run.end, prefix, runs)
        return GraphNode("scope", path.label(len(prefix)), inside[0].line, None, inside)

    def runs(self, start: int, end: int, prefix: tuple[str, ...]) -> list[OperationRun]:
        """Return the runs of a stretch; the operations between two of them join them if they are few beside them.

        In a scope, so do the operations at its ends, and its own operations divide the runs.
        """
        depth = len(prefix)
        words = [
            (place, path.words[depth] if len(path.words) > depth else "")
            for place, path in enumerate(self._paths[start:end], start)
            if path.words and path.words[:depth] == prefix
        ]
        runs = _runs_of(words if prefix else _dense(words))
        for index in range(1, len(runs)):
            before, after = runs[index - 1], runs[index]
            if _is_little(after.start - before.end, before, after):
                cut = min(range(after.start, before.end - 1, -1), key=self._crossing.__getitem__)
                runs[index - 1], runs[index] = before._replace(end=cut), after._replace(start=cut)
        if prefix and runs:
            if _is_little(runs[0].start - start, runs[0]):
                runs[0] = runs[0]._replace(start=start)
            if _is_little(end - runs[-1].end, runs[-1]):
                runs[-1] = runs[-1]._replace(end=end)
        return [run for run in runs if run.word]

    def _gathered(self, nodes: list[GraphNode], places: list[int]) -> list[GraphNode]:
        """Return at most MOST nodes: if there are more, neighbours without a scope get one.

        If there still are more, all do. `places` are their first operations.
        """
        if len(nodes) > MOST and any(node.kind == "scope" for node in nodes):
            starts = [0, *[at for at in range(1, len(nodes)) if "scope" in (nodes[at].kind, nodes[at - 1].kind)]]
            stretches = [slice(start, end) for start, end in pairwise([*starts, len(nodes)])]
            nodes = [_gather(self._cut(nodes[each], places[each])) for each in stretches]
            places = [places[start] for start in starts]
        return self._cut(nodes, places)

    def _cut(self, nodes: list[GraphNode], places: list[int]) -> list[GraphNode]:
        """Return at most MOST nodes: longer lists are cut into scopes, and the list of these scopes again."""
        while len(nodes) > MOST:
            size = ceil(len(nodes) ** (1 / ceil(log(len(nodes), MOST))))
            cuts = self._cuts(places, size)
            nodes = [_gather(nodes[start:end]) for start, end in pairwise([*cuts, len(nodes)])]
            places = [places[cut] for cut in cuts]
        return nodes

    def _cuts(self, places: list[int], size: int) -> list[int]:
        """Return the beginnings of scopes of about `size` nodes, where the fewest values cross."""
        cuts = [0]
        while len(places) - cuts[-1] > size * 3 // 2:
            last = cuts[-1]
            around = range(last + max(2, size // 2), min(last + size * 3 // 2, last + MOST, len(places) - 1))
            cuts.append(min(around, key=lambda at: (self._crossing[places[at]], abs(at - last - size))))
        return cuts


def _is_little(gap: int, *runs: OperationRun) -> bool:
    """Return whether a gap is no more than half as long as either run beside it, or one operation."""
    return any(2 * gap <= max(2, run.end - run.start) for run in runs)


def _gather(nodes: list[GraphNode]) -> GraphNode:
    """Return a scope of nodes, or the only one."""
    return GraphNode("scope", "", nodes[0].line, None, nodes) if len(nodes) > 1 else nodes[0]


def _dense(words: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the places of dense words: found often between their first place and their last, and twice in a row.

    Other words at the beginning of names reveal no scope: converters number them, as in `var_304`.
    """
    counts = Counter(word for _, word in words)
    first = {word: place for place, word in reversed(words)}
    last = {word: place for place, word in words}
    dense = [each for each in words if counts[each[1]] * _SHARE > last[each[1]] - first[each[1]]]
    lasting = {one[1] for one, other in pairwise(dense) if one[1] == other[1]}
    return [each for each in dense if each[1] in lasting]


def _runs_of(words: list[tuple[int, str]]) -> list[OperationRun]:
    """Return the runs of equal words; those without a word only divide the others.

    A word alone makes a run if it is a number among numbers with runs: `model_7` is beside `model_6` and `model_8`.
    """
    found = [(word, [place for place, _ in each]) for word, each in groupby(words, key=itemgetter(1))]
    lasting = {word for word, places in found if len(places) > 1}
    is_numbered = any(map(str.isdigit, lasting))
    return [
        OperationRun(
            word if len(places) > 1 or (is_numbered and word.isdigit()) else "",
            places[0],
            places[-1] + 1,
        )
        for word, places in found
    ]
