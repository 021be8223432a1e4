"""`miltext.run` and `miltext.Evaluator`: what they take, what they return, and to whom that belongs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLE
from support.evaluation import computed

import miltext
from miltext import Evaluator, MiltextError, ModelError, run
from miltext.schema.proto import Program

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x) {
            a = relu(x = x);
            y = add(x = a, y = a);
        } -> (y);
}
"""
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
Y = 2 * np.maximum(X, 0)


def codes(caught: pytest.ExceptionInfo[MiltextError]) -> list[str]:
    return [each.code for each in caught.value.diagnostics]


# ---- what is run


def subjects(folder: Path) -> dict[str, Any]:
    """One program in each form that can be run."""
    text = miltext.infer_draft(DRAFT)
    path = folder / "program.mil"  # begins as a text does
    path.write_text(DRAFT, encoding="utf-8")
    model = miltext.load(path)
    package = folder / "Model.mlpackage"
    miltext.build(model, package)
    return {
        "text": text,
        "draft": DRAFT,
        "path": path,
        "a path as a string": str(path),
        "draft model": model,
        "package": package,
        "model": miltext.load(package),
        "program": miltext.parse(text),
    }


def test_each_form_of_a_program_can_be_run(tmp_path: Path) -> None:
    for form, subject in subjects(tmp_path).items():
        outputs = run(subject, {"x": X})
        assert list(outputs) == ["y"], form
        np.testing.assert_array_equal(outputs["y"], Y, form)


def test_a_text_in_one_line_is_a_text() -> None:
    np.testing.assert_array_equal(run(" ".join(DRAFT.split()), {"x": X})["y"], Y)


def test_coremltools_own_class_can_be_run() -> None:
    from_coremltools = pytest.importorskip("coremltools.proto.MIL_pb2").Program()
    from_coremltools.ParseFromString(miltext.parse(miltext.infer_draft(DRAFT)).SerializeToString())
    np.testing.assert_array_equal(run(from_coremltools, {"x": X})["y"], Y)
    assert not isinstance(from_coremltools, Program)


def test_an_object_that_is_not_a_program_is_refused() -> None:
    with pytest.raises(TypeError, match="expected MIL text, a path, a Program or a Model, not int"):
        run(17, {})  # type: ignore[arg-type]


def test_the_helper_of_tests_gives_the_same() -> None:
    np.testing.assert_array_equal(computed(DRAFT, {"x": X})["y"], Y)


# ---- what is asked for besides the outputs


def test_inner_values_come_by_name() -> None:
    assert [*run(DRAFT, {"x": X}, values=["a", "x"])] == ["y", "x", "a"]
    assert [*run(DRAFT, {"x": X}, values="all")] == ["y", "a"]
    assert [*run(DRAFT, {"x": X}, values="a")] == ["y", "a"]
    assert [*run(DRAFT, {"x": X}, values=["y"])] == ["y"]
    np.testing.assert_array_equal(run(DRAFT, {"x": X}, values=["a"])["a"], np.maximum(X, 0))


@pytest.mark.parametrize("values", [["b"], "b", ("a", "b")])
def test_an_unknown_inner_value_is_reported_before_anything_runs(values: Any) -> None:
    with pytest.raises(MiltextError, match="there is no value `b`") as caught:
        run(DRAFT, {}, values=values)
    assert codes(caught) == ["MIL837"]


LOOP = """program(1.3)
{
    func main<ios18>(fp32 x) {
            fp32 limit = const()[val = fp32(100)];
            fp32 y = while_loop(loop_vars = (x))
                (fp32 a) {
                    bool more = less(x = a, y = limit);
                } -> (more)
                (fp32 b) {
                    fp32 twice = add(x = b, y = b);
                } -> (twice);
        } -> (y);
}
"""


@pytest.mark.parametrize(("x", "names"), [(1, {"more", "twice"}), (200, {"more"})])
def test_the_last_result_of_a_value_in_a_loop_is_kept(x: int, names: set[str]) -> None:
    """Of a block that was not done, no value is."""
    outputs = run(LOOP, {"x": x}, values="all")
    assert outputs.keys() == {"y", "limit", *names}
    assert not outputs["more"]
    if "twice" in names:
        assert outputs["twice"] == outputs["y"] == 128


SHADOWS = """program(1.3)
{
    func main<ios18>(bool p, fp32 x, fp32 s) {
            fp32 before = relu(x = x);
            fp32 y = cond(pred = p)
                () {
                    fp32 before = exp(x = x);
                    fp32 after = exp(x = before);
                    fp32 inner = exp(x = after);
                    fp32 s = exp(x = x);
                } -> (inner)
                () {
                    fp32 after = sin(x = x);
                    fp32 inner = sin(x = after);
                } -> (inner);
            fp32 z = cond(pred = p)
                () {
                    fp32 inner = add(x = x, y = fp32(10));
                    fp32 y = sin(x = inner);
                } -> (inner)
                () {
                    fp32 other = sin(x = x);
                } -> (other);
            fp32 after = add(x = y, y = s);
        } -> (y, after, z);
}
"""


