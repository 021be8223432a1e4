"""`infer --all`: types that a text states, inferred anew."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import corpus_files
from support.short_drafts import FEED_FORWARD

import miltext
from miltext.checking.arrays import Arrays
from miltext.checking.retyping import retype
from miltext.diagnostics import ParseError
from miltext.drafting.draft import complete_anew
from miltext.parsing.recovery import recover

NET = """program(1.3)
{
    // a small network
    func main<ios18>(tensor<fp32, [1, 3, 8, 8]> image) {
            tensor<int32, [2]> two = const()[val = tensor<int32, [2]>([2, 2])]; // a kernel
            string pad = const()[val = string("valid")];
            tensor<fp32, [1, 3, 4, 4]> pooled = max_pool(kernel_sizes = two, pad_type = pad, strides = two, x = image);
            tensor<fp32, [1, 3, 4, 4]> y = mul(x = pooled, y = fp32(0.50)); // half
        } -> (y);
}
"""


def function(body: str, inputs: str = "tensor<fp32, [1, 3, 8, 8]> x", outputs: str = "y") -> str:
    lines = "".join(f"            {line.strip()}\n" for line in body.strip().splitlines())
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{lines}        }} -> ({outputs});\n}}\n"


def anew(text: str, *, names: bool = False, consts: bool = False) -> str:
    return miltext.infer_draft(text, all=True, names=names, consts=consts)


def told(text: str) -> list[tuple[str, int, Sequence[str]]]:
    """Return code and line of what is found, and the notes about what to change, with their lines."""

    def line(span: miltext.Span | None) -> int:
        assert span is not None
        return text.count("\n", 0, span.start) + 1

    whole, found = complete_anew(text)
    assert (whole is None) == any(each.severity == "error" for each in found)
    return [
        (
            each.code,
            line(each.span),
            [f"{line(note.span)}: {note.message}" for note in each.notes if " other" in note.message],
        )
        for each in found
    ]


def test_one_edit_and_one_command() -> None:
    assert anew(NET) == NET
    larger = NET.replace("8, 8]> image", "16, 32]> image")
    assert anew(larger) == larger.replace("[1, 3, 4, 4]", "[1, 3, 8, 16]")
    assert anew(anew(larger).replace("16, 32]> image", "8, 8]> image")) == NET
    wider = NET.replace("fp32", "fp16")
    assert anew(wider.replace("tensor<fp16, [1, 3, 4, 4]>", "tensor<fp32, [1, 3, 4, 4]>")) == wider


def test_a_size_that_becomes_open_is_open_at_all_uses() -> None:
    flexible = NET.replace("[1, 3, 8, 8]> image", "[1, 3, ?, 8]> image")
    assert anew(flexible) == flexible.replace("[1, 3, 4, 4]", "[1, 3, ?, 4]")
    assert anew(anew(flexible).replace("[1, 3, ?, 8]> image", "[1, 3, 8, 8]> image")) == NET


def test_it_equals_the_output_of_infer_for_the_draft() -> None:
    draft = re.sub(r"tensor<fp32, \S+ \S+ \S+ \S+> (?=pooled|y)", "", NET)
    for size in (8, 10):
        before, after = (text.replace("8, 8]> image", f"{size}, 8]> image") for text in (draft, NET))
        assert anew(after) == anew(before) == miltext.infer_draft(before)
    assert anew(draft, names=True, consts=True) == miltext.infer_draft(draft, names=True, consts=True)


def test_a_draft_in_the_short_spelling() -> None:
    assert anew(FEED_FORWARD) == miltext.infer_draft(FEED_FORWARD)
    text = function("tensor<fp32, [9]> h = relu(x);\ny = mul(tanh(h), 0.5);", "tensor<fp32, [4]> x")
    assert anew(text) == miltext.infer_draft(text.replace("[9]", "[4]"))


def test_layout_and_line_ends() -> None:
    text = NET.replace("            tensor", "tensor").replace("\n", "\r\n")
    assert anew(text) == NET.replace("\n", "\r\n")
    assert (
        anew(NET.replace("1.3", "1.0", 1).replace("fp32(0.50)", "tensor<fp32, []>(0.5)")).count("tensor<fp32, []>") == 1
    )


KEPT = {
    "an operation that is not known": "tensor<fp32, [7]> y = my_op(x = x);",
    "a size that depends on values": "tensor<int32, [?, 4]> y = non_zero(x = x);",
    "a size that is more exact than what follows": "tensor<int32, [5, 4]> y = non_zero(x = x);",
    "the length of a list": """
        list<tensor<fp32, [2]>, 5> l = make_list(dtype = string("fp32"), dynamic_length = bool(false),
            elem_shape = (int32(2)), init_length = int32(5));
        list<tensor<fp32, [2]>, 5> y = identity(x = l);""",
    "a type with a field of its own": 'tensor<fp32, [1, 3, 8, 8], $[layout = string("a")]> y = relu(x = x);',
}


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_types_that_do_not_follow_stay(body: str) -> None:
    text = function(body)
    whole, found = complete_anew(text)
    assert whole is not None
    assert found == miltext.check(text)
    assert miltext.parse(whole) == miltext.parse(text)


LISTS = """
    list<tensor<fp32, [3]>, 1> l = make_list(dtype = string("fp32"), elem_shape = int32(3), init_length = int32(1));
    list<tensor<fp32, [3]>, 1> w = list_write(index = int32(0), ls = l, value = v);
    list<tensor<fp32, [3]>, 1> s = list_scatter(indices = i, ls = w, value = x);
    tensor<fp32, [2, 3]> y = list_gather(indices = i, ls = s);
