"""The Program of some units of another: values made by other units become inputs, values used by other units outputs.

A value that cannot be an input keeps the unit that makes it. A value without a user that cannot be an output is left
out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.borders import can_give, can_take
from miltext.printing.flexible_shapes import ATTRIBUTE, information_of
from miltext.reduction.graph import Graph
from miltext.schema.proto import Program

if TYPE_CHECKING:
    from miltext.reduction.graph import Part, Scope, Unit
    from miltext.schema.proto import Block, Function


class Output(NamedTuple):
    """An output of a scope."""

    scope: int
    name: str


class Selected(NamedTuple):
    """The units of a scope that stay, the names that they use, and the outputs."""

    units: list[Unit]
    uses: set[str]
    outputs: list[str]


def select(graph: Graph, parts: Iterable[Part], outputs: Collection[Output] | None = None) -> Program | None:
    """Return the Program of some units, with the requested outputs: by default, all unused values, and the former
    outputs. None if nothing is left, or a unit would stay without a use.
    """
    wanted: list[set[int]] = [set() for _ in graph.scopes]
    for part in parts:
        wanted[part.scope].add(part.unit)
    made = Program(version=graph.program.version, docString=graph.program.docString)
    for key in graph.program.attributes:
        made.attributes[key].CopyFrom(graph.program.attributes[key])
    for nth, scope in enumerate(graph.scopes):
        selected = _selected(scope, wanted[nth])
        if outputs is not None:
            selected.outputs[:] = [name for name in selected.outputs if Output(nth, name) in outputs]
        if _is_idle(selected):
            return None
        if selected.units:
            _add(made, graph, scope, selected)
    for function in made.functions.values():
        stated = function.attributes.get(ATTRIBUTE)
        kept = information_of(stated, {value.name for value in function.inputs})
        if kept is None:
            function.attributes.pop(ATTRIBUTE, None)
        elif kept is not stated:
            function.attributes[ATTRIBUTE].CopyFrom(kept)
    return made if made.functions else None


def whole(program: Program) -> Program | None:
    """Return a Program with all unused values as outputs."""
    graph = Graph(program)
    return select(graph, graph.parts)


def _selected(scope: Scope, wanted: set[int]) -> Selected:
    """Return the wanted units, and the units needed for them, read back to front."""
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


def _is_seen(scope: Scope, unit: Unit, uses: Collection[str]) -> bool:
    """Return whether any value of a unit is used, or is an output, or can be one."""
    return not unit.makes or any(
        name in uses or name in scope.gives or can_give(scope.types[name]) for name in unit.makes
    )


def _outputs(scope: Scope, units: Collection[Unit], uses: Collection[str]) -> list[str]:
    """Return the outputs: the former ones, in their order, then values without remaining users.

    A value that had no user before becomes an output only if its unit would be useless otherwise.
    """
    makes = {name for unit in units for name in unit.makes}
    given = {name for unit in units if not unit.makes for name in (*unit.uses, *_given(scope, unit))}
    old = [name for name in scope.block.outputs if name in makes or name in given]
    seen = {*old, *uses}
    new: list[str] = []
    for unit in units:
        free = [name for name in unit.makes if name not in seen]
        free = [name for name in free if can_give(scope.types[name])]
        new += [name for name in free if name not in scope.idle] or (free if seen.isdisjoint(unit.makes) else [])
    return [*old, *new]


def _given(scope: Scope, unit: Unit) -> list[str]:
    """Return the names of the constants that a unit without an operation outputs."""
    return [value.name for place in unit.constants for value in scope.block.operations[place].outputs]


def _is_idle(selected: Selected) -> bool:
    """Return whether all values of a unit are neither used nor outputs, or whether there are no outputs."""
    seen = {*selected.uses, *selected.outputs}
    return bool(selected.units) and (
        not selected.outputs or any(unit.makes and seen.isdisjoint(unit.makes) for unit in selected.units)
    )


def _add(made: Program, graph: Graph, scope: Scope, selected: Selected) -> None:
    """Add the block of a scope to a Program."""
    old = graph.program.functions[scope.function]
    function = made.functions[scope.function]
    if not function.opset:
        function.opset = old.opset
        for key in old.attributes:
            function.attributes[key].CopyFrom(old.attributes[key])
    block = function.block_specializations[scope.opset]
    block.inputs.extend(scope.block.inputs)
    for key in scope.block.attributes:
        block.attributes[key].CopyFrom(scope.block.attributes[key])
    constants = {place for unit in selected.units for place in unit.constants}
    places = constants.union(unit.place for unit in selected.units if unit.place >= 0)
    block.operations.extend([scope.block.operations[place] for place in sorted(places)])
    block.outputs.extend(selected.outputs)
    _take_in(function, block, scope, selected)


def _take_in(function: Function, block: Block, scope: Scope, selected: Selected) -> None:
    """Make the values that a block uses and does not make inputs of a function, unless they already are."""
    made = {value.name for operation in block.operations for value in operation.outputs}
    known = {value.name for value in (*function.inputs, *block.inputs)}
    for name in scope.types:
        if name in selected.uses and name not in made and name not in known:
            function.inputs.add(name=name, type=scope.types[name])
