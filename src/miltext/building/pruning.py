"""Removal of unused records from weight files: the remaining records, each once, and the removed files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING

from miltext.building.new_model import WeightRecord, ml_programs
from miltext.building.sibling_weights import NAMING, is_own, leads_elsewhere, mentions
from miltext.diagnostics import Diagnostic, Note, codes
from miltext.files.contents import stages
from miltext.files.refusals import refusal
from miltext.models.manifest import contents_of, model_file
from miltext.schema.proto import Program
from miltext.schema.proto.kinds import PROGRAM
from miltext.weight_files.blob_storage import BlobFile
from miltext.weight_files.known_records import KnownRecords
from miltext.weight_files.model_weights import blob_values, is_weight_file
from miltext.weight_files.paths import MODEL_PATH, suspicion
from miltext.weight_files.usage import layout, used_bytes, used_sizes

if TYPE_CHECKING:
    from miltext.building.choices import BuildChoices
    from miltext.building.new_model import NewModel
    from miltext.files.writing import Progress
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import Value


MANY = 1 << 20
"""The least number of unused bytes that a build reports without --prune-weights."""


@dataclass
class _File:
    """A weight file: the values by their offsets, the programs that contain them, and their records."""

    name: str
    path: Path
    values: dict[int, list[Value]] = field(default_factory=dict)
    programs: set[int] = field(default_factory=set)
    records: list[WeightRecord] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def settle_unused(new: NewModel, output: Path, choices: BuildChoices, work: Callable[[], int]) -> None:
    """Remove the unused weights of a model if this is chosen, otherwise note them if they are many.

    The compared records, and the bytes that need not be written, count as progress; `work` returns the bytes to write.
    """
    if not choices.prune_weights:
        _note_unused(new, output)
        return
    _with_progress(new, choices, work, lambda: _prune(new, output, choices.progress))


def _with_progress(new: NewModel, choices: BuildChoices, work: Callable[[], int], prune: Callable[[], None]) -> None:
    """Remove records; the compared ones, and the bytes that need not be written, count as progress."""
    compared, written = _compared_work(new), work()
    if choices.expect:
        choices.expect(lambda: compared + written)
    prune()
    if choices.progress:
        choices.progress(written - work())


def unite_files(new: NewModel, choices: BuildChoices, work: Callable[[], int]) -> None:
    """Put the records that the programs refer to into one weight file, equal records once.

    Records keep their order. The compared records count as progress; `work` returns the bytes to write. Raise
    ModelError (MIL427) if a program may refer to weights in an unknown way.
    """
    for program in ml_programs(new.spec):
        _refuse_unknown_fields(program)
    _with_progress(new, choices, work, lambda: _unite(new, choices.progress))


def _unite(new: NewModel, progress: Progress | None) -> None:
    files = _files(new)
    _find_records(files, progress)
    records = [record for file in files for record in file.records]
    offsets, _ = layout(record.size for record in records)
    for record, offset in zip(records, offsets, strict=True):
        _place(record, new.store, offset)
    new.files = {new.store: files[0].path} if records else {}
    new.pruned = {new.store: records} if records else {}


def _place(record: WeightRecord, name: str, offset: int) -> None:
    """Give a record its place in the new file, also in the values that refer to it."""
    record.offset = offset
    for value in record.values:
        value.blobFileValue.fileName = f"{MODEL_PATH}/{name}"
        value.blobFileValue.offset = offset


def _compared_work(new: NewModel) -> int:
    """Return the bytes that `_prune` reports as progress: the records that values refer to, each once, even if a file
    has several names.
    """
    used = used_sizes(ml_programs(new.spec))
    found: dict[tuple[str, int], int] = {}
    for name in new.files:
        for offset, size in used.get(f"{MODEL_PATH}/{name}", {}).items():
            found[normpath(name), offset] = size
    return sum(found.values())


def _prune(new: NewModel, output: Path, progress: Progress | None) -> None:
    """Keep only the records of a model's weight files that its programs refer to, and equal records only once.

    Values get the offsets of the new files. Files without references are dropped. Records keep their order and their
    file; but if the same programs name two files, only the first keeps a record of both. A file is unchanged if it
    would not become smaller, or if another model in the same package names it. Raise ModelError (MIL427) if a program
    may refer to weights in an unknown way.
    """
    for program in ml_programs(new.spec):
        _refuse_unknown_fields(program)
    is_package = output.suffix.lower() == ".mlpackage"
    files, shared = _files(new), _shared_names(new) if is_package else set[str]()
    _find_records(files, progress)
    kept = sum(_keep(new, file, file.name in shared) for file in files)
    new.dropped = _unnamed_files(new) if is_package else _unnamed_beside(new, output)
    there = {os.path.realpath(path) for path in (*new.dropped, *[file.path for file in files])}
    total = sum(map(os.path.getsize, there))
    if total:
        stays = [] if is_package else _staying(new, output)
        new.warnings.append(_left_out(total - kept, total)._replace(notes=tuple(stays)))


def _refuse_unknown_fields(program: Program) -> None:
    known = Program()
    known.CopyFrom(program)
    known.DiscardUnknownFields()
    if known.ByteSize() != program.ByteSize():
        raise refusal(
            codes.UNKNOWN_WEIGHT_REFERENCES,
            "the program has unknown fields, and may refer to weights by them",
        )


def _files(new: NewModel) -> list[_File]:
    """Return the weight files of a model, the original's first; for several names of a file, only the first."""
    found = _files_of(ml_programs(new.spec), new.files, new.given)
    new.files = {file.name: file.path for file in found}
    return found


