"""Programs as drafts: what is left out, and that `infer` gives it back."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN, corpus_files, wire
from hypothesis import given
from hypothesis import strategies as st
from support.coremltools_programs import PROGRAMS, Sample
from support.normal_form import normal
from support.realistic import programs
from support.strategies import messages

import miltext
from miltext import Diagnostic, PrintError
from miltext.schema.proto import Program

needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)

INPUTS = "tensor<fp16, [2, 4]> x, tensor<fp16, [2, 4]> z"
BLOB = '$blob("weights/weight.bin", 64)'


def program(*lines: str, inputs: str = INPUTS, outputs: str = "y", opset: str = "ios18") -> str:
    body = "".join(f"            {line}\n" for line in lines)
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{body}        }} -> ({outputs});\n}}\n"


def statements(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()[3:-2]]


def drafted(made: Program, **choices: Any) -> str:
    """A draft of a Program, of which all laws were tried."""
    told: list[Diagnostic] = []
    text = miltext.to_draft(made, on_warning=told.append, **choices)
    assert told == []
    assert miltext.format_text(text) == text
    assert miltext.to_draft(made, **choices) == text
    inferred = miltext.parse(miltext.infer_draft(text))
    assert codes(text) <= {*codes(made), "MIL712"}
    if choices.get("drop_names"):
        assert normal(inferred) == normal(made)
        assert idle(inferred) <= idle(made)
    else:
        assert wire(inferred) == wire(made)
    return text


def codes(subject: str | Program) -> set[str]:
    return {found.code for found in miltext.check(subject)}


def idle(made: Program) -> int:
    """How many constants nothing uses."""
    return sum(op.type == "const" and not op.outputs[0].uses for op in miltext.Graph(made).walk())


def draft(*lines: str, drop_names: bool = False, **around: Any) -> list[str]:
    """The statements of the draft of a Program, which is made of a draft itself."""
    made = miltext.parse(miltext.infer_draft(program(*lines, **around)))
    return statements(drafted(made, drop_names=drop_names))


def folded(*lines: str, **around: Any) -> list[str]:
    return draft(*lines, drop_names=True, **around)


# ---- what is left out

SAME = [
    ["y = relu(x);"],
    ["y = add(x, z);"],
    ["y = concat((x, z, x), 0);"],
    ["y = reduce_mean(x, axes = [1], keep_dims = true);"],
    ["a, b = split(x, 1, num_splits = 2);", "y = mul(a, b);"],
    ["half = const()[val = 0.5];", "y = mul(x, half);"],
    ['y = relu(x)[name = "relu"];'],
    ['y = relu(x)[name = "z", note = true, of = "a"];'],
    ["y = relu(x)[n = int32(1)];"],
    ["y = mul(x, [0.5, 1.0, -inf, $0xfe00]);"],
    ["y = mul(x, tensor<fp16, [4]>([0.5, 1.0, -inf, nan]));"],
    ["y = mul(x, tensor<fp16, [1, 1]>([[inf]]));"],
    ["y = mul(x, fp16(inf));"],
    ["y = mul(x, tensor<fp16, [4]>([inf, 1.0, -inf, 0.5]));"],
    ["a = relu(x);", "y = mul(a, tensor<fp16, [4]>([nan, 1.0, 0.5, 0.25]));"],
    ["y = mul(x, fp16(nan));"],
    ["y = mul(x, $0xfe01);"],
    ["y = mul(x, -0.0);"],
    ["y = mul(x, 1e-07);"],
    [
        f"w = const()[val = tensor<fp16, [3, 4]>({BLOB})];",
        "b = const()[val = [1.0, 2.0, 3.0]];",
        "y = linear(x, w, b);",
    ],
    [f"w = const()[val = tensor<fp16, [3, 4]>({BLOB})];", "y = linear(x, w);"],
    ["y = softmax(x, axis = 0);"],
    ['y = cast(x, "fp32");'],
    ["y = reshape(x, [4, -1]);"],
    ["y = matmul(x, z, transpose_y = true);"],
    ["y = fill([2, 3], value = 0.5);"],
    ["y = add(tensor<fp16, [0]>([]), []);"],
    ["e = const()[val = []];", "y = relu(x);"],
    ["i = const()[val = 3];", "y = relu(x);"],
    ["y = const()[val = 0.5];"],
    ["y = const()[val = [[1, 2], [3, 4]]];"],
    ["int8 y = const()[val = 3];"],
    ['y = const()[val = tuple<int32, string>((1, "a"))];'],
    ['list<string, 2> y = const()[val = ["a", "]"]];'],
    ['y = const()[val = tensor<uint1, [2]>($bytes("f1"))];'],
    ['y = const()[val = $doc("d") int32(1)];'],
]
"""Drafts that are as short as they get with the Program's names."""


