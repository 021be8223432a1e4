"""Arrays in files, `.npy` and `.npz`: inputs to read, and results to write.

Nothing is ever pickled. Values without a numpy type are written in another one, and read back equal: strings as strings
of a fixed length, a dictionary as pairs with the fields `key` and `value`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

import numpy as np

from miltext.arrays.headers import LARGEST, dtype_of
from miltext.arrays.npy import ENDING, NpyHeader, npy_pieces, read_layout
from miltext.arrays.npz import refuse_odd
from miltext.arrays.problems import ArrayProblem
from miltext.arrays.regular_files import reading, stamp
from miltext.checking.findings import named
from miltext.diagnostics import MiltextError, Note, codes, error, refusing
from miltext.schema.packing import pieces_in_order

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.rules import Array

PIECE = 1 << 18
"""The number of elements written, or bytes read, at once."""

PAIR = ("key", "value")
"""The fields of a dictionary written as an array."""


NAME = "name an .npy, or an .npz where several arrays are given"
WRITE = "write it again with numpy.save, or numpy.savez for several arrays; pickled objects are never read"

MADE = (1980, 1, 1, 0, 0, 0)
"""The time of each member of an archive, the earliest that it can have: the same arrays make the same bytes."""


LONGEST = (1 << 16) - 1
"""The greatest length of a member's name in bytes: a .zip counts them in 16 bits."""


# ---- reading


def read_array(path: Path) -> Carried:
    """Return the value of a `.npy`. Raise MiltextError (MIL836) for a file that cannot be read, and for pickles."""
    with refusing(lambda failure: _unreadable(path, failure)), reading(path) as file:
        return _value(file, stamp(file).size)


def read_archive(path: Path) -> dict[str, Carried]:
    """Return the values of a `.npz`, by name. Raise MiltextError (MIL836) as `read_array` does."""
    with refusing(lambda failure: _unreadable(path, failure)), reading(path) as file:
        if file.read(2) != b"PK":
            raise ValueError("it does not begin like a .npz, as numpy.savez writes it")
        with ZipFile(file) as archive:
            return dict(_members(archive))


def _members(archive: ZipFile) -> Iterator[tuple[str, Carried]]:
    members = archive.infolist()
    times = Counter(member.filename for member in members)
    for member in members:
        name = member.filename.removesuffix(ENDING)
        with refusing(lambda failure, name=name: ValueError(f"its array `{name}`: {failure}")):  # type: ignore[misc]
            refuse_odd(member, times[member.filename])
            with archive.open(member) as stream:
                yield name, _value(stream, member.file_size)


def _value(stream: IO[bytes], size: int) -> Carried:
    """Return the value of a stream of a number of bytes: an array, or the dictionary of an array of pairs."""
    layout = read_layout(stream)
    array = _elements(stream, layout, size - layout.start)
    if array.dtype.names == PAIR:
        return {pair[0]: pair[1] for pair in array.reshape(-1).tolist()}
    return array.astype(object) if array.dtype.kind == "U" else array.astype(array.dtype.newbyteorder("="), copy=False)


def _elements(stream: IO[bytes], layout: NpyHeader, size: int) -> Array:
    """Return the elements in `size` bytes. Raise ValueError if their number is not the declared one."""
    if layout.numpy.names != PAIR and layout.numpy.kind != "U":
        dtype_of(layout.numpy)
    elif layout.numpy.hasobject:
        raise ValueError("it has pickled Python objects, which are never loaded")
    declared = prod(layout.shape) * layout.numpy.itemsize
    if min(layout.shape, default=0) < 0 or declared != size or declared > LARGEST:
        raise ValueError(f"its header declares {declared} bytes of data, but there are {size}")
    array = np.empty(layout.shape, layout.numpy, "F" if layout.fortran else "C")
    view = array.reshape(-1, order="A").view(np.uint8).data if declared else memoryview(b"")
    for first in range(0, declared, PIECE):
        _fill(stream, view[first : first + PIECE])
    return array


def _fill(stream: IO[bytes], view: memoryview) -> None:
    data = stream.read(len(view))
    if len(data) < len(view):
        raise ValueError("it ends within its data")
    view[:] = data


