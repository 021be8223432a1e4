"""The compact form of a program, for reading: a constant with one use replaces that use.

    tensor<fp16, [1, 8]> y = linear(bias = b, weight = tensor<fp16, [8, 8]>($elided(64, "sha256:...")), x = x);

It is another Program, with fewer operations and the same results: it is for reading, not for compiling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.printing.renaming import NAME, names_itself
from miltext.printing.tensors import Style
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.files.refusals import WeightsError
    from miltext.files.writing import Progress
    from miltext.ir.functions import Block
    from miltext.models.model import Model
    from miltext.schema.proto import Message, Operation, Program, Value

ELIDE = 64
"""The most elements of a literal in full by default; larger ones are shown by their digests."""

READABLE = Style(floats="decimal", elide=ELIDE)
"""The default style."""

VALUE = "val"
"""The attribute for the value of a `const`."""


def compact(program: Message) -> Program:
    """Return a copy of a Program in which each constant with one use replaces that use.

    An operation's `name` that only repeats the name of its value is removed. A constant stays if its type differs from
    its value's, if it has attributes besides `val` and `name`, and if it is an output of a block. Raise the errors of
    `own_copy`.
    """
    graph = Graph(own_copy(program))
    for function in graph.functions.values():
        for block in function.blocks.values():
            fold(block, lambda _, uses: uses == 1)
    for op in graph.walk():
        if _says_itself(op.message):
            del op.own().attributes[NAME]
    return graph.program()


def compact_pieces(
    model: Model,
    style: Style = READABLE,
    *,
    on_unread: Callable[[WeightsError], object] | None = None,
    progress: Progress | None = None,
    elided: dict[str, Value] | None = None,
) -> Iterator[str]:
    """Yield the text of a model's program in compact form, in pieces; digests replace weights and omitted literals.

    Without a known folder, as from standard input, weights are shown by their places. Raise WeightsError for an
    unreadable weight, or call `on_unread` with it and show its place; and the errors of `compact`. `progress` gets the
    number of bytes of weights that were read, and `elided` the omitted values, by their spellings.
    """
    from miltext.weight_files.printing import DigestPrinter, Digests

    folder = model.model_path
    digests = Digests(folder, on_unread, progress) if folder else None
    yield from DigestPrinter(digests, style, elided).program(compact(model.program))
    yield "\n"


def _says_itself(operation: Operation) -> bool:
    """Whether an operation's name repeats the name of its first value; also `op_7` for `var_7`, as by coremltools."""
    if not operation.outputs:
        return False
    value = operation.outputs[0].name
    return names_itself(operation, value) or (value[:4] == "var_" and names_itself(operation, f"op_{value[4:]}"))


def fold(block: Block, folds: Callable[[Value, int], bool]) -> None:
    """Replace the uses of constants in a block and its inner blocks by their values.

    A constant is replaced if `folds` returns true for its value and its number of uses. Constants with a duplicate
    name, and outputs of blocks, stay.
    """
    counts = Counter(value.name for value in block.defined())
    for op in [*block.walk()]:
        if is_plain_constant(op.message):
            [output] = op.outputs
            can_fold = counts[output.name] == 1 and output.uses and all(use.op for use in output.uses)
            if can_fold and folds(op.attributes[VALUE], len(output.uses)):
                output.replace_uses(op.attributes[VALUE])
                op.remove()


def is_plain_constant(operation: Operation) -> bool:
    """Return whether an operation is a `const` with only a name and a value, which has the type of its output."""
    if operation.type != "const" or len(operation.outputs) != 1 or operation.inputs or operation.blocks:
        return False
    if VALUE not in operation.attributes or not {*operation.attributes} <= {VALUE, NAME}:
        return False
    return operation.attributes[VALUE].type == operation.outputs[0].type
