"""Core ML's MIL programs as text: read, write, edit, review and test them, on any machine.

    program = miltext.parse(text)        # MIL text -> Program
    text = miltext.to_text(program)      # Program -> MIL text, losslessly
    text = miltext.format_text(text)     # canonical layout, comments kept
    findings = miltext.check(text)       # all that is wrong with it, in one go
    model = miltext.load(path)           # .mil, .mlmodel, .mlpackage, .mlmodelc, .pb, .txtpb

Each name is imported when it is first used, so that `import miltext` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from miltext.building.build import build
    from miltext.checking import check
    from miltext.completing import infer_draft
    from miltext.diagnostics import Diagnostic, MiltextError, ModelError, Note, ParseError, PrintError, Span
    from miltext.diffing import Difference, diff
    from miltext.formatter import format_text
    from miltext.inference import infer_types
    from miltext.models import Model, load
    from miltext.parser import parse
    from miltext.printing import to_text
    from miltext.source_map import SourceMap, parse_with_source
    from miltext.strictness import strict_findings

_HOMES = {
    "building.build": ("build",),
    "checking": ("check",),
    "completing": ("infer_draft",),
    "diagnostics": ("Diagnostic", "MiltextError", "ModelError", "Note", "ParseError", "PrintError", "Span"),
    "diffing": ("Difference", "diff"),
    "formatter": ("format_text",),
    "inference": ("infer_types",),
    "models": ("Model", "load"),
    "parser": ("parse",),
    "printing": ("to_text",),
    "source_map": ("SourceMap", "parse_with_source"),
    "strictness": ("strict_findings",),
}
_HOME = {name: f"miltext.{module}" for module, names in _HOMES.items() for name in names}

__all__ = [
    "Diagnostic",
    "Difference",
    "MiltextError",
    "Model",
    "ModelError",
    "Note",
    "ParseError",
    "PrintError",
    "SourceMap",
    "Span",
    "build",
    "check",
    "diff",
    "format_text",
    "infer_draft",
    "infer_types",
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
