"""The first law: `parse(to_text(p)) == p` for every Program, in each dialect and style, whoever made the message."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN, corpus_files, dear, wire
from hypothesis import given
from hypothesis import strategies as st
from support import realistic
from support.coremltools_programs import PROGRAMS, Sample
from support.laws.printing import check_printing, check_strictness
from support.strategies import any_programs, any_values, in_program

from miltext import ParseError, PrintError, parse, to_text
from miltext.building.new_model import ml_programs
from miltext.schema.proto import Model, Program
from miltext.schema.walk import messages

GOLDENS = sorted(GOLDEN.glob("print/*.mil"))
TEXTS = ("apple/*.mil", "handwritten/*.mil", "pairs/*/*.mil", "*/*.mlmodelc/**/*.mil", "runtime_dumps/*iso__*.mil")
MODELS = ("mlprograms/*.mlmodel", "pairs/*/*.mlmodel", "*/*.mlpackage/Data/*/*.mlmodel")


@given(any_programs)
def test_any_program_survives_a_round_trip(program: Program) -> None:
    check_printing(program)


@given(any_values)
def test_any_value_survives_a_round_trip(value: Any) -> None:
    check_printing(in_program(value))


@given(realistic.programs())
def test_any_realistic_program_survives_a_round_trip(program: Program) -> None:
    check_printing(program)


@pytest.mark.parametrize("path", [*GOLDENS, *corpus_files(*TEXTS)], ids=lambda path: path.name)
def test_text(path: Path) -> None:
    check_printing(parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", corpus_files(*MODELS))
def test_model_of_the_corpus(path: Path) -> None:
    programs = list(ml_programs(Model.FromString(path.read_bytes())))
    assert programs
    for program in programs:
        check_printing(program)


@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_program_of_coremltools(sample: Sample) -> None:
    pytest.importorskip("coremltools", reason="needs coremltools to make programs")
    check_printing(Program.FromString(sample.program()))


# ---- whose message it is


def coremltools_program() -> Any:
    """An empty Program of coremltools' own classes."""
    pytest.importorskip("coremltools", reason="needs coremltools for its messages")
    from coremltools.proto import MIL_pb2

    return MIL_pb2.Program()


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_messages_of_coremltools(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    theirs = coremltools_program()
    theirs.docString = "cleared"
    assert parse(text, into=theirs) is theirs
    assert wire(theirs) == wire(parse(text))
    assert to_text(theirs) == to_text(parse(text))


def test_into_is_cleared_and_filled() -> None:
    kept = Program(version=7, docString="old")
    made = parse("program(1.3) {}", into=kept)
    assert made is kept
    assert wire(kept) == wire(Program(version=1))


@pytest.mark.parametrize("text", ["program(1.3) {", "program(9) {}", "program(1.3) $version(x) {}"])
def test_into_is_left_alone_when_the_text_is_wrong(text: str) -> None:
    kept = Program(version=7, docString="old")
    with pytest.raises(ParseError):
        parse(text, into=kept)
    assert wire(kept) == wire(Program(version=7, docString="old"))


def test_only_programs_are_filled() -> None:
    model = Model(specificationVersion=9)
    with pytest.raises(TypeError, match=r"MILSpec\.Program, got Model"):
        parse("program(1.3) {}", into=model)
    assert model.specificationVersion == 9


def test_only_programs_are_printed() -> None:
    with pytest.raises(TypeError, match=r"Program or a Model, not CoreML\.Specification\.Model: pass its `mlProgram`"):
        to_text(Model())
    with pytest.raises(TypeError, match="Program or a Model, not int"):
        to_text(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"dialect": "1.1"}, {"floats": "octal"}])
def test_other_styles_do_not_exist(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"1\.1|octal"):
        to_text(Program(), **options)


# ---- strictness


@dear
@given(st.one_of(realistic.programs(), any_values.map(in_program), any_programs))
def test_strict_reading_accepts_strict_printing(program: Program) -> None:
    check_strictness(program)


# ---- literals that are left out


@given(any_values)
def test_omitted_parts_are_not_read_back(value: Any) -> None:
    program = in_program(value)
    text = to_text(program, elide=1)
    assert to_text(program, elide=1 << 40) == to_text(program)
    if text == to_text(program):
        assert wire(parse(text)) == wire(program)
    else:
        assert re.search(r'\$elided\([0-9]+, "sha256:[0-9a-f]{64}"\)', text)
        with pytest.raises(ParseError, match="left out"):
            parse(text)


# ---- one text, whatever the order in which maps were filled


def shuffled(program: Program, seed: int) -> Program:
    """The same Program with the entries of each of its maps put in anew, in another order."""
    order = random.Random(seed)
    made = Program.FromString(wire(program))
    for _, message in list(messages(made)):
        for field, content in message.ListFields():
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                entries = [(key, content[key].SerializeToString()) for key in content]
                order.shuffle(entries)
                content.clear()
                for key, data in entries:
                    content[key].ParseFromString(data)
    return made


@dear
@given(st.one_of(any_programs, realistic.programs()), st.integers(0, 99))
def test_insertion_order_does_not_matter(program: Program, seed: int) -> None:
    assert to_text(shuffled(program, seed)) == to_text(program)


def test_maps_print_in_byte_order() -> None:
    keys = ["pad_type", "pad", "b", "B", "é", "\uffff", "\U00010000", "a@", "a", ""]
    program = Program()
    for key in keys:
        program.attributes[key].docString = key
        program.functions[key].opset = key
    attributes = list(parse(to_text(program)).attributes)
    assert sorted(attributes) == sorted(keys)
    places = [to_text(program).index(f'$doc("{key}")') for key in sorted(keys, key=str.encode) if key]
    assert places == sorted(places)


# ---- what cannot be printed


@pytest.mark.parametrize("where", ["program", "function", "operation", "type", "value"])
def test_unknown_fields_are_refused_by_name(where: str) -> None:
    program = parse("program(1.3) { func f<ios18>(fp16 x) { relu(x = fp16(1)); } -> (); }")
    function = program.functions["f"]
    operation = function.block_specializations["CoreML8"].operations[0]
    message = {
        "program": program,
        "function": function,
        "operation": operation,
        "type": function.inputs[0].type.tensorType,
        "value": operation.inputs["x"].arguments[0].value,
    }[where]
    message.MergeFromString(b"\xfa\x01\x00")  # field 31, of length 0
    with pytest.raises(PrintError, match=f"field 31 of {message.DESCRIPTOR.name}.* would be lost") as refused:
        to_text(program)
    assert [finding.code for finding in refused.value.diagnostics] == ["MIL202"]


def test_messages_quote_control_characters() -> None:
    program = Program()
    operation = program.functions["\x1b[31m"].block_specializations["\u202e"].operations.add(type="\x1b[2J")
    operation.outputs.add(name="\a").type.tensorType.dataType = 99
    with pytest.raises(PrintError) as strict:
        to_text(program, strict=True)
    operation.MergeFromString(b"\xfa\x01\x00")
    with pytest.raises(PrintError) as unknown:
        to_text(program)
    assert r'functions["\u{1b}[31m"].block_specializations["\u{202e}"].operations[0]' in str(unknown.value)
    for line in f"{strict.value}\n{unknown.value}".splitlines():
        assert line.isprintable()
