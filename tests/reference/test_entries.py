"""The words about operations: each operation has them, they fit its table, and every example is a good program."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

import miltext
from miltext.checking.loading import loader_findings
from miltext.drafting.draft import infer_draft
from miltext.formatting.formatter import format_text
from miltext.reference.entries import Example, entries, families
from miltext.schema.operations import all_names, first_opset, opset_place, signature, versions
from miltext.schema.opsets import OPSETS

NAMES = all_names()
EXAMPLES = [(name, example) for name, entry in entries().items() for example in entry.examples]
NOT_LOADED = {
    "classify": "Deserialization from milproto listType to pymil is not implemented yet",
    "custom_layer": "Loading Custom Layer operation not yet implemented",
}
"""What coremltools' own loader cannot read, and what it says of it."""

EXPLAINED = re.compile(r"by default|left out|optional|not needed|only for")
"""How a note explains a parameter that is omitted."""

needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)


each_example = pytest.mark.parametrize(
    ("name", "example"), EXAMPLES, ids=[f"{name}-{example.opset}" for name, example in EXAMPLES]
)


def test_every_operation_has_an_entry_and_nothing_else_has() -> None:
    assert sorted(entries()) == NAMES
    assert len(NAMES) > 160


def test_every_family_has_operations_in_the_order_of_their_names() -> None:
    members: dict[str, list[str]] = {family: [] for family in families()}
    for entry in entries().values():
        members[entry.family].append(entry.name)
    assert all(members.values())
    assert [names for names in members.values() if names != sorted(names)] == []
    assert [entry.family for entry in entries().values()] == [each for each in members for _ in members[each]]


def test_descriptions_are_a_line_each_in_one_style_and_differ() -> None:
    descriptions = [entry.description for entry in entries().values()]
    assert [text for text in descriptions if not 0 < len(text) <= 100] == []
    assert [text for text in descriptions if text[-1] in ".:;," or text != text.strip()] == []
    assert [text for text in descriptions if text[0] != text[0].upper()] == []
    assert [text for text, count in Counter(descriptions).items() if count > 1] == []


def test_notes_and_results_are_in_one_style() -> None:
    notes = [text for entry in entries().values() for text in entry.notes.values()]
    notes += [text for family in families().values() for text in family.notes.values()]
    said = [
        *notes,
        *(entry.result for entry in entries().values()),
        *(each.description for each in families().values()),
    ]
    assert [text for text in said if not text or text != text.strip() or text[-1] in ":;,"] == []
    assert [text for text in said if text[-1] == "."] == []


def parameters(name: str) -> set[str]:
    return {parameter for version in versions(name) for parameter in version.parameters}


@pytest.mark.parametrize("name", NAMES)
def test_every_note_is_about_a_parameter_of_the_operation(name: str) -> None:
    entry = entries()[name]
    assert set(entry.notes) - parameters(name) == set()
    shared = families()[entry.family].notes
    assert [each for each, text in entry.notes.items() if shared.get(each) == text] == []  # said twice


@pytest.mark.parametrize("name", NAMES)
def test_parameters_without_default_explain_their_omission(name: str) -> None:
    notes = {
        parameter.name: entries()[name].note(parameter.name) or ""
        for version in versions(name)
        for parameter in version.parameters.values()
        if not parameter.required and parameter.default is None and parameter.asked is None
    }
    assert [parameter for parameter, note in notes.items() if not EXPLAINED.search(note)] == []


@pytest.mark.parametrize("family", families())
def test_every_note_of_family_is_about_parameter_of_operations(family: str) -> None:
    members = [entry for entry in entries().values() if entry.family == family]
    without = [{*parameters(entry.name)} - {*entry.notes} for entry in members]
    assert set(families()[family].notes) - set().union(*without) == set()


@each_example
def test_an_example_is_a_canonical_draft_with_the_operation(name: str, example: Example) -> None:
    assert format_text(example.text) == example.text
    program = miltext.parse(infer_draft(example.text))
    (function,) = program.functions.values()
    assert function.opset == {opset.text: opset.proto for opset in OPSETS}[example.opset]
    (block,) = function.block_specializations.values()
    assert name in [operation.type for operation in block.operations]


@each_example
def test_an_example_infers_without_faults_in_its_opsets(name: str, example: Example) -> None:
    showing = [opset.text for opset in OPSETS if shown(name, opset.text) == example]
    assert showing[0] == example.opset
    for opset in showing:
        whole = infer_draft(example.text.replace(f"<{example.opset}>", f"<{opset}>"))
        assert miltext.check(whole) == []


def shown(name: str, opset: str) -> Example | None:
    return entries()[name].example(opset) if signature(name, opset) else None


@pytest.mark.parametrize("name", NAMES)
def test_the_first_example_is_of_the_first_opset(name: str) -> None:
    opsets = [example.opset for example in entries()[name].examples]
    assert opsets[0] == first_opset(name)
    assert opsets == sorted(set(opsets), key=opset_place)


@needs_coremltools
@each_example
def test_coremltools_loads_an_example(name: str, example: Example, tmp_path: Path) -> None:
    (tmp_path / "example.mil").write_text(infer_draft(example.text))
    findings = loader_findings(miltext.load(tmp_path / "example.mil"))
    assert [finding.message for finding in findings] == (
        [f"coremltools does not load this: {NOT_LOADED[name]}"] if name in NOT_LOADED else []
    )
