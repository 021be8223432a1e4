"""Where the messages of a Program are in its text: each span, parsed again by itself, gives its message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN, corpus_files, dear, wire
from hypothesis import given
from hypothesis import strategies as st
from support import realistic
from support.strategies import any_programs

from miltext import ParseError, parse, parse_with_source, to_text
from miltext.schema.proto import Operation, Program
from miltext.schema.walk import messages

COVERED = {"Program", "Function", "Block", "Operation", "Argument", "Binding", "NamedValueType", "Value", "ValueType"}


def alone(name: str, text: str) -> Any:
    """The message that a span's text makes by itself, put where such a phrase may stand."""
    if name == "Program":
        return parse(text)
    if name == "Function":
        return one(parse(f"program(1.3) {{ {text} }}").functions)
    if name == "Block" and text.startswith("("):
        return operation(f"x() {text};").blocks[0]
    if name == "Block":
        return one(one(parse(f"program(1.3) {{ func f() {text}; }}").functions).block_specializations)
    if name == "Operation":
        return operation(text)
    if name == "Argument":
        return one(operation(f"x({text});").inputs)
    if name == "Binding":
        return operation(f"x(a = {text});").inputs["a"].arguments[0]
    if name == "NamedValueType":
        return operation(f"{text} = x();").outputs[0]
    if name == "Value":
        return one(parse(f"program(1.3) [a = {text}] {{}}").attributes)
    return one(parse(f"program(1.3) [a = {text}($unset)] {{}}").attributes).type


def one(members: Any) -> Any:
    (key,) = members
    return members[key]


def operation(text: str) -> Operation:
    function = one(parse(f"program(1.3) {{ func f() {{ {text} }} -> (); }}").functions)
    return one(function.block_specializations).operations[0]  # type: ignore[no-any-return]


def inside_values(path: tuple[str | int, ...]) -> bool:
    """Whether a message is inside a Value or a ValueType, where no span is kept."""
    steps = [step for step in path if isinstance(step, str)]
    return "type" in steps[:-1] or "immediateValue" in steps or "blobFileValue" in steps


def check(text: str, most: int = 500) -> Program:
    """Every message that should have a span has one, and the span is its text."""
    program, source = parse_with_source(text)
    assert wire(program) == wire(parse(text))
    left = dict(source.spans)
    for index, (path, message) in enumerate(messages(program)):
        covered = message.DESCRIPTOR.name in COVERED and not inside_values(path)
        assert (path in source.spans) is covered, path
        assert source.span(message) == left.pop(path, None)
        if covered and index < most:
            span = source.spans[path]
            assert wire(alone(message.DESCRIPTOR.name, text[span.start : span.end])) == wire(message)
    assert not left
    return program


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("print/*.mil")), ids=lambda path: path.name)
def test_golden(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "handwritten/*.mil", "*/*.mlmodelc/**/*.mil"))
def test_corpus(path: Path) -> None:
    check(path.read_text(encoding="utf-8"), most=100)


@dear
@given(st.one_of(any_programs, realistic.programs()))
def test_generated(program: Program) -> None:
    check(to_text(program))


TEXT = """// first
program(1.3) /* second */
{
    func main<ios18>(fp16 x) {
            fp16 y = relu(x = x)[name = string("// no comment")]; // third
            fp16 z = relu(x = x)[name = string("// no comment")];
        } -> (y);
}
// last"""


def test_comments() -> None:
    _, source = parse_with_source(TEXT)
    found = [TEXT[span.start : span.end] for span in source.comments]
    assert found == ["// first", "/* second */", "// third", "// last"]


def test_spans_go_by_identity() -> None:
    program, source = parse_with_source(TEXT)
    operations = program.functions["main"].block_specializations["CoreML8"].operations
    first, second = (source.span(operation) for operation in operations)
    assert first is not None
    assert second is not None
    assert TEXT[first.start :].startswith("fp16 y = relu")
    assert TEXT[second.start :].startswith("fp16 z = relu")
    assert wire(operations[0].attributes["name"]) == wire(operations[1].attributes["name"])
    assert source.span(operations[0].attributes["name"]) != source.span(operations[1].attributes["name"])
    copy = Program()
    copy.CopyFrom(program)
    assert source.span(copy) is None
    assert source.span(program.functions["main"].inputs[0].type.tensorType) is None


def test_paths_match_the_schema() -> None:
    _, source = parse_with_source(TEXT)
    span = source.spans["functions", "main", "block_specializations", "CoreML8", "operations", 1, "outputs", 0, "type"]
    assert TEXT[span.start : span.end] == "fp16"
    assert TEXT.count("\n", 0, span.start) == 5


def test_errors_match_parse() -> None:
    wrong = TEXT.replace("-> (y)", "-> y")
    with pytest.raises(ParseError) as plain:
        parse(wrong, path="a.mil")
    with pytest.raises(ParseError) as mapped:
        parse_with_source(wrong, path="a.mil")
    assert str(mapped.value) == str(plain.value)
    assert "a.mil:7:14: error[MIL025]: the outputs of a block belong in parentheses: `(y)`" in str(plain.value)