@pytest.mark.parametrize("lines", SAME, ids=lambda lines: lines[-1])
def test_a_draft_comes_back_as_it_was_written(lines: list[str]) -> None:
    assert draft(*lines) == lines


KEPT = {
    "an operation that is not known": 'tensor<fp16, [2, 4]> y = my_op(a = fp16(0.5), x = x)[name = "my"];',
    "a type that does not follow": "tensor<fp16, [?, 4]> y = relu(x);",
    "a data type that is not the usual one": "y = add(fp32(1.0), 2.0);",
    "a default of another type": "y = fill([2], value = fp32(0.5));",
    "a value called _": "tensor<fp16, [2, 4]> _ = relu(x);",
}


@pytest.mark.parametrize("line", KEPT.values(), ids=KEPT)
def test_types_that_do_not_follow_are_written(line: str) -> None:
    outputs = "_" if " _ =" in line else "y"
    assert draft(line, outputs=outputs) == [line]


def test_names_that_need_quotes() -> None:
    """Of values, `infer` refuses these, and so there is no draft."""
    lines = ['y = tanh(x)[name = "a \\"b\\""];']
    assert draft(*lines) == lines
    made = miltext.parse(miltext.infer_draft(program(*lines)).replace("main", '$"a b"'))
    told: list[Diagnostic] = []
    assert miltext.to_draft(made, on_warning=told.append) == miltext.to_text(made, floats="decimal")
    assert [each.code for each in told] == ["MIL601"]


def test_a_constant_takes_the_type_of_all_its_uses_or_states_it() -> None:
    assert draft("k = const()[val = 1];", "a = add(x, 1.0);", "y = concat((a, z), k);")[0] == "k = const()[val = 1];"
    two = [
        "fp16 one = const()[val = 1.0];",
        'a = cast(x, "fp32");',
        "b = add(x, one);",
        'y = add(a, cast(one, "fp32"));',
    ]
    assert draft(*two)[0] == "one = const()[val = 1.0];"
    other = ["int32 k = const()[val = 2];", 'h = cast(k, "fp16");', "y = add(x, h);"]
    assert draft(*other) == ["k = const()[val = 2];", 'h = cast(k, "fp16");', "y = add(x, h);"]
    wide = ["fp32 one = const()[val = 1.0];", 'h = cast(one, "fp16");', "y = add(x, h);"]
    assert draft(*wide) == wide


def test_blocks_leave_out_the_types_of_their_inputs() -> None:
    lines = [
        "y, n = while_loop((x, 0))",
        "(a, i) {",
        "c = less(i, 3);",
        "} -> (c)",
        "(a1, i1) {",
        "k = const()[val = 2.0];",
        "d = mul(a1, k);",
        "e = add(i1, 1);",
        "} -> (d, e);",
    ]
    assert draft(*lines) == lines


def test_an_input_of_a_block_that_is_called_like_mark_has_a_type() -> None:
    lines = ["y = while_loop(x)", "(tensor<fp16, [2, 4]> _) {", "c = const()[val = false];", "} -> (c)"]
    lines += ["(tensor<fp16, [2, 4]> _) {", "d = relu(_);", "} -> (d);"]
    assert draft(*lines) == lines


def test_several_functions_and_opsets() -> None:
    first = program("a = relu(x);", "y = mul(a, 0.5);")
    other = program('y = topk(x, k = 1)[name = "a"];', inputs="tensor<fp32, [4]> x", opset="ios16")
    body = other.partition("{\n")[2].replace("y = topk", "y, i = topk").replace("main", "other")
    whole = miltext.infer_draft(first[: -len("}\n")] + body)
    assert miltext.to_draft(miltext.parse(whole)).count("topk(x, k = 1)") == 1
    drafted(miltext.parse(whole))
    drafted(miltext.parse(whole), drop_names=True)


def test_states_keep_their_order_and_types() -> None:
    inputs = "state<tensor<fp16, [4]>> s, tensor<fp16, [4]> x"
    lines = ["v = read_state(s);", "w = add(v, x);", "write_state(s, w);", "n = read_state(s);", "y = add(n, relu(v));"]
    assert draft(*lines, inputs=inputs)[:4] == lines[:4]
    assert folded(*lines, inputs=inputs) == [
        "v = read_state(s);",
        "write_state(s, add(v, x));",
        "n = read_state(s);",
        "y = add(n, relu(v));",
    ]