"""
LOOP = """
    list<tensor<fp32, [3]>, 1> l = make_list(dtype = string("fp32"), elem_shape = int32(3), init_length = int32(1));
    list<tensor<fp32, [3]>, 1> s, int32 n = while_loop(loop_vars = (l, int32(0)))
    (list<tensor<fp32, [3]>, 1> a, int32 b) {
    bool c = less(x = b, y = int32(2));
    } -> (c)
    (list<tensor<fp32, [3]>, 1> a, int32 b) {
    list<tensor<fp32, [3]>, 1> d = list_scatter(indices = i, ls = a, value = x);
    int32 e = add(x = b, y = int32(1));
    } -> (d, e);
    tensor<fp32, [2, 3]> y = list_gather(indices = i, ls = s);
"""


def of_lists(body: str, size: str = "?", length: str = "1") -> str:
    inputs = f"tensor<fp32, [3]> v, tensor<fp32, [{size}, 3]> x, tensor<int32, [2]> i"
    return function(body.replace(">, 1>", f">, {length}>"), inputs)


@pytest.mark.parametrize("length", ["1", "4", "?"])
@pytest.mark.parametrize("size", ["?", "2"])
@pytest.mark.parametrize("body", [LISTS, LOOP], ids=["operations", "loop"])
def test_the_stated_length_of_a_list_stays(body: str, size: str, length: str) -> None:
    text = miltext.format_text(of_lists(body, size, length))
    assert anew(text) == text
    assert complete_anew(text)[1] == miltext.check(text)


@pytest.mark.parametrize("size", ["?", "2"])
def test_a_list_has_the_length_that_it_had_before(size: str) -> None:
    text = of_lists(LISTS, size)
    longer = text.replace(">, 1> l", ">, 4> l")
    assert anew(longer) == of_lists(LISTS, size, "4")
    grown = text.replace(">, 1> w", ">, ?> w")
    assert anew(grown) == grown


def test_a_list_of_other_elements_keeps_its_length() -> None:
    text = of_lists(LISTS).replace("int32(3)", "int32(5)").replace("[3]> v", "[5]> v").replace(", 3]> x", ", 5]> x")
    assert anew(text) == text.replace("fp32, [3]>", "fp32, [5]>").replace("[2, 3]> y", "[2, 5]> y")


def test_a_type_that_becomes_more_exact() -> None:
    text = function("tensor<fp32, [1, ?, ?, ?]> y = relu(x = x);")
    assert anew(text) == text.replace("[1, ?, ?, ?]", "[1, 3, 8, 8]")


def test_a_constant_follows_its_value() -> None:
    text = function("tensor<fp32, [9]> y = const()[val = tensor<fp32, [2]>([1, 2])];")
    assert anew(text) == text.replace("[9]", "[2]")


def test_an_unknown_operation_on_new_sizes_is_reported() -> None:
    text = function("""
        tensor<fp32, [1, 3, 4, 4]> small = identity(x = x);
        tensor<fp32, [1, 9, 4, 4]> same = my_op(x = x);
        tensor<fp32, [1, 9, 4, 4]> other = my_op(x = small);
        tensor<fp32, [1, 9, 4, 4]> y = relu(x = other);""")
    whole, found = complete_anew(text)
    assert whole == text.replace("[1, 3, 4, 4]> small", "[1, 3, 8, 8]> small")
    [stale] = [each for each in found if each.code == "MIL436"]
    assert (stale.severity, stale.message) == (
        "warning",
        (
            "`other` keeps the type tensor<fp32, [1, 9, 4, 4]>, which does not follow from the new type of `small`; "
            "check it"
        ),
    )


OUTDATED = {
    ("kernel_sizes", "max_pool"): """
        tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<int32, [2]> k = const()[val = tensor<int32, [2]>([8, 8])];
        string pad = const()[val = string("valid")];
        tensor<fp32, [1, 3, 1, 1]> y = max_pool(kernel_sizes = k, pad_type = pad, strides = k, x = h);""",
    ("size", "slice_by_size"): """
        tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<int32, [4]> b = const()[val = tensor<int32, [4]>([0, 0, 0, 0])];
        tensor<fp32, [1, 3, 8, 4]> y = slice_by_size(begin = b, size = tensor<int32, [4]>([1, 3, 8, 4]), x = h);""",
    ("end", "slice_by_index"): """
        tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<int32, [4]> b = const()[val = tensor<int32, [4]>([0, 0, 0, 0])];
        tensor<fp32, [1, 3, 8, 4]> y = slice_by_index(begin = b, end = tensor<int32, [4]>([1, 3, 8, 4]), x = h);""",
    ("target_size_height", "resize_bilinear"): """
        fp32 f = const()[val = fp32(0.5)];
        tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<fp32, [1, 3, 4, 4]> a = upsample_bilinear(scale_factor_height = f, scale_factor_width = f, x = h);
        int32 n = const()[val = int32(8)];
        tensor<fp32, [1, 3, 8, 8]> y = resize_bilinear(target_size_height = n, target_size_width = n, x = a);""",
}


@pytest.mark.parametrize(("parameter", "operation"), OUTDATED)
def test_a_parameter_that_was_a_size_and_still_fits_is_reported(parameter: str, operation: str) -> None:
    text = function(OUTDATED[parameter, operation])
    assert "MIL436" not in {each.code for each in complete_anew(text)[1]}
    whole, found = complete_anew(text.replace("8, 8]> x", "16, 16]> x"))
    assert whole is not None
    message = f"`{parameter}` of `{operation}` contains 8, an old size that is 16 now; check it"
    assert [each.message for each in found if each.code == "MIL436"] == [message]


def test_an_end_that_is_masked_is_not_reported() -> None:
    masked = "end_mask = tensor<bool, [4]>([true, true, true, true]), x = h);"
    text = function(
        OUTDATED["end", "slice_by_index"].replace("[1, 3, 8, 4]> y", "[1, 3, 8, 8]> y").replace("x = h);", masked)
    )
    whole, found = complete_anew(text.replace("8, 8]> x", "16, 16]> x"))
    assert whole is not None
    assert "MIL436" not in {each.code for each in found}


# ---- blocks, loops and states

LOOP = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4]> x, tensor<int32, [1]> n) {
            tensor<int32, [1]> last, tensor<fp32, [4]> y = while_loop(loop_vars = (n, x))
                (tensor<int32, [1]> i, tensor<fp32, [4]> h) {
                    tensor<bool, [1]> go = less(x = i, y = n);
                } -> (go)
                (tensor<int32, [1]> i, tensor<fp32, [4]> h) {
                    tensor<int32, [1]> next = add(x = i, y = n);
                    tensor<fp32, [4]> sum = add(x = h, y = x);
                } -> (next, sum);
        } -> (y);
}
"""


