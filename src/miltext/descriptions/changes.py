"""The changes of a model's description in a build, entry by entry, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.descriptions.kept_sizes import spelled_ranges
from miltext.descriptions.labels import labels_of
from miltext.descriptions.parts import facts
from miltext.descriptions.words import LABELS
from miltext.files.contents import pipeline_of, stages
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import ELEMENTS, KINDS, PREDICTIONS
from miltext.schema.function_io import SIDES
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, FunctionDescription, ModelDescription
from miltext.schema.types import show
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.descriptions.counterparts import Counterpart
    from miltext.descriptions.surroundings import Labels
    from miltext.schema.proto import Model as Spec

Counterparts: TypeAlias = "Mapping[str, Counterpart]"
Described: TypeAlias = ModelDescription | FunctionDescription

_CALLED = {text: name for name, element in ELEMENTS.items() for _, text in facts(ArrayFeatureType(dataType=element))}
_FLEXIBLE = tuple(
    f"type.{field}"
    for field in (
        "multiArrayType.shapeRange",
        "multiArrayType.enumeratedShapes",
        "imageType.imageSizeRange",
        "imageType.enumeratedSizes",
    )
)
MOST_LABELS = 4
"""The greatest number of changed labels in a report."""

_KIND = "kind"
_OF_ANY = ("optional", "description")
"""The names of facts that entries of any kind have."""
_LABELS = {
    "shortDescription": "description",
    "type.isOptional": "optional",
    "type.imageType.width": "width",
    "type.imageType.height": "height",
    "type.imageType.colorSpace": "colors",
    "type.multiArrayType.shape": "shape",
    "type.multiArrayType.dataType": "type",
    "type.multiArrayType.intDefaultValue": "default",
    "type.multiArrayType.floatDefaultValue": "default",
    "type.multiArrayType.doubleDefaultValue": "default",
    "type.stateType.arrayType.shape": "shape",
    "type.stateType.arrayType.dataType": "type",
}
"""The displayed names of an entry's facts; other facts are shown by their path in the message."""


class Detail(NamedTuple):
    """A changed fact: its `old` and its `new` value in words; None for a missing one.

    `what` is empty for a whole entry.
    """

    what: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        change = (each for each in (self.old or "none", "->", self.new or "none"))
        return " ".join(filter(None, (self.what, *change)))


@dataclass(frozen=True, slots=True)
class DescriptionChange:
    """A change of a description, shown as a line: `~ input image: width 224 -> 256`.

    `sign` is `+` for added, `-` for dropped, `~` for changed, `=` for renamed. `kind` is `input`, `state`, `output` or
    `function`; `specification` for the version; else the path of a field in the description, such as `metadata.author`.
    `name` is the current name, or the last name of a dropped entry, and `old_name` the former name. `function` is the
    function of the entry, empty if there is only one, and `model` the path of a model in a pipeline.
    """

    sign: str
    kind: str
    name: str = ""
    old_name: str = ""
    function: str = ""
    model: str = ""
    details: tuple[Detail, ...] = ()

    def __str__(self) -> str:
        return f"{self.sign} {self.text}"

    @property
    def text(self) -> str:
        """The line without its sign."""
        where = f"model {self.model}: " if self.model else ""
        of = f" of {self.function}" if self.function else ""
        if self.sign == "=":
            return f"{where}{self.kind} {self.old_name} -> {self.name}{of}"
        whole = self.sign in "+-"
        said = [(each.new if self.sign == "+" else each.old) or "" for each in self.details] if whole else self.details
        listed = ", ".join(map(str, said))
        return f"{where}{self.kind}{' ' * bool(self.name)}{self.name}{of}{': ' * bool(listed)}{listed}"


class Around(NamedTuple):
    """The surroundings of a model's program: its specification version and its description; whether it can be trained
    on a device, its name in its pipeline, and the labels of its classifiers by function.
    """

    version: int
    description: ModelDescription
    is_updatable: bool
    name: str
    labels: Mapping[str, Labels]


def around(spec: Spec, path: str = "", name: str = "") -> dict[str, Around]:
    """Return the surroundings of each model of a Model message, by its path in the pipelines."""
    description = deepcopy(spec.description)
    labels = labels_of(spec.mlProgram) if _is_classifier(description) else {}
    found = {path: Around(spec.specificationVersion, description, spec.isUpdatable, name, labels)}
    pipeline = pipeline_of(spec, spec.WhichOneof("Type"))
    for index, model in enumerate(stages(spec)):
        name = pipeline.names[index] if pipeline is not None and index < len(pipeline.names) else ""
        found |= around(model, f"{path}/{index}".lstrip("/"), name)
    return found


def _is_classifier(description: ModelDescription) -> bool:
    described: list[Described] = [description, *description.functions]
    return any(each.predictedFeatureName for each in described)


