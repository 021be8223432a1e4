"""A model about to be written: its message, the weight files that it names, and the package that it comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miltext.models.building.refusals import caution
from miltext.models.building.storing import WEIGHT_FILE, Storing, named_files
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.models.model_weights import BlobFolder
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import Program

Indices = tuple[int, ...]


class Draft:
    """What is to be written.

    `files` has each weight file by its path below `@model_path`. `package` is the .mlpackage that the model comes
    from, whose other contents are kept. `storing` are the values still to be stored, in the file `store`.
    """

    def __init__(self, spec: Spec, files: dict[str, Path], package: Path | None = None) -> None:
        self.spec = spec
        self.files = files
        self.package = package
        self.storing: Storing | None = None
        self.store = WEIGHT_FILE
        self.warnings: list[Diagnostic] = []

    def find_files(self, folder: BlobFolder, lacking: Collection[str] = ()) -> None:
        """Find and check the weights that every program names.

        A file that is not there is an error; or it is said in a warning where the fileName is among those `lacking`,
        which the model that this one is made of names, too.
        """
        for program in ml_programs(self.spec):
            found, missing = named_files(program, folder)
            self.files.update(found)
            for name, failure in missing.items():
                if name not in lacking:
                    raise failure
                self.warnings.append(caution("MIL451", f"the original lacks it too: {failure.diagnostics[0].message}"))
        folder.close()


def ml_programs(spec: Spec) -> Iterator[Program]:
    """Yield the ML Programs of a Model message, those of its pipelines included."""
    if spec.WhichOneof("Type") == PROGRAM:
        yield spec.mlProgram
    for model in nested(spec):
        yield from ml_programs(model)


def nested(spec: Spec) -> Any:
    """Return the models of a Model message that is a pipeline."""
    kind = spec.WhichOneof("Type")
    if kind == "pipeline":
        return spec.pipeline.models
    return getattr(spec, kind).pipeline.models if kind in ("pipelineClassifier", "pipelineRegressor") else ()


def path_to(root: Model, chosen: Model) -> Indices | None:
    """Return the indices that lead from a model to one of those inside it."""
    if root is chosen:
        return ()
    for index, model in enumerate(root.models):
        inner = path_to(model, chosen)
        if inner is not None:
            return (index, *inner)
    return None


def spec_at(spec: Spec, path: Indices) -> Iterator[Spec]:
    """Yield the Model messages on the way to one, itself the last."""
    yield spec
    for index in path:
        spec = nested(spec)[index]
        yield spec
