"""The types that a draft of a Program may leave out: each type that inference restores exactly.

The walk is inference over the whole Program. At each operation it makes the queries of inference over the draft, by the
same functions, while the literals that may lose their type have none.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from miltext.checking.draft_constants import UsualWalk, is_of_function, takes
from miltext.checking.inference.operands import Operand, read_value
from miltext.checking.inference.program import UNDEFINED
from miltext.checking.inference.reading import Constant, StatedGraph
from miltext.checking.literal_types import Beside, Misfit, UndecidedType, literal_type, usual_type
from miltext.checking.operations import message_path
from miltext.ir.parts import Value
from miltext.schema.operations import signature
from miltext.schema.paths import Key, Path
from miltext.schema.types import StateType, TensorType, is_known, write_type
from miltext.syntax.names import DRAFT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Set

    from miltext.checking.inference.operands import NestedBlock
    from miltext.checking.inference.program import Path as InferencePath
    from miltext.checking.inference.reading import Binding, StatedType
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.schema import proto
    from miltext.schema.operations import Signature
    from miltext.schema.types import Type

    Spelling: TypeAlias = Callable[[proto.Value], "str | None"]
    Place: TypeAlias = tuple[str, int]

STATEMENT = len(message_path(("function", "opset", 0)))
"""The length of the path of an operation in a function's own block."""

ONE_BY_ONE = 16
"""The most literals or constants of an operation that get their types one after the other.

Each type may decide others; the undecided ones after that get theirs together.
"""

_STRING = TensorType("string", ())


def gaps_of(program: proto.Program, spelling: Spelling, whole: Set[Path]) -> set[Path]:
    """Return the paths of the outputs, the inputs of blocks, the bindings and the attributes that need no type.

    `spelling` returns the literal of a value, None if a draft has no literal for it. Operations at the paths of `whole`
    have all their types.
    """
    walk = _Omission(StatedGraph(program), spelling, whole)
    walk.program()
    return walk.gaps


@dataclass(slots=True, eq=False)
class _OpenConstant:
    """A `const` at a path whose type may be omitted, if all of its uses restore it."""

    place: Path
    literal: str
    value: Constant
    operand: Operand

    @property
    def output(self) -> Path:
        return (*self.place, "outputs", 0)

    @property
    def is_used(self) -> bool:
        """Whether a use has decided its type."""
        return self.operand.type is not None

    def settle(self) -> None:
        """Give the operand its type and value."""
        stated = self.value.stated.type
        self.operand.settle(stated, partial(read_value, self.value.message, stated))

    def unsettle(self) -> None:
        """Remove the type and the value again."""
        self.operand.settle(None, lambda: None)


