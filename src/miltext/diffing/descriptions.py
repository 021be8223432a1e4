"""The differences of two models around their programs: specification version and description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from miltext.diffing.structure import Change
from miltext.schema.proto import Message
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

    from miltext.models.model import Model

MADE_BY = "metadata.userDefined[com.github.apple.coremltools."
"""The prefix of the facts about the tools that made a model, and when."""


def compare_models(old: Model, new: Model, build_info: bool) -> list[Change]:
    """Return the changes of what both models have."""
    changes: list[Change] = []
    before, now = old.specification_version, new.specification_version
    if before and now and before != now:
        changes.append(Change("specification", "", str(before), str(now)))
    if old.description is None or new.description is None:
        return changes
    facts, others = [dict(_facts(each)) for each in (old.description, new.description)]
    paths = [path for path in {**facts, **others} if facts.get(path) != others.get(path)]
    told = [path for path in paths if build_info or not path.startswith(MADE_BY)]
    return changes + [Change("description", path, facts.get(path), others.get(path)) for path in told]


def _facts(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every field that is set, by its path, as in `input[x].type.multiArrayType.dataType`."""
    for field, value in message.ListFields():
        yield from _field(field, value, f"{path}{field.name}")


def _field(field: FieldDescriptor, value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the facts in a field; an empty message is one only in a oneof, where it was chosen."""
    if isinstance(value, Message):
        if field.containing_oneof is not None and not value.ListFields():
            yield path, "set"
        yield from _facts(value, f"{path}.")
    elif field.message_type is None:
        several = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
        yield path, f"[{', '.join([_text(field, each) for each in value])}]" if several else _text(field, value)
    else:
        is_map = isinstance(value, Mapping) or hasattr(value, "GetEntryClass")
        inner = field.message_type.fields_by_name["value"] if is_map else field
        names = [getattr(each, "name", None) or index for index, each in enumerate(value)]
        for key, each in value.items() if is_map else zip(names, value, strict=True):
            yield from _field(inner, each, f"{path}[{quote(str(key))[1:-1]}]")


def _text(field: FieldDescriptor, value: Any) -> str:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else str(value)
    return quote(value) if isinstance(value, str) else value.hex() if isinstance(value, bytes) else str(value)
