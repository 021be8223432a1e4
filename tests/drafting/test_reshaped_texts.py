"""Texts whose inputs get other sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import miltext
from miltext.descriptions.sizes import read_sizes, spell_sizes
from miltext.diagnostics import Diagnostic, ModelError, ParseError
from miltext.drafting.draft import infer_anew, infer_draft
from miltext.drafting.reshaping import reshape

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 8, 8]> image, state<tensor<fp16, [4]>> s) { // two of them
            tensor<int32, [2]>   two = const()[val = tensor<int32, [2]>([2, 2])];
            string pad = const()[val = string("valid")]; tensor<fp16, [4]> read = read_state(input = s);
            tensor<fp32, [1, 3, 4, 4]> y = max_pool(kernel_sizes = two, pad_type = pad, strides = two, x = image); // a
        } -> (y, read);
    func other<ios18>(tensor<fp32, [1, 3, 8, 8]> image, list<string, 2> words) {
            tensor<fp32, [1, 3, 8, 8]> y = relu(x = image);
        } -> (y);
}
"""

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 4]> x) {
            tensor<fp32, [2, 4]> h = relu(x);
            y = mul(tanh(h), 0.5); // half
        } -> (y);
}
"""


def resized(text: str, *words: str, function: str | None = None) -> str:
    return reshape(text, read_sizes(words), function=function, path="model.mil")


def refused(text: str, *words: str, function: str | None = None) -> Diagnostic:
    with pytest.raises((ModelError, ParseError)) as failure:
        resized(text, *words, function=function)
    assert failure.value.path == "model.mil"
    return failure.value.diagnostics[0]


def test_all_functions_with_the_input_change_alone() -> None:
    larger = (
        TEXT.replace("8, 8]> image", "16, 12]> image").replace("3, 4, 4", "3, 8, 6").replace("8, 8]> y", "16, 12]> y")
    )
    assert resized(TEXT, "image=1,3,16,12") == larger
    assert resized(larger, "image=1,3,8,8") == TEXT
    assert resized(TEXT, "image=1,3,8,8") == TEXT


def test_one_function() -> None:
    of_other = TEXT[TEXT.index("    func other") :]
    larger = TEXT.replace(of_other, of_other.replace("[1, 3, 8, 8]", "[2, 3, 8, 8]"))
    assert resized(TEXT, "image=2,3,8,8", function="other") == larger


def test_a_state_and_an_input_together() -> None:
    made = resized(TEXT, "s=6", "image=1,3,4,4")
    assert "state<tensor<fp16, [6]>> s" in made
    assert "tensor<fp16, [6]> read" in made
    assert "tensor<fp32, [1, 3, 2, 2]> y" in made


def test_the_rest_of_a_draft_stays_one() -> None:
    assert resized(DRAFT, "x=2,6") == DRAFT.replace("[2, 4]", "[2, 6]")
    assert resized(DRAFT, "x=2,?") == DRAFT.replace("[2, 4]", "[2, ?]")


def test_line_ends_stay() -> None:
    text = DRAFT.replace("\n", "\r\n")
    assert resized(text, "x=2,6") == text.replace("[2, 4]", "[2, 6]")


@pytest.mark.parametrize(
    ("words", "function", "code", "message"),
    [
        (["imag=1,3,8,8"], None, "MIL430", "unknown input `imag`; did you mean `image`?"),
        (["y=1,3,8,8"], None, "MIL430", "unknown input `y`"),
        (["s=4"], "other", "MIL430", "unknown input `s`"),
        (["image=1,3,8,8"], "man", "MIL430", "unknown function `man`; did you mean `main`?"),
        (["image=3,8,8"], None, "MIL435", "`image` of `main` has 4 dimensions, [1, 3, 8, 8], not 3"),
        (["image=[]"], None, "MIL435", "`image` of `main` has 4 dimensions, [1, 3, 8, 8], not 0"),
        (["s=4..8"], None, "MIL435", "`s` of `main` is a state, whose sizes must be fixed, unlike 4..8"),
        (["words=2"], None, "MIL435", "`words` of `other` is list<string, 2>, whose sizes cannot be changed"),
    ],
)
def test_refuses(words: list[str], function: str | None, code: str, message: str) -> None:
    found = refused(TEXT, *words, function=function)
    assert (found.code, found.message) == (code, message)


def test_a_function_is_offered_only_where_there_are_several() -> None:
    offered = "choose one of the functions, if only one is meant"
    assert offered in [note.message for note in refused(TEXT, "image=3").notes]
    assert offered not in [note.message for note in refused(TEXT, "image=3", function="main").notes]
    assert offered not in [note.message for note in refused(DRAFT, "x=3").notes]


def test_names_the_inputs_that_exist() -> None:
    notes = [note.message for note in refused(TEXT, "pixels=1").notes]
    assert "the inputs are `image`, `s` and `words`" in notes


def test_a_text_that_is_wrong_before_is_reported_as_check_does() -> None:
    for text in (TEXT.replace("fp32, [1, 3, 4", "fp33, [1, 3, 4"), TEXT[:-40], TEXT.replace("= two,", "= tow,", 1), ""):
        with pytest.raises(ParseError) as failure:
            resized(text, "image=1,3,16,16")
        errors = [each for each in miltext.check(text, path="m.mil") if each.severity == "error"]
        assert [each[:4] for each in failure.value.diagnostics] == [each[:4] for each in errors]


def test_an_old_error_does_not_block_independent_changes() -> None:
    text = TEXT.replace("relu(x = image)", "relu(alpha = two, x = image)")
    assert resized(text, "image=1,3,4,4").count("[1, 3, 4, 4]") == 3
    assert {each.code for each in miltext.check(text)} >= {"MIL504"}


NORMED = """program(1.3)
{
    func main<ios15>(tensor<fp32, [1, 3, 2, 2]> x, tensor<fp16, [1, 3, 2, 2]> z) {
            tensor<fp16, [3]> mean = const()[val = tensor<fp16, [3]>([1, 2, 3])];
            tensor<fp16, [3]> variance = const()[val = tensor<fp16, [3]>([1, 2, 3])];
            tensor<fp16, [1, 3, 2, 2]> h = batch_norm(mean = mean, variance = variance, x = x);
            tensor<fp16, [1, 3, 2, 2]> y = add(x = h, y = z);
        } -> (y);
}
"""
"""What coremltools' tests have: `batch_norm` that states another data type than follows."""


