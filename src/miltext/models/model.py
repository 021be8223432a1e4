"""The properties of every model, from any source."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Diagnostic, ModelError, Note, codes
from miltext.files.refusals import refusal
from miltext.files.writing import MODEL_FOLDERS
from miltext.schema.proto.kinds import PIPELINES, PROGRAM
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.models.overlays import Overlays
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import Metadata, ModelDescription, Program
    from miltext.schema.proto import Model as Spec
    from miltext.weight_files.model_weights import Weights


class Stage(NamedTuple):
    """A model inside a pipeline, and its path there, as in `1/0`; empty for a model outside of pipelines."""

    place: str
    model: Model

    @property
    def title(self) -> str:
        """The path, and the name in the pipeline: `1/0 "head"`."""
        name = self.model.pipeline_name
        return f"{self.place} {quote(name)}" if name else self.place

    @property
    def name(self) -> str:
        """The name for errors: the own file of a compiled model, otherwise the pipeline's file and the title."""
        has_own = not self.place or self.model.is_compiled
        return self.model.name if has_own else f"{self.model.name}, model {self.title}"

    @property
    def short_name(self) -> str:
        """The name for people: the file, or the package or bundle around it, without folders; and the title."""
        own = self.model.name if self.model.path is None else _own_name(self.model.path)
        return f"{own}, model {self.title}" if self.place else own


def _own_name(path: Path) -> str:
    """Return the name of a file or folder, or of the package around it; in a bundle, with its inner folders.

    A file named `model` has the name of its folder before it.
    """
    path = Path(os.path.abspath(path))
    for folder in path.parents:
        if folder.suffix.lower() in MODEL_FOLDERS:
            inner = path.relative_to(folder).parts[:-1]
            return "/".join([folder.name, *(inner if folder.suffix.lower() == ".mlmodelc" else ())])
    return f"{path.parent.name}/{path.name}" if path.stem == "model" and path.parent.name else path.name


