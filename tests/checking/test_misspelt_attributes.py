"""Attributes that are misspelt: `check` suggests the name at its place, and does not call the parameter missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import miltext
from miltext.diagnostics import Diagnostic
from miltext.schema.operations import Parameter, Signature, all_names, versions

VERSIONS = [
    version
    for name in all_names()
    for version in versions(name)
    if any(p.attribute for p in version.parameters.values())
]
"""The operations whose parameters are attributes, in each version; `custom_layer` takes any."""


def slips(name: str) -> Iterator[str]:
    """The slips of one character in a name, but for those that are other parameters or no identifiers."""
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]
        yield name[:at] + name[at] + name[at:]
        yield name[:at] + "x" + name[at + 1 :]
        yield name[:at] + name[at : at + 2][::-1] + name[at + 2 :]
    yield from (name.upper(), name.title(), f"{name}s", f"_{name}")


def value(parameter: Parameter, *, typed: bool) -> str:
    dtype = "fp16" if "fp16" in parameter.dtypes else "string" if parameter.dtypes == {"string"} else "uint8"
    literal = '"fp16"' if dtype == "string" else "1"
    return f"{dtype}({literal})" if typed else literal


def misspelt(found: list[Diagnostic], text: str, slip: str, code: str = "MIL504") -> list[str | None]:
    """What is suggested in place of a slip."""
    return [each.suggestion for each in found if each.span and text[slice(*each.span)] == slip and each.code == code]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "draft"])
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: f"{version.name}-{version.opset}")
def test_each_slip_of_an_attribute_is_reported_at_its_place(version: Signature, typed: bool) -> None:
    known = version.parameters
    for name in known:
        if version.open:
            continue
        for slip in {*slips(name)} - {*known, name, "", "name"}:
            given = ", ".join(f"{slip if each == name else each} = {value(known[each], typed=typed)}" for each in known)
            text = f"program(1.3) {{ func f<{version.opset}>() {{ fp16 y = {version.name}()[{given}]; }} -> (y); }}"
            found = miltext.check(text)
            assert misspelt(found, text, slip) == [name]
            assert not [each for each in found if each.code == "MIL503"]
            assert not [each for each in found if f"`{slip}` of" in each.message and each.code != "MIL504"]


@pytest.mark.parametrize("slip", sorted({*slips("name")} - {"name", ""}))
def test_each_slip_of_name_is_reported_any_operation(slip: str) -> None:
    for operation in ("relu(x = x)", "const()"):
        more = "" if "relu" in operation else "val = fp16(1), "
        for written in (f'{slip} = string("y")', f'{slip} = "y"'):
            text = f"program(1.3) {{ func f<ios16>(fp16 x) {{ fp16 y = {operation}[{more}{written}]; }} -> (y); }}"
            found = miltext.check(text)
            assert misspelt(found, text, slip, "MIL630") == ["name"]
            assert misspelt(found, text, slip) == []


@pytest.mark.parametrize("attribute", ["weight_key", "comment", "origin"])
def test_an_attribute_like_none_is_a_writers_own(attribute: str) -> None:
    for call in (f'relu(x = x)[{attribute} = string("y")]', f'const()[val = fp16(1), {attribute} = string("y")]'):
        assert not miltext.check(f"program(1.3) {{ func f<ios16>(fp16 x) {{ fp16 y = {call}; }} -> (y); }}")


def test_any_attribute_may_be_a_misspelt_required_one() -> None:
    text = "program(1.3) { func f<ios16>() { fp16 y = const()[content = fp16(1)]; } -> (y); }"
    assert misspelt(miltext.check(text), text, "content") == ["val"]


def test_a_right_attribute_beside_wrong_one_is_suggested_once() -> None:
    text = "program(1.3) { func f<ios16>() { fp16 y = const()[va = fp16(1), vl = fp16(2)]; } -> (y); }"
    assert misspelt(miltext.check(text), text, "va") == ["val"]
    assert not [each for each in miltext.check(text) if each.code == "MIL503"]
