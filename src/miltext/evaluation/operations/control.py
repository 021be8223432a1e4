"""Rules for constants, control flow, lists, states and classification."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from miltext.evaluation.rules import Blocks, Held, Value, Values, rule

if TYPE_CHECKING:
    from miltext.evaluation.values import State


@rule("const")
def const(val: Value) -> Any:
    """Return `val`."""
    return val


@rule("cond")
def cond(pred: bool, blocks: Blocks) -> Generator[Any, None, tuple[Any, ...]]:
    """Return what the first block gives if `pred` is true, else what the second gives."""
    return tuple((yield from blocks[0 if pred else 1]()))


@rule("while_loop")
def while_loop(loop_vars: Values, blocks: Blocks) -> Generator[Any, None, tuple[Any, ...]]:
    """Return `loop_vars` as the second block leaves them, done for as long as the first gives true."""
    condition, body = blocks
    while (yield from condition(*loop_vars))[0]:
        loop_vars = yield from body(*loop_vars)
    return tuple(loop_vars)


@rule("read_state")
def read_state(input: Value) -> Held:
    """Return what the state holds."""
    held: Held = input.held
    return held


@rule("write_state")
def write_state(input: Value, data: Held) -> None:
    """Have the state hold `data`."""
    state: State = input
    state.held = data
