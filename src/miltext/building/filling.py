"""Filling of omitted values in a text: elided literals from the original model, and arrays from files."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.arrays.opening import ArrayFolder
from miltext.diagnostics import MiltextError, ModelError, Note, ParseError, codes
from miltext.parsing.locating import enclosing
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.lowering.blobs import blob_message
from miltext.parsing.lowering.imports import marked, reference_of
from miltext.parsing.lowering.left_out import LEFT_OUT, MARK, LeavingOut, NamedArray
from miltext.parsing.lowering.names import string_bytes
from miltext.parsing.lowering.values import ArrayFile, Elided, Raw, immediate
from miltext.parsing.parser import lower, parse_tree
from miltext.printing.tensors import digest, element_count
from miltext.schema.fields import BLOB, TENSOR
from miltext.schema.proto import Program, ValueType
from miltext.schema.tensors import InType
from miltext.schema.walk import values
from miltext.schema.wire import sized
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.arrays.stored import StoredArray
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.parsing.lowering.arrays import ArrayReference
    from miltext.parsing.lowering.types import LoweredType
    from miltext.parsing.lowering.values import Children
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import TensorValue


class Filled(NamedTuple):
    """A Program with the omitted values of its text; `arrays` are still to be stored, by their placeholder
    fileNames.
    """

    program: Program
    arrays: dict[str, InType]


def program_of(source: Model, originals: Sequence[Program], *, imports: bool = False) -> Filled:
    """Return a copy of the program of a source; a text is filled as by `fill`, unless its program was read already."""
    if source.kind != "mil" or "program" in vars(source):
        return Filled(deepcopy(source.program), {})
    return fill(source.text or "", source.name, source.model_path or Path(), originals, imports=imports)


def fill(text: str, path: str, folder: Path | None, originals: Sequence[Program], *, imports: bool = False) -> Filled:
    """Return the Program of a text. Elided literals are from the `originals`; digest, type and count must agree.

    Arrays are found in `folder`; if it is None, values keep their names. With `imports`, operations stand for imports.
    Raise ParseError: as `parse` does; MIL410 and MIL411 for a missing literal, MIL412 to MIL419 for an array. A note
    names the operation.
    """
    lowering = (Filling if not imports else FillingWithImports)(folder, originals)
    try:
        wire = lower(text, path, lowering)
    except ParseError as failure:
        raise ParseError([_named(text, found) for found in failure.diagnostics], text=text, path=path) from None
    return Filled(Program.FromString(wire), lowering.arrays)


_LEFT_OUT = (
    codes.UNKNOWN_ELIDED_LITERAL,
    codes.ELIDED_LITERAL_TYPE,
    codes.MISFIT_ARRAY,
    codes.MISSING_ARRAY_FILE,
    codes.UNREADABLE_ARRAY_FILE,
    codes.UNKNOWN_ARRAY_TYPE,
    codes.UNKNOWN_ARRAY_KEY,
    codes.ARRAY_VALUE_OUT_OF_RANGE,
    codes.ARRAY_FILE_CHANGED,
    codes.NO_SAFETENSORS,
)
"""The codes of omitted values that cannot be filled in."""


def _named(text: str, found: Diagnostic) -> Diagnostic:
    """Return a finding about an omitted value, with its operation in a note."""
    code = codes.UNKNOWN_ELIDED_LITERAL if found.code == codes.ELIDED_LITERAL else found.code
    if code not in _LEFT_OUT or found.span is None:
        return found
    notes = [Note(codes.TABLE[code].way_out)]
    around = enclosing(parse_tree(text, whole=True).root, found.span.start)
    if around and around.outputs:
        notes.insert(0, Note(f"in the operation `{around.type}` that makes `{', '.join(around.outputs)}`"))
    return found._replace(notes=tuple(notes))


class Filling(Lowering):
    """A Lowering that finds the omitted values of a text."""

    def __init__(self, folder: Path | None, originals: Sequence[Program]) -> None:
        super().__init__()
        self.folder = ArrayFolder(folder) if folder is not None else None
        self.arrays: dict[str, InType] = {}
        self.originals = originals

    def elided(self, children: Children) -> Elided:
        return FilledLiteral(children, self)

    def array_file(self, children: Children) -> ArrayFile:
        return FilledArray(children, self, self.folder) if self.folder else NamedArray(children)

    @cached_property
    def literals(self) -> dict[str, list[tuple[ValueType, TensorValue]]]:
        """The originals' tensors by digest, with their types."""
        known: dict[str, list[tuple[ValueType, TensorValue]]] = {}
        for held in (held for original in self.originals for held in values(original)):
            if held.value.immediateValue.WhichOneof("value") == "tensor":
                tensor = held.value.immediateValue.tensor
                known.setdefault(digest(tensor), []).append((held.value.type, tensor))
        return known


