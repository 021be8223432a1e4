"""Changes of a description that follow from changes of its program."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.structure import Consequence
from miltext.schema.features import ELEMENTS
from miltext.schema.proto import ArrayFeatureType
from miltext.schema.types import StateType, TensorType, show
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from miltext.diffing.structure import Change
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.pairing.pairing import PairedFunction

_FIELD = re.compile(r"(?:functions\[(?P<function>[^]]*)\]\.)?(?P<list>input|output|state)\[(?P<name>.*)\](?P<field>.*)")
"""The path of a field of a feature: the function, the list, the feature's name, and the field."""


class _Field(NamedTuple):
    """A field of a feature: its function, the list, the feature's name, and the path from there."""

    function: str
    list: str
    name: str
    path: str


def marked(changes: Sequence[Change], pairs: Iterable[PairedFunction]) -> list[Change]:
    """Return the changes of a model, with the reason of each field that states a fact of the program.

    A name, shape or data type of a feature, or a size of an image, follows if both descriptions state the value's or,
    where only one program has the value, its description does. All fields of a renamed feature follow if they are the
    same under both names.
    """
    functions = {pair.name: pair for pair in pairs if pair.old and pair.new}
    fields = {id(change): field for change in changes if (field := _field(change, functions))}
    stated = {(fields[id(each)], each.old is None): each for each in changes if id(each) in fields}
    found = []
    for change in changes:
        field = fields.get(id(change))
        pair = functions.get(field.function) if field is not None else None
        cause = _cause(change, field, pair, stated) if field is not None and pair is not None else ""
        found.append(replace(change, follows=Consequence("description", name_text(cause))) if cause else change)
    return found


def _field(change: Change, functions: Collection[str]) -> _Field | None:
    """Return the field of a feature that a change is about."""
    match = _FIELD.fullmatch(change.name) if change.kind == "description" else None
    if match is None:
        return None
    function = match["function"] or (next(iter(functions)) if len(functions) == 1 else "main")
    return _Field(function, match["list"], match["name"], match["field"])


def _cause(change: Change, field: _Field, pair: PairedFunction, stated: Mapping[tuple[_Field, bool], Change]) -> str:
    """Return the name of the value that a changed field follows."""
    values = [_values(function, field.list) for function in (pair.old, pair.new)]
    sides = [next((each for each in side if each.name == field.name), None) for side in values]
    if change.old is not None and change.new is not None:
        return field.name if None not in sides and _states(field, sides, (change.old, change.new)) else ""
    is_added = change.old is None
    if sides[is_added] is None or sides[not is_added] is not None:
        return ""
    other = _renamed(pair, field.list, is_added).get(field.name, field.name)
    cause = field.name if is_added else other
    same = stated.get((field._replace(name=other), not is_added)) if other != field.name else None
    text, others = (change.new, same and same.old) if is_added else (change.old, same and same.new)
    is_stated = field.path == ".name" or _states(field, [sides[is_added]], [text])
    return cause if is_stated or (same is not None and text == others) else ""


def _renamed(pair: PairedFunction, kind: str, is_added: bool) -> Mapping[str, str]:
    """Return the other names of renamed features, by their new or their old ones; an output is paired by its place."""
    old, new = _values(pair.old, kind), _values(pair.new, kind)
    if kind == "output":
        both = [(was.name, now.name) for was, now in zip(old, new, strict=False)]
    else:
        assert pair.old
        assert pair.new
        both = [(pair.old.inputs[i].name, pair.new.inputs[j].name) for i, j in pair.inputs]
    return {now: was for was, now in both} if is_added else dict(both)


def _values(function: Function | None, kind: str) -> Sequence[Value]:
    """Return the inputs, outputs or states of a function."""
    if function is None:
        return ()
    if kind == "output":
        return function.outputs
    return [value for value in function.inputs if value.is_state is (kind == "state")]


def _states(field: _Field, values: Iterable[Value | None], texts: Sequence[str | None]) -> bool:
    """Return whether the texts of a field state a fact of each value, and differ if they are two."""
    spell = _STATED.get(field.path)
    return spell is not None and [*map(spell, values)] == [*texts] and len({*texts}) == len(texts)


def _tensor(value: Value | None) -> TensorType | None:
    """Return the type of a tensor, or of the tensor in a state."""
    stated = None if value is None else value.type
    stated = stated.wrapped if isinstance(stated, StateType) else stated
    return stated if isinstance(stated, TensorType) else None


def _shape(value: Value | None) -> str:
    stated = _tensor(value)
    return "" if stated is None else show(stated.shape)


def _data_type(value: Value | None) -> str:
    stated = _tensor(value)
    element = None if stated is None else ELEMENTS.get(stated.dtype)
    names = ArrayFeatureType.DESCRIPTOR.enum_types_by_name["ArrayDataType"].values_by_number
    return "" if element is None else names[element].name


def _height(value: Value | None) -> str:
    return _image_size(value, 2)


def _width(value: Value | None) -> str:
    return _image_size(value, 3)


def _image_size(value: Value | None, axis: int) -> str:
    """Return a size of an image, whose tensor has the shape [1, channels, height, width]."""
    stated = _tensor(value)
    shape = stated.shape if stated is not None and stated.shape is not None else ()
    return str(shape[axis]) if len(shape) == 4 and shape[axis] is not None else ""


_ARRAYS = ("type.multiArrayType", "type.stateType.arrayType")
"""The messages that describe a tensor, of a feature and of a state."""

_STATED = {
    **{f".{each}.shape": _shape for each in _ARRAYS},
    **{f".{each}.dataType": _data_type for each in _ARRAYS},
    ".type.imageType.height": _height,
    ".type.imageType.width": _width,
}
"""The fields of a feature that state a fact of its value, with the spelling of the fact."""
