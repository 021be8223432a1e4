"""The passes: dead code, common subexpressions, and folding of constants, beside states, blocks, names and weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import miltext
from miltext.ir.graph import Graph
from miltext.rewriting.constant_folding import SMALL
from miltext.rewriting.packaged import passes, rules_of
from miltext.rewriting.results import Rewriting

DEAD, SAME, FOLD = "dead-code", "common-subexpressions", "constant-folding"
EQUAL, SPLIT = "equal-weights", "split-heads"

X, STATE = "tensor<fp16, [2, 4]> x", "tensor<fp16, [4]> x, state<tensor<fp16, [4]>> s"
BRANCHES = "tensor<fp16, [2, 4]> x, bool p"


def program(body: str, outputs: str = "y", inputs: str = X, opset: str = "ios17") -> str:
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n {body}\n }} -> ({outputs});\n}}\n"


def types(made: Rewriting) -> list[str]:
    return [op.type for op in Graph(made.program).walk() if not op.is_constant]


def reasons(made: Rewriting) -> list[str]:
    assert made.replaced == []
    return [each.reason for each in made.refused]


def errors(made: Rewriting) -> list[str]:
    return [each.message for each in miltext.check(made.program) if each.severity == "error"]


@pytest.mark.parametrize("name", passes())
def test_a_pass_states_its_facts_and_counts_as_one_rule(name: str) -> None:
    [found] = rules_of(name)
    assert (found.name, str(found.exactness)) == (name, "ulp 1" if name == "split-heads" else "exact")
    assert found.source
    assert found.purpose
    before = miltext.parse(miltext.infer_draft(program("y = relu(x);")))
    made = miltext.rewrite(before, name, verify=True)
    assert (made.sites, made.verified, made.program) == ([], 0, before)


@pytest.mark.parametrize("name", passes())
def test_a_pass_has_no_pattern(name: str) -> None:
    with pytest.raises(miltext.MiltextError, match="is a pass, which has no pattern"):
        miltext.find(program("y = relu(x);"), name)


# ---- dead code


def test_dead_operations_go_with_their_constants() -> None:
    body = "a = mul(x, [1.0, 2.0, 3.0, 4.0]); b = tanh(a); c = const()[val = fp16(1)]; y = relu(x);"
    made = miltext.rewrite(program(body), DEAD)
    assert [(each.value, each.removed) for each in made.replaced] == [
        ("c", ("const",)), ("b", ("tanh",)), ("a", ("mul",)),
    ]  # fmt: skip
    assert [op.type for op in Graph(made.program).walk()] == ["relu"]
    assert made.operations == (3, 1)


def test_dead_code_in_blocks_and_dead_blocks() -> None:
    body = (
        "z = cond(p) () { t = tanh(x); u = exp(x); } -> (u) () { v = relu(x); } -> (v); "
        "d = cond(p) () { t2 = tanh(z); } -> (t2) () { v2 = relu(z); } -> (v2); y = relu(z);"
    )
    made = miltext.rewrite(program(body, inputs=BRANCHES), DEAD)
    assert types(made) == ["cond", "exp", "relu", "relu"]
    assert [each.value for each in made.replaced] == ["d", "t"]
    assert errors(made) == []


def test_a_write_to_a_state_is_needed() -> None:
    body = "a = read_state(s); b = add(a, x); write_state(input = s, data = b); y = relu(x); r = read_state(s);"
    made = miltext.rewrite(program(body, inputs=STATE, opset="ios18"), DEAD)
    assert [each.value for each in made.replaced] == ["r"]
    assert types(made) == ["read_state", "add", "write_state", "relu"]


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("d = random_normal([4]); y = random_normal([2, 4]);", ["random_normal"] * 2),
        ("y = random_normal([2, 4]); d = random_uniform([4]);", ["random_normal", "random_uniform"]),
        ("d = tanh(random_normal([4])); y = random_normal([2, 4]);", ["random_normal"] * 2),
        ("d = random_normal([4], seed = -1); y = random_normal([2, 4]);", ["random_normal"] * 2),
        ("d = random_normal([4], seed = 1); y = random_normal([2, 4]);", ["random_normal"]),
        ("d = random_normal([4]); y = random_normal([2, 4], seed = 1);", ["random_normal"]),
        ("d = random_normal([4]); e = tanh(random_normal([4])); y = tanh(x);", ["tanh"]),
    ],
)
def test_random_numbers_of_others_stay(body: str, left: list[str]) -> None:
    before = program(body, inputs="tensor<fp32, [2, 4]> x")
    made = miltext.rewrite(before, DEAD, verify=True)
    assert types(made) == left
    given = {"x": np.zeros((2, 4), np.float32)}
    assert (miltext.run(before, given, seed=3)["y"] == miltext.run(made.program, given, seed=3)["y"]).all()
    assert all("the random numbers of `y" in each.reason for each in made.refused)


def test_random_numbers_in_a_dead_block() -> None:
    dead = "d = cond(p) () { t = random_normal([4]); } -> (t) () { f = random_normal([4]); } -> (f);"
    for needed, left in (("y = random_normal([2, 4]);", 4), ("y = random_normal([2, 4], seed = 1);", 1)):
        made = miltext.rewrite(program(f"{dead} {needed}", inputs=BRANCHES), DEAD)
        assert len(types(made)) == left


def test_an_unused_input_stays() -> None:
    made = miltext.rewrite(program("a = exp(z); y = relu(x);", inputs=f"{X}, tensor<fp16, [3]> z"), DEAD)
    assert [each.name for each in made.program.functions["main"].inputs] == ["x", "z"]


def test_only_some_dead_sites() -> None:
    text = program("a = exp(x); b = tanh(x); y = relu(x);")
    assert types(miltext.rewrite(text, DEAD, only="a")) == ["tanh", "relu"]
    assert types(miltext.rewrite(text, DEAD, limit=1)) == ["exp", "relu"]


# ---- common subexpressions


@pytest.mark.parametrize(
    "body",
    [
        "a = exp(x); b = exp(x); y = add(a, b);",
        "a = mul(x, [1.0, 2.0, -0.0, 4.0]); b = mul(x, [1.0, 2.0, -0.0, 4.0]); y = add(a, b);",
        "c = const()[val = fp16(2)]; d = const()[val = fp16(2)]; a = mul(x, c); b = mul(x, d); y = add(a, b);",
        'a = exp(x)[name = "a"]; b = exp(x)[name = "b"]; y = add(a, b);',
    ],
)
def test_equal_operations_become_one(body: str) -> None:
    made = miltext.rewrite(program(body), SAME, verify=True)
    assert (len(made.replaced), made.verified, len(types(made))) == (1, 1, 2)
    assert errors(made) == []


@pytest.mark.parametrize(
    "body",
    [
        "a = exp(x); b = exp2(x); y = add(a, b);",
        "a = mul(x, 0.0); b = mul(x, -0.0); y = add(a, b);",
        "a = sub(x, exp(x)); b = sub(exp2(x), x); y = add(a, b);",
        'a = cast(x, "fp32"); b = cast(x, "int32"); y = add(a, cast(b, "fp32"));',
        "a = exp(x)[note = fp16(1)]; b = exp(x); y = add(a, b);",
    ],
)
def test_near_misses_stay(body: str) -> None:
    assert miltext.rewrite(program(body), SAME).sites == []


def test_nans_are_equal_by_their_bits() -> None:
    before = miltext.parse(miltext.infer_draft(program("a = mul(x, 2.0); b = mul(x, 2.0); y = add(a, b);")))
    graph = Graph(before)
    payloads = iter([b"\x01\x7e", b"\x02\x7e"])
    for op in graph.walk():
        if op.type == "mul":
            op.own_literal("y").immediateValue.tensor.bytes.values = next(payloads)
    assert miltext.rewrite(graph.program(), SAME).sites == []
    equal = miltext.rewrite(before, SAME)
    assert len(equal.replaced) == 1


def test_random_operations_and_states_stay() -> None:
    random = "a = random_normal([2, 4]); b = random_normal([2, 4]); y = add(a, b);"
    assert miltext.rewrite(program(random), SAME).sites == []
    state = "a = read_state(s); write_state(input = s, data = x); b = read_state(s); y = add(a, b);"
    assert miltext.rewrite(program(state, inputs=STATE, opset="ios18"), SAME).sites == []


def test_an_output_keeps_its_name() -> None:
    made = miltext.rewrite(program("a = exp(x); y = exp(x); z = relu(a);", "y, z"), SAME)
    assert types(made) == ["exp", "relu"]
    assert made.program.functions["main"].block_specializations["CoreML7"].outputs == ["y", "z"]
    two = miltext.rewrite(program("a = exp(x); b = exp(x);", "a, b"), SAME)
    assert reasons(two) == ["the output `b` would be `a`, which is an output with its own name"]


def test_an_operation_is_visible_in_inner_blocks_only() -> None:
    body = "a = exp(x); z = cond(p) () { b = exp(x); c = tanh(x); } -> (b) () { d = tanh(x); } -> (d); y = add(a, z);"
    made = miltext.rewrite(program(body, inputs=BRANCHES), SAME)
    assert [each.value for each in made.replaced] == ["b"]
    assert errors(made) == []
    later = "z = cond(p) () { b = exp(x); } -> (b) () { d = tanh(x); } -> (d); a = exp(x); y = add(a, z);"
    assert miltext.rewrite(program(later, inputs=BRANCHES), SAME).sites == []


def test_chains_of_equal_operations_in_several_functions() -> None:
    one = program("a = tanh(exp(x)); b = tanh(exp(x)); y = add(a, b);")
    made = miltext.rewrite(one[:-2] + one[one.index("    func") : -2].replace("main", "other") + "}\n", SAME)
    assert {each.function for each in made.replaced} == {"main", "other"}
    assert types(made) == ["exp", "tanh", "add"] * 2


def test_operations_with_several_outputs() -> None:
    body = (
        "a, b = split(x, num_splits = 2, axis = 1); c, d = split(x, num_splits = 2, axis = 1); y = concat((a, d), 1);"
    )
    made = miltext.rewrite(program(body), SAME, verify=True)
    assert types(made) == ["split", "concat"]


def test_large_equal_constants_become_one_and_small_ones_stay() -> None:
    row = ", ".join(str(k / 8) for k in range(128))
    consts = "".join(f"c{k} = const()[val = tensor<fp32, [128]>([{row}])]; " for k in range(2))
    small = "".join(f"s{k} = const()[val = tensor<fp32, [2]>([1, 2])]; " for k in range(2))
    body = f"{consts}{small}a = mul(x, c0); b = exp(mul(x, c1)); y = add(a, b); z = concat((s0, s1), 0);"
    made = miltext.rewrite(program(body, "y, z", "tensor<fp32, [128]> x"), SAME)
    assert [each.value for each in made.replaced] == ["c1", "b_x"]
    assert made.went == {SAME: 512}


# ---- weights in files


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A package with equal arrays in two records, and a transposed weight."""
    np.save(tmp_path / "w.npy", np.arange(1024, dtype=np.float32).reshape(32, 32) / 64)
    body = 'a = matmul(x, transpose($npy("w.npy"), [1, 0])); b = matmul(x, $npy("w.npy")); y = add(a, b);'
    text = tmp_path / "m.mil"
    text.write_text(program(body, inputs="tensor<fp32, [2, 32]> x"), encoding="utf-8")
    miltext.build(text, tmp_path / "M.mlpackage")
    return tmp_path / "M.mlpackage"