class _Omission(UsualWalk):
    """Inference that notes the types that can be left out."""

    def __init__(self, graph: StatedGraph, spelling: Spelling, whole: Set[Path]) -> None:
        super().__init__(graph)
        self.spelling = spelling
        self.whole = whole
        self.gaps: set[Path] = set()
        self.open: dict[Operand, _OpenConstant] = {}

    def operation(self, op: Op, path: InferencePath) -> None:
        place = message_path(path)
        if not self.is_whole(place):
            self.attributes(op, place)
            if op.type == "const" and self.constant(op, place):
                return
        self.arguments(op, place)
        super().operation(op, path)
        inferred = () if self.is_whole(place) else self.found[-1].inferred or ()
        for index, (output, followed) in enumerate(zip(op.outputs, inferred)):  # noqa: B905  # others compare
            if output.name != DRAFT and (*place, "attributes", Key("val")) not in self.gaps:
                self.note((*place, "outputs", index), followed, self.graph.stated[output])

    def is_whole(self, place: Path) -> bool:
        """Return whether an operation, or one around it, has all its types."""
        return place[:STATEMENT] in self.whole

    def note(self, gap: Path, followed: Type, stated: StatedType) -> bool:
        """Leave a type out if the inferred type is written the same; return whether it was left out."""
        if is_known(followed) and not isinstance(followed, StateType) and write_type(followed) == stated.message:
            self.gaps.add(gap)
            return True
        return False

    def nested(self, op: Op, operands: Mapping[str, Sequence[Operand]], path: InferencePath) -> list[NestedBlock]:
        known = signature(op.type, self.opset)
        place = message_path(path)
        for at, (block, kind) in enumerate(zip(op.blocks, known.blocks if known else ())):  # noqa: B905
            for index, (value, given) in enumerate(zip(block.inputs, operands.get(kind.inputs or "", ()))):  # noqa: B905
                if not self.is_whole(place) and value.name != DRAFT:
                    self.note((*place, "blocks", at, "inputs", index), given.type, self.graph.stated[value])
        return super().nested(op, operands, path)

    # ---- attributes and constants

    def attributes(self, op: Op, place: Path) -> None:
        """Leave out the types of attributes that a draft may leave out: of names, and of single words."""
        for name, value in self.graph.attributes[op].items():
            literal = self.spelling(value.message)
            if literal is None or (op.type == "const" and name == "val"):
                continue
            with suppress(Misfit):
                made = _STRING if name == "name" else usual_type(literal, self.usual)
                if made.shape == () and made.dtype in ("string", "bool"):
                    self.note((*place, "attributes", Key(name)), made, value.stated)

    def constant(self, op: Op, place: Path) -> bool:
        """Leave out the type of a constant's value, which its output states; return whether the output may, too."""
        value = self.graph.attributes[op].get("val")
        literal = self.spelling(value.message) if value else None
        if value is None or literal is None or len(op.outputs) != 1:
            return False
        [output] = op.outputs
        if not self.note((*place, "attributes", Key("val")), self.graph.type(output), value.stated):
            return False
        if output.name == DRAFT:
            return False
        operand = self.known[output] = Operand(None)
        self.open[operand] = constant = _OpenConstant(place, literal, value, operand)
        self.gaps.add(constant.output)
        return True

    def close(self, constant: _OpenConstant) -> None:
        """Restore the declared type of a constant."""
        constant.settle()
        self.gaps.discard(constant.output)
        del self.open[constant.operand]

    def leave(self, block: Block, path: InferencePath) -> None:
        """Compare constants that a block returns, and in the end unused ones, with their usual types."""
        given = {*map(self.operand, block.outputs)}
        for operand, constant in [*self.open.items()]:
            if operand.type is None and (operand in given or is_of_function(path)):
                with suppress(Misfit):
                    if usual_type(constant.literal, self.usual) == constant.value.stated.type:
                        constant.settle()
                        del self.open[operand]
                if operand in self.open:
                    self.close(constant)

    # ---- arguments

    def arguments(self, op: Op, place: Path) -> None:
        """Leave out the inferable types of an operation's literals, together with the types of its constants.

        A type that cannot be inferred is written, and all others are inferred again, for it may decide more of them.
        """
        known = signature(op.type, self.opset)
        literals = self.literals(op, known) if known and not self.is_whole(place) else {}
        turns = count()
        while known and (mistakes := self.mistakes(op, known, literals)):
            for mistake in mistakes if next(turns) >= ONE_BY_ONE else mistakes[:1]:
                if isinstance(mistake, _OpenConstant):
                    self.close(mistake)
                else:
                    del literals[mistake]
        self.gaps.update((*place, "inputs", Key(name), "arguments", index) for name, index in literals)

    def literals(self, op: Op, known: Signature) -> dict[Place, str]:
        """Return the literals that may have no type, in the order in which inference over a draft reads these."""
        found = {}
        for name, bindings in self.graph.inputs[op].items():
            for index, binding in enumerate(bindings if name in known.parameters else ()):
                literal = self.spelling(binding.message) if isinstance(binding, Constant) else None
                if literal is not None:
                    found[name, index] = literal
        return found

    def mistakes(self, op: Op, known: Signature, literals: dict[Place, str]) -> list[_OpenConstant] | list[Place]:
        """Return the constants, or else the literals, whose types are not restored while these literals have none.

        No constant is undecided before the first wrong one.
        """
        inputs: dict[str, list[Binding]] = {name: [*bindings] for name, bindings in self.graph.inputs[op].items()}
        for name, index in literals:
            inputs[name][index] = None
        beside = Beside(self.operands(op, inputs))
        is_known = UNDEFINED not in map(self.operand, op.operands)
        decided: list[_OpenConstant] = []
        misused = [*self.misused(op, known, beside, decided)] if is_known and self.open else []
        wrong = [] if misused else [*self.misread(op, known, literals, beside, self.usual if is_known else None)]
        for constant in decided if misused or wrong else ():
            constant.unsettle()
        return misused or wrong

    def misread(
        self,
        op: Op,
        known: Signature,
        literals: dict[Place, str],
        beside: Beside,
        usual: Sequence[str] | None,
    ) -> Iterator[Place]:
        """Yield the literals whose types are not restored."""
        for (name, index), literal in literals.items():
            value = self.graph.inputs[op][name][index]
            made: Type = None
            with suppress(Misfit, UndecidedType):
                made = literal_type(literal, name, known, beside.operands(), usual)
            if not isinstance(value, Constant) or made is None or write_type(made) != value.stated.message:
                yield name, index
            else:
                beside.note(name, index, Operand(made))

    def misused(
        self, op: Op, known: Signature, beside: Beside, decided: list[_OpenConstant]
    ) -> Iterator[_OpenConstant]:
        """Yield the constants whose types this use does not restore; add the decided constants to `decided`."""
        wrong: set[Operand] = set()
        for name, operands in op.inputs.items():
            for index, each in enumerate(operands if name in known.parameters else ()):
                constant = self.open.get(self.operand(each)) if isinstance(each, Value) else None
                if constant is None or constant.operand in wrong:
                    continue
                if not self.follows(constant, name, known, beside):
                    wrong.add(constant.operand)
                    yield constant
                elif not constant.is_used:
                    constant.settle()
                    decided.append(constant)
                    beside.note(name, index, constant.operand)

    def follows(self, constant: _OpenConstant, name: str, known: Signature, beside: Beside) -> bool:
        """Return whether a use of a constant decides its own type, or takes the decided one."""
        stated = constant.value.stated.type
        if constant.is_used:
            return takes(known, name, getattr(stated, "dtype", None), beside.operands())
        with suppress(Misfit, UndecidedType):
            others = beside.operands(without=constant.operand)
            return literal_type(constant.literal, name, known, others, self.usual) == stated
        return False
