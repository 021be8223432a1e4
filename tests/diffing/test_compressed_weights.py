"""Weights that are held compressed, compared by the numbers that they stand for: one line for each."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from support.diff_cases import write_weights

import miltext
from miltext.diffing.structure import WeightChange
from miltext.schema.proto import Program

IOS18 = """\
fp16
w = const()[val = tensor<fp16, [2, 4]>([[1, 2, 3, 4], [5, 6, 7, 8]])]

1-bit palette
l = const()[val = tensor<fp16, [1, 1, 2, 1]>([[[[-0.5], [0.5]]]])]
w = constexpr_lut_to_dense(indices = tensor<uint1, [2, 4]>([[0, 1, 0, 1], [1, 1, 0, 0]]), lut = l)

4-bit linear
d = const()[val = tensor<int4, [2, 4]>([[1, 2, 3, 4], [-1, -2, -3, -4]])]
w = constexpr_blockwise_shift_scale(data = d, scale = tensor<fp16, [2, 2]>([[0.5, 0.25], [0.5, 0.25]]))

sparse fp16
m = const()[val = tensor<uint1, [2, 4]>([[1, 0, 0, 1], [0, 1, 0, 0]])]
w = constexpr_sparse_to_dense(mask = m, nonzero_data = tensor<fp16, [3]>([0.5, -1, 2]))

sparse 1-bit palette
i = const()[val = tensor<uint1, [3]>([0, 1, 1])]
l = const()[val = tensor<fp16, [1, 1, 2, 1]>([[[[-0.5], [0.5]]]])]
m = const()[val = tensor<uint1, [2, 4]>([[1, 0, 0, 1], [0, 1, 0, 0]])]
mask, data = constexpr_lut_to_sparse(indices_mask = m, indices_nonzero_data = i, lut = l)
w = constexpr_sparse_to_dense(data, mask)

sparse 8-bit linear
d = const()[val = tensor<int8, [3]>([2, -4, 16])]
m = const()[val = tensor<uint1, [2, 4]>([[1, 0, 0, 1], [0, 1, 0, 0]])]
s = const()[val = tensor<fp16, [2, 1]>([[0.25], [0.125]])]
mask, data = constexpr_sparse_blockwise_shift_scale(data_mask = m, nonzero_data = d, scale = s)
w = constexpr_sparse_to_dense(data, mask)

1-bit palette of 8-bit linear
d = const()[val = tensor<int8, [1, 1, 2, 1]>([[[[-2], [2]]]])]
l = constexpr_blockwise_shift_scale(data = d, scale = tensor<fp16, [1, 1, 1, 1]>([[[[0.25]]]]))
w = constexpr_lut_to_dense(indices = tensor<uint1, [2, 4]>([[0, 1, 0, 1], [1, 1, 0, 0]]), lut = l)
"""

IOS16 = """\
fp16
w = const()[val = tensor<fp16, [2, 4]>([[1, 2, 3, 4], [5, 6, 7, 8]])]

8-bit linear
w = constexpr_affine_dequantize()[axis = int32(0), quantized_data = tensor<int8, [2, 4]>([[3, 5, 4, 5], [-1, -3, -2, -3]]), scale = fp16(0.25), zero_point = int8(1)]

1-bit palette
w = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([58]), lut = tensor<fp16, [2]>([-0.5, 0.5]), shape = tensor<uint32, [2]>([2, 4])]

