"""Mistakes that writers of drafts make: each is told, whatever else is wrong, and in the words of a draft."""

from __future__ import annotations

import re

import pytest
from support.planted_mistakes import hoisted, mistakes, reports
from support.short_drafts import DRAFTS

import miltext

X = "tensor<fp16, [1, 3, 8, 8]> x"
BODY = "h = transpose(x, [0, 1, 2]); r = add(x, 1e9);"
"""Two mistakes, which are not found unless the type of `x` is known."""


def errors(body: str, inputs: str = X, opset: str = "ios18", head: str = "program(1.3)") -> list[tuple[str, str]]:
    """Return the codes of the errors and the words that they are about."""
    text = f"{head} {{ func main<{opset}>({inputs}) {{ {body} }}"
    text += " -> (x); }" if "->" not in body else "; }"
    found = miltext.check(text)
    return [(each.code, text[slice(*each.span)] if each.span else "") for each in found if each.severity == "error"]


@pytest.mark.parametrize(
    ("wrong", "code", "words"),
    [
        ("tensor<f16, [1]> q", "MIL104", "f16"),
        ("f16 q", "MIL104", "f16"),
        ("state<tensor<f16, [1]>> q", "MIL104", "f16"),
        ("list<tensor<f16, [1]>, 2> q", "MIL104", "f16"),
        ("tensr<fp16, [1]> q", "MIL104", "tensr"),
        ("tensor<fp16 [1]> q", "MIL010", "[1]"),
        ("tensor<fp16, 1> q", "MIL025", "1"),
        ("tensor<fp16, [N]> q", "MIL025", "N"),
        ("q", "MIL711", "q"),
    ],
)
@pytest.mark.parametrize("place", ["first", "between", "last"])
def test_wrong_type_of_input_hides_nothing_that_does_not_use_it(wrong: str, code: str, words: str, place: str) -> None:
    others = {"first": f"{wrong}, {X}", "between": f"tensor<fp16, [2]> a, {wrong}, {X}", "last": f"{X}, {wrong}"}
    found = errors(f"{BODY} s = relu(q); t = concat((q, s), 0);", others[place])
    assert [code for code, _ in found] == [code, "MIL515", "MIL020"]
    assert words in found[0][1]


def test_each_wrong_type_of_an_input_is_reported() -> None:
    inputs = f"tensor<f16, [1]> p, {X}, f32 q, tensor<fp16, 4> r, tensor<fp16, [4]> s"
    assert errors(f"g = add(s, 1e9); {BODY}", inputs) == [
        ("MIL104", "f16"), ("MIL104", "f32"), ("MIL025", "4"), ("MIL020", "1e9"), ("MIL515", "[0, 1, 2]"),
        ("MIL020", "1e9"),
    ]  # fmt: skip


def test_inputs_stay_defined_despite_mistakes_between_them() -> None:
    for wrong in ("tensor<f16, [1] q", "q: tensor<fp16, [1]>", "tensor<f16, [1]>", "tensor<f16, [1]> a-b"):
        assert "MIL604" not in {code for code, _ in errors("y = relu(x);", f"{wrong}, {X}")}, wrong
        assert "MIL604" not in {code for code, _ in errors("y = relu(x);", f"{X}, {wrong}")}, wrong


FI = "tensor<fp16, [4]> x, tensor<int32, [4]> i"
"""Two inputs that no operation takes side by side."""


@pytest.mark.parametrize("opset", ["ios17", "ios18"])
def test_each_operation_reports_data_types_that_clash(opset: str) -> None:
    found = errors("y = add(i, 1.5); z = add(x, i); w = mul(i, x); v = mul(i, x);", FI, opset)
    assert found == [("MIL506", "1.5"), ("MIL506", "i"), ("MIL506", "x"), ("MIL506", "x")]
    assert [code for code, _ in errors("z = add(x, i); z2 = add(x, i); y = relu(x);", FI, opset)] == ["MIL506"] * 2


