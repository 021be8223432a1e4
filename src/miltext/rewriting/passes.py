"""Passes: changes that need a whole function, which no pattern of a fixed number of operations can state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from miltext.diagnostics import Note
from miltext.diagnostics.arguments import checked
from miltext.rewriting.exactness import Exactness, domain_of

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.rule_files import RewriteRule


RuleFunction = TypeVar("RuleFunction", bound="Callable[..., object]")

UNWRITTEN = Note("nothing is written; correct the rule")


class Applied(NamedTuple):
    """The operations that a replacement removed and made, constants aside."""

    removed: list[Op]
    made: list[Op]


class RuleSite(NamedTuple):
    """A place where a rule in Python or a pass applies: an operation, the change, or the `reason` against it.

    The site has the name of the operation's first value. `change` is called without arguments and edits the graph.
    `others` are the further operations that the site consists of: a proof computes them all, before and after.
    """

    root: Op
    change: Callable[[], object]
    reason: str = ""
    others: Sequence[Op] = ()


@checked()
def rule(
    *,
    source: str = "",  # noqa: ARG001  # miltext reads it in the text
    purpose: str = "",  # noqa: ARG001
    exactness: str = "exact",
    systems: str = "",  # noqa: ARG001
    domain: str = "any",
) -> Callable[[RuleFunction], RuleFunction]:
    """Return a decorator for a function that is a rule of a rule file in Python.

    The function takes a `miltext.Graph`, and the constants of the program if it has a second parameter. It yields a
    `miltext.RuleSite` for each place where the rule applies. `miltext rewrite` reads the facts without running the
    file, so each is a string literal.

    Args:
        source: The origin of the rule.
        purpose: Its purpose.
        exactness: How exact the new numbers are: `exact`, or bounds such as `ulp 2`.
        systems: The systems that it is for.
        domain: The greatest magnitude of finite inputs for which the exactness holds, `finite`, or `any`.

    Returns:
        A decorator that returns the function.

    Raises:
        TypeError: A fact that is not a string.
        ValueError: An exactness or a domain that does not exist.

    Example:
        @miltext.rule(source="this page", purpose="dead code")
        def unused(graph):
            for op in graph.walk():
                if op.block and not op.is_used:
                    yield miltext.RuleSite(op, op.remove)
    """
    Exactness(exactness)
    domain_of(domain)
    return lambda function: function


Sites: TypeAlias = "Callable[[Graph, ConstantContents], Iterator[RuleSite]]"


@dataclass(frozen=True, eq=False)
class GraphPass:
    """A pass over a graph. `sites` yields its sites, each after the change of the one before it.

    Like a rule, it has a name, a source, a purpose and an exactness. `examples` and `keeps` are texts of programs that
    it changes and does not change, by name.
    """

    name: str
    sites: Sites
    source: str
    purpose: str
    systems: str = "all"
    exactness: Exactness = Exactness("exact")  # noqa: RUF009  # it is never changed
    domain: float | None = None
    examples: Mapping[str, str] = field(default_factory=dict)
    keeps: Mapping[str, str] = field(default_factory=dict)


AnyRule: TypeAlias = "RewriteRule | GraphPass"
"""What `rewrite` takes: a rule of a rule file, or a pass."""


def in_each_function(sites: Callable[[Function, ConstantContents], Iterator[RuleSite]]) -> Sites:
    """Return the sites in a graph of a pass that looks at one function at a time."""

    def found(graph: Graph, contents: ConstantContents) -> Iterator[RuleSite]:
        for function in graph.functions.values():
            yield from sites(function, contents)

    return found


def changed(change: Callable[[], object], own: Iterable[Op], graph: Graph) -> Applied:
    """Make a change to a graph, and return the removed and added operations, with only `own` constants."""
    journal: dict[Op, bool] = {}
    try:
        for function in graph.functions.values():
            function.journal = journal
        change()
    finally:
        for function in graph.functions.values():
            function.journal = None
    listed = {*own}
    gone = [op for op, was_there in journal.items() if was_there and op.block is None]
    new = [each for op, was_there in journal.items() if not was_there and op.block for each in (op, *op.walk())]
    return Applied([op for op in gone if op in listed or not op.is_constant], [op for op in new if not op.is_constant])
