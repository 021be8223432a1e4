"""A model of a pipeline edited in tests: by its text, as `miltext build --model` does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import wire
from support.pipelines import piped, unary

import miltext
from miltext.building import editing
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.diagnostics import Diagnostic
from miltext.drafting.building import build
from miltext.pipelines.faults import faults
from miltext.schema.proto import FeatureDescription, Model

MORE = {
    "x) {": "x, tensor<fp32, [1, 4]> more) {",
    "tensor<fp32, [1, 4]> inner = relu(x = x)": "tensor<fp32, [1, 4]> inner = add(x = x, y = more)",
}
"""The changes that give `unary` an input more."""


class Building:
    """Builds a pipeline with the text of one of its models changed: each old piece of it to a new one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[Diagnostic] = []
        self.choices: dict[str, Any] = {}

    def __call__(self, spec: Model, path: str, **changes: str) -> Model:
        return self.by(spec, path, lambda text: replaced(text, changes))

    def by(self, spec: Model, path: str, edit: Callable[[str], str]) -> Model:
        (self.folder / "old.mlmodel").write_bytes(spec.SerializeToString())
        original = open_model(self.folder / "old.mlmodel")
        text = edit(miltext.to_text(original.select(path).program))
        new, source = self.folder / "new.mlmodel", TextModel(text.encode(), "new.mil", None)
        self.warnings = build(source, new, original=original, model=path, force=True, **self.choices)
        made = open_model(new).spec
        assert made is not None
        assert "check" in self.choices or {*faults(made)} <= {*faults(spec)}
        return made


def replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, text
        text = text.replace(old, new)
    return text


def rename(old: str, new: str) -> Callable[[str], str]:
    return lambda text: editing.rename(text, old, new)


def expose(*names: str) -> Callable[[str], str]:
    return lambda text: editing.expose(text, names)


def same(one: Model, other: Model) -> bool:
    return wire(one) == wire(other)


def two(x: str = "x", middle: str = "middle", y: str = "y") -> Model:
    return piped(unary(x, middle), unary(middle, y), names=("one", "two"))


def array(entry: FeatureDescription) -> list[int]:
    return list(entry.type.multiArrayType.shape)
