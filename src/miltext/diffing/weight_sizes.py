"""The bytes of two programs' weights, and the operations whose weights grew or shrank."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from miltext.diffing.structure import WeightSize, WeightSizes
from miltext.ir.parts import Value
from miltext.pairing.keyed import label
from miltext.schema.dtypes import packed_size
from miltext.schema.tensors import tensor_form

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from miltext.diffing.compression import Compressed
    from miltext.ir.parts import Op
    from miltext.pairing.keyed import KeyedGraph

LEAST = 256
"""The least bytes of a literal that counts as a weight; shorter ones are parameters."""

Holders: TypeAlias = "dict[Op, dict[Hashable, int]]"
"""The bytes of each weight by an identity, by the operation that it belongs to."""


def weight_sizes(
    old: KeyedGraph, new: KeyedGraph, partners: Mapping[Op, Op], forms: tuple[Compressed, Compressed]
) -> WeightSizes:
    """Return the bytes of both programs' weights, each stored one once, and the weights with another number of bytes.

    The parts of a compressed weight belong to it. The largest change comes first.
    """
    held = _holders(old), _holders(new)
    was, now = ({op: sum(each.values()) for op, each in side.items()} for side in held)
    rows: list[tuple[Op | None, Op | None]] = [(partners.get(op), op) for op in now]
    rows += [(op, None) for op in was.keys() - {a for a, _ in rows}]
    found = [
        WeightSize(label(b or a), was.get(a, 0), now.get(b, 0), _form(forms[0], a), _form(forms[1], b))  # type: ignore[arg-type]
        for a, b in rows
        if was.get(a, 0) != now.get(b, 0)  # type: ignore[arg-type]
    ]
    found.sort(key=lambda each: (-abs(each.new_bytes - each.old_bytes), each.name))
    return WeightSizes(_stored(held[0]), _stored(held[1]), tuple(found))


def _form(forms: Compressed, op: Op | None) -> str | None:
    return None if op is None or not op.is_constant or len(op.outputs) != 1 else forms.form(op)


def _stored(held: Holders) -> int:
    return sum({key: size for each in held.values() for key, size in each.items()}.values())


def _holders(graph: KeyedGraph) -> Holders:
    """Return the bytes of weights by the constant that an operation takes, or by the operation itself."""
    found: Holders = {}
    for op in graph.walk():
        if not graph.facts[op].weighty and op.message.ByteSize() < LEAST:
            continue
        sizes = dict(_sizes(op))
        for holder in _whole(op) if sizes else ():
            found.setdefault(holder, {}).update(sizes)
    return found


def _whole(op: Op) -> list[Op]:
    """Return the compressed constants that an operation is a part of, or the operation itself."""
    users = [user for value in op.outputs for user in value.users if user.is_constant] if op.is_constant else []
    return [whole for user in users for whole in _whole(user)] or [op]


def _sizes(op: Op) -> Iterator[tuple[Hashable, int]]:
    """Yield the weights in the attributes and arguments of an operation: an identity, and the bytes."""
    held = [(key, value) for key, value in op.attributes.items() if key == "val" or not op.inputs]
    arguments = ((key, each) for key, operands in op.inputs.items() for each in operands)
    held += [(key, each) for key, each in arguments if each is not None and not isinstance(each, Value)]
    for key, value in held:
        is_stored = value.HasField("blobFileValue")
        if not is_stored and value.ByteSize() < LEAST:
            continue
        form = tensor_form(value.type)
        if form is not None and form[0].kind != "string":
            place = value.blobFileValue
            yield (place.fileName, place.offset) if is_stored else (op, key), packed_size(prod(form[1]), form[0].bits)
