"""`diff --numbers`: what each cause does to the outputs, and one verdict."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLE
from support.commands import Ended
from support.commands import miltext as run
from support.diff_cases import FOLDER
from support.laws.differing import markdown_says_all, page_says_all, stat_says_all

import miltext
from miltext.diffing.numbers import NEAR, OTHER, SAME, UNKNOWN, verdict_words
from miltext.evaluation.comparing.comparing import compare

CHAIN = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 8]> x) {
            tensor<fp32, [2, 8]> a = tanh(x = x)[name = string("a")];
            tensor<fp32, [2, 8]> b = relu(x = a)[name = string("b")];
            tensor<fp32, [2, 8]> y = sigmoid(x = b)[name = string("y")];
            tensor<fp32, [2, 8]> z = abs(x = a)[name = string("z")];
        } -> (y, z);
}
"""

STATEFUL = """program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x, state<tensor<fp16, [4]>> s) {
            tensor<fp16, [4]> before = read_state(input = s)[name = string("before")];
            tensor<fp16, [4]> y = add(x = before, y = x)[name = string("y")];
            tensor<fp16, [4]> c = KIND(x = x)[name = string("c")];
            write_state(data = c, input = s);
        } -> (y);
}
"""


def told(old: str, new: str, **options: Any) -> miltext.Difference:
    return miltext.diff(old, new, numbers=compare(old, new, seed=0, **options))


def diff(*words: object, status: int = 1, cwd: Path | None = None) -> str:
    done = run("diff", *words, cwd=cwd)
    assert (done.returncode, done.stderr.decode()) == (status, "")
    return done.stdout.decode()


def line(text: str) -> str:
    (found,) = [each.strip() for each in text.splitlines() if each.strip().startswith("numbers: ")]
    return found.removeprefix("numbers: ")


# ---- the verdict


def test_another_form() -> None:
    new = CHAIN.replace("relu(x = a)", "relu(x = a2)").replace("> a =", "> a2 =").replace("abs(x = a)", "abs(x = a2)")
    numbers = told(CHAIN, new).numbers
    assert numbers is not None
    assert (numbers.verdict, numbers.seed, numbers.first) == (SAME, 0, None)
    words = verdict_words(numbers)
    assert words == "the same program in another form, for random inputs of seed 0: all outputs are equal"


def test_rounding_is_another_form(tmp_path: Path) -> None:
    wide = tmp_path / "L.mlpackage"
    miltext.convert_weights(str(EXAMPLE), "fp32", str(wide))
    numbers = miltext.diff(EXAMPLE, wide, numbers=compare(EXAMPLE, wide)).numbers
    assert numbers is not None
    assert numbers.verdict == SAME
    assert 40 < numbers.outputs[0].ratio < math.inf
    assert "no output differs beyond rounding (classLabel_probs " in verdict_words(numbers)


def test_other_numbers_are_followed_to_their_cause() -> None:
    numbers = told(CHAIN, CHAIN.replace("relu", "square")).numbers
    assert numbers is not None
    assert (numbers.verdict, numbers.first, numbers.outputs[0].name) == (OTHER, "b", "y")
    assert numbers.outputs[1].ratio == math.inf
    (cause,) = numbers.causes
    assert (cause.operation, cause.status) == ("b", "changed")
    assert cause.at is not None
    assert cause.at.name == "b"
    assert [each.name for each in cause.outputs] == ["y"], "`z` is not reached"
    assert verdict_words(numbers).startswith(f"other numbers: y {numbers.outputs[0].ratio:.1f} dB, ")
    assert verdict_words(numbers).endswith(", first at b")


def test_two_causes_have_their_own_values() -> None:
    numbers = told(CHAIN, CHAIN.replace("relu", "square").replace("abs", "square")).numbers
    assert numbers is not None
    found = {each.operation: (each.at and each.at.name, [out.name for out in each.outputs]) for each in numbers.causes}
    assert found == {"b": ("b", ["y"]), "z": ("z", ["z"])}


