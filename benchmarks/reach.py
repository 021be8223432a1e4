"""The figures that miltext sets out to reach, and whether a run shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.building import BUILD, OPERATIONS, UNCHECKED, named
from benchmarks.converted import CHECK_PROGRAM, CHECK_TEXT, NETWORKS
from benchmarks.converted import named as checked
from benchmarks.evaluation import BOUND, CONVERTED, FP16, FP32, MILTEXT, SMALL, TORCH

if TYPE_CHECKING:
    from benchmarks.measure import Result, Spread

Figure = Callable[["Result"], "Spread | None"]


class Reach(NamedTuple):
    """A figure of a contest that should be at least, or at most, `limit`.

    `cold` is the figure that counts, `warm` the one with miltext's caches full, if there is one.
    """

    what: str
    at_least: bool
    limit: float
    unit: str
    contest: str
    cold: Figure
    warm: Figure | None = None

    def holds(self, figure: Spread) -> bool:
        """Return whether the median is on the right side of the limit."""
        return figure.median >= self.limit if self.at_least else figure.median <= self.limit


def ratio(over: str, under: str) -> Figure:
    """Divide what one contender costs by what another costs."""
    return lambda result: result.ratio(over, under)


def converted(name: str, convert: Callable[[float], float]) -> Figure:
    """Convert what one contender costs to another unit."""

    def figure(result: Result) -> Spread | None:
        cost = result.cost(name)
        if cost is None:
            return None
        low, high = sorted((convert(cost.low), convert(cost.high)))
        return cost._replace(median=convert(cost.median), low=low, high=high)

    return figure


PARSE, PRINT, FORMAT, WARM = "miltext.parse", "miltext.to_text", "miltext.format_text", ", warm"
CHECK = "miltext.check"
TEXT_PARSE, TEXT_PRINT = "text_format.Parse", "text_format.MessageToString"
TOOLS, ONNX = "coremltools, proto to pymil", "onnx.parser (C++)"
PROTOBUF, SERVER = "python, protobuf", "language server"


def _times(what: str, limit: float, contest: str, peer: str, own: str) -> Reach:
    """Ask that miltext is that many times as fast as a peer."""
    return Reach(what, True, limit, "x", contest, ratio(peer, own), ratio(peer, own + WARM))


def _at_most(what: str, limit: float, contest: str, own: str, other: str) -> Reach:
    """Ask that miltext takes at most that many times what something else takes."""
    return Reach(what, False, limit, "x", contest, ratio(own, other))


def _check(network: str, kind: str, own: str) -> Reach:
    """Ask that a check of a converted network takes at most three times what parsing it takes."""
    cold, warm = ratio(own, PARSE), ratio(own + WARM, PARSE + WARM)
    return Reach(f"check a {kind} of {network}, against parse", False, 3, "x", checked(network), cold, warm)


def _millions(what: str, limit: float, contest: str, own: str) -> Reach:
    """Ask for that many millions a second."""
    figures = [converted(name, lambda cost: 1e-6 / cost) for name in (own, own + WARM)]
    return Reach(what, True, limit, " M/s", contest, *figures)


def _seconds(what: str, limit: float, contest: str, own: str) -> Reach:
    """Ask for at most that many seconds."""
    return Reach(what, False, limit, " s", contest, converted(own, lambda cost: cost))


def _megabytes(what: str, limit: float, contest: str, own: str) -> Reach:
    """Ask for at most that many megabytes."""
    return Reach(what, False, limit, " MB", contest, converted(own, lambda cost: cost * 1e-6))


REACHES = [
    _times("parse, against `text_format.Parse`", 24, "pair: parse", TEXT_PARSE, PARSE),
    _times("parse, against coremltools' loader (proto to pymil)", 5, "pair: parse", TOOLS, PARSE),
    _times("parse, bytes/s against onnx.parser, short names", 0.22, "neighbours, short names: parse", ONNX, PARSE),
    _times("parse, bytes/s against onnx.parser, long names", 0.22, "neighbours, long names: parse", ONNX, PARSE),
    _times("parse small hand-written texts, against `text_format.Parse`", 15, "hand-written: parse", TEXT_PARSE, PARSE),
    _times("print, against `text_format.MessageToString`", 12, "pair: print", TEXT_PRINT, PRINT),
    _at_most("`format_text`, against parse", 1.2, "pair: format", FORMAT, PARSE),
    _at_most("check a Program, against parse", 3, "pair: check", CHECK_PROGRAM, PARSE),
    _at_most("check a text, against parse", 3, "pair: check", CHECK_TEXT, PARSE),
    *(_check(each, kind, own) for each in NETWORKS for kind, own in (("Program", CHECK_PROGRAM), ("text", CHECK_TEXT))),
    *(
        _at_most(f"build, {each:,} operations, 300 MB, against no check", 1.5, named(each), BUILD, UNCHECKED)
        for each in OPERATIONS
    ),
    _at_most("parse, an operation of 50 k against one of 5 k", 1.15, "cost of an operation: parse", "50,000", "5,000"),
    _at_most("print, an operation of 50 k against one of 5 k", 1.15, "cost of an operation: print", "50,000", "5,000"),
    _millions("1 M-element fp16 literal, parse", 3, "1 M fp16: parse", PARSE),
    _millions("1 M-element fp16 literal, print", 3, "1 M fp16: print", PRINT),
    _millions("1 M-element fp32 literal, print", 4, "1 M fp32: print", PRINT),
    _at_most("memory while parsing, against the text's size", 3, "pair: memory", PARSE, "the text"),
    _megabytes("memory while parsing a 1 M-element literal, beyond text and Program", 100, "1 M fp16: memory", PARSE),
    _at_most(
        "`miltext print` of a small package, against importing protobuf", 2, "start-up", "miltext print", PROTOBUF
    ),
    _at_most("`miltext parse` of a small text, against importing protobuf", 1.5, "start-up", "miltext parse", PROTOBUF),
    _at_most("from open to diagnostics, against check", 3, SERVER, "open to diagnostics", CHECK),
    _seconds(
        "from an edit in 25 kB to diagnostics, while typing goes on", 0.5, "typing", "edit of 25 kB to diagnostics"
    ),
    _seconds(
        "from an edit in 600 kB to diagnostics, while typing goes on", 2, "typing", "edit of 600 kB to diagnostics"
    ),
    _at_most("completing a value, against check", 0.1, SERVER, "complete a value", CHECK),
    _at_most("completing an operation, against check", 0.1, SERVER, "complete an operation", CHECK),
    _at_most("hovering over a value, against check", 0.1, SERVER, "hover, a value", CHECK),
    *(_at_most(f"run {each}, against torch on one thread", 5, f"{each}: run", MILTEXT, TORCH) for each in CONVERTED),
    *(
        _at_most(f"memory of running {each}, against {BOUND}", 1, f"{each}: memory", MILTEXT, BOUND)
        for each in CONVERTED
    ),
    *(
        _at_most(f"run {name}, against torch on one thread", limit, f"{name}: run", MILTEXT, TORCH)
        for name, (_, limit) in SMALL.items()
    ),
    *(_at_most(f"run {name} in fp16, against fp32", 2.5, f"{name}: precisions", FP16, FP32) for name in SMALL),
]
"""Every figure that was set out to be reached; of two for the same thing, the stricter."""
