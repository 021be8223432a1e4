"""The overlays of a package: texts that stand over those of its model, and stay where they are."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import miltext as run
from support.containers import NEURAL_NETWORK, link
from support.overlays import (
    DATA,
    FEATURES,
    FEATURES_TABLE,
    METADATA,
    METADATA_TABLE,
    TEXT,
    USES,
    item,
    model,
    overlaid,
    own,
    tables,
)
from support.pipelines import piped, unary

import miltext
from miltext.models.overlays import parsed, written
from miltext.schema.proto import Model

XCODE = b"""{
  "Outputs" : {
    "depth" : {
      "MLFeatureShortDescription" : "a map, 1\\/14 of the size {}"
    }
  },
  "TrainingInputs" : {

  }
}"""


def texts(package: Path) -> dict[str, Any]:
    """The texts of a package, as miltext reads them."""
    read = miltext.open_model(package)
    assert read.description is not None
    metadata = read.description.metadata
    return {
        "author": metadata.author,
        "license": metadata.license,
        "version": metadata.versionString,
        "description": metadata.shortDescription,
        "users": dict(metadata.userDefined),
        **{entry.name: entry.shortDescription for entry in (*read.description.input, *read.description.output)},
    }


WHOLE: dict[str, Any] = {
    "author": "Over Author",
    "license": "own license",
    "version": "2",
    "description": "over a model",
    "users": {"shared": "over", "kept": "own", "added": "over/there"},
    "x": "over x",
    "y": "own y",
}


def codes_of(*arguments: object) -> list[str]:
    record = json.loads(run(*arguments, "--format", "json").stdout)
    return sorted(each["code"] for each in record["diagnostics"])


# ---- reading


def test_each_text_of_an_overlay_stands_over_the_models_own(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    assert texts(package) == WHOLE
    assert codes_of("check", package) == []


def test_no_text_of_an_absent_overlay_is_changed(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage", features=None)
    assert texts(package) == {**WHOLE, "x": "own x"}
    assert texts(overlaid(tmp_path / "N.mlpackage", metadata=None))["author"] == "Own Author"


def test_the_layout_of_xcode_is_written() -> None:
    assert written(parsed(XCODE)) == XCODE


@pytest.mark.parametrize("side", ["input", "output", "state", "trainingInput"])
def test_features_of_each_side_are_described(side: str, tmp_path: Path) -> None:
    key = {"input": "Inputs", "output": "Outputs", "state": "States", "trainingInput": "TrainingInputs"}[side]
    spec = model()
    getattr(spec.description, side).add(name="more")
    table = {key: {"more": {"MLFeatureShortDescription": "over more"}}}
    read = miltext.open_model(overlaid(tmp_path / "M.mlpackage", spec, None, table))
    assert read.description is not None
    assert getattr(read.description, side)[-1].shortDescription == "over more"


def test_overlays_describe_the_default_of_several_functions(tmp_path: Path) -> None:
    spec = model()
    for name in ("one", "two"):
        spec.description.functions.add(name=name, input=spec.description.input, output=spec.description.output)
    spec.description.defaultFunctionName = "two"
    spec.description.ClearField("input")
    spec.description.ClearField("output")
    read = miltext.open_model(overlaid(tmp_path / "M.mlpackage", spec))
    assert read.description is not None
    assert [each.input[0].shortDescription for each in read.description.functions] == ["own x", "over x"]


def test_a_pipeline_has_overlays_and_its_models_none(tmp_path: Path) -> None:
    spec = piped(unary("x", "m"), unary("m", "y"))
    table = {"Inputs": {spec.description.input[0].name: {"MLFeatureShortDescription": "over"}}}
    read = miltext.open_model(overlaid(tmp_path / "M.mlpackage", spec, features=table))
    assert read.description is not None
    assert (read.description.input[0].shortDescription, read.description.metadata.author) == ("over", "Over Author")
    assert all(stage.model.description.metadata.author == "" for stage in read.stages() if stage.model.description)


# ---- overlays that cannot be read


def twice(folder: Path) -> Path:
    items = {"again": item("com.apple.CoreML/Other.json", USES[METADATA])}
    made = overlaid(folder, items=items)
    (made / DATA / "Other.json").write_text('{"MLModelAuthorKey": "Other"}')
    return made


def outside(folder: Path) -> Path:
    (folder.parent / "Metadata.json").write_text(json.dumps(METADATA_TABLE))
    return overlaid(
        folder, metadata=None, items={"out": item("com.apple.CoreML/../../../Metadata.json", USES[METADATA])}
    )


def linked(folder: Path) -> Path:
    made = overlaid(folder)
    (folder.parent / "elsewhere.json").write_text(json.dumps(METADATA_TABLE))
    link(made / METADATA, folder.parent / "elsewhere.json")
    return made


def missing(folder: Path) -> Path:
    made = overlaid(folder)
    (made / METADATA).unlink()
    return made


def a_folder(folder: Path) -> Path:
    made = missing(folder)
    (made / METADATA).mkdir()
    return made


def of_bytes(data: bytes) -> Callable[[Path], Path]:
    return lambda folder: overlaid(folder, metadata=data)


UNREADABLE: dict[str, Callable[[Path], Path]] = {
    "absent": missing,
    "a folder": a_folder,
    "two of one kind": twice,
    "outside of the package": outside,
    "a link to elsewhere": linked,
    **{
        name: of_bytes(data)
        for name, data in {
            "empty": b"",
            "not JSON": b"{,}",
            "a list": b"[1]",
            "a key twice": b'{"MLModelAuthorKey": "a", "MLModelAuthorKey": "b"}',
            "half of a character": b'{"MLModelAuthorKey": "\\ud800"}',
            "a number beyond all limits": b'{"a": [1e400]}',
            "a number that is none": b'{"a": NaN}',
            "deep": b'{"a":' * 40 + b"1" + b"}" * 40,
            "very deep": b"[" * 100_000 + b"]" * 100_000,
            "a pointer of git-lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:"
            + b"a" * 64
            + b"\nsize 9\n",
        }.items()
    },
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_unreadable_overlay_changes_nothing_and_is_reported(kind: str, tmp_path: Path) -> None:
    package = UNREADABLE[kind](tmp_path / "M.mlpackage")
    own_texts = texts(overlaid(tmp_path / "N.mlpackage", metadata=None))
    assert texts(package) == {**own_texts, "x": "over x"}
    assert codes_of("check", package) == ["MIL268"]
    assert codes_of("describe", package, "-o", tmp_path / "m.toml") == ["MIL268"]
    assert b"overlay com.apple.CoreML" in run("info", package).stdout


@pytest.mark.parametrize("kind", [kind for kind in UNREADABLE if kind != "a link to elsewhere"])
def test_an_unreadable_overlay_is_kept_by_an_edit(kind: str, tmp_path: Path) -> None:
    package = UNREADABLE[kind](tmp_path / "M.mlpackage")
    before = {path: path.read_bytes() for path in package.rglob("*.json") if path.is_file()}
    found = run("rename", package, "x", "image", "-o", package, "--force")
    assert (found.returncode, found.stderr.count(b"MIL268")) == (0, 1)
    manifest = package / "Manifest.json"
    unchanged = {path: data for path, data in before.items() if path not in (manifest, package / FEATURES)}
    assert {path: path.read_bytes() for path in unchanged} == unchanged
    assert json.loads(manifest.read_bytes()) == json.loads(before[manifest])


def test_the_way_out_for_a_pointer_is_a_command_of_git_lfs(tmp_path: Path) -> None:
    found = run("check", UNREADABLE["a pointer of git-lfs"](tmp_path / "M.mlpackage"))
    assert b"note: run `git lfs pull` in the model's repository" in found.stdout


# ---- odd contents


ODD = {
    "a number for a text": ({"MLModelAuthorKey": 5}, None),
    "a text for an object": ({"MLModelCreatorDefinedKey": "x"}, None),
    "a number of a user": ({"MLModelCreatorDefinedKey": {"n": 1.5}}, None),
    "an unknown key": ({"MLModelFutureKey": {"deep": ["kept", {}]}}, None),
    "an unknown empty object": ({"MLModelFutureKey": {}}, None),
    "an unknown side": (None, {"Parameters": {"p": {"MLFeatureShortDescription": "p"}}}),
    "an unknown fact of a feature": (None, {"Inputs": {"x": {"Unit": "m"}}}),
    "a list of features": (None, {"Inputs": ["x"]}),
}


@pytest.mark.parametrize("kind", ODD)
def test_unknown_values_are_named_and_follow_their_feature(kind: str, tmp_path: Path) -> None:
    metadata, features = ODD[kind]
    package = overlaid(tmp_path / "M.mlpackage", metadata=metadata, features=features)
    assert codes_of("check", package) == ["MIL270"]
    assert run("check", package).returncode == 0
    assert b"unknown: " in run("info", package).stdout
    run("rename", package, "x", "image", "-o", package, "--force")
    path, table = (METADATA, metadata) if features is None else (FEATURES, features)
    said = json.dumps(table).replace('"x": {', '"image": {')
    assert json.loads((package / path).read_bytes()) == json.loads(said)


def test_a_text_for_a_feature_that_is_not_there_is_reported(tmp_path: Path) -> None:
    table = {**FEATURES_TABLE, "States": {"gone": {"MLFeatureShortDescription": "nothing"}}}
    package = overlaid(tmp_path / "M.mlpackage", features=table)
    found = run("check", package)
    assert (found.returncode, codes_of("check", package)) == (1, ["MIL269"])
    assert "the model has no state `gone`" in found.stdout.decode()
    run("rename", package, "inner", "other", "-o", package, "--force")
    assert tables(package)[1] == table


def test_a_new_feature_does_not_get_an_old_text(tmp_path: Path) -> None:
    table = {**FEATURES_TABLE, "Outputs": {"inner": {"MLFeatureShortDescription": "of another"}}}
    package = overlaid(tmp_path / "M.mlpackage", features=table)
    assert run("expose", package, "inner", "-o", package, "--force").returncode == 0
    assert texts(package)["inner"] == ""


def test_a_file_that_no_item_lists_is_not_an_overlay(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage", metadata=None)
    (package / METADATA).write_text(json.dumps(METADATA_TABLE))
    assert texts(package)["author"] == "Own Author"
    assert codes_of("check", package) == ["MIL270"]


def test_an_overlay_that_is_listed_twice_is_one(tmp_path: Path) -> None:
    items = {"again": item("com.apple.CoreML/Metadata.json", USES[METADATA])}
    assert texts(overlaid(tmp_path / "M.mlpackage", items=items)) == WHOLE


def test_an_unknown_item_is_named_and_kept(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage", items={"more": item("me/notes.txt", "Notes of Mine")})
    (package / "Data" / "me").mkdir()
    (package / "Data" / "me" / "notes.txt").write_text("keep this")
    found = run("check", package)
    assert (found.returncode, codes_of("check", package)) == (0, ["MIL270"])
    assert "the use of these items is unknown: `me/notes.txt`" in found.stdout.decode()
    assert 'item me/notes.txt: "Notes of Mine"' in run("info", package).stdout.decode()
    run("rename", package, "x", "image", "-o", tmp_path / "N.mlpackage")
    assert (tmp_path / "N.mlpackage" / "Data" / "me" / "notes.txt").read_text() == "keep this"
    listed = json.loads((tmp_path / "N.mlpackage" / "Manifest.json").read_text())["itemInfoEntries"]
    assert listed["more"] == item("me/notes.txt", "Notes of Mine")


def test_odd_names_of_items_are_shown_with_escapes(tmp_path: Path) -> None:
    odd = {
        str(index): item(path, path) for index, path in enumerate(["nul\0", "lone\ud800", "../up", "/absolute", "é"])
    }
    package = overlaid(tmp_path / "M.mlpackage", items=odd)
    items = json.loads(run("info", package, "--format", "json").stdout)["items"]
    assert [each["path"] for each in items] == ["../up", "/absolute", "lone\\ud800", "nul\\x00", "é"]
    assert "`lone\\ud800`, `nul\\x00` and `é`" in run("check", package).stdout.decode()
    assert run("diff", package, package).returncode == 0


# ---- edits


def build(package: Path, old: str, new: str, out: Path) -> None:
    """Build a package with another description."""
    toml = miltext.describe(package)
    assert toml.count(old) == 1
    (out.parent / "m.toml").write_text(toml.replace(old, new))
    found = run("build", package, "--description", out.parent / "m.toml", "-o", out, "--force")
    assert found.returncode == 0, found.stderr


def test_an_unedited_model_keeps_all_bytes(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    files = [DATA / "model.mlmodel", METADATA, FEATURES]
    before = [(package / path).read_bytes() for path in files]
    run("build", package, "-o", tmp_path / "N.mlpackage")
    assert [(tmp_path / "N.mlpackage" / path).read_bytes() for path in files] == before


@pytest.mark.parametrize("itself", [False, True], ids=["to another", "onto itself"])
def test_an_edited_text_is_in_the_overlay_and_in_the_model(itself: bool, tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    out = package if itself else tmp_path / "N.mlpackage"
    build(package, 'author = "Over Author"', 'author = "New Author"', out)
    assert texts(out) == {**WHOLE, "author": "New Author"}
    assert tables(out) == ({**METADATA_TABLE, "MLModelAuthorKey": "New Author"}, FEATURES_TABLE)
    expected = model()
    expected.description.metadata.author = "New Author"
    assert own(out) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('author = "Over Author"\n', "", {"author": ""}),
        ('shared = "over"', 'shared = "new"', {"users": {**WHOLE["users"], "shared": "new"}}),
        ('shared = "over"\n', "", {"users": {"kept": "own", "added": "over/there"}}),
        ('kept = "own"\n', "", {"users": {"shared": "over", "added": "over/there"}}),
        ('kept = "own"\n', 'kept = "own"\nmore = "new"\n', {"users": {**WHOLE["users"], "more": "new"}}),
        ('shortDescription = "over x"\n', "", {"x": ""}),
        ('shortDescription = "over x"', 'shortDescription = "new x"', {"x": "new x"}),
        ('shortDescription = "own y"', 'shortDescription = "new y"', {"y": "new y"}),
    ],
)
def test_each_edit_is_read_back(old: str, new: str, expected: dict[str, Any], tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    build(package, old, new, package)
    assert texts(package) == {**WHOLE, **expected}


def test_a_new_entry_of_a_user_is_in_the_overlay_too(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    build(package, 'kept = "own"\n', 'kept = "own"\nmore = "new"\n', package)
    assert tables(package)[0]["MLModelCreatorDefinedKey"] == {
        **METADATA_TABLE["MLModelCreatorDefinedKey"],
        "more": "new",
    }


def test_a_renamed_feature_has_its_new_name_in_the_overlay(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    run("rename", package, "x", "image", "-o", package, "--force")
    assert tables(package) == (
        METADATA_TABLE,
        {**FEATURES_TABLE, "Inputs": {"image": FEATURES_TABLE["Inputs"]["x"]}},
    )
    assert own(package).description.input[0].shortDescription == "own x"
    assert texts(package)["image"] == "over x"


def test_renamed_training_inputs_are_followed(tmp_path: Path) -> None:
    spec = piped(unary("x", "m"), unary("m", "y"))
    spec.description.trainingInput.add(name="x")
    table = {"TrainingInputs": {"x": {"MLFeatureShortDescription": "to train"}}}
    package = overlaid(tmp_path / "M.mlpackage", spec, features=table)
    run("rename", package, "x", "image", "-o", package, "--force")
    assert own(package).description.trainingInput[0].name == "image"
    assert tables(package)[1] == {"TrainingInputs": {"image": {"MLFeatureShortDescription": "to train"}}}


@pytest.mark.parametrize(("name", "expected"), [("x", "image"), ("label", "label")])
def test_training_inputs_of_a_program_are_followed(name: str, expected: str, tmp_path: Path) -> None:
    spec = model()
    spec.description.trainingInput.add(name=name)
    text = {"MLFeatureShortDescription": "to train"}
    package = overlaid(tmp_path / "M.mlpackage", spec, features={"TrainingInputs": {name: text}})
    run("rename", package, "x", "image", "-o", package, "--force")
    assert own(package).description.trainingInput[0].name == expected
    assert tables(package)[1] == {"TrainingInputs": {expected: text}}


def test_exchanged_names_are_exchanged_in_the_overlay(tmp_path: Path) -> None:
    text = TEXT.replace("tensor<fp32, [1, 4]> x)", "tensor<fp32, [1, 4]> x, tensor<fp32, [1, 4]> z)")
    program = miltext.parse(text)
    (tmp_path / "m.mil").write_text(text)
    miltext.build(tmp_path / "m.mil", tmp_path / "P.mlpackage")
    table = {"Inputs": {name: {"MLFeatureShortDescription": f"over {name}"} for name in "xz"}}
    package = overlaid(tmp_path / "M.mlpackage", own(tmp_path / "P.mlpackage"), None, table)
    assert program == miltext.load(package).program
    miltext.build(package, tmp_path / "N.mlpackage", renames={"x": "z", "z": "x"})
    assert json.loads((tmp_path / "N.mlpackage" / FEATURES).read_bytes()) == {
        "Inputs": {
            "z": {"MLFeatureShortDescription": "over x"},
            "x": {"MLFeatureShortDescription": "over z"},
        }
    }


def test_a_removed_feature_is_not_in_the_overlay(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    assert run("extract", package, "inner", "-o", tmp_path / "N.mlpackage").returncode == 0
    metadata, features = tables(tmp_path / "N.mlpackage")
    assert metadata == METADATA_TABLE
    assert features["Outputs"] == {}
    assert texts(tmp_path / "N.mlpackage")["x"] == "over x"


def test_a_renamed_feature_of_a_pipeline_is_followed(tmp_path: Path) -> None:
    spec = piped(unary("x", "m"), unary("m", "y"))
    name = spec.description.input[0].name
    table = {"Inputs": {name: {"MLFeatureShortDescription": "over"}}}
    package = overlaid(tmp_path / "M.mlpackage", spec, features=table)
    assert run("rename", package, name, "image", "-o", package, "--force").returncode == 0
    assert tables(package)[1] == {"Inputs": {"image": {"MLFeatureShortDescription": "over"}}}


@pytest.mark.parametrize("ending", [".mlmodel", ".mlmodelc"])
def test_other_formats_get_the_texts_of_overlays(ending: str, tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    found = run("build", package, "-o", tmp_path / f"N{ending}")
    assert b"not kept" not in found.stderr
    assert texts(tmp_path / f"N{ending}") == WHOLE


def test_a_renamed_feature_of_the_default_function_is_followed(tmp_path: Path) -> None:
    text = TEXT.replace("ios16", "ios18")
    one, two = (text.partition("{\n")[2].rpartition("}")[0].replace(" main<", f" {name}<") for name in ("one", "two"))
    two = two.replace(" x)", " z)")
    (tmp_path / "m.mil").write_text(f"program(1.3)\n{{\n{one}{two}}}\n")
    miltext.build(tmp_path / "m.mil", tmp_path / "P.mlpackage")
    spec = own(tmp_path / "P.mlpackage")
    spec.description.defaultFunctionName = "two"
    table = {"Inputs": {"z": {"MLFeatureShortDescription": "over z"}}}
    package = overlaid(tmp_path / "M.mlpackage", spec, features=table)
    for name, new in (("z", "image"), ("x", "other")):
        assert run("rename", package, name, new, "-o", package, "--force").returncode == 0
        assert tables(package)[1] == {"Inputs": {"image": {"MLFeatureShortDescription": "over z"}}}
    assert codes_of("check", package) == []


def test_a_model_of_another_kind_has_overlays(tmp_path: Path) -> None:
    spec = Model.FromString(NEURAL_NETWORK)
    spec.description.CopyFrom(model().description)
    package = overlaid(tmp_path / "M.mlpackage", spec)
    assert texts(package) == WHOLE
    build(package, 'author = "Over Author"', 'author = "New Author"', tmp_path / "N.mlpackage")
    assert texts(tmp_path / "N.mlpackage") == {**WHOLE, "author": "New Author"}
    assert tables(tmp_path / "N.mlpackage") == ({**METADATA_TABLE, "MLModelAuthorKey": "New Author"}, FEATURES_TABLE)
    assert "metadata.author" in run("diff", package, tmp_path / "N.mlpackage").stdout.decode()


def test_a_model_without_a_description_gets_the_texts(tmp_path: Path) -> None:
    spec = model()
    spec.ClearField("description")
    package = overlaid(tmp_path / "M.mlpackage", spec, features={"Inputs": {}})
    before = (package / DATA / "model.mlmodel").read_bytes()
    assert texts(package)["author"] == "Over Author"
    miltext.build(package, tmp_path / "N.mlpackage", check=False)
    assert (tmp_path / "N.mlpackage" / DATA / "model.mlmodel").read_bytes() == before


def test_a_model_that_is_saved_twice_is_written_equally(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    read = miltext.load(package)
    assert read.description is not None
    read.description.metadata.author = "New Author"
    for _ in range(2):
        read.save(package, force=True)
        assert tables(package)[0]["MLModelAuthorKey"] == own(package).description.metadata.author == "New Author"


# ---- compiled models


def doubts(stderr: bytes) -> bool:
    return b"the texts of overlays that differ from the model's own" in stderr


def test_a_package_compiled_and_turned_back_has_all_texts(tmp_path: Path) -> None:
    package, bundle, back = (tmp_path / name for name in ("M.mlpackage", "N.mlmodelc", "B.mlpackage"))
    overlaid(package)
    found = run("build", package, "-o", bundle)
    assert found.returncode == 0
    assert doubts(found.stderr)
    assert run("build", bundle, "-o", back).returncode == 0
    assert texts(back) == WHOLE
    described = json.loads((bundle / "metadata.json").read_bytes())[0]
    assert (described["author"], described["shortDescription"]) == ("Over Author", "over a model")
    assert described["userDefinedMetadata"] == WHOLE["users"]
    assert described["inputSchema"][0]["shortDescription"] == "over x"


def test_texts_that_the_model_has_itself_are_not_doubt(tmp_path: Path) -> None:
    metadata, features = {"MLModelLicenseKey": "own license"}, {"Outputs": FEATURES_TABLE["Outputs"]}
    package = overlaid(tmp_path / "M.mlpackage", metadata=metadata, features=features)
    assert not doubts(run("build", package, "-o", tmp_path / "N.mlmodelc").stderr)


def test_the_hash_of_the_source_is_the_hash_of_the_model_file(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    run("build", package, "-o", tmp_path / "N.mlmodelc")
    found = json.loads(run("info", tmp_path / "N.mlmodelc", "--format", "json").stdout)["compiled"]["modelHash"]
    digest = hashlib.sha256((package / DATA / "model.mlmodel").read_bytes()).digest()
    assert found == base64.b64encode(digest).decode()
    assert run("check", tmp_path / "N.mlmodelc", "--from", package).returncode == 0


def test_other_values_of_overlays_are_not_in_a_compiled_model(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage", metadata={"MLModelFutureKey": "1"})
    stderr = run("build", package, "-o", tmp_path / "N.mlmodelc").stderr.decode()
    assert "other files of the package are not kept: Data/com.apple.CoreML/Metadata.json\n" in stderr
