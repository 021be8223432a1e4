"""What becomes of operations and values: which are converted, which stay, and where casts stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.conversions import assert_near, convert, draft

import miltext
from miltext.diagnostics import ModelError

X = np.array([[1, -2, 3], [0.5, 0, -1]], np.float32)

BOTH = "tensor<fp32, [2, 3]> x, bool p"
HALF = "tensor<fp16, [2, 3]> x, state<tensor<fp16, [2, 3]>> k"
SINGLE = "tensor<fp32, [2, 3]> x, state<tensor<fp16, [2, 3]>> k"
CASTING = (
    's = read_state(input = k); w = cast(x = s, dtype = "fp32"); t = add(x = w, y = x);'
    ' u = cast(x = t, dtype = "fp16"); write_state(input = k, data = u); y = exp(x = t);'
)
"""What a program of fp32 does with a state, which is of fp16 in any."""
STATEFUL = "s = read_state(input = k); t = add(x = s, y = x); write_state(input = k, data = t); y = exp(x = t);"
CAST = 'a = cast(x = x, dtype = "fp16"); b = relu(x = a); y = cast(x = b, dtype = "fp32");'
BLOCKS = "tensor<fp32, [2, 3]> y = cond(pred = p) () { tensor<fp32, [2, 3]> a = relu(x = x); } -> (a) () { } -> (x);"
LOOP = """
    fp32 limit = const()[val = 100.0];
    tensor<fp32, [2, 3]> y = while_loop(loop_vars = (START))
        (tensor<fp32, [2, 3]> a) { fp32 most = reduce_max(x = a); bool more = less(x = most, y = limit); } -> (more)
        (tensor<fp32, [2, 3]> b) { tensor<fp32, [2, 3]> twice = add(x = b, y = b); } -> (twice);
"""
WIDE = "tensor<fp32, [2, 3]> c = const()[val = tensor<fp32, [2, 3]>([[1e9, 2, 3], [4, 5, 6]])];"
LIST = """
    l = make_list(init_length = 2, elem_shape = (3)); r = reduce_sum(x = x, axes = [0]);
    m = list_write(l, index = 1, value = r); y = list_read(m, index = 1); z = list_gather(m, indices = [1, 0]);