def changes(
    before: Mapping[str, Around],
    after: Mapping[str, Around],
    known: Mapping[str, Counterparts],
    renames: Mapping[str, str],
) -> Iterator[DescriptionChange]:
    """Yield the changes around each model; `known` are the counterparts of an edited model's functions, by the model's
    path.

    `renames` are the new names in a pipeline after an edit of an inner model.
    """
    names = dict(renames)
    for each in (counterpart for found in known.values() for counterpart in found.values()):
        names |= {old: new for side in SIDES for old, new in each.sides[side].items() if old != new}
    for path, now in after.items():
        if path in before and now != before[path]:
            yield from _model(before[path], now, known.get(path, {}), names, path)


def _model(
    before: Around, now: Around, known: Counterparts, renames: Mapping[str, str], path: str
) -> Iterator[DescriptionChange]:
    if before.version != now.version:
        detail = Detail("", str(before.version), str(now.version))
        yield DescriptionChange("~", "specification", model=path, details=(detail,))
    yield from _fields(_of_model(before), _of_model(now), "", path)
    old, new = _functions(before.description), _functions(now.description)
    paired = _paired(old, new, known)
    for name in old:
        if name and name not in paired.values():
            yield DescriptionChange("-", "function", name, name, model=path)
            for side in SIDES:
                yield from _entries(getattr(old[name], side), (), _CurrentNames(None, side, {}), side, name, path)
    for name, described in new.items():
        was = paired.get(name)
        old_name = known[name].name if name in known else was
        if was is not None and name and old_name != name:
            yield DescriptionChange("=", "function", name, old_name or "", model=path)
        elif was is None and name:
            yield DescriptionChange("+", "function", name, model=path)
        shown = name if len(new) > 1 else ""
        first = old[was] if was is not None else FunctionDescription()
        counterpart = known.get(name) if name else next(iter(known.values()), None)
        for side in SIDES:
            there = {entry.name for entry in getattr(described, side)}
            names = _CurrentNames(counterpart, side, {old: new for old, new in renames.items() if new in there})
            yield from _entries(getattr(first, side), getattr(described, side), names, side, shown, path)
        yield from _fields(_predicted(first), _predicted(described), shown, path)
    yield from _labels(before, now, paired, path)
    yield from _fields(_rest(before.description), _rest(now.description), "", path)


def _of_model(around: Around) -> dict[str, str]:
    """Return the facts of a model besides its version and its description."""
    name = {"name": quote(around.name)} if around.name else {}
    return {**name, "isUpdatable": "yes"} if around.is_updatable else name


def _functions(description: ModelDescription) -> dict[str, Described]:
    """Return the description of each function; for a model without a list, the description itself, by an empty name."""
    return {each.name: each for each in description.functions} or {"": description}


def _paired(old: Collection[str], new: Iterable[str], known: Counterparts) -> dict[str, str]:
    """Return the old names of functions by their new ones; none for a function without a former description."""
    if "" in old:
        return {name: "" for name in new if not name or name in known}
    was = {name: known[name].name if name in known else name for name in new}
    return {name: former for name, former in was.items() if former in old}


def _rest(description: ModelDescription) -> dict[str, str]:
    """Return the facts of a description besides its functions and their entries."""
    made = deepcopy(description)
    for field in ("functions", *SIDES, *PREDICTIONS):
        made.ClearField(field)
    return dict(facts(made))


def _predicted(described: Described) -> dict[str, str]:
    return {field: quote(name) for field in PREDICTIONS if (name := getattr(described, field))}


def _fields(was: Mapping[str, str], now: Mapping[str, str], function: str, path: str) -> Iterator[DescriptionChange]:
    """Yield the changes of facts outside of entries."""
    for kind in {**was, **now}:
        if was.get(kind) != now.get(kind):
            sign = "+" if kind not in was else "-" if kind not in now else "~"
            details = (Detail("", was.get(kind), now.get(kind)),)
            yield DescriptionChange(sign, kind, function=function, model=path, details=details)


def _labels(before: Around, now: Around, paired: Mapping[str, str], path: str) -> Iterator[DescriptionChange]:
    """Yield the changes of classifiers' labels."""
    for name, labels in now.labels.items():
        old = before.labels.get(paired.get(name, name) or name, labels)
        if old == labels:
            continue
        pairs: Iterable[tuple[str | int, str | int]] = zip(old, labels, strict=False)
        other = [(was, is_now) for was, is_now in pairs if was != is_now]
        details = [Detail("", _label(was), _label(is_now)) for was, is_now in other]
        if len(old) != len(labels) or len(other) > MOST_LABELS:
            details = [Detail("", f"{len(old)} labels", f"{len(labels)} labels, {len(other)} of them other")]
        function = name if len(now.labels) > 1 else ""
        yield DescriptionChange("~", LABELS, function=function, model=path, details=tuple(details))


def _label(label: str | int) -> str:
    return quote(label) if isinstance(label, str) else str(label)


# ---- entries


