"""Drafts: types that are left out and inferred again."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from conftest import corpus_files, wire
from support.coremltools_programs import PROGRAMS, Sample

import miltext
from miltext.checking.inference import infer_types
from miltext.diagnostics import ParseError
from miltext.drafting.draft import complete
from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import phrases_by_path, words
from miltext.schema.proto import Program

needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)

BLOB = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))'
LISTS = "list<string, 0> l = const()[val = list<string, 0>([])];"
CUSTOM = 'class_name = "c", description = "d", input_order = l, parameters = l, weights = l'


def program(*operations: str, inputs: str = "tensor<fp16, [2, 3]> x", outputs: str = "y", dialect: str = "1.3") -> str:
    body = "".join(f"            {operation}\n" for operation in operations)
    return f"program({dialect})\n{{\n    func main<ios18>({inputs}) {{\n{body}        }} -> ({outputs});\n}}\n"


def inferred(*operations: str, **around: str) -> list[str]:
    """The operations with what was inferred."""
    lines = miltext.infer_draft(program(*operations, **around)).splitlines()
    return [line.strip() for line in lines[3:-2]]


# ---- what is filled in


@pytest.mark.parametrize(
    ("draft", "whole"),
    [
        ("_ y = relu(x = x);", "tensor<fp16, [2, 3]> y = relu(x = x);"),
        ("tensor<fp16, [2, 3]> y = relu(x = x);", "tensor<fp16, [2, 3]> y = relu(x = x);"),
        (
            "_ y = reduce_sum(axes = [-1], keep_dims = true, x = x);",
            "tensor<fp16, [2, 1]> y = reduce_sum(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = x);",
        ),
        ("_ y = mul(x = x, y = 2);", "tensor<fp16, [2, 3]> y = mul(x = x, y = fp16(2));"),
        ("_ y = mul(x = x, y = 0.5);", "tensor<fp16, [2, 3]> y = mul(x = x, y = fp16(0.5));"),
        (
            "_ y = mul(x = x, y = [0.5, 1, 0x1p-2]);",
            "tensor<fp16, [2, 3]> y = mul(x = x, y = tensor<fp16, [3]>([0.5, 1, 0x1p-2]));",
        ),
        (
            "_ y = add(x = [[1], [2]], y = x);",
            "tensor<fp16, [2, 3]> y = add(x = tensor<fp16, [2, 1]>([[1], [2]]), y = x);",
        ),
        ("_ y = add(x = -inf, y = x);", "tensor<fp16, [2, 3]> y = add(x = fp16(-inf), y = x);"),
        ("_ y = leaky_relu(alpha = 0.01, x = x);", "tensor<fp16, [2, 3]> y = leaky_relu(alpha = fp16(0.01), x = x);"),
        ('_ y = cast(dtype = "fp32", x = x);', 'tensor<fp32, [2, 3]> y = cast(dtype = string("fp32"), x = x);'),
        (
            "_ y = concat(axis = 0, interleave = false, values = (x, [[1, 2, 3]]));",
            (
                "tensor<fp16, [3, 3]> y = concat(axis = int32(0), interleave = bool(false), "
                "values = (x, tensor<fp16, [1, 3]>([[1, 2, 3]])));"
            ),
        ),
        (
            "_ y, _ i = topk(ascending = false, axis = 1, k = 2, x = x);",
            (
                "tensor<fp16, [2, 2]> y, tensor<int32, [2, 2]> i = "
                "topk(ascending = bool(false), axis = int32(1), k = int32(2), x = x);"
            ),
        ),
        (
            "tensor<fp16, [1, 3]> _, _ y = split(axis = 0, num_splits = 2, x = x);",
            "tensor<fp16, [1, 3]> _, tensor<fp16, [1, 3]> y = split(axis = int32(0), num_splits = int32(2), x = x);",
        ),
    ],
)
def test_filled_in(draft: str, whole: str) -> None:
    assert inferred(draft) == [whole]


def test_one_follows_from_another() -> None:
    draft = ["_ a = mul(x = x, y = 2.0);", "_ b = transpose(perm = [1, 0], x = a);", "_ y = add(x = b, y = 1);"]
    assert inferred(*draft) == [
        "tensor<fp16, [2, 3]> a = mul(x = x, y = fp16(2.0));",
        "tensor<fp16, [3, 2]> b = transpose(perm = tensor<int32, [2]>([1, 0]), x = a);",
        "tensor<fp16, [3, 2]> y = add(x = b, y = fp16(1));",
    ]


def test_unknown_sizes_are_inferred_too() -> None:
    [line] = inferred("_ y = expand_dims(axes = [0], x = x);", inputs="tensor<fp16, [?, 3]> x")
    assert line.startswith("tensor<fp16, [1, ?, 3]> y = ")


def test_the_dialect_is_kept() -> None:
    assert inferred("_ y = reduce_sum(keep_dims = false, x = x);", dialect="1.0") == [
        "tensor<fp16, []> y = reduce_sum(keep_dims = tensor<bool, []>(false), x = x);"
    ]


def test_inner_blocks_are_filled_in() -> None:
    lines = inferred(
        "_ y = while_loop(loop_vars = (x))",
        "    (tensor<fp16, [2, 3]> a) { _ s = reduce_sum(keep_dims = false, x = a); _ c = less(x = s, y = 9); } -> (c)",
        "    (tensor<fp16, [2, 3]> b) { _ d = add(x = b, y = 1); } -> (d);",
    )
    assert lines[0].startswith("tensor<fp16, [2, 3]> y = while_loop(")
    assert "bool c = less(x = s, y = fp16(9));" in lines
    assert "tensor<fp16, [2, 3]> d = add(x = b, y = fp16(1));" in lines


def test_comments_and_numbers_stay_and_the_result_is_canonical() -> None:
    text = program("_ /* what? */ y = mul(y = 0.50 /* half */, x = x); // scaled")
    made = miltext.infer_draft(text)
    assert "y = mul(x = x, y = fp16(0.50) /* half */); // scaled\n" in made
    assert "/* what? */" in made
    assert miltext.format_text(made) == made
    assert miltext.check(made) == []


def test_a_name_that_looks_like_a_draft_is_a_name() -> None:
    text = program("tensor<fp16, [2, 3]> _ = relu(x = _x);", "_ y = relu(x = _);", inputs="tensor<fp16, [2, 3]> _x")
    assert "tensor<fp16, [2, 3]> y = relu(x = _);" in miltext.infer_draft(text)


def test_an_operation_named_like_a_draft_survives() -> None:
    made = miltext.parse(program('$"_"(a = x);', outputs="x"))
    text = miltext.to_text(made)
    assert '            $"_"(a = x);' in text
    assert wire(miltext.parse(text)) == wire(made)
    assert miltext.format_text(text) == text


# ---- what cannot be


def refusals(*operations: str, **around: str) -> list[str]:
    with pytest.raises(ParseError) as caught:
        miltext.infer_draft(program(*operations, **around))
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def test_an_unknown_type_is_reported_if_nothing_else_is_wrong() -> None:
    said = refusals("_ y = tanh(x = x);", inputs="tensor<fp16, [], $rank(-1)> x")
    assert said == ["the type of `y` cannot be inferred: too little is known of `x`; write it out"]


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        ("_ y = add(x = v, y = v);", "too little is known of `x` and `y`; write it out"),
        (f"_ y = reshape(shape = tensor<int32, [2]>({BLOB}), x = x);", None),
        (f"_ y = transpose(perm = tensor<int32, [2]>({BLOB}), x = x);", "too little is known of `perm`; write it out"),
        (
            "_ y = cond(pred = p) () { fp16 a = my_own(); } -> (v) () { fp16 b = my_own(); } -> (v);",
            "too little is known about the inputs and outputs of its blocks; write it out",
        ),
        (
            f"{LISTS} _ y = custom_layer({CUSTOM});",
            "it does not follow from the arguments of `custom_layer`; check them, or write the type out",
        ),
    ],
)
def test_named_values_of_which_too_little_is_known(draft: str, why: str | None) -> None:
    inputs = "tensor<fp16, [2, 3]> x, tensor<fp16, [], $rank(-1)> v, bool p"
    if why is None:
        assert inferred(draft, inputs=inputs)
    else:
        assert refusals(draft, inputs=inputs) == [f"the type of `y` cannot be inferred: {why}"]


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        ("_ y = my_own(x = x);", "the operation `my_own` is not known"),
        ("_ y = rleu(x = x, n = 1);", "the operation `rleu` is not known; did you mean `relu`?"),
        ("_ y, _ t = my_own(x = x, n = 1, m = [2.0]);", "the operation `my_own` is not known"),
        (
            "_ y = relu(x = x)[odd = 1.5];",
            "the type of this literal cannot be inferred: nothing is known of `odd` of `relu`",
        ),
        ('_ y = mul(x = x, y = "two");', "`y` of `mul` takes `fp16`, `fp32` or `int32`, not a string"),
        ("_ y = mul(x = x, y = true);", "`y` of `mul` takes `fp16`, `fp32` or `int32`, not a truth value"),
        ("_ y, _ i = topk(axis = 1, k = 1.5, x = x);", "`k` of `topk` takes `int16`, `int32`"),
        ("_ y = mul(x = x, y = [1, true]);", "the elements of a literal are of one data type, and here are a truth"),
        ("_ y = mul(x = x, y = [True]);", "`True` is not a number, a truth value or a string; did you mean `true`?"),
        ("_ y = read_state(input = 1.5);", "`input` of `read_state` takes a state, not a tensor"),
        ("_ y = mul(x = x, y = 70000);", "`70000` is out of range for fp16"),
        ("_ y = mul(x = x, y = [[1], [2, 3]]);", "expected 1 element in dimension 1 of [2, 1], found 2"),
        (
            "_ y = add(x = x, y = tensor<fp16, [2]>([1, 2]));",
            "`y` of `add` does not broadcast with `x`: shapes",
        ),
        ("_ y = relu(x = nobody);", "`nobody` is not defined"),
        ("_ y = add(x = 1.5, y = nobody);", "`nobody` is not defined"),
        ("_ y = concat(axis = 0, values = (x, nobody));", "`nobody` is not defined"),
        ("_ y = relu(alhpa = 1, x = x);", "`relu` has no parameter `alhpa`"),
        ("_ y = relu(z = x);", "`relu` has no parameter `z`; did you mean `x`?"),
        ("_ y = relu(X = 1.5);", "`relu` has no parameter `X`; did you mean `x`?"),
        ("_ y = relu();", "`relu` lacks `x`, which it requires"),
        ("_ y = relu(x = (x, x));", "`x` takes one value, not 2"),
        ("_ y = transpose(perm = x, x = x);", "`perm` of `transpose` takes `int32`, not `fp16`"),
        ("bool y = relu(x = x);", "`relu` returns tensor<fp16, [2, 3]> here, not bool"),
        ("nothing y = my_own(x = x);", "unknown type `nothing`"),
        ("_ y = relu(x = x;", ""),
        ("_ y = relu(x = 70000);", ""),
        (
            "_ y, _ t, _ u = split(axis = 0, num_splits = 2, x = x);",
            "`split` returns 2 values here, but 3 are declared",
        ),
    ],
)
def test_an_impossible_inference_is_reported_once_with_reason(draft: str, why: str) -> None:
    [said, *others] = refusals(draft, "_ z = relu(x = y);", "_ w = add(x = z, y = 1);", outputs="w")
    assert said.startswith(why)
    assert others == []


def test_a_mistake_in_a_literal_is_shown_in_it() -> None:
    text = program("_ y = mul(x = x, y = [0.5, 70000, 1]);")
    with pytest.raises(ParseError) as caught:
        miltext.infer_draft(text)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.span is not None
    assert text[diagnostic.span.start : diagnostic.span.end] == "70000"


def test_other_mistakes_are_reported_with_it() -> None:
    found = miltext.check(program("_ y = my_own(x = x);", "_ z = relu(x = x;", "_ q = relu(y = z);"))
    assert [diagnostic.code for diagnostic in found] == ["MIL712", "MIL501", "MIL010", "MIL504"]
    assert [diagnostic.severity for diagnostic in found] == ["note", *["error"] * 3]


def test_two_independent_mistakes_are_both_reported() -> None:
    vague = "tensor<fp16, [], $rank(-1)> v"
    operations = "_ y = relu(x = nobody);", "_ z = tanh(x = v);", "_ w = exp(x = z);", "_ f = relu(x = x)[odd = 1.5];"
    found = miltext.check(program(*operations, inputs=f"tensor<fp16, [2, 3]> x, {vague}"))
    assert [found.code for found in found] == ["MIL712", "MIL604", "MIL711", "MIL711"]
    assert "`z`" in found[2].message


def test_name_that_is_taken_is_reported_even_where_type_is_open() -> None:
    found = miltext.check(program("_ y = relu(x = nobody);", "_ y = relu(x = y);"))
    assert [found.code for found in found] == ["MIL712", "MIL604", "MIL602"]


def test_a_gap_in_a_block_is_reported_in_the_block() -> None:
    found = miltext.check(
        program(
            "_ y = while_loop(loop_vars = (x))",
            "    (tensor<fp16, [2, 3]> a) { _ s = reduce_sum(x = a); _ c = less(x = s, y = nobody); } -> (c)",
            "    (tensor<fp16, [2, 3]> b) { _ d = rleu(x = b); } -> (d);",
            "_ z = relu(x = y);",
        )
    )
    assert [found.code for found in found] == ["MIL712", "MIL604", "MIL501"]


def test_a_reported_value_is_not_reported_at_later_uses() -> None:
    state = "state<tensor<fp16, [2, 3]>> s"
    found = miltext.check(program("_ y = relu(x = s);", "_ z = exp(x = s);", inputs=state))
    assert [found.code for found in found] == ["MIL712", "MIL509"]


def test_an_operation_is_reported_once_without_its_users() -> None:
    vague = "tensor<fp16, [], $rank(-1)> v"
    said = refusals("_ y, _ i = topk(axis = 0, k = 1, x = v);", "_ z = exp(x = y);", inputs=vague)
    assert len(said) == 1
    said = refusals('_ a = cast(dtype = "fp16", x = "b");', "_ b = relu(x = a);", "_ y = linear(weight = b, x = b);")
    assert said == [
        "`x` of `cast` takes `bool`, `fp16`, `fp32`, `int16`, `int32`, `int8`, `uint16` or `uint8`, not a string"
    ]


def test_a_part_of_a_later_opset_is_reported_once() -> None:
    text = program("_ y = silu(x = x);", "_ z = fill_like(ref_tensor = x, value = 1);", "_ w = exp(x = z);")
    found = miltext.check(text.replace("ios18", "ios15").replace("silu", "fill_like"))
    assert [found.code for found in found][:2] == ["MIL712", "MIL502"]
    assert "MIL711" not in [found.code for found in found]


def test_inputs_of_an_open_signature_are_unknown() -> None:
    said = refusals(f"{LISTS} _ y = custom_layer(n = 1, {CUSTOM});")
    assert said == [
        "the type of this literal cannot be inferred: nothing is known of `n` of `custom_layer`; write it out"
    ]


def test_an_empty_literal_has_the_expected_type() -> None:
    [line] = inferred("tensor<fp16, [2, 3]> y = squeeze(axes = [], x = x);")
    assert "axes = tensor<int32, [0]>([])" in line


# ---- what is written has no error


WRONG = [
    ("tensor<fp16, [2, 3]> y = relu(x = nobody);", "MIL604"),
    ("tensor<fp16, [2, 3]> y = relu(x = x)", "MIL010"),
    ("bool b = const()[val = bool(true)]; bool y = abs(x = b);", "MIL505"),
    ("tensor<fp16, [2, 4]> y = relu(x = x);", "MIL701"),
    ("tensor<fp16, [2, 3]> z = relu(x = x);", "MIL604"),
]
"""Operations that are wrong though every type is there, with the code of the finding."""


@pytest.mark.parametrize(("operation", "code"), WRONG)
@pytest.mark.parametrize("draft", ["", "_ w = exp(x = x);"])
def test_a_wrong_program_is_refused_draft_or_not(operation: str, code: str, draft: str) -> None:
    text = program(operation, *[draft][: len(draft)])
    with pytest.raises(ParseError) as caught:
        miltext.infer_draft(text, path="w.mil")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]
    assert str(caught.value).startswith("w.mil:")
    assert complete(text).text is None


def test_warnings_do_not_prevent_writing() -> None:
    text = program("_ z = log(x = x);", "tensor<fp16, [2, 3]> y = my_own(x = z);")
    whole, found = complete(text)
    assert whole is not None
    assert whole == miltext.infer_draft(text)
    assert [(each.severity, each.code) for each in found] == [("warning", "MIL513"), ("warning", "MIL501")]


def test_a_whole_text_is_only_laid_out() -> None:
    text = program("tensor<fp16, [2, 3]> y = relu(x = x);")
    assert complete(text.replace("    ", "")) == (text, [])


def test_lowering_a_draft_shows_the_verb_that_completes_it() -> None:
    for operation in ("_ y = relu(x = x);", "fp16 y = mul(x = x, y = 2);", "fp16 y = mean(x = x, keep_dims = false);"):
        with pytest.raises(ParseError, match="`miltext infer`") as caught:
            miltext.parse(program(operation))
        assert caught.value.diagnostics[0].code == "MIL112"


# ---- on real programs: leave out all that can be, and have it back


def left_out(text: str, made: Program) -> str:
    """The text without the types of the outputs that inference tells in full."""
    told = {
        (*_message_path(inference.path), "outputs", index, "type")
        for inference in infer_types(made)
        for index, (declared, followed) in enumerate(zip(inference.declared, inference.inferred or (), strict=False))
        if declared == followed and inference.operation.type != "const"
    }
    spans = [phrase.span for path, phrase in phrases_by_path(parse_tree(text).root) if path in told]
    parts, end = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        parts += [text[end : span.start], "_"]
        end = span.end
    return "".join([*parts, text[end:]])


def _message_path(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    from miltext.checking.operations import message_path

    return message_path(path)


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil"))
def test_types_of_the_corpus_are_found_again(path: Path) -> None:
    text = path.read_bytes().decode()
    made = miltext.parse(text)
    draft = left_out(text, made)
    assert draft.count("_ ") > text.count("_ ")
    assert wire(miltext.parse(miltext.infer_draft(draft))) == wire(made)


@needs_coremltools
@pytest.mark.parametrize("sample", [s for s in PROGRAMS if s.name.startswith(("nested", "states", "network"))], ids=str)
def test_types_of_coremltools_are_found_again(sample: Sample) -> None:
    made = Program.FromString(sample.program())
    text = miltext.to_text(made)
    assert wire(miltext.parse(miltext.infer_draft(left_out(text, made)))) == wire(made)


def test_the_words_of_a_draft_have_places() -> None:
    text = program("_ y = relu(x = x);")
    names = [word for path, phrase in phrases_by_path(parse_tree(text).root) for word in words(phrase, path)]
    found = {path[-1]: name.token for path, name in names}
    assert (found["type"], found["name"]) == ("relu", "x")


def test_first_argument_without_a_name_is_reported_in_every_run() -> None:
    text = program(*(f"y{number} = no_such(x, 0.5, x, 1, x, 2, x, 3);" for number in range(20)), outputs="y0")
    found = [each for each in miltext.check(text) if each.code == "MIL501"]
    firsts = [text.index("(x, 0.5", each.span.start) + 1 for each in found if each.span]
    assert [note.span.start for each in found for note in each.notes if note.span] == firsts
    assert len(firsts) == 20
