"""The end of a conversion: casts and copies give each use the type that it needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from miltext.conversion.known import Known, KnownConstant, dtype_of
from miltext.ir.casts import cast_ops
from miltext.ir.parts import Op, Use, Value
from miltext.ir.passes import remove_where
from miltext.printing.renaming import rename
from miltext.schema.types import TensorType, Type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.conversion.contents import Contents
    from miltext.conversion.planning import Planning
    from miltext.ir.functions import Block

DROPPED = {"source_val", "output_dtype"}
"""The parts of a `constexpr_cast` that a `const` lacks."""


class Finishing:
    """Executes the plan for a block of a function."""

    def __init__(self, planning: Planning, contents: Contents, block: Block) -> None:
        self._planning = planning
        self._contents = contents
        self._precisions = contents.precisions
        self._block = block
        self._restored: set[Op] = set()
        self._gone: set[Op] = set()
        self._last: list[Op] = []
        """The operations after all others."""
        self._given: dict[Value, Value] = {}
        """The new outputs of the block, with the names of the old ones."""

    def finish(self) -> None:
        """Execute the plan for all blocks."""
        values = self._planning.values
        named = {known: self._put_back(known) for known in values}
        for known in values:
            if isinstance(known, KnownConstant):
                self._constant(known)
            else:
                self._value(known, named[known])
        self._block.append(*self._last)
        self._block.outputs = [self._given.get(value, value) for value in self._block.outputs]
        self._gone |= {cast for known in values for cast in known.idle} - self._restored
        remove_where(self._block.walk(), lambda op: op in self._gone and not op.is_used)

    # ---- the border

    def give_back(self, outputs: Mapping[Value, Type]) -> None:
        """Make the block return values of these types under the names of its outputs.

        Values with an output's name come first: if they lose it, they may get the name of a removed cast.
        """
        known = self._planning.known
        names = {value.name for value in outputs}
        for value, requested in sorted(outputs.items(), key=lambda output: known[output[0]].value is not output[0]):
            self._give(known[value], value, requested, names)

    def _give(self, known: Known, value: Value, required: Type, names: Collection[str]) -> None:
        """Return a value from the block in the type `required` under its name, one of the `names` of all outputs."""
        if not isinstance(required, TensorType) or required.dtype not in self._precisions:
            return
        is_constant = isinstance(known, KnownConstant)
        is_own = known.block is self._block and known.value.maker is not None
        if required.dtype != known.dtype and (known.wide or not is_constant):
            if value.maker is not None and value is not known.value:
                self._restore(known, value.maker)
            else:
                name = value.name
                rename(value, self._fresh(f"{name}_cast_{known.dtype}"))
                self._append(known, value, cast_ops(known.value, name, required, self._fresh(f"{name}_dtype_0")))
        elif value is known.value:
            if isinstance(known, KnownConstant):
                known.named = required.dtype
            for use in value.uses:
                if use.user is self._block:
                    known.use(use, required.dtype)
        elif is_own and not is_constant and known.value.name not in names:
            rename(known.value, value.name)
            self._given[value] = known.value
        else:
            stated = {"name": immediate(STRING, value.name)}
            self._append(
                known, value, [Op.new("identity", {"x": known.value}, {value.name: required}, stated)], required.dtype
            )

    def _append(self, known: Known, value: Value, ops: list[Op], wanted: str | None = None) -> None:
        """Append operations; the last one computes an output from the known value."""
        self._last += ops
        self._given[value] = ops[-1].outputs[0]
        known.use(Use(ops[-1], "x", 0), wanted or known.dtype)

    # ---- casts

    def _put_back(self, known: Known) -> dict[str, Value]:
        """Restore the first cast of a value that comes before all users of its type; return it by data type."""
        named = {}
        for dtype, cast in known.casts.items():
            for idle in known.idle[: cast.idle]:
                [value] = idle.outputs
                if idle.block is known.block and value not in self._given and dtype_of(value.type) == dtype:
                    self._restore(known, idle)
                    named[dtype] = value
                    break
        return named

    def _restore(self, known: Known, cast: Op) -> None:
        """Restore a removed cast."""
        if cast in self._restored:
            return
        self._restored.add(cast)
        for parameter, operands in cast.inputs.items():
            for place, operand in enumerate(operands):
                used = self._planning.known.get(operand) if isinstance(operand, Value) else None
                if used is not None:
                    used.use(Use(cast, parameter, place), used.dtype if used is known else None)

    def _cast(self, known: Known, dtype: str, before: Op | None) -> Value:
        """Insert a cast of a value to a data type before an operation of its block; return its output."""
        name = self._fresh(f"{known.value.name}_to_{dtype}")
        assert isinstance(known.type, TensorType)
        made = cast_ops(known.value, name, known.type._replace(dtype=dtype), self._fresh(f"{name}_dtype_0"))
        known.block.insert_before(before, *made)
        return made[-1].outputs[0]

    def _fresh(self, stem: str) -> str:
        return self._block.function.fresh(stem, first=0)

    # ---- values

    def _value(self, known: Known, named: dict[str, Value]) -> None:
        for dtype, cast in known.casts.items():
            if dtype not in named:
                named[dtype] = self._cast(known, dtype, cast.before)
        for use, wanted in known.uses.items():
            _put(use, named.get(wanted or "", known.value))

    # ---- constants

    def _constant(self, known: KnownConstant) -> None:
        """Convert a constant to the type that its uses need; if both types are needed, a copy gets the other one."""
        new = self._precisions.new
        is_wanted = {wanted == new for wanted in known.uses.values()}
        named = {True: known.value, False: known.value}
        if not is_wanted:
            self._unused(known)
        elif known.wide and True in is_wanted:
            named[True] = self._cast(known, new, known.following)
        elif is_wanted == {True}:
            self._become(known.maker, known)
        elif True in is_wanted:
            is_new = known.named == new
            named[not is_new] = self._copy(known, is_new)
        for use, wanted in known.uses.items():
            _put(use, named[wanted == new])

    def _unused(self, known: KnownConstant) -> None:
        if known.lost_a_use:
            self._gone.add(known.maker)
        elif known.numbers is not None and not known.wide:
            self._become(known.maker, known)

    def _copy(self, known: KnownConstant, is_new: bool) -> Value:
        """Insert a copy after a constant.

        The copy gets the new type if it `is_new`, otherwise the constant gets it, and the copy keeps the old type.
        """
        name = self._fresh(f"{known.value.name}_to_{self._precisions.old if is_new else self._precisions.new}")
        copy = known.maker.copy()
        rename(copy.outputs[0], name)
        self._become(known.maker if is_new else copy, known)
        known.block.insert_before(known.following, copy)
        return copy.outputs[0]

    def _become(self, op: Op, known: KnownConstant) -> None:
        """Replace the contents of a constant's operation by the new type."""
        if op.type == "constexpr_cast":
            _hold_itself(op)
        value = op.own_literal("val")
        if known.numbers is None:
            value.CopyFrom(immediate(STRING, self._precisions.new))
            return
        op.outputs[0].type = self._precisions.of(op.outputs[0].type)
        self._contents.convert(value, known.numbers, known.value.name, self._planning.function)


def _put(use: Use, value: Value) -> None:
    """Replace the operand of a use by a value."""
    taken = use.operand
    assert isinstance(taken, Value)
    taken.replace_uses(value, [use])


def _hold_itself(op: Op) -> None:
    """Turn a `constexpr_cast` into the `const` that it casts."""
    source, own = op.literal("source_val"), op.own()
    assert source is not None
    own.type = "const"
    own.attributes["val"].CopyFrom(source)
    for name in DROPPED:
        own.attributes.pop(name, None)
        op.remove_input(name)