def test_the_variables_of_a_loop_follow() -> None:
    assert anew(LOOP) == LOOP
    larger = LOOP.replace("tensor<fp32, [4]> x", "tensor<fp32, [6]> x")
    assert anew(larger) == LOOP.replace("[4]", "[6]")
    assert anew(anew(larger).replace("tensor<fp32, [6]> x", "tensor<fp32, [4]> x")) == LOOP


def test_a_variable_of_any_size_stays_one() -> None:
    growing = LOOP.replace("[4]> h", "[?]> h").replace("[4]> sum", "[?]> sum").replace("[4]> y", "[?]> y")
    growing = growing.replace("add(x = h, y = x)", "concat(axis = int32(0), interleave = bool(false), values = (h, x))")
    assert anew(growing) == growing
    larger = growing.replace("[4]> x", "[6]> x")
    assert anew(larger) == larger


def test_branches() -> None:
    text = function(
        """
        tensor<fp32, [4]> y = cond(pred = p) () {
        tensor<fp32, [4]> a = relu(x = x);
        } -> (a) () {
        tensor<fp32, [4]> b = tanh(x = x);
        } -> (b);""",
        "tensor<fp32, [4]> x, bool p",
    )
    text = miltext.format_text(text)
    assert anew(text) == text
    larger = text.replace("[4]> x", "[6]> x")
    assert anew(larger) == text.replace("[4]", "[6]")


