"""Search for the patterns of rules in models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.arguments import checked
from miltext.evaluation.subjects import opened
from miltext.ir.graph import Graph
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.packaged import patterns, rules_of
from miltext.rewriting.remembering import Memory
from miltext.rewriting.sites import Finder
from miltext.schema.types import spelled
from miltext.syntax.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.containers.sources import Source
    from miltext.evaluation.subjects import Subject
    from miltext.ir.parts import Op
    from miltext.rewriting.matching import Match
    from miltext.rewriting.operands import BoundValue
    from miltext.rewriting.packaged import Rules
    from miltext.rewriting.rule_files import RewriteRule


class FoundMatch(NamedTuple):
    """A match of a pattern: the function and the value of its last operation, the values of all of its operations, and
    the bound names: a value's name, or the type of a literal.
    """

    rule: str
    function: str
    value: str
    values: tuple[str, ...]
    names: dict[str, str]


@checked("weights")
def find(source: Source, rules: Rules, *, weights: str | os.PathLike[str] | None = None) -> list[FoundMatch]:
    """Return the matches of patterns in a program, pattern by pattern, in the order of the text.

    A match is not always a site for a replacement: its inner values may have other uses.

    Args:
        source: MIL text, a path, a Program or a Model.
        rules: The path or the text of a rule file, the name of a packaged file or rule, or several of these; rules need
            no replacements.
        weights: The folder of the weight files if it is not the model's own.

    Returns:
        The matches.

    Raises:
        ParseError: MIL870 for a mistake in a rule file, and the errors of a text.
        MiltextError: MIL873 for an unknown rule.
        ModelError: A model that cannot be read.

    Example:
        matches = miltext.find("Model.mlpackage", "softmax")
    """
    found = patterns(rules_of(rules))
    return found_in(opened(source, weights), found)


def found_in(subject: Subject, rules: Iterable[RewriteRule]) -> list[FoundMatch]:
    """Return the matches of patterns in a program."""
    with gc_paused:
        graph, contents = Graph(subject.program), ConstantContents(subject.folder)
        return [_as_found(*each) for each in matches(rules, graph, contents)]


def matches(
    rules: Iterable[RewriteRule], graph: Graph, contents: ConstantContents
) -> Iterator[tuple[RewriteRule, str, Op, Match]]:
    """Yield the matches of patterns in a graph: each with its rule, its function, and its last operation."""
    memory = Memory[None]()
    for rule in rules:
        for function in graph.functions.values():
            for opset, block in function.blocks.items():
                finder = Finder(rule, contents, opset)
                for op in memory.roots(rule, block):
                    match = finder.found(op)
                    if match is not None:
                        yield rule, function.name, op, match


def _as_found(rule: RewriteRule, function: str, root: Op, match: Match) -> FoundMatch:
    values = tuple(op.outputs[0].name for op in reversed([*match.ops.values()]) if op.outputs)
    names = {name: _spelled(match.bound[name]) for name in rule.pattern.inputs if name in match.bound}
    return FoundMatch(rule.name, function, root.outputs[0].name, values, names)


def _spelled(bound: BoundValue) -> str:
    """Return the name of a bound value, and the type of a literal; `default` and `none` for left out arguments."""
    if bound.operand is None:
        return "none"
    return getattr(bound.operand, "name", "") or (spelled(bound.type) if bound.given else "default")
