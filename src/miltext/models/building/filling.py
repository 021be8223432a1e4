"""Text that leaves values out: elided literals from the model it was printed from, and arrays from `.npy` files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.diagnostics import ModelError, Note, ParseError, refusing
from miltext.models.contents import LFS_POINTER, inside
from miltext.models.refusals import WAYS_OUT
from miltext.parsing.locating import enclosing
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.lowering.blobs import blob_message
from miltext.parsing.lowering.left_out import MARK
from miltext.parsing.lowering.names import string_bytes
from miltext.parsing.lowering.values import ArrayFile, Elided, Raw, immediate
from miltext.parsing.parser import lower, parse_tree
from miltext.printing.tensors import digest, element_count
from miltext.schema.fields import BLOB, TENSOR
from miltext.schema.packing import misfit
from miltext.schema.proto import Program, ValueType
from miltext.schema.walk import values
from miltext.schema.wire import sized
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.diagnostics import Diagnostic
    from miltext.parsing.lowering.types import LoweredType
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import TensorValue


class Array(NamedTuple):
    """An array that the text names, and the data type that it is to be stored as."""

    dtype: DType
    elements: npt.NDArray[Any]


class Filled(NamedTuple):
    """A Program with what its text left out; `arrays` are still to be stored, by the fileName that stands for each."""

    program: Program
    arrays: dict[str, Array]


def fill(text: str, path: str, folder: Path, originals: Sequence[Program]) -> Filled:
    """Return the Program of a text. Elided literals are taken from the `originals`, after digest, type and count agree.

    Arrays are found in `folder`. Raise ParseError: as `parse` does; MIL410 and MIL411 for a literal that is
    not found, MIL412 for an array, each with the operation that it belongs to.
    """
    lowering = Filling(folder, originals)
    try:
        wire = lower(text, path, lowering)
    except ParseError as failure:
        raise ParseError([_named(text, found) for found in failure.diagnostics], text=text, path=path) from None
    return Filled(Program.FromString(wire), lowering.arrays)


def _named(text: str, found: Diagnostic) -> Diagnostic:
    """Return a finding about a value that was left out, with the operation that it belongs to."""
    way_out = WAYS_OUT.get("MIL410" if found.code == "MIL107" else found.code)
    if way_out is None or found.span is None:
        return found
    notes = [Note(way_out)]
    around = enclosing(parse_tree(text, whole=True).root, found.span.start)
    if around and around.outputs:
        notes.insert(0, Note(f"in the operation `{around.type}` that makes `{', '.join(around.outputs)}`"))
    return found._replace(notes=tuple(notes))


class Filling(Lowering):
    """A Lowering that finds the values that a text leaves out."""

    def __init__(self, folder: Path, originals: Sequence[Program]) -> None:
        super().__init__()
        self.folder = folder
        self.arrays: dict[str, Array] = {}
        self.originals = originals

    def elided(self, children: list[Any]) -> Elided:
        return FilledLiteral(children, self)

    def array_file(self, children: list[Any]) -> ArrayFile:
        return StoredArray(children, self)

    @cached_property
    def literals(self) -> dict[str, list[tuple[ValueType, TensorValue]]]:
        """The originals' tensors by digest, and the types that each stands under."""
        known: dict[str, list[tuple[ValueType, TensorValue]]] = {}
        for held in (held for original in self.originals for held in values(original)):
            if held.value.immediateValue.WhichOneof("value") == "tensor":
                tensor = held.value.immediateValue.tensor
                known.setdefault(digest(tensor), []).append((held.value.type, tensor))
        return known


class LeftOut(Raw):
    """A literal without its values, which the Filling that it is read in knows."""

    def __init__(self, children: Sequence[Any], filling: Filling) -> None:
        super().__init__(children)
        self._filling = filling


class FilledLiteral(LeftOut, Elided):
    """`$elided(1000, "sha256:...")`, found in the original."""

    def content(self, value_type: LoweredType) -> bytes:
        count = self.children[2]
        if not self._filling.originals:
            message = f"this literal of {shown(count)} elements was left out when the text was printed"
            raise LoweringError("MIL107", message, self.place)
        asked = string_bytes(self.children[4]).decode()
        found = self._filling.literals.get(asked)
        if not found:
            message = f"the original does not have a literal of {shown(count)} elements with this digest"
            raise LoweringError("MIL410", message, 0)
        own = ValueType.FromString(value_type.wire or b"")
        tensor = next((tensor for kind, tensor in found if kind == own), None)
        if tensor is None:
            raise LoweringError("MIL411", "the original has this literal under another type", self.place)
        number = element_count(tensor, value_type.dtype, value_type.shape)
        if count != str(number):
            message = f"the original's literal with this digest has {number} elements, not {shown(count)}"
            raise LoweringError("MIL410", message, self.place)
        return immediate(TENSOR, tensor.SerializeToString(deterministic=True))


class StoredArray(LeftOut, ArrayFile):
    """`$npy("weights/w.npy")`, found beside the text."""

    def content(self, value_type: LoweredType) -> bytes:
        dtype, shape = value_type.dtype, value_type.shape
        if value_type.kind != "tensor" or dtype is None or shape is None:
            message = "an array can only be the value of a tensor of a known data type and rank"
            raise LoweringError("MIL412", message, self.place)
        name = string_bytes(self.children[2]).decode()
        elements = _read_array(self._filling.folder, name, self.place)
        if not _fits(elements.shape, shape):
            found, wanted = list(elements.shape), ["?" if size is None else size for size in shape]
            message = f"the array {name!r} has the shape {found}, but the value has {wanted}"
            raise LoweringError("MIL412", message, self.place)
        if problem := misfit(elements, dtype):
            raise LoweringError("MIL412", f"the array {name!r} does not fit: {problem}", self.place)
        mark = f"{MARK}{dtype.name}/{name}"
        self._filling.arrays[mark] = Array(dtype, elements)
        return sized(BLOB, blob_message(mark.encode(), 0))


def _fits(sizes: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Whether sizes are those of a shape, where None is any."""
    return len(sizes) == len(shape) and all(want in (None, got) for want, got in zip(shape, sizes, strict=True))


def _read_array(folder: Path, name: str, place: str | None) -> npt.NDArray[Any]:
    """Return the array in a `.npy` file below a folder, mapped. Raise LoweringError (MIL412)."""

    def refused(failure: Exception) -> LoweringError:
        reason = str(failure) or type(failure).__name__  # numpy sometimes says nothing
        return LoweringError("MIL412", f"the array {name!r} cannot be read: {reason}", place)

    try:
        path = inside(folder, name)
    except ModelError as failure:
        raise LoweringError("MIL412", failure.diagnostics[0].message, place) from failure
    with refusing(refused):
        return _mapped(path)


def _mapped(path: Path) -> npt.NDArray[Any]:
    """Return the array in a `.npy` file. An archive of several, or objects that would have to be run, raise
    ValueError.
    """
    from numpy.lib.format import open_memmap

    with open(path, "rb") as file:
        start = file.read(len(LFS_POINTER))
    if start == LFS_POINTER:
        raise ValueError("it is a git-lfs pointer; run `git lfs pull`")
    if start.startswith(b"PK"):
        raise ValueError("it is an archive, as numpy.savez makes; numpy.save makes a .npy")
    return open_memmap(path, "r")
