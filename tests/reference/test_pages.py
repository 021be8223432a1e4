"""Operations as they are shown: on a terminal, in an editor and on the page of the documentation."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from miltext.formatting.formatter import format_text
from miltext.reference.entries import entries
from miltext.reference.facts import accepted, apples_spelling, draft_spelling, facts_of, outline, ranks
from miltext.reference.markdown import described_operation, described_opset, described_parameter, operations_page
from miltext.reference.pages import WIDTH, broken, listing, page
from miltext.schema.operations import Signature, all_names, signature
from miltext.schema.opsets import OPSETS
from miltext.schema.shape_patterns import read_patterns

PAGE = ROOT / "docs" / "operations.md"
EVERYWHERE = [(name, opset.text) for name in all_names() for opset in OPSETS if signature(name, opset.text)]


def known(name: str, opset: str | None = None) -> Signature:
    found = signature(name, opset)
    assert found is not None
    return found


# ---- spellings


def test_drafts_spell_required_arguments_by_position() -> None:
    assert draft_spelling(known("add")) == "add(x, y)"
    assert draft_spelling(known("conv")) == (
        'conv(x, weight, bias = …, strides = …, pad_type = "valid", pad = …, dilations = …, groups = 1)'
    )
    assert draft_spelling(known("avg_pool")).startswith("avg_pool(x, kernel_sizes, pad_type, exclude_padding")
    assert draft_spelling(known("concat")) == "concat((values, …), axis, interleave = false)"
    assert draft_spelling(known("const")) == "const()[val = …]"
    assert draft_spelling(known("constexpr_cast", "ios16")) == "constexpr_cast()[source_val = …, output_dtype = …]"
    assert draft_spelling(known("constexpr_cast")) == "constexpr_cast(source_val, output_dtype)"
    assert draft_spelling(known("custom_layer")).startswith("custom_layer(…)[class_name = …, ")
    assert draft_spelling(known("cond")) == "cond(pred) () { … } -> (…) () { … } -> (…)"
    assert draft_spelling(known("while_loop")) == "while_loop((loop_vars, …)) (…) { … } -> (…) (…) { … } -> (…)"


def test_apples_spelling_has_all_by_name_sorted() -> None:
    assert apples_spelling(known("softmax")) == "softmax(axis? = …, x = …)"
    assert apples_spelling(known("range_1d")) == "range_1d(end = …, start = …, step = …)"
    for name in all_names():
        named = re.findall(r"(\w+)\?? = …", apples_spelling(known(name)).partition("[")[0])
        assert named == sorted(named)


# ---- facts


def test_the_outline_has_versions_outputs_blocks_and_removals() -> None:
    assert outline(known("relu")) == "since ios15"
    assert outline(known("layer_norm")) == "since ios15; this version since ios17"
    assert outline(known("layer_norm", "ios16")) == "since ios15"
    assert outline(known("write_state")) == "since ios18; outputs: 0"
    assert outline(known("topk")) == "since ios15; this version since ios17; outputs: 1 to 2"
    assert outline(known("cond")) == "since ios15; outputs: 1 or more; blocks: true, false"
    assert outline(known("crop_resize")) == "since ios15; this version since ios17; `roi` until ios16"
    assert outline(known("crop_resize", "ios16")) == "since ios15; this version since ios16"


def test_facts_report_the_table_row_of_a_parameter() -> None:
    assert facts_of(known("conv"), "strides") == [
        "optional", "a compile-time constant", "shape `[#d]`", "at least `1`",
    ]  # fmt: skip
    assert facts_of(known("conv"), "pad_type")[2:] == [
        'by default `"valid"`', "a scalar", 'one of `"valid"`, `"custom"`, `"same"`, `"same_lower"`',
    ]  # fmt: skip
    assert "rank 3 to 5" in facts_of(known("conv"), "x")
    assert "counts `#d` axes, from the end if negative" in facts_of(known("reduce_sum"), "axes")
    assert "any number of values" in facts_of(known("concat"), "values")
    assert "an attribute" in facts_of(known("const"), "val")
    assert 'by default `"EXACT"`, better written out, as some systems require it' in facts_of(known("gelu"), "mode")
    assert "of the data type of `y`" in facts_of(known("add"), "x")


def test_accepted_types_are_named_by_data_type_or_kind() -> None:
    def taken(name: str, parameter: str) -> str:
        return accepted(known(name).parameters[parameter])

    assert taken("transpose", "x") == "bool | fp16 | fp32 | int8 | int16 | int32 | uint8 | uint16"
    assert taken("concat", "values") == "any tensor"
    assert taken("const", "val") == "any tensor | dictionary | list | tuple"
    assert taken("while_loop", "loop_vars") == "any tensor | list"
    assert taken("list_read", "ls") == "list"
    assert taken("read_state", "input") == "state"


def test_facts_report_until_when_parameter_had_to_be_constant() -> None:
    assert "before ios17 a compile-time constant" in facts_of(known("conv"), "bias")
    assert "a compile-time constant" in facts_of(known("conv", "ios16"), "bias")
    assert not [fact for fact in facts_of(known("conv"), "weight") if "constant" in fact]
    assert not [fact for fact in facts_of(known("conv"), "strides") if "before" in fact]


def test_facts_name_the_first_opset_of_parameters_and_types() -> None:
    assert "since ios16" in facts_of(known("topk"), "sort")
    assert "int8 | int16 | uint8 | uint16 since ios17" in facts_of(known("topk"), "x")
    assert "int8 | int16 | uint8 | uint16 since ios17" not in facts_of(known("topk", "ios16"), "x")
    assert not [fact for fact in facts_of(known("relu"), "x") if fact.startswith("since")]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("[]", (0, 0)),
        ("[n, c, *d{1,3}]", (3, 5)),
        ("[h] | []", (0, 1)),
        ("[...]", (0, None)),
        ("[a] | [...]", (0, None)),
    ],
)
def test_the_rank_matches_all_alternatives(shape: str, expected: tuple[int, int | None]) -> None:
    assert ranks(read_patterns(shape)) == expected


def test_nothing_stated_of_a_shape_is_any_rank() -> None:
    assert ranks(()) == (0, None)


# ---- a terminal


@pytest.mark.parametrize(("name", "opset"), EVERYWHERE)
def test_a_page_fits_and_has_all_there_is(name: str, opset: str) -> None:
    lines = list(page(entries()[name], opset))
    assert [line for line in lines if len(line) > WIDTH] == []
    assert [line for line in lines if line != line.rstrip() or "\n" in line] == []
    assert lines[0] == name
    assert {f"  {parameter}" for parameter in known(name, opset).parameters} <= set(lines)
    start = next(place for place, line in enumerate(lines) if line.startswith("example, of "))
    shown = [line for line in lines[start + 1 :] if line.startswith("  ")]
    program = "\n".join(shown[: shown.index("  }") + 1]) + "\n"
    assert format_text(program) == entries()[name].example(opset).text


def test_a_list_fits_and_names_each_operation_once() -> None:
    lines = list(listing(entries().values()))
    assert [line for line in lines if len(line) > WIDTH or line != line.rstrip()] == []
    assert [line.split()[0] for line in lines if re.match(r"  \w", line)] == list(entries())
    assert "(since ios18)" in "".join(listing([entries()["read_state"]]))
    assert list(listing([])) == []


def test_headings_are_marked() -> None:
    assert next(iter(page(entries()["conv"], mark=lambda word: f"<{word}>"))) == "<conv>"
    assert list(listing([entries()["conv"]], mark=lambda word: f"<{word}>"))[:2] == [
        "<convolution>",
        "<  conv>  Convolution over 1, 2 or 3 spatial axes",
    ]


@pytest.mark.parametrize(
    "line", ["", "x", "a" * 200, "f(" + "a" * 90 + ")", "f(" + ", ".join(f"x{i} = [{i}, {i}]" for i in range(40)) + ")"]
)
def test_a_broken_line_keeps_all_but_spaces(line: str) -> None:
    parts = list(broken(line, "  "))
    assert "".join(parts).replace(" ", "") == line.replace(" ", "")
    assert all(len(part) <= WIDTH or ", " not in part for part in parts)
    assert all(part.endswith(("],", "(")) for part in parts[:-1])  # not inside of a list


# ---- Markdown


def test_an_editors_operation_has_notes_result_and_example() -> None:
    for name, opset in EVERYWHERE:
        said = described_operation(name, opset)
        entry = entries()[name]
        assert said is not None
        assert f"\n{entry.description}.\n" in said
        assert f"\nResult: {entry.result}.\n" in said
        assert said.endswith(f"```mil\n{entry.example(opset).text}```")
    assert described_operation("cnov", "ios17") is None


def test_an_operation_that_came_later_reports_it_in_an_editor() -> None:
    said = described_operation("read_state", "ios16")
    assert said is not None
    assert "since ios18; this function, of ios16, cannot use it" in said


def test_a_parameter_is_reported_in_a_line() -> None:
    said = described_parameter(known("softmax"), "axis")
    assert said.startswith("`axis`: int32; optional, a compile-time constant, by default `-1`")
    assert said.endswith(". The axis along which the sum is 1")
    assert described_parameter(known("relu"), "x").startswith("`x`: fp16 | fp32; required")


def test_an_opset_is_reported() -> None:
    assert described_opset("ios17") == "`ios17`: opset `CoreML7`, for models of specification version 8 or later"
    assert described_opset("ios1") is None


def test_the_page_of_the_documentation_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == operations_page(), "run scripts/make_operations_page.py"


def test_the_page_links_to_each_operation() -> None:
    text = operations_page()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert (
        sorted(re.findall(r"\]\(#(\w+)\)", text))
        == sorted(re.findall(r"^### (\w+)$", text, re.MULTILINE))
        == sorted(entries())
    )
