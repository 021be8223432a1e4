"""Loading: every kind of file and folder, by name and by content."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import corpus_files, wire
from google.protobuf import text_format
from support.containers import TEXT, program, spec, write, write_bundle, write_package

import miltext
import miltext.schema.proto
from miltext.containers.opening import load, read
from miltext.models.model import Model

PROTOBUF_TEXT = text_format.MessageToString(program()).encode()


def test_mil_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mil", TEXT.replace("\n", "\r\n").encode())
    model = load(path)
    assert (model.kind, model.type, model.path, model.name) == ("mil", "mlProgram", path, str(path))
    assert model.text == TEXT.replace("\n", "\r\n")
    assert model.program.functions["main"].opset == "CoreML8"
    assert model.program is model.program
    assert (model.spec, model.description, model.specification_version) == (None, None, None)
    assert model.model_path == tmp_path
    assert load(str(path)).kind == "mil"


def test_text_that_does_not_parse_names_its_file(tmp_path: Path) -> None:
    model = load(write(tmp_path / "a.mil", b"program(1.3) {\n  oops\n}"))
    with pytest.raises(miltext.ParseError, match=r"a\.mil:2:3"):
        _ = model.program


def test_mlmodel(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mlmodel", spec().SerializeToString())
    model = load(path)
    assert (model.kind, model.specification_version, model.text) == ("mlmodel", 9, None)
    assert wire(model.program) == wire(program())
    assert model.description is not None
    assert model.description.input[0].name == "x"
    assert model.model_path == tmp_path
    model.program.functions["main"].opset = "CoreML7"
    assert model.spec is not None
    assert model.spec.mlProgram.functions["main"].opset == "CoreML7"


def test_a_model_without_description_or_version(tmp_path: Path) -> None:
    bare = miltext.schema.proto.Model(mlProgram=program())
    model = load(write(tmp_path / "a.mlmodel", bare.SerializeToString()))
    assert (model.description, model.specification_version) == (None, None)


@pytest.mark.parametrize("name", ["com.apple.CoreML/model.mlmodel", "another.producer/deep/net.bin"])
def test_mlpackage_follows_its_manifest(tmp_path: Path, name: str) -> None:
    folder = write_package(tmp_path / "P.mlpackage", spec().SerializeToString(), name)
    model = load(folder)
    assert (model.kind, model.path, model.specification_version) == ("mlpackage", folder, 9)
    assert wire(model.program) == wire(program())
    assert model.model_path == (folder / "Data" / name).parent


def test_mlmodelc(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc")
    model = load(folder)
    assert (model.kind, model.text, model.specification_version) == ("mlmodelc", TEXT, 9)
    assert (model.path, model.model_path, model.spec) == (folder, folder, None)
    assert model.description is not None
    assert [each.name for each in model.description.input] == ["x"]
    assert list(model.program.functions) == ["main"]


def test_a_mistake_in_a_bundles_text_is_shown_in_its_file(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc", "program(1.3)\n{ oops }")
    with pytest.raises(miltext.ParseError, match=r"C\.mlmodelc.model\.mil:2:3"):
        _ = load(folder).program


@pytest.mark.parametrize("name", ["a.txtpb", "A.TXTPB", "a.txt"])
@pytest.mark.parametrize("comment", [b"", b"# made by hand\n"])
def test_protobuf_text(tmp_path: Path, name: str, comment: bytes) -> None:
    model = load(write(tmp_path / name, comment + PROTOBUF_TEXT))
    assert (model.kind, model.text) == ("txtpb", None)
    assert wire(model.program) == wire(program())


CONTENTS = {
    "mil": TEXT.encode(),
    "pb": program().SerializeToString(),
    "mlmodel": spec().SerializeToString(),
    "txtpb": PROTOBUF_TEXT,
}


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("name", ["data", "data.pb", "data.bin"])
def test_the_kind_is_found_by_content(tmp_path: Path, kind: str, name: str) -> None:
    model = load(write(tmp_path / name, CONTENTS[kind]))
    assert model.kind == kind
    assert list(model.program.functions) == ["main"]


@pytest.mark.parametrize("kind", CONTENTS)
def test_standard_input(kind: str) -> None:
    model = read(CONTENTS[kind], "<stdin>")
    assert (model.kind, model.path, model.name, model.model_path) == (kind, None, "<stdin>", None)
    assert list(model.program.functions) == ["main"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"// a comment\nprogram(1.3)\n{\n}", "mil"),
        (b"\n\t /* a comment */ program(1.3) {}", "mil"),
        (b"version: 1", "txtpb"),
        (b"  functions  { key: 'f' value {} }", "txtpb"),
        (b"attributes<key: 'a' value {} >", "txtpb"),
        (miltext.schema.proto.Program(docString="d").SerializeToString(), "pb"),
        (
            b'"' + miltext.schema.proto.Program(attributes={"a": miltext.schema.proto.Value()}).SerializeToString()[1:],
            "pb",
        ),
        (
            miltext.schema.proto.Model(isUpdatable=True, mlProgram=program()).SerializeToString()[2:] + b"\x50\x01",
            "mlmodel",
        ),
    ],
)
def test_how_content_begins(data: bytes, kind: str) -> None:
    assert read(data, "it").kind == kind
    assert read(data, "it").program is not None


def test_a_file_with_an_unknown_beginning_is_read_as_mil_text() -> None:
    with pytest.raises(miltext.ParseError, match="it:1:1"):
        _ = read(b"functional { }", "it").program


@pytest.mark.parametrize(("marker", "kind"), [("Manifest.json", "mlpackage"), ("model.mil", "mlmodelc")])
def test_a_folders_kind_is_found_by_content(tmp_path: Path, marker: str, kind: str) -> None:
    folder = tmp_path / "v1.2"
    if kind == "mlpackage":
        write_package(folder, spec().SerializeToString())
    else:
        write_bundle(folder)
    assert (folder / marker).exists()
    assert load(folder).kind == kind


def test_load_is_the_packages_own() -> None:
    assert miltext.load is load
    assert miltext.Model is Model


# ---- real models


@pytest.mark.parametrize("path", corpus_files("bundles/*", "pairs/*/model.mlmodel", "mlprograms/*.mlmodel"))
def test_real_models(path: Path) -> None:
    model = load(path)
    assert model.kind == path.suffix[1:]
    assert model.program.functions["main"].block_specializations
    assert model.specification_version in range(6, 11)
    assert (model.text is not None) == (model.kind == "mlmodelc")
    assert model.model_path is not None
    assert model.model_path.is_dir()
    assert not model.warnings


@pytest.mark.parametrize("path", corpus_files("bundles/*.mlmodelc"))
def test_real_bundles_agree_with_their_packages(path: Path) -> None:
    package = path.with_suffix(".mlpackage")
    if not package.exists():
        pytest.skip("not there as a package")
    one, other = load(path), load(package)
    assert one.specification_version == other.specification_version
    assert one.description is not None
    assert other.description is not None
    other.description.metadata.SetInParent()  # the compiler writes an empty one where there is none
    assert wire(one.description) == wire(other.description)


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil"))
def test_real_texts_are_found_by_content(path: Path) -> None:
    data = path.read_bytes()
    model = read(data, "<stdin>")
    assert model.kind == "mil"
    assert model.text is not None
    assert model.text.encode() == data
