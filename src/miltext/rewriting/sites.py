"""Sites: places of a program that match a rule, and the reasons that forbid a replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.findings import named
from miltext.ir.needs import written
from miltext.rewriting.expressions import UnknownFact
from miltext.rewriting.matching import Match, Matcher
from miltext.rewriting.operands import MatchFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from miltext.ir.parts import Op, Use, Value
    from miltext.rewriting.operands import BoundValue, ConstantContents
    from miltext.rewriting.passes import GraphPass, RuleSite
    from miltext.rewriting.rule_files import RewriteRule


class Site(NamedTuple):
    """A match of a rule, and the reason why it is not replaced; empty if nothing forbids it."""

    rule: RewriteRule
    match: Match
    root: Op
    reason: str


class SiteOfPass(NamedTuple):
    """A site of a pass, with the operations to prove it on; `change` makes the change."""

    rule: GraphPass
    match: Match
    root: Op
    reason: str
    change: Callable[[], object]

    @classmethod
    def of(cls, rule: GraphPass, found: RuleSite) -> SiteOfPass:
        """Return the site of a pass as a site of a rewriting."""
        ops = {op: op for op in (found.root, *found.others)}
        return cls(rule, Match(ops, {}), found.root, found.reason, found.change)


AnySite: TypeAlias = "Site | SiteOfPass"


class Finder:
    """Finds the sites of a rule among operations of blocks for an `opset`."""

    def __init__(self, rule: RewriteRule, contents: ConstantContents, opset: str) -> None:
        self.rule = rule
        self._contents = contents
        self._matcher = Matcher(rule.pattern, contents, opset)
        self._unless = [Matcher(each, contents, opset) for each in rule.unless]

    def found(self, root: Op) -> Match | None:
        """Return the first match of the pattern and its conditions at an operation; None if there is none."""
        return next((each for each in self._matcher.matches(root) if not self._unfit(each)), None)

    def site(self, root: Op) -> Site | None:
        """Return the site at an operation; None if the pattern does not match.

        It is the first match that nothing forbids, else the first one.
        """
        first: Site | None = None
        for match in self._matcher.matches(root):
            reason = self._unfit(match) or next(_reasons(self.rule, match, root), "")
            made = Site(self.rule, match, root, reason)
            if not reason:
                return made
            first = first or made
        return first

    def _unfit(self, match: Match) -> str:
        """Return the condition that a match does not fulfil; empty if it fulfils all."""
        where = self.rule.where
        try:
            false = "" if where is None else where.failing(MatchFacts(match.bound, self._contents))
            if false:
                return f"`{false}` is false"
        except UnknownFact as unknown:
            return str(unknown)
        for matcher, pattern in zip(self._unless, self.rule.unless, strict=True):
            [output] = pattern.outputs
            if _is_made_so(matcher, match, output.name, {*pattern.inputs}):
                return f"{named(output.name)} is that of {named(pattern.name)}"
        return ""


def _is_made_so(matcher: Matcher, match: Match, name: str, inputs: set[str]) -> bool:
    """Return whether a value of a match is made as in another pattern."""
    bound: BoundValue = match.bound[name]
    maker = getattr(bound.operand, "maker", None)
    given = {each: match.bound[each] for each in inputs if each in match.bound}
    return maker is not None and any(found.ops for found in matcher.matches(maker, given))


def _reasons(rule: RewriteRule, match: Match, root: Op) -> Iterator[str]:
    """Yield the reasons that forbid any replacement."""
    inside = {*match.ops.values()}
    returned = {value.name for value in rule.pattern.outputs}
    for wanted, op in match.ops.items():
        if any(value.is_state for value in op.operands) or any(written(op)):
            yield f"{named(op.outputs[0].name)} uses a state"
        is_shared = any(value.name in rule.shared for value in wanted.outputs)
        if op.block is not root.block and not is_shared:
            yield f"{named(op.outputs[0].name)} is in another block"
        for named_so, value in zip(wanted.outputs, op.outputs, strict=True):
            if (op is root and named_so.name in returned) or named_so.name in rule.shared:
                continue
            use = next((each for each in value.uses if each.op not in inside), None)
            if use is not None:
                yield other_use(value, use)


def other_use(value: Value, use: Use) -> str:
    """Return the reason against the removal of a value, which has another use."""
    if use.op is None:
        return f"{named(value.name)} is also an output"
    user = use.op.outputs[0].name if use.op.outputs else use.op.type
    return f"{named(value.name)} has another use, in {named(user)}"
