"""The table of facts about devices, the page made of it, and the certainty of operations."""

from __future__ import annotations

import sys

import pytest
from conftest import ROOT

import miltext
from miltext.evaluation.devices.curves import CURVES
from miltext.evaluation.devices.engine_rules import ENGINE
from miltext.evaluation.devices.facts import FACTS, GAPS, MEASURED, PRODUCTS, facts_of
from miltext.evaluation.rules import RULES
from miltext.evaluation.standing import lines
from miltext.placement.gaps import UNKNOWN_PLACEMENTS
from miltext.placement.rules import table

sys.path.insert(0, str(ROOT / "scripts"))

import make_neural_engine_page


def test_the_page_is_made_of_the_table() -> None:
    text = make_neural_engine_page.PAGE.read_text(encoding="utf-8")
    assert text == make_neural_engine_page.page(), "run scripts/make_neural_engine_page.py"
    for fact in FACTS:
        assert fact.rule in text
        assert fact.source.removeprefix("https://") in text
    for gap in (*GAPS, *UNKNOWN_PLACEMENTS):
        assert gap.what in text
    for rule in table():
        assert all(atom in text for atom in rule.when.split("; "))
        assert rule.message in text


def test_each_rule_of_the_engine_has_a_fact() -> None:
    without = {name for name in ENGINE if not facts_of("ane", name)}
    assert without == {"square"}  # computed as a mul
    assert miltext.Evaluator.__name__  # importing it enters the rules
    named = {name for fact in FACTS for name in fact.operations} | {name for gap in GAPS for name in gap.operations}
    assert named <= RULES.keys()
    assert CURVES.keys() <= named
    assert {name for name, rule in RULES.items() if "Multiply" in rule.forms.values()} == {*PRODUCTS}
    assert all(fact.source and fact.chips and fact.needs for fact in FACTS)
    assert {fact.device for fact in FACTS} == {"ane", "cpu"}
    assert sum(fact.certainty == MEASURED for fact in FACTS) > 10


def standings(operations: str, *, compute: str = "ane", chip: str = "M4") -> dict[str, tuple[str, str]]:
    text = f"""program(1.3)
{{
    func main<ios18>(tensor<fp16, [1, 4, 3, 3]> x, tensor<fp16, [2, 80, 1, 1]> wide, tensor<fp16, [1, 80, 1, 1]> z) {{
        {operations}
    }} -> (y);
}}
"""
    evaluator = miltext.Evaluator(text, compute=compute, chip=chip)
    return {each.name: (each.certainty, each.reason) for each in evaluator.standings()}


ONE = "tensor<fp16, [1, 4, 1, 1]>([[[[1]], [[2]], [[3]], [[4]]]])"
THREE = f"tensor<fp16, [1, 4, 3, 3]>({[[[[1] * 3] * 3] * 4]})"
BIAS = "tensor<fp16, [1]>([1])"


@pytest.mark.parametrize(
    ("operation", "compute", "chip", "certainty", "reason"),
    [
        (f"y = conv(x = x, weight = {ONE});", "ane", "M4", "assumed", "products below 2^-15, infinities and a bias"),
        (f"y = conv(x = x, weight = {ONE});", "ane", "M6", "measured", ""),
        (f"y = conv(x = x, weight = {ONE});", "cpu", "M4", "measured", ""),
        (f"y = conv(x = x, weight = {ONE}, bias = {BIAS});", "ane", "M6", "measured", ""),
        (f"y = conv(x = x, weight = {THREE});", "ane", "M6", "assumed", "Winograd"),
        ("y = conv(x = z, weight = wide);", "ane", "M6", "assumed", "more than 64 terms"),
        ("y = matmul(x = x, y = x);", "ane", "M6", "assumed", "measured on 1x1 convolutions"),
        ("y = add(x = x, y = x);", "ane", "M4", "assumed", "measured on an M6"),
        ("y = add(x = x, y = x);", "ane", "M6", "measured", ""),
        ("y = add(x = x, y = x);", "cpu", "M6", "measured", ""),
        ("y = square(x = x);", "ane", "M6", "assumed", "computed as mul"),
        ("y = tanh(x = x);", "ane", "M6", "assumed", "not its bits"),
        ("y = softplus(x = x);", "ane", "M4", "assumed", "the threshold of a report"),
        ("y = softplus(x = x);", "cpu", "M4", "assumed", "computed in float32"),
        ("y = softmax(x = x, axis = 1);", "ane", "M6", "assumed", "not measured"),
        ('y = cast(x = x, dtype = "fp32");', "ane", "M6", "assumed", "not fp16"),
        ("y = transpose(x = x, perm = [0, 1, 3, 2]);", "ane", "M4", "none", "moves elements"),
    ],
)
def test_how_certain_an_operation_is(operation: str, compute: str, chip: str, certainty: str, reason: str) -> None:
    found, why = standings(operation, compute=compute, chip=chip)["y"]
    assert found == certainty
    assert reason in why
    assert bool(why) == (certainty != "measured")


@pytest.mark.parametrize(
    ("scale", "bias", "chip", "reasons"),
    [
        ("fp16(0.5)", "", "M6", []),
        ("fp16(0.5)", "", "M4", ["int8 was measured on an M6"]),
        ("tensor<fp16, [2]>([1, 2])", "", "M6", ["a scale for each channel was not measured"]),
        ("fp16(0.5)", ", bias = tensor<fp16, [2]>([1, 2])", "M6", ["a bias after int8 was not measured"]),
    ],
)
def test_int8_is_measured_as_far_as_it_was(scale: str, bias: str, chip: str, reasons: list[str]) -> None:
    data = f"tensor<int8, [2, 4, 1, 1]>({[[[[1]]] * 4] * 2})"
    zeros = "tensor<int8, [2]>([0, 0])" if "tensor" in scale else "int8(0)"
    operations = f"""q = quantize(input = x, scale = fp16(1), output_dtype = "int8");
        d = dequantize(input = q, scale = fp16(1));
        w = constexpr_affine_dequantize()[quantized_data = {data}, zero_point = {zeros}, scale = {scale}, axis = 0];
        y = conv(x = d, weight = w{bias});"""
    certainty, reason = standings(operations, chip=chip)["y"]
    assert reason == "; ".join(reasons)
    assert certainty == ("assumed" if reasons else "measured")


def test_many_operations_of_a_kind_are_one_line() -> None:
    text = "; ".join(f"a{place} = tanh(x = x)" for place in range(5))
    evaluator = miltext.Evaluator(
        f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [2]> x) {{\n{text};\n    }} -> (a0);\n}}\n", compute="ane"
    )
    (line,) = lines(evaluator.standings())
    assert line.startswith("assumed   tanh a0, a1, a2, and 2 more: a recipe")


def test_no_device_has_no_standings() -> None:
    assert standings("y = tanh(x = x);", compute="float32") == {}


@pytest.mark.parametrize("choice", [{"compute": "gpu"}, {"compute": "ane", "chip": "M5"}])
def test_an_unknown_device_or_chip_is_refused(choice: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        miltext.Evaluator("program(1.3)\n{\n}\n", **choice)  # type: ignore[arg-type]
