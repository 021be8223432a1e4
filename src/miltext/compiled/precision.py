"""Data types in `metadata.json`: the types of a function's arithmetic, and of its stored weights.

Both rules are inferred from the 30 known compiled models, and hold for all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from math import log2
from typing import TYPE_CHECKING

from miltext.compiled.doubts import Doubt
from miltext.ir.parts import Value as GraphValue
from miltext.schema.tensors import tensor_dtype, tensor_shape
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op
    from miltext.schema.dtypes import DType
    from miltext.schema.proto import Value

STORAGE = "storagePrecision"
"""The key of the storage types of weights."""

_TABLES = ((), *[(1 << bits,) for bits in range(1, 9)])
"""The first dimension of a table of values: the number of values of a number of bits."""

_CONVERTING = ("cast", "dequantize")
"""The operations whose operands do not count. For `cast`, this fits all known compiled models; for `dequantize`, the
metadata.json in `definitions.CCV`.
"""

_UNCOUNTED = ("bool", "string")

_WORDS = {"fp": "Float", "int": "Int", "uint": "UInt", "bf": "BFloat"}

_SEEN = {"Float16", "Float32", "Int8", "Sparse", *(f"Palettized ({bits} bits)" for bits in (2, 4, 6, 8))}
"""The known words for the storage of weights."""

_COMPRESSED = ("constexpr_affine_dequantize", "constexpr_lut_to_dense", "constexpr_sparse_to_dense")
"""The operations whose weights known compiled models have in a weight file, with their parts as attributes."""

_LUT = "constexpr_lut_to_dense"

_SEEN_ELSEWHERE = {"Float16", "Palettized (8 bits)", "UInt8"}
"""The known words for a weight of iOS18: by its table, its bits and its indices."""

_DENSE = {"constexpr_affine_dequantize": "quantized_data", "const": "val"}
"""The attribute whose data type is the weight's data type, by the type of the operation that makes the weight."""


def used_types(function: Function, operations: Collection[Op]) -> set[str]:
    """Return the data types of a function's values, without truth values, strings and inputs with no use except
    conversion.
    """
    inputs = [value for value in function.inputs if not _is_only_converted(value)]
    declared = [*inputs, *(output for operation in operations for output in operation.outputs)]
    types = [value.message.type for value in declared if value.message is not None]
    dtypes = {dtype.name: dtype for dtype in map(tensor_dtype, types) if dtype is not None}
    return {_word(dtype) for name, dtype in dtypes.items() if name not in _UNCOUNTED}


def _is_only_converted(value: GraphValue) -> bool:
    """Return whether the only uses of a value are conversions to another data type."""
    return bool(value.uses) and all(use.op is not None and use.op.type in _CONVERTING for use in value.uses)


def stored_as(operations: Collection[Op]) -> tuple[set[str], list[Doubt]]:
    """Return the words for the storage of the weights in weight files, and the doubts about unknown forms.

    A weight that only a loop uses does not count.
    """
    found: set[str] = set()
    doubts: dict[str, bool] = {}
    for operation in operations:
        if any(user.type != "while_loop" for output in operation.outputs for user in output.users):
            words = _words_of(operation)
            found |= words
            if not words <= _SEEN or _is_compressed_otherwise(operation):
                is_elsewhere = operation.type == _LUT and words == _SEEN_ELSEWHERE
                doubts[operation.type] = doubts.get(operation.type, True) and is_elsewhere
    return found, [_doubt(name, doubts[name]) for name in sorted(doubts)]


def _doubt(name: str, is_elsewhere: bool) -> Doubt:
    source = "a public metadata.json of iOS18" if is_elsewhere else ""
    return Doubt(f"how weights of `{name}` are called in the storage precision", (STORAGE,), source=source)


def _is_compressed_otherwise(operation: Op) -> bool:
    """Return whether no known compiled model has this form of compression: a form of iOS18, or a table other than one
    row of values for a number of bits.
    """
    if not is_compressed(operation.type):
        return False
    table = _table(operation) if operation.type == _LUT else ()
    return operation.type not in _COMPRESSED or bool(operation.inputs) or len(table) > 1 or table[:1] not in _TABLES


def _words_of(operation: Op) -> set[str]:
    """Return the words for the storage of a weight; none for an operation without a weight, or with its weight in the
    program.

    For a weight in iOS18's compression, with arguments, each part in a weight file counts by its data type.
    """
    kind = operation.type
    parts = operation.literals().values() if is_compressed(kind) else ()
    words = {_word(dtype) for dtype in map(_dtype_in_file, parts) if dtype is not None}
    if kind == _LUT:
        values = _table(operation)[-2:-1] or _table(operation)
        return {f"Palettized ({round(log2(values[0]))} bits)", *words} if values and values[0] else words
    if kind == "constexpr_sparse_to_dense":
        return {"Sparse", *words}
    value = operation.attributes.get(_DENSE.get(kind, ""))
    dtype = _dtype_in_file(value) if value is not None else None
    return {_word(dtype), *words} if dtype is not None else words


def _table(operation: Op) -> tuple[int, ...]:
    """Return the shape of a table of values: [2 ** bits] up to iOS17; then [..., 2 ** bits, values of each entry], with
    one table for each group of weights.
    """
    table = operation.operand("lut") if "lut" in operation.inputs else operation.attributes.get("lut")
    declared = table.message if isinstance(table, GraphValue) else table
    return (tensor_shape(declared.type) or ()) if declared is not None else ()


def _dtype_in_file(value: Value) -> DType | None:
    return tensor_dtype(value.type) if value.WhichOneof("value") == "blobFileValue" else None


def _word(dtype: DType) -> str:
    prefix = dtype.name.rstrip("0123456789")
    return dtype.name.replace(prefix, _WORDS[prefix], 1) if prefix in _WORDS else dtype.name


def joined(words: set[str]) -> str:
    """Return the words as one text: sorted, and in brackets if there are several."""
    listed = ", ".join(sorted(words))
    return f"Mixed ({listed})" if len(words) > 1 else listed
