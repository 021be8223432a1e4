"""Inference over both programs of a comparison: the types that follow from operands, and constants from sizes.

A declared type follows if inference gives exactly this type for the operation and its operands, in both programs. A
constant follows if `reshape` would make it from the old one for the new sizes of the operands beside it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from miltext.checking.inference.operands import Arguments, Operand, read_value
from miltext.checking.inference.program import OUTCOMES, UNDEFINED, Inference, Walk
from miltext.checking.inference.reading import StatedGraph
from miltext.checking.resizing.cuts import cuts_of
from miltext.checking.resizing.facts import PLAIN
from miltext.checking.resizing.following import Following
from miltext.diagnostics import MiltextError
from miltext.diffing.spelling import SHOWN
from miltext.ir.parts import Op, Value, literal_of
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, read_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miltext.checking.inference.operands import NestedBlock
    from miltext.checking.inference.program import Path
    from miltext.checking.resizing.facts import Follow
    from miltext.diffing.partners import Partners
    from miltext.ir.functions import Block
    from miltext.ir.parts import Operand as GraphOperand
    from miltext.pairing.keyed import KeyedGraph
    from miltext.schema.packing import Array
    from miltext.schema.types import Type

SIZES = {
    "reshape": ("shape",),
    "slice_by_index": ("begin", "end"),
    "slice_update": ("begin", "end"),
    "slice_by_size": ("size",),
    "tile": ("reps",),
    "conv_transpose": ("output_shape",),
    "resize_bilinear": ("target_size_height", "target_size_width"),
    "resize_nearest_neighbor": ("target_size_height", "target_size_width"),
    "crop_resize": ("target_height", "target_width"),
    "affine": ("output_height", "output_width"),
    "split": ("split_sizes",),
}
"""The parameters that hold nothing but sizes and places. `reshape` also computes other numbers, such as the factor of a
mean, but these may have another meaning: they stay causes.
"""

Operands: TypeAlias = "Mapping[str, Sequence[Operand]]"
"""The operands of an operation, by parameter."""

Argument: TypeAlias = tuple[Op, str, int]
"""An argument: its operation, the parameter, and the place among the arguments of the parameter."""


class InferredGraph(Walk):
    """Inference over one program, by the operations and values of its graph.

    `given` are the types of the arguments that become inputs of blocks.
    """

    def __init__(self, graph: KeyedGraph) -> None:
        super().__init__(StatedGraph(graph.message, graph))
        self.contents = graph.contents
        self._inferences: dict[Op, Inference] = {}
        self._given: dict[Value, Type] = {}

    def operation(self, op: Op, path: Path) -> None:
        if not self._is_plain_constant(op):
            super().operation(op, path)
            self._inferences[op] = self.found[-1]

    def _is_plain_constant(self, op: Op) -> bool:
        """Enter the output of a `const` of the type of its value: inference gives it this type."""
        if op.type != "const" or op.inputs or op.blocks or len(op.outputs) != 1 or "val" not in op.attributes:
            return False
        held, stated = self.graph.reader.value(op.attributes["val"]), self.type(op.outputs[0])
        if stated is None or stated != held.stated.type:
            return False
        self.known[op.outputs[0]] = Operand(stated, None, True, held.value)
        return True

    def block(self, block: Block, path: Path, given: Sequence[Operand] = ()) -> NestedBlock:
        self._given.update((value, each.type) for value, each in zip(block.inputs, given, strict=False))
        return super().block(block, path, given)

    def type(self, value: Value) -> Type:
        """Return the declared type of a value."""
        return None if value.message is None else self.graph.stated[value].type

    def arguments(self, op: Op) -> Mapping[str, Sequence[Operand]]:
        """Return the operands of an operation."""
        return self._inferences[op].arguments.operands

    def follows(self, op: Op, index: int) -> bool:
        """Return whether the declared type of an output is exactly the inferred one."""
        found = self._inferences.get(op)
        if found is None:  # a plain constant
            return True
        if found.inferred is None or index >= min(len(found.inferred), len(found.declared)):
            return False
        return found.declared[index] is not None and found.declared[index] == found.inferred[index]

    def is_given(self, value: Value) -> bool:
        """Return whether the declared type of a block's input is exactly the type of its argument."""
        declared = self.type(value)
        return declared is not None and self._given.get(value) == declared


