"""The pass `dead-code`: operations that no output, no write to a state and no block needs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.ir.passes import is_dead
from miltext.rewriting.applying import remove_unused
from miltext.rewriting.passes import GraphPass, RuleSite, in_each_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.ir.functions import Function
    from miltext.ir.parts import Op
    from miltext.rewriting.operands import ConstantContents


def _sites(function: Function, _: ConstantContents) -> Iterator[RuleSite]:
    """Yield the dead operations, users before makers. Constants that die with an operation are part of its site."""
    for op in reversed([*function.walk()]):
        if op.block is not None and is_dead(op):
            yield RuleSite(op, partial(_remove, op))


def _remove(op: Op) -> None:
    remove_unused([op])


DEAD_CODE = GraphPass(
    "dead-code",
    in_each_function(_sites),
    source="coremltools: `dead_code_elimination`, at conversion only",
    purpose="nothing needs the operation",
)
