"""What a rule finds in a Program: a message at a path; the place in a text comes late."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.opsets import TEXT_BY_PROTO
from miltext.syntax.literals import shown
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.schema.paths import Path


LONG = 200
"""From how many characters on a name is cut where a message quotes it."""


class Remark(NamedTuple):
    """A further sentence under a finding, and the path of what it speaks of."""

    message: str
    path: Path


class Finding(NamedTuple):
    """What is wrong at `path`, which leads to a message or to a name in it, as `miltext.parsing.spans` names them.

    The other fields are those of the Diagnostic that it becomes.
    """

    path: Path
    code: str
    message: str
    remarks: tuple[Remark, ...] = ()
    suggestion: str | None = None
    severity: str = "error"


def named(name: str) -> str:
    """Quote a name in a message: in backquotes, as the text spells it."""
    return f"`{shown(name_text(name), LONG)}`"


def opset_text(opset: str) -> str:
    """Spell an opset in a message, as the text spells it."""
    return TEXT_BY_PROTO.get(opset) or shown(name_text(opset), LONG)


def listed(words: Iterable[str], conjunction: str = "or") -> str:
    """Join words as in a sentence: `` `a`, `b` or `c` ``."""
    quoted = [f"`{word}`" for word in words]
    return f" {conjunction} ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def one_of(kinds: Iterable[str]) -> str:
    """Join kinds of values as in a sentence: `a list or a tensor`."""
    return " or ".join(f"a {kind}" for kind in sorted(kinds))


def counted(number: int, noun: str) -> str:
    """Count things: `no value`, `1 value`, `2 values`."""
    return f"{number or 'no'} {noun}{'s' if number > 1 else ''}"


def here(number: int) -> str:
    """Tell how many are here: `here is 1`, `here are 2`."""
    return f"here {'is' if number == 1 else 'are'} {number or 'none'}"
