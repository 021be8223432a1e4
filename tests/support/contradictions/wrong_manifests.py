"""Contradictions between the manifest of a package and its files.

The rules are those of coremltools 9.0's `modelpackage/src/ModelPackage.cpp`, which reads and validates packages.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

from support.contradictions.contradicted import Case, Inapplicable, contradiction, equivalent
from support.contradictions.wrong_weights import any_record

PACKAGE = "ModelPackage.cpp validates the manifest"
ITEMS = "each item is a file or folder below Data, with one path"


@contradiction("manifest", "no manifest", PACKAGE)
def _missing(case: Case) -> str:
    case.manifest_file.unlink()
    return "no `Manifest.json`"


@contradiction("manifest", "no JSON", PACKAGE)
def _no_json(case: Case) -> str:
    data = case.manifest_file.read_bytes()
    instead = (b"", b"\xff" * 64, data[: case.random.randrange(1, len(data) - 2)], b"[]", b"null", b"{}")
    case.manifest_file.write_bytes(case.pick(instead))
    return "`Manifest.json` is no manifest"


@contradiction("manifest", "a key missing", PACKAGE)
def _key_missing(case: Case) -> str:
    key = case.pick(["fileFormatVersion", "itemInfoEntries", "rootModelIdentifier"])
    del case.manifest[key]
    return f"`Manifest.json` has no {key}"


@contradiction("manifest", "a value of another type", PACKAGE)
def _other_type(case: Case) -> str:
    key = case.pick(["fileFormatVersion", "itemInfoEntries", "rootModelIdentifier"])
    case.manifest[key] = case.pick([None, 7, [], True])
    return f"`Manifest.json` has {case.manifest[key]} for {key}"


@contradiction("manifest", "another format", "1.0.0 is the only version of the format")
def _format(case: Case) -> str:
    case.manifest["fileFormatVersion"] = case.pick(["2.0.0", "", "one"])
    return f"`Manifest.json` is of the format {case.manifest['fileFormatVersion']}"


def _items(case: Case) -> dict[str, Any]:
    return dict(case.manifest["itemInfoEntries"])


def _root(case: Case) -> Any:
    return case.manifest["itemInfoEntries"][case.manifest["rootModelIdentifier"]]


@contradiction("manifest", "a root that is no item", "the root is the item of the model")
def _ghost_root(case: Case) -> str:
    case.manifest["rootModelIdentifier"] = case.pick(["", "ghost", case.manifest["rootModelIdentifier"].lower() + "0"])
    return "the root of `Manifest.json` is no item"


@contradiction("manifest", "a root that is another item", "the root is the item of the model")
def _other_root(case: Case) -> str:
    case.manifest["rootModelIdentifier"] = case.pick({*_items(case)} - {case.manifest["rootModelIdentifier"]})
    return "the root of `Manifest.json` is another item"


@contradiction("manifest", "the model no item", "the root is the item of the model")
def _no_model(case: Case) -> str:
    del case.manifest["itemInfoEntries"][case.manifest["rootModelIdentifier"]]
    return "`Manifest.json` lacks the model"


@contradiction("manifest", "a field of an item missing", "each item has a path, a name, an author and a description")
def _field_missing(case: Case) -> str:
    item = case.pick(case.manifest["itemInfoEntries"].values())
    key = case.pick(["path", "author", "name", "description"])
    if key not in item:
        raise Inapplicable
    del item[key]
    return f"an item of `Manifest.json` has no {key}"


@contradiction("manifest", "a path of another type", ITEMS)
def _path_type(case: Case) -> str:
    case.pick(case.manifest["itemInfoEntries"].values())["path"] = case.pick([None, 7, [], ""])
    return "a path in `Manifest.json` is none"


@contradiction("manifest", "a path to nothing", ITEMS)
def _path_to_nothing(case: Case) -> str:
    item = case.pick(case.manifest["itemInfoEntries"].values())
    item["path"] = case.pick([item["path"] + "2", "elsewhere/" + item["path"], item["path"].rpartition("/")[2]])
    return f"an item of `Manifest.json` has the path `{item['path']}`"


@contradiction("manifest", "a path outside the package", ITEMS)
def _path_outside(case: Case) -> str:
    item = case.pick(case.manifest["itemInfoEntries"].values())
    name = case.pick(["../" * 4 + "outside", "/etc/passwd", "../Manifest.json"])
    item["path"] = name
    return f"an item of `Manifest.json` has the path `{name}`"


@contradiction("manifest", "an item whose file is missing", ITEMS)
def _ghost_item(case: Case) -> str:
    item = {**_root(case), "name": "ghost", "path": "com.apple.CoreML/ghost", "description": "a ghost"}
    case.manifest["itemInfoEntries"]["00000000-0000-0000-0000-000000000000"] = item
    return "an item of `Manifest.json` has the path `com.apple.CoreML/ghost`"


@contradiction("manifest", "two items with one path", ITEMS)
def _one_path(case: Case) -> str:
    item = case.pick(_items(case).values())
    case.manifest["itemInfoEntries"]["00000000-0000-0000-0000-000000000000"] = {**item}
    return f"two items of `Manifest.json` have the path `{item['path']}`"


@contradiction(
    "manifest", "the weights no item", "Core ML takes the items of a package, and the program names the file"
)
def _no_weights(case: Case) -> str:
    any_record(case)
    others = [name for name in _items(case) if name != case.manifest["rootModelIdentifier"]]
    del case.manifest["itemInfoEntries"][case.pick(others)]
    return "`Manifest.json` lacks the `weights`"


@contradiction(
    "manifest", "a field of an item that is no text", "each item has a path, a name, an author and a description"
)
def _field_type(case: Case) -> str:
    item = case.pick(case.manifest["itemInfoEntries"].values())
    key = case.pick(["author", "name", "description"])
    item[key] = case.pick([None, 7, []])
    return f"an item of `Manifest.json` has {item[key]} for {key}"


@contradiction("manifest", "a key twice", "a reader takes either")
def _key_twice(case: Case) -> str:
    text = case.manifest_file.read_text()
    case.manifest_file.write_text(text.replace("{", '{"rootModelIdentifier": "x", ', 1))
    return "`Manifest.json` has a root twice"


@contradiction("manifest", "the model file missing", ITEMS)
def _no_model_file(case: Case) -> str:
    case.model_file.unlink()
    return "no `model.mlmodel`"


@contradiction("manifest", "another model file", "the model is a Model message")
def _other_model_file(case: Case) -> str:
    data = case.model_file.read_bytes()
    from support.containers import LFS

    case.model_file.write_bytes(case.pick([b"", b"\xff" * 64, data[: case.random.randrange(1, len(data) - 1)], LFS]))
    return "`model.mlmodel` is no model"


@contradiction("manifest", "the data missing", ITEMS)
def _no_data(case: Case) -> str:
    shutil.rmtree(case.folder / "Data")
    return "no `Data`"


# ---- any value is right


@equivalent("manifest", "other identifiers", "each export makes new ones")
def _identifiers(case: Case) -> str:
    text = json.dumps(case.manifest)
    for index, name in enumerate(_items(case)):
        text = text.replace(name, f"00000000-0000-0000-0000-00000000000{index}")
    case.manifest = json.loads(text)
    return "other identifiers"


@equivalent("manifest", "the order of items", "items are found by their identifiers")
def _order(case: Case) -> str:
    case.manifest["itemInfoEntries"] = dict(reversed(_items(case).items()))
    return "another order"


@equivalent("manifest", "other words about an item", "they are for people")
def _words(case: Case) -> str:
    item = case.pick(case.manifest["itemInfoEntries"].values())
    item["description"] = item["name"] = "other words"
    return "other words"


@equivalent("manifest", "another author of an item", "ModelPackage.cpp: anybody may add items")
def _author(case: Case) -> str:
    others = [item for name, item in _items(case).items() if name != case.manifest["rootModelIdentifier"]]
    case.pick(others)["author"] = "com.example"
    return "an item of another author"


@equivalent("manifest", "files that nothing names", "nothing reads them: a note at most")
def _files(case: Case) -> str:
    for name in (".DS_Store", "README.md", "Data/com.apple.CoreML/.DS_Store", "Data/LICENSE"):
        (case.folder / name).write_bytes(b"x")
    return "files more"
