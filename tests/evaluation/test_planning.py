"""The order in which operations are done: as written, but compressed constants where they are first used."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from support.evaluation import computed

import miltext
from miltext.evaluation.evaluator import Evaluator

HELD = "mask = tensor<uint1, [2]>([1, 0]), nonzero_data = tensor<fp32, [1]>([{}])"


def sparse(name: str, value: float) -> str:
    return f"tensor<fp32, [2]> {name} = constexpr_sparse_to_dense({HELD.format(value)});"


def add(name: str, x: str, y: str) -> str:
    return f"tensor<fp32, [2]> {name} = add(x = {x}, y = {y});"


SCALED = "tensor<fp32, [2]> {} = constexpr_blockwise_shift_scale(data = {}, scale = {});"


@pytest.mark.parametrize(
    ("body", "outputs", "order"),
    [
        ([sparse("a", 1), sparse("b", 2), add("c", "x", "a"), add("d", "c", "b")], "d", "a c b d"),
        ([sparse("a", 1), sparse("b", 2), add("c", "x", "b"), add("d", "c", "a")], "d", "b c a d"),
        ([sparse("a", 1), sparse("b", 2), add("c", "b", "a"), add("d", "c", "a")], "d", "a b c d"),
        ([add("c", "x", "x"), sparse("a", 1), add("d", "c", "a")], "d", "c a d"),
        (
            [sparse("a", 1), sparse("b", 2), SCALED.format("s", "a", "b"), add("c", "x", "x"), add("d", "s", "b")],
            "d",
            "c a b s d",
        ),
        ([sparse("a", 1), sparse("b", 2), add("c", "x", "x")], "c", "c a b"),
        ([sparse("a", 1), sparse("b", 2), add("c", "x", "x")], "c, b", "c a b"),
        ([sparse("a", 1)], "a, x", "a"),
    ],
)
def test_compressed_constants_are_expanded_where_they_are_used(body: list[str], outputs: str, order: str) -> None:
    text = f"program(1.3) {{ func main<ios18>(tensor<fp32, [2]> x) {{ {' '.join(body)} }} -> ({outputs}); }}"
    program = miltext.parse(text)
    evaluator = Evaluator(program)
    steps = evaluator.plan.steps
    assert " ".join(name for step in steps for name in step.names) == order
    places = [step.path[-1] for step in steps]
    assert sorted(map(int, places)) == list(range(len(body)))
    made = evaluator.run({"x": np.ones(2, np.float32)}, values="all")
    assert made.keys() >= set(order.split())


def test_a_long_chain_of_them() -> None:
    chain = [SCALED.format(f"w{place + 1}", f"w{place}", "one") for place in range(3000)]
    text = f"""program(1.3) {{ func main<ios18>(tensor<fp32, [2]> x) {{
        tensor<fp32, [1]> one = const()[val = tensor<fp32, [1]>([1])];
        {sparse("w0", 5)} {" ".join(chain)} {add("y", "x", "w3000")} }} -> (y); }}"""
    assert computed(miltext.parse(text), {"x": np.ones(2, np.float32)})["y"].tolist() == [6, 1]


def test_a_weight_used_in_a_branch_is_expanded_before_it() -> None:
    text = f"""program(1.3) {{ func main<ios18>(bool p, tensor<fp32, [2]> x) {{ {sparse("a", 3)} {sparse("b", 5)}
        {add("c", "x", "x")}
        tensor<fp32, [2]> y = cond(pred = p) () {{ {add("d", "c", "b")} }} -> (d) () {{ }} -> (a);
    }} -> (y); }}"""
    program = miltext.parse(text)
    assert [step.names[0] for step in Evaluator(program).plan.steps] == ["c", "a", "b", "y"]
    for given, expected in [(True, [7, 2]), (False, [3, 0])]:
        assert computed(program, {"p": np.array(given), "x": np.ones(2, np.float32)})["y"].tolist() == expected


def test_a_weight_in_a_branch_is_expanded_there() -> None:
    text = f"""program(1.3) {{ func main<ios18>(bool p, tensor<fp32, [2]> x) {{
        tensor<fp32, [2]> y = cond(pred = p)
            () {{ {sparse("a", 3)} {add("c", "x", "x")} {add("d", "c", "a")} }} -> (d)
            () {{ {sparse("a", 4)} }} -> (a);
    }} -> (y); }}"""
    for given, expected in [(True, [5, 2]), (False, [4, 0])]:
        assert (
            computed(miltext.parse(text), {"p": np.array(given), "x": np.ones(2, np.float32)})["y"].tolist() == expected
        )


def test_few_compressed_constants_are_expanded_at_a_time() -> None:
    size, count = 1 << 18, 16
    head = [
        f"tensor<fp32, [{size}]> w{place} = constexpr_blockwise_shift_scale(data = d, scale = s);"
        for place in range(count)
    ]
    sums = [f"tensor<fp32, [{size}]> y{place + 1} = add(x = y{place}, y = w{place});" for place in range(count)]
    text = f"""program(1.3) {{ func main<ios18>(tensor<fp32, [{size}]> y0) {{
        tensor<int8, [{size}]> d = const()[val = tensor<int8, [{size}]>([{", ".join(["3"] * size)}])];
        tensor<fp32, [1]> s = const()[val = tensor<fp32, [1]>([0.5])];
        {" ".join(head)} {" ".join(sums)} }} -> (y{count}); }}"""
    evaluator, given = Evaluator(miltext.parse(text)), np.zeros(size, np.float32)
    evaluator.run({"y0": given})
    tracemalloc.start()
    try:
        made = evaluator.run({"y0": given})[f"y{count}"]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert set(made.tolist()) == {1.5 * count}
    assert peak < 6 * given.nbytes


NAMES = """program(1.3)
{
    func main<ios18>(bool p, fp32 x) {
            fp32 c = const()[val = fp32(7)];
            fp32 y = cond(pred = p)
                () {
                    fp32 late = exp(x = x);
                    fp32 a = add(x = late, y = c);
                    fp32 x = const()[val = fp32(1)];
                    fp32 c = add(x = x, y = a);
                    fp32 b = add(x = c, y = late);
                } -> (b)
                () {
                    fp32 a = add(x = x, y = c);
                    fp32 c = const()[val = fp32(2)];
                    fp32 b = mul(x = a, y = c);
                } -> (b);
            fp32 late = add(x = x, y = c);
            fp32 z = add(x = y, y = late);
        } -> (z);
}
"""


@pytest.mark.parametrize(("p", "y"), [(True, 1 + 7 + 1 + 1), (False, 14)])
def test_a_name_that_inner_blocks_use_for_something_else(p: bool, y: float) -> None:
    """Until a block makes a value, its name means that of the block around; and after it, in that one."""
    assert [each.severity for each in miltext.check(NAMES) if each.severity == "error"] == []
    assert miltext.run(NAMES, {"p": p, "x": 0})["z"] == y + 7
