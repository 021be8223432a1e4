"""Attributes with the edits of a difference, entry by entry of a dictionary."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from miltext.applying.refusing import lacking
from miltext.diffing.exact import FlatAttribute, flattened
from miltext.diffing.spelling import Spelling
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from miltext.diffing.edits import AttributeEdit
    from miltext.ir.planting import Taken
    from miltext.schema import proto

Attributes = dict[str, "proto.Value"]


def edited_attributes(
    attributes: Mapping[str, proto.Value], edits: Iterable[AttributeEdit], taken: Taken, name: str
) -> dict[str, proto.Value | None]:
    """Return the attributes that the edits change, None for removed ones; `name` is the model, for errors."""
    spelling = Spelling()
    flat = flattened(attributes, spelling)
    changed: dict[str, None] = {}
    for edit in edits:
        changed[edit.key] = None
        place = _shown(edit, spelling)
        if edit.value is None:
            flat.pop(place, None)
        else:
            flat[place] = FlatAttribute(edit.key, edit.entry, taken(edit.value))
    return {key: _whole(key, flat.values(), attributes, name) for key in changed}


def _shown(edit: AttributeEdit, spelling: Spelling) -> str:
    """Return the name of an attribute, or of an entry in it, as in a difference."""
    if edit.entry is None:
        return name_text(edit.key)
    return f"{name_text(edit.key)}[{spelling.value(edit.entry)[len('string(') : -1]}]"


def _whole(key: str, flat: Iterable[FlatAttribute], before: Mapping[str, proto.Value], name: str) -> proto.Value | None:
    """Return an attribute with its entries; None if nothing of it is left."""
    found = [each for each in flat if each.key == key]
    entries = [each for each in found if each.entry is not None]
    shell = next((each.value for each in found if each.entry is None), None)
    if shell is None and not entries:
        return None
    if shell is None:
        if key not in before:
            raise lacking(f"the attribute `{name_text(key)}` has entries, and no value that has them", name)
        shell = deepcopy(before[key])
        del shell.immediateValue.dictionary.values[:]
    made = deepcopy(shell)
    for each in entries:
        made.immediateValue.dictionary.values.add(key=each.entry, value=each.value)
    return made
