"""Differences that follow from other differences of the same two programs.

| kind | the difference | it follows if |
|---|---|---|
| `type` | the type of an output, or of a block's input | inference gives exactly this type in both programs |
| `size` | a constant argument | `reshape` would make it from the old one for the new sizes |
| `precision` | a constant argument | it has the old numbers in the data type that the operands beside it have now |
| `operand` | a value as an argument | only added or removed operations are between the old value and the new one |
| `operand` | an output of a block | as for an argument; or an added operation makes it in place of a removed one |
| `number` | a name, only in its numbers | operations were added or removed, so that a converter counts otherwise |
| `name` | a name | it continues that of a renamed user, or was or is that of a removed or added user |
| `place` | the place of constants | each is used by an added or a moved operation |
| `constant` | an added or removed constant | each of its users is added or removed, too |
| `description` | a field of the description | it states a fact of the program that differs |
| `weight` | the form of a weight | its numbers are the same |

No rule compares likeness: a change that is not derived stays an independent change.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from miltext.diffing.partners import partners_of
from miltext.diffing.structure import Consequence
from miltext.ir.flow import carried_into
from miltext.ir.needs import behind
from miltext.ir.parts import Op, Value
from miltext.pairing.keyed import label
from miltext.schema.types import TensorType
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from miltext.diffing.inferred import InferredGraph, ResizedGraph
    from miltext.diffing.partners import Partners
    from miltext.ir.functions import Block
    from miltext.ir.parts import Operand
    from miltext.pairing.keyed import KeyedGraph
    from miltext.pairing.pairing import PairedFunction
    from miltext.schema.types import Type

MOST = 256
"""The most values between which added or removed operations are looked for; a change further apart is a cause."""

_NUMBERS = re.compile(r"\d+")


class Consequences:
    """The rules for the differences of two programs; inference runs on the first request of a type."""

    def __init__(self, old: KeyedGraph, new: KeyedGraph, pairs: Sequence[PairedFunction]) -> None:
        self._old = old
        self._new = new
        self._pairs = pairs

    # ---- types and sizes

    def of_type(self, old: Op, new: Op, index: int) -> Consequence | None:
        """Return the reason for the changed type of an output."""
        value = new.outputs[index]
        if not self._inferred or not all(
            graph.follows(op, index) for graph, op in zip(self._inferred, (old, new), strict=True)
        ):
            return None
        if value in self._origins:
            return Consequence("type", self._origins[value])
        wanted = self._precision(new) if new.is_constant else None
        if wanted is not None and _dtypes(old.outputs[index].type, value.type) == wanted[:2]:
            return Consequence("type", wanted[2])
        return None

    def of_input(self, old: Value, new: Value) -> Consequence | None:
        """Return the reason for the changed type of a block's input."""
        if not isinstance(new.owner, Op) and self._inferred and new in self._origins:
            before, now = self._inferred
            if before.is_given(old) and now.is_given(new):
                return Consequence("type", self._origins[new])
        return None

    def of_argument(self, new: Op, parameter: str) -> Consequence | None:
        """Return the reason for the changed constants of a parameter."""
        if not self._inferred or new not in self.partners.ops:
            return None
        graph, old = self._inferred[1], self.partners.ops[new]
        changed = graph.changed(new, old, parameter)
        if changed and changed <= graph.followed:
            causes = (self._origins[value] for value in new.used() if value in self._origins)
            cause = next(causes, None)
            return None if cause is None else Consequence("size", cause)
        wanted = self._precision(new) if changed else None
        pairs = [(old.inputs[parameter][at], new.inputs[parameter][at]) for *_, at in changed]
        if wanted is not None and all(graph.is_recast(*pair, *wanted[:2]) for pair in pairs):
            return Consequence("precision", wanted[2])
        return None

    def _precision(self, op: Op) -> tuple[str, str, str] | None:
        """Return the data types that the values beside an operation's constants had and have now, and the cause."""
        if op.is_constant:
            found = map(self._precision, op.users)
            return next((each for each in found if each is not None), None)
        for old, new in self._operand_pairs(op):
            if not isinstance(old, Value) or not isinstance(new, Value) or new.is_constant:
                continue
            dtypes = _dtypes(old.type, new.type)
            cause = self._origins.get(new) or self._between(old, new)
            if dtypes is not None and dtypes[0] != dtypes[1] and cause:
                return *dtypes, cause
        return None

    def of_attribute(self, old: Op, new: Op, name: str) -> Consequence | None:
        """Return the reason for a changed attribute of a compressed constant, whose parameters early opsets hold so."""
        wanted = self._precision(new) if new.is_constant and self._inferred else None
        before, now = old.attributes.get(name), new.attributes.get(name)
        if wanted is None or not self._inferred or before is None or now is None:
            return None
        was, dtype, cause = wanted
        return Consequence("precision", cause) if self._inferred[1].is_recast(before, now, was, dtype) else None

    def of_operands(self, old: Op, new: Op, parameter: str) -> Consequence | None:
        """Return the reason for other values of a parameter."""
        before, now = old.inputs.get(parameter, ()), new.inputs.get(parameter, ())
        if len(before) != len(now):
            return None
        causes = [self._between(*pair) for pair in zip(before, now, strict=True) if not self._is_same(*pair)]
        return Consequence("operand", causes[0]) if causes and all(causes) else None

    def _is_same(self, old: Operand, new: Operand) -> bool:
        if isinstance(new, Value):
            return self.partners.values.get(new) is old
        return not isinstance(old, Value) and old == new

    def _between(self, old: Operand, new: Operand) -> str:
        """Return the added or removed operation before a value, if only such are between an old value and a new one."""
        if not isinstance(old, Value) or not isinstance(new, Value):
            return ""
        gone, came = self._sources(old, self._is_removed), self._sources(new, self._is_added)
        if not any(self.partners.values.get(value) in gone for value in came):
            return ""
        alone = new.maker if new.maker and self._is_added(new.maker) else old.maker
        return label(alone) if alone is not None else ""

    def _sources(self, value: Value, is_alone: Callable[[Op], bool]) -> set[Value]:
        """Return the nearest sources of a value, at most MOST with itself, by operations of one program alone.

        Omit constants.
        """
        sources = behind([value], lambda each: each.maker is not None and is_alone(each.maker))
        return {*islice((each for each in sources if not each.is_constant), MOST)}

    def _is_added(self, op: Op) -> bool:
        return op not in self.partners.ops

    def _is_removed(self, op: Op) -> bool:
        return op not in self._kept

    def of_outputs(self, old: Sequence[Value], new: Sequence[Value], *, are_named: bool) -> Consequence | None:
        """Return the reason for other values as outputs of a block; if they `are_named`, as a function's outputs, other
        names are a cause.
        """
        if len(old) != len(new) or (are_named and [each.name for each in old] != [each.name for each in new]):
            return None
        pairs = [pair for pair in zip(old, new, strict=True) if not self._is_same(*pair)]
        causes = [self._between(*pair) or self._replaced(*pair) for pair in pairs]
        return Consequence("operand", causes[0]) if causes and all(causes) else None

    def _replaced(self, old: Value, new: Value) -> str:
        """Return the added operation that makes a value in place of a removed one."""
        gone, came = old.maker, new.maker
        return label(came) if gone and came and self._is_removed(gone) and self._is_added(came) else ""

    def of_constant(self, new: Op) -> Consequence | None:
        """Return the reason for the changed value of a `const`: it follows at each of its uses."""
        found = [
            self.of_argument(use.user, use.parameter) if isinstance(use.user, Op) else None
            for value in new.outputs
            for use in value.uses
        ]
        return found[0] if found and all(found) else None

    # ---- names and places

    def of_rename(self, old: Value, new: Value) -> Consequence | None:
        """Return the reason for the new name of an inner value."""
        for user in new.users if new.is_constant else ():
            for now in user.outputs:
                was = self.partners.values.get(now)
                if was is not None and was.name != now.name and _is_continued(old.name, was.name, new.name, now.name):
                    return Consequence("name", name_text(now.name))
        takers = (user for user in old.users if self._is_removed(user))
        if any(value.name == new.name for user in takers for value in user.outputs):
            return Consequence("name", name_text(new.name))
        takers = (user for user in (new.maker.users if new.maker else ()) if self._is_added(user))
        if any(value.name == old.name for user in takers for value in user.outputs):
            return Consequence("name", name_text(old.name))
        return Consequence("number", "") if self._is_recounted(old.name, new.name) else None

    def _is_recounted(self, old: str, new: str) -> bool:
        """Return whether a converter may count a name otherwise since operations were added or removed: higher for
        added ones, lower for removed ones.
        """
        if _NUMBERS.sub("0", old) != _NUMBERS.sub("0", new):
            return False
        before, now = ([*map(int, _NUMBERS.findall(name))] for name in (old, new))
        are_removed, are_added = self._unpaired
        return are_added if before < now else are_removed

    def of_move(self, moved: Sequence[Op], places: set[Op]) -> Consequence | None:
        """Return the reason for the new place of operations; `places` are all moved or added operations."""
        users = [op.users for op in moved]
        if all(op.is_constant and own and places.issuperset(own) for op, own in zip(moved, users, strict=True)):
            return Consequence("place", label(users[0][0]))
        return None

    def of_unpaired(self, op: Op) -> Consequence | None:
        """Return the reason for an added or removed constant."""
        users = op.users if op.is_constant else []
        if users and not any(user in self.partners.ops or user in self._kept for user in users):
            return Consequence("constant", label(_last_user(users[0])))
        return None

    # ---- what the rules read

    @cached_property
    def partners(self) -> Partners:
        """The old operations and values by the new ones."""
        return partners_of(self._pairs)

    @cached_property
    def _kept(self) -> set[Op]:
        """The old operations with a partner."""
        return {*self.partners.ops.values()}

    @cached_property
    def _unpaired(self) -> tuple[bool, bool]:
        """Whether operations were removed, and whether some were added."""
        count = len(self.partners.ops)
        was, now = (sum(1 for _ in graph.walk()) for graph in (self._old, self._new))
        return was > count, now > count

    @cached_property
    def _inferred(self) -> tuple[InferredGraph, ResizedGraph] | None:
        """Inference over both programs; None if no type changed."""
        from miltext.diffing.inferred import InferredGraph, ResizedGraph

        if not any(map(self._is_retyped, self.partners.values)):
            return None
        before = InferredGraph(self._old)
        before.program()
        now = ResizedGraph(self._new, before, self.partners)
        now.program()
        return before, now

    @cached_property
    def _origins(self) -> dict[Value, str]:
        """The cause of the type of each value whose type changed: an input, or the operation with the first change."""
        found: dict[Value, str] = {}
        for function in self._new.functions.values():
            found.update((value, name_text(value.name)) for value in function.inputs if self._is_retyped(value))
            for block in function.blocks.values():
                self._trace(block, found)
        return found

    def _trace(self, block: Block, found: dict[Value, str]) -> None:
        """Enter the causes of the values of a block, and of the blocks inside it."""
        for op in block:
            for inner in op.blocks:
                for value in inner.inputs:
                    carried = carried_into(inner, value)
                    if isinstance(carried, Value) and carried in found:
                        found[value] = found[carried]
                self._trace(inner, found)
            is_added = self._is_added(op)
            retyped = [value for value in op.outputs if is_added or self._is_retyped(value)]
            if retyped and not op.is_constant:
                inner_outputs = [value for inner in op.blocks for value in inner.outputs]
                known = next((found[value] for value in (*op.used(), *inner_outputs) if value in found), "")
                is_own = bool(known and self._inferred and self._inferred[1].is_resized(op))
                cause = label(op) if is_own else known or self._rewired(op) or label(op)
                found.update(dict.fromkeys(retyped, cause))

    def retyped_inputs(self) -> set[Value]:
        """Return the inputs of functions that have another type in the new program."""
        inputs = (value for function in self._new.functions.values() for value in function.inputs)
        return {value for value in inputs if self._is_retyped(value)}

    def _rewired(self, op: Op) -> str:
        """Return the added or removed operation for which an operation takes another value."""
        pairs = (pair for pair in self._operand_pairs(op) if not self._is_same(*pair))
        return next((cause for pair in pairs if (cause := self._between(*pair))), "")

    def _operand_pairs(self, op: Op) -> Iterator[tuple[Operand, Operand]]:
        """Yield the arguments at the same places of an operation's partner and of the operation."""
        partner = self.partners.ops.get(op)
        for parameter, operands in op.inputs.items() if partner is not None else ():
            yield from zip(partner.inputs.get(parameter, ()), operands, strict=False)  # type: ignore[union-attr]

    def _is_retyped(self, value: Value) -> bool:
        partner = self.partners.values.get(value)
        return partner is not None and self._old.types[partner] != self._new.types[value]


def _is_continued(old: str, old_stem: str, new: str, new_stem: str) -> bool:
    """Return whether two names are two stems with the same continuation."""
    if not old.startswith(old_stem) or not new.startswith(new_stem):
        return False
    rest = old[len(old_stem) :]
    return bool(rest) and rest == new[len(new_stem) :]


def _dtypes(old: Type, new: Type) -> tuple[str, str] | None:
    """Return the data types of two tensors."""
    return (old.dtype, new.dtype) if isinstance(old, TensorType) and isinstance(new, TensorType) else None


def _last_user(op: Op) -> Op:
    """Return the operation to which a constant belongs: its first user other than a constant."""
    while op.is_constant and (users := op.users):
        op = users[0]
    return op
