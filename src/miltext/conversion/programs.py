"""The conversion of a whole Program, function by function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from miltext.conversion.finishing import Finishing
from miltext.conversion.integers import GREATEST_WHOLE
from miltext.conversion.known import dtype_of
from miltext.conversion.planning import Planning
from miltext.diagnostics import Note, codes, warning
from miltext.files.refusals import BlamedPart, refusal
from miltext.ir.graph import Graph
from miltext.schema.dtypes import LEAST_HALF
from miltext.schema.operations import opset_place
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import opset_text
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.conversion.contents import Contents
    from miltext.conversion.known import Precisions
    from miltext.conversion.planning import KeptConstant
    from miltext.diagnostics import Diagnostic
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.schema import proto
    from miltext.schema.types import Type

IO_SINCE = "ios16"
"""The first opset with fp16 inputs and outputs of functions."""

SHOWN = 3
"""The number of operations named in a message."""


Border: TypeAlias = "Callable[[str, str], bool]"
"""Whether to convert an input, output or state of a function, given the function's name and its name."""


@with_room
def convert_program(program: proto.Program, contents: Contents, border: Border) -> list[Diagnostic]:
    """Convert the values of a Program, and the chosen ones at its border; return the warnings.

    Raise WeightsError, and ModelError: MIL438 for a value that cannot be converted, MIL439 for inputs or outputs of
    fp16 in an opset that does not allow them.
    """
    warnings: list[Diagnostic] = []
    with gc_paused:
        graph = Graph(program)
        for function in graph.functions.values():
            warnings += _convert_function(function, contents, border)
        program.CopyFrom(graph.program())
    return warnings


def _convert_function(function: Function, contents: Contents, border: Border) -> Iterator[Diagnostic]:
    def outside(each: str, type: Type) -> Type:
        return _outside(type, contents.precisions) if border(function.name, each) else type

    inputs = {each: outside(each.name, each.type) for each in function.inputs}
    changed = [each for each, now in inputs.items() if now != each.type]
    for opset, block in function.blocks.items():
        planning = Planning(contents, function.name, opset)
        planning.block(block, inputs.items())
        old = {each: planning.before(each).type for each in block.outputs if each in planning.known}
        outputs = {each: outside(each.name, stated) for each, stated in old.items()}
        _check(function.name, opset, [*changed, *(each for each in old if outputs[each] != old[each])], contents)
        narrowed = _narrowed(planning, outputs)
        finishing = Finishing(planning, contents, block)
        finishing.give_back(outputs)
        finishing.finish()
        yield from (_kept(constant, kept, narrowed) for constant, kept in planning.kept.items())
        if planning.rounded:
            yield _rounded(planning.rounded)
    for each in changed:
        each.type = inputs[each]


def _outside(type: Type, precisions: Precisions) -> Type:
    """Return the type that replaces the type of an input, a state or an output.

    A state of fp16 stays fp16: coremltools 9.0 makes no other states (`StateType` in `converters/mil/input_types.py`).
    """
    return precisions.with_states(type) if precisions.new == "fp16" else precisions.of(type)


def _check(function: str, opset: str, changed: list[Value], contents: Contents) -> None:
    """Refuse inputs and outputs of fp16 in an opset that does not allow them."""
    if changed and contents.precisions.new == "fp16" and opset_place(opset) < opset_place(IO_SINCE):
        text = opset_text(opset)
        message = f"`{changed[0].name}` of `{function}` cannot be fp16 in {text}: {IO_SINCE} and later allow it"
        raise refusal(codes.FP16_BORDER, message, about=BlamedPart("opset", opset, function))


def _narrowed(planning: Planning, outputs: Mapping[Value, Type]) -> set[str]:
    """Return the names of the values cast to the new type."""
    new = planning.precisions.new
    cast = {known.value.name for known in planning.values if new in known.casts}
    return cast | {each.name for each, requested in outputs.items() if dtype_of(requested) == new}


def _kept(name: str, kept: KeptConstant, narrowed: set[str]) -> Diagnostic:
    """Return the warning about operations that stay fp32 because of a constant."""
    number = abs(kept.number)
    stays = "stays" if len(kept.outputs) == 1 else "stay"
    if number < LEAST_HALF:
        message = f"`{name}` has a scale of {number:.6g}, below {LEAST_HALF:.3g}, the least number of fp16"
        way = "use a larger scale for the weight, if possible"
    else:
        message = f"`{name}` reaches {number:.6g}, beyond 65504, the greatest number of fp16"
        way = "replace the constant by numbers in fp16's range, if its meaning allows it"
        if not narrowed.isdisjoint(kept.outputs):
            way = f"the results are cast to fp16, and may become infinite; {way}"
    return warning(codes.KEPT_IN_FP32, f"{message}: {_listed(kept.outputs)} {stays} fp32", None, Note(way))


def _rounded(names: Sequence[str]) -> Diagnostic:
    """Return the warning about casts of integers to fp16."""
    gives = "gives" if len(names) == 1 else "give"
    message = f"{_listed(names)} {gives} integers as fp16, which rounds integers beyond {GREATEST_WHOLE}"
    way = "compare the models on the largest inputs; values used only by casts stay fp32"
    return warning(codes.KEPT_IN_FP32, message, None, Note(way))


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{each}`" for each in names[:SHOWN])
    return listed + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