def test_a_folded_weight_is_stored_in_the_file(stored: Path, tmp_path: Path) -> None:
    given = {"x": np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32)}
    for name in ("New.mlpackage", "new.mil"):
        done = miltext.rewrite(stored, [FOLD, DEAD], tmp_path / name)
        assert [each.rule for each in done.replaced] == [FOLD]
    wanted = miltext.run(stored, given)["y"]
    unwritten = miltext.rewrite(stored, FOLD).program
    assert miltext.run(tmp_path / "New.mlpackage", given)["y"].tobytes() == wanted.tobytes()
    for source in (tmp_path / "new.mil", unwritten):
        made = miltext.run(source, given, weights=stored / "Data" / "com.apple.CoreML")
        assert made["y"].tobytes() == wanted.tobytes()
    assert len(miltext.weights(tmp_path / "New.mlpackage").entries) == 2


def test_unreadable_weights_are_left_alone(stored: Path) -> None:
    for path in stored.rglob("weight.bin"):
        path.write_bytes(b"\0" * 64)
    made = miltext.rewrite(miltext.load(stored).program, FOLD)
    assert made.replaced == []


# ---- constant folding


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("y = mul(x, fill([4], 0.5));", ["mul"]),
        ("y = mul(x, transpose([[1.0], [2.0], [3.0], [4.0]], [1, 0]));", ["mul"]),
        ("y = reshape(x, concat(([4], [2]), axis = 0));", ["reshape"]),
        ('y = mul(x, cast(add([1, 2, 3, 4], 1), "fp16"));', ["mul"]),
        ("a, b = split([1.0, 2.0], num_splits = 2, axis = 0); y = mul(x, sub(a, b));", ["mul"]),
        ("y = add(x, log(-1.0));", ["add"]),
    ],
)
def test_operations_on_constants_are_computed(body: str, left: list[str]) -> None:
    text = program(body)
    made = miltext.rewrite(text, [FOLD, DEAD], verify=True)
    assert types(made) == left
    assert made.verified
    assert errors(made) == []
    given = {"x": np.arange(8, dtype=np.float16).reshape(2, 4)}
    before, after = (miltext.run(each, given)["y"] for each in (text, made.program))
    assert before.tobytes() == after.tobytes()


