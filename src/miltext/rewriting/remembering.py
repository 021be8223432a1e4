"""Memory of a rewriting: operations by type, and refused sites without a later change."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Generic, TypeVar

from miltext.ir.parts import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from miltext.ir.functions import Block
    from miltext.ir.parts import Op, Use
    from miltext.rewriting.patterns import RulePattern
    from miltext.rewriting.rule_files import RewriteRule

Known = TypeVar("Known")

MOST = 100
"""The most operations above one that are searched for changes."""


class Memory(Generic[Known]):
    """The operations of a graph by type, and known facts about rules at operations, while the graph changes.

    A site depends on the operations above its last one, as far away as the patterns of its rule reach, and on the uses
    of their values. So facts about operations that far below a change are forgotten: once for all changes when the next
    rule begins, since a value of many uses may change many times. Until then, `knows` looks for changes above.
    """

    def __init__(self) -> None:
        self._known: dict[Op, dict[RewriteRule, Known]] = defaultdict(dict)
        self._reach: dict[RewriteRule, int] = {}
        self._by_type: dict[Block, dict[str, list[Op]]] = {}
        self._changed: set[Op] = set()
        self._beside: set[Value] = set()

    def roots(self, rule: RewriteRule, block: Block) -> Sequence[Op]:
        """Return the operations at which a rule may match, in the order of the text, also in inner blocks."""
        if self._changed:
            self._forget()
        if block not in self._by_type:
            self._by_type[block] = by_type(block)
        return self._by_type[block].get(rule.pattern.root.type, ())

    def knows(self, rule: RewriteRule, op: Op) -> bool:
        """Return whether the result of a rule at an operation is known."""
        return rule in self._known.get(op, ()) and not (self._changed and self._is_below_change(op, self._reach[rule]))

    def recalled(self, rule: RewriteRule, op: Op) -> Known:
        """Return the known result of a rule at an operation."""
        return self._known[op][rule]

    def note(self, rule: RewriteRule, op: Op, result: Known) -> None:
        """Keep the result of a rule at an operation."""
        self._known[op][rule] = result
        if rule not in self._reach:
            self._reach[rule] = _reach(rule)

    def change(self, changed: Iterable[Op]) -> None:
        """Note added or removed operations, so that facts that depend on them are forgotten."""
        for op in changed:
            self._changed.add(op)
            self._beside.update(op.operands, op.outputs)

    def rewire(self, uses: Iterable[Use]) -> None:
        """Note uses that have another value now, but not the other operands beside them, which may be many."""
        for use in uses:
            if use.op is not None:
                operand = use.operand
                self._changed.add(use.op)
                self._beside.update(use.op.outputs, [operand] if isinstance(operand, Value) else [])

    def _is_below_change(self, op: Op, reach: int) -> bool:
        """Return whether an operation up to `reach` above `op` was changed, or uses or makes a value beside a change.

        Above too many operations, it counts as changed.
        """
        reached, seen = [op], {op}
        for _ in range(reach + 1):
            if len(seen) > MOST:
                return True
            if not all(self._is_unchanged(each) for each in reached):
                return True
            above = dict.fromkeys(value.maker for each in reached for value in each.operands)
            reached = [each for each in above if each is not None and each not in seen]
            seen.update(reached)
        return False

    def _is_unchanged(self, op: Op) -> bool:
        return op not in self._changed and self._beside.isdisjoint(op.operands) and self._beside.isdisjoint(op.outputs)

    def _forget(self) -> None:
        """Forget facts that depend on the changes."""
        self._by_type.clear()
        farthest = max(self._reach.values(), default=0)
        reached = {*self._changed}
        for value in self._beside:
            reached.update(use.op for use in value.uses if use.op is not None)
            reached |= {value.maker} if value.maker is not None else set()
        self._changed, self._beside = set(), set()
        seen = {*reached}
        for distance in range(farthest + 1):
            for op in reached:
                self._forget_at(op, distance)
            below = {use.op for op in reached for value in op.outputs for use in value.uses if use.op is not None}
            reached = below - seen
            seen |= reached

    def _forget_at(self, op: Op, distance: int) -> None:
        known = self._known.get(op)
        if known:
            self._known[op] = {rule: result for rule, result in known.items() if self._reach[rule] < distance}


def by_type(block: Block) -> dict[str, list[Op]]:
    """Return the operations of a block and of its inner blocks by type, each in the order of the text."""
    found = defaultdict[str, "list[Op]"](list)
    for op in block.walk():
        found[op.type].append(op)
    return found


def _reach(rule: RewriteRule) -> int:
    """Return the greatest distance of an operation that a site of a rule depends on."""
    return _depth(rule.pattern) + max(map(_depth, rule.unless), default=0)


def _depth(pattern: RulePattern) -> int:
    """Return the number of operations on the longest way through a pattern."""
    depths: dict[Op, int] = {}
    for op in pattern.ops:
        depths[op] = 1 + max((depths[each.maker] for each in op.operands if each.maker is not None), default=0)
    return depths[pattern.root]
