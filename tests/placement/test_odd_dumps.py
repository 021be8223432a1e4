"""Dumps with odd facts: absent reasons and costs, times that are none, functions of one side, and further checks."""

from __future__ import annotations

import json

import pytest
from support.commands import miltext as command
from support.dumps import BNNS, ON_ALL, PLACED, small_dump

from miltext.placement.comparing import compare_placements
from miltext.placement.placements import Placement, read_placement
from miltext.placement.report import difference_lines, placement_lines
from miltext.placement.segmenting import choices

PROFILE = "ane-m4-macos27"
REASON = ', ValidationMessage = dict<string, string>({{"ane", "Unsupported MIL operation \\"acos\\"."}})'


def placement(text: str, name: str = "a.mil") -> Placement:
    found = read_placement(text.encode(), name)
    assert found is not None
    return found


def test_an_absent_reason_does_not_mean_supported() -> None:
    old = PLACED.replace(REASON.replace("\\\\", "\\"), "").replace(
        '"bnns"), name = string("b")', '"classic_cpu"), name = string("b")'
    )
    assert old.count("ValidationMessage") == 0
    lines = [*difference_lines(compare_placements(placement(old), placement(PLACED)))]
    assert '    ane: not supported, without a reason -> Unsupported MIL operation "acos".' in lines


@pytest.mark.parametrize("time", ["nan", "-1", "inf"])
def test_a_time_that_is_none_is_unknown(time: str) -> None:
    text = PLACED.replace('{"ane", 0.25}', f'{{"ane", {time}}}').replace('{"bnns", 0.5}', f'{{"bnns", {time}}}')
    found = placement(text)
    assert {key for each in found.own for key in each.times} == {"classic_cpu"}
    assert found.total() is None
    assert [*placement_lines(found)]
    assert choices(found)


@pytest.mark.parametrize("costs", ["", "Launch_ane_ms = fp64(-1)", 'Launch_ane_ms = string("x")'])
def test_without_costs_no_sum_and_no_begin_is_known(costs: str) -> None:
    text = small_dump(
        f"y_4D454D5F4F5054 = relu(x = x_4D454D5F4F5054)[{ON_ALL}, {BNNS}]", costs=costs or "a = bool(true)"
    )
    found = placement(text)
    assert found.costs == {}
    assert found.total() is None
    assert [(each.start, each.switch) for each in found.segments()] == [(None, None)]
    assert any("with 0.125 ms for each begin" in line for line in placement_lines(found))


def test_whole_numbers_are_costs() -> None:
    text = PLACED.replace("Launch_ane_ms = fp64(0x1p-3)", "Launch_ane_ms = int32(1)")
    assert placement(text).costs["main"].start["ane"] == 1.0


def test_nothing_stated_about_the_neural_engine_is_a_dash() -> None:
    found = placement(small_dump(f"y_4D454D5F4F5054 = relu(x = x_4D454D5F4F5054)[{BNNS}]"))
    lines = [" ".join(line.split()) for line in placement_lines(found)]
    assert "relu 1 CPU 1 - -" in lines
    assert "which takes" not in lines[-1]
    record = json.loads(command("placement", "-", "--json", input=b'[{"op": "a", "preferred": "cpu"}]').stdout)
    assert record["types"][0]["ane"] is None


def test_costs_differ_only_in_functions_of_both_sides() -> None:
    renamed = PLACED.replace("func main<", "func other<")
    assert not compare_placements(placement(renamed), placement(PLACED)).costs_differ
    assert compare_placements(placement(PLACED.replace("0x1p-3", "0x1p-2")), placement(PLACED)).costs_differ


def test_operations_of_several_functions_have_their_function() -> None:
    start, end = PLACED.index("    func"), PLACED.rindex("}")
    text = PLACED[:end] + PLACED[start:end].replace("func main<", "func other<") + "}\n"
    lines = [" ".join(line.split()) for line in placement_lines(placement(text))]
    assert lines[0].startswith("in operation type")
    assert "other b acos bnns 0.5 classic_cpu 0.75" in lines


def test_a_profile_checks_the_operations_of_a_dump() -> None:
    found = command("check", "-", "--profile", PROFILE, "--json", input=PLACED.encode())
    assert found.returncode == 1
    codes = [each["code"] for each in json.loads(found.stdout)["diagnostics"]]
    assert codes.count("MIL892") == 1
    assert command("check", "-", input=PLACED.encode()).returncode == 0


def test_infer_refuses_a_dump_as_parse_does() -> None:
    said = command("infer", "-", input=PLACED.encode())
    assert said.returncode == 1
    assert b"MIL110" in said.stderr
    assert not said.stdout


def test_profiles_are_listed_by_placement_too() -> None:
    assert command("placement", "--profile", "list").stdout == command("check", "--profile", "list").stdout
    assert json.loads(command("placement", "--profile", "list", "--json").stdout)["profiles"][0]["name"] == PROFILE
    assert command("placement", "x.mil", "--profile", "list").returncode == 2
