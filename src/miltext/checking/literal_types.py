"""The type of a literal that is written without one, by the parameter that it is for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from miltext.checking.findings import listed, one_of
from miltext.diagnostics.suggestions import did_you_mean
from miltext.schema.dtypes import DTYPES
from miltext.schema.types import ListType, TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand
    from miltext.schema.operations import Parameter

_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\],]|[^\s\[\],"/]+|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DTYPES = {
    "bool": ["bool"],
    "string": ["string"],
    "float": [dtype.name for dtype in DTYPES if dtype.kind == "float"],
    "int": [dtype.name for dtype in DTYPES if dtype.kind in ("float", "int", "uint")],
}
"""The data types that elements may be of, by what they look like."""


class Undecided(ValueError):
    """The type cannot be told; the message says why."""


def literal_type(
    literal: str, name: str, parameters: Mapping[str, Parameter], operands: Mapping[str, Sequence[Operand]]
) -> TensorType | ListType:
    """Return the type of a literal for the parameter `name`, given what the other parameters are bound to.

    Raise Undecided.
    """
    parameter = parameters[name]
    parts = [part for part in _PART.findall(literal) if not part.startswith(("//", "/*"))]
    dtype = _data_type({_look(part) for part in parts if part not in ("[", "]", ",")}, parameter, parameters, operands)
    shape = _shape(parts)
    if "tensor" in parameter.kinds:
        return TensorType(dtype, shape)
    if "list" in parameter.kinds and len(shape) == 1:
        return ListType(TensorType(dtype, ()), shape[0])
    raise Undecided(f"`{name}` takes {one_of(parameter.kinds)}")


def _look(element: str) -> str:
    if element not in ("true", "false") and element.lower() in ("true", "false"):
        raise Undecided(f"`{element}` is not a literal{did_you_mean(element.lower())}")
    if element[0] == '"':
        return "string"
    return "bool" if element in ("true", "false") else "int" if _WHOLE.fullmatch(element) else "float"


def _shape(parts: Iterable[str]) -> tuple[int, ...]:
    """Return how many elements the first list of each depth has; whether all are nested so, lowering judges."""
    shape: list[int] = []
    depth, finished = 0, set[int]()
    for part in parts:
        if part == "]":
            finished.add(depth)
            depth -= 1
        elif part != ",":
            if depth and depth not in finished:
                shape[depth - 1] += 1
            if part == "[":
                depth += 1
                shape += [0] * (depth - len(shape))
    return tuple(shape)


def _data_type(
    looks: set[str],
    parameter: Parameter,
    parameters: Mapping[str, Parameter],
    operands: Mapping[str, Sequence[Operand]],
) -> str:
    """Return the data type: the only one possible, or that of a parameter that must share it, or of any other."""
    look = "float" if looks == {"int", "float"} else looks.pop() if len(looks) == 1 else ""
    fitting = [dtype for dtype in _DTYPES.get(look, ()) if dtype in parameter.dtypes or not parameter.dtypes]
    if not fitting:
        what = f"one of {listed(sorted(parameter.dtypes))}" if parameter.dtypes else "of one data type"
        raise Undecided(f"it is not {what}, which `{parameter.name}` takes")
    beside = [
        (other is parameter or (other.domain is not None and other.domain == parameter.domain), operand.type.dtype)
        for name, other in parameters.items()
        for operand in operands.get(name, ())
        if isinstance(operand.type, TensorType) and operand.type.dtype in fitting
    ]
    shared, others = [dtype for same, dtype in beside if same], [dtype for _, dtype in beside]
    usual = ["int32"] if look == "int" and "int32" in fitting else []
    choices = fitting if len(fitting) == 1 else shared or usual or others
    if not choices:
        raise Undecided(f"`{parameter.name}` takes {listed(fitting)}, and nothing beside it says which; write it out")
    return choices[0]
