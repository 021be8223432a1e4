"""`check` reports each contradiction between the manifest of a package and its files, at its place in the manifest."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import miltext
from support.weighted import DATA, WEIGHT, build, function_of, numbers, program_of, text_model, write_weights

import miltext as library
from miltext.checking.contract.whole import whole_findings
from miltext.containers.opening import open_model
from miltext.diagnostics import codes

WEIGHTS = "com.apple.CoreML/weights"
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (offset,) = write_weights(tmp_path / "source" / WEIGHT, [numbers(1)])
    build(text_model(program_of(function_of({"a": (WEIGHT, offset)})), tmp_path / "source"), tmp_path / "M.mlpackage")
    return tmp_path / "M.mlpackage"


def found_in(package: Path) -> list[str]:
    """The findings about the manifest, with the text at the place of each."""
    found = []
    for file in whole_findings(open_model(package)):
        for each in file.diagnostics:
            if Path(file.path).name == "Manifest.json":
                place = file.text[each.span.start : each.span.end] if each.span and file.text else ""
                found.append(f"{each.severity} {place.strip(chr(34))}: {each.message}")
    return found


def test_findings_of_the_manifest_have_one_code(package: Path) -> None:
    manifest = json.loads((package / "Manifest.json").read_text())
    model_item(manifest).pop("author")
    (package / "Manifest.json").write_text(json.dumps(manifest))
    assert [each.code for file in whole_findings(open_model(package)) for each in file.diagnostics] == ["MIL271"]


def weights_item(manifest: dict[str, Any]) -> dict[str, Any]:
    (item,) = (each for each in manifest["itemInfoEntries"].values() if each["path"] == WEIGHTS)
    return item  # type: ignore[no-any-return]


def model_item(manifest: dict[str, Any]) -> dict[str, Any]:
    return manifest["itemInfoEntries"][manifest["rootModelIdentifier"]]  # type: ignore[no-any-return]


def add(path: str) -> Change:
    item = {"author": "A", "description": "d", "name": "n", "path": path}
    return lambda manifest: manifest["itemInfoEntries"].update({"more": item})


def without(item: Callable[[dict[str, Any]], dict[str, Any]], key: str) -> Change:
    return lambda manifest: item(manifest).pop(key)


def stating(key: str, value: object) -> Change:
    return lambda manifest: weights_item(manifest).update({key: value})


def version(value: object) -> Change:
    return lambda manifest: manifest.update(fileFormatVersion=value)


FAULTS: dict[str, tuple[Change, str]] = {
    "no version": (
        lambda manifest: manifest.pop("fileFormatVersion"),
        "error : the manifest lacks `fileFormatVersion`",
    ),
    "a newer version": (version("1.0.1"), "error fileFormatVersion: the format is `1.0.1`, and the newest known one"),
    "version 2": (version("2.0.0"), "error fileFormatVersion: the format is `2.0.0`"),
    "half a version": (version("1.0"), 'error fileFormatVersion: `fileFormatVersion` is "1.0", not a text such as'),
    "a negative version": (version("1.-1.0"), "error fileFormatVersion: "),
    "a version in numbers": (version(1), "error fileFormatVersion: `fileFormatVersion` is 1, not a text such as"),
    "a folder that is not there": (
        lambda manifest: weights_item(manifest).update(path="com.apple.CoreML/elsewhere"),
        "error path: the item `com.apple.CoreML/elsewhere` does not exist: coremltools does not open the package",
    ),
    "a file that is not there": (add("A/n.bin"), "error path: the item `A/n.bin` does not exist"),
    "an absolute path": (add("/etc/hosts"), "warning path: the item `/etc/hosts` is outside of the package"),
    "a path that climbs out": (add("../../../out"), "warning path: the item `../../../out` is outside of the package"),
    "one path twice": (add(WEIGHTS), f"warning path: 2 items have the path `{WEIGHTS}`"),
    "one path in two spellings": (add(f"A/../{WEIGHTS}/"), f"warning path: 2 items have the path `{WEIGHTS}`"),
    "weights in no item": (
        lambda manifest: manifest["itemInfoEntries"].pop(
            next(key for key, each in manifest["itemInfoEntries"].items() if each["path"] == WEIGHTS)
        ),
        f"warning : no item contains `{WEIGHTS}/weight.bin`, which the program uses",
    ),
    "an item that is no object": (
        lambda manifest: manifest["itemInfoEntries"].update(more=7),
        "error more: the item `more` is not an object",
    ),
    "an unknown key": (lambda manifest: manifest.update(more=1), "note more: the use of the key `more` is unknown"),
    "an unknown key of an item": (
        lambda manifest: weights_item(manifest).update(size=1),
        "note size: the use of the key `size` is unknown",
    ),
    **{
        f"no {key} of {name}": (without(of, key), "error ")
        for name, of in (("the model", model_item), ("the weights", weights_item))
        for key in ("author", "description", "name", "path")
        if (name, key) != ("the model", "path")
    },
    **{f"a number for the {key}": (stating(key, 7), "error ") for key in ("author", "description", "name", "path")},
}


@pytest.mark.parametrize(("change", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_fault_of_a_manifest(package: Path, change: Change, expected: str) -> None:
    assert found_in(package) == []
    manifest = json.loads((package / "Manifest.json").read_text())
    change(manifest)
    (package / "Manifest.json").write_text(json.dumps(manifest, indent=4))
    told = found_in(package)
    assert any(each.startswith(expected) for each in told), told
    assert miltext("check", package).returncode == (0 if expected.startswith("note") else 1)


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", "null", '{"rootModelIdentifier": "a", "itemInfoEntries": {}}'])
def test_an_unreadable_manifest_is_an_error_that_names_it(package: Path, damage: str) -> None:
    (package / "Manifest.json").write_text(damage)
    ended = miltext("check", package)
    assert ended.returncode == 1
    assert b"Manifest.json" in ended.stdout + ended.stderr


def test_a_key_twice_is_reported(package: Path) -> None:
    text = (package / "Manifest.json").read_text()
    (package / "Manifest.json").write_text(text.replace("{", '{"rootModelIdentifier": "x", ', 1))
    assert found_in(package) == ["warning : the key `rootModelIdentifier` occurs twice: readers take either value"]


def test_a_package_kept_without_its_weights_lacks_only_these(package: Path) -> None:
    shutil.rmtree(package / DATA / "weights")
    found = [each.code for file in whole_findings(open_model(package)) for each in file.diagnostics]
    assert found == [codes.MISSING_WEIGHTS]


def test_other_files_are_a_note_and_the_common_ones_nothing(package: Path) -> None:
    (package / ".DS_Store").write_bytes(b"\0")
    (package / DATA / ".DS_Store").write_bytes(b"\0")
    assert found_in(package) == []
    (package / "README.md").write_text("read")
    assert found_in(package) == ["note : no item contains `README.md`"]


WITHOUT_WEIGHTS = """program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
            tensor<fp16, [4]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""


