"""Weights in printed text: as values or digests in place of the file, or with a comment about their contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from miltext.files.refusals import WeightsError
from miltext.printing.printer import Printer
from miltext.printing.tensors import PLAIN, Style
from miltext.syntax.programs import own_copy
from miltext.weight_files.model_weights import BlobFolder, blob_values
from miltext.weight_files.statistics import statistics

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.printing.printer import Lines, TypeText
    from miltext.schema.proto import Message, Operation, Program, Value
    from miltext.weight_files.blob_storage import Blob

Spell: TypeAlias = "Callable[[Value], str | None]"
"""A function that spells a value in a weight file in place of the file and the offset."""

DIGITS = 16
"""The number of shown hexadecimal digits of a weight's digest, enough to distinguish weights."""


def inline_weights(program: Program, folder: BlobFolder, most: int | None = None) -> Program:
    """Return a copy of a Program with the values of its weights in it, up to `most` elements each.

    Raise WeightsError for an unreadable weight.
    """
    made = deepcopy(program)
    for held in list(blob_values(made)):
        blob = folder.blob(held.value)
        if most is None or blob.count <= most:
            held.value.immediateValue.tensor.CopyFrom(blob.message())
    return made


class AnnotatingPrinter(Printer):
    """A Printer that ends the line of each weight with a comment: digest, least, greatest and mean value.

    Each is read twice. Raise WeightsError for an unreadable weight.
    """

    def __init__(self, folder: BlobFolder, style: Style = PLAIN) -> None:
        super().__init__(style)
        self._folder = folder
        self._seen: list[str] = []
        self._comments: dict[bytes, str] = {}

    def program(self, program: Program, lines: Lines | None = None) -> Iterable[str]:
        for piece in super().program(program, lines):
            yield self._annotated(piece)

    def _operation(self, operation: Operation, indent: str) -> str:
        before, self._seen = self._seen, []
        text = self._annotated(super()._operation(operation, indent))
        self._seen = before
        return text

    def value(self, value: Value) -> str:
        self._note(value)
        return super().value(value)

    def _element(self, value: Value, implied: TypeText | None) -> str:
        self._note(value)
        return super()._element(value, implied)

    def _annotated(self, piece: str) -> str:
        """Return the piece; at the end of a line, with the comments recorded for that line."""
        if not self._seen or not piece.endswith("\n"):
            return piece
        seen, self._seen = self._seen, []
        return f"{piece[:-1]}  // {'; '.join(seen)}\n"

    def _note(self, value: Value) -> None:
        if value.WhichOneof("value") == "blobFileValue":
            wire = value.SerializeToString(deterministic=True)
            if wire not in self._comments:
                self._comments[wire] = self._comment(value)
            self._seen.append(self._comments[wire])

    def _comment(self, value: Value) -> str:
        blob = self._folder.blob(value)
        found = statistics(blob, self._folder.progress)
        digest = f"offset {blob.offset}: {blob.dtype.name} sha256:{blob.digest(self._folder.progress)}"
        if found is None:
            return digest
        return f"{digest}, min {found.minimum:.6g}, max {found.maximum:.6g}, mean {found.mean:.6g}"


def annotated_pieces(program: Message, folder: BlobFolder, style: Style = PLAIN) -> Iterator[str]:
    """Yield the result of `pieces`, each weight's line ended with a comment about its contents in `folder`.

    Raise WeightsError for an unreadable weight, and the errors of `pieces`.
    """
    yield from AnnotatingPrinter(folder, style).program(own_copy(program))
    yield "\n"


class Digests:
    """Spells weights as `$elided(262144, "sha256:0123456789abcdef")`: the number of elements, and the digest.

    `folder` stands for `@model_path`. Raise WeightsError for an unreadable weight; or, with `on_unread`, call
    `on_unread` with the error instead. `progress` gets the number of read bytes.
    """

    def __init__(
        self,
        folder: Path,
        on_unread: Callable[[WeightsError], object] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._folder = BlobFolder(folder, progress)
        self._on_unread = on_unread

    def __call__(self, value: Value) -> str | None:
        """Return the spelling of a value in a weight file; None for an unreadable one."""
        try:
            blob = self._folder.blob(value)
        except WeightsError as failure:
            if self._on_unread is None:
                raise
            self._on_unread(failure)
            return None
        return digest_text(blob, self._folder.progress)


def digest_text(blob: Blob, progress: Progress | None = None) -> str:
    """Return `$elided(262144, "sha256:0123456789abcdef")` for a weight."""
    return f'$elided({blob.count}, "sha256:{blob.digest(progress)[:DIGITS]}")'


class DigestPrinter(Printer):
    """A Printer that spells values in weight files by `spell`, or as their places if it returns None.

    `elided` gets the values that it leaves out, by their spellings.
    """

    def __init__(self, spell: Spell | None, style: Style = PLAIN, elided: dict[str, Value] | None = None) -> None:
        super().__init__(style)
        self._spell = spell
        self._elided = elided

    def _raw(self, value: Value, value_type: TypeText) -> str:
        text = self.spelled(value) or super()._raw(value, value_type)
        if self._elided is not None and text.startswith("$elided("):
            self._elided[text] = value
        return text

    def spelled(self, value: Value) -> str | None:
        """Return the spelling of a value in a weight file; None for its place, and for another value."""
        return self._spell(value) if self._spell and value.HasField("blobFileValue") else None