def test_a_later_cause_without_effect_is_reported() -> None:
    """A relu after a relu changes nothing."""
    body = '            tensor<fp32, [2, 8]> r = relu(x = b)[name = string("r")];\n'
    new = CHAIN.replace("            tensor<fp32, [2, 8]> y =", f"{body}            tensor<fp32, [2, 8]> y =")
    difference = told(CHAIN, new.replace("sigmoid(x = b)", "sigmoid(x = r)"))
    assert difference.numbers is not None
    assert difference.numbers.verdict == SAME
    assert "    r added: no compared value differs after it" in difference.to_text().splitlines()


def test_a_removed_operation() -> None:
    new = CHAIN.replace("sigmoid(x = b)", "sigmoid(x = a)")
    new = "".join(each for each in new.splitlines(keepends=True) if "relu" not in each)
    numbers = told(CHAIN, new).numbers
    assert numbers is not None
    (cause,) = [each for each in numbers.causes if each.operation == "b"]
    assert (cause.status, cause.at.name if cause.at else None) == ("removed", "y")


def test_a_lost_output() -> None:
    numbers = told(CHAIN, CHAIN.replace("-> (y, z)", "-> (y)")).numbers
    assert numbers is not None
    assert (numbers.verdict, numbers.lost) == (OTHER, ("z",))
    assert verdict_words(numbers) == "other numbers: y equal, output z is gone"


def weighted(last: float) -> str:
    """The chain, with a weight of 64 elements in its middle, all 1 but the last."""
    rows = [*[[1.0] * 8] * 7, [*[1.0] * 7, last]]
    weight = f'tensor<fp32, [8, 8]> w = const()[name = string("w"), val = tensor<fp32, [8, 8]>({rows})];\n'
    product = "matmul(x = a, y = w, transpose_x = bool(false), transpose_y = bool(false))"
    text = CHAIN.replace(
        "            tensor<fp32, [2, 8]> b", f"            {weight}            tensor<fp32, [2, 8]> b"
    )
    return text.replace("relu(x = a)", product)


@pytest.mark.parametrize(("last", "least", "verdict"), [(3.0, None, OTHER), (3.0, -200, NEAR), (1.000001, None, SAME)])
def test_weights_beyond_rounding_are_never_another_form(last: float, least: float | None, verdict: str) -> None:
    numbers = told(weighted(1.0), weighted(last), min_snr=least).numbers
    assert numbers is not None
    assert numbers.verdict == verdict
    assert [(each.operation, each.status, each.at and each.at.name) for each in numbers.causes] == [
        ("w", "weight", "b")
    ]
    beginnings = {
        OTHER: "other numbers: ",
        NEAR: "other weights, but no output is below ",
        SAME: "the same program in ",
    }
    assert verdict_words(numbers).startswith(beginnings[verdict])


def test_states_carry_a_change_to_the_next_run() -> None:
    old, new = STATEFUL.replace("KIND", "tanh"), STATEFUL.replace("KIND", "square")
    numbers = told(old, new, runs=2).numbers
    assert numbers is not None
    (cause,) = numbers.causes
    assert [each.name for each in cause.outputs] == ["s", "y"]
    assert cause.at is not None
    assert numbers.verdict == OTHER


def test_an_operation_before_a_state_differs_there() -> None:
    old = STATEFUL.replace("KIND", "square")
    line = 'tensor<fp16, [4]> c = square(x = x)[name = string("c")];'
    assert line in old
    text = told(old, old.replace(line, "").replace("data = c", "data = x")).to_text()
    assert "    c removed: s " in text
    assert "no compared value differs" not in text


def test_outputs_without_numbers_are_named() -> None:
    old = CHAIN.replace("sigmoid(x = b)", "log(x = n)").replace(
        "tensor<fp32, [2, 8]> y", "tensor<fp32, [2, 8]> n = sub(x = fp32(-1), y = b);\ntensor<fp32, [2, 8]> y"
    )
    numbers = told(old, old.replace("fp32(-1)", "fp32(-2)")).numbers
    assert numbers is not None
    assert (numbers.verdict, numbers.empty) == (SAME, ("y",))
    assert verdict_words(numbers).endswith("all outputs are equal; y: nothing but NaN")