def test_both_dialects_and_forms_of_floats() -> None:
    made = miltext.parse(
        miltext.infer_draft(program("fp32 k = const()[val = 0.5];", 'y = cast(k, "fp16");', 'a = relu(x)[name = "a"];'))
    )
    old = drafted(made, dialect="1.0", floats="hex")
    assert old.startswith("program(1.0)\n")
    assert "tensor<fp32, []> k = const()[val = 0x1p-1];" in old


def test_other_parts_of_the_program() -> None:
    made = miltext.parse(
        program("tensor<fp16, [2, 4]> y = relu(x = x);").replace("(1.3)", '(1.3) $version(2) $doc("d")')
    )
    assert drafted(made).startswith('program(1.3) $version(2) $doc("d")\n')


@pytest.mark.parametrize("drop_names", [False, True])
def test_program_with_errors_is_written_in_full_and_reported(drop_names: bool) -> None:
    text = program("tensor<fp16, [2, 5]> y = relu(x = x);", "tensor<fp16, [2, 4]> w = relu(x = gone);")
    told: list[Diagnostic] = []
    assert miltext.to_draft(miltext.parse(text), drop_names=drop_names, on_warning=told.append) == text
    [warning] = told
    assert (warning.severity, warning.code) == ("warning", "MIL604")
    assert "`miltext infer` refuses" in warning.message
    assert miltext.to_draft(miltext.parse(text)) == text


def test_literals_that_are_elided_have_types() -> None:
    made = miltext.parse(
        miltext.infer_draft(program("k = const()[val = [1.0, 2.0, 3.0, 4.0]];", "y = mul(mul(x, k), [0.5]);"))
    )
    lines = statements(miltext.to_draft(made, elide=3))
    assert lines[0].startswith('k = const()[val = tensor<fp16, [4]>($elided(4, "sha256:')
    assert lines[2] == "y = mul(y_x, [0.5]);"


def test_coremltools_own_class_is_taken_and_others_are_refused() -> None:
    with pytest.raises(TypeError, match="expected MIL text, a path, a Program or a Model, not CoreML"):
        miltext.to_draft(Program().functions["a"])
    assert miltext.to_draft(Program()) == miltext.to_text(Program())


# ---- with names dropped