class FillingWithImports(Filling):
    """A Filling that accepts imports, as the names of their files."""

    def imported(self, children: Children) -> str:
        return marked(reference_of(children))


class LeftOut(Raw):
    """A literal without its values; its Filling finds them."""

    def __init__(self, children: Children, filling: Filling) -> None:
        super().__init__(children)
        self._filling = filling


class FilledLiteral(LeftOut, Elided):
    """`$elided(1000, "sha256:...")`, found in the original."""

    def content(self, value_type: LoweredType) -> bytes:
        count = self.children[2]
        if not self._filling.originals:
            message = f"this literal of {shown(count)} elements was left out when the text was printed"
            raise LoweringError(codes.ELIDED_LITERAL, message, self.place)
        asked = string_bytes(self.children[4]).decode()
        found = self._filling.literals.get(asked)
        if not found:
            message = f"the original does not have a literal of {shown(count)} elements with this digest"
            raise LoweringError(codes.UNKNOWN_ELIDED_LITERAL, message, 0)
        own = ValueType.FromString(value_type.wire or b"")
        tensor = next((tensor for kind, tensor in found if kind == own), None)
        if tensor is None:
            raise LoweringError(
                codes.ELIDED_LITERAL_TYPE, "the original has this literal with another type", self.place
            )
        number = element_count(tensor, value_type.dtype, value_type.shape)
        if count != str(number):
            message = f"the original's literal with this digest has {number} elements, not {shown(count)}"
            raise LoweringError(codes.UNKNOWN_ELIDED_LITERAL, message, self.place)
        return immediate(TENSOR, tensor.SerializeToString(deterministic=True))


class FilledArray(LeftOut, ArrayFile):
    """`$npy("weights/w.npy")`, found beside the text; its data are read later."""

    def __init__(self, children: Children, filling: Filling, folder: ArrayFolder) -> None:
        super().__init__(children, filling)
        self._folder = folder

    def content(self, value_type: LoweredType) -> bytes:
        dtype, shape = value_type.dtype, value_type.shape
        if value_type.kind != "tensor" or dtype is None or shape is None:
            message = "an array can only be the value of a tensor of a known data type and rank"
            raise LoweringError(codes.MISFIT_ARRAY, message, self.place)
        array = self._opened()
        if not _fits(array.shape, shape):
            found, wanted = list(array.shape), ["?" if size is None else size for size in shape]
            message = f"`{self.reference}` has the shape {found}, but the value has {wanted}"
            raise LoweringError(codes.MISFIT_ARRAY, message, self.place)
        if problem := array.misfit(dtype):
            raise LoweringError(codes.MISFIT_ARRAY, problem, self.place)
        mark = mark_of(self.reference, dtype)
        self._filling.arrays[mark] = InType(array, dtype)
        return sized(BLOB, blob_message(mark.encode(), 0))

    def _opened(self) -> StoredArray:
        try:
            return self._folder.open(self.reference)
        except ModelError as failure:
            found = failure.diagnostics[0]
            raise LoweringError(found.code, found.message, self.place) from failure


def _fits(sizes: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Whether sizes fit a shape, in which None matches any size."""
    return len(sizes) == len(shape) and all(want in (None, got) for want, got in zip(shape, sizes, strict=True))


def mark_of(reference: ArrayReference, dtype: DType) -> str:
    """Return the placeholder fileName for an array that is stored later."""
    return f"{MARK}{dtype.name}({reference})"


# ---- an array found unfit when it is stored


def blame(text: str, path: str, mark: str, failure: ModelError) -> MiltextError:
    """Return the error about an array's data, at the place of its reference in the text; an array of an imported text
    has none.
    """
    try:
        lower(text, path, Blaming(mark, failure.diagnostics[0]))
    except ParseError as placed:
        return ParseError([_named(text, found) for found in placed.diagnostics], text=text, path=path)
    return failure


class Blaming(LeavingOut):
    """A Lowering that refuses one array."""

    def __init__(self, mark: str, found: Diagnostic) -> None:
        super().__init__()
        self.mark = mark
        self.found = found

    def array_file(self, children: Children) -> ArrayFile:
        return BlamedArray(children, self)


class BlamedArray(ArrayFile):
    """Refuse the array with the mark, and omit any other."""

    def __init__(self, children: Children, blaming: Blaming) -> None:
        super().__init__(children)
        self._blaming = blaming

    def content(self, value_type: LoweredType) -> bytes:
        assert value_type.dtype is not None
        if mark_of(self.reference, value_type.dtype) == self._blaming.mark:
            raise LoweringError(self._blaming.found.code, self._blaming.found.message, self.place)
        return LEFT_OUT