def test_many_causes_begin_with_the_greatest_losses() -> None:
    names = [f"v{index}" for index in range(30)]
    body = "".join(f'tensor<fp32, [2, 8]> {name} = tanh(x = x)[name = string("{name}")];\n' for name in names)
    text = f"program(1.3)\n{{ func main<ios18>(tensor<fp32, [2, 8]> x) {{ {body} }} -> ({', '.join(names)}); }}"
    difference = told(text, text.replace("tanh", "sigmoid"))
    section = difference.to_text().partition("numbers, random inputs of seed 0\n")[2].splitlines()
    assert len(section) == 21
    assert section[-1] == "    = and 40 more of 60; `full=True` lists all"
    whole = difference.to_text(full=True).partition("numbers, random inputs of seed 0\n")[2].splitlines()
    assert Counter(line.split()[0] for line in whole) == Counter([*names, *names])


# ---- programs that cannot be compared


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "a.mil").write_text(CHAIN)
    (tmp_path / "b.mil").write_text(CHAIN.replace("relu", "square"))
    (tmp_path / "wide.mil").write_text(CHAIN.replace("[2, 8]", "[2, 9]"))
    return tmp_path


@pytest.mark.parametrize("form", [(), ("--stat",), ("--format", "markdown"), ("--format", "html"), ("--json",)])
def test_inputs_of_another_shape_have_no_numbers(texts: Path, form: tuple[str, ...]) -> None:
    text = diff("a.mil", "wide.mil", "--numbers", *form, cwd=texts)
    assert "MIL842" in text
    if "--json" in form:
        numbers = json.loads(text)["numbers"]
        assert (numbers["verdict"], numbers["outputs"]) == (UNKNOWN, [])
        assert "the input `x` is tensor" in numbers["problem"]


def test_absent_weights_are_named() -> None:
    folder = FOLDER / "weights_absent"
    words = line(diff(folder / "a.mil", folder / "b.mil", "--ignore-weights", "--numbers"))
    assert words.startswith("cannot be compared: ")
    assert "error[MIL302]: the weight file " in words


def piped_package(folder: Path, kind: str, name: str, *, order: int = 1) -> Path:
    """A package of a pipeline of two models, of which one has this type of operation."""
    from support.containers import write_package
    from support.pipelines import of_text, piped, unary

    last = of_text(CHAIN.replace("relu", kind))
    last.description.input.add(name="x")
    last.description.output.add(name="y")
    models = [("one", unary("x", "a")), ("two", last)][::order]
    names, specs = zip(*models, strict=True)
    return write_package(folder / name, piped(*specs, names=names).SerializeToString())


@pytest.mark.parametrize("order", [1, -1], ids=["in their places", "in other places"])
def test_the_models_of_a_pipeline_are_run_one_by_one(tmp_path: Path, order: int) -> None:
    old, new = (
        piped_package(tmp_path, "relu", "A.mlpackage"),
        piped_package(tmp_path, "square", "B.mlpackage", order=order),
    )
    text = diff(old, new, "--numbers")
    of_two = text[text.index(f'model {1 if order == 1 else 0} "two"') :]
    assert line(of_two.partition("model 1")[0] if order == -1 else of_two).startswith("other numbers: y ")
    assert "    numbers, random inputs of seed 0\n        b changed: b " in of_two
    alone = diff(old, new, "--numbers", "--model", "two")
    assert line(alone) in text
    assert f'model {1 if order == 1 else 0} "two": numbers: {line(alone)}\n' in diff(old, new, "--numbers", "--stat")
    found = json.loads(diff(old, new, "--numbers", "--json"))
    assert found["numbers"] is None
    assert [each["difference"]["numbers"]["verdict"] for each in found["models"] if each["name"] == "two"] == [OTHER]
    assert diff(old, old, "--numbers", status=0) == "no difference\n"


