"""Faults in a compiled model or a package, one at a time: each byte and each value of its files, and each file as a
whole; of weight files, the bytes of the header and of the records.

`untold` makes each fault, and returns those of which `check` tells nothing more than before; `is_unknowable` says of
which no other part of a model shows that they are faults.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import miltext
from miltext.checking.contract.whole import bundle_files, contract_findings, whole_findings
from miltext.compiled.analytics import HASH, NAME, parse_analytics
from miltext.compiled.coremldata import layout
from miltext.containers.opening import open_model
from miltext.schema.proto import ModelDescription
from miltext.schema.proto.kinds import PROGRAM
from miltext.weight_files.blob_storage import BlobFile
from miltext.weight_files.model_weights import BlobFolder, blob_values


class Fault(NamedTuple):
    """A file by its path in the bundle, what is done to it, and its bytes then; None where it is not there."""

    file: str
    what: str
    data: bytes | None


UNKNOWABLE = {
    "modelNames/coremldata.bin": r"absent|byte .*",  # a pipeline need not name its models
    "metadata.json": r"\.(metadataOutputVersion|generatedClassName) other|(\.functions\.\d)?\.stateSchema gone"
    r"|\.availability\.visionOS gone",  # what compilers and names of folders were, and keys of newer compilers
    "Manifest.json": r"\.itemInfoEntries\.[^.]+\.(name|author|description) other",  # any text is right
}
"""By the file, the faults that no other part of a model shows; docs/compiled-models.md has their reasons."""


def is_unknowable(fault: Fault, data: bytes) -> bool:
    """Tell whether nothing else shows a fault in a file, whose bytes were the `data`."""
    changed = fault.data or b""
    if fault.file.endswith("analytics/coremldata.bin"):
        return bool(_tables(changed) == _tables(data))
    if re.fullmatch(r"(model\d+/)+coremldata\.bin", fault.file):
        return bool(_stage(changed) == _stage(data))
    return re.fullmatch(UNKNOWABLE.get(fault.file, ""), fault.what, re.DOTALL) is not None


def _tables(data: bytes) -> Any:
    """Return analytics but for the hash and the name of what was compiled, which nobody knows without --from."""
    return {name: {**table, HASH: "", NAME: ""} for name, table in parse_analytics(data, "it").items()}


def _stage(data: bytes) -> Any:
    """Return the description of a stage but for what people read of it, which no `metadata.json` of its own has; of a
    stage with the whole Model, what is around that.
    """
    parts = layout(data, "it")
    described: Any = ModelDescription() if parts.is_whole else ModelDescription.FromString(parts.held)
    described.ClearField("metadata")
    for each in (described, *described.functions):
        for entry in (*each.input, *each.output, *each.state):
            entry.shortDescription = ""
    return parts._replace(held=b""), described.SerializeToString(deterministic=True)


def told(bundle: Path, with_text: bool = True) -> Counter[str]:
    """What `check` tells of a compiled model and its stages: the code, the severity and the message of each finding; or
    without those of its text.
    """
    found: Counter[str] = Counter()
    try:
        whole = open_model(bundle)
        files = whole_findings(whole)
        for stage in whole.stages():
            files += bundle_files(stage.model) if stage.model.type == PROGRAM else []
        for stage in whole.programs():
            found.update(f"{each.code} {each.severity} {each.message}" for each in contract_findings(stage.model))
        for file in files:
            found.update(f"{each.code} {each.severity} {each.message}" for each in file.diagnostics)
        for text in (stage.model.text for stage in whole.select_all()) if with_text and whole.is_compiled else ():
            found.update(f"{each.code} {each.message}" for each in miltext.check(text or ""))
    except miltext.MiltextError as failure:
        found.update(f"{each.code} {each.message}" for each in failure.diagnostics)
    return found


def untold(bundle: Path, copy: Path, step: int = 1) -> Iterator[Fault]:
    """Make each fault in a copy of a bundle, and yield those that are not told, and should be.

    Of bytes, each `step` is changed; with one above 1, values change in fewer ways.
    """
    shutil.copytree(bundle, copy)
    before = {with_text: told(copy, with_text) for with_text in (False, True)}
    for fault in faults(bundle, step):
        path = copy / fault.file
        path.unlink()
        if fault.data is not None:
            path.write_bytes(fault.data)
        is_text = path.name == "model.mil"
        if not told(copy, is_text) - before[is_text] and not is_unknowable(fault, (bundle / fault.file).read_bytes()):
            yield fault
        shutil.copyfile(bundle / fault.file, path)


def faults(bundle: Path, step: int = 1) -> Iterator[Fault]:
    """Yield the faults of each file but of the values in weights, which nothing else shows."""
    used = _used_records(bundle)
    for path in sorted(each for each in bundle.rglob("*") if each.is_file()):
        name, data = path.relative_to(bundle).as_posix(), path.read_bytes()
        yield Fault(name, "absent", None)
        for what, instead in {"empty": b"", "half": data[: len(data) // 2], "garbage": b"\xff" * 64}.items():
            yield Fault(name, what, instead)
        if path.name == "coremldata.bin":
            yield from (Fault(name, what, changed) for what, changed in _bytes(data, step))
        elif path.name == "metadata.json":
            yield from (Fault(name, what, changed) for what, changed in _json(data, is_quick=step > 1))
        elif path.name == "model.mil":
            yield from (Fault(name, what, changed) for what, changed in _text(data.decode()))
        elif path.name == "Manifest.json":
            yield from (Fault(name, what, json.dumps(changed).encode()) for what, changed in _changes(json.loads(data)))
        elif path in used:
            yield from (Fault(name, what, changed) for what, changed in _records(path, data, used[path]))


def _bytes(data: bytes, step: int) -> Iterator[tuple[str, bytes]]:
    for index in range(0, len(data), step):
        changed = bytearray(data)
        changed[index] ^= 1
        yield f"byte {index}: {data[max(0, index - 8) : index + 1]!r}", bytes(changed)
    yield "longer", data + b"\0"


def _used_records(bundle: Path) -> dict[Path, list[int]]:
    """The offsets of the records that the programs of a model name, by the path of the file."""
    used: dict[Path, set[int]] = {}
    for stage in open_model(bundle).programs():
        folder = BlobFolder(stage.model.model_path)
        for held in blob_values(stage.model.program):
            named = held.value.blobFileValue
            used.setdefault(folder.path(named.fileName), set()).add(named.offset)
    return {path: sorted(offsets) for path, offsets in used.items()}


def _records(path: Path, data: bytes, used: list[int]) -> Iterator[tuple[str, bytes]]:
    """Yield a weight file with one bit of its header, or of a used record, changed; reserved bytes may have any value,
    and so may the padding of types of whole bytes.
    """
    with BlobFile(path) as file:
        packed = [offset for offset in used if file.blob(offset).dtype.packed]
    places = [("header", 0, 8), *((f"record {offset}", offset, 24) for offset in used)]
    for what, start, size in (*places, *((f"padding {offset}", offset + 24, 8) for offset in packed)):
        for index in range(start, start + size):
            changed = bytearray(data)
            changed[index] ^= 1
            yield f"{what}: byte {index - start}", bytes(changed)


# ---- metadata.json


def _json(data: bytes, is_quick: bool) -> Iterator[tuple[str, bytes]]:
    (model,) = json.loads(data)
    for way, changed in _changes(model):
        if not (is_quick and way.endswith((" null", " of another type"))):
            yield way, json.dumps([changed]).encode()
    for what, wrong in {"no object": [], "two": [model, model], "a list less": model, "empty object": [{}]}.items():
        yield what, json.dumps(wrong).encode()
    text = json.dumps([model])
    yield "a key twice", text.replace("{", '{"isUpdatable": "0", ', 1).encode()
    yield "NaN", text.replace(': "', ': NaN, "more": "', 1).encode()


def _changes(value: Any, way: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a value with one thing in it gone, more or other, and the way to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{way}.{key} gone", {each: known for each, known in value.items() if each != key}
            for where, changed in _changes(inner, f"{way}.{key}"):
                yield where, {**value, key: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield f"{way}.{index} gone", [*value[:index], *value[index + 1 :]]
            yield f"{way}.{index} twice", [*value, inner]
            for where, changed in _changes(inner, f"{way}.{index}"):
                yield where, [*value[:index], changed, *value[index + 1 :]]
        if len(value) > 1 and value[::-1] != value:
            yield f"{way} turned round", value[::-1]
        if not value:
            yield f"{way} filled", [{"name": "more"}]
    else:
        yield f"{way} other", value + 1 if isinstance(value, int) else f"{value}9"
        yield f"{way} null", None
        yield f"{way} of another type", {"more": value}


# ---- model.mil

_HEADS = re.compile(r"func \w+<\w+>\((.*?)\)(?: \[(.*)\])? {")


def _text(text: str) -> Iterator[tuple[str, bytes]]:
    """Yield a text with something else in the head of a function, or in its outputs."""
    dialect = ("program(1.0)", "program(1.3)")
    yield "another dialect", text.replace(*(dialect if dialect[0] in text else dialect[::-1]), 1).encode()
    for match in _HEADS.finditer(text):
        for part in re.finditer(r"fp32|fp16|\b\d+\b|\?|\b[a-z]\w*(?=[,)])", match.group()):
            start, end = match.start() + part.start(), match.start() + part.end()
            word = part.group()
            other = {"fp32": "fp16", "fp16": "fp32", "?": "7"}.get(word, f"{word}1")
            where = text.count("\n", 0, start) + 1
            yield f"line {where}, {word} is {other}", (text[:start] + other + text[end:]).encode()
    for match in re.finditer(r"-> \((.*)\);", text):
        yield (
            f"output {match.group(1)} twice",
            (text[: match.end(1)] + f", {match.group(1)}" + text[match.end(1) :]).encode(),
        )