def test_a_clash_is_reported_once_without_its_effects() -> None:
    assert errors("y = concat((x, i, x, i), 0); z = add(y, i); w = mul(z, 1.5);", FI) == [("MIL506", "i")]
    assert errors("y = select(cond = i, a = x, b = i); z = add(y, i);", FI) == [("MIL505", "i")]


def test_a_wrong_argument_is_reported_at_its_first_use() -> None:
    assert errors("y = gelu(i); z = add(x, i);", FI) == [("MIL505", "i")]


def suggested(body: str, head: str = "program(1.3)") -> list[tuple[str, str, str | None]]:
    """Return the code of each finding but the note, what its message ends in, and what it suggests."""
    text = f"{head}{{ func main<ios17>(tensor<fp16, [4, 4]> x) {{ {body} }} -> (y); }}"
    found = [each for each in miltext.check(text) if each.code != "MIL712"]
    return [(each.code, each.message.rpartition(" `")[2].rstrip("?").rstrip("`"), each.suggestion) for each in found]


@pytest.mark.parametrize("dialect", ["1.0", "1.3"])
@pytest.mark.parametrize(
    ("call", "code", "meant", "suggestion"),
    [
        ("reduce_mean(x, [1], True)", "MIL604", "true", "true"),
        ("reduce_mean(x, [1], keep_dims = FALSE)", "MIL604", "false", "false"),
        ("cast(x, fp32)", "MIL025", '"fp32"', '"fp32"'),
        ("cast(relu(x), dtype = fp32)", "MIL025", '"fp32"', '"fp32"'),
        ("cast(x, half)", "MIL604", '"fp16"', '"fp16"'),
        ("gelu(x, EXACT)", "MIL604", '"EXACT"', '"EXACT"'),
        ("gelu(x)", "MIL513", 'mode = "EXACT"', None),
        ("log(x)", "MIL513", "epsilon = 1e-45", None),
    ],
)
def test_a_draft_is_reported_literals_without_types(
    call: str, code: str, meant: str, suggestion: str | None, dialect: str
) -> None:
    assert suggested(f"z = relu(x); y = {call};", f"program({dialect})") == [(code, meant, suggestion)]
    if suggestion:
        words = {"true": "True", "false": "FALSE", '"EXACT"': "EXACT", '"fp16"': "half"}.get(suggestion, "fp32")
        assert "MIL711" not in {found[0] for found in suggested(f"y = {call.replace(words, suggestion)};")}


def test_a_literal_keeps_its_type_where_none_follows() -> None:
    assert suggested("y = add(x, Inf);") == [("MIL604", "fp16(inf)", "fp16(inf)")]
    assert suggested("y = nowhere(x = True);")[-1][2] == "bool(true)"
    assert [found[2] for found in suggested("tensor<fp32, [4, 4]> y = cast(x = x, dtype = fp32);")] == [
        'string("fp32")'
    ]
    assert suggested("tensor<fp16, [4, 4]> y = gelu(x = x);")[0][1] == 'mode = string("EXACT")'


@pytest.mark.parametrize(
    ("call", "remarks"),
    [
        ("sofmax(linear(x, x), -1)", 0),
        ("sofmax(x)", 0),
        ("unsqueeze(x = x, axes = [0])", 0),
        ("wholly_unknown(x, -1)", 1),
        ("wholly_unknown(x = x)", 1),
    ],
)
def test_effects_of_an_unknown_operation_without_suggestion(call: str, remarks: int) -> None:
    found = miltext.check(f"program(1.3){{ func main<ios17>(tensor<fp16, [4, 4]> x) {{ y = {call}; }} -> (y); }}")
    [told] = [each for each in found if each.code == "MIL501"]
    assert (told.severity, len(told.notes), told.suggestion is None) == ("error", remarks, remarks == 1)


