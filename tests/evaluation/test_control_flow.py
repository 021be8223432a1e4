"""Control flow, states and classes: blocks that run, and what is carried from one call to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.evaluation import computed

import miltext
from miltext.evaluation.failures import OperationFailure

LOOP = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2]> x) {
            fp32 limit = const()[val = fp32(100)];
            tensor<fp32, [2]> y = while_loop(loop_vars = (x))
                (tensor<fp32, [2]> a) {
                    fp32 most = reduce_max(x = a);
                    bool more = less(x = most, y = limit);
                } -> (more)
                (tensor<fp32, [2]> b) {
                    tensor<fp32, [2]> twice = add(x = b, y = b);
                } -> (twice);
        } -> (y);
}
"""


@pytest.mark.parametrize(("given", "expected"), [([1, 3], [64, 192]), ([100, 0], [100, 0]), ([50, 49], [100, 98])])
def test_a_loop_ends_when_its_condition_is_false(given: list[float], expected: list[float]) -> None:
    assert computed(LOOP, {"x": np.array(given, np.float32)})["y"].tolist() == expected


@pytest.mark.parametrize("values", [None, "all"])
def test_an_endless_loop_ends_after_the_allowed_steps(values: str | None) -> None:
    """The loop with 1 has 8 tests of three steps and 7 bodies of one; each block counts one more."""
    evaluator = miltext.Evaluator(LOOP)
    ended = evaluator.run({"x": [1, 1]}, values=values, inner_steps=8 * 3 + 7 * 2)
    assert ended["y"].tolist() == [128, 128]
    for given, allowed in (([1, 1], 8 * 3 + 7 * 2 - 1), ([0, 0], 10_000), ([0, 0], 0)):
        with pytest.raises(OperationFailure, match=f"`while_loop`, .*more than {allowed:,} steps in inner blocks"):
            evaluator.run({"x": given}, values=values, inner_steps=allowed)


def test_the_number_of_inner_steps_is_a_number() -> None:
    evaluator = miltext.Evaluator(LOOP)
    with pytest.raises(TypeError, match="inner_steps must be a whole number or None, not 'many'"):
        evaluator.run({"x": [1, 1]}, inner_steps="many")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inner_steps must be 0 or more, not -1"):
        evaluator.run({"x": [1, 1]}, inner_steps=-1)


