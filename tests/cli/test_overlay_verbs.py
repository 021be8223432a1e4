"""Each verb on a package with overlays: it shows their texts, or keeps them, and leaves nothing stale.

Every text of an overlay begins with "over", and every text of the model under one with "own" or "Own".
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import miltext
from support.overlays import (
    DATA,
    FEATURES,
    FEATURES_TABLE,
    METADATA,
    METADATA_TABLE,
    item,
    laid_out,
    overlaid,
    own,
    tables,
)
from support.verbs import verbs

from miltext.containers.opening import open_model

FUTURE = {**METADATA_TABLE, "MLModelFutureKey": {"keep": "this"}}
UNUSED: dict[str, str] = {
    **dict.fromkeys(("", "completion", "demo", "explain", "help", "ops", "lsp"), "opens no package"),
    **dict.fromkeys(("git", "git setup", "git undo", "mergetool"), "writes no model; see test_git_overlays.py"),
    **dict.fromkeys(("fmt", "infer", "parse", "generate"), "reads and writes texts or new models"),
    **dict.fromkeys(
        ("print", "locate", "run", "compare", "weights", "size", "find", "placement"), "reads program and weights alone"
    ),
    **dict.fromkeys(("mergedriver", "difftool"), "is for one file; see test_git_overlays.py"),
}
"""The verbs for which the texts around a program have no meaning."""

FUSED = """program(1.3)[rules = "1"]
{
    func find_a(x) {
            y = tanh(relu(x));
        } -> (y);
    func replace_a(x) {
            y = sigmoid(x);
        } -> (y);
}
"""
"""Rules that replace the operations of the overlaid model."""

Followed = Callable[[Path, Path], None]
TABLE: dict[str, Followed] = {}


def verb(name: str) -> Callable[[Followed], Followed]:
    def register(followed: Followed) -> Followed:
        TABLE[name] = followed
        return followed

    return register


def told(*arguments: object, status: int = 0) -> str:
    found = miltext(*arguments)
    assert found.returncode == status, found.stderr.decode()
    return found.stdout.decode()


def kept(out: Path, features: dict[str, Any] = FEATURES_TABLE, metadata: dict[str, Any] = FUTURE) -> None:
    """Assert that a package has these overlays, and all else that the original had."""
    assert tables(out) == (metadata, features)
    listed = json.loads((out / "Manifest.json").read_text())["itemInfoEntries"]
    assert {"Metadata", "FeatureDescriptions", "more"} <= listed.keys()
    assert (out / "Data" / "notes.txt").read_text() == "keep this"
    read = open_model(out)
    assert read.overlays is not None
    assert not [*read.overlays.unplaced]
    assert read.description is not None
    assert read.description.metadata.author == metadata["MLModelAuthorKey"]
    assert own(out).description.metadata.userDefined["kept"] == "own"


# ---- verbs that show


@verb("describe")
def describe(package: Path, folder: Path) -> None:
    shown = told("describe", package)
    assert 'author = "Over Author"' in shown
    assert 'shortDescription = "over x"' in shown
    assert 'added = "over/there"' in shown
    (folder / "m.toml").write_text('[metadata]\nauthor = "stale"  # a comment\n')
    told("describe", package, "-o", folder / "m.toml")
    assert 'author = "Over Author"  # a comment' in (folder / "m.toml").read_text()


@verb("info")
def info(package: Path, folder: Path) -> None:
    found = json.loads(told("info", package, "--format", "json"))
    assert found["metadata"]["author"] == "Over Author"
    assert found["overlays"][0] == {
        "path": "com.apple.CoreML/Metadata.json",
        "texts": 6,
        "replaced": 3,
        "unplaced": [],
        "unknown": ["MLModelFutureKey.keep"],
    }
    assert found["items"] == [{"path": "notes.txt", "description": "Mine"}]
    shown = told("info", package)
    assert (
        "overlay com.apple.CoreML/Metadata.json: 6 texts, 3 in place of the model's own, unknown: MLModelFutureKey.keep"
        in shown
    )
    assert 'item notes.txt: "Mine"' in shown


@verb("check")
def check(package: Path, folder: Path) -> None:
    assert told("check", package).count("note[MIL270]") == 2
    features = {"Inputs": {"gone": {"MLFeatureShortDescription": "over nothing"}}}
    (package / FEATURES).write_bytes(laid_out(features))
    assert "warning[MIL269]" in told("check", package, status=1)


@verb("diff")
def diff(package: Path, folder: Path) -> None:
    other = folder / "Other.mlpackage"
    shutil.copytree(package, other)
    assert told("diff", package, other) == "no difference\n"
    (other / METADATA).write_bytes(laid_out({**FUTURE, "MLModelAuthorKey": "over, too"}))
    assert 'metadata.author: "Over Author" -> "over, too"' in told("diff", package, other, status=1)


@verb("log")
def log(package: Path, folder: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
    for words in (("init", "-q"), ("add", "-A", "--force"), (*who, "commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=package.parent, check=True)
    (package / METADATA).write_bytes(laid_out({**FUTURE, "MLModelAuthorKey": "over, too"}))
    subprocess.run(["git", *who, "commit", "-qam", "two"], cwd=package.parent, check=True)
    found = miltext("log", package.name, cwd=package.parent)
    assert found.stdout.decode().splitlines()[0].endswith(" two | metadata only")


@verb("textconv")
def textconv(package: Path, folder: Path) -> None:
    assert json.loads(told("textconv", package / METADATA)) == FUTURE
    assert json.loads(told("textconv", package / FEATURES)) == FEATURES_TABLE
    assert "Own Author" in told("textconv", package / DATA / "model.mlmodel"), "git shows each file by itself"


@verb("sidecar")
def sidecar(package: Path, folder: Path) -> None:
    told("sidecar", package)
    (text,) = folder.glob("M*.mil")
    told("sidecar", "--check", package)
    (package / METADATA).write_bytes(laid_out({**FUTURE, "MLModelAuthorKey": "over, too"}))
    assert "Over Author" in text.read_text()
    told("sidecar", "--check", package, status=1)


# ---- verbs that write


@verb("build")
def build(package: Path, folder: Path) -> None:
    told("build", package, "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage")
    (folder / "m.mil").write_text(told("print", package).replace("tanh", "sigmoid"))
    told("build", folder / "m.mil", "--from", package, "-o", folder / "T.mlpackage")
    kept(folder / "T.mlpackage")
    (folder / "m.toml").write_text(told("describe", package).replace("Over Author", "over all"))
    told("build", package, "--description", folder / "m.toml", "-o", package, "--force")
    kept(package, metadata={**FUTURE, "MLModelAuthorKey": "over all"})
    assert own(package).description.metadata.author == "over all"


@verb("rename")
def rename(package: Path, folder: Path) -> None:
    told("rename", package, "x", "image", "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage", {**FEATURES_TABLE, "Inputs": {"image": FEATURES_TABLE["Inputs"]["x"]}})


@verb("expose")
def expose(package: Path, folder: Path) -> None:
    told("expose", package, "inner", "-o", package, "--force")
    kept(package)


@verb("rewrite")
def rewrite(package: Path, folder: Path) -> None:
    """`inner` disappears, and the texts for `x` and `y` stay."""
    (folder / "rule.mil").write_text(FUSED)
    told("rewrite", folder / "rule.mil", package, "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage")


@verb("optimize")
def optimize(package: Path, folder: Path) -> None:
    told("optimize", package, "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage")


@verb("reshape")
def reshape(package: Path, folder: Path) -> None:
    told("reshape", package, "x=2,4", "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage")


@verb("convert-weights")
def convert_weights(package: Path, folder: Path) -> None:
    told("convert-weights", package, "--to", "fp16", "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage")


@verb("link")
def link(package: Path, folder: Path) -> None:
    """The texts of overlays are in the description of the whole; the overlays themselves are files of one model."""
    told("link", package, package, "-o", folder / "N.mlpackage")
    made = open_model(folder / "N.mlpackage")
    assert made.description is not None
    assert made.description.metadata.author == "Over Author"
    assert (made.overlays.read if made.overlays else []) == []


@verb("extract")
def extract(package: Path, folder: Path) -> None:
    told("extract", package, "inner", "-o", folder / "N.mlpackage")
    kept(folder / "N.mlpackage", {**FEATURES_TABLE, "Outputs": {}})


@verb("split")
def split(package: Path, folder: Path) -> None:
    told("split", package, "--at", "inner", "-o", folder / "parts")
    kept(folder / "parts" / f"01_{package.stem}.mlpackage", {**FEATURES_TABLE, "Outputs": {}})


@verb("reduce")
def reduce(package: Path, folder: Path) -> None:
    told("reduce", package, "--test", "true", "-o", folder / "N.mlpackage")
    read = open_model(folder / "N.mlpackage")
    assert read.description is not None
    assert not read.description.metadata.ByteSize()
    assert tables(folder / "N.mlpackage")[0] == {
        "MLModelCreatorDefinedKey": {},
        "MLModelFutureKey": FUTURE["MLModelFutureKey"],
    }


@verb("merge")
def merge(package: Path, folder: Path) -> None:
    ours, theirs, out = folder / "Ours.mlpackage", folder / "Theirs.mlpackage", folder / "N.mlpackage"
    told("rename", package, "x", "image", "-o", ours)
    shutil.copytree(package, theirs)
    (theirs / METADATA).write_bytes(laid_out({**FUTURE, "MLModelAuthorKey": "over, too"}))
    found = miltext("merge", package, ours, theirs, "-o", out)
    assert (found.returncode, b"not kept: Data/notes.txt\n" in found.stderr) == (0, True)
    renamed = {**FEATURES_TABLE, "Inputs": {"image": FEATURES_TABLE["Inputs"]["x"]}}
    assert tables(out) == ({**FUTURE, "MLModelAuthorKey": "over, too"}, renamed)
    read = open_model(out)
    assert read.description is not None
    assert read.description.metadata.author == own(out).description.metadata.author == "over, too"
    (entry,) = read.description.input
    assert (entry.name, entry.shortDescription) == ("image", "over x")
    told("check", out)


# ---- the table


def test_every_verb_is_in_the_table() -> None:
    assert sorted([*TABLE, *UNUSED]) == sorted(verbs())


@pytest.mark.parametrize("name", TABLE)
def test_a_verb_takes_a_package_with_overlays(name: str, tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage", metadata=FUTURE, items={"more": item("notes.txt", "Mine")})
    (package / "Data" / "notes.txt").write_text("keep this")
    TABLE[name](package, tmp_path)
