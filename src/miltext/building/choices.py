"""The choices for building a model, beside its source and its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from miltext.descriptions.ranges import read_ranges

if TYPE_CHECKING:
    import os

    from miltext.building.filling import Array
    from miltext.building.given_weights import GivenWeights
    from miltext.descriptions.changes import DescriptionChange
    from miltext.descriptions.ranges import Range
    from miltext.descriptions.sizes import Sizes
    from miltext.files.writing import Progress
    from miltext.models.model import Model
    from miltext.printing.coremlc import Versions
    from miltext.schema.proto import Program

Expect: TypeAlias = Callable[[Callable[[], int]], object]
"""A callback that gets, before anything is written, the function that returns the total number of bytes."""

Edit: TypeAlias = "Callable[[Program, dict[str, Array]], dict[str, Array]]"
"""A function that changes the program to write, and keeps all names; it gets the arrays to store, and returns the
remaining ones.
"""


@dataclass(frozen=True)
class BuildOptions:
    """The options of `miltext.build`, which describes each.

    `edit` is for the verbs that change a program, and `any_kind` for the verbs that write any model as it is.
    """

    original: Model | None = None
    model: str | int | None = None
    weights: GivenWeights | None = None
    externalize: int | None = None
    force: bool = False
    progress: Progress | None = None
    expect: Expect | None = None
    description: str | os.PathLike[str] | None = None
    prune_weights: bool = False
    renames: Mapping[str, str] | None = None
    check: bool = True
    ranges: Mapping[str, Range] = field(default_factory=dict)
    no_loss: bool = False
    on_change: Callable[[DescriptionChange], object] | None = None
    edit: Edit | None = None
    versions: Versions | None = None
    allow_unproven: bool = False
    any_kind: bool = False

    @cached_property
    def asked(self) -> dict[str, Sizes]:
        """The requested sizes of inputs. Raise ModelError (MIL434) for invalid sizes."""
        return read_ranges(self.ranges)


NO_CHOICES = BuildOptions()
