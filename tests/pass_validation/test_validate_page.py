"""docs/validate-passes.md: its examples run as they are, and what it says of kinds and keys is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from miltext.pass_validation import allowances, faults

pytest.importorskip("coremltools")

PAGE = (ROOT / "docs" / "validate-passes.md").read_text(encoding="utf-8")
LEFT_OUT = "                ..."
"""The line for constants in the output on the page."""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples define."""
    made: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for example in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
            exec(example, made)
        made["folder"] = Path.cwd()
    return made


def test_the_output_equals_that_of_the_page(names: dict[str, Any]) -> None:
    """Apart from names that coremltools counts, versions, and the constants."""
    [shown] = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    written, expected = (_without_counts(each) for each in (names["done"].to_text(), shown))
    assert [line for line in written if " const()" not in line] == [line for line in expected if line != LEFT_OUT]


def _without_counts(text: str) -> list[str]:
    text = re.sub(r"\bconst_\d+|\bwhole_y|\by_y", "const", text)
    return re.sub(r'(?<=_)\d+(?="\))|(?<=[a-z] )\d+\.[\d.]+', "N", text).splitlines()


def test_coremltools_alone_shows_the_fault_of_the_small_program(names: dict[str, Any]) -> None:
    """The pass took `floor_div` out."""
    types = [op.op_type for op in names["pymil"].functions["main"].operations]
    assert "mul" in types
    assert "floor_div" not in types


def test_the_page_lists_the_existing_kinds() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert listed == {faults.RAISED, faults.INVALID, faults.INTERFACE, faults.NUMBERS}


def test_the_page_lists_the_keys_of_the_object(names: dict[str, Any]) -> None:
    made = json.loads(json.dumps(names["done"].to_json()))
    for key in (*made, *made["reports"][0]):
        assert f"`{key}`" in PAGE


def test_inexact_passes_are_in_the_default_pipeline() -> None:
    import coremltools

    default = {name.removeprefix("common::") for name in coremltools.PassPipeline.DEFAULT.passes}
    assert {*allowances._TABLE} <= default
    assert all(each.reason for each in allowances._TABLE.values())
    assert "divide_to_multiply" in PAGE
