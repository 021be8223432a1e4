"""The compact form of a program, for people: a constant with one use is written in its place.

    tensor<fp16, [1, 8]> y = linear(bias = b, weight = tensor<fp16, [8, 8]>($elided(64, "sha256:...")), x = x);

It is another Program, one with fewer operations that computes the same: to be read, not to be compiled.
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
    from miltext.ir.parts import Block
    from miltext.models.model import Model
    from miltext.schema.proto import Message, Operation, Program, Value

ELIDE = 64
"""The most elements of a literal in full by default; larger ones are shown by their digests."""

READABLE = Style(floats="decimal", elide=ELIDE)
"""The default style."""

VALUE = "val"
"""The attribute for the value of a `const`."""


def compact(program: Message) -> Program:
    """Return a copy of a Program in which each constant with one use replaces that use, without names that repeat the
    value's.

    A constant stays if its type differs from its value's, if it has attributes besides `val` and `name`, and if it is
    an output of a block. Raise the errors of `own_copy`.
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
) -> Iterator[str]:
    """Yield the text of a model's program in compact form, in pieces; weights, and literals that the style omits, by
    digests.

    A model without a known folder, from standard input, has its weights by their places. Raise WeightsError for an
    unreadable weight, or call `on_unread` with it and show its place; and the errors of `compact`. `progress` gets the
    number of bytes of weights that were read.
    """
    from miltext.weights.printing import DigestPrinter, Digests

    folder = model.model_path
    digests = Digests(folder, on_unread, progress) if folder else None
    yield from DigestPrinter(digests, style).program(compact(model.program))
    yield "\n"


def _says_itself(operation: Operation) -> bool:
    """Whether an operation's name is that of its first value; for a number coremltools makes `op_7` and `var_7`."""
    if not operation.outputs:
        return False
    value = operation.outputs[0].name
    return names_itself(operation, value) or (value[:4] == "var_" and names_itself(operation, f"op_{value[4:]}"))


def fold(block: Block, folds: Callable[[Value, int], bool]) -> None:
    """Replace the uses of constants of a block, and of its inner blocks, by their values: of constants for which
    `folds` returns true for the value and the number of uses. Names with two definitions stay, and the outputs of
    blocks.
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
    """Return whether an operation is a `const` with nothing but its value, of its output's type, and its name."""
    if operation.type != "const" or len(operation.outputs) != 1 or operation.inputs or operation.blocks:
        return False
    if VALUE not in operation.attributes or not {*operation.attributes} <= {VALUE, NAME}:
        return False
    return operation.attributes[VALUE].type == operation.outputs[0].type