def _files_of(programs: Iterable[Program], paths: Mapping[str, Path], given: Collection[str] = ()) -> list[_File]:
    """Return the weight files of programs, at these paths, the `given` ones last."""
    files: dict[str, _File] = {}
    for name in sorted(paths, key=lambda name: (name in given, name)):
        files.setdefault(normpath(name), _File(name, paths[name]))
    for index, program in enumerate(programs):
        for held in blob_values(program):
            blob = held.value.blobFileValue
            name = blob.fileName.partition("/")[2]
            if name in paths:
                file = files[normpath(name)]
                file.programs.add(index)
                file.values.setdefault(blob.offset, []).append(held.value)
    return list(files.values())


def refer_to_first(programs: Sequence[Program], paths: Mapping[str, Path]) -> None:
    """Make all values of programs refer to the first of equal records in weight files at these paths.

    Raise ModelError (MIL427) if a program may refer to weights in an unknown way.
    """
    for program in programs:
        _refuse_unknown_fields(program)
    files = _files_of(programs, paths)
    for file in files:
        file.programs = {0}  # all are compared
    _find_records(files, None)
    for file in files:
        for record in file.records:
            _place(record, file.name, record.offset)


def _find_records(files: Iterable[_File], progress: Progress | None) -> None:
    """Find the records that values refer to, in their order; for equal records, only the first."""
    for _, alike in groupby(sorted(files, key=lambda file: sorted(file.programs)), lambda file: file.programs):
        known, placed = KnownRecords[WeightRecord](), dict[tuple[Path, int], WeightRecord]()
        for file in alike:
            with BlobFile(file.path) as opened:
                for offset in sorted(file.values):
                    blob = opened.blob(offset)
                    same = placed.get((blob.path, blob.start))  # of a file with two names, which is not read again
                    record = same or known.find(blob.dtype, blob.count, blob.pieces())
                    if record is None:
                        record = WeightRecord(blob.dtype, blob.count, blob.path, blob.start, offset)
                        file.records.append(record)
                        known.add(record, record.dtype, record.elements, record.path, record.start)
                    placed[blob.path, blob.start] = record
                    record.values += file.values[offset]
                    if progress:
                        progress(blob.size)


def _keep(new: NewModel, file: _File, is_shared: bool) -> int:
    """Note the remaining records of a weight file, make the values refer to them, and return the number of
    their bytes.
    """
    offsets, size = layout(record.size for record in file.records)
    if is_shared or (file.records and size >= file.size):
        size = file.size
    elif file.records:
        for record, offset in zip(file.records, offsets, strict=True):
            record.offset = offset
        new.pruned[file.name] = file.records
    else:
        del new.files[file.name]
        size = 0
    for record in file.records:
        _place(record, file.name, record.offset)
    return size


