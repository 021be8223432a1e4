"""Baked shapes: constants that were made for the sizes that a program had before, and which of them to change."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from miltext.checking.findings import Remark, named, operations_around
from miltext.checking.inference.program import UNDEFINED
from miltext.checking.operations import message_path
from miltext.schema.paths import Key
from miltext.schema.types import TensorType, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.checking.findings import Finding
    from miltext.checking.inference.operands import Arguments, Clash, Operand, Value
    from miltext.checking.inference.program import Inference
    from miltext.schema.paths import Path
    from miltext.schema.types import Shape, Type

CHOICES = 1 << 10
"""How many shapes are tried at most in place of one that does not fit."""


class Absorbing(NamedTuple):
    """An output that stays as it was though what its operation is given changed: its name and sizes, and where."""

    name: str
    sizes: set[int]
    place: Path


class Baked:
    """What became of the values of a program whose types are inferred anew.

    `inputs` are those of functions; `changed` are the values of other types than before, with their names.
    """

    def __init__(self, found: Sequence[Inference], makers: Mapping[Operand, Path]) -> None:
        self._found = found
        self._makers = makers
        self.inputs: set[Operand] = set()
        self.changed: dict[Operand, str] = {}
        self._absorbing: dict[Operand, Absorbing] = {}
        self._shapes: dict[tuple[Shape, Shape], None] = {}
        self._refitted: dict[Operand, tuple[int, ...]] = {}

    # ---- while types are inferred

    def change(self, made: Operand, name: str, old: Type, new: Type) -> None:
        """Note an output of another type than before."""
        self.changed[made] = name
        if isinstance(old, TensorType) and isinstance(new, TensorType) and len(old.shape) == len(new.shape):
            self._shapes[old.shape, new.shape] = None

    def absorb(self, made: Operand, name: str, arguments: Arguments, place: Path) -> str | None:
        """Note an output of the type that it had before; return the name of something that it is given that changed."""
        given = [operand for bound in arguments.operands.values() for operand in bound]
        changed = next((self.changed[operand] for operand in given if operand in self.changed), None)
        if changed is not None or not self.inputs.isdisjoint(given):
            sizes = made.type.shape if isinstance(made.type, TensorType) else ()
            self._absorbing[made] = Absorbing(name, {size for size in sizes if size not in (None, 1)}, place)
        elif inherited := next((self._absorbing[operand] for operand in given if operand in self._absorbing), None):
            self._absorbing[made] = inherited
        return changed

    def refitted(self, clash: Clash, arguments: Arguments) -> Type:
        """Return what a `reshape` would give back if its shape were one of the new sizes; None if that is not plain.

        What comes after it is inferred from that, so that all shapes that were baked in are told of at once.
        """
        if arguments.op_type != "reshape" or clash.parameter != "shape":
            return None
        [shape], [x] = arguments.operands["shape"], arguments.operands["x"]
        sizes = shape.value
        if not isinstance(x.type, TensorType) or not isinstance(sizes, tuple) or not _are_sizes(sizes):
            return None
        found = self._refit(sizes, x.type.shape) if _are_sizes(x.type.shape) else None
        if found is None:
            return None
        self._refitted[shape] = found
        return TensorType(x.type.dtype, found)

    def _refit(self, sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the only sizes of so many elements that these become as others did; else with one of them scaled."""
        count = prod(shape)
        for longest in (1, None):
            known = self._sizes(longest)
            choices = [{size, *known.get(size, ())} for size in sizes]
            fitting = {each for each in product(*choices) if prod(each) == count} if _few(choices) else set()
            if fitting:
                return _only(fitting)
        return _only(
            {
                (*sizes[:place], count * size // prod(sizes), *sizes[place + 1 :])
                for place, size in enumerate(sizes)
                if count * size % prod(sizes) == 0
            }
        )

    def _sizes(self, longest: int | None) -> dict[int, set[int]]:
        """Return what sizes became, also those of several dimensions together, of so many at the `longest`."""
        found: dict[int, set[int]] = {}
        for old, new in self._shapes:
            if not _are_sizes(old) or not _are_sizes(new):
                continue
            for run in range(1, (longest or len(old)) + 1):
                for start in range(len(old) - run + 1):
                    before, after = prod(old[start : start + run]), prod(new[start : start + run])
                    if before != after:
                        found.setdefault(before, set()).add(after)
        return found

    # ---- when something does not fit

    def told(self, finding: Finding) -> Finding:
        """Return an error about what an operation is given, with what to change if that was made for other sizes."""
        *_, place = (), *operations_around(finding.path)
        inference = self._inferences.get(place)
        if finding.severity != "error" or inference is None or not self._is_moved(inference.arguments):
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
        """Tell whether an operation is given what changed, or an input, which may have."""
        given = (operand for bound in arguments.operands.values() for operand in bound)
        return any(each in self.inputs or each in self.changed or each in self._absorbing for each in given)

    def _remarks(self, inference: Inference, name: str, index: int) -> Iterator[Remark]:
        """Yield what to change of what stands for a parameter: a literal, or what gives a value sizes of its own."""
        operands = inference.arguments.operands.get(name, ())
        operand = operands[index] if index < len(operands) else UNDEFINED
        literal = self._literal(inference, name, index, operand)
        if literal is not None:
            yield Remark(self._way_out(operand), literal)
        elif operand in self._absorbing:
            yield self._behind(self._absorbing[operand])

    def _way_out(self, operand: Operand) -> str:
        if operand in self._refitted:
            return f"change this literal, which was made for other sizes; {show(self._refitted[operand])} fits"
        return "change this constant, which was made for other sizes"

    def _behind(self, absorbing: Absorbing) -> Remark:
        """Return what to change where a value does not follow what it is made of."""
        inference = self._inferences[absorbing.place]
        for name, operands in sorted(inference.arguments.operands.items()):
            for index, operand in enumerate(operands):
                literal = self._literal(inference, name, index, operand)
                if literal is not None and not absorbing.sizes.isdisjoint(_numbers(operand.value)):
                    return Remark(f"change this literal, which gives {named(absorbing.name)} its sizes", literal)
        return Remark(f"{named(absorbing.name)} has sizes of its own, whatever this is given", absorbing.place)

    def _literal(self, inference: Inference, name: str, index: int, operand: Operand) -> Path | None:
        """Return the path of the literal that an operation is given, by name or in place; None for what is none."""
        if not operand.constant or operand is UNDEFINED:
            return None
        place = self._makers.get(operand)
        if place is not None:
            made = self._inferences.get(place)
            return (*place, "attributes", Key("val")) if made is None or made.operation.type == "const" else None
        at = message_path(inference.path)
        is_input = name in inference.operation.inputs
        return (*at, "inputs", Key(name), "arguments", index) if is_input else (*at, "attributes", Key(name))


def _argument(path: Path) -> tuple[str, int]:
    """Return the parameter that a path leads to, and the place among what it is bound to."""
    at = path.index("inputs") + 1
    index = path[at + 2] if len(path) > at + 2 else 0
    return str(path[at]), index if isinstance(index, int) else 0


def _are_sizes(values: Sequence[object]) -> TypeGuard[tuple[int, ...]]:
    return all(isinstance(value, int) and value > 0 for value in values)


def _only(found: set[tuple[int, ...]]) -> tuple[int, ...] | None:
    return next(iter(found)) if len(found) == 1 else None


def _few(choices: Sequence[set[int]]) -> bool:
    return prod(map(len, choices)) <= CHOICES


def _numbers(value: Value) -> set[int]:
    """Return the whole numbers in a value."""
    return {each for each in (value if isinstance(value, tuple) else (value,)) if type(each) is int}
