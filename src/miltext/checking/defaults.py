"""Defaults: what stands for the parameters that an operation leaves out, where the table of operations says so.

Defaults that depend on what an operation is given are those of `default_inputs` in coremltools 9.0's definitions of
operations, `converters/mil/mil/ops/defs`. What has no default, as a bias, is none of this.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from miltext.checking.draft_constants import usual_dtypes
from miltext.checking.inference.operands import Unknown
from miltext.checking.inference.program import Walk, declare
from miltext.checking.inference.reading import read_program
from miltext.checking.literal_types import Undecided, literal_type
from miltext.checking.operations import message_path
from miltext.schema.operations import signature
from miltext.schema.types import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from miltext.checking.inference.operands import Arguments
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program

    Default = Callable[[Arguments], Any]


def program_defaults(program: Program, dialect: str) -> dict[Path, dict[str, tuple[str, str]]]:
    """Return the defaults of all that the operations of a Program leave out, by parameter: type and value."""
    read = read_program(program)
    usual = {name: usual_dtypes(declare({}, function.inputs).values()) for name, function in read.functions.items()}
    found = {
        message_path(each.path): defaults(each.arguments, usual[str(each.path[0])], dialect)
        for each in Walk().program(read)
    }
    return {path: values for path, values in found.items() if values}


def defaults(op: Arguments, usual: Sequence[str], dialect: str) -> dict[str, tuple[str, str]]:
    """Return the defaults of the parameters that an operation leaves out: type and value.

    Of what nothing else decides, the data type is the first of the `usual` ones that fits.
    """
    known = signature(op.op_type, op.opset)
    found = {}
    for name, parameter in known.parameters.items() if known else ():
        if not parameter.required and name not in op.operands and (value := _default(op, name, parameter.default)):
            try:
                made = literal_type(value, name, known, op.operands, usual)  # type: ignore[arg-type]  # it is known here
            except Undecided:
                continue
            found[name] = spelled(made, dialect), f"{spelled(made, dialect)}({value})"
    return found


def _default(op: Arguments, name: str, stated: object) -> str | None:
    """Return the literal of a default; None where there is none, or it hangs on what is not known."""
    rule = _RULES.get((op.op_type, name))
    try:
        value = rule(op) if rule else stated
    except Unknown:
        return None
    return None if value is None else json.dumps(value)


def _spatial(number: int, times: int = 1) -> Default:
    """Make the rule of a number for each spatial dimension of `x`, or for so many sides of each."""
    return lambda op: [number] * (times * (len(op.shape("x", least=2)) - 2))


def _epsilon(number: float) -> Default:
    return lambda _: number


def _index_type(op: Arguments) -> str | None:
    """Return the data type of `topk`'s indices, which may be stated where it gives them back."""
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
