"""A call in progress: the arguments of an operation, from its recipe and from the table of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from miltext.checking.inference.operands import Arguments
from miltext.generation.constants import filling, operand_of, tensor_constant
from miltext.generation.elements import elements_for
from miltext.generation.options import COMMON
from miltext.generation.scope import ChosenArgument, Redraw, ScopedValue
from miltext.generation.shapes import HIGHEST_RANK, Sizes, elements_in, fit, has_known_sizes, make
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import ListType, Shape, TensorType, Type

if TYPE_CHECKING:
    from miltext.checking.inference.operands import NestedBlock
    from miltext.generation.choices import Choices
    from miltext.generation.constants import Number
    from miltext.generation.scope import FunctionScope
    from miltext.schema.operations import Parameter, Signature
    from miltext.schema.proto import Block, Value

PREFERRED = (*COMMON, *BY_NAME)
"""Data types in the order of their simplicity."""

FLOATS = frozenset(["fp16", "fp32"])
"""The data types of parameters that share a domain in coremltools' definitions, such as `epsilon` and `gamma`."""

POSITIVE = frozenset(["variance"])
"""Parameters whose numbers are above 0."""

DECIDED_BY_VALUES = frozenset(["non_zero"])
"""Operations whose values determine the size of their output, which may be empty."""


class Requirements(NamedTuple):
    """The requirements of a tensor: a `shape`; or known sizes with a `least` rank, or with the condition `where`.

    A `fresh` tensor is finite.
    """

    shape: Shape | None = None
    least: int = 0
    where: Callable[[tuple[int, ...]], bool] | None = None
    fresh: bool = False

    @property
    def leaves_open(self) -> bool:
        """Whether sizes may be unknown."""
        return self.shape is None and not self.least and self.where is None

    def takes(self, shape: Shape) -> bool:
        """Return whether a shape meets the requirements."""
        if self.shape is not None:
            return shape == self.shape
        known = tuple(size for size in shape if size is not None)
        if len(known) < len(shape):
            return self.leaves_open
        return len(shape) >= self.least and (self.where is None or self.where(known))


class Growing(Protocol):
    """The interface of a growing block for calls and recipes: see `growing.Growth`."""

    scope: FunctionScope
    items: list[ScopedValue]

    @property
    def outer(self) -> Growing | None: ...
    def in_reach(self) -> list[ScopedValue]: ...
    def grow(self, count: int) -> int: ...
    def add(self, op_type: str) -> list[ScopedValue]: ...
    def call(self, op_type: str, **arguments: ScopedValue) -> list[ScopedValue]: ...
    def constant(self, stem: str, value: Value, type: TensorType | ListType) -> ScopedValue: ...
    def value_of(self, type: Type, count: int | None = None) -> ScopedValue: ...
    def takes_cast(self, type: TensorType) -> bool: ...
    def cast(self, item: ScopedValue, dtype: str) -> ScopedValue: ...
    def inner(self, given: Sequence[ScopedValue] = ()) -> Growing: ...
    def block(self, outputs: Sequence[str], inputs: Sequence[ScopedValue] = ()) -> Block: ...


