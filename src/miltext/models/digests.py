"""Weights by what they hold: printed as digests, in place of the file and the offset where they happen to stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miltext.models.model_weights import BlobFolder
from miltext.models.refusals import WeightsError
from miltext.printing.printer import Printer
from miltext.printing.tensors import PLAIN, Style

if TYPE_CHECKING:
    from miltext.models.files import Progress
    from miltext.printing.printer import TypeText

DIGITS = 16
"""How many hexadecimal digits of a weight's digest are shown: enough to tell any two apart that anybody will make."""


class DigestPrinter(Printer):
    """A Printer that spells weights as `$elided(262144, "sha256:0123456789abcdef")`: how many elements, and the digest.

    `folder` is what `@model_path` means. Raise WeightsError where a weight cannot be read; or, with `on_unread`, call
    that with the error and prints where the weight stands. `progress` is told how many bytes were read.
    """

    def __init__(
        self,
        folder: Path,
        dialect: str = "1.3",
        style: Style = PLAIN,
        on_unread: Callable[[WeightsError], object] | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(dialect, style)
        self._folder = BlobFolder(folder, progress)
        self._on_unread = on_unread

    def _raw(self, value: Any, value_type: TypeText) -> str:
        if not value.HasField("blobFileValue"):
            return super()._raw(value, value_type)
        try:
            blob = self._folder.blob(value)
        except WeightsError as failure:
            if self._on_unread is None:
                raise
            self._on_unread(failure)
            return super()._raw(value, value_type)
        return f'$elided({blob.count}, "{shown(blob.digest(self._folder.progress))}")'


def shown(digest: str) -> str:
    """Return a weight's digest as people see it."""
    return f"sha256:{digest[:DIGITS]}"