def test_an_output_does_not_become_a_constant() -> None:
    text = program("c = fill([4], 0.5); y = mul(x, c);", "y, c")
    assert reasons(miltext.rewrite(text, FOLD)) == ["the output `c` would be a constant"]


def test_a_constant_in_a_block_is_folded_there() -> None:
    body = "y = cond(p) () { f = fill([4], 0.5); t = mul(x, f); } -> (t) () { u = fill([2, 4], 2.0); } -> (u);"
    made = miltext.rewrite(program(body, inputs=BRANCHES), FOLD)
    assert types(made) == ["cond", "mul"]
    assert errors(made) == []


def test_large_results_stay_unless_they_replace_as_much() -> None:
    most = SMALL // 4
    filled = f"y = mul(x, fill([{most + 1}], 0.5));"
    [reason] = reasons(miltext.rewrite(program(filled, inputs=f"tensor<fp32, [{most + 1}]> x"), FOLD))
    assert reason == f"`y_y` would be a constant of {SMALL + 4} bytes in place of 8"
    inside = program(filled.replace(str(most + 1), str(most)), inputs=f"tensor<fp32, [{most}]> x")
    assert types(miltext.rewrite(inside, FOLD)) == ["mul"]
    summed = program("y = mul(x, reduce_sum(fill([100000], 0.5), [0]));", inputs="tensor<fp32, [2]> x")
    assert types(miltext.rewrite(summed, [FOLD, DEAD])) == ["mul"]


