"""The requested sizes of inputs, as in `--range x=1,3,64..512,64..512`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from miltext.descriptions.sizes import ANY, Size, read_sizes, spell_sizes
from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.files.refusals import BlamedPart, refusal
from miltext.schema.types import TensorType, read_type, show

if TYPE_CHECKING:
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import ModelError
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import ValueType
    from miltext.schema.types import Dimension

Range: TypeAlias = "str | Sequence[int | tuple[int, int]]"
"""The sizes of an input: as on the command line, or for each dimension a size, or the least and the greatest one."""


def read_ranges(given: Mapping[str, Range], *, are_fixed: bool = False) -> dict[str, Sizes]:
    """Return requested sizes by the input's name. Raise ModelError (MIL434) for invalid sizes."""
    words = (f"{name}={each if isinstance(each, str) else _words(each)}" for name, each in given.items())
    return read_sizes(words, are_fixed=are_fixed)


def _words(sizes: Sequence[int | tuple[int, int]]) -> str:
    return f"[{','.join(str(each) if isinstance(each, (int, Size)) else '..'.join(map(str, each)) for each in sizes)}]"


def by_function(asked: Mapping[str, Sizes], after: Mapping[str, Interface]) -> dict[str, dict[str, Sizes]]:
    """Return the requested sizes for the inputs of each function that has such an input and allows them.

    Raise ModelError (MIL425) for a name without an input, and for sizes that no function allows.
    """
    known = sorted({name for interface in after.values() for name in interface.inputs})
    found: dict[str, dict[str, Sizes]] = {function: {} for function in after}
    for name, sizes in asked.items():
        if name not in known:
            guess = did_you_mean(nearest(name, known))
            raise refusal(codes.IMPOSSIBLE_RANGE, f"sizes are given for `{name}`, but no input has this name{guess}")
        types = {function: each.inputs[name] for function, each in after.items() if name in each.inputs}
        wrong = {function: _misfit(name, sizes, value_type, function) for function, value_type in types.items()}
        fits = [function for function, failure in wrong.items() if failure is None]
        if not fits:
            raise next(failure for failure in wrong.values() if failure is not None)
        for function in fits:
            found[function][name] = sizes
    return found


def _misfit(name: str, sizes: Sizes, value_type: ValueType | None, function: str) -> ModelError | None:
    """Return the problem of sizes for an input of a type; None if there is none."""
    known = read_type(value_type) if value_type is not None else None
    spelled = f"sizes {spell_sizes(sizes)} are given for the input `{name}` of `{function}`"
    if not isinstance(known, TensorType) or known.dtype == "string":
        return _refused(f"{spelled}, which is not an array or an image", name, function)
    stated = f"{spelled}, whose shape is {show(known.shape)}"
    if len(sizes) != len(known.shape):
        return _refused(f"{stated}: one for each of its {len(known.shape)} axes is needed", name, function)
    for axis, (size, each) in enumerate(zip(known.shape, sizes, strict=True)):
        if problem := _problem(size, each):
            return _refused(f"{stated}: {problem} at axis {axis}", name, function)
    return None


def _problem(stated: Dimension, asked: Size) -> str:
    """Return the problem of the sizes requested for a dimension; empty if there is none."""
    if stated is not None:
        return "" if asked in (ANY, Size(stated, stated)) else f"the program allows only {stated}"
    if asked.greatest is None:
        return "a range needs an end, which ML Programs have to have,"
    return "" if asked.least else "a size is 1 or more"


def _refused(message: str, name: str, function: str) -> ModelError:
    return refusal(codes.IMPOSSIBLE_RANGE, message, about=BlamedPart("input", name, function))
