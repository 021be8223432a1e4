"""Changes of a description that follow from changes of its program."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.diffing.structure import Consequence
from miltext.schema.features import ELEMENTS
from miltext.schema.proto import ArrayFeatureType
from miltext.schema.types import TensorType, show
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diffing.structure import Change
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.pairing.pairing import PairedFunction

_FIELD = re.compile(r"(?:functions\[(?P<function>[^]]*)\]\.)?(?P<list>input|output)\[(?P<name>.*)\](?P<field>.*)")
"""The path of a field of a feature: the function, the list, the feature's name, and the field."""


def marked(changes: Sequence[Change], pairs: Iterable[PairedFunction]) -> list[Change]:
    """Return the changes of a model, with the reason of each field that states a fact of the program.

    A shape or data type of a feature, or a size of an image, follows if both descriptions state that of the value; all
    fields of a renamed feature follow if they are the same under both names.
    """
    functions = {pair.name: (pair.old, pair.new) for pair in pairs if pair.old and pair.new}
    renamed = {
        (name, each): dict(_renamed(*sides, each)) for name, sides in functions.items() for each in ("input", "output")
    }
    fields = {}
    for change in changes:
        match = _FIELD.fullmatch(change.name) if change.kind == "description" else None
        if match is not None:
            function = match["function"] or (next(iter(functions)) if len(functions) == 1 else "main")
            fields[id(change)] = function, match["list"], match["name"], match["field"]
    stated = {(*place, change.old is None): change for change in changes if (place := fields.get(id(change)))}
    found = []
    for change in changes:
        function, kind, name, field = fields.get(id(change), ("", "", "", ""))
        cause = ""
        if (function, kind) in renamed and change.old is not None and change.new is not None:
            cause = _stated_cause(change, *functions[function], kind, name, field)
        elif (function, kind) in renamed:
            cause = _renamed_cause(change, renamed[function, kind], stated, (function, kind, name, field))
        found.append(replace(change, follows=Consequence("description", name_text(cause))) if cause else change)
    return found


def _renamed(old: Function, new: Function, kind: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new name of each input or output at the same place."""
    for was, now in zip(_values(old, kind), _values(new, kind), strict=False):
        if was.name != now.name:
            yield was.name, now.name


def _values(function: Function, kind: str) -> Sequence[Value]:
    block = function.block
    return function.inputs if kind == "input" else block.outputs if block is not None else ()


def _stated_cause(change: Change, old: Function, new: Function, kind: str, name: str, field: str) -> str:
    """Return the name of a value whose types in both programs a changed field states."""
    spell = _STATED.get(field)
    sides = [next((each for each in _values(side, kind) if each.name == name), None) for side in (old, new)]
    if spell is None or None in sides:
        return ""
    texts = [spell(each) for each in sides]
    return name if texts == [change.old, change.new] and texts[0] != texts[1] else ""


def _shape(value: Value | None) -> str:
    stated = None if value is None else value.type
    return show(stated.shape) if isinstance(stated, TensorType) else ""


def _data_type(value: Value | None) -> str:
    stated = None if value is None else value.type
    element = ELEMENTS.get(stated.dtype) if isinstance(stated, TensorType) else None
    return (
        ""
        if element is None
        else ArrayFeatureType.DESCRIPTOR.enum_types_by_name["ArrayDataType"].values_by_number[element].name
    )


def _height(value: Value | None) -> str:
    return _image_size(value, 2)


def _width(value: Value | None) -> str:
    return _image_size(value, 3)


def _image_size(value: Value | None, axis: int) -> str:
    """Return a size of an image, whose tensor has the shape [1, channels, height, width]."""
    stated = None if value is None else value.type
    shape = stated.shape if isinstance(stated, TensorType) and stated.shape is not None else ()
    return str(shape[axis]) if len(shape) == 4 and shape[axis] is not None else ""


_STATED = {
    ".type.multiArrayType.shape": _shape,
    ".type.multiArrayType.dataType": _data_type,
    ".type.imageType.height": _height,
    ".type.imageType.width": _width,
}
"""The fields of a feature that state a fact of its value, with the spelling of the fact."""


def _renamed_cause(
    change: Change,
    renamed: dict[str, str],
    stated: dict[tuple[str, str, str, str, bool], Change],
    place: tuple[str, str, str, str],
) -> str:
    """Return the new name of a feature if its field is the same under both names, or is the name."""
    function, kind, name, field = place
    is_added = change.old is None
    names = {now: was for was, now in renamed.items()} if is_added else renamed
    other = stated.get((function, kind, names.get(name, ""), field, not is_added))
    if name not in names or other is None:
        return ""
    is_same = field == ".name" or (change.new if is_added else change.old) == (other.old if is_added else other.new)
    return (name if is_added else names[name]) if is_same else ""