def test_data_types_stay_where_sizes_are_requested() -> None:
    assert [each.code for each in miltext.check(NORMED) if each.severity == "error"] == ["MIL506"]
    assert resized(NORMED, "x=1,3,4,6", "z=1,3,4,6") == NORMED.replace("2, 2", "4, 6")
    assert resized(NORMED, "x=1,3,2..8,2", "z=1,3,2..8,2") == NORMED.replace("2, 2]", "?, 2]")


def test_another_data_type_is_not_reported_as_other_sizes() -> None:
    with pytest.raises(ParseError) as failure:
        infer_draft(NORMED.replace("2, 2", "4, 4", 2), all=True)
    told = [note.message for each in failure.value.diagnostics if each.code == "MIL506" for note in each.notes]
    assert any("`x` is fp32" in each for each in told)
    assert not any("made for other sizes" in each for each in told)


# ---- ranges

POOLED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 8, 8]> x) {
            tensor<fp32, [1, 3, 8, 8]> h = relu(x = x);
            tensor<fp32, [1, 3, 64]> flat = reshape(shape = tensor<int32, [3]>([1, 3, SHAPE]), x = h);
            tensor<fp32, [1, 3, 1]> y = reduce_sum(axes = tensor<int32, [1]>([2]), keep_dims = bool(true), x = flat);
        } -> (y);
}
"""


def test_a_range_is_an_unknown_size() -> None:
    text = POOLED.replace("SHAPE", "-1")
    made = resized(text, "x=1,3,4..16,8")
    assert made == text.replace("8, 8]> x", "?, 8]> x").replace("8, 8]> h", "?, 8]> h").replace("64]> flat", "?]> flat")
    assert resized(made, "x=1,3,8,8") == text
    for size in (4, 9, 16):
        x = np.ones((1, 3, size, 8), np.float32)
        assert miltext.run(made, {"x": x})["y"].tolist() == [[[size * 8.0]] * 3]


@pytest.mark.parametrize("sizes", ["4..8,8", "8,8..9", "4..9,8", "8..,8"])
def test_a_shape_of_one_size_becomes_one_of_any_size_for_a_range(sizes: str) -> None:
    assert resized(POOLED.replace("SHAPE", "64"), f"x=1,3,{sizes}") == resized(
        POOLED.replace("SHAPE", "-1"), f"x=1,3,{sizes}"
    )


ADDED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 16]> x, tensor<fp32, [1, 16]> st) {
            tensor<fp32, [1, 16]> y = add(x = x, y = st);
        } -> (y);
}
"""

