"""Placements of dumps and compute plans: operations, segments, sums, the cheapest way, and what other files give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import miltext as command
from support.dumps import ANE, FOLDERS, PLACED, index, needs_measurements, published_dumps, small_dump

from miltext.diagnostics import ModelError
from miltext.placement.placements import Placement, read_placement
from miltext.placement.segmenting import choices

STUDY = """add\t0\tios18.conv\tc0\tANE\tCPU,ANE\t0.7500
add\t1\tios18.add\ta0\tCPU\tCPU\t0.2500
"""
HEADED = "operator_name\toutput\tsupported\tpreferred\nios17.conv\tc0\tCPU, ANE\tMLNeuralEngineComputeDevice\n"
SWIFT = {
    "computePlans": [
        {
            "component": "detector",
            "operations": [
                {
                    "operatorName": "ios18.conv",
                    "outputs": ["c0"],
                    "estimatedCostWeight": 0.75,
                    "preferredComputeDevice": "neuralEngine",
                    "supportedComputeDevices": ["cpu", "neuralEngine"],
                },
                {
                    "operatorName": "const",
                    "outputs": ["w"],
                    "preferredComputeDevice": None,
                    "supportedComputeDevices": [],
                },
            ],
        }
    ]
}
PYTHON = [{"op": "conv", "name": "c0", "preferred": "MLNeuralEngineComputeDevice", "supported": ["MLCPUComputeDevice"]}]


def placement(text: str, name: str = "a.mil") -> Placement:
    found = read_placement(text.encode(), name)
    assert found is not None
    return found


def rows(found: Placement) -> list[tuple[object, ...]]:
    return [(each.function, each.type, each.name, each.backend, [*each.supported], each.cost) for each in found.own]


def test_segments_and_sums_follow_the_cost_model() -> None:
    found = placement(PLACED)
    assert [(each.backend, each.first, each.last, each.time, each.start, each.switch) for each in found.segments()] == [
        ("bnns", "a", "b", 1.0, 0.0, 0.0),
        ("ane", "y", "y", 0.25, 0.125, 0.125),
    ]
    assert found.total() == 1.0 + 0.25 + 0.125 + 0.125 + 0.125  # the end on the Neural Engine, too
    assert [(each.type, each.number, each.devices, each.taken, each.time) for each in found.types()] == [
        ("relu", 2, {"ANE": 1, "CPU": 1}, 2, 0.75),
        ("acos", 1, {"CPU": 1}, 0, 0.5),
    ]
    (choice,) = choices(found).values()
    assert choice.backends == ["bnns", "bnns", "bnns", "bnns"]
    assert choice.cost == 1.5
    assert not choice.agrees()


def test_the_sum_is_unknown_without_an_estimate() -> None:
    found = placement(small_dump('y_4D454D5F4F5054 = relu(x = x_4D454D5F4F5054)[SelectedBackend = string("bnns")]'))
    assert found.total() is None
    assert [each.time for each in found.segments()] == [None]


@needs_measurements
def test_the_cheapest_way_is_chosen_in_83_of_84_dumps() -> None:
    wrong = []
    for name, text in published_dumps().items():
        found = placement(text, name)
        for choice in choices(found).values():
            if not choice.agrees():
                wrong.append(name)
            elif found.total() != pytest.approx(choice.cost, abs=1e-9):
                wrong.append(f"{name}: {found.total()}")
    assert wrong == ["placement-2/ctx/band_part.mil"]


def test_plans_are_read_however_people_write_them() -> None:
    assert rows(placement(STUDY)) == [
        ("add", "conv", "c0", "ane", ["cpu", "ane"], 0.75),
        ("add", "add", "a0", "cpu", ["cpu"], 0.25),
    ]
    assert rows(placement(HEADED)) == [("main", "conv", "c0", "ane", ["cpu", "ane"], None)]
    assert rows(placement(json.dumps(SWIFT))) == [
        ("detector", "conv", "c0", "ane", ["cpu", "ane"], 0.75),  # a constant runs nowhere
    ]
    assert rows(placement(json.dumps(PYTHON))) == [("main", "conv", "c0", "ane", ["cpu"], None)]


@needs_measurements
def test_the_tables_of_the_study_are_plans() -> None:
    for folder in FOLDERS:
        text = (ANE / folder / "index.tsv").read_text(encoding="utf-8")
        found = placement(text, "index.tsv")
        expected = [(each["case"], each["operation"], each["output"], each["ane"] == "yes") for each in index(folder)]
        assert [(each.function, each.type, each.name, "ane" in each.supported) for each in found.own] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no operation"),
        ("[", "cannot be read"),
        ("a\tb\nc\td\n", "no operation"),
        ("[" * 100_000, "cannot be read"),
        ('[{"op": "conv", "preferred": "CPU", "cost": "much"}]', "not a number"),
    ],
)
def test_a_broken_plan_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as refused:
        read_placement(text.encode(), "plan.json")
    assert refused.value.diagnostics[0].code == "MIL890"


def test_other_files_have_no_placement(tmp_path: Path) -> None:
    assert read_placement(b"program(1.3)\n{\n}\n", "a.mil") is None
    assert read_placement(b"\0\1", "a.pb") is None
    assert command("placement", tmp_path / "none.mil").returncode == 2
    (tmp_path / "note.txt").write_text("note\n", encoding="utf-8")
    refused = command("placement", tmp_path / "note.txt")
    assert refused.returncode == 1
    assert b"MIL890" in refused.stderr
    broken = command("placement", "-", input=PLACED.replace("relu(", "relu((", 1).encode())
    assert broken.returncode == 1
    assert b"error[MIL" in broken.stderr


def test_the_report_has_backends_reasons_and_times() -> None:
    said = command("placement", "-", input=PLACED.encode()).stdout.decode()
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "b acos bnns 0.5 classic_cpu 0.75" in lines
    assert 'ane: Unsupported MIL operation "acos".' in lines
    assert "main ane 1 0.25 0.25 y" in lines
    assert "relu 2 ANE 1, CPU 1 2 of 2 0.75" in lines
    assert lines[-1] == "main: the cheapest way by these estimates has other devices, for 1.5 ms"
    record = json.loads(command("placement", "-", "--json", input=PLACED.encode()).stdout)
    assert [each["backend"] for each in record["operations"]] == ["bnns", "bnns", "bnns", "ane", "bnns"]
    assert record["operations"][2]["reasons"] == {"ane": 'Unsupported MIL operation "acos".'}
    assert record["total_ms"] == 1.625
    assert record["cheapest"] == {"main": {"devices": ["CPU"] * 4, "ms": 1.5, "agrees": False}}
