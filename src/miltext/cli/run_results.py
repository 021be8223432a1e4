"""The output of `miltext run`: a table or JSON, archives of arrays, single arrays and pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.cli.streams import fail, write_bytes
from miltext.diagnostics import refusing

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.features import Feature
    from miltext.schema.proto import ImageFeatureType
    from miltext.schema.types import Type

KINDS = {".npy": "npy", ".png": "png"}
"""The endings of files that hold a single value."""


EMPTY = "the name of the file is empty: name an .npz"

NOT_FINITE = re.compile(r"\b(nan|inf)\b")
"""The infinities and NaN in a shown value."""

SIDES = ("inputs", "constants", "values", "outputs", "states")
"""The kinds of results, in the order in which they are shown; `values` are inner values of operations."""


class Result(NamedTuple):
    """A computed value; `side` is one of SIDES."""

    side: str
    name: str
    value: Carried
    declared: Type


class Targets(NamedTuple):
    """The files to write: an `archive` of all values, `single` values by their names, and the final `states`."""

    archive: str | None
    single: Mapping[str, str]
    states: str | None

    @property
    def files(self) -> dict[str, str]:
        """The kinds of the files, by their paths."""
        archives = [path for path in (self.archive, self.states) if path is not None]
        return {**dict.fromkeys(archives, "npz"), **{path: _kind(path) for path in self.single.values()}}

    def check(self, read: Iterable[str], states: str | None, *, as_json: bool) -> None:
        """Refuse, before the run, files that may not be written: a file in `read`; and standard output beside JSON. The
        file of the initial `states` may also be the file of the final ones.

        Raise ModelError (MIL401, MIL402) and click's UsageError.
        """
        from miltext.models.outputs import check_output

        places = {path: os.path.realpath(path) for path in self.files}
        if len({*places.values()}) < len(self.single) + (self.archive is not None) + (self.states is not None):
            raise click.UsageError("two outputs are one file: name two files")
        for path, kind in self.files.items():
            if os.path.isdir(path):
                raise click.UsageError(f"{path} is a folder: name a file")
            is_next = path == self.states and states is not None and places[path] == os.path.realpath(states)
            check_output(path, kind, *read, *([] if states is None or is_next else [states]))
        if as_json and self.archive == "-":
            raise click.UsageError("--json and -o - both write to standard output: name a file with -o")


def targets(words: Sequence[str], states: str | None) -> Targets:
    """Return the targets in the words of `-o`: an archive, and NAME=FILE for single values. Raise click's
    UsageError.
    """
    archives, single = [], dict[str, str]()
    for word in words:
        name, equals, path = word.partition("=")
        if not word:
            raise click.UsageError(f"-o: {EMPTY}")
        if not equals or os.sep in name:
            archives.append(word)
        elif not name or not path or name in single:
            raise click.UsageError(f"-o {word} is not NAME=FILE, or its name is repeated")
        elif Path(path).suffix.lower() not in KINDS:
            raise click.UsageError(f"-o {word}: a single value is written as .npy, or an image as .png")
        else:
            single[name] = path
    if states == "":
        raise click.UsageError(f"--state-out: {EMPTY}")
    if len(archives) > 1:
        raise click.UsageError(f"-o {archives[1]}: there is one archive of all values, {archives[0]}")
    return Targets(archives[0] if archives else None, single, states)


def _kind(path: str) -> str:
    return KINDS[Path(path).suffix.lower()]


# ---- files


def write(files: Targets, results: Iterator[Result], states: Named, features: Mapping[str, Feature]) -> None:
    """Write files of the results, all or none, during the computation, which also fills `states`."""
    from miltext.files.staging import Staging
    from miltext.files.writing import is_stream, write_new

    with Staging(replace=True) as staging:
        places = {path: staging.place(Path(path)) for path in files.files if path != "-" and not is_stream(Path(path))}
        for path, pieces in _contents(files, results, states, features):
            with _failing_as(path):
                if path in places:
                    write_new(places[path], pieces)
                else:
                    write_bytes(path, pieces, files.files[path], "-")
        staging.commit()


@contextmanager
def _failing_as(path: str) -> Iterator[None]:
    """End the command if a value cannot be stored in the file of that path."""
    from miltext.evaluation.value_files import Unstorable

    try:
        yield
    except Unstorable as failure:
        fail(f"{path} cannot be written: {failure}")


def _contents(
    files: Targets, results: Iterator[Result], states: Named, features: Mapping[str, Feature]
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the contents of each file, by path. Values of an archive are computed as its pieces are read."""
    from miltext.evaluation.value_files import npz_pieces, value_pieces

    kept: dict[str, Carried] = {}

    def values() -> Iterator[tuple[str, Carried]]:
        for each in results:
            if each.name in files.single:
                kept[each.name] = each.value
            if each.side != "states":
                yield each.name, each.value

    if files.archive is not None:
        yield files.archive, npz_pieces(values())
    for _ in values():
        pass
    for name, path in files.single.items():
        if name not in kept:
            fail(f"{path} is not written, as there is no value {name!r}")
        image = features[name].image if _kind(path) == "png" else None
        yield path, value_pieces(kept[name]) if image is None else _png_pieces(kept[name], image)
    if files.states is not None:
        yield files.states, npz_pieces(states.items())


