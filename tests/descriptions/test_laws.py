"""The law of descriptions: what a text says is read back as it was, whatever it is."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from conftest import EXAMPLE, corpus_files
from hypothesis import given, settings
from hypothesis import strategies as st
from support.containers import pipeline, spec, suppression
from support.strategies import KEEPS_NANS, messages

from miltext.containers.opening import open_model
from miltext.containers.spec import SpecModel
from miltext.descriptions.model_texts import surroundings_of
from miltext.descriptions.reading import read_description
from miltext.descriptions.spelling import spell, spell_feature
from miltext.descriptions.surroundings import Surroundings, head_of
from miltext.diagnostics import ModelError
from miltext.schema.proto import ArrayFeatureType, FeatureDescription, Model, ModelDescription
from miltext.schema.wire import number_tag, sized, tag, wire_of
from miltext.toml.reading import read_toml
from miltext.toml.updating import updated
from miltext.toml.writing import write_toml

descriptions: st.SearchStrategy[ModelDescription] = messages(ModelDescription.DESCRIPTOR, 7)
versions = st.sampled_from([0, 9, 2**31 - 1, -1, -(2**31)])

UNKNOWN = {
    "number": number_tag(9999) + b"\x01",
    "bytes": sized(tag(9998), b"\0\xff"),
    "fixed": bytes([0xAD, 0x02, 1, 2, 3, 4]),
    "group": bytes([0xFB, 0x01, 0xFC, 0x01]),
}
"""Fields that the schema does not have, by how they are held."""


PIECES = ["", "[", "]]", '"', "\n", "=", ".", "{", "0", "-", "name", "[[input]]", "\x00", "'''"]
"""What a slip of the hand puts into a text."""


def assert_kept(around: Surroundings) -> str:
    """What is said of a model is read back as it was, and said again in the same words."""
    text = write_toml(spell(around))
    back = read_description(text, "model.toml")
    assert heads(back) == heads(around)
    assert write_toml(spell(back)) == text
    return text


def codes(text: str) -> list[str]:
    """The codes of what is wrong with a text."""
    try:
        read_description(text, "model.toml")
    except ModelError as failure:
        return [found.code for found in failure.diagnostics if str(failure)]
    return []


def heads(around: Surroundings) -> list[Any]:
    return [wire_of(around.head), around.name, around.labels, *map(heads, around.stages)]


def inside(message: Any) -> list[Any]:
    """A message, and all that are in it."""
    found = [message]
    for field, value in message.ListFields():
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for each in value if hasattr(value, "add") else [value]:
                found += inside(each)
    return found


@settings(max_examples=60)
@given(descriptions, versions, st.booleans())
def test_any_description_is_kept(description: ModelDescription, version: int, updatable: bool) -> None:
    assert_kept(Surroundings(Model(specificationVersion=version, isUpdatable=updatable, description=description)))


@settings(max_examples=60)
@given(descriptions, st.sampled_from([*UNKNOWN.values()]), st.randoms())
def test_an_unknown_field_is_kept_anywhere(description: ModelDescription, field: bytes, random: Any) -> None:
    random.choice(inside(description)).MergeFromString(field)
    assert_kept(Surroundings(Model(description=description)))


@settings(max_examples=15)
@given(st.lists(descriptions, min_size=1, max_size=3), st.lists(st.sampled_from(["a", "", "b"]), max_size=3))
def test_the_stages_of_a_pipeline_are_kept(made: list[ModelDescription], names: list[str]) -> None:
    stages = [Model(description=each, mlProgram=spec().mlProgram) for each in made]
    whole = pipeline(pipeline(*stages, names=tuple(names)), suppression(), names=("inner",))
    text = assert_kept(surroundings_of(SpecModel("mlmodel", "it", None, None, whole)))
    assert text.count("[[model]]") == 2
    assert text.count("[[model.model]]") == len(made)


@settings(max_examples=25)
@given(descriptions, descriptions)
def test_any_description_is_updated_to_any_other(before: ModelDescription, after: ModelDescription) -> None:
    text = write_toml(spell(Surroundings(Model(description=before))))
    table = spell(Surroundings(Model(description=after)))
    commented = "# first\n" + text.replace("\n[", "\n# above\n[").replace('"\n', '" # beside\n')
    made = updated(commented, table)
    assert made is not None
    assert wire_of(read_description(made, "model.toml").head) == wire_of(Model(description=after))
    assert updated(made, table) == made
    assert updated(commented, spell(Surroundings(Model(description=before)))) == commented


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_text_is_read_or_refused(data: st.DataObject) -> None:
    text = write_toml(spell(surroundings_of(open_model(EXAMPLE))))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 9)))
        piece = data.draw(st.sampled_from(PIECES))
        text = text[:start] + piece + text[end:]
    assert all(code.startswith("MIL47") for code in codes(text)), text


@pytest.mark.parametrize("path", [EXAMPLE, *corpus_files("bundles/*.ml*"), *corpus_files("pipelines/*.ml*")], ids=str)
def test_real_descriptions_are_kept_in_words(path: Any) -> None:
    assert "unspelled" not in assert_kept(surroundings_of(open_model(path)))


# ---- what words cannot say


def fixed(member: str, bits: int) -> FeatureDescription:
    """An array of fp32 with a default of these bits."""
    made = FeatureDescription(name="x")
    made.type.multiArrayType.dataType = 65568
    width, number = ("<I", 51 << 3 | 5) if member == "float" else ("<Q", 61 << 3 | 1)
    made.type.multiArrayType.MergeFromString(bytes([number & 127 | 128, number >> 7]) + struct.pack(width, bits))
    return made


FEATURES: dict[str, tuple[FeatureDescription, dict[str, Any]]] = {
    "nothing": (FeatureDescription(), {"name": ""}),
    "a NaN": (fixed("float", 0x7FC00000), {"name": "x", "type": "multiArray", "dataType": "fp32"}),
    "another NaN": (fixed("float", 0x7F800001), {"name": "x", "type": "multiArray", "dataType": "fp32"}),
    "minus zero": (fixed("float", 0x80000000), {"default": -0.0}),
    "a tenth": (fixed("float", 0x3DCCCCCD), {"default": 0.1}),
    "a default of another type": (fixed("double", 0x3FF0000000000000), {"dataType": "fp32"}),
}


@pytest.mark.parametrize("case", FEATURES)
def test_parts_without_words_are_kept_beside_them(case: str) -> None:
    made, said = FEATURES[case]
    table = spell_feature(made)
    assert {key: repr(table[key]) for key in said} == {key: repr(value) for key, value in said.items()}
    text = assert_kept(Surroundings(Model(description=ModelDescription(input=[made]))))
    is_odd = case == "a default of another type" or (case == "another NaN" and KEEPS_NANS)
    assert ("unspelled" in text) == is_odd


ODD = [
    "",
    " ",
    "a\nb",
    "a\r\n",
    "\0",
    "\x7f",
    "\x85",
    '"',
    '"""',
    "\\",
    "\\n",
    "'",
    "\u202e",
    "\ufeff",
    "\U0001f600",
    "é" * 300,
]


