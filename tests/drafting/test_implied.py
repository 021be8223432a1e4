"""The marker in a draft's head: what of a Program it stands for, and what keeps it from standing for that."""

from __future__ import annotations

import re

import pytest
from conftest import CORPUS, wire

import miltext
from miltext.drafting.implied import _Slot, _split

BLOB = '$blob("weights/weight.bin", 64)'


def program(*lines: str, marker: str = "", outputs: str = "y") -> str:
    body = "".join(f"            {line}\n" for line in lines)
    inputs = "tensor<fp16, [1, 4, 8, 8]> x"
    return f"program(1.3){marker}\n{{\n    func main<ios16>({inputs}) {{\n{body}        }} -> ({outputs});\n}}\n"


def drafted(*lines: str, outputs: str = "y") -> tuple[list[str], list[str]]:
    """The words of the marker and the statements of the draft of a Program, which is made of a draft itself."""
    made = miltext.parse(miltext.infer_draft(program(*lines, outputs=outputs)))
    text = miltext.to_draft(made)
    assert wire(miltext.parse(miltext.infer_draft(text))) == wire(made)
    assert miltext.format_text(text) == text
    marker = re.search(r"\$draft\((.*)\)", text)
    return marker[1].split(", ") if marker else [], [line.strip() for line in text.splitlines()[3:-2]]


ROUND = {
    "names": (["names"], ["a = relu(x);", 'y = tanh(a)[name = "other"];']),
    "numbers of names": (["names"], ["var_7 = relu(x);", "var_7a = relu(var_7);", 'y = tanh(var_7)[name = "var_7"];']),
    "constants": (["names", "consts"], ["y = mul(x, 0.5);"]),
    "constants of a list of values": (
        ["names", "consts"],
        ["a = reduce_sum(x, axes = [1, 2, 3]);", "y = concat(([1.0], a, [2.0]), 0);"],
    ),
    "constants after one that is not theirs": (
        ["names", "consts"],
        ["half = const()[val = 0.5];", "a = mul(x, 0.25);", "y = mul(a, half);"],
    ),
    "constants of an operation with several outputs": (["names", "consts"], ["y, z = split(x, 1, num_splits = 2);"]),
    "constants in blocks": (
        ["names", "consts"],
        [
            "s = reduce_sum(x, axes = [0, 1, 2, 3]);",
            "p = less(s, 0.5);",
            *["y = cond(p)", "() {", "a = mul(x, 0.25);", "} -> (a)", "() {", "b = mul(x, 0.75);", "} -> (b);"],
        ],
    ),
    "defaults": (
        ["names", "consts", "defaults"],
        [f"w = const()[val = tensor<fp16, [4, 4, 1, 1]>({BLOB})];", 'y = conv(x, w, pad_type = "same");'],
    ),
    "constants before weights that were converted": (
        ["names", "consts", "defaults"],
        [
            f"w_to_fp16 = const()[val = tensor<fp16, [4, 4, 1, 1]>({BLOB})];",
            "y_cast_fp16 = conv(x, w_to_fp16);",
            "y = relu(y_cast_fp16);",
        ],
    ),
}
"""Drafts with the words of their markers, which say all that is to be said."""


@pytest.mark.parametrize(("words", "lines"), ROUND.values(), ids=ROUND)
def test_a_draft_with_a_marker_comes_back_as_it_was_written(words: list[str], lines: list[str]) -> None:
    marker = f" $draft({', '.join(words)})"
    made = miltext.parse(miltext.infer_draft(program(*lines, marker=marker)))
    text = miltext.to_draft(made)
    assert [line.strip() for line in text.splitlines()[3:-2]] == lines
    assert text.splitlines()[0] == f"program(1.3){marker}"
    assert wire(miltext.parse(miltext.infer_draft(text))) == wire(made)


APART = {
    "an operation without a name": ([], ["a = relu(x);", 'y = tanh(a)[name = "y"];']),
    "an operation that is given a literal": (
        ["names"],
        [
            'y_y_0 = const()[name = "y_y_0", val = 0.5];',
            'a = mul(x, 0.5)[name = "a"];',
            'y = mul(a, y_y_0)[name = "y"];',
        ],
    ),
    "a constant of another name": (
        ["names"],
        ['half = const()[name = "half", val = 0.5];', 'y = mul(x, half)[name = "y"];'],
    ),
    "a constant whose name is another": (
        ["names"],
        ['y_y_0 = const()[name = "half", val = 0.5];', 'y = mul(x, y_y_0)[name = "y"];'],
    ),
    "a constant that is used twice": (
        ["names"],
        ['y_y_0 = const()[name = "y_y_0", val = 0.5];', 'y = mul(y_y_0, y_y_0)[name = "y"];'],
    ),
    "a constant of a block that gives it back": (
        ["names"],
        ['y_y_0 = const()[name = "y_y_0", val = 0.5];', 'y = mul(x, y_y_0)[name = "y"];'],
    ),
    "a constant that does not come before": (
        ["names"],
        ['y_y_0 = const()[name = "y_y_0", val = 0.5];', 'a = relu(x)[name = "a"];', 'y = mul(a, y_y_0)[name = "y"];'],
    ),
    "constants in another order": (
        ["names", "consts"],
        [
            'y_beta_0 = const()[name = "y_beta_0", val = 6.0];',
            'y_alpha_0 = const()[name = "y_alpha_0", val = 0.5];',
            'y = clip(x, y_alpha_0, y_beta_0)[name = "y"];',
        ],
    ),
    "a number that is not the first": (
        ["names"],
        ['y_y_1 = const()[name = "y_y_1", val = 0.5];', 'y = mul(x, y_y_1)[name = "y"];'],
    ),
}
"""Programs of which the marker cannot say all, by what keeps it from that, and the words that it has."""


