"""Broken operations of valid Programs: what coremltools refuses is told, what it loads is not, and nothing crashes."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.check_mutants import drafts
from support.check_mutants.judging import ALARM, BLIND, CRASH, ELSEWHERE, STRICTER, TOLD, UNNAMED, VALID, Said, told
from support.check_mutants.loader import refusal, weights_made_up
from support.check_mutants.matrix import DTYPES, VALUES_AND_SHAPES, figures, markdown, share, table
from support.check_mutants.run import rows, seeds, sites_of
from support.check_mutants.sites import Copy, Mutant

from miltext.parsing.parser import parse
from miltext.schema.operations import all_names, versions
from miltext.schema.paths import Key

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.skipif(importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"),
]

OPERATIONS = ("logical_or", "slice_update", "constexpr_lut_to_sparse", "scaled_dot_product_attention")


@pytest.fixture(autouse=True)
def _loader() -> Iterator[None]:
    with weights_made_up():
        yield


@cache
def _rows() -> list[dict[str, Any]]:
    return list(rows(sites_of([], 1, OPERATIONS)))


def test_coremltools_loads_the_seeds() -> None:
    assert [name for name, program in seeds() if refusal(program) is not None] == []
    assert {site.operation.type for site in sites_of([], 1)} >= set(OPERATIONS)


def test_nothing_crashes_and_nothing_alarms() -> None:
    bad = [
        row for row in _rows() if row["verdict"] in (CRASH, ALARM) or row.get("draft") in (drafts.CRASH, drafts.NO_TYPE)
    ]
    assert [(row["operation"], row["label"], row["said"], row["crash"]) for row in bad] == []


def test_most_refusals_are_reported() -> None:
    for kinds, least, part in ((None, 300, 0.99), (VALUES_AND_SHAPES, 100, 0.98), (DTYPES, 80, 0.98)):
        told, refused = share(_rows(), kinds)
        assert refused > least
        assert told / refused > part


def test_every_class_of_mistakes_is_tried() -> None:
    kinds = {row["kind"].partition(":")[0] for row in _rows()}
    assert {"rank of an operand", "slice bounds", "data type of a constant", "misspelt parameter", "as it is"} <= kinds
    assert {row["verdict"] for row in _rows()} >= {TOLD, VALID, STRICTER}


def test_two_runs_are_equal() -> None:
    def labels() -> list[tuple[str, str]]:
        return [(row["kind"], row["label"]) for row in rows(sites_of([], 1, ["ceil", "logical_or"]), try_drafts=False)]

    assert labels() == labels() != []


SITE = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x) {
            tensor<fp32, [2, 1]> y = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = x);
        } -> (y);
}
"""
PATH = ("functions", Key("main"), "block_specializations", Key("CoreML8"), "operations", 0)


@pytest.mark.parametrize(
    ("words", "at_argument", "at_operation", "clashes", "verdict"),
    [
        ("`axes` of `reduce_sum` has 5, but `x` has rank 2", True, True, False, TOLD),
        ("`axes = [5]` is out of range", True, True, False, TOLD),
        ("axes is out of range", True, True, False, UNNAMED),
        ("`x` is of rank 2", True, True, False, UNNAMED),
        ("`x` is of rank 2", True, True, True, TOLD),
        ("`my_axes` is out of range", True, True, True, UNNAMED),
        ("`axes` is out of range", False, True, False, ELSEWHERE),
        ("`axes` is out of range", False, False, True, ELSEWHERE),
    ],
)
def test_faults_that_count_as_reported(
    words: str, at_argument: bool, at_operation: bool, clashes: bool, verdict: str
) -> None:
    mutant = Mutant("axes", "", Copy(parse(SITE), PATH), "axes", clashes)
    assert told(mutant, Said("MIL000", words, words, "error", at_operation, at_argument)) == verdict


def test_the_unchecked_parameters_of_coremltools_exist() -> None:
    parameters = {
        (name, parameter) for name in all_names() for version in versions(name) for parameter in version.parameters
    }
    assert sorted(set(BLIND) - parameters) == []


def test_the_matrix_counts_each_mutant_once() -> None:
    lines = [line.split("\t") for line in table(_rows())]
    counted = [int(line[1]) for line in lines[1:]]
    assert counted[-1] == sum(counted[:-1]) == len(_rows())
    assert len(list(figures(_rows()))) == 4


def test_the_table_of_the_docs_has_every_class() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    shown, made = (
        [line.split("|")[1].strip() for line in text.splitlines() if "|" in line] for text in (page, markdown(_rows()))
    )
    assert set(made) <= set(shown)
