"""The representation of values during a run, and the constants of a program.

A tensor is a numpy array of its CARRIER: fp16, fp32, fp64, bool and the integers of whole bytes are numpy's own, bf16
and fp8 are carried as float32 that holds no other numbers, narrower integers in a byte each, strings as objects. A list
is a Python list of them, a FixedList where it cannot grow, a dictionary a dict, and a state a State.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from miltext.evaluation.rules import UnfitValues
from miltext.schema.dtypes import BY_NAME, DType
from miltext.schema.packing import decode, encode
from miltext.schema.tensors import literal, tensor_form, tensor_shape
from miltext.weight_files.model_weights import BlobFolder, LooseFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from miltext.evaluation.rules import Array, Value
    from miltext.schema.proto import Value as Message
    from miltext.schema.tensors import Tensor

WITHOUT_NUMPY = frozenset(
    name for name, dtype in BY_NAME.items() if dtype.kind == "float" and np.dtype(dtype.numpy).kind != "f"
)
"""The floats that numpy lacks."""

CARRIERS: dict[str, np.dtype[np.generic]] = {
    name: np.dtype(np.float32 if name in WITHOUT_NUMPY else dtype.numpy) for name, dtype in BY_NAME.items()
}
"""The numpy dtype that carries each data type."""


class FixedList(list["Array | None"]):
    """A list that keeps its length."""


class State:
    """The value of a state, from one call to the next."""

    def __init__(self, held: Array) -> None:
        self.held = held


RunValue: TypeAlias = "Array | list[Array | None] | dict[str | int, float] | State"
"""A value during a run."""


def rounded(array: Array, dtype: str) -> Array:
    """Return numbers in their data type: floats rounded to the nearest, integers wrapped around."""
    carrier, described = CARRIERS[dtype], BY_NAME[dtype]
    if dtype in WITHOUT_NUMPY:
        patterns = encode(array.reshape(-1), described)
        return decode(patterns, described).reshape(array.shape)
    if array.dtype.kind == "f" and carrier.kind in "iu":
        return _whole(array, described).astype(carrier)
    return narrowed(array) if carrier == np.float16 else array.astype(carrier, copy=False)


def _whole(array: Array, dtype: DType) -> Array:
    """Return floats as integers, clipped to the range of the type, and 0 for NaN.

    C, numpy and Metal leave these results open; this follows FCVTZS, Arm's conversion of floats.
    """
    wide = np.nan_to_num(array.astype(np.float64), nan=0)
    below, above = wide <= dtype.minimum, wide >= dtype.maximum
    within = np.where(below | above, 0, wide).astype(CARRIERS[dtype.name])
    return np.where(above, dtype.maximum, np.where(below, dtype.minimum, within))


WORTH_WIDENING = 1 << 12
"""The least number of elements for which `_widen` and `_narrow` are faster than numpy's own conversions."""

AT_ONCE = 1 << 14
"""Number of elements converted at once: their intermediate values stay in a core's cache.

The C library reuses memory of this size; larger arrays get new pages each time.
"""


def widened(array: Array) -> Array:
    """Return an array to compute with: float32 for fp16."""
    if array.dtype.char != "e":
        return array
    if array.size < WORTH_WIDENING or not array.flags.c_contiguous:
        return array.astype(np.float32)
    wide = np.empty(array.shape, np.float32)
    halves, floats = array.reshape(-1), wide.reshape(-1)
    for start in range(0, array.size, AT_ONCE):
        _widen(halves[start : start + AT_ONCE], floats[start : start + AT_ONCE])
    return wide


def _widen(halves: Array, floats: Array) -> None:
    """Write fp16 numbers as float32: by their bits, many at once, where numpy's conversion takes one after the other.

    The exponent and the fraction move to where float32 has them, and a factor makes up for the other bias, of
    subnormal numbers, too. There is none for infinities and NaNs.
    """
    if np.left_shift(halves.view(np.uint16), 1).max() >= 0xF800:
        floats[...] = halves
        return
    bits = floats.view(np.int32)
    bits[...] = halves.view(np.int16)
    bits <<= 13
    bits &= -0x70002000  # the sign, which is in four bits now, and the 15 that moved
    floats *= 2.0**112


