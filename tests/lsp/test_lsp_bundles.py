"""The language server on the text of a compiled model: its diagnostics are those of the whole model."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import pathname2url

import pytest

pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

from conftest import ROOT
from support.containers import pipeline, write_package
from support.model_checks import reported

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import Diagnostic
from miltext.lsp.documents import Document
from miltext.lsp.positions import Positions
from miltext.lsp.server import Server
from miltext.schema.proto import Model as Spec

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
WEIGHTS = "weights/weight.bin"


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.shutdown()


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    miltext.build(EXAMPLE, tmp_path / "M.mlmodelc")
    return tmp_path / "M.mlmodelc"


def document_of(path: Path, text: str | None = None) -> Document:
    return Document(f"file://{pathname2url(str(path))}", 1, Positions(path.read_text() if text is None else text))


def found_in(server: Server, path: Path, text: str | None = None) -> list[Diagnostic]:
    document = document_of(path, text)
    server.documents[document.uri] = document
    return server._checked(document)


def codes_of(found: list[Diagnostic]) -> list[str]:
    return sorted(each.code for each in found if each.severity != "note")


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


FAULTS: dict[str, Callable[[Path], object]] = {
    "none": lambda bundle: None,
    "weights gone": lambda bundle: (bundle / WEIGHTS).unlink(),
    "weights cut": lambda bundle: _truncate(bundle / WEIGHTS),
    "a git-lfs pointer": lambda bundle: (bundle / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\n"),
    "no description": lambda bundle: (bundle / "coremldata.bin").unlink(),
    "description cut": lambda bundle: _truncate(bundle / "coremldata.bin"),
    "metadata not JSON": lambda bundle: (bundle / "metadata.json").write_text("["),
    "other counts": lambda bundle: (bundle / "metadata.json").write_text(
        (bundle / "metadata.json").read_text().replace('"Ios16.relu" : 1', '"Ios16.relu" : 7')
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_diagnostics_cover_the_whole_model(fault: str, bundle: Path, server: Server) -> None:
    FAULTS[fault](bundle)
    found = found_in(server, bundle / "model.mil")
    expected = reported(bundle)
    assert codes_of(found) == sorted(each.code for each in expected.elements())
    assert bool(found) == (fault != "none")
    for each in found:
        assert any(name in each.message for name in ("weight.bin", "coremldata.bin", "metadata.json")), each.message


def test_a_finding_in_another_file_is_at_the_first_line(bundle: Path, server: Server) -> None:
    (bundle / WEIGHTS).unlink()
    [found] = found_in(server, bundle / "model.mil")
    assert (found.code, found.span, found.suggestion) == ("MIL264", None, None)


def test_an_edited_text_is_held_against_the_description(bundle: Path, server: Server) -> None:
    path = bundle / "model.mil"
    text = path.read_text().replace(" image)", " picture)").replace("x = image)", "x = picture)")
    assert text != path.read_text()
    found = [each for each in found_in(server, path, text) if each.code == "MIL265"]
    assert found
    [undescribed] = [each for each in found if "`picture`" in each.message and each.span]
    assert undescribed.span is not None
    assert "picture" in text[undescribed.span.start : undescribed.span.end]
    assert path.read_text() != text


def test_a_broken_text_keeps_the_findings_around_it(bundle: Path, server: Server) -> None:
    (bundle / "metadata.json").write_text("[")
    path = bundle / "model.mil"
    found = found_in(server, path, path.read_text().replace("relu(", "relu((", 1))
    assert [each.code for each in found if each.span is not None]
    assert any("metadata.json" in each.message for each in found)


@pytest.mark.parametrize("name", ["notes.mil", "inner/model.mil"])
def test_another_text_in_a_bundle_is_a_text_alone(name: str, bundle: Path, server: Server) -> None:
    (bundle / WEIGHTS).unlink()
    (bundle / name).parent.mkdir(exist_ok=True)
    shutil.copy(bundle / "model.mil", bundle / name)
    assert not [each for each in found_in(server, bundle / name) if each.code == "MIL264"]


def test_a_text_outside_of_bundles_is_a_text_alone(tmp_path: Path, bundle: Path, server: Server) -> None:
    shutil.copy(bundle / "model.mil", tmp_path / "model.mil")
    assert not [each for each in found_in(server, tmp_path / "model.mil") if each.code == "MIL264"]


def test_a_stage_shows_the_findings_of_its_pipeline(tmp_path: Path, server: Server) -> None:
    (tmp_path / "m.mil").write_text(
        "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2]> x) {\n"
        '            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];\n        } -> (y);\n}\n'
    )
    miltext.build(tmp_path / "m.mil", tmp_path / "A.mlpackage")
    spec = open_model(tmp_path / "A.mlpackage").spec
    assert spec is not None
    other = Spec.FromString(spec.SerializeToString())
    whole = write_package(tmp_path / "P.mlpackage", pipeline(spec, other, names=("a", "b")).SerializeToString())
    bundle = tmp_path / "P.mlmodelc"
    miltext.build(whole, bundle, check=False)
    second = bundle / "model1" / "model.mil"
    assert second.is_file()
    clean = codes_of(found_in(server, bundle / "model0" / "model.mil"))
    assert clean == sorted(each.code for each in reported(bundle).elements())
    second.write_text(second.read_text().replace("relu(x = x)", "relu(x = nobody)"))
    found = found_in(server, bundle / "model0" / "model.mil")
    assert codes_of(found) == sorted(each.code for each in reported(bundle).elements())
    [undefined] = [each for each in found if each.code == "MIL604"]
    assert undefined.message.startswith("model1/model.mil:")
    assert undefined.span is None


def test_saving_checks_again(bundle: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[list[str]] = []

    monkeypatch.setattr(server, "_publish", lambda _, found: published.append(codes_of(found)))

    async def opened_then_saved() -> None:
        document = document_of(bundle / "model.mil")
        server._keep(document, 0)
        await server._checks[document.uri]
        (bundle / WEIGHTS).unlink()
        server.saved(document.uri)
        await server._checks[document.uri]
        server.saved("file:///nobody.mil")

    asyncio.run(opened_then_saved())
    assert published == [[], ["MIL264"]]
