"""The options of functions that write a model: keywords in Python, and options of the verbs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from miltext.syntax.keywords import option

if TYPE_CHECKING:
    import os

    from miltext.building.given_weights import GivenWeights
    from miltext.descriptions.changes import DescriptionChange
    from miltext.descriptions.ranges import Range
    from miltext.descriptions.sizes import Sizes
    from miltext.files.writing import Progress
    from miltext.models.model import Model
    from miltext.printing.coremlc import Versions
    from miltext.schema.proto import Message, Program
    from miltext.schema.tensors import InType

Expect: TypeAlias = Callable[[Callable[[], int]], object]
"""A callback that gets, before anything is written, the function that returns the total number of bytes."""

Edit: TypeAlias = "Callable[[Program, dict[str, InType]], dict[str, InType]]"
"""A function that changes the program to write, and keeps all names; it gets the arrays to store, and returns those
that remain.
"""


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The options of every function that writes a model, of one or several; `miltext.build` describes them."""

    weights: GivenWeights | None = None
    ranges: Mapping[str, Range] | None = option(
        None,
        "The sizes of an input: x=1,3,64..512,64..512. Each `?` of an input needs its range.",
        flag="--range",
        multiple=True,
        metavar="NAME=SIZES",
    )
    no_loss: bool = option(
        False, "Refuse a loss of details in the description; a given --description counts as intended."
    )
    force: bool = option(False, "Replace OUT if it exists.")
    check: bool = option(True, "Write it even with errors that `miltext check` finds; only drafts must be correct.")
    progress: Progress | None = None
    expect: Expect | None = None


@dataclass(frozen=True, kw_only=True)
class WriteOptions(OutputOptions):
    """The options of every function that writes a model of one; `miltext.build` describes them."""

    model: str | int | None = None
    on_change: Callable[[DescriptionChange], object] | None = None


@dataclass(frozen=True, kw_only=True)
class BuildOptions(WriteOptions):
    """The options of `miltext.build`.

    Args:
        original: The source of all that the program does not contain.
        model: The model in the pipeline of the original whose program is replaced.  [the only ML Program]
        weights: A folder, a mapping of files by their names in the program, below `@model_path`, or several of these,
            for weights that the original lacks. A file in a mapping may be a model with one weight file.
        ranges: Sizes by input, `"1,3,64..512,64..512"`, or for each axis a size or the least and greatest one; each `?`
            of an input needs one.
        description: A TOML file, as `miltext.describe` writes it, in place of any other description.
        externalize: The fewest elements of an immediate constant to move into the weight file.
        prune_weights: Whether weight files contain only weights that the model refers to, and equal weights once. A
            note states the number of bytes left out.
        renames: New names by old ones, of the features of all models of a pipeline.
        no_loss: Whether to refuse a build that would lose an entry of the description.
        allow_unproven: Whether an `.mlmodelc` may contain parts that no known output of the compiler shows.
        versions: The stated versions of the compiler.  [those of a compiled model, or the newest known]
        force: Whether to replace a file or folder at `output`.
        check: Whether errors of `miltext.check` in the program prevent the build.
        on_change: A function that gets each changed entry of the description, when all is written.
        progress: A function that gets the number of bytes of each written piece.
        expect: A function that gets, before that, a function that returns their total.
    """

    original: Model | Message | str | os.PathLike[str] | None = None
    externalize: int | None = option(
        None,
        "Move immediate constants of N elements or more into the weight file; 10, coremltools' number, without N.",
        least=0,
        is_flag=False,
        flag_value=10,
        metavar="N",
    )
    description: str | os.PathLike[str] | None = option(
        None, "The description, as `miltext describe` writes it, in place of any other.", metavar="TOML"
    )
    prune_weights: bool = option(False, "Remove unused weights, and duplicates of equal weights.")
    renames: Mapping[str, str] | None = None
    versions: Versions | None = None
    allow_unproven: bool = option(
        False, "In an .mlmodelc, also write constructs that no known output of Apple's compiler contains."
    )


@dataclass(frozen=True, kw_only=True)
class BuildChoices(BuildOptions):
    """The options of a build whose original is open.

    `imports` puts the operations of imported models into the program of a text, before `edit`, which is for the verbs
    that change a program; `any_kind` is for the verbs that write any model as it is. `elsewhere` are entries of the
    description that other models take, by function and name: they are not lost.
    """

    original: Model | None = None
    imports: Edit | None = None
    edit: Edit | None = None
    any_kind: bool = False
    elsewhere: Collection[tuple[str, str]] = ()

    @classmethod
    def of(cls, options: OutputOptions, **own: Any) -> BuildChoices:
        """Return the choices for some options, with further choices."""
        kinds = BuildOptions, WriteOptions
        declared = next((each for each in kinds if isinstance(options, each)), OutputOptions)
        shared = {each.name: getattr(options, each.name) for each in fields(declared)}
        return cls(**{**shared, **own})

    @cached_property
    def asked(self) -> dict[str, Sizes]:
        """The requested sizes of inputs. Raise ModelError (MIL434) for invalid sizes."""
        from miltext.descriptions.ranges import read_ranges

        return read_ranges(self.ranges or {})


NO_CHOICES = BuildChoices()
