"""`compare`: which values are held against which, whatever the two programs look like; and what is refused."""

from __future__ import annotations

import json
import math
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLE, GOLDEN, ROOT

import miltext
from miltext import Comparison, MiltextError, compare
from miltext.evaluation.comparing import comparing
from miltext.evaluation.comparing.lockstep import Lockstep

INF = math.inf


def program(body: str, outputs: str = "y", inputs: str = "tensor<fp32, [2, 3]> x") -> str:
    """A text whose types are left out: `compare` takes drafts."""
    return f"program(1.3) {{ func main<ios18>({inputs}) {{ {body} }} -> ({outputs}); }}"


PLAIN = program("h = relu(x = x); g = exp(x = h); y = mul(x = g, y = 0.5);")


def levels(comparison: Comparison) -> dict[str, float]:
    """The worst ratio of each value and output, by the new name."""
    return {each.name: each.measure.level for each in (*comparison.values, *comparison.outputs)}


def refused(*arguments: Any, **options: Any) -> list[tuple[str, str]]:
    """The codes and messages of a comparison that is refused."""
    with pytest.raises(MiltextError) as caught:
        compare(*arguments, **options)
    return [(each.code, each.message) for each in caught.value.diagnostics]


# ---- the same


@pytest.mark.parametrize("compute", ["float32", "native"])
def test_a_model_equals_itself(compute: str) -> None:
    comparison = compare(EXAMPLE, EXAMPLE, compute=compute)
    assert (comparison.ok, comparison.first, comparison.steepest, comparison.notes) == (True, None, None, ())
    assert {*levels(comparison).values()} == {INF}
    assert len(comparison.outputs) == 2
    assert comparison.min_snr == 50


def test_all_that_can_be_compared(tmp_path: Path) -> None:
    (tmp_path / "a.mil").write_text(PLAIN)
    whole = miltext.infer_draft(PLAIN)
    sources: list[Any] = [
        tmp_path / "a.mil",
        str(tmp_path / "a.mil"),
        miltext.load(tmp_path / "a.mil"),
        miltext.parse(whole),
        whole,
    ]
    for source in sources:
        comparison = compare(source, PLAIN)
        assert levels(comparison) == {"x": INF, "h": INF, "g": INF, "y": INF}
        assert comparison.ok
    assert compare(sources[0], PLAIN).old == str(tmp_path / "a.mil")
    assert (compare(whole, PLAIN).old, compare(whole, PLAIN).new) == ("old", "new")


@pytest.mark.parametrize(
    ("edited", "names"),
    [
        ("g = exp(x = h); y = mul(x = g, y = 0.5);", {}),
        ("s = exp(x = h); y = mul(x = s, y = 0.5);", {"s": "g"}),
        ("e = exp(x = h); z = mul(x = e, y = 0.5); y = identity(x = z);", {"e": "g", "z": "y"}),
        ('c = cast(x = h, dtype = "fp32"); g = exp(x = c); y = mul(x = g, y = 0.5);', {"c": "h"}),
        ("g = exp(x = h); two = mul(x = g, y = 0.25); y = add(x = two, y = two);", {}),
    ],
)
def test_equal_computations_are_equal(edited: str, names: dict[str, str]) -> None:
    comparison = compare(PLAIN, program(f"h = relu(x = x); {edited}"))
    assert comparison.ok
    assert comparison.first is None or not comparison.first.reaches_output
    olds = {each.name: each.old_name for each in (*comparison.values, *comparison.outputs)}
    assert names.items() <= olds.items()
    assert [each.measure.level for each in comparison.outputs] == [INF]


def test_reordered_values_are_compared_with_their_partners() -> None:
    one = program("a = exp(x = x); b = tanh(x = x); c = relu(x = x); d = add(x = a, y = b); y = add(x = c, y = d);")
    two = program("r = relu(x = x); t = tanh(x = x); e = exp(x = x); s = add(x = e, y = t); y = add(x = r, y = s);")
    comparison = compare(one, two)
    assert levels(comparison) == dict.fromkeys(["x", "r", "t", "e", "s", "y"], INF)


# ---- inputs

RENAMED = program("h = relu(x = image); y = exp(x = h);", inputs="tensor<fp32, [2, 3]> image")
NAMED = program("h = relu(x = x); y = exp(x = h);")


@pytest.mark.parametrize("name", ["x", "image"])
def test_inputs_of_other_names_are_given_by_either(name: str) -> None:
    given = {name: np.full((2, 3), 2, np.float32)}
    assert levels(compare(NAMED, RENAMED, given)) == {"image": INF, "h": INF, "y": INF}
    assert compare(RENAMED, NAMED, given).ok


