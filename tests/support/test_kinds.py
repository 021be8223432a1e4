"""The packages of all kinds: coremltools opens each, and together they say all that its writers have words for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from support.kinds import KINDS, kind
from support.model_checks import assert_coremltools_opens

from miltext.containers.opening import open_model
from miltext.schema.proto import Model, ModelDescription

UNUSED = {"ArrayFeatureType.doubleDefaultValue", "SequenceFeatureType.int64Type", "ModelDescription.trainingInput"}
"""Fields that no kind has."""


def fields(message: Message) -> Iterator[str]:
    """The fields that are set in a message and below, each with the name of its message."""
    for field, value in message.ListFields():
        yield f"{message.DESCRIPTOR.name}.{field.name}"
        if field.name != "userDefined":
            for each in [value] if isinstance(value, Message) else value if field.message_type else []:
                yield from fields(each)


@pytest.fixture(scope="module")
def coremltools() -> None:
    pytest.importorskip("coremltools")


@pytest.mark.usefixtures("coremltools")
@pytest.mark.parametrize("name", KINDS)
def test_coremltools_opens_each_kind(name: str) -> None:
    assert_coremltools_opens(kind(name))


def known(message: Any, seen: set[str]) -> Iterator[str]:
    """The fields that a message and those below may have."""
    seen.add(message.full_name)
    for field in message.fields:
        yield f"{message.name}.{field.name}"
        inner = field.message_type
        if inner and field.name != "userDefined" and inner.full_name not in seen:
            yield from known(inner, seen)


@pytest.mark.usefixtures("coremltools")
def test_the_kinds_state_all_that_a_description_can() -> None:
    said = {each for name in KINDS for each in fields(spec(kind(name)).description)}
    assert {*known(ModelDescription.DESCRIPTOR, set())} - said == UNUSED


def spec(path: Path) -> Model:
    made = open_model(path).spec
    assert made is not None
    return made
