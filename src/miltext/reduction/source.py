"""The model to reduce, and the writing of a smaller program with the rest of the model."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.choices import BuildChoices
from miltext.building.storing import named_files
from miltext.containers.programs import BareProgram
from miltext.containers.spec import SpecModel
from miltext.descriptions.ranges import by_function, read_ranges
from miltext.descriptions.sizes import spell_sizes
from miltext.drafting.building import build_as_chosen
from miltext.evaluation.subjects import opened
from miltext.files.writing import WITH_DESCRIPTION, write_file
from miltext.models.outputs import check_name
from miltext.printing.flexible_shapes import flexible
from miltext.printing.printing import to_text
from miltext.schema.function_io import interfaces
from miltext.schema.types import TensorType, read_type
from miltext.schema.wire import wire_of
from miltext.weight_files.model_weights import BlobFolder, LooseFolder, blob_values
from miltext.weight_files.printing import inline_weights

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.descriptions.ranges import Range
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import FunctionDescription, ModelDescription, Program
    from miltext.schema.tensors import InType

KINDS = ("mil", "mlpackage", "mlmodel", "mlmodelc")
"""The kinds of files for a smaller model."""

STORED_FROM = 10
"""The least elements of a constant in the weight file, as in coremltools."""


class OriginalModel:
    """A model to reduce: its `program`, for a draft the completed one, and the parts around it."""

    def __init__(self, subject: Source, ranges: Mapping[str, Range] | None = None) -> None:
        """Open a subject as `miltext.run` does; `ranges` are sizes of its inputs, as in `miltext.build`.

        Raise ParseError and ModelError as `miltext.run`; ModelError (MIL425, MIL434) for impossible sizes.
        """
        self._subject = opened(subject)
        self.program = self._subject.program
        self._asked = read_ranges(ranges or {})
        by_function(self._asked, interfaces(self.program))
        model = self._subject.model
        self.kind = model.kind if model is not None and model.kind in KINDS else "mil"
        self.name = self._subject.name or "<program>"
        self._whole = model if model is not None and model.kind in WITH_DESCRIPTION else None

    @property
    def folder(self) -> BlobFolder:
        """The folder of the program's weight files."""
        folder = self._subject.folder
        return LooseFolder(folder or Path.cwd()) if self._whole is None else BlobFolder(folder)

    @property
    def model_path(self) -> Path | None:
        """The folder for `@model_path`."""
        return self._subject.folder

    @property
    def has_metadata(self) -> bool:
        """Whether the model has removable facts for people."""
        return self._bare is not None

    def save(
        self, program: Program, path: Path, *, force: bool = False, is_bare: bool = False, alone: bool = False
    ) -> list[Diagnostic]:
        """Write a smaller program in the format of the path's ending, with the still valid parts of the model; return
        the warnings.

        With `is_bare`, metadata is removed. A text refers to the model's own weight files; with `alone`, it has copies
        beside it. The arrays of a draft are in no such file, and become literals. Raise OSError and ModelError as
        `miltext.build` does.
        """
        if path.suffix.lower() == ".mil":
            check_name(path, "mil")
            is_inline = not alone and self._subject.keeps is not None
            written = inline_weights(program, self.folder) if is_inline else program
            write_file(path, [to_text(written).encode()], replace=force)
            if alone:
                self._copy_weights(program, path.parent)
            return []
        model = (self._bare if is_bare else self._whole) or self._loose
        choices = BuildChoices(
            original=model if model.kind in WITH_DESCRIPTION else None,
            force=force,
            check=False,
            prune_weights=True,
            allow_unproven=path.suffix.lower() == ".mlmodelc",
            externalize=STORED_FROM if self._has_files else None,
            ranges=self._ranges(program),
            edit=partial(_put, program),
        )
        return [each for each in build_as_chosen(model, path, choices) if each.severity == "warning"]

    @cached_property
    def _has_files(self) -> bool:
        """Whether the model has weights in files."""
        return any(True for _ in blob_values(self.program))

    @cached_property
    def _loose(self) -> Model:
        """The program, if there is nothing around it."""
        read = self._subject.model
        model = BareProgram.read("pb", wire_of(self.program), self.name, read.path if read is not None else None)
        model.model_path = self._subject.folder
        return model

    @cached_property
    def _bare(self) -> Model | None:
        """The model without metadata and descriptions in words; None if there are none, or it is compiled."""
        model = self._whole
        if model is None or model.spec is None or model.is_compiled:
            return None
        spec = deepcopy(model.spec)
        spec.description.ClearField("metadata")
        sides: list[ModelDescription | FunctionDescription] = [spec.description, *spec.description.functions]
        for entry in [entry for each in sides for entry in (*each.input, *each.output, *each.state)]:
            entry.shortDescription = ""
        if wire_of(spec) == wire_of(model.spec):
            return None
        bare = SpecModel(model.kind, model.name, model.path, model.model_path, spec)
        bare.overlays = model.overlays
        return bare

    def _ranges(self, program: Program) -> dict[str, Range]:
        """Return sizes for inputs with a `?`: the requested ones, and for new inputs sizes up to the greatest size of
        any input of the model.

        In ML Programs, each range must have an end. Without any stated size, there are none.
        """
        known = {name for each in interfaces(self.program).values() for name in each.inputs}
        found: dict[str, Range] = {}
        for each in interfaces(program).values():
            for name, value_type in each.inputs.items():
                read = read_type(value_type) if value_type is not None else None
                if not isinstance(read, TensorType) or None not in read.shape:
                    continue
                if name in self._asked:
                    found[name] = spell_sizes(self._asked[name])
                elif name not in known and self._greatest is not None:
                    found[name] = [(1, self._greatest) if size is None else size for size in read.shape]
        return found

    @cached_property
    def _greatest(self) -> int | None:
        ends = [size.greatest or 0 for sizes in self._asked.values() for size in sizes]
        description = self._subject.description
        sides: list[ModelDescription | FunctionDescription] = []
        if description is not None:
            sides += [description, *description.functions]
        for sizes in (flexible(entry) for each in sides for entry in each.input):
            if sizes is not None:
                ends += [size for shape in (sizes.default, *sizes.shapes) for size in shape]
                ends += [limits[1] for limits in sizes.ranges]
        return max(ends, default=0) or None

    def _copy_weights(self, program: Program, folder: Path) -> None:
        """Copy the weight files of a program into a folder, without links, for a test may write to them."""
        found, _ = named_files(program, self.folder)
        for name, path in found.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _put(smaller: Program, program: Program, arrays: dict[str, InType]) -> dict[str, InType]:
    """Replace the written program by the smaller one."""
    program.CopyFrom(smaller)
    return arrays
