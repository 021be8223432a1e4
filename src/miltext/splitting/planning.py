"""The plan of a split: the parts of a model with their programs, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.building.editing import unknown_value
from miltext.descriptions.ranges import read_ranges
from miltext.descriptions.sizes import spell_sizes
from miltext.diagnostics import codes
from miltext.extraction.open_sizes import ranges_that_follow
from miltext.extraction.wanted import Wanted, function_with, listed, top_values, unknown_function
from miltext.files.refusals import refusal
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import KeyedGraph
from miltext.schema.features import function_features
from miltext.schema.opsets import specification_of
from miltext.schema.types import TensorType
from miltext.scopes.weight_extents import holders_of
from miltext.splitting.carrying import Carrying, value_bytes
from miltext.splitting.cuts import Cuts, Cutting
from miltext.splitting.line import constants_of
from miltext.splitting.parting import Parting, PlannedPart, weight_of, whole_function
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from miltext.descriptions.ranges import Range
    from miltext.descriptions.sizes import Sizes
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op
    from miltext.models.model import Model
    from miltext.splitting.parting import WeightsByOp

_NOT_IN_NAMES = re.compile(r"[^\w.-]")
"""The characters of other names that the name of a file lacks."""

Choose: TypeAlias = "Callable[[Cutting], Cuts]"
"""A function that chooses the boundaries of a function."""


class SplitRequest(NamedTuple):
    """The requested parts: of a function, cut by `choose`; without `choose`, of all functions.

    `names` are the values at boundaries, `ranges` the requested sizes, and `stem` is in the name of each part.
    """

    choose: Choose | None
    names: list[str]
    function: str | None
    ranges: Mapping[str, Range]
    is_piped: bool
    stem: str


class PlannedSplit(NamedTuple):
    """The planned parts, the bytes of all weights, and the sizes of values with open ones."""

    parts: list[PlannedPart]
    weights: int
    ranges: Mapping[str, Sizes]

    @property
    def entries(self) -> set[tuple[str, str]]:
        """The functions and names of the inputs and outputs of all parts."""
        parts = [each.shown for each in self.parts]
        return {(part.function, each.name) for part in parts for each in (*part.inputs, *part.outputs)}

    def ranges_of(self, part: PlannedPart) -> dict[str, Range]:
        """Return the sizes of the inputs of a part that have open ones."""
        names = [each.name for each in part.shown.inputs]
        return {name: spell_sizes(self.ranges[name]) for name in names if name in self.ranges}


@with_room
def plan_split(source: Model, request: SplitRequest) -> PlannedSplit:
    """Return the plan of a split. Raise ModelError as `miltext.split` does."""
    with gc_paused:
        keys = Keys()
        unread = ProgramContents(keys, None)  # sizes follow from types, and a plan reads no weights
        graph = KeyedGraph(own_copy(source.program), keys, unread)
        weights = _weights(graph)
        if request.choose is None:
            return _whole_functions(source, graph, weights, read_ranges(request.ranges))
        function, block = _function(graph, request)
        ranges = _ranges(source, function, block, request.ranges)
        version = max(source.specification_version or 0, specification_of(function.opset))
        carrying = Carrying(function, version, ranges, _images(source, function), is_piped=request.is_piped)
        cuts = request.choose(Cutting(function, block, carrying, _gathered(block, weights)))
        count = len(cuts.boundaries) + 1
        name_of = partial(part_name, count, request.stem)
        parts = Parting(function, cuts, weights, carrying.bytes).parts(name_of)
        return PlannedSplit(parts, weight_of(function.walk(), weights), ranges)


def _whole_functions(
    source: Model, graph: KeyedGraph, weights: WeightsByOp, ranges: Mapping[str, Sizes]
) -> PlannedSplit:
    """Return each function as a part, in the order of the description."""
    listed_first = [each.name for each in source.description.functions] if source.description is not None else []
    names = [each for each in dict.fromkeys([*listed_first, *graph.functions]) if each in graph.functions]
    functions = [graph.functions[each] for each in names]
    parts = [
        whole_function(each, part_name(len(functions), each.name, number), weights, partial(value_bytes, ranges=ranges))
        for number, each in enumerate(functions, 1)
    ]
    return PlannedSplit(parts, weight_of(graph.walk(), weights), ranges)


def part_name(count: int, stem: str, number: int) -> str:
    """Return the name of the package of a part."""
    width = max(2, len(str(count)))
    return f"{number:0{width}}_{_NOT_IN_NAMES.sub('_', stem)}.mlpackage"


def _function(graph: KeyedGraph, request: SplitRequest) -> tuple[Function, Block]:
    """Return the function to divide, and its own block."""
    name, functions = request.function, graph.functions
    if name is None and len(functions) > 1 and request.names:
        name = function_with(graph, Wanted(request.names, []), None)
    if name is not None and name not in functions:
        raise unknown_function(graph, name)
    if name is None and len(functions) > 1:
        message = f"the program has the functions {listed([*functions])}: choose one of them, or make a model of each"
        raise refusal(codes.IMPOSSIBLE_SPLIT, message)
    function = functions[name] if name is not None else next(iter(functions.values()), None)
    block = function.block if function is not None else None
    if function is None or block is None:
        raise refusal(codes.IMPOSSIBLE_SPLIT, "the program has no function with operations")
    return function, block


def _ranges(source: Model, function: Function, block: Block, asked: Mapping[str, Range]) -> dict[str, Sizes]:
    """Return the sizes of values with open ones: requested ones, or from the inputs' ranges."""
    requested = read_ranges(asked)
    values = top_values(function)
    for name in requested:
        if name not in values:
            raise unknown_value(name, {*values}, None)
    types = {value.name: value.type for value in block.made() if not value.is_constant}
    is_open = {name for name, known in types.items() if isinstance(known, TensorType) and None in known.shape}
    found = ranges_that_follow(source, function.name, is_open) if is_open else {}
    return {**found, **requested}


def _images(source: Model, function: Function) -> set[str]:
    """Return the names of the outputs that the description of a model makes images."""
    if source.description is None:
        return set()
    described = function_features(source.description, function.name).output
    return {each.name for each in described if each.type.HasField("imageType")}


# ---- weights


def _weights(graph: KeyedGraph) -> dict[Op, dict[Hashable, int]]:
    """Return the bytes of the weights of each operation; those inside an operation are its own, too."""
    found = {op: {key: size.bytes for key, size in held.items()} for op, held in holders_of(graph).items()}
    for function in graph.functions.values():
        for block in function.blocks.values():
            for op in block:
                inner = [found[each] for each in op.walk() if each in found] if op.blocks else []
                for each in inner:
                    found[op] = {**found.get(op, {}), **each}
    return found


def _gathered(block: Block, weights: WeightsByOp) -> dict[Op, dict[Hashable, int]]:
    """Return the weights of each operation together with the weights of its constants."""
    found: dict[Op, dict[Hashable, int]] = {}
    for op in block:
        if not op.is_constant:
            held = [weights[each] for each in (op, *constants_of([op])) if each in weights]
            if held:
                found[op] = {key: size for each in held for key, size in each.items()}
    return found
