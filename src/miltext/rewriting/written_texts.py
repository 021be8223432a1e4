"""Texts of rewritten programs: the arrays in files that the text before names stay there, and comments go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.building.filling import program_of
from miltext.diagnostics import Note, codes, warning
from miltext.diagnostics.wording import tally
from miltext.drafting.programs import of_completed
from miltext.parsing.lowering.left_out import MARK
from miltext.parsing.parser import parse_tree
from miltext.printing.printer import Printer
from miltext.printing.printing import to_text
from miltext.printing.tensors import Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.building.filling import Filled
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import Program
    from miltext.schema.tensors import InType


def filled_program(source: Model) -> Filled:
    """Return a copy of the program of a source, with the arrays that its text names. Raise ParseError, ModelError."""
    return of_completed(source, lambda whole: program_of(whole, ()))


def text_with_arrays(program: Program, arrays: Mapping[str, InType]) -> str:
    """Return the canonical text of a program whose values in `arrays` are references to files."""
    text = to_text(program)
    printer = Printer(Style())
    for mark in arrays:
        reference = mark.removeprefix(MARK).partition("(")[2].removesuffix(")")
        text = text.replace(f"{printer.blob_start(mark)}0))", reference)
    assert MARK not in text, "a computed constant is a literal"
    return text


def lost_comments(source: Model) -> Iterator[Diagnostic]:
    """Yield the warning about the comments of a text, which its rewritten text does not have."""
    text = source.text if source.kind == "mil" else None
    if text is None or not ("//" in text or "/*" in text):
        return
    comments = parse_tree(text, whole=True).comments
    if comments:
        number = len(comments)
        message = f"{tally(number, 'comment')} of the text {'is' if number == 1 else 'are'} not in the result"
        yield warning(codes.COMMENTS_LOST, message, None, Note("the result is canonical text of the new program"))
