"""`check` reports no error of whole models, and no warning that their programs alone do not have.

The models are those that coremltools makes, as packages, compiled, and as files with weights beside them, and those of
the corpus, of which some are kept without their weights.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_files
from support.commands import miltext
from support.model_checks import reported, reported_of_programs
from support.whole_models import TORCH, WHOLE, whole

from miltext.containers.opening import open_model
from miltext.diagnostics import codes
from miltext.weight_files.model_weights import blob_values

MISSING = codes.MISSING_WEIGHTS


@pytest.fixture
def package(request: pytest.FixtureRequest) -> Path:
    pytest.importorskip("coremltools")
    if request.param in TORCH:
        pytest.importorskip("torch")
    return whole(request.param)


each_package = pytest.mark.parametrize("package", WHOLE, indirect=True)


def test_the_corpus_has_forty_conversions() -> None:
    assert len(WHOLE) >= 40


@each_package
def test_a_whole_package_is_clean(package: Path) -> None:
    assert reported(package) - reported_of_programs(package) == Counter()


@each_package
def test_a_whole_compiled_model_is_clean(package: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "Model.mlmodelc"
    ended = miltext("build", package, "-o", compiled, "--allow-unproven")
    assert ended.returncode == 0, ended.stderr.decode()
    assert reported(compiled) - reported_of_programs(package) == Counter()


@each_package
def test_a_whole_mlmodel_with_its_weights_is_clean(package: Path, tmp_path: Path) -> None:
    alone = tmp_path / "Model.mlmodel"
    ended = miltext("build", package, "-o", alone)
    assert ended.returncode == 0, ended.stderr.decode()
    assert reported(alone) - reported_of_programs(package) == Counter()


# ---- the corpus

each_model = pytest.mark.parametrize("model", corpus_files("**/*.mlpackage", "**/*.mlmodelc", "**/*.mlmodel"))


@each_model
def test_a_model_of_the_corpus_reports_missing_files_only(model: Path) -> None:
    new = reported(model) - reported_of_programs(model)
    assert Counter(each.code for each in new.elements()) == Counter({MISSING: len(missing_files(model))})


@each_model
def test_a_model_of_the_corpus_is_clean_but_for_files(model: Path) -> None:
    assert reported(model, "--ignore", MISSING) - reported_of_programs(model) == Counter()


def missing_files(model: Path) -> set[Path]:
    """The weight files that the programs of a model name and that are not there."""
    named = set()
    for stage in open_model(model).select_all():
        assert stage.model.model_path is not None
        for held in blob_values(stage.model.program):
            named.add(stage.model.model_path / held.value.blobFileValue.fileName.removeprefix("@model_path/"))
    return {path for path in named if not path.exists()}
