"""Building: print, build, and it is the same model; compiled bundles turned back; coremltools opens it all."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CORPUS, corpus_files, wire
from support.model_checks import assert_coremltools_opens, assert_same_model
from support.real_packages import PACKAGES, package

import miltext
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.drafting.building import build
from miltext.models.model import Model


def text_model(text: str, folder: Path) -> Model:
    path = folder / "model.mil"
    path.write_bytes(text.encode())
    return TextModel(text.encode(), str(path), path)


def programs(model: Model, prefix: str = "") -> dict[str | None, Model]:
    """The ML Programs in a model, by what `--model` takes."""
    if not model.models:
        return {prefix or None: model}
    found: dict[str | None, Model] = {}
    for index, inner in enumerate(model.models):
        found.update(programs(inner, f"{prefix}/{index}".strip("/")))
    return found


@pytest.mark.parametrize("elide", [None, 8])
@pytest.mark.parametrize("name", PACKAGES)
def test_print_and_build_with_nothing_edited_is_the_same_model(name: str, elide: int | None, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    original = open_model(package(name))
    for place, model in programs(original).items():
        text = miltext.to_text(model.program, elide=elide)
        out = tmp_path / "New.mlpackage"
        assert build(text_model(text, tmp_path), out, original=original, model=place, force=True) == []
        assert_same_model(out, package(name))
    assert (out / "Manifest.json").read_text() != ""
    if elide is None:
        assert_coremltools_opens(out)


@pytest.mark.parametrize("path", corpus_files("*/*.mlpackage", "mlprograms/*.mlmodel", "pairs/*/model.mlmodel"))
def test_print_and_build_the_corpus(path: Path, tmp_path: Path) -> None:
    original = open_model(path)
    for place, model in programs(original).items():
        if model.type != "mlProgram":
            continue
        text = miltext.to_text(model.program, elide=64)
        out = tmp_path / "New.mlpackage"
        warnings = build(text_model(text, tmp_path), out, original=original, model=place, force=True)
        assert {warning.code for warning in warnings} <= {"MIL451"}
        built = open_model(out)
        assert built.spec is not None
        assert original.spec is not None
        assert wire(built.spec) == wire(original.spec)


@pytest.mark.parametrize("name", ["ironmill-base", "mobius-unified_int8", "mobius-unified_palette_4bit"])
def test_a_decompiled_model_equals_its_package(name: str, tmp_path: Path) -> None:
    bundle = CORPUS / "bundles" / f"{name}.mlmodelc"
    if not bundle.exists():
        pytest.skip(f"no corpus at {CORPUS}")
    out = tmp_path / "Recovered.mlpackage"
    assert build(open_model(bundle), out) == []
    assert_same_model(out, bundle.with_suffix(".mlpackage"), input_order=False)
