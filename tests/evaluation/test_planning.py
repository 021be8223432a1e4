"""What a plan settles once for all runs, and what it must not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.evaluation import computed

import miltext
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.planning import SETTLED_ELEMENTS, steps_of

SHADOWED = """program(1.3) {{ func main<ios18>(tensor<fp32, [2]> x) {{
        tensor<fp32, [2]> k = const()[val = tensor<fp32, [2]>([1, 2])];
        fp32 limit = const()[val = fp32(40)];
        tensor<fp32, [2]> y = while_loop(loop_vars = (x))
            (tensor<fp32, [2]> {first}) {{
                fp32 most = reduce_max(x = {first});
                bool more = less(x = most, y = limit);
            }} -> (more)
            (tensor<fp32, [2]> {second}) {{
                tensor<fp32, [2]> twice = add(x = {second}, y = {second});
            }} -> (twice);
        tensor<fp32, [2]> z = add(x = y, y = k);
    }} -> (z); }}"""


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("k", "b"), ("a", "k"), ("k", "k")])
def test_a_name_inside_is_not_the_constant_of_the_same_name_outside(first: str, second: str) -> None:
    program = miltext.parse(SHADOWED.format(first=first, second=second))
    evaluator = Evaluator(program, check=False)
    for start, end in ((10, 40), (5, 40), (100, 100)):
        found = evaluator.run({"x": np.array([start, 1], np.float32)})["z"]
        assert found.tolist() == [end + 1, end / start + 2]


def test_a_constant_of_an_outer_block_is_settled_inside() -> None:
    evaluator = Evaluator(miltext.parse(SHADOWED.format(first="a", second="b")))
    fixed = {name for step in steps_of(evaluator.plan) for name in step.fixed if step.operation.type == "less"}
    assert fixed == {"y"}


@pytest.mark.parametrize("size", [1, SETTLED_ELEMENTS, SETTLED_ELEMENTS + 1])
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_constants_of_any_size_are_the_same_in_each_run(size: int, dtype: str) -> None:
    numbers = ", ".join(["2"] * size)
    text = f"""program(1.3) {{ func main<ios18>(tensor<{dtype}, [{size}]> x) {{
        k = const()[val = tensor<{dtype}, [{size}]>([{numbers}])];
        y = add(x = x, y = k); z = mul(x = y, y = k); }} -> (z); }}"""
    evaluator = Evaluator(miltext.parse(miltext.infer_draft(text)))
    for start in (1, 2, 3):
        assert set(evaluator.run({"x": np.full(size, start)})["z"].tolist()) == {2 * (start + 2)}


def test_a_constant_that_is_an_output_is_the_callers_own() -> None:
    text = """program(1.3) { func main<ios18>(tensor<fp32, [2]> x) {
        tensor<fp32, [2]> k = const()[val = tensor<fp32, [2]>([1, 2])]; } -> (k); }"""
    evaluator = Evaluator(miltext.parse(text))
    found = evaluator.run({"x": [0, 0]})["k"]
    found += 1
    assert evaluator.run({"x": [0, 0]})["k"].tolist() == [1, 2]


def test_a_constant_of_another_shape_than_declared_is_told_of_when_it_runs() -> None:
    program = miltext.parse("""program(1.3) { func main<ios18>(tensor<fp32, [2]> x) {
        tensor<fp32, [3]> k = const()[val = tensor<fp32, [2]>([1, 2])];
        tensor<fp32, [2]> y = add(x = x, y = x); } -> (y); }""")
    with pytest.raises(miltext.MiltextError, match=r"`k`, of `const`, cannot be computed: makes \[2\], where \[3\]"):
        Evaluator(program, check=False).run({"x": [0, 0]})


def test_weights_in_a_file_are_read_anew_by_another_evaluator(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.array([1, 2], np.float32))
    (tmp_path / "m.mil").write_text(
        'program(1.3) { func main<ios18>(tensor<fp32, [2]> x) { y = add(x = x, y = $npy("w.npy")); } -> (y); }'
    )
    for place, expected in enumerate(([1, 2], [3, 4])):
        np.save(tmp_path / "w.npy", np.array(expected, np.float32))
        made = tmp_path / f"M{place}.mlpackage"
        miltext.build(miltext.load(tmp_path / "m.mil"), made)
        assert miltext.run(made, {"x": [0, 0]})["y"].tolist() == expected


def test_random_numbers_go_on_through_a_run_and_begin_again_in_the_next() -> None:
    text = """program(1.3) { func main<ios18>(tensor<fp32, [4]> x) {
        a = random_normal(shape = [4], mean = 0.0, stddev = 1.0);
        b = random_normal(shape = [4], mean = 0.0, stddev = 1.0);
        } -> (a, b); }"""
    first, second = (computed(text, {"x": np.zeros(4)}, seed=7) for _ in range(2))
    assert first["a"].tolist() != first["b"].tolist()
    assert all((first[name] == second[name]).all() for name in "ab")
