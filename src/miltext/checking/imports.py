"""Models that a text imports, `$import("encoder.mlpackage")`: the types of their functions. No weights are read."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from miltext.arrays.problems import ArrayProblem
from miltext.arrays.regular_files import find
from miltext.checking.arrays import Arrays
from miltext.checking.findings import elsewhere
from miltext.checking.imported_functions import ImportedFunction
from miltext.checking.retyping import retype
from miltext.containers.functions import chosen_function, require_program
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError, ModelError, codes, refusing
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.files.refusals import reason_of, refusal
from miltext.files.writing import MODEL_FOLDERS
from miltext.ir.graph import Graph
from miltext.ir.raising import obstacles
from miltext.parsing.recovery import recover
from miltext.printing.printing import to_text
from miltext.schema.function_io import interface
from miltext.schema.opsets import specification_of
from miltext.schema.types import read_type
from miltext.schema.walk import blocks_of, own_opset
from miltext.syntax.literals import quote
from miltext.syntax.names import opset_text

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    from miltext.checking.imported_functions import Types
    from miltext.models.model import Model
    from miltext.parsing.lowering.imports import ImportReference
    from miltext.schema.proto import Program
    from miltext.schema.types import Type

    ReadText: TypeAlias = Callable[[str, str, "Imports"], Program]
    """A function that returns the Program of an imported text at a path, with its types. Raise ParseError."""

Asked = TypeVar("Asked", bound="Hashable")
Made = TypeVar("Made")

MOST_NESTED = 50
"""The most texts that import each other in a chain."""

_OF_ITSELF = "the text would import itself"

MODELS = (".mil", ".mlmodel", ".pb", ".txtpb", *MODEL_FOLDERS)
"""The endings of what can be imported."""


class Imports:
    """The models that a text in a folder imports; each is read once.

    `way` are the real paths of the texts that import each other up to this one.
    """

    def __init__(self, folder: Path, read_text: ReadText, way: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self._read_text = read_text
        self._way = way
        self._models: dict[str, tuple[Model, Program] | MiltextError] = {}
        self._functions: dict[ImportReference, ImportedFunction | MiltextError] = {}
        self._resized: dict[tuple[ImportReference, tuple[tuple[str, Type], ...]], Types | MiltextError] = {}
        self._obstacles: dict[tuple[ImportReference, str], str] = {}

    def function(self, reference: ImportReference) -> ImportedFunction:
        """Return the function of a reference.

        Raise ModelError: MIL409 for a model that cannot be imported, MIL430 for an unknown function.
        """
        return _kept(self._functions, reference, lambda: self._function(reference))

    def outputs(self, reference: ImportReference, given: Mapping[str, Type]) -> Types:
        """Return the types of the outputs if some inputs are of given types. Raise ModelError (MIL409)."""
        if not given:
            return self.function(reference).outputs
        key = reference, (*given.items(),)
        return _kept(self._resized, key, lambda: self._with_inputs(reference, given))

    def obstacle(self, reference: ImportReference, opset: str) -> str:
        """Return why the operations of the function cannot be in a block for an opset; empty if they can."""
        key = reference, opset
        if key not in self._obstacles:
            self._obstacles[key] = self._found_obstacle(self.function(reference), opset)
        return self._obstacles[key]

    def path(self, file: str) -> Path:
        """Return the path of an existing file or folder. Raise ModelError (MIL409)."""
        try:
            path = find(self.folder, file)
        except ArrayProblem as problem:
            raise refusal(codes.IMPOSSIBLE_IMPORT, str(problem)) from problem
        with refusing(lambda failure: refusal(codes.IMPOSSIBLE_IMPORT, f"it cannot be read: {reason_of(failure)}")):
            if os.path.exists(path):
                return path
        raise refusal(codes.IMPOSSIBLE_IMPORT, f"the file does not exist in {self._place(file)}")

    # ---- models

    def _place(self, file: str) -> str:
        """Return words about the folder of a missing file, with a suggestion."""
        name = PurePosixPath(file)
        with refusing(lambda failure: refusal(codes.IMPOSSIBLE_IMPORT, reason_of(failure))):
            folder = (self.folder / file).parent
            there = os.listdir(folder) if folder.is_dir() else []
        near = nearest(name.name, sorted(each for each in there if each.lower().endswith(MODELS)))
        where = "the working folder" if self.folder == Path() else quote(str(self.folder))
        return f"{where}{did_you_mean(near and quote(str(name.with_name(near))))}"

    def _function(self, reference: ImportReference) -> ImportedFunction:
        path = self.path(reference.file)
        model, program = _kept(self._models, os.path.realpath(path), lambda: self._read(reference, path))
        default = model.description.defaultFunctionName if model.description is not None else ""
        try:
            name = chosen_function(program, default, reference.function, "")
        except ModelError as failure:
            found = failure.diagnostics[0]
            notes = [note.message for note in found.notes if note.message]
            raise refusal(found.code, "; ".join([found.message, *notes])) from failure
        function = program.functions[name]
        sides = interface(function)
        inputs = {value.name: read_type(value.type) for value in function.inputs}
        outputs = {each: read_type(kind) if kind is not None else None for each, kind in sides.outputs.items()}
        opset = own_opset(function.opset, blocks_of(function)) or ""
        return ImportedFunction(model, program, name, opset, inputs, outputs)

    def _read(self, reference: ImportReference, path: Path) -> tuple[Model, Program]:
        """Return the model at a path, and its Program with all types."""
        real = os.path.realpath(path)
        if real in self._way:
            names = " -> ".join(os.path.basename(each) for each in (*self._way[self._way.index(real) :], real))
            raise refusal(codes.IMPOSSIBLE_IMPORT, f"{_OF_ITSELF}: {names}")
        if len(self._way) == MOST_NESTED:
            raise refusal(codes.IMPOSSIBLE_IMPORT, f"texts import each other more than {MOST_NESTED} deep")
        with _refusing(reference):
            model = require_program(open_model(path), "imported")
            program = self._program(model.text, path) if model.kind == "mil" and model.text else model.program
        return model, program

    def _program(self, text: str, path: Path) -> Program:
        return self._read_text(text, str(path), self._inside(path))

    def _inside(self, path: Path) -> Imports:
        """Return the imports of a text at a path."""
        inside = Imports(path.parent, self._read_text, (*self._way, os.path.realpath(path)))
        inside._models = self._models
        return inside

    # ---- other sizes

    def _with_inputs(self, reference: ImportReference, given: Mapping[str, Type]) -> Types:
        called = self.function(reference)
        path = self.path(reference.file)
        own = called.model.text if called.model.kind == "mil" else None
        with _refusing(reference):
            text = own or to_text(called.program)
            arrays = Arrays(path.parent if own else None, self._inside(path) if own else None)
            retyped = retype(recover(text), text, arrays, {called.name: dict(given)}, called.model.model_path)
            program = self._program(retyped.written.text, path)
        outputs = interface(program.functions[called.name]).outputs
        return {name: read_type(kind) if kind is not None else None for name, kind in outputs.items()}

    # ---- opsets

    def _found_obstacle(self, called: ImportedFunction, opset: str) -> str:
        if called.opset == opset:
            return ""
        if specification_of(called.opset) > specification_of(opset):
            own, need = opset_text(opset), opset_text(called.opset)
            return f"it is for {need}, and this function for {own}: write `<{need}>` after the function's name"
        block = Graph(called.program).functions[called.name].blocks[called.opset]
        found = next(obstacles(block, called.opset, opset), None)
        if found is None:
            return ""
        before, after = opset_text(called.opset), opset_text(opset)
        return f"it is for {before} and would become {after}: {found[1]}; convert that model for the newer opset"


def _kept(known: dict[Asked, Made | MiltextError], key: Asked, make: Callable[[], Made]) -> Made:
    """Return what is made once for a key; raise the error of the first time."""
    if key not in known:
        try:
            known[key] = make()
        except MiltextError as failure:
            known[key] = failure
    found = known[key]
    if isinstance(found, MiltextError):
        raise found
    return found


@contextmanager
def _refusing(reference: ImportReference) -> Iterator[None]:
    """Report an error of a model in a `with` block as an error of its import."""
    try:
        yield
    except MiltextError as failure:
        raise refused_import(reference, failure) from failure
    except OSError as failure:
        raise refusal(codes.IMPOSSIBLE_IMPORT, f"it cannot be read: {reason_of(failure)}") from failure


def refused_import(reference: ImportReference, failure: MiltextError) -> ModelError:
    """Return the error of an import for an error of its model."""
    errors = [each for each in failure.diagnostics if each.severity == "error"] or failure.diagnostics
    found = next((each for each in errors if _OF_ITSELF in each.message), errors[0])
    if found.code == codes.IMPOSSIBLE_IMPORT and found.span is None:
        return refusal(found.code, found.message)
    said = elsewhere(found, failure.text, reference.file)
    more = "; ".join([said.message, *(note.message for note in said.notes[:1])])
    return refusal(codes.IMPOSSIBLE_IMPORT, more)
