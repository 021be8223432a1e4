"""Weights in a compressed form: the usual name of each form, and the decompressed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError
from miltext.ir.parts import Value, maker_of
from miltext.pairing.keyed import label, stated
from miltext.schema.dtypes import BY_NAME, BY_NUMBER
from miltext.schema.proto import Program
from miltext.schema.tensors import Computed
from miltext.schema.walk import is_compressed, only_function
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.ir.parts import Op, Operand
    from miltext.pairing.keyed import KeyedGraph
    from miltext.schema.proto import ValueType

_FORMS = {
    "constexpr_affine_dequantize": ("quantized_data", "{linear}"),
    "constexpr_blockwise_shift_scale": ("data", "{linear}"),
    "constexpr_sparse_blockwise_shift_scale": ("nonzero_data", "sparse {linear}"),
    "constexpr_lut_to_dense": ("indices", "{bits}-bit palette"),
    "constexpr_lut_to_sparse": ("indices_nonzero_data", "sparse {bits}-bit palette"),
    "constexpr_sparse_to_dense": ("nonzero_data", "sparse {type}"),
    "constexpr_cast": ("source_val", "{type}"),
}
"""The form of a weight, by the operation that decompresses it: the parameter with its data, and the usual name."""

_LINEAR = "{linear}"
"""A placeholder for the form of the scaled data: plain integers, or the output of another compression."""

_TABLE = "lut"
"""The parameter with the entries of a palette."""


class Compressed:
    """The constants of one program, and the compressed ones among them."""

    def __init__(self, graph: KeyedGraph) -> None:
        self._graph = graph

    def form(self, op: Op) -> str:
        """Return the form of a constant: `fp16`, `4-bit palette`, `sparse 8-bit linear`."""
        kind = op.type
        if kind not in _FORMS:
            return self._type(op.message.outputs[0].type)
        key, words = _FORMS[kind]
        bound = _bound(op, key)
        maker = maker_of(bound)
        if maker is not None and is_compressed(maker.type):
            held = self.form(maker)  # as a sparse one whose data is a palette
            return f"scaled {held}" if _LINEAR in words else held
        dtype, bits = self._type(self._type_of(bound)), self._bits(op, bound)
        linear = f"scaled {dtype}" if dtype in BY_NAME and BY_NAME[dtype].kind == "float" else f"{bits}-bit linear"
        held = words.format(bits=bits, type=dtype, linear=linear)
        table = maker_of(_bound(op, _TABLE))
        return f"{held} of {self.form(table)}" if table and is_compressed(table.type) else held

    def layout(self, op: Op) -> set[tuple[str, str, str, tuple[bytes, ...]]]:
        """Return the operations that decompress a constant, and the types of their operands."""
        return {
            (part.type, kind, key, tuple(map(self._stated_type, bound)))
            for part in self.parts(op)
            if is_compressed(part.type)
            for kind, taken in (("argument", part.inputs), ("attribute", stated(part)))
            for key, bound in taken.items()
        }

    def parts(self, op: Op) -> list[Op]:
        """Return the sources of a compressed constant, each before its users, and the constant itself."""
        found: dict[Op, None] = {}
        todo = [op]
        while todo:
            each = todo.pop()
            found.pop(each, None)  # again, and later: its users come after it
            found[each] = None
            todo += [value.maker for value in each.operands if value.maker is not None]
        return [*reversed(found)]

    def numbers(self, op: Op) -> Computed | str:
        """Return the tensor of a constant, or the reason if a part of it is unreadable or does not match."""
        from miltext.evaluation.evaluator import Evaluator
        from miltext.evaluation.subjects import Subject

        parts = self.parts(op)
        if not all(part.is_constant for part in parts):
            return f"a part of `{label(op)}` is not a constant"
        program = Program(version=1)
        assert op.block is not None, "it is in the graph"
        only_function(program, op.block.opset or "CoreML5", [part.message for part in parts], [op.outputs[0].name])
        try:
            subject = Subject(program, self._graph.contents.model_path)
            return Computed(Evaluator(subject).run({}, allow_nan=True)[op.outputs[0].name])
        except MiltextError as failure:
            return failure.diagnostics[0].message

    def _type_of(self, bound: Operand) -> ValueType | None:
        if isinstance(bound, Value):
            return bound.message.type if bound.maker is not None and bound.message is not None else None
        return None if bound is None else bound.type

    def _stated_type(self, bound: Operand) -> bytes:
        stated = self._type_of(bound)
        return b"" if stated is None else wire_of(stated)

    def _type(self, stated: ValueType | None) -> str:
        dtype = BY_NUMBER.get(stated.tensorType.dataType) if stated is not None else None
        return dtype.name if dtype else "unknown"

    def _bits(self, op: Op, bound: Operand) -> int:
        """Return the number of bits of each element; for indices that ios16 packs in bytes, the number that the table
        needs.
        """
        table = self._type_of(_bound(op, _TABLE))
        if table is not None and table.tensorType.dimensions and _bound(op, "shape") is not None:
            return int(table.tensorType.dimensions[0].constant.size - 1).bit_length()
        dtype = self._type(self._type_of(bound))
        return BY_NAME[dtype].bits if dtype in BY_NAME else 0


def _bound(op: Op, key: str) -> Operand:
    """Return the operand of a parameter: an argument or, in old programs, an attribute."""
    found: list[Operand] = [*op.inputs.get(key, ()), *stated(op).get(key, ())]
    return found[0] if found else None
