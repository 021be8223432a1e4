"""The law of `check --fix` on a model: only its own file changes, for the better, and as the command reports it.

A case is a contradicted copy of a package. Of the two sides, that which is preferred stays equal in each stage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from support.commands import miltext
from support.contradictions.contradicted import Case, Inapplicable
from support.contradictions.drawing import CONTRADICTIONS
from support.model_checks import Reported, reported

from miltext.files.contents import stages
from miltext.schema.proto import Model
from miltext.schema.proto.kinds import PROGRAM

WAYS = [way for way in CONTRADICTIONS.values() if way.room not in ("weights", "manifest")]
"""The contradictions in the model's own file, which a fix may solve."""

PREFERENCES = ("program", "program", "description")


class Fixed(NamedTuple):
    """A case with its changes and options, the broken parts of the law, and whether the file was written."""

    package: str
    changes: tuple[str, ...]
    options: tuple[str, ...]
    broken: tuple[str, ...]
    is_written: bool

    def __str__(self) -> str:
        return f"{self.package}: {'; '.join(self.changes)} {' '.join(self.options)}: {'; '.join(self.broken)}"


def fixed_case(packages: Mapping[str, Callable[[], Path]], number: int, folder: Path) -> Fixed | None:
    """Return the case of a number, made in a new folder; None if none of its changes applies to its package."""
    random = Random(number)
    name = random.choice([*packages])
    case = Case(packages[name](), folder / "M.mlpackage", random)
    changes = [*_changes(case, 1 + number % 2)]
    case.save()
    options = ["--prefer", random.choice(PREFERENCES), *random.choice([(), ("--unsafe-fixes",)])]
    if not changes:
        return None
    law = _Law(case.folder, case.model_file, options)
    return Fixed(name, tuple(changes), tuple(options), tuple(law.broken()), law.is_written)


def _changes(case: Case, count: int) -> Iterator[str]:
    for _ in range(count):
        way = case.random.choice(WAYS)
        try:
            yield f"{way.name}: {way.make(case)}"
        except (Inapplicable, IndexError, AttributeError):  # of an earlier change
            continue


class _Law:
    """The fix of one contradicted package, with all that the command reports before and after."""

    def __init__(self, folder: Path, file: Path, options: Sequence[str]) -> None:
        self._folder, self._file, self._options = folder, file, options
        self._before, self._others, self._found = file.read_bytes(), self._rest(), reported(folder, *options)
        self._announced = _number(r"; (\d+) fixable with --fix", self._run()[1])
        self._shown, _ = self._run("--diff")
        self._drawn = file.read_bytes()
        _, self._told = self._run("--fix")
        self._after, self._left = file.read_bytes(), reported(folder, *options)
        self._rest_after = self._rest()
        self._run("--fix")

    @property
    def is_written(self) -> bool:
        return self._after != self._before

    def _run(self, *words: str) -> tuple[str, str]:
        ended = miltext("check", *words, *self._options, "--isolated", self._folder)
        return ended.stdout.decode(), ended.stderr.decode()

    def _rest(self) -> dict[Path, tuple[bytes, int]]:
        """The bytes and times of all files but the model's."""
        files = (path for path in self._folder.rglob("*") if path.is_file() and path != self._file)
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    def broken(self) -> Iterator[str]:
        """Yield the broken parts of the law."""
        if self._drawn != self._before:
            yield "--diff wrote"
        if self._rest_after != self._others:
            yield "another file changed"
        if self._file.read_bytes() != self._after:
            yield "a second fix changes the file again"
        if bool(self._shown) != self.is_written:
            yield f"--diff shows {len(self._shown)} characters, and --fix wrote: {self.is_written}"
        if new := self._left - self._found:
            yield f"new findings {_words(new)}"
        yield from self._of_numbers()
        yield from self._of_sides()

    def _of_numbers(self) -> Iterator[str]:
        """Yield the wrong numbers, and the findings that went or stayed against them."""
        fixed, left = _number(r"(?m)^(?:miltext: )?(\d+) fixed", self._told), _number(r"(\d+) left", self._told)
        gone = (self._found - self._left).total()
        if fixed != self._announced:
            yield f"{self._announced} announced, and {fixed} fixed"
        if fixed > gone:
            yield f"{fixed} fixed, and {gone} findings are gone"
        if bool(fixed) != self.is_written:
            yield f"{fixed} fixed, and the file was written: {self.is_written}"
        if left != self._left.total() and "left" in self._told:
            yield f"{left} left by the summary, and {self._left.total()} by a check"
        if not self.is_written and self._left != self._found:
            yield f"nothing written, and gone {_words(self._found - self._left)}"

    def _of_sides(self) -> Iterator[str]:
        """Yield the preferred side if it changed in any stage."""
        before, after = (Model.FromString(data) for data in (self._before, self._after))
        side = "mlProgram" if "program" in self._options else "description"
        if _sides(before, side) != _sides(after, side):
            yield f"the preferred {side} changed"
        if "--unsafe-fixes" not in self._options and "was removed" in self._told and self.is_written:
            yield "a certain fix lost a part"


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _sides(spec: Model, side: str) -> list[bytes]:
    """The descriptions of a model and its stages, or its programs, byte by byte."""
    inner = [each for stage in stages(spec) for each in _sides(stage, side)]
    if side == "mlProgram" and spec.WhichOneof("Type") != PROGRAM:
        return inner
    return [getattr(spec, side).SerializeToString(deterministic=True), *inner]


def _words(found: Counter[Reported]) -> str:
    return "; ".join(f"{each.code} {each.message}" for each in found)
