"""The type of an untyped literal, by its parameter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from miltext.checking.findings import one_of
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean
from miltext.diagnostics.wording import listed
from miltext.schema.dtypes import BY_NAME, DTYPES
from miltext.schema.operations import versions
from miltext.schema.types import ListType, TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand
    from miltext.schema.operations import Parameter, Signature

_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\],]|[^\s\[\],"/]+|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DTYPES = {
    "bool": ["bool"],
    "string": ["string"],
    "float": [dtype.name for dtype in DTYPES if dtype.kind == "float"],
    "int": [dtype.name for dtype in DTYPES if dtype.kind in ("float", "int", "uint")],
}
"""The possible data types of elements, by spelling."""


_WORDS = {"bool": "a truth value", "string": "a string", "float": "a fraction", "int": "a whole number"}
"""The words for elements in messages."""


TRUTHS = {"0": "false", "1": "true"}
"""Truth values by their numbers in C and Python."""


class UndecidedType(ValueError):
    """The type cannot be inferred; the message contains the unknown part."""


class Misfit(ValueError):
    """The literal is wrong beside all possible arguments; its finding has this `code` and `suggestion`."""

    def __init__(self, code: str, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.suggestion = suggestion


class Beside:
    """The operands that may determine the type of a literal, by parameter.

    An operation may be bound to thousands of values of few data types: this contains the first two values of each
    parameter and data type.
    """

    def __init__(self, operands: Mapping[str, Sequence[Operand]]) -> None:
        self._first: dict[str, dict[str, list[tuple[int, Operand]]]] = {name: {} for name in operands}
        for name, bound in operands.items():
            for index, operand in enumerate(bound):
                self.note(name, index, operand)

    def note(self, name: str, index: int, operand: Operand) -> None:
        """Record an operand of a parameter, or its newly known type."""
        if isinstance(operand.type, TensorType):
            known = self._first[name].setdefault(operand.type.dtype, [])
            if all(operand is not other for _, other in known):
                known.append((index, operand))
                known.sort(key=_index)
                del known[2:]

    def operands(self, without: Operand | None = None) -> dict[str, list[Operand]]:
        """Return values by their parameters: the first of each data type, as they come, `without` one."""
        found: dict[str, list[Operand]] = {}
        for name, dtypes in self._first.items():
            kept = ([each for each in known if each[1] is not without][:1] for known in dtypes.values())
            found[name] = [operand for _, operand in sorted(chain.from_iterable(kept), key=_index)]
        return found


_index = itemgetter(0)


def literal_type(
    literal: str,
    name: str,
    known: Signature,
    operands: Mapping[str, Sequence[Operand]],
    usual: Sequence[str] | None = (),
    guide: str | None = None,
) -> TensorType | ListType:
    """Return the type of a literal for the parameter `name`, given the operands of the other parameters.

    If parameters of the same data type do not determine it, it is the `guide`, if valid, or the first valid type among
    the `usual` ones. Without `usual`, an argument beside it is unknown, and nothing is guessed. Raise UndecidedType or
    Misfit.
    """
    parameter = known.parameters[name]
    parts = _parts(literal)
    shape, is_tensor = _shape(parts), "tensor" in parameter.kinds
    if not is_tensor and not ("list" in parameter.kinds and len(shape) == 1):
        raise Misfit(
            codes.WRONG_KIND_OF_ARGUMENT, f"`{name}` of `{known.name}` takes {one_of(parameter.kinds)}, not a tensor"
        )
    looks = {_look(part) for part in parts if part not in ("[", "]", ",")}
    fitting = _fitting(looks, parameter, known, TRUTHS.get(literal) or _array_meant(literal))
    dtype = fitting_dtype(fitting, parameter, known, operands, is_whole=looks == {"int"}, usual=usual, guide=guide)
    return TensorType(dtype, shape) if is_tensor else ListType(TensorType(dtype, ()), shape[0])


def usual_type(literal: str, usual: Sequence[str]) -> TensorType:
    """Return the type of a literal without a parameter: the first possible type among the `usual` ones.

    Raise Misfit.
    """
    parts = _parts(literal)
    fitting = _possible({_look(part) for part in parts if part not in ("[", "]", ",")})
    return TensorType(next(dtype for dtype in usual if dtype in fitting), _shape(parts))


def _parts(literal: str) -> list[str]:
    return [part for part in _PART.findall(literal) if not part.startswith(("//", "/*"))]


def _look(element: str) -> str:
    if element not in ("true", "false") and element.lower() in ("true", "false"):
        raise Misfit(codes.WRONG_ELEMENT, f"`{element}` is not a literal{did_you_mean(element.lower())}")
    if element[0] == '"':
        return "string"
    return "bool" if element in ("true", "false") else "int" if _WHOLE.fullmatch(element) else "float"


def _shape(parts: Iterable[str]) -> tuple[int, ...]:
    """Return the number of elements in the first list of each depth; lowering checks the nesting of the others."""
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


def _array_meant(literal: str) -> str | None:
    """Return the array file that a string such as `"w.npy"` names, if any."""
    return f"$npy({literal})" if literal.endswith('.npy"') and literal.startswith('"') else None


def _fitting(looks: set[str], parameter: Parameter, known: Signature, other: str | None) -> list[str]:
    """Return the data types of the parameter that elements of this spelling can have.

    Raise Misfit. `other` is another meaning of the literal: a truth value, or an array in a file.
    """
    possible = _possible(looks)
    fitting = [dtype for dtype in possible if dtype in parameter.dtypes or not parameter.dtypes]
    if not fitting:
        takes = f"`{parameter.name}` of `{known.name}` takes {listed(sorted(parameter.dtypes))}"
        look = "float" if "float" in looks else next(iter(looks), "int")
        meant = other if (parameter.dtypes == {"bool"}) == (other in TRUTHS.values()) else None
        raise Misfit(codes.UNSUPPORTED_DTYPE, f"{takes}, not {_WORDS[look]}{did_you_mean(meant)}", meant)
    return fitting


def _possible(looks: set[str]) -> list[str]:
    """Return the possible data types of elements with these spellings. Raise Misfit."""
    if len(looks) > 1 and looks != {"int", "float"}:
        words = " and ".join(sorted(_WORDS[look] for look in looks))
        raise Misfit(codes.WRONG_ELEMENT, f"the elements of a literal are of one data type, and here are {words}")
    look = next(iter(looks & {"float"} or looks), None)
    return [dtype.name for dtype in DTYPES] if look is None else _DTYPES[look]


def fitting_dtype(
    fitting: Sequence[str],
    parameter: Parameter,
    known: Signature,
    operands: Mapping[str, Sequence[Operand]],
    *,
    is_whole: bool,
    usual: Sequence[str] | None,
    guide: str | None = None,
) -> str:
    """Return the data type of a constant as a parameter, among the `fitting` ones: the only one, or the type of a
    parameter that must share it, or of any other parameter.

    Several values of one parameter share it, too, except values for the inputs of a block. Whole numbers are fractions
    only beside a fraction that shared its data type in an older opset: as weights. Raise UndecidedType.
    """
    choices = [dtype for dtype in shared_dtypes(parameter, known, operands) if dtype in fitting]
    if len(fitting) == 1:
        choices = [*fitting]
    elif not choices and usual is not None:
        older = _dtypes(_once_shared(known.name, parameter.name), operands) if is_whole else []
        followed = [dtype for dtype in older if dtype in fitting and BY_NAME[dtype].kind == "float"]
        whole = ["int32"] if is_whole and "int32" in fitting else []
        others = [dtype for dtype in _dtypes(known.parameters, operands) if dtype in fitting]
        left = [dtype for dtype in usual if dtype in fitting]
        choices = ([guide] if guide in fitting else []) or followed or whole or others or left  # type: ignore[list-item]
    if not choices:
        raise UndecidedType(
            f"`{parameter.name}` takes {listed(fitting)}, and the context does not determine which; write it out"
        )
    return choices[0]


@cache
def _once_shared(op_type: str, name: str) -> list[str]:
    """Return the parameters of an operation that share a data type with one in some opset."""
    found = {
        other.name
        for known in versions(op_type)
        for other in (known.parameters.values() if name in known.parameters else ())
        if other.name != name and other.domain is not None and other.domain == known.parameters[name].domain
    }
    return sorted(found)


def shared_dtypes(parameter: Parameter, known: Signature, operands: Mapping[str, Sequence[Operand]]) -> list[str]:
    """Return the data types of a parameter's operands, and of the operands of parameters with the same data type.

    Values for the inputs of a block share none.
    """
    alone = {block.inputs for block in known.blocks}
    same = [
        name
        for name, other in known.parameters.items()
        if (name not in alone if other is parameter else other.domain is not None and other.domain == parameter.domain)
    ]
    return _dtypes(same, operands)


def _dtypes(names: Iterable[str], operands: Mapping[str, Sequence[Operand]]) -> list[str]:
    found = (operand.type for name in names for operand in operands.get(name, ()))
    return [each.dtype for each in found if isinstance(each, TensorType)]