def narrowed(array: Array) -> Array:
    """Return an array as fp16, rounded to the nearest, ties to even."""
    if array.dtype != np.float32 or array.size < WORTH_WIDENING or not array.flags.c_contiguous:
        return array.astype(np.float16, copy=False)
    narrow = np.empty(array.shape, np.float16)
    floats, halves = array.reshape(-1), narrow.reshape(-1)
    for start in range(0, array.size, AT_ONCE):
        _narrow(floats[start : start + AT_ONCE], halves[start : start + AT_ONCE])
    return narrow


POWERS, OVERFLOWING = (2.0**-14, 2.0**15), 0x477FF000
"""The least and the greatest power of two of fp16's normal numbers, and the float32 bits of 65520, which fp16 lacks."""


def _narrow(floats: Array, halves: Array) -> None:
    """Write float32 numbers as fp16: by their bits, many at once, where numpy's conversion takes one after the other.

    The sum with 2^13 times a number's power of two, or that of the least normal number, is rounded to the last bit that
    fp16 has; its bits after those of that term are the fraction, with the leading one of normal numbers.
    """
    bits = floats.view(np.int32)
    made = np.bitwise_and(bits, 0x7FFFFFFF)
    if made.max(initial=0) >= OVERFLOWING:
        halves[...] = floats
        return
    spare = np.bitwise_and(made, 0x7F800000)
    sizes, powers = made.view(np.float32), spare.view(np.float32)
    np.clip(powers, *POWERS, out=powers)
    spare += 13 << 23
    sizes += powers
    made -= spare
    spare >>= 13
    made += spare
    made -= 127 - 15 + 13 + 1 << 10  # the other bias of the exponent, 13, and the leading one
    np.right_shift(bits, 16, out=spare)
    spare &= 0x8000
    made |= spare
    halves.view(np.uint16)[...] = made


class Constants:
    """The constants of a program: constants in weight files are views of the mapped file, others are read once.

    Values unpacked or decoded from a weight file, and `arrays` by their marks, are read each time to save memory.
    """

    def __init__(self, folder: Path | BlobFolder | None, arrays: Mapping[str, Tensor] | None = None) -> None:
        self._folder = folder if isinstance(folder, BlobFolder) else LooseFolder(folder)
        self._arrays = {} if arrays is None else arrays
        self._known: dict[int, RunValue] = {}

    def read(self, message: Message) -> RunValue:
        """Return the contents of a Value. Raise WeightsError for an unreadable weight file."""
        known = self._known.get(id(message))
        if known is not None:
            return known
        if message.WhichOneof("value") == "blobFileValue":
            array = self._arrays.get(message.blobFileValue.fileName)
            tensor = array or self._folder.blob(message)
            value: RunValue = decode(tensor.array(tensor_shape(message.type)), tensor.dtype)
            is_kept = array is None and tensor.dtype.bits >= 8 and tensor.dtype.name not in WITHOUT_NUMPY
        else:
            value, is_kept = _frozen(_immediate(message)), True
        if is_kept:
            self._known[id(message)] = value
        return value

    def keeps(self, message: Message) -> bool:
        """Return whether a value is cached."""
        return id(message) in self._known

    def find(self, message: Message) -> None:
        """Require a readable value.

        Raise WeightsError, and UnfitValues if it contradicts its type. For a value in a weight file, only the head of
        the record is read.
        """
        if message.WhichOneof("value") != "blobFileValue":
            self.read(message)
        elif message.blobFileValue.fileName not in self._arrays:
            self._folder.blob(message)


def _immediate(message: Message) -> Value:
    """Return the contents of a Value in the program itself."""
    immediate = message.immediateValue
    kind = immediate.WhichOneof("value")
    if kind == "list":
        return [_immediate(each) for each in immediate.list.values]
    if kind == "tuple":
        return [_immediate(each) for each in immediate.tuple.values]
    if kind == "dictionary":
        pairs = immediate.dictionary.values
        return {_plain(_immediate(pair.key)): _plain(_immediate(pair.value)) for pair in pairs}
    form = tensor_form(message.type)
    if form is None:
        raise UnfitValues("is of an unknown type")
    dtype, shape = form
    if dtype.kind == "string":
        return np.array(list(immediate.tensor.strings.values), object).reshape(shape)
    found = literal(message)
    if found is None:
        raise UnfitValues("has another number of elements than its type; `check` reports it")
    return decode(found.array(), dtype)


def _frozen(value: RunValue) -> RunValue:
    """Return a value whose arrays are read-only."""
    for array in value if isinstance(value, list) else [value]:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return value


def _plain(value: Value) -> Value:
    return value.item() if isinstance(value, np.ndarray) and not value.shape else value