def test_random_inputs_match_their_seed() -> None:
    wrong = NAMED.replace("exp", "tanh")
    found = [compare(NAMED, wrong, seed=seed).outputs[0].measure.snr for seed in (None, 0, 1, 1)]
    assert found[0] == found[1]
    assert found[1] != found[2]
    assert found[2] == found[3]


BOTH = program("y = add(x = x, y = z);", inputs="tensor<fp32, [2]> x, tensor<fp32, [2]> z")


def test_missing_inputs_are_random_only_with_a_seed() -> None:
    given = {"x": np.zeros(2, np.float32)}
    assert [code for code, _ in refused(BOTH, BOTH, given)] == ["MIL831"]
    assert compare(BOTH, BOTH, given, seed=0).ok
    assert [code for code, _ in refused(BOTH, BOTH, {"q": 1}, seed=0)] == ["MIL832"]
    assert [code for code, _ in refused(BOTH, BOTH, {"x": np.zeros(3)}, seed=0)] == ["MIL833"]
    assert [code for code, _ in refused(BOTH, BOTH, {"x": [np.nan, 0]}, seed=0)] == ["MIL835"]
    comparison = compare(BOTH, BOTH, {"x": [np.nan, 0]}, seed=0, allow_nan=True)
    assert comparison.ok
    assert comparison.outputs[0].measure.nans == (1, 1)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("tensor<fp32, [2]> x", "tensor<fp32, [3]> x", "`x` is tensor<fp32, [2]> in old, and `x` is tensor<fp32, [3]>"),
        ("tensor<fp32, [2]> x", "tensor<fp32, [2, 1]> x", "`x` is tensor<fp32, [2]> in old"),
        ("tensor<fp32, [2]> x", "tensor<fp32, [3]> z", "`x` is tensor<fp32, [2]> in old, and `z` is tensor<fp32, [3]>"),
    ],
)
def test_models_of_other_inputs_are_refused(a: str, b: str, told: str) -> None:
    texts = [program(f"y = relu(x = {each.split()[-1]});", inputs=each) for each in (a, b)]
    ((code, message),) = refused(*texts)
    assert code == "MIL842"
    assert told in message


def test_an_input_of_one_program_alone_is_reported() -> None:
    one = program("y = relu(x = x);", inputs="tensor<fp32, [2]> x")
    comparison = compare(one, program("y = relu(x = x);", inputs="tensor<fp32, [2]> x, tensor<fp32, [2]> z"))
    assert comparison.notes == ("the input `z` is only in new",)
    assert comparison.ok
    assert compare(BOTH, one).notes == ("the input `z` is only in old",)


def test_inputs_of_other_data_types_are_rounded_each_to_its_own() -> None:
    comparison = compare(NAMED, NAMED.replace("fp32", "fp16"))
    assert comparison.min_snr == 40
    assert 60 < levels(comparison)["x"] < 90
    assert comparison.ok


def test_flexible_sizes_equal_the_given_ones() -> None:
    flexible = program("y = relu(x = x);", inputs="tensor<fp32, [?, 3]> x")
    for rows in (0, 1, 7):
        comparison = compare(flexible, flexible, {"x": np.ones((rows, 3), np.float32)})
        assert comparison.outputs[0].type == f"tensor<fp32, [{rows}, 3]>"
    assert [code for code, _ in refused(flexible, flexible)] == ["MIL833"]


# ---- outputs


def test_outputs_without_partners_are_reported() -> None:
    two = program("h = relu(x = x); g = exp(x = h); y = mul(x = g, y = 0.5);", outputs="y, g")
    lost = compare(two, PLAIN)
    assert lost.notes == ("the output `g` is only in old",)
    assert (lost.lost, lost.ok) == (("g",), False)
    assert "1 output, none below 80.0 dB, 1 only in the old program\n" in lost.to_text()
    assert compare(PLAIN, two).notes == ("the output `g` is only in new",)
    assert compare(PLAIN, two).ok


def test_an_output_of_another_name_is_found_by_structure() -> None:
    comparison = compare(PLAIN, PLAIN.replace("y = mul", "logits = mul").replace("(y)", "(logits)"))
    assert [(each.name, each.old_name, each.kind) for each in comparison.outputs] == [("logits", "y", "output")]