def test_compressed_weights_stay() -> None:
    palette = (
        "w = constexpr_lut_to_dense(indices = tensor<uint1, [4]>([0, 1, 0, 1]), lut = tensor<fp16, [1, 2, 1]>"
        "([[[-0.5], [0.5]]])); y = mul(x, exp(w));"
    )
    assert miltext.rewrite(program(palette, opset="ios18"), [FOLD, DEAD, SAME]).sites == []
    quantized = "y = mul(x, dequantize(input = tensor<int8, [4]>([1, 2, 3, 4]), scale = fp16(0.5)));"
    assert miltext.rewrite(program(quantized), FOLD).sites == []
    cast = 'y = mul(x, mul(cast(tensor<int8, [4]>([1, 2, 3, 4]), "fp16"), 0.5));'
    made = miltext.rewrite(program(cast), FOLD)
    assert made.replaced == []
    assert len(made.refused) == 2


def test_random_and_unknown_results_stay() -> None:
    assert miltext.rewrite(program("y = mul(x, random_normal([4]));", inputs="tensor<fp32, [4]> x"), FOLD).sites == []
    before = miltext.parse(
        miltext.infer_draft(program("y = mul(x, gather([1.0, 2.0, 3.0, 4.0], [0, 1, 2, 3], axis = 0));"))
    )
    graph = Graph(before)
    [gather] = [op for op in graph.walk() if op.type == "gather"]
    gather.own_literal("indices").immediateValue.tensor.ints.values[0] = 9
    assert miltext.rewrite(graph.program(), FOLD).replaced == []


