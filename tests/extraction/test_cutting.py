"""The part of a Program between values: what is in it, and what it takes and gives."""

from __future__ import annotations

import pytest

import miltext
from miltext.diagnostics import ModelError
from miltext.extraction.cutting import cut
from miltext.ir.graph import Graph
from miltext.ir.needs import Needs
from miltext.schema.proto import Program, Value

X = "tensor<fp32, [2, 3]> x, tensor<fp32, [2, 3]> z, bool p"
CHAIN = "a = relu(x = x); b = exp(x = a); c = tanh(x = b); d = add(x = c, y = z);"
SPLIT = "q, r = split(x = x, axis = 0, num_splits = 2); s = exp(x = r); t = add(x = q, y = s);"
COND = """
    a = relu(x = x); w = exp(x = z); dead = tanh(x = x);
    tensor<fp32, [2, 3]> y = cond(pred = p)
        () { tensor<fp32, [2, 3]> inside = add(x = a, y = w); } -> (inside)
        () { } -> (a);
    e = exp(x = y);
"""
LOOP = """
    limit = reduce_max(x = z); step = exp(x = x); dead = tanh(x = x);
    tensor<fp32, [2, 3]> y = while_loop(loop_vars = (x))
        (tensor<fp32, [2, 3]> a) { fp32 most = reduce_max(x = a); bool more = less(x = most, y = limit); } -> (more)
        (tensor<fp32, [2, 3]> b) { tensor<fp32, [2, 3]> twice = add(x = b, y = step); } -> (twice);
"""
JOINED = "a = relu(x = x); b = exp(x = z); c = concat(values = (a, b, a), axis = 0, interleave = false);"
STATES = "tensor<fp16, [4]> x, state<tensor<fp16, [4]>> k, state<tensor<fp16, [4]>> v"
WRITES = """
    u = relu(x = x);
    k0 = read_state(input = k);
    a = add(x = k0, y = x);
    write_state(input = k, data = a);
    k1 = read_state(input = k);
    v0 = read_state(input = v);
    b = mul(x = v0, y = u);
    write_state(input = v, data = b);
    c = add(x = k1, y = b);
"""


def program(statements: str, outputs: str, inputs: str = X) -> Program:
    draft = f"program(1.3) {{ func main<ios18>({inputs}) {{ {statements} }} -> ({outputs}); }}"
    return miltext.parse(miltext.infer_draft(draft))


def made(part: Program) -> list[str]:
    """What the operations of a part make, those without outputs as their type; what it takes before, and gives after,
    in brackets. Constants are left out.
    """
    (function,) = part.functions.values()
    (block,) = function.block_specializations.values()
    kept = [each for each in block.operations if each.type != "const"]
    lines = [", ".join(output.name for output in each.outputs) or each.type for each in kept]
    return [f"({', '.join(each.name for each in function.inputs)})", *lines, f"({', '.join(block.outputs)})"]