def test_outputs_that_changed_their_names_are_compared_by_name() -> None:
    one = program("a = relu(x = x); b = exp(x = x);", outputs="a, b")
    two = program("b = relu(x = x); a = exp(x = x);", outputs="a, b")
    comparison = compare(one, two)
    assert [(each.name, each.old_name, each.fell) for each in comparison.outputs] == [
        ("a", "a", True),
        ("b", "b", True),
    ]


def test_outputs_in_another_order_and_twice() -> None:
    one = program("a = relu(x = x); b = exp(x = x);", outputs="a, b")
    two = program("a = relu(x = x); b = exp(x = x);", outputs="b, a")
    assert [each.name for each in compare(one, two).outputs] == ["b", "a"]
    assert compare(one, two).ok


def test_an_input_that_is_an_output() -> None:
    text = program("y = relu(x = x);", outputs="x, y")
    assert [each.name for each in compare(text, text).outputs] == ["x", "y"]


def test_outputs_of_other_shapes_are_refused() -> None:
    one, other = (program(f"h = relu(x = x); y = reshape(x = h, shape = {shape});") for shape in ("[6]", "[3, 2]"))
    expected = "the output `y` is tensor<fp32, [6]> in old, and `y` is tensor<fp32, [3, 2]> in new; "
    assert refused(one, other) == [("MIL842", f"{expected}programs are compared by outputs of one shape")]
    expected = "the array of `y` has the shape [2, 3], and `y` is tensor<fp32, [6]> in old; give one of its shape"
    assert refused(one, against={"y": np.zeros((2, 3)), "h": np.zeros((2, 3))}) == [("MIL842", expected)]
    expected = "the array of `h` has the shape [], and `h` is tensor<fp32, [2, 3]> in old; give one of its shape"
    assert refused(one, against={"h": 0.0}) == [("MIL842", expected)]


def test_outputs_fall_whose_shapes_depend_on_numbers() -> None:
    one, other = (program(f"h = greater(x = x, y = {least}); y = non_zero(x = h);") for least in ("0.0", "1.0"))
    comparison = compare(one, other, {"x": np.array([[0.5, 2, 3], [-1, 5, 6]], np.float32)})
    (output,) = comparison.outputs
    assert output.measure.misfit == "shape [5, 2] against [4, 2]"
    assert not comparison.ok
    assert comparison.first is not None


def test_inner_values_of_other_shapes_fall() -> None:
    body = "h = reshape(x = x, shape = {}); y = reduce_sum(x = h, keep_dims = false);"
    comparison = compare(program(body.format("[6]")), program(body.format("[3, 2]")))
    assert comparison.ok
    assert "cannot be compared: shape [6] against [3, 2]" in comparison.to_text()


@pytest.mark.parametrize(
    ("operation", "changed", "equal"),
    [
        ("reduce_argmax(x = x, axis = 1)", "reduce_argmin(x = x, axis = 1)", 0),
        ("less(x = x, y = 0.0)", "less(x = x, y = 10.0)", 0.5),
    ],
)
def test_values_other_than_floats_are_equal_or_not(operation: str, changed: str, equal: float) -> None:
    given = {"x": np.array([[-1, 2, 3], [4, -5, -6]], np.float32)}
    text = program(f"h = relu(x = x); y = {operation};")
    assert compare(text, text, given).outputs[0].measure.snr is None
    comparison = compare(text, program(f"h = relu(x = x); y = {changed};"), given)
    assert comparison.outputs[0].measure.equal == equal
    assert not comparison.ok
    assert "differ" in comparison.to_text()


CLASSIFIED = program(
    "y, p = classify(probabilities = x, classes = {names});",
    outputs="y, p",
    inputs="tensor<fp32, [3]> x",
)


def test_labels_and_dictionaries() -> None:
    text = CLASSIFIED.replace("{names}", 'list<string, 3>(["cat", "dog", "cow"])')
    comparison = compare(text, text, {"x": [0.1, 0.7, 0.2]})
    assert [(each.measure.level, each.measure.count) for each in comparison.outputs] == [(INF, 1), (INF, 3)]
    other = CLASSIFIED.replace("{names}", 'list<string, 3>(["cat", "hen", "cow"])')
    comparison = compare(text, other, {"x": [0.1, 0.7, 0.2]})
    assert [each.fell for each in comparison.outputs] == [True, True]
    assert comparison.outputs[1].measure.misfit == "other keys: 1 only in the reference, 1 only here"


# ---- what differs