HALVED = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 8, 8]> x) {
            tensor<int32, [2]> two = const()[val = tensor<int32, [2]>([2, 2])];
            string pad = const()[val = string("valid")];
            tensor<fp32, [1, 3, 4, 4]> h = max_pool(kernel_sizes = two, pad_type = pad, strides = two, x = x);
            fp32 f = const()[val = fp32(2)];
            tensor<fp32, [1, 3, 8, 8]> u = upsample_nearest_neighbor(scale_factor_height = f, scale_factor_width = f,
                x = h);
            tensor<fp32, [1, 3, 8, 8]> y = add(x = x, y = u);
        } -> (y);
}
"""


@pytest.mark.parametrize(
    ("text", "words", "tried"),
    [
        (ADDED, ["x=1,1..16", "st=1,16"], "`x=1,2` `st=1,16`"),
        (ADDED, ["x=1,15..17", "st=1,16"], "`x=1,15` `st=1,16`"),
        (HALVED, ["x=1,3,4..16,8"], "`x=1,3,5,8`"),
        (HALVED, ["x=1,3,4..16,2..4"], "`x=1,3,5,3`"),
        (HALVED, ["x=1,3,8..10,8"], "`x=1,3,9,8`"),
    ],
)
def test_sizes_inside_a_range_are_tried_too(text: str, words: list[str], tried: str) -> None:
    found = refused(text, *words)
    said = [note.message for note in found.notes]
    assert f"this error occurs with {tried}, which the range includes" in said
    assert any("enumeratedShapes" in each for each in said) == ("15" not in tried)


def test_each_size_of_a_range_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(text: str, path: str | None, ask: Any, *rest: Any) -> Any:
        tried.append(spell_sizes(ask.keywords["sizes"]["x"]))
        return infer_anew(text, path, ask, *rest)

    monkeypatch.setattr("miltext.drafting.reshaping.infer_anew", counted)
    resized(DRAFT, "x=2,3..4")
    resized(DRAFT, "x=2,0..9")
    assert tried == ["2,3", "2,4", "2,3..4", "2,1", "2,9", "2,2", "2,5", "2,0..9"]


def test_sizes_without_an_end_are_not_tried() -> None:
    assert "[1, 3, ?]> flat" in resized(POOLED.replace("SHAPE", "64"), "x=1,3,8..,8")


def test_parts_that_may_be_outdated_are_reported() -> None:
    text = TEXT.replace("relu(x = image)", "my_op(x = image)")
    told: list[Diagnostic] = []
    made = reshape(text, read_sizes(["image=1,3,16,16"]), on_warning=told.append)
    assert "[1, 3, 8, 8]> y" in made
    assert [(each.code, text[slice(*each.span or ())]) for each in told] == [
        ("MIL491", "two"),  # one for each axis: a pool to 4 of 8, or to half
        ("MIL491", "two"),
        ("MIL436", "tensor<fp32, [1, 3, 8, 8]>"),
        ("MIL491", "y"),
    ]


COMPILED = """program(1.0)
{
    func main<ios15>(tensor<fp32, [?]> input) [FlexibleShapeInformation = tuple<tuple<tensor<string, []>, \
dict<tensor<string, []>, tensor<int32, [?]>>>>((("DefaultShapes", {{"input", [4]}})))] {
            tensor<fp32, [?]> output = relu(x = input)[name = tensor<string, []>("output")];
        } -> (output);
}
"""


def test_the_shapes_that_the_compiler_noted_are_reported() -> None:
    told: list[Diagnostic] = []
    made = reshape(COMPILED, read_sizes(["input=7"]), on_warning=told.append)
    assert made == COMPILED.replace("[?]> input", "[7]> input").replace("[?]> output", "[7]> output")
    assert [(each.code, COMPILED[slice(*each.span or ())]) for each in told] == [("MIL436", "FlexibleShapeInformation")]


def test_a_constant_of_a_draft_without_a_type_stays() -> None:
    body = "s = const()[val = [8]]; y = reshape(x, s);"
    draft = f"program(1.3) {{ func main<ios18>(tensor<fp32, [?, 4]> x) {{ {body} }} -> (y); }}"
    assert resized(draft, "x=2,4") == draft.replace("?", "2")
