"""The verbs of every model from a source: its description as text, and the model saved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from miltext.models.model import Model

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.files.writing import Progress


class OpenedModel(Model):
    """A Model with what its description and its writing need, which `Model` itself does not import."""

    @property
    def description_text(self) -> str:
        from miltext.descriptions.model_texts import description_text

        return description_text(self)

    def save(
        self, path: str | os.PathLike[str], *, force: bool = False, progress: Progress | None = None
    ) -> list[Diagnostic]:
        from miltext.building.build import build
        from miltext.building.choices import BuildChoices

        return build(self, path, BuildChoices(force=force, progress=progress))