def test_a_word_that_changes_results_is_reported_at_its_user() -> None:
    one = program('m = const()[val = "EXACT"]; h = gelu(x = x, mode = m); y = mul(x = h, y = 2.0);')
    comparison = compare(one, one.replace("EXACT", "SIGMOID_APPROXIMATION"))
    assert comparison.first is not None
    assert comparison.first.value.name == "h"


@pytest.mark.parametrize(("one", "other", "name"), [("[0]", "[1]", "i"), ("[0]", "[0]", None)])
def test_an_index_that_differs_is_at_fault(one: str, other: str, name: str | None) -> None:
    text = program(
        "i = const()[val = tensor<int32, [1]>({})]; h = gather(x = x, indices = i, axis = 0); y = exp(x = h);"
    )
    comparison = compare(text.replace("{}", one), text.replace("{}", other))
    assert (comparison.first.value.name if comparison.first else None) == name


def test_a_constant_that_matters_to_nothing_is_not_at_fault() -> None:
    text = program(
        "e = const()[val = {}]; a = const()[val = tensor<int32, [1]>([{axis}])]; "
        "h = layer_norm(x = x, axes = a, epsilon = e); y = exp(x = h);"
    )
    one = text.replace("{}", "fp32(1e-12)").replace("{axis}", "-1")
    other = text.replace("{}", "fp32(1e-25)").replace("{axis}", "1")
    comparison = compare(one, other)
    assert levels(comparison)["e"] < 1
    assert levels(comparison)["a"] == -INF
    assert (comparison.ok, comparison.first) == (True, None)
    wrong = compare(one, other.replace("exp", "tanh"))
    assert wrong.first is not None
    assert [each.value.name for each in wrong.origins] == ["y"]


def test_a_compressed_weight_is_compared_with_the_weight() -> None:
    inputs = "tensor<fp16, [2, 3]> x"
    head = "w0 = const()[val = tensor<fp16, [2, 3]>([[1, 2, 3], [4, 5, 6]])]; y = linear(x = x, weight = w0);"
    other = """
        w = constexpr_affine_dequantize()[
            axis = int32(0), quantized_data = tensor<int8, [2, 3]>([[1, 2, 3], [4, 5, 6]]),
            scale = tensor<fp16, [2]>([1, {}]), zero_point = tensor<int8, [2]>([0, 0])];
        y = linear(x = x, weight = w);
    """
    one = program(head, inputs=inputs)
    comparison = compare(one, program(other.replace("{}", "1"), inputs=inputs))
    assert (comparison.ok, comparison.min_snr, levels(comparison)["w"]) == (True, 40, INF)
    wrong = compare(one, program(other.replace("{}", "1.5"), inputs=inputs))
    assert wrong.first is not None
    assert (wrong.first.value.name, wrong.first.value.old_name) == ("w", "w0")


def test_a_mask_of_another_size_is_not_at_fault() -> None:
    text = program(
        "m = const()[val = tensor<{t}, [3]>([0, 0, {}])]; s = add(x = x, y = m); y = softmax(x = s, axis = -1);",
        inputs="tensor<{t}, [2, 3]> x",
    )
    one, other = text.replace("{t}", "fp32").replace("{}", "-3e38"), text.replace("{t}", "fp16").replace("{}", "-60000")
    comparison = compare(one, other)
    assert comparison.ok
    assert comparison.first is not None
    assert not comparison.first.reaches_output
    assert comparison.steepest is None or comparison.steepest.value.name not in ("m", "s")
    more = "y = softmax(x = s, axis = -1);", "p = softmax(x = s, axis = -1); y = exp(x = p);"
    later = compare(one.replace(*more), other.replace(*more).replace("exp", "tanh"))
    assert [each.value.name for each in later.origins] == ["y", "m"]
    wrong = compare(one, other.replace("softmax(x = s, axis = -1)", "sigmoid(x = s)"))
    assert wrong.first is not None
    assert wrong.first.value.name in ("m", "y")
    assert wrong.first.reaches_output


def test_an_operation_that_only_the_new_program_has_is_named() -> None:
    wrong = "h = relu(x = x); t = sin(x = h); u = square(x = t); g = exp(x = u); y = mul(x = g, y = 0.5);"
    comparison = compare(PLAIN, program(wrong))
    assert comparison.first is not None
    assert comparison.first.value.name == "g"
    assert {*comparison.first.between} == {"t (sin)", "u (square)"}
    assert comparison.first.inputs == (("h", INF),)
    assert "only the new program has" in comparison.to_text()


