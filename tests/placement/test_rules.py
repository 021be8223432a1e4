"""The rules of the Neural Engine: right about every measured operation, and unknown beyond the measurements."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import product

import pytest
from conftest import EXAMPLE, ROOT
from support.commands import miltext as command
from support.dumps import FOLDERS, index, needs_measurements, published_dumps, texts_of

import miltext
from miltext.diagnostics import ModelError
from miltext.dumps.texts import read_dump
from miltext.ir.graph import Graph
from miltext.placement.estimates import OF_MEMORY, estimates
from miltext.placement.predicted import predict
from miltext.placement.predicting import answers
from miltext.placement.rules import ANY, FILE, REFUSED, SUPPORTED, UNKNOWN, conditions, profiles, table

sys.path.insert(0, str(ROOT / "scripts"))

import make_placement_rules as script

PROFILE = "ane-m4-macos27"


def program(operation: str, inputs: str, outputs: str = "y") -> str:
    block = f"{{\n            {operation};\n        }} -> ({outputs});"
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {block}\n}}\n"


def answer(operation: str, inputs: str = "tensor<fp16, [1, 4, 8, 8]> x") -> tuple[str, str]:
    found = answers(miltext.parse(program(operation, inputs)), PROFILE)[-1]
    return found.answer, found.message


RELU = "tensor<fp16, {0}> y = relu(x = x)"


# ---- the measurements


@needs_measurements
def test_all_measured_answers_are_right_in_apples_words() -> None:
    counts = Counter[str]()
    for folder in FOLDERS:
        texts = texts_of("cases", folder)
        found = {
            (case, each.name): each for case, text in texts.items() for each in answers(miltext.parse(text), PROFILE)
        }
        for row in index(folder):
            given = found[f"{row['case']}.mil", row["output"]]
            expected = SUPPORTED if row["ane"] == "yes" else REFUSED
            counts["right" if given.answer == expected else given.answer] += 1
            if expected == REFUSED and row["reason_by_apple"]:
                assert given.message == row["reason_by_apple"], row["case"]
    assert counts == {"right": 327}


@needs_measurements
def test_the_rules_equal_the_output_of_the_script() -> None:
    cases = [each for folder in FOLDERS for each in script.measured(folder)]
    assert script.text(script.rows(cases)) == FILE.read_text(encoding="utf-8")


@needs_measurements
def test_rules_of_the_first_folder_answer_about_the_second() -> None:
    first, second = ([*script.measured(folder)] for folder in FOLDERS)
    said = script.tallied(script.rows(first), second)
    assert said.startswith("{'right': 64, 'unknown': 76, 'other reasons': 4} of 140")
    said = script.tallied(script.rows(second), first)
    assert "wrong" not in said.partition("}")[0]


@needs_measurements
def test_no_answer_contradicts_a_published_dump() -> None:
    counts = Counter[tuple[str, bool]]()
    for text in published_dumps().values():
        dump = read_dump(text)
        taken = {
            each.path: "ane" in each.supported for each in dump.placed if each.supported and not each.is_conversion
        }
        for each in answers(dump.stated, PROFILE):
            if each.path in taken:
                counts[each.answer, taken[each.path]] += 1
    assert not counts[SUPPORTED, False]
    assert not counts[REFUSED, True]
    assert counts[SUPPORTED, True] > 80
    assert counts[REFUSED, False] > 60


@needs_measurements
def test_estimates_of_memory_are_apples_estimates() -> None:
    seen = Counter[str]()
    for name, text in published_dumps().items():
        dump = read_dump(text)
        ops = Graph(dump.stated).operations()
        for placed in dump.placed:
            known = {} if placed.is_conversion else estimates(ops[placed.path], taken="ane" in placed.supported)
            if known and placed.times:
                seen[placed.type] += 1
                assert known == pytest.approx(placed.times, rel=1e-5), (name, placed)
    assert seen.keys() == OF_MEMORY | {"relu"}
    assert seen.total() == 100


# ---- the table


def test_each_row_is_complete_and_has_a_readable_condition() -> None:
    rows = table()
    assert profiles() == [PROFILE]
    for row in rows:
        assert row.chip == "M4"
        assert row.system == "macOS 27.0.1"
        assert row.source.startswith("751K/")
        assert row.answer in (SUPPORTED, REFUSED)
        assert conditions(row.when) or row.answer == REFUSED
        assert bool(row.message) == bool(row.fix) == (row.answer == REFUSED)
    assert len({(row.operation, row.when) for row in rows}) == len(rows)
    assert sum(row.operation == ANY for row in rows) == 2
    with pytest.raises(ValueError, match="no condition"):
        conditions("size about 3")


# ---- the edges of the rules


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("[1, 4, 8, 8]", SUPPORTED),
        ("[65536]", SUPPORTED),
        ("[65537]", REFUSED),
        ("[1, 1, 2, 3, 4]", SUPPORTED),
        ("[1, 1, 1, 2, 3, 4]", UNKNOWN),
        ("[1, ?, 8, 8]", UNKNOWN),
    ],
)
def test_relu_by_sizes_and_ranks(shape: str, expected: str) -> None:
    assert answer(RELU.format(shape), f"tensor<fp16, {shape}> x")[0] == expected


def test_a_refused_size_is_reported_in_apples_words() -> None:
    shape = "[1, 3, 65537, 2]"
    assert answer(RELU.format(shape), f"tensor<fp16, {shape}> x")[1] == (
        "Tensor dimensions N1D1C3H65537W2 are not within supported range, "
        "N[1-65536]D[1-65536]C[1-65536]H[1-65536]W[1-65536]."
    )


def conv(height: int, width: int, more: str = "", type: str = "fp16") -> str:
    """A convolution whose padding keeps the sizes of its input."""
    weight = f'tensor<{type}, [4, 4, {height}, {width}]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))'
    numbers = "dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0])"
    given = (
        f'{numbers}, pad_type = string("same"), strides = tensor<int32, [2]>([1, 1]), weight = {weight}, x = x{more}'
    )
    return f"tensor<{type}, [1, 4, 8, 8]> y = conv({given})"


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [
        (3, 3, SUPPORTED), (16, 16, SUPPORTED), (17, 17, REFUSED), (1, 15, SUPPORTED), (1, 16, REFUSED),
        (31, 1, SUPPORTED), (32, 1, REFUSED), (3, 5, UNKNOWN), (2, 31, UNKNOWN),
    ],
)  # fmt: skip
def test_convolutions_by_their_kernels(height: int, width: int, expected: str) -> None:
    assert answer(conv(height, width))[0] == expected


def test_a_parameter_or_a_type_that_was_not_measured_is_unknown() -> None:
    biased = conv(3, 3, ', bias = tensor<fp16, [4]>(BLOBFILE(path = string("w.bin"), offset = uint64(4096)))')
    assert answer(biased)[0] == UNKNOWN
    assert answer(conv(3, 3, type="fp32"), "tensor<fp32, [1, 4, 8, 8]> x")[0] == UNKNOWN
    grown = conv(3, 3).replace("groups = int32(1)", "groups = int32(128)")
    assert answer(grown)[0] == UNKNOWN
    assert answer("tensor<fp16, [1, 4, 8, 8]> y = add(x = x, y = fp16(1))")[0] == UNKNOWN
    assert answer("tensor<fp16, [1, 4, 8, 8]> y = made_up(x = x)")[0] == UNKNOWN


@pytest.mark.parametrize(
    ("width", "expected"), [(8, SUPPORTED), (9, REFUSED), (31, REFUSED), (32, UNKNOWN), (33, REFUSED)]
)
def test_max_pool_by_its_width(width: int, expected: str) -> None:
    given = f'ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([1, {width}]), pad_type = string("same")'
    text = f"tensor<fp16, [1, 4, 8, 8]> y = max_pool({given}, pad = tensor<int32, [4]>([0, 0, 0, 0]), "
    found = answer(f"{text}strides = tensor<int32, [2]>([1, 1]), x = x)")
    assert found[0] == expected
    assert (f"({width})" in found[1]) == (expected == REFUSED)


@pytest.mark.parametrize(("inner", "expected"), [(32768, SUPPORTED), (32769, REFUSED)])
def test_matmul_by_its_inner_size(inner: int, expected: str) -> None:
    types = f"tensor<fp16, [1, 16, {inner}]> x, tensor<fp16, [1, {inner}, 16]> z"
    text = "tensor<fp16, [1, 16, 16]> y = matmul(x = x, y = z, transpose_x = bool(false), transpose_y = bool(false))"
    found = answer(text, types)
    assert found[0] == expected
    assert ("(65538 kB)" in found[1]) == (expected == REFUSED)


FOUR = "tensor<fp16, [1, 64, 32, 32]> x"
PLAIN = "tensor<fp16, [1, 64, 32, 32]> y = "


def numbered(height: int, width: int, stride: int = 1, dilation: int = 1, groups: int = 1, pad: str = "same") -> str:
    """A convolution by the numbers that were measured together."""
    made = conv(height, width).replace('pad_type = string("same")', f'pad_type = string("{pad}")')
    made = made.replace("strides = tensor<int32, [2]>([1, 1])", f"strides = tensor<int32, [2]>([{stride}, {stride}])")
    dilated = f"dilations = tensor<int32, [2]>([{dilation}, {dilation}])"
    made = made.replace("dilations = tensor<int32, [2]>([1, 1])", dilated)
    return made.replace("groups = int32(1)", f"groups = int32({groups})")


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((3, 3, 1, 2), SUPPORTED),
        ((5, 5, 1, 2), UNKNOWN),
        ((3, 3, 2, 2), UNKNOWN),
        ((3, 3, 1, 1, 2), SUPPORTED),
        ((5, 5, 1, 1, 2), UNKNOWN),
        ((1, 3, 2), UNKNOWN),
        ((3, 1, 2), UNKNOWN),
        ((1, 3, 1, 1, 1, "valid"), SUPPORTED),
        ((3, 1, 1, 1, 1, "valid"), UNKNOWN),
        ((15, 15, 1, 1, 1, "valid"), SUPPORTED),
        ((16, 16, 1, 1, 1, "valid"), UNKNOWN),
        ((7, 7, 2), SUPPORTED),
        ((3, 3, 2), UNKNOWN),
        ((3, 3, 3, 1, 1, "valid"), SUPPORTED),
        ((9, 9, 9, 1, 1, "valid"), UNKNOWN),
        ((17, 17, 8), UNKNOWN),
        ((17, 17, 1, 2), UNKNOWN),
        ((1, 16, 2), UNKNOWN),
    ],
)
def test_numbers_of_a_convolution_hold_only_together(numbers: tuple[int, ...], expected: str) -> None:
    assert answer(numbered(*numbers))[0] == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("channels", [64, 65])
def test_channels_of_a_convolution(channels: int) -> None:
    grown = conv(3, 3).replace("[4, 4, 3, 3]", f"[64, {channels}, 3, 3]")
    expected = SUPPORTED if channels == 64 else UNKNOWN
    assert answer(grown, f"tensor<fp16, [1, {channels}, 8, 8]> x")[0] == expected


@pytest.mark.parametrize(("inner", "expected"), [(256, SUPPORTED), (257, UNKNOWN), (40000, UNKNOWN)])
def test_linear_by_its_inner_size(inner: int, expected: str) -> None:
    weight = f'tensor<fp16, [512, {inner}]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))'
    bias = 'tensor<fp16, [512]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))'
    text = f"tensor<fp16, [1, 8, 512]> y = linear(bias = {bias}, weight = {weight}, x = x)"
    assert answer(text, f"tensor<fp16, [1, 8, {inner}]> x")[0] == expected


def ints(*numbers: int) -> str:
    return f"tensor<int32, [{len(numbers)}]>([{', '.join(map(str, numbers))}])"


def slicing(*stride: int) -> str:
    ends = f"begin = {ints(0, 0, 0, 0)}, end = {ints(1, 64, 32, 32)}, stride = {ints(*stride)}, x = x"
    return f"slice_by_index({ends})"


def resizing(size: int) -> str:
    sizes = f"target_size_height = int32({size}), target_size_width = int32({size}), x = x"
    return f'resize_bilinear(sampling_mode = string("DEFAULT"), {sizes})'


def padding(number: int) -> str:
    pads = f"pad = {ints(*[number] * 4)}, x = x"
    return f'pad(constant_val = fp16(0), mode = string("reflect"), {pads})'


@pytest.mark.parametrize(
    ("shape", "call", "expected"),
    [
        ("[1, 64, 32, 16]", slicing(1, 1, 1, 2), SUPPORTED),
        ("[1, 64, 32, 32]", slicing(1, 1, 1, -1), UNKNOWN),
        ("[1, 64, 32, 11]", slicing(1, 1, 1, 3), UNKNOWN),
        ("[1, 128, 32, 64]", f"tile(reps = {ints(1, 2, 1, 2)}, x = x)", SUPPORTED),
        ("[1, 128, 64, 64]", f"tile(reps = {ints(1, 2, 2, 2)}, x = x)", UNKNOWN),
        ("[1, 64, 320, 32]", f"tile(reps = {ints(1, 1, 10, 1)}, x = x)", UNKNOWN),
        ("[1, 64, 36, 36]", padding(2), SUPPORTED),
        ("[1, 64, 92, 92]", padding(30), UNKNOWN),
        ("[1, 64, 32, 32]", "pow(x = x, y = fp16(3))", SUPPORTED),
        ("[1, 64, 32, 32]", "pow(x = x, y = fp16(0.5))", SUPPORTED),
        ("[1, 64, 32, 32]", "pow(x = x, y = fp16(2))", UNKNOWN),
        ("[1, 64, 32, 32]", "pow(x = x, y = fp16(-0.5))", UNKNOWN),
        ("[1, 64, 32, 32]", f"reverse(axes = {ints(3)}, x = x)", SUPPORTED),
        ("[1, 64, 32, 32]", f"reverse(axes = {ints(-1)}, x = x)", SUPPORTED),
        ("[1, 64, 32, 32]", f"reverse(axes = {ints(0, 1)}, x = x)", UNKNOWN),
        ("[1, 64, 32, 32]", "softmax(axis = int32(-1), x = x)", SUPPORTED),
        ("[1, 32, 32, 64]", f"transpose(perm = {ints(0, 3, 2, 1)}, x = x)", SUPPORTED),
        ("[32, 64, 1, 32]", f"transpose(perm = {ints(3, 1, 0, 2)}, x = x)", UNKNOWN),
        (
            "[1, 64, 48, 48]",
            "upsample_nearest_neighbor(scale_factor_height = fp32(1.5), scale_factor_width = fp32(1.5), x = x)",
            SUPPORTED,
        ),
        (
            "[1, 64, 8, 8]",
            "upsample_nearest_neighbor(scale_factor_height = fp32(0.25), scale_factor_width = fp32(0.25), x = x)",
            UNKNOWN,
        ),
        (
            "[1, 64, 48, 48]",
            resizing(48),
            SUPPORTED,
        ),
        (
            "[1, 64, 400, 400]",
            resizing(400),
            UNKNOWN,
        ),
    ],
)
def test_numbers_beyond_the_measured_ones_are_unknown(shape: str, call: str, expected: str) -> None:
    assert answer(f"tensor<fp16, {shape}> y = {call}", FOUR)[0] == expected


@pytest.mark.parametrize("parts", [2, 3])
def test_splits_by_their_number(parts: int) -> None:
    types = ", ".join(f"tensor<fp16, [1, 32, 32, 32]> y{each}" for each in range(parts))
    text = f"{types} = split(axis = int32(1), num_splits = int32({parts}), x = x)"
    found = answers(miltext.parse(program(text, f"tensor<fp16, [1, {32 * parts}, 32, 32]> x", "y0")), PROFILE)
    assert found[-1].answer == (SUPPORTED if parts == 2 else UNKNOWN)


@pytest.mark.parametrize("shape", ["", "[0, 4]", "[1, 0, 2, 2]", "[65536, 65536]", "[64, 64, 64, 64]"])
def test_scalars_empty_and_huge_tensors_are_unknown(shape: str) -> None:
    kind = f"tensor<fp16, {shape}>" if shape else "fp16"
    assert answer(f"{kind} y = relu(x = x)", f"{kind} x")[0] == UNKNOWN


def test_an_omitted_parameter_has_its_default() -> None:
    usual, row = "tensor<fp16, [1, 64, 32, 32]>", "tensor<fp16, [64]>"
    for written, omitted in (
        ('gelu(x = x, mode = string("EXACT"))', "gelu(x = x)"),
        ("softmax(x = x, axis = int32(3))", "softmax(x = x)"),
        ("softmax(x = x, axis = int32(-1))", "softmax(x = x)"),
    ):
        assert answer(f"{usual} y = {written}", f"{usual} x") == answer(f"{usual} y = {omitted}", f"{usual} x")
        assert answer(f"{usual} y = {omitted}", f"{usual} x")[0] == SUPPORTED
    a, b = "tensor<fp16, [1, 16, 64]> x", "tensor<fp16, [1, 64, 16]> w"
    assert answer("tensor<fp16, [1, 16, 16]> y = matmul(x = x, y = w)", f"{a}, {b}") == (SUPPORTED, "")
    assert answer(f"{row} y = softmax(x = x)", f"{row} x")[0] == UNKNOWN
    assert answer("fp16 y = softmax(x = x)", "fp16 x")[0] == UNKNOWN  # it has no axis


def test_an_unknown_answer_names_the_unmeasured_facts() -> None:
    assert answer(numbered(3, 3, 1, 3)) == (UNKNOWN, "dilations in 1 was measured, not 3")
    assert answer("tensor<fp16, [1, 4, 8, 8]> y = made_up(x = x)")[1].startswith("no operation of this type")
    biased = conv(3, 3, ', bias = tensor<fp16, [4]>(BLOBFILE(path = string("w.bin"), offset = uint64(4096)))')
    assert answer(biased)[1] == "not measured with bias"


def test_a_large_model_is_summed_up_on_one_screen() -> None:
    lines = [f"tensor<fp16, [1, 4]> v{each} = {'acos' if each % 2 else 'relu'}(x = x)" for each in range(2000)]
    text = program(";\n            ".join(lines), "tensor<fp16, [1, 4]> x", "v1999")
    said = command("placement", "-", "--profile", PROFILE, input=text.encode()).stdout.decode().splitlines()
    assert len(said) < 20
    assert [" ".join(line.split()) for line in said[1:3]] == [
        'not supported 1000 acos Unsupported MIL operation "acos".',
        "supported 1000 relu",
    ]


def test_computed_int32_is_refused_everywhere() -> None:
    for operation in ("add", "sub", "maximum"):
        text = f"tensor<int32, [2]> y = {operation}(x = x, y = x)"
        assert answer(text, "tensor<int32, [2]> x") == (REFUSED, "Unsupported tensor data type: int32")


# ---- predictions


def test_a_choice_is_predicted_only_if_all_estimates_are_known() -> None:
    text = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 128, 128]> x) {
            tensor<fp16, [1, 64, 128, 128]> a = softmax(axis = int32(1), x = x);
            tensor<fp16, [1, 64, 128, 128]> y = erf(x = a);
        } -> (y);
}
"""
    found = predict(miltext.parse(text), PROFILE)
    assert found.chosen == {"main": None}
    assert found.untimed == {"main": ["erf"]}
    known = predict(miltext.parse(text.replace("erf(", "relu(")), PROFILE).chosen["main"]
    assert known is not None
    tensor = 2 * 64 * 128 * 128
    costs = {
        "softmax": {"ane": 1000 * (2 * tensor + 4) / (68 * 2**30), "cpu": 1200 * (2 * tensor + 4) / (68 * 2**30)},
        "relu": {"ane": 1000 * 2 * tensor / 100e9, "cpu": 1000 * 2 * tensor / 100e9},
    }
    ways = {
        (a, b): costs["softmax"][a]
        + costs["relu"][b]
        + 0.125 * ((a == "ane") + (a != b) + (b == "ane" != a) + (b == "ane"))
        for a, b in product(("ane", "cpu"), repeat=2)
    }
    assert known.cost == pytest.approx(min(ways.values()))
    assert [device.lower() for device in known.devices] in [
        [*way] for way, cost in ways.items() if cost == min(ways.values())
    ]


