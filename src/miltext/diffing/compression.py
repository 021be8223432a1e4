"""Weights that are held compressed: what people call the form of each, and the numbers that it stands for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import MiltextError
from miltext.diffing.bindings import arguments, regions, stated
from miltext.schema.dtypes import BY_NAME, BY_NUMBER
from miltext.schema.proto import Program
from miltext.schema.walk import is_compressed, is_constant
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.diffing.bindings import Bound
    from miltext.models.pairing.graph import Graph, Node
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
"""How a weight is held, by the operation that decompresses it: the parameter with its data, and what people call it."""

_LINEAR = "{linear}"
"""What is scaled: integers, or what was compressed before."""

_TABLE = "lut"
"""The parameter with the entries of a palette."""


class Compressed:
    """The constants of one program, with those that are held compressed."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _opsets(self) -> dict[int, str]:
        """The opset of each compressed constant."""
        return {
            id(node): opset
            for function in self._graph.functions.values()
            for opset, outer in function.blocks.items()
            for region in regions([outer])
            for node in region.nodes
            if is_compressed(node.operation.type)
        }

    def form(self, node: Node) -> str:
        """Return how a constant is held: `fp16`, `4-bit palette`, `sparse 8-bit linear`."""
        kind = node.operation.type
        if kind not in _FORMS:
            return self._type(node.operation.outputs[0].type)
        key, words = _FORMS[kind]
        bound = _bound(node, key)
        maker = self._maker(bound)
        if maker is not None and is_compressed(maker.operation.type):
            held = self.form(maker)  # as a sparse one whose data is a palette
            return f"scaled {held}" if _LINEAR in words else held
        dtype, bits = self._type(self._type_of(bound)), self._bits(node, bound)
        linear = f"scaled {dtype}" if dtype in BY_NAME and BY_NAME[dtype].kind == "float" else f"{bits}-bit linear"
        held = words.format(bits=bits, type=dtype, linear=linear)
        table = self._maker(_bound(node, _TABLE))
        return f"{held} of {self.form(table)}" if table and is_compressed(table.operation.type) else held

    def layout(self, node: Node) -> set[tuple[str, str, str, tuple[bytes, ...]]]:
        """Return the operations that decompress a constant, and the types of what each takes."""
        return {
            (part.operation.type, kind, key, tuple(map(self._said_type, bound)))
            for part in self.parts(node)
            if is_compressed(part.operation.type)
            for kind, taken in (("argument", arguments(part)), ("attribute", stated(part)))
            for key, bound in taken.items()
        }

    def parts(self, node: Node) -> list[Node]:
        """Return the constants that a compressed one is made of, each before what takes it, and itself."""
        found: dict[int, Node] = {}
        todo = [node]
        while todo:
            each = todo.pop()
            found.pop(id(each), None)  # again, and later: what is made of it stands after it
            found[id(each)] = each
            todo += [maker for value in each.operands if (maker := self._graph.makers[value]) is not None]
        return [*reversed(found.values())]

    def numbers(self, node: Node) -> npt.NDArray[Any] | None:
        """Return the array that a constant stands for; None if a part of it cannot be read, or does not fit."""
        from miltext.evaluation.evaluator import Evaluator
        from miltext.evaluation.subjects import Subject

        parts = self.parts(node)
        if not all(is_constant(part.operation) for part in parts):
            return None
        program = Program(version=1)
        opset = self._opsets.get(id(node)) or next(iter(self._opsets.values()), "CoreML5")
        function = program.functions["main"]
        function.opset = opset
        block = function.block_specializations[opset]
        block.operations.extend([part.operation for part in parts])
        block.outputs.append(node.names[0])
        try:
            subject = Subject(program, self._graph.contents.model_path)
            return Evaluator(subject).run({}, allow_nan=True)[node.names[0]]  # type: ignore[no-any-return]
        except MiltextError:
            return None

    def _maker(self, bound: Bound) -> Node | None:
        return self._graph.makers[bound] if isinstance(bound, int) else None

    def _type_of(self, bound: Bound) -> ValueType | None:
        if isinstance(bound, int):
            maker = self._graph.makers[bound]
            return maker.operation.outputs[self._graph.places[bound]].type if maker else None
        return None if bound is None else bound.type

    def _said_type(self, bound: Bound) -> bytes:
        stated = self._type_of(bound)
        return b"" if stated is None else wire_of(stated)

    def _type(self, stated: ValueType | None) -> str:
        dtype = BY_NUMBER.get(stated.tensorType.dataType) if stated is not None else None
        return dtype.name if dtype else "unknown"

    def _bits(self, node: Node, bound: Bound) -> int:
        """Return how many bits each element takes; of indices that ios16 packs in bytes, as many as the table needs."""
        table = self._type_of(_bound(node, _TABLE))
        if table is not None and _bound(node, "shape") is not None:
            return int(table.tensorType.dimensions[0].constant.size - 1).bit_length()
        dtype = self._type(self._type_of(bound))
        return BY_NAME[dtype].bits if dtype in BY_NAME else 0


def _bound(node: Node, key: str) -> Bound:
    """Return what a parameter is bound to, be it an argument or, as of old, an attribute."""
    found: list[Bound] = [*arguments(node).get(key, ()), *stated(node).get(key, ())]
    return found[0] if found else None
