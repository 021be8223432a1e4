"""The values of a function in a conversion: their types before and after, and the type that each use needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.schema.types import ListType, StateType, TensorType, Type

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand
    from miltext.conversion.numbers import Numbers
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op, Use, Value


class Precisions(NamedTuple):
    """The data type to remove, and its replacement."""

    old: str
    new: str

    def of(self, type: Type) -> Type:
        """Return the replacement of a type inside the program."""
        if isinstance(type, TensorType):
            return type._replace(dtype=self.new) if type.dtype == self.old else type
        return type._replace(element=self.of(type.element)) if isinstance(type, ListType) else type

    def with_states(self, type: Type) -> Type:
        """Return the replacement of a type at the border of the program."""
        return StateType(self.of(type.wrapped)) if isinstance(type, StateType) else self.of(type)


def dtype_of(type: Type) -> str | None:
    """Return the data type of a tensor, of the elements of a list, or of the type inside a state."""
    if isinstance(type, ListType):
        return dtype_of(type.element)
    if isinstance(type, StateType):
        return dtype_of(type.wrapped)
    return type.dtype if isinstance(type, TensorType) else None


class Cast(NamedTuple):
    """A cast that a value needs: the operation after it, None at the end; and the number of earlier idle casts."""

    before: Op | None
    idle: int


class Known:
    """The facts of a value in a `block`: `operand` is the old operand, and `type` the type from now on.

    `uses` are the uses in the block, with the data type, or word, that each needs; `casts` the casts necessary for
    them, by their data type; `idle` the casts that the value replaces. `wide` is the name of a constant beyond fp16, if
    the value comes only from such constants. The value `counts` if it may have integers that fp16 does not contain, and
    is `exact` if it is a kept cast of integers.
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
        """The new data type."""
        return dtype_of(self.type)

    def use(self, use: Use, wanted: str | None) -> None:
        """Record a use, in the order of the text."""
        self.uses[use] = wanted
        if wanted is not None and wanted != self.dtype and wanted not in self.casts:
            self.casts[wanted] = Cast(self.block.holding(use.user), len(self.idle))


class KnownConstant(Known):
    """A constant that gets the type of its uses, or a copy of it: `numbers`, or the name of a data type.

    `following` is the operation after it. `named` is the data type that keeps the name if both are needed. A constant
    that `lost_a_use` is removed if no other use is left.
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
