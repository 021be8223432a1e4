"""What a Program can be printed as, and what is not a choice."""

from __future__ import annotations

from typing import Any

import pytest

import miltext
from miltext.printing.printer import Printer
from miltext.printing.printing import pieces
from miltext.printing.tensors import Style
from miltext.schema.proto import Program


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"dialect": "2.0"}, "unknown dialect '2.0': choose 1.0 or 1.3"),
        ({"floats": "octal"}, "unknown form of floats 'octal': choose 'hex' or 'decimal'"),
    ],
)
def test_an_unknown_style_is_refused_before_anything_is_printed(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        miltext.to_text(Program(), **choice)
    with pytest.raises(ValueError, match=message):
        Printer(Style(**choice))
    with pytest.raises(ValueError, match=message):
        next(iter(pieces(Program(), Style(**choice))))


@pytest.mark.parametrize("choice", [{}, {"dialect": "1.0"}, {"floats": "decimal"}, {"elide": 1}, {"strict": True}])
def test_the_pieces_of_each_style_are_the_text(choice: dict[str, Any]) -> None:
    value = "tensor<fp16, [2]>([0x1.8p+0, 0x1p+0])"
    program = miltext.parse(f"program(1.3) {{ func f(fp16 x) {{ fp16 y = add(x = x, y = {value}); }} -> (y); }}")
    assert miltext.to_text(program, **choice) == "".join(pieces(program, Style(**choice)))
