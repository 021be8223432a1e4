"""Decisions about operations: whether to convert them, and the types that their arguments and outputs then need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Arguments, Operand
from miltext.checking.inference.program import OUTCOMES
from miltext.checking.limits import clashes
from miltext.conversion.halves import rounded
from miltext.schema.types import TensorType, Type, compatible

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Value
    from miltext.conversion.known import Precisions
    from miltext.schema.operations import Parameter, Signature

PRECISE = {
    **dict.fromkeys(("elu", "leaky_relu", "prelu", "thresholded_relu"), ("alpha",)),
    **dict.fromkeys(
        ("clamped_relu", "linear_activation", "scaled_tanh", "sigmoid_hard", "softplus_parametric"), ("alpha", "beta")
    ),
    **dict.fromkeys(("inverse", "log", "rsqrt"), ("epsilon",)),
}
"""Parameters that stay fp32 in an operation of fp16, by the first opset that allows them another type than `x`.
coremltools 9.0 keeps them for accuracy (`FP16ComputePrecision.should_cast_parameter`).
"""

SIZING = {
    "range_1d": ("start", "end", "step"),
    **dict.fromkeys(("upsample_bilinear", "upsample_nearest_neighbor"), ("scale_factor_height", "scale_factor_width")),
}
"""Parameters that determine sizes: they are kept unless fp16 contains their exact number."""


class OldInput(NamedTuple):
    """An input of an operation: its old operand, its present type, and the constant beyond fp16 behind it, if any.

    A constant can become either; its type is the present one unless an operation requires the other.
    """

    operand: Operand
    type: Type
    wide: str

    @property
    def old(self) -> Type:
        """The old type."""
        return self.operand.type


GivenArguments: TypeAlias = "Mapping[str, Sequence[OldInput]]"


class Decision(NamedTuple):
    """The conversion of an operation: the types `required` of its arguments, the arguments that name the new data type,
    and its outputs.

    The omitted defaults `left_out` must be written out in the new data type.
    """

    required: Mapping[str, Sequence[Type]]
    outputs: Sequence[Type]
    words: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()


class Deciding:
    """Decisions about operations in an opset."""

    def __init__(self, precisions: Precisions, opset: str) -> None:
        self.precisions = precisions
        self._opset = opset

    def kept(self, given: GivenArguments, declared: Sequence[Type]) -> Decision:
        """Return the decision to keep an operation; lists and states cannot be cast, and keep their present types."""
        types = {
            name: [each.old if isinstance(each.old, TensorType) else each.type for each in several]
            for name, several in given.items()
        }
        return Decision(types, declared)

    def converted(
        self, op_type: str, known: Signature, given: GivenArguments, declared: Sequence[Type]
    ) -> Decision | None:
        """Return the conversion of an operation; None if its parameters, rules or limits do not allow it."""
        words = frozenset(name for name in given if self._names_type(known, name, given[name]))
        types = {name: [self._wanted(known, name, each) for each in several] for name, several in given.items()}
        new = {
            name: [self._operand(*each, name in words) for each in zip(given[name], types[name], strict=True)]
            for name in given
        }
        left_out = tuple(name for name in known.parameters if name not in given and self._defaults(known, name))
        new |= {name: [Operand(TensorType("string", ()), lambda: self.precisions.new)] for name in left_out}
        if self._clash(known, new):
            return None
        arguments = Arguments(op_type, new, self._opset)
        outcome = OUTCOMES.of(arguments)
        if outcome.clash is not None:
            return None
        changed = bool(words or left_out) or any(
            one != each.old for name in given for one, each in zip(types[name], given[name], strict=True)
        )
        outputs = self._outputs(declared, outcome.inferred, changed)
        return None if outputs is None else Decision(types, outputs, words, left_out)

    # ---- arguments

    def _wanted(self, known: Signature, name: str, given: OldInput) -> Type:
        """Return the required type of an argument."""
        old, parameter = given.old, known.parameters.get(name)
        if not isinstance(old, TensorType):
            return given.type
        if old.dtype != self.precisions.old or parameter is None:
            return old
        if known.name == "cast":
            return given.type
        takes = not parameter.dtypes or self.precisions.new in parameter.dtypes
        return self.precisions.of(old) if takes and not self._is_precise(known, parameter, given.operand) else old

    def _is_precise(self, known: Signature, parameter: Parameter, operand: Operand) -> bool:
        """Return whether a parameter must stay fp32."""
        if self.precisions.new != "fp16":
            return False
        if parameter.name in SIZING.get(known.name, ()):
            return operand.value is None or rounded(operand.value) != operand.value
        x = known.parameters.get("x")
        return x is not None and parameter.domain != x.domain and parameter.name in PRECISE.get(known.name, ())

    def _names_type(self, known: Signature, name: str, several: Sequence[OldInput]) -> bool:
        """Return whether an argument is the name of the old data type, and could be the new one's."""
        parameter = known.parameters.get(name)
        return parameter is not None and self._may_name(parameter) and several[0].operand.value == self.precisions.old

    def _defaults(self, known: Signature, name: str) -> bool:
        parameter = known.parameters[name]
        return self._may_name(parameter) and parameter.default == self.precisions.old

    def _may_name(self, parameter: Parameter) -> bool:
        return {*self.precisions} <= {*parameter.words}

    def _operand(self, given: OldInput, type: Type, is_word: bool) -> Operand:
        """Return an input after the conversion, with its value rounded, if known."""
        operand = given.operand
        if is_word:
            return Operand(operand.type, lambda: self.precisions.new)
        if type == operand.type:
            return operand
        return Operand(type, partial(self._rounded, operand), constant=operand.constant)

    def _rounded(self, operand: Operand) -> Value:
        value = operand.value
        return rounded(value) if self.precisions.new == "fp16" else value

    def _clash(self, known: Signature, new: Mapping[str, Sequence[Operand]]) -> bool:
        """Return whether the data types of a domain differ, or an argument is beyond the limits of its parameter."""
        domains: dict[str, str] = {}
        for name, parameter in known.parameters.items():
            for operand in new.get(name, ()) if parameter.domain else ():
                if isinstance(operand.type, TensorType):
                    assert parameter.domain
                    if domains.setdefault(parameter.domain, operand.type.dtype) != operand.type.dtype:
                        return True
        return any(True for _ in clashes(known, new, "1.3"))

    # ---- outputs

    def _outputs(self, declared: Sequence[Type], inferred: Sequence[Type] | None, changed: bool) -> list[Type] | None:
        """Return the types of the outputs; None if an inferred type is neither the declared one nor its conversion."""
        if inferred is None:
            return [self.precisions.of(old) if changed else old for old in declared]
        if len(inferred) != len(declared):
            return None
        outputs: list[Type] = []
        for old, followed in zip(declared, inferred, strict=True):
            fitting = [each for each in (self.precisions.of(old), old) if compatible(each, followed)]
            if not fitting:
                return None
            outputs.append(fitting[0] if changed or followed is not None else old)
        return outputs
