"""What callers give: what is taken as what, and each kind of wrong input as one clear error before the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import miltext
from miltext import Evaluator, MiltextError, run
from miltext.evaluation.values import CARRIERS
from miltext.schema.dtypes import DTYPES

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x, tensor<int32, [1, 4]> tokens, tensor<fp16, [1]> scale) {
            y = relu(x = x);
            t = identity(x = tokens);
            s = relu(x = scale);
        } -> (y, t, s);
}
"""
GOOD: dict[str, Any] = {
    "x": np.ones((2, 3), np.float32),
    "tokens": np.arange(4, dtype=np.int32).reshape(1, 4),
    "scale": np.ones(1, np.float16),
}
NAN, INF = float("nan"), float("inf")


class Hostile:
    """What numpy asks for an array, and is not given one."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array today\nnor tomorrow")


def refused(inputs: Any, text: str = TEXT, **options: Any) -> MiltextError:
    with pytest.raises(MiltextError) as caught:
        run(text, inputs, **options)
    return caught.value


# ---- what is taken


def float32(values: object) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


TAKEN: dict[str, tuple[str, Any, Any]] = {
    "float64 is rounded": ("x", np.full((2, 3), 0.1), np.full((2, 3), np.float32(0.1))),
    "float16 for fp32": ("x", np.full((2, 3), 0.5, np.float16), np.full((2, 3), 0.5)),
    "integers for floats": ("x", np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)),
    "truth values for floats": ("x", np.ones((2, 3), bool), np.ones((2, 3))),
    "lists": ("x", [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]),
    "tuples of arrays": ("x", (float32([1, 2, 3]), float32([4, 5, 6])), [[1, 2, 3], [4, 5, 6]]),
    "another byte order": ("x", np.arange(6).reshape(2, 3).astype(">f4"), np.arange(6).reshape(2, 3)),
    "another byte order of another type": ("x", np.arange(6).reshape(2, 3).astype(">i2"), np.arange(6).reshape(2, 3)),
    "Fortran order": ("x", np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6).reshape(2, 3)),
    "a part of an array": ("x", np.arange(24.0).reshape(4, 6)[::2, ::2], [[0, 2, 4], [12, 14, 16]]),
    "int64 for int32": ("tokens", np.array([[1, 2, 3, 2**31 - 1]]), [[1, 2, 3, 2**31 - 1]]),
    "whole floats for integers": ("tokens", float32([[1, 2, 3, -4]]), [[1, 2, 3, -4]]),
    "truth values for integers": ("tokens", np.array([[True, False, True, True]]), [[1, 0, 1, 1]]),
    "a number for one element": ("scale", 2, [2]),
    "an array of rank 0 for one element": ("scale", np.array(2.0), [2]),
    "a mask of nothing": ("scale", np.ma.masked_array([1.0], [False]), [1]),
    "a number that fp16 rounds": ("scale", 1e-9, [0]),
}


@pytest.mark.parametrize("case", TAKEN)
def test_accepted_inputs(case: str) -> None:
    name, given, expected = TAKEN[case]
    output = {"x": "y", "tokens": "t", "scale": "s"}[name]
    np.testing.assert_array_equal(run(TEXT, {**GOOD, name: given})[output], np.maximum(expected, -9))


def test_tensors_of_torch_are_taken() -> None:
    torch = pytest.importorskip("torch")
    given = {"x": torch.ones(2, 3, requires_grad=True), "tokens": torch.arange(4)[None], "scale": torch.ones(1).half()}
    outputs = run(TEXT, given)
    assert outputs["y"].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert outputs["t"].tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_tensors_of_types_that_numpy_lacks_are_taken(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    kind = getattr(torch, dtype)
    numbers = torch.tensor([[0.75, 1.5, 3], [4, 5, 6]])
    assert run(TEXT, {**GOOD, "x": numbers.to(kind)})["y"].tolist() == numbers.tolist()
    sparse = refused({**GOOD, "x": numbers.to(kind).to_sparse() if dtype == "bfloat16" else numbers.to_sparse()})
    assert "to_dense" in str(sparse)


# ---- what is refused

WRONG: dict[str, tuple[str, dict[Any, Any], str]] = {
    "missing": ("MIL831", {"x": None}, "the input `x` is missing"),
    "unknown": ("MIL832", {"y": 1}, "there is no input `y`"),
    "a slip": ("MIL832", {"token": 1}, "did you mean `tokens`?"),
    "a name that is not a string": ("MIL832", {3: 1}, r"there is no input `\$\"3\"`"),
    "rank": ("MIL833", {"x": np.ones(6)}, r"has the shape \[6\] of rank 1, but it takes \[2, 3\] of rank 2"),
    "size": ("MIL833", {"x": np.ones((3, 2))}, r"has the shape \[3, 2\], but it takes \[2, 3\]"),
    "a lacking dimension": ("MIL833", {"tokens": np.ones(4, int)}, r"array.reshape\(\[1, 4\]\)"),
    "a number for six": ("MIL833", {"x": 1.0}, r"has the shape \[\] of rank 0"),
    "no elements": ("MIL833", {"x": []}, r"has the shape \[0\] of rank 1"),
    "a fraction": ("MIL834", {"tokens": [[0, 1, 2, 0.5]]}, r"takes int32, which cannot hold 0.5 at \[0, 3\]"),
    "too large an integer": ("MIL834", {"tokens": [[0, 2**31, 2, 3]]}, r"cannot hold 2147483648 at \[0, 1\]"),
    "NaN for an integer": ("MIL834", {"tokens": [[NAN, 1, 2, 3]]}, r"cannot hold nan at \[0, 0\]"),
    "too large for fp32": ("MIL834", {"x": np.full((2, 3), 1e300)}, "cannot hold 1e[+]300"),
    "too large for fp16": ("MIL834", {"scale": [70000.0]}, "takes fp16, which cannot hold 70000.0"),
    "complex numbers": ("MIL834", {"x": np.ones((2, 3), complex)}, "takes fp32, and this is an array of complex128"),
    "dates": ("MIL834", {"x": np.zeros((2, 3), "datetime64[s]")}, "an array of datetime64"),
    "records": ("MIL834", {"x": np.zeros((2, 3), "f4,f4")}, "and this is an array of "),
    "strings": ("MIL834", {"x": [["a", "b", "c"]] * 2}, "and this is an array of <U1"),
    "objects": ("MIL834", {"x": np.array([[1, 2, object()]] * 2)}, "is an array of Python objects"),
    "nothing": ("MIL834", {"scale": [None]}, "is an array of Python objects"),
    "a mapping": ("MIL834", {"x": {"data": 1}}, "is an array of Python objects"),
    "huge integers": ("MIL834", {"scale": [2**70]}, "is an array of Python objects"),
    "masked elements": ("MIL834", {"scale": np.ma.masked_array([1.0], [True])}, "has elements that are masked"),
    "rows of several lengths": ("MIL834", {"x": [[1, 2, 3], [4, 5]]}, "is not an array: "),
    "what raises": ("MIL834", {"x": Hostile()}, "is not an array: no array today$"),
    "NaN": ("MIL835", {"x": [[1, 2, NAN], [NAN, 0, 0]]}, r"has NaN at \[0, 2\], and 1 more like it"),
    "infinity": ("MIL835", {"scale": -INF}, r"has an infinity at \[0\]$"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case: str) -> None:
    code, wrong, says = WRONG[case]
    given = {name: value for name, value in {**GOOD, **wrong}.items() if value is not None}
    failure = refused(given)
    assert [each.code for each in failure.diagnostics] == [code]
    assert re.search(says, str(failure), re.MULTILINE)
    assert failure.diagnostics[0].notes  # which says what to do


def test_all_mistakes_of_the_inputs_are_one_error() -> None:
    failure = refused({"z": 1, "x": np.ones(3), "tokens": [[0.5, 1, 2, 3]]})
    assert [each.code for each in failure.diagnostics] == ["MIL832", "MIL833", "MIL834", "MIL831"]


@pytest.mark.parametrize("inputs", [None, [1], np.ones((2, 3)), "x"])
def test_inputs_other_than_a_mapping_are_refused(inputs: Any) -> None:
    with pytest.raises(TypeError, match="inputs are given by name"):
        run(TEXT, inputs)


def test_a_message_lists_the_first_of_many_names() -> None:
    names = [f"input_number_{number}" for number in range(30)]
    parameters = ", ".join(f"fp32 {name}" for name in names)
    text = f"program(1.3)\n{{\n func main<ios18>({parameters}) {{ y = relu(x = input_number_0); }} -> (y);\n}}\n"
    failure = refused({**dict.fromkeys(names, 1), "other": 2}, text)
    assert "`input_number_7`, and 22 more" in str(failure)
    assert len(str(failure)) < 400


def test_a_function_without_inputs_reports_it() -> None:
    text = "program(1.3)\n{\n func main<ios18>() { fp32 y = const()[val = fp32(1)]; } -> (y);\n}\n"
    assert "the function has no input" in str(refused({"x": 1}, text))
    assert run(text, {})["y"] == 1


def test_nan_and_infinity_are_taken_where_requested() -> None:
    outputs = run(TEXT, {**GOOD, "x": [[NAN, INF, -INF], [0, 0, 0]]}, allow_nan=True)
    np.testing.assert_array_equal(outputs["y"], [[NAN, INF, 0], [0, 0, 0]])


def test_nothing_runs_before_the_inputs_are_right() -> None:
    evaluator = Evaluator(TEXT)
    with pytest.raises(MiltextError):
        evaluator.steps({})  # though no step is asked for


# ---- every data type


@pytest.mark.parametrize("dtype", [each for each in DTYPES if each.kind != "string"], ids=lambda each: each.name)
@pytest.mark.parametrize("give", [np.float32, np.float64, np.int8, np.bool_, list])
def test_each_data_type_takes_each_number_that_it_has(dtype: Any, give: Callable[[Any], Any]) -> None:
    text = f"program(1.3)\n{{\n func main<ios18>(tensor<{dtype.name}, [2]> x) {{ }} -> (x);\n}}\n"
    made = Evaluator(text, check=False).run({"x": give([0, 1])})["x"]
    assert made.dtype == CARRIERS[dtype.name]
    assert made.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [each for each in DTYPES if each.kind in ("int", "uint")], ids=lambda each: each.name)
@pytest.mark.parametrize("past", [-1, 1])
def test_integers_past_the_ends_are_refused(dtype: Any, past: int) -> None:
    text = f"program(1.3)\n{{\n func main<ios18>(tensor<{dtype.name}, [2]> x) {{ }} -> (x);\n}}\n"
    evaluator, end = Evaluator(text, check=False), dtype.minimum if past < 0 else dtype.maximum
    assert evaluator.run({"x": np.array([end, 0], "u8" if end > 0 else "i8")})["x"].tolist() == [end, 0]
    with pytest.raises(MiltextError, match=f"takes {dtype.name}, (which cannot hold|and this)|Python objects"):
        evaluator.run({"x": [end + past, 0]})


@pytest.mark.parametrize(("dtype", "bits"), [("bf16", np.uint16), ("fp8e4m3fn", np.uint8), ("fp8e5m2", np.uint8)])
def test_integers_that_may_be_the_bits_of_floats_are_refused(dtype: str, bits: Any) -> None:
    """As which `Model.weights` gives these types."""
    text = f"program(1.3)\n{{\n func main<ios18>(tensor<{dtype}, [2]> x) {{ }} -> (x);\n}}\n"
    with pytest.raises(MiltextError, match="may be its bit patterns") as caught:
        Evaluator(text, check=False).run({"x": np.array([1, 2], bits)})
    assert [each.code for each in caught.value.diagnostics] == ["MIL834"]


@pytest.mark.parametrize("given", [["a", "bc"], np.array(["a", "bc"]), np.array(["a", "bc"], object)])
def test_strings_are_taken_for_strings(given: Any) -> None:
    text = "program(1.3)\n{\n func main<ios18>(tensor<string, [2]> x) { } -> (x);\n}\n"
    evaluator = Evaluator(text, check=False)
    assert evaluator.run({"x": given})["x"].tolist() == ["a", "bc"]
    with pytest.raises(MiltextError, match="takes strings"):
        evaluator.run({"x": [1, 2]})


# ---- states

STATE = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> total) {
            before = read_state(input = total);
            after = add(x = before, y = x);
            write_state(data = after, input = total);
            half = mul(x = after, y = fp16(0.5));
        } -> (half);
}
"""


