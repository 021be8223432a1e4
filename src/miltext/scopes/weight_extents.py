"""The weights of a program by the operations that they belong to, with the bytes of each as stored."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.ir.parts import Value
from miltext.schema.dtypes import packed_size
from miltext.schema.tensors import tensor_form
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from miltext.ir.parts import Op
    from miltext.pairing.keyed import KeyedGraph
    from miltext.schema import proto

LEAST = 256
"""The least bytes of a literal that counts as a weight; shorter ones are parameters, except for the parts of compressed
weights, and for a literal whose partner is a weight.
"""

_LAYOUT = ("shape", "axis", "vector_axis")
"""The parameters of compressed constants that arrange the others, and hold no numbers of a weight: all others of
coremltools 9.0's `constexpr` operations do.
"""


class WeightExtent(NamedTuple):
    """The number of elements of weights, decompressed ones for compressed weights, the number of bytes, and of those
    in weight files.
    """

    parameters: int
    bytes: int
    stored: int


NOTHING = WeightExtent(0, 0, 0)
"""The extent of an operation without weights of its own."""

Holders: TypeAlias = "dict[Op, dict[Hashable, WeightExtent]]"
"""The stored tensors of each weight, each with an identity, by the operation that it belongs to."""


def placed(held: Holders) -> dict[Op, WeightExtent]:
    """Return the weights by operation, each stored tensor at the first one."""
    found: dict[Op, WeightExtent] = {}
    seen: set[Hashable] = set()
    for op, each in held.items():
        left = {key: size for key, size in each.items() if key not in seen}
        seen.update(left)
        if left:
            sizes = left.values()
            stored = sum(size.stored for size in sizes)
            found[op] = WeightExtent(_parameters(op, left), sum(size.bytes for size in sizes), stored)
    return found


def _parameters(op: Op, held: Mapping[Hashable, WeightExtent]) -> int:
    """Return the number of elements of an operation's weights, after decompression."""
    form = tensor_form(op.outputs[0].message.type) if is_compressed(op.type) and op.outputs[0].message else None
    return prod(form[1]) if form is not None else sum(size.parameters for size in held.values())


def total_bytes(extents: Mapping[Op, WeightExtent]) -> int:
    """Return the bytes of all weights."""
    return sum(each.bytes for each in extents.values())


def holders_of(graph: KeyedGraph) -> Holders:
    """Return the weights by the constant that an operation takes, or by the operation itself."""
    found: Holders = {}
    for op in graph.walk():
        is_part = op.is_constant and (is_compressed(op.type) or any(user.is_constant for user in _takers(op)))
        if not is_part and not graph.facts[op].weighty and op.message.ByteSize() < LEAST:
            continue
        stored = stored_sizes(graph, op, 0 if is_part else LEAST)
        sizes = dict(sorted(stored, key=lambda each: each[1]))  # of one record with two types, the larger
        for holder in wholes_of(op) if sizes else ():
            found.setdefault(holder, {}).update(sizes)
    return found


def _takers(op: Op) -> Iterator[Op]:
    """Yield the users that take an operation's numbers, and not its arrangement of others."""
    uses = (use for value in op.outputs for use in value.uses)
    return (use.op for use in uses if use.op is not None and use.parameter not in _LAYOUT)


def wholes_of(op: Op) -> list[Op]:
    """Return the compressed constants that an operation is a part of, or the operation itself."""
    users = [user for user in _takers(op) if user.is_constant] if op.is_constant else []
    return [whole for user in users for whole in wholes_of(user)] or [op]


def stored_sizes(graph: KeyedGraph | None, op: Op, least: int) -> Iterator[tuple[Hashable, WeightExtent]]:
    """Yield the weights in the attributes and arguments of an operation, each with an identity: stored ones, by the
    records of a graph, and literals of at least so many bytes.
    """
    held = [(key, value) for key, value in op.attributes.items() if key == "val" or not op.inputs]
    arguments = ((key, each) for key, operands in op.inputs.items() for each in operands)
    held += [(key, each) for key, each in arguments if each is not None and not isinstance(each, Value)]
    for key, value in held:
        is_stored = value.HasField("blobFileValue")
        if key in _LAYOUT or (not is_stored and value.ByteSize() < least):
            continue
        form = tensor_form(value.type)
        if form is not None and form[0].kind != "string":
            place, count = value.blobFileValue, prod(form[1])
            identity = (place.fileName, place.offset) if is_stored else (op, key)
            size = _stored_bytes(graph, value, packed_size(count, form[0].bits))
            yield identity, WeightExtent(count, size, size if is_stored else 0)


def short_literals(op: Op) -> dict[Hashable, WeightExtent]:
    """Return the literals of a constant that has no weights and is no part of one, as if it were a weight."""
    return dict(stored_sizes(None, op, 0)) if op.is_constant and wholes_of(op) == [op] else {}


def _stored_bytes(graph: KeyedGraph | None, value: proto.Value, stated: int) -> int:
    """Return the bytes that a value takes, which may differ from its type for indices packed in bytes, or for a record
    of another type. An unreadable record counts with the bytes of its type.
    """
    blob = graph.contents.blob(value) if graph is not None else None
    if blob is not None:
        return blob.size
    tensor = value.immediateValue.tensor
    return len(tensor.bytes.values) if tensor.WhichOneof("value") == "bytes" else stated