def test_constants_and_inner_blocks_have_answers_of_their_own() -> None:
    text = """program(1.3)
{
    func main<ios18>(bool c, tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> k = const()[name = string("k"), val = tensor<fp16, [1, 4]>([[1, 2, 3, 4]])];
            tensor<fp16, [1, 4]> y = cond(pred = c)
            () {
                    tensor<fp16, [1, 4]> a = acos(x = x);
                } -> (a)
            () {
                    tensor<fp16, [1, 4]> b = relu(x = x);
                } -> (b);
        } -> (y);
}
"""
    found = answers(miltext.parse(text), PROFILE)
    assert [(each.name, each.answer) for each in found] == [("y", UNKNOWN), ("a", REFUSED), ("b", SUPPORTED)]
    marked = command("print", "-", "--placement", "--profile", PROFILE, input=text.encode()).stdout.decode()
    assert miltext.parse(marked) == miltext.parse(text)
    assert 'acos(x = x);  // ane: not supported: Unsupported MIL operation "acos".\n' in marked
    assert "} -> (b);  // ane: unknown: no operation of this type was measured as supported" in marked


def test_an_unknown_profile_names_the_way_out() -> None:
    with pytest.raises(ModelError, match="no profile") as refused:
        answers(miltext.parse(program(RELU.format("[1]"), "tensor<fp16, [1]> x")), "ane-m9-macos27")
    assert refused.value.diagnostics[0].code == "MIL891"


