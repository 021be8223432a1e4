"""Compare compiled models with git-lfs pointers of Apple's outputs: `python scripts/check_pointers.py FOLDER...`.

A pointer states the size and the SHA-256 of a file that may not be public. In the folders, a model `M.mlpackage` or
`M.mlmodel` and a folder `M.mlmodelc` beside it, with pointers in place of files, are a pair; `--pair` names a pair of
another form. Each model is compiled, and its files are compared with the pointers. Apple's compiler writes the entries
of a map in any order, so that all orders are tried, in maps of up to six entries.

The analytics hold the hash of the compiled `.mlmodel`. protobuf writes the maps of a model in an order that changes
from process to process, by the address of a variable (`_upb_Seed` of protobuf 6.33, `upb/hash/common.c`). A package
that was saved again has another hash, and its pointer to the analytics is then DIFFERENT.

A model without its weights is compiled with made-up ones, and its weights are not compared. `model.mil` and
`metadata.json` are never compared: they depend on the compiler's versions, and on more than 720 orders. The script
needs the tests' requirements.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from typing import NamedTuple

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.made_up_weights import write_weights

import miltext
from miltext.compiled.analytics import FILE_NAME as ANALYTICS
from miltext.compiled.analytics import Tables, analytics, parse_analytics
from miltext.compiled.coremldata import FILE_NAME, NAMES, TEXT, layout
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError
from miltext.files.contents import LFS_POINTER
from miltext.files.refusals import WeightsError
from miltext.models.manifest import model_file
from miltext.schema.wire import spans

MOST_ENTRIES = 6
"""The most entries of a map whose orders are tried: 720."""

EQUAL, REORDERED = "equal", "equal in another order"
DIFFERENT = "DIFFERENT"
"""The start of each result for a file that is proven to be another one."""

_POINTER = re.compile(rb"%s\S*\r?\n(?:.+\n)*?oid sha256:([0-9a-f]{64})\r?\nsize (\d+)\r?\n" % LFS_POINTER)
_MOST_BYTES = 1024
"""The most bytes of a pointer, by git-lfs's specification."""

_USER_DEFINED = (100, 100)
"""The path from a ModelDescription to its user-defined entries: `metadata` and `userDefined`."""

_DESCRIPTION = 2
"""The field of a Model with its description."""


class Pointer(NamedTuple):
    """The facts that git-lfs states of a file."""

    digest: str
    size: int


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--pair",
    "given",
    nargs=2,
    multiple=True,
    metavar="MODEL POINTERS",
    type=click.Path(path_type=Path, exists=True),
    help="Also compare a model with a folder of pointers.",
)
def main(folders: tuple[Path, ...], given: tuple[tuple[Path, Path], ...]) -> None:
    """Print how each file compares with its pointer, and the sums; exit with 1 if one differs or no pair is found."""
    counts: Counter[str] = Counter()
    for source, stated in [*given, *pairs(folders)]:
        for name, result in compared(source, stated):
            counts[result.partition(":")[0]] += 1
            print(f"{stated / name}: {result}", flush=True)
    for result, count in sorted(counts.items()):
        print(f"{count:>8}  {result}")
    if not counts:
        print("no model with pointers of its compiled files was found")
    sys.exit(1 if not counts or counts[DIFFERENT] or counts["refused"] else 0)


def pairs(folders: tuple[Path, ...]) -> Iterator[tuple[Path, Path]]:
    """Yield the models in folders that have a folder with pointers beside them, by their names."""
    for folder in folders:
        for source in sorted([*folder.rglob("*.mlpackage"), *folder.rglob("*.mlmodel")]):
            stated = source.with_suffix(".mlmodelc")
            if any(pointers(stated)):
                yield source, stated


