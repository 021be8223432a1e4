"""The Program of some units of another: values of other units become inputs, values used by other units outputs.

A value that cannot be an input keeps the unit that makes it. A value that cannot be an output is removed with its last
user, but an operation that was unused from the start may stay: a pass of a compiler may fail at it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.borders import can_give, can_take
from miltext.extraction.cutting import leave_inputs
from miltext.ir import graph as ir
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
    """The kept units of a scope, the names that they use, and the outputs."""

    units: list[Unit]
    uses: set[str]
    outputs: list[str]


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
            selected.outputs[:] = [name for name in selected.outputs if Output(nth, name) in outputs]
    if not any(selected.units for selected in selections) or any(map(_is_idle, graph.scopes, selections)):
        return None
    made = ir.Graph(graph.program)
    for scope, selected in zip(graph.scopes, selections, strict=True):
        if selected.units:
            _leave(made.functions[scope.function], scope, selected)
        else:
            made.functions[scope.function].remove_block(scope.opset)
    made.functions = {name: function for name, function in made.functions.items() if function.blocks}
    for function in made.functions.values():
        leave_inputs(function, {value.name for value in function.inputs if value.uses})
    return made.program()


def whole(program: Program) -> Program | None:
    """Return a Program with all unused values as outputs, and without operations whose values cannot be outputs."""
    graph = UnitGraph(program)
    return select(graph, [each for each in graph.parts if not _is_hidden(*graph.at(each))])


def _selected(scope: UnitScope, wanted: set[int]) -> Selected:
    """Return the wanted units and the units that they need, from last to first."""
    kept: list[Unit] = []
    uses, fixed, pulled = set[str](), set[str](), set[int]()
    for number in range(max(wanted, default=-1), -1, -1):
        unit = scope.units[number]
        if number not in pulled and (number not in wanted or not _is_seen(scope, unit, uses)):
            continue
        kept.append(unit)
        uses |= unit.uses
        fixed |= unit.fixed if fixed.isdisjoint(unit.makes) else unit.uses
        pulled.update(
            scope.makers[name]
            for name in unit.uses
            if name in scope.makers and (name in fixed or not can_take(scope.types[name]))
        )
    kept.reverse()
    return Selected(kept, uses, _outputs(scope, kept, uses))


def _is_seen(scope: UnitScope, unit: Unit, uses: Collection[str]) -> bool:
    """Return whether any value of a unit is used, or is an output, or can be one, or whether it was hidden before."""
    return (
        not unit.makes
        or _is_hidden(scope, unit)
        or any(name in uses or name in scope.gives or can_give(scope.types[name]) for name in unit.makes)
    )


def _is_hidden(scope: UnitScope, unit: Unit) -> bool:
    """Return whether all values of a unit are unused in the program, and cannot be outputs."""
    return bool(unit.makes) and all(name in scope.idle and not can_give(scope.types[name]) for name in unit.makes)


def _outputs(scope: UnitScope, units: Collection[Unit], uses: Collection[str]) -> list[str]:
    """Return the outputs: the former ones, in their order, then values without remaining users.

    A value without former users becomes an output only if its unit would otherwise be unused.
    """
    makes = {name for unit in units for name in unit.makes}
    given = {name for unit in units if not unit.makes for name in (*unit.uses, *_given(scope, unit))}
    old = [name for name in scope.outputs if name in makes or name in given]
    seen = {*old, *uses}
    new: list[str] = []
    for unit in units:
        free = [name for name in unit.makes if name not in seen]
        free = [name for name in free if can_give(scope.types[name])]
        new += [name for name in free if name not in scope.idle] or (free if seen.isdisjoint(unit.makes) else [])
    return [*old, *new]


def _given(scope: UnitScope, unit: Unit) -> list[str]:
    """Return the names of the constants in a unit without an operation."""
    return [name for place in unit.constants for name in scope.names[place]]


def _is_idle(scope: UnitScope, selected: Selected) -> bool:
    """Return whether all values of a unit have lost their use, or whether there are no outputs."""
    seen = {*selected.uses, *selected.outputs}
    return bool(selected.units) and (
        not selected.outputs
        or any(unit.makes and seen.isdisjoint(unit.makes) and not _is_hidden(scope, unit) for unit in selected.units)
    )


def _leave(function: Function, scope: UnitScope, selected: Selected) -> None:
    """Reduce a block to the selection; undefined values become inputs of its function."""
    block = function.blocks[scope.opset]
    places = {place for unit in selected.units for place in (unit.place, *unit.constants)}
    staying = {op: None for place, op in enumerate(block) if place in places}
    taken = {value.name: value for value in (*function.inputs, *block.inputs)}
    made = {value.name: value for values in (block.made(), *(op.outputs for op in staying)) for value in values}
    block.outputs = [{**function.undefined, **taken, **made}[name] for name in selected.outputs]
    for value in [value for op in block if op not in staying for value in op.outputs]:
        if value.name in selected.uses and value.name not in taken and value.message is not None:
            taken[value.name] = function.declare_input(value.message)
        value.replace_uses(taken.get(value.name, value))
    remove_where(block, lambda op: op not in staying)
