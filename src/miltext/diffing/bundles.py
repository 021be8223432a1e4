"""Differences of two compiled models apart from program and description: their stated facts, and other files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.building.compiling.other_files import KNOWN, files_below, weight_paths
from miltext.compiled.analytics import FILE_NAME as ANALYTICS
from miltext.compiled.coremldata import FILE_NAME as COREMLDATA
from miltext.compiled.coremldata import NAMES
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.compiled.stated import CLASS, CompiledFacts, class_name, stated
from miltext.containers.bundle import BundleModel
from miltext.diffing.descriptions import MADE_BY
from miltext.diffing.structure import Change
from miltext.files.writing import file_digest
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.diagnostics.dynamic import Json
    from miltext.models.model import Model

_TOOLS = MADE_BY.replace("metadata.userDefined[", "userDefinedMetadata[").removesuffix(".")

Facts = dict[str, str]


def compare_bundles(old: Model, new: Model, build_info: bool) -> list[Change]:
    """Return the changes of the facts stated in two compiled models; none unless both are compiled."""
    if not (isinstance(old, BundleModel) and isinstance(new, BundleModel)):
        return []
    read = stated(old.folder), stated(new.folder)
    whole = _as_files(old, read[0]) | _as_files(new, read[1])
    known = {*KNOWN, *weight_paths(old), *weight_paths(new)} - whole
    return [
        *(changed_facts("analytics", *map(_analytics, read)) if ANALYTICS in known else ()),
        *(changed_facts(METADATA, *_shown(old, new, read, build_info)) if METADATA in known else ()),
        *changed_facts("file", _files(old, known), _files(new, known)),
    ]


def _as_files(bundle: BundleModel, read: CompiledFacts) -> set[str]:
    """Return the parts that can only be compared as files: missing and unreadable ones."""
    absent = {name for name in (ANALYTICS, METADATA) if not os.path.lexists(bundle.folder / name)}
    unnamed = set() if bundle.is_named else {NAMES}
    return absent | {*read.problems} | unnamed | (set() if bundle.is_described else {COREMLDATA})


def changed_facts(kind: str, old: Facts, new: Facts) -> Iterator[Change]:
    """Yield the changes of facts; `kind` is the displayed kind of the facts."""
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield Change(kind, name, old.get(name), new.get(name))


def _analytics(read: CompiledFacts) -> Facts:
    return {f"{name}.{key}": quote(text) for name, table in read.analytics.items() for key, text in table.items()}


def _shown(
    old: BundleModel, new: BundleModel, read: tuple[CompiledFacts, CompiledFacts], build_info: bool
) -> list[Facts]:
    """Return the facts of each `metadata.json`, without the class if both name it after their folders."""
    shown = [_metadata(each, build_info) for each in read]
    names = [class_name(each.folder.stem) for each in (old, new)]
    if [each.metadata.get(CLASS) for each in read] == names:
        return [{path: text for path, text in each.items() if path != CLASS} for each in shown]
    return shown


def _metadata(read: CompiledFacts, build_info: bool) -> Facts:
    """Return the facts of `metadata.json`, those about the tools only with `build_info`."""
    found = _leaves(read.metadata, "") if read.metadata else ()
    return {path: text for path, text in found if build_info or not path.startswith(_TOOLS)}


def _leaves(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Yield the JSON value at each path; an empty list or dictionary is a value."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}[{key}]" if path else key)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, json.dumps(value, ensure_ascii=False)


def _files(bundle: BundleModel, known: set[str]) -> Facts:
    """Return the other files of the folder, except `known` files and the folders of stages, by size and digest."""
    stages = tuple(f"model{index}/" for index in range(len(bundle.models)))
    names = [name for name in files_below(bundle.folder, known) if not name.startswith(stages)]
    return {name: file_fact(bundle.folder / name) for name in names}


def file_fact(path: Path) -> str:
    """Return the size and the digest of a file; for other kinds of entries, the kind."""
    if path.is_symlink():
        return f"a link to {os.readlink(path)}"
    if not path.is_file():
        return "not a file" if os.path.lexists(path) else "missing"
    return f"{path.stat().st_size} bytes, SHA-256 {file_digest(path)[:16]}"
