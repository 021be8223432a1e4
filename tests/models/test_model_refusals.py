"""What is no model, and how that is said: damaged, empty or missing files, other kinds, wrong packages."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.containers import LFS, TEXT, link, pipeline, program, refused, spec, write, write_bundle, write_package

import miltext
import miltext.schema.proto
from miltext.cli import command
from miltext.containers.opening import load, open_model, read
from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.wire import sized, tag


def test_no_such_file(tmp_path: Path) -> None:
    with refused("MIL250", "gone.mil", "does not exist"):
        load(tmp_path / "gone.mil")
    with refused("MIL250", "does not exist"):
        load(write(tmp_path / "a", b"program(1.3) {}") / "b.mil")
    with refused("MIL250", "cannot be read"):
        load("nul\0.mil")
    with refused("MIL250", "cannot be read"):
        load("x" * 5000)


def test_a_folder_that_is_not_a_model(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    with refused("MIL251", "neither an .mlpackage nor an .mlmodelc"):
        load(tmp_path)


def place_file(name: str) -> Callable[[Path, bytes], Path]:
    return lambda folder, data: write(folder / name, data)


def place_in_package(folder: Path, data: bytes) -> Path:
    return write_package(folder / "P.mlpackage", data)


def place_in_bundle(folder: Path, data: bytes) -> Path:
    bundle = write_bundle(folder / "C.mlmodelc")
    (bundle / "model.mil").write_bytes(data)
    return bundle


PLACES = {
    "mil": place_file("a.mil"),
    "mlmodel": place_file("a.mlmodel"),
    "pb": place_file("a.pb"),
    "txtpb": place_file("a.txtpb"),
    "mlpackage": place_in_package,
    "mlmodelc": place_in_bundle,
}


@pytest.mark.parametrize("kind", PLACES)
def test_a_git_lfs_pointer(tmp_path: Path, kind: str) -> None:
    with refused("MIL252", "git-lfs pointer", "git lfs pull"):
        load(PLACES[kind](tmp_path, LFS))


@pytest.mark.parametrize("verb", ["print", "parse", "infer", "fmt", "check", "info", "weights", "diff"])
@pytest.mark.parametrize("where", ["-", "m.mil"])
def test_every_verb_reports_a_git_lfs_pointer_as_that(verb: str, where: str, tmp_path: Path) -> None:
    good = write(tmp_path / "good.mil", TEXT.encode())
    name = where if where == "-" else str(write(tmp_path / where, LFS))
    arguments = [verb, name, *[str(good)] * (verb == "diff"), *["--to", "pb"] * (verb == "parse")]
    result = CliRunner().invoke(command, arguments, input=LFS)
    assert result.exit_code in (1, 2)
    assert "error[MIL252]: this is a git-lfs pointer" in result.output
    assert "git lfs pull" in result.output


@pytest.mark.parametrize("kind", PLACES)
def test_an_empty_file(tmp_path: Path, kind: str) -> None:
    with refused("MIL256" if kind in ("mil", "txtpb", "mlmodelc") else "MIL253", "empty"):
        load(PLACES[kind](tmp_path, b""))


@pytest.mark.parametrize("kind", ["mlmodel", "mlpackage"])
@pytest.mark.parametrize(
    "data",
    [
        spec().SerializeToString()[:-3],
        spec().SerializeToString()[:20],
        b"\0" * 64,
        b"\xff" * 64,
        TEXT.encode(),
        b"PK\3\4",
    ],
    ids=["cut", "cut short", "zeros", "ones", "text", "zip"],
)
def test_a_damaged_model(tmp_path: Path, kind: str, data: bytes) -> None:
    with refused("MIL253", "model.mlmodel" if kind == "mlpackage" else "a.mlmodel", "not a Core ML model"):
        load(PLACES[kind](tmp_path, data))


def test_every_cut_of_a_model_is_refused(tmp_path: Path) -> None:
    whole = pipeline(spec(), spec(), names=("a", "b")).SerializeToString()
    for end in range(len(whole)):
        with refused("MIL253"):
            open_model(write(tmp_path / "a.mlmodel", whole[:end]))


def test_a_model_of_no_type(tmp_path: Path) -> None:
    with refused("MIL253", "none of the fields of its Type"):
        load(write(tmp_path / "a.mlmodel", miltext.schema.proto.Model(specificationVersion=9).SerializeToString()))


def test_a_damaged_program(tmp_path: Path) -> None:
    with refused("MIL253", "a.pb", "not a serialized Program"):
        load(write(tmp_path / "a.pb", program().SerializeToString()[:-3]))


UNDECLARED = {number: name for number, name in MODEL_KINDS.items() if number not in (200, 201, 202, 502)}


@pytest.mark.parametrize("number", UNDECLARED, ids=UNDECLARED.get)
def test_another_kind_of_model_is_named(tmp_path: Path, number: int) -> None:
    name, data = UNDECLARED[number], b"\x08\x04" + sized(tag(number), b"")
    with refused("MIL254", f"`{name}`", "not an ML Program", "mlprogram"):
        load(write(tmp_path / "a.mlmodel", data))
    with refused("MIL254", f"`{name}`"):
        read(data, "it")
    assert open_model(tmp_path / "a.mlmodel").type == name


def test_an_older_compiled_model(tmp_path: Path) -> None:
    (tmp_path / "N.mlmodelc").mkdir()
    write(tmp_path / "N.mlmodelc" / "model.espresso.net", b"{}")
    with refused("MIL254", "compiled model", "neuralNetwork", "no model.mil"):
        load(tmp_path / "N.mlmodelc")
    with pytest.raises(miltext.ModelError, match=r"no model.mil"):
        _ = open_model(tmp_path / "N.mlmodelc").program


def test_a_compiled_model_without_its_text(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc")
    (folder / "model.mil").unlink()
    with refused("MIL255", "the file `model.mil` does not exist"):
        load(folder)
    (folder / "coremldata.bin").unlink()
    with refused("MIL255", "no model.mil"):
        load(folder)


@pytest.mark.parametrize(
    ("data", "sayings"),
    [
        (b"program(1.3)\n{ // caf\xe9\n}", ["not UTF-8", "offset 21", "line 2", "0xe9"]),
        (b"program(1.3)\n\xed\xa0\x80", ["not UTF-8", "offset 13", "line 2"]),
        ("program(1.3)".encode("utf-16"), ["binary data", "offset 3"]),
        (b"program(1.3)\n{\0}", ["binary data", "offset 14", "line 2", "NUL"]),
        (spec().SerializeToString() + b"\0", ["binary data"]),
    ],
)
def test_files_that_are_not_texts(tmp_path: Path, data: bytes, sayings: list[str]) -> None:
    for path in (PLACES["mil"](tmp_path, data), PLACES["mlmodelc"](tmp_path, data)):
        with refused("MIL256", ".mil", *sayings):
            load(path)


def test_a_byte_order_mark_is_for_the_parser_to_refuse(tmp_path: Path) -> None:
    model = load(write(tmp_path / "a.mil", b"\xef\xbb\xbf" + TEXT.encode()))
    assert model.text == "\ufeff" + TEXT
    with pytest.raises(miltext.ParseError, match=r"a.mil:1:1"):
        _ = model.program


@pytest.mark.parametrize(
    ("data", "saying"),
    [
        (b"functions { key: 'f' }\nnonsense: 1", "a.txtpb:2:1: error[MIL259]"),
        (b"version: 1\nversion: 2", "a.txtpb:2:"),
        (b"version: 99999999999999999999", "MIL259"),
        (b"version: 'one'", "MIL259"),
        (b"docString: '\\377'", "MIL259"),
        (b"functions {", "MIL259"),
        (TEXT.encode(), "MIL259"),
        (b"attributes{value{immediateValue{list{values{" * 3000, "MIL259"),
    ],
)
def test_protobuf_text_with_a_mistake(tmp_path: Path, data: bytes, saying: str) -> None:
    with refused("MIL259", saying):
        load(write(tmp_path / "a.txtpb", data))


# ---- packages


@pytest.mark.parametrize(
    ("manifest", "sayings"),
    [
        ({"rootModelIdentifier": "3"}, ["lacks an item", "'3'"]),
        ({"rootModelIdentifier": None}, ["lacks rootModelIdentifier or itemInfoEntries"]),
        ({"itemInfoEntries": []}, ["lacks rootModelIdentifier or itemInfoEntries"]),
        ({"itemInfoEntries": {"2": "x"}}, ["lacks an item"]),
        ({"itemInfoEntries": {"2": {}}}, ["lacks an item"]),
        ({"itemInfoEntries": {"2": {"path": 3}}}, ["lacks an item"]),
        ({"itemInfoEntries": {"2": {"path": ""}}}, ["lacks an item"]),
        ({"itemInfoEntries": {"2": {"path": "gone.mlmodel"}}}, ["the file `gone.mlmodel` does not exist"]),
        ({"itemInfoEntries": {"2": {"path": "com.apple.CoreML"}}}, ["the file `com.apple.CoreML` is not a file"]),
        ({"itemInfoEntries": {"2": {"path": "../../secret.mlmodel"}}}, ["leads outside"]),
        ({"itemInfoEntries": {"2": {"path": "../Manifest.json"}}}, ["leads outside"]),
        ({"itemInfoEntries": {"2": {"path": os.path.abspath(os.sep) + "secret.mlmodel"}}}, ["leads outside"]),
        ({"itemInfoEntries": {"2": {"path": "a\0b"}}}, ["cannot be followed"]),
    ],
)
def test_a_manifest_that_is_wrong(tmp_path: Path, manifest: dict[str, Any], sayings: list[str]) -> None:
    write(tmp_path / "secret.mlmodel", spec().SerializeToString())
    with refused("MIL255", *sayings):
        load(write_package(tmp_path / "P.mlpackage", spec().SerializeToString(), **manifest))


PATHS: tuple[Any, ...] = (None, 3, 1e400, [], {}, "", True)


@pytest.mark.parametrize("item", [None, 3, "x", [], {}, *({"path": path} for path in PATHS)])
def test_another_item_of_a_manifest_that_is_wrong(item: Any, tmp_path: Path) -> None:
    """Reading follows the root model alone; what is built has the manifest, which Core ML would refuse."""
    entries = {"1": item, "2": {"path": "com.apple.CoreML/model.mlmodel"}}
    folder = write_package(tmp_path / "P.mlpackage", spec().SerializeToString(), itemInfoEntries=entries)
    model = load(folder)
    with refused("MIL255", "Manifest.json", "lacks a path for the item '1'"):
        model.save(tmp_path / "New.mlpackage")
    assert [each.name for each in tmp_path.iterdir()] == ["P.mlpackage"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_not_a_json_object(tmp_path: Path, data: bytes) -> None:
    folder = write_package(tmp_path / "P.mlpackage", spec().SerializeToString())
    write(folder / "Manifest.json", data)
    with refused("MIL255", "Manifest.json", "it is not ", "JSON"):
        load(folder)


def test_a_package_without_a_manifest(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "P.mlpackage", spec().SerializeToString())
    (folder / "Manifest.json").unlink()
    with refused("MIL255", "the file `Manifest.json` does not exist"):
        load(folder)


def test_links_that_lead_outside(tmp_path: Path) -> None:
    package = write_package(tmp_path / "P.mlpackage", spec().SerializeToString())
    bundle = write_bundle(tmp_path / "C.mlmodelc")
    link(package / "Data/com.apple.CoreML/model.mlmodel", write(tmp_path / "secret", spec().SerializeToString()))
    link(bundle / "model.mil", write(tmp_path / "secret.mil", TEXT.encode()))
    for folder in (package, bundle):
        with refused("MIL255", "leads outside"):
            load(folder)


def test_a_link_inside_is_followed(tmp_path: Path) -> None:
    package = write_package(tmp_path / "P.mlpackage", b"")
    write(package / "Data" / "blob", spec().SerializeToString())
    link(package / "Data/com.apple.CoreML/model.mlmodel", package / "Data" / "blob")
    link(tmp_path / "Link.mlpackage", package)
    model = load(tmp_path / "Link.mlpackage")
    assert model.model_path == tmp_path / "Link.mlpackage/Data/com.apple.CoreML"
