"""docs/description.md says what each key means, of no other keys, and its examples are descriptions."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from miltext.descriptions.reading import read_description
from miltext.descriptions.spelling import spell
from miltext.descriptions.words import (
    BY_TYPE,
    FEATURE,
    FUNCTIONS,
    LABELS,
    METADATA,
    MODEL,
    SIDES,
    STAGE,
    STAGES,
    TYPES,
    UNSPELLED,
    USER_DEFINED,
)
from miltext.schema.features import COLORS, ELEMENTS
from miltext.toml.reading import read_toml

PAGE = (ROOT / "docs" / "description.md").read_text(encoding="utf-8")
TABLES = re.findall(r"(?m)^\| key(?: of ([^|]*))? \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def keys(rows: str) -> set[str]:
    return {key for row in rows.splitlines() for key in re.findall(r"`([^`]+)`", row.split("|")[1])}


def test_each_table_has_the_keys_that_exist() -> None:
    tables = [keys(rows) for _, rows in TABLES]
    array = BY_TYPE["multiArray"].keys()
    model = {*MODEL, LABELS, "[metadata]", *(f"[[{each}]]" for each in (*SIDES, FUNCTIONS, STAGES))}
    assert tables == [
        model,
        {*METADATA, f"[metadata.{USER_DEFINED}]"},
        {*FEATURE},
        {*BY_TYPE["image"]},
        {*array},
        {*BY_TYPE["dictionary"]},
        {*BY_TYPE["sequence"]},
        {*STAGE},
    ]
    assert array == BY_TYPE["state"].keys()


def test_the_tables_of_types_name_them() -> None:
    named = {kind for title, _ in TABLES for kind in re.findall(r'`"(\w+)"`', title)}
    assert named == BY_TYPE.keys()
    assert all(f'`"{word}"`' in PAGE for word in (*TYPES, *COLORS, *ELEMENTS))
    assert f"the key `{UNSPELLED}`" in PAGE


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_states_itself(example: str) -> None:
    assert spell(read_description(example, "description.md")) == read_toml(example)


def test_the_examples_show_most_keys() -> None:
    shown = set(re.findall(r'(?m)^"?([\w.]+)"? = ', "".join(EXAMPLES)))
    rare = {"isUpdatable", "enumeratedSizes", "enumeratedShapes", "shapeRange", "elementType", "sizeRange", "kind"}
    words = {*MODEL, *METADATA, *FEATURE, *(key for each in BY_TYPE.values() for key in each), LABELS}
    assert words - shown <= rare