@pytest.mark.parametrize(("words", "lines"), APART.values(), ids=APART)
def test_parts_that_a_marker_cannot_state_are_written(
    words: list[str], lines: list[str], request: pytest.FixtureRequest
) -> None:
    outputs = "y, y_y_0" if "gives it back" in request.node.callspec.id else "y"
    found, statements = drafted(*lines, outputs=outputs)
    assert found == words
    assert len(statements) == len(lines) - ("consts" in words)


def test_a_program_of_defaults_only() -> None:
    assert drafted("y = matmul(x, x, transpose_x = false, transpose_y = false);") == (
        ["defaults"],
        ["y = matmul(x, x);"],
    )
    line = "y = matmul(x, x, transpose_x = false);"
    assert drafted(line) == ([], [line])


@pytest.mark.parametrize(
    ("row", "free", "expected"),
    [
        ("", "", (0, 0)),
        ("1", "", (0, 1)),
        ("1", "1", (0, 0)),
        ("4 1 2 3 5", "1 2 3 5", (0, 1)),
        ("4 1 2 3 5", "", (1, 5)),
        ("1 2 3", "1 3", (0, 2)),
        ("3 2 1", "", (2, 3)),
        ("3 2 1", "1 2 3", (1, 2)),
        ("1 2 3", "3 1", (0, 2)),
    ],
)
def test_literals_come_before_defaults(row: str, free: str, expected: tuple[int, int]) -> None:
    slots = [_Slot(int(each), each, 0, "") for each in row.split()]
    assert _split(slots, free.split()) == expected


@pytest.mark.any_version
def test_the_figures_of_a_large_model() -> None:
    """Characters of the text, all of it, for each operation of the full Program."""
    path = CORPUS / "pairs" / "FluidAudio__160ms_streaming_encoder" / "model.mlmodel"
    if not path.exists():
        pytest.skip("needs the corpus")
    made = miltext.load(path).program
    operations = len(made.functions["main"].block_specializations["CoreML7"].operations)
    text, short = miltext.to_draft(made), miltext.to_draft(made, drop_names=True)
    assert operations == 2971
    assert len(text) <= 90 * operations
    assert len(short) <= 42 * operations
    assert wire(miltext.parse(miltext.infer_draft(text))) == wire(made)
    miltext.infer_draft(short)


def inferred(*lines: str, marker: str = " $draft(names, consts)") -> list[str]:
    text = miltext.infer_draft(program(*lines, marker=marker))
    return [line.strip() for line in text.splitlines()[3:-2]]


def test_numbers_are_names_of_operations_and_values() -> None:
    made = inferred("var_7 = mul(x, 0.5);", "var_a = relu(var_7);", 'y = tanh(var_a)[name = "var_9"];')
    assert made[0] == 'fp16 var_7_y_0 = const()[name = string("op_7_y_0"), val = fp16(0.5)];'
    names = [re.findall(r'name = string\("(.*?)"\)', line)[0] for line in made]
    assert names == ["op_7_y_0", "op_7", "var_a", "var_9"]


@pytest.mark.parametrize(
    ("weight", "order"),
    [
        ("w_to_fp16", ["y_cast_fp16_pad_type_0", "w_to_fp16", "y_cast_fp16"]),
        ("w", ["w", "y_cast_fp16_pad_type_0", "y_cast_fp16"]),
        ("w_to_fp16x", ["w_to_fp16x", "y_cast_fp16_pad_type_0", "y_cast_fp16"]),
    ],
)
def test_constants_come_before_converted_weights_only(weight: str, order: list[str]) -> None:
    lines = [f"{weight} = const()[val = tensor<fp16, [4, 4, 1, 1]>({BLOB})];"]
    made = inferred(*lines, f'y_cast_fp16 = conv(x, {weight}, pad_type = "same");', "y = relu(y_cast_fp16);")
    found = [line.partition(" = ")[0].rpartition(" ")[2] for line in made]
    assert found == [name.replace("y_cast_fp16_pad", "y_pad") for name in order] + ["y"]


def test_converted_weight_of_another_operation_stays_where_it_is() -> None:
    blob = f"const()[val = tensor<fp16, [1, 4, 8, 8]>({BLOB})];"
    made = inferred(f"a_to_fp16 = {blob}", f"b_to_fp16 = {blob}", "c = mul(b_to_fp16, 0.5);", "y = add(c, a_to_fp16);")
    assert [line.partition(" = ")[0].rpartition(" ")[2] for line in made] == [
        "a_to_fp16",
        "c_y_0",
        "b_to_fp16",
        "c",
        "y",
    ]
