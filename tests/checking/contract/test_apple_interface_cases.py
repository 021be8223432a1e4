"""`check` answers as Apple does in the cases of Apple's public tests that concern ML Programs.

The tables of docs/apple-interface-tests.md have a row for each case: both answers, and the reason where they differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import ROOT
from support.apple_files import MANIFESTS, WEIGHT_FILES, ManifestCase, WeightCase, edited, good_weights, manifest, write
from support.apple_interface import CASES, Case
from support.containers import write_package
from support.model_checks import reported

PAGE = (ROOT / "docs" / "apple-interface-tests.md").read_text(encoding="utf-8")


class Row(NamedTuple):
    """A row of a table in the page."""

    apple: str
    check: str
    reason: str


def _rows(text: str) -> dict[tuple[str, ...], Row]:
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip().strip("`") for cell in line] for line in lines]
    return {tuple(line[:-3]): Row(*line[-3:]) for line in cells if line[-2] in ("valid", "refused")}


ROWS = _rows(PAGE)
NAMES = {
    *((each.test, each.case) for each in CASES),
    *((each.test, each.case) for each in WEIGHT_FILES),
    *(("ModelPackage", each.case) for each in MANIFESTS),
}


def test_the_page_has_a_row_for_each_case() -> None:
    assert {*ROWS} == NAMES
    assert len(NAMES) == len(CASES) + len(WEIGHT_FILES) + len(MANIFESTS)


def test_each_difference_has_its_reason() -> None:
    assert all(bool(row.reason) == (row.apple != row.check) for row in ROWS.values())


def _word(is_refused: object) -> str:
    return "refused" if is_refused else "valid"


def _assert_answers(name: tuple[str, str], package: Path, *, is_refused: bool) -> None:
    found = reported(package)
    assert (_word(is_refused), _word(found)) == ROWS[name][:2], found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.test}-{case.case}")
def test_a_description_is_judged_as_the_page_states(case: Case, tmp_path: Path) -> None:
    items: dict[str, Any] = {
        "itemInfoEntries": {"model": manifest()["itemInfoEntries"]["model"]},
        "rootModelIdentifier": "model",
    }
    package = write_package(tmp_path / "Model.mlpackage", case.make().SerializeToString(), **items)
    _assert_answers((case.test, case.case), package, is_refused=case.is_refused)


@pytest.mark.parametrize("case", MANIFESTS, ids=lambda case: case.case)
def test_a_manifest_is_judged_as_the_page_states(case: ManifestCase, tmp_path: Path) -> None:
    package = write(tmp_path, edited(case), good_weights())
    _assert_answers(("ModelPackage", case.case), package, is_refused=case.is_refused)


@pytest.mark.parametrize("case", MANIFESTS, ids=lambda case: case.case)
def test_coremltools_answers_of_a_manifest_as_apple(case: ManifestCase, tmp_path: Path) -> None:
    library = pytest.importorskip("coremltools.libmodelpackage")
    package = write(tmp_path, edited(case), good_weights())
    try:
        opened = library.ModelPackage(str(package)) if library.ModelPackage.isValid(str(package)) else None
        is_refused = opened is None or opened.getRootModel() is None
    except RuntimeError:  # no root
        is_refused = True
    assert is_refused == case.is_refused


@pytest.mark.parametrize("case", WEIGHT_FILES, ids=lambda case: f"{case.test}-{case.case}")
def test_a_weight_file_is_judged_as_the_page_states(case: WeightCase, tmp_path: Path) -> None:
    package = write(tmp_path, manifest(), case.data, case.offset)
    _assert_answers((case.test, case.case), package, is_refused=case.is_refused)


@pytest.mark.parametrize("case", WEIGHT_FILES, ids=lambda case: f"{case.test}-{case.case}")
def test_coremltools_reads_a_weight_file_as_apple(case: WeightCase, tmp_path: Path) -> None:
    library = pytest.importorskip("coremltools.libmilstoragepython")
    path = tmp_path / "weight.bin"
    if case.data is not None:
        path.write_bytes(case.data)
    try:
        library._BlobStorageReader(str(path)).read_float_data(case.offset)
    except (RuntimeError, IndexError, ValueError):
        is_refused = True
    else:
        is_refused = False
    assert is_refused == case.is_refused