@pytest.mark.parametrize(
    ("call", "way"),
    [
        ("concat(x, z, 0)", "concat((x, z), 0)"),
        ("concat(x, z, x, -1)", "concat((x, z, x), -1)"),
        ("concat(relu(x), z, 0)", "concat((relu(x), z), 0)"),
        ("stack(x, z, 0)", "stack((x, z), 0)"),
    ],
)
def test_values_that_belong_together_are_reported_once(call: str, way: str) -> None:
    text = f"program(1.3){{ func main<ios17>(tensor<fp16, [4]> x, tensor<fp16, [4]> z) {{ y = {call}; }} -> (y); }}"
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert (found.code, found.message) == ("MIL114", f"`values` takes all values together: `{way}`")
    assert not [each for each in miltext.check(text.replace(call, way)) if each.severity == "error"]


def test_valid_lists_of_values_have_no_errors() -> None:
    for call in ("concat((x, z), 0)", "concat(x, 0, false)", "concat((x, z), a, false)", "concat(x, a, false)"):
        body = f"int32 a = const()[val = int32(0)]; y = {call};"
        assert errors(body, "tensor<fp16, [4]> x, tensor<fp16, [4]> z") == [], call


def test_a_string_that_names_an_array_is_reported() -> None:
    [found] = suggested('y = linear(x, "w.npy");')
    assert found == ("MIL505", '$npy("w.npy")', '$npy("w.npy")')
    [found] = suggested('y = linear(x, "w.txt");')
    assert found == ("MIL505", "int32`, not a string", None)


@pytest.mark.parametrize("call", ["coreml_update_state(s, x)", "coreml_update_state(input = s, value = x)"])
def test_coremltools_name_for_writing_a_state_suggests_ours(call: str) -> None:
    inputs = "state<tensor<fp16, [4]>> s, tensor<fp16, [4]> x"
    text = f"program(1.3){{ func main<ios18>({inputs}) {{ y = {call}; }} -> (y); }}"
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert found.code == "MIL501"
    assert "it is `write_state(input = s, data = x)`, and `read_state(input = s)` gives" in found.message
    assert errors("write_state(input = s, data = x); y = read_state(input = s);", inputs) == []


@pytest.mark.parametrize(
    ("head", "code", "marked", "message"),
    [
        (
            "$draft(names) $draft(consts)",
            "MIL103",
            "$draft(consts)",
            "`$draft` may occur once; write all its words in one",
        ),
        ("$draft(names) $version(2) $draft(names)", "MIL103", "$draft(names)", "`$draft` may occur once; write all"),
        ("$version(2) $draft(names) $version(2)", "MIL103", "$version(2)", "`$version` may occur once; remove one"),
        ('$doc("a") $doc("b")', "MIL103", '$doc("b")', "`$doc` may occur once; remove one"),
        ('[a = string("x")] $draft(names)', "MIL025", "$draft(names)", "the marker comes before the attributes"),
        ("$draft(names consts)", "MIL025", "", "a comma comes between the words of a marker"),
        ("$draft(names, consts defaults)", "MIL025", "", "a comma comes between the words of a marker"),
        ("$draft(names\n consts)", "MIL025", "", "a comma comes between the words of a marker"),
    ],
)
def test_a_wrong_marker_is_reported_where_it_is(head: str, code: str, marked: str, message: str) -> None:
    text = f"program(1.3) {head} {{ func main<ios17>(tensor<fp16, [4]> x) {{ y = relu(x); }} -> (y); }}"
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert found.span is not None
    assert (found.code, text[slice(*found.span)]) == (code, marked)
    assert found.message.startswith(message)
    if marked:
        assert found.span.start == text.rindex(marked)
    else:
        mended = text[: found.span.start] + "," + text[found.span.end :]
        assert found.suggestion == ","
        assert [each.code for each in miltext.check(mended)] == ["MIL712"]


# ---- one mistake, one report

TWO = "tensor<fp16, [2, 4]> x, tensor<fp32, [2]> other"
"""Inputs beside which a fraction without a type is fp32, and beside `x` fp16."""