FOLDED = {
    "constants are folded": (["k = const()[val = 0.5];", "y = mul(x, k);"], ["y = mul(x, 0.5);"]),
    "short ones with several uses": (
        ["k = const()[val = 0.5];", "y = mul(mul(x, k), k);"],
        ["y = mul(mul(x, 0.5), 0.5);"],
    ),
    "one after what it is used beside": (
        ["a = relu(x);", "k = const()[val = 0.5];", "b = relu(z);", "y = add(mul(a, k), b);"],
        ["y = add(mul(relu(x), 0.5), relu(z));"],
    ),
    "one that is returned stays": (
        ["k = const()[val = 0.5];", "y = mul(x, k);"],
        ["k = const()[val = 0.5];", "y = mul(x, k);"],
    ),
    "nothing uses it": (
        ["fp16 k = const()[val = 1];", "y = relu(x);"],
        ["k = const()[val = 1.0];", "y = relu(x);"],
    ),
    "weights are in their place": (
        [f"w = const()[val = tensor<fp16, [3, 4]>({BLOB})];", 'y = linear(relu(x)[name = "r"], w)[name = "l"];'],
        [f"y = linear(relu(x), tensor<fp16, [3, 4]>({BLOB}));"],
    ),
    "weights with two uses": (
        [f"w = const()[val = tensor<fp16, [4, 4]>({BLOB})];", "y = linear(linear(x, w), w);"],
        [f"w = const()[val = tensor<fp16, [4, 4]>({BLOB})];", "y = linear(linear(x, w), w);"],
    ),
    "weights of which `$blob` cannot say the path": (
        [
            'w = const()[val = tensor<fp16, [3, 4]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))];',
            "y = linear(x, w);",
        ],
        [
            'w = const()[val = tensor<fp16, [3, 4]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))];',
            "y = linear(x, w);",
        ],
    ),
    "defaults are left out": (
        ["y = softmax(matmul(x, z, transpose_x = false, transpose_y = true), axis = -1);"],
        ["y = softmax(matmul(x, z, transpose_y = true));"],
    ),
    "but not those that some loaders ask for": (
        ['y = gelu(x, mode = "EXACT");'],
        ['y = gelu(x, mode = "EXACT");'],
    ),
    "nor what gives another its effect": (
        [
            "v = expand_dims(x, axes = [0]);",
            'y = conv(v, [[[1.0], [0.5]]], pad_type = "valid", pad = [1, 1]);',
        ],
        ['y = conv(expand_dims(x, [0]), [[[1.0], [0.5]]], pad = [1, 1], pad_type = "valid");'],
    ),
    "another value than the default": (["y = leaky_relu(x, alpha = 0.02);"], ["y = leaky_relu(x, 0.02);"]),
    "names of data types go": (
        [
            'a_cast_fp16 = relu(x)[name = "a"];',
            "b_to_fp16 = tanh(a_cast_fp16);",
            "y = add(a_cast_fp16, mul(b_to_fp16, b_to_fp16));",
        ],
        ["a = relu(x);", "b = tanh(a);", "y = add(a, mul(b, b));"],
    ),
    "where they stay apart": (
        [
            "a_cast_fp16 = relu(x);",
            "a = tanh(x);",
            "x_to_fp16 = sub(a, a_cast_fp16);",
            "y = mul(mul(a_cast_fp16, a), mul(x_to_fp16, x_to_fp16));",
        ],
        [
            "a_cast_fp16 = relu(x);",
            "a = tanh(x);",
            "x_to_fp16 = sub(a, a_cast_fp16);",
            "y = mul(mul(a_cast_fp16, a), mul(x_to_fp16, x_to_fp16));",
        ],
    ),
    "two uses": (["a = relu(x);", "y = mul(a, a);"], ["a = relu(x);", "y = mul(a, a);"]),
    "several outputs": (
        ["a, b = split(relu(x), 1, num_splits = 2);", "y = mul(tanh(a), b);"],
        ["a, b = split(relu(x), 1, num_splits = 2);", "y = mul(tanh(a), b);"],
    ),
    "a type that does not follow": (
        ["tensor<fp16, [?, 4]> a = relu(x);", "y = tanh(a);"],
        ["tensor<fp16, [?, 4]> a = relu(x);", "y = tanh(a);"],
    ),
    "an operation that is not known": (
        ["a = relu(x);", "tensor<fp16, [2, 4]> b = my_op(x = a);", "tensor<fp16, [2, 4]> y = my_op(x = tanh(b));"],
        ["tensor<fp16, [2, 4]> b = my_op(x = relu(x));", "tensor<fp16, [2, 4]> y = my_op(x = tanh(b));"],
    ),
    "what is random keeps its place": (
        ["a = random_normal([2, 4], mean = fp16(0));", "b = random_normal([2, 4], mean = fp16(0));", "y = add(b, a);"],
        ["a = random_normal([2, 4], mean = 0.0);", "b = random_normal([2, 4], mean = 0.0);", "y = add(b, a);"],
    ),
    "a default that says the data type": (
        ["y = add(x, fill([2, 4], value = 0.0));"],
        ["y = add(x, fill([2, 4], value = 0.0));"],
    ),
}


@pytest.mark.parametrize(("lines", "expected"), FOLDED.values(), ids=FOLDED)
def test_folded(lines: list[str], expected: list[str], request: pytest.FixtureRequest) -> None:
    is_given = "returned" in request.node.callspec.id
    assert folded(*lines, outputs="y, k" if is_given else "y") == expected


def test_operations_are_nested_up_to_the_end_of_a_line() -> None:
    steps = [f"b{n} = reduce_mean({f'b{n - 1}' if n else 'x'}, axes = [0, 1], keep_dims = true);" for n in range(60)]
    made = folded(*steps, "y = tanh(b59);")
    assert 1 < len(made) < 31
    assert all(len(line) <= 140 - 12 for line in made)
    assert sum(line.count("reduce_mean") for line in made) == 60


def test_a_statement_is_at_most_six_operations_deep() -> None:
    steps = [f"a{n} = relu({f'a{n - 1}' if n else 'x'});" for n in range(60)]
    made = folded(*steps, "y = tanh(a59);")
    assert max(line.count("(") for line in made) == 6
    assert sum(line.count("relu") for line in made) == 60