# ---- the commands


ACOS = program("tensor<fp16, [1, 4]> y = acos(x = x)", "tensor<fp16, [1, 4]> x")


def test_check_reports_refusals_only_with_a_profile() -> None:
    assert command("check", "-", input=ACOS.encode()).returncode == 0
    found = command("check", "-", "--profile", PROFILE, "--json", input=ACOS.encode())
    assert found.returncode == 1
    (diagnostic,) = json.loads(found.stdout)["diagnostics"]
    assert diagnostic["code"] == "MIL892"
    assert diagnostic["start"]["offset"] == ACOS.index("acos")
    assert 'Unsupported MIL operation "acos".' in diagnostic["message"]
    unknown = command("check", "-", "--profile", PROFILE, "--json", input=ACOS.replace("acos", "erf").encode())
    assert unknown.returncode == 0
    both = command("check", "-", "--profile", PROFILE, "--all-advisories", input=ACOS.encode())
    assert b"MIL892" in both.stdout
    assert command("check", "-", "--profile", "ane-m9", input=ACOS.encode()).returncode == 1


def test_check_notes_operations_without_a_rule() -> None:
    found = command("check", "-", "--profile", PROFILE, "--json", input=ACOS.replace("acos", "relu").encode())
    assert json.loads(found.stdout)["diagnostics"] == []
    found = command("check", "-", "--profile", PROFILE, "--json", input=ACOS.replace("acos", "identity").encode())
    (note,) = json.loads(found.stdout)["diagnostics"]
    assert (note["code"], note["severity"]) == ("MIL894", "note")
    assert "1 of the 1 operations: `identity`" in note["message"]