@pytest.mark.parametrize("p", [True, False])
def test_a_name_means_the_value_of_the_functions_own_block_first(p: bool) -> None:
    """Of several inner values of a name, the last that was made is given."""
    given = {"p": p, "x": 0.5, "s": 2}
    everything = run(SHADOWS, given, values="all")
    assert everything.keys() == {"y", "after", "z", "before", "inner"} | (set() if p else {"other"})
    assert (everything["before"], everything["after"]) == (0.5, everything["y"] + 2)
    assert everything["inner"] == (10.5 if p else everything["y"])
    for name, value in everything.items():
        assert run(SHADOWS, given, values=[name])[name] == value
    assert run(SHADOWS, given, values=["s"])["s"] == 2


# ---- functions

TWO = """program(1.3)
{
    func prefill<ios18>(fp32 x) {
            y = add(x = x, y = x);
        } -> (y);
    func decode<ios18>(fp32 x) {
            y = relu(x = x);
        } -> (y);
}
"""


def test_a_function_is_chosen_by_name() -> None:
    assert run(TWO, {"x": 3.0}, function="prefill")["y"] == 6
    assert run(TWO, {"x": 3.0}, function="decode")["y"] == 3


@pytest.mark.parametrize(
    ("function", "says"), [("prefil", "did you mean `prefill`"), ("main", "`decode` and `prefill`")]
)
def test_an_unknown_function_is_reported_with_the_known_ones(function: str, says: str) -> None:
    with pytest.raises(MiltextError) as caught:
        run(TWO, {"x": 3.0}, function=function)
    assert codes(caught) == ["MIL837"]
    assert says in str(caught.value)


def test_without_main_the_default_function_is_run(tmp_path: Path) -> None:
    miltext.build(_saved(tmp_path, TWO), tmp_path / "Two.mlpackage")
    model = miltext.load(tmp_path / "Two.mlpackage")
    assert model.description is not None
    model.description.defaultFunctionName = "decode"
    assert run(model, {"x": -3.0})["y"] == 0
    assert run(model, {"x": -3.0}, function="prefill")["y"] == -6


def test_the_only_function_needs_no_name() -> None:
    assert Evaluator(DRAFT.replace("main", "forward")).function == "forward"


def _saved(folder: Path, text: str, name: str = "model.mil") -> miltext.Model:
    (folder / name).write_text(text, encoding="utf-8")
    return miltext.load(folder / name)


# ---- to whom arrays belong