def test_an_operation_that_only_the_old_program_has_is_named() -> None:
    one = program("h = relu(x = x); t = sin(x = h); g = exp(x = t); y = mul(x = g, y = 0.5);")
    comparison = compare(one, program("h = relu(x = x); g = exp(x = h); y = mul(x = g, y = 0.5);"))
    assert comparison.first is not None
    assert comparison.first.value.name == "g"
    assert (comparison.first.between, comparison.first.removed) == ((), ("t (sin)",))
    assert "before it, only the old program has t (sin)" in comparison.to_text()


def test_the_cast_in_which_numbers_overflow_is_named() -> None:
    one = program("h = relu(x = x); g = sqrt(x = h); y = mul(x = g, y = 0.5);")
    other = program(
        'h = relu(x = x); c = cast(x = h, dtype = "fp16"); e = sqrt(x = c); g = cast(x = e, dtype = "fp32"); '
        "y = mul(x = g, y = 0.5);"
    )
    assert compare(one, other).ok
    given = {"x": np.full((2, 3), 1e5, np.float32)}
    comparison = compare(one, other, given)
    assert comparison.first is not None
    assert (comparison.first.value.name, comparison.first.value.old_name) == ("c", "h")
    assert [(each.side, each.kind, each.name) for each in comparison.oddities] == [("new", "infinity", "c")]
    healed = compare(one.replace("sqrt", "exp"), other.replace("sqrt", "exp"), given)  # infinity in both
    assert (healed.ok, healed.origins) == (True, ())
    assert [(each.side, each.kind, each.name) for each in healed.oddities] == [
        ("old", "infinity", "g"),
        ("new", "infinity", "c"),
    ]


def test_where_nan_and_infinity_come_from() -> None:
    text = program("h = real_div(x = 1.0, y = x); g = mul(x = h, y = 0.0); y = add(x = g, y = 1.0);")
    comparison = compare(text, text.replace("real_div", "add"), {"x": [[0, 1, 2], [3, 4, 5]]})
    assert [(each.side, each.kind, each.name, each.operation, each.count) for each in comparison.oddities] == [
        ("old", "NaN", "g", "mul", 1),
        ("old", "infinity", "h", "real_div", 1),
    ]
    assert "NaN first comes from `g` (mul) in the old program: 1 element" in comparison.to_text()
    both = compare(text, text, {"x": [[0, 1, 2], [3, 4, 5]]})
    assert both.ok
    assert {each.side for each in both.oddities} == {"old", "new"}


def test_the_steepest_loss_is_reported_even_above_the_threshold() -> None:
    text = program("h = relu(x = x); g = mul(x = h, y = {}); f = add(x = g, y = 3.0); y = exp(x = f);")
    comparison = compare(text.replace("{}", "1.0"), text.replace("{}", "1.00001"))
    assert comparison.ok
    assert comparison.first is None
    assert comparison.steepest is not None
    assert comparison.steepest.value.name == "g"
    assert "most is lost at `g` (mul)" in comparison.to_text()


@pytest.mark.parametrize(
    ("dtypes", "threshold"),
    [(("fp32", "fp32"), 80), (("fp16", "fp16"), 50), (("fp32", "fp16"), 40), (("fp16", "fp32"), 40)],
)
def test_the_threshold_matches_the_precisions(dtypes: tuple[str, str], threshold: float) -> None:
    one, other = (NAMED.replace("fp32", dtype) for dtype in dtypes)
    assert compare(one, other).min_snr == threshold
    assert compare(one, other, min_snr=7.5).min_snr == 7.5
    assert not compare(one, other.replace("exp", "tanh"), min_snr=9).ok
    assert compare(one, other.replace("exp", "tanh"), min_snr=-INF).ok


# ---- control flow, states, random numbers, functions

BRANCHES = program("""
    s = reduce_sum(x = x, axes = [0, 1], keep_dims = false);
    p = greater(x = s, y = 0.0);
    y = cond(pred = p)
        () { t = exp(x = x); u = add(x = t, y = 1.0); } -> (u)
        () { f = sin(x = x); g = add(x = f, y = 1.0); } -> (g);
""")


@pytest.mark.parametrize(
    ("changed", "sign", "name"),
    [(("exp", "tanh"), 1, "t"), (("exp", "tanh"), -1, None), (("sin", "tanh"), -1, "f"), (("greater", "less"), 1, "p")],
)
def test_values_in_branches(changed: tuple[str, str], sign: int, name: str | None) -> None:
    given = {"x": np.full((2, 3), sign, np.float32)}
    comparison = compare(BRANCHES, BRANCHES.replace(*changed), given)
    assert (comparison.first.value.name if comparison.first else None) == name
    assert comparison.ok is (name is None)


