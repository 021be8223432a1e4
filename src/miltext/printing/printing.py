"""The front door of printing: a Program as MIL text, lossless or in the form of Apple's compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics.arguments import checked
from miltext.printing.plain_operations import Operations
from miltext.printing.printer import Printer
from miltext.printing.tensors import PLAIN, Style
from miltext.syntax.memo import memo
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.printing.coremlc import Versions
    from miltext.schema.proto import Message

_Compiled: TypeAlias = "tuple[int, Message | None, Versions | None, Callable[[Diagnostic], object] | None]"
"""The facts about a compiled model that decide its text: version, description, versions; and who gets warnings."""

REMEMBERED = 4096
"""The number of names, types and values cached between programs, which save most of the time for a small text."""


@with_room
@checked()
def to_text(
    program: Message,
    *,
    dialect: str = "1.3",
    floats: str = "hex",
    elide: int | None = None,
    strict: bool = False,
    as_coremlc: bool = False,
    specification_version: int = 9,
    description: Message | None = None,
    versions: Versions | None = None,
    on_warning: Callable[[Diagnostic], object] | None = None,
) -> str:
    """Return MIL text that reads back as this Program.

    Args:
        program: Any source; in this module, a message of the full name `CoreML.Specification.MILSpec.Program`.
        dialect: The version of the language, `1.0` or `1.3`.
        floats: `hex`, as Apple prints them, or `decimal`.
        elide: The most elements of a literal; longer ones are left out, and such a text does not read back.
        strict: Whether to refuse constructs outside Apple's syntax.
        as_coremlc: Whether to print as Apple's compiler does, which decides dialect, floats and elision.
        specification_version: The version of the model.
        description: The description of the model.
        versions: The stated versions of the compiler.
        on_warning: A function that gets warnings about unproven parts.

    Returns:
        The text.

    Raises:
        PrintError: A Program with fields outside the schema, too deep, or for `strict` not in Apple's syntax.
        ModelError: A source that cannot be read.
        ValueError: Another dialect or form of floats, or options that cannot be combined.

    Example:
        text = miltext.to_text("Model.mlpackage", elide=16)
    """
    compiled = (specification_version, description, versions, on_warning) if as_coremlc else None
    return _text(program, Style(dialect, floats, elide, strict), compiled)


def _text(program: Message, style: Style, compiled: _Compiled | None) -> str:
    """Return the text in a style, or as of a `compiled` model."""
    if compiled is None:
        return "".join(pieces(program, style))
    if style._replace(strict=False) != PLAIN:
        raise ValueError("as_coremlc cannot be combined with dialect, floats or elide: the compiler decides them")
    from miltext.printing import coremlc

    return coremlc.as_coremlc(program, *compiled)


def pieces(program: Message, style: Style = PLAIN) -> Iterator[str]:
    """Yield the text of a Program, in pieces. Raise as `to_text`, before the first piece or at any later one."""
    printer, whole = _remembering(style)
    operations = whole.fresh()
    yield from printer.program(own_copy(program, operations.take_out), operations.lines)
    yield "\n"
    if whole.size > REMEMBERED:
        _remembering.cache_clear()


@memo(most=8)
def _remembering(style: Style) -> tuple[Printer, Operations]:
    """Return the printer of a style, with its cache of names, types and small values."""
    printer = Printer(style)
    return printer, Operations(printer)