def test_the_list_of_profiles() -> None:
    said = command("check", "--profile", "list").stdout.decode()
    assert said.startswith(f"{PROFILE}: M4, macOS 27.0.1; ")
    assert json.loads(command("check", "--profile", "list", "--json").stdout)["profiles"][0]["name"] == PROFILE
    assert command("check", "--profile", "list", "-").returncode == 2


def test_the_placement_of_a_model_by_a_profile() -> None:
    said = command("placement", EXAMPLE, "--profile", PROFILE).stdout.decode()
    assert "9 operations on M4, macOS 27.0.1: 2 supported, 0 not supported, 7 unknown" in said
    record = json.loads(command("placement", EXAMPLE, "--profile", PROFILE, "--json").stdout)
    assert record["counts"] == {SUPPORTED: 2, REFUSED: 0, UNKNOWN: 7}
    assert record["choices"] == {"main": None}
    assert all(each["source"] for each in record["answers"] if each["answer"] != UNKNOWN)
    without = command("placement", EXAMPLE)
    assert without.returncode == 1
    assert b"--profile" in without.stderr
    assert command("placement", EXAMPLE, "--profile", PROFILE, "--against", EXAMPLE).returncode == 2


def test_a_page_has_the_answer_beside_each_operation() -> None:
    page = command("print", EXAMPLE, "--html", "--placement", "--profile", PROFILE).stdout.decode()
    assert page.count("// ane: supported") == 2
    assert page.count("// ane: unknown: ") == 7
    refused = command("print", EXAMPLE, "--placement")
    assert refused.returncode == 2
    assert b"--profile" in refused.stderr
    assert command("print", EXAMPLE, "--profile", PROFILE, "--compact").returncode == 2
