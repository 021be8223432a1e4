"""The overlays of a package: JSON files whose texts stand over those in the model's own description.

Xcode writes both when a user edits a package there: a copy of all texts, with `--` for an empty one. Each is an item of
the manifest, found by its description. The form is known from public packages: tandyys/JanKenMonster
(`best.mlpackage`), kentslaney/sphere-detector (Apple's `DepthAnythingV2SmallF16.mlpackage`, with `States`), and
moondream/ft-detect-skus-coreml on Hugging Face. The names of the metadata are the public keys of Core ML
(`MLModelMetadataKeys.h`). In these packages an overlay differs from the model's own texts only in its `--`, so no
public file shows how Core ML joins different texts: here each stated text replaces the model's text, and no other text
changes. Any other key or value is kept as it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import ModelError, codes, refusing, warning
from miltext.diagnostics.wording import listed
from miltext.files.contents import inside, read_file, within
from miltext.files.json_keys import repeated_key
from miltext.files.refusals import reason_of, refusal
from miltext.models.manifest import DATA, MANIFEST, items
from miltext.schema.features import features

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic, Note
    from miltext.diagnostics.dynamic import Json, Record
    from miltext.models.manifest import PackageItem
    from miltext.schema.proto import FeatureDescription, ModelDescription

METADATA, FEATURES = "External Metadata Overlay", "External FeatureDescription Overlay"
"""The descriptions of the items in a manifest."""

NAMES = ("Metadata.json", "FeatureDescriptions.json")
"""The names of their files in packages from Xcode."""

USERS = "MLModelCreatorDefinedKey"
TEXTS = {
    "MLModelDescriptionKey": "shortDescription",
    "MLModelVersionStringKey": "versionString",
    "MLModelAuthorKey": "author",
    "MLModelLicenseKey": "license",
}
"""The keys of single texts, and their fields in Metadata."""

SIDES = {"Inputs": "input", "Outputs": "output", "States": "state", "TrainingInputs": "trainingInput"}
"""The keys of features, and their fields in a description."""

SHORT = "MLFeatureShortDescription"

MOST = 1 << 26
"""The most bytes of an overlay; Xcode writes a few thousand."""

_DEEPEST = 32
"""The deepest nesting of values in an overlay; Xcode writes three levels."""

Keys = tuple[str, ...]
"""The place of a text, by the keys from the outermost object inward."""

Renames = Mapping[str, Mapping[str, str]]
"""The new names of features by their old ones, by the field of the description."""


class Overlay(NamedTuple):
    """An overlay: its item, its file, and the object in it."""

    item: PackageItem
    file: Path
    table: Record

    @property
    def path(self) -> str:
        """The path below `Data`."""
        return self.item.path

    @property
    def name(self) -> str:
        """The path for people."""
        return self.item.name

    @property
    def use(self) -> str:
        """The description of its item."""
        return self.item.use

    @property
    def texts(self) -> dict[Keys, str]:
        """The texts of known keys, by their places."""
        found = _metadata_texts(self.table) if self.use == METADATA else _feature_texts(self.table)
        return {keys: text for keys, text in found if isinstance(text, str)}

    @property
    def unknown(self) -> dict[Keys, Json]:
        """All other values, by their places."""
        known, holders = self.texts, (*SIDES, USERS)
        leaves = {
            keys: value for keys, value in _leaves(self.table, ()) if value != {} or not {*keys[:1]} <= {*holders}
        }
        return {keys: value for keys, value in leaves.items() if keys not in known}

    def after(self, before: Mapping[Keys, str], now: Mapping[Keys, str], renames: Renames | None = None) -> Overlay:
        """Return the overlay after an edit of the texts of a whole description; `renames` are by the keys of SIDES."""
        table = {key: deepcopy(value) for key, value in self.table.items()}
        for side in SIDES:
            if self.use == FEATURES and isinstance(table.get(side), dict):
                table[side] = _renamed(table[side], side, (renames or {}).get(side, {}), before, now)
        for keys, text in self._replace(table=table).texts.items():
            if keys in now or not _is_feature(keys):
                _state(table, keys, now.get(keys) or None, text)
        users = table.get(USERS)
        if self.use == METADATA and isinstance(users, dict):
            users |= {keys[1]: text for keys, text in now.items() if keys[0] == USERS and keys not in before}
        return self._replace(table=table)


class UnreadOverlay(NamedTuple):
    """An item whose overlay cannot be read, and the reason, as a warning."""

    item: PackageItem
    problem: Diagnostic


@dataclass
class Overlays:
    """The overlays of a package, usually none, over the `own` description of its model; `whole` is the resulting
    description.

    Overlays in `unread` change nothing.
    """

    read: list[Overlay]
    unread: list[UnreadOverlay]
    own: ModelDescription
    whole: ModelDescription

    @property
    def problems(self) -> list[Diagnostic]:
        """A warning for each reason why an overlay cannot be read."""
        return [*dict.fromkeys(each.problem for each in self.unread)]

    @property
    def unplaced(self) -> Iterator[tuple[Overlay, Keys]]:
        """The texts of features that the model does not have."""
        there = texts_of(self.own)
        return ((each, keys) for each in self.read for keys in each.texts if _is_feature(keys) and keys not in there)

    @property
    def hidden(self) -> dict[Keys, str]:
        """The model's own texts that overlays replace by other texts, by their places; empty texts do not count."""
        whole = texts_of(self.whole)
        return {keys: text for keys, text in texts_of(self.own).items() if text and text != whole.get(keys)}

    def split(self, described: ModelDescription, renames: Renames) -> tuple[ModelDescription, dict[str, bytes]]:
        """Return the model's own description and the changed overlays, by the items' paths, for an edited whole
        description.

        A changed text is written to both. The model's own text stays if the overlay's text over it is unchanged.
        """
        if not self.read:
            return described, {}
        own, now = deepcopy(described), texts_of(described)
        before, under = texts_of(self.whole), texts_of(self.own)
        renames = {key: _still_there(renames.get(field, {}), key, now) for key, field in SIDES.items()}
        files: dict[str, bytes] = {}
        for each in self.read:
            for keys in each.texts:
                place = (keys[0], renames[keys[0]].get(keys[1], keys[1]), SHORT) if _is_feature(keys) else keys
                if keys in before and now.get(place) == before[keys]:
                    put(own, place, under.get(keys))
            edited = each.after(before, now, renames)
            if edited.table != each.table:
                files[each.path] = written(edited.table)
        if not self.own.HasField("metadata") and not own.metadata.ByteSize():
            own.ClearField("metadata")
        return own, files


