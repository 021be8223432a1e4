"""The possible sizes of a part's inputs, derived from the ranges of the model's inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.sizes import Size
from miltext.drafting.draft import infer_anew
from miltext.extraction.wanted import top_values
from miltext.ir.graph import Graph
from miltext.parsing.parser import attempt
from miltext.printing.flexible_shapes import flexible
from miltext.printing.printing import to_text
from miltext.schema.features import ANY_SIZE, function_features
from miltext.schema.types import TensorType, read_type

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from miltext.descriptions.sizes import Sizes
    from miltext.models.model import Model
    from miltext.schema.proto import Function, FunctionDescription, ModelDescription, Program
    from miltext.schema.types import Shape, Type

MIDDLE = 2
"""The number of steps from the least size to the greatest one, whose sizes are tried, too."""


def ranges_that_follow(source: Model, function: str, names: Collection[str]) -> dict[str, Sizes]:
    """Return the sizes of the values of a function, by name, whose open sizes depend on its inputs, as described."""
    described = None if source.description is None else function_features(source.description, function)
    return sizes_that_follow(source.program, function, names, described, text=source.text)


def sizes_that_follow(
    program: Program,
    function: str,
    names: Collection[str],
    described: ModelDescription | FunctionDescription | None,
    known: Mapping[str, Sizes] | None = None,
    *,
    text: str | None = None,
) -> dict[str, Sizes]:
    """Return the sizes of the values of a function, by name, whose open sizes depend on its inputs.

    Inputs have the sizes in `known`, or else those `described`. Types are inferred for the least and the greatest sizes
    of all inputs, and for sizes between; if the results are not in order, or unknown, there is no range. Enumerated
    shapes give no ranges. `text` is the text of the program, if there is one.
    """
    chosen = program.functions[function]
    wanted = {name for name, shape in _shapes(program, function).items() if name in names and None in shape}
    ranges = _ranges(chosen, described, known or {}) if wanted and described is not None else {}
    if not ranges:
        return {}
    text = text or to_text(program)
    found = [_sizes(text, function, each) for each in _tried(ranges)]
    made = {name: _between([each.get(name) for each in found]) for name in sorted(wanted)}
    return {name: sizes for name, sizes in made.items() if sizes is not None}


def _shapes(program: Program, name: str) -> dict[str, Shape]:
    """Return the declared shapes of a function's inputs and of the values in its own block."""
    values = top_values(Graph(program).functions[name])
    return {name: known.shape for name, each in values.items() if isinstance(known := each.type, TensorType)}


def _ranges(
    function: Function, described: ModelDescription | FunctionDescription, sizes: Mapping[str, Sizes]
) -> dict[str, list[list[int]]]:
    """Return the least and the greatest sizes of the inputs with open ones; nothing if any of these has none."""
    features = {each.name: flexible(each) for each in described.input}
    found: dict[str, list[list[int]]] = {}
    for value in function.inputs:
        known, feature = read_type(value.type), features.get(value.name)
        if not isinstance(known, TensorType) or None not in known.shape:
            continue
        limits = feature.ranges if feature is not None else []
        if value.name in sizes:
            limits = [[each.least, each.greatest or ANY_SIZE] for each in sizes[value.name]]
        if len(limits) != len(known.shape) or any(greatest < least for least, greatest in limits):
            return {}
        found[value.name] = limits
    return found


def _tried(ranges: Mapping[str, list[list[int]]]) -> Iterator[dict[str, Shape]]:
    """Yield sizes of the inputs: the least, one in the middle, and the greatest."""
    for part in range(MIDDLE + 1):
        yield {
            name: tuple(max(least, 1) + (greatest - max(least, 1)) * part // MIDDLE for least, greatest in limits)
            for name, limits in ranges.items()
        }


def _sizes(text: str, function: str, shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """Return the shapes of a function's values for inputs of these shapes."""

    def types(program: Program) -> dict[str, dict[str, Type]]:
        inputs = {value.name: read_type(value.type) for value in program.functions[function].inputs}
        kept = {name: known for name, known in inputs.items() if isinstance(known, TensorType) and name in shapes}
        return {function: {name: known._replace(shape=shapes[name]) for name, known in kept.items()}}

    made = infer_anew(text, None, types)
    program = attempt(made.text) if made.text is not None else None
    return _shapes(program, function) if program is not None else {}


def _between(found: list[Shape | None]) -> Sizes | None:
    """Return the ranges from the first to the last of ordered shapes; None if they are not in order."""
    shapes = [shape for shape in found if shape is not None and None not in shape]
    if len(shapes) < len(found) or len({len(shape) for shape in shapes}) != 1:
        return None
    columns = [*zip(*shapes, strict=True)]
    if any([*column] not in (sorted(column), sorted(column, reverse=True)) for column in columns):
        return None
    return tuple(Size(min(column), max(column)) for column in columns)
