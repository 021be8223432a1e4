"""The table of rules: each computes one op, or a family of ops, from its arguments.

A rule is a function whose parameters are the parameters of its ops. The annotation of each is its form:

- `Array`: a tensor to compute with; fp16, bf16 and fp8 as float32 unless computation is native. A scalar has rank 0.
- `Held`: a tensor as it is carried (see `values`), for rules that only move elements.
- `int`, `float`, `bool`, `str`: the one element of a scalar. `Ints`, `Bools`: the elements of a vector.
- `Arrays`, `Helds`: a list of tensors, for a parameter that takes several values.
- `Value`: any value: a list is a Python list of arrays, a state a `State`. `Values`: several of these.

An omitted parameter has the default of the table of operations, or None without one. Some parameters stand for values
around the op: `made: Made` the types that its outputs declare, `opset: OpsetText`, `generator: Generator` for random
numbers, `blocks: Blocks` its blocks, and `widen: Widen` the function that makes an `Array` of a `Held`, for rules that
do so with a part at a time. `multiply: Multiply` is the device's own product of matrices, of fp16 as it is carried, or
None where numpy computes it.

A rule returns one array, or a tuple of them, in any dtype that holds the result, which is rounded to the declared type
afterwards. It never writes into its arguments. It raises UnfitValues for values without a result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from types import EllipsisType
from typing import NamedTuple, TypeAlias

import numpy as np

from miltext.evaluation.carried import Carried
from miltext.schema import packing
from miltext.schema.operations import opset_place
from miltext.schema.types import Type

Array: TypeAlias = packing.Array
Held: TypeAlias = Array
Arrays: TypeAlias = list[Array]
Helds: TypeAlias = list[Held]
Ints: TypeAlias = tuple[int, ...]
Bools: TypeAlias = tuple[bool, ...]
Value: TypeAlias = Carried
Values: TypeAlias = list[Value]
Made: TypeAlias = Sequence[Type]
Blocks: TypeAlias = "Sequence[Callable[..., Generator[Value, None, Values]]]"
Index: TypeAlias = "tuple[slice | int | EllipsisType | None, ...]"
Random: TypeAlias = np.random.Generator
Widen: TypeAlias = Callable[[Held], Array]
Multiply: TypeAlias = "Callable[[Array, Array, Array | None], Array]"


class OpsetText(str):
    """The opset of an op's block, in text spelling."""

    def since(self, opset: str) -> bool:
        """Return whether this is the opset given (text spelling) or a later one."""
        return opset_place(self) >= opset_place(opset)


class UnfitValues(ValueError):
    """Values for which an op has no result; the message is a clause that begins with the parameter at fault."""


class Rule(NamedTuple):
    """A rule, and the form of each of its parameters."""

    function: Callable[..., Value]
    forms: dict[str, str]


RULES: dict[str, Rule] = {}


def rule(*op_types: str, into: dict[str, Rule] = RULES) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Enter a rule into the table for the named ops, by default the table of all rules."""

    def enter(function: Callable[..., Value]) -> Callable[..., Value]:
        parameters = inspect.signature(function).parameters.values()
        forms = {each.name: each.annotation.removesuffix(" | None") for each in parameters}
        into.update(dict.fromkeys(op_types, Rule(function, forms)))
        return function

    return enter
