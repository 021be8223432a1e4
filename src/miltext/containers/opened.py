"""The methods of every opened model: its description as text, and saving."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from miltext.models.model import Model

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.files.writing import Progress


class OpenedModel(Model):
    """A Model that can be described and saved; `Model` itself does not import the modules for this."""

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
