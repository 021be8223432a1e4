"""A model about to be written: its message, the weight files that it names, and the package that it comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import codes, refusing, warning
from miltext.models.building.storing import WEIGHT_FILE, Storing, named_files
from miltext.models.contents import stages
from miltext.models.model_weights import blob_values
from miltext.models.refusals import refusal
from miltext.models.weight_paths import MODEL_PATH
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.building.changes import Around, Counterparts, DescriptionChange
    from miltext.models.building.decompiling import Added
    from miltext.models.building.losses import Loss
    from miltext.models.building.pruning import Record
    from miltext.models.model import Model
    from miltext.models.model_weights import BlobFolder
    from miltext.models.refusals import WeightsError
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import Program, Value


@dataclass
class NewModel:
    """What is to be written.

    `files` has each weight file by its path below `@model_path`; `former` are those that the model named that this one
    is made of, and `given` those of this one that are from elsewhere. `package` is the .mlpackage that the model comes
    from, whose other contents are kept, and `origin` the `.mlmodel` that it was read from. `storing` has the values
    still to be stored, in the file `store`. `pruned` has the records that stay of each weight file that is not written
    whole, and `dropped` the files of the package, or beside an .mlmodel, that go. `around` is what stood around the
    models that it is made of, `known` what the functions of those that were edited had been, both by path, and `losses`
    what the descriptions lost. `missing` are the weight files that it names and nobody has, each as an error by its
    fileName. `added` is what Apple's compiler added to each ML Program, if it was compiled, and `own_shapes` are the
    FlexibleShapeInformation that functions of another one have nevertheless.
    """

    spec: Spec
    files: dict[str, Path] = field(default_factory=dict)
    package: Path | None = None
    warnings: list[Diagnostic] = field(default_factory=list)
    former: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    storing: Storing | None = None
    store: str = WEIGHT_FILE
    pruned: dict[str, list[Record]] = field(default_factory=dict)
    dropped: list[Path] = field(default_factory=list)
    around: dict[str, Around] = field(default_factory=dict)
    known: dict[str, Counterparts] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    changes: list[DescriptionChange] = field(default_factory=list)
    origin: Path | None = None
    missing: dict[str, WeightsError] = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)
    own_shapes: list[dict[str, Value]] = field(default_factory=list)

    def find_files(self, folder: BlobFolder, lacking: Collection[str] = ()) -> None:
        """Find and check the weights that every program names.

        A file that does not exist is an error; or a warning where its fileName is among those `lacking`, which the
        model that this one is made of names, too.
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
        """Whether values are still to be stored in this weight file."""
        return bool(self.storing) and name == self.store

    def is_rewritten(self, name: str) -> bool:
        """Whether this weight file will have other contents than the one that it is made of."""
        return name in self.pruned or self.is_stored_in(name)

    @property
    def weight_files(self) -> list[str]:
        """The names of all weight files to write, sorted."""
        return sorted({*self.files, self.store} if self.storing else self.files)


def rename_files(program: Program, names: Mapping[str, str]) -> None:
    """Have a program name weight files otherwise: new names by the old ones, both below `@model_path`."""
    changed = {f"{MODEL_PATH}/{old}": f"{MODEL_PATH}/{new}" for old, new in names.items() if old != new}
    for held in blob_values(program) if changed else ():
        blob = held.value.blobFileValue
        blob.fileName = changed.get(blob.fileName, blob.fileName)


def ml_programs(spec: Spec) -> Iterator[Program]:
    """Yield the ML Programs of a Model message, those of its pipelines included."""
    return (each.mlProgram for each in models_with_programs(spec))


def models_with_programs(spec: Spec) -> Iterator[Spec]:
    """Yield the Model messages of `ml_programs`, in the same order."""
    if spec.WhichOneof("Type") == PROGRAM:
        yield spec
    for model in stages(spec):
        yield from models_with_programs(model)


def way_to(chosen: Model, root: Model, spec: Spec) -> list[Spec]:
    """Return the Model messages from that of `root`, which is `spec`, down to that of a model inside; none without it.

    The messages are as deep as the models, and in their order.
    """
    if root is chosen:
        return [spec]
    ways = (way_to(chosen, model, inner) for model, inner in zip(root.models, stages(spec), strict=True))
    return next(([spec, *way] for way in ways if way), [])


def path_to(chosen: Model, root: Model) -> str | None:
    """Return the path of a model in the pipelines of `root`, as in `1/0`; None if it is not there."""
    if root is chosen:
        return ""
    below = ((str(index), path_to(chosen, model)) for index, model in enumerate(root.models))
    return next((f"{index}/{path}".rstrip("/") for index, path in below if path is not None), None)


def refusing_depth(path: str | None = None) -> AbstractContextManager[None]:
    """Return a `with` block in which protobuf refuses what stands inside one another too deeply, and nothing else
    (MIL405).
    """
    message = "the model's pipelines are nested more deeply than protobuf's readers allow"
    return refusing(lambda _: refusal(codes.MODEL_TOO_LARGE, message, path))
