"""`compare`: what a lower precision loses inside is no finding where all outputs hold, and leads there where one falls.

`scripts/try_precisions.py` does the same with networks of torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from miltext import Comparison, compare
from miltext.cli import command
from miltext.evaluation.comparing.precisions import is_rounded

GIVEN = {"x": np.array([[0.25, -1.5, 2.9999, 0.50001], [2.0, 1.00001, -0.3, 7.0]], np.float32)}

LOSING = {
    "a comparison": ("p", "p = greater(x = x, y = 0.5); y = select(cond = p, a = x, b = 0.5);"),
    "a comparison as numbers": (
        "n",
        """p = less_equal(x = x, y = 0.5); n = cast(x = p, dtype = "{t}");
        m = mul(x = n, y = 0.001); y = add(x = x, y = m);""",
    ),
    "floor": ("f", "f = floor(x = x); g = sub(x = x, y = f); d = mul(x = f, y = 0.001); y = add(x = x, y = d);"),
    "a whole number": (
        "c",
        """h = mul(x = x, y = 2.0); k = ceil(x = h); c = cast(x = k, dtype = "int32"); f = cast(x = c, dtype = "{t}");
        d = mul(x = f, y = 0.0005); y = add(x = x, y = d);""",
    ),
    "a small scale": ("s", "t = tanh(x = x); s = mul(x = t, y = 0.0000001); y = add(x = x, y = s);"),
    "a mask": (
        "s",
        """m = const()[val = tensor<{t}, [4]>([0, 0, 0, {mask}])]; s = add(x = x, y = m);
        y = softmax(x = s, axis = -1);""",
    ),
    "infinity that heals": (
        "e",
        """n = mul(x = x, y = 5.0); e = exp(x = n); o = add(x = e, y = 1.0); i = real_div(x = 1.0, y = o);
        y = add(x = i, y = x);""",
    ),
    "a small difference": (
        "d",
        """a = add(x = x, y = 3000.0); d = sub(x = a, y = 3000.0); k = mul(x = d, y = 0.001);
        y = add(x = x, y = k);""",
    ),
}
"""What falls in fp16, and an operation that has it matter little."""


def program(body: str, dtype: str, outputs: str = "y") -> str:
    """Return a draft of one data type that takes and gives fp32."""
    body = body.replace("{t}", dtype).replace("{mask}", "-3e38" if dtype == "fp32" else "-65504")
    return f"""program(1.3) {{ func main<ios18>(tensor<fp32, [2, 4]> x_) {{
        x = cast(x = x_, dtype = "{dtype}"); {body} }} -> ({outputs}); }}"""


def held(body: str, old: str, new: str, outputs: str = "y", **choices: Any) -> Comparison:
    return compare(program(body, old, outputs), program(body, new, outputs), {"x_": GIVEN["x"]}, **choices)


@pytest.mark.parametrize("ways", [("fp32", "fp16"), ("fp16", "fp32")])
@pytest.mark.parametrize("kind", LOSING)
def test_an_inner_loss_is_not_a_finding_if_outputs_hold(kind: str, ways: tuple[str, str]) -> None:
    name, body = LOSING[kind]
    comparison = held(body, *ways)
    assert comparison.ok
    assert [each.value.name for each in comparison.origins] == []
    assert comparison.diagnostics == []
    assert name in {each.name for each in comparison.values if each.fell}, comparison.to_text(full=True)
    assert f"\n  ! {name} " in comparison.to_text(full=True)


@pytest.mark.parametrize("kind", LOSING)
def test_a_loss_is_found_where_an_output_falls(kind: str) -> None:
    name, body = LOSING[kind]
    comparison = held(body, "fp32", "fp16", outputs=f"y, {name}")
    assert not comparison.ok
    assert comparison.first is not None
    fell = [each.name for each in comparison.values if each.fell]
    assert comparison.first.value.name in {name, *fell}
    assert comparison.first.reaches_output


@pytest.mark.parametrize("kind", LOSING)
def test_a_loss_leads_to_another_falling_output(kind: str) -> None:
    """Where an output falls, all that fell inside is told."""
    _, body = LOSING[kind]
    more = f"{body} z = sin(x = y);"
    one = program(more, "fp32", "y, z")
    other = program(more.replace("sin", "cos"), "fp16", "y, z")
    comparison = compare(one, other, {"x_": GIVEN["x"]})
    first, *rest = [each.value.name for each in comparison.origins]
    assert first == "z"
    assert rest
    assert not any(each.reaches_output for each in comparison.origins[1:])


EDITS = {
    "the type": ("t", "t = tanh(", "t = sin("),
    "a number": ("s", "y = 0.0001", "y = 0.00011"),
    "an attribute": ("c", "axis = 1", "axis = 0"),
    "a flag": ("c", "reverse = false", "reverse = true"),
    "a weight": ("w", "[0.5, 0.25, 0.125, 2]", "[0.5, 0.25, 0.125, 1.9]"),
    "one more operation": ("q", "q = abs(x = x)", "r = sin(x = x); q = abs(x = r)"),
    "one operation less": ("t", "q = abs(x = x); t = tanh(x = q)", "t = tanh(x = x)"),
}
"""Faults by what is changed: the value that is told, what is replaced, and what by."""

FAULTY = """q = abs(x = x); t = tanh(x = q); c = cumsum(x = t, axis = 1, exclusive = false, reverse = false);
    w = const()[val = tensor<{t}, [4]>([0.5, 0.25, 0.125, 2])]; m = mul(x = c, y = w);
    s = mul(x = m, y = 0.0001); y = add(x = x, y = s);"""


@pytest.mark.parametrize("ways", [("fp32", "fp16"), ("fp16", "fp32")])
@pytest.mark.parametrize("kind", EDITS)
def test_a_fault_inside_is_reported_beside_another_precision(kind: str, ways: tuple[str, str]) -> None:
    """Only what is the same but rounded is left out: a fault that matters to no output stays a warning."""
    name, old, new = EDITS[kind]
    assert old in FAULTY
    one, other = (program(each, dtype) for each, dtype in zip((FAULTY, FAULTY.replace(old, new)), ways, strict=True))
    comparison = compare(one, other, {"x_": GIVEN["x"]})
    assert comparison.ok
    assert [(each.value.name, each.reaches_output) for each in comparison.origins] == [(name, False)]


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
def test_inner_changes_of_an_edit_are_reported_in_one_precision(dtype: str) -> None:
    body = "t = tanh(x = x); s = mul(x = t, y = {scale}); y = add(x = x, y = s);"
    one, other = (program(body.replace("{scale}", scale), dtype) for scale in ("0.0001", "0.0002"))
    comparison = compare(one, other, {"x_": GIVEN["x"]}, min_snr=50)
    assert comparison.ok
    assert [(each.value.name, each.reaches_output) for each in comparison.origins] == [("s", False)]


def test_a_given_threshold_changes_no_origin() -> None:
    _, body = LOSING["a comparison"]
    comparison = held(body, "fp32", "fp16", min_snr=55)
    assert (comparison.ok, comparison.origins) == (True, ())
    assert not held(body, "fp32", "fp16", min_snr=200).ok
    assert held(body, "fp32", "fp16", min_snr=200).origins


def test_the_command_shows_it_in_the_table_alone(tmp_path: Any) -> None:
    _, body = LOSING["a comparison"]
    for dtype in ("fp32", "fp16"):
        (tmp_path / f"{dtype}.mil").write_text(program(body, dtype))
    np.savez(tmp_path / "x.npz", x_=GIVEN["x"])
    call = ["compare", *(str(tmp_path / f"{each}.mil") for each in ("fp32", "fp16")), "--inputs"]
    done = CliRunner().invoke(command, [*call, str(tmp_path / "x.npz")])
    assert done.exit_code == 0
    assert "MIL841" not in done.output
    assert "1 below" in done.output


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (0.1, 0.1, True),
        (1e-6, 1e-6, True),
        (1e-8, 0.0, True),
        (1e-8, 6e-8, True),  # as coremltools rounds them
        (1e-6, 0.0, False),
        (-3e38, -np.inf, True),
        (-3e38, -65504, True),
        (-3e38, -60000, False),
        (3e38, -65504, False),
        (np.nan, np.nan, True),
        (0.1, 0.1001, False),
    ],
)
def test_a_constant_is_rounded_or_another(one: float, other: float, is_same: bool) -> None:
    with np.errstate(over="ignore"):
        a, b = np.array([1, one], np.float32), np.array([1, other], np.float32).astype(np.float16)
    assert is_rounded(a, b) is is_same
    assert is_rounded(b, a) is is_same
