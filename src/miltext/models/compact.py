"""The compact form of a program, for people: a constant that is used once is written where it is used.

    tensor<fp16, [1, 8]> y = linear(bias = b, weight = tensor<fp16, [8, 8]>($elided(64, "sha256:...")), x = x);

It is another Program, one with fewer operations that computes the same: to be read, not to be compiled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from miltext.printing.renaming import NAME, names_itself
from miltext.printing.tensors import Style
from miltext.schema.proto import Block, Operation
from miltext.schema.walk import block_parts, operations
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.models.files import Progress
    from miltext.models.model import Model
    from miltext.models.refusals import WeightsError
    from miltext.schema.proto import Message, Program, Value

ELIDE = 64
"""Literals of more elements than this are shown by their digest, unless another number is asked for."""

READABLE = Style(floats="decimal", elide=ELIDE)
"""How it is written, unless another style is asked for."""

VALUE = "val"
"""The attribute of a `const` that holds its value."""


def compact(program: Message) -> Program:
    """Return a copy of a Program in which each constant with one use stands where it is used, without names that
    repeat the value's.

    A constant stays where its type is not its value's, where it has attributes besides `val` and `name`, and where it
    is an output of a block. Raise what `own_copy` raises.
    """
    made = own_copy(program)
    for name in sorted(made.functions):
        for block in made.functions[name].block_specializations.values():
            fold(block, lambda _, uses: uses == 1)
    for _, operation in operations(made):
        if _says_itself(operation):
            del operation.attributes[NAME]
    return made


def compact_pieces(
    model: Model,
    style: Style = READABLE,
    *,
    on_unread: Callable[[WeightsError], object] | None = None,
    progress: Progress | None = None,
) -> Iterator[str]:
    """Yield the text of a model's program in compact form, in pieces; weights, and literals that the style
    leaves out, by digests.

    A model of which the folder is not known, from standard input, has its weights by their places. Raise WeightsError
    where a weight cannot be read, or call `on_unread` with it and show its place; and what `compact` raises.
    `progress` gets the number of bytes of weights that were read.
    """
    from miltext.models.weight_printing import DigestPrinter, Digests

    folder = model.model_path
    digests = Digests(folder, on_unread, progress) if folder else None
    yield from DigestPrinter(digests, style).program(compact(model.program))
    yield "\n"


def _says_itself(operation: Operation) -> bool:
    """Whether an operation's name is that of its first value; of a number coremltools makes `op_7` and `var_7`."""
    if not operation.outputs:
        return False
    value = operation.outputs[0].name
    return names_itself(operation, value) or (value[:4] == "var_" and names_itself(operation, f"op_{value[4:]}"))


def fold(block: Block, folds: Callable[[Value, int], bool]) -> None:
    """Fold constants of a block and of those inside it: those of which `folds` is true of the value and the uses.

    Names that are defined twice are left alone, and what a block gives back.
    """
    parts = [part for _, part in block_parts(block)]
    every = [part for part in parts if isinstance(part, Operation)]
    inside = [part for part in parts if isinstance(part, Block)]
    defined = Counter(value.name for operation in every for value in operation.outputs)
    defined.update(value.name for each in inside for value in each.inputs)
    arguments = [argument for operation in every for argument in operation.inputs.values()]
    uses = [use for argument in arguments for use in argument.arguments if use.WhichOneof("binding") == "name"]
    used = Counter(use.name for use in uses)
    given = {name for each in inside for name in each.outputs}
    constants = {
        operation.outputs[0].name: operation.attributes[VALUE] for operation in every if is_plain_constant(operation)
    }
    folded = {
        name: value
        for name, value in constants.items()
        if defined[name] == 1 and used[name] and name not in given and folds(value, used[name])
    }
    for use in uses:
        if use.name in folded:
            use.value.CopyFrom(folded[use.name])
    for each in reversed(inside):  # the innermost first: a block that is rewritten holds copies of those inside it
        kept = [made for made in each.operations if folded.keys().isdisjoint(value.name for value in made.outputs)]
        if len(kept) < len(each.operations):
            copy = Block(operations=kept)
            del each.operations[:]
            each.operations.MergeFrom(copy.operations)


def is_plain_constant(operation: Operation) -> bool:
    """Tell whether an operation is a `const` that says nothing but its value, of its output's type, and its name."""
    if operation.type != "const" or len(operation.outputs) != 1 or operation.inputs or operation.blocks:
        return False
    if VALUE not in operation.attributes or not {*operation.attributes} <= {VALUE, NAME}:
        return False
    return operation.attributes[VALUE].type == operation.outputs[0].type
