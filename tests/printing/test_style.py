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


STRINGS = ["US$", "$", "$nan", "$0x1", "]$[", "$(x)", '\\"$\\"', "$elided", "ab"]


@pytest.mark.parametrize("many", [0, 1, 2])
@pytest.mark.parametrize("string", STRINGS)
def test_dollars_in_strings_are_not_spelling_of_ours(string: str, many: int) -> None:
    written, shape = f'"{string}"', ""
    for size in [2] * many:
        written, shape = f"[{', '.join([written] * size)}]", f"{shape}{', ' if shape else ''}{size}"
    typed = f"tensor<string, [{shape}]>({written})" if many else f"string({written})"
    of_list = f'list<string, 2>([{written}, "b"])' if not many else typed
    for value in (typed, of_list):
        text = f"program(1.3) {{ func f<ios16>(fp16 x) {{ fp16 y = odd(x = x, y = {value}); }} -> (y); }}"
        program = miltext.parse(text)
        strict = miltext.to_text(program, strict=True)
        assert strict == miltext.to_text(program)
        assert miltext.strict_findings(strict) == []


@pytest.mark.parametrize("dtype", ["fp16", "string"])
@pytest.mark.parametrize("shape", ["[3]", "[1, 3]"])
def test_literals_of_ours_stay_refused(dtype: str, shape: str) -> None:
    element = '"a"' if dtype == "string" else "1"
    literal = f"[{element}, {element}, {element}]"
    value = f"tensor<{dtype}, {shape}>({literal if shape == '[3]' else f'[{literal}]'})"
    program = miltext.parse(f"program(1.3) {{ func f<ios16>(fp16 x) {{ fp16 y = odd(x = x, y = {value}); }} -> (y); }}")
    with pytest.raises(miltext.PrintError, match="MIL201"):
        miltext.to_text(program, strict=True, elide=2)