# ---- equal weights


def test_constants_of_any_size_become_one() -> None:
    body = "a = const()[val = fp16(2)]; b = const()[val = fp16(2)]; y = mul(mul(x, a), b);"
    made = miltext.rewrite(program(body), EQUAL)
    assert [(each.value, each.removed) for each in made.replaced] == [("b", ("const",))]
    assert errors(made) == []


def test_a_compressed_constant_twice() -> None:
    indices, lut = "tensor<uint1, [4]>([0, 1, 0, 1])", "tensor<fp16, [1, 2, 1]>([[[-0.5], [0.5]]])"
    palette = f"constexpr_lut_to_dense(indices = {indices}, lut = {lut})"
    made = miltext.rewrite(program(f"a = {palette}; b = {palette}; y = mul(mul(x, a), b);", opset="ios18"), EQUAL)
    assert [each.value for each in made.replaced] == ["b"]
    assert errors(made) == []


def test_optimize_leaves_small_equal_constants() -> None:
    body = "a = const()[val = fp16(2)]; b = const()[val = fp16(2)]; y = mul(exp(mul(x, a)), b);"
    assert miltext.optimize(program(body)).replaced == []


# ---- attention head by head

Q = "tensor<fp16, [1, 6, 24]> q, tensor<fp16, [1, 6, 24]> k, tensor<fp16, [1, 6, 24]> v"


def attention(
    scores: str = "mul({}, 0.5)",
    before: str = "",
    weights: str = "p",
    heads: int = 3,
    places: str = "6",
    ends: str = "y",
) -> str:
    """The body of attention; `scores` is what the softmax takes, and `weights` what its result becomes."""
    parts = "".join(
        f"{name}4 = transpose(reshape({name}, [1, {places}, {heads}, {24 // heads}]), [0, 2, 1, 3]); " for name in "qkv"
    )
    scored = scores.format("matmul(q4, k4, transpose_y = true)")
    done = f"o = matmul({weights}, v4); {ends} = reshape(transpose(o, [0, 2, 1, 3]), [1, {places}, 24]);"
    return f"{before}{parts}p = softmax({scored}, axis = -1); {done}"


