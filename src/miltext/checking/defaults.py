"""Default values of omitted parameters, from the table of operations.

Defaults that depend on the arguments of an operation come from `default_inputs` in coremltools 9.0's definitions of
operations, `converters/mil/mil/ops/defs`. A parameter without a default, such as a bias, has no entry.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.checking.inference.operands import Operand, Unknown
from miltext.checking.inference.program import infer_types
from miltext.checking.inference.rules import followed
from miltext.checking.literal_types import literal_type
from miltext.checking.operations import message_path
from miltext.schema.operations import signature
from miltext.schema.types import compatible, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from miltext.checking.inference.operands import Arguments
    from miltext.schema.operations import Signature
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program
    from miltext.schema.types import ListType, TensorType

    Default = Callable[[Arguments], str | float | list[int] | None]

_USUAL = ["int32", "fp32", "bool", "string"]
"""The data types of defaults without another rule: coremltools' types for Python's values."""


def program_defaults(program: Program, dialect: str) -> dict[Path, dict[str, tuple[str, str]]]:
    """Return the defaults of all omitted parameters in a Program, by parameter: type and value."""
    found = {message_path(each.path): defaults(each.arguments, dialect) for each in infer_types(program)}
    return {path: values for path, values in found.items() if values}


def defaults(op: Arguments, dialect: str) -> dict[str, tuple[str, str]]:
    """Return the defaults of an operation's omitted parameters: type and value."""
    known = signature(op.op_type, op.opset)
    if known is None:
        return {}
    left_out = [each for each in known.parameters.values() if not each.required and each.name not in op.operands]
    found = {}
    for parameter in sorted(left_out, key=lambda each: (op.op_type, each.name) in _LAST):
        if value := _default(op, parameter.name, parameter.default):
            made = spelled(_type(value, parameter.name, known, op), dialect)
            found[parameter.name] = made, f"{made}({value})"
    return found


def _type(value: str, name: str, known: Signature, op: Arguments) -> TensorType | ListType:
    """Return the type of a default: usually the type of its literal beside the given arguments.

    If this would change the type of an output, it is the usual type of such a literal: `fill_like` returns fp32 for any
    `ref_tensor`.
    """
    made = literal_type(value, name, known, op.operands, _USUAL)
    domain = known.parameters[name].domain
    same = {each: known.parameters[each].domain for each in op.operands if each in known.parameters}
    operands = {each: op.operands[each] for each, other in same.items() if domain is not None and other == domain}
    usual = literal_type(value, name, known, operands, _USUAL)
    if made == usual:
        return made
    with_it = replace(op, operands={**op.operands, name: [Operand(made)]})
    return made if compatible(followed(op), followed(with_it)) else usual


def _default(op: Arguments, name: str, stated: object) -> str | None:
    """Return the literal of a default; None without a default, or if it depends on unknown facts."""
    rule = _RULES.get((op.op_type, name))
    try:
        value = rule(op) if rule else stated
    except Unknown:
        return None
    return None if value is None else json.dumps(value)


def _spatial(number: int, times: int = 1) -> Default:
    """Return the rule for a default with a number for each spatial dimension of `x`, or for several sides of each."""
    return lambda op: [number] * (times * (len(op.shape("x", least=2)) - 2))


def _epsilon(number: float) -> Default:
    return lambda _: number


def _index_type(op: Arguments) -> str | None:
    """Return the data type of `topk`'s indices, from its declared output if there is one."""
    return "int32" if op.scalar("return_indices", bool, True) else None


_SLIDING: Mapping[str, Default] = {"strides": _spatial(1), "dilations": _spatial(1), "pad": _spatial(0, 2)}

_RULES: Mapping[tuple[str, str], Default] = {
    **{(op, name): rule for op in ("conv", "conv_quantized", "conv_transpose") for name, rule in _SLIDING.items()},
    **{(op, name): _SLIDING[name] for op in ("avg_pool", "l2_pool", "max_pool") for name in ("strides", "pad")},
    ("inverse", "epsilon"): _epsilon(1e-4),
    ("log", "epsilon"): _epsilon(1e-45),
    ("rsqrt", "epsilon"): _epsilon(1e-12),
    ("layer_norm", "axes"): lambda op: [*range(len(op.shape("x")))],
    ("topk", "output_indices_dtype"): _index_type,
}

_LAST = {("avg_pool", "exclude_padding_from_average"), ("conv_quantized", "nbits"), ("random_bernoulli", "prob")}
"""The parameters whose defaults come after the defaults that related operations share."""
