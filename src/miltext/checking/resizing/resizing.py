"""Resizing: the constants of a program, as it is walked over, that follow from sizes of its inputs that change."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.checking.findings import Finding, Remark, counted
from miltext.checking.findings import named as quoted
from miltext.checking.inference.operands import read_value
from miltext.checking.inference.program import bound
from miltext.checking.inference.reading import Constant
from miltext.checking.resizing.cuts import cuts_of
from miltext.checking.resizing.facts import KEPT, RULES, STUCK
from miltext.checking.resizing.following import Following
from miltext.checking.sizes import GREATEST, TOO_LARGE, WAY_OUT, too_large
from miltext.models.model_weights import Weights
from miltext.models.refusals import WeightsError
from miltext.parsing.parser import parse_value
from miltext.schema.paths import Key
from miltext.schema.types import TensorType, spelled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
    from pathlib import Path as FilePath

    import numpy.typing as npt

    from miltext.checking.inference.operands import Operand
    from miltext.checking.inference.operands import Value as Held
    from miltext.checking.inference.program import Scope
    from miltext.checking.inference.reading import Block, Operation, Reader
    from miltext.checking.resizing.cuts import Cuts
    from miltext.checking.resizing.facts import Follow
    from miltext.schema.paths import Path
    from miltext.schema.proto import Program, Value
    from miltext.schema.types import Type

PLAIN = ("fp16", "fp32", "fp64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
"""The data types of arrays that are made anew: those of which numpy has the elements themselves."""

LISTED = 3
"""How many further places of what is reported several times are named."""


class Rewritten(NamedTuple):
    """A constant that is another one now: the `const` that makes it, if one does, its type and its literal."""

    maker: Path | None
    type: TensorType
    literal: str


class Resizing:
    """What becomes of the constants of a program; `given` are the `const`s that blocks give back."""

    def __init__(
        self, program: Program, weights: FilePath | None, reader: Reader, makers: Mapping[Operand, Path]
    ) -> None:
        self._weights = Weights(program, weights)
        self._reader = reader
        self._makers = makers
        self._following = Following()
        self._held: dict[Operand, Value] = {}
        self._rewritten: dict[Path, Rewritten] = {}
        self._used: set[Path] = set()
        self._cuts: dict[Path, dict[str, Cuts]] = {}
        self._found: dict[tuple[str, str], list[Path]] = {}
        self.given: set[Path] = set()

    # ---- while the program is walked over

    def enter_block(self, block: Block, place: Path) -> None:
        """Note how the operations of a block slice values."""
        self._cuts[place] = cuts_of(block)

    def enter(self, made: Operand, old: Type) -> None:
        """Note an input of a function or of a block, and the type that it had."""
        self._following.note(made, old, None, {})

    def note(
        self, operation: Operation, old: Sequence[Type], scope: Scope, operands: Mapping[str, Sequence[Operand]]
    ) -> None:
        """Note what an operation makes, of which types that was, and which constants it uses as they are."""
        captured = _captured(operation, scope) if operation.blocks else ()
        for output, stated in zip(operation.outputs, old, strict=True):
            made = scope[output.name]
            if operation.type == "const":
                if "val" in operation.attributes:
                    self._held[made] = operation.attributes["val"].message
            else:
                self._following.note(made, stated, operation.type, operands, captured)
        for bound_to in operands.values():
            self._used.update(self._makers[operand] for operand in bound_to if operand in self._makers)

    def follow(self, operation: Operation, old: Type, scope: Scope, place: Path) -> None:
        """Give an operation the constants that follow from the sizes now."""
        if operation.type == "while_loop":
            self._loop(operation, scope, place)
        if operation.type not in RULES:
            return
        operands = bound(operation, scope)

        def array(name: str, at: int) -> npt.NDArray[Any] | None:
            bindings = operation.inputs.get(name, [])
            binding = bindings[at] if at < len(bindings) else None
            held = binding.message if isinstance(binding, Constant) else self._held.get(operands[name][at])
            return None if held is None else self._array(held, operands[name][at].type)

        [x, *_] = operation.inputs.get("x") or [None]
        cuts = self._cuts.get(place[:-2], {}).get(x) if isinstance(x, str) else None
        for each in self._following.follow(operation.type, operands, old, array, cuts):
            path: Path = (*place, "inputs", Key(each.parameter), "arguments", each.place)
            if each.code is not None:
                self._found.setdefault((each.code, each.message), []).append(path)
            if each.elements is not None:
                self._rewrite(operation, each, operands[each.parameter][each.place], path)

    def _loop(self, operation: Operation, scope: Scope, place: Path) -> None:
        """Report a loop that counts to what a size was."""
        given = [
            *_captured(operation, scope),
            *(each for bound_to in bound(operation, scope).values() for each in bound_to),
        ]
        changed = {each.before: each for each in self._following.changed(given) if each.before > 1 and not each.spread}
        for number in {*_counts(operation), *(each.value for each in given if each.constant)}:
            held = number[0] if isinstance(number, tuple) and len(number) == 1 else number
            if type(held) is int and held in changed:
                message = f"`while_loop` counts with {held}, and {changed[held]} is a size"
                self._found.setdefault((STUCK, message), []).append((*place, "type"))

    def output(self, name: str, made: Operand, path: Path) -> None:
        """Report what a function gives back that is of a size as before, though it hangs on that and it changed."""
        stays = self._following.stays(made)
        if stays is not None:
            message = f"the output {quoted(name)} keeps {stays.before}, and {stays} is a size that it hangs on"
            self._found.setdefault((KEPT, message), []).append(path)

    def hold(self, what: str, size: int | None, path: Path) -> None:
        """Hold a size to what coremltools counts with; the first that it cannot is reported."""
        if size is not None and size > GREATEST and not any(code == TOO_LARGE for code, _ in self._found):
            self._found[TOO_LARGE, too_large(f"{what} would have", size)] = [path]

    def _array(self, value: Value, type: Type) -> npt.NDArray[Any] | None:
        """Return the elements of a constant; None where they cannot be had."""
        if not isinstance(type, TensorType) or type.dtype not in PLAIN:
            return None
        with suppress(KeyError, WeightsError):
            array = self._weights[value]
            return array.astype(bool) if type.dtype == "bool" else array
        return None

    def _rewrite(self, operation: Operation, follow: Follow, operand: Operand, path: Path) -> None:
        """Give an operation another constant."""
        bindings = operation.inputs.get(follow.parameter)
        if bindings is None or not isinstance(operand.type, TensorType):
            return
        greatest = max(follow.elements, default=0) if follow.elements is not None else 0
        if operand.type.dtype == "int32" and greatest > GREATEST:
            self.hold(f"`{follow.parameter}` of `{operation.type}`", int(greatest), path)
            return
        made = TensorType(operand.type.dtype, follow.shape)
        literal = _literal(() if follow.elements is None else follow.elements, follow.shape, made.dtype)
        value = parse_value(f"{spelled(made)}({literal})")
        operation.message.inputs[follow.parameter].arguments[follow.place].value.CopyFrom(value)
        bindings[follow.place] = self._reader.value(value)
        self._rewritten[path] = Rewritten(self._makers.get(operand), made, literal)

    # ---- in the end

    def literals(self, dialect: str, drafts: Collection[Path], types: MutableMapping[Path, str]) -> dict[Path, str]:
        """Return the text of constants by the paths of phrases: of a `const`, or of an argument where others use that.

        The `types` of outputs get those of the `const`s.
        """
        by_maker: dict[Path, set[tuple[Type, str]]] = {}
        for each in self._rewritten.values():
            if each.maker is not None:
                by_maker.setdefault(each.maker, set()).add(each[1:])
        kept = self._used | self.given
        found: dict[Path, str] = {}
        for path, (maker, made, literal) in self._rewritten.items():
            text = f"{spelled(made, dialect)}({literal})"
            held = (*maker, "attributes", Key("val")) if maker is not None else path
            output: Path = (*(maker or ()), "outputs", 0)
            is_own = maker is not None and len(by_maker[maker]) == 1 and maker not in kept
            if is_own and held not in drafts and output not in drafts:
                found[held] = text
                types[output] = spelled(made, dialect)
            else:
                found[path] = text
        return found

    def told(self) -> Iterator[Finding]:
        """Yield what is reported, each thing once with the places where it is the same."""
        for (code, message), paths in self._found.items():
            remarks = [Remark("so it is here", path) for path in paths[1 : LISTED + 1]]
            more = len(paths) - 1 - len(remarks)
            way = WAYS[code] + (f" (so it is in {counted(more, 'more place')})" if more > 0 else "")
            severity = "error" if code in (STUCK, TOO_LARGE) else "warning"
            yield Finding(paths[0], code, f"{message}; {way}", tuple(remarks), severity=severity)


def _captured(operation: Operation, scope: Scope) -> list[Operand]:
    """Return what the blocks of an operation use of what is around it."""
    found: list[Operand] = []
    for block in operation.blocks:
        for inner in block.operations:
            names = [each for bindings in inner.inputs.values() for each in bindings if isinstance(each, str)]
            found += [scope[name] for name in names if name in scope]
            found += _captured(inner, scope)
    return found


def _counts(operation: Operation) -> Iterator[Held]:
    """Yield the constants in the blocks of an operation."""
    for block in operation.blocks:
        for inner in block.operations:
            held = inner.attributes.get("val") if inner.type == "const" else None
            if held is not None:
                yield read_value(held.message, held.stated.type)
            for bindings in inner.inputs.values():
                yield from (
                    read_value(each.message, each.stated.type) for each in bindings if isinstance(each, Constant)
                )
            yield from _counts(inner)


WAYS = {
    "MIL490": "check it",
    "MIL491": "check it",
    "MIL492": "change it in the text, or convert the model anew at these sizes",
    TOO_LARGE: WAY_OUT,
}
"""What to do about each kind of constant."""


def _literal(elements: Sequence[Any] | npt.NDArray[Any], shape: tuple[int, ...], dtype: str) -> str:
    """Spell elements as a literal of a shape."""
    import numpy as np

    array = np.asarray(elements)
    if dtype in ("fp16", "fp32"):
        array = array.astype({"fp16": np.float16, "fp32": np.float32}[dtype])
    return _nested(array.reshape(shape), dtype)


def _nested(array: npt.NDArray[Any], dtype: str) -> str:
    if array.ndim:
        return f"[{', '.join(_nested(part, dtype) for part in array)}]"
    return ("true" if array else "false") if dtype == "bool" else str(array[()])
