"""Unknown types, which the grammar reads as names of values or operations: `flot16 y`, `x = float(1)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.diagnostics import SAFE, Diagnostic, Span, codes, error
from miltext.diagnostics.suggestions import bool_meant, certainty, did_you_mean, nearest
from miltext.schema.dtypes import AMBIGUOUS, BY_NAME, ELSEWHERE
from miltext.schema.operations import first_opset
from miltext.syntax.literals import shown
from miltext.syntax.names import ARRAYS, name_text
from miltext.syntax.phrases import arguments, is_positional, name_in

if TYPE_CHECKING:
    from miltext.syntax.tree import Node

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_@]*")
_TYPES = [*BY_NAME, "tensor", "list", "tuple", "dict", "state"]
_OPENED = ("(", ",")

AS_STRING = "a data type is given as a string"
"""The beginning of the message about a data type as an argument."""


def unknown_type(name: str, place: Span, noun: str = "type") -> Diagnostic:
    """Return the error for an unknown type."""
    known = [*BY_NAME] if noun == "data type" else _TYPES
    is_array = f"${name}" in ARRAYS and noun == "type"
    other_name = f"${name}" if is_array else bool_meant(name) or ELSEWHERE.get(name.lower())
    near = other_name or nearest(name, known, 0.6)
    is_certain = other_name is not None and name.lower() not in AMBIGUOUS
    message = f"unknown {noun} `{shown(name)}`{did_you_mean(near)}"
    return error(
        codes.UNKNOWN_TYPE, message, place, suggestion=near, applicability=SAFE if is_certain else certainty(name, near)
    )


# ---- after a syntax error


def misread_type(found: str, words: set[str], nodes: list[Node]) -> Node | None:
    """Return the name in place of a type among the last phrases before `found`; `words` are the possible terminals
    there.
    """
    for is_misread in (_is_head, _is_input, _is_output, _is_conversion, _is_value):
        if name := is_misread(found, words, nodes):
            return name
    return None


def _is_head(found: str, words: set[str], nodes: list[Node]) -> Node | None:
    """`tensr<fp16, ...` was read as an operation with its opset."""
    if words != {">"} or found != "," or len(nodes) < 4:
        return None
    before, name, opening, _ = nodes[-4:]
    is_operation = before.token == "=" and nodes[-5:-4] and nodes[-5].name == "results"
    is_first = before.token != "func" and not is_operation
    return name if is_first and name.name == "NAME" and opening.token == "<" else None


def _is_input(found: str, words: set[str], nodes: list[Node]) -> Node | None:
    """`f(flot16 x)`, `f(tensr<...`: it was read as the name of an input."""
    if not words <= {",", ")"} or len(nodes) < 2 or nodes[-1].name not in ("NAME", "draft_value"):
        return None
    opening = next((at for at in range(len(nodes) - 1, -1, -1) if nodes[at].token == "("), 0)
    is_inputs = opening > 0 and nodes[opening - 1].token not in ("->", "=", *_OPENED)
    is_first = nodes[-2].token in _OPENED and len(nodes[-1].children) < 2
    return nodes[-1] if is_first and is_inputs and (found == "<" or NAME.fullmatch(found)) else None


def _is_output(found: str, words: set[str], nodes: list[Node]) -> Node | None:
    """`fp16 x, float y`: it was read as the name of an output."""
    is_second = len(nodes) > 1 and nodes[-1].name == "NAME" and nodes[-2].token == ","
    return nodes[-1] if words == {"=", ","} and is_second and (found == "<" or NAME.fullmatch(found)) else None


def _is_conversion(found: str, _: set[str], nodes: list[Node]) -> Node | None:
    """`mul(x, half $npy(...` was read as a value."""
    is_value = len(nodes) > 1 and nodes[-1].name in ("NAME", "name_binding") and nodes[-2].token in ("=", *_OPENED)
    return nodes[-1] if found in ARRAYS and is_value else None


def _is_value(found: str, words: set[str], nodes: list[Node]) -> Node | None:
    """`x = tensr<...`: it was read as the name of a value."""
    if len(nodes) < 2 or nodes[-1].name not in ("NAME", "name_binding") or nodes[-2].token == "func" or "=" in words:
        return None
    is_type = found == "(" or (found == "<" and nodes[-1].name == "name_binding")
    return nodes[-1] if is_type or (NAME.fullmatch(found) and "(" in words) else None


# ---- in a text without syntax errors


def is_misread(call: Node) -> bool:
    """Return whether a nested operation is a value of an unknown type: `float(1)`, with no operation of that name."""
    name = name_in(call)
    literal = literal_given(call)
    is_untyped = literal is not None and literal.name == "draft_binding"
    return is_untyped and name_text(name) == name and first_opset(name) is None


def literal_given(operation: Node) -> Node | None:
    """Return the literal as the only argument of an operation, without a parameter's name."""
    given = [*arguments(operation)]
    found = given[0].children if len(given) == 1 and is_positional(given[0]) else []
    return found[0] if len(found) == 1 and found[0].name in ("draft_binding", "value_binding") else None
