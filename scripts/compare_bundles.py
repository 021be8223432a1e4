"""Build packages as compiled models, and compare them with Apple's: `python scripts/compare_bundles.py FOLDER...`.

A package and a compiled model are a pair if the hash in the latter's analytics is that of the package, wherever the two
stand. Each part is compared as docs/compiled-models.md says.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

import miltext
from miltext.compiled.analytics import FILE_NAME as ANALYTICS
from miltext.compiled.analytics import HASH, SOURCE, analytics, details_of, tables_of
from miltext.compiled.coremldata import FILE_NAME, TEXT, parse_coremldata
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.compiled.stated import CLASS, source_when_compiled, stated
from miltext.containers.opening import open_model
from miltext.containers.spec import SpecModel
from miltext.diagnostics import MiltextError
from miltext.models.manifest import model_file

PARTS = (TEXT, ANALYTICS, FILE_NAME, METADATA, "weights", "other files")
EQUAL, DIFFERENT = "equal", "DIFFERENT"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def main(folders: tuple[Path, ...]) -> None:
    """Print how each part of each pair compares, and the sums."""
    counts: Counter[tuple[str, str]] = Counter()
    for package, bundle in _pairs(folders):
        try:
            results = _compared(package, bundle)
        except (MiltextError, OSError) as failure:
            results = {"refused": str(failure).splitlines()[0][-160:], **_outer(package, bundle)}
        counts.update((part, result) for part, result in results.items() if part in PARTS)
        different = {part: result for part, result in results.items() if not result.startswith(EQUAL)}
        print(f"{bundle}: {different or 'equal in all parts'}", flush=True)
    for part in PARTS:
        found = {result: count for (each, result), count in counts.items() if each == part}
        print(f"{part:>28}  {', '.join(f'{count} {result}' for result, count in sorted(found.items()))}")
    sys.exit(1 if any(result == DIFFERENT for _, result in counts) else 0)


def _pairs(folders: tuple[Path, ...]) -> Iterator[tuple[Path, Path]]:
    hashes = {_hash(each): each for folder in folders for each in sorted(folder.rglob("*.mlpackage"))}
    for path in (each for folder in folders for each in sorted(folder.rglob("*.mlmodelc"))):
        said = stated(path).analytics.get(SOURCE, {}).get(HASH, "")
        if said in hashes:
            yield hashes[said], path


def _hash(package: Path) -> str | None:
    try:
        made = source_when_compiled(open_model(package))
    except MiltextError as failure:
        print(f"{package}: {failure.diagnostics[0].message}")
        return None
    return made.hash if made is not None else None


def _compared(package: Path, bundle: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / bundle.name
        miltext.build(package, made, check=False)
        ours, theirs = _files(made), _files(bundle)
        weights = [{name for name in files if name.startswith("weights/")} for files in (ours, theirs)]
        others = [
            set(files) - {TEXT, ANALYTICS, FILE_NAME, METADATA} - each
            for files, each in zip((ours, theirs), weights, strict=True)
        ]
        pairs = {name: (ours[name].read_bytes(), theirs[name].read_bytes()) for name in PARTS[:4] if name in theirs}
        return {
            TEXT: _said(_text(pairs[TEXT][0]) == _text(pairs[TEXT][1])),
            ANALYTICS: _said(pairs[ANALYTICS][0] == pairs[ANALYTICS][1]),
            FILE_NAME: _description(*pairs[FILE_NAME]),
            METADATA: _said(_metadata(pairs[METADATA][0]) == _metadata(pairs[METADATA][1])),
            "weights": _said(
                weights[0] == weights[1]
                and all(map(_same, *[[files[name] for name in sorted(weights[0])] for files in (ours, theirs)]))
            ),
            "other files": _said(others[0] == others[1]),
        }


def _outer(package: Path, bundle: Path) -> dict[str, str]:
    """Compare what can be of a pipeline that is not compiled: its analytics."""
    model = open_model(package)
    if not (isinstance(model, SpecModel) and model.is_pipeline):
        return {}
    source = model_file(package)
    tables = {**tables_of(model.spec), **details_of((source.read_bytes(), source.stem))}
    return {"outer analytics": _said(analytics(tables) == (bundle / ANALYTICS).read_bytes())}


def _files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _said(is_equal: bool) -> str:
    return EQUAL if is_equal else DIFFERENT


def _text(data: bytes) -> bytes:
    """Return a text without the two versions of the compiler."""
    return re.sub(rb'(?:, )?\{"coremlc-[^}]*\}', b"", data).replace(b"({{, ", b"({{")


def _description(ours: bytes, theirs: bytes) -> str:
    if ours == theirs:
        return f"{EQUAL} by bytes"
    is_equal = parse_coremldata(ours, "ours") == parse_coremldata(theirs, "theirs") and len(ours) == len(theirs)
    return f"{EQUAL} as messages" if is_equal else DIFFERENT


def _metadata(data: bytes) -> object:
    (found,) = json.loads(data)
    return {key: value for key, value in found.items() if key != CLASS}


def _same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


if __name__ == "__main__":
    main()