def check_pictures(files: Targets, features: Mapping[str, Feature]) -> None:
    """Refuse the name of a picture for a value that is not an image of pixels, and any picture without pillow.

    Raise click's UsageError, and MiltextError (MIL839).
    """
    from miltext.evaluation.pictures import pillow

    for name, path in files.single.items():
        if _kind(path) == "png":
            if name not in features or not _has_pixels(features[name].image):
                raise click.UsageError(f"{path}: the description has no image {name!r} of whole numbers: name an .npy")
            pillow()


def _has_pixels(image: ImageFeatureType | None) -> bool:
    """Return whether a value is an image for a .png: its pixels are not floats."""
    return image is not None and image.colorSpace != image.GRAYSCALE_FLOAT16


def _png_pieces(value: Carried, image: ImageFeatureType) -> Iterator[bytes]:
    from io import BytesIO

    from miltext.evaluation.pictures import picture_of
    from miltext.evaluation.value_files import Unstorable

    written = BytesIO()
    with refusing(lambda failure: Unstorable(f"its value is not the picture of the description: {failure}")):
        picture_of(value, image).save(written, "PNG")
    yield written.getvalue()


# ---- the table and the records


class ShownResults:
    """The rows of a table, or the records of JSON, of results released at once."""

    def __init__(self, as_json: bool) -> None:
        from miltext.evaluation.summaries import record, row

        self._look: Callable[[str, Carried, Type], Json] = record if as_json else row
        self._looks: dict[str, dict[str, Carried]] = {side: {} for side in SIDES}

    def looked_at(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the results again, after recording them."""
        for each in results:
            self._looks[each.side][each.name] = self._look(each.name, each.value, each.declared)
            yield each

    @property
    def records(self) -> dict[str, list[Carried]]:
        """The records of the results, by their sides."""
        return {side: list(looks.values()) for side, looks in self._looks.items()}

    def to_text(self, *, color: bool = False) -> str:
        """Return a table of the results, with an empty line between sides; in colour, rows with infinities or NaN are
        red.
        """
        from miltext.diagnostics.wording import table
        from miltext.evaluation.summaries import HEADINGS

        parts = [list(looks.values()) for looks in self._looks.values() if looks]
        rows = [row for part in parts for row in [("",), *part]][1:]
        headings, *lines = table(rows, HEADINGS)
        if color:
            lines = [
                click.style(line, fg="red") if _is_infinite(row) else line
                for row, line in zip(rows, lines, strict=True)
            ]
        return "".join(f"{line}\n" for line in (headings, *lines))


def _is_infinite(row: tuple[str, ...]) -> bool:
    """Return whether a row shows a value with a NaN or infinite element."""
    *_, last = row
    return row[5:7] not in ((), ("0", "0")) or ('"' not in last and NOT_FINITE.search(last) is not None)