def test_a_state_is_carried_from_call_to_call() -> None:
    evaluator = Evaluator(miltext.infer_draft(STATE))
    state: dict[str, Any] = {}
    for call in range(1, 4):
        assert evaluator.run({"x": [1, 2]}, state=state)["half"].tolist() == [call / 2, float(call)]
        assert state["total"].tolist() == [call, 2 * call]
        assert state["total"].dtype == np.float16
    assert evaluator.run({"x": [1, 2]})["half"].tolist() == [0.5, 1]  # without one, from zeros


def test_the_array_of_a_state_is_the_callers_own() -> None:
    evaluator, given = Evaluator(STATE), np.array([1, 2], np.float16)
    state = {"total": given}
    evaluator.run({"x": [1, 2]}, state=state)
    assert given.tolist() == [1, 2]
    state["total"][...] = 7
    assert evaluator.run({"x": [0, 0]}, state=state)["half"].tolist() == [3.5, 3.5]


def test_a_state_that_is_the_input_is_not_the_callers_array() -> None:
    text = STATE.replace("data = after", "data = x")
    state: dict[str, Any] = {}
    given = np.array([1, 2], np.float16)
    run(text, {"x": given}, state=state)
    given[...] = 9
    assert state["total"].tolist() == [1, 2]


def test_a_run_that_fails_leaves_the_states() -> None:
    text = STATE.replace("half = mul(x = after, y = fp16(0.5));", 'half = gather(after, cast(x, "int32"));')
    state: dict[str, Any] = {}
    evaluator = Evaluator(text)
    evaluator.run({"x": [1, 0]}, state=state)
    with pytest.raises(MiltextError):
        evaluator.run({"x": [1, 7]}, state=state)
    assert state["total"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("state", "code", "says"),
    [
        ({"totl": [0, 0]}, "MIL832", "there is no state `totl`; did you mean `total`"),
        ({"x": [0, 0]}, "MIL832", "it belongs to the inputs"),
        ({"total": [0, 0, 0]}, "MIL833", r"the state `total` has the shape \[3\], but it takes \[2\]"),
        ({"total": ["a", "b"]}, "MIL834", "the state `total` takes fp16"),
    ],
)
def test_wrong_states_are_refused(state: dict[str, Any], code: str, says: str) -> None:
    failure = refused({"x": [1, 2]}, STATE, state=state)
    assert [each.code for each in failure.diagnostics] == [code]
    assert re.search(says, str(failure))


def test_a_state_among_the_inputs_is_reported() -> None:
    assert "it belongs to the states" in str(refused({"x": [1, 2], "total": [1, 2]}, STATE))


def test_states_of_a_function_without_any_are_refused() -> None:
    assert [each.code for each in refused(GOOD, state={"cache": 1}).diagnostics] == ["MIL832"]
    assert "y" in run(TEXT, GOOD, state={})


def test_a_state_may_hold_nan() -> None:
    state: dict[str, Any] = {"total": np.array([NAN, 0], np.float16)}
    assert np.isnan(run(STATE, {"x": [1, 2]}, state=state)["half"][0])
