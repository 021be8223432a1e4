"""The Program of some units of another: values of other units become inputs, values used by other units outputs.

A value that cannot be an input keeps the unit that makes it. A value that cannot be an output is removed with its last
user, but an operation that was unused from the start may stay: a pass of a compiler may fail at it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.borders import is_givable, is_takeable
from miltext.extraction.cutting import leave_inputs
from miltext.ir import graph as ir
from miltext.ir.parts import Value
from miltext.ir.passes import remove_where
from miltext.reduction.graph import UnitGraph

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.reduction.graph import ProgramUnit, Unit, UnitScope
    from miltext.schema.proto import Program


class Output(NamedTuple):
    """An output of a scope."""

    scope: int
    name: str


class Selected(NamedTuple):
    """The kept units of a scope, the values that they use, and the outputs."""

    units: list[Unit]
    uses: set[Value]
    outputs: list[Value]


def select(graph: UnitGraph, parts: Iterable[ProgramUnit], outputs: Collection[Output] | None = None) -> Program | None:
    """Return the Program of some units, with the requested outputs: by default, all unused values, and the former
    outputs. None if nothing is left, or a unit would stay without a use.
    """
    wanted: list[set[int]] = [set() for _ in graph.scopes]
    for part in parts:
        wanted[part.scope].add(part.unit)
    selections = [_selected(scope, wanted[nth]) for nth, scope in enumerate(graph.scopes)]
    if outputs is not None:
        for nth, selected in enumerate(selections):
            selected.outputs[:] = [each for each in selected.outputs if Output(nth, each.name) in outputs]
    if not any(selected.units for selected in selections) or any(map(_is_idle, selections)):
        return None
    made = ir.Graph(graph.program)
    for scope, selected in zip(graph.scopes, selections, strict=True):
        if selected.units:
            _leave(made.functions[scope.function.name], scope, selected)
        else:
            made.functions[scope.function.name].remove_block(scope.opset)
    made.functions = {name: function for name, function in made.functions.items() if function.blocks}
    for function in made.functions.values():
        leave_inputs(function, {value.name for value in function.inputs if value.uses})
    return made.program()


def whole(program: Program) -> Program | None:
    """Return a Program with all unused values as outputs, and without operations whose values cannot be outputs."""
    graph = UnitGraph(program)
    return select(graph, [each for each in graph.parts if not _is_hidden(graph.at(each))])


def _selected(scope: UnitScope, wanted: set[int]) -> Selected:
    """Return the wanted units and the units that they need, from last to first."""
    kept: list[Unit] = []
    uses, fixed, pulled = set[Value](), set[Value](), set[int]()
    for number in range(max(wanted, default=-1), -1, -1):
        unit = scope.units[number]
        if number not in pulled and (number not in wanted or not _is_seen(scope, unit, uses)):
            continue
        kept.append(unit)
        uses |= unit.uses
        fixed |= unit.fixed if fixed.isdisjoint(unit.makes) else unit.uses
        pulled.update(
            scope.makers[value]
            for value in unit.uses
            if value in scope.makers and (value in fixed or not is_takeable(value))
        )
    kept.reverse()
    return Selected(kept, uses, _outputs(scope, kept, uses))


def _is_seen(scope: UnitScope, unit: Unit, uses: Collection[Value]) -> bool:
    """Return whether any value of a unit is used, or is an output, or can be one, or whether it was hidden before."""
    return (
        not unit.makes
        or _is_hidden(unit)
        or any(value in uses or scope.block.returns(value) or is_givable(value) for value in unit.makes)
    )


def _is_hidden(unit: Unit) -> bool:
    """Return whether all values of a unit are unused in the program, and cannot be outputs."""
    return bool(unit.makes) and not any(value.uses or is_givable(value) for value in unit.makes)


def _outputs(scope: UnitScope, units: Collection[Unit], uses: Collection[Value]) -> list[Value]:
    """Return the outputs: the former ones, in their order, then values without remaining users.

    A value without former users becomes an output only if its unit would otherwise be unused.
    """
    alone = [unit for unit in units if not unit.makes]
    given = {value for unit in alone for value in (*unit.uses, *(each for op in unit.constants for each in op.outputs))}
    given.update(value for unit in units for value in unit.makes)
    old = [value for value in scope.block.outputs if value in given]
    seen = {*old, *uses}
    new: list[Value] = []
    for unit in units:
        free = [value for value in unit.makes if value not in seen and is_givable(value)]
        new += [value for value in free if value.uses] or (free if seen.isdisjoint(unit.makes) else [])
    return [*old, *new]


def _is_idle(selected: Selected) -> bool:
    """Return whether all values of a unit have lost their use, or whether there are no outputs."""
    seen = {*selected.uses, *selected.outputs}
    return bool(selected.units) and (
        not selected.outputs
        or any(unit.makes and seen.isdisjoint(unit.makes) and not _is_hidden(unit) for unit in selected.units)
    )


def _leave(function: Function, scope: UnitScope, selected: Selected) -> None:
    """Reduce a block of a copy of the program to the selection; undefined values become inputs of its function."""
    block = function.blocks[scope.opset]
    made = dict(zip(scope.block.made(), block.made(), strict=True))
    taken = {value.name: value for value in (*function.inputs, *block.inputs)}
    block.outputs = [made.get(each) or {**function.undefined, **taken}[each.name] for each in selected.outputs]
    kept = {op for unit in selected.units for op in (unit.op, *unit.constants)}
    for value, copy in made.items():
        if value in selected.uses and value.maker not in kept and copy.message is not None:
            if value.name not in taken:
                taken[value.name] = function.declare_input(copy.message)
            copy.replace_uses(taken[value.name])
    staying = {copy for op, copy in zip(scope.block, block, strict=True) if op in kept}
    remove_where(block, lambda op: op not in staying)