class Call:
    """The chosen arguments of an operation.

    `sizes` are the values of the names in the table's patterns, `dtypes` the data types of its domains. `length` is the
    certain number of elements in the list that it returns, and `is_fixed` is true if it has no others; `may_be_empty`
    is true if values decide sizes of its outputs.
    """

    def __init__(self, growth: Growing, known: Signature) -> None:
        self.growth = growth
        self.scope = growth.scope
        self.choices: Choices = growth.scope.choices
        self.known = known
        self.given: dict[str, list[ChosenArgument]] = {}
        self.left_out: set[str] = set()
        self.sizes: Sizes = {}
        self.dtypes: dict[str, str] = {}
        self.messages: list[Block] = []
        self.blocks: list[NestedBlock] = []
        self.length = 0
        self.may_be_empty = known.name in DECIDED_BY_VALUES
        self.is_fixed = False

    def arguments(self) -> Arguments:
        """Return the complete arguments for inference."""
        operands = {name: [given.operand for given in row] for name, row in self.given.items()}
        return Arguments(self.known.name, operands, self.scope.opset, self.blocks)

    # ---- the known facts

    def has(self, name: str) -> bool:
        """Return whether the operation has a parameter, in this opset."""
        return name in self.known.parameters

    def parameter(self, name: str) -> Parameter:
        """Return a parameter of the operation."""
        return self.known.parameters[name]

    def type(self, name: str) -> TensorType:
        """Return the type of the first tensor that was given for a parameter."""
        found = self.given[name][0].operand.type
        if not isinstance(found, TensorType):
            raise Redraw
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor that was given. Raise Redraw where a size is not known."""
        shape = self.type(name).shape
        known = tuple(size for size in shape if size is not None)
        if len(known) != len(shape):
            raise Redraw
        return known

    def size(self, name: str) -> int:
        """Return the value of a name in the patterns. Raise Redraw for an unknown one."""
        size = self.sizes.get(name)
        if not isinstance(size, int):
            raise Redraw
        return size

    def is_computed(self) -> bool:
        """Return whether an argument is known only at run time, which is not required without inputs."""
        constant = all(given.operand.constant for row in self.given.values() for given in row)
        return not constant or not self.scope.options.inputs

    def steps_of_weight(self, others: int) -> int:
        """Choose a free size of a weight, given the number of `others`, the elements of each step."""
        return max(self.choices.integer(1, 3), -(-self.scope.options.weights // others))

    def is_weight(self, name: str, shape: Shape) -> bool:
        """Return whether a tensor is a weight of the requested size, if any, and so a constant."""
        least = self.scope.options.weights
        return 0 < least <= elements_in(shape) and name.startswith("weight") and has_known_sizes(shape)

    # ---- giving

    def give(self, name: str, *given: ChosenArgument) -> None:
        """Bind a parameter, and record the facts about others that follow from its shape and its data type."""
        self.given.setdefault(name, []).extend(given)
        made, known = given[0].operand.type, self.known.parameters.get(name)
        if known is not None and isinstance(made, TensorType):
            if known.domain is not None:
                self.dtypes.setdefault(known.domain, made.dtype)
            self.sizes = fit(known.shape, made.shape, self.sizes) or self.sizes

    def give_item(self, name: str, item: ScopedValue) -> None:
        """Bind a parameter to a value in scope."""
        self.may_be_empty |= item.may_be_empty
        self.give(name, ChosenArgument(item.operand, item.name))

    def leave_out(self, *names: str) -> None:
        """Leave optional parameters out that were not given."""
        self.left_out.update(names)

    def number(self, name: str, *elements: Number, shape: Shape | None = None, dtype: str | None = None) -> None:
        """Bind a constant: a scalar, or a tensor of a shape."""
        self.give(name, self.constant(name, TensorType(dtype or self.dtype(name), shape or ()), elements))

    def vector(self, name: str, elements: Sequence[Number], dtype: str | None = None) -> None:
        """Give a constant vector."""
        self.number(name, *elements, shape=(len(elements),), dtype=dtype)

    def filled(self, name: str, shape: Shape, *, dtype: str | None = None, positive: bool = False) -> None:
        """Give a constant of a shape, with generated numbers."""
        self.give(name, self.constant(name, TensorType(dtype or self.dtype(name), shape), positive=positive))

    def constant(
        self, name: str, type: TensorType, elements: Sequence[Number] | None = None, *, positive: bool = False
    ) -> ChosenArgument:
        """Return a constant for a parameter, by default with generated numbers.

        Raise Redraw for numbers outside of its data type.
        """
        dtype = BY_NAME[type.dtype]
        if not has_known_sizes(type.shape):
            raise Redraw
        if elements is None:
            elements = filling(self.choices, positive=positive or name in POSITIVE).numbers(type)
        elif "int" in dtype.kind and not all(dtype.minimum <= int(each) <= dtype.maximum for each in elements):
            raise Redraw
        return self.held(name, tensor_constant(type, elements), type)

    def held(self, name: str, value: Value, type: TensorType | ListType) -> ChosenArgument:
        """Return an argument with a value: a literal, or a separate `const`."""
        known = self.known.parameters.get(name)
        is_weight = isinstance(type, TensorType) and self.is_weight(name, type.shape)
        if (is_weight or self.scope.names_constants) and not (known is not None and known.attribute):
            item = self.growth.constant(f"{self.known.name}_{name}", value, type)
            return ChosenArgument(item.operand, item.name)
        return ChosenArgument(operand_of(value, type), value=value)

    # ---- tensors

    def tensor(
        self,
        name: str,
        wanted: Requirements = Requirements(),  # noqa: B008  # it cannot be changed
        *,
        dtype: str | None = None,
        new: Callable[[], Shape] | None = None,
    ) -> None:
        """Give a tensor: a `wanted` value in scope, or a new one, with a shape by `new` if given.

        A new tensor is always drawn, so that later choices keep their meaning if an earlier operation is removed.
        """
        known = self.parameter(name)
        dtypes = [dtype] if dtype else self.taken(known)
        drawn, shape = self.choices.pick(dtypes), self.new_shape(known, wanted, new)
        fitting = [item for item in self.growth.in_reach() if self.fits(item, known, dtypes, wanted)]
        found = self.choices.pick([*fitting, None])
        is_weight = shape is not None and self.is_weight(name, shape)
        if is_weight and drawn == "int32" and not self.scope.has("ios18"):
            raise Redraw  # weight files contain int32 from ios18 on
        if found is not None and not is_weight:
            self.give_item(name, found)
        elif shape is None:
            raise Redraw
        elif known.constant or is_weight:
            self.give(name, self.constant(name, TensorType(drawn, shape)))
        else:
            self.give(name, self.made(name, TensorType(drawn, shape)))

    def of_shape(self, name: str, shape: Shape, dtype: str | None = None, *, fresh: bool = False) -> None:
        """Give a tensor of a shape: a value in scope, or a new one."""
        self.tensor(name, Requirements(shape, fresh=fresh), dtype=dtype)

    def ranked(self, name: str, least: int = 1) -> None:
        """Give a tensor of known sizes, of the least rank or a higher one."""
        self.tensor(name, Requirements(least=least))

    def sized(self, name: str, where: Callable[[tuple[int, ...]], bool], new: Callable[[], Shape]) -> None:
        """Give a tensor with sizes right by `where`: a value in scope, or a new value with a shape by `new`."""
        self.tensor(name, Requirements(where=where), new=new)

    def fits(self, item: ScopedValue, known: Parameter, dtypes: Sequence[str], wanted: Requirements) -> bool:
        """Return whether a value in scope can be given for a parameter."""
        held = item.type
        if not isinstance(held, TensorType) or held.dtype not in dtypes or (wanted.fresh and not item.fresh):
            return False
        if known.constant and not (item.is_compressed and known.name.startswith("weight")):
            return False
        if item.is_settled and not (known.constant or self.is_computed()):
            return False
        if not wanted.takes(held.shape) or (item.may_be_empty and known.shape):
            return False
        return wanted.shape is not None or fit(known.shape, held.shape, self.sizes) is not None

    def new_shape(self, known: Parameter, wanted: Requirements, new: Callable[[], Shape] | None) -> Shape | None:
        """Return the shape of a new tensor, its first size perhaps open where inputs are flexible; None for none."""
        if wanted.shape is not None:
            return wanted.shape
        shape = new() if new else make(known.shape, self.sizes, self.choices, max(wanted.least, 1))
        if shape is None or (wanted.where and not wanted.takes(shape)):
            return None
        is_first = not any(row for row in self.given.values())
        opens = self.scope.options.flexible and is_first and wanted.leaves_open and not new and not known.constant
        return (None, *shape[1:]) if opens and self.choices.flag() else shape

    def taken(self, parameter: Parameter) -> list[str]:
        """Return the data types that a tensor may have, simplest first. Raise Redraw without any."""
        bound = self.dtypes.get(parameter.domain or "")
        dtypes = [bound] if bound else sorted(parameter.dtypes or COMMON, key=PREFERRED.index)
        only = len(parameter.dtypes) == 1
        allowed = [each for each in dtypes if only or self.scope.options.allows_dtype(each)]
        if not allowed:
            raise Redraw
        return allowed

    def dtype(self, name: str) -> str:
        """Choose the data type of a constant: the data type of its domain, if it has one; for floats, the type of other
        floats.
        """
        parameter = self.parameter(name)
        bound = self.dtypes.get(parameter.domain or "")
        if parameter.domain is None and parameter.dtypes == FLOATS:
            bound = self.dtypes.get("U") or self.dtypes.get("T")
        return bound or self.choices.pick(sorted(parameter.dtypes, key=PREFERRED.index))

    def made(self, name: str, type: TensorType) -> ChosenArgument:
        """Return a new value: an input of the function, a cast input, or a constant.

        Raise Redraw where all arguments would be constants: such an operation tests little, and coremltools computes it
        while it loads.
        """
        if self.scope.takes_input(type):
            item = self.scope.add_input(type)
            return ChosenArgument(item.operand, item.name)
        if self.growth.takes_cast(type):
            item = self.growth.cast(self.scope.add_input(TensorType("fp32", type.shape)), type.dtype)
            return ChosenArgument(item.operand, item.name)
        if not self.is_computed():
            raise Redraw
        return self.constant(name, type)

    # ---- the rest, by the table

    def fill(self) -> None:
        """Bind all missing required parameters, and some of the others."""
        rest = [each for each in self.known.parameters.values() if each.name not in {*self.given, *self.left_out}]
        for parameter in sorted(rest, key=lambda each: (not each.required, each.constant)):
            if parameter.required or parameter.asked is not None or self.choices.flag():
                self.fill_in(parameter)

    def fill_in(self, parameter: Parameter) -> None:
        """Bind a parameter by the facts of the table. Raise Redraw if they do not suffice."""
        if parameter.variadic or "tensor" not in parameter.kinds:
            raise Redraw
        if not _says_how(parameter):
            self.tensor(parameter.name)
            return
        shape = make(parameter.shape, self.sizes, self.choices)
        if shape is None:
            raise Redraw
        dtype = self.dtype(parameter.name)
        elements = elements_for(parameter, TensorType(dtype, shape), self.sizes, self.choices)
        if elements is None:
            raise Redraw
        self.number(parameter.name, *elements, shape=(len(elements),) if len(shape) == 1 else shape, dtype=dtype)


def _says_how(parameter: Parameter) -> bool:
    """Return whether a parameter controls the computation: a number or a word, or a row of them."""
    highest = max((HIGHEST_RANK if each.ranks[1] is None else each.ranks[1] for each in parameter.shape), default=2)
    return (parameter.constant and highest == 0) or (highest < 2 and not parameter.dtypes & FLOATS)