def test_given_inputs_belong_to_one_model(tmp_path: Path) -> None:
    old, new = piped_package(tmp_path, "relu", "A.mlpackage"), piped_package(tmp_path, "square", "B.mlpackage")
    np.save(tmp_path / "x.npy", np.ones((2, 8), np.float32))
    given = ("--numbers", "--input", f"x={tmp_path / 'x.npy'}")
    said = line(diff(old, new, *given))
    assert said == "cannot be compared: the given inputs are those of one model in the pipeline: --model selects it"
    assert "the given inputs" in diff(old, new, *given, "--model", "two")
    assert "given inputs are those" not in diff(old, new, *given, "--model", "two")


def test_causes_with_one_ratio_are_reported_together() -> None:
    """Two operations before one output: nothing tells which of them changed it."""
    new = CHAIN.replace("tanh", "sin").replace("relu", "square")
    text = told(CHAIN, new).to_text()
    assert "    y: one ratio for a and b together\n" in text
    assert "together" not in told(CHAIN, CHAIN.replace("relu", "square")).to_text()
    assert "together" not in told(CHAIN, CHAIN.replace("relu", "square").replace("abs", "square")).to_text()


# ---- the command


def test_the_numbers_are_in_each_form(texts: Path) -> None:
    text = diff("a.mil", "b.mil", "--numbers", cwd=texts)
    assert re_verdict(line(text))
    assert text.splitlines()[-2] == "numbers, random inputs of seed 0"
    assert text.splitlines()[-1].startswith("    b changed: b ")
    assert line(diff("a.mil", "b.mil", "--numbers", "--stat", cwd=texts)) == line(text)
    found = json.loads(diff("a.mil", "b.mil", "--numbers", "--json", cwd=texts))["numbers"]
    assert (found["verdict"], found["first"], found["seed"], found["function"]) == (OTHER, "b", 0, "main")
    assert found["causes"][0]["at"]["name"] == "b"
    assert found["outputs"][1]["ratio"] == "inf"
    difference = told(CHAIN, CHAIN.replace("relu", "square"))
    page_says_all(difference)
    stat_says_all(difference)
    for full in (False, True):
        markdown_says_all(difference, full)


def re_verdict(words: str) -> bool:
    return words.startswith("other numbers: y ") and words.endswith("first at b")


def test_the_numbers_equal_those_of_compare(texts: Path) -> None:
    np.savez(texts / "x.npz", x=np.linspace(-3, 3, 16, dtype=np.float32).reshape(2, 8))
    told_by_compare = json.loads(run("compare", "a.mil", "b.mil", "--inputs", "x.npz", "--json", cwd=texts).stdout)
    found = json.loads(diff("a.mil", "b.mil", "--numbers", "--inputs", "x.npz", "--json", cwd=texts))["numbers"]
    assert found["seed"] is None
    measured = {each["name"]: each["measure"]["snr"] for each in told_by_compare["outputs"]}
    assert {each["name"]: each["ratio"] for each in found["outputs"]} == measured
    other = json.loads(diff("a.mil", "b.mil", "--numbers", "--random", "7", "--json", cwd=texts))["numbers"]
    assert other["seed"] == 7
    assert other["outputs"] != found["outputs"]


def test_equal_models_are_not_run(texts: Path) -> None:
    assert diff("a.mil", "a.mil", "--numbers", status=0, cwd=texts) == "no difference\n"


def ended(texts: Path, *words: str) -> Ended:
    return run("diff", "a.mil", "b.mil", *words, cwd=texts)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--random", "1"), b"add --numbers"),
        (("--input", "x=1"), b"add --numbers"),
        (("--function", "main"), b"add --numbers"),
        (("--numbers", "--breaking"), b"leave out one of them"),
        (("--numbers", "--format", "unified"), b"leave out one of them"),
        (("--numbers", "--inputs", "none.npz"), b"none.npz: error[MIL836]"),
    ],
)
def test_impossible_requests(texts: Path, words: tuple[str, ...], said: bytes) -> None:
    done = ended(texts, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr


def test_an_unknown_function_is_the_reason(texts: Path) -> None:
    text = diff("a.mil", "b.mil", "--numbers", "--function", "nope", cwd=texts)
    assert line(text).startswith("cannot be compared: ")
    assert "nope" in line(text)
