"""New inference of the declared types of a text from its present inputs.

An inferred type replaces the declared one. A type that cannot be inferred is kept: the type of an unknown operation, or
a size without a rule although all input sizes are known. A loop variable of open size stays open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.baked import Baked, Outdated
from miltext.checking.draft_constants import is_of_function
from miltext.checking.draft_types import DraftTypes
from miltext.checking.draft_walk import DraftWalk, declared
from miltext.checking.findings import Finding
from miltext.checking.findings import named as quoted
from miltext.checking.inference.program import UNDEFINED, result
from miltext.checking.operations import message_path
from miltext.diagnostics import codes
from miltext.parsing.spans import bodies_of, operations_of, phrases_by_path
from miltext.schema.operations import signature
from miltext.schema.paths import Key
from miltext.schema.types import (
    ListType,
    StateType,
    TensorType,
    filled,
    generalized,
    has_sizes,
    is_known,
    is_whole,
    spelled,
    write_type,
)
from miltext.syntax.editing import edited
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.phrases import functions
from miltext.syntax.tree import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path as FilePath

    from miltext.checking.arrays import Arrays
    from miltext.checking.inference.operands import Arguments, NestedBlock, Operand
    from miltext.checking.inference.program import Path as InferencePath
    from miltext.checking.inference.reading import StatedType
    from miltext.checking.resizing.resizing import Resizing
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op, Value
    from miltext.parsing.recovery import Recovered
    from miltext.schema.paths import Path
    from miltext.schema.types import Type
    from miltext.syntax.editing import Edit, EditedText


Inputs: TypeAlias = "Mapping[str, Mapping[str, Type]]"
"""Types of inputs and states, by function and name."""


class Retyped(NamedTuple):
    """A text whose types were inferred anew.

    `read` is the reading of the text, with the new types in its Program, and `types` its omitted types; `kept` reports
    possibly outdated types, `baked` contains the constants made for other sizes, and `written` is the text with the new
    types.
    """

    read: Recovered
    types: DraftTypes
    arrays: Arrays
    kept: list[Finding]
    baked: Baked
    written: EditedText


def retype(
    read: Recovered, text: str, arrays: Arrays, inputs: Inputs | None = None, weights: FilePath | None = None
) -> Retyped:
    """Infer the declared types of a text again; `read` is its reading. Omissions of a draft stay omitted.

    `inputs` get other types. Constants that depend on their sizes get new values, with a finding if a decision is
    necessary, or if a dependent value keeps its type. Weight files are in the folder `weights`, which `@model_path`
    stands for. An operation that rejects its new inputs keeps its type in the text; in the Program, neither it nor its
    dependents have a type, so that a mistake is reported once.
    """
    types = DraftTypes(read, {}, [], [], {}, {}, [], set(read.drafts), set(), {})
    walk = Retyping(read, types, arrays, inputs or {}, weights)
    with gc_paused:
        walk.restate_inputs()
        walk.program()
    kept = [*walk.kept, *(walk.resizing.findings() if walk.resizing else ())]
    return Retyped(read, types, arrays, kept, walk.baked, edited(text, _edits(read, walk)))


def _edits(read: Recovered, walk: Retyping) -> Iterator[Edit]:
    """Yield the places of the changed types in the original text, and their new texts."""
    left = {path: spelled(found, walk.dialect) for path, found in walk.retyped.items()}
    whole = walk.resizing.literals(walk.dialect, read.drafts, left) if walk.resizing else {}
    bodies = (body for function in functions(read.root) for body in bodies_of(function)) if read.root else ()
    for path, operation in (each for place, body in bodies for each in operations_of(body, place)):
        if isinstance(operation, Statement) and (written := left.pop((*path, "outputs", 0), None)):
            yield *read.written(operation.type_span), written
    around = {path[:end] for path in (*left, *whole) for end in range(len(path))}
    for path, phrase in phrases_by_path(read.root, lambda path, _: path in around) if read.root and around else ():
        if path in whole:
            yield *read.written(phrase.span), whole[path]
        elif path in left:
            yield *read.written(phrase.children[0].span), left[path]


class Retyping(DraftWalk):
    """Inference that ignores the declared types of outputs.

    `retyped` are the new types by the paths of outputs and of inputs of blocks.
    """

    keeps_all = True

    def __init__(
        self, read: Recovered, types: DraftTypes, arrays: Arrays, inputs: Inputs, weights: FilePath | None
    ) -> None:
        super().__init__(read, types, arrays)
        self.resizing = self._resizing(weights) if inputs and read.program else None
        self.inputs = inputs
        self.retyped: dict[Path, Type] = {}
        self.before: dict[Path, Type] = {}
        self.kept: list[Finding] = []
        self.baked = Baked(self.found, self.makers)

    def _resizing(self, weights: FilePath | None) -> Resizing:
        from miltext.checking.resizing.resizing import Resizing  # imports numpy

        return Resizing(self, weights)

    def restate_inputs(self) -> None:
        """Give inputs of functions their new types."""
        for function, types in self.inputs.items():
            for index, value in enumerate(self.graph.functions[function].inputs):
                if value.name in types and value.type != types[value.name]:
                    self.restate(value, ("functions", Key(function), "inputs", index), types[value.name])
                    self.graph.reread(value)

    def enter(self, block: Block, path: InferencePath) -> None:
        """Record the values whose type changed or may have changed."""
        place: Path = (*message_path(path), "inputs")
        values = block.inputs
        if is_of_function(path):
            place, values = ("functions", Key(path[0]), "inputs"), block.function.inputs
        for index, value in enumerate(values):
            at, operand = (*place, index), self.known[value]
            if self.resizing:
                self.resizing.enter(operand, self.before.get(at, operand.type))
            if at in self.retyped:
                self.baked.change(operand, value.name, self.before[at])
            elif self.inputs and is_of_function(path):
                self.baked.others[operand] = at
            elif is_of_function(path):
                self.baked.inputs.add(operand)

    def operation(self, op: Op, path: InferencePath) -> None:
        stated = [self.graph.type(output) for output in op.outputs]
        if self.resizing and stated:
            self.resizing.follow(op, stated[0], message_path(path))
        super().operation(op, path)
        is_inferred = bool(self.found) and self.found[-1].operation is op.message  # not yet a `const` without a type
        if self.resizing and is_inferred:
            self.resizing.note(op, stated, self.found[-1].arguments.operands)

    def leave(self, block: Block, path: InferencePath) -> None:
        super().leave(block, path)
        for index, value in enumerate(block.outputs):
            if self.resizing and is_of_function(path) and value in self.known:
                self.resizing.output(value.name, self.known[value], (*message_path(path), "outputs", index))

    def made(self, op: Op, index: int, followed: Type, arguments: Arguments, path: InferencePath) -> Operand:
        output, stated = op.outputs[index], self.graph.stated[op.outputs[index]]
        place = (*message_path(path), "outputs", index)
        if not _is_stated(stated):
            return super().made(op, index, followed, arguments, path)
        if not is_known(followed) and (clash := self.found[-1].clash):
            followed = self.baked.refitted(clash, arguments)
        if not is_known(followed) and (self.found[-1].clash or _is_given_nothing(arguments)):
            declared(output).ClearField("type")
            self.types.open.add(place)
            return UNDEFINED
        followed = _of_length(followed, stated.type, arguments)
        found = _anew(followed, stated.type, arguments)
        if self.inputs:  # only sizes change
            found = _of_data_type(found, stated.type)
        made = result(arguments, found)
        if found != stated.type:
            self.restate(output, place, found)
            self.baked.change(made, output.name, stated.type)
        else:
            changed = self.baked.absorb(made, output.name, arguments, place[:-2])
            if changed and found != followed and has_sizes(found):
                self.keep(output.name, found, place, changed)
        if index == 0 and not self.resizing and (outdated := self.baked.outdated(arguments)):
            self.suspect(op, outdated, place[:-2])
        return made

    def suspect(self, op: Op, outdated: Outdated, place: Path) -> None:
        """Report a parameter that contains an old size."""
        binding = (*place, "inputs", Key(outdated.parameter), "arguments", 0)
        what = f"`{outdated.parameter}` of `{op.type}`"
        message = f"{what} contains {outdated.before}, an old size that is {outdated.now} now; check it"
        self.kept.append(Finding(binding, codes.OUTDATED_SIZE, message, severity="warning"))

    def restate(self, value: Value, place: Path, type: Type) -> None:
        """Write a new type."""
        self.before[place] = value.type
        declared(value).type.CopyFrom(write_type(type))
        self.retyped[place] = type

    def keep(self, name: str, type: Type, place: Path, changed: str) -> None:
        """Report a type that cannot be inferred although an input of its operation changed."""
        stated = spelled(type, self.dialect)
        why = f"which does not follow from the new type of {quoted(changed)}"
        message = f"{quoted(name)} keeps the type {stated}, {why}; check it"
        self.kept.append(Finding((*place, "type"), codes.OUTDATED_SIZE, message, severity="warning"))

    def nested(self, op: Op, operands: Mapping[str, Sequence[Operand]], path: InferencePath) -> list[NestedBlock]:
        known = signature(op.type, self.opset)
        for at, (block, kind) in enumerate(zip(op.blocks, known.blocks if known else ())):  # noqa: B905
            place = (*message_path(path), "blocks", at, "inputs")
            for index, (value, operand) in enumerate(zip(block.inputs, operands.get(kind.inputs or "", ()))):  # noqa: B905
                stated = self.graph.stated[value]
                found = generalized(operand.type, stated.type)
                if _is_stated(stated) and is_known(found) and found != stated.type:
                    self.restate(value, (*place, index), found)
                    self.graph.reread(value)
        return super().nested(op, operands, path)


def _anew(followed: Type, stated: Type, arguments: Arguments) -> Type:
    """Return the type of an output: the inferred type, with unknown parts from the declared one.

    A size that cannot be inferred is open if a size of the inputs is open.
    """
    if not is_known(followed) or isinstance(followed, StateType):
        return stated
    given = (operand for bound in arguments.operands.values() for operand in bound)
    is_open = any(is_known(operand.type) and not is_whole(operand.type) for operand in given)
    return followed if is_open or arguments.blocks else filled(followed, stated)


def _of_length(followed: Type, stated: Type, arguments: Arguments) -> Type:
    """Return the type of a list with its stated length, or with the other length that the list has before the
    operation: a length, which may grow when the program runs, never follows from sizes of tensors.
    """
    if not isinstance(followed, ListType) or not isinstance(stated, ListType) or arguments.blocks:
        return followed
    if followed.length is not None or stated.length is None:
        return followed
    lists = (operand.type for operand in arguments.operands.get("ls", ()))
    before = [each.length for each in lists if isinstance(each, ListType) and each.length is not None]
    return followed._replace(length=next(iter(before), stated.length))


def _of_data_type(found: Type, stated: Type) -> Type:
    """Return a type with the stated data type in place of its own."""
    if isinstance(found, TensorType) and isinstance(stated, TensorType):
        return found._replace(dtype=stated.dtype)
    return found


def _is_stated(stated: StatedType) -> bool:
    """Return whether a type is stated, and its message contains only written parts."""
    is_plain = is_known(stated.type) and not isinstance(stated.type, StateType)
    return is_plain and write_type(stated.type) == stated.message


def _is_given_nothing(arguments: Arguments) -> bool:
    """Return whether an operand of an operation, or an output of its blocks, is unknown."""
    operands = (operand for bound in arguments.operands.values() for operand in bound)
    return UNDEFINED in operands or any(None in block.outputs for block in arguments.blocks)
