"""The parts of a Difference, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miltext.diffing.edits import NO_EDITS, Edits

if TYPE_CHECKING:
    from collections.abc import Iterator


EDITS = "edits"
"""The field of an entry with its exact data, for `miltext.apply`; it is in no form for people or programs."""


@dataclass(frozen=True, slots=True)
class TensorDistance:
    """The distance between two tensors with the same number of elements.

    `changed` of the `count` elements are not the same. `maximum` and `mean` are of the absolute differences, over all
    elements; `snr` is the signal-to-noise ratio in dB, ten times the decimal logarithm of the sum of the old values'
    squares by the sum of the differences' squares: infinite without a difference. A change from or to an infinity or
    NaN makes the three infinite. They are None for truth values.
    """

    count: int
    changed: int
    maximum: float | None = None
    mean: float | None = None
    snr: float | None = None


PORTS = ("input", "state", "output")
"""The kinds of values that callers of a function name."""

EQUAL = "equal numbers"
"""The cause of a difference between weights with the same numbers."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """The reason why a difference follows from another one: the rule's kind, and the name of the first difference.

    `kind` is of the table in `miltext.diffing.consequences`. `cause` is the name of an input or an operation of the new
    program, or of a removed operation; it is empty where all added and removed operations are the cause, and EQUAL for
    a weight in another form, or stored in another way, with the same numbers.
    """

    kind: str
    cause: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change from `old` to `new`, in MIL text apart from weights and long literals; None for an absent one.

    `kind` is the changed part: for an operation its `operation` (the type), an `argument` or `attribute`, the `type` of
    an output, its number of `outputs` or of `blocks`; for a block or function its `opset`, an `attribute`, the type of
    an `input` or a `state`, the order of its `inputs`, or its `outputs`; for a program its `version`, `docString` or an
    `attribute`; for a model its `type`, its `specification` version, a part of its `description`, whether it
    `isUpdatable`, a `field` that the schema does not know, or its `contents`, if its kind is not read; for a compiled
    model a part of its `analytics` or its `metadata.json`, or a `file`, by its size and digest; for a package an
    `overlay` or a value of unknown use in it, an `own text` of the model under an overlay, or an `item` of unknown use;
    for a model in a pipeline its `name` there, or its `place`; for a pipeline its `names`, where they are empty. `name`
    is its name, if there are several.
    Values of the old program have their new names. For a changed constant as an argument, `also` lists the other
    arguments with the same constant, as ("conv", "strides"). A consequence has its reason in `follows`.
    """

    kind: str
    name: str
    old: str | None
    new: str | None
    measure: TensorDistance | None = None
    also: tuple[tuple[str, str], ...] = ()
    follows: Consequence | None = None
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Rename:
    """A changed name: of an `input`, `state` or `output` of a function, of another `value`, or of an operation, in its
    attribute `name`.

    `of` is the new label of an operation with a name. `follows` is the reason of a consequence.
    """

    kind: str
    of: str
    old: str | None
    new: str | None
    follows: Consequence | None = None
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class UnpairedOperation:
    """An operation that only one program has: its outputs' names, its type, its text, its index in the block, and the
    scope of its name, which is empty where few operations differ. `follows` is the reason of a consequence.
    """

    name: str
    type: str
    text: str
    index: int
    scope: str = ""
    repeat: str = field(default="", repr=False, compare=False)
    follows: Consequence | None = None
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)


class AddedOperation(UnpairedOperation):
    """An operation that only the new program has."""

    __slots__ = ()


