"""Costs by hand: macs, bytes, peaks, sizes of inputs, inner blocks, states, weights as stored, and their growth."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from conftest import CORPUS, EXAMPLE, ROOT
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.sources import model_of
from miltext.costing.formulas import FORMULAS, PICKS, VIEWS
from miltext.costing.growth import cost_growth
from miltext.costing.report import cost_growth_lines, cost_lines
from miltext.costing.work import FunctionCost, ModelCost, OperationCost, Work, total
from miltext.diagnostics import ModelError, ParseError
from miltext.evaluation.devices.facts import PRODUCTS
from miltext.schema.operations import all_names, signature
from miltext.schema.opsets import PROTO_BY_TEXT
from miltext.scopes.families import TIMES

sys.path.insert(0, str(ROOT / "scripts"))

import make_cost_page


def run(*arguments: object) -> Result:
    return RUNNER.invoke(command, [*map(str, arguments)])


def function(body: str, inputs: str = "tensor<fp16, [2, 8]> x", outputs: str = "y", name: str = "main") -> str:
    return f"    func {name}<ios18>({inputs}) {{\n{body}\n        }} -> ({outputs});\n"


def text(body: str, inputs: str = "tensor<fp16, [2, 8]> x", outputs: str = "y") -> str:
    return f"program(1.3)\n{{\n{function(body, inputs, outputs)}}}\n"


def only(cost: ModelCost) -> FunctionCost:
    (found,) = cost.functions
    return found


def named(cost: ModelCost) -> dict[str, OperationCost]:
    return {each.name: each for each in cost.ops}


def weight(*shape: int, dtype: str = "fp16", offset: int = 64) -> str:
    sizes = ", ".join(map(str, shape))
    return f'tensor<{dtype}, [{sizes}]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64({offset})))'


# ---- multiply-accumulates


LSTM = "y, last, cell = lstm(x = x, initial_h = {0}, initial_c = {0}"

BOTH = (
    f'direction = "bidirectional", weight_ih = {weight(24, 5)}, weight_hh = {weight(24, 6)}, '
    f"weight_ih_back = {weight(24, 5)}, weight_hh_back = {weight(24, 6)}"
)

MACS: dict[str, tuple[str, str, int]] = {
    "conv": (f"y = conv(x = x, weight = {weight(6, 2, 3, 3)}, groups = 2);", "fp16, [1, 4, 10, 12]", 6 * 80 * 2 * 9),
    "conv with strides and pads": (
        f'y = conv(x = x, weight = {weight(5, 4, 3)}, strides = [2], pad_type = "same", dilations = [1], groups = 1);',
        "fp16, [3, 4, 9]",
        3 * 5 * 5 * 4 * 3,
    ),
    "conv of each channel alone": (
        f"y = conv(x = x, weight = {weight(4, 1, 3, 3)}, groups = 4);",
        "fp16, [1, 4, 8, 8]",
        4 * 36 * 9,
    ),
    "conv in three dimensions": (f"y = conv(x = x, weight = {weight(2, 1, 2, 2, 2)});", "fp16, [1, 1, 4, 4, 4]", 432),
    "conv_transpose": (
        f"y = conv_transpose(x = x, weight = {weight(4, 3, 2, 2)}, groups = 2, strides = [2, 2]);",
        "fp16, [1, 4, 5, 5]",
        4 * 25 * 3 * 4,
    ),
    "linear": (f"y = linear(x = x, weight = {weight(16, 8)}, bias = {weight(16)});", "fp16, [2, 3, 8]", 6 * 16 * 8),
    "matmul": ("y = matmul(x = x, y = x, transpose_y = true);", "fp16, [4, 2, 8]", 4 * 2 * 2 * 8),
    "matmul, the other way": ("y = matmul(x = x, y = x, transpose_x = true);", "fp16, [4, 2, 8]", 4 * 8 * 8 * 2),
    "matmul of vectors": (f"y = matmul(x = x, y = {weight(8)});", "fp16, [3, 8]", 3 * 8),
    "matmul of several with one": (f"y = matmul(x = x, y = {weight(8, 5)});", "fp16, [3, 2, 8]", 3 * 2 * 5 * 8),
    "einsum": (
        'y = einsum(values = (x, x), equation = "nchw,nwhu->nchu");',
        "fp16, [2, 4, 4, 4]",
        2 * 4 * 4 * 4 * 4,
    ),
    "attention": (
        f"y = scaled_dot_product_attention(query = x, key = {weight(1, 2, 7, 8)}, value = {weight(1, 2, 7, 5)});",
        "fp16, [1, 2, 3, 8]",
        2 * 3 * 7 * (8 + 5),
    ),
    "lstm": (
        f"{LSTM.format(weight(2, 6))}, weight_ih = {weight(24, 5)}, weight_hh = {weight(24, 6)});",
        "fp16, [9, 2, 5]",
        9 * 2 * (24 * 5 + 24 * 6),
    ),
    "lstm in both directions": (
        f"{LSTM.format(weight(2, 12))}, {BOTH});",
        "fp16, [9, 2, 5]",
        2 * 9 * 2 * (24 * 5 + 24 * 6),
    ),
    "gru": (
        f"y, last = gru(x = x, initial_h = {weight(2, 6)}, weight_ih = {weight(18, 5)}, weight_hh = {weight(18, 6)});",
        "fp16, [9, 2, 5]",
        9 * 2 * (18 * 5 + 18 * 6),
    ),
    "rnn": (
        f"y, last = rnn(x = x, initial_h = {weight(2, 6)}, weight_ih = {weight(6, 5)}, weight_hh = {weight(6, 6)});",
        "fp16, [9, 2, 5]",
        9 * 2 * (6 * 5 + 6 * 6),
    ),
    "nothing elementwise": ("y = softmax(x = x, axis = -1);", "fp16, [2, 8]", 0),
    "nothing of a norm": ("y = layer_norm(x = x, axes = [-1]);", "fp16, [2, 8]", 0),
    "nothing of a pool": (
        'y = avg_pool(x = x, kernel_sizes = [2], pad_type = "valid", exclude_padding_from_average = false);',
        "fp16, [1, 2, 8]",
        0,
    ),
}


@pytest.mark.parametrize("name", MACS)
def test_macs_by_hand(name: str) -> None:
    body, shape, expected = MACS[name]
    cost = miltext.cost(text(f"            {body}", f"tensor<{shape}> x"))
    assert only(cost).work.macs == expected
    assert [each for each in cost.notes if "does not exist" not in each and "not known" not in each] == []


def test_the_table_has_every_product() -> None:
    assert set(PRODUCTS) < set(FORMULAS)
    known = {name: signature(name, opset) for name in all_names() for opset in PROTO_BY_TEXT}
    taken = {name for name, each in known.items() if each and "weight" in " ".join(each.parameters)}
    assert taken == {"conv", "conv_quantized", "conv_transpose", "linear", "lstm", "gru", "rnn", "custom_layer"}
    assert taken - {"custom_layer"} < {*FORMULAS}
    for name, parameter in {**VIEWS, **PICKS}.items():
        one = signature(name, "ios18")
        assert one is not None, name
        assert parameter in one.parameters, name


def test_the_page_is_made_of_the_table() -> None:
    assert make_cost_page.PAGE.read_text(encoding="utf-8") == make_cost_page.page(), "run scripts/make_cost_page.py"


# ---- bytes


def test_bytes_are_read_once_by_each_operation(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((16, 8), np.float16))
    path = tmp_path / "model.mil"
    path.write_text(
        text(
            '            w = const()[val = $npy("w.npy")];\n'
            "            a = linear(x = x, weight = w);\n"
            "            b = linear(x = x, weight = w);\n"
            "            y = mul(x = a, y = a);",
            outputs="y, b",
        )
    )
    cost = miltext.cost(path)
    found = named(cost)
    assert found["a"].work == found["b"].work == Work(2 * 16 * 8, 32 + 256, 256, 64)
    assert found["y"].work == Work(0, 64, 0, 64)
    assert only(cost).work == Work(512, 2 * 288 + 64, 512, 192)
    assert cost.notes == ()


def test_views_move_nothing_and_parts_only_themselves() -> None:
    cost = miltext.cost(
        text(
            "            flat = reshape(x = x, shape = [1, 16]);\n"
            "            some = slice_by_size(x = flat, begin = [0, 4], size = [1, 4]);\n"
            f"            row = gather(x = {weight(1000, 8)}, indices = [3, 5], axis = 0);\n"
            "            y = add(x = row, y = x);",
            outputs="y, some",
        )
    )
    found = named(cost)
    assert found["flat"].work == Work()
    assert found["some"].work == Work(0, 8, 0, 8)
    assert found["row"].work == Work(0, 32, 32, 32)
    assert found["y"].work == Work(0, 64, 0, 32)


def test_weights_count_as_they_are_stored() -> None:
    for name in ("mobius-unified_int8", "mobius-unified_palette_4bit"):
        package = CORPUS / "bundles" / f"{name}.mlpackage"
        if not package.exists():
            pytest.skip("needs the corpus")
        cost, size = miltext.cost(package), miltext.size(package)
        assert cost.work.weight_bytes == sum(each.bytes * len(each.uses) for each in size.weights)


SPARSE = """\
            mask = const()[val = tensor<uint1, [4, 8]>({bits})];
            kept = const()[val = tensor<fp16, [16]>({kept})];
            _, w = constexpr_sparse_to_dense(nonzero_data = kept, mask = mask);
            y = linear(x = x, weight = w);"""


def test_a_sparse_weight_counts_with_its_parts() -> None:
    bits = str([[index % 2 for index in range(8)]] * 4)
    body = SPARSE.format(bits=bits, kept=[1.0] * 16).replace("_, w =", "w =")
    cost = miltext.cost(text(body))
    assert named(cost)["y"].work == Work(2 * 4 * 8, 32 + 4 + 32, 4 + 32, 16)


# ---- peaks


def test_an_unused_input_lives_at_the_beginning_only() -> None:
    inputs = "tensor<fp16, [2, 8]> x, tensor<fp32, [100]> unused"
    cost = only(miltext.cost(text("            y = relu(x = x);", inputs)))
    assert (cost.peak_bytes, cost.peak_at) == (432, None)
    assert cost.peak_values == (("unused", 400), ("x", 32))
    inputs = inputs.replace("[100]", "[7]")
    cost = only(miltext.cost(text("            y = relu(x = x);", inputs)))
    assert (cost.peak_bytes, cost.peak_at) == (64, "y")


def test_an_output_lives_to_the_end_and_a_view_keeps_its_source() -> None:
    body = (
        "            a = relu(x = x);\n"
        "            flat = reshape(x = a, shape = [16]);\n"
        "            b = exp(x = a);\n"
        "            c = exp(x = b);\n"
        "            y = exp(x = flat);"
    )
    assert only(miltext.cost(text(body))).peak_bytes == 3 * 32, "a lives as flat while b becomes c"
    assert only(miltext.cost(text(body, outputs="y, b, c"))).peak_bytes == 4 * 32
    dead = "            dead = exp(x = x);\n            y = relu(x = x);"
    assert only(miltext.cost(text(dead))).peak_values == (("x", 32), ("dead", 32))


def test_constants_are_not_values() -> None:
    cost = only(miltext.cost(text(f"            w = const()[val = {weight(900, 8)}];", "", "w")))
    assert (cost.work, cost.peak_bytes, cost.operation_count) == (Work(), 0, 0)
    assert only(miltext.cost(text("            ", outputs="x"))).peak_bytes == 32


@pytest.fixture
def flows() -> dict[str, miltext.Model]:
    """Return models of coremltools with a loop and a choice."""
    mb = pytest.importorskip("coremltools.converters.mil").Builder
    types = pytest.importorskip("coremltools.converters.mil.mil").types
    spec = mb.TensorSpec

    @mb.program(input_specs=[spec((2, 8)), spec((1,), dtype=types.int32)])
    def choice(x, p):  # type: ignore[no-untyped-def]
        def long():  # type: ignore[no-untyped-def]
            wide = mb.concat(values=[x, x, x], axis=0)
            return mb.matmul(x=x, y=mb.matmul(x=wide, y=wide, transpose_x=True))

        scalar = mb.squeeze(x=mb.greater(x=p, y=0), axes=[0])
        return mb.cond(pred=scalar, _true_fn=long, _false_fn=lambda: mb.relu(x=x))

    @mb.program(input_specs=[spec((2, 8))])
    def loop(x):  # type: ignore[no-untyped-def]
        return mb.while_loop(
            _cond=lambda i, a: mb.less(x=i, y=9),
            _body=lambda i, a: (mb.add(x=i, y=1), mb.matmul(x=mb.matmul(x=a, y=a, transpose_y=True), y=a)),
            loop_vars=(0, x),
        )[1]

    from miltext.coreml import from_pymil

    return {name: from_pymil(each) for name, each in {"choice": choice, "loop": loop}.items()}


def test_the_larger_branch_counts(flows: Mapping[str, miltext.Model]) -> None:
    cost = miltext.cost(flows["choice"])
    assert only(cost).work.macs == 8 * 8 * 6 + 2 * 8 * 8
    assert "relu" not in {each.type for each in cost.ops}
    assert only(cost).peak_bytes == 64 + 1 + 192 + 256, "x, the choice, and in the block three of x and a square"
    assert cost.notes == ("of each `cond`, only the block with more multiply-accumulates counts, or with more bytes",)


def test_one_turn_of_a_loop_counts(flows: Mapping[str, miltext.Model]) -> None:
    cost = miltext.cost(flows["loop"])
    assert only(cost).work.macs == 2 * 2 * 8 + 2 * 8 * 2
    assert only(cost).peak_bytes == 64 + 4 + 16 + 64, "x, the next number, and in the body the products"
    assert cost.notes == ("one turn of each `while_loop` counts",)


STATE = """\
            held = read_state(input = s);
            made = add(x = held, y = x);
            write_state(input = s, data = made);
            y = relu(x = made);"""


def test_states_are_apart() -> None:
    cost = miltext.cost(text(STATE, "state<tensor<fp16, [2, 8]>> s, tensor<fp16, [2, 8]> x"))
    function = only(cost)
    assert (function.state_bytes, function.peak_bytes) == (32, 64)
    found = named(cost)
    assert found["held"].work == Work()
    assert found["write_state(...)"].work == Work(0, 32, 0, 32)
    assert found["made"].work == Work(0, 64, 0, 32)


# ---- sizes of inputs


OPEN = text("            y = relu(x = x);", "tensor<fp16, [1, ?]> x")


def test_open_sizes_need_a_shape(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"MIL435.*`x` of `main` has open sizes, \[1, \?\]") as refused:
        miltext.cost(OPEN)
    assert 'give its sizes by `shapes={"x": SIZES}`' in str(refused.value)
    for shape in ("1,9", [1, 9], (1, 9)):
        assert only(miltext.cost(OPEN, shapes={"x": shape})).work == Work(0, 18, 0, 18)
    path = tmp_path / "open.mil"
    path.write_text(OPEN)
    failed = run("cost", path)
    assert failed.exit_code == 1
    assert "give its sizes by `--shape x=SIZES`" in failed.stderr
    assert "main(x [1, 9])" in run("cost", path, "--shape", "x=1,9").stdout


@pytest.mark.parametrize(
    ("shapes", "code"),
    [
        ({"z": [1, 9]}, "MIL430"),
        ({"x": [1, 9, 1]}, "MIL435"),
        ({"x": "1,3..9"}, "MIL435"),
        ({"x": "1,?"}, "MIL435"),
        ({"x": "1,0"}, "MIL434"),
        ({"x": "1;9"}, "MIL434"),
        ({"x": "1,9..3"}, r"MIL434.*`x` begins above its end: give one number for each dimension\n"),
        ({"x": [1, (9, 3)]}, r"MIL434.*`x` begins above its end: give one number for each dimension\n"),
        ({"x": "1,9-3"}, r"MIL434.*are not sizes: give one number for each dimension\n"),
    ],
)
def test_wrong_shapes(shapes: dict[str, str | list[int]], code: str) -> None:
    with pytest.raises(ModelError, match=code):
        miltext.cost(OPEN, shapes=shapes)


def test_a_fixed_input_gets_another_size_where_it_fits() -> None:
    body = f"            y = linear(x = x, weight = {weight(4, 8)});"
    assert only(miltext.cost(text(body), shapes={"x": [5, 8]})).work.macs == 5 * 4 * 8
    with pytest.raises(ParseError, match="MIL515"):
        miltext.cost(text(body), shapes={"x": [5, 9]})


def test_defaults_and_ranges_of_a_description(tmp_path: Path) -> None:
    source, path = tmp_path / "open.mil", tmp_path / "Open.mlpackage"
    source.write_text(text("            y = relu(x = x);", "tensor<fp32, [1, ?]> x"))
    miltext.build(source, path, ranges={"x": "1,4..16"})
    assert only(miltext.cost(path)).inputs == (("x", (1, 4)),)
    assert only(miltext.cost(path, shapes={"x": [1, 16]})).work.read_bytes == 64
    (note,) = miltext.cost(path, shapes={"x": [1, 99]}).notes
    assert note == "`x` is [1, 99], which the description does not allow: it allows [1, 4 to 16]"


def test_sizes_that_only_a_run_determines_are_noted() -> None:
    cost = miltext.cost(text("            y = non_zero(x = x);"))
    assert cost.notes == ("sizes of `y` do not follow from the sizes of inputs, and count as 0",)


# ---- models


def test_several_functions() -> None:
    both = function("            y = relu(x = x);") + function("            y = exp(x = x);", name="other")
    program = f"program(1.3)\n{{\n{both}}}\n"
    cost = miltext.cost(program)
    assert [(each.function, each.work) for each in cost.functions] == [
        ("main", Work(0, 32, 0, 32)),
        ("other", Work(0, 32, 0, 32)),
    ]
    assert [each.name for each in miltext.cost(program, function="other").ops] == ["y"]
    sized = miltext.cost(program, function="other", shapes={"x": [3, 8]})
    assert only(sized).inputs == (("x", (3, 8)),)
    with pytest.raises(ModelError, match=r"MIL430.*did you mean `other`"):
        miltext.cost(program, function="othr")


def test_rows_of_several_functions_name_them() -> None:
    body, other = "            y_1 = relu(x = x);\n            y = exp(x = y_1);", "            y_1 = relu(x = x);"
    both = function(body) + function(f"{other}\n            y = tanh(x = y_1);", name="other")
    cost = miltext.cost(f"program(1.3)\n{{\n{both}}}\n")
    assert named_rows(cost_lines(cost)) >= {"relu main/y_1", "exp main/y", "relu other/y_1", "tanh other/y"}
    assert named_rows(cost_lines(miltext.cost(text(body)))) >= {"relu y_1", "exp y"}
    growth = cost_growth(model_of(text(body)), model_of(f"program(1.3)\n{{\n{both}}}\n"), {})
    assert named_rows(cost_growth_lines(growth)) >= {"relu other/y_1", "tanh other/y"}


def test_rows_of_a_pipeline_name_the_model() -> None:
    package = CORPUS / "pipelines" / "yolov8n-nms.mlpackage"
    if not package.exists():
        pytest.skip("needs the corpus")
    rows = named_rows(cost_lines(miltext.cost(package)))
    assert {"0/main/(no scope)", "conv 0/input_201_cast_fp16"} <= rows


def named_rows(lines: Iterable[str]) -> set[str]:
    """Return the last cells of tables."""
    return {line.rpartition("  ")[2] for line in lines}


def test_a_pipeline(tmp_path: Path) -> None:
    package = CORPUS / "pipelines" / "yolov8n-nms.mlpackage"
    if not package.exists():
        pytest.skip("needs the corpus")
    cost = miltext.cost(package)
    assert cost.work.macs == 4_371_993_600, "its publisher states 8.7 GFLOPs: a product and a sum each"
    assert [each.model for each in cost.functions] == ["0"]
    assert miltext.cost(package, model=0).work == cost.work
    other = miltext.cost(package, shapes={"image": [1, 3, 640, 640]})
    assert other.work == cost.work
    with pytest.raises(ModelError, match="MIL254"):
        miltext.cost(package, model=1)


def test_no_weight_file_is_needed() -> None:
    encoder = CORPUS / "pairs" / "FluidAudio__160ms_streaming_encoder"
    if not encoder.exists():
        pytest.skip("needs the corpus")
    cost = miltext.cost(encoder / "model.mil")
    assert cost.notes == (
        '"@model_path/weights/weight.bin": the file does not exist; sizes there are computed from types',
    )
    assert cost.work == miltext.cost(encoder / "model.mlmodel").work
    assert total(each.work for each in cost.ops) == cost.work
    assert total(each.work for each in cost.scopes) == cost.work
    assert total(each.work for each in cost.types) == cost.work
    lines = [*cost_lines(cost, 10)]
    assert any(f"main/encoder_layers_0 … 16 {TIMES}17" in line for line in lines)


def test_equal_families_of_other_work_have_distinct_examples(tmp_path: Path) -> None:
    inputs = "tensor<fp16, [2, 8]> x, tensor<fp16, [4, 8]> z"
    taken = ["x", "h_0", "z", "h_2"]
    lines = [f"            h_{index} = relu(x = {name});" for index, name in enumerate(taken)]
    (tmp_path / "m.mil").write_text(text("\n".join([*lines, "            y = exp(x = x);"]), inputs, "h_1, h_3, y"))
    shown = [line.rpartition("  ")[2] for line in cost_lines(miltext.cost(tmp_path / "m.mil"))]
    assert {f"relu h_# {TIMES}2, such as h_{first}".replace("#", "*") for first in (0, 2)} <= {*shown}
    assert "exp y" in shown


SUFFIXES = (".mil", ".mlmodel", ".mlpackage")

PROGRAMS = sorted(path for path in CORPUS.glob("*/*") if path.suffix in SUFFIXES)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_costs_of_the_corpus_add_up(path: Path) -> None:
    if path.parent.name == "rejected" or "__ctx__" in path.name:
        with pytest.raises(ParseError):
            miltext.cost(path)
        return
    shapes = {"x": [1, 3, 4]} if "Transpose" in path.name else {}
    shapes = {"audio_signal": [1, 16000]} if "preprocessor" in path.name else shapes
    cost = miltext.cost(path, shapes=shapes)
    assert total(each.work for each in cost.ops) == total(each.work for each in cost.functions)
    for each in cost.functions:
        assert sum(size for _, size in each.peak_values) == each.peak_bytes
        assert each.peak_bytes >= max([0, *(size for _, size in each.peak_values)])


def test_costs_are_linear_in_the_operations() -> None:
    def chain(count: int) -> str:
        names = ["x", *(f"layer_{index}_out" for index in range(count))]
        lines = [f"            {new} = relu(x = {old});" for old, new in pairwise(names)]
        return text("\n".join(lines), outputs=names[-1])

    program = miltext.parse(miltext.infer_draft(chain(10_000)))
    began = time.process_time()
    findings = miltext.check(program)
    checked = time.process_time() - began
    assert findings == []
    began = time.process_time()
    cost = miltext.cost(program)
    costed = time.process_time() - began
    assert only(cost).peak_bytes == 64
    assert costed < 4 * checked + 1, (costed, checked)


# ---- growth


def test_growth_pairs_operations_by_type_and_content(tmp_path: Path) -> None:
    old, new = (tmp_path / name for name in ("old.mil", "new.mil"))
    old.write_text(text(f"            h = linear(x = x, weight = {weight(4, 8)});\n            y = exp(x = h);"))
    new.write_text(text(f"            g = linear(x = x, weight = {weight(6, 8)});\n            y = exp(x = g);"))
    growth = cost_growth(miltext.load(new), miltext.load(new), {})
    assert not growth
    growth = cost_growth(miltext.load(old), miltext.load(new), {})
    assert growth
    assert [(each.name, each.old and each.old.macs, each.new and each.new.macs) for each in growth.ops] == [
        ("g", 64, 96),
        ("y", 0, 0),
    ]
    result = run("cost", new, "--against", old)
    assert result.exit_code == 1
    assert "main: +32 multiply-accumulates: 64 -> 96" in result.stdout
    record = json.loads(run("cost", new, "--against", old, "--json").stdout)
    assert record["operations"][0]["old"]["macs"] == 64
    same = run("cost", old, "--against", old)
    assert (same.exit_code, "no change" in same.stdout) == (0, True)


def test_an_added_function_had_no_work() -> None:
    one = f"program(1.3)\n{{\n{function('            y = relu(x = x);')}}}\n"
    two = one[:-2] + function("            y = exp(x = x);", name="other") + "}\n"

    growth = cost_growth(model_of(one), model_of(two), {})
    assert [(each.function, each.old, each.old_peak_bytes) for each in growth.functions][1] == ("other", Work(), 0)
    assert [(each.function, each.old) for each in growth.ops] == [("other", None)]


# ---- the command


def test_the_report_folds_and_limits() -> None:
    shown = run("cost", EXAMPLE, "--limit", 2).stdout
    assert re.search(r"main\(image \[1, 1, 16, 16\]\): 3\.74 k multiply-accumulates, 3\.97 kB read", shown)
    assert "6 more: a limit of 8 lists them" in shown
    record = json.loads(run("cost", EXAMPLE, "--json").stdout)
    assert (record["macs"], record["functions"][0]["peakAt"], len(record["operations"])) == (3744, "image_to_fp16", 9)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("relu(x = z)", "sizes of `z` do not follow from the sizes of inputs, and count as 0"),
        ("conv(x = x)", "sizes of `y` do not follow from the sizes of inputs, and count as 0"),
        ("frobnicate(x = x)", "the multiply-accumulates of `frobnicate` are not known, and count as 0"),
        (
            'custom_layer(x = x, class_name = string("Mine"))',
            "the multiply-accumulates of `custom_layer` are not known, and count as 0",
        ),
    ],
)
def test_wrong_and_unknown_operations_are_noted(line: str, note: str) -> None:
    cost = miltext.cost(miltext.parse(text(f"            tensor<fp16, [2, 8]> y = {line};")))
    assert cost.notes == (note,)
    assert only(cost).work.written_bytes == 32


def test_without_operations_and_elements() -> None:
    assert miltext.cost(miltext.parse("program(1.3)\n{\n}\n")).functions == ()
    empty = miltext.cost(
        miltext.parse(text("            tensor<fp16, [0, 4]> y = relu(x = x);", "tensor<fp16, [0, 4]> x"))
    )
    assert (only(empty).work, only(empty).peak_bytes, empty.notes) == (Work(), 0, ())


def test_drafts_with_arrays_and_other_sizes(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((4, 8), np.float16))
    path = tmp_path / "draft.mil"
    body = '            w = const()[val = $npy("w.npy")];\n            y = linear(x = x, weight = w);'
    path.write_text(text(body, "tensor<fp16, [?, 8]> x"))
    cost = miltext.cost(path, shapes={"x": [5, 8]})
    assert only(cost).work == Work(5 * 4 * 8, 80 + 64, 64, 40)


def test_enumerated_shapes_have_a_default(tmp_path: Path) -> None:
    compiled = CORPUS / "apple" / "mlmodelc-export__flexible-multifunction.mil"
    if not compiled.exists():
        pytest.skip("needs the corpus")
    cost = miltext.cost(compiled)
    assert [each.inputs for each in cost.functions] == [(("input", (4,)),), (("input", (2,)),)]
    assert miltext.cost(compiled, shapes={"input": [1]}, function="first").notes == ()
    (note,) = miltext.cost(compiled, shapes={"input": [9]}, function="first").notes
    assert note.startswith("`input` is [9], which the description does not allow: it allows")


def test_growth_of_pipelines_is_by_the_models_that_correspond() -> None:
    pipelines = [CORPUS / "pipelines" / f"yolov8n-nms.{kind}" for kind in ("mlmodelc", "mlpackage")]
    if not all(path.exists() for path in pipelines):
        pytest.skip("needs the corpus")
    assert not cost_growth(miltext.open_model(pipelines[0]), miltext.open_model(pipelines[1]), {})
    other = cost_growth(miltext.open_model(pipelines[0]), miltext.load(EXAMPLE), {})
    assert [(each.model, each.function) for each in other.functions] == [("", "main")]
    assert total(each.new or Work() for each in other.ops) == miltext.cost(EXAMPLE).work


def test_a_record_with_two_types_counts_with_the_larger() -> None:
    parts = f"indices = {weight(64, dtype='uint8')}, lut = {weight(16)}, shape = tensor<uint32, [1]>([128])"
    body = f"            tensor<fp16, [128]> w = constexpr_lut_to_dense()[{parts}];\n"
    body += "            tensor<fp16, [128]> y = add(x = x, y = w);"
    assert only(miltext.cost(text(body, "tensor<fp16, [128]> x"))).work.weight_bytes == 64
