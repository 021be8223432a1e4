"""The counts of operations in `metadata.json`: each under the name of its definition, as in `Ios16.reduceMax`.

The name begins with the opset of the definition; a name for iOS15 has no such prefix, and begins with a capital. A
`const` is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.definitions import OLDEST, definition
from miltext.compiled.doubts import Doubt
from miltext.schema.opsets import TEXT_BY_PROTO

if TYPE_CHECKING:
    from miltext.ir.parts import Op

KEY = "mlProgramOperationTypeHistogram"
"""The key of the counts."""


class Histogram(NamedTuple):
    """The number of operations of each name; `doubts` are about names without a known compiled model."""

    counts: Counter[str]
    doubts: list[Doubt]


def histogram(operations: Iterable[Op], opset: str) -> Histogram:
    """Return the number of operations by name, for a function of an opset."""
    found = Histogram(Counter(), [])
    for operation, count in Counter(each.type for each in operations if each.type != "const").items():
        name, doubts = _name(operation, opset)
        found.counts[name] += count
        found.doubts.extend(doubts)
    return found


def _name(operation: str, opset: str) -> tuple[str, list[Doubt]]:
    """Return the name of an operation in functions of an opset, and the doubt about it."""
    number, source = definition(operation, opset)
    first, *rest = operation.split("_")
    words = "".join([first if number > OLDEST else first.capitalize(), *(word.capitalize() for word in rest)])
    name = f"Ios{number}.{words}" if number > OLDEST else words
    if source is not None and source.is_compiled:
        return name, []
    what = f"the name of `{operation}` of {TEXT_BY_PROTO.get(opset, opset)} in the histogram of metadata.json"
    return name, [Doubt(what, (KEY, name), source=source.where if source else "")]
