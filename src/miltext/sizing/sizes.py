"""The bytes of a model's weights: by scope, by operation, by weight and by file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.containers.sources import model_of
from miltext.containers.summary import summarize
from miltext.diagnostics.arguments import checked
from miltext.diffing.compression import Compressed
from miltext.diffing.constants import uses_of
from miltext.drafting.programs import completed, outlined
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import KeyedGraph, label
from miltext.schema.tensors import tensor_form
from miltext.scopes.scopes import function_scopes
from miltext.scopes.weight_extents import NOTHING, holders_of, placed
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import name_text
from miltext.syntax.programs import own_copy
from miltext.weight_files.usage import used_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.containers.sources import Source
    from miltext.containers.summary import Summary
    from miltext.ir.parts import Op
    from miltext.models.model import Model, Stage
    from miltext.scopes.weight_extents import Holders, WeightExtent

OUTPUT = "output"
"""The type of operation of a weight that a function returns, and no operation uses."""


class WeightBytes(NamedTuple):
    """A weight: its names, form, shape and size.

    `model` is its path in a pipeline, `scope` the scope of its operation, and `form` its type or compressed form.
    `parameters` are its elements, decompressed ones for a compressed weight, and `bytes` those of all of its parts, of
    which `stored` are in weight files. A stored tensor of several weights counts at the first one. `uses` are the
    operations that use it, each with its type and the parameter.
    """

    model: str
    function: str
    scope: str
    name: str
    form: str
    shape: tuple[int, ...]
    parameters: int
    bytes: int
    stored: int
    uses: tuple[tuple[str, str, str], ...]

    @property
    def operation(self) -> str:
        """The type of the first operation that uses it."""
        return self.uses[0][1] if self.uses else OUTPUT


class ScopeBytes(NamedTuple):
    """A scope of a function: the number of its operations, constants aside, and its weights.

    `scope` is empty for the operations without a scope.
    """

    model: str
    function: str
    scope: str
    operation_count: int
    weights: int
    parameters: int
    bytes: int


class TypeBytes(NamedTuple):
    """The weights that operations of a type use first."""

    operation: str
    weights: int
    parameters: int
    bytes: int


class FileBytes(NamedTuple):
    """A weight file: its size, and the data that programs use, in distinct records.

    `unused` are bytes beyond those of the used records with their headers and padding. `bytes` is None for a file that
    cannot be read, for a reason in `problem`.
    """

    path: str
    bytes: int | None
    data: int
    records: int
    unused: int
    problem: str

    @property
    def layout(self) -> int:
        """The bytes of headers and padding."""
        return 0 if self.bytes is None else self.bytes - self.data - self.unused


@dataclass(frozen=True)
class ModelSize:
    """The sizes of a model: its `weights`, the largest first, its `scopes` in the order of the program, its `files`,
    and `notes` about unread weights.
    """

    name: str
    weights: tuple[WeightBytes, ...]
    scopes: tuple[ScopeBytes, ...]
    files: tuple[FileBytes, ...]
    notes: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """The bytes of all weights, each stored tensor once."""
        return sum(each.bytes for each in self.weights)

    @property
    def parameters(self) -> int:
        """The number of elements of all weights."""
        return sum(each.parameters for each in self.weights)

    @property
    def types(self) -> tuple[TypeBytes, ...]:
        """The sizes by type of operation, the largest first."""
        sums: dict[str, Counter[str]] = {}
        for each in self.weights:
            sums.setdefault(each.operation, Counter()).update(weights=1, parameters=each.parameters, bytes=each.bytes)
        found = [TypeBytes(name, **counts) for name, counts in sums.items()]
        return tuple(sorted(found, key=lambda each: (-each.bytes, each.operation)))


@checked()
def size(source: Source, *, model: int | str | None = None) -> ModelSize:
    """Return the bytes of a model's weights: by scope, by type of operation, by weight and by weight file.

    A pipeline is measured with all of its ML Programs. Sizes of records in a file that cannot be read follow from their
    types. A draft is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        model: The model in a pipeline.  [all]

    Returns:
        The sizes.

    Raises:
        ModelError: A model that cannot be read, and MIL254 for one without an ML Program.
        ParseError: The text is not MIL text.

    Example:
        largest = miltext.size("Model.mlpackage").weights[0]
    """
    whole = model_of(source)
    return measure(whole if model is None else whole.select(model))


def measure(model: Model) -> ModelSize:
    """Return the sizes of a model, or of all ML Programs in a pipeline. Raise ModelError (MIL254) without any."""
    with gc_paused:
        return MeasuredModel(model, Keys()).size()


class MeasuredModel:
    """A model with its measured `programs`, and all weights by the operation that they belong to (`held`)."""

    def __init__(self, model: Model, keys: Keys) -> None:
        self._model = model
        self.programs = [MeasuredProgram(stage, keys) for stage in model.select_all()]
        self.held: Holders = {op: held for each in self.programs for op, held in each.holders().items()}

    def size(self) -> ModelSize:
        """Return the sizes."""
        extents = placed(self.held)
        weights = [each.weight(op, extents[op]) for each in self.programs for op in each.places if op in extents]
        weights.sort(key=lambda each: -each.bytes)
        scopes = tuple(scope for each in self.programs for scope in each.scopes(extents))
        notes = tuple(dict.fromkeys(note for each in self.programs for note in each.notes()))
        return ModelSize(self._model.name, tuple(weights), scopes, tuple(_files(self._model)), notes)


class MeasuredProgram:
    """A program of a model: its `graph`, and its `places`, the function and scope of each operation, in order."""

    def __init__(self, stage: Stage, keys: Keys) -> None:
        self.stage = stage
        self._model = model = completed(stage.model)  # kept, with the weight file of its arrays
        self._contents = ProgramContents(keys, model.model_path, model.keeps)
        self.graph = KeyedGraph(own_copy(model.program), keys, self._contents)
        self._forms = Compressed(self.graph)
        self.places: dict[Op, tuple[str, str]] = {}
        for name, function in self.graph.functions.items():
            text = name_text(name)
            self.places.update((op, (text, scope)) for op, scope in function_scopes(function).items())

    def holders(self) -> Holders:
        """Return the weights by operation; a record has one identity in all programs that share its file."""
        held = holders_of(self.graph)
        return {op: {(self._model.model_path, key): size for key, size in sizes.items()} for op, sizes in held.items()}

    def weight(self, op: Op, extent: WeightExtent) -> WeightBytes:
        """Return the weights of an operation."""
        users = uses_of(op) if op.is_constant else [(op, "")]
        is_one = op.is_constant and len(op.outputs) == 1
        stated = op.outputs[0].message if is_one else None
        form = tensor_form(stated.type) if stated is not None else None
        return WeightBytes(
            *(self.stage.place, *self.places[op], label(op)),
            *(self._forms.form(op) if is_one else "", form[1] if form else ()),
            *extent,
            tuple((label(user), user.type, parameter) for user, parameter in users),
        )

    def scopes(self, extents: Mapping[Op, WeightExtent]) -> Iterator[ScopeBytes]:
        """Yield the scopes with their sums, in the order of the program."""
        sums: dict[tuple[str, str], Counter[str]] = {}
        for op, place in self.places.items():
            extent = extents.get(op, NOTHING)
            sums.setdefault(place, Counter()).update(
                operation_count=not op.is_constant,
                weights=op in extents,
                parameters=extent.parameters,
                bytes=extent.bytes,
            )
        for (function, scope), counts in sums.items():
            yield ScopeBytes(self.stage.place, function, scope, **counts)

    def notes(self) -> Iterator[str]:
        """Yield a note for each reason why weights could not be read: their sizes are those of their types."""
        for what, why in self._contents.unread.items():
            yield f"{what}: {why}; sizes there are computed from types"


def _files(model: Model) -> Iterator[FileBytes]:
    """Yield the weight files of a model, by path."""
    shown = outlined(model) if model.kind == "mil" else model
    data = used_sizes(stage.model.program for stage in shown.programs())
    found: dict[str, Summary] = {}
    for record in _records(summarize(shown)):
        found.setdefault(record["path"], record)
    for path, record in sorted(found.items()):
        sizes = data.get(path, {})
        yield FileBytes(
            *(path, record.get("bytes"), sum(sizes.values()), len(sizes)),
            *(record.get("unusedBytes", 0), record.get("problem", "")),
        )


def _records(summary: Summary) -> Iterator[Summary]:
    """Yield the weight files in the summary of a model, and of the models in it."""
    yield from summary.get("blobFiles", ())
    for inner in summary.get("models", ()):
        yield from _records(inner)
