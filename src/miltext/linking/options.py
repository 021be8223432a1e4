"""The options of a link: keywords in Python, and options of the verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from miltext.building.choices import OutputOptions
from miltext.syntax.keywords import option

if TYPE_CHECKING:
    from miltext.containers.sources import Source

Models: TypeAlias = "Mapping[str, Source] | Iterable[Source]"
"""The models to link, by name or not."""

Bound: TypeAlias = "Mapping[str, str | Sequence[str]]"
"""The input or inputs that take each output."""


@dataclass(frozen=True, kw_only=True)
class LinkOptions(OutputOptions):
    """The options of `miltext.link`, which describes them."""

    bind: Bound | None = None
    apart: Iterable[str] | str = ()
    keep: Iterable[str] | str = ()
    cast: bool = option(False, "Cast bound values whose data types differ.")
    functions: bool = option(False, "Make each model a function of the whole, with the model's name.")
    function: str | Mapping[str, str] | None = None
    no_loss: bool = option(False, "Refuse a loss of details in the descriptions.")
