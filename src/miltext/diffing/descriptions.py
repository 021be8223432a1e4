"""Differences of two models apart from their programs: the fields of their messages, or the facts of a compiled
model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.parts import EMPTY, UNKNOWN, MessageDifference, PartStep, differences, part_of
from miltext.diffing.edits import Edits, OrderEdit, PartEdit
from miltext.diffing.structure import Change
from miltext.files.contents import shell
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.stamps import STAMP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.models.model import Model
    from miltext.schema.proto import ModelDescription

MADE_BY = f"metadata.userDefined[{STAMP}"
"""The prefix of the facts about the tools and the date of a model."""

_OF_MODEL = {"specificationVersion": ("specification", "0"), "isUpdatable": ("isUpdatable", "False")}
"""The names of changes of numbers in a Model, and the default values."""

_KINDS = {*MODEL_KINDS.values()}

_ADDED = "description.metadata"
"""The field of a compiled model that exists even if it is empty."""


def compare_models(old: Model, new: Model, build_info: bool) -> list[Change]:
    """Return the changes of the parts around the programs of two models, and around the models of pipelines.

    For two Model messages, any difference of bytes is reported.
    """
    changes = [Change("type", "", old.type, new.type)] if old.type != new.type else []
    found = _of_messages(old, new) if old.spec is not None and new.spec is not None else _of_others(old, new)
    shown = [_change(each) for each in found if build_info or not each.path.startswith(f"description.{MADE_BY}")]
    return changes + [each for each in shown if not (changes and each.kind == "contents")]


def _of_messages(old: Model, new: Model) -> Iterable[MessageDifference]:
    assert old.spec is not None
    assert new.spec is not None
    root = PartStep("", part_of(shell(old.spec)), part_of(shell(new.spec)))
    return _differences(root, ())


def _differences(last: PartStep, steps: tuple[PartStep, ...], path: str = "") -> Iterator[MessageDifference]:
    """Yield the differences of the two parts of a last step, which both messages have."""
    assert last.old is not None
    assert last.new is not None
    return differences(last.old, last.new, path, (*steps, last))


def _of_others(old: Model, new: Model) -> Iterator[MessageDifference]:
    """Yield the differences of two models, not both with a Model message."""
    (before, described), (now, other) = _stated(old), _stated(new)
    if before is not None and now is not None and before != now:
        steps = _steps("specificationVersion", *(Spec(specificationVersion=each) for each in (before, now)))
        yield MessageDifference("specificationVersion", str(before), str(now), steps)
    if described is not None and other is not None:
        root, step = _steps("description", *(Spec(description=each) for each in (described, other)))
        found = _differences(step, (root,), "description")
        yield from (each for each in found if each.path != _ADDED or EMPTY not in each[:3])


def _steps(field: str, old: Spec, new: Spec) -> tuple[PartStep, PartStep]:
    """Return the steps to a field of two Model messages, from these."""
    a, b = part_of(old), part_of(new)
    return PartStep("", a, b), PartStep(field, a.parts.get(field), b.parts.get(field))


def _stated(model: Model) -> tuple[int | None, ModelDescription | None]:
    """Return the specification version and the description of a model; None for an unknown one."""
    if model.spec is not None:
        return model.spec.specificationVersion, model.spec.description
    return model.specification_version, model.description


def _change(found: MessageDifference) -> Change:
    """Return the Change for a difference of two Model messages."""
    field, _, path = found.path.partition(".")
    edits = Edits(OrderEdit(found.steps) if found.is_order else PartEdit(found.steps))
    if field in _OF_MODEL:
        kind, nothing = _OF_MODEL[field]
        return Change(kind, "", found.old or nothing, found.new or nothing, edits=edits)
    if field == "description":
        return Change(field, path, found.old, found.new, edits=edits)
    if field in _KINDS:
        return Change("contents", path, found.old, found.new, edits=edits)
    return Change("field", field.removeprefix(UNKNOWN), found.old, found.new, edits=edits)