def _unreadable(path: Path, failure: Exception) -> MiltextError:
    is_there = not isinstance(failure, ArrayProblem) or failure.code != codes.MISSING_ARRAY_FILE
    reason = str(failure) or type(failure).__name__
    return MiltextError(
        [
            error(
                codes.UNREADABLE_INPUT_FILE,
                f"no arrays can be read here: {reason}",
                None,
                Note(WRITE if is_there else NAME),
            )
        ],
        path=str(path),
    )


# ---- writing


def value_pieces(value: Carried) -> Iterator[bytes]:
    """Yield a value as a `.npy`, in pieces. Raise Unstorable."""
    array = storable(value)
    yield from npy_pieces(array.dtype, array.shape, pieces_in_order(array, PIECE))


def npz_pieces(values: Iterable[tuple[str, Carried]]) -> Iterator[bytes]:
    """Yield named values as a `.npz`, in pieces: each value is written before the next is taken.

    A list is an array if its elements are alike, else each of them is one: `NAME/0`, `NAME/1`. Raise Unstorable.
    """
    written = _Pieces()
    with ZipFile(written, "w") as archive:
        for name, value in _parts(values):
            with archive.open(_member(name, archive), "w", force_zip64=True) as member:
                for piece in value_pieces(value):
                    member.write(piece)
                    yield from written.taken()
    yield from written.taken()


def _member(name: str, archive: ZipFile) -> ZipInfo:
    """Return the entry of an array. Raise Unstorable for a name that an archive cannot have, or has."""
    size = len(name.encode(errors="surrogatepass")) + len(ENDING)
    member = ZipInfo(name + ENDING, MADE)
    if size > LONGEST:
        raise Unstorable(f"the name of {named(name)} has {size} bytes in an .npz, and may have {LONGEST}; rename it")
    if member.filename != name + ENDING or not _is_text(name):
        raise Unstorable(f"an .npz cannot hold the name of {named(name)}; rename it")
    if member.filename in archive.NameToInfo:
        raise Unstorable(f"two arrays of an .npz would have the name {named(name)}; rename one of them")
    return member


def _is_text(name: str) -> bool:
    return name == name.encode(errors="ignore").decode()


def _parts(values: Iterable[tuple[str, Carried]]) -> Iterator[tuple[str, Carried]]:
    for name, value in values:
        if isinstance(value, list) and not _are_alike(value):
            yield from ((f"{name}/{index}", each) for index, each in enumerate(value) if each is not None)
        else:
            yield name, value


def _are_alike(elements: list[Array | None]) -> bool:
    """Return whether the elements of a list (None if never written) all have the same shape."""
    shapes = {None if each is None else each.shape for each in elements}
    return len(shapes) < 2 and None not in shapes


class _Pieces:
    """A write-only file whose contents are taken piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: all is written at once."""

    close = flush

    def taken(self) -> list[bytes]:
        """Return the bytes written since the last call."""
        pieces, self._pieces = self._pieces, []
        return pieces


class Unstorable(ValueError):
    """A value that no array of numpy's own types can hold."""


def storable(value: Carried) -> Array:
    """Return a value as an array that numpy saves without pickling. Raise Unstorable if information would be lost."""
    if isinstance(value, Mapping):
        keys, numbers = _of_fixed_length([*value]), np.array([*value.values()])
        pairs = np.empty(len(value), [(PAIR[0], keys.dtype), (PAIR[1], numbers.dtype)])
        pairs[PAIR[0]], pairs[PAIR[1]] = keys, numbers
        return pairs
    if isinstance(value, list):
        if not _are_alike(value):
            raise Unstorable("a list whose elements have several shapes is not an array; an .npz has each of them")
        return np.stack(value) if value else np.empty(0)
    return _of_fixed_length(value) if value.dtype.kind == "O" else value


def _of_fixed_length(elements: Any) -> Array:
    """Return strings, or integers, as an array of a type of numpy's own. Raise Unstorable for an end that it drops."""
    objects = np.asarray(elements, object)
    if any(isinstance(each, str) and each.endswith("\0") for each in objects.flat):
        raise Unstorable("numpy drops the null character at the end of a string")
    return np.array(objects.tolist(), None if objects.size else str).reshape(objects.shape)