def pointers(folder: Path) -> Iterator[tuple[str, Pointer]]:
    """Yield the pointers in a folder, by the paths of their files."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        found = read_pointer(path)
        if found is not None:
            yield path.relative_to(folder).as_posix(), found


def read_pointer(path: Path) -> Pointer | None:
    """Return the facts in a pointer; None for any other file."""
    with path.open("rb") as file:
        match = _POINTER.fullmatch(file.read(_MOST_BYTES + 1))
    return Pointer(match[1].decode(), int(match[2])) if match is not None else None


def compared(source: Path, stated: Path) -> Iterator[tuple[str, str]]:
    """Yield how each file of a model compares with its pointer.

    A model that is not compiled yields one refusal, as does a folder without pointers.
    """
    if not any(pointers(stated)):
        yield "", "refused: no git-lfs pointer is here"
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            made, has_weights = _compiled(source, Path(folder))
        except (MiltextError, OSError) as failure:
            yield "", f"refused: {str(failure).splitlines()[0][-160:]}"
            return
        for name, pointer in pointers(stated):
            if name in (TEXT, METADATA) or name.endswith(f"/{TEXT}"):
                yield name, "not compared: it depends on the compiler"
            elif Path(name).name == FILE_NAME or has_weights:
                yield name, judged(name, made / name, pointer)
            else:
                yield name, "not compared: the model lacks its weights"


def _compiled(source: Path, folder: Path) -> tuple[Path, bool]:
    """Return the folder of a compiled model, and whether it has the model's own weights."""
    made = folder / "M.mlmodelc"
    try:
        miltext.build(source, made, allow_unproven=True, check=False)
        return made, True
    except WeightsError:
        held = model_file(source) if source.is_dir() else source
        copy = folder / "copy" / held.name
        copy.parent.mkdir()
        shutil.copyfile(held, copy)  # its hash and its name are in the analytics
        for stage in open_model(copy).programs():
            write_weights(stage.model.program, copy.parent)
        miltext.build(copy, made, allow_unproven=True, check=False)
        return made, False


def judged(name: str, path: Path, pointer: Pointer) -> str:
    """Return how a file compares with a pointer."""
    if not path.is_file():
        return f"{DIFFERENT}: no such file is written"
    if path.stat().st_size != pointer.size:
        return f"{DIFFERENT}: it has {path.stat().st_size} bytes, and the pointer {pointer.size}"
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() == pointer.digest:
        return EQUAL
    if path.name != FILE_NAME:
        return f"{DIFFERENT}: its digest"
    entries, orders = _orders(name, data)
    if entries > MOST_ENTRIES:
        return f"unknown: the size is equal, and a map has {entries} entries"
    tried = 0
    for each in orders:
        tried += 1
        if hashlib.sha256(each).hexdigest() == pointer.digest:
            return REORDERED
    return f"{DIFFERENT}: its digest, in {tried} order{'s' * (tried > 1)}"


def _orders(name: str, data: bytes) -> tuple[int, Iterator[bytes]]:
    """Return the entries of the largest map in a file, and the file with the entries of its maps in each order."""
    if name == ANALYTICS or name.endswith(f"/{ANALYTICS}"):
        tables = parse_analytics(data, name)
        return max([len(tables), *map(len, tables.values())]), _orders_of_tables(tables)
    if name == NAMES:
        return 0, iter([data])
    parts = layout(data, name)
    stop = len(data) - len(parts.end)
    path = (_DESCRIPTION, *_USER_DEFINED) if parts.is_whole else _USER_DEFINED
    places = _places(data, stop - len(parts.held), stop, path)
    return len(places), _orders_of_places(data, places)


def _places(data: bytes, start: int, stop: int, path: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the first and last offset of each field at a path in a message."""
    whole, inner = [(start, stop)], [(start, stop)]
    for number in path:
        fields = [field for first, last in inner for field in spans(data, first, last) if field[0] == number]
        whole = [(begin, end) for _, begin, _, end in fields]
        inner = [(content, end) for _, _, content, end in fields]
    return whole


def _orders_of_places(data: bytes, places: list[tuple[int, int]]) -> Iterator[bytes]:
    """Yield data with the pieces at places, one after another, in each order."""
    if not places:
        yield data
        return
    pieces = [data[first:last] for first, last in places]
    before, after = data[: places[0][0]], data[places[-1][1] :]
    assert len(before) + sum(map(len, pieces)) + len(after) == len(data), "other fields between the entries"
    for order in permutations(pieces):
        yield b"".join([before, *order, after])


def _orders_of_tables(tables: Tables) -> Iterator[bytes]:
    """Yield the file of tables, with the tables and the entries of each in each order."""
    inner = [[(name, dict(order)) for order in permutations(table.items())] for name, table in tables.items()]
    for each in product(*inner):
        for order in permutations(each):
            yield analytics(dict(order))


if __name__ == "__main__":
    main()
