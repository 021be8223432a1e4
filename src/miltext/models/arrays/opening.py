"""Opening the arrays that a text names: their files' headers, each read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from miltext.diagnostics import refusing
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.models.arrays.converting import is_pattern
from miltext.models.arrays.headers import Header, Headers
from miltext.models.arrays.npy import npy_headers
from miltext.models.arrays.npz import npz_headers
from miltext.models.arrays.problems import ArrayProblem
from miltext.models.arrays.regular_files import Stamp, find, reading, stamp
from miltext.models.arrays.safetensors import safetensors_headers
from miltext.models.arrays.stored import StoredArray, unreadable
from miltext.models.contents import LFS_POINTER
from miltext.models.refusals import refusal
from miltext.schema.dtypes import BY_NAME
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.parsing.lowering.arrays import ArrayReference

Reader: TypeAlias = Callable[[BinaryIO], Headers]

READERS: dict[str, Reader] = {"$npy": npy_headers, "$npz": npz_headers, "$safetensors": safetensors_headers}
"""What reads the headers in a file, by the word of the language."""


class _Opened(NamedTuple):
    path: Path
    stamp: Stamp
    headers: Headers


class ArrayFolder:
    """The arrays in files below a folder, to be used for one text and not longer: headers are read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened: dict[tuple[str, str], _Opened] = {}

    def open(self, reference: ArrayReference) -> StoredArray:
        """Return the array that a text names; no data is read.

        Raise ModelError: MIL413 for a file that cannot be opened or is elsewhere, MIL414 for one that is not of its
        kind or lies, MIL415 for a data type that MIL has not, MIL416 for a key that is not there, MIL419 where a
        package is missing, MIL412 for a conversion that there is not.
        """
        with refusing(lambda failure: unreadable(reference, failure, self.folder / reference.file)):
            opened = self._open(reference.kind, reference.file)
            header = _chosen(opened.headers, reference.key)
        _require_conversion(reference, header, opened.path)
        return StoredArray(reference, opened.path, header, opened.stamp)

    def _open(self, kind: str, name: str) -> _Opened:
        if (kind, name) not in self._opened:
            path = find(self.folder, name)
            with reading(path) as file:
                seen = stamp(file)
                _refuse_others(file, seen.size)
                self._opened[kind, name] = _Opened(path, seen, READERS[kind](file))
        return self._opened[kind, name]


def open_array(reference: ArrayReference, folder: Path) -> StoredArray:
    """Return an array in a file below a folder, as `ArrayFolder.open` does."""
    return ArrayFolder(folder).open(reference)


def _chosen(headers: Headers, key: str | None) -> Header:
    """Return the header of the array that has a key. Raise ArrayProblem: MIL416, or what is wrong with that array."""
    header = headers.get(key)
    if header is None:
        keys = [each for each in headers if each is not None]
        count = f"{len(keys)} array{'s' * (len(keys) != 1)}"
        near = nearest(key, keys) if key is not None else None
        raise ArrayProblem("MIL416", f"the file has {count}, none with this key{did_you_mean(near and quote(near))}")
    if isinstance(header, ArrayProblem):
        raise header
    return header


def _refuse_others(file: BinaryIO, size: int) -> None:
    """Refuse an empty file, and one that stands in place of another."""
    if not size:
        raise ArrayProblem("MIL414", "it is empty")
    start = file.read(len(LFS_POINTER))
    file.seek(0)
    if start == LFS_POINTER:
        raise ArrayProblem("MIL414", "it is a git-lfs pointer in place of the file; run `git lfs pull`")


def _require_conversion(reference: ArrayReference, header: Header, path: Path) -> None:
    """Refuse what a conversion would not mean for sure: integers that may be the bits of what they are to become."""
    if reference.dtype is None:
        return
    target = BY_NAME[reference.dtype]
    if target.kind == "string":
        raise refusal("MIL412", f"`{reference}` asks for strings, but its elements are of {header.dtype.name}", path)
    if is_pattern(header.dtype, target):
        plain = reference._replace(dtype=None)
        way = f"write `tensor<{target.name}, [...]>({plain})` if they are, or save them as floats"
        message = f"the integers of {header.dtype.name} for `{reference}` may be bit patterns: {way}"
        raise refusal("MIL412", message, path)
