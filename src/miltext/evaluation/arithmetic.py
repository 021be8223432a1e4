"""The ways to compute fp16: which rules differ, and how products of matrices are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.evaluation.rules import RULES
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, StatedGraph
    from miltext.evaluation.rules import Multiply, Rule
    from miltext.ir.parts import Op
    from miltext.schema.types import Type

COMPUTING = ("float32", "native", "ane", "cpu")
"""The names of the ways to compute fp16."""

DEVICES = ("ane", "cpu")
"""The ways to compute fp16 as devices do."""

CHIPS = ("M4", "M6")
"""The chips whose Neural Engines were measured; the first one is the default."""

NO_SOURCES: Mapping[str, Sequence[Binding]] = {}


class Chosen(NamedTuple):
    """The computation of an operation: its rule, and whether it takes fp16 as it is carried.

    `multiply` is the device's product of matrices, and `sources` replace arguments of the operation. `is_own` is true
    for an operation that a device computes in its own way.
    """

    rule: Rule
    is_held: bool
    multiply: Multiply | None = None
    sources: Mapping[str, Sequence[Binding]] = NO_SOURCES
    is_own: bool = False


class Arithmetic:
    """A way to compute fp16, by its name in COMPUTING. A device's own rules serve operations with fp16 results."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rules: Mapping[str, Rule] = {}
        self._quantized: Mapping[str, Rule] = {}
        self._multiply: Multiply | None = None
        if name == "ane":
            from miltext.evaluation.devices.engine_rules import ENGINE
            from miltext.evaluation.devices.fixed_point import engine_products
            from miltext.evaluation.devices.quantized import QUANTIZED

            self._rules, self._quantized, self._multiply = ENGINE, QUANTIZED, engine_products
        elif name == "cpu":
            from miltext.evaluation.devices.sequential import cpu_products

            self._multiply = cpu_products

    def chosen(self, op: Op, op_type: str, types: Sequence[Type], graph: StatedGraph) -> Chosen:
        """Return the computation of an operation with outputs of these types."""
        rule, is_native = RULES[op_type], self.name == "native"
        if self._multiply is None or not _is_half(types):
            return Chosen(rule, is_native)
        if op_type in self._quantized:
            from miltext.evaluation.devices.quantized import quantized_arguments

            sources = quantized_arguments(op, graph)
            if sources is not None:
                return Chosen(self._quantized[op_type], True, None, sources, True)
        if "Multiply" in rule.forms.values():
            return Chosen(rule, True, self._multiply, is_own=True)
        own = self._rules.get(op_type)
        return Chosen(rule, False) if own is None else Chosen(own, True, is_own=True)


def _is_half(types: Sequence[Type]) -> bool:
    return len(types) == 1 and isinstance(types[0], TensorType) and types[0].dtype == "fp16"