class _CurrentNames:
    """The current names of the entries of one side."""

    def __init__(self, counterpart: Counterpart | None, side: str, renames: Mapping[str, str]) -> None:
        self._old = counterpart.interface.sides[side] if counterpart else {}
        self._names: Mapping[str, str] = counterpart.sides[side] if counterpart else renames

    def of(self, old: str) -> str | None:
        """Return the current name of an entry; None for a removed one."""
        return self._names.get(old, None if old in self._old else old)


def _entries(
    old: Iterable[FeatureDescription],
    new: Iterable[FeatureDescription],
    names: _CurrentNames,
    side: str,
    function: str,
    path: str,
) -> Iterator[DescriptionChange]:
    was, now = _by_name(old), _by_name(new)
    yield from _order(was, now, names, side, function, path)
    paired = {(names.of(name), index): (name, index) for name, index in was}
    for key, entry in was.items():
        if (names.of(key[0]), key[1]) not in now:
            details = tuple(Detail("", each, None) for each in _summary(entry))
            yield DescriptionChange("-", side, key[0], key[0], function, path, details)
    for (name, index), entry in now.items():
        first = was.get(paired.get((name, index), ("", 0)))
        if first is None:
            details = tuple(Detail("", None, each) for each in _summary(entry))
            yield DescriptionChange("+", side, name, "", function, path, details)
            continue
        if first.name != name:
            yield DescriptionChange("=", side, name, first.name, function, path)
        if details := tuple(_details(first, entry)):
            yield DescriptionChange("~", side, name, first.name, function, path, details)


def _order(
    was: Iterable[tuple[str, int]],
    now: Iterable[tuple[str, int]],
    names: _CurrentNames,
    side: str,
    function: str,
    path: str,
) -> Iterator[DescriptionChange]:
    """Yield the changed order of the remaining entries; the change lists all current entries."""
    listed = [*now]
    stayed = [(names.of(name) or "", index) for name, index in was if (names.of(name), index) in listed]
    if stayed != [each for each in listed if each in stayed]:
        order = (", ".join(name for name, _ in each) for each in (stayed, listed))
        yield DescriptionChange("~", f"{side}s", function=function, model=path, details=(Detail("order", *order),))


def _by_name(entries: Iterable[FeatureDescription]) -> dict[tuple[str, int], FeatureDescription]:
    """Return entries by name, and by number if several have one name."""
    counts: Counter[str] = Counter()
    found = {}
    for entry in entries:
        found[entry.name, counts[entry.name]] = entry
        counts[entry.name] += 1
    return found


def _details(old: FeatureDescription, new: FeatureDescription) -> Iterator[Detail]:
    """Yield the changed facts of an entry; a change of kind comes first."""
    was, now = _displayed_facts(old), _displayed_facts(new)
    if old.type.WhichOneof("Type") != new.type.WhichOneof("Type"):
        yield Detail("", _whole(was), _whole(now))
        was, now = [{what: text for what, text in said.items() if what in _OF_ANY} for said in (was, now)]
    for what in {**was, **now}:
        if what != _KIND and was.get(what) != now.get(what):
            yield Detail(what, was.get(what), now.get(what))


def _displayed_facts(entry: FeatureDescription) -> dict[str, str]:
    """Return the displayed facts of an entry, by their displayed names."""
    found = {_KIND: KINDS.get(entry.type.WhichOneof("Type") or "", "nothing").split(" ", 1)[-1]}
    for path, text in facts(entry):
        if path.endswith("KeyType"):
            found["keys"] = path.rpartition(".")[2].removesuffix("KeyType")
        elif path != "name" and text != "set" and not path.startswith(_FLEXIBLE):
            found[_LABELS.get(path, path)] = _CALLED.get(text, "yes" if text == "True" else text)
    sizes = flexible(entry)
    if sizes is not None and sizes.ranges:
        found["sizes"] = spelled_ranges(sizes.ranges)
    elif sizes is not None and sizes.shapes:
        found["shapes"] = " or ".join(show(tuple(shape)) for shape in sizes.shapes)
    return found


def _whole(said: Mapping[str, str]) -> str:
    """Return all facts of the type, in a few words: `fp32 [1, 64]`, `image RGB, width 8, height 8`."""
    kind = "" if "type" in said and said[_KIND] == KINDS["multiArrayType"].split(" ", 1)[-1] else said[_KIND]
    first = [kind, *[said[what] for what in ("type", "shape", "colors") if what in said]]
    shown = (_KIND, "type", "shape", "colors", *_OF_ANY)
    return ", ".join([" ".join(filter(None, first)), *[f"{what} {said[what]}" for what in said if what not in shown]])


def _summary(entry: FeatureDescription) -> Iterator[str]:
    """Yield all facts of an entry."""
    said = _displayed_facts(entry)
    yield _whole(said)
    yield from (f"{what} {said[what]}" for what in _OF_ANY if what in said)
