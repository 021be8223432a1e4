"""The constants of a program that depend on changed sizes of its inputs, in the order of a walk."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.checking.findings import Finding, Remark, counted
from miltext.checking.findings import named as quoted
from miltext.checking.inference.operands import read_value
from miltext.checking.resizing.cuts import cuts_of
from miltext.checking.resizing.facts import PLAIN, RULES
from miltext.checking.resizing.following import Following
from miltext.checking.sizes import GREATEST, WAY_OUT, too_large
from miltext.diagnostics import codes
from miltext.files.refusals import WeightsError
from miltext.ir.parts import Value as Made
from miltext.ir.parts import literal_of, maker_of
from miltext.parsing.parser import parse_value
from miltext.schema.paths import Key
from miltext.schema.types import TensorType, read_type, spelled
from miltext.weight_files.model_weights import Weights

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
    from pathlib import Path as FilePath

    from miltext.checking.inference.operands import Operand
    from miltext.checking.inference.operands import Value as Held
    from miltext.checking.inference.program import Walk
    from miltext.checking.resizing.cuts import Cuts
    from miltext.checking.resizing.facts import Follow
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.schema.packing import Array
    from miltext.schema.paths import Path
    from miltext.schema.proto import Value
    from miltext.schema.types import Type

LISTED = 3
"""The number of further places named in a repeated finding."""


class Rewritten(NamedTuple):
    """A constant with a new value: its `const`, if any, its type and its literal."""

    maker: Op | None
    type: TensorType
    literal: str


class Resizing:
    """The changes of a program's constants."""

    def __init__(self, walk: Walk, weights: FilePath | None) -> None:
        self._walk = walk
        self._weights = Weights(walk.graph.message, weights)
        self._following = Following()
        self._rewritten: dict[Path, Rewritten] = {}
        self._cuts: dict[tuple[Made, Block], Cuts] = {}
        self._found: dict[tuple[str, str], list[Path]] = {}

    # ---- while the program is walked over

    def enter(self, made: Operand, old: Type) -> None:
        """Record an input of a function or of a block, and its old type."""
        self._following.note(made, old, None, {})

    def note(self, op: Op, old: Sequence[Type], operands: Mapping[str, Sequence[Operand]]) -> None:
        """Record the outputs of an operation, and their old types."""
        if op.type == "const":
            return
        captured = self._captured(op) if op.blocks else ()
        for output, stated in zip(op.outputs, old, strict=True):
            self._following.note(self._walk.known[output], stated, op.type, operands, captured)

    def follow(self, op: Op, old: Type, place: Path) -> None:
        """Update the constants of an operation for the new sizes."""
        if op.type == "while_loop":
            self._loop(op, place)
        if op.type not in RULES:
            return
        operands = self._walk.operands(op)

        def array(name: str, at: int) -> Array | None:
            given = op.inputs.get(name, [])
            held = literal_of(given[at]) if at < len(given) else None
            return None if held is None else self._array(held, operands[name][at].type)

        x = op.operand("x")
        cuts = self._cuts_of(x, op.block) if isinstance(x, Made) and op.block else None
        for each in self._following.follow(op.type, operands, old, array, cuts):
            path: Path = (*place, "inputs", Key(each.parameter), "arguments", each.place)
            if each.code is not None:
                self._found.setdefault((each.code, each.message), []).append(path)
            if each.elements is not None:
                self._rewrite(op, each, operands[each.parameter][each.place], path)

    def _cuts_of(self, value: Made, block: Block) -> Cuts:
        """Return the slices of a value in a block before their changes."""
        if (value, block) not in self._cuts:
            self._cuts[value, block] = cuts_of(value, block)
        return self._cuts[value, block]

    def _captured(self, op: Op) -> list[Operand]:
        """Return the operands that the blocks of an operation use from outside."""
        return [self._walk.known[value] for value in op.captured() if value in self._walk.known]

    def _loop(self, loop: Op, place: Path) -> None:
        """Report a loop whose count is the old value of a changed size."""
        given = [*self._captured(loop), *(each for bound in self._walk.operands(loop).values() for each in bound)]
        changed = {each.before: each for each in self._following.changed(given) if each.before > 1 and not each.spread}
        for number in {*_counts(loop), *(each.value for each in given if each.constant)}:
            held = number[0] if isinstance(number, tuple) and len(number) == 1 else number
            if type(held) is int and held in changed:
                message = f"`while_loop` counts with {held}, the old value of the changed size {changed[held]}"
                self._found.setdefault((codes.CONSTANT_CANNOT_FOLLOW, message), []).append((*place, "type"))

    def output(self, name: str, made: Operand, path: Path) -> None:
        """Report an output of a function that keeps an old size although it depends on its change."""
        stays = self._following.stays(made)
        if stays is not None:
            message = (
                f"the output {quoted(name)} keeps the size {stays.before}, but depends on the changed size {stays}"
            )
            self._found.setdefault((codes.CONSTANT_MAY_FOLLOW, message), []).append(path)

    def hold(self, what: str, size: int | None, path: Path) -> None:
        """Report the first size outside of coremltools' range."""
        is_reported = any(code == codes.IMPOSSIBLE_PACKAGE_SIZE for code, _ in self._found)
        if size is not None and size > GREATEST and not is_reported:
            self._found[codes.IMPOSSIBLE_PACKAGE_SIZE, too_large(f"{what} would have", size)] = [path]

    def _array(self, value: Value, type: Type) -> Array | None:
        """Return the elements of a constant; None if they are unavailable."""
        if not isinstance(type, TensorType) or type.dtype not in PLAIN:
            return None
        with suppress(KeyError, WeightsError):
            array = self._weights[value]
            return array.astype(bool) if type.dtype == "bool" else array
        return None

    def _rewrite(self, op: Op, follow: Follow, operand: Operand, path: Path) -> None:
        """Replace a constant of an operation."""
        if follow.parameter not in op.inputs or not isinstance(operand.type, TensorType):
            return
        greatest = max(follow.elements, default=0) if follow.elements is not None else 0
        if operand.type.dtype == "int32" and greatest > GREATEST:
            self.hold(f"`{follow.parameter}` of `{op.type}`", int(greatest), path)
            return
        made = TensorType(operand.type.dtype, follow.shape)
        literal = _literal(() if follow.elements is None else follow.elements, follow.shape, made.dtype)
        value = parse_value(f"{spelled(made)}({literal})")
        maker = maker_of(op.inputs[follow.parameter][follow.place])
        self._walk.graph.bind(op, follow.parameter, follow.place, value)
        self._rewritten[path] = Rewritten(maker if maker and maker.type == "const" else None, made, literal)

    # ---- in the end

    def literals(self, dialect: str, drafts: Collection[Path], types: MutableMapping[Path, str]) -> dict[Path, str]:
        """Return the text of constants by the paths of phrases: a `const`, or an argument bound to a shared one.

        The `types` of outputs get the types of the `const`s.
        """
        places = {op: path for path, op in self._walk.graph.operations().items()}
        by_maker: dict[Op, set[tuple[Type, str]]] = {}
        for each in self._rewritten.values():
            if each.maker is not None:
                by_maker.setdefault(each.maker, set()).add(each[1:])
        found: dict[Path, str] = {}
        for path, (maker, made, literal) in self._rewritten.items():
            text = f"{spelled(made, dialect)}({literal})"
            place = places[maker] if maker is not None else ()
            held, output = (*place, "attributes", Key("val")), (*place, "outputs", 0)
            is_own = maker is not None and len(by_maker[maker]) == 1 and not maker.is_used
            if is_own and held not in drafts and output not in drafts:
                found[held] = text
                types[output] = spelled(made, dialect)
            else:
                found[path] = text
        return found

    def findings(self) -> Iterator[Finding]:
        """Yield the findings, each once with all of its places."""
        for (code, message), paths in self._found.items():
            remarks = [Remark("the same finding here", path) for path in paths[1 : LISTED + 1]]
            more = len(paths) - 1 - len(remarks)
            way = WAYS[code] + (f" (the same finding in {counted(more, 'more place')})" if more > 0 else "")
            severity = "error" if code in (codes.CONSTANT_CANNOT_FOLLOW, codes.IMPOSSIBLE_PACKAGE_SIZE) else "warning"
            yield Finding(paths[0], code, f"{message}; {way}", tuple(remarks), severity=severity)


