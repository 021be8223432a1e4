"""Missing and damaged weight files of a model, by their records: no data is read.

Apple's reader, `mlmodel/src/MILBlob/Blob/StorageReader.cpp` of apple/coremltools, refuses the errors. The warnings are
about a layout that Apple's writer, `StorageWriter.cpp`, never makes: data and records at multiples of 64 bytes, each
data after its record, and no byte used twice. Records that no value uses, and bytes after the last one, are common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.contract.files import FileFindings, capped
from miltext.diagnostics import MiltextError, Note, codes, error, warning
from miltext.diagnostics.wording import listed
from miltext.files.refusals import WeightsError
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.tensors import tensor_dtype, tensor_shape
from miltext.weight_files.blob_storage import ALIGNMENT, RecordFile, aligned, place_fault, unlike
from miltext.weight_files.model_weights import BlobFolder, blob_values
from miltext.weight_files.paths import suspicion

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model, Stage
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Value
    from miltext.schema.walk import Held
    from miltext.weight_files.blob_storage import Record

_MOST_NAMED = 3
"""How many values a finding names."""

Form = tuple["DType | None", "int | None"]
"""The data type and the number of elements of a value; None where its type does not state it."""

Users = Callable[[int | None], str]
"""Words for the values that use the record at an offset, or that use the file."""


class UsedFile(NamedTuple):
    """A weight file by a name in values, which is below a folder, and the forms of the values at each offset."""

    folder: Path | None
    name: str
    owner: str
    wanted: dict[int, tuple[Form, ...]]

    @property
    def short_name(self) -> str:
        return self.name.partition("/")[2] or self.name

    @property
    def path(self) -> str:
        """The path for findings; for a name that no weight file may have, the model's."""
        return self.owner if suspicion(self.name) or self.folder is None else str(self.folder / self.short_name)


def weight_findings(whole: Model, used: Sequence[UsedFile]) -> list[FileFindings]:
    """Return the faults of each weight file in use, at the file.

    A name that no weight file may have is reported at the program.
    """
    files: dict[Path, list[UsedFile]] = {}
    found: list[FileFindings] = []
    names = _ValueNames(whole)
    for named in used:
        path = _real_path(named, names)
        if isinstance(path, FileFindings):
            found.append(path)
        else:
            files.setdefault(path, []).append(named)
    for path, each in files.items():
        if told := _of_file(path, _joined(each), names.of(each)):
            found.append(
                FileFindings(
                    each[0].path, capped(told, f"`{each[0].short_name}`: faults of records that values use"), None
                )
            )
    return found


def _real_path(named: UsedFile, names: _ValueNames) -> Path | FileFindings:
    try:
        return BlobFolder(named.folder).path(named.name)
    except WeightsError as failure:
        return FileFindings(named.path, [_refused(failure, names.of([named]))], None)


def _joined(files: list[UsedFile]) -> UsedFile:
    """Return the file of several names."""
    first, *others = files
    for offset, forms in (each for other in others for each in other.wanted.items()):
        first.wanted[offset] = tuple(dict.fromkeys((*first.wanted.get(offset, ()), *forms)))
    return first


def used_files(whole: Model) -> list[UsedFile]:
    """Return the weight files that programs of a model name; several names can mean one file.

    Programs that cannot be read name none, and an array that a build will store is in none yet.
    """
    files: dict[tuple[Path | None, str], UsedFile] = {}
    forms: dict[Form, Form] = {}
    for stage, held in _blobs(whole):
        blob, folder = held.value.blobFileValue, stage.model.model_path
        file = files.setdefault((folder, blob.fileName), UsedFile(folder, blob.fileName, stage.model.name, {}))
        form = _form(held.value)
        form, known = forms.setdefault(form, form), file.wanted.get(blob.offset, ())
        if form not in known:
            file.wanted[blob.offset] = (*known, form)
    return [*files.values()]


def _blobs(whole: Model) -> Iterator[tuple[Stage, Held]]:
    """Yield the values in weight files, each with its model."""
    for stage in whole.programs():
        with suppress(MiltextError):  # reported at the program
            for held in blob_values(stage.model.program):
                if not held.value.blobFileValue.fileName.startswith(MARK):
                    yield stage, held


def _form(value: Value) -> Form:
    shape = tensor_shape(value.type)
    return tensor_dtype(value.type), None if shape is None else prod(shape)


class _ValueNames:
    """The names of the values of each file; collected once they are needed, since most files are whole."""

    def __init__(self, whole: Model) -> None:
        self._whole = whole

    @cached_property
    def _names(self) -> dict[tuple[Path | None, str], dict[int, dict[str, None]]]:
        names: dict[tuple[Path | None, str], dict[int, dict[str, None]]] = {}
        for stage, held in _blobs(self._whole):
            blob = held.value.blobFileValue
            offsets = names.setdefault((stage.model.model_path, blob.fileName), {})
            offsets.setdefault(blob.offset, {})[held.name] = None
        return names

    def of(self, files: Sequence[UsedFile]) -> Users:
        """Return the words for users of a file that has these names."""

        def words(offset: int | None) -> str:
            known = [self._names[each.folder, each.name] for each in files]
            chosen = [
                each for names in known for each in (names.values() if offset is None else [names.get(offset, {})])
            ]
            return f"used by {listed(dict.fromkeys(chain(*chosen)), 'and', _MOST_NAMED)}"

        return words


