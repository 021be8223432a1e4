"""Passes: changes that need a whole function, which no pattern of a fixed number of operations can state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.rewriting.exactness import Exactness

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.rule_files import RewriteRule


class Applied(NamedTuple):
    """The operations that a replacement removed and made, constants aside."""

    removed: list[Op]
    made: list[Op]


class PassSite(NamedTuple):
    """A place where a pass applies: its operation, and an equal one `beside` it, if there is one.

    `put` makes the change, unless a `reason` forbids it.
    """

    root: Op
    put: Callable[[], Applied]
    reason: str = ""
    beside: Op | None = None


Sites: TypeAlias = "Callable[[Function, ConstantContents], Iterator[PassSite]]"


@dataclass(frozen=True, eq=False)
class GraphPass:
    """A pass over a function. `sites` yields its sites, each after the change of the one before it.

    Like a rule, it has a name, a source, a purpose and an exactness.
    """

    name: str
    sites: Sites
    source: str
    purpose: str
    systems: str = "all"
    exactness: Exactness = Exactness("exact")  # noqa: RUF009  # it is never changed
    domain: float | None = None


AnyRule: TypeAlias = "RewriteRule | GraphPass"
"""What `rewrite` takes: a rule of a rule file, or a pass."""