def make_with_kept_file(package: Path) -> None:
    (package / DATA / "weights").mkdir()
    (package / DATA / "weights" / ".gitkeep").touch()


def build_onto_itself(package: Path) -> None:
    library.build(open_model(package), package, force=True)


@pytest.mark.parametrize("way", [make_with_kept_file, build_onto_itself])
def test_a_package_without_weights_after_a_clone(tmp_path: Path, way: Callable[[Path], object]) -> None:
    """git drops the empty folder; `check` reports it, and each way out makes a package that coremltools opens."""
    coremltools = pytest.importorskip("coremltools")
    repository, clone = tmp_path / "repository", tmp_path / "clone"
    repository.mkdir()
    library.build(text_model(WITHOUT_WEIGHTS, tmp_path / "text"), repository / "M.mlpackage")
    manifest = json.loads((repository / "M.mlpackage" / "Manifest.json").read_text())
    item = {"author": "com.apple.CoreML", "description": "CoreML Model Weights", "name": "weights", "path": WEIGHTS}
    manifest["itemInfoEntries"]["W"] = item
    (repository / "M.mlpackage" / "Manifest.json").write_text(json.dumps(manifest))
    (repository / "M.mlpackage" / DATA / "weights").mkdir()
    assert found_in(repository / "M.mlpackage") == []
    _commit(repository)
    subprocess.run(["git", "clone", "-q", repository, clone], check=True)
    model = clone / "M.mlpackage"
    (told,) = found_in(model)
    assert told == f"error path: the item `{WEIGHTS}` does not exist: coremltools does not open the package"
    with pytest.raises(RuntimeError, match="Item does not exist"):
        coremltools.models.MLModel(str(model), skip_model_load=True)
    way(model)
    assert found_in(model) == []
    coremltools.models.MLModel(str(model), skip_model_load=True)


def test_a_kept_file_survives_a_clone(package: Path, tmp_path: Path) -> None:
    (package / DATA / "weights" / ".gitkeep").touch()
    _commit(package.parent)
    subprocess.run(["git", "clone", "-q", package.parent, tmp_path / "clone"], check=True)
    assert found_in(tmp_path / "clone" / "M.mlpackage") == []


def _commit(folder: Path) -> None:
    own = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*own, "commit", "-q", "-m", "Keep a model"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