def read_overlays(folder: Path, own: ModelDescription) -> Overlays:
    """Return the overlays of a package over its model's description. Raise ModelError (MIL255) for its manifest."""
    found = [item for item in items(folder) if item.use in (METADATA, FEATURES)]
    read: list[Overlay] = []
    unread: list[UnreadOverlay] = []
    for use in (METADATA, FEATURES):
        alike = [item for item in found if item.use == use]
        try:
            read += _only(folder, alike)
        except ModelError as failure:
            (why,) = failure.diagnostics
            problem = warning(why.code, why.message, None, *why.notes)
            unread += [UnreadOverlay(item, problem) for item in alike]
    whole, there = deepcopy(own), texts_of(own)
    for overlay in read:
        for keys, text in overlay.texts.items():
            if there.get(keys) != text and (keys in there or not _is_feature(keys)):
                put(whole, keys, text)
    return Overlays(read, unread, deepcopy(own) if read else whole, whole)


def _only(folder: Path, found: list[PackageItem]) -> list[Overlay]:
    """Return the only overlay of a use; None without one. Raise ModelError (MIL268)."""
    if len(found) > 1:
        paths = listed((item.name for item in found), "and")
        message = f"the package has several items called {found[0].use!r}, so none is applied: {paths}"
        raise refusal(codes.UNREADABLE_OVERLAY, message, folder / MANIFEST)
    return [_read(folder, item) for item in found]


def _read(folder: Path, item: PackageItem) -> Overlay:
    def wrong(reason: str, *notes: Note) -> ModelError:
        return refusal(codes.UNREADABLE_OVERLAY, f"the overlay `{item.name}` is not applied: {reason}", folder, *notes)

    try:
        file = inside(within(folder, str(DATA)), item.path)
        size = file.stat().st_size
        data = read_file(file) if size <= MOST else b""
    except ModelError as failure:
        (why,) = failure.diagnostics
        raise wrong(why.message, *(why.notes if why.code == codes.LFS_POINTER_OF_MODEL else ())) from failure
    except OSError as failure:
        raise wrong(reason_of(failure)) from failure
    if size > MOST:
        raise wrong(f"it has {size} bytes, which is far more than Xcode writes")
    with refusing(lambda failure: wrong(f"it is not JSON: {reason_of(failure)}")):
        table = parsed(data)
    if not isinstance(table, dict):
        raise wrong("it is not a JSON object")
    return Overlay(item, file, table)


def parsed(data: bytes) -> Json:
    """Return the value of JSON with unique keys in each object, valid Unicode strings, and finite numbers.

    Raise ValueError for any other data, and for deep nesting.
    """
    value = json.loads(data, object_pairs_hook=_object, parse_float=_number, parse_constant=_number)
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _inside(each)]
    if level:
        raise ValueError("it is nested too deeply")
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _inside(value: Record | list[Json]) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value


