"""Programs converted from fp32 to fp16 or back, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import miltext
from miltext.conversion.contents import Contents, ConvertedConstant
from miltext.conversion.converting import PRECISIONS
from miltext.conversion.programs import convert_program
from miltext.weight_files.model_weights import BlobFolder

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.schema.proto import Program


class Converted(NamedTuple):
    """A program before and after, as text without its names, and what was told."""

    before: Program
    after: Program
    changes: dict[str, ConvertedConstant]
    warnings: list[Diagnostic]

    @property
    def lines(self) -> list[str]:
        """The operations and the last line of the first function, without attributes that are names."""
        return lines_of(self.after)


def lines_of(program: Program) -> list[str]:
    text = miltext.to_draft(program, drop_names=True)
    return [line.strip() for line in text.splitlines()[3:-2]]


def convert(text: str | Program, to: str, *, io: bool = False, folder: Path | None = None) -> Converted:
    """Convert a text, a draft or a Program; what comes out has no finding that was not there before."""
    before = miltext.parse(miltext.infer_draft(text)) if isinstance(text, str) else text
    after = type(before)()
    after.CopyFrom(before)
    contents = Contents(PRECISIONS[to], BlobFolder(folder), {})
    warnings = convert_program(after, contents, lambda *_: io)
    known = {each.code for each in miltext.check(before)}
    assert [(each.code, each.message) for each in miltext.check(after) if each.code not in known] == []
    return Converted(before, after, {change.name: change for change in contents.changes}, warnings)


def assert_near(made: Converted, inputs: Mapping[str, Any], rtol: float = 5e-3, **options: Any) -> None:
    """Assert that both programs compute the same, to so much of the largest number of each output."""
    before, after = (miltext.run(program, dict(inputs), **options) for program in (made.before, made.after))
    assert before.keys() == after.keys()
    for name, expected in before.items():
        found = np.asarray(after[name], np.float64)
        wide = np.asarray(expected, np.float64)
        limit = rtol * max(1e-6, float(np.abs(wide[np.isfinite(wide)]).max(initial=0)))
        np.testing.assert_allclose(found, wide, rtol=0, atol=limit, err_msg=name)


def draft(body: str, returns: str, inputs: str = "tensor<fp32, [2, 3]> x", opset: str = "ios18") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{body}\n        }} -> ({returns});\n}}\n"
