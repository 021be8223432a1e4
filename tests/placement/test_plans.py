"""Exports of compute plans as people write and paste them: devices, JSON, tables, encodings, costs and broken ones."""

from __future__ import annotations

import json

import pytest
from support.commands import miltext as command
from support.dumps import PLACED

from miltext.diagnostics import ModelError
from miltext.placement.comparing import compare_placements
from miltext.placement.placements import Placement, read_placement

HEAD = "operation\toutput\tpreferred\tsupported\tcost\n"


def plan(data: str | bytes, name: str = "plan.json") -> Placement:
    found = read_placement(data.encode() if isinstance(data, str) else data, name)
    assert found is not None
    return found


def refusal_of(text: str) -> str:
    with pytest.raises(ModelError) as refused:
        plan(text)
    assert refused.value.diagnostics[0].code == "MIL890"
    return refused.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("spelled", "device"),
    [
        ("<MLNeuralEngineComputeDevice: 0x600003a1c0c0>", "ane"),
        ("Optional(<MLNeuralEngineComputeDevice: 0x600003a1c0c0>)", "ane"),
        ("<coremltools.models.compute_device.MLNeuralEngineComputeDevice object at 0x10a2b3c40>", "ane"),
        ("MLComputeDevice.neuralEngine", "ane"),
        ("neuralEngine(<MLNeuralEngineComputeDevice: 0x600003a1c0c0>)", "ane"),
        ("Optional(CoreML.MLComputeDevice.neuralEngine)", "ane"),
        ("Neural Engine", "ane"),
        ("MLComputeDevice.cpu(<MLCPUComputeDevice: 0x6000039e4000>)", "cpu"),
        ("MLCPUComputeDevice", "cpu"),
        ("<MLGPUComputeDevice: 0x14a904d40>", "gpu"),
        ("Optional(MLComputeDevice.gpu)", "gpu"),
        ("tpu", "tpu"),
        ("nil", None),
        ("Optional(nil)", None),
    ],
)
def test_devices_are_recognised_as_they_are_printed(spelled: str, device: str | None) -> None:
    row = {"op": "conv", "name": "c", "preferred": spelled, "supported": f"[<MLCPUComputeDevice: 0x1>, {spelled}]"}
    (found,) = plan(json.dumps([row])).own
    assert found.backend == device
    assert [*found.supported] == [*dict.fromkeys(filter(None, ["cpu", device]))]


def test_a_device_that_is_not_known_is_a_warning() -> None:
    said = command("placement", "-", input=b'[{"op": "conv", "name": "c", "preferred": "tpu"}]')
    assert said.returncode == 0
    assert b"warning[MIL895]: `tpu` is an unknown device" in said.stderr
    known = command("placement", "-", input=b'[{"op": "conv", "name": "c", "preferred": "MLComputeDevice.cpu"}]')
    assert b"MIL895" not in known.stderr


def test_json_with_blocks_usages_and_functions_as_keys() -> None:
    inner = {"operatorName": "relu", "outputs": ["r"], "computeDevice": "cpu"}
    outer = {
        "operatorName": "cond",
        "outputs": ["y"],
        "deviceUsage": {"preferred": "MLCPUComputeDevice", "supported": ["cpu", "gpu"]},
        "blocks": [{"operations": [inner]}],
    }
    for shaped in (
        {"modelStructure": {"functions": {"prefill": {"block": {"operations": [outer]}}}}},
        {"prefill": [outer]},
    ):
        found = [(each.function, each.type, each.backend, [*each.supported]) for each in plan(json.dumps(shaped)).own]
        assert found == [("prefill", "cond", "cpu", ["cpu", "gpu"]), ("prefill", "relu", "cpu", [])]
    lines = "\n".join(json.dumps(each) for each in (inner, inner | {"outputs": ["s"]}))
    assert [each.name for each in plan(f"\n{lines}\n").own] == ["r", "s"]
    assert "'op' twice" in refusal_of('[{"op": "a", "op": "b", "preferred": "cpu"}]')


def test_constants_do_not_cut_segments() -> None:
    rows = "ios18.conv\ta\tANE\tANE\t\nconst\tw\t\t\t\nconv\tb\tANE\tANE\t\n"
    (segment,) = plan(HEAD + rows).segments()
    assert [each.name for each in segment.run] == ["a", "b"]


@pytest.mark.parametrize(
    ("cost", "share"), [("0,5", 0.5), ("40%", 0.4), ("0.25", 0.25), ("", None), ("nil", None), ("1e-3", 0.001)]
)
def test_costs_as_people_write_them(cost: str, share: float | None) -> None:
    assert plan(f"{HEAD}conv\ta\tANE\tANE\t{cost}\n").own[0].cost == share


@pytest.mark.parametrize("cost", ["much", "nan", "-1", "inf"])
def test_a_cost_that_is_none_is_refused_with_its_line(cost: str) -> None:
    message = refusal_of(f"\n\n{HEAD}conv\ta\tANE\tANE\t0.1\nconv\tb\tANE\tANE\t{cost}\n")
    assert message.startswith("line 5: a cost is no")


def test_a_repeated_column_is_refused() -> None:
    assert "the column `cost` occurs twice" in refusal_of("operation\tcost\tdevice\tCost\nconv\t1\tcpu\t2\n")


def test_rows_are_in_the_order_of_their_index() -> None:
    rows = "main\t1\trelu\tb\tANE\nmain\t0\tconv\ta\tCPU\n"
    head = "function\tindex\toperation\toutput\tpreferred\n"
    assert [each.name for each in plan(head + rows).own] == ["a", "b"]
    assert [each.name for each in plan(head + rows.replace("\t0\t", "\t-\t")).own] == ["b", "a"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_tables_in_the_encodings_and_separators_of_spreadsheets(encoding: str) -> None:
    text = '\n\noperation,output,preferred,supported,cost\nconv,a,ANE,"CPU, ANE","0,5"\n'
    for each in (text, HEAD + "conv\ta\tANE\tCPU, ANE\t0,5\n", '[{"op":"conv","name":"a","device":"ANE","cost":0.5}]'):
        (found,) = plan(each.encode(encoding)).own
        assert (found.name, found.backend, found.cost) == ("a", "ane", 0.5)
    with pytest.raises(ModelError, match="UTF-16"):
        plan(b"\xff\xfe\0")


def test_a_case_or_the_only_function_pairs_with_a_dump() -> None:
    dump = plan(PLACED, "add.mil")
    for text in (
        "case\toperation\toutput\tpreferred\nadd\trelu\ta\tANE\nadd\tacos\tb\tCPU\nadd\trelu\ty\tANE\n",
        "case\toperation\toutput\tpreferred\nadd\trelu\ta\tANE\nadd\tacos\tb\tCPU\nadd\trelu\ty\tANE\nmul\tmul\tz\tCPU\n",
    ):
        difference = compare_placements(plan(text, "plan.tsv"), dump)
        assert [each.new.name for each in difference.moved] == ["a"]
        assert not difference.added
        assert not difference.removed