def _left_out(size: int, total: int) -> Diagnostic:
    if not size:
        return Diagnostic(
            "note", codes.UNUSED_WEIGHTS, f"all of the {total:,} bytes of weights are used: none were removed"
        )
    return Diagnostic(
        "note", codes.UNUSED_WEIGHTS, f"{size:,} of {total:,} bytes of weights were removed: nothing uses them"
    )


def _note_unused(new: NewModel, output: Path) -> None:
    """Note that more than half of the written weights are unused, if they are many bytes.

    Files in a package without any reference count, too.
    """
    unnamed = _unnamed_files(new) if output.suffix.lower() == ".mlpackage" else []
    total = sum(path.stat().st_size for path in (*new.files.values(), *unnamed))
    if total < MANY:
        return
    sizes = used_sizes(ml_programs(new.spec))
    unused = total - sum(used_bytes(sizes.get(f"{MODEL_PATH}/{name}", {})) for name in new.files)
    total += new.storing.size if new.storing else 0
    if unused >= MANY and unused * 2 > total:
        message = f"nothing refers to {unused:,} of the {total:,} bytes of weights"
        new.warnings.append(
            Diagnostic("note", codes.UNUSED_WEIGHTS, message, None, (Note("a build with pruned weights lacks them"),))
        )


# ---- files without references


def _staying(new: NewModel, output: Path) -> Iterator[Note]:
    """Yield a note for each weight file beside the replaced `.mlmodel` that stays because another file names it."""
    for name in sorted(each for each in new.former if each in new.pruned or each not in new.files):
        is_there = not suspicion(f"{MODEL_PATH}/{name}") and output.is_file() and (output.parent / name).is_file()
        if is_there and not is_own(output, name):
            yield Note(f"{name} stays beside the model as it was: another file there names it, or it is behind a link")


def _unnamed_beside(new: NewModel, output: Path) -> list[Path]:
    """Return the weight files that belong only to the replaced `.mlmodel` and are unused in the new one."""
    names = [name for name in sorted(new.former - {*new.files}) if not suspicion(f"{MODEL_PATH}/{name}")]
    elsewhere = leads_elsewhere(output.parent, names)
    there = [output.parent / name for name in names if is_own(output, name, elsewhere)]
    return [path for path in there if is_weight_file(path)]


def _unnamed_files(new: NewModel) -> list[Path]:
    """Return the weight files beside the model in its package that the model does not name."""
    if not new.package:
        return []
    folder = _folder(new.package)
    there = [path for path in contents_of(new.package) if path.is_relative_to(folder) and is_weight_file(path)]
    named = {folder / name for name in new.files}
    unknown = [path for path in there if path not in named]
    if unknown:  # the names of missing files are not in `files`
        values = (held.value for each in ml_programs(new.spec) for held in blob_values(each))
        named = {folder / normpath(value.blobFileValue.fileName.partition("/")[2]) for value in values}
    return [path for path in unknown if path not in named and not _is_spoken_of(new, path)]


def _folder(package: Path) -> Path:
    """Return the folder for `@model_path` in a package."""
    return package / os.path.normpath(model_file(package).parent.relative_to(package))


def _is_spoken_of(new: NewModel, path: Path) -> bool:
    """Whether another file of the package, or an inner model of another kind than an ML Program, contains the file's
    name.
    """
    name = path.name.encode()
    if any(name in each.SerializeToString() for each in _others(new.spec)):
        return True
    assert new.package
    return any(mentions(each, path.relative_to(_folder(new.package)).as_posix()) for each in _naming(new.package))


def _others(spec: Spec) -> Iterator[Spec]:
    """Yield the model itself or the models inside it, without ML Programs and pipelines."""
    models = stages(spec)
    if not models and spec.WhichOneof("Type") != PROGRAM:
        yield spec
    for model in models:
        yield from _others(model)


def _naming(package: Path) -> list[Path]:
    """Return the files of a package, apart from its model, that may name weight files."""
    model = model_file(package)
    files = [path for path in contents_of(package) if path.suffix.lower() in NAMING and path.is_file()]
    return [path for path in files if not path.samefile(model)]


def _shared_names(new: NewModel) -> set[str]:
    """Return the weight files that another model in the package names."""
    naming = _naming(new.package) if new.package else []
    return {name for name in new.files if any(mentions(path, name) for path in naming)}
