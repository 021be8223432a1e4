"""Compressed constants of ios16 in the form of ios18, with the same bytes and therefore the same numbers.

In ios16, the indices of a look-up table and the mask of a sparse constant are bytes, with the shape of the constant
beside them; in ios18, they are tensors of that shape, of integers as narrow as they are. Both are packed in the same
order, the least significant bits first (coremltools 9.0, `constexpr_ops` of iOS 16, `compression` of iOS 18, and
`pack_elements_into_bits`). The other compressed constants of ios16 are in ios18 as they are.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.storing import Storing
from miltext.ir.parts import literal_of
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.dtypes import BY_NAME, packed_size
from miltext.schema.tensors import InType, literal, tensor_form
from miltext.schema.types import TensorType, write_type
from miltext.weight_files.blob_storage import BlobFile

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Value

SHAPE = "shape"


class PackedForm(NamedTuple):
    """The parameters of a compressed constant: the packed one, and the other one."""

    packed: str
    other: str


PACKED = {
    "constexpr_lut_to_dense": PackedForm("indices", "lut"),
    "constexpr_sparse_to_dense": PackedForm("mask", "nonzero_data"),
}
"""The compressed constants that have another form in ios18."""


class Raising:
    """The compressed constants of a model that get the form of ios18."""

    def __init__(self, built: NewModel) -> None:
        self._built = built
        self._arrays: dict[str, InType] = {}
        self._is_edited = False

    def take(self, op: Op) -> str:
        """Give a constant the form of ios18; return why it has none, "" if it has one."""
        names = PACKED[op.type]
        packed, other, shape = (_constant(op, name) for name in (*names, SHAPE))
        sizes = literal(shape) if shape is not None else None
        if packed is None or other is None or sizes is None:
            return "has parts that are no constants"
        dims = tuple(map(int, sizes.array().reshape(-1)))
        dtype = _dtype(op.type, other)
        if dtype is None or not dims:
            return "is a scalar, or has a number of entries that is none of 2, 4, 8, 16, 64 and 256"
        made = self._narrowed(packed, dtype, dims)
        if made is None:
            return f"has `{names.packed}` that are not packed in a weight file or in the program"
        _put(op, {names.packed: made, names.other: _for_each(other, dims) if op.type in _TABLES else other})
        self._is_edited = True
        return ""

    def _narrowed(self, value: Value, dtype: DType, shape: tuple[int, ...]) -> Value | None:
        """Return bytes as a tensor of narrow integers; None for bytes of another number, and for absent ones."""
        made = value.__class__()
        made.CopyFrom(value)
        made.type.CopyFrom(write_type(TensorType(dtype.name, shape)))
        size = packed_size(prod(shape), dtype.bits)
        if not value.HasField("blobFileValue"):
            found = literal(value)
            return made if found is not None and len(found.data) == size else None
        place = value.blobFileValue
        path = self._built.files.get(place.fileName.partition("/")[2])
        if path is None:
            return None
        with BlobFile(path) as file:
            blob = file.blob(place.offset)
        if blob.size != size:
            return None
        if dtype != blob.dtype:
            mark = f"{MARK}{len(self._arrays)}"
            padding = size * 8 - prod(shape) * dtype.bits
            self._arrays[mark] = InType(replace(blob, dtype=dtype, padding_bits=padding), dtype)
            made.blobFileValue.fileName, made.blobFileValue.offset = mark, 0
        return made

    def finish(self, graph: Graph) -> None:
        """Put the edited graph in place of the program; the records of other types are stored later."""
        if not self._is_edited:
            return
        program = self._built.spec.mlProgram
        program.CopyFrom(graph.program())
        arrays = self._built.storing.arrays if self._built.storing is not None else {}
        version = self._built.spec.specificationVersion
        self._built.storing = Storing(program, {**arrays, **self._arrays}, None, version)


_TABLES = ("constexpr_lut_to_dense",)


def _constant(op: Op, name: str) -> Value | None:
    """Return a parameter of a constant: written at it, or the value of a `const`."""
    return op.literal(name) or literal_of(op.operand(name))


def _dtype(kind: str, other: Value) -> DType | None:
    """Return the type of a mask, or that of indices into a table; None for a table without such a type."""
    if kind not in _TABLES:
        return BY_NAME["uint1"]
    form = tensor_form(other.type)
    entries = prod(form[1]) if form is not None else 0
    bits = entries.bit_length() - 1
    return BY_NAME.get(f"uint{bits}") if entries == 1 << max(bits, 1) else None


def _for_each(table: Value, shape: tuple[int, ...]) -> Value:
    """Return the one table of all elements: it has a block for each dimension, and vectors of one number."""
    made = table.__class__()
    made.CopyFrom(table)
    form = tensor_form(table.type)
    assert form is not None  # or there would be no type of indices
    made.type.CopyFrom(write_type(TensorType(form[0].name, (*[1] * len(shape), prod(form[1]), 1))))
    return made


def _put(op: Op, inputs: dict[str, Value]) -> None:
    """Give an operation these arguments alone, and remove the constants that nothing uses any more."""
    makers = {value.maker for name in (*inputs, SHAPE) for value in op.values(name)}
    own = op.own()
    for name in (*inputs, SHAPE):
        op.remove_input(name)
        if name in own.attributes:
            del own.attributes[name]
    for name, value in inputs.items():
        op.set_input(name, value)
    for maker in makers:
        if maker is not None and not maker.is_used:
            maker.remove()