class ResizedGraph(InferredGraph):
    """Inference over the new program of a comparison, beside the old one.

    `followed` are the arguments that `reshape` would make from the old ones. `partners` are the old operations and
    values by the new ones.
    """

    def __init__(self, graph: KeyedGraph, old: InferredGraph, partners: Partners) -> None:
        super().__init__(graph)
        self._old = old
        self._contents = old.contents, graph.contents
        self._partners = partners
        self._following = Following()
        self.followed: set[Argument] = set()

    def enter(self, block: Block, path: Path) -> None:
        values = block.function.inputs if not isinstance(block.owner, Op) else block.inputs
        for value in values:
            self._note(value, None, {})

    def operation(self, op: Op, path: Path) -> None:
        partner = self._partners.ops.get(op)
        if partner is not None and partner.type == op.type in SIZES:
            self._follow(op, partner)
        super().operation(op, path)
        if op.type != "const":
            captured = [self.known[value] for value in op.captured() if value in self.known] if op.blocks else []
            for output in op.outputs:
                self._note(output, op.type, self.found[-1].arguments.operands, captured)

    def _note(
        self,
        value: Value,
        op_type: str | None,
        operands: Mapping[str, Sequence[Operand]],
        captured: Sequence[Operand] = (),
    ) -> None:
        made = self.known[value]
        if made is not UNDEFINED:
            self._following.note(made, self._was(value), op_type, operands, captured)

    def _was(self, value: Value) -> Type:
        """Return the old type of a value, or its own if the old program does not have it."""
        partner = self._partners.values.get(value)
        return self.type(value) if partner is None else self._old.type(partner)

    def _follow(self, op: Op, partner: Op) -> None:
        """Find the arguments of an operation that `reshape` would make from its partner's."""
        changed = {(name, place) for each in op.inputs for _, name, place in self.changed(op, partner, each)}
        if not changed or not partner.outputs:
            return
        operands = {name: [*several] for name, several in self.operands(op).items()}
        old = self._old.arguments(partner)
        if ("end", 0) in changed and self._is_to_the_end(op.type, operands, old):
            self.followed.add((op, "end", 0))
        for name, at in changed:
            operands[name][at] = old[name][at]

        def array(name: str, at: int) -> Array | None:
            held = partner.inputs.get(name, [])
            return self._array(0, held[at]) if at < len(held) else None

        x = partner.operand("x")
        cuts = cuts_of(x, partner.block) if isinstance(x, Value) and partner.block else None
        stated = self._old.type(partner.outputs[0])
        for each in self._following.follow(op.type, operands, stated, array, cuts):
            place = each.parameter, each.place
            if each.elements is None or place not in changed or each.parameter not in SIZES[op.type]:
                continue
            is_end = each.parameter in ("begin", "end")
            is_sure = not is_end or self._keeps_distances(
                old[place[0]][0], follow=each, x=(old["x"][0], operands["x"][0])
            )
            if is_sure and self._is_made(op.inputs[place[0]][place[1]], each):
                self.followed.add((op, *place))

    def _keeps_distances(self, held: Operand, follow: Follow, x: tuple[Operand, Operand]) -> bool:
        """Return whether each changed bound of a slice stays at its distance from the end of its axis."""
        before = held.value
        shapes = [each.type.shape if isinstance(each.type, TensorType) else () for each in x]
        if not isinstance(before, tuple) or follow.elements is None or {*map(len, shapes)} != {len(before)}:
            return False
        rows = zip(before, follow.elements, *shapes, strict=True)
        return all(was == now or (None not in sizes and was - sizes[0] == now - sizes[1]) for was, now, *sizes in rows)

    def _is_to_the_end(self, op_type: str, new: Operands, old: Operands) -> bool:
        """Return whether the ends of a slice differ only where a mask makes them unread, and state sizes of `x`."""
        rows = [_row(side, "end") for side in (old, new)]
        masks = [_row(side, "end_mask") for side in (old, new)]
        shapes = [side["x"][0].type.shape if isinstance(side["x"][0].type, TensorType) else () for side in (old, new)]
        if op_type != "slice_by_index" or len({*map(len, (*rows, *masks, *shapes))}) != 1:
            return False
        return all(
            was == now or (all(read) and (was, now) == sizes)
            for was, now, read, sizes in zip(*rows, zip(*masks, strict=True), zip(*shapes, strict=True), strict=True)
        )

    def is_resized(self, op: Op) -> bool:
        """Return whether constants of an operation that do not follow change the types of its outputs by themselves."""
        partner = self._partners.ops.get(op)
        if partner is None or partner.type != op.type or op.blocks:
            return False
        changed = {each for name in op.inputs for each in self.changed(op, partner, name)} - self.followed
        own = {each for each in changed if not self._is_recast_by_itself(partner, each)}
        if not own:
            return False
        operands = {name: [*several] for name, several in self._old.arguments(partner).items()}
        arguments = self._inferences[op].arguments
        for _, name, at in own:
            operands[name][at] = arguments.operands[name][at]
        found = OUTCOMES.of(Arguments(op.type, operands, arguments.opset)).inferred
        return found is None or [*found] != [self._old.type(value) for value in partner.outputs]

    def _is_recast_by_itself(self, partner: Op, argument: Argument) -> bool:
        """Return whether an argument has the same numbers in another data type."""
        op, name, at = argument
        old, new = partner.inputs[name][at], op.inputs[name][at]
        types = [read_type(each.type) if each is not None else None for each in (literal_of(old), literal_of(new))]
        was, now = (each.dtype if isinstance(each, TensorType) else "" for each in types)
        return was != now and self.is_recast(old, new, was, now)

    def changed(self, own: Op, partner: Op, parameter: str) -> set[Argument]:
        """Return the arguments of a parameter with other constants in the two programs."""
        before, now = partner.inputs.get(parameter, []), own.inputs[parameter]
        if len(before) != len(now):
            return set()
        return {
            (own, parameter, place)
            for place, pair in enumerate(zip(before, now, strict=True))
            if self._are_other_constants(*pair)
        }

    def _are_other_constants(self, was: GraphOperand, now: GraphOperand) -> bool:
        old, new = literal_of(was), literal_of(now)
        return old is not None and new is not None and self._contents[0].key(old) != self._contents[1].key(new)

    def _is_made(self, operand: GraphOperand, follow: Follow) -> bool:
        """Return whether a constant has exactly the elements that were computed for it."""
        held, row = literal_of(operand), follow.elements
        if held is not None and isinstance(row, list) and all(type(each) is int for each in row):
            stated = read_type(held.type)
            is_whole = isinstance(stated, TensorType) and stated.shape == follow.shape and stated.dtype == "int32"
            if is_whole and isinstance(read := read_value(held, stated), tuple):
                return read == (*row,)
        import numpy as np

        array = self._array(1, operand)
        if array is None or array.shape != follow.shape:
            return False
        return np.array_equal(np.asarray(follow.elements).reshape(follow.shape).astype(array.dtype), array)

    def is_recast(self, old: GraphOperand, new: GraphOperand, was: str, now: str) -> bool:
        """Return whether a constant changed only from one data type to another: its numbers are the old ones in the new
        type, or have the same shortest decimals, as fp16(0.1) and fp32(0.1).
        """
        import numpy as np

        before, after = self._array(0, old), self._array(1, new)
        if before is None or after is None or before.shape != after.shape or was not in PLAIN or now not in PLAIN:
            return False
        types = [np.dtype(BY_NAME[name].numpy) for name in (was, now)]
        if [before.dtype, after.dtype] != types:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            made = before.astype(after.dtype)
        is_made = np.array_equal(made, after, equal_nan=made.dtype.kind == "f")
        return (is_made or _has_decimals(before, after)) and _keeps_magnitudes(before, after)

    def _array(self, side: int, operand: GraphOperand) -> Array | None:
        """Return the elements of a constant; None if they are unavailable."""
        held = literal_of(operand)
        tensor = None if held is None else self._contents[side].tensor(held)
        if tensor is None or tensor.dtype.name not in PLAIN:
            return None
        with suppress(MiltextError):
            return tensor.array()
        return None


def _keeps_magnitudes(before: Array, after: Array) -> bool:
    """Return whether no integer changed, no number became an infinity, and none but a 0 became 0 or subnormal."""
    import numpy as np

    if after.dtype.kind != "f":
        return np.array_equal(after.astype(before.dtype), before)
    is_lost = (before != 0) & (np.abs(after) < np.finfo(after.dtype).tiny)
    return not bool(np.any(is_lost | (np.isinf(after) & ~np.isinf(before))))


def _has_decimals(before: Array, after: Array) -> bool:
    """Return whether the few numbers of two types of floats have the same shortest decimals."""
    is_short = after.size <= SHOWN and before.dtype.kind == after.dtype.kind == "f"
    return is_short and [*map(str, before.ravel())] == [*map(str, after.ravel())]


def _row(operands: Operands, name: str) -> tuple[object, ...]:
    """Return the elements of a constant; none if they are not known."""
    value = operands[name][0].value if operands.get(name) else None
    return value if isinstance(value, tuple) else ()
