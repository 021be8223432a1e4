"""`compare`: the odd neighbours of what it is made for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from miltext import MiltextError, compare

INF = math.inf


def program(body: str, outputs: str = "y", inputs: str = "tensor<fp32, [2, 3]> x") -> str:
    """A text whose types are left out: `compare` takes drafts."""
    return f"program(1.3) {{ func main<ios18>({inputs}) {{ {body} }} -> ({outputs}); }}"


ROOT = program("y = sqrt(x = x);")
GIVEN = {"x": np.array([[4, -4, 9], [1, 16, 25]], np.float32)}


@pytest.mark.parametrize("odd", [math.nan, INF, -INF])
def test_numbers_from_elsewhere_may_be_odd(odd: float) -> None:
    expected = np.array([[2, odd, 3], [1, 4, 5]], np.float32)
    comparison = compare(ROOT, None, GIVEN, against={"y": expected})
    assert comparison.ok is math.isnan(odd)
    assert [(each.side, each.kind) for each in comparison.oddities] == [("new", "NaN")]
    assert "NaN first comes from `y` (sqrt) in the new one" in comparison.to_text()


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"min_snr": math.nan}, "min_snr"),
        ({"runs": 0}, "runs"),
        ({"runs": -1}, "runs"),
    ],
)
def test_choices_that_would_check_nothing_are_refused(choices: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        compare(ROOT, ROOT, **choices)


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.full((2, 3), "a"), "numbers of the type <U1 against float32"),
        (np.full((2, 3), None), "numbers of the type object against float32"),
        (np.ones((2, 3), complex), "numbers of the type complex128 against float32"),
        ({"a": 1.0}, "a dictionary against a tensor"),
    ],
)
def test_a_string_cannot_be_compared_with_a_number(array: Any, told: str) -> None:
    comparison = compare(ROOT, None, GIVEN, against={"y": array})
    assert [(each.measure.misfit, each.fell) for each in comparison.outputs] == [(told, True)]


@pytest.mark.parametrize("probabilities", [{"u": "x", "v": "y"}, {"u": None, "v": 1.0}])
def test_probabilities_that_are_not_numbers(probabilities: dict[str, Any]) -> None:
    body = 'p = softmax(x = x); a, y = classify(probabilities = p, classes = ["u", "v"]);'
    text = program(body, outputs="a, y", inputs="tensor<fp32, [1, 2]> x")
    (output,) = compare(text, None, {"x": np.ones((1, 2), np.float32)}, against={"y": probabilities}).outputs
    assert "against float64" in output.measure.misfit
    assert output.fell


@pytest.mark.skipif(np.__version__.startswith("1.23."), reason="numpy 1.23 makes an array of objects")
def test_invalid_arrays_are_refused() -> None:
    with pytest.raises(MiltextError) as caught:
        compare(ROOT, None, GIVEN, against={"y": [[1], [1, 2]]})
    assert caught.value.diagnostics[0].code == "MIL844"
    assert caught.value.diagnostics[0].message.startswith("numpy cannot convert the value of `y` to an array: ")


def test_names_are_strings() -> None:
    arrays: dict[Any, Any] = {1: np.ones((2, 3))}
    with pytest.raises(TypeError, match=r"`against` of .* must be a mapping, such as a dict, by names or None"):
        compare(ROOT, None, GIVEN, against=arrays)


def test_numbers_may_be_lists() -> None:
    assert compare(ROOT, None, {"x": np.ones((2, 3), np.float32)}, against={"y": [[1, 1, 1], [1, 1, 1]]}).ok


def test_numbers_against_random_inputs_are_reported() -> None:
    made = {"y": np.ones((2, 3), np.float32)}
    assert compare(ROOT, None, against=made).notes == ("the stored numbers are of other inputs: pass those",)
    assert compare(ROOT, None, GIVEN, against=made).notes == ()
    assert compare(ROOT, None, against=made, seed=0).notes == ()


@pytest.mark.parametrize(
    ("inner", "given", "threshold"),
    [("fp32", "float32", 80), ("fp16", "float32", 40), ("fp16", "float16", 40), ("fp32", "float16", 40)],
)
def test_arrays_count_as_fp32_unless_they_are_fp16(inner: str, given: str, threshold: float) -> None:
    text = program(f'a = cast(x = x, dtype = "{inner}"); b = exp(x = a); y = cast(x = b, dtype = "fp32");')
    assert compare(text, None, GIVEN, against={"y": np.ones((2, 3), given)}).min_snr == threshold


@pytest.mark.parametrize("min_snr", [INF, -INF, 0.0])
def test_thresholds_at_the_ends(min_snr: float) -> None:
    assert compare(ROOT, ROOT, min_snr=min_snr).ok
    assert compare(ROOT, program("y = sin(x = x);"), GIVEN, min_snr=min_snr).ok is (min_snr == -INF)


def test_a_number_is_not_the_place_of_the_most_loss() -> None:
    body = "k = const()[val = fp32({})]; h = mul(x = x, y = k); y = exp(x = h);"
    comparison = compare(program(body.format("1.0")), program(body.format("1.00001")))
    assert comparison.steepest is not None
    assert comparison.steepest.value.name == "h"
    assert comparison.steepest.value.lost > 50
    assert "most is lost at `h` (mul)" in comparison.to_text()


def test_an_index_is_not_the_place_of_the_most_loss() -> None:
    body = "i = add(x = {}, y = j); y = gather(x = x, indices = i, axis = 1);"
    inputs = "tensor<fp32, [2, 3]> x, tensor<int32, [1]> j"
    given = {"x": np.array([[1, 1.00001, 2]] * 2, np.float32), "j": np.zeros(1, np.int32)}
    one, other = (program(body.format(number), inputs=inputs) for number in (0, 1))
    comparison = compare(one, other, given)
    assert comparison.steepest is None or comparison.steepest.value.name == "y"


# ---- inputs


@pytest.mark.parametrize("name", ["x", "image"])
def test_sizes_that_only_old_program_leaves_open_match_new_one(name: str) -> None:
    flexible = program("y = relu(x = x);", inputs="tensor<fp32, [?, 3]> x")
    fixed = program(f"y = relu(x = {name});", inputs=f"tensor<fp32, [5, 3]> {name}")
    for pair in ((flexible, fixed), (fixed, flexible)):
        comparison = compare(*pair)
        assert comparison.ok
        assert comparison.outputs[0].type == "tensor<fp32, [5, 3]>"


# ---- where it begins


def dipping(scale: float) -> str:
    """A text whose `a` is scaled: the sum heals a little of that, and the difference makes it worse again."""
    return program(
        f"a = mul(x = x, y = {scale}); b = add(x = a, y = x); c = mul(x = x, y = 0.9); y = sub(x = b, y = c);"
    )


def test_a_fault_that_heals_a_little_and_dips_again_is_first() -> None:
    comparison = compare(dipping(1.0), dipping(1.00015))
    fell = {each.name: each.fell for each in (*comparison.values, *comparison.outputs)}
    assert fell == {"x": False, "a": True, "b": False, "c": False, "y": True}
    assert [(each.value.name, each.reaches_output) for each in comparison.origins] == [("a", True)]


def test_a_second_fault_is_reported_although_first_has_healed() -> None:
    second = dipping(1.00015).replace("sub(x = b", "add(x = b")
    comparison = compare(dipping(1.0), second)
    assert [(each.value.name, each.reaches_output) for each in comparison.origins] == [("y", True), ("a", False)]


def branching(one: str, other: str) -> str:
    """A text with a branch for true, and one for false, the insides of two blocks."""
    inputs = "tensor<fp32, [2, 3]> x, bool p"
    return program(f"a = exp(x = x); y = cond(pred = p) () {{{one}}} -> (u) () {{{other}}} -> (f);", inputs=inputs)


@pytest.mark.parametrize("taken", [True, False])
def test_an_operation_that_is_alone_in_a_branch_has_a_partner(taken: bool) -> None:
    given = {"x": np.ones((2, 3), np.float32), "p": np.array(taken)}
    comparison = compare(
        branching("t = mul(x = a, y = 0.2); u = tanh(x = t);", "f = mul(x = x, y = 3.0);"),
        branching("t = mul(x = a, y = 0.2); u = erf(x = t);", "f = add(x = x, y = 3.0);"),
        given,
    )
    assert [each.value.name for each in comparison.origins] == ["u" if taken else "f"]
    assert [each.value.old_operation for each in comparison.origins] == ["tanh" if taken else "mul"]


def test_a_branch_that_returns_an_outer_value() -> None:
    given = {"x": np.ones((2, 3), np.float32), "p": np.array(True)}
    text = branching("", "f = tanh(x = a);")
    before, after = text.replace("(u)", "(a)"), text.replace("(u)", "(x)")
    assert compare(before, before, given).ok
    assert [each.value.name for each in compare(before, after, given).origins] == ["y"]


# ---- operations in place of several, as `rewrite` writes them

SEVERAL = """\
program(1.3)
{
    func main<ios17>(tensor<fp32, [1, 2, 4, 4]> x) {
            c = conv(x, tensor<fp32, [2, 2, 1, 1]>([[[[0.5]], [[0.25]]], [[[1.5]], [[-0.75]]]]));
            y = add(c, tensor<fp32, [1, 2, 1, 1]>([[[[1.5]], [[-4.0]]]]));
            d = mul(y, 3.0);
            e = add(d, 5.0);
            f = mul(e, 2.0);
            z = tanh(f);
        } -> (z);
}
"""

ONE = """\
program(1.3)
{
    func main<ios17>(tensor<fp32, [1, 2, 4, 4]> x) {
            y = conv(x, tensor<fp32, [2, 2, 1, 1]>([[[[0.5]], [[0.25]]], [[[1.5]], [[-0.75]]]]), bias = [1.5, -4.0]);
            p = add(y, y);
            q = mul(p, 3.0);
            f = add(q, 10.0);
            z = tanh(f);
        } -> (z);
}
"""


def test_one_operation_for_several_has_the_partner_of_its_name() -> None:
    both = compare(SEVERAL, ONE, seed=0)
    assert (both.ok, both.origins) == (True, ())
    assert {each.name: each.old_name for each in both.values if each.operation != "const"} == {
        each: each for each in ("x", "y", "f")
    }
    assert all(each.measure.level > 80 for each in both.values)


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [("-4.0]);", "4.0]);", "y"), ("q = mul(p, 3.0)", "q = mul(p, 2.0)", "q"), ("p, 3.0", "p, 3.5", "q")],
)
def test_a_wrong_operation_in_place_of_several_is_named(right: str, wrong: str, named: str) -> None:
    both = compare(SEVERAL, ONE.replace(right, wrong), seed=0)
    assert not both.ok
    assert [each.value.name for each in both.origins] == [named]