def test_the_type_of_a_read_follows_and_the_state_stays() -> None:
    text = function("tensor<fp16, [9]> y = read_state(input = s);", "state<tensor<fp16, [4]>> s")
    assert anew(text) == text.replace("[9]", "[4]")


# ---- what does not fit

FILE = 'BLOBFILE(path = string("@model_path/w"), offset = uint64(64))'

BAKED = {
    "a literal of its own": (
        "tensor<fp32, [1, 192]> y = reshape(shape = tensor<int32, [2]>([1, 192]), x = x);",
        [("MIL521", 4, ["4: change this literal, which was made for other sizes; [1, 768] fits"])],
    ),
    "a constant before": (
        """tensor<int32, [3]> s = const()[val = tensor<int32, [3]>([1, 3, 64])];
        tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<fp32, [1, 3, 64]> y = reshape(shape = s, x = h);""",
        [("MIL521", 6, ["4: change this literal, which was made for other sizes; [1, 3, 256] fits"])],
    ),
    "one after another, and what comes from the first": (
        """tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<fp32, [3, 64]> a = reshape(shape = tensor<int32, [2]>([3, 64]), x = h);
        tensor<fp32, [3, 64]> b = tanh(x = a);
        tensor<fp32, [3, 8, 8]> y = reshape(shape = tensor<int32, [3]>([3, 8, 8]), x = b);""",
        [
            ("MIL521", 5, ["5: change this literal, which was made for other sizes; [3, 256] fits"]),
            ("MIL521", 7, ["7: change this literal, which was made for other sizes; [3, 16, 16] fits"]),
        ],
    ),
    "a shape that may become several": (
        """tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<fp32, [2, 2, 48]> a = reshape(shape = tensor<int32, [3]>([2, 2, 48]), x = h);
        tensor<fp32, [2, 2, 48]> y = tanh(x = a);""",
        [("MIL521", 5, ["5: change this constant, which was made for other sizes"])],
    ),
    "a mask": (
        f"""tensor<fp32, [8, 8]> mask = const()[val = tensor<fp32, [8, 8]>({FILE})];
        tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<fp32, [1, 3, 8, 8]> a = mul(x = h, y = mask);
        tensor<fp32, [1, 3, 8, 8]> y = tanh(x = a);""",
        [("MIL702", 6, ["4: change this constant, which was made for other sizes"])],
    ),
    "a weight": (
        f"""tensor<fp32, [5, 8]> w = const()[val = tensor<fp32, [5, 8]>({FILE})];
        tensor<fp32, [1, 3, 8, 5]> y = linear(bias = tensor<fp32, [5]>([1, 2, 3, 4, 5]), weight = w, x = x);""",
        [("MIL515", 5, ["4: change this constant, which was made for other sizes"])],
    ),
    "a slice that is cut out of less": (
        """tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
        tensor<int32, [4]> s = const()[val = tensor<int32, [4]>([1, 3, 20, 8])];
        tensor<fp32, [1, 3, 20, 8]> y = slice_by_size(begin = tensor<int32, [4]>([0, 0, 0, 0]), size = s, x = h);""",
        [("MIL520", 6, ["5: change this constant, which was made for other sizes"])],
    ),
}