def _refused(failure: WeightsError, users: Users) -> Diagnostic:
    """Return the finding of a weight file that cannot be read at all."""
    reason = failure.diagnostics[0]
    absent = (codes.MISSING_WEIGHT_FILE, codes.LFS_POINTER_OF_WEIGHTS)
    code = codes.MISSING_WEIGHTS if reason.code in absent else codes.DAMAGED_WEIGHTS
    made = error(code, f"{reason.message} ({users(None)})", None, *reason.notes)
    if reason.code == codes.MISSING_WEIGHT_FILE:
        way = f"{codes.TABLE[reason.code].way_out}; ignore {code} to check a copy that is kept without its weights"
        made = made._replace(notes=(Note(way),))
    return made


# ---- one file


def _of_file(path: Path, named: UsedFile, users: Users) -> list[Diagnostic]:
    try:
        with RecordFile(path) as file:
            return [*_of_records(file, named, users)]
    except WeightsError as failure:
        return [_refused(failure, users)]


def _of_records(file: RecordFile, named: UsedFile, users: Users) -> Iterator[Diagnostic]:
    """Yield the findings of the records that values use; if there are none, of the count in the header."""
    found, records = False, []
    for offset in sorted(named.wanted):
        refused, doubtful, record = _faults(file, offset, named.wanted[offset])
        if refused or doubtful:
            found, where = True, f"`{named.short_name}` at {offset:#x}, {users(offset)}"
            yield from (error(codes.DAMAGED_WEIGHTS, f"{where}: {each}", None, _WAY) for each in refused)
            yield from (warning(codes.DAMAGED_WEIGHTS, f"{where}: {each}", None, _WAY) for each in doubtful)
        if record is not None:
            records.append(record)
    for offset, what in _overlaps(records):
        found = True
        yield warning(
            codes.DAMAGED_WEIGHTS, f"`{named.short_name}` at {offset:#x}, {users(offset)}: {what}", None, _WAY
        )
    if not found and (wrong := _wrong_count(file)):
        yield warning(codes.DAMAGED_WEIGHTS, f"`{named.short_name}` at 0x0: {wrong}", None, _WAY)


_WAY = Note(codes.TABLE[codes.DAMAGED_WEIGHTS].way_out)


def _faults(file: RecordFile, offset: int, forms: tuple[Form, ...]) -> tuple[list[str], list[str], Record | None]:
    """Return the errors and the doubts of the record at an offset, and the record, if its data are in the file."""
    if fault := place_fault(offset, file.size, f" at offset {offset}"):
        return [fault.message], [], None
    record = file.record(offset)
    refused, doubtful = [fault.message for fault in record.faults(file.size)], list[str]()
    if record.dtype is None or refused:
        return refused, [], None
    if not record.size:
        refused.append("the record has no data")
    for dtype, count in forms:
        if dtype is None or (count is None and dtype != record.dtype):
            refused.append(f"the record holds {record.dtype.name}, but its value has another type")
        elif count is not None and (message := unlike(record.dtype, record.elements, dtype, count)):
            refused.append(message)
    if record.start % ALIGNMENT:
        doubtful.append(f"the data begin at {record.start:#x}, which is not a multiple of {ALIGNMENT}")
    if record.start < offset + ALIGNMENT:
        doubtful.append(f"the data begin at {record.start:#x}, before the end of the record")
    return refused, doubtful, record


def _overlaps(records: list[Record]) -> Iterator[tuple[int, str]]:
    """Yield the offset of each record that shares bytes with an earlier part of the file, and words for it."""
    parts = [(each.offset, each.offset + ALIGNMENT, each.offset, "record") for each in records]
    parts += [(each.start, each.start + each.size, each.offset, "data") for each in records if each.size]
    furthest = (0, ALIGNMENT, 0, "header")
    for part in sorted(parts):
        start, end, owner, what = part
        before, until, other, kind = furthest
        if start < until and owner != other:
            whose = "" if kind == "header" else f" of the record at {other:#x}" * (kind == "data")
            verb = "overlap" if what == "data" else "overlaps"
            yield owner, f"the {what} ({start:#x} to {end:#x}) {verb} the {kind} ({before:#x} to {until:#x}){whose}"
        if end > until:
            furthest = part


def _wrong_count(file: RecordFile) -> str | None:
    """Return the error in the number of records in the header; None for the right one.

    Apple's reader lists all records by it: each begins at the first multiple of 64 after the data of the last one.
    """
    offset, number = ALIGNMENT, 0
    while number <= file.count and offset + ALIGNMENT <= file.size:
        record = file.record(offset)
        if next(record.faults(file.size), None) or record.start < offset + ALIGNMENT:
            break
        number, offset, last = number + 1, aligned(record.start + record.size), offset
    if number > file.count:
        return f"the header counts {file.count} records, but another begins at {last:#x}"
    return f"the header counts {file.count} records, but there are {number}" if number < file.count else None
