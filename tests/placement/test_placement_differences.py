"""Differences of placements: exact, by names, and loud where operations have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import miltext as command
from support.dumps import BNNS, ON_ALL, PLACED, needs_measurements, published_dumps, small_dump

from miltext.diagnostics import ModelError
from miltext.placement.comparing import PlacementDifference, compare_placements
from miltext.placement.placements import read_placement


def difference(old: str, new: str) -> PlacementDifference:
    first, second = read_placement(old.encode(), "old"), read_placement(new.encode(), "new")
    assert first is not None
    assert second is not None
    return compare_placements(first, second)


@needs_measurements
def test_a_published_dump_differs_only_from_a_changed_one() -> None:
    for name, text in published_dumps().items():
        assert not difference(text, text), name
        changed = text.replace('SelectedBackend = string("classic_cpu")', 'SelectedBackend = string("other")', 1)
        if changed == text:
            continue
        found = difference(text, changed)
        assert [(each.old.backend, each.new.backend) for each in found.moved] == [("classic_cpu", "other")], name
        assert not found.restated, name
        assert not found.added, name
        assert not found.removed, name


def test_a_moved_operation_has_its_boundary_and_its_cost() -> None:
    old = PLACED.replace('SelectedBackend = string("ane")', 'SelectedBackend = string("bnns")')
    found = difference(old, PLACED)
    (moved,) = found.moved
    assert (moved.new.name, moved.old.backend, moved.new.backend, moved.after, moved.before) == (
        "y",
        "bnns",
        "ane",
        "b",
        None,
    )
    assert found.paid == 1.625 - 1.5
    assert not found.restated
    assert [len(each.segments()) for each in (found.old, found.new)] == [1, 2]


def test_operations_are_paired_by_name_in_any_order() -> None:
    lines = PLACED.split("\n")
    first = next(place for place, line in enumerate(lines) if " a = relu" in line)
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    assert not difference(PLACED, "\n".join(lines))
    renamed = difference(PLACED, PLACED.replace(" b = acos", " c = acos").replace("relu(x = b)", "relu(x = c)"))
    assert [each.name for each in renamed.added] == ["c"]
    assert [each.name for each in renamed.removed] == ["b"]


def in_functions(*functions: tuple[str, str]) -> str:
    """A dump with these functions, each with its name and with PLACED's operations, one of them by another name."""
    head, found, rest = PLACED.partition("    func main<")
    body = found + rest[: rest.rindex("}")]
    made = [body.replace("func main<", f"func {name}<").replace(" b", f" {other}") for name, other in functions]
    return f"{head}{''.join(made)}}}\n"


def test_a_renamed_function_is_paired() -> None:
    found = difference(PLACED, in_functions(("renamed", "b")).replace('string("ane")', 'string("bnns")'))
    assert found.renamed == {"main": "renamed"}
    assert [(each.old.function, each.new.function, each.new.name) for each in found.moved] == [("main", "renamed", "y")]
    assert (found.added, found.removed, found.restated) == ([], [], [])
    only = difference(PLACED, in_functions(("renamed", "b")))
    assert only
    assert (only.moved, only.added, only.removed) == ([], [], [])
    costs = in_functions(("renamed", "b")).replace("Launch_ane_ms = fp64(0x1p-3)", "Launch_ane_ms = fp64(0x1p-2)")
    assert difference(PLACED, costs).costs_differ


def test_functions_are_paired_by_name_contents_or_exclusion() -> None:
    old = in_functions(("one", "b"), ("two", "c"), ("three", "d"))
    assert difference(old, in_functions(("three", "d"), ("uno", "b"), ("two", "c"))).renamed == {"one": "uno"}
    both = difference(old, in_functions(("drei", "d"), ("eins", "b"), ("two", "c")))
    assert both.renamed == {"one": "eins", "three": "drei"}
    last = difference(old, in_functions(("two", "c"), ("one", "b"), ("drei", "other")))
    assert last.renamed == {"three": "drei"}
    assert ([each.name for each in last.removed], [each.name for each in last.added]) == (["d"], ["other"])