LOOP = program("""
    y = while_loop(loop_vars = (x))
        (tensor<fp32, [2, 3]> a) {
            m = reduce_max(x = a, axes = [0, 1], keep_dims = false);
            more = less(x = m, y = 100.0);
        } -> (more)
        (tensor<fp32, [2, 3]> b) {
            twice = mul(x = b, y = 2.0);
            next = add(x = twice, y = 1.0);
        } -> (next);
""")


def test_values_in_loops_are_compared_run_by_run() -> None:
    given = {"x": np.full((2, 3), 1, np.float32)}
    same = compare(LOOP, LOOP, given)
    assert {*levels(same).values()} == {INF}
    comparison = compare(LOOP, LOOP.replace("y = 1.0)", "y = 1.5)"), given)
    assert comparison.first is not None
    assert (comparison.first.value.name, comparison.first.turn) == ("next", 0)
    assert comparison.first.inputs == (("twice", INF),)


def test_a_loop_that_runs_more_often_is_reported() -> None:
    given = {"x": np.full((2, 3), 1, np.float32)}
    comparison = compare(LOOP, LOOP.replace("100.0", "10.0"), given)
    assert not comparison.ok
    assert comparison.notes == (
        "a block of y (while_loop) runs 7 times in the old program, and 4 times in the new one",
    )
    assert comparison.first is not None
    assert comparison.first.value.name == "more"
    assert comparison.first.turn == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LOOP, LOOP),
        (LOOP, LOOP.replace("100.0", "10.0")),
        (LOOP.replace("100.0", "10.0"), LOOP),
        (BRANCHES, BRANCHES.replace("greater", "less")),
        (PLAIN, PLAIN.replace("exp", "tanh")),
    ],
)
def test_nothing_waits_in_the_end(one: str, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Lockstep] = []

    class Watched(Lockstep):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(comparing, "Lockstep", Watched)
    compare(one, other, {"x": np.full((2, 3), 1, np.float32)})
    assert [(side.waiting, side.size) for side in made[0].sides] == [({}, 0), ({}, 0)]


STATEFUL = program(
    "s = read_state(input = k); t = add(x = s, y = x); write_state(input = k, data = t); y = exp(x = t);",
    inputs="tensor<fp16, [2, 3]> x, state<tensor<fp16, [2, 3]>> k",
)


def test_states_are_carried_from_run_to_run_and_compared() -> None:
    assert [each.kind for each in compare(STATEFUL, STATEFUL, runs=3).outputs] == ["output", "state"]
    assert compare(STATEFUL, STATEFUL, runs=3).ok
    held = {"k": np.ones((2, 3), np.float16)}
    wrong = STATEFUL.replace("add", "mul")
    comparison = compare(STATEFUL, wrong, state=held, runs=2)
    assert comparison.first is not None
    assert [each.value.name for each in comparison.origins] == ["t"]  # what is read of the state comes from it
    assert {each.name: each.fell for each in comparison.outputs} == {"y": True, "k": True}
    assert (held["k"] == 1).all()


def test_a_state_of_another_name_is_paired() -> None:
    other = STATEFUL.replace("> k)", "> cache)").replace("= k", "= cache")
    for name in ("k", "cache"):
        comparison = compare(STATEFUL, other, state={name: np.ones((2, 3), np.float16)}, runs=2)
        assert comparison.ok
        assert comparison.notes == ()
    assert [code for code, _ in refused(STATEFUL, STATEFUL, state={"q": 1})] == ["MIL832"]


def test_a_state_is_not_a_tensor() -> None:
    plain = program("y = exp(x = k);", inputs="tensor<fp16, [2, 3]> x, tensor<fp16, [2, 3]> k")
    ((code, message),) = refused(STATEFUL, plain)
    assert code == "MIL842"
    assert "state<tensor<fp16, [2, 3]>>" in message


def test_random_numbers_are_the_same_in_both() -> None:
    text = program("r = random_normal(shape = [2, 3], mean = 0.0, stddev = 1.0, seed = -1); y = add(x = r, y = x);")
    assert compare(text, text).ok
    assert compare(text, text, seed=3, runs=2).ok


FUNCTIONS = """program(1.3) {{
    func first<ios18>(tensor<fp32, [2]> x) {{ y = {}(x = x); }} -> (y);
    func second<ios18>(tensor<fp32, [2]> x) {{ y = {}(x = x); }} -> (y);
}}"""


