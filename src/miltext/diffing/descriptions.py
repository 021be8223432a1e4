"""What is different in two models around their programs: specification version and description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from miltext.diffing.structure import Change
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.models.model import Model

MADE_BY = "metadata.userDefined[com.github.apple.coremltools."
"""How the facts begin that say what made a model, and when."""


def compare_models(old: Model, new: Model, build_info: bool) -> list[Change]:
    """Return the changes, where both models say something."""
    changes: list[Change] = []
    before, now = old.specification_version, new.specification_version
    if before and now and before != now:
        changes.append(Change("specification", "", str(before), str(now)))
    if old.description is None or new.description is None:
        return changes
    facts, others = dict(_facts(old.description, "")), dict(_facts(new.description, ""))
    paths = [path for path in {**facts, **others} if facts.get(path) != others.get(path)]
    told = [path for path in paths if build_info or not path.startswith(MADE_BY)]
    return changes + [Change("description", path, facts.get(path), others.get(path)) for path in told]


def _facts(message: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every field that is set, by its path, as in `input[x].type.multiArrayType.dataType`."""
    for field, value in message.ListFields():
        place = f"{path}.{field.name}" if path else field.name
        if isinstance(value, Mapping) or hasattr(value, "GetEntryClass"):
            yield from _entries(field.message_type.fields_by_name["value"], value.items(), place)
        elif field.message_type is None:
            several = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
            texts = [_text(field, each) for each in (value if several else [value])]
            yield place, f"[{', '.join(texts)}]" if several else texts[0]
        elif hasattr(value, "ListFields"):
            yield from _message(field, value, place)
        else:
            names = [getattr(each, "name", None) or str(index) for index, each in enumerate(value)]
            yield from _entries(field, zip(names, value, strict=True), place)


def _entries(field: Any, entries: Any, path: str) -> Iterator[tuple[str, str]]:
    for key, value in entries:
        place = f"{path}[{quote(str(key))[1:-1]}]"
        if field.message_type is None:
            yield place, _text(field, value)
        else:
            yield from _message(field, value, place)


def _message(field: Any, value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the facts in a message; of an empty one, that it was chosen, if there was a choice."""
    if field.containing_oneof is not None and not value.ListFields():
        yield path, "set"
    yield from _facts(value, path)


def _text(field: Any, value: Any) -> str:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else str(value)
    return quote(value) if isinstance(value, str) else value.hex() if isinstance(value, bytes) else str(value)