sparse fp16
w = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([41]), nonzero_data = tensor<fp16, [3]>([0.5, -1, 2]), shape = tensor<uint32, [2]>([2, 4])]
"""  # noqa: E501

FORMS = {
    opset: {form: operations for form, _, operations in (part.partition("\n") for part in listed.strip().split("\n\n"))}
    for opset, listed in (("ios18", IOS18), ("ios16", IOS16))
}
"""The operations of ways to hold a weight, by what people call them, by opset."""

STEPS = [[0.5, 1, 0.75, 1], [-0.5, -1, -0.75, -1]]
SIGNS = [[-0.5, 0.5, -0.5, 0.5], [0.5, 0.5, -0.5, -0.5]]
SPARSE = [[0.5, 0, 0, -1], [0, 2, 0, 0]]
NUMBERS = {
    "fp16": [[1, 2, 3, 4], [5, 6, 7, 8]],
    "1-bit palette": SIGNS,
    "4-bit linear": STEPS,
    "8-bit linear": STEPS,
    "sparse fp16": SPARSE,
    "sparse 1-bit palette": [[-0.5, 0, 0, 0.5], [0, 0.5, 0, 0]],
    "sparse 8-bit linear": SPARSE,
    "1-bit palette of 8-bit linear": SIGNS,
}
"""What each of them stands for, worked out by hand."""


def program(form: str, opset: str = "ios18", use: str = "y = linear(x, w)", given: str = "y", **other: str) -> Program:
    """A program with a weight in a form; `other` words of its operations are replaced."""
    operations = FORMS[opset][form]
    for old, new in other.items():
        operations = operations.replace(old, new)
    return spelled(operations, use, given, opset)


def spelled(operations: str, use: str = "y = linear(x, w)", given: str = "y", opset: str = "ios18") -> Program:
    """A program with a weight that these operations make."""
    lines = "".join(f"            {each};\n" for each in [*operations.split("\n"), *use.split("; ")])
    draft = (
        f"program(1.3)\n{{\n    func main<{opset}>(tensor<fp16, [1, 4]> x) {{\n{lines}        }} -> ({given});\n}}\n"
    )
    return miltext.parse(miltext.infer_draft(draft))


def one(old: Program, new: Program) -> WeightChange:
    """The weight that is the only thing that differs."""
    difference = miltext.diff(old, new)
    assert not [block.operations for function in difference.functions for block in function.blocks if block.operations]
    assert not difference.changes
    (change,) = difference.weights.changed
    return change


@pytest.mark.parametrize("opset", FORMS)
def test_one_line_with_the_distance_of_the_numbers(opset: str) -> None:
    for old, new in permutations(FORMS[opset], 2):
        change = one(program(old, opset), program(new, opset))
        assert (change.operation, change.old_form, change.new_form) == ("w", old, new)
        a, b = [np.array(NUMBERS[each]) for each in (old, new)]
        apart = np.abs(a - b)
        noise = float((apart**2).sum())
        assert change.measure is not None
        assert (change.measure.count, change.measure.changed) == (8, int(np.count_nonzero(apart)))
        assert (change.measure.maximum, change.measure.mean) == (apart.max(), apart.mean())
        snr = 10 * np.log10(float((a**2).sum()) / noise) if noise else np.inf
        assert change.measure.snr == pytest.approx(snr)


def test_the_line() -> None:
    difference = miltext.diff(program("fp16"), program("4-bit linear"))
    line = "w  tensor<fp16, [2, 4]>  fp16 -> 4-bit linear, 8 of 8 elements, max 9, mean 4.5, SNR -0.6 dB"
    assert difference.to_text().splitlines()[-2:] == ["weights: 1 differs, 0 equal", f"    ~ {line}"]
    assert "fp16 -> 4-bit linear, 8 of 8 elements" in difference.to_markdown()
    assert "fp16 -&gt; 4-bit linear, 8 of 8 elements" in difference.to_html()


def test_another_name_is_a_rename() -> None:
    """As coremltools names them: only the place where it is used is left to find the partner by."""
    new = program("1-bit palette", use="y = linear(x, w_palettized)", **{"w =": "w_palettized ="})
    difference = miltext.diff(program("fp16"), new)
    *lines, last = difference.to_text().splitlines()
    assert lines[-3:] == ["func main", "    = w -> w_palettized", "weights: 1 differs, 0 equal"]
    assert last.startswith("    ~ w_palettized  tensor<fp16, [2, 4]>  fp16 -> 1-bit palette, ")


def test_a_weight_with_several_uses_is_reported_once() -> None:
    use = "a = linear(x, w); b = linear(x, w); y = add(a, b)"
    assert one(program("fp16", use=use), program("1-bit palette", use=use)).operation == "w"


def test_a_weight_that_is_returned_has_its_name_alone() -> None:
    assert one(program("fp16", given="y, w"), program("4-bit linear", given="y, w")).operation == "w"


def test_a_table_that_something_else_uses_is_still_reported() -> None:
    found = miltext.diff(program("fp16"), program("1-bit palette", given="y, l")).functions[0].blocks[0]
    assert [each.name for each in found.added] == ["l"]


def test_the_same_form_is_compared_part_by_part() -> None:
    difference = miltext.diff(program("1-bit palette"), program("1-bit palette", **{"-0.5": "-0.25"}))
    assert difference.to_text().splitlines()[-3:] == [
        "func main",
        "    ~ w: constexpr_lut_to_dense, weight of y",
        "        lut: [[[[-0.5], [0.5]]]] -> [[[[-0.25], [0.5]]]]",
    ]


SHIFTED = "w = constexpr_blockwise_shift_scale(data = tensor<int8, [2, 4]>([[3, 5, 4, 5], [-1, -3, -2, -3]]), "
WHOLE = f"{SHIFTED}offset = tensor<int8, [1, 1]>([[1]]), scale = tensor<fp16, [1, 1]>([[0.25]]))"
ROWS = f"{SHIFTED}offset = tensor<int8, [2, 1]>([[1], [1]]), scale = tensor<fp16, [2, 1]>([[0.25], [0.25]]))"


@pytest.mark.parametrize(
    ("form", "old", "new"),
    [
        ("8-bit linear", program("8-bit linear", "ios16"), spelled(WHOLE)),
        ("8-bit linear", spelled(ROWS), spelled(WHOLE)),
        ("1-bit palette", program("1-bit palette", "ios16"), program("1-bit palette")),
        ("sparse fp16", program("sparse fp16"), program("sparse fp16", "ios16")),
    ],
)
def test_the_same_form_in_another_storage_is_one_line(form: str, old: Program, new: Program) -> None:
    difference = miltext.diff(old, new)
    (change,) = difference.weights.changed
    assert (change.old_form, change.new_form) == (form, form)
    line = f"        ~ w  tensor<fp16, [2, 4]>  {form}, held otherwise, the same 8 elements"
    assert difference.to_text().splitlines()[-1] == "    1 weight follows from equal numbers"
    assert difference.summary.outputs.reached == ()
    assert difference.to_text(consequences=True).splitlines()[-1] == line
    assert not [block.operations for function in difference.functions for block in function.blocks if block.operations]


def test_a_weight_of_another_type_is_reported_part_by_part() -> None:
    wide = WHOLE.replace("fp16", "fp32")
    difference = miltext.diff(spelled(WHOLE, "y = relu(w)"), spelled(wide, "y = relu(w)"))
    assert not difference.weights.changed
    assert "type: tensor<fp16, [2, 4]> -> tensor<fp32, [2, 4]>" in difference.to_text()


def test_a_scale_of_a_nonlinear_form() -> None:
    *palette, last = FORMS["ios18"]["1-bit palette"].split("\n")
    scale = "scale = tensor<fp16, [2, 1]>([[2], [2]])"
    after = [*palette, last.replace("w =", "p ="), f"w = constexpr_blockwise_shift_scale(data = p, {scale})"]
    change = one(program("fp16"), spelled("\n".join(after)))
    assert change.new_form == "scaled 1-bit palette"
    floats = "l = constexpr_blockwise_shift_scale(data = f, scale = tensor<fp16, [1, 1, 1, 1]>([[[[2]]]]))"
    within = [palette[0].replace("l =", "f =", 1), floats, last]
    assert one(program("fp16"), spelled("\n".join(within))).new_form == "1-bit palette of scaled fp16"


def test_a_mismatch_is_not_measured() -> None:
    """A mask with other ones than data has no numbers; the weights differ all the same."""
    old, new = program("fp16"), program("sparse fp16")
    operations = next(iter(new.functions["main"].block_specializations.values())).operations
    operations[0].attributes["val"].immediateValue.tensor.bytes.values = b"\xff"
    change = one(old, new)
    assert (change.measure, change.new_form) == (None, "sparse fp16")
    assert "fp16 -> sparse fp16, numbers not compared" in miltext.diff(old, new).to_text()


def test_a_weight_file_that_cannot_be_read(tmp_path: Path) -> None:
    text = miltext.to_text(program("fp16"))
    blob = 'tensor<fp16, [2, 4]>(BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(64)))'
    (tmp_path / "old.mil").write_text(re.sub(r"tensor<fp16, \[2, 4\]>\(\[\[.*?\]\]\)", blob, text))
    (tmp_path / "new.mil").write_text(miltext.to_text(program("4-bit linear")))
    difference = miltext.diff(tmp_path / "old.mil", tmp_path / "new.mil")
    assert difference.same is False
    assert [each.measure for each in difference.weights.changed] == [None]
    assert "the file does not exist" in difference.notes[0]
    write_weights(tmp_path / "weights", {"w.bin": [("fp16", np.array(STEPS))]})
    (change,) = miltext.diff(tmp_path / "old.mil", tmp_path / "new.mil").weights.changed
    assert change.measure is not None
    assert (change.measure.changed, change.measure.snr) == (0, np.inf)