def test_an_inner_loop_uses_outer_values() -> None:
    text = """program(1.3) { func main<ios18>(tensor<int32, [1]> n, int32 step) {
        int32 zero = const()[val = int32(0)];
        int32 one = const()[val = int32(1)];
        int32 rows, int32 cells = while_loop(loop_vars = (zero, zero))
            (int32 i, int32 sum) {
                tensor<bool, [1]> more = less(x = i, y = n);
            } -> (more)
            (int32 i, int32 sum) {
                int32 next = add(x = i, y = one);
                int32 j, int32 inner = while_loop(loop_vars = (zero, sum))
                    (int32 a, int32 b) { bool short = less(x = a, y = next); } -> (short)
                    (int32 a, int32 b) {
                        int32 c = add(x = a, y = one);
                        int32 d = add(x = b, y = step);
                    } -> (c, d);
            } -> (next, inner);
    } -> (rows, cells); }"""
    for count in range(4):
        made = computed(miltext.parse(text), {"n": np.array([count], np.int32), "step": np.array(10, np.int32)})
        assert (made["rows"], made["cells"]) == (count, 10 * count * (count + 1) // 2)


COND = """program(1.3) {{ func main<ios18>({} p, tensor<fp32, [2]> x) {{
    tensor<fp32, [2]> twice = add(x = x, y = x);
    tensor<fp32, [2]> y, tensor<fp32, [2]> z = cond(pred = p)
        () {{ tensor<fp32, [2]> a = add(x = x, y = twice); }} -> (a, twice)
        () {{ tensor<fp32, [2]> b = relu(x = x); }} -> (b, x);
}} -> (y, z); }}"""


@pytest.mark.parametrize("stated", ["bool", "tensor<bool, [1]>"])
@pytest.mark.parametrize(("pred", "expected"), [(True, ([-3, 6], [-2, 4])), (False, ([0, 2], [-1, 2]))])
def test_one_branch_is_done(pred: bool, expected: tuple[list[float], list[float]], stated: str) -> None:
    given = np.array(pred) if stated == "bool" else np.array([pred])
    made = computed(miltext.parse(COND.format(stated)), {"p": given, "x": np.array([-1, 2], np.float32)})
    assert (made["y"].tolist(), made["z"].tolist()) == expected


@pytest.mark.parametrize(("size", "told"), [(0, "size"), (2, "size")])
def test_a_condition_that_is_not_one_value_is_reported(size: int, told: str) -> None:
    text = """program(1.3) { func main<ios18>(tensor<fp32, [?]> x) {
        tensor<fp32, [?]> y = while_loop(loop_vars = (x))
            (tensor<fp32, [?]> a) { tensor<bool, [?]> more = less(x = a, y = a); } -> (more)
            (tensor<fp32, [?]> b) { tensor<fp32, [?]> c = relu(x = b); } -> (c);
    } -> (y); }"""
    assert computed(miltext.parse(text), {"x": np.ones(1, np.float32)})["y"].tolist() == [1]
    with pytest.raises(OperationFailure, match=f"`while_loop`, cannot be computed: .*{told}"):
        computed(miltext.parse(text), {"x": np.ones(size, np.float32)})


# ---- states

COUNTER = """program(1.3) {
    func main<ios18>(state<tensor<fp16, [2]>> s, state<tensor<fp16, [2]>> t, tensor<fp16, [2]> x) {
    tensor<fp16, [2]> old = read_state(input = s);
    tensor<fp16, [2]> new = add(x = old, y = x);
    write_state(input = s, data = new);
    tensor<fp16, [2]> again = read_state(input = s);
    write_state(input = t, data = x);
} -> (old, again); }"""


def test_a_state_passes_from_one_call_to_the_next() -> None:
    state: dict[str, Any] = {}
    program, x = miltext.parse(COUNTER), np.zeros(2, np.float16)
    for turn in range(4):
        x[:] = turn
        made = computed(program, {"x": x}, state=state)
        assert made["old"].tolist() == [turn * (turn - 1) / 2] * 2
        assert made["again"].tolist() == [turn * (turn + 1) / 2] * 2
        x[:] = 99  # which the state, to which it was written, does not see
        assert state["t"].tolist() == [turn, turn]
        made["again"][:] = 99
        assert state["s"].tolist() == [turn * (turn + 1) / 2] * 2


def test_a_read_value_stays_after_a_write() -> None:
    text = """program(1.3) { func main<ios18>(state<tensor<fp16, [2]>> s, tensor<fp16, [2]> x) {
        tensor<fp16, [2]> old = read_state(input = s);
        write_state(input = s, data = x);
        tensor<fp16, [2]> sum = add(x = old, y = x);
    } -> (old, sum); }"""
    state = {"s": np.array([1, 2], np.float16)}
    made = computed(miltext.parse(text), {"x": np.array([10, 20], np.float16)}, state=state)
    assert (made["old"].tolist(), made["sum"].tolist()) == ([1, 2], [11, 22])
    assert state["s"].tolist() == [10, 20]


def test_states_are_written_in_the_branch_that_is_done() -> None:
    text = """program(1.3) { func main<ios18>(state<tensor<fp16, [1]>> s, bool p, tensor<fp16, [1]> x) {
        tensor<fp16, [1]> y = cond(pred = p)
            () { write_state(input = s, data = x); } -> (x)
            () { tensor<fp16, [1]> a = read_state(input = s); } -> (a);
    } -> (y); }"""
    state: dict[str, Any] = {}
    made = [
        computed(miltext.parse(text), {"p": np.array(p), "x": np.array([v], np.float16)}, state=state)["y"].item()
        for p, v in [(False, 5), (True, 6), (False, 7), (True, 8), (False, 9)]
    ]
    assert made == [0, 6, 6, 8, 8]


# ---- classes

CLASSIFIER = """program(1.3) {{ func main<ios18>(tensor<fp32, [1, 3]> x) {{
    {type} label, dict<{type}, fp64> chances = classify(probabilities = x, classes = list<{type}, 3>([{names}]));
}} -> (label, chances); }}"""
CLASSES: dict[str, tuple[str, list[Any]]] = {
    "string": ('"a", "b c", ""', ["a", "b c", ""]),
    "int64": ("7, -1, 0", [7, -1, 0]),
}


@pytest.mark.parametrize(
    ("values", "best"), [([0.25, 0.5, 0.125], 1), ([0, 0, 0], 0), ([-3, -2, -1], 2), ([1, 5, 5], 1)]
)
@pytest.mark.parametrize("kind", CLASSES)
def test_classify_names_the_greatest(kind: str, values: list[float], best: int) -> None:
    names, labels = CLASSES[kind]
    text = CLASSIFIER.format(type=kind, names=names)
    made = computed(miltext.parse(text), {"x": np.array([values], np.float32)})
    assert made["label"].item() == labels[best]
    assert made["chances"] == dict(zip(labels, values, strict=True))
    assert all(type(label) is type(labels[0]) and type(each) is float for label, each in made["chances"].items())


def test_classify_of_another_number_of_classes_is_reported() -> None:
    text = CLASSIFIER.format(type="int64", names="1, 2, 3").replace("[1, 3]", "[1, ?]")
    with pytest.raises(OperationFailure, match="`classes` names 3, for 2 probabilities"):
        computed(miltext.parse(text), {"x": np.zeros((1, 2), np.float32)})
