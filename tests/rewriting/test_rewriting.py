"""What a rewriting keeps right: uses, names, blocks, states, types, constants, and its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE

import miltext
from miltext.ir.graph import Graph
from miltext.rewriting.results import Rewriting
from miltext.schema.proto import Program

HEAD = 'program(1.3)[rules = "1"]\n{\n'


def rule(find: str, replace: str, attributes: str = "", inputs: str = "x", given: str = "", more: str = "") -> str:
    """The text of a rule whose pattern and replacement return `y`; `given` are the inputs of the replacement."""
    made = f"    func find_a({inputs}){attributes} {{\n {find}\n }} -> (y);\n"
    output = "y" if "y =" in replace else replace
    body = replace if "y =" in replace else ""
    return f"{HEAD}{made}    func replace_a({given or inputs}) {{\n {body}\n }} -> ({output});\n{more}}}\n"


def program(body: str, outputs: str = "y", inputs: str = "tensor<fp16, [2, 4]> x", opset: str = "ios17") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n {body}\n }} -> ({outputs});\n}}\n"


TWICE = rule("y = relu(relu(x));", "y = relu(x);")
ABS = rule("y = maximum(x, mul(x, -1.0));", "y = abs(x);", '[exactness = "ulp 0"]')
GONE = rule("y = tanh(x);", "x")


def types(made: Rewriting) -> list[str]:
    return [op.type for op in Graph(made.program).walk() if not op.is_constant]


def reasons(made: Rewriting) -> list[str]:
    assert made.replaced == []
    return [each.reason for each in made.refused]


# ---- matching


@pytest.mark.parametrize(
    "body",
    [
        "y = maximum(x, mul(x, -1.0));",
        "y = maximum(mul(-1.0, x), x);",
        "c = const()[val = fp16(-1)]; n = mul(c, x); y = maximum(n, x);",
        "c = const()[val = tensor<fp16, [1, 1]>([[-1]])]; n = mul(x, c); y = maximum(x, n);",
        'n = mul(x, -1.0)[name = "n"]; y = maximum(n, x)[name = "y"];',
    ],
)
def test_arguments_in_any_order_and_constants_seen_through(body: str) -> None:
    made = miltext.rewrite(program(body), ABS, verify=True)
    assert types(made) == ["abs"]
    assert made.verified == 1
    assert made.program.functions["main"].block_specializations["CoreML7"].outputs == ["y"]
    assert not [op for op in Graph(made.program).walk() if op.is_constant]


@pytest.mark.parametrize(
    "body",
    [
        "y = maximum(x, mul(x, 1.0));",
        "z = exp(x); y = maximum(x, mul(z, -1.0));",
        "y = minimum(x, mul(x, -1.0));",
        "y = maximum(x, mul(x, [-1.0, -1.0, -1.0, 1.0]));",
    ],
)
def test_near_misses(body: str) -> None:
    assert miltext.find(program(body), ABS) == []


def test_a_sign_of_zero_is_part_of_a_literal() -> None:
    zero = rule("y = add(x, -0.0);", "x")
    assert len(miltext.find(program("y = add(x, -0.0);"), zero)) == 1
    assert miltext.find(program("y = add(x, 0.0);"), zero) == []


def test_whole_numbers_match_fractions_but_not_the_reverse() -> None:
    assert len(miltext.find(program("y = add(x, 2.0);"), rule("y = add(x, 2);", "x"))) == 1
    integers = program("y = add(x, 1);", inputs="tensor<int32, [2]> x")
    assert miltext.find(integers, rule("y = add(x, 1.5);", "x")) == []


def test_omitted_arguments_are_defaults() -> None:
    plain = rule("y = softmax(x);", "x")
    assert len(miltext.find(program("y = softmax(x, axis = -1);"), plain)) == 1
    assert len(miltext.find(program("y = softmax(x, axis = 1);"), plain)) == 0
    given = rule("y = softmax(x, axis = -1);", "x")
    assert len(miltext.find(program("y = softmax(x);"), given)) == 1
    assert len(miltext.find(program("y = softmax(x, axis = 1);"), given)) == 1
    anything = rule("y = softmax(x, axis = _);", "x")
    assert len(miltext.find(program("y = softmax(x, axis = 0);"), anything)) == 1


def test_stated_types_and_conditions() -> None:
    typed = rule("y = relu(x);", "x", inputs="tensor<fp16, [?, 4]> x", given="x")
    assert len(miltext.find(program("y = relu(x);"), typed)) == 1
    assert miltext.find(program("y = relu(x);", inputs="tensor<fp32, [2, 4]> x"), typed) == []
    assert miltext.find(program("y = relu(x);", inputs="tensor<fp16, [2, 3]> x"), typed) == []
    open_size = program("y = relu(x);", inputs="tensor<fp16, [2, ?]> x")
    assert miltext.find(open_size, typed) == []
    condition = rule("y = relu(x);", "x", '[where = "size(x, 1) != 3"]')
    assert miltext.find(open_size, condition) == []
    assert reasons(miltext.rewrite(open_size, condition)) == ["the size of dimension 1 of `x` is unknown"]


def test_an_axis_is_one_axis_however_it_is_spelled() -> None:
    both = rule("y = sub(x, reduce_max(add(x, reduce_sum(x, a, true)), a, true));", "x", inputs="x, a", given="x")
    spelled = "y = sub(x, reduce_max(add(x, reduce_sum(x, [%s], true)), [%s], true));"
    assert len(miltext.find(program(spelled % ("1", "-1")), both)) == 1
    assert miltext.find(program(spelled % ("0", "-1")), both) == []


# ---- sites that stay


def test_an_inner_value_with_another_use_stays() -> None:
    assert reasons(miltext.rewrite(program("a = relu(x); b = relu(a); y = add(a, b);"), TWICE)) == [
        "`a` has another use, in `y`"
    ]
    assert reasons(miltext.rewrite(program("a = relu(x); y = relu(a);", "y, a"), TWICE)) == ["`a` is also an output"]


def test_a_use_in_an_inner_block_is_another_use() -> None:
    body = "a = relu(x); y = relu(a); z = cond(p) () { t = exp(a); } -> (t) () { u = tanh(y); } -> (u);"
    text = program(body, "y, z", "tensor<fp16, [2, 4]> x, bool p")
    assert reasons(miltext.rewrite(text, TWICE)) == ["`a` has another use, in `t`"]


def test_operations_of_two_blocks_stay() -> None:
    body = "a = relu(x); z = cond(p) () { t = relu(a); } -> (t) () { u = tanh(x); } -> (u);"
    text = program(body, "z", "tensor<fp16, [2, 4]> x, bool p")
    assert reasons(miltext.rewrite(text, TWICE)) == ["`a` is in another block"]


def test_a_state_stays() -> None:
    inputs = "tensor<fp16, [4]> x, state<tensor<fp16, [4]>> s"
    text = program("a = read_state(s); y = relu(a);", "y", inputs, "ios18")
    pattern = rule("y = relu(read_state(input = s));", "y = relu(s);", inputs="s")
    assert reasons(miltext.rewrite(text, pattern)) == ["`a` uses a state"]


def test_another_type_stays() -> None:
    flat = rule("y = relu(x);", "y = reduce_sum(x, [0]);")
    [reason] = reasons(miltext.rewrite(program("y = relu(x);"), flat))
    assert reason == "`y` would be tensor<fp16, [4]>, not tensor<fp16, [2, 4]>"


def test_a_data_type_that_an_operation_does_not_take_stays() -> None:
    convolved = rule("y = linear(x, w, bias = _);", "y = linear(x, w, [1.5, 2.5]);", inputs="x, w")
    integers = program("y = linear(x, [[1, 2], [3, 4]]);", inputs="tensor<int32, [1, 2]> x")
    [reason] = reasons(miltext.rewrite(integers, convolved))
    assert reason


@pytest.mark.parametrize(
    ("replacement", "what"),
    [
        ("y = scaled_dot_product_attention(x, x, x);", "`scaled_dot_product_attention` is not in ios15"),
        ("y = gather(x, [0, 1], validate_indices = true);", "`validate_indices` of `gather` is not in ios15"),
    ],
)
def test_a_replacement_newer_than_the_function_stays(replacement: str, what: str, tmp_path: Path) -> None:
    newer = rule("y = relu(x);", replacement)
    made = miltext.rewrite(program("y = relu(x);", opset="ios15"), newer, tmp_path / "New.mlpackage")
    [reason] = reasons(made)
    assert reason.startswith(what)
    assert "raise its opset to ios1" in reason


def test_stated_types_of_inner_values_and_of_computed_inputs() -> None:
    stated = rule("tensor<fp16, [?, 4]> z = relu(x); tensor<fp16, [2, ?]> y = tanh(z);", "y = tanh(x);")
    assert len(miltext.rewrite(program("y = tanh(relu(x));"), stated).replaced) == 1
    for other in (stated.replace("<fp16, [?, 4]>", "<fp16, [?, 5]>"), stated.replace("fp16, [2", "fp32, [2")):
        assert miltext.rewrite(program("y = tanh(relu(x));"), other).sites == []
    computed = rule("y = relu(x);", "y = mul(x, s);", given="x, fp16 s").replace("fp16 s)", 'fp16 s)[s = "1"]')
    assert reasons(miltext.rewrite(program("y = relu(x);"), computed)) == ["`s` is int32, not fp16"]


def test_an_omitted_argument_has_no_contents() -> None:
    squeezed = rule("y = squeeze(x, a);", "y = squeeze(x, a);", '[where = "len(a) == 1"]', "x, a")
    made = miltext.rewrite(program("y = squeeze(x);", inputs="tensor<fp16, [1, 4]> x"), squeezed)
    assert reasons(made) == ["`a` is omitted"]


def test_an_impossible_replacement_stays() -> None:
    wrong = rule("y = relu(x);", "y = matmul(x, x);")
    [reason] = reasons(miltext.rewrite(program("y = relu(x);"), wrong))
    assert "matmul" in reason


# ---- names


def test_an_output_keeps_its_name_if_its_new_value_can_take_it() -> None:
    made = miltext.rewrite(program("a = exp(x); y = tanh(a); z = relu(a);", "y, z"), GONE)
    [op, _] = Graph(made.program).walk()
    assert (op.type, op.outputs[0].name) == ("exp", "y")
    assert miltext.check(made.program) == []


@pytest.mark.parametrize(
    ("body", "outputs", "reason"),
    [
        ("y = tanh(x);", "y", "the output `y` would be `x`, which is an input or a constant with its own name"),
        ("a = exp(x); y = tanh(a);", "a, y", "the output `y` would be `a`, which is an output with its own name"),
    ],
)
def test_an_output_that_cannot_keep_its_name_stays(body: str, outputs: str, reason: str) -> None:
    assert reasons(miltext.rewrite(program(body, outputs), GONE)) == [reason]


def test_an_inner_block_may_return_an_outer_value() -> None:
    body = "z = cond(p) () { t = tanh(x); } -> (t) () { u = exp(x); } -> (u);"
    made = miltext.rewrite(program(body, "z", "tensor<fp16, [2, 4]> x, bool p"), GONE)
    assert len(made.replaced) == 1
    assert [each for each in miltext.check(made.program) if each.severity == "error"] == []


def test_new_names_are_free() -> None:
    longer = rule("y = silu(x);", "y = mul(x, sigmoid(x));")
    made = miltext.rewrite(program("y_y_y = silu(x); y = silu(y_y_y);"), longer)
    names = [value.name for op in Graph(made.program).walk() for value in op.outputs]
    assert len({*names}) == len(names) == 4
    assert names[-1] == "y"


# ---- the plan


def test_overlapping_sites_are_replaced_in_the_order_of_the_text() -> None:
    made = miltext.rewrite(program("a = relu(x); b = relu(a); y = relu(b);"), TWICE)
    assert [(each.value, each.is_replaced) for each in made.sites] == [("b", True), ("y", True)]
    assert types(made) == ["relu"]


def test_only_some_sites_and_at_most_so_many() -> None:
    text = program("a = tanh(relu(x)); y = relu(tanh(a));")
    assert [each.value for each in miltext.rewrite(text, GONE, only="a").replaced] == ["a"]
    assert [each.value for each in miltext.rewrite(text, GONE, only=["main/y_x"]).replaced] == ["y_x"]
    assert len(miltext.rewrite(text, GONE, limit=1).replaced) == 1
    assert miltext.rewrite(text, GONE, limit=0).replaced == []
    with pytest.raises(miltext.MiltextError, match="no rule matches a site `nope`"):
        miltext.rewrite(text, GONE, only="nope")


def test_all_functions_are_rewritten() -> None:
    one = program("y = relu(relu(x));")
    other = one[one.index("    func") : -2].replace("main", "other")
    made = miltext.rewrite(one[:-2] + other + "}\n", TWICE)
    assert [each.function for each in made.replaced] == ["main", "other"]


def test_nothing_to_do_gives_the_same_program() -> None:
    before = miltext.parse(miltext.infer_draft(program("y = exp(x);")))
    made = miltext.rewrite(before, TWICE)
    assert (made.sites, made.operations) == ([], (1, 1))
    assert made.program == before


def test_rules_that_never_come_to_rest_are_named() -> None:
    growing = rule("y = relu(x);", "y = relu(relu(x));")
    with pytest.raises(miltext.MiltextError, match="`a` still apply") as failure:
        miltext.rewrite(program("y = relu(x);"), growing)
    assert failure.value.diagnostics[0].code == "MIL871"


def test_rules_that_undo_each_other_never_come_to_rest() -> None:
    there = rule("y = silu(x);", "y = mul(x, sigmoid(x));")
    back = rule("y = mul(x, sigmoid(x));", "y = silu(x);").replace("_a(", "_b(")
    with pytest.raises(miltext.MiltextError, match="`a`, `b` still apply"):
        miltext.rewrite(program("y = silu(x);"), [there, back])


def test_a_long_chain_comes_to_rest() -> None:
    body = "".join(f"a{k + 1} = relu(a{k}); " for k in range(400)).replace("(a0)", "(x)")
    made = miltext.rewrite(program(body + "y = relu(a400);"), TWICE)
    assert types(made) == ["relu"]


# ---- constants


FOLDED = rule("y = mul(mul(x, a), b);", "y = mul(x, mul(a, b));", '[where = "constant(a) and constant(b)"]', "x, a, b")


def test_constants_are_computed() -> None:
    made = miltext.rewrite(program("y = mul(mul(x, 0.5), [1.0, 2.0, 3.0, 4.0]);"), FOLDED)
    [const, op] = Graph(made.program).walk()
    assert (const.type, op.type) == ("const", "mul")
    assert miltext.run(made.program, {"x": np.ones((2, 4), np.float16)})["y"].tolist() == [[0.5, 1.0, 1.5, 2.0]] * 2


def test_a_constant_out_of_range_stays() -> None:
    [reason] = reasons(miltext.rewrite(program("y = mul(mul(x, 300.0), 300.0);"), FOLDED))
    assert reason == "the constant `y_y` leaves the range of its data type"


def test_a_constant_cannot_become_an_output() -> None:
    half = rule("y = add(x, 0.5);", "y = add(0.25, 0.25);")
    text = program("y = add(x, 0.5);", inputs="fp16 x")
    assert reasons(miltext.rewrite(text, half)) == ["the output `y` would be a constant"]


def test_a_compressed_constant_is_not_constant() -> None:
    palette = (
        "w = constexpr_lut_to_dense(indices = tensor<uint1, [4]>([0, 1, 0, 1]), lut = tensor<fp16, [1, 2, 1]>"
        "([[[-0.5], [0.5]]])); y = mul(mul(x, w), 2.0);"
    )
    text = program(palette, opset="ios18")
    assert reasons(miltext.rewrite(text, FOLDED)) == ["`constant(a)` is false"]


# ---- verification


def test_a_wrong_rule_is_not_proven() -> None:
    wrong = rule("y = relu(x);", "y = abs(x);")
    assert len(miltext.rewrite(program("y = relu(x);"), wrong).replaced) == 1
    with pytest.raises(miltext.MiltextError, match="not as exact as declared at `y`") as failure:
        miltext.rewrite(program("y = relu(x);"), wrong, verify=True)
    [found] = failure.value.diagnostics
    assert found.code == "MIL872"
    assert "the input is `x`" in found.notes[0].message


def test_the_sign_of_zero_is_part_of_exactness() -> None:
    zero = rule("y = add(x, 0.0);", "x", '[exactness = "%s"]')
    text = program("a = exp(x); b = add(x, 0.0); y = relu(b);")
    with pytest.raises(miltext.MiltextError, match=r"was 0\.0, and is -0\.0"):
        miltext.rewrite(text, zero % "exact", verify=True)
    assert miltext.rewrite(text, zero % "ulp 0", verify=True).verified == 1


def test_a_replacement_without_a_result_is_not_called_inexact() -> None:
    divided = rule("y = add(x, 1);", "y = floor_div(x, sub(x, x));")
    with pytest.raises(miltext.MiltextError, match="the rule `a` has no result at `y`"):
        miltext.rewrite(program("y = add(x, 1);", inputs="tensor<int32, [2, 4]> x"), divided, verify=True)


def test_a_refused_replacement_is_not_counted_as_proven() -> None:
    made = miltext.rewrite(program("y = tanh(x);"), GONE, verify=True)
    assert (len(made.refused), made.verified) == (1, 0)


# ---- models


def test_a_model_keeps_all_else(tmp_path: Path) -> None:
    gone = rule("y = silu(x);", "y = mul(x, sigmoid(x));", '[exactness = "fp16: ulp 1"]')
    output = tmp_path / "New.mlpackage"
    made = miltext.rewrite(EXAMPLE, gone, output)
    new = miltext.load(output)
    assert new.program == made.program or miltext.diff(new, made.program).to_text() == ""
    assert miltext.describe(new) == miltext.describe(EXAMPLE)


def test_a_folded_weight_is_stored_in_the_weight_file(tmp_path: Path) -> None:
    rows = ", ".join("[" + ", ".join(f"[[{(row - column) / 8}]]" for column in range(16)) + "]" for row in range(16))
    body = f"y = conv(mul(x, 0.5), [{rows}]);"
    draft = program(body, inputs="tensor<fp16, [1, 16, 1, 5]> x")
    old, new = tmp_path / "Old.mlpackage", tmp_path / "New.mlpackage"
    miltext.build(draft, old, externalize=10)
    made = miltext.rewrite(old, "scale-into-conv", new, verify=True)
    assert (len(made.replaced), made.verified, made.warnings) == (1, 1, [])
    assert sum(path.stat().st_size for path in new.rglob("weight.bin")) <= sum(
        path.stat().st_size for path in old.rglob("weight.bin")
    )
    assert [each.elements for each in miltext.weights(new).entries.values()] == [256]
    given = {"x": np.linspace(-1, 1, 80, dtype=np.float16).reshape(1, 16, 1, 5)}
    assert np.allclose(miltext.run(old, given)["y"], miltext.run(new, given)["y"], atol=0.01)
    again = tmp_path / "Again.mlpackage"
    assert miltext.rewrite(new, "scale-into-conv", again).replaced == []


def test_texts_and_refusals(tmp_path: Path) -> None:
    output = tmp_path / "new.mil"
    miltext.rewrite(program("y = relu(relu(x));"), TWICE, output)
    assert "relu" in output.read_text(encoding="utf-8")
    with pytest.raises(FileExistsError):
        miltext.rewrite(program("y = relu(relu(x));"), TWICE, output)
    miltext.rewrite(program("y = relu(relu(x));"), TWICE, output, force=True)
    with pytest.raises(miltext.ParseError):
        miltext.rewrite(program("y = relu(z);"), TWICE, tmp_path / "none.mil")
    assert [path.name for path in tmp_path.iterdir()] == ["new.mil"]


def test_outputs_of_other_endings_and_onto_the_rules(tmp_path: Path) -> None:
    text = program("y = relu(relu(x));")
    with pytest.raises(miltext.ModelError, match=r"\.mlmodelc or \.mil, not `new\.txt`") as failure:
        miltext.rewrite(text, TWICE, tmp_path / "new.txt")
    assert failure.value.diagnostics[0].code == "MIL401"
    rules = tmp_path / "rules.mil"
    rules.write_text(TWICE, encoding="utf-8")
    with pytest.raises(miltext.ModelError, match=r"contains the input 'rules\.mil'") as failure:
        miltext.rewrite(text, ["softmax", rules], rules, force=True)
    assert failure.value.diagnostics[0].code == "MIL402"
    assert rules.read_text(encoding="utf-8") == TWICE


def test_the_result_as_text_and_data() -> None:
    made = miltext.rewrite(program("a = relu(x); b = relu(a); c = tanh(b); d = tanh(c); y = add(c, d);"), [TWICE])
    assert made.to_text() == (
        "main/b: a replaced: 2 relu -> relu\na: 1 site replaced\n1 replacement, 5 -> 4 operations\n"
    )
    [site] = made.to_json()["sites"]
    assert (site["rule"], site["value"], site["removed"], site["made"]) == ("a", "b", ("relu", "relu"), ("relu",))
    assert isinstance(made.program, Program)


@pytest.mark.parametrize(
    ("number", "places"),
    [(1, "main/y0"), (3, "main/y0, main/y1, main/y2"), (11, "main/y0, main/y1, main/y2 and 8 more")],
)
def test_equal_refusals_of_a_rule_are_one_line(number: int, places: str) -> None:
    flat = rule("y = relu(x);", "y = abs(x);", '[where = "rank(x) == 3"]')
    names = [f"y{place}" for place in range(number)]
    made = miltext.rewrite(program(" ".join(f"{name} = relu(x);" for name in names), ", ".join(names)), flat)
    assert len(made.to_json()["sites"]) == number
    sums = f"0 replacements, {number} -> {number} operations\n"
    assert made.to_text() == f"{places}: a refused: `rank(x) == 3` is false\n{sums}"


def test_different_refusals_stay_apart() -> None:
    refusing = TWICE.replace("find_a(x)", 'find_a(x)[where = "rank(x) == 2"]')
    body = "a = relu(x); b = relu(a); c = tanh(a); d = relu(z); e = relu(d);"
    made = miltext.rewrite(program(body, "b, c, e", "tensor<fp16, [2, 4]> x, tensor<fp16, [4]> z"), refusing)
    assert made.to_text().splitlines()[:2] == [
        "main/b: a refused: `a` has another use, in `c`",
        "main/e: a refused: `rank(x) == 2` is false",
    ]