def _number(text: str) -> float:
    """Return a finite number. Raise ValueError for any other: no JSON can hold it when it is written again."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def _object(pairs: list[tuple[str, Json]]) -> Record:
    key = repeated_key(pairs)
    if key is not None:
        raise ValueError(f"an object has the key {key!r} twice")
    return dict(pairs)


def written(table: Record) -> bytes:
    """Return an object in Xcode's layout, as in the public packages."""
    return _laid_out(table, "\n").replace("/", "\\/").encode()


def _laid_out(value: Json, line: str) -> str:
    """Return the text of a value; `line` ends a line and indents the next."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inner = f"{line}  "
    members = (f"{json.dumps(key, ensure_ascii=False)} : {_laid_out(each, inner)}" for key, each in value.items())
    return f"{{{inner if value else chr(10)}{f',{inner}'.join(members)}{line}}}"


# ---- the texts of an overlay


def _metadata_texts(table: Record) -> Iterator[tuple[Keys, Json]]:
    yield from (((key,), table[key]) for key in TEXTS if key in table)
    users = table.get(USERS)
    yield from (((USERS, key), text) for key, text in users.items()) if isinstance(users, dict) else ()


def _feature_texts(table: Record) -> Iterator[tuple[Keys, Json]]:
    for side, entries in table.items():
        for name, entry in entries.items() if side in SIDES and isinstance(entries, dict) else ():
            if isinstance(entry, dict) and SHORT in entry:
                yield (side, name, SHORT), entry[SHORT]


def _leaves(value: Json, at: Keys) -> Iterator[tuple[Keys, Json]]:
    """Yield each value other than an object, and each empty object, with its place."""
    if isinstance(value, dict) and (value or at):
        if not value:
            yield at, value
        for key, inner in value.items():
            yield from _leaves(inner, (*at, key))
    else:
        yield at, value


def _still_there(names: Mapping[str, str], side: str, now: Mapping[Keys, str]) -> dict[str, str]:
    """Return the new names of the remaining features of a side."""
    return {old: new for old, new in names.items() if (side, new, SHORT) in now}


def _renamed(
    entries: Record, side: str, names: Mapping[str, str], before: Mapping[Keys, str], now: Mapping[Keys, str]
) -> Record:
    """Return the features of a side by their new names, without removed features."""
    made: Record = {}
    for name, entry in entries.items():
        was_there, new = (side, name, SHORT) in before, names.get(name, name)
        if was_there and (side, new, SHORT) in now:
            made[new] = entry
        elif not was_there:
            made.setdefault(name, entry)
    return made


def _state(table: Record, keys: Keys, text: str | None, stated: str) -> None:
    """Put a text into an object, or remove an empty one; leave an equal one."""
    for key in keys[:-1]:
        table = table[key]
    if text is not None:
        table[keys[-1]] = text
    elif stated:
        del table[keys[-1]]


# ---- the texts of a description


def texts_of(described: ModelDescription) -> dict[Keys, str]:
    """Return the texts of a description that an overlay may state, by their places; for features, also empty texts."""
    metadata = described.metadata
    found: dict[Keys, str] = {(key,): getattr(metadata, field) for key, field in TEXTS.items()}
    found |= {(USERS, key): text for key, text in metadata.userDefined.items()}
    for side in SIDES:
        for entry in reversed(_entries(described, side)):  # the first feature of a name counts
            found[side, entry.name, SHORT] = entry.shortDescription
    return found


def put(described: ModelDescription, keys: Keys, text: str | None) -> None:
    """Put a text into a description; None removes it."""
    if keys[0] in TEXTS:
        setattr(described.metadata, TEXTS[keys[0]], text or "")
    elif keys[0] == USERS:
        users = described.metadata.userDefined
        if text is not None:
            users[keys[1]] = text
        elif keys[1] in users:
            del users[keys[1]]
    else:
        entry = next(each for each in _entries(described, keys[0]) if each.name == keys[1])
        entry.shortDescription = text or ""


def _entries(described: ModelDescription, side: str) -> list[FeatureDescription]:
    """Return the entries of a side; for a model with several functions, the entries of the default function."""
    field = SIDES[side]
    return [*getattr(described if field == "trainingInput" else features(described), field)]


def _is_feature(keys: Keys) -> bool:
    return keys[0] in SIDES


def spelled(keys: Iterable[str]) -> str:
    """Return the text of a place: `Inputs.image`."""
    return ".".join(key for key in keys if key != SHORT)