def queries(places: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    return {name: random.standard_normal((1, places, 24)).astype(np.float16) for name in "qkv"}


def split(body: str, outputs: str = "y", inputs: str = Q) -> Rewriting:
    made = miltext.rewrite(program(body, outputs, inputs), SPLIT, verify=True)
    assert errors(made) == []
    return made


@pytest.mark.parametrize("heads", [2, 3, 8, 24])
def test_any_number_of_heads(heads: int) -> None:
    made = split(attention(heads=heads))
    assert (len(made.replaced), made.verified) == (1, 1)
    assert types(made).count("softmax") == heads
    given, before = queries(6), program(attention(heads=heads), inputs=Q)
    assert miltext.run(made.program, given)["y"].tobytes() == miltext.run(before, given)["y"].tobytes()


@pytest.mark.parametrize(
    ("scores", "more", "squeezed"),
    [
        ("{}", "", 0),
        ("real_div({}, 2.0)", "", 0),
        ("add(mask, mul({}, 0.5))", ", tensor<fp16, [6, 6]> mask", 0),
        ("add({}, mask)", ", tensor<fp16, [1, 6, 6]> mask", 0),
        ("add({}, mask)", ", tensor<fp16, [1, 1, 6, 6]> mask", 1),
        ("select(mask, {}, -1e4)", ", tensor<bool, [1, 1, 6, 6]> mask", 1),
        ("mul({}, [[[[0.5]]]])", "", 1),
    ],
)
def test_scores_with_factors_and_masks(scores: str, more: str, squeezed: int) -> None:
    made = split(attention(scores), inputs=f"{Q}{more}")
    assert (len(made.replaced), made.verified) == (1, 1)
    assert types(made).count("squeeze") == squeezed


def test_casts_around_the_softmax() -> None:
    cast = attention('cast({}, "fp32")').replace("matmul(p, v4)", 'matmul(cast(p, "fp16"), v4)')
    made = split(cast)
    assert types(made).count("cast") == 6


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (attention("add({}, mask)"), ", tensor<fp16, [1, 3, 6, 6]> mask"),
        (attention("add({}, mask)"), ", tensor<fp16, [3, 1, 1]> mask"),
        (attention("exp({})"), ""),
        (attention(weights="mul(p, p)"), ""),
        (attention(weights="relu(p)"), ""),
        (attention(heads=1), ""),
        (attention().replace("k4, transpose_y = true", "transpose(k4, [0, 1, 3, 2])"), ""),
        (attention().replace("axis = -1", "axis = 2"), ""),
        (attention().replace("transpose(o, [0, 2, 1, 3])", "transpose(o, [0, 3, 1, 2])"), ""),
    ],
)
def test_other_attention_stays(body: str, more: str) -> None:
    assert split(body, inputs=f"{Q}{more}").replaced == []


def test_an_inner_value_with_another_use_is_refused() -> None:
    assert reasons(split(attention(), "y, p")) == ["`p` is also an output"]
    assert reasons(split(attention() + " z = relu(k4);", "y, z")) == ["`k4` has another use, in `z`"]


def test_open_sizes_of_places() -> None:
    before = program(attention(places="-1"), inputs=Q.replace(" 6,", " ?,"))
    made = miltext.rewrite(before, SPLIT)
    assert len(made.replaced) == 1
    assert errors(made) == []
    assert miltext.run(made.program, queries(5))["y"].tobytes() == miltext.run(before, queries(5))["y"].tobytes()


def test_attention_in_a_block_and_names_of_operations() -> None:
    inner = f"y = cond(c) () {{ {attention(ends='t')} }} -> (t) () {{ u = relu(q); }} -> (u);"
    made = split(inner, inputs=f"{Q}, bool c")
    assert len(made.replaced) == 1
    whole = miltext.parse(miltext.infer_draft(program(attention(), inputs=Q)))
    named = miltext.rewrite(whole, SPLIT).program
    ops = [op for op in Graph(named).walk() if not op.is_constant and "name" in op.attributes]
    assert all(op.attributes["name"].immediateValue.tensor.strings.values[0] == op.outputs[0].name for op in ops)