def test_constants_of_all_blocks_are_folded() -> None:
    lines = ["k = const()[val = 3.0];", "w = mul(x, k);", "y = cond(less(reduce_sum(x), 0.5))"]
    lines += ["() {", "h = const()[val = 0.5];", "a = mul(w, h);", "} -> (a)", "() {", "b = relu(w);", "} -> (b);"]
    assert folded(*lines) == [
        "w = mul(x, 3.0);",
        "y = cond(less(reduce_sum(x), 0.5))",
        "() {",
        "a = mul(w, 0.5);",
        "} -> (a)",
        "() {",
        "b = relu(w);",
        "} -> (b);",
    ]


def test_uses_inside_blocks() -> None:
    lines = ["p = less(reduce_sum(x), 0.5);", "k = const()[val = 0.5];", "a = relu(x);", "y = cond(p)"]
    lines += ["() {", "b = mul(a, k);", "} -> (b)", "() {", "a_cast_fp16 = relu(tanh(z));", "} -> (a_cast_fp16);"]
    assert folded(*lines) == [
        "a = relu(x);",
        "y = cond(less(reduce_sum(x), 0.5))",
        "() {",
        "b = mul(a, 0.5);",
        "} -> (b)",
        "() {",
        "a_cast_fp16 = relu(tanh(z));",
        "} -> (a_cast_fp16);",
    ]


def test_a_name_in_two_blocks_is_left_alone() -> None:
    lines = ["y = cond(less(reduce_sum(x), 0.5))", "() {", "k = const()[val = 0.5];", "b = mul(x, k);", "} -> (b)"]
    lines += ["() {", "k = const()[val = 1.5];", "b = mul(z, k);", "} -> (b);"]
    assert folded(*lines) == lines


def test_huge_literals_stay_constants() -> None:
    row = ", ".join(f"{number}.5" for number in range(400))
    lines = [f"k = const()[val = [{row}]];", "y = mul(x, k);"]
    assert folded(*lines, inputs="tensor<fp16, [400]> x") == lines


# ---- laws


@needs_coremltools
@pytest.mark.parametrize("sample", PROGRAMS[::9], ids=repr)
@pytest.mark.parametrize("drop_names", [False, True])
def test_programs_of_coremltools(sample: Sample, drop_names: bool) -> None:
    drafted(Program.FromString(sample.program()), drop_names=drop_names)


@pytest.mark.parametrize("path", sorted((GOLDEN / "short").glob("*.mil")), ids=lambda path: path.stem)
def test_programs_that_people_wrote(path: Path) -> None:
    made = miltext.parse(miltext.infer_draft(path.read_text(encoding="utf-8")))
    drafted(made)
    drafted(made, drop_names=True)


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil"))
def test_texts_of_the_corpus(path: Path) -> None:
    if path.stat().st_size > 100_000:
        pytest.skip("a large text takes long; one of them has a test of its own")
    made = miltext.load(path).program
    drafted(made)
    drafted(made, drop_names=True)


@given(programs())
def test_like_real_ones(made: Program) -> None:
    """Most have errors: then the text is that of `to_text`."""
    for drop_names in (False, True):
        told: list[Diagnostic] = []
        text = miltext.to_draft(made, drop_names=drop_names, on_warning=told.append)
        assert wire(miltext.parse(text if told else miltext.infer_draft(text))) == wire(made) or (
            drop_names and not told
        )


@given(messages(Program.DESCRIPTOR, budget=8))
def test_anything_is_printed_or_refused_as_text_is(made: Program) -> None:
    refused: list[Diagnostic] = []
    try:
        full = miltext.to_text(made)
    except PrintError as failure:
        refused = failure.diagnostics
    if refused:
        with pytest.raises(PrintError) as failed:
            miltext.to_draft(made)
        assert failed.value.diagnostics == refused
        return
    told: list[Diagnostic] = []
    text = miltext.to_draft(made, on_warning=told.append)
    assert wire(miltext.parse(text if told else miltext.infer_draft(text))) == wire(miltext.parse(full))


STEPS = [
    "relu({a})", "mul({a}, {b})", "add({a}, {k})", "mul({k}, {a})", "concat(({a}, {b}), 0)", "mul({a}, 0.25)",
    "select(less({a}, {b}), {a}, {b})", "softmax({a}, axis = {i})", "reduce_mean({a}, axes = [1], keep_dims = true)",
    "pow({a}, {k})", "clip({a}, fp16(0), fp16(6))", "random_normal([2, 4], mean = {k0})", "cast({b}, \"fp16\")",
]  # fmt: skip


