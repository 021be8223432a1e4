"""Names of operations in `metadata.json`: the table of definitions against published names, and its own laws."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import corpus_files

from miltext.compiled.definitions import OLDEST, SOURCES, _rows, definition
from miltext.compiled.histogram import histogram
from miltext.ir.parts import Op
from miltext.schema.operations import all_names, signature
from miltext.schema.opsets import OPSETS

OPERATIONS = sorted({*all_names()} - {"const"})
OPSET = {OLDEST + place: opset.proto for place, opset in enumerate(OPSETS)}
PAGE = " ".join((Path(__file__).parents[2] / "docs" / "compiled-models.md").read_text(encoding="utf-8").split())
CELLS = [(name, function) for name, row in _rows().items() for function in row.sources]


def counted(opset: str, *operations: str) -> dict[str, int]:
    return dict(histogram([cast(Op, SimpleNamespace(type=each)) for each in operations], opset).counts)


def kind_of_doubt(operation: str, opset: str) -> str:
    found = histogram([cast(Op, SimpleNamespace(type=operation))], opset).doubts
    return "seen" if not found else "elsewhere" if found[0].source else "never"


# ---- published names


@pytest.mark.parametrize("path", corpus_files("metadata/histogram-names.tsv"))
def test_each_published_name_is_made(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    assert len(rows) > 100
    made = {(opset, name): each for opset in OPSET.values() for each in OPERATIONS for name in counted(opset, each)}
    assert [row for row in rows if (row["opset"], row["name"]) not in made] == []
    for row in rows:
        doubt = kind_of_doubt(made[row["opset"], row["name"]], row["opset"])
        assert doubt == "seen" or (doubt == "elsewhere" and "plan" in row["source"]), row


@pytest.mark.parametrize(
    ("operation", "opset", "name", "kind"),
    [
        ("reduce_mean", "CoreML6", "Ios16.reduceMean", "seen"),
        ("reduce_mean", "CoreML8", "Ios16.reduceMean", "seen"),
        ("log", "CoreML6", "Ios16.log", "seen"),
        ("pad", "CoreML7", "Pad", "seen"),
        ("pad", "CoreML8", "Pad", "elsewhere"),
        ("range_1d", "CoreML8", "Range1d", "seen"),
        ("identity", "CoreML5", "Identity", "seen"),  # as iOS17 has no newer definition
        ("leaky_relu", "CoreML8", "Ios18.leakyRelu", "elsewhere"),
        ("dequantize", "CoreML9", "Ios19.dequantize", "elsewhere"),
        ("matmul", "CoreML9", "Ios18.matmul", "elsewhere"),
        ("erf", "CoreML5", "Erf", "never"),
        ("erf", "CoreML7", "Ios17.erf", "never"),
        ("reduce_prod", "CoreML8", "Ios16.reduceProd", "never"),
        ("foo_bar", "CoreML7", "FooBar", "never"),
        ("foo_bar", "CoreML8", "Ios18.fooBar", "never"),
    ],
)
def test_a_name_and_its_kind_of_evidence(operation: str, opset: str, name: str, kind: str) -> None:
    assert counted(opset, operation, "const", operation) == {name: 2}
    assert kind_of_doubt(operation, opset) == kind


def test_operations_of_one_name_are_counted_together() -> None:
    assert counted("CoreML7", "foo_bar", "foo_Bar") == {"FooBar": 2}


# ---- the laws of the table


def test_the_table_has_each_known_operation_once() -> None:
    assert sorted(_rows()) == OPERATIONS
    assert {source for row in _rows().values() for source in row.sources.values()} == {*SOURCES.values()}


def test_definitions_ascend_and_are_not_older_than_coremltools() -> None:
    for name, row in _rows().items():
        assert [*row.opsets] == sorted({*row.opsets}), name
        for number, proto in OPSET.items():
            known = signature(name, proto)
            if known is not None:
                first, newest = int(known.opset.removeprefix("ios")), definition(name, proto).opset
                assert first <= newest <= max(number, first), (name, proto)


# ---- the guesses

MOVING = {"tensor_operation", "tensor_transformation", "control_flow"}
"""The modules of coremltools whose operations move elements, and do not compute."""

Known = tuple[str, int, int]
"""An operation, the opset of a function, and the opset of the definition that a public name shows."""


def kinds(name: str, function: int, modules: dict[str, str]) -> list[object]:
    """The kinds of an operation, the nearest first: with its module, and with the sort of its module."""
    known, module = signature(name, OPSET[function]), modules.get(name, "")
    newest = known.opset if known else ""
    sort = "moving" if module in MOVING else "elementwise" if module.startswith("elementwise") else "other"
    return [(module, newest), (sort, newest)]


def predicted(name: str, function: int, others: list[Known], modules: dict[str, str]) -> int:
    for place, kind in enumerate(kinds(name, function, modules)):
        votes = [found for other, at, found in others if at == function and kinds(other, at, modules)[place] == kind]
        if votes:
            return Counter(votes).most_common(1)[0][0]
    known = signature(name, OPSET[function])
    return int(known.opset.removeprefix("ios")) if known and function != 18 else function


def test_names_of_other_operations_predict_those_held_out() -> None:
    pytest.importorskip("coremltools")
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

    versions = {name: [*found.values()] for name, found in SSAOpRegistry.core_ops.items()}
    modules = {name: found[0].__module__.rpartition(".")[2] for name, found in versions.items()}
    known = [(name, at, _rows()[name].at(at)) for name, at in CELLS if OLDEST < at < max(OPSET)]
    right = [
        (name, at)
        for name, at, found in known
        if predicted(name, at, [each for each in known if each[0] != name], modules) == found
    ]
    assert f"finds {len(right)} of {len(known)} known names in functions of iOS16 to iOS18" in PAGE
