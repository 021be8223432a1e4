"""Differences of packages with overlays: each difference of a file is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import miltext as run
from support.overlays import FEATURES_TABLE, METADATA_TABLE, item, laid_out, model, overlaid

import miltext

XCODE: dict[str, Any] = {**METADATA_TABLE, "MLModelFutureKey": 1}


def changes(old: Path, new: Path) -> list[tuple[str, str, str | None, str | None]]:
    found = run("diff", old, new, "--format", "json")
    record = json.loads(found.stdout)
    assert found.returncode == (1 if record["changes"] else 0)
    return [(each["kind"], each["name"], each["old"], each["new"]) for each in record["changes"]]


def test_equal_overlays_in_other_layouts_do_not_differ(tmp_path: Path) -> None:
    old = overlaid(tmp_path / "M.mlpackage")
    new = overlaid(
        tmp_path / "N.mlpackage", metadata=laid_out(dict(reversed(METADATA_TABLE.items()))), features=FEATURES_TABLE
    )
    assert changes(old, new) == []


@pytest.mark.parametrize(
    ("metadata", "features", "expected"),
    [
        (
            {**METADATA_TABLE, "MLModelAuthorKey": "Other"},
            FEATURES_TABLE,
            [("description", "metadata.author", '"Over Author"', '"Other"')],
        ),
        (
            METADATA_TABLE,
            {**FEATURES_TABLE, "Inputs": {"x": {"MLFeatureShortDescription": "other"}}},
            [("description", "input[x].shortDescription", '"over x"', '"other"')],
        ),
        (XCODE, FEATURES_TABLE, [("overlay", "com.apple.CoreML/Metadata.json MLModelFutureKey", None, "1")]),
        (
            METADATA_TABLE,
            None,
            [
                ("description", "input[x].shortDescription", '"over x"', '"own x"'),
                (
                    "overlay",
                    "com.apple.CoreML/FeatureDescriptions.json",
                    '"External FeatureDescription Overlay"',
                    None,
                ),
            ],
        ),
    ],
    ids=["a text", "a feature", "an unknown key", "no overlay"],
)
def test_each_difference_of_overlays_is_found(
    metadata: object, features: object, expected: object, tmp_path: Path
) -> None:
    old = overlaid(tmp_path / "M.mlpackage")
    assert changes(old, overlaid(tmp_path / "N.mlpackage", metadata=metadata, features=features)) == expected


def test_a_text_under_an_equal_overlay_is_compared(tmp_path: Path) -> None:
    spec = model()
    spec.description.metadata.author = "Another"
    old, new = overlaid(tmp_path / "M.mlpackage"), overlaid(tmp_path / "N.mlpackage", spec)
    assert changes(old, new) == [("own text", "MLModelAuthorKey", '"Own Author"', '"Another"')]
    assert run("diff", old, new, "--breaking").returncode == 0
    for form in ("text", "markdown", "html"):
        assert b"Another" in run("diff", old, new, "--format", form).stdout


def test_items_of_unknown_use_are_compared(tmp_path: Path) -> None:
    found = []
    for name, text in {"M": "one", "N": "other"}.items():
        package = overlaid(tmp_path / f"{name}.mlpackage", items={"more": item("me", "Mine")})
        (package / "Data" / "me").mkdir()
        (package / "Data" / "me" / "notes.txt").write_text(text)
        found.append(package)
    ((kind, name, old, new),) = changes(found[0], found[1])
    assert (kind, name) == ("item", "me/notes.txt")
    assert (old or "").startswith("3 bytes, SHA-256 ")
    assert (new or "").startswith("5 bytes, SHA-256 ")


def test_unreadable_overlays_are_compared_as_files(tmp_path: Path) -> None:
    old = overlaid(tmp_path / "M.mlpackage", metadata=b"{,}")
    assert changes(old, overlaid(tmp_path / "N.mlpackage", metadata=b"{,}")) == []
    ((kind, name, _, new),) = changes(old, overlaid(tmp_path / "O.mlpackage", metadata=b"{,},"))
    assert (kind, name) == ("item", "com.apple.CoreML/Metadata.json")
    assert (new or "").startswith("4 bytes, SHA-256 ")


def test_only_the_description_is_compared_with_other_formats(tmp_path: Path) -> None:
    package = overlaid(tmp_path / "M.mlpackage")
    for name in ("N.mlmodel", "N.mlmodelc"):
        assert run("build", package, "-o", tmp_path / name).returncode == 0
        assert changes(package, tmp_path / name) == []
        assert changes(tmp_path / name, package) == []


def test_a_pipeline_is_compared_with_its_overlays_once(tmp_path: Path) -> None:
    from support.pipelines import piped, unary

    spec = piped(unary("x", "m"), unary("m", "y"))
    old = overlaid(tmp_path / "M.mlpackage", spec, XCODE, None)
    new = overlaid(tmp_path / "N.mlpackage", spec, METADATA_TABLE, None)
    assert changes(old, new) == [("overlay", "com.apple.CoreML/Metadata.json MLModelFutureKey", "1", None)]
    assert miltext.diff(old, new).same is False
