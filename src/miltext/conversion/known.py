"""What a conversion knows of the values of a function: their types before and after, and all their uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.schema.types import ListType, StateType, TensorType, Type

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand
    from miltext.conversion.numbers import Numbers
    from miltext.conversion.places import BlockPlan
    from miltext.schema.proto import Operation


class Precisions(NamedTuple):
    """The data type that a conversion takes away, and the one that takes its place."""

    old: str
    new: str

    def of(self, type: Type) -> Type:
        """Return the type that takes the place of another, inside the program."""
        if isinstance(type, TensorType):
            return type._replace(dtype=self.new) if type.dtype == self.old else type
        return type._replace(element=self.of(type.element)) if isinstance(type, ListType) else type

    def with_states(self, type: Type) -> Type:
        """Return the type that takes the place of another at the border of the program."""
        return StateType(self.of(type.wrapped)) if isinstance(type, StateType) else self.of(type)


def dtype_of(type: Type) -> str | None:
    """Return the data type of a tensor, of the elements of a list, or of what a state holds."""
    if isinstance(type, ListType):
        return dtype_of(type.element)
    if isinstance(type, StateType):
        return dtype_of(type.wrapped)
    return type.dtype if isinstance(type, TensorType) else None


class Use(NamedTuple):
    """A place where a value is used: what puts a name there, and the data type, or word, that is wanted."""

    put: Callable[[str], object]
    wanted: str | None


class TakenOut(NamedTuple):
    """A cast that gives what its value is by now: its name, its data type, its place, and what it uses."""

    name: str
    dtype: str
    block: BlockPlan
    at: int
    uses: Sequence[tuple[Known, Callable[[str], object]]]


class Known:
    """A value of a function: `operand` is what it was, and `type` the type that it has from now on.

    It is made in a `block`, by the operation `maker`, which stands `at` a place; an input of a block has no maker.
    `wide` is the name of a constant that is beyond fp16, if that is all that it comes of. It `counts` if it may be of
    whole numbers that fp16 does not have, and is `exact` if it is a cast of whole numbers that stays as it is.
    """

    def __init__(
        self, name: str, operand: Operand, type: Type, block: BlockPlan, maker: Operation | None = None
    ) -> None:
        self.name = name
        self.operand = operand
        self.type = type
        self.block = block
        self.maker = maker
        self.at = block.position
        self.wide = ""
        self.counts = False
        self.exact = False
        self.uses: list[Use] = []
        self.casts: dict[str, int] = {}
        """Where a cast has to stand in the block, by the data type that it gives."""
        self.taken_out: list[TakenOut] = []
        """The casts whose place this value takes."""

    @property
    def dtype(self) -> str | None:
        """The data type that it has from now on."""
        return dtype_of(self.type)

    def use(self, put: Callable[[str], object], wanted: str | None) -> None:
        """Note a use, in the operation that is being looked at or in one inside it."""
        self.uses.append(Use(put, wanted))
        if wanted is not None and wanted != self.dtype:
            self.casts.setdefault(wanted, self.block.position)


class KnownConstant(Known):
    """A constant that becomes what is wanted of it, or has a copy that does: `numbers`, or a word that is a data type.

    `named` is what keeps the name where several are wanted. One that `lost_a_use` goes if no other is left.
    """

    def __init__(self, *facts: Any, numbers: Numbers | None) -> None:
        super().__init__(*facts)
        self.maker: Operation
        self.numbers = numbers
        self.named: str | None = None
        self.lost_a_use = False

    def use(self, put: Callable[[str], object], wanted: str | None) -> None:
        self.uses.append(Use(put, wanted))
