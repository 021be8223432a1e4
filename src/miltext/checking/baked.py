"""Baked shapes: constants made for the old sizes of a program, and the ones to change."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Remark, named, operations_around
from miltext.checking.inference.program import UNDEFINED
from miltext.checking.operations import message_path
from miltext.checking.refitting import Refitting
from miltext.diagnostics import codes
from miltext.schema.paths import Key
from miltext.schema.types import TensorType, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.checking.findings import Finding
    from miltext.checking.inference.operands import Arguments, InputClash, Operand, Value
    from miltext.checking.inference.program import Inference
    from miltext.schema.paths import Path
    from miltext.schema.types import Type

OF_DATA_TYPES = (codes.UNSUPPORTED_DTYPE, codes.DTYPES_DIFFER)
"""The codes of errors that do not come from constants for other sizes."""

MADE_FOR_OTHERS = "which was made for other sizes"

SIZES = ("kernel_sizes", "size", "end", "target_size_height", "target_size_width")
"""Parameters that may contain sizes; rows contain the sizes of the last dimensions of `x`."""


class Outdated(NamedTuple):
    """A parameter that contains an old size: the size `before`, and the size `now`."""

    parameter: str
    before: int
    now: int


class Absorbing(NamedTuple):
    """An output that stays unchanged though an input of its operation changed: its name, sizes and place."""

    name: str
    sizes: set[int]
    place: Path


class Baked:
    """The changes of a program's values when their types are inferred again.

    `changed` are the values whose types differ from before, with their names; `inputs` the inputs that may have
    changed, and `others` the unchanged inputs, with their paths.
    """

    def __init__(self, found: Sequence[Inference], makers: Mapping[Operand, Path]) -> None:
        self._found = found
        self._makers = makers
        self.changed: dict[Operand, str] = {}
        self.inputs: set[Operand] = set()
        self.others: dict[Operand, Path] = {}
        self.refitting = Refitting()
        self._before: dict[Operand, Type] = {}
        self._absorbing: dict[Operand, Absorbing] = {}
        self._refitted: dict[Operand, tuple[int, ...]] = {}

    # ---- while types are inferred

    def change(self, made: Operand, name: str, old: Type) -> None:
        """Record a value with a changed type."""
        self.changed[made] = name
        self._before[made] = old
        self.refitting.learn(old, made.type)

    def absorb(self, made: Operand, name: str, arguments: Arguments, place: Path) -> str | None:
        """Record an output that keeps its type; return the name of a changed input of its operation."""
        given = [operand for bound in arguments.operands.values() for operand in bound]
        changed = next((self.changed[operand] for operand in given if operand in self.changed), None)
        if changed is not None or not self.inputs.isdisjoint(given):
            sizes = made.type.shape if isinstance(made.type, TensorType) else ()
            self._absorbing[made] = Absorbing(name, {size for size in sizes if size not in (None, 1)}, place)
            return changed
        for operand in given:
            if operand in self._absorbing:
                self._absorbing[made] = self._absorbing[operand]
            elif operand in self.others:
                self.others[made] = self.others[operand]
        return None

    def refitted(self, clash: InputClash, arguments: Arguments) -> Type:
        """Return the result of a `reshape` with a new size as its shape; None if that size is not certain.

        Types after it are inferred from this result, so that all shapes with sizes baked in are reported at once.
        """
        if arguments.op_type != "reshape" or clash.parameter != "shape":
            return None
        [shape], [x] = arguments.operands["shape"], arguments.operands["x"]
        found = self.refitting.refit(shape.value, x.type.shape) if isinstance(x.type, TensorType) else None
        if found is None or not isinstance(x.type, TensorType):
            return None
        self._refitted[shape] = found
        return TensorType(x.type.dtype, found)

    def outdated(self, arguments: Arguments) -> Outdated | None:
        """Return the first parameter that contains an old size.

        Such an operation may be valid although it is meant for all of `x`, for example as an average over a whole
        image.
        """
        [x, *_] = arguments.operands.get("x", (UNDEFINED,))
        if x not in self.changed:
            return None
        for name, operand in ((each, operand) for each in SIZES for operand in arguments.operands.get(each, ())):
            if isinstance(operand.value, int):
                sizes = self.refitting.became(operand.value)
            elif isinstance(operand.value, tuple) and not (name == "end" and _is_masked(arguments)):
                sizes = self._lasting(operand.value, x)
            else:
                continue
            if sizes is not None:
                return Outdated(name, *sizes)
        return None

    def _lasting(self, held: Sequence[object], x: Operand) -> tuple[int, int] | None:
        """Return the first old size of a value's last dimensions that a row still contains, and the new one."""
        old, new = self._before[x], x.type
        if not isinstance(old, TensorType) or not isinstance(new, TensorType) or len(old.shape) != len(new.shape):
            return None
        for size, before, after in zip(reversed(held), reversed(old.shape), reversed(new.shape), strict=False):
            if before is not None and after is not None and size == before != after and before > 1:
                return before, after
        return None

    # ---- when something does not fit

    def with_constants(self, finding: Finding) -> Finding:
        """Return an error about an operation's inputs, with the constants to change if they were made for other
        sizes.
        """
        *_, place = (), *operations_around(finding.path)
        inference = self._inferences.get(place)
        is_of_sizes = finding.severity == "error" and finding.code not in OF_DATA_TYPES
        if not is_of_sizes or inference is None or not self._is_moved(inference.arguments):
            return finding
        paths = [path for path in (finding.path, *(remark.path for remark in finding.remarks)) if "inputs" in path]
        about = [_argument(path) for path in paths if path[: len(place)] == place]
        about = about or [(name, 0) for name in sorted(inference.arguments.operands)]
        remarks = [remark for name, index in about for remark in self._remarks(inference, name, index)]
        return finding._replace(remarks=tuple(dict.fromkeys((*finding.remarks, *remarks))))

    @cached_property
    def _inferences(self) -> dict[Path, Inference]:
        return {message_path(each.path): each for each in self._found}

    def _is_moved(self, arguments: Arguments) -> bool:
        """Return whether an input of an operation changed, or may have changed as an input of the program."""
        given = (operand for bound in arguments.operands.values() for operand in bound)
        return any(each in self.inputs or each in self.changed or each in self._absorbing for each in given)

    def _remarks(self, inference: Inference, name: str, index: int) -> Iterator[Remark]:
        """Yield the places to change for a parameter: a constant, the source of a value's sizes, or an input."""
        operands = inference.arguments.operands.get(name, ())
        operand = operands[index] if index < len(operands) else UNDEFINED
        constant = self._constant(inference, name, index, operand)
        if constant is None:
            if operand in self._absorbing:
                yield from self._behind(self._absorbing[operand])
            elif operand in self.others:
                yield Remark("this input still has its old sizes; change them, too", self.others[operand])
        elif operand in self._refitted:
            message = f"change this literal, {MADE_FOR_OTHERS}; {show(self._refitted[operand])} fits"
            yield Remark(message, constant)
        elif isinstance(operand.type, TensorType) and operand.type.shape:
            yield Remark(f"change this constant, {MADE_FOR_OTHERS}", constant)

    def _behind(self, absorbing: Absorbing) -> Iterator[Remark]:
        """Yield the places to change for a value that does not follow from its sources."""
        inference = self._inferences[absorbing.place]
        for name, operands in sorted(inference.arguments.operands.items()):
            for index, operand in enumerate(operands):
                constant = self._constant(inference, name, index, operand)
                if constant is not None and not absorbing.sizes.isdisjoint(_numbers(operand.value)):
                    yield Remark(f"change this literal, which gives {named(absorbing.name)} its sizes", constant)

    def _constant(self, inference: Inference, name: str, index: int, operand: Operand) -> Path | None:
        """Return the path of a constant operand: the path of a literal, or of the operation that makes it; else
        None.
        """
        if not operand.constant or operand is UNDEFINED:
            return None
        place = self._makers.get(operand)
        if place is not None:
            made = self._inferences.get(place)
            is_literal = made is None or made.operation.type == "const"
            return (*place, "attributes", Key("val")) if is_literal else (*place, "type")
        at = message_path(inference.path)
        is_input = name in inference.operation.inputs
        return (*at, "inputs", Key(name), "arguments", index) if is_input else (*at, "attributes", Key(name))


def _is_masked(arguments: Arguments) -> bool:
    """Return whether an operation may disregard its `end` values."""
    masks = [operand.value for operand in arguments.operands.get("end_mask", ())]
    return any(mask is None or True in _row(mask) for mask in masks)


def _row(value: Value) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _argument(path: Path) -> tuple[str, int]:
    """Return the parameter at a path, and the place among its operands."""
    at = path.index("inputs") + 1
    index = path[at + 2] if len(path) > at + 2 else 0
    return str(path[at]), index if isinstance(index, int) else 0


def _numbers(value: Value) -> set[int]:
    """Return the whole numbers in a value."""
    return {each for each in _row(value) if type(each) is int}