def test_a_function_of_several() -> None:
    one, other = FUNCTIONS.format("relu", "exp"), FUNCTIONS.format("relu", "tanh")
    assert compare(one, other, function="first").ok
    assert not compare(one, other, function="second").ok
    assert compare(one, other.replace("first", "third"), function="first").ok  # diff finds it by what it computes
    assert [code for code, _ in refused(one, other, function="secnd")] == ["MIL837"]
    gone = "program(1.3) { func second<ios18>(tensor<fp32, [2]> x) { y = exp(x = x); } -> (y); }"
    ((code, message),) = refused(one, gone, function="first")
    assert code == "MIL843"
    assert "no function that corresponds to `first`" in message


# ---- nothing in common, and numbers from elsewhere


def test_programs_without_anything_in_common_are_refused() -> None:
    one = program("y = relu(x = x); z = exp(x = x);", outputs="y, z")
    other = program("a = fill_like(ref_tensor = x, value = 1.0); b = concat(values = (a, a), axis = 0);", outputs="b")
    ((code, message),) = refused(one, other)
    assert code == "MIL843"
    assert "no output of new corresponds to one of old" in message


def test_numbers_from_elsewhere() -> None:
    given = {"x": np.arange(6, dtype=np.float32).reshape(2, 3) / 3}
    made = miltext.run(PLAIN, given, values=["g"])
    comparison = compare(PLAIN, None, given, against=made)
    assert comparison.ok
    assert comparison.old == "the numbers given"
    assert [(each.name, each.kind, each.measure.snr) for each in comparison.outputs] == [
        ("y", "output", INF),
        ("g", "output", INF),
    ]
    wrong = compare(PLAIN, None, given, against={**made, "g": made["g"] + 1})
    assert [(each.name, each.fell) for each in wrong.outputs] == [("y", False), ("g", True)]
    both = compare(PLAIN, None, given, against={name: array * 2 for name, array in made.items()})
    assert [each.value.name for each in both.origins] == ["g"]
    assert compare(PLAIN, None, given, against={"y": made["y"].astype(np.float16)}).min_snr == 40


def test_a_name_means_the_value_of_the_functions_block_first() -> None:
    inner = "tensor<fp32, [2, 3]> h = exp(x = x);"
    text = program(f"y = cond(pred = p) () {{ {inner} }} -> (h) () {{ {inner} }} -> (h); h = relu(x = y);", "y",
                   "bool p, tensor<fp32, [2, 3]> x")  # fmt: skip
    given = {"p": True, "x": np.ones((2, 3)) - 3}
    made = miltext.run(text, given, values=["h"])
    assert compare(text, None, given, against={"h": made["h"]}).ok
    assert compare(text, None, given, against={"h": made["y"] + 1}).ok is False


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"yy": 1}, "no output or inner value is called `yy`; leave its array out"),
        ({"rely": 1, "gg": 2}, "no output or inner value is called `rely`; did you mean `relu`?"),
        ({}, "there are no arrays"),
    ],
)
def test_numbers_of_an_unknown_name(arrays: dict[str, Any], told: str) -> None:
    found = refused(program("relu = relu(x = x); y = exp(x = relu);"), against=arrays)
    assert (found[0][0], found[0][1]) == ("MIL844", told)
    assert len(found) == max(1, len(arrays))


def test_one_of_two_ways() -> None:
    with pytest.raises(TypeError, match="give either"):
        compare(PLAIN)
    with pytest.raises(TypeError, match="give either"):
        compare(PLAIN, PLAIN, against={"y": 1})
    with pytest.raises(TypeError, match="the numbers of one run"):
        compare(PLAIN, against={"y": 1}, runs=2)


def test_numbers_of_a_block_that_is_not_done() -> None:
    given, zeros = {"x": np.full((2, 3), -1, np.float32)}, np.zeros((2, 3), np.float32)
    comparison = compare(BRANCHES, None, given, against={"t": zeros, "f": np.sin(given["x"])})
    assert comparison.notes == (
        "the output `y` is only in old",
        "the value `t` was not computed: its block does not run for these inputs",
    )
    assert comparison.ok
    ((code, message),) = refused(BRANCHES, None, given, against={"t": zeros})
    assert (code, "its block does not run" in message) == ("MIL843", True)


# ---- forms


