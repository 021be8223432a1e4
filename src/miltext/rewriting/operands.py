"""The values that a match binds to the names of a pattern, and facts about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from miltext.evaluation.rules import Array, UnfitValues
from miltext.evaluation.values import CARRIERS, Constants
from miltext.files.refusals import WeightsError
from miltext.ir.parts import Op, Value, literal_of, maker_of
from miltext.parsing.lowering.left_out import MARK
from miltext.rewriting.expressions import UnknownFact
from miltext.rewriting.literals import literal_message
from miltext.schema.tensors import Computed, InType
from miltext.schema.types import TensorType, Type, is_whole, read_type

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.ir.parts import Operand
    from miltext.schema import proto
    from miltext.weight_files.model_weights import BlobFolder

    Compute = Callable[["BoundValue"], Any]


AXES = ("axis", "axes")
"""The parameters that count dimensions, from the end if they are negative."""

GROWING = {"expand_dims": None, "stack": 1}
"""The operations with axes of the result, with the number of new dimensions; None for the number of axes."""


class BoundValue(NamedTuple):
    """A bound name: a value of the program, or a literal, as an argument of an operation, counted axes resolved.

    A left out argument has no operand, or the literal of its default; it is not `given`.
    """

    operand: Operand
    op: Op
    parameter: str
    given: bool = True

    @property
    def type(self) -> Type:
        """The type, None if it is unknown."""
        if isinstance(self.operand, Value):
            return self.operand.type
        return None if self.operand is None else read_type(self.operand.type)

    @property
    def literal(self) -> proto.Value | None:
        """The constant that the operand is, or that a `const` makes; None for any other operand."""
        return literal_of(self.operand)


class ConstantContents:
    """Reads constants of a program: those in weight files, in the folder, and the `arrays` that a text names.

    With `arrays`, computed constants may be stored in a weight file, unless `stores` is false. Without, they are
    literals: nothing is written, or a text, which has no weight file of its own.
    """

    def __init__(
        self, folder: Path | BlobFolder | None, arrays: dict[str, InType] | None = None, *, stores: bool | None = None
    ) -> None:
        self._folder = folder
        self.arrays = dict(arrays or {})
        self._constants = self.constants()
        self._stores = arrays is not None if stores is None else stores
        self._kept: dict[int, proto.Value] = {}
        self._unreadable: dict[int, str] = {}

    def constants(self) -> Constants:
        """Return a reader of the constants for the evaluator."""
        return Constants(self._folder, self.arrays)

    def read(self, message: proto.Value) -> Any:
        """Return the contents of a constant: an array, or a list of them. Raise UnknownFact for unreadable ones."""
        self._kept[id(message)] = message  # Constants knows messages by their identity
        if id(message) not in self._unreadable:
            try:
                return self._constants.read(message)
            except (WeightsError, UnfitValues) as failure:
                self._unreadable[id(message)] = f"a constant cannot be read: {failure}"
        raise UnknownFact(self._unreadable[id(message)])

    def store(self, array: Array, *, in_file: bool) -> proto.Value:
        """Return the Value of a computed constant: a literal, or one to be stored in a weight file."""
        made = literal_message(array)
        if in_file and self._stores:
            tensor = Computed(np.ascontiguousarray(array))
            mark = f"{MARK}rewritten/{len(self.arrays)}"
            self.arrays[mark] = InType(tensor, tensor.dtype)
            made.blobFileValue.fileName = mark
        return made

    def array(self, message: proto.Value | None) -> Array | None:
        """Return the array of a constant; None for none, and for an unreadable one or a list."""
        try:
            found = None if message is None else self.read(message)
        except UnknownFact:
            return None
        return found if isinstance(found, np.ndarray) else None


def resolved(bound: BoundValue, array: Array) -> Array:
    """Return the array of a constant; axes are counted from the front."""
    if bound.parameter not in AXES or array.dtype != CARRIERS["int32"]:
        return array
    counted = [each for name in ("x", "values") for each in bound.op.inputs.get(name, ())]
    stated = BoundValue(counted[0], bound.op, "").type if counted else None
    if not isinstance(stated, TensorType):
        return array
    more = GROWING.get(bound.op.type, 0)
    rank = len(stated.shape) + (array.size if more is None else more)
    return np.where(array < 0, array + rank, array).astype(array.dtype)


class MatchFacts:
    """The answers to expressions about a match."""

    def __init__(self, bound: dict[str, BoundValue], contents: ConstantContents) -> None:
        self._bound = bound
        self._contents = contents

    def contents(self, name: str) -> Any:
        """Return the contents of a constant, and a word as itself. Raise UnknownFact for any other value."""
        bound = self._bound.get(name)
        if bound is None:
            return name
        return resolved(bound, self._array(name, bound)).tolist()

    def _array(self, name: str, bound: BoundValue) -> Array:
        found = self._contents.array(bound.literal)
        if found is None:
            raise UnknownFact(f"`{name}` is {'omitted' if bound.operand is None else 'not a constant'}")
        return found

    def ask(self, question: str, name: str) -> Any:
        """Return the answer to a question about a value. Raise UnknownFact for none."""
        bound = self._bound[name]
        if question in ("rank", "dtype", "shape", "sizes"):
            return _of_tensor(question, name, bound)
        if question in _OF_ARRAYS:
            array = self._array(name, bound)
            if not array.size or array.dtype == object:
                raise UnknownFact(f"`{name}` is not a constant with numbers")
            return _OF_ARRAYS[question](name, array)
        return _ANSWERS[question](bound)


def _of_tensor(question: str, name: str, bound: BoundValue) -> Any:
    stated = bound.type
    if not isinstance(stated, TensorType):
        raise UnknownFact(f"`{name}` is not a tensor of a known type")
    if question == "dtype":
        return stated.dtype
    if question == "rank":
        return len(stated.shape)
    if question == "shape" and not is_whole(stated.shape):
        raise UnknownFact(f"`{name}` has an unknown size")
    return [*stated.shape]


def _number(name: str, array: Array) -> Any:
    """Return the number that all elements of an array are. Raise UnknownFact if they differ in any bit."""
    data = array.reshape(-1)
    if data[:1].tobytes() * data.size != data.tobytes():
        raise UnknownFact(f"the elements of `{name}` differ")
    return data[0].item()


_OF_ARRAYS: dict[str, Callable[[str, Array], Any]] = {
    "finite": lambda _, array: bool(np.isfinite(array.astype(np.float64)).all()),
    "lowest": lambda _, array: float(array.astype(np.float64).min()),
    "highest": lambda _, array: float(array.astype(np.float64).max()),
    "number": _number,
    "negative": lambda _, array: bool(np.signbit(array.astype(np.float64)).any()),
}


def _uses(bound: BoundValue) -> int:
    return len(bound.operand.uses) if isinstance(bound.operand, Value) else 1


def _users(bound: BoundValue) -> list[str]:
    if not isinstance(bound.operand, Value):
        return [bound.op.type]
    return sorted({use.op.type if use.op else "" for use in bound.operand.uses})


def _maker(bound: BoundValue) -> str:
    maker = maker_of(bound.operand)
    return maker.type if maker else ""


_ANSWERS: dict[str, Compute] = {
    "constant": lambda bound: bound.literal is not None,
    "compressed": lambda bound: (
        bound.literal is None and isinstance(bound.operand, Value) and bound.operand.is_constant
    ),
    "given": lambda bound: bound.given,
    "uses": _uses,
    "users": _users,
    "maker": _maker,
}
