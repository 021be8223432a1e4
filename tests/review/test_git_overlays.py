"""Overlays of packages in git: shown in an order of their own, and merged text by text."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.overlays import FEATURES, FEATURES_TABLE, METADATA, METADATA_TABLE, laid_out, overlaid, tables
from support.repositories import Repository

import miltext
from miltext.merging.overlays import merge_overlays

if shutil.which("git") is None:
    pytest.skip("needs git", allow_module_level=True)

NAME = "Texts.mlpackage"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.git("branch", "-M", "main")
    made.miltext("git", "setup")
    overlaid(made.folder / NAME)
    made.commit()
    return made


def write(repository: Repository, path: Path, table: object) -> None:
    (repository.folder / NAME / path).write_bytes(laid_out(table))


def branches(repository: Repository, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Have a branch `theirs`, and be on one, `ours`, each with its edit."""
    for name, edit in (("theirs", theirs), ("ours", ours)):
        repository.git("checkout", "-q", "-B", name, "main")
        edit()
        repository.commit()


def author(repository: Repository, name: str) -> Callable[[], object]:
    return lambda: write(repository, METADATA, {**METADATA_TABLE, "MLModelAuthorKey": name})


def test_another_order_of_keys_is_not_a_change(repository: Repository) -> None:
    write(repository, METADATA, dict(reversed(METADATA_TABLE.items())))
    assert repository.git("diff").count("\n@@") == 0
    author(repository, "É Other")()
    shown = repository.git("diff")
    assert '-    "MLModelAuthorKey": "Over Author"' in shown
    assert '+    "MLModelAuthorKey": "É Other"' in shown


def test_an_unreadable_overlay_is_shown_as_it_is(repository: Repository) -> None:
    (repository.folder / NAME / METADATA).write_bytes(b"{,}\n")
    assert "+{,}" in repository.git("diff")


def test_edits_of_revisions_are_compared(repository: Repository) -> None:
    author(repository, "Other")()
    found = json.loads(repository.miltext("diff", "--git", "HEAD", NAME, "--format", "json", status=1))
    assert [(each["name"], each["new"]) for each in found["changes"]] == [("metadata.author", '"Other"')]


def test_different_texts_of_both_sides_are_merged(repository: Repository) -> None:
    licensed = {**METADATA_TABLE, "MLModelLicenseKey": "MIT"}
    branches(repository, author(repository, "Ours"), lambda: write(repository, METADATA, licensed))
    repository.git("merge", "-q", "--no-edit", "theirs")
    merged, _ = tables(repository.folder / NAME)
    assert merged == {**licensed, "MLModelAuthorKey": "Ours"}


def test_an_edit_and_a_rename_are_merged(repository: Repository) -> None:
    def rename() -> None:
        repository.miltext("rename", NAME, "x", "image", "-o", NAME, "--force")

    outputs = {**FEATURES_TABLE, "Outputs": {"y": {"MLFeatureShortDescription": "new y"}}}
    branches(repository, rename, lambda: write(repository, FEATURES, outputs))
    repository.git("merge", "-q", "--no-edit", "theirs")
    read = miltext.load(repository.folder / NAME)
    assert read.description is not None
    entries = [*read.description.input, *read.description.output]
    assert [(each.name, each.shortDescription) for each in entries] == [("image", "over x"), ("y", "new y")]


@pytest.mark.parametrize(("side", "name"), [("ours", "Ours"), ("theirs", "Theirs")])
def test_one_text_of_both_sides_is_a_conflict(side: str, name: str, repository: Repository) -> None:
    branches(repository, author(repository, "Ours"), author(repository, "Theirs"))
    shown = repository.git("merge", "theirs", status=1)
    assert "both sides changed a text in Metadata.json; ours stays" in shown
    assert tables(repository.folder / NAME)[0]["MLModelAuthorKey"] == "Ours"
    repository.miltext("merge", "--resolve", side, NAME)
    assert tables(repository.folder / NAME)[0]["MLModelAuthorKey"] == name
    assert repository.git("status", "--short").count("UU ") == 0


def test_the_mergetool_names_a_way_out(repository: Repository) -> None:
    branches(repository, author(repository, "Ours"), author(repository, "Theirs"))
    repository.git("merge", "theirs", status=1)
    repository.git("config", "mergetool.keepBackup", "false")
    shown = repository.git("mergetool", "-t", "miltext", "--no-prompt", status=1)
    assert f"`miltext merge --resolve ours {NAME}`" in shown
    assert tables(repository.folder / NAME)[0]["MLModelAuthorKey"] == "Ours"


def test_a_text_is_taken_with_the_overlay_of_ours(repository: Repository) -> None:
    def edited(name: str, operation: str) -> Callable[[], object]:
        def edit() -> None:
            text = repository.miltext("print", NAME).replace("tanh", operation)
            (repository.home / "m.mil").write_text(text)
            mil = str(repository.home / "m.mil")
            repository.miltext("build", mil, "--from", NAME, "-o", NAME, "--force")
            author(repository, name)()

        return edit

    branches(repository, edited("Ours", "sigmoid"), edited("Theirs", "exp"))
    repository.git("merge", "theirs", status=1)
    text = repository.folder / f"{NAME}.conflict.mil"
    text.write_text(re.sub(r"(?s)<<<<<<<.*?=======\n(.*?)>>>>>>>[^\n]*\n", r"\1", text.read_text()))
    shown = repository.miltext("merge", "--resolve", text.name, NAME)
    assert f"{NAME}/{METADATA.as_posix()} is taken from ours" in shown
    assert tables(repository.folder / NAME)[0]["MLModelAuthorKey"] == "Ours"
    assert "= exp(" in repository.miltext("print", NAME)


BASE: dict[str, Any] = {"a": {"b": "1", "c": "2"}, "d": "3"}


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (BASE, BASE, BASE, BASE),
        (BASE, {**BASE, "d": "4"}, {"d": "3", "a": {"b": "1"}}, {"d": "4", "a": {"b": "1"}}),
        (BASE, {"a": BASE["a"]}, {**BASE, "e": "5"}, {"a": BASE["a"], "e": "5"}),
        (BASE, {**BASE, "d": "4"}, {**BASE, "d": "5"}, None),
        (BASE, {"a": BASE["a"]}, {**BASE, "d": "5"}, None),
        (None, {"a": {"b": "1"}}, {"a": {"c": "2"}}, {"a": {"b": "1", "c": "2"}}),
        (None, {"a": "1"}, {"a": "2"}, None),
    ],
)
def test_overlays_are_merged_text_by_text(base: Any, ours: Any, theirs: Any, expected: Any) -> None:
    merged = merge_overlays(b"" if base is None else laid_out(base), laid_out(ours), laid_out(theirs))
    assert (None if merged is None else json.loads(merged)) == expected
    if expected == ours:
        assert merged == laid_out(ours)


@pytest.mark.parametrize("data", [b"", b"{,}", b"[1]", b'{"a": 1, "a": 2}', b"[" * 100_000])
def test_an_unreadable_side_is_a_conflict(data: bytes) -> None:
    assert merge_overlays(laid_out(BASE), laid_out(BASE), data) is None
    assert merge_overlays(laid_out(BASE), data, data) == data
