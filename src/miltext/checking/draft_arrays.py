"""Array files as constants of drafts, and their conversions to the types of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.arrays import converted_to
from miltext.checking.findings import Remark
from miltext.checking.literal_types import UndecidedType, fitting_dtype, shared_dtypes
from miltext.diagnostics import codes
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miltext.arrays.stored import StoredArray
    from miltext.checking.findings import Finding
    from miltext.checking.inference.operands import Operand
    from miltext.schema.operations import Signature
    from miltext.schema.paths import Path

NUMBERS = ("float", "int", "uint")
"""The kinds of data types that arrays are converted to."""

DATA_TYPES = (codes.UNSUPPORTED_DTYPE, codes.DTYPES_DIFFER)
"""The codes for values with a wrong data type."""


class HeldArray(NamedTuple):
    """An array in a `const`, the path of its literal, and whether the text contains the `const`."""

    stored: StoredArray
    literal: Path
    is_written: bool


class ArrayConversion(NamedTuple):
    """A conversion in the text that gives an array the type of its parameter."""

    array: HeldArray
    parameter: str
    converted: str

    def finding_at_literal(self, finding: Finding) -> Finding:
        """Return a finding about the data type of the array, placed at its literal."""
        remark = Remark(f"it is {self.parameter} here", finding.path)
        remarks = (remark, *finding.remarks) if self.array.is_written else ()
        message = f"{finding.message}; `{self.converted}` converts the array"
        return finding._replace(path=self.array.literal, message=message, remarks=remarks, suggestion=self.converted)


def conversion(
    array: HeldArray,
    own: Operand,
    name: str,
    known: Signature,
    operands: Mapping[str, Sequence[Operand]],
    usual: Sequence[str],
) -> ArrayConversion | None:
    """Return the conversion of an array to a type of the parameter `name`, given the other operands; None if no type is
    possible, or too little is known.

    The `usual` data types are the function's.
    """
    parameter, kind = known.parameters[name], array.stored.header.dtype.kind
    taken = sorted(dtype for dtype in parameter.dtypes or BY_NAME if BY_NAME[dtype].kind in NUMBERS)
    alike = [dtype for dtype in taken if (BY_NAME[dtype].kind == "float") == (kind == "float")]
    beside = {other: [each for each in bound if each is not own] for other, bound in operands.items()}
    shared = [dtype for dtype in shared_dtypes(parameter, known, beside) if dtype in taken]
    try:
        dtype = fitting_dtype(
            shared[:1] or alike or taken, parameter, known, beside, is_whole=kind != "float", usual=usual
        )
    except UndecidedType:
        return None
    converted = converted_to(array.stored, dtype) if dtype != array.stored.dtype.name else None
    return ArrayConversion(array, f"`{name}` of `{known.name}`", converted) if converted else None


def at_array(finding: Finding, conversions: Mapping[Path, ArrayConversion]) -> Finding:
    """Return a finding, at its array if it is about the data type of an array."""
    if finding.code not in DATA_TYPES:
        return finding
    about = (
        conversions[path] for path in (finding.path, *(each.path for each in finding.remarks)) if path in conversions
    )
    found = next(about, None)
    return found.finding_at_literal(finding) if found else finding