"""

CASES: dict[str, tuple[str, str, str, list[str]]] = {
    "an output is a cast": ("y = relu(x = x);", "y", "", ['y = cast(relu(cast(x, "fp16")), "fp32");']),
    "constants in the place of arguments": (
        "y = add(x = x, y = 0.5);",
        "y",
        "",
        ['y = cast(add(cast(x, "fp16"), 0.5), "fp32");'],
    ),
    "an input is cast once": (
        "a = relu(x = x); b = exp(x = x); y = add(x = a, y = b);",
        "y",
        "",
        ['x_to_fp16 = cast(x, "fp16");', 'y = cast(add(relu(x_to_fp16), exp(x_to_fp16)), "fp32");'],
    ),
    "an output that is used": (
        "a = relu(x = x); b = exp(x = a);",
        "a, b",
        "",
        [
            'a_cast_fp16 = relu(cast(x, "fp16"));',
            'a = cast(a_cast_fp16, "fp32");',
            'b = cast(exp(a_cast_fp16), "fp32");',
        ],
    ),
    "an input that is an output": ("a = relu(x = x);", "x, a", "", ['a = cast(relu(cast(x, "fp16")), "fp32");']),
    "an output twice": ("a = relu(x = x);", "a, a", "", ['a = cast(relu(cast(x, "fp16")), "fp32");']),
    "a constant that is an output": (
        "tensor<fp32, [3]> c = const()[val = tensor<fp32, [3]>([1, 2, 3])]; a = add(x = x, y = c);",
        "a, c",
        "",
        ["c = const()[val = [1.0, 2.0, 3.0]];", 'a = cast(add(cast(x, "fp16"), [1.0, 2.0, 3.0]), "fp32");'],
    ),
    "nothing but a constant": (
        "y = const()[val = tensor<fp32, [2]>([1, 2])];",
        "y",
        "",
        ["y = const()[val = [1.0, 2.0]];"],
    ),
    "words that name a data type": (
        'a = cast(x = n, dtype = "fp32"); y = mul(x = a, y = x); z = cast(x = y, dtype = "int32");',
        "y, z",
        "tensor<fp32, [2, 3]> x, tensor<int32, [1]> n",
        [
            'y_cast_fp16 = mul(cast(n, "fp16"), cast(x, "fp16"));',
            'z = cast(y_cast_fp16, "int32");',
            'y = cast(y_cast_fp16, "fp32");',
        ],
    ),
    "a cast that is idle now": (CAST, "y", "", ['y = cast(relu(cast(x, "fp16")), "fp32");']),
    "an operation that is not known": (
        "tensor<fp32, [2, 3]> a = mystery(x = x); y = relu(x = a);",
        "y",
        "",
        ["tensor<fp32, [2, 3]> a = mystery(x = x);", 'y = cast(relu(cast(a, "fp16")), "fp32");'],
    ),
    "blocks": (
        BLOCKS,
        "y",
        BOTH,
        [
            'x_to_fp16 = cast(x, "fp16");',
            "y_cast_fp16 = cond(p)",
            "() {",
            "a = relu(x_to_fp16);",
            "} -> (a)",
            "() {",
            "} -> (x_to_fp16);",
            'y = cast(y_cast_fp16, "fp32");',
        ],
    ),
    "a loop": (
        LOOP.replace("START", "x"),
        "y",
        "",
        [
            'y_cast_fp16 = while_loop(cast(x, "fp16"))',
            "(a) {",
            "more = less(reduce_max(a), 100.0);",
            "} -> (more)",
            "(b) {",
            "twice = add(b, b);",
            "} -> (twice);",
            'y = cast(y_cast_fp16, "fp32");',
        ],
    ),
    "a list, whose default is written out": (
        LIST,
        "y, z",
        "",
        [
            (
                'm = list_write(make_list(3, dtype = "fp16", init_length = 2), 1, '
                'reduce_sum(cast(x, "fp16"), axes = [0]));'
            ),
            'y = cast(list_read(m, 1), "fp32");',
            'z = cast(list_gather(m, [1, 0]), "fp32");',
        ],
    ),
    "a size that rounding would change": (
        "r = range_1d(start = 0.0, end = 3.3, step = 0.1); y = relu(x = x);",
        "r, y",
        "",
        ["r = range_1d(3.3, 0.0, 0.1);", 'y = cast(relu(cast(x, "fp16")), "fp32");'],
    ),
    "a size that it does not change": (
        "r = range_1d(start = 0.0, end = 3.5, step = 0.5);",
        "r",
        "",
        ['r = cast(range_1d(fp16(3.5), 0.0, 0.5), "fp32");'],
    ),
    "parameters that stay precise, and a small one": (
        "a = rsqrt(x = x, epsilon = 1e-12); y = layer_norm(x = a, axes = [-1], epsilon = 1e-12);",
        "y",
        "",
        ['y = cast(layer_norm(rsqrt(cast(x, "fp16"), epsilon = fp32(1e-12)), axes = [-1], epsilon = 6e-08), "fp32");'],
    ),
    "a mask": (
        "y = mul(x = x, y = -3.4e38);",
        "y",
        "",
        ['y = cast(mul(cast(x, "fp16"), -65500.0), "fp32");'],
    ),
    "infinities and a NaN": (
        "y = add(x = x, y = tensor<fp32, [3]>([-inf, inf, nan]));",
        "y",
        "",
        ['y = cast(add(cast(x, "fp16"), tensor<fp16, [3]>([-inf, inf, nan])), "fp32");'],
    ),
    "a compressed constant": (
        (
            "w = constexpr_affine_dequantize()[quantized_data = tensor<int8, [3]>([1, 2, 3]), scale = fp32(0.5), "
            "zero_point = int8(0), axis = int32(0)]; y = add(x = x, y = w);"
        ),
        "y",
        "",
        [
            (
                "w = constexpr_affine_dequantize()[axis = int32(0), quantized_data = tensor<int8, [3]>([1, 2, 3]), "
                "scale = fp16(0.5), zero_point = int8(0)];"
            ),
            'y = cast(add(cast(x, "fp16"), w), "fp32");',
        ],
    ),
    "a constant that is held as fp16": (
        'w = constexpr_cast(source_val = tensor<fp16, [3]>([1, 2, 3]), output_dtype = "fp32"); y = add(x = x, y = w);',
        "y",
        "",
        ['y = cast(add(cast(x, "fp16"), [1.0, 2.0, 3.0]), "fp32");'],
    ),
    "a state": (
        CASTING,
        "y",
        SINGLE,
        ["s = read_state(k);", 't = add(s, cast(x, "fp16"));', "write_state(k, t);", 'y = cast(exp(t), "fp32");'],
    ),
}

ROUNDED = {"words that name a data type": ["`a` gives integers"]}


@pytest.mark.parametrize("name", CASES)
def test_to_fp16(name: str) -> None:
    body, returns, inputs, lines = CASES[name]
    made = convert(draft(body, returns, inputs or "tensor<fp32, [2, 3]> x"), "fp16")
    assert made.lines == lines
    assert [each.message.split(" as ")[0] for each in made.warnings] == ROUNDED.get(name, [])


BACK: dict[str, tuple[str, str, str, list[str]]] = {
    "no cast is left": (CAST, "y", "tensor<fp32, [2, 3]> x", ["y = relu(x);"]),
    "an output stays fp16": (CAST, "y, b", "tensor<fp32, [2, 3]> x", ["y = relu(x);", 'b = cast(y, "fp16");']),
    "an input that is only cast": (
        'a = cast(x = x, dtype = "fp16"); y = cast(x = a, dtype = "fp32");',
        "y",
        "tensor<fp32, [2, 3]> x",
        ["y = identity(x);"],
    ),
    "two outputs of one value": (
        'a = relu(x = x); y = cast(x = a, dtype = "fp32"); z = cast(x = a, dtype = "fp32");',
        "y, z",
        "tensor<fp16, [2, 3]> x",
        ['y = relu(cast(x, "fp32"));', "z = identity(y);"],
    ),
    "a state": (
        STATEFUL,
        "y",
        HALF,
        [
            "s = read_state(k);",
            't = add(cast(s, "fp32"), cast(x, "fp32"));',
            'write_state(k, cast(t, "fp16"));',
            'y = cast(exp(t), "fp16");',
        ],
    ),
}


@pytest.mark.parametrize("name", BACK)
def test_to_fp32(name: str) -> None:
    body, returns, inputs, lines = BACK[name]
    assert convert(draft(body, returns, inputs), "fp32").lines == lines


def test_the_casts_at_the_border_match_coremltools() -> None:
    made = convert(
        draft("image_to_fp16 = relu(x = image); y = exp(x = image);", "image_to_fp16, y", "fp32 image"), "fp16"
    )
    lines = [line.strip() for line in miltext.to_text(made.after).splitlines()[3:-2]]
    assert lines == [
        'string image_to_fp16_0_dtype_0 = const()[name = string("image_to_fp16_0_dtype_0"), val = string("fp16")];',
        'fp16 image_to_fp16_0 = cast(dtype = image_to_fp16_0_dtype_0, x = image)[name = string("image_to_fp16_0")];',
        "fp16 image_to_fp16_cast_fp16 = relu(x = image_to_fp16_0);",
        "fp16 y_cast_fp16 = exp(x = image_to_fp16_0);",
        'string image_to_fp16_dtype_0 = const()[name = string("image_to_fp16_dtype_0"), val = string("fp32")];',
        (
            "fp32 image_to_fp16 = cast(dtype = image_to_fp16_dtype_0, x = image_to_fp16_cast_fp16)"
            '[name = string("image_to_fp16")];'
        ),
        'string y_dtype_0 = const()[name = string("y_dtype_0"), val = string("fp32")];',
        'fp32 y = cast(dtype = y_dtype_0, x = y_cast_fp16)[name = string("y")];',
    ]


# ---- what is beyond fp16


@pytest.mark.parametrize(
    ("body", "returns", "lines", "told"),
    [
        (
            "a = add(x = x, y = -1e9); y = softmax(x = a, axis = -1);",
            "y",
            ['y = cast(softmax(cast(add(x, -1000000000.0), "fp16")), "fp32");'],
            "`a.y` reaches 1e+09, beyond 65504, the greatest number of fp16: `a` stays fp32",
        ),
        (
            (
                f"{WIDE} a = add(x = x, y = c); b = sub(x = x, y = c); d = mul(x = x, y = c);"
                "e = maximum(x = x, y = c); f = add(x = a, y = b); g = add(x = d, y = e); y = add(x = f, y = g);"
            ),
            "y",
            None,
            "`c` reaches 1e+09, beyond 65504, the greatest number of fp16: `a`, `b`, `d` and 1 more stay fp32",
        ),
        (
            f"{WIDE} t = transpose(x = c, perm = [1, 0]); u = transpose(x = t, perm = [1, 0]); y = add(x = x, y = u);",
            "y",
            None,
            "`c` reaches 1e+09, beyond 65504, the greatest number of fp16: `t`, `u`, `y` stay fp32",
        ),
        (
            WIDE + LOOP.replace("START", "c"),
            "y",
            None,
            "`c` reaches 1e+09, beyond 65504, the greatest number of fp16: `y` stays fp32",
        ),
        (
            (
                "w = constexpr_affine_dequantize()[quantized_data = tensor<int8, [3]>([1, 2, 3]), scale = fp32(1000), "
                "zero_point = int8(0), axis = int32(0)]; y = add(x = x, y = w);"
            ),
            "y",
            None,
            "`w` reaches 128000, beyond 65504, the greatest number of fp16: `w`, `y` stay fp32",
        ),
    ],
    ids=["inline", "shared", "through other operations", "into a loop", "compressed"],
)
def test_operations_with_a_constant_beyond_fp16_stay(
    body: str, returns: str, lines: list[str] | None, told: str
) -> None:
    made = convert(draft(body, returns), "fp16")
    assert [(each.code, each.message) for each in made.warnings] == [("MIL437", told)]
    assert lines is None or made.lines == lines


def test_unconverted_operations_compute_the_same() -> None:
    body = f"{WIDE} a = mul(x = x, y = 1e-3); b = mul(x = a, y = c); y = mul(x = b, y = 1e-2);"
    assert_near(convert(draft(body, "y"), "fp16"), {"x": X / 30})


def test_a_returned_constant_beyond_fp16_is_cast_and_reported() -> None:
    body = WIDE + "tensor<fp32, [2, 3]> y = cond(pred = p) () { } -> (c) () { } -> (x);"
    made = convert(draft(body, "y", BOTH), "fp16")
    assert [each.message for each in made.warnings] == [
        "`c` reaches 1e+09, beyond 65504, the greatest number of fp16: `c` stays fp32"
    ]


def test_a_list_cannot_take_a_value_that_stays_fp32() -> None:
    body = LIST.replace("value = r", "value = tensor<fp32, [3]>([1e9, 0, 0])")
    with pytest.raises(ModelError, match=r"MIL438.*`m` cannot be converted: `list_write` stays fp32 here"):
        convert(draft(body, "y, z"), "fp16")


def test_a_recurrent_layer_stays_where_its_opset_has_no_fp16() -> None:
    body = """
        tensor<fp32, [4, 2]> w = const()[val = tensor<fp32, [4, 2]>([[1, 0], [0, 1], [1, 1], [0, 0]])];
        tensor<fp32, [4, 4]> r = const()[val = tensor<fp32, [4, 4]>([
            [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]])];
        e = exp(x = x); s, h = rnn(x = e, initial_h = i, weight_ih = w, weight_hh = r); y = relu(x = s);
    """
    inputs = "tensor<fp32, [3, 1, 2]> x, tensor<fp32, [1, 4]> i"
    stays, converted = (convert(draft(body, "y", inputs, opset), "fp16") for opset in ("ios15", "ios17"))
    cast = 'cast(exp(cast(x, "fp16")), "fp32")'
    assert (any(cast in line for line in stays.lines), any(cast in line for line in converted.lines)) == (True, False)
    given = {"x": np.ones((3, 1, 2), np.float32), "i": np.zeros((1, 4), np.float32)}
    assert_near(stays, given)
    assert_near(converted, given)


def test_a_value_of_unknown_rank_is_refused() -> None:
    program = miltext.parse(miltext.infer_draft(draft("y = relu(x = x);", "y")))
    relu = program.functions["main"].block_specializations["CoreML8"].operations[0]
    relu.outputs[0].type.tensorType.rank = -1
    with pytest.raises(ModelError, match=r"MIL438.*`y` cannot be converted: its type has no rank"):
        convert(program, "fp16")


# ---- the border


def test_io_converts_the_border() -> None:
    made = convert(draft(CASTING, "y, x", SINGLE), "fp16", io=True)
    assert made.lines == ["s = read_state(k);", "t = add(s, x);", "write_state(k, t);", "y = exp(t);"]
    assert "(tensor<fp16, [2, 3]> x, state<tensor<fp16, [2, 3]>> k)" in miltext.to_text(made.after)


def test_io_leaves_states_of_fp16() -> None:
    made = convert(draft(STATEFUL, "y", HALF), "fp32", io=True)
    assert "(tensor<fp32, [2, 3]> x, state<tensor<fp16, [2, 3]>> k)" in miltext.to_text(made.after)
    assert made.lines[1:3] == ['t = add(cast(s, "fp32"), x);', 'write_state(k, cast(t, "fp16"));']


@pytest.mark.parametrize("body", [CAST, WIDE + "y = add(x = x, y = c);", WIDE + "y = relu(x = c);"])
def test_io_returns_fp16_from_operations_that_stay(body: str) -> None:
    made = convert(draft(body, "y"), "fp16", io=True)
    last = miltext.to_text(made.after).splitlines()[-3]
    assert last.split("=")[0].strip() == "tensor<fp16, [2, 3]> y"


def test_io_requests_an_opset_that_has_fp16_there() -> None:
    with pytest.raises(ModelError, match=r"MIL439.*`x` of `main` cannot be fp16 in ios15: ios16 and later allow it"):
        convert(draft("y = relu(x = x);", "y", opset="ios15"), "fp16", io=True)
    assert convert(draft("y = relu(x = x);", "y", opset="ios16"), "fp16", io=True).lines == ["y = relu(x);"]
    half = draft('h = cast(x = x, dtype = "fp16"); y = cast(x = h, dtype = "int32");', "y", "bool x", "ios15")
    assert convert(half, "fp32", io=True).lines == ['y = cast(cast(x, "fp32"), "int32");']


def test_every_function_is_converted() -> None:
    text = draft("y = relu(x = x);", "y").rstrip()[:-1]
    text += "func other<ios18>(tensor<fp32, [3]> x) { y = exp(x = x); } -> (y);\n}\n"
    made = convert(text, "fp16")
    assert miltext.to_text(made.after).count("fp16 = cast(") == 2


# ---- numbers


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("an operation that is not known", "a mask")])
def test_a_converted_program_computes_the_same(name: str) -> None:
    body, returns, inputs, _ = CASES[name]
    given: dict[str, Any] = {"x": X} if "x" in (inputs or " x") else {}
    given |= {"p": np.array(True)} if "bool p" in inputs else {}
    given |= {"n": np.array([2], np.int32)} if " n" in inputs else {}
    made = convert(draft(body, returns, inputs or "tensor<fp32, [2, 3]> x"), "fp16")
    assert_near(made, given)


@pytest.mark.parametrize("name", CASES)
def test_a_second_conversion_changes_nothing(name: str) -> None:
    body, returns, inputs, _ = CASES[name]
    once = convert(draft(body, returns, inputs or "tensor<fp32, [2, 3]> x"), "fp16")
    assert convert(once.after, "fp16").after == once.after


@pytest.mark.parametrize("name", CASES)
def test_a_second_conversion_and_back_is_exact(name: str) -> None:
    body, returns, inputs, _ = CASES[name]
    half = convert(draft(body, returns, inputs or "tensor<fp32, [2, 3]> x"), "fp16")
    again = convert(convert(half.after, "fp32").after, "fp16")
    assert [change.loss.absolute for change in again.changes.values() if change.name in half.changes] == [
        0.0 for name in again.changes if name in half.changes
    ]


def test_names_that_are_made_of_odd_ones_are_identifiers() -> None:
    program = miltext.parse(draft("fp32 y = relu(x = x);", "y", "fp32 x"))
    block = program.functions["main"].block_specializations["CoreML8"]
    block.outputs[0] = block.operations[0].outputs[0].name = "1/out@2"
    operations = convert(program, "fp16").after.functions["main"].block_specializations["CoreML8"].operations
    assert [each.outputs[0].name for each in operations][2:] == ["_1_out@2_cast_fp16", "_1_out@2_dtype_0", "1/out@2"]


def test_a_word_that_is_returned_stays_without_its_cast() -> None:
    text = draft('d = const()[val = "fp16"]; a = cast(x = x, dtype = d); y = relu(x = a);', "y, d", "fp32 x")
    assert convert(text, "fp16", io=True).lines == ['d = const()[val = "fp16"];', "y = relu(x);"]
