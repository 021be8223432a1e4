"""The front door of printing: a Program to MIL text, losslessly or as Apple's compiler would write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from miltext.printing.plain_operations import Operations
from miltext.printing.printer import Printer
from miltext.printing.tensors import Style
from miltext.schema.opsets import DIALECTS
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.printing.coremlc import Versions
    from miltext.schema.proto import Message


@with_room
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
    """MIL text that reads back as this Program.

    `dialect` is the version of the language, `1.0` or `1.3`; `floats` is `hex`, as Apple prints them, or `decimal`.
    Literals of more than `elide` elements are left out, and such a text does not read back. `program` may be any
    message of the full name `CoreML.Specification.MILSpec.Program`, coremltools' too. Raises PrintError where the
    Program has fields that are not in the schema, is nested too deeply or, if `strict`, says what Apple's syntax
    cannot.

    With `as_coremlc`, the text is what Apple's compiler would write instead: `miltext.printing.coremlc.as_coremlc`
    tells what that is and what the other arguments mean. It has no choice of dialect, floats and elision.
    """
    made = pieces(
        program,
        dialect=dialect,
        floats=floats,
        elide=elide,
        strict=strict,
        as_coremlc=as_coremlc,
        specification_version=specification_version,
        description=description,
        versions=versions,
        on_warning=on_warning,
    )
    return "".join(made)


def pieces(
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
) -> Iterator[str]:
    """What `to_text` gives, piece by piece. Raises as it does, before the first piece or at any later one."""
    if dialect not in DIALECTS:
        raise ValueError(f"there is no dialect {dialect!r}: 1.0 and 1.3 are the two")
    if floats not in ("hex", "decimal"):
        raise ValueError(f"floats are written in 'hex' or 'decimal', not {floats!r}")
    if as_coremlc:
        if (dialect, floats, elide) != ("1.3", "hex", None):
            raise ValueError("what Apple's compiler writes has no choice of dialect, floats or elision")
        from miltext.printing import coremlc

        yield from coremlc.pieces(program, specification_version, description, versions, on_warning)
        return
    style = Style(floats == "decimal", elide)
    printer = Printer(dialect, style, strict=strict)
    operations = Operations(printer)
    yield from printer.program(own_copy(program, operations.take_out), operations.lines)
    yield "\n"
