"""Text that is accepted loads as binary: at protobuf's limit on depth all works, one message deeper all refuse."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from conftest import wire
from google.protobuf.message import DecodeError

from miltext import Diagnostic, ParseError, PrintError, check, format_text, parse, to_text
from miltext.printing.printer import Printer
from miltext.schema.paths import LIMIT, depth
from miltext.schema.proto import Model, Program
from miltext.schema.walk import messages
from miltext.schema.wire import sized, tag

Step = Callable[[Any], Any]
"""From a message to one inside it, which is made: messages this deep cannot be copied, only filled in place."""

TYPE_STEPS: dict[str, Step] = {
    "state": lambda outer: outer.stateType.wrappedType,
    "tuple type": lambda outer: outer.tupleType.types.add(),
    "list type": lambda outer: outer.listType.type,
    "dictionary key type": lambda outer: outer.dictionaryType.keyType,
    "dictionary value type": lambda outer: outer.dictionaryType.valueType,
    "tensor attribute": lambda outer: outer.tensorType.attributes["a"].type,
}
VALUE_STEPS: dict[str, Step] = {
    "tuple": lambda outer: outer.immediateValue.tuple.values.add(),
    "list": lambda outer: outer.immediateValue.list.values.add(),
    "dictionary key": lambda outer: outer.immediateValue.dictionary.values.add().key,
    "dictionary value": lambda outer: outer.immediateValue.dictionary.values.add().value,
}
TYPES_OF = {key: f"{key} type" for key in VALUE_STEPS}


def down(message: Any, step: Step, times: int) -> Any:
    for _ in range(times):
        message = step(message)
    return message


def nested_types(step: Step) -> Callable[[Program, int], Any]:
    return lambda program, times: down(program.functions["f"].inputs.add().type, step, times)


def untyped_values(step: Step) -> Callable[[Program, int], Any]:
    return lambda program, times: down(program.attributes["a"], step, times).type


def typed_values(step: Step, type_step: Step) -> Callable[[Program, int], Any]:
    """Values whose elements have the types that their containers imply; the innermost have none to fill."""

    def fill(program: Program, times: int) -> Any:
        value = program.attributes["a"]
        for level in range(times, -1, -1):
            down(value.type, type_step, level).tensorType.dataType = 10
            value = step(value) if level else value
        return program.functions["f"].inputs.add().type

    return fill


def blocks(program: Program, times: int) -> Any:
    block = program.functions["f"].block_specializations[""]
    block = down(block, lambda outer: outer.operations.add(type="cond").blocks.add(), times)
    return block.operations.add(type="relu").outputs.add(name="x").type


FAMILIES: dict[str, Callable[[Program, int], Any]] = {
    **{name: nested_types(step) for name, step in TYPE_STEPS.items()},
    **{f"untyped {name}": untyped_values(step) for name, step in VALUE_STEPS.items()},
    **{name: typed_values(step, TYPE_STEPS[TYPES_OF[name]]) for name, step in VALUE_STEPS.items()},
    "block": blocks,
}


def fill_bottom(value_type: Any, size: int) -> None:
    """A type of `size` messages below its own, so that every depth can be had."""
    value_type.SetInParent()
    if size > 0:
        value_type.tensorType.dataType = 10
    if size > 1:
        value_type.tensorType.rank = 1
        dimension = value_type.tensorType.dimensions.add()
        if size > 2:
            dimension.unknown.SetInParent()


@cache
def around_limit(family: str) -> tuple[Program, Program]:
    """The family's deepest Program that protobuf reads, and its least deep one that it does not."""
    fits = Program()
    for times in range(LIMIT // 5, LIMIT):
        for size in range(4):
            program = Program(version=1)
            fill_bottom(FAMILIES[family](program, times), size)
            if max(depth(path) for path, _ in messages(program)) > LIMIT:
                return fits, program
            fits = program
    raise AssertionError(f"no {family} passes the limit")


@pytest.mark.parametrize("family", FAMILIES)
def test_up_to_the_limit_all_works(family: str) -> None:
    program, _ = around_limit(family)
    for dialect in ("1.0", "1.3"):
        assert wire(parse(to_text(program, dialect=dialect))) == wire(program)
    assert wire(Model.FromString(sized(tag(502), wire(program))).mlProgram) == wire(program)


def called_from(frames: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives that is called from so many frames down."""
    return called_from(frames - 1, function, *arguments) if frames else function(*arguments)


STRINGS = f'program(1.3) [a = tensor<string, [{", ".join(["1"] * 700)}]>({"[" * 700}"x"{"]" * 700})] {{}}'


@pytest.mark.parametrize("frames", [100, 300, 800])
@pytest.mark.parametrize("family", [*FAMILIES, "strings"])
def test_up_to_the_limit_all_calls_work(family: str, frames: int) -> None:
    program = parse(STRINGS) if family == "strings" else around_limit(family)[0]
    text = to_text(program)
    assert called_from(frames, to_text, program) == text
    assert wire(called_from(frames, parse, text)) == wire(program)
    assert called_from(frames, format_text, text) == format_text(text)
    found: list[Diagnostic] = called_from(frames, check, text)
    assert found == check(text)


def test_some_families_end_exactly_at_the_limit() -> None:
    depths = {
        max(depth(path) for path, _ in messages(program)) for family in FAMILIES for program in around_limit(family)
    }
    assert {LIMIT, LIMIT + 1} <= depths


@pytest.mark.parametrize("family", FAMILIES)
def test_beyond_the_limit_printing_is_refused(family: str) -> None:
    with pytest.raises(PrintError, match="nested too deeply") as refused:
        to_text(around_limit(family)[1])
    (finding,) = refused.value.diagnostics
    assert finding.code == "MIL006"
    assert "attributes" in finding.message or "functions" in finding.message
    assert len(finding.message) < 320


@pytest.mark.parametrize("family", FAMILIES)
def test_beyond_the_limit_parsing_is_refused(family: str) -> None:
    text = "".join(Printer().program(around_limit(family)[1]))
    with pytest.raises(ParseError, match="nested too deeply") as refused:
        parse(text)
    (finding,) = refused.value.diagnostics
    assert finding.code == "MIL006"
    assert finding.span is not None
    assert 0 < finding.span.start < finding.span.end <= len(text)


def test_the_place_is_inside_the_construct_that_passes_the_limit() -> None:
    text = "".join(Printer().program(around_limit("block")[1]))
    with pytest.raises(ParseError) as refused:
        parse(text)
    span = refused.value.diagnostics[0].span
    assert span is not None
    assert text.rindex("{") < span.start < span.end < text.index("}")


@pytest.mark.parametrize("family", FAMILIES)
def test_protobuf_refuses_a_deeper_message(family: str) -> None:
    """The limit is no lower than it must be."""
    data = around_limit(family)[1].SerializeToString()
    with pytest.raises(DecodeError):
        Model.FromString(sized(tag(502), data))
