"""docs/compiled-models.md says what the tables of the code say, and builds tell each point that it calls unproven."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.containers import write_package
from support.overlays import METADATA_TABLE, add_overlays
from support.pipelines import binary, piped, unary

import miltext
from miltext.compiled.coremldata import FORM_VERSIONS
from miltext.compiled.definitions import _rows
from miltext.compiled.doubts import UNSEEN
from miltext.compiled.metadata import AVAILABILITY
from miltext.diagnostics import ModelError
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, Model

PAGE = (Path(__file__).parents[1] / "docs" / "compiled-models.md").read_text(encoding="utf-8")
UNPROVEN = PAGE.partition("## Unproven parts")[2]

Change = Callable[[Model], "Model | None"]


def rows(text: str, columns: int) -> list[list[str]]:
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [row for row in found if len(row) == columns and set(row[0]) != {"-"}]


POINTS = {row[0]: row[1:3] for row in rows(UNPROVEN, 4) if row[1] in ("yes", "no")}
"""Whether each unproven point is refused, and whether it was seen elsewhere, as the page says."""

REFUSED = {point: is_refused == "yes" for point, (is_refused, _) in POINTS.items()}

KINDS = {"never": "never seen", "elsewhere": r"seen elsewhere \(.+\)", "some": r"(never seen|seen elsewhere \(.+\))"}
"""The words of each kind in a note."""


def test_the_versions_match_the_table() -> None:
    told = [row for row in rows(UNPROVEN, 3) if row[0].isdecimal()]
    assert {int(version): int(form) for version, form, _ in told} == FORM_VERSIONS
    assert {int(version): ios for version, _, ios in told} == {
        each: AVAILABILITY[each]["iOS"] for each in FORM_VERSIONS
    }


# ---- a model for each point

OVERLAYS = "the texts of overlays that differ from the model's own"
"""The point that a package touches, and not a model."""


def first(made: Model) -> FeatureDescription:
    return made.description.input[0]


def array(made: Model) -> ArrayFeatureType:
    return first(made).type.multiArrayType


def later(made: Model) -> None:
    made.specificationVersion = 11


def of_10(made: Model) -> None:
    made.specificationVersion = 10


def enumerated(made: Model) -> None:
    for size in (1, 2):
        array(made).enumeratedShapes.shapes.add(shape=[size, 4])


def ranged(entry: FeatureDescription, end: int = 8) -> None:
    for least, greatest in ((1, end), (4, 4)):
        entry.type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=least, upperBound=greatest)


def endless(made: Model) -> None:
    ranged(first(made), -1)


def both(_: Model) -> Model:
    made = binary("x", "z", "y")
    enumerated(made)
    ranged(made.description.input[1])
    return made


def several(_: Model) -> Model:
    made = binary("x", "z", "y")
    ranged(made.description.input[0])
    ranged(made.description.input[1])
    return made


def pictured(made: Model) -> None:
    first(made).type.imageType.width = 4
    first(made).type.imageType.imageSizeRange.widthRange.upperBound = 8


def keeping(made: Model) -> None:
    made.description.state.add(name="s").type.stateType.arrayType.CopyFrom(array(made))


def predicting(made: Model) -> None:
    made.description.predictedFeatureName = "y"


def optional(made: Model) -> None:
    first(made).type.isOptional = True


def training(made: Model) -> None:
    made.description.trainingInput.add(name="x")


def updatable(made: Model) -> None:
    made.isUpdatable = True


def worded(made: Model) -> None:
    made.description.output[0].type.stringType.SetInParent()


def compressed(made: Model) -> None:
    operations = made.mlProgram.functions["main"].block_specializations["CoreML6"].operations
    operations[0].inputs["x"].arguments[0].name = "w"
    made_of = operations.add(type="constexpr_cast")
    made_of.outputs.add(name="w", type=operations[0].outputs[0].type)
    operations.reverse()  # a value is defined before it is used


TOUCHING: dict[str, Change] = {
    "the coremldata.bin of specification version …": later,
    "numbers in place of the keys of enumerated shapes": enumerated,
    "a range without an end": endless,
    "ranges beside enumerated shapes": both,
    "images (…)": pictured,
    "the form of coremldata.bin for specification version 10": of_10,
    "a pipeline of other models than an ML Program and non-maximum suppression": piped,
    "a model with states": keeping,
    "a classifier": predicting,
    "a model with optional inputs": optional,
    "a model with training inputs": training,
    "several inputs of flexible shape": several,
    "an updatable model": updatable,
    "the availability of specification version 10": of_10,
    "the availability of specification version …": later,
    "how metadata.json shows …": worded,
    "the name of … in the histogram of metadata.json": lambda made: made,
    "how weights of … are called in the storage precision": compressed,
    OVERLAYS: lambda _: None,
}
"""What makes a model touch each point."""


def test_each_point_has_its_row_and_a_model() -> None:
    assert set(TOUCHING) == set(REFUSED)
    assert set(UNSEEN) < {row for row, is_refused in REFUSED.items() if not is_refused}


@pytest.mark.parametrize("row", TOUCHING)
def test_a_build_reports_the_point_that_a_model_touches(row: str, tmp_path: Path) -> None:
    made = unary("x", "y")
    spec = TOUCHING[row](made) or made
    package = write_package(tmp_path / "P.mlpackage", spec.SerializeToString())
    if row == OVERLAYS:
        add_overlays(package, METADATA_TABLE, None)
    words = re.escape(row).replace("…", ".+")
    told = f"{words}.*, {KINDS[POINTS[row][1]]}"
    if REFUSED[row]:
        with pytest.raises(ModelError, match=f"MIL441.*{told}"):
            miltext.build(package, tmp_path / "C.mlmodelc", check=False)
        assert [each.name for each in tmp_path.iterdir()] == ["P.mlpackage"]
    found = miltext.build(package, tmp_path / "C.mlmodelc", allow_unproven=True, check=False)
    assert [note for each in found if each.code == "MIL214" for note in each.notes if re.fullmatch(told, note.message)]


def test_a_model_of_seen_constructs_touches_none(tmp_path: Path) -> None:
    made = unary("x", "y")
    for operation in made.mlProgram.functions["main"].block_specializations["CoreML6"].operations:
        operation.type = "relu"  # which iOS16 was seen to have
    package = write_package(tmp_path / "P.mlpackage", made.SerializeToString())
    assert miltext.build(package, tmp_path / "C.mlmodelc", check=False) == []


def test_the_number_of_operations_is_right() -> None:
    seen = [row for row in _rows().values() if any(source.is_compiled for source in row.sources.values())]
    assert f"which compiled models show of {len(seen)} operations" in PAGE
