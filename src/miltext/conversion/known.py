"""What a conversion knows of the values of a function: their types before and after, and what each use wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.schema.types import ListType, StateType, TensorType, Type

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand
    from miltext.conversion.numbers import Numbers
    from miltext.ir.parts import Block, Op, Use, Value


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


class Cast(NamedTuple):
    """A cast that a value needs: the operation to stand before, None for the end; how many idle casts come earlier."""

    before: Op | None
    idle: int


class Known:
    """The facts of a value in a `block`: `operand` is what it was, and `type` the type that it has from now on.

    `uses` are the uses in the block, with the data type, or word, that each wants; `casts` those that these need, by
    the data type that they give; `idle` the casts whose place the value takes. `wide` is the name of a constant that is
    beyond fp16, if that is all that it comes of. It `counts` if it may be of whole numbers that fp16 does not have, and
    is `exact` if it is a cast of whole numbers that stays as it is.
    """

    def __init__(self, value: Value, operand: Operand, type: Type, block: Block) -> None:
        self.value = value
        self.operand = operand
        self.type = type
        self.block = block
        self.wide = ""
        self.counts = False
        self.exact = False
        self.uses: dict[Use, str | None] = {}
        self.casts: dict[str, Cast] = {}
        self.idle: list[Op] = []

    @property
    def dtype(self) -> str | None:
        """The data type that it has from now on."""
        return dtype_of(self.type)

    def use(self, use: Use, wanted: str | None) -> None:
        """Note a use, in the order of the text."""
        self.uses[use] = wanted
        if wanted is not None and wanted != self.dtype and wanted not in self.casts:
            self.casts[wanted] = Cast(self.block.holding(use.user), len(self.idle))


class KnownConstant(Known):
    """A constant that becomes what is wanted of it, or has a copy that does: `numbers`, or a word that is a data type.

    `following` is the operation behind it. `named` is the data type that keeps the name where both are wanted. One that
    `lost_a_use` goes if no other is left.
    """

    def __init__(self, *facts: Any, maker: Op, numbers: Numbers | None) -> None:
        super().__init__(*facts)
        self.maker = maker
        self.following = maker.next
        self.numbers = numbers
        self.named: str | None = None
        self.lost_a_use = False

    def use(self, use: Use, wanted: str | None) -> None:
        self.uses[use] = wanted