@pytest.mark.parametrize(("body", "findings"), BAKED.values(), ids=BAKED)
def test_a_baked_shape_is_reported_once_and_where_it_is_written(body: str, findings: list[object]) -> None:
    assert told(function(body, "tensor<fp32, [1, 3, 16, 16]> x")) == findings


def test_the_origin_of_independent_sizes_is_named() -> None:
    text = function("""
        int32 n = const()[val = int32(4)];
        tensor<fp32, [1, 3, 4, 4]> small = // to a size
        resize_nearest_neighbor(target_size_height = n, target_size_width = n, x = x);
        tensor<fp32, [1, 3, 4, 4]> warm = relu(x = small);
        fp32 f = const()[val = fp32(0.5)];
        tensor<fp32, [1, 3, 4, 4]> down = // by a factor
        upsample_nearest_neighbor(scale_factor_height = f, scale_factor_width = f, x = x);
        tensor<fp32, [1, 3, 4, 4]> y = add(x = warm, y = down);""")
    assert miltext.parse(anew(text)) == miltext.parse(text)
    _, [found] = complete_anew(text.replace("8, 8]> x", "16, 16]> x"))
    notes = [note.message for note in found.notes]
    assert (found.code, "change this literal, which gives `small` its sizes" in notes) == ("MIL702", True)


def test_text_wrong_for_another_reason_is_reported_as_check_does() -> None:
    for text in (
        "",
        "program(1.3)\n{",
        NET.replace("x = pooled", "x = poled"),
        NET.replace("tensor<int32, [2]>([2, 2])", "tensor<int32, [2]>([2, 2.5])"),
        NET.replace("} -> (y)", "} -> (z)"),
        NET.replace("8, 8]> image", "8, 8]> image, other"),
        function("tensor<fp32, [1, 3, 8, 8]> y = add(x = x, y = tensor<fp32, [3]>([1, 2, 3]));"),
    ):
        with pytest.raises(ParseError) as refused:
            anew(text)
        expected = [each for each in miltext.check(text, path="m.mil") if each.severity == "error"]
        assert [each[:4] for each in refused.value.diagnostics] == [each[:4] for each in expected]
        assert refused.value.text == text


def test_comments_that_ignore_findings_still_do() -> None:
    text = function("""
        tensor<fp32, [1, 3, 4, 4]> h = relu(x = x);
        tensor<fp32, [1]> y = my_op(x = x); // mil: ignore[MIL501]""")
    assert complete_anew(text) == (text.replace("4, 4]> h", "8, 8]> h"), [])


def test_literals_that_are_left_out() -> None:
    elided = NET.replace("tensor<int32, [2]>([2, 2])", 'tensor<int32, [2]>($elided(2, "sha256:00"))')
    assert "[1, 3, 4, 4]> y" in anew(elided)


def test_several_functions_and_specializations() -> None:
    second = NET.replace("main", "other").split("\n", 2)[2]
    text = NET[: -len("}\n")] + second
    larger = text.replace("8, 8]> image", "16, 16]> image", 1)
    assert anew(larger).count("[1, 3, 8, 8]") == 3
    assert anew(larger).count("[1, 3, 4, 4]") == 2


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil"))
def test_nothing_changes_in_a_text_that_is_right(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    retyped = retype(recover(text), text, Arrays(path.parent))
    assert (retyped.written.text, retyped.kept, retyped.types.open) == (text, [], set())
