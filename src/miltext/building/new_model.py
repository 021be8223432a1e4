"""A model to write: its message, its weight files, and its original package."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.storing import WEIGHT_FILE, Storing, named_files
from miltext.diagnostics import codes, refusing, warning
from miltext.files.contents import stages
from miltext.files.refusals import refusal
from miltext.schema.dtypes import packed_size
from miltext.schema.proto.kinds import PROGRAM
from miltext.weight_files.model_weights import blob_values
from miltext.weight_files.paths import MODEL_PATH

if TYPE_CHECKING:
    from miltext.descriptions.changes import Around, Counterparts, DescriptionChange
    from miltext.descriptions.losses import DescriptionLoss
    from miltext.diagnostics import Diagnostic
    from miltext.files.refusals import WeightsError
    from miltext.models.model import Model
    from miltext.models.overlays import Overlays
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import DictionaryValue, Program, Value
    from miltext.schema.proto import Model as Spec
    from miltext.weight_files.model_weights import BlobFolder


@dataclass
class WeightRecord:
    """A record that values refer to: the place of its data, and its offset, which becomes the offset in the new
    file.
    """

    dtype: DType
    elements: int
    path: Path
    start: int
    offset: int
    values: list[Value] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The size of its data in bytes."""
        return packed_size(self.elements, self.dtype.bits)


class Added(NamedTuple):
    """The additions of Apple's compiler to a program: `entries` of buildInfo, and `shapes` of functions by their
    names.
    """

    entries: list[DictionaryValue.KeyValuePair]
    shapes: dict[str, Value]


@dataclass
class NewModel:
    """A model to write.

    `files` contains each weight file by its path below `@model_path`; `former` are the names of the original's files,
    and `given` the names of files from elsewhere. `package` is the original .mlpackage, whose other contents are kept,
    and `origin` the original `.mlmodel`. `storing` contains the values still to be stored, in the file `store`.
    `pruned` contains the remaining records of each partly written weight file, and `dropped` the files to remove from
    the package, or beside an .mlmodel. `around` are the surroundings of the original models, `known` the former
    counterparts of the edited ones' functions, both by path, and `losses` the descriptions' losses. `missing` are the
    weight files that do not exist, each as an error by its fileName. `added` are the additions of Apple's compiler to
    each ML Program, if it was compiled, and `own_shapes` are the FlexibleShapeInformation of functions that the
    compiler did not add. `overlays` are the overlays of the original package, whose texts are in the description.
    `linked` are the models that it was linked from, and `imported` the files and folders that its text imports, and the
    imported texts.
    """

    spec: Spec
    files: dict[str, Path] = field(default_factory=dict)
    package: Path | None = None
    warnings: list[Diagnostic] = field(default_factory=list)
    former: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    storing: Storing | None = None
    store: str = WEIGHT_FILE
    pruned: dict[str, list[WeightRecord]] = field(default_factory=dict)
    dropped: list[Path] = field(default_factory=list)
    around: dict[str, Around] = field(default_factory=dict)
    known: dict[str, Counterparts] = field(default_factory=dict)
    losses: list[DescriptionLoss] = field(default_factory=list)
    changes: list[DescriptionChange] = field(default_factory=list)
    origin: Path | None = None
    missing: dict[str, WeightsError] = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)
    own_shapes: list[dict[str, Value]] = field(default_factory=list)
    overlays: Overlays | None = None
    linked: list[Model] = field(default_factory=list)
    imported: list[Path] = field(default_factory=list)

    def find_files(self, folder: BlobFolder, lacking: Collection[str] = ()) -> None:
        """Find and check the weights that every program names.

        A missing file is an error; it is only a warning if its fileName is in `lacking`, the missing files of the
        original.
        """
        for program in ml_programs(self.spec):
            found, missing = named_files(program, folder)
            self.files.update(found)
            for name, failure in missing.items():
                if name not in lacking:
                    raise failure
                self.missing[name] = failure
                self.warnings.append(
                    warning(
                        codes.WEIGHTS_NOT_IN_ORIGINAL, f"the original lacks it too: {failure.diagnostics[0].message}"
                    )
                )
        folder.close()

    def is_stored_in(self, name: str) -> bool:
        """Whether values remain to be stored in this weight file."""
        return bool(self.storing) and name == self.store

    def is_rewritten(self, name: str) -> bool:
        """Whether this weight file will have other contents than its original."""
        return name in self.pruned or self.is_stored_in(name)

    @property
    def weight_files(self) -> list[str]:
        """The names of all weight files to write, sorted."""
        return sorted({*self.files, self.store} if self.storing else self.files)


def rename_files(program: Program, names: Mapping[str, str]) -> None:
    """Rename weight files in a program: new names by the old ones, both below `@model_path`."""
    changed = {f"{MODEL_PATH}/{old}": f"{MODEL_PATH}/{new}" for old, new in names.items() if old != new}
    for held in blob_values(program) if changed else ():
        blob = held.value.blobFileValue
        blob.fileName = changed.get(blob.fileName, blob.fileName)


def ml_programs(spec: Spec) -> Iterator[Program]:
    """Yield the ML Programs of a Model message, also of its pipelines."""
    return (each.mlProgram for each in models_with_programs(spec))


def models_with_programs(spec: Spec) -> Iterator[Spec]:
    """Yield the Model messages of `ml_programs`, in the same order."""
    if spec.WhichOneof("Type") == PROGRAM:
        yield spec
    for model in stages(spec):
        yield from models_with_programs(model)


def way_to(chosen: Model, root: Model, spec: Spec) -> list[Spec]:
    """Return the Model messages from `spec`, the message of `root`, to that of an inner model; none if it is absent.

    Messages and models have the same nesting and order.
    """
    if root is chosen:
        return [spec]
    ways = (way_to(chosen, model, inner) for model, inner in zip(root.models, stages(spec), strict=True))
    return next(([spec, *way] for way in ways if way), [])


def refusing_depth(path: str | None = None) -> AbstractContextManager[None]:
    """Return a `with` block that reports only protobuf's refusal of too deeply nested messages (MIL405)."""
    message = "the model's pipelines are nested more deeply than protobuf's readers allow"
    return refusing(lambda _: refusal(codes.MODEL_TOO_LARGE, message, path))