CASES: dict[str, tuple[str, str, str, str, list[str]]] = {
    "an output that there is": (CHAIN, "d", "d", "", ["(x, z)", "a", "b", "c", "d", "(d)"]),
    "a value inside": (CHAIN, "d", "b", "", ["(x)", "a", "b", "(b)"]),
    "from a value on": (CHAIN, "d", "d", "b", ["(z, b)", "c", "d", "(d)"]),
    "between two values": (CHAIN, "d", "c", "a", ["(a)", "b", "c", "(c)"]),
    "a single operation": (CHAIN, "d", "d", "c, z", ["(z, c)", "d", "(d)"]),
    "in the order that is asked": (CHAIN, "d", "d, a", "", ["(x, z)", "a", "b", "c", "d", "(d, a)"]),
    "inputs in the order that is asked": (CHAIN, "d", "d, b", "c, a", ["(z, c, a)", "b", "d", "(d, b)"]),
    "a value that is also taken inside": (CHAIN, "d", "a, d", "b", ["(x, z, b)", "a", "c", "d", "(a, d)"]),
    "an input of the function, named": (CHAIN, "d", "a", "x", ["(x)", "a", "(a)"]),
    "one of several outputs": (SPLIT, "t", "s", "", ["(x)", "q, r", "s", "(s)"]),
    "both of several outputs given": (SPLIT, "t", "t", "q, r", ["(q, r)", "s", "t", "(t)"]),
    "one of several outputs given": (SPLIT, "t", "t", "q", ["(x, q)", "q_unused, r", "s", "t", "(t)"]),
    "blocks that use what is around them": (COND, "e", "y", "", ["(x, z, p)", "a", "w", "y", "(y)"]),
    "blocks that use what is given": (COND, "e", "e", "w, a", ["(p, w, a)", "y", "e", "(e)"]),
    "what blocks make is given": (COND, "e", "e", "y", ["(y)", "e", "(e)"]),
    "a loop": (LOOP, "y", "y", "", ["(x, z)", "limit", "step", "y", "(y)"]),
    "a loop whose limit is given": (LOOP, "y", "y", "limit, step", ["(x, limit, step)", "y", "(y)"]),
    "one parameter that takes several": (JOINED, "c", "c", "a", ["(z, a)", "b", "c", "(c)"]),
    "a constant": ("w = const()[val = 1.0]; y = add(x = x, y = w);", "y", "w", "", ["()", "(w)"]),
    "a constant that is given": (
        "w = const()[val = 1.0]; y = add(x = x, y = w);",
        "y",
        "y",
        "w",
        ["(x, w)", "y", "(y)"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_part_has_a_needed_part(name: str) -> None:
    statements, given_back, outputs, inputs, expected = CASES[name]
    whole = program(statements, given_back)
    before = whole.SerializeToString(deterministic=True)
    part = cut(whole, outputs.split(", "), inputs.split(", ") if inputs else [])
    assert made(part) == expected
    assert whole.SerializeToString(deterministic=True) == before
    assert [each for each in miltext.check(part) if each.severity == "error"] == []
    assert miltext.parse(miltext.to_text(part)) == part


STATEFUL: dict[str, tuple[str, str, list[str]]] = {
    "only what is read, and all that is written to it": ("k0", "", ["(x, k)", "k0", "a", "write_state", "(k0)"]),
    "what is written before": ("k1", "", ["(x, k)", "k0", "a", "write_state", "k1", "(k1)"]),
    "what is written is given": ("k1", "a", ["(k, a)", "write_state", "k1", "(k1)"]),
    "what is read is given": ("a", "k0", ["(x, k0)", "a", "(a)"]),
    "another state": ("b", "", ["(x, v)", "u", "v0", "b", "write_state", "(b)"]),
    "no state": ("u", "", ["(x)", "u", "(u)"]),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_a_state_that_is_used_has_all_that_is_written_to_it(name: str) -> None:
    output, given, expected = STATEFUL[name]
    whole = program(WRITES, "c", STATES)
    assert made(cut(whole, [output], [given] if given else [])) == expected


def test_later_writes_are_left_out_where_no_one_requests_them() -> None:
    whole = program(WRITES, "c", STATES)
    assert made(cut(whole, ["k0"], later_writes=False)) == ["(k)", "k0", "(k0)"]
    assert made(cut(whole, ["k1"], later_writes=False)) == ["(x, k)", "k0", "a", "write_state", "k1", "(k1)"]


def test_a_state_written_in_blocks_counts_as_written() -> None:
    statements = """
        tensor<fp16, [4]> y = cond(pred = p)
            () { s = read_state(input = k); t = add(x = s, y = x); write_state(input = k, data = t); } -> (t)
            () { } -> (x);
        z = read_state(input = k);
    """
    whole = program(statements, "z", f"{STATES}, bool p")
    assert made(cut(whole, ["z"])) == ["(x, k, p)", "y", "z", "(z)"]


REFUSED: dict[str, tuple[str, str, str, str, str]] = {
    "an unknown value": (CHAIN, "e", "", "MIL430", "unknown value `e`"),
    "an unknown input": (CHAIN, "d", "e", "MIL430", "unknown value `e`"),
    "nothing": (CHAIN, "", "", "MIL448", "no output of the part is named"),
    "a value twice": (CHAIN, "d, d", "", "MIL448", "`d` is named twice"),
    "an input twice": (CHAIN, "d", "a, a", "MIL446", "`a` is named twice"),
    "both an input and an output": (CHAIN, "d, a", "a", "MIL448", "`a` is named both as an input and as an output"),
    "an input of the function": (CHAIN, "x", "", "MIL448", "`x` is an input of the function: no operation makes it"),
    "a value of an inner block": (COND, "inside", "", "MIL448", "`inside` is a value of an inner block"),
    "a value of an inner block, given": (COND, "e", "inside", "MIL446", "`inside` is a value of an inner block"),
    "an input that another output needs": (COND, "w", "a", "MIL447", "no output of the part needs `a`"),
    "an input that is given further down": (CHAIN, "d", "a, c", "MIL447", "no output of the part needs `a`"),
    "an input of the function, not needed": (CHAIN, "a", "z", "MIL447", "no output of the part needs `z`"),
    "a constant that is needed": (
        "axes = const()[val = [1]]; y = reduce_sum(x = x, axes = axes, keep_dims = true);",
        "y",
        "axes",
        "MIL446",
        "`axes` has to be known when the program is compiled, for `axes` of `y` (reduce_sum)",
    ),
    "a constant that is needed in a block": (
        """
        axes = const()[val = [1]];
        tensor<fp32, [2, 1]> y = cond(pred = p)
            () { tensor<fp32, [2, 1]> s = reduce_sum(x = x, axes = axes, keep_dims = true); } -> (s)
            () { tensor<fp32, [2, 1]> t = reduce_max(x = x, axes = axes, keep_dims = true); } -> (t);
        """,
        "y",
        "axes",
        "MIL446",
        "`axes` has to be known when the program is compiled, for `axes` of `s` (reduce_sum)",
    ),
    "what a constant is made of": (
        "one = const()[val = [0]]; axes = add(x = one, y = one); y = reduce_sum(x = x, axes = axes, keep_dims = true);",
        "y",
        "one",
        "MIL446",
        "`one` has to be known when the program is compiled, for `axes` of `y` (reduce_sum), which is `axes`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_impossible_cut_is_refused(name: str) -> None:
    statements, outputs, inputs, code, message = REFUSED[name]
    whole = program(statements, {CHAIN: "d", COND: "e"}.get(statements, "y"))
    with pytest.raises(ModelError) as failure:
        cut(whole, filter(None, outputs.split(", ")), filter(None, inputs.split(", ")))
    (found,) = failure.value.diagnostics
    assert found.code == code
    assert found.message.startswith(message)
    assert found.notes


NEEDING = {
    ("d", "a, c"): "the values that need it are inputs: `c`",
    ("a", "z"): "`d` would need it",
    ("b", "dead"): "no output of the function needs it",
    ("a", "d"): "no other output of the function needs it",
}


@pytest.mark.parametrize("names", NEEDING, ids=str)
def test_an_unneeded_input_shows_its_possible_users(names: tuple[str, str]) -> None:
    whole = program(f"{CHAIN} dead = tanh(x = x);", "d")
    with pytest.raises(ModelError) as failure:
        cut(whole, [names[0]], names[1].split(", "))
    assert failure.value.diagnostics[0].notes[0].message == NEEDING[names]


# ---- functions and blocks

TWO = """
program(1.3) {
    func main<ios18>(tensor<fp32, [4]> x) { a = relu(x = x); y = exp(x = a); } -> (y);
    func other<ios18>(tensor<fp32, [4]> x) { a = tanh(x = x); z = exp(x = a); } -> (z);
}
"""


def test_the_values_determine_the_function() -> None:
    whole = miltext.parse(miltext.infer_draft(TWO))
    assert [*cut(whole, ["z"]).functions] == ["other"]
    assert [*cut(whole, ["a"], function="main").functions] == ["main"]
    other = miltext.parse(
        miltext.infer_draft(
            TWO.replace("> x) { a = tanh(x = x); z", "> y) { b = tanh(x = y); z").replace(
                "z = exp(x = a)", "z = exp(x = b)"
            )
        )
    )
    assert [*cut(other, "y").functions] == ["main"]  # the other function takes it
    assert [*cut(other, "z", "y").functions] == ["other"]
    for names, function, message in [
        (["a"], None, "the functions `main` and `other` each have `a`"),
        (["y", "z"], None, "no function has all of the values: `y` is in `main`, `z` is in `other`"),
        (["z"], "main", "unknown value `z`"),
        (["a"], "mian", "unknown function `mian`; did you mean `main`?"),
        (["a"], "third", "unknown function `third`"),
    ]:
        with pytest.raises(ModelError) as failure:
            cut(whole, names, function=function)
        assert failure.value.diagnostics[0].message.startswith(message)


def test_an_unknown_function_is_reported_with_the_known_ones() -> None:
    with pytest.raises(ModelError) as failure:
        cut(miltext.parse(miltext.infer_draft(TWO)), ["a"], function="third")
    (found,) = failure.value.diagnostics
    assert [note.message for note in found.notes] == ["the program has `main` and `other`"]


def specialized() -> Program:
    whole = Program(version=1)
    function = whole.functions["main"]
    bodies = {
        "CoreML7": "a = relu(x = x); y = exp(x = a);",
        "CoreML6": "a = add(x = x, y = z); y = exp(x = a);",
        "CoreML5": "y = exp(x = x);",
    }
    for opset, body in bodies.items():
        one = program(body, "y").functions["main"]
        function.block_specializations[opset].CopyFrom(one.block_specializations["CoreML8"])
        del function.inputs[:]
        function.inputs.extend(one.inputs)
    function.opset = "CoreML7"
    return whole


def test_blocks_of_other_opsets_are_cut_if_they_have_the_values() -> None:
    function = cut(specialized(), ["a"]).functions["main"]
    blocks = function.block_specializations
    assert {opset: [each.outputs[0].name for each in blocks[opset].operations] for opset in blocks} == {
        "CoreML6": ["a"],
        "CoreML7": ["a"],
    }
    assert [value.name for value in function.inputs] == ["x", "z"]
    assert sorted(cut(specialized(), ["y"]).functions["main"].block_specializations) == [
        "CoreML5",
        "CoreML6",
        "CoreML7",
    ]


FLEXIBLE = """
program(1.3) [buildInfo = dict<string, string>({{"made", "here"}})] {
    func main<ios18>(tensor<fp32, [?]> x, tensor<fp32, [?]> z) [FlexibleShapeInformation =
        tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, dict<string,
        tensor<int32, [?]>>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes",
        {{"x", [4]}, {"z", [1]}}), ("EnumeratedShapes", {{"543d0f94", {{"x", [1]}}}, {"9e38c1a4", {{"x", [4]}}}}),
        ("RangeDims", {{"z", [[1, 8]]}})))] {
        tensor<fp32, [?]> a = relu(x = x);
        tensor<fp32, [?]> b = exp(x = z);
        tensor<fp32, [?]> c = add(x = a, y = b);
    } -> (c);
}
"""


@pytest.mark.parametrize(
    ("output", "given", "sections"),
    [
        ("c", [], ["DefaultShapes: x z", "EnumeratedShapes: 543d0f94 9e38c1a4", "RangeDims: z"]),
        ("a", [], ["DefaultShapes: x", "EnumeratedShapes: 543d0f94 9e38c1a4"]),
        ("b", [], ["DefaultShapes: z", "RangeDims: z"]),
        ("c", ["a", "b"], []),
    ],
)
def test_notes_of_the_compiler_on_inputs_are_cut(output: str, given: list[str], sections: list[str]) -> None:
    part = cut(miltext.parse(FLEXIBLE), [output], given)
    attribute = part.functions["main"].attributes.get("FlexibleShapeInformation")
    found = [each.immediateValue.tuple.values for each in attribute.immediateValue.tuple.values] if attribute else []
    assert [
        f"{word_in(name)}: {' '.join(word_in(pair.key) for pair in section.immediateValue.dictionary.values)}"
        for name, section in found
    ] == sections
    assert [each for each in miltext.check(part) if each.severity == "error"] == []
    assert miltext.parse(miltext.to_text(part)) == part
    assert "buildInfo" in part.attributes


def word_in(value: Value) -> str:
    return value.immediateValue.tensor.strings.values[0]


# ---- programs with mistakes


def test_mistakes_stay_unchanged() -> None:
    text = """
    program(1.3) {
        func main<ios18>(tensor<fp32, [4]> x) {
            tensor<fp32, [4]> a = relu(x = missing);
            tensor<fp32, [4]> a = no_such_operation(x = a, y = later);
            tensor<fp32, [4]> later = exp(x = a);
        } -> (later, absent);
    }
    """
    whole = miltext.parse(text)
    assert made(cut(whole, ["a"])) == ["()", "a", "a", "(a)"]
    assert made(cut(whole, ["later"], ["a"])) == ["(a)", "later", "(later)"]


def test_a_program_with_no_block_for_its_opset_has_no_values() -> None:
    whole = specialized()
    whole.functions["main"].opset = "CoreML9"
    with pytest.raises(ModelError, match="MIL430"):
        cut(whole, ["a"])


def test_a_part_of_many_operations_is_cut_quickly() -> None:
    whole = Program(version=1)
    function = whole.functions["main"]
    function.opset = "CoreML8"
    function.inputs.add(name="v0")
    block = function.block_specializations["CoreML8"]
    for number in range(5000):
        operation = block.operations.add(type="relu")
        operation.inputs["x"].arguments.add(name=f"v{number}")
        operation.outputs.add(name=f"v{number + 1}")
    part = cut(whole, ["v4000"], ["v1000"])
    assert len(part.functions["main"].block_specializations["CoreML8"].operations) == 3000


def test_state_often_read_and_written_is_looked_at_once_for_each() -> None:
    whole = Program(version=1)
    function = whole.functions["main"]
    function.opset = "CoreML8"
    function.inputs.add(name="k").type.stateType.SetInParent()
    block = function.block_specializations["CoreML8"]
    for number in range(1000):
        block.operations.add(type="read_state").inputs["input"].arguments.add(name="k")
        block.operations[-1].outputs.add(name=f"v{number}")
        written = block.operations.add(type="write_state")
        written.inputs["input"].arguments.add(name="k")
        written.inputs["data"].arguments.add(name=f"v{number}")
    main = Graph(whole).functions["main"]
    needs = Needs(main.blocks["CoreML8"])
    assert len(needs.of([main.value("v500")]).ops) == 2000
    assert len(needs.of([main.value("v500")], later_writes=False).ops) == 1001