def test_json_and_text() -> None:
    comparison = compare(PLAIN, PLAIN.replace("exp", "tanh"))
    told = json.loads(json.dumps(comparison.to_json(), allow_nan=False))
    assert (told["form"], told["ok"], told["first"]["name"], told["first"]["line"]) == (1, False, "g", 1)
    assert told["first"]["inputs"] == [["h", "inf"]]
    assert told["outputs"][0]["measure"]["snr"] < 80
    assert [each["name"] for each in told["values"]] == ["x", "h", "g"]
    text = comparison.to_text()
    assert text.startswith("--- old\n+++ new\n# random inputs, with the seed 0\nnew:1:")
    assert "error[MIL841]: `g` (tanh) falls to" in text
    assert "the reference is made by `exp`" in text
    assert "\x1b[31m" in comparison.to_text(color=True)
    (diagnostic,) = comparison.diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("MIL841", "error")


GIVEN = {"x": np.ones((2, 3), np.float32)}


@pytest.mark.parametrize(
    ("how", "seed"),
    [
        ({}, 0),
        ({"seed": 7}, 7),
        ({"seed": 7, "runs": 2}, 7),
        ({"inputs": GIVEN}, None),
        ({"inputs": GIVEN, "seed": 7}, None),
    ],
)
def test_the_seed_of_random_inputs_is_named(how: dict[str, Any], seed: int | None) -> None:
    comparison = compare(PLAIN, PLAIN, **how)
    assert (comparison.seed, comparison.to_json()["seed"]) == (seed, seed)
    assert ("\n# random inputs, with the seed " in comparison.to_text()) == (seed is not None)


def test_one_element_is_one_element() -> None:
    text = program("y = mul(x, 40000.0);", inputs="tensor<fp32, [1]> x")
    found = compare(text, text.replace("fp32", "fp16"), inputs={"x": np.array([3], np.float32)}).to_text()
    assert "of 1 element, 1 is infinite, and 0 of the reference" in found
    text = program("y = mul(x, 1e-6);", inputs="tensor<fp32, [1]> x")
    found = compare(text, text.replace("fp32", "fp16"), inputs={"x": np.array([1e-3], np.float32)}).to_text()
    assert "of 1 element, 1 is 0, and not in the reference" in found


def test_an_input_beside_random_ones_keeps_the_seed() -> None:
    text = "program(1.3) { func main<ios18>(tensor<fp32, [2]> a, tensor<fp32, [2]> b) { y = add(a, b); } -> (y); }"
    given = {"a": np.zeros(2, np.float32)}
    assert compare(text, text, inputs=given, seed=3).seed == 3
    nothing = "program(1.3) { func main<ios18>() { y = add(1.0, 2.0); } -> (y); }"
    assert compare(nothing, nothing).seed is None


def test_long_lists_are_cut() -> None:
    body = "".join(f"v{i} = mul(x = {f'v{i - 1}' if i else 'x'}, y = 1.01); " for i in range(40))
    text = program(f"{body} y = exp(x = v39);")
    comparison = compare(text, text.replace("fp32", "fp16"))
    assert "... the 10 worst of 41 that differ" in comparison.to_text()
    assert comparison.to_text(full=True).count(" mul ") == 40


PAGE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")


def test_the_page_shows_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    shown = (GOLDEN / "compare" / "underflow.txt").read_text(encoding="utf-8")
    assert f"```text\n{shown}```\n" in PAGE
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "compare.md", "exec"), {})  # the page's own example
    assert "error" not in capsys.readouterr().err


def test_the_page_names_all_keys_of_the_json_form() -> None:
    told = compare(PLAIN, PLAIN.replace("exp", "tanh")).to_json()
    keys = {*told, *told["first"], *told["outputs"][0], *told["first"]["measure"]}
    assert [key for key in sorted(keys) if f"`{key}`" not in PAGE] == []


# ---- time and memory


def test_values_are_released_as_they_are_measured() -> None:
    """300 values of 1 MB each never wait together, though one program has operations that the other has not."""
    size = 1 << 18
    steps = [f"v{i} = add(x = {f'v{i - 1}' if i else 'x'}, y = 1.0); " for i in range(300)]
    one = program("".join(steps) + "y = relu(x = v299);", inputs=f"tensor<fp32, [{size}]> x")
    more = "".join(
        [
            step.replace("v149", "w") + ("v149 = identity(x = w); " if i == 149 else "")
            for i, step in enumerate(steps[:150])
        ]
    )
    other = program(more + "".join(steps[150:]) + "y = relu(x = v299);", inputs=f"tensor<fp32, [{size}]> x")
    given = {"x": np.ones(size, np.float32)}
    tracemalloc.start()
    comparison = compare(one, other, given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert comparison.ok
    assert peak < 40 * 4 * size, peak / (4 * size)
