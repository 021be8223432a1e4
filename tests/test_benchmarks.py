"""The benchmarks run, and what they measure on is what it should be. No time is looked at."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT, wire

import miltext

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.converted import NETWORKS, text_of
from benchmarks.evaluation import CONVERTED, PRECISIONS, SMALL, Pair
from benchmarks.measure import Contender, Contest, Result, cold, measure, returned
from benchmarks.peers import coremltools, mlir_text
from benchmarks.programs import immediate_program, nested_text, network_text
from benchmarks.reach import REACHES
from benchmarks.report import reach_table, result_table
from benchmarks.workloads import SERVED, TYPED, WORKLOADS

pytestmark = pytest.mark.any_version


def test_a_network_is_canonical_and_reads_back_equal() -> None:
    text = network_text(200)
    program = miltext.parse(text)
    assert miltext.to_text(program) == text
    block = program.functions["main"].block_specializations["CoreML7"]
    names = [operation.outputs[0].name for operation in block.operations]
    assert 200 <= len(names) == len(set(names)) < 300
    assert mlir_text(program).count(" : (") == len(names)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "int8", "int4"])
def test_an_immediate_reads_back_equal(dtype: str) -> None:
    program = immediate_program(dtype, 2000)
    text = miltext.to_text(program)
    assert "$" not in text  # the usual literal, not one that names its field
    assert text.count(", ") > 2000
    assert wire(miltext.parse(text)) == wire(program)


def test_nested_blocks_read_back_equal() -> None:
    program = miltext.parse(nested_text(40, 2))
    assert miltext.to_text(program).count(" cond(") == 80
    assert wire(miltext.parse(miltext.to_text(program))) == wire(program)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc how much memory there is")
def test_large_arrays_are_measured() -> None:
    call = [sys.executable, str(ROOT / "benchmarks" / "large_arrays.py"), "--mebibytes", "1", "--only", "order"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert len(re.findall(r"^in .* \d+\.\d s +\d+\.\d MiB$", done.stdout, re.MULTILINE)) >= 4


def test_a_built_model_is_right_and_has_its_weights() -> None:
    for contest in WORKLOADS["building"](lambda number: max(number // 100, 1)):
        (checked, unchecked) = [contender.run for contender in contest.contenders]
        assert checked is not None
        assert unchecked is not None
        checked()
        unchecked()


def test_contenders_take_turns_and_one_may_be_missing() -> None:
    turns: list[str] = []
    first = Contender("first", lambda: turns.append("a"), before=lambda: turns.append("-"))
    contest = Contest("turns", "run", [first, Contender("second", lambda: turns.append("b")), Contender("third", None)])
    result = measure(contest, 3, budget=1)
    assert "".join(turns) == "-ab" * 3
    assert "not installed" in result_table(result)


def test_a_reach_is_judged_by_the_median() -> None:
    costs: dict[str, list[float] | None] = {
        "miltext.parse": [1.0, 1.0, 1.0],
        "miltext.parse, warm": [0.5, 0.5, 0.5],
        "text_format.Parse": [1.0, 11.0, 30.0],
        "coremltools, proto to pymil": [1.0, 6.0, 6.0],
    }
    shown = reach_table({"pair: parse": Result("pair: parse", "run", costs)}).splitlines()[2:]
    assert [row.split(" | ")[2].strip() for row in shown] == ["11.0x", "6.00x"]
    assert [row.split()[-2] for row in shown] == ["no", "yes"]
    costs["coremltools, proto to pymil"] = None
    assert "not installed" in reach_table({"pair: parse": Result("pair: parse", "run", costs)})


def test_the_peers_are_left_as_they_are() -> None:
    loader = pytest.importorskip("coremltools.converters.mil.frontend.milproto.load")
    before = dict(vars(loader))
    network = miltext.parse(network_text(1))
    peer = coremltools(network, 8)
    assert peer.load is not None
    peer.load()
    assert vars(loader) == before


def test_every_reach_is_of_a_contest_and_its_contenders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that import coremltools are named, but not started: each would compile all of that."""
    monkeypatch.setattr("benchmarks.workloads.find_spec", lambda name: name != "coremltools" and find_spec(name))
    results = {}
    for workload in WORKLOADS.values():
        for contest in workload(lambda number: max(number // 1000, 1)):
            costs: dict[str, list[float] | None] = {contender.name: [1.0] for contender in contest.contenders}
            results[contest.name] = Result(contest.name, contest.unit, costs)
    assert {reach.contest for reach in REACHES} <= {*results}
    assert reach_table(results).count("\n") == len(REACHES) + 2
    assert len({reach.what for reach in REACHES}) == len(REACHES)


def test_cold_forgets_the_input() -> None:
    from miltext.parsing.lowering.plain import plain_type

    miltext.parse(network_text(1))
    assert plain_type
    cold()
    assert not plain_type


def test_lowering_a_string_does_not_depend_on_the_memo() -> None:
    from miltext.parsing.lowering.plain import plain_type
    from miltext.parsing.lowering.values import STRING

    miltext.parse(network_text(1))
    cold()
    assert plain_type("string") is STRING


def test_the_benchmark_sends_requests_that_the_server_answers() -> None:
    pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")
    contests = WORKLOADS["server"](lambda _: 20)
    asked, typed = next(contests), next(contests)  # the server lives until the next one is asked for
    assert [contender.name for contender in asked.contenders] == ["miltext.check", *SERVED]
    assert [contender.name for contender in typed.contenders] == [*TYPED]
    assert all(0 < returned(contender.run) < 60 for contender in typed.contenders if contender.run)
    assert list(contests) == []


SLACK = 4 << 20
"""Bytes that the program and its plan may take besides: the weights of a small network do not outweigh them."""


@pytest.mark.parametrize("name", ["resnet18", "a stateful decoder"])
def test_networks_come_out_as_in_torch(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the networks are torch's")
    pytest.importorskip("coremltools", reason="coremltools converts the networks")
    for precision in PRECISIONS:
        pair = Pair(name, 64, precision, tmp_path)
        assert pair.evaluator.plan.steps  # it has computed what torch does, or there is none
        assert pair.run().shape == pair.run_torch().shape
        if sys.platform == "linux":
            measured, bound = pair.memory
            assert 0 < measured < bound + SLACK


@pytest.mark.parametrize("name", SMALL)
def test_small_networks_come_out_as_in_torch(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the networks are torch's")
    pytest.importorskip("coremltools", reason="coremltools converts the networks")
    for precision in PRECISIONS:
        pair = Pair(name, SMALL[name][0], precision, tmp_path)
        assert pair.run().shape == pair.run_torch().shape


def test_networks_that_cannot_be_made_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.evaluation.find_spec", lambda _: None)
    contests = list(WORKLOADS["evaluation"](lambda number: number))
    assert len(contests) == 2 * len(CONVERTED) + 2 * len(SMALL)
    assert not any(contender.run for contest in contests for contender in contest.contenders)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_converted_network_is_checked(name: str) -> None:
    pytest.importorskip("torch", reason="the networks are torch's")
    pytest.importorskip("coremltools", reason="coremltools converts the networks")
    text = text_of(name, lambda number: number // 6)
    assert not miltext.check(text)
    assert text.count(";\n") > 20


def test_networks_that_fail_to_convert_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.converted.find_spec", lambda _: None)
    contests = list(WORKLOADS["converted"](lambda number: number))
    assert len(contests) == len(NETWORKS) >= 5
    assert not any(contender.run for contest in contests for contender in contest.contenders)


def test_the_benchmark_runs(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--quick", "--only", "formatting", "--json", str(figures)]
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), *options]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert all(len(costs) == 2 for costs in found["contests"][0]["costs"].values() if costs is not None)
    assert [reach["what"] for reach in found["reaches"]] == [
        each.what for each in REACHES if each.contest == "pair: format"
    ]
    assert found["reaches"][0]["what"] in run.stdout