LOOP = """y, n = while_loop((x, h))
    (a, b) { c = less(b, 1.0); } -> (c) (d, e) { f = relu(d); g = add(e, 1.0); } -> (f, g);
r = relu(y); s = relu(n);"""


LISTS = (
    'l = make_list(dytpe = "fp16", init_length = 2, elem_shape = (2, 4));',
    "l = make_list(init_length = 2, elem_shpae = (2, 4));",
    'l = make_list(init_length = 2, elem_shape = (2, 4), dtyp = "fp16");',
)
"""Lists of which a parameter that decides their type has a wrong name."""

USES = (
    "m = list_write(ls = l, index = 0, value = x);",
    "m = list_scatter(ls = l, indices = [0], value = expand_dims(x, axes = [0]));",
    "e = list_read(ls = l, index = 0); m = add(e, x);",
    "m = list_write(ls = l, index = 0, value = x); n = list_gather(ls = m, indices = [0, 1]);",
)


@pytest.mark.parametrize(
    "body",
    [
        "half = const()[val = 0.5]; y = mul(nowhere, half); z = mul(half, half); r = add(z, x);",
        "half = const()[val = 0.5]; y = select(nowhere, x, half); r = add(y, x);",
        "two = const()[val = 2]; y = mul(nowhere, two); r = mul(x, two);",
        "two = const()[val = 2]; y = rleu(two); r = mul(x, two);",
        "two = const()[val = 2]; y = pow(x, z = two); r = mul(two, two); s = add(r, x);",
        "w = const()[val = [1, foo]]; y = mul(w, 0.5); z = mul(y, 0.5); r = add(z, x);",
        "w = const()[val = [1 2]]; y = mul(w, 0.5); r = add(y, x);",
        "perm = const()[val = [0, foo]]; y = transpose(x, perm); z = transpose(x, perm);",
        "r = clip(x, nowhere, 1); s = add(r, x);",
        "y = mul(x = [[1], [1, 2]], y = 0.5); r = add(y, x);",
        "y = reduce_sum(x, aexs = [0]); r = add(y, [[1.5], [2.5], [3.5]]);",
        "y = const()[vla = [1, 2]]; r = add(x, y);",
        "y = relu(x) z = relu(y); r = add(y, z);",
        "y = relu(x); } first, second = split(x, num_splits = 2,\n axis = 1); r = add(first, second);",
        f"h = const()[val = 0.5.5]; {LOOP}",
        f'h = const()[val = "s"]; {LOOP}',
        LOOP.replace("h))", '"s"))'),
        LOOP.replace("h))", "true))"),
        LOOP.replace("(a, b)", "(_ a, string b)").replace("(d, e)", "(_ d, string e)").replace("h))", 'string("s")))'),
        *(f"{made} {use}" for made in LISTS for use in USES),
    ],
)
@pytest.mark.parametrize("inputs", [X.replace("[1, 3, 8, 8]", "[2, 4]"), TWO])
@pytest.mark.parametrize("opset", ["ios16", "ios18"])
def test_one_mistake_is_one_report(body: str, inputs: str, opset: str) -> None:
    text = f"program(1.3) {{ func main<{opset}>({inputs}) {{\n{body}\ngiven = identity(x); }} -> (given); }}"
    assert len({found.message for found in miltext.check(text) if found.code != "MIL712"}) == 1


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize(
    "kind", ["undefined name", "operation", "broken number", "word in list", "list without ,", "no ;"]
)
def test_a_mistake_that_is_planted_is_reported_once(kind: str, name: str) -> None:
    for text in (DRAFTS[name], hoisted(DRAFTS[name])):
        assert reports(text) == []
        for mistake in [each for each in mistakes(text) if each.kind == kind][:: 1 + len(text) // 1000]:
            assert len(reports(mistake.plant(text))) == 1, mistake.plant(text)


@pytest.mark.parametrize("spelled", ["nmae", "nam", "Name", "names"])
def test_an_attribute_that_is_a_slip_of_name_is_a_warning(spelled: str) -> None:
    [found] = [each for each in miltext.check(draft(f'y = relu(x)[{spelled} = "y"];')) if each.code != "MIL712"]
    assert (found.code, found.severity, found.suggestion) == ("MIL630", "warning", "name")
    [found] = miltext.check(draft(f'tensor<fp16, [2, 4]> y = relu(x = x)[{spelled} = string("y")];'))
    assert found.code == "MIL630"


def test_other_attributes_are_not_slips_of_name() -> None:
    for body in ('y = relu(x)[name = "y", nmae = "z"];', 'y = relu(x)[note = "y"];', 'y = relu(x)[nm = "y"];'):
        assert [each.code for each in miltext.check(draft(body))] == ["MIL712"]
    assert miltext.check(draft('tensor<fp16, [2, 4]> y = mine(x = x)[nmae = string("y")];'))[0].code == "MIL501"


def draft(body: str, inputs: str = TWO, opset: str = "ios17") -> str:
    return f"program(1.3) {{ func main<{opset}>({inputs}) {{ {body} }} -> (y); }}"


def values(body: str, inputs: str = TWO, opset: str = "ios17") -> list[str]:
    """The values that are in a draft once it has its types."""
    found = re.findall(r"\S+(?: \[[\d, ]*\]>)?\([-\d.\[][^()]*\)", miltext.infer_draft(draft(body, inputs, opset)))
    return [each for each in found if not each.startswith("program")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("fp16 y = add(0.5, 0.5);", ["fp16(0.5)", "fp16(0.5)"]),
        ("fp16 y = add(1, 2);", ["fp16(1)", "fp16(2)"]),
        ("y = add(1, 2);", ["int32(1)", "int32(2)"]),
        ("y = add(0.5, 0.5);", ["fp32(0.5)", "fp32(0.5)"]),
        ("a = const()[val = 0.5]; fp16 y = add(a, a);", ["fp16(0.5)"]),
        ("tensor<fp16, [2]> y = fill([2], 0);", ["tensor<int32, [1]>([2])", "fp16(0)"]),
        ("tensor<int32, [2]> y = fill([2], 0);", ["tensor<int32, [1]>([2])", "int32(0)"]),
        ("tensor<fp16, [2, 4]> y = softmax(x, 1);", ["int32(1)"]),
        ("tensor<fp16, [2]> y = reduce_sum(x, [1]);", ["tensor<int32, [1]>([1])"]),
        ('fp16 y = cast(2, "fp16");', ["int32(2)"]),
        ("fp16 y = gather([0.5, 1.5], 1, axis = 0);", ["int32(1)", "int32(0)", "tensor<fp16, [2]>([0.5, 1.5])"]),
    ],
)
def test_a_stated_output_guides_literals(body: str, expected: list[str]) -> None:
    assert sorted(each for each in values(body) if not each.startswith("bool")) == sorted(expected)


@pytest.mark.parametrize("opset", ["ios15", "ios16", "ios17", "ios18", "ios19"])
@pytest.mark.parametrize("dtype", ["fp16", "fp32", "int32"])
@pytest.mark.parametrize(
    "body",
    [
        "y = linear(x, [[1, 0, 1, 0]]);",
        "y = linear(x, weight = [[1, 0, 1, 0]], bias = [1]);",
        "w = const()[val = [[1, 0, 1, 0]]]; y = linear(x, w);",
        "y = matmul(x, [[1], [0], [1], [0]]);",
        "y = matmul([[1, 0]], x);",
    ],
)
def test_integer_weights_have_the_data_type_of_their_operand(body: str, dtype: str, opset: str) -> None:
    if opset in ("ios15", "ios16") and dtype == "int32" and "linear" in body:
        pytest.skip("fractions alone")
    made = values(body, f"tensor<{dtype}, [2, 4]> x", opset)
    assert made
    assert {re.split(r"[<,(]", each)[1] for each in made if each.startswith("tensor")} == {dtype}
