"""Opsets by all their names: two names of texts for CoreML9, and Programs that contain a name of the text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import miltext
from miltext.ir.graph import Graph
from miltext.parsing.strict import strict_findings
from miltext.schema.operations import opset_place, signature
from miltext.schema.opsets import OPSET_BY_NAME, OPSETS, specification_of
from miltext.schema.proto import Program
from miltext.schema.walk import own_opset

TEXT = """\
program(1.3)
{
    func main<OPSET>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""
OTHER = (
    '        } -> (y)\n        $block<OPSET> {\n            tensor<fp16, [2]> y = tanh(x = x)[name = string("y")];\n'
)
ALIASES = ["ios19", "ios26"]
RAW = [name for name in OPSET_BY_NAME if name.startswith("ios")]


def program(opset: str) -> Program:
    return miltext.parse(TEXT.replace("OPSET", opset))


def renamed(function: str, block: str, others: str = "") -> Program:
    """A Program with names of opsets for its function, its block, and another block."""
    text = TEXT.replace("OPSET", "ios15", 1)
    made = miltext.parse(text.replace("        }", OTHER.replace("OPSET", "ios16") + "        }") if others else text)
    main = made.functions["main"]
    blocks = {block: main.block_specializations.pop("CoreML5")}
    if others:
        blocks[others] = main.block_specializations.pop("CoreML6")
    main.opset = function
    for key, each in blocks.items():
        main.block_specializations[key].CopyFrom(each)
    return made


FORMS = {
    "both": ("ios19", "ios19"),
    "the function's": ("ios19", "CoreML9"),
    "the block's": ("CoreML9", "ios19"),
    "two names": ("ios19", "ios26"),
    "beside an older block": ("ios19", "ios19", "CoreML8"),
    "a block beside an older one": ("CoreML9", "ios26", "CoreML8"),
    "beside itself": ("CoreML9", "CoreML9", "ios19"),
    "of iOS 18": ("ios18", "ios18"),
}
forms = pytest.mark.parametrize("names", FORMS.values(), ids=FORMS)


@pytest.mark.parametrize("name", ALIASES)
def test_both_names_of_texts_are_coreml9(name: str) -> None:
    main = program(name).functions["main"]
    assert (main.opset, [*main.block_specializations]) == ("CoreML9", ["CoreML9"])
    assert miltext.to_text(program(name)) == TEXT.replace("OPSET", "ios19")


def test_two_names_of_one_opset_are_two_blocks_of_one() -> None:
    text = TEXT.replace("OPSET", "ios19").replace("        }", OTHER.replace("OPSET", "ios26") + "        }")
    with pytest.raises(miltext.ParseError, match="there is already a block named `ios26` here"):
        miltext.parse(text)


@pytest.mark.parametrize("name", ALIASES)
def test_a_layout_keeps_the_name_that_was_written(name: str) -> None:
    text = TEXT.replace("OPSET", name)
    assert miltext.format_text(text) == text


def test_only_the_name_of_apples_texts_is_proven() -> None:
    assert strict_findings(TEXT.replace("OPSET", "ios19")) == []
    assert [each.code for each in strict_findings(TEXT.replace("OPSET", "ios26"))] == ["MIL204"]


@pytest.mark.parametrize("opset", OPSETS)
def test_an_opset_is_the_same_by_each_of_its_names(opset: miltext.schema.opsets.Opset) -> None:
    for name in (opset.text, opset.proto, *opset.aliases):
        assert OPSETS[opset_place(name)] is opset
        assert specification_of(name) == opset.specification
        assert signature("gru", name) == signature("gru", opset.proto)
    assert specification_of("ios99") == specification_of("") == 0


@pytest.mark.parametrize("name", RAW)
def test_a_text_name_in_a_program_is_kept_in_quotes(name: str) -> None:
    made = renamed(name, name)
    text = miltext.to_text(made)
    assert f'func main<$"{name}">' in text
    assert miltext.parse(text) == made
    assert miltext.parse(miltext.format_text(text)) == made
    assert miltext.parse(miltext.infer_draft(miltext.to_draft(made))) == made


@forms
def test_no_name_of_an_opset_is_lost_in_the_text(names: tuple[str, ...]) -> None:
    made = renamed(*names)
    assert miltext.parse(miltext.to_text(made)) == made


@forms
def test_the_own_block_is_found_by_any_name(names: tuple[str, ...]) -> None:
    made = renamed(*names)
    main = made.functions["main"]
    assert own_opset(main.opset, main.block_specializations) == names[1]
    assert [op.type for op in Graph(made).functions["main"].block or ()] == ["relu"]
    outputs = miltext.run(made, {"x": [-1, 2]})
    assert outputs["y"].tolist() == [0, 2]


@forms
def test_check_reports_each_name_of_texts_once(names: tuple[str, ...]) -> None:
    found = miltext.check(renamed(*names))
    odd = {name for name in names if name.startswith("ios")}
    assert [(each.code, each.severity) for each in found] == [("MIL627", "warning")] * len(odd)


def test_the_fix_makes_the_opset_the_schemas_own() -> None:
    (found,) = miltext.check(miltext.to_text(renamed("ios26", "ios26")))
    assert found.span is not None
    text = miltext.to_text(renamed("ios26", "ios26"))
    fixed = text[: found.span.start] + str(found.suggestion) + text[found.span.end :]
    assert miltext.parse(fixed) == program("ios19")


def test_no_fix_makes_two_blocks_of_one_opset() -> None:
    (found,) = miltext.check(renamed("CoreML9", "CoreML9", "ios19"))
    assert found.suggestion is None
    assert found.message.endswith("keep one of the function's blocks for `ios19`")


@forms
def test_the_compilers_text_has_the_opset_itself(names: tuple[str, ...]) -> None:
    told: list[miltext.Diagnostic] = []
    text = miltext.to_text(renamed(*names), as_coremlc=True, on_warning=told.append)
    assert f"func main<{'ios18' if names[0] == 'ios18' else 'ios19'}>(" in text
    assert "tanh" not in text
    (lost,) = [each.message for each in told if each.code == "MIL210"]
    for name in {name for name in names[:2] if name.startswith("ios")}:
        assert f'the name "{name}" for CoreML' in lost


def test_the_compilers_text_of_coreml9_is_ios19() -> None:
    told: list[miltext.Diagnostic] = []
    text = miltext.to_text(program("ios26"), as_coremlc=True, specification_version=10, on_warning=told.append)
    assert ("func main<ios19>(" in text, told) == (True, [])


@pytest.mark.parametrize("name", [*ALIASES, "CoreML9"])
def test_every_name_is_an_option(name: str) -> None:
    assert miltext.operations("relu", opset=name)[0]["opset"] == miltext.operations("relu", opset="ios19")[0]["opset"]


def test_the_table_has_no_alias_of_an_opset() -> None:
    table = Path(miltext.schema.opsets.__file__).with_name("ops.json")
    versions = [version["opset"] for each in json.loads(table.read_text()).values() for version in each]
    assert {*versions} <= {opset.text for opset in OPSETS}


NEAR = {
    **dict.fromkeys(
        ("ios20", "ios25", "ios27", "ios36", "ios62", "ios91", "IOS27", "iOS26", "Ios19", "ios99"), "ios19"
    ),
    **dict.fromkeys(("io26", "ios226", "ios-19"), "ios19"),
    **dict.fromkeys(("ios14", "ios13", "ios51", "ios00"), "ios15"),
    **dict.fromkeys(("ios81", "iOS18", "ios181"), "ios18"),
    **dict.fromkeys(("ios71", "iso17"), "ios17"),
    **dict.fromkeys(("macos26", "watchos26", "x", "CoreML10"), None),
}


@pytest.mark.parametrize("name", NEAR)
def test_an_unknown_opset_is_near_a_known_one(name: str) -> None:
    (found,) = miltext.check(TEXT.replace("OPSET", f'$"{name}"' if "-" in name else name))
    meant = f"; did you mean `{NEAR[name]}`?" if NEAR[name] else ""
    assert (found.code, found.suggestion) == ("MIL609", NEAR[name])
    assert found.message.endswith(f"{name}`{meant}" if "-" not in name else f'$"{name}"`{meant}')
