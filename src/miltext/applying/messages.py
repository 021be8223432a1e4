"""The message around a program with the edits of a difference, part by part."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from miltext.applying.refusing import lacking, other_model
from miltext.descriptions.parts import Part, Whole, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from miltext.descriptions.parts import PartStep
    from miltext.diffing.edits import OrderEdit, PartEdit
    from miltext.schema.proto import Message


def edited_message(message: Message, parts: Sequence[PartEdit], orders: Iterable[OrderEdit], name: str) -> bytes:
    """Return the bytes of a message with edits; `name` is the model, for errors.

    Raise ModelError for a message that differs from the old one where it is edited.
    """
    root = PartNode(part_of(message))
    for order in orders:
        _EditedPart(root, order.steps, name).sort()
    for edit in parts:
        _EditedPart(root, edit.steps, name).change()
    return root.wire()


class PartNode:
    """A part for edits: `part` has its bytes before the edits, or of a new part the bytes of its frame."""

    def __init__(self, part: Part, is_new: bool = False) -> None:
        self.part = part
        self.is_changed = is_new
        self._is_new = is_new

    @cached_property
    def inner(self) -> dict[str, PartNode]:
        """The parts inside it, which can be edited."""
        return {} if self._is_new else {key: PartNode(each) for key, each in self.part.parts.items()}

    def wire(self) -> bytes:
        """Return the bytes, with tags."""
        if not self.is_changed or not self.part.is_open:
            return self.part.wire
        content = b"".join([each.wire() for each in self.inner.values()])
        return self.part.with_content(self.part.fixed + content) if isinstance(self.part, Whole) else content

    def insert(self, key: str, node: PartNode, order: Sequence[str]) -> None:
        """Insert a part after all parts that come before it in an order."""
        before = {*order[: order.index(key)]}
        items = [*self.inner.items()]
        place = max([index + 1 for index, (each, _) in enumerate(items) if each in before], default=0)
        items.insert(place, (key, node))
        self.inner.clear()
        self.inner.update(items)

    def sort(self, order: Sequence[str]) -> None:
        """Put the parts of an order into this order, and leave the others in their places."""
        known = iter([key for key in order if key in self.inner])
        keys = [next(known) if key in order else key for key in self.inner]
        items = [(key, self.inner[key]) for key in keys]
        self.inner.clear()
        self.inner.update(items)


class _EditedPart:
    """One edit of a part at the end of steps."""

    def __init__(self, root: PartNode, steps: Sequence[PartStep], name: str) -> None:
        self._root = root
        self._steps = steps
        self._name = name

    def sort(self) -> None:
        new = self._steps[-1].new
        assert new is not None, "both messages have the parts"
        self._way()[-1].sort([*new.parts])

    def change(self) -> None:
        """Change, remove or add a part."""
        last = self._steps[-1]
        if last.new is None:
            self._remove()
        elif last.old is None:
            self._add(last.new)
        else:
            node = self._way()[-1]
            self._require(node, last.old)
            node.part, node.is_changed = last.new, False

    def _remove(self) -> None:
        """Remove a part, and then the parts around it that only the old message has, if nothing is left in them."""
        way = self._way()
        assert self._steps[-1].old is not None, "a removed part was there"
        self._require(way[-1], self._steps[-1].old)
        for place in range(len(way) - 1, 0, -1):
            step = self._steps[place]
            if step.new is not None or (place < len(way) - 1 and way[place].inner):
                return
            del way[place - 1].inner[step.key]

    def _add(self, new: Part) -> None:
        """Add a part, and the frames of parts around it that only the new message has."""
        node = self._root
        for above, step in pairwise(self._steps):
            node.is_changed = True
            is_last = step is self._steps[-1]
            assert step.new is not None, "an added part is in parts of the new message"
            assert above.new is not None, "so are all around it"
            if step.key in node.inner and is_last:
                raise other_model(f"it already has `{self._path}`", self._name)
            if step.key not in node.inner:
                if step.old is not None and step.old.parts:
                    raise lacking(f"`{self._path}` is added to a part that another entry removes", self._name)
                made = PartNode(new) if is_last else PartNode(step.new, is_new=True)
                node.insert(step.key, made, [*above.new.parts])
            node = node.inner[step.key]

    @property
    def _path(self) -> str:
        return ".".join([step.key for step in self._steps[1:]])

    def _way(self) -> list[PartNode]:
        """Return the nodes on the way to a part, which are changed."""
        way = [self._root]
        self._root.is_changed = True
        for step in self._steps[1:]:
            if step.key not in way[-1].inner:
                raise other_model(f"it has no `{self._path}`", self._name)
            way.append(way[-1].inner[step.key])
            way[-1].is_changed = True
        return way

    def _require(self, node: PartNode, old: Part) -> None:
        if node.part.wire != old.wire and not old.is_open:
            raise other_model(f"`{self._path}` has another value", self._name)
