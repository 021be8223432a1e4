"""A caller's arguments, checked before the run and converted to the program's types.

A number is accepted if the declared data type contains it; floats are rounded to the nearest number of the type. So
integers are accepted for floats, and whole floats for integers, as coremltools' `predict` passes both to Core ML, and
its own tests do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from miltext.arrays.converting import UnfitElement, converted, converts, range_of
from miltext.arrays.headers import dtype_of
from miltext.arrays.problems import ArrayProblem
from miltext.checking.findings import named
from miltext.diagnostics import Diagnostic, Note, codes, error, refusing
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.evaluation.features import NOTHING_SAID, Feature
from miltext.evaluation.pictures import SCALING, UNSCALED, colours_of, elements_of, is_picture
from miltext.evaluation.values import CARRIERS, WITHOUT_NUMPY
from miltext.schema.dtypes import BY_NAME
from miltext.schema.packing import decode
from miltext.schema.types import TensorType, Type, compatible, known_sizes, show, spelled

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.rules import Array

MOST_NAMES = 8
"""The number of names listed in a message."""


class Refused(ValueError):
    """A refused value: the code, the error, and the way out."""

    def __init__(self, code: str, message: str, way: str) -> None:
        super().__init__(message)
        self.diagnostic = error(code, message, None, Note(way))


@contextmanager
def _noting(problems: list[Diagnostic]) -> Iterator[None]:
    """Add each refusal in a `with` block to the problems."""
    try:
        yield
    except Refused as refused:
        problems.append(refused.diagnostic)


@dataclass(frozen=True)
class Intake:
    """The inputs or the states of a function, by name; `kind` is `input` or `state`, and `elsewhere` contains the other
    kind.

    `features` has the description's further facts about them.
    """

    kind: str
    types: Mapping[str, Type]
    elsewhere: Mapping[str, Type]
    features: Mapping[str, Feature]

    def taken(self, given: Named, problems: list[Diagnostic], *, allow_nan: bool) -> dict[str, Array]:
        """Return the given values as arrays by name, and add all their errors to the problems."""
        problems += [self._unknown(name) for name in given if name not in self.types]
        arrays: dict[str, Array] = {}
        for name, declared in self.types.items():
            with _noting(problems):
                if name in given:
                    arrays[name] = self._array(name, declared, given[name], allow_nan=allow_nan)
                else:
                    arrays[name] = self._filled(name, declared)
        return arrays

    def _unknown(self, name: object) -> Diagnostic:
        """Return the error for an unknown name."""
        near = nearest(str(name), self.types)
        message = f"there is no {self.kind} {named(str(name))}{did_you_mean(near)}"
        if name in self.elsewhere:
            other = "state" if self.kind == "input" else "input"
            return error(codes.UNKNOWN_INPUT, message, None, Note(f"it belongs to the {other}s: pass it there"))
        names = list(self.types)
        known = listed(names[:MOST_NAMES], "and") if names else f"no {self.kind}"
        more = f", and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        return error(codes.UNKNOWN_INPUT, message, None, Note(f"the function has {known}{more}"))

    def _filled(self, name: str, type: Type) -> Array:
        """Return the value of an omitted argument: zeros for a state, the default for an optional input."""
        feature = self.features.get(name, NOTHING_SAID)
        shape, filling = feature.default, feature.filling
        if self.kind == "state" and isinstance(type, TensorType):
            shape, filling = known_sizes(type.shape), 0
        if shape is None or filling is None or not isinstance(type, TensorType):
            raise Refused(
                codes.MISSING_INPUT, f"the {self.kind} {named(name)} is missing", f"give an array: {spelled(type)}"
            )
        called, sizes = f"the default of the {self.kind} {named(name)}", [max(size, 0) for size in shape]
        refuse_shape(called, tuple(sizes), type, feature)
        return np.full(sizes, _carried(called, np.asarray(filling), type.dtype))

    def _array(self, name: str, type: Type, value: Carried, *, allow_nan: bool) -> Array:
        called, feature = f"the {self.kind} {named(name)}", self.features.get(name, NOTHING_SAID)
        if not isinstance(type, TensorType):
            raise Refused(
                codes.WRONG_INPUT_DTYPE, f"{called} is {spelled(type)}, which cannot be passed", "run another function"
            )
        array = _read(called, value, type, feature)
        if not array.shape and type.shape and all(size == 1 for size in type.shape):
            array = array.reshape([1] * len(type.shape))  # a single number is taken for any shape of one element
        with _suggesting_scaling(value, feature):
            refuse_shape(called, array.shape, type, feature)
        array = _carried(called, array, type.dtype)
        if not allow_nan:
            _refuse_nan(called, array)
        return array


# ---- an array from any value


def _read(called: str, value: Carried, type: TensorType, feature: Feature) -> Array:
    """Return a value as an array of numbers, or of strings where the type declares strings."""
    if is_picture(value):
        return _pixels(called, value, feature)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise Refused(
            codes.WRONG_INPUT_DTYPE, f"{called} has elements that are masked", "give numbers for them: array.filled(0)"
        )
    with refusing(lambda failure: _unreadable(called, failure)):
        array = _of_numpy(value)
    if type.dtype == "string":
        return _strings(called, array)
    if array.dtype.kind == "O":
        raise Refused(
            codes.WRONG_INPUT_DTYPE, f"{called} is an array of Python objects", f"give an array of {type.dtype}"
        )
    return array


def _of_numpy(value: Carried) -> Array:
    """Return a value as a numpy array; a tensor of torch's goes through the CPU, and types unknown to numpy to
    float.
    """
    if not hasattr(value, "detach"):
        return np.asarray(value)
    tensor = value.detach().cpu()
    try:
        return np.asarray(tensor)
    except TypeError:  # numpy has no bf16 and no fp8, and float32 has all their numbers
        return np.asarray(tensor.float())


def _unreadable(called: str, failure: Exception) -> Refused:
    """Return the error for a value that numpy cannot convert: the first line of numpy's own message."""
    reason = str(failure).strip().partition("\n")[0] or type(failure).__name__
    return Refused(codes.WRONG_INPUT_DTYPE, f"{called} is not an array: {reason}", "give a numpy array")


