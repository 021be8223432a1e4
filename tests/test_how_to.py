"""The pages of docs/how-to: their commands work as they are, write what a page shows, and make what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE, ROOT, Check
from support.containers import compile_package
from support.followed_page import COMMANDS, follow
from support.how_to_models import MODELS, how_to_model
from support.how_to_outcomes import (
    default_added,
    image_resized,
    labels_set,
    model_described,
    model_shrunk,
    packages_merged,
)
from support.model_checks import assert_coremltools_opens

import miltext
from miltext.containers.opening import open_model
from miltext.printing.coremlc import as_coremlc
from miltext.schema import walk
from miltext.schema.proto import Operation

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
WEIGHTS = Path("Data", "com.apple.CoreML", "weights", "weight.bin")


def operations(package: Path) -> list[Operation]:
    return list(miltext.load(package).program.functions["main"].block_specializations["CoreML6"].operations)


def types(package: Path) -> list[str]:
    return [operation.type for operation in operations(package) if operation.type != "const"]


def described(package: Path, side: str) -> dict[str, str | None]:
    entries = getattr(open_model(package).description, side)
    return {entry.name: entry.type.WhichOneof("Type") for entry in entries}


ORIGINAL = ["cast", "conv", "relu", "max_pool", "reshape", "linear", "softmax", "cast", "classify"]
OUTPUTS = {"classLabel": "stringType", "classLabel_probs": "dictionaryType"}


def looking(folder: Path) -> None:
    page = (folder / "model.html").read_text(encoding="utf-8")
    assert "<title>Classifier.mlpackage</title>" in page
    assert '"linear"' in page


def summarized(folder: Path) -> None:
    assert json.loads((folder / "info.json").read_text(encoding="utf-8"))["specificationVersion"] == 7


def weights_saved(folder: Path) -> None:
    for name, array in miltext.load(EXAMPLE).weights.items():
        assert np.array_equal(np.load(folder / "arrays" / f"{name}.npy"), array)


def located(folder: Path) -> None:
    assert json.loads((folder / "found.json").read_text(encoding="utf-8"))["outputs"] == ["lit_cast_fp16"]


def readme(folder: Path) -> None:
    assert types(folder / "New.mlpackage") == ORIGINAL
    assert miltext.load(folder / "New.mlpackage").program != miltext.load(EXAMPLE).program


def expose(folder: Path) -> None:
    for name in ("Probed.mlpackage", "Same.mlpackage"):
        assert described(folder / name, "output") == {**OUTPUTS, "lit_cast_fp16": "multiArrayType"}
        added = miltext.load(folder / name).description.output[2].type.multiArrayType  # type: ignore[union-attr]
        assert (list(added.shape), added.dataType) == ([1, 6, 8, 8], added.FLOAT16)
    assert miltext.load(folder / "Probed.mlpackage").program == miltext.load(folder / "Same.mlpackage").program


def attribute(folder: Path) -> None:
    axis = next(each for each in operations(folder / "New.mlpackage") if each.outputs[0].name == "probabilities_axis_0")
    assert list(axis.attributes["val"].immediateValue.tensor.ints.values) == [1]
    betas = [
        miltext.to_text(miltext.load(folder / f"Clip{beta}.mlpackage").program, floats="decimal") for beta in (4, 6)
    ]
    assert ["beta = fp16(4.0)" in betas[0], "beta = fp16(6.0)" in betas[1]] == [True, True]
    assert miltext.load(folder / "Clip4.mlpackage").specification_version == 9


def activation(folder: Path) -> None:
    assert types(folder / "New.mlpackage") == [{"relu": "gelu"}.get(each, each) for each in ORIGINAL]


def rename(folder: Path) -> None:
    description = miltext.load(folder / "New.mlpackage").description
    assert described(folder / "New.mlpackage", "input") == {"drawing": "multiArrayType"}
    assert described(folder / "New.mlpackage", "output") == {
        "shape": "stringType",
        "classLabel_probs": "dictionaryType",
    }
    assert description is not None
    assert description.predictedFeatureName == "shape"
    assert " scores = linear" in (folder / "model.mil").read_text()


def pipeline(folder: Path) -> None:
    utils = pytest.importorskip("coremltools").utils
    spec = utils.load_spec(str(folder / "Pipeline.mlpackage"))
    utils.rename_feature(spec, "x", "image")
    for model in spec.pipeline.models:  # what is inside alone, it leaves
        utils.rename_feature(model, "var_7", "features")
    assert spec.description.input[0].name == "image"
    for name, renamed in (("New", "y"), ("Edited", "scores")):
        utils.rename_feature(spec, "y", renamed)
        made = utils.load_spec(str(folder / f"{name}.mlpackage"))
        assert made.description == spec.description
        for model, other in zip(made.pipeline.models, spec.pipeline.models, strict=True):
            assert model.description == other.description


def weight(folder: Path) -> None:
    old, new = miltext.load(EXAMPLE).weights, miltext.load(folder / "New.mlpackage").weights
    assert np.array_equal(new["scores_weight_0_to_fp16"], old["scores_weight_0_to_fp16"] * np.float16(2))
    assert np.array_equal(new["edges_weight_0_to_fp16"], old["edges_weight_0_to_fp16"])


def drop(folder: Path) -> None:
    assert types(folder / "New.mlpackage") == [each for each in ORIGINAL if each != "relu"]


def compiled(folder: Path) -> None:
    original = miltext.load(EXAMPLE)
    for name in ("Recovered.mlpackage", "Edited.mlpackage"):
        made = miltext.load(folder / name)
        assert as_coremlc(made.program, 7) == as_coremlc(original.program, 7)  # the compiler sorts buildInfo
        assert "coremlc-" not in miltext.to_text(made.program)
        assert (made.description, made.specification_version) == (original.description, 7)
        assert (folder / name / WEIGHTS).read_bytes() == (EXAMPLE / WEIGHTS).read_bytes()


def compiled_in_ci(folder: Path) -> None:
    made, fresh = folder / "Classifier.mlmodelc", folder / "fresh" / "Classifier.mlmodelc"
    assert miltext.load(made).description == miltext.load(EXAMPLE).description
    for path in made.rglob("*"):
        assert path.is_dir() or path.read_bytes() == (fresh / path.relative_to(made)).read_bytes()


def part(folder: Path) -> None:
    front, back = types(folder / "Front.mlpackage"), types(folder / "Back.mlpackage")
    assert [*front, *back] == [each for each in ORIGINAL if each != "classify"]
    assert described(folder / "Back.mlpackage", "input") == {"pooled_cast_fp16": "multiArrayType"}


def divided(folder: Path) -> None:
    assert sorted(each.name for each in (folder / "halves").iterdir()) == [
        "01_Transformer.mlpackage",
        "02_Transformer.mlpackage",
    ]
    info = json.loads((folder / "info.json").read_text(encoding="utf-8"))
    assert [each["type"] for each in info["models"]] == ["mlProgram"] * 2
    assert not (folder / "small").exists()


def joined(folder: Path) -> None:
    code = miltext.run(folder / "Encoder.mlpackage", {"x": np.ones((1, 16), np.float32)})
    expected = miltext.run(folder / "Decoder.mlpackage", code)["y"]
    made = miltext.run(folder / "Whole.mlpackage", {"x": np.ones((1, 16), np.float32)})["y"]
    assert np.array_equal(made, expected)
    twice = [op.type for op in miltext.Graph(miltext.load(folder / "Twice.mlpackage").program).walk()]
    assert [each for each in twice if each != "const"] == ["mul", "tanh"] * 2
    assert sorted(miltext.load(folder / "Both.mlpackage").program.functions) == ["decode", "encode"]


def reported(folder: Path) -> None:
    assert types(folder / "Small.mlpackage") == ["max_pool"]
    small = miltext.parse((folder / "small.mil").read_text(encoding="utf-8"))
    assert [operation.type for _, operation in walk.operations(small) if operation.type != "const"] == ["conv"]
    assert described(folder / "Small.mlpackage", "input") == {"lit_cast_fp16": "multiArrayType"}


def running(folder: Path) -> None:
    assert np.load(folder / "lit.npy").shape == (1, 6, 8, 8)
    with np.load(folder / "total.npz") as states:
        assert states["total"].tolist() == [2, 4]


def keeping(folder: Path) -> None:
    assert types(folder / "New.mlpackage") == [{"relu": "clip"}.get(each, each) for each in ORIGINAL]
    assert miltext.compare(EXAMPLE, folder / "New.mlpackage", min_snr=100).ok


def overflow_found(folder: Path) -> None:
    assert not miltext.compare(folder / "Norm.mlpackage", folder / "Half.mlpackage").ok
    assert miltext.compare(folder / "Fixed.mlpackage", folder / "FixedHalf.mlpackage").ok
    x = np.random.default_rng(3).standard_normal((1, 8, 64)).astype(np.float32)
    assert miltext.compare(folder / "Norm.mlpackage", folder / "Fixed.mlpackage", {"x": x}).ok


def larger(folder: Path) -> None:
    old, new = (
        sum(each.nbytes for each in miltext.load(path).weights.values())
        for path in (EXAMPLE, folder / "Larger.mlpackage")
    )
    assert new == 2 * old


def upgraded(folder: Path) -> None:
    assert types(folder / "Upgraded.mlpackage") == [{"relu": "gelu"}.get(each, each) for each in ORIGINAL]


def device_wrong(folder: Path) -> None:
    x = np.linspace(-30, 30, 32, dtype=np.float16)[None]
    made = {
        (name, compute): miltext.run(folder / f"{name}.mil", {"x": x}, compute=compute)["soft"].astype(float)
        for name in ("whole", "stable")
        for compute in ("float32", "ane")
    }
    assert np.allclose(made["stable", "ane"], made["whole", "float32"], atol=0.02)
    assert not np.allclose(made["whole", "ane"], made["whole", "float32"], atol=0.02)


def fitted(folder: Path) -> None:
    old, new = folder / "Transformer.mlpackage", folder / "Engine.mlpackage"
    assert miltext.compare(old, new, min_snr=60).ok
    made = Counter(op.type for op in miltext.Graph(miltext.load(new).program).walk())
    assert (made["linear"], made["conv"], made["softmax"], made["exp"], made["cast"]) == (0, 6, 1, 0, 0)
    assert made["transpose"] == 8, "one before three layers, and none around gelu"
    assert miltext.load(new).description == miltext.load(old).description


OUTCOMES: dict[str, Callable[[Path], None]] = {
    "fit-the-neural-engine": fitted,
    "wrong-numbers-on-the-device": device_wrong,
    "find-wrong-numbers": overflow_found,
    "find-what-made-it-larger": larger,
    "see-what-an-upgrade-changed": upgraded,
    "README": readme,
    "expose-an-intermediate-value": expose,
    "change-an-attribute": attribute,
    "replace-an-activation": activation,
    "rename-an-input-or-output": rename,
    "rename-inside-a-pipeline": pipeline,
    "replace-a-weight": weight,
    "drop-an-operation": drop,
    "compiled-model-to-package": compiled,
    "compile-in-ci": compiled_in_ci,
    "look-at-a-model": looking,
    "summarize-a-model": summarized,
    "inspect-weights": weights_saved,
    "locate-an-error": located,
    "run-a-model": running,
    "take-a-part": part,
    "cut-a-model-into-parts": divided,
    "join-models": joined,
    "report-a-bug": reported,
    "keep-the-numbers": keeping,
    "add-a-default": default_added,
    "describe-a-model": model_described,
    "merge-two-packages": packages_merged,
    "resize-an-image-input": image_resized,
    "set-labels": labels_set,
    "shrink-after-a-cut": model_shrunk,
}


def test_each_page_has_an_outcome() -> None:
    assert sorted(OUTCOMES) == sorted(page.stem for page in PAGES)
    index = (ROOT / "docs" / "how-to" / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page.stem != "README" and page.name not in index] == []


def run_quietly(commands: str, folder: Path) -> None:
    result = subprocess.run(
        ["bash", "-c", COMMANDS + commands], cwd=folder, capture_output=True, text=True, check=False
    )
    told = [line for line in result.stderr.splitlines() if not line.startswith(("+ ", "- ", "~ ", "= "))]
    assert (result.returncode, told) == (0, [])


@pytest.mark.skipif(os.name == "nt", reason="the pages' commands are those of a Unix shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page(page: Path, tmp_path: Path, matches_golden: Check) -> None:
    """A page that copies the example is followed as in a clone; the models of any other page are there before."""
    text = page.read_text(encoding="utf-8")
    shutil.copytree(EXAMPLE, tmp_path / "examples" / EXAMPLE.name)
    tmp_path = tmp_path / "out"
    tmp_path.mkdir()
    if "cp -R ../examples/" not in text:
        shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
        compile_package(EXAMPLE, tmp_path / "Compiled.mlmodelc")
    for name in MODELS:
        if name in text:
            pytest.importorskip("coremltools")
            shutil.copytree(how_to_model(name), tmp_path / name)
    if "```text" in text:
        matches_golden(page, follow(text, tmp_path))
    else:
        run_quietly("\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)), tmp_path)
    OUTCOMES[page.stem](tmp_path)
    pytest.importorskip("coremltools")
    for made in sorted(tmp_path.glob("*.mlpackage")):
        assert_coremltools_opens(made)
