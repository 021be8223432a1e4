"""The end of a conversion: every use gets the name of what it wants, and casts and copies are put where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from miltext.conversion.known import Known, KnownConstant, TakenOut
from miltext.conversion.places import cast, identity, subject
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Operation
from miltext.schema.types import TensorType, Type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.conversion.contents import Contents
    from miltext.conversion.places import BlockPlan, Names
    from miltext.conversion.planning import Planning, Scope

DROPPED = {"source_val", "output_dtype"}
"""What a `constexpr_cast` has and a `const` has not."""


class Finishing:
    """Finishes what was planned for one block of a function, whose values have `names`."""

    def __init__(self, planning: Planning, contents: Contents, names: Names) -> None:
        self._planning = planning
        self._contents = contents
        self._precisions = contents.precisions
        self._names = names
        self._restored: list[TakenOut] = []
        self._lost: set[str] = set()
        """The names of casts that are taken out which other values bear now."""

    def finish(self) -> None:
        """Make every block what it is to be."""
        named = {known: self._put_back(known) for known in self._planning.values if known.taken_out}
        for known in self._planning.values:
            if isinstance(known, KnownConstant):
                self._constant(known)
            else:
                self._value(known, named.get(known, {}))
        for block in self._planning.blocks:
            block.apply()

    # ---- the border

    def give_back(self, plan: BlockPlan, scope: Scope, outputs: dict[str, Type]) -> None:
        """Have a function give back values of these names and types, each of which was known by its name.

        Those that bear an output's name come first: where they lose it, they may bear that of a cast taken out.
        """
        for name, asked in sorted(outputs.items(), key=lambda output: scope[output[0]].name != output[0]):
            known = scope[name]
            if not isinstance(asked, TensorType) or asked.dtype not in self._precisions:
                continue
            if asked.dtype == known.dtype or (isinstance(known, KnownConstant) and not known.wide):
                self._give_back_as(known, plan, name, asked, outputs)
            elif taken_out := next((each for each in known.taken_out if self._is_output(each, plan, name)), None):
                self._restore(known, taken_out)
            else:
                if known.name == name:
                    self._rename(known, self._names.free(f"{name}_cast_{known.dtype}"))
                self._append(plan, known, cast(self._names, name, asked, asked.dtype))

    def _give_back_as(
        self, known: Known, plan: BlockPlan, name: str, type: TensorType, outputs: dict[str, Type]
    ) -> None:
        """Give back a value that has the type; its name is that of a cast which was taken out, or its own."""
        if known.name == name:
            if isinstance(known, KnownConstant):
                known.named = type.dtype
            known.use(lambda _: None, type.dtype)
        elif known.maker and known.block is plan and known.name not in outputs and not isinstance(known, KnownConstant):
            self._rename(known, name)
        else:
            self._append(plan, known, [identity(name, type)], type.dtype)

    def _is_output(self, taken_out: TakenOut, plan: BlockPlan, name: str) -> bool:
        return taken_out.block is plan and taken_out.name == name

    def _append(
        self, plan: BlockPlan, known: Known, operations: Sequence[Operation], wanted: str | None = None
    ) -> None:
        self._lost.add(operations[-1].outputs[0].name)
        known.use(partial(setattr, subject(operations[-1]), "name"), wanted or known.dtype)
        plan.append(operations)

    def _rename(self, known: Known, name: str) -> None:
        assert known.maker is not None
        self._lost.add(name)
        _rename(known.maker, known.name, name)
        known.name = name

    # ---- casts that were taken out

    def _put_back(self, known: Known) -> dict[str, str]:
        """Put back the first cast of a value that stands before all who want what it gives; return it by data type."""
        named = {}
        for dtype, place in known.casts.items():
            fitting = (each for each in known.taken_out if each.dtype == dtype and each.block is known.block)
            found = next((each for each in fitting if each.at < place and each.name not in self._lost), None)
            if found is not None:
                self._restore(known, found)
                named[dtype] = found.name
        return named

    def _restore(self, known: Known, taken_out: TakenOut) -> None:
        """Leave a cast in after all."""
        if taken_out in self._restored:
            return
        self._restored.append(taken_out)
        taken_out.block.restore(taken_out.at)
        for used, put in taken_out.uses:
            used.use(put, used.dtype if used is known else None)

    # ---- values

    def _value(self, known: Known, named: dict[str, str]) -> None:
        for dtype, place in known.casts.items():
            if dtype not in named:
                named[dtype] = self._cast(known, dtype, place)
        for use in known.uses:
            use.put(named.get(use.wanted or "", known.name))

    def _cast(self, known: Known, dtype: str, place: int) -> str:
        """Put a cast of a value to a data type at a place of its block; return its name."""
        assert isinstance(known.type, TensorType)
        name = self._names.free(f"{known.name}_to_{dtype}")
        made = cast(self._names, name, known.type._replace(dtype=dtype), dtype)
        subject(made[-1]).name = known.name
        known.block.insert(place, made)
        return name

    # ---- constants

    def _constant(self, known: KnownConstant) -> None:
        """Make a constant what is wanted of it; where both types are, a copy is of the other one."""
        new = self._precisions.new
        is_wanted = {use.wanted == new for use in known.uses}
        named = {True: known.name, False: known.name}
        if not is_wanted:
            self._unused(known)
        elif known.wide and True in is_wanted:
            named[True] = self._cast(known, new, known.at + 1)
        elif is_wanted == {True}:
            self._become(known.maker, known)
        elif True in is_wanted:
            is_new = known.named == new
            other = f"{known.name}_to_{self._precisions.old if is_new else new}"
            named[not is_new] = self._copy(known, self._names.free(other), is_new)
        for use in known.uses:
            use.put(named[use.wanted == new])

    def _unused(self, known: KnownConstant) -> None:
        if known.lost_a_use:
            known.block.remove(known.at)
        elif known.numbers is not None and not known.wide:
            self._become(known.maker, known)

    def _copy(self, known: KnownConstant, name: str, is_new: bool) -> str:
        """Put a copy behind a constant; it is of the new type, or the constant is if that is the one with the name."""
        copy = Operation()
        copy.CopyFrom(known.maker)
        _rename(copy, known.name, name)
        self._become(known.maker if is_new else copy, known)
        known.block.insert(known.at + 1, [copy])
        return name

    def _become(self, operation: Operation, known: KnownConstant) -> None:
        """Have the operation of a constant hold it in the new type."""
        if operation.type == "constexpr_cast":
            _hold_itself(operation)
        is_attribute = "val" in operation.attributes
        value = operation.attributes["val"] if is_attribute else operation.inputs["val"].arguments[0].value
        if known.numbers is None:
            value.CopyFrom(immediate(STRING, self._precisions.new))
            return
        operation.outputs[0].type.tensorType.dataType = BY_NAME[self._precisions.new].number
        self._contents.convert(value, known.numbers, known.name, self._planning.function)


def _hold_itself(operation: Operation) -> None:
    """Make a `constexpr_cast` the `const` that it casts."""
    is_attribute = "source_val" in operation.attributes
    source = operation.attributes["source_val"] if is_attribute else operation.inputs["source_val"].arguments[0].value
    operation.attributes["val"].CopyFrom(source)
    for name in DROPPED & {*operation.inputs}:
        del operation.inputs[name]
    for name in DROPPED & {*operation.attributes}:
        del operation.attributes[name]
    operation.type = "const"


def _rename(operation: Operation, old: str, new: str) -> None:
    """Have an operation give back a value of another name, and bear that name if it bore the old one."""
    for output in operation.outputs:
        if output.name == old:
            output.name = new
    if "name" in operation.attributes and operation.attributes["name"] == immediate(STRING, old):
        operation.attributes["name"].CopyFrom(immediate(STRING, new))
