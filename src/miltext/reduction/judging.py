"""The check that a smaller program is as correct as its original."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from miltext.checking.programs import findings_in
from miltext.drafting.judging import UNKNOWN
from miltext.reduction.looping import standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.schema.proto import Program


class Judge:
    """Accepts programs without new errors: each code and message occurs at most as often as in the original, and no
    loop becomes endless, for a test that runs it would not end.
    """

    def __init__(self, original: Program) -> None:
        self._known = Counter(_errors(original))
        self._standing = standing(original)

    def __call__(self, program: Program) -> bool:
        return standing(program) <= self._standing and not Counter(_errors(program)) - self._known


def _errors(program: Program) -> Iterator[tuple[str, str]]:
    """Yield the code and the message of each error; an operation unknown to coremltools counts as one."""
    for each in findings_in(program, each_use=True):
        if each.severity == "error" or each.code in UNKNOWN:
            yield each.code, each.message
