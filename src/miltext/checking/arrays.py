"""Array files in a text, `$npy("w.npy")`: the types in their headers. No data is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.findings import Finding
from miltext.diagnostics import ModelError, codes
from miltext.parsing.lowering.left_out import array_named
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, compatible, read_type

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.arrays.opening import ArrayFolder
    from miltext.arrays.stored import StoredArray
    from miltext.checking.imported_functions import ImportedFunctions
    from miltext.parsing.lowering.arrays import ArrayReference
    from miltext.schema.paths import Path as Place
    from miltext.schema.proto import Value
    from miltext.schema.types import Type

CODES = frozenset(f"MIL{number}" for number in range(412, 420))
"""The codes for unreadable array files, and for files that differ from the type of their value."""

_NO_FOLDER = "a text by itself has no folder in which this file could be, so {}; give the path of the text"
_NO_TYPE = _NO_FOLDER.format("the type of the array is not known")
_NO_VALUES = _NO_FOLDER.format("everything except the array is checked")


class Arrays:
    """The arrays of a text in a folder, None for a text without one. Each array and each problem is reported once.

    `imports` are the models of a text that `has_imports`; None without a folder.
    """

    def __init__(
        self, folder: Path | None, imports: ImportedFunctions | None = None, *, has_imports: bool = False
    ) -> None:
        self.folder = folder
        self.imports = imports
        self.has_imports = has_imports or imports is not None
        self._files: ArrayFolder | None = None
        self._opened: dict[ArrayReference, StoredArray | Finding] = {}
        self._reported: set[tuple[str, ...]] = set()

    def report_again(self) -> None:
        """Report problems again, for a caller that discarded the earlier findings."""
        self._reported.clear()

    def typed(self, value: Value, path: Place) -> list[Finding]:
        """Return the findings about a typed value at a path whose array has another type."""
        reference = array_named(value)
        if reference is None:
            return []
        if self.folder is None:
            return self._once(reference, Finding(path, codes.VALUE_IN_ARRAY_FILE, _NO_VALUES, severity="note"))
        stated = read_type(value.type)
        found = self._held(reference, stated, path)[1]
        way = self._conversion(reference, stated)
        # A suggestion would take the place of the type.
        return [each._replace(message=each.message + way, suggestion=None) for each in found]

    def untyped(self, value: Value, stated: Type, path: Place) -> tuple[TensorType | None, list[Finding]]:
        """Return the type of the array named by a value without a type, and the findings about the array.

        The type is None for an unreadable array, and for an array that differs from `stated`, a type given
        elsewhere.
        """
        reference = array_named(value)
        assert reference is not None
        if self.folder is None:
            return None, self._once(reference, Finding(path, codes.VALUE_IN_ARRAY_FILE, _NO_TYPE))
        return self._held(reference, stated, path)

    def stored(self, reference: ArrayReference) -> StoredArray | None:
        """Return an array of the text; None for an unreadable one."""
        opened = self._open(reference) if self.folder else None
        return None if isinstance(opened, Finding) else opened

    def _conversion(self, reference: ArrayReference, stated: Type) -> str:
        """Return a hint, the likely intended spelling of `fp16($npy("w.npy"))`, an array with the type of a scalar."""
        opened = self.stored(reference)
        if opened is None or not opened.shape or not isinstance(stated, TensorType) or stated.shape != ():
            return ""
        meant = converted_to(opened, stated.dtype) if stated.dtype != opened.dtype.name else str(reference)
        return f"; a conversion is written `{meant}`" if meant else ""

    def _held(self, reference: ArrayReference, stated: Type, path: Place) -> tuple[TensorType | None, list[Finding]]:
        opened = self._open(reference)
        if isinstance(opened, Finding):
            return None, self._once(reference, opened._replace(path=path))
        if stated is None:
            if problem := _too_wide(opened):
                return None, self._once(reference, problem._replace(path=path))
            return TensorType(opened.dtype.name, opened.shape), []
        if problem := _misfit(opened, stated):
            return None, [problem._replace(path=path)]
        return TensorType(stated.dtype, opened.shape), []  # type: ignore[union-attr]

    def _open(self, reference: ArrayReference) -> StoredArray | Finding:
        from miltext.arrays.opening import ArrayFolder

        assert self.folder is not None
        self._files = self._files or ArrayFolder(self.folder)
        if reference not in self._opened:
            try:
                self._opened[reference] = self._files.open(reference)
            except ModelError as failure:
                found = failure.diagnostics[0]
                self._opened[reference] = Finding((), found.code, f"{found.message}; {codes.TABLE[found.code].way_out}")
        return self._opened[reference]

    def _once(self, reference: ArrayReference, found: Finding) -> list[Finding]:
        """Return a finding, unless an equal one was reported for the same file, or for the text's folder."""
        reason = found.message.replace(str(reference), "")
        key = (reference.file, found.code, reason) if self.folder else (found.code,)
        is_new = key not in self._reported
        self._reported.add(key)
        return [found] if is_new else []


def _too_wide(opened: StoredArray) -> Finding | None:
    """Return the finding about an array whose type cannot be inferred, without a path."""
    from miltext.checking.inference.rules import LARGEST_RANK

    if len(opened.shape) <= LARGEST_RANK:
        return None
    most = f"no type of rank above {LARGEST_RANK} is inferred"
    message = f"`{opened.reference}` has {len(opened.shape)} dimensions, and {most}"
    return Finding((), codes.UNREADABLE_ARRAY_FILE, f"{message}; {codes.TABLE[codes.UNREADABLE_ARRAY_FILE].way_out}")


def _misfit(opened: StoredArray, stated: Type) -> Finding | None:
    """Return the finding about an array that does not match a type, without a path."""
    if not isinstance(stated, TensorType):
        return Finding(
            (), codes.MISFIT_ARRAY, "an array can only be the value of a tensor of a known data type and rank"
        )
    if not compatible(stated.shape, opened.shape):
        wanted = ["?" if size is None else size for size in stated.shape]
        message = f"`{opened.reference}` has the shape {list(opened.shape)}, but the value has {wanted}"
        return Finding((), codes.MISFIT_ARRAY, message)
    problem = opened.misfit(BY_NAME[stated.dtype])
    meant = converted_to(opened, stated.dtype)
    return Finding((), codes.MISFIT_ARRAY, problem, suggestion=meant) if problem else None


def converted_to(opened: StoredArray, dtype: str) -> str | None:
    """Return the text of an array with a conversion to another data type; None without such a conversion."""
    from miltext.arrays.converting import converts

    can = converts(BY_NAME[dtype], opened.header.dtype)
    return str(opened.reference._replace(dtype=dtype)) if can else None
