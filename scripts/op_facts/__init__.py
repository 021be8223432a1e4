"""What coremltools computes of an op's arguments and does not declare: shapes, ranges, axes and words, by op.

A key is an op, several that share their facts, or one from an opset on: `conv@ios17`. The facts of a parameter are
those of `miltext.schema.operations.Parameter`, as text. Sources are paths in coremltools/converters/mil/mil/ops/defs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from op_facts import compression, control, creation, elementwise, layers, shapes

if TYPE_CHECKING:
    from op_facts.words import Fact

FAMILIES = (compression, control, creation, elementwise, layers, shapes)


def facts_of(op_type: str, opset: str) -> dict[str, Fact]:
    """Return the facts of an op's parameters as an opset has them: those of later keys take the place of others."""
    found: dict[str, Fact] = {}
    for family in FAMILIES:
        for key, facts in family.FACTS.items():
            names, _, since = key.partition("@")
            if op_type in names.split() and (since or "ios15") <= opset:
                found |= facts
    return found


def unknown_parameters(table: dict[str, list[dict[str, dict[str, object]]]]) -> list[str]:
    """Return the ops and parameters that facts speak of, and that a table of ops does not have."""
    found = []
    for family in FAMILIES:
        for key, facts in family.FACTS.items():
            for op_type in key.partition("@")[0].split():
                listed = {name for version in table.get(op_type, ()) for name in version["parameters"]}
                found += [f"{op_type}: {name}" for name in facts if name not in listed]
    return found
