"""What miltext sets out to reach, and whether a run shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchmarks.measure import Result, Spread

Figure = Callable[["Result"], "Spread | None"]


class Reach(NamedTuple):
    """A figure of a contest that should be at least, or at most, `limit`; `issue` is where that was written down.

    `cold` is the figure that counts, `warm` the one with miltext's caches full, where there is one.
    """

    issue: str
    what: str
    at_least: bool
    limit: float
    unit: str
    contest: str
    cold: Figure
    warm: Figure | None = None

    def holds(self, figure: Spread) -> bool:
        """Whether the median is on the right side."""
        return figure.median >= self.limit if self.at_least else figure.median <= self.limit


def ratio(over: str, under: str) -> Figure:
    """What one contender costs, set against another."""
    return lambda result: result.ratio(over, under)


def converted(name: str, convert: Callable[[float], float]) -> Figure:
    """What one contender costs, in another unit."""

    def figure(result: Result) -> Spread | None:
        cost = result.cost(name)
        if cost is None:
            return None
        low, high = sorted((convert(cost.low), convert(cost.high)))
        return cost._replace(median=convert(cost.median), low=low, high=high)

    return figure


PARSE, PRINT, FORMAT, WARM = "miltext.parse", "miltext.to_text", "miltext.format_text", ", warm"
CHECK, CHECK_TEXT = "miltext.check, a Program", "miltext.check, a text"
TEXT_PARSE, TEXT_PRINT = "text_format.Parse", "text_format.MessageToString"
SERVER = "language server"
TOOLS, ONNX = "coremltools, proto to pymil", "onnx.parser (C++)"


def _times(issue: str, what: str, limit: float, contest: str, peer: str, own: str) -> Reach:
    """How many times as fast as a peer miltext is."""
    return Reach(issue, what, True, limit, "x", contest, ratio(peer, own), ratio(peer, own + WARM))


def _at_most(issue: str, what: str, limit: float, contest: str, own: str, other: str) -> Reach:
    """How much miltext takes, set against something else."""
    return Reach(issue, what, False, limit, "x", contest, ratio(own, other))


def _millions(what: str, contest: str, own: str) -> Reach:
    figures = [converted(name, lambda cost: 1e-6 / cost) for name in (own, own + WARM)]
    return Reach("7", what, True, 3, " M/s", contest, *figures)


REACHES = [
    _times("7", "parse, against `text_format.Parse`", 12, "pair: parse", TEXT_PARSE, PARSE),
    _times("7", "parse, against coremltools' loader (proto to pymil)", 5, "pair: parse", TOOLS, PARSE),
    _times("7", "parse, bytes/s against onnx.parser, short names", 0.2, "neighbours, short names: parse", ONNX, PARSE),
    _times("7", "parse, bytes/s against onnx.parser, long names", 0.2, "neighbours, long names: parse", ONNX, PARSE),
    _times("7", "print, against `text_format.MessageToString`", 12, "pair: print", TEXT_PRINT, PRINT),
    _at_most("7", "`format_text`, against parse", 1.5, "pair: format", FORMAT, PARSE),
    _at_most(
        "7", "parse, an operation of 50 k against one of 5 k", 1.15, "cost of an operation: parse", "50,000", "5,000"
    ),
    _at_most(
        "7", "print, an operation of 50 k against one of 5 k", 1.15, "cost of an operation: print", "50,000", "5,000"
    ),
    _millions("1 M-element fp16 literal, parse", "1 M fp16: parse", PARSE),
    _millions("1 M-element fp16 literal, print", "1 M fp16: print", PRINT),
    _at_most("7", "memory while parsing, against the text's size", 3, "pair: memory", PARSE, "the text"),
    _at_most("7", "`miltext print`, against importing protobuf", 2, "start-up", "miltext print", "python, protobuf"),
    _times("4", "check a Program, against `text_format.Parse`", 3, "pair: check", TEXT_PARSE, CHECK),
    _times("4", "check a text, against `text_format.Parse`", 3, "pair: check", TEXT_PARSE, CHECK_TEXT),
    _times("2", "parse, against `text_format.Parse`", 5, "pair: parse", TEXT_PARSE, PARSE),
    _times("2", "print, against `text_format.MessageToString`", 6, "pair: print", TEXT_PRINT, PRINT),
    _at_most("6", "from open to diagnostics, against check", 3, SERVER, "open to diagnostics", "miltext.check"),
    _at_most("6", "completing a value, against check", 0.1, SERVER, "complete a value", "miltext.check"),
    _at_most("6", "completing an operation, against check", 0.1, SERVER, "complete an operation", "miltext.check"),
    _at_most("6", "hovering over a value, against check", 0.1, SERVER, "hover, a value", "miltext.check"),
    Reach(
        "2",
        "memory while parsing a 1 M-element literal, beyond text and Program",
        False,
        100,
        " MB",
        "1 M fp16: memory",
        converted(PARSE, lambda cost: cost * 1e-6),
    ),
]
"""The tables of issues 7, 4, 6 and 2."""
