"""Rewriting takes time that grows with the program, in whatever form its sites are: calls are counted, not seconds."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable

import pytest

import miltext
from miltext.containers.sources import model_of
from miltext.evaluation.subjects import opened
from miltext.schema.proto import Program

SIZE = 100
MOST = 2.3
"""The greatest ratio of calls for a program of twice the size: 4 if they grow with its square."""


def joined(line: str, first: str = "", returned: str = "") -> Callable[[int], str]:
    """Return a maker of programs: `line` again and again, with its number, and the number before it."""

    def text(size: int) -> str:
        lines = "".join(f"\n            {line.format(at=at, before=at - 1)}" for at in range(1, size + 1))
        outputs = ", ".join(returned.format(at=at) for at in range(1, size + 1)) if returned else f"y{size}"
        return f"""program(1.3)
{{
    func main<ios18>(tensor<fp32, [4]> x) {{
            {first or "y0 = sin(x);"}{lines}
        }} -> ({outputs});
}}
"""

    return text


def side_by_side(line: str) -> Callable[[int], str]:
    """Return a maker of programs: `line` with each number, and a `concat` of all its values."""

    def text(size: int) -> str:
        lines = " ".join(line.format(at=at) for at in range(size))
        joined_ones = ", ".join(f"y{at}" for at in range(size))
        body = f"{lines}\n z = concat(({joined_ones}), axis = 0);"
        return f"program(1.3)\n{{\nfunc main<ios18>(tensor<fp32, [4]> x) {{\n{body}\n}} -> (z);\n}}\n"

    return text


WEIGHT = "y0 = sin(x); w = const()[val = tensor<fp32, [4]>([1, 2, 3, 4])];"
PROGRAMS = {
    "a chain": joined("a{at} = tanh(y{before}); y{at} = sin(a{at});"),
    "a chain that goes": joined("y{at} = relu(y{before});"),
    "a wide fan": joined("a{at} = sub(x, {at}.0); y{at} = mul(a{at}, y{before});"),
    "a wide fan that goes": joined("a{at} = mul(x, 1.0); y{at} = add(a{at}, y{before});"),
    "equal operations": joined("a{at} = sin(x); y{at} = add(a{at}, y{before});"),
    "dead operations": joined("a{at} = sub(x, {at}.0); y{at} = identity(y{before});"),
    "constants": joined("c{at} = const()[val = tensor<fp32, [4]>([{at}, 2, 3, 4])]; y{at} = add(c{at}, y{before});"),
    "folds of one constant": joined("a{at} = mul(w, {at}.0); y{at} = add(a{at}, y{before});", WEIGHT),
    "a chain of folds": joined("w{at} = sin(w{before}); y{at} = identity(y{before});", WEIGHT.replace("w =", "w0 =")),
    "outputs": joined("a{at} = mul(w, {at}.0); y{at} = add(a{at}, x);", WEIGHT, "y{at}"),
    "operands that go": side_by_side("a{at} = sub(x, {at}.0); y{at} = mul(a{at}, 1.0);"),
    "equal operands": side_by_side("y{at} = sin(x);"),
    "operands that fold": side_by_side("c{at} = sin([{at}.0]); y{at} = mul(c{at}, x);"),
    "outputs of one value": joined("y{at} = mul(y0, 1.0);", "y0 = sin(x);", "y{at}"),
}


def calls(program: Program) -> tuple[int, int]:
    """Return the number of calls of an optimization, and the number of its replacements."""
    with cProfile.Profile() as counted:
        done = miltext.optimize(program)
    return pstats.Stats(counted).total_calls, sum(each.is_replaced for each in done.sites)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_the_program_takes_twice_the_calls(name: str) -> None:
    made = {size: opened(model_of(PROGRAMS[name](size))).program for size in (8, SIZE, 2 * SIZE)}
    calls(made[8])  # reads the packaged rules
    short, long = calls(made[SIZE]), calls(made[2 * SIZE])
    assert long[0] < MOST * short[0]
    assert long[1] in (0, *range(2 * short[1] - 2, 2 * short[1] + 3))