def _pixels(called: str, picture: Carried, feature: Feature) -> Array:
    if feature.image is None:
        way = "give an array; the description has no image of this name"
        raise Refused(codes.WRONG_INPUT_DTYPE, f"{called} is not an image, but a picture is given", way)
    mode = colours_of(feature.image).mode
    if picture.mode != mode:
        message = f"{called} takes pictures of the mode {mode!r}, and this one is of {picture.mode!r}"
        is_deep = picture.mode.startswith(UNSCALED)
        raise Refused(
            codes.WRONG_INPUT_DTYPE, message, SCALING if is_deep else f"convert it: picture.convert({mode!r})"
        )
    return elements_of(picture, feature.image)


def _strings(called: str, array: Array) -> Array:
    objects = array.astype(object)
    if not all(isinstance(each, str) for each in objects.flat):
        raise Refused(
            codes.WRONG_INPUT_DTYPE,
            f"{called} takes strings, and these are of {array.dtype}",
            "give an array of strings",
        )
    return objects


def refuse_shape(called: str, shape: tuple[int, ...], type: TensorType, feature: Feature) -> None:
    """Refuse a shape that the type or the description does not allow. Raise Refused (MIL833)."""
    fits = compatible(type.shape, shape)
    if fits and feature.allows(shape):
        return
    rank = f" of rank {len(shape)}" if len(shape) != len(type.shape) else ""
    of_rank = f" of rank {len(type.shape)}" if rank else ""
    sizes, where = (feature.shapes(type.shape), "the description allows") if fits else (show(type.shape), "it takes")
    message = f"{called} has the shape {show(shape)}{rank}, but {where} {sizes}{of_rank}"
    raise Refused(codes.WRONG_INPUT_SHAPE, message, _reshaping(shape, type))


def _reshaping(shape: tuple[int, ...], type: TensorType) -> str:
    """Return the way out for a refused shape."""
    sizes = known_sizes(type.shape)
    if sizes is not None and _without_ones(shape) == _without_ones(sizes):
        return f"if it is only dimensions of 1 that differ, give array.reshape({list(sizes)})"
    return "give an array of such a shape"


@contextmanager
def _suggesting_scaling(value: Carried, feature: Feature) -> Iterator[None]:
    """Replace the way out of a wrong shape for a picture."""
    try:
        yield
    except Refused as refused:
        if feature.image is not None and is_picture(value):
            size = feature.image.width, feature.image.height
            way = f"scale it, as by `picture.resize({size})`"
            refused.diagnostic = refused.diagnostic._replace(notes=(Note(way),))
        raise


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [size for size in shape if size != 1]


# ---- its numbers as a data type has them


def _carried(called: str, array: Array, dtype: str) -> Array:
    """Return an array in the carrier of its declared type; an array that is already in it is returned itself."""
    target, carrier = BY_NAME[dtype], CARRIERS[dtype]
    if array.dtype == carrier and dtype not in WITHOUT_NUMPY and not target.packed:
        return array
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    try:
        source = dtype_of(array.dtype)
        if not converts(target, source):
            message = f"{called} takes {dtype}, and these {source.name} may be its bit patterns"
            raise Refused(codes.WRONG_INPUT_DTYPE, message, "give floats")
        made = converted(np.ascontiguousarray(native).reshape(-1), source, target)
    except ArrayProblem as problem:
        message = f"{called} takes {dtype}, and this is an array of {array.dtype}"
        raise Refused(codes.WRONG_INPUT_DTYPE, message, f"convert it to numbers, such as {carrier}") from problem
    except UnfitElement as unfit:
        message = f"{called} takes {dtype}, which cannot hold {unfit}{_at(array, unfit.place)}"
        raise Refused(codes.WRONG_INPUT_DTYPE, message, f"give {range_of(target)}") from unfit
    return decode(made, target).astype(carrier, copy=False).reshape(array.shape)


def _refuse_nan(called: str, array: Array) -> None:
    if array.dtype.kind != "f" or (is_finite := np.isfinite(array)).all():
        return
    place = int(is_finite.argmin())
    others = array.size - int(is_finite.sum()) - 1
    more = f", and {others} more like it" if others else ""
    value = {True: "NaN"}.get(bool(np.isnan(array.flat[place])), "an infinity")
    way = "fix it, or allow it with `allow_nan=True` if it is intended"
    raise Refused(codes.NOT_FINITE_INPUT, f"{called} has {value}{_at(array, place)}{more}", way)


def _at(array: Array, place: int) -> str:
    """Return the place of an element, given its index in row-major order."""
    index = [int(each) for each in np.unravel_index(place, array.shape)]
    return f" at {index}" if index else ""
