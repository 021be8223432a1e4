"""The options of a link: keywords in Python, and options of the verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from miltext.syntax.keywords import option

if TYPE_CHECKING:
    from miltext.building.choices import Expect
    from miltext.building.given_weights import GivenWeights
    from miltext.containers.sources import Source
    from miltext.descriptions.ranges import Range
    from miltext.files.writing import Progress

Models: TypeAlias = "Mapping[str, Source] | Iterable[Source]"
"""The models to link, by name or not."""

Bound: TypeAlias = "Mapping[str, str | Sequence[str]]"
"""The input or inputs that take each output."""


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """The options of `miltext.link`, which describes them."""

    bind: Bound | None = None
    apart: Iterable[str] | str = ()
    keep: Iterable[str] | str = ()
    cast: bool = option(False, "Cast bound values whose data types differ.")
    functions: bool = option(False, "Make each model a function of the whole, with the model's name.")
    function: str | Mapping[str, str] | None = None
    weights: GivenWeights | None = None
    ranges: Mapping[str, Range] | None = option(
        None,
        "The sizes of an input: x=1,3,64..512,64..512. Each `?` of a text needs its range.",
        flag="--range",
        multiple=True,
        metavar="NAME=SIZES",
    )
    no_loss: bool = option(False, "Refuse a loss of details in the descriptions.")
    force: bool = option(False, "Replace OUT if it exists.")
    check: bool = option(True, "Write it even with errors that `miltext check` finds; only drafts must be correct.")
    progress: Progress | None = None
    expect: Expect | None = None
