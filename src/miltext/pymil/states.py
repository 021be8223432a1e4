"""The states of a coremltools function."""

from __future__ import annotations

from typing import Any

WRITE = "coreml_update_state"
"""The operation that writes a state, as coremltools' loader calls `write_state`."""


def last_written(function: Any, state: str) -> Any:
    """Return the inferred value of the last write to a state; None without a write, a value, or in an inner block."""
    for op in reversed(list(function.operations)):
        if op.blocks:
            return None
        if op.op_type == WRITE and op.state.name == state:
            return op.value.val
    return None
