"""The bytes of two programs' weights, and the operations whose weights grew or shrank."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diffing.constants import labelled, uses_of
from miltext.diffing.structure import WeightSize, WeightSizes
from miltext.ir.parts import Value
from miltext.pairing.keyed import label
from miltext.schema.dtypes import packed_size
from miltext.schema.tensors import tensor_form
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from miltext.diffing.compression import Compressed
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
    """The number of elements of weights, decompressed ones for compressed weights, and the number of bytes."""

    parameters: int
    bytes: int


Holders: TypeAlias = "dict[Op, dict[Hashable, WeightExtent]]"
"""The stored tensors of each weight, each with an identity, by the operation that it belongs to."""


class WeightHolders:
    """The operations of two programs that weights belong to; `partners` are the old operations by the new ones.

    The parts of a compressed weight belong to it.
    """

    def __init__(self, old: KeyedGraph, new: KeyedGraph, partners: Mapping[Op, Op]) -> None:
        self._held = _holders(old), _holders(new)
        self._partners = partners
        for op, partner in partners.items():
            _complete(self._held, (old, new), (partner, op))

    def sizes(self, forms: tuple[Compressed, Compressed]) -> WeightSizes:
        """Return the bytes of both programs' weights, each stored one once, and the weights with another number of
        bytes. The largest change comes first.
        """
        held = self._held
        was, now = ({op: sum(size.bytes for size in each.values()) for op, each in side.items()} for side in held)
        mates = {old: new for new, old in self._partners.items()}
        rows: list[tuple[Op | None, Op | None]] = [(self._partners.get(op), op) for op in now]
        rows += [(op, mates.get(op)) for op in was.keys() - {a for a, _ in rows}]
        found = [
            WeightSize(
                *(label(b or a), was.get(a, 0), now.get(b, 0)),  # type: ignore[arg-type]
                *(_form(forms[0], a), _form(forms[1], b), _uses(b or a)),
            )
            for a, b in rows
            if was.get(a, 0) != now.get(b, 0)  # type: ignore[arg-type]
        ]
        found.sort(key=lambda each: (-abs(each.new_bytes - each.old_bytes), each.name))
        return WeightSizes(_stored(held[0]), _stored(held[1]), tuple(found))

    def placed(self) -> tuple[dict[Op, WeightExtent], dict[Op, WeightExtent]]:
        """Return the weights of both programs, each stored one once: at the first operation that it belongs to or, in
        the old program, at the partner of such an operation.
        """
        old, new = self._held
        now = _placed(new)
        first = {self._partners[op]: None for op in now if op in self._partners}
        return _placed({op: old[op] for op in (*(each for each in first if each in old), *old)}), now


def _form(forms: Compressed, op: Op | None) -> str | None:
    return None if op is None or not op.is_constant or len(op.outputs) != 1 else forms.form(op)


def _uses(op: Op | None) -> tuple[tuple[str, str], ...]:
    return labelled(uses_of(op)) if op is not None and op.is_constant else ()


def _stored(held: Holders) -> int:
    return sum({key: size.bytes for each in held.values() for key, size in each.items()}.values())


def _placed(held: Holders) -> dict[Op, WeightExtent]:
    """Return the weights by operation, each stored tensor at the first one."""
    found: dict[Op, WeightExtent] = {}
    seen: set[Hashable] = set()
    for op, each in held.items():
        left = {key: size for key, size in each.items() if key not in seen}
        seen.update(left)
        if left:
            found[op] = WeightExtent(_parameters(op, left), sum(size.bytes for size in left.values()))
    return found


def _parameters(op: Op, held: Mapping[Hashable, WeightExtent]) -> int:
    """Return the number of elements of an operation's weights; of a compressed weight, of the decompressed one."""
    form = tensor_form(op.outputs[0].message.type) if is_compressed(op.type) and op.outputs[0].message else None
    return prod(form[1]) if form is not None else sum(size.parameters for size in held.values())


def _holders(graph: KeyedGraph) -> Holders:
    """Return the weights by the constant that an operation takes, or by the operation itself."""
    found: Holders = {}
    for op in graph.walk():
        is_part = op.is_constant and (is_compressed(op.type) or any(user.is_constant for user in _takers(op)))
        if not is_part and not graph.facts[op].weighty and op.message.ByteSize() < LEAST:
            continue
        sizes = dict(_sizes(graph, op, 0 if is_part else LEAST))
        for holder in _whole(op) if sizes else ():
            found.setdefault(holder, {}).update(sizes)
    return found


def _complete(held: tuple[Holders, Holders], graphs: tuple[KeyedGraph, KeyedGraph], pair: tuple[Op, Op]) -> None:
    """Enter a short literal whose partner is a weight, so that both are compared whole."""
    is_held = [op in side for op, side in zip(pair, held, strict=True)]
    if any(is_held) and not all(is_held):
        side = is_held.index(False)
        op = pair[side]
        sizes = dict(_sizes(graphs[side], op, 0)) if op.is_constant and _whole(op) == [op] else {}
        if sizes:
            held[side][op] = sizes


def _takers(op: Op) -> Iterator[Op]:
    """Yield the users that take an operation's numbers, and not its arrangement of others."""
    uses = (use for value in op.outputs for use in value.uses)
    return (use.op for use in uses if use.op is not None and use.parameter not in _LAYOUT)


def _whole(op: Op) -> list[Op]:
    """Return the compressed constants that an operation is a part of, or the operation itself."""
    users = [user for user in _takers(op) if user.is_constant] if op.is_constant else []
    return [whole for user in users for whole in _whole(user)] or [op]


def _sizes(graph: KeyedGraph, op: Op, least: int) -> Iterator[tuple[Hashable, WeightExtent]]:
    """Yield the weights in the attributes and arguments of an operation, each with an identity: stored ones, and
    literals of at least so many bytes.
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
            yield identity, WeightExtent(count, _stored_bytes(graph, value, packed_size(count, form[0].bits)))


def _stored_bytes(graph: KeyedGraph, value: proto.Value, stated: int) -> int:
    """Return the bytes that a value takes, which may be others than those of its type: of indices packed in bytes, or
    of a record of another type. A record that cannot be read takes those of the type.
    """
    blob = graph.contents.blob(value)
    if blob is not None:
        return blob.size
    tensor = value.immediateValue.tensor
    return len(tensor.bytes.values) if tensor.WhichOneof("value") == "bytes" else stated
