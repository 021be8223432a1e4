"""docs/compiled-models.md says what the tables of the code say."""

from __future__ import annotations

import re
from pathlib import Path

from support.pipelines import unary

from miltext.models.compiling.histogram import _TABLE
from miltext.models.compiling.metadata import AVAILABILITY, metadata
from miltext.models.compiling.unseen import UNSEEN
from miltext.models.compiling.writing import _doubts
from miltext.models.coremldata import FORM_VERSIONS
from miltext.schema.proto import Model, Operation

PAGE = (Path(__file__).parents[1] / "docs" / "compiled-models.md").read_text(encoding="utf-8")
UNPROVEN = PAGE.partition("## What is unproven")[2]


def rows(text: str, columns: int) -> list[list[str]]:
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [row for row in found if len(row) == columns and set(row[0]) != {"-"}]


def test_the_versions_are_those_of_the_table() -> None:
    told = [row for row in rows(UNPROVEN, 3) if row[0].isdecimal()]
    assert {int(version): int(form) for version, form, _ in told} == FORM_VERSIONS
    assert {int(version): ios for version, _, ios in told} == {
        each: AVAILABILITY[each]["iOS"] for each in FORM_VERSIONS
    }


def test_what_was_not_seen_has_its_row() -> None:
    told = {row[0] for row in rows(UNPROVEN, 3) if row[1] == "no"}
    assert {*UNSEEN} <= told


def doubtful(change: str) -> Model:
    """A model that has something unproven."""
    made = unary("x", "y")
    array = made.description.input[0].type.multiArrayType
    if change == "version":
        made.specificationVersion = 10
    elif change == "state":
        made.description.input[0].type.stateType.arrayType.CopyFrom(array)
    elif change == "image":
        made.description.input[0].type.imageType.width = 4
        made.description.input[0].type.imageType.imageSizeRange.widthRange.upperBound = 8
    elif change == "weights":
        block = made.mlProgram.functions["main"].block_specializations["CoreML6"]
        block.operations.insert(0, Operation(type="constexpr_made_up"))
        block.operations[0].outputs.add(name="w")
        weight = block.operations[0].inputs["data"].arguments.add(name="x")
        assert weight.name == "x"
    elif change == "endless":
        array.shapeRange.sizeRanges.add(lowerBound=1, upperBound=-1)
    else:
        array.enumeratedShapes.shapes.add(shape=[1, 4])
        array.enumeratedShapes.shapes.add(shape=[2, 4])
    return made


def test_each_doubt_has_its_row() -> None:
    known = {
        re.compile(re.escape(row[0]).replace("…", ".+")): row[1] == "yes"
        for row in rows(UNPROVEN, 3)
        if row[1] in ("yes", "no") and row[0] not in UNSEEN
    }
    met = set()
    for change in ("version", "state", "image", "weights", "endless", "enumerated"):
        model = doubtful(change)
        doubts = [*_doubts(model), *metadata(model, "M").doubts]
        assert doubts
        for doubt in doubts:
            (row,) = [each for each in known if each.match(doubt.what)]
            assert known[row] == (not doubt.place), doubt
            met.add(row.pattern)
    assert len(known) - len(met) <= 2  # ranges beside enumerated shapes, and weights by an unseen name


def test_the_number_of_operations_is_right() -> None:
    assert f"which was seen of {len(_TABLE)} operations" in PAGE