def _counts(op: Op) -> Iterator[Held]:
    """Yield the constants in the blocks of an operation."""
    for inner in op.walk():
        held = [each for operands in inner.inputs.values() for each in operands if not isinstance(each, Made)]
        held += [inner.attributes["val"]] if inner.type == "const" and "val" in inner.attributes else []
        yield from (read_value(each, read_type(each.type)) for each in held if each is not None)


WAYS = {
    codes.CONSTANT_RESIZED: "check it",
    codes.CONSTANT_MAY_FOLLOW: "check it",
    codes.CONSTANT_CANNOT_FOLLOW: "change it in the text, or convert the model anew at these sizes",
    codes.IMPOSSIBLE_PACKAGE_SIZE: WAY_OUT,
}
"""The advice for each kind of constant."""


def _literal(elements: Sequence[Any] | Array, shape: tuple[int, ...], dtype: str) -> str:
    """Spell elements as a literal of a shape."""
    import numpy as np

    array = np.asarray(elements)
    if dtype in ("fp16", "fp32"):
        array = array.astype({"fp16": np.float16, "fp32": np.float32}[dtype])
    return _nested(array.reshape(shape), dtype)


def _nested(array: Array, dtype: str) -> str:
    if array.ndim:
        return f"[{', '.join(_nested(part, dtype) for part in array)}]"
    return ("true" if array else "false") if dtype == "bool" else str(array[()])
