"""Fingerprints of coremltools programs, to know at once that a pass changed nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Fingerprint:
    """The names, objects, types and values of a coremltools `Program`, which stay while this is kept.

    Equal fingerprints mean the same operations on the same values; only numbers overwritten in place stay unseen.
    """

    def __init__(self, program: Any) -> None:
        self._parts: list[Any] = []
        for name, function in program.functions.items():
            self._parts += [name, function.opset_version]
            for key, value in function.inputs.items():
                self._parts += [key, *_of(value)]
            self._parts += _block(function)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fingerprint) or len(self._parts) != len(other._parts):
            return False
        pairs = zip(self._parts, other._parts, strict=True)
        return all(one is two or (isinstance(one, str) and one == two) for one, two in pairs)

    __hash__ = None  # type: ignore[assignment]  # its objects may have no hash


def _block(block: Any) -> Iterator[Any]:
    """Yield the parts of a block and of inner blocks."""
    for op in block.operations:
        yield from (op, op.name)
        for key, value in op.inputs.items():
            yield key
            yield from value if isinstance(value, (list, tuple)) else (value,)
        for inner in op.blocks:
            for value in inner.inputs:
                yield from _of(value)
            yield from _block(inner)
        for value in op.outputs:
            yield from _of(value)
    yield from block.outputs


def _of(value: Any) -> tuple[Any, ...]:
    return value, value.name, value.sym_type, value.sym_val
