"""Core ML's MIL programs as text: read, write, edit, review and test them, on any machine.

    program = miltext.parse(text)        # MIL text -> Program
    text = miltext.to_text(program)      # Program -> MIL text, losslessly
    text = miltext.format_text(text)     # canonical layout, comments kept
    model = miltext.load(path)           # .mil, .mlmodel, .mlpackage, .mlmodelc, .pb, .txtpb

Each name is imported when it is first used, so that `import miltext` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic, MiltextError, ModelError, Note, ParseError, PrintError, Span
    from miltext.formatter import format_text
    from miltext.models import Model, load
    from miltext.parser import parse
    from miltext.printing import to_text
    from miltext.source_map import SourceMap, parse_with_source
    from miltext.strictness import strict_findings

_HOMES = {
    "diagnostics": ("Diagnostic", "MiltextError", "ModelError", "Note", "ParseError", "PrintError", "Span"),
    "formatter": ("format_text",),
    "models": ("Model", "load"),
    "parser": ("parse",),
    "printing": ("to_text",),
    "source_map": ("SourceMap", "parse_with_source"),
    "strictness": ("strict_findings",),
}
_HOME = {name: f"miltext.{module}" for module, names in _HOMES.items() for name in names}

__all__ = [
    "Diagnostic",
    "MiltextError",
    "Model",
    "ModelError",
    "Note",
    "ParseError",
    "PrintError",
    "SourceMap",
    "Span",
    "format_text",
    "load",
    "parse",
    "parse_with_source",
    "strict_findings",
    "to_text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'miltext' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