@pytest.mark.parametrize("text", ODD)
def test_odd_strings_are_kept_and_shown(text: str) -> None:
    description = ModelDescription(input=[FeatureDescription(name=text, shortDescription=text)])
    description.metadata.author = description.metadata.userDefined[text] = text
    made = assert_kept(Surroundings(Model(description=description), labels={"": [text, text]}))
    assert not any(char in made for char in "\0\r\x7f\x85\u202e\ufeff")
    assert read_toml(made)["metadata"]["userDefined"] == {text: text}


def test_a_model_without_a_description_and_one_with_an_empty_one() -> None:
    assert write_toml(spell(Surroundings(Model()))) == ""
    assert "unspelled" in assert_kept(Surroundings(Model(description=ModelDescription())))
    description = ModelDescription()
    description.metadata.SetInParent()
    assert assert_kept(Surroundings(Model(description=description))) == "\n[metadata]\n"


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_fields_of_model_are_described_but_not_its_type(name: str) -> None:
    model = spec()
    model.MergeFromString(UNKNOWN[name])
    wanted = Model(specificationVersion=9, description=model.description)
    wanted.MergeFromString(UNKNOWN[name])
    assert wire_of(head_of(model)) == wire_of(wanted)
    model.ClearField("mlProgram")
    model.MergeFromString(sized(tag(500), b""))
    assert wire_of(head_of(model)) == wire_of(wanted)


def test_labels_of_each_function_are_kept() -> None:
    description = ModelDescription()
    description.functions.add(name="f")
    description.functions.add(name="g").MergeFromString(UNKNOWN["group"])
    labels: dict[str, Any] = {"f": ["a", "b"], "g": [1, -(2**63)]}
    assert "classLabels" in assert_kept(Surroundings(Model(description=description), labels=labels))


@pytest.mark.skipif(not KEEPS_NANS, reason="protobuf in Python makes all NaNs one")
@pytest.mark.parametrize("bits", ["0000c07f", "0000c0ff", "0100c07f"])
def test_every_nan_is_kept(bits: str) -> None:
    entry = FeatureDescription(name="x")
    entry.type.multiArrayType.dataType = ArrayFeatureType.FLOAT32
    entry.type.multiArrayType.MergeFromString(b"\x9d\x03" + bytes.fromhex(bits))  # floatDefaultValue
    made = assert_kept(Surroundings(Model(description=ModelDescription(input=[entry]))))
    assert ("default = nan" in made) == (bits == "0000c07f")
