"""Weights in printed text: their values in place of the file, or a comment that tells what the file holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from miltext.models.tensor_data import tensor_value
from miltext.models.weights import summarise
from miltext.printing.printer import Printer
from miltext.printing.tensors import PLAIN, Style
from miltext.schema.walk import values
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.models.model_weights import BlobFolder
    from miltext.printing.printer import Lines, TypeText
    from miltext.schema.proto import Message, Program


def inline_weights(program: Program, folder: BlobFolder, most: int | None = None) -> Program:
    """Return a copy of a Program with the values of its weights in it, of those with no more than `most` elements.

    Raise WeightsError for a weight that cannot be read.
    """
    made = type(program)()
    made.CopyFrom(program)
    for held in list(values(made)):
        if held.value.WhichOneof("value") == "blobFileValue":
            blob = folder.blob(held.value)
            if most is None or blob.count <= most:
                held.value.immediateValue.tensor.CopyFrom(tensor_value(blob.dtype, blob.data))
    return made


class AnnotatingPrinter(Printer):
    """A Printer that ends the line of each weight with a comment: digest, least, greatest and mean value.

    Each is read twice. Raise WeightsError for a weight that cannot be read.
    """

    def __init__(self, folder: BlobFolder, dialect: str = "1.3", style: Style = PLAIN, *, strict: bool = False) -> None:
        super().__init__(dialect, style, strict=strict)
        self._folder = folder
        self._seen: list[str] = []
        self._comments: dict[bytes, str] = {}

    def program(self, program: Any, lines: Lines | None = None) -> Iterable[str]:
        for piece in super().program(program, lines):
            yield self._annotated(piece)

    def _operation(self, operation: Any, indent: str) -> str:
        before, self._seen = self._seen, []
        text = self._annotated(super()._operation(operation, indent))
        self._seen = before
        return text

    def value(self, value: Any) -> str:
        self._note(value)
        return super().value(value)

    def _element(self, value: Any, implied: TypeText | None) -> str:
        self._note(value)
        return super()._element(value, implied)

    def _annotated(self, piece: str) -> str:
        """Return the piece, if it ends a line, with what was noted since the last one that did."""
        if not self._seen or not piece.endswith("\n"):
            return piece
        seen, self._seen = self._seen, []
        return f"{piece[:-1]}  // {'; '.join(seen)}\n"

    def _note(self, value: Any) -> None:
        if value.WhichOneof("value") == "blobFileValue":
            wire = value.SerializeToString(deterministic=True)
            if wire not in self._comments:
                self._comments[wire] = self._comment(value)
            self._seen.append(self._comments[wire])

    def _comment(self, value: Any) -> str:
        blob = self._folder.blob(value)
        summary = summarise(blob, self._folder.progress)
        numbers = [] if summary is None else [f"min {summary.minimum:.6g}", f"max {summary.maximum:.6g}"]
        numbers += [] if summary is None else [f"mean {summary.mean:.6g}"]
        return ", ".join(
            [f"offset {blob.offset}: {blob.dtype.name} sha256:{blob.digest(self._folder.progress)}", *numbers]
        )


def annotated_pieces(
    program: Message,
    folder: BlobFolder,
    *,
    dialect: str = "1.3",
    floats: str = "hex",
    elide: int | None = None,
    strict: bool = False,
) -> Iterator[str]:
    """Yield what `pieces` gives, each weight's line ended with a comment that tells what the file in `folder` holds.

    Raise WeightsError where a weight cannot be read, and what `pieces` raises.
    """
    printer = AnnotatingPrinter(folder, dialect, Style(floats == "decimal", elide), strict=strict)
    yield from printer.program(own_copy(program))
    yield "\n"