class RemovedOperation(UnpairedOperation):
    """An operation that only the old program has."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ChangedOperation:
    """An operation that differs itself or in its inner `blocks`.

    `used_as` are the first few uses of a constant as an argument, as ("conv", "strides"). Indexes refer to the two
    blocks.
    """

    name: str
    type: str
    old_index: int
    new_index: int
    changes: tuple[Change, ...]
    blocks: tuple[BlockDifference, ...] = ()
    used_as: tuple[tuple[str, str], ...] = ()
    scope: str = ""
    repeat: str = field(default="", repr=False, compare=False)

    @property
    def follows(self) -> bool:
        """Whether all of its changes follow from others."""
        return all(change.follows is not None for change in self.changes) and not self.blocks


@dataclass(frozen=True, slots=True)
class MovedOperations:
    """Operations, consecutive in both programs, at another place relative to the others.

    `after` is the label of the operation now before them; None if they are the first. `follows` is the reason of a
    consequence.
    """

    names: tuple[str, ...]
    old_index: int
    new_index: int
    after: str | None
    follows: Consequence | None = None
    scope: str = ""
    repeat: str = field(default="", repr=False, compare=False)
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)


OperationDifference = AddedOperation | RemovedOperation | ChangedOperation | MovedOperations


@dataclass(frozen=True, slots=True)
class BlockDifference:
    """The differences of a block. `place` is its opset in a function, its index in an operation; `status` is `added`,
    `removed` or `changed`; `operations` are in the order of the two programs, merged.
    """

    place: str
    status: str = "changed"
    changes: tuple[Change, ...] = ()
    renamed: tuple[Rename, ...] = ()
    operations: tuple[OperationDifference, ...] = ()
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return self.status == "changed" and not (self.changes or self.renamed or self.operations)

    def walk(self) -> Iterator[BlockDifference]:
        """Yield this block, and then all blocks inside its changed operations."""
        yield self
        for operation in self.changed:
            for block in operation.blocks:
                yield from block.walk()

    @property
    def added(self) -> tuple[AddedOperation, ...]:
        """The operations only in the new block."""
        return tuple([each for each in self.operations if isinstance(each, AddedOperation)])

    @property
    def removed(self) -> tuple[RemovedOperation, ...]:
        """The operations only in the old block."""
        return tuple([each for each in self.operations if isinstance(each, RemovedOperation)])

    @property
    def changed(self) -> tuple[ChangedOperation, ...]:
        """The operations that both blocks have, and that differ."""
        return tuple([each for each in self.operations if isinstance(each, ChangedOperation)])

    @property
    def moved(self) -> tuple[MovedOperations, ...]:
        """The operations at another place."""
        return tuple([each for each in self.operations if isinstance(each, MovedOperations)])


@dataclass(frozen=True, slots=True)
class FunctionDifference:
    """The differences of a function. `status` is as in a block; `text` is its head, without the blocks.

    `old_name` differs from `name` after a renaming. `operations` is the number of operations of an added or removed
    function.
    """

    name: str
    old_name: str
    status: str
    text: str
    changes: tuple[Change, ...] = ()
    renamed: tuple[Rename, ...] = ()
    blocks: tuple[BlockDifference, ...] = ()
    operations: int = 0
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        has_changes = self.changes or self.renamed or self.blocks
        return (self.status, self.name) == ("changed", self.old_name) and not has_changes


@dataclass(frozen=True, slots=True)
class WeightPlace:
    """The place of a weight: the file name in the program, and the offset of the record."""

    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A weight or another long tensor with different elements: its function, operation and parameter, its type, and its
    old and new place (None for a value in the program itself).

    `measure` is None if a weight file could not be read, so that places were compared. A weight with a new form of
    compression, or without it now, has an `old_form` and a `new_form`, as in `fp16` and `4-bit palette`: the measure
    compares the decompressed numbers, and the parts of each are not reported. `problem` is the reason why they were
    not compared.
    """

    function: str
    operation: str
    parameter: str
    type: str
    old_place: WeightPlace | None
    new_place: WeightPlace | None
    measure: TensorDistance | None
    old_form: str | None = None
    new_form: str | None = None
    problem: str = ""
    follows: Consequence | None = None
    edits: Edits = field(default=NO_EDITS, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class WeightDifference:
    """The weights that both programs have: the `changed` ones, the number of `equal` ones, and the number of all that
    were `unread`, so that only their places could be compared.
    """

    changed: tuple[WeightChange, ...] = ()
    equal: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True)
class WeightSize:
    """A weight with another number of bytes: its name, the bytes, and its forms, as in `fp16` and `8-bit linear`.

    Where one program does not have it, the bytes are 0 and the form is None. `used_as` are the uses of a constant as an
    argument, as ("conv", "weight").
    """

    name: str
    old_bytes: int
    new_bytes: int
    old_form: str | None
    new_form: str | None
    used_as: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class WeightSizes:
    """The bytes of all weights of two programs, and the weights with another number of bytes, the largest change
    first.
    """

    old_bytes: int = 0
    new_bytes: int = 0
    changed: tuple[WeightSize, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputReach:
    """The names of outputs that may have other numbers than in the old program, and of the others."""

    reached: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffSummary:
    """The facts that matter first.

    `interface` names the changed functions, inputs, outputs and states; `exchanged` are the inputs and outputs with the
    old name of another one: `output y`. `breaks` are the changes that break callers, as from
    `miltext.diffing.breaking`, None if they are unknown. `added` and `removed` are the numbers of operations by
    type, without constants; an operation with another type counts in both.
    """

    interface: tuple[str, ...] = ()
    exchanged: tuple[str, ...] = ()
    breaks: tuple[Change, ...] | None = None
    added: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    sizes: WeightSizes = field(default_factory=WeightSizes)
    outputs: OutputReach = field(default_factory=OutputReach)
