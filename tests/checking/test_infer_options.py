"""`infer --names --consts --defaults`, and the marker in a head that asks for the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import GOLDEN
from support.normal_form import normal
from support.short_drafts import BROKEN, DRAFTS

import miltext
from miltext.checking.defaults import defaults
from miltext.checking.inference.operands import Arguments, Operand
from miltext.parsing.parser import parse_value
from miltext.schema.operations import all_names, signature
from miltext.schema.types import TensorType
from miltext.syntax.names import DRAFT_WORDS

WHOLE = """\
program(1.3) {marker}
{{
    func main<ios18>(tensor<fp16, [2, 4]> x, bool p, state<tensor<fp16, [2, 4]>> s) {{
{body}
        }} -> (y);
}}
"""

SUBSETS = [*[(word,) for word in DRAFT_WORDS], DRAFT_WORDS[:2], DRAFT_WORDS]

SHORT = {path.stem: path.read_text(encoding="utf-8") for path in sorted((GOLDEN / "short").glob("*.mil"))}


def program(body: str, marker: str = "") -> str:
    return WHOLE.format(body=body, marker=marker)


def asking(text: str, words: tuple[str, ...]) -> str:
    """The text with a marker in its head."""
    return re.sub(r"(program\(1\.\d\))", rf"\1 $draft({', '.join(words)})", text, count=1)


def infer(text: str, *words: str) -> str:
    return miltext.infer_draft(text, **dict.fromkeys(words, True))  # type: ignore[arg-type]


def lines(body: str, *words: str, marker: str = "") -> list[str]:
    """The operations of a body that is written out."""
    made = infer(program(body, marker), *words)
    return [line.strip() for line in made[made.index(") {\n") + 4 : made.rindex("        } -> (y);")].splitlines()]


def comments(text: str) -> list[str]:
    from miltext.parsing.parser import parse_tree

    return [text[slice(*span)] for span in parse_tree(text).comments]


# ---- laws

BODIES = {
    "a literal": "y = add(x, 0.5);",
    "a typed literal": "y = add(x, fp16(0.5));",
    "one literal twice": 'p = max_pool(reshape(x, [1, 2, 4]), [2], strides = [2], pad_type = "valid"); y = relu(x);',
    "one literal in two": "z = clip(x, 0.5, 2); y = clip(x, 0.5, 2);",
    "nested": "y = softmax(add(relu(x), 0.5));",
    "a literal and a name": "y = concat((x, relu(x), tensor<fp16, [2, 4]>([[1, 2, 3, 4], [5, 6, 7, 8]])), 0);",
    "a literal of strings": 'y = cast(x, "fp16"); c = const()[val = list<string, 2>(["a", "b"])];',
    "several outputs": "a, b = split(x, num_splits = 2, axis = 1); y = relu(a);",
    "several outputs and a name": 'a, b = split(x, num_splits = 2, axis = 1)[name = "s"]; y = relu(a);',
    "no output": "write_state(s, add(x, 0.5)); y = read_state(s);",
    "no output, a literal": "write_state(s, tensor<fp16, [2, 4]>([[1, 2, 3, 4], [5, 6, 7, 8]])); y = relu(x);",
    "blocks": "y = cond(p)() { a = add(x, 0.5); } -> (a) () { a = softmax(x); } -> (a);",
    "a loop": """y, n = while_loop((x, int32(0)))
        (_ a, i) { go = less(i, 3); } -> (go)
        (_ a, i) { d = relu(a); e = add(i, 1); } -> (d, e);""",
    "a constant": "half = const()[val = 0.5]; y = add(x, half);",
    "attributes": 'y = add(x, 0.5)[note = string("n")]; z = relu(x)[];',
    "names taken": "y_y_0 = relu(x); y = add(y_y_0, 0.5); y_y_1 = relu(x);",
    "an operation of ones own": "fp16 a = an_op(x = x, how = int32(1), what = (int32(2), x)); y = relu(x);",
    "a default of the rank": 'y = layer_norm(x); z = max_pool(reshape(x, [1, 2, 4]), [2], pad_type = "valid");',
    "a default of the dtype": "y = rsqrt(log(x));",
    "converted": "y_cast_fp16 = add(x, 0.5); y = softmax(y_cast_fp16, axis = 1);",
    "a type with a comment": "y = concat((x, tensor</* a */ fp16 /* b */, [1, 4]>([[1, 2, 3, 4]])), 0);",
    "a loose layout": 'y = add(x = x, y = 0.5) [\n name\n=\n"y" ] ; z = softmax ( x ) ; w = relu( x = x // c\n);',
    "nothing to do": 'tensor<fp16, [2, 4]> y = relu(x = x)[name = string("y")];',
    "no operation": "",
}

SECOND = "\n    func b<ios16>(fp16 x) { y = add(x, 1); } -> (y);\n}\n"

TEXTS = {
    **{name: program(body) if body else program("").replace("-> (y)", "-> (x)") for name, body in BODIES.items()},
    **DRAFTS,
    **SHORT,
    "no function": "program(1.3)\n{\n}\n",
    "dialect 1.0": program("y = softmax(x);").replace("1.3", "1.0").replace("bool p", "tensor<bool, []> p"),
    "two functions": program("y = softmax(x);").replace("\n}\n", SECOND),
    "two specializations": program("y = add(x, 1);").replace(
        "} -> (y);", "} -> (y) $block<ios16> { y = add(x, 1); } -> (y);"
    ),
}


@pytest.mark.parametrize("words", SUBSETS, ids="-".join)
@pytest.mark.parametrize("name", TEXTS)
def test_laws(name: str, words: tuple[str, ...]) -> None:
    text = TEXTS[name]
    plain, made = infer(text), infer(text, *words)
    assert infer(asking(text, words)) == made
    assert infer(asking(text, words), *words) == made
    assert infer(made, *words) == made
    assert infer(plain, *words) == made
    assert normal(miltext.parse(made)) == normal(miltext.parse(plain))
    assert {*_codes(made)} <= {*_codes(plain)}
    assert comments(made) == comments(plain)
    assert miltext.format_text(made) == made


def _codes(text: str) -> Iterator[str]:
    return (found.code for found in miltext.check(text))


@pytest.mark.parametrize("name", TEXTS)
def test_one_after_the_other_is_the_same(name: str) -> None:
    both = infer(TEXTS[name], "names", "consts")
    assert infer(infer(TEXTS[name], "names"), "consts") == both
    text = infer(infer(infer(TEXTS[name], "defaults"), "consts"), "names")
    assert normal(miltext.parse(text)) == normal(miltext.parse(infer(TEXTS[name], *DRAFT_WORDS)))


@pytest.mark.parametrize("name", TEXTS)
def test_the_request_is_present(name: str) -> None:
    made = miltext.parse(infer(TEXTS[name], *DRAFT_WORDS))
    for operation in _operations(made):
        assert "name" in operation.attributes or not operation.outputs
        given = [each for name in operation.inputs for each in operation.inputs[name].arguments]
        assert all(each.WhichOneof("binding") != "value" for each in given)
        if operation.type == "softmax":
            assert "axis" in operation.inputs


def _operations(made: Any) -> Iterator[Any]:
    todo = [block for each in made.functions.values() for block in each.block_specializations.values()]
    while todo:
        block = todo.pop()
        for operation in block.operations:
            yield operation
            todo += operation.blocks


# ---- names


def test_a_name_matches_the_first_output() -> None:
    written = lines('a, b = split(x, num_splits = 2, axis = 1); y = relu(a)[name = "own"]; write_state(s, x);', "names")
    assert [line.partition("[name = ")[2] for line in written] == ['string("a")];', 'string("own")];', ""]
    assert infer(program("y = relu(x)[];"), "names") == infer(program("y = relu(x);"), "names")


def test_attributes_stay_in_their_order() -> None:
    [line] = lines('y = relu(x)[zz = string("z"), aa = string("a")];', "names")
    assert line.endswith('[aa = string("a"), name = string("y"), zz = string("z")];')


# ---- constants


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = add(x, 0.5);", ["y_y_0"]),
        ("y = clip(x, alpha = 0.5, beta = 1.5);", ["y_alpha_0", "y_beta_0"]),
        ("y = clip(x, beta = 1.5, alpha = 0.5);", ["y_alpha_0", "y_beta_0"]),
        ("y = concat(axis = 0, values = (x, tensor<fp16, [1, 4]>([[1, 2, 3, 4]])));", ["y_values1_0", "y_axis_0"]),
        ("y = concat(axis = 0, values = (tensor<fp16, [1, 1]>([[1]])));", ["y_values0_0", "y_axis_0"]),
        ("y = relu(x); fp16 z = an_op(b = int32(1), a = (int32(2), int32(3)));", ["z_a0_0", "z_a1_0", "z_b_0"]),
        ("y = relu(add(x, 0.5));", ["y_x_y_0"]),
        ("y_y_0 = relu(x); y = add(y_y_0, 0.5);", ["y_y_1"]),
        ("y = add(x, 0.5); y_y_0 = relu(x); y_y_1 = relu(x);", ["y_y_2"]),
        ("y_cast_fp16 = add(x, 0.5); y = relu(y_cast_fp16);", ["y_y_0_to_fp16"]),
        ("y_cast_fp16 = softmax(x, axis = 1); y = relu(y_cast_fp16);", ["y_axis_0"]),
        ("a, b = split(x, num_splits = 2, axis = 1); y = relu(a);", ["a_num_splits_0", "a_axis_0"]),
        ('a, b = split(x, num_splits = 2, axis = 1)[name = "s"]; y = relu(a);', ["s_num_splits_0", "s_axis_0"]),
        ("write_state(s, tensor<fp16, [2, 4]>([[1, 2, 3, 4], [5, 6, 7, 8]])); y = relu(x);", ["write_state_data_0"]),
        ("half = const()[val = 0.5]; y = relu(x);", ["half"]),
    ],
)
def test_a_constant_is_named_by_operation_and_parameter(body: str, expected: list[str]) -> None:
    made = [line for line in lines(body, "consts") if "= const()" in line]
    assert [line.partition(" = ")[0].split()[-1] for line in made] == expected


def test_each_function_numbers_its_own() -> None:
    made = infer(TEXTS["two functions"], "consts", "defaults")
    assert "y_axis_0" in made
    assert "y_y_0" in made
    again = program("y = add(x, 1);").replace("\n}\n", SECOND)
    assert infer(again, "consts").count("y_y_0 = const()") == 2


def test_a_block_does_not_take_a_name_from_around_it() -> None:
    body = "y = cond(p)() { a = add(x, 0.5); } -> (a) () { a = add(x, 1.5); } -> (a);"
    made = "\n".join(lines(body, "consts"))
    assert made.index("a_y_0 = const()") < made.index("y = a_y_0") < made.index("a_y_1 = const()")


def test_a_constant_is_named_where_its_operation_is() -> None:
    first, _, second, _ = lines('a = add(x, 0.5)[name = "n"]; y = add(a, 0.5);', "consts")
    assert first == 'fp16 a_y_0 = const()[name = string("a_y_0"), val = fp16(0.5)];'
    assert second == "fp16 y_y_0 = const()[val = fp16(0.5)];"


def test_attributes_of_coremltools_stay() -> None:
    body = """tensor<fp16, [2]> w = constexpr_lut_to_dense(indices = tensor<uint8, [1]>([2]),
        lut = tensor<fp16, [2]>([0, 1]), shape = tensor<uint32, [1]>([2])); y = relu(x);"""
    text = program(body).replace("ios18", "ios16").replace(", state<tensor<fp16, [2, 4]>> s", "")
    assert infer(text, "consts") == infer(text)


@pytest.mark.parametrize(
    "body",
    [
        "v = const()[val = tensor<fp32, [2]>([0, 1])]; string y, dict<string, fp64> q = classify(v, LABELS);",
        "y = constexpr_lut_to_dense(tensor<uint1, [2, 4]>([[0, 1, 0, 1], [0, 1, 0, 1]]), TABLE);",
        "y = reshape_like(x, (x), (0), (2), (true));",
    ],
)
def test_arguments_that_coremltools_binds_to_values_stay(body: str) -> None:
    body = body.replace("LABELS", 'list<string, 2>(["a", "b"])')
    text = program(body.replace("TABLE", "tensor<fp16, [1, 1, 2, 1]>([[[[0], [1]]]])"))
    assert infer(text, "consts") == infer(text)


# ---- defaults

SLICED = "begin = tensor<int32, [2]>([0, 0]), size = tensor<int32, [2]>([1, 1]), x = x"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = softmax(x);", "axis = int32(-1), x = x"),
        ("y = softmax(x, axis = 0);", "axis = int32(0), x = x"),
        ("y = rsqrt(x);", "epsilon = fp16(1e-12), x = x"),
        ("y = layer_norm(x);", "axes = tensor<int32, [2]>([0, 1]), epsilon = fp16(1e-05), x = x"),
        ("y = reduce_sum(x);", "keep_dims = bool(false), x = x"),
        ("y = gelu(x);", 'mode = string("EXACT"), x = x'),
        (
            "y = linear(reshape(x, [8, 1]), tensor<fp16, [1, 1]>([[1]]));",
            "weight = tensor<fp16, [1, 1]>([[1]]), x = y_x",
        ),
        ("y = fill([2]);", "shape = tensor<int32, [1]>([2]), value = fp32(0.0)"),
        ("y = fill_like(x);", "ref_tensor = x, value = fp32(0.0)"),
        ("y = slice_by_size(x, [0, 0], [1, 1]);", SLICED),
        ("y = argsort(x);", "ascending = bool(false), axis = int32(-1), x = x"),
        ("fp16 y = an_op(x = x);", "x = x"),
    ],
)
def test_a_default_is_written_where_there_is_one(body: str, expected: str) -> None:
    given = "w = const()[val = tensor<fp16, [1, 4]>([[1, 2, 3, 4]])]; "
    *_, line = lines(given + body, "defaults")
    assert line[line.index("(", line.index(" = ")) + 1 : -2] == expected


def test_a_default_that_depends_on_unknown_facts_is_left_out() -> None:
    text = program("").replace("-> (y)", "-> (x)").replace("bool p", "tensor<fp16, [1, $variadic]> q")
    body = 'fp16 y = max_pool(x = q, kernel_sizes = [2], pad_type = "valid"); fp16 z = layer_norm(q);'
    made = infer(text.replace("{\n\n", "{\n" + body), "defaults")
    assert not re.findall(r"strides|pad =|axes", made)
    assert {"ceil_mode", "epsilon"} <= {*re.findall(r"\w+", made)}


def _errors(text: str) -> list[miltext.Diagnostic]:
    return [found for found in miltext.check(text) if found.severity == "error"]


# ---- the marker

MARKERS = {
    "$draft(names)": ("names",),
    "$draft ( consts , names )": ("consts", "names"),
    "$draft(defaults, names, consts) $version(1)": DRAFT_WORDS,
    '$doc("d") $draft(defaults) [a = int32(1)]': ("defaults",),
    "/* a */ $draft /* b */ ( /* c */ names /* d */ , /* e */ consts /* f */ ) /* g */": ("names", "consts"),
    "// a\n $draft // b\n ( // c\n names // d\n , // e\n consts // f\n ) // g\n": ("names", "consts"),
}


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_marker_requests_the_parts_of_its_words(marker: str, end: str) -> None:
    text = program("y = softmax(x);", marker).replace("\n", end)
    words = MARKERS[marker]
    made = infer(text)
    plain = program("y = softmax(x);").replace("\n", end)
    written = infer(plain, *words)
    assert "$draft" not in made
    assert made[made.index("func") :] == written[written.index("func") :]
    assert normal(miltext.parse(made)) == normal(miltext.parse(infer(plain)))
    laid_out = miltext.format_text(text)
    assert miltext.format_text(laid_out) == laid_out
    assert infer(laid_out).replace("\r", "") == miltext.format_text(made)
    listed = ", ".join(word for word in DRAFT_WORDS if word in words)
    assert f"program(1.3) $draft({listed})" in laid_out or "/" in marker


@pytest.mark.parametrize("marker", [marker for marker in MARKERS if "/" in marker])
def test_comments_in_a_marker_stay_in_a_draft(marker: str) -> None:
    text = program("y = softmax(x);", marker)
    assert sorted(comments(miltext.format_text(text))) == sorted(comments(text))


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marked_text_is_a_draft(marker: str) -> None:
    text = program("tensor<fp16, [2, 4]> y = relu(x = x);", marker)
    with pytest.raises(miltext.ParseError, match=r"MIL113.*infer") as told:
        miltext.parse(text)
    span = told.value.diagnostics[0].span
    assert span is not None
    assert text[span.start : span.end].startswith("$draft")
    assert any(found.code == "MIL203" for found in miltext.strict_findings(text))
    [notice] = [found for found in miltext.check(text) if found.code == "MIL712"]
    assert notice.span == span


@pytest.mark.parametrize(
    ("marker", "code", "place", "suggestion"),
    [
        ("$draft()", "MIL117", "$draft", None),
        ("$draft(name)", "MIL117", "name", "names"),
        ("$draft(names, Consts)", "MIL117", "Consts", "consts"),
        ("$draft(names, strange)", "MIL117", "strange", None),
        ("$draft(names, consts, names)", "MIL117", "names", None),
        ('$draft($"names")', "MIL117", '$"names"', "names"),
        ("$draft(names,)", "MIL025", ",", ""),
        ("$draft(names", "MIL010", "{", None),
        ("$draft", "MIL010", "{", None),
        ("$draft names", "MIL010", "names", None),
        ('$draft("names")', "MIL010", '"names"', None),
        ("draft(names)", "MIL010", "draft", "$draft"),
        ("$drafts(names)", "MIL003", "$drafts", "$draft"),
        ("[a = int32(1)] $draft(names)", "MIL025", "$draft(names)", None),
    ],
)
def test_a_broken_marker_is_one_error(marker: str, code: str, place: str, suggestion: str | None) -> None:
    text = program("_ y = softmax(axis = 1, x = x);", marker)
    [found] = _errors(text)
    assert found.span is not None
    assert (found.code, text[slice(*found.span)], found.suggestion) == (code, place, suggestion)
    with pytest.raises(miltext.ParseError, match=code):
        infer(text)


def test_two_markers_are_an_error() -> None:
    text = program("y = relu(x);", "$draft(names) $draft(consts)")
    assert [found.code for found in _errors(text)] == ["MIL103"]


def test_the_words_are_names_elsewhere() -> None:
    body = "names = relu(x); consts = relu(names); y = relu(consts)[defaults = bool(true)];"
    assert len(lines(body, marker="$draft(names, consts)")) == 3


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_is_written_of_a_broken_draft(name: str) -> None:
    found = {(each.code, each.message) for each in _errors(BROKEN[name])}
    for text, words in ((BROKEN[name], DRAFT_WORDS), (asking(BROKEN[name], DRAFT_WORDS), ())):
        with pytest.raises(miltext.ParseError) as told:
            infer(text, *words)
        assert {(each.code, each.message) for each in told.value.diagnostics} == found


DTYPES = ("fp16", "fp32", "int32", "int8", "bool", "string", None)


@pytest.mark.parametrize("opset", ["ios15", "ios16", "ios17", "ios18", "ios19"])
def test_a_default_is_of_the_data_type_that_it_shares(opset: str) -> None:
    for known in filter(None, (signature(name, opset) for name in all_names())):
        for dtype in DTYPES:
            x = Operand(TensorType(dtype, (2, 3, 4, 5)) if dtype else None)
            given = {each.name: [x] for each in known.parameters.values() if each.required}
            for name, (made, value) in defaults(Arguments(known.name, given, opset), "1.3").items():
                parse_value(value)
                domain = known.parameters[name].domain
                shared = (each for each in known.parameters.values() if domain and each.domain == domain)
                if dtype and any(each.required and dtype in each.dtypes for each in shared):
                    assert dtype in made