@st.composite
def valid_programs(draw: st.DrawFn) -> str:
    """Drafts of operations over values that fit, with constants of one and of many uses."""
    values, lines = ["x", "z"], ["k = const()[val = 0.5];", "i = const()[val = 1];"]
    constants = ["k", "0.5", "fp16(1.5)"]
    for number in range(draw(st.integers(1, 8))):
        if not draw(st.integers(0, 3)):
            constants.append(f"k{number}")
            lines.append(
                f"k{number} = const()[val = {draw(st.sampled_from(['0.5', '1', '[1, 2, 3, 4]', 'fp16(2)']))}];"
            )
        of = st.sampled_from(values)
        step = draw(st.sampled_from(STEPS)).format(
            a=draw(of), b=draw(of), k=draw(st.sampled_from(constants)), k0="fp16(0.5)", i="i"
        )
        name = draw(st.sampled_from([f"a{number}", f"a{number}_cast_fp16", f"_a{number}_to_fp32"]))
        lines.append(
            f"{name} = {step};" if "concat" not in step else f"{name}, u{number} = split({step}, 0, num_splits = 2);"
        )
        if "reduce" not in step:
            values.append(name)
    return program(*lines, outputs=", ".join(dict.fromkeys(values[-draw(st.integers(1, 2)) :])))


@given(valid_programs())
def test_valid_ones(text: str) -> None:
    made = miltext.parse(miltext.infer_draft(text, names=True))
    drafted(made)
    drafted(made, drop_names=True)


# ---- odd neighbours

ODD = {
    "a function without an opset": program("tensor<fp16, [2, 4]> y = relu(x = x);").replace("<ios18>", ""),
    "blocks of two opsets": program(
        "tensor<fp16, [2, 4]> y, tensor<int32, [2, 4]> i = topk(x = x, k = int32(4), axis = int32(1));", opset="ios15"
    ).replace(
        "        } -> (y);\n",
        "        } -> (y)\n        $block<ios17>(tensor<fp16, [2, 4]> a) {\n"
        "            tensor<fp16, [2, 4]> y = add(x = x, y = fp16(0.5));\n        } -> (y);\n",
    ),
    "a function without a block": program().replace("{\n        } -> (y);", "$none;"),
    "a long chain": program(
        *(f"tensor<fp16, [2, 4]> a{n} = relu(x = {f'a{n - 1}' if n else 'x'});" for n in range(400)), outputs="a399"
    ),
    "a value that is used by its name in a list and again": program(
        "tensor<fp16, [2, 4]> a = relu(x = x);", "tensor<fp16, [4, 4]> y = concat(axis = int32(0), values = (a, a));"
    ),
    "one value in parentheses": program(
        "tensor<fp16, [2, 4]> a = relu(x = x);", "tensor<fp16, [2, 4]> y = concat(axis = int32(0), values = (a));"
    ),
    "names like those of nested values": program(
        "tensor<fp16, [2, 4]> y_x = relu(x = z);",
        "tensor<fp16, [2, 4]> b = relu(x = x);",
        "tensor<fp16, [2, 4]> c = mul(x = b, y = y_x);",
        "tensor<fp16, [2, 4]> y = mul(x = c, y = y_x);",
    ),
    "names like parameters and operations": program(
        "tensor<fp16, [2, 4]> relu = relu(x = x);", "tensor<fp16, [2, 4]> y = mul(x = relu, y = relu);"
    ),
    "strings that look like a draft": program(
        'tensor<fp16, [2, 4]> y = relu(x = x)[a = string("$draft(names) _ y = $blob"), b = string("[inf, nan]")];'
    ),
    "lists and flexible shapes": program(
        "list<tensor<fp16, [4]>, 2> l = make_list(dtype = string(\"fp16\"), dynamic_length = bool(false), "
        "elem_shape = (int32(4)), init_length = int32(2));",
        "tensor<fp16, [?, 4]> y = relu(x = f);",
        inputs="tensor<fp16, [?, 4]> f",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
@pytest.mark.parametrize("drop_names", [False, True])
def test_odd_neighbours(text: str, drop_names: bool) -> None:
    made = miltext.parse(text)
    if any(each.severity == "error" for each in miltext.check(made)):
        told: list[Diagnostic] = []
        assert miltext.to_draft(made, drop_names=drop_names, on_warning=told.append).startswith("program(1.3)\n")
        assert len(told) == 1
    else:
        drafted(made, drop_names=drop_names)


def test_most_odd_neighbours_are_right() -> None:
    wrong = [
        name
        for name, text in ODD.items()
        if any(each.severity == "error" for each in miltext.check(miltext.parse(text)))
    ]
    assert wrong == ["a function without an opset", "a function without a block"]