SAME = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x) {
            tensor<fp32, [12]> w = const()[val = tensor<fp32, [12]>([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])];
            a = relu(x = x);
        } -> (x, w, a);
}
"""


def test_outputs_are_the_callers_own() -> None:
    evaluator, given = Evaluator(SAME), X.copy()
    first = evaluator.run({"x": given}, values="all")
    for array in first.values():
        assert array.flags.writeable
        array[...] = -1
    np.testing.assert_array_equal(given, X)
    again = evaluator.run({"x": given})
    np.testing.assert_array_equal(again["w"], np.arange(1, 13))
    np.testing.assert_array_equal(again["x"], X)
    np.testing.assert_array_equal(again["a"], np.maximum(X, 0))


@pytest.mark.parametrize(
    ("statement", "shape"),
    [
        ("b = reshape(x = a, shape = [6]);", (6,)),
        ("b = identity(x = a);", (2, 3)),
        ("b = transpose(x = a, perm = [1, 0]);", (3, 2)),
    ],
)
def test_one_value_that_is_two_outputs_is_two_arrays(statement: str, shape: tuple[int, ...]) -> None:
    text = SAME.replace("(x, w, a)", "(a, b)").replace("relu(x = x);", f"relu(x = x); {statement}")
    outputs = run(text, {"x": X})
    expected = outputs["b"].copy()
    outputs["a"][...] = 9
    assert outputs["b"].shape == shape
    assert outputs["b"].flags.c_contiguous
    np.testing.assert_array_equal(outputs["b"], expected)


def test_an_evaluator_runs_in_several_threads_at_once() -> None:
    evaluator = Evaluator(SAME)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(evaluator.run, {"x": np.full((2, 3), number)}, values="all") for number in range(40)]
    for number, each in enumerate(runs):
        np.testing.assert_array_equal(each.result()["a"], np.full((2, 3), number))


def test_two_runs_step_by_step_do_not_meet() -> None:
    evaluator = Evaluator(SAME)
    pairs = zip(evaluator.steps({"x": X}), evaluator.steps({"x": -X}), strict=True)
    last = [made.values[0] for pair in pairs for made in pair if made.step.names == ["a"]]
    np.testing.assert_array_equal(last, [np.maximum(X, 0), np.maximum(-X, 0)])


def test_the_arithmetic_is_one_of_four_words() -> None:
    with pytest.raises(ValueError, match="compute must be one of float32, native, ane, cpu, not 'fp16'"):
        run(DRAFT, {"x": X}, compute="fp16")


ARGUMENTS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a negative seed": ({"seed": -1}, ValueError, "seed must be 0 or more, not -1"),
    "a seed of words": ({"seed": "a"}, TypeError, r"seed.* must be a whole number or None, not ('a'|str)"),
    "a seed of a fraction": ({"seed": 1.5}, TypeError, r"seed.* must be a whole number or None, not (1\.5|float)"),
    "values by number": ({"values": [3]}, TypeError, r"values are the names of some, strings, or 'all', not \[3\]"),
    "values of two kinds": ({"values": ["a", None]}, TypeError, "values are the names"),
    "values that are gone over once": ({"values": iter(["a"])}, TypeError, "values are the names of some"),
    "a number of values": ({"values": 3}, TypeError, "values are the names of some, strings, or 'all', not 3"),
    "no function": ({"function": None}, TypeError, "function must be the name of one, a string, not None"),
    "a list of states": ({"state": []}, TypeError, "state must be a dict that the run writes to, not a list"),
    "states that stay": ({"state": MappingProxyType({})}, TypeError, "state must be a dict that the run writes to"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_arguments_are_reported_before_anything_runs(case: str) -> None:
    arguments, kind, says = ARGUMENTS[case]
    with pytest.raises(kind, match=says):
        run(DRAFT, {}, **arguments)  # its missing input would be the next to be told of
    if "function" not in arguments and "values" not in arguments:
        with pytest.raises(kind, match=says):
            Evaluator(DRAFT).steps({}, **arguments)
    if "seed" in arguments:
        with pytest.raises(kind, match=says):
            miltext.compare(DRAFT, DRAFT, {}, **arguments)


@pytest.mark.parametrize("seed", [0, True, np.int64(3), 2**70])
def test_seeds(seed: int) -> None:
    text = "program(1.3) { func main<ios18>() { y = random_normal(shape = [9]); } -> (y); }"
    np.testing.assert_array_equal(run(text, {}, seed=seed)["y"], run(text, {}, seed=seed)["y"])


def test_native_numbers_are_rounded_on_the_way() -> None:
    text = """program(1.3)
{
    func main<ios18>(tensor<fp16, [3]> x) {
            y = reduce_sum(x, axes = [0], keep_dims = true);
        } -> (y);
}
"""
    given = {"x": [2048, 1, 1]}
    assert run(text, given)["y"] == 2050
    assert run(text, given, compute="native")["y"].dtype == np.float16


def test_labels_are_strings_and_their_probabilities_a_dict() -> None:
    model = miltext.load(EXAMPLE)
    evaluator = Evaluator(model)
    (name, stated) = next(iter(evaluator.inputs.items()))
    outputs = evaluator.run({name: np.zeros([size or 1 for size in stated.shape])})  # type: ignore[union-attr]
    label, chances = outputs["classLabel"], outputs["classLabel_probs"]
    assert label.dtype.kind == "U"
    assert str(label) == max(chances, key=chances.get)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize("subject", ["relu(x)", "", "no/such/Model.mlpackage"])
def test_a_string_that_is_not_a_text_is_a_path(subject: str) -> None:
    with pytest.raises(ModelError):
        run(subject, {})


def test_seeds_make_random_numbers_repeatable() -> None:
    text = """program(1.3)
{
    func main<ios18>() {
            y = random_normal(shape = [100], mean = fp32(0), stddev = fp32(1));
        } -> (y);
}
"""
    first, again, other = (run(text, {}, seed=seed)["y"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_blocks_may_be_nested_as_deep_as_in_a_program() -> None:
    depth = 30
    inner = "a0 = relu(x = x);"
    for level in range(1, depth):
        before = f"{{ {inner} }} -> (a{level - 1})"
        inner = f"fp32 a{level} = cond(pred = pick) () {before} () {{ fp32 b{level} = tanh(x = x); }} -> (b{level});"
    text = f"program(1.3)\n{{\n func main<ios18>(fp32 x, bool pick) {{ {inner} }} -> (a{depth - 1});\n}}\n"
    evaluator = Evaluator(text.replace(" a0", " fp32 a0"))
    assert evaluator.run({"x": 2, "pick": True})[f"a{depth - 1}"] == 2
