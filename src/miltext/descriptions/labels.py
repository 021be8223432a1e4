"""The labels of a classifier, which are in the program, not in the description: the `classes` of its `classify`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.ir.parts import Value as Made
from miltext.ir.parts import literal_of
from miltext.ir.reading import read_function
from miltext.schema.proto import Value
from miltext.schema.types import TensorType, read_type
from miltext.schema.walk import operations_in, own_block

if TYPE_CHECKING:
    from miltext.descriptions.surroundings import Labels
    from miltext.diagnostics.dynamic import Fields, Json
    from miltext.ir.parts import Op
    from miltext.schema.proto import Function, NamedValueType, Program, ValueType

FIELDS = {"strings": str, "longInts": int, "ints": int}
"""The members of TensorValue that hold labels, and the types of these."""


class NoFit(Exception):
    """Labels that a program cannot have; the message follows the name of the key."""


def labels_of(program: Program) -> dict[str, Labels]:
    """Return the labels that each function of a program returns, by name, for functions with labels."""
    found = {name: _held(program.functions[name]) for name in sorted(program.functions)}
    return {name: labels for name, (_, labels) in found.items() if labels is not None}


def replace_labels(function: Function, labels: Labels) -> None:
    """Replace the labels of a function, stored like the old ones; equal ones change nothing. Raise NoFit."""
    values, before = _held(function)
    if before is None:
        raise NoFit("has labels, but the program has no `classify` with labels")
    if before == labels and [*map(type, before)] == [*map(type, labels)]:
        return
    kind = "strings" if all(isinstance(each, str) for each in before) else "whole numbers"
    if any(isinstance(each, str) != (kind == "strings") for each in labels):
        raise NoFit(f"takes {kind}, as the program's labels are")
    count = _probabilities(function)
    if count is not None and count != len(labels):
        raise NoFit(f"has {len(labels)} labels, and the program computes {count} probabilities")
    for value in values:
        _replace(value, labels)


def _held(function: Function) -> tuple[list[Json], Labels | None]:
    """Return the messages with the labels of a function (the value, then the type of its name), and the labels."""
    classifier = _classifier(function)
    classes = classifier.operand("classes") if classifier else None
    value = literal_of(classes)
    if value is None:
        return [], None
    return [value, classes.message] if isinstance(classes, Made) else [value], _labels(value)


def _classifier(function: Function) -> Op | None:
    """Return the only `classify` of a function's own block."""
    block = own_block(function)
    if block is None or not any(each.type == "classify" for each in operations_in(block)):
        return None
    read = read_function("", function).block
    found = [op for op in read if op.type == "classify"] if read else []
    return found[0] if len(found) == 1 else None


def _labels(value: Value) -> Labels | None:
    """Return the labels in a list or a tensor of strings or integers; None for anything else."""
    held = value.immediateValue
    tensors = [held.tensor] if held.WhichOneof("value") == "tensor" else []
    if held.WhichOneof("value") == "list":
        tensors = [each.immediateValue.tensor for each in held.list.values]
    fields = {tensor.WhichOneof("value") for tensor in tensors}
    if len(fields) != 1 or not fields <= FIELDS.keys():
        return None
    labels = [[*getattr(tensor, tensor.WhichOneof("value") or "").values] for tensor in tensors]
    if held.WhichOneof("value") == "list" and any(len(each) != 1 for each in labels):
        return None
    return [label for each in labels for label in each]


def _replace(holder: Value | NamedValueType, labels: Labels) -> None:
    """Write labels into a value, and their number into its type; for a name, only into its type."""
    _resize(holder.type, len(labels))
    if not isinstance(holder, Value):
        return
    held = holder.immediateValue
    if held.WhichOneof("value") == "tensor":
        _fill(held.tensor, labels)
        return
    first = Value.FromString(held.list.values[0].SerializeToString())
    del held.list.values[:]
    for label in labels:
        _fill(first.immediateValue.tensor, [label])
        held.list.values.append(first)


def _fill(tensor: Fields, labels: Fields) -> None:
    values = getattr(tensor, tensor.WhichOneof("value")).values
    try:
        values[:] = labels
    except ValueError as failure:  # an int32 holds them
        raise NoFit("has a number out of the range of the program's integers") from failure


def _resize(type: ValueType, count: int) -> None:
    sizes = [type.listType.length] if type.WhichOneof("type") == "listType" else [*type.tensorType.dimensions]
    if len(sizes) == 1 and sizes[0].WhichOneof("dimension") == "constant":
        sizes[0].constant.size = count


def _probabilities(function: Function) -> int | None:
    """Return the number of probabilities of a function's classifier; None if unknown."""
    classifier = _classifier(function)
    given = classifier.operand("probabilities") if classifier else None
    found = given.type if isinstance(given, Made) else read_type(given.type) if given else None
    if not isinstance(found, TensorType) or None in found.shape:
        return None
    return prod(size for size in found.shape if size is not None)
