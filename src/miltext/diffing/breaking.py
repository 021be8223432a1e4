"""Changes that break callers of a model: changes of inputs and outputs, and of the required system."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from miltext.descriptions.labels import labels_of
from miltext.diffing.difference import Difference
from miltext.diffing.ports import MAIN, ports_of, surface_of
from miltext.diffing.structure import Change
from miltext.drafting.programs import outlined
from miltext.files.other_kinds import CLASSES, LABELS, classes_in, labels_in
from miltext.models.model import Stage
from miltext.schema.features import PREDICTIONS
from miltext.schema.operations import opset_place
from miltext.schema.opsets import OPSETS
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.stamps import STAMP
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from miltext.descriptions.surroundings import Labels
    from miltext.diffing.ports import Function, Port, Ports, Surface
    from miltext.models.model import Model
    from miltext.schema.proto import FunctionDescription, ModelDescription
    from miltext.schema.proto import Model as Spec

_Describes: TypeAlias = "ModelDescription | FunctionDescription"

_Held = TypeVar("_Held")

RULES = {
    "specification-raised": "an older system cannot load it",
    "opset-raised": "an older system cannot compile it",
    "function-removed": "callers that name it fail",
    "default-function": "callers that name no function run another function",
    "input-removed": "the caller's value has no effect, and code generated from the model does not compile",
    "input-added": "callers do not give it, and it is not optional",
    "input-needed": "callers that omit it fail",
    "input-type": "the caller's value is refused, or misinterpreted",
    "input-shape": "callers that pass such a shape fail",
    "output-removed": "callers that read it fail",
    "output-type": "callers misinterpret the value",
    "output-shape": "callers get a shape that they do not expect",
    "state-removed": "callers that read or write it fail",
    "state-added": "callers that make no state fail",
    "state-type": "the caller's stored state does not fit",
    "label-removed": "callers that look for the label do not find it",
    "predicted-feature": "callers look for the prediction in another output",
    "predicted-probabilities": "callers look for the probabilities in another output",
    "class-added": "an app that does not have the class cannot load it",
    "metadata-removed": "callers that read the entry do not find it",
    "update-removed": "callers that train it on the device fail",
}
"""The effects of each kind of change on callers."""

_LISTED = 5
"""The number of labels in a message."""


def breaking(old: Model, new: Model) -> Difference:
    """Return only the changes between two models that break callers of the old one.

    Inputs and outputs are compared by the descriptions. If only one has a description, the programs are compared
    instead, with a note, and it is unknown whether there are further changes. A draft is completed first. Raise
    ParseError.
    """
    old, new = (outlined(each) if each.kind == "mil" else each for each in (old, new))
    has = [each.description is not None for each in (old, new)]
    surfaces = [surface_of(each, all(has)) for each in (old, new)]
    notes = [*_unread(old), *_unread(new)]
    changes = [*_systems(old, new), *_functions(*surfaces), *_labels(old, new), *_classes(old, new), *_stated(old, new)]
    if any(has) and not all(has):
        bare = (old, new)[has.index(False)]
        notes.insert(
            0,
            f"{bare.name}: there is no description; the other's images, sizes and texts are not compared",
        )
    return Difference(old.name, new.name, tuple(notes), tuple(changes), complete=not notes, breaking=True)


def _systems(old: Model, new: Model) -> Iterator[Change]:
    was, now = old.specification_version, new.specification_version
    if was and now and now > was:
        yield Change("specification-raised", "", str(was), str(now))
    before, newest = _newest_opset(old), _newest_opset(new)
    if before is not None and newest is not None and newest > before:
        yield Change("opset-raised", "", OPSETS[before].text, OPSETS[newest].text)


def _newest_opset(model: Model) -> int | None:
    """Return the place of the newest opset of all functions; None without any."""
    programs = [stage.model.program for stage in model.programs()]
    opsets = [function.opset for program in programs for function in program.functions.values()]
    return max(map(opset_place, filter(None, opsets)), default=None)


# ---- functions


def _functions(old: Surface, new: Surface) -> Iterator[Change]:
    """Compare functions of the same name, and the functions called without a name."""
    several = old.has_several or new.has_several
    pairs = {name: name for name in old.functions if name in new.functions} if old.has_several else {}
    if old.has_several:
        for name in old.functions:
            if name not in new.functions:
                yield Change("function-removed", name, _takes(old.functions[name]), None)
        if old.default != new.default:
            yield Change("default-function", "", old.default or None, new.default or None)
    if old.default in old.functions and new.default in new.functions:
        pairs.setdefault(old.default, new.default)
    for was, now in pairs.items():
        yield from _function(f"{was}." if several else "", old.functions[was], new.functions[now])


def _takes(function: Function) -> str:
    """Return the inputs of a function and their types as text."""
    return f"({', '.join(f'{name}: {port}' for name, port in function['input'].items())})"


def _function(prefix: str, old: Function, new: Function) -> Iterator[Change]:
    yield from _inputs(prefix, old["input"], new["input"])
    yield from _outputs(prefix, old["output"], new["output"])
    yield from _states(prefix, old["state"], new["state"])


def _inputs(prefix: str, old: Ports, new: Ports) -> Iterator[Change]:
    yield from _gone("input", prefix, old, new)
    for name, port in new.items():
        if name not in old and port.is_needed:
            yield Change("input-added", prefix + name, None, str(port))
    for name, was, now in _both(old, new):
        if was.kind != now.kind:
            yield Change("input-type", prefix + name, str(was), str(now))
        elif not now.has_all(was):
            yield Change("input-shape", prefix + name, str(was), str(now))
        if now.is_needed and not was.is_needed:
            yield Change("input-needed", prefix + name, str(was), str(now))


def _outputs(prefix: str, old: Ports, new: Ports) -> Iterator[Change]:
    yield from _gone("output", prefix, old, new)
    for name, was, now in _both(old, new):
        if was.kind != now.kind:
            yield Change("output-type", prefix + name, str(was), str(now))
        elif not was.has_all(now):
            yield Change("output-shape", prefix + name, str(was), str(now))


def _states(prefix: str, old: Ports, new: Ports) -> Iterator[Change]:
    yield from _gone("state", prefix, old, new)
    for name, port in new.items():
        if name not in old:
            yield Change("state-added", prefix + name, None, str(port))
    for name, was, now in _both(old, new):
        if was != now:
            yield Change("state-type", prefix + name, str(was), str(now))


def _gone(side: str, prefix: str, old: Ports, new: Ports) -> Iterator[Change]:
    for name, port in old.items():
        if name not in new:
            yield Change(f"{side}-removed", prefix + name, str(port), None)


def _both(old: Ports, new: Ports) -> Iterator[tuple[str, Port, Port]]:
    return ((name, port, new[name]) for name, port in old.items() if name in new)


# ---- other parts of a description


def _labels(old: Model, new: Model) -> Iterator[Change]:
    """Compare the labels that classifiers return; a string is never equal to a number."""
    was, now = [_all_labels(each) for each in (old, new)]
    if len(was) == len(now) == 1:  # anywhere in a pipeline now
        now = dict.fromkeys(was, next(iter(now.values())))
    for name, labels in was.items():
        left = [label for label in labels if label not in now.get(name, labels)]
        if left:
            more = f" and {len(left) - _LISTED} more" if len(left) > _LISTED else ""
            yield Change("label-removed", name, ", ".join(left[:_LISTED]) + more, None)


def _all_labels(model: Model) -> Mapping[str, dict[str, None]]:
    """Return the labels of each function, by its name and the place of its model in a pipeline."""
    return {
        " ".join(filter(None, (stage.place, name))): dict.fromkeys(map(_label, labels))
        for stage in _stages(model)
        for name, labels in _labels_of(stage.model).items()
    }


def _labels_of(model: Model) -> Mapping[str, Labels]:
    """Return the labels of each function of one model; for other kinds than ML Programs, all labels."""
    if model.type == PROGRAM:
        return labels_of(model.program)
    found = _read(model, labels_in) if model.type in LABELS else None
    return {} if found is None else {MAIN: found}


def _classes(old: Model, new: Model) -> Iterator[Change]:
    """Compare the classes that an app must provide, anywhere in a pipeline."""
    was, now = [
        {
            name: None
            for stage in _stages(each)
            if stage.model.type in CLASSES
            for name in _read(stage.model, classes_in) or ()
        }
        for each in (old, new)
    ]
    for name in now:
        if name not in was:
            yield Change("class-added", "", None, quote(name))


def _stages(model: Model) -> list[Stage]:
    """Return a model, and the models of its pipelines."""
    return [Stage("", model), *model.stages()]


def _read(model: Model, read: Callable[[Spec, str], _Held]) -> _Held | None:
    """Return the result of a reader of a model's bytes; None if they are unavailable or invalid."""
    try:
        return read(model.spec, model.type) if model.spec is not None else None
    except ValueError:
        return None


