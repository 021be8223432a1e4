"""Opening of the arrays in a text: the header of each file is read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from miltext.arrays.converting import is_pattern
from miltext.arrays.headers import Header, Headers
from miltext.arrays.npy import npy_headers
from miltext.arrays.npz import npz_headers
from miltext.arrays.problems import ArrayProblem, MissingFile
from miltext.arrays.regular_files import Stamp, find, names_in, reading, stamp
from miltext.arrays.safetensors import safetensors_headers
from miltext.arrays.stored import StoredArray, unreadable
from miltext.diagnostics import codes, refusing
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.files.contents import LFS_POINTER
from miltext.files.refusals import refusal
from miltext.schema.dtypes import BY_NAME
from miltext.syntax.literals import quote, shown

if TYPE_CHECKING:
    from miltext.parsing.lowering.arrays import ArrayReference

Reader: TypeAlias = Callable[[BinaryIO], Headers]

READERS: dict[str, Reader] = {"$npy": npy_headers, "$npz": npz_headers, "$safetensors": safetensors_headers}
"""The readers of a file's headers, by the word of the language."""


MOST_KEYS = 5
"""The most keys of a file in a message."""


class _Opened(NamedTuple):
    path: Path
    stamp: Stamp
    headers: Headers


class ArrayFolder:
    """The arrays in files below a folder, for a single text; headers are read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened: dict[tuple[str, str], _Opened] = {}
        self._names: dict[tuple[Path, str], list[str]] = {}

    def open(self, reference: ArrayReference) -> StoredArray:
        """Return the array of a reference in a text; no data is read.

        Raise ModelError: MIL413 for a file that cannot be opened or is elsewhere, MIL414 for a file of another kind or
        with false contents, MIL415 for a data type outside MIL, MIL416 for an unknown key, MIL419 for a missing
        package, MIL412 for an impossible conversion.
        """
        with refusing(lambda failure: unreadable(reference, failure, self.folder / reference.file)):
            try:
                opened = self._open(reference.kind, reference.file)
            except MissingFile as problem:
                raise ArrayProblem(problem.code, f"{problem} {self._missing(reference)}") from problem
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

    def _missing(self, reference: ArrayReference) -> str:
        """Return words about the place of a missing file, with a suggestion; a folder is listed once."""
        place, ending = (self.folder / reference.file).parent, f".{reference.kind[1:]}"
        if (place, ending) not in self._names:
            self._names[place, ending] = names_in(place, ending)
        name = PurePosixPath(reference.file)
        near = nearest(name.name, (each for each in self._names[place, ending] if each != name.name))
        folder = "the working folder" if self.folder == Path() else quote(str(self.folder))
        return f"in {folder}{did_you_mean(near and quote(str(name.with_name(near))))}"


def open_array(reference: ArrayReference, folder: Path) -> StoredArray:
    """Return an array in a file below a folder, as `ArrayFolder.open` does."""
    return ArrayFolder(folder).open(reference)


def _chosen(headers: Headers, key: str | None) -> Header:
    """Return the header of the array with a key. Raise ArrayProblem: MIL416, or the problem of that array."""
    header = headers.get(key)
    if header is None:
        keys = [each for each in headers if each is not None]
        near = nearest(key, keys) if key is not None else None
        message = f"the file has {_listed(keys)}, none with this key{did_you_mean(near and quote(near))}"
        raise ArrayProblem(codes.UNKNOWN_ARRAY_KEY, message)
    if isinstance(header, ArrayProblem):
        raise header
    return header


def _listed(keys: list[str]) -> str:
    """Return the number of arrays, and the keys of the first."""
    count = f"{len(keys)} array{'s' * (len(keys) != 1)}"
    first = [shown(quote(key)) for key in keys[:MOST_KEYS]]
    more = ["..."] if len(keys) > MOST_KEYS else []
    return f"{count} ({', '.join([*first, *more])})" if keys else count


def _refuse_others(file: BinaryIO, size: int) -> None:
    """Refuse an empty file, and a git-lfs pointer in place of the file."""
    if not size:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "it is empty")
    start = file.read(len(LFS_POINTER))
    file.seek(0)
    if start == LFS_POINTER:
        raise ArrayProblem(codes.UNREADABLE_ARRAY_FILE, "it is a git-lfs pointer instead of the file")


def _require_conversion(reference: ArrayReference, header: Header, path: Path) -> None:
    """Refuse an ambiguous conversion of integers, which may be the bits of the target type."""
    if reference.dtype is None:
        return
    target = BY_NAME[reference.dtype]
    if target.kind == "string":
        raise refusal(
            codes.MISFIT_ARRAY, f"`{reference}` requires strings, but its elements are of {header.dtype.name}", path
        )
    if is_pattern(header.dtype, target):
        plain = reference._replace(dtype=None)
        way = f"write `tensor<{target.name}, [...]>({plain})` if they are, or save them as floats"
        message = f"the integers of {header.dtype.name} for `{reference}` may be bit patterns: {way}"
        raise refusal(codes.MISFIT_ARRAY, message, path)