class Model(ABC):
    """A Core ML model, or a bare program, as it was read.

    `kind` is the kind of its source: `mil`, `mlmodel`, `mlpackage`, `mlmodelc`, `pb` or `txtpb`. `type` is the kind of
    model in it, by the name of its field in `Model`: `mlProgram`, `pipeline`, and so on. `name` is its name in errors,
    `path` the opened path (None for standard input), `model_path` the folder for `@model_path` (None if there is none),
    and `pipeline_name` its name in the pipeline around it. `warnings` grows as properties are read. `interfaces` are
    the inputs and outputs of the program's functions before any change, if the model has a description; they are known
    after the first use of `program`. `overlays` are the overlays of a whole package, whose texts are in the
    description.
    """

    def __init__(
        self, kind: str, name: str, path: Path | None, model_path: Path | None, pipeline_name: str = ""
    ) -> None:
        self.kind = kind
        self.type = PROGRAM
        self.name = name
        self.path = path
        self.model_path = model_path
        self.pipeline_name = pipeline_name
        self.warnings: list[Diagnostic] = []
        self.interfaces: dict[str, Interface] = {}
        self.overlays: Overlays | None = None
        self.keeps: object = None  # an object with the model's lifetime: a temporary folder
        self.reopen: Callable[[], Model] | None = None  # reads the model once more from its source

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.type} in {self.kind}>"

    @cached_property
    def program(self) -> Program:
        """The Program; a change to it is a change to the model.

        Raise ParseError for text without a program, and ModelError for another model than an ML Program.
        """
        raise self._no_program()

    @property
    def text(self) -> str | None:
        """The MIL text of its source: a `.mil`, or the model.mil of an `.mlmodelc`."""
        return None

    @property
    def spec(self) -> Spec | None:
        """The Model message; None for a text, a bare Program, and a bundle except for a stage stored as a message."""
        return None

    @property
    def specification_version(self) -> int | None:
        """The version of Core ML's specification, None where it is unknown: 6 for iOS 15, 9 for iOS 18."""
        return None

    @property
    def description(self) -> ModelDescription | None:
        """The ModelDescription, None for a model without one."""
        return None

    @property
    def metadata(self) -> Metadata | None:
        """The Metadata of the description: author, license, entries of users; None without one."""
        description = self.description
        return description.metadata if description is not None and description.HasField("metadata") else None

    @property
    @abstractmethod
    def description_text(self) -> str:
        """The surroundings of the program, as TOML that `miltext.build` reads.

        They are the description, the specification version, the labels of a classifier, and the same for each model of
        a pipeline. For a program by itself they are made from the types. Raise ModelError and ParseError as
        `descriptions.model_texts` does.
        """

    @cached_property
    def weights(self) -> Weights:
        """The weights by name or by Value, as numpy arrays; each is read at its first use."""
        from miltext.weight_files.model_weights import Weights

        return Weights(self.program, self.model_path)

    @abstractmethod
    def save(
        self, path: str | os.PathLike[str], *, force: bool = False, progress: Callable[[int], object] | None = None
    ) -> list[Diagnostic]:
        """Write the model, with the changes made to `program`, as an `.mlpackage`, `.mlmodel` or `.mlmodelc`.

        A file or folder at `path` is replaced only with `force`, and only when all is written; `path` may be the
        model's own. `progress` gets the number of bytes of weights in each piece written. Return the warnings. Raise
        FileExistsError, OSError, and ModelError as `miltext.building.build.build` does.

        The model is not checked; `miltext.build` checks it.
        """

    @property
    def is_compiled(self) -> bool:
        """Whether it was read from the folder of a compiled model."""
        return self.kind == "mlmodelc"

    @property
    def is_pipeline(self) -> bool:
        """Whether it is a pipeline, whose models are `models`."""
        return self.type in PIPELINES

    @property
    def models(self) -> Sequence[Model]:
        """The models of a pipeline, in its order."""
        return ()

    @property
    def is_whole(self) -> bool:
        """Whether all models of a pipeline are present, and their kinds are known."""
        return True

    @property
    def pipeline_names(self) -> Sequence[str]:
        """A pipeline's names for its models, in their order; some may have no name."""
        return ()

    def stages(self, prefix: str = "") -> Iterator[Stage]:
        """Yield each inner model, at any depth, before its own inner models; none if this is not a pipeline."""
        for index, model in enumerate(self.models):
            yield Stage(f"{prefix}{index}", model)
            yield from model.stages(f"{prefix}{index}/")

    def programs(self) -> list[Stage]:
        """Return the ML Programs of a model: itself, or the programs in its pipelines; none for another kind."""
        return [stage for stage in (Stage("", self), *self.stages()) if stage.model.type == PROGRAM]

    def select_all(self) -> list[Stage]:
        """Return the ML Programs of a model. Raise ModelError (MIL254) if there are none."""
        found = self.programs()
        if found:
            return found
        if not self.models:
            raise self._no_program()
        message = "none of the models in this pipeline is an ML Program"
        raise refusal(codes.NOT_AN_ML_PROGRAM, message, self.name, *self._list_of_models())

    def select(self, path: int | str | None) -> Model:
        """Return the ML Program at a path in this model's pipelines, as in `1`, `"name"` or `"1/0"`; itself for None.

        Raise ModelError: MIL257 for an unknown path or a pipeline, MIL254 for another kind.
        """
        chosen = self.at(path)
        reopen = self.reopen
        if chosen.type != PROGRAM:
            raise chosen._no_program()
        if reopen is not None and chosen is not self:
            chosen.reopen = lambda: reopen().select(path)
        return chosen

    def select_only(self, path: int | str | None) -> Model:
        """Return the ML Program at a path; for None, a pipeline's only program, or itself. Raise as `select` does."""
        programs = self.programs() if path is None else []
        return self.select(programs[0].place if len(programs) == 1 else path)

    def at(self, path: int | str | None) -> Model:
        """Return the model of any type at a path in this model's pipelines; itself for None.

        Raise ModelError (MIL257) for an unknown path.
        """
        chosen = self
        for step in [] if path in (None, "") else str(path).split("/"):
            chosen = chosen._nested(step)
        return chosen

    def listing(self) -> Iterator[str]:
        """Yield a line for each inner model, at any depth: its path, its name and its type."""
        return (f"{stage.title}: {stage.model.type}" for stage in self.stages())

    def _nested(self, step: str) -> Model:
        by_name = {model.pipeline_name: model for model in self.models if model.pipeline_name}
        found = {**by_name, **{str(index): model for index, model in enumerate(self.models)}}
        if step not in found:
            where = "this pipeline" if self.models else f"this {self.type}, which is not a pipeline"
            raise refusal(
                codes.UNKNOWN_PIPELINE_MODEL, f"unknown model {step!r} in {where}", self.name, *self._list_of_models()
            )
        return found[step]

    def _list_of_models(self) -> list[Note]:
        return [Note(line) for line in self.listing()]

    def _no_program(self) -> ModelError:
        if self.models:
            count = len(self.models)
            message = f"this is a pipeline of {count} model{'s' * (count != 1)}, not an ML Program by itself"
            return refusal(codes.UNKNOWN_PIPELINE_MODEL, message, self.name, *self._list_of_models())
        return refusal(
            codes.NOT_AN_ML_PROGRAM, f"this model is of the kind `{self.type}`, not an ML Program", self.name
        )