def test_functions_that_share_too_little_are_not_partners() -> None:
    other = small_dump(f"z = relu(x = x_4D454D5F4F5054)[{ON_ALL}, {BNNS}]")
    found = difference(PLACED, other.replace("func main<", "func other<"))
    assert found.renamed == {}
    assert len(found.removed) == 5
    assert {each.function for each in found.added} == {"other"}
    two = in_functions(("one", "b"), ("two", "b"))
    assert difference(two, in_functions(("three", "c"), ("four", "c"))).renamed == {}
    assert difference(two, in_functions(("three", "b"), ("four", "b"))).renamed == {"one": "four", "two": "three"}


def test_reasons_and_times_are_differences_on_one_backend() -> None:
    found = difference(PLACED, PLACED.replace("Unsupported MIL operation", "Another reason"))
    assert [(each.new.name, each.fields) for each in found.restated] == [("b", ["reasons"])]
    assert not found.moved
    costs = difference(PLACED, PLACED.replace("Launch_ane_ms = fp64(0x1p-3)", "Launch_ane_ms = fp64(0x1p-2)"))
    assert costs
    assert costs.costs_differ
    assert costs.paid == 0.125


def test_operations_without_names_or_with_equal_ones_are_refused() -> None:
    unnamed = '[{"op": "conv", "preferred": "CPU"}]'
    twice = '[{"op": "conv", "name": "a", "preferred": "CPU"}, {"op": "add", "name": "a", "preferred": "CPU"}]'
    for plan, message in ((unnamed, "no names"), (twice, "`a`")):
        with pytest.raises(ModelError, match=message) as refused:
            difference(plan, plan)
        assert refused.value.diagnostics[0].code == "MIL893"


def test_the_command_names_the_moved_operations(tmp_path: Path) -> None:
    old, new = tmp_path / "old.mil", tmp_path / "new.mil"
    new.write_text(PLACED, encoding="utf-8")
    old.write_text(PLACED.replace('string("ane")', 'string("bnns")'), encoding="utf-8")
    said = command("placement", new, "--against", old)
    assert said.returncode == 1
    lines = [line.strip() for line in said.stdout.decode().splitlines()]
    assert lines == [
        "> main/y (relu): bnns -> ane",
        "in a segment after b",
        "0.5 -> 0.25 ms",
        "1 of 3 operations moved; 1 -> 2 segments; estimated 1.5 -> 1.625 ms (+0.125)",
    ]
    new.write_text(PLACED.replace("func main<", "func second<"), encoding="utf-8")
    lines = command("placement", new, "--against", old).stdout.decode().splitlines()
    assert lines[:2] == ["= function main -> second", "> second/y (relu): bnns -> ane"]
    renamed = json.loads(command("placement", new, "--against", old, "--json").stdout)
    assert renamed["renamed_functions"] == {"main": "second"}
    assert (renamed["moved"][0]["old"]["function"], renamed["moved"][0]["new"]["function"]) == ("main", "second")
    same = command("placement", new, "--against", new, "--json")
    assert same.returncode == 0
    record = json.loads(same.stdout)
    assert record["moved"] == record["added"] == record["removed"] == record["restated"] == []
    assert record["totals_ms"] == {"old": 1.625, "new": 1.625}


def test_a_plan_and_a_dump_are_compared_by_devices() -> None:
    rows = [("a", "relu", "CPU"), ("b", "acos", "GPU"), ("y", "relu", "ANE")]
    plan = json.dumps([{"op": kind, "name": name, "preferred": device} for name, kind, device in rows])
    found = difference(plan, PLACED)
    assert [(each.new.name, each.old.device, each.new.device) for each in found.moved] == [("b", "GPU", "CPU")]
    assert not found.restated
    assert not found.added