def _unread(model: Model) -> Iterator[str]:
    """Yield a note for each classifier with unknown labels."""
    for stage in _stages(model):
        if stage.model.type in LABELS and _read(stage.model, labels_in) is None:
            yield f"{stage.name}: the labels of this {stage.model.type} cannot be read, and are not compared"


def _label(label: str | int) -> str:
    return quote(label) if isinstance(label, str) else str(label)


def _stated(old: Model, new: Model) -> Iterator[Change]:
    updates = [each.spec is not None and each.spec.isUpdatable for each in (old, new)]
    if updates == [True, False] and new.spec is not None:
        yield Change("update-removed", "", "updatable", None)
    if old.description is None or new.description is None:
        return
    if all(updates):
        was, now = [ports_of(each.trainingInput) for each in (old.description, new.description)]
        yield from _inputs("trainingInput.", was, now)
    yield from _predictions("", old.description, new.description)
    functions = {each.name: each for each in new.description.functions}
    for function in old.description.functions:
        if function.name in functions:
            yield from _predictions(function.name, function, functions[function.name])
    entries, left = old.description.metadata.userDefined, new.description.metadata.userDefined
    for key in sorted(entries):
        if key not in left and not key.startswith(STAMP):
            yield Change("metadata-removed", quote(key), quote(entries[key]), None)


def _predictions(name: str, old: _Describes, new: _Describes) -> Iterator[Change]:
    """Compare the outputs of the prediction and of the probabilities."""
    for rule, field in zip(("predicted-feature", "predicted-probabilities"), PREDICTIONS, strict=True):
        was, now = getattr(old, field), getattr(new, field)
        if was and was != now:
            yield Change(rule, name, was, now or None)
