"""The short spelling of drafts: what each phrase stands for, where its mistakes are, and that nothing runs together."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import product

import pytest
from conftest import GOLDEN

import miltext
from miltext import MiltextError, ParseError, format_text, infer_draft
from miltext.diagnostics import Diagnostic, line_and_column
from miltext.parsing.parser import parse_tree
from miltext.parsing.recovery import recover
from miltext.syntax.phrases import ARGUMENTS
from miltext.syntax.tree import walk

INPUTS = "tensor<fp16, [2, 4]> x, tensor<fp16, [2, 4]> z"


def program(*lines: str, inputs: str = INPUTS, outputs: str = "y") -> str:
    body = "".join(f"            {line}\n" for line in lines)
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{body}        }} -> ({outputs});\n}}\n"


def inferred(*lines: str, inputs: str = INPUTS, outputs: str = "y") -> list[str]:
    """The operations that `infer` makes of these."""
    text = infer_draft(program(*lines, inputs=inputs, outputs=outputs))
    miltext.parse(text)
    return [line.strip() for line in text.splitlines()[3:-2]]


def told(text: str) -> list[tuple[str, str]]:
    """The code of each error, and the text at its place."""
    found = [each for each in miltext.check(text) if each.severity == "error"]
    return [(each.code, text[each.span.start : each.span.end]) for each in found if each.span]


# ---- arguments of every kind, side by side

KINDS = {
    "name": "x",
    "literal list": "[1, 2]",
    "nested list": "[[1], [2]]",
    "list of strings": '["a", "]"]',
    "number": "-0x1p+0",
    "string": '"), ("',
    "truth value": "true",
    "value": "int32(1)",
    "typed list": "tensor<int32, [2, 1]>([[1], [2]])",
    "tuple": "(x, 1, relu(x))",
    "empty": "()",
    "call": "relu(tanh(x), [1], [2])",
    "call with all": 'relu<ios17>(x = x)[name = "a"]',
    "unset": "$unset",
    "quoted": '$"a b"',
    "named": "k = x",
    "named list": "l = [3]",
    "named nested list": "m = [[3], [4]]",
    "named tuple": "n = ([1], [2])",
    "named call": "o = relu([1], x)",
    "array": 'fp16 $npz("a, b", "[1]")',
    "record": '$blob("(", 64)',
    "named array": 'p = $npy("w.npy")',
}


@pytest.mark.parametrize("between", [", ", ",", " , // a [\n "])
@pytest.mark.parametrize("first", KINDS)
def test_arguments_of_every_kind_do_not_run_together(first: str, between: str) -> None:
    for others in product(KINDS, repeat=2):
        kinds = [KINDS[kind] for kind in (first, *others)]
        text = f"program(1.3) {{ func f(fp16 x) {{ y = op({between.join(kinds)}); }} -> (y); }}"
        outer = next(phrase for phrase in walk(parse_tree(text).root) if phrase.name == "arguments")
        given = [child for child in outer.children if child.name in ARGUMENTS]
        assert [text[argument.start : argument.end] for argument in given] == kinds


def test_arguments_of_every_kind_are_laid_out_as_they_are() -> None:
    for kinds in product(KINDS, repeat=2):
        text = program(f"y = op({', '.join(KINDS[kind] for kind in kinds)});")
        formatted = format_text(text)
        assert format_text(formatted) == formatted
        assert sorted(re.sub(r"\s", "", formatted)) == sorted(re.sub(r"\s", "", text))


# ---- what it stands for

LIKE = "tensor<fp16, [2, 4]>"
LONG = [
    ("y = relu(x);", [f"{LIKE} y = relu(x = x);"]),
    ("_ y = relu(x);", [f"{LIKE} y = relu(x = x);"]),
    (f"{LIKE} y = relu(x);", [f"{LIKE} y = relu(x = x);"]),
    ('y = relu(x)[name = "y"];', [f'{LIKE} y = relu(x = x)[name = string("y")];']),
    ("y = mul(x, 2);", [f"{LIKE} y = mul(x = x, y = fp16(2));"]),
    ("y = mul(x, y = z);", [f"{LIKE} y = mul(x = x, y = z);"]),
    ("y = mul(y = z, x = x);", [f"{LIKE} y = mul(x = x, y = z);"]),
    ("y = mul(0.5, x);", [f"{LIKE} y = mul(x = fp16(0.5), y = x);"]),
    ("y = mul(x, fp16(2));", [f"{LIKE} y = mul(x = x, y = fp16(2));"]),
    ("y = relu<ios17>(x);", None),
    ("y = relu(tanh(x));", [f"{LIKE} y_x = tanh(x = x);", f"{LIKE} y = relu(x = y_x);"]),
    ("y = relu(x = tanh(x = x));", [f"{LIKE} y_x = tanh(x = x);", f"{LIKE} y = relu(x = y_x);"]),
    (
        "y = add(tanh(x), relu(sin(z)));",
        [
            f"{LIKE} y_x = tanh(x = x);",
            f"{LIKE} y_y_x = sin(x = z);",
            f"{LIKE} y_y = relu(x = y_y_x);",
            f"{LIKE} y = add(x = y_x, y = y_y);",
        ],
    ),
    (
        "y = add(y = sin(x), x = tanh(z));",
        [f"{LIKE} y_x = tanh(x = z);", f"{LIKE} y_y = sin(x = x);", f"{LIKE} y = add(x = y_x, y = y_y);"],
    ),
    (
        'y = relu(tanh(x)[name = "t"]);',
        [f'{LIKE} y_x = tanh(x = x)[name = string("t")];', f"{LIKE} y = relu(x = y_x);"],
    ),
    (
        "y = concat((x, relu(z)), 0);",
        [
            f"{LIKE} y_values_1 = relu(x = z);",
            "tensor<fp16, [4, 4]> y = concat(axis = int32(0), values = (x, y_values_1));",
        ],
    ),
    (
        "y = reduce_sum(x, [1], true);",
        ["tensor<fp16, [2, 1]> y = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = x);"],
    ),
    (
        "a, y = split(x, axis = 1, num_splits = 2);",
        [
            "tensor<fp16, [2, 2]> a, tensor<fp16, [2, 2]> y = split(axis = int32(1), num_splits = int32(2), x = x);",
        ],
    ),
    (
        "half = const()[val = 0.5]; y = mul(x, half);",
        ["fp16 half = const()[val = fp16(0.5)];", f"{LIKE} y = mul(x = x, y = half);"],
    ),
    (
        "fp16 half = const()[val = 0.5]; y = mul(x, half);",
        ["fp16 half = const()[val = fp16(0.5)];", f"{LIKE} y = mul(x = x, y = half);"],
    ),
    ("c = const()[val = 2]; y = relu(x);", ["int32 c = const()[val = int32(2)];", f"{LIKE} y = relu(x = x);"]),
    ("c = const()[val = 2.5]; y = relu(x);", ["fp16 c = const()[val = fp16(2.5)];", f"{LIKE} y = relu(x = x);"]),
    ("y = fill([2], 0.0);", ["tensor<fp16, [2]> y = fill(shape = tensor<int32, [1]>([2]), value = fp16(0.0));"]),
    ('y = cast(x, "fp32");', ['tensor<fp32, [2, 4]> y = cast(dtype = string("fp32"), x = x);']),
]


@pytest.mark.parametrize(("short", "long"), LONG, ids=lambda value: value if isinstance(value, str) else "")
def test_the_meaning_of_a_text(short: str, long: list[str] | None) -> None:
    if long is None:  # an opset of its own is wrong in the long spelling, too
        assert told(program(short)) == told(program(short.replace("(x)", "(x = x)")))
        return
    assert inferred(short) == long
    assert inferred(*format_text(program(short)).splitlines()[3:-2]) == long


@pytest.mark.parametrize(
    ("inputs", "dtype"),
    [
        ("fp16 x", "fp16"),
        ("fp32 x", "fp32"),
        ("fp16 x, fp32 z", "fp32"),
        ("int32 x", "fp32"),
        ("fp16 x, int32 z", "fp16"),
        ("", "fp32"),
    ],
)
def test_a_fraction_that_nothing_decides_is_of_the_default_type(inputs: str, dtype: str) -> None:
    lines = ["c = const()[val = 0.5];", "y = fill([2], 1.5);"]
    assert inferred(*lines, inputs=inputs) == [
        f"{dtype} c = const()[val = {dtype}(0.5)];",
        f"tensor<{dtype}, [2]> y = fill(shape = tensor<int32, [1]>([2]), value = {dtype}(1.5));",
    ]


def test_the_inputs_of_blocks_have_the_types_of_their_values() -> None:
    heads = "y, n = while_loop((x, int32(1))) (_ a, b)", "(d, _ e)"
    loop = f"{heads[0]} {{ c = less(b, 3); }} -> (c) {heads[1]} {{ f = relu(d); g = add(e, 1); }} -> (f, g);"
    assert inferred(loop) == [
        f"{LIKE} y, int32 n = while_loop(loop_vars = (x, int32(1)))",
        f"({LIKE} a, int32 b) {{",
        "bool c = less(x = b, y = int32(3));",
        "} -> (c)",
        f"({LIKE} d, int32 e) {{",
        f"{LIKE} f = relu(x = d);",
        "int32 g = add(x = e, y = int32(1));",
        "} -> (f, g);",
    ]


def test_attributes_that_an_operation_takes_have_their_types() -> None:
    """Of those that it does not state, strings and truth values have; see the mistakes for others."""
    made = 'y = constexpr_affine_dequantize()[axis = 0, {}, scale = 0.5, zero_point = 0, z = "s"];'
    typed = '[axis = int32(0), {}, scale = fp16(0.5), z = string("s"), zero_point = int8(0)];'
    data = "quantized_data = tensor<int8, [1]>([1])"
    [line] = inferred(made.format(data))
    assert line == f"tensor<fp16, [1]> y = constexpr_affine_dequantize(){typed.format(data)}"


@pytest.mark.parametrize(("count", "dtype"), [("0", "int32"), ("0.0", "fp16")])
def test_changed_loop_variables_have_their_own_types(count: str, dtype: str) -> None:
    """A whole number that is counted is int32, whatever goes round beside it."""
    loop = f"y, n = while_loop((x, {count})) (a, i) {{ c = less(i, 3); }} -> (c) (b, j) {{ e = add(j, 1); }} -> (b, e);"
    assert inferred(loop)[0] == f"{LIKE} y, {dtype} n = while_loop(loop_vars = (x, {dtype}({count})))"
    counted = inferred(f"k = const()[val = {count}];", loop.replace(f"x, {count}", "x, k"))
    assert counted[0] == f"{dtype} k = const()[val = {dtype}({count})];"


def test_nested_operations_are_in_the_block_that_they_are_in() -> None:
    text = "y = cond(bool(true)) () { a = relu(tanh(x)); } -> (a) () { b = relu(tanh(z)); } -> (b);"
    made = inferred(text)
    assert made[2:4] == [f"{LIKE} a_x = tanh(x = x);", f"{LIKE} a = relu(x = a_x);"]
    assert made[6:8] == [f"{LIKE} b_x = tanh(x = z);", f"{LIKE} b = relu(x = b_x);"]


def test_an_operation_without_outputs_may_hold_others() -> None:
    state = "state<tensor<fp16, [2, 4]>> s"
    lines = ["write_state(s, relu(x));", "y = read_state(s);"]
    assert inferred(*lines, inputs=f"{INPUTS}, {state}") == [
        f"{LIKE} write_state_data = relu(x = x);",
        "write_state(data = write_state_data, input = s);",
        f"{LIKE} y = read_state(input = s);",
    ]


# ---- names


@pytest.mark.parametrize("taken", ["y_x", '$"y_x"', "y_x, y_x_1"])
def test_a_name_that_is_taken_is_taken_nowhere(taken: str) -> None:
    """In another block, too, and however it is spelled."""
    lines = [f"{name.strip()} = sin(x);" for name in taken.split(",")]
    inner = f"w = cond(bool(true)) () {{ {' '.join(lines)} }} -> (x) () {{ }} -> (x);"
    for order in ([*lines, "y = relu(tanh(x));"], ["y = relu(tanh(x));", inner]):
        names = re.findall(r"> (\S+) =", "\n".join(inferred(*order)))
        assert len(names) == len(set(names))
        assert f"y_x_{len(lines)}" in names
    assert inferred(*lines, "y = relu(tanh(x));") == inferred(*lines, "y = relu(tanh(x));")


def test_a_quoted_name_makes_identifiers() -> None:
    read = recover(program('$"a b" = relu(tanh(x));', "y = relu(x);"))
    assert '_ a_b_x = tanh(x = x); $"a b" = relu(x = a_b_x);' in read.text


# ---- comments

COMMENTED = program(
    'y = mul(tanh(x), [1, 2, 3, 4], y = 1)[name = "y"];'.replace(", y = 1", ""),
    "a, b = split(relu(sin(z)), axis = 1, num_splits = 2);",
    "w = concat((a, relu(b)), 1);",
    outputs="y",
)


@pytest.mark.any_version
@pytest.mark.parametrize("form", ["/* %d */", " // %d\n"])
def test_no_comment_is_lost_or_doubled(form: str) -> None:
    gaps = [
        phrase.end for phrase in walk(parse_tree(COMMENTED).root) if phrase.token is not None and phrase.name != "LIST"
    ]
    whole = infer_draft(COMMENTED)
    for made in (format_text, infer_draft):
        for gap, end in enumerate(sorted(gaps)):
            text = COMMENTED[:end] + form.replace("%d", str(gap)) + COMMENTED[end:]
            found = made(text)
            assert re.findall(r"/[*/] (\d+)", found) == [str(gap)]
            assert format_text(found) == found
            plain = re.sub(r"/\* \d+ \*/|// \d+", "", infer_draft(found))
            assert re.sub(r"\s", "", plain) == re.sub(r"\s", "", whole)


def test_line_ends_stay() -> None:
    text = COMMENTED.replace("\n", "\r\n")
    assert infer_draft(text) == infer_draft(COMMENTED).replace("\n", "\r\n")
    assert format_text(text) == format_text(COMMENTED)


# ---- mistakes

MISTAKES = [
    ("y = relu(x, x);", [("MIL114", "x")], 22 + 3),
    ("y = relu(x, x = x);", [("MIL114", "x")], 22),
    ("y = mul(x = x, z);", [("MIL114", "z")], 28),
    ("y = mul(x, z, 1, 2, 3);", [("MIL114", "1")], 27),
    ("y = rellu(x, 1);", [("MIL501", "rellu")], 17),
    ("y = relu(rellu(x));", [("MIL501", "rellu")], 22),
    ("tensor<fp16, [2, 4]> y = my_own(x);", [("MIL501", "my_own")], 38),
    ("y = relu(split(x, axis = 1, num_splits = 2));", [("MIL115", "split(x, axis = 1, num_splits = 2)")], 22),
    ("y = relu(mul(x));", [("MIL503", "mul")], 22),
    ("y = relu(relu(relu(nobody)));", [("MIL604", "nobody")], 32),
    ("y = relu(relu(mul(x, 1e9)));", [("MIL020", "1e9")], 34),
    ("y = relu(float(1));", [("MIL104", "float")], 22),
    ('$"a/b" = mul(relu(x), tanh(relu(x))); y = relu(x);', [("MIL601", '$"a/b"')], 13),
    ('$"0" = relu(relu(x)); y = relu(x);', [("MIL601", '$"0"')], 13),
    ("fp16 y = const(0.5);", [("MIL025", "(0.5)")], 27),
    ("y = fp16(0.5);", [("MIL025", "fp16(0.5)")], 17),
    ("y = relu(tanh(x, k = 1));", [("MIL504", "k")], 30),
    ("y = relu(x)[odd = 1];", [("MIL711", "1")], 31),
    ("c = const()[val = 70000]; y = mul(x, c);", [("MIL020", "70000")], 31),
    ("c = const()[val = [[1], [2, 3]]]; y = mul(x, c);", [("MIL022", "3")], 41),
    ("y = relu(x y);", [("MIL010", "y")], 24),
    ("flot16 y = relu(x);", [("MIL104", "flot16")], 13),
]


@pytest.mark.parametrize(("line", "expected", "column"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_reported_once_at_its_place(line: str, expected: list[tuple[str, str]], column: int) -> None:
    text = program(line, "w = relu(y);", outputs="w")
    assert told(text) == expected
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert found.span is not None
    assert line_and_column(text, found.span.start) == (4, column)
    with pytest.raises(ParseError):
        infer_draft(text)


BLOCKS = "y = cond(true) () { a = relu(x); } -> (a) () { b = tanh(x); } -> (b); w = relu(y);"


@pytest.mark.parametrize("ends", [["-> (a)"], ["-> (b)"], ["-> (a)", "-> (b)"]])
@pytest.mark.parametrize("line_end", [" ", "\n"])
def test_a_block_that_gives_nothing_back_is_reported_once(ends: list[str], line_end: str) -> None:
    """Nothing is said of what follows from it: that its operation has too few blocks, or no type."""
    text = BLOCKS
    for end in ends:
        text = text.replace(end, "")
    assert told(program(text.replace(" (", f"{line_end}("), outputs="w")) == [
        ("MIL010", "(" if end == "-> (a)" else ";") for end in ends
    ]


@pytest.mark.parametrize("line", ['$"_" = relu(x);', 'fp16 c, $"_" = split(x);', "_ _ = relu(x);", '$"a b" = relu(_);'])
def test_a_value_may_be_called_as_the_mark_of_drafts(line: str) -> None:
    text = program(line)
    assert format_text(text) == text


def test_an_input_may_be_called_as_the_mark_of_drafts() -> None:
    text = program("y = relu(x);", inputs='$"_"')
    assert format_text(text) == text


def test_suggestions_change_only_written_words() -> None:
    text = program("y = relu(rellu(x));", "z2 = tanh(sigmod(x = x));")
    found = {each.suggestion: text[slice(*each.span)] for each in miltext.check(text) if each.suggestion and each.span}
    assert found == {"relu": "rellu", "sigmoid": "sigmod"}


@pytest.mark.parametrize("given", ["x", "_ x"])
def test_an_input_of_a_function_needs_its_type(given: str) -> None:
    text = program("y = relu(x);", inputs=given)
    assert told(text) == [("MIL711", given)]
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert found.message == "an input of a function needs its type; write it before the name"


def test_uses_of_a_constant_that_disagree_are_both_named() -> None:
    text = program("c = const()[val = 1];", "a = mul(x, c);", "y = concat((x, a), c);")
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert "`y` of `mul` takes it as fp16, and `axis` of `concat` as int32" in found.message
    assert [text[note.span.start : note.span.end] for note in found.notes if note.span] == ["c", "c"]


@pytest.mark.parametrize("line", ["y = relu(x);", "fp16 y = relu(x);", "fp16 y = relu(x = tanh(x = x));"])
def test_only_a_draft_may_be_short(line: str) -> None:
    with pytest.raises(ParseError, match=r"error\[MIL11[23]\]") as refused:
        miltext.parse(program(line))
    assert refused.value.diagnostics[0].span is not None


def test_a_broken_statement_loses_no_other() -> None:
    lines = ["a = relu(x);", "b = mul(relu(a), ;", "c = tanh(x);", "y = add(c, nobody);"]
    assert told(program(*lines)) == [("MIL010", ";"), ("MIL604", "nobody")]
    lines[1] = "b = mul(relu(a)"
    assert [code for code, _ in told(program(*lines))] == ["MIL010", "MIL604"]


# ---- size


def test_calls_may_nest_deeply() -> None:
    text = program(f"y = {'relu(' * 300}x{')' * 300};")
    assert len(recover(text).program.functions["main"].block_specializations["CoreML8"].operations) == 300  # type: ignore[union-attr]
    miltext.parse(infer_draft(text))
    assert format_text(format_text(text)) == format_text(text)


GROWING = {
    "nested": ["v{} = relu(tanh(x));"],
    "constants": ["c{} = const()[val = 1];", "v{0} = mul(x, c{0});"],
    "values without names": ["write_state(s, relu(x));"],
}


@pytest.mark.any_version
@pytest.mark.parametrize("lines", GROWING.values(), ids=GROWING.keys())
def test_work_grows_with_the_text(lines: list[str]) -> None:
    state = f"{INPUTS}, state<tensor<fp16, [2, 4]>> s"

    def calls(count: int) -> int:
        statements = [line.format(at) for line in lines for at in range(count)]
        text = program(*statements, "y = relu(x);", inputs=state)
        made = 0

        def count_call(_: object, event: str, __: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count_call)
        try:
            infer_draft(text)
        finally:
            sys.setprofile(before)
        return made

    calls(10)
    assert calls(800) < 4.5 * calls(200)


def test_goldens_in_the_long_spelling_are_not_elaborated() -> None:
    for path in sorted((GOLDEN / "print").glob("*.mil")):
        assert recover(path.read_text(encoding="utf-8")).elaborated is None


SHORT_BLOCK = "fp32 a = cond(pick) () {", "} -> (a) () { fp32 b = tanh(x); } -> (b);"
NESTED = {
    "in an operation": (*SHORT_BLOCK, "fp32 a = relu(x);"),
    "innermost": ("cond(pred = pick) () {", "} -> () () {} -> ();", "fp32 a = relu(x);"),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("depth", [60, 150, 200, 400])
def test_blocks_that_nest_more_deeply_than_a_program(kind: str, depth: int) -> None:
    opening, closing, inner = NESTED[kind]
    body = opening * depth + inner + closing * depth
    text = f"program(1.3) {{ func main<ios18>(fp32 x, bool pick) {{ {body} }} -> (); }}"
    for found in (miltext.check(text), refused(miltext.infer_draft, text), refused(miltext.run, text, {})):
        assert "MIL006" in [each.code for each in found if each.severity == "error"]


def refused(read: Callable[..., object], *arguments: object) -> list[Diagnostic]:
    with pytest.raises(MiltextError) as caught:
        read(*arguments)
    return caught.value.diagnostics
