"""`verify=True` also computes each rewritten function before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.containers import pipeline
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.rewriting.verifying import Verifying
from miltext.rewriting.whole_proofs import FunctionProof

X = "tensor<fp16, [2, 4]> x"
CAST = "cast_pair"


def rule(find: str, replace: str, attributes: str = "") -> str:
    body, output = (replace, "y") if "y =" in replace else ("", replace)
    made = f"    func find_a(x){attributes} {{\n {find}\n }} -> (y);\n"
    return f'program(1.3)[rules = "1"]\n{{\n{made}    func replace_a(x) {{\n {body}\n }} -> ({output});\n}}\n'


def function(body: str, outputs: str = "y", inputs: str = X, name: str = "main", opset: str = "ios18") -> str:
    return f"    func {name}<{opset}>({inputs}) {{\n {body}\n }} -> ({outputs});\n"


def program(*functions: str) -> str:
    return f"program(1.3)\n{{\n{''.join(functions)}}}\n"


CASTS = 'y = relu(cast(cast(x, "fp32"), "fp16"));'
WRONG = rule("y = relu(x);", "y = abs(x);")


def proof(text: str, rules: str = CAST, inputs: Mapping[str, Any] | None = None) -> FunctionProof:
    [found] = miltext.rewrite(text, rules, verify=True, inputs=inputs).functions or []
    return found


def failure(text: str, rules: str, inputs: Mapping[str, Any] | None = None) -> miltext.Diagnostic:
    with pytest.raises(miltext.MiltextError) as raised:
        miltext.rewrite(text, rules, verify=True, inputs=inputs)
    [found] = raised.value.diagnostics
    return found


@pytest.fixture
def unproven_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """No site is proven by itself."""
    monkeypatch.setattr(Verifying, "require", lambda *_: None)


def test_an_exact_rewriting_is_equal_bit_for_bit() -> None:
    made = miltext.rewrite(program(function(CASTS)), CAST, verify=True)
    [found] = made.functions or []
    assert (found.function, found.inputs, found.reason, found.is_equal) == ("main", 10, "", True)
    assert made.to_text().splitlines()[-1] == "main: all outputs are equal bit for bit, on 10 inputs"
    assert made.summary().splitlines()[-1] == "main: all outputs are equal bit for bit, on 10 inputs"


def test_without_a_request_or_a_site_nothing_is_computed() -> None:
    assert miltext.rewrite(program(function(CASTS)), CAST).functions is None
    assert miltext.rewrite(program(function("y = relu(x);")), CAST, verify=True).functions == []


@pytest.mark.usefixtures("unproven_sites")
def test_a_changed_number_is_refused_with_its_output_and_input() -> None:
    found = failure(program(function("z = tanh(x); y = relu(z);", "z, y")), WRONG)
    assert found.code == "MIL872"
    assert "changes the function `main`: `y`[" in found.message
    assert found.message.endswith("although all its rules are exact")
    assert found.notes[0].message.startswith("the input is `x` = [")


@pytest.mark.usefixtures("unproven_sites")
def test_a_changed_state_is_refused() -> None:
    body = "r = read_state(s); a = relu(r); write_state(input = s, data = a); y = add(x, x);"
    found = failure(program(function(body, inputs="tensor<fp16, [4]> x, state<tensor<fp16, [4]>> s")), WRONG)
    assert "`s`[" in found.message
    assert {part.partition(" =")[0] for part in found.notes[0].message.split("the input is ")[1].split("], ")} == {
        "`x`", "`s`",
    }  # fmt: skip


def test_states_are_compared() -> None:
    casts = CASTS.replace("y =", "a =").replace("(x", "(r")
    body = f"r = read_state(s); {casts} write_state(input = s, data = a); y = relu(x);"
    found = proof(program(function(body, inputs=f"{X}, state<tensor<fp16, [4]>> s")))
    assert ([each.name for each in found.outputs], found.is_equal) == (["y", "s"], True)


def test_inexact_rules_have_differences_beside_bounds() -> None:
    body = (
        "e = exp(sub(x, reduce_max(x, [-1], keep_dims = true))); "
        "y = real_div(e, reduce_sum(e, [-1], keep_dims = true)); z = relu(x);"
    )
    made = miltext.rewrite(program(function(body, "y, z")), "softmax", verify=True)
    [found] = made.functions or []
    y, z = found.outputs
    assert (y.name, y.equal, z.name, z.equal) == ("y", False, "z", True)
    assert 0 < y.atol < 1e-2
    assert y.ulp >= 1
    assert 0 < y.rtol < 0.1
    first, second, bounds = made.to_text().splitlines()[-3:]
    assert first.startswith(f"main/y: differs by ulp {y.ulp:g}, atol ")
    assert second == "main/z: equal bit for bit, on 10 inputs"
    assert bounds == f"main: declared for each replacement: softmax: {found.declared['softmax']}"


@pytest.mark.usefixtures("unproven_sites")
def test_finite_elements_that_are_lost_are_counted() -> None:
    square = rule("y = sqrt(x);", "y = mul(x, mul(x, x));", '[exactness = "atol 1"]')
    found = proof(program(function("y = sqrt(x);")), square)
    [y] = found.outputs
    assert y.lost > 0
    assert "no longer finite" in next(found.lines())


@pytest.mark.usefixtures("unproven_sites")
def test_a_function_without_a_result_is_refused() -> None:
    wrong = rule("y = identity(x);", "y = reshape(reshape(x, [-1, 16]), [-1, 4]);")
    found = failure(program(function("y = identity(relu(x));", inputs="tensor<fp16, [?, 4]> x")), wrong)
    assert "the rewriting breaks the function `main`: " in found.message
    assert found.notes[0].message.startswith("the input is `x` = [")


def test_only_functions_with_sites_are_computed() -> None:
    text = program(function(CASTS, name="a"), function("y = relu(x);", name="b"), function(CASTS, name="c"))
    found = miltext.rewrite(text, CAST, verify=True).functions or []
    assert [(each.function, each.inputs) for each in found] == [("a", 10), ("c", 10)]


@pytest.mark.parametrize(
    ("inputs", "body"),
    [
        ("tensor<fp16, [?, 4]> x", CASTS),
        ("tensor<fp16, [0, 4]> x", CASTS),
        ("tensor<fp16, [?, ?, ?]> x", CASTS),
        ("tensor<fp16, [?, 16]> x", f"r = reshape(x, [-1, 32]); {CASTS.replace('(x', '(r')}"),
        ("", 'y = relu(cast(cast(random_normal([3], 0.0, 1.0, 7), "fp16"), "fp16"));'),
    ],
)
def test_sizes_of_all_kinds(inputs: str, body: str) -> None:
    made = miltext.rewrite(program(function(body, inputs=inputs)), [CAST, "cast_to_itself"], verify=True)
    [found] = made.functions or []
    assert (found.inputs, found.is_equal, found.reason) == (10 if inputs else 1, True, "")


@pytest.mark.parametrize(
    ("inputs", "body", "reason"),
    [
        (X, "r = random_normal([2, 4], fp16(0), fp16(1), -1); z = add(r, x); " + CASTS, "random"),
        (X, "r = random_normal([2, 4], mean = fp16(0), stddev = fp16(1)); z = add(r, x); " + CASTS, "random"),
        (X, 'w = const()[val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/no.bin"), offset = uint64(64)))]; '
            "z = add(x, w); " + CASTS, "no.bin"),
        ("tensor<fp16, [2, 4]> x, tensor<string, [1]> w", CASTS, "random numbers"),
        ("tensor<fp16, [?, 7]> x", "v = reshape(x, [-1, 5]); z = reshape(v, [11]); " + CASTS, "reshape"),
    ],
)  # fmt: skip
def test_an_impossible_computation_is_reported(inputs: str, body: str, reason: str) -> None:
    text = program(function(body, "y, z" if "z =" in body else "y", inputs=inputs))
    made = miltext.rewrite(text, CAST, verify=True)
    [found] = made.functions or []
    assert (found.inputs, found.outputs, made.verified) == (0, [], 1)
    assert reason in found.reason
    assert made.to_text().splitlines()[-1] == f"main: only its replacements are proven: {found.reason}"


COUNTED = """program(1.3) { func main<ios18>(tensor<fp32, [1]> n) {
    i = while_loop(loop_vars = (fp32(0)))
        (fp32 a) { more = less(a, n); } -> (more)
        (fp32 b) { next = add(cast(b, "fp32"), 1.0); } -> (next);
    y = add(i, n);
} -> (y); }"""


def test_a_loop_that_an_edge_value_makes_endless() -> None:
    """The loop counts up to an input, which is infinite among the edge values."""
    found = proof(COUNTED, "cast_to_itself")
    assert (found.inputs > 0, found.is_equal) == (True, True)


# ---- given inputs

ONLY_THERE = rule("y = relu(x);", "y = select(equal(x, 12344.0), 1.0, maximum(x, 0.0));", '[exactness = "exact"]')
BOTH = program(function("y = relu(x); w = tanh(z);", "y, w", inputs=f"{X}, tensor<fp16, [2]> z"))


@pytest.mark.usefixtures("unproven_sites")
def test_given_inputs_are_computed_too() -> None:
    given = {"x": np.full((2, 4), 12344.0)}
    assert proof(BOTH, ONLY_THERE).is_equal
    assert proof(BOTH, ONLY_THERE, inputs={"z": [1, 2]}).inputs == 11
    found = failure(BOTH, ONLY_THERE, inputs=given)
    shown = str(np.float16(12344))  # numpy 2 writes 1.2344e+04
    assert f"`y`[0, 0] was {shown}, and is 1.0" in found.message
    assert "`x` = [12344.0, " in found.notes[0].message


def test_given_inputs_suffice_where_random_ones_are_impossible() -> None:
    text = program(function(CASTS, inputs=f"{X}, tensor<string, [1]> w"))
    found = proof(text, inputs={"w": ["a"]})
    assert (found.inputs, found.is_equal, found.reason) == (1, True, "")


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({"imege": [1]}, "MIL832", "no function has an input `imege`; did you mean `image`?"),
        ({"image": [1, 2]}, "MIL833", "the input `image` has the shape [2]"),
    ],
)
def test_wrong_inputs(given: dict[str, object], code: str, message: str) -> None:
    text = program(function(CASTS.replace("(x", "(image"), inputs=X.replace("x", "image")))
    found = failure(text, CAST, inputs=given)
    assert found.code == code
    assert message in found.message


def test_inputs_are_for_a_proof(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="pass `verify=True`"):
        miltext.rewrite(program(function(CASTS)), CAST, inputs={})
    with pytest.raises(TypeError, match="pass `verify=True`"):
        miltext.optimize(program(function(CASTS)), inputs={})
    model = tmp_path / "model.mil"
    model.write_text(program(function(CASTS)), encoding="utf-8")
    for verb in (["rewrite", CAST], ["optimize"]):
        ended = RUNNER.invoke(command, [*verb, str(model), "--dry-run", "--inputs", "x.npz"])
        assert (ended.exit_code, "--inputs needs --verify" in ended.stderr) == (2, True)


# ---- models and the command


def test_the_command_takes_inputs_and_reports_in_text_and_json(tmp_path: Path) -> None:
    model, inputs, output = tmp_path / "model.mil", tmp_path / "x.npz", tmp_path / "New.mlpackage"
    model.write_text(program(function(CASTS)), encoding="utf-8")
    np.savez(inputs, x=np.ones((2, 4), np.float16))
    words = ["optimize", str(model), "--verify", "--inputs", str(inputs)]
    ended = RUNNER.invoke(command, [*words, "-o", str(output)])
    assert ended.stdout.splitlines()[-1] == "main: all outputs are equal bit for bit, on 11 inputs"
    [found] = json.loads(RUNNER.invoke(command, [*words, "--dry-run", "--json"]).stdout)["functions"]
    assert found == {
        "function": "main",
        "inputs": 11,
        "reason": "",
        "declared": {},
        "outputs": [{"name": "y", "equal": True, "ulp": 0.0, "atol": 0.0, "rtol": 0.0, "lost": 0}],
    }


@pytest.mark.usefixtures("unproven_sites")
def test_a_failed_proof_writes_nothing(tmp_path: Path) -> None:
    output = tmp_path / "New.mlpackage"
    with pytest.raises(miltext.MiltextError, match="changes the function"):
        miltext.rewrite(program(function("y = relu(x);")), WRONG, output, verify=True)
    assert [*tmp_path.iterdir()] == []


def test_sizes_of_a_description_and_a_model_in_a_pipeline(tmp_path: Path) -> None:
    text = program(function(CASTS, inputs="tensor<fp16, [?, 4]> x"))
    model, whole = tmp_path / "Old.mlmodel", tmp_path / "Pipeline.mlmodel"
    miltext.build(text, model, ranges={"x": "3..5,4"})
    made = miltext.rewrite(model, CAST, verify=True)
    assert [each.inputs for each in made.functions or ()] == [10]
    stage = miltext.load(model).spec
    assert stage is not None
    whole.write_bytes(pipeline(stage, names=("first",)).SerializeToString())
    found = miltext.rewrite(whole, CAST, verify=True, model="first").functions or []
    assert [(each.inputs, each.is_equal) for each in found] == [(10, True)]


def test_a_weight_that_is_not_yet_stored(tmp_path: Path) -> None:
    rows = ", ".join("[" + ", ".join(f"[[{(row - column) / 8}]]" for column in range(16)) + "]" for row in range(16))
    old, new = tmp_path / "Old.mlpackage", tmp_path / "New.mlpackage"
    body = f"y = conv(mul(x, 0.5), [{rows}]);"
    miltext.build(program(function(body, inputs="tensor<fp16, [1, 16, 1, 5]> x")), old, externalize=10)
    [found] = miltext.rewrite(old, "scale-into-conv", new, verify=True).functions or []
    assert (found.inputs, found.reason, [*found.declared]) == (10, "", ["number_into_conv"])


def test_classifiers_and_lists() -> None:
    classes = 'y, p = classify(relu(cast(cast(x, "fp16"), "fp32")), ["a", "b"]);'
    casts = classes.replace('cast(cast(x, "fp16"), "fp32")', "identity(x)")
    found = proof(program(function(casts, "y, p", inputs="tensor<fp32, [1, 2]> x")), "identity")
    assert (found.inputs > 0, found.is_equal, [each.name for each in found.outputs]) == (True, True, ["y", "p"])


@pytest.mark.parametrize("parts", [2, 3, 5, 16])
def test_a_replacement_is_proven_for_a_possible_size(parts: int) -> None:
    """Types of inner values follow from the sizes of the inputs, which are 2 at first."""
    names = ", ".join(f"p{place}" for place in range(parts))
    body = f"{names} = split(x, num_splits = {parts}, axis = 1); y = concat(({names}), 1);"
    rules = rule(body, "x")
    text = program(function(body.replace("y =", "z =") + " y = relu(z);", inputs="tensor<fp16, [2, ?]> x"))
    made = miltext.rewrite(text, rules, verify=True)
    assert made.replaced
    assert made.verified == (parts != 5)  # no size that is tried is a multiple of 5
    [found] = made.functions or []
    assert bool(found.inputs) == (parts != 5)
