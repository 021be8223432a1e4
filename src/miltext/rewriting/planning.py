"""The plan of a rewriting: each site with its disposition, by replacements in a graph until no rule applies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.rewriting.applying import Replacing
from miltext.rewriting.instances import NoInstance
from miltext.rewriting.passes import GraphPass, changed
from miltext.rewriting.python_rules import PythonRule
from miltext.rewriting.remembering import Memory
from miltext.rewriting.sites import Finder, SiteOfPass
from miltext.rewriting.weighing import Weighing

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.passes import AnyRule, Applied
    from miltext.rewriting.rule_files import RewriteRule
    from miltext.rewriting.sites import AnySite

REPLACED, REFUSED = "replaced", "refused"

DEEPEST = 200
"""The greatest number of replacements one inside the result of another that do not reduce the operations."""


NESTED = 500
"""The number of such replacements beside twice the number of operations: rules may grow in width, too."""


@dataclass(frozen=True)
class PlannedSite:
    """A site: its rule, its function, the replaced value, and the names of the values of matched operations.

    `disposition` is `replaced` or `refused`, for a `reason`. `removed` and `made` are the types of the removed
    and the new operations, constants aside.
    """

    rule: str
    function: str
    value: str
    values: tuple[str, ...]
    disposition: str
    reason: str = ""
    removed: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    @property
    def is_replaced(self) -> bool:
        """Whether the site is replaced."""
        return self.disposition == REPLACED


@dataclass
class Rewriter:
    """Rewrites a graph. `only` names the values of sites, all without any, and `limit` the most replacements.

    `verify` proves each replacement before it is made.

    `sites` are the replaced sites in order, and then the refused ones; `weighing` has the removed bytes of constants.
    """

    graph: Graph
    rules: Sequence[AnyRule]
    contents: ConstantContents
    only: Collection[str] = ()
    limit: int | None = None
    verify: Callable[[AnySite], None] | None = None
    replaced: list[PlannedSite] = field(default_factory=list)
    refused: list[PlannedSite] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._replacing = Replacing(self.contents)
        self.weighing = Weighing(self.graph)
        self._memory = Memory["PlannedSite | None"]()
        self._idle: dict[GraphPass, tuple[int, list[PlannedSite]]] = {}
        self._depths: dict[Op, int] = {}
        self._nested = 0
        self._most = NESTED + 2 * sum(not op.is_constant for op in self.graph.walk())

    @property
    def sites(self) -> list[PlannedSite]:
        return [*self.replaced, *self.refused]

    def run(self) -> None:
        """Replace all sites: rule by rule, in the order of the text, until no rule applies.

        Raise MiltextError (MIL871) for rules that never come to rest.
        """
        while True:
            before = len(self.replaced)
            self.refused = []
            for rule in self.rules:
                self._rule(rule)
            if len(self.replaced) == before or self.is_full:
                return

    @property
    def is_full(self) -> bool:
        """Whether all allowed replacements were made."""
        return self.limit is not None and len(self.replaced) >= self.limit

    def _rule(self, rule: AnyRule) -> None:
        before = len(self.replaced)
        if isinstance(rule, GraphPass):
            self._pass(rule)
        else:
            for function in self.graph.functions.values():
                self._function(rule, function)
        if len(self.replaced) > before:
            self.weighing.weigh(rule.name)

    def _pass(self, rule: GraphPass) -> None:
        """Apply a pass, unless no replacement was made since it found nothing to replace."""
        replaced, refused = self._idle.get(rule, (-1, []))
        if replaced == len(self.replaced):
            self.refused += refused
            return
        before, known = len(self.replaced), len(self.refused)
        for found in rule.sites(self.graph, self.contents):
            if self.is_full:
                return
            assert found.root.block is not None, "a site is in a block"
            function = found.root.block.function
            if self._is_wanted(function, found.root):
                self._site(function, SiteOfPass.of(rule, found))
                self._count_free(rule)
        if len(self.replaced) == before:
            self._idle[rule] = before, self.refused[known:]
        elif isinstance(rule, PythonRule):
            self._memory = Memory()  # its changes may be anywhere

    def _count_free(self, rule: GraphPass) -> None:
        """Count a site of a rule in Python, of which nothing shows whether it comes to rest."""
        self._nested += isinstance(rule, PythonRule)
        if self._nested > self._most:
            self._refuse_restless(rule.name)

    def _function(self, rule: RewriteRule, function: Function) -> None:
        for opset, block in function.blocks.items():
            finder = Finder(rule, self.contents, opset)
            for op in self._memory.roots(rule, block):
                if op.block is not None and not self.is_full and self._is_wanted(function, op):
                    self._root(function, finder, op)

    def _root(self, function: Function, finder: Finder, op: Op) -> None:
        """Replace the site at an operation, if there is one, or record why not."""
        rule = finder.rule
        if self._memory.knows(rule, op):
            known = self._memory.recalled(rule, op)
            self.refused += [] if known is None else [known]
            return
        site = finder.site(op)
        refused = None if site is None else self._site(function, site)
        if op.block is not None and (site is None or refused is not None):
            self._memory.note(rule, op, refused)

    def _is_wanted(self, function: Function, op: Op) -> bool:
        if not self.only:
            return True
        names = {name for value in op.outputs for name in (value.name, f"{function.name}/{value.name}")}
        return not names.isdisjoint(self.only)

    def _site(self, function: Function, site: AnySite) -> PlannedSite | None:
        """Replace a site, or record and return it with the reason why not."""
        planned = _planned(site, function)
        if site.reason:
            self.refused.append(planned)
            return planned
        depth = max((self._depths.get(op, 0) for op in site.match.ops.values()), default=0)
        try:
            put = self._prepared(site)
        except NoInstance as reason:
            self.refused.append(replace(planned, disposition=REFUSED, reason=str(reason)))
            return self.refused[-1]
        if self.verify is not None and site.root.is_used:
            self.verify(site)
        rewired = [use for value in site.root.outputs for use in value.uses]
        applied = put()
        self._memory.change((*site.match.ops.values(), *applied.removed, *applied.made))
        self._memory.rewire(rewired)
        depth += len(applied.made) >= len(applied.removed)
        self._depths.update(dict.fromkeys(applied.made, depth))
        done = replace(planned, disposition=REPLACED, removed=_types(applied.removed), made=_types(applied.made))
        self.replaced.append(done)
        self._nested += depth > 1
        if depth > DEEPEST or self._nested > self._most:
            self._refuse_restless()
        return None

    def _prepared(self, site: AnySite) -> Callable[[], Applied]:
        """Return the replacement of a site, which the call makes. Raise NoInstance if it is impossible."""
        if isinstance(site, SiteOfPass):
            return partial(changed, site.change, site.match.ops, self.graph)
        return self._replacing.prepared(site)

    def _refuse_restless(self, *rules: str) -> None:
        """Raise MiltextError for rules that never come to rest."""
        recent = sorted({*rules, *(each.rule for each in self.replaced[-DEEPEST:])})
        listed = ", ".join(f"`{each}`" for each in recent)
        message = f"the rules never come to rest: after {len(self.replaced)} replacements, {listed} still apply"
        note = Note(
            "change a rule so that its replacement does not match again: with `where`, or an `unless_` function"
        )
        raise MiltextError([error(codes.NEVER_AT_REST, message, None, note)])


def _planned(site: AnySite, function: Function) -> PlannedSite:
    names = tuple(op.outputs[0].name for op in reversed(site.match.ops.values()) if op.outputs)
    disposition = REFUSED if site.reason else ""
    value = site.root.outputs[0].name if site.root.outputs else site.root.type
    return PlannedSite(site.rule.name, function.name, value, names, disposition, site.reason)


def _types(ops: Sequence[Op]) -> tuple[str, ...]:
    return tuple(sorted(op.type for op in ops))
