"""The exact data of the entries of a Difference, from which `miltext.apply` carries them out.

An entry shows a text for people; its Edits are the same as parts of the two graphs. An `old` part only names the place
in the old program. A `new` part gives its own contents, and the values that it uses are looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.descriptions.parts import PartStep
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Operand, Value
    from miltext.models.model import Model
    from miltext.schema import proto


# ---- programs, functions and blocks


class ProgramFieldEdit(NamedTuple):
    """Another `version` or `docString` of a program."""

    field: str
    value: int | str


class AttributeEdit(NamedTuple):
    """Another attribute, or another `entry` of a dictionary in it; None as the value of a removed one.

    The holder is an operation, a block or a function; None for the program.
    """

    holder: Op | Block | Function | None
    key: str
    entry: proto.Value | None
    value: proto.Value | None


class FunctionEdit(NamedTuple):
    """A function that both programs have, under its new name.

    `may_clash` is true if several values of the new function have one name. `loose` are constants of the old function
    without an entry, or shown only with their uses.
    """

    old: Function
    name: str
    may_clash: bool
    loose: tuple[Op, ...]


class FunctionAdded(NamedTuple):
    """A function that only the new program has."""

    name: str
    new: Function


class FunctionRemoved(NamedTuple):
    """A function that only the old program has."""

    old: Function


class OpsetEdit(NamedTuple):
    """Another opset of a function, or of a block in `blocks`, from old to new; None for the same opset."""

    old: Function
    opset: str | None
    block: tuple[str, str] | None


class BlockAdded(NamedTuple):
    """A block that only the new program has, at an opset or at an index among inner blocks; without operations."""

    new: Block
    place: str | int


class BlockRemoved(NamedTuple):
    """A block that only the old program has."""

    old: Block


class InputAdded(NamedTuple):
    """An input that only the new function or block has."""

    owner: Function | Block
    new: Value


class InputRemoved(NamedTuple):
    """An input that only the old function or block has."""

    old: Value


class InputsEdit(NamedTuple):
    """The new order of the inputs that a function or block keeps."""

    owner: Function | Block
    inputs: tuple[Value, ...]


class OutputsEdit(NamedTuple):
    """Other outputs of a block."""

    old: Block
    outputs: Sequence[Value]


# ---- operations and values


class OperationAdded(NamedTuple):
    """An operation that only the new block has, with all inside it."""

    new: Op


class OperationRemoved(NamedTuple):
    """An operation that only the old block has."""

    old: Op


class OperationsMoved(NamedTuple):
    """Consecutive operations of both blocks, at the place that they have in the new one."""

    new: tuple[Op, ...]


class OperationEdit(NamedTuple):
    """Another type of an operation."""

    old: Op
    type: str


class ArgumentEdit(NamedTuple):
    """Other operands of a parameter; None for a removed argument."""

    old: Op
    key: str
    operands: Sequence[Operand] | None


class ResultsEdit(NamedTuple):
    """Another number of outputs of an operation."""

    old: Op
    outputs: Sequence[Value]


class TypeEdit(NamedTuple):
    """Another declared type of a value."""

    old: Value
    message: proto.NamedValueType


class NameEdit(NamedTuple):
    """Another name of a value."""

    old: Value
    name: str


class OperationReplaced(NamedTuple):
    """A weight in another form: everything of an operation but the names of itself and its outputs."""

    old: Op
    new: Op


# ---- constants shown at their uses


class ConstantUnused(NamedTuple):
    """A constant that only the old program has, and that is removed with its last use."""

    old: Op


class ConstantReplaced(NamedTuple):
    """A constant whose `edits` make it another one, if nothing uses the old one any more."""

    old: Op
    new: Op
    edits: tuple[Edits, ...]


# ---- models


class PartEdit(NamedTuple):
    """Another part of the message around a program; the steps lead to it, from the outermost message itself."""

    steps: tuple[PartStep, ...]


class OrderEdit(NamedTuple):
    """Another order of the parts at the end of the steps."""

    steps: tuple[PartStep, ...]


class ModelAdded(NamedTuple):
    """A model that only the new pipeline has, at an index."""

    new: Model
    at: int


class ModelRemoved(NamedTuple):
    """A model that only the old pipeline has, at an index."""

    at: int


class ModelEdit(NamedTuple):
    """A model that both pipelines have, at an index of the old one."""

    at: int


class ModelNameEdit(NamedTuple):
    """Another name of a model in a pipeline."""

    name: str


class ModelPlaceEdit(NamedTuple):
    """Another index of a model in a pipeline."""

    at: int


class PipelineNamesEdit(NamedTuple):
    """Other names that belong to no model: names after the names of all models, or omitted empty names."""

    names: tuple[str, ...]
    extra: bool


OfProgram: TypeAlias = (
    ProgramFieldEdit
    | AttributeEdit
    | FunctionEdit
    | FunctionAdded
    | FunctionRemoved
    | OpsetEdit
    | BlockAdded
    | BlockRemoved
    | InputAdded
    | InputRemoved
    | InputsEdit
    | OutputsEdit
)
OfOperation: TypeAlias = (
    OperationAdded
    | OperationRemoved
    | OperationsMoved
    | OperationEdit
    | ArgumentEdit
    | ResultsEdit
    | TypeEdit
    | NameEdit
    | OperationReplaced
    | ConstantUnused
    | ConstantReplaced
)
OfModel: TypeAlias = (
    PartEdit | OrderEdit | ModelAdded | ModelRemoved | ModelEdit | ModelNameEdit | ModelPlaceEdit | PipelineNamesEdit
)
Edit: TypeAlias = OfProgram | OfOperation | OfModel


class Edits:
    """The exact data of one entry: its own edits, and the edits of constants shown only here."""

    __slots__ = ("constants", "own")

    def __init__(self, *own: Edit) -> None:
        self.own = own
        self.constants: list[Edits] = []

    def walk(self) -> Iterator[Edit]:
        """Yield all edits, each once, though constants may be shown in several entries."""
        seen: set[int] = set()
        todo = [self]
        while todo:
            each = todo.pop()
            if id(each) not in seen:
                seen.add(id(each))
                yield from each.own
                todo += each.constants


NO_EDITS = Edits()
"""The data of an entry that only counts others, which have data of their own."""
