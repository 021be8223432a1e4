"""A package that is to be contradicted, and the table of the ways to do so.

A way is a function that changes a Case, and returns the change in words, with the names concerned in backticks. It
raises Inapplicable where the package has nothing of the kind.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

from miltext.schema.proto import Model, Program
from miltext.schema.proto.kinds import PROGRAM

T = TypeVar("T")

INNER = Path("Data/com.apple.CoreML")


class Inapplicable(Exception):
    """The package has nothing that this could contradict."""


class Case:
    """A copy of a package, with its Model message and manifest, which `save` writes."""

    def __init__(self, package: Path, folder: Path, random: Random) -> None:
        shutil.copytree(package, folder)
        self.folder, self.random = folder, random
        self.inner = folder / INNER
        self.model_file = self.inner / "model.mlmodel"
        self.manifest_file = folder / "Manifest.json"
        self.spec = Model.FromString(self.model_file.read_bytes())
        self.manifest: dict[str, Any] = json.loads(self.manifest_file.read_text())
        self._before = self.spec.SerializeToString(deterministic=True), json.dumps(self.manifest)

    def save(self) -> None:
        """Write the message and the manifest, if they were changed."""
        spec, manifest = self.spec.SerializeToString(deterministic=True), json.dumps(self.manifest)
        if spec != self._before[0]:
            self.model_file.write_bytes(spec)
        if manifest != self._before[1]:
            self.manifest_file.write_text(manifest)

    def pick(self, choices: Iterable[T]) -> T:
        """Return one of the choices. Raise Inapplicable if there is none."""
        return self.random.choice(some(choices))

    @cached_property
    def model(self) -> Model:
        """One of the ML Programs: the model itself, or a stage."""
        return self.pick(each for each in [self.spec, *self.stages] if each.WhichOneof("Type") == PROGRAM)

    @property
    def stages(self) -> Sequence[Model]:
        """The models of a pipeline."""
        kind = self.spec.WhichOneof("Type") or ""
        inner = getattr(self.spec, kind)
        return getattr(inner, "models", ()) or getattr(getattr(inner, "pipeline", None), "models", ())

    @property
    def pipeline(self) -> Any:
        if not self.stages:
            raise Inapplicable
        return self.spec.pipeline

    def require_no_stages(self) -> None:
        """Raise Inapplicable for a pipeline, whose own interface has the types of its stages."""
        if self.stages:
            raise Inapplicable

    @property
    def program(self) -> Program:
        return self.model.mlProgram

    @cached_property
    def described(self) -> Any:
        """The description of one function: the model's own, or a function's."""
        return self.pick([*self.model.description.functions] or [self.model.description])

    def entry(self, *sides: str, where: Callable[[Any], object] = bool) -> Any:
        """Return one of the entries on these sides, of a description that has such."""
        return self.pick(each for side in sides for each in getattr(self.described, side) if where(each.name and each))

    def array(self, *sides: str, where: Callable[[Any], object] = bool) -> tuple[Any, Any]:
        """Return one of the entries of multi-arrays, and its array."""
        found = self.entry(*sides, where=lambda each: is_array(each) and where(each.type.multiArrayType))
        return found, found.type.multiArrayType

    def image(self, *sides: str) -> tuple[Any, Any]:
        """Return one of the entries of images, and its image."""
        found = self.entry(*sides, where=lambda each: each.type.WhichOneof("Type") == "imageType")
        return found, found.type.imageType

    @property
    def function(self) -> Any:
        """The function that `described` describes."""
        name = getattr(self.described, "name", "") or "main"
        if name not in self.program.functions:
            raise Inapplicable
        return self.program.functions[name]

    @property
    def block(self) -> Any:
        return self.function.block_specializations[self.function.opset]


def some(choices: Iterable[T]) -> list[T]:
    """Return the choices. Raise Inapplicable if there is none."""
    found = list(choices)
    if not found:
        raise Inapplicable
    return found


def is_array(entry: Any) -> bool:
    return bool(entry.type.WhichOneof("Type") == "multiArrayType")


def is_fixed(array: Any) -> bool:
    return bool(array.shape) and array.WhichOneof("ShapeFlexibility") is None


class Way(NamedTuple):
    """A way to contradict: its name, the room whose rules must report it, and why it is a contradiction.

    Of a way in EQUIVALENT, the reason is why any value is right.
    """

    name: str
    room: str
    reason: str
    make: Callable[[Case], str]


CONTRADICTIONS: dict[str, Way] = {}
EQUIVALENT: dict[str, Way] = {}
"""Changes that nothing else in a package contradicts: `check` must report nothing of them."""

Make = Callable[[Case], str]


def contradiction(room: str, name: str, reason: str) -> Callable[[Make], Make]:
    return _registering(CONTRADICTIONS, room, name, reason)


def equivalent(room: str, name: str, reason: str) -> Callable[[Make], Make]:
    return _registering(EQUIVALENT, room, name, reason)


def _registering(table: dict[str, Way], room: str, name: str, reason: str) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        assert name not in table, name
        table[name] = Way(name, room, reason, make)
        return make

    return register
