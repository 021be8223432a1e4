"""An operation's line from its wire is what the Printer says of its message; one that is not plain is left to it."""

from __future__ import annotations

from functools import cache, reduce
from pathlib import Path
from typing import Any

import pytest
from conftest import GOLDEN, corpus_files
from hypothesis import given, settings
from hypothesis import strategies as st
from support import realistic
from support.laws.printing import check_both_ways
from support.strategies import OLD, any_programs

from miltext import PrintError, parse, to_text
from miltext.printing.plain_operations import LONGEST, Operations
from miltext.printing.printer import Printer
from miltext.schema.fields import BLOCK_OPERATIONS, ENTRY_VALUE, FUNCTION_BLOCKS, PROGRAM_FUNCTIONS
from miltext.schema.proto import Operation, Program
from miltext.schema.wire import sized, spans


def lines_of(program: Program) -> list[str | Operation]:
    """The operations of all blocks of functions, as text or as messages."""
    operations = Operations(Printer())
    operations.take_out(program.SerializeToString(deterministic=True))
    return [line for block in operations.lines.values() for line in block]


def taken(program: Program) -> tuple[int, int]:
    """How many operations are printed from the wire, and how many there are outside inner blocks."""
    lines = lines_of(program)
    return sum(isinstance(line, str) for line in lines), len(lines)


@given(st.one_of(any_programs, realistic.programs()))
def test_any_program_is_printed_equally_both_ways(program: Any) -> None:
    check_both_ways(program)


@pytest.mark.parametrize(
    "path", [*sorted(GOLDEN.glob("print/*.mil")), *corpus_files("apple/*.mil", "pairs/*/*.mil", "pipelines/**/*.mil")]
)
def test_a_program_is_printed_equally_both_ways(path: Path) -> None:
    check_both_ways(parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", corpus_files("pairs/*/*.mil"))
def test_most_operations_are_plain(path: Path) -> None:
    fast, every = taken(parse(path.read_text(encoding="utf-8")))
    assert fast >= (0.95 if every > 1000 else 0.5) * every


# ---- a plain operation, and its likes that are hardly not

PLAIN = 'fp16 y = add(x = x, y = x)[name = string("y"), val = tensor<int32, [2]>([1, 2])];'
BLOB = 'fp16 y = f()[val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/weights/w"), offset = uint64(%d)))];'


def program_of(operation: str) -> Program:
    return parse(f"program(1.3) {{ func f<ios18>(fp16 x) {{ {operation} }} -> (x); }}")


@pytest.mark.parametrize(
    ("operation", "is_plain"),
    [
        (PLAIN, True),
        *[(BLOB % offset, True) for offset in (64, 127, 128, 16383, 16384, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)],
        (BLOB % 0, False),
        ("f();", True),
        ("fp16 y = f();", True),
        ("fp16 a, tensor<fp16, [?]> b = f();", True),
        ('fp16 $"a b" = f(x = $"\\n", y = $"")[name = string("a\\"b\\u{1f600}")];', True),
        ('fp16 y = f()[name = string("")];', True),
        ('fp16 y = f($"a b" = x);', False),
        ('fp16 y = f()[$"a b" = int32(1)];', False),
        ('fp16 y = $"_"();', False),
        ('fp16 y = $"bool"();', False),
        ("fp16 y = f(x = (x, x));", False),
        ("fp16 y = f(x = ());", False),
        ("fp16 y = f(x = $unset);", False),
        ("fp16 y = f(x = fp16(1));", False),
        ("list<fp16, 2> y = f();", False),
        ("$absent y = f();", False),
        ("$empty y = f();", False),
        ("tensor<fp16, [1], $[a = int32(1)]> y = f();", False),
        ("tensor<fp16, [1], $rank(2)> y = f();", True),
        ('fp16 y = f()[val = $doc("d") int32(1)];', True),
        ("fp16 y = f()[val = int32($unset)];", False),
        ("fp16 y = f()[val = list<int32, 1>([1])];", False),
        ("fp16 y = f() (fp16 z) { } -> (z);", False),
        *[
            (f'fp16 {"n" * size} = f(x = x, {"k" * size} = {"n" * size})[name = string("{"s" * size}")];', None)
            for size in range(100, 140)
        ],
        *[
            (f"fp16 y = f()[val = tensor<int8, [{size}]>([{', '.join(['1'] * size)}])];", None)
            for size in range(90, 140)
        ],
        (f"fp16 y = f()[val = tensor<int8, [{LONGEST}]>([{', '.join(['1'] * LONGEST)}])];", False),
    ],
)
def test_an_operation(operation: str, is_plain: bool | None) -> None:
    program = program_of(operation)
    check_both_ways(program)
    if is_plain is not None:
        assert taken(program) == (int(is_plain), 1)


ODD = [
    "fp16 y = f(x = $unset);",
    "list<fp16, 2> y = f();",
    f"fp16 y = f()[val = tensor<int8, [{LONGEST}]>([{', '.join(['1'] * LONGEST)}])];",
    "fp16 y = f() (fp16 z) { fp16 y = add(x = z, y = z); } -> (y);",
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", range(3))
def test_an_operation_that_is_not_plain_is_parsed_alone(odd: str, place: int) -> None:
    operations = ["fp16 a = relu(x = x);", "fp16 b = relu(x = a);"]
    operations.insert(place, odd)
    program = program_of(" ".join(operations))
    check_both_ways(program)
    lines = lines_of(program)
    assert [isinstance(line, str) for line in lines] == [index != place for index in range(3)]
    assert lines[place] == program.functions["f"].block_specializations["CoreML8"].operations[place]


def test_the_rest_of_a_program_has_no_operations() -> None:
    program = program_of(" ".join([PLAIN, *ODD]))
    operations = Operations(Printer())
    left = Program.FromString(operations.take_out(program.SerializeToString(deterministic=True)))
    del program.functions["f"].block_specializations["CoreML8"].operations[:]
    assert left == program


@pytest.mark.parametrize("odd", ODD)
def test_an_unknown_field_is_found_before_strict_errors(odd: str) -> None:
    program = program_of(f"$absent a = f(); {PLAIN} {odd}")
    operations = program.functions["f"].block_specializations["CoreML8"].operations
    with pytest.raises(PrintError, match="a missing type"):
        to_text(program, strict=True)
    operations[2].MergeFromString(bytes([99 << 3 & 127 | 0x82, 99 >> 4, 1, 0]))
    with pytest.raises(PrintError, match=r"field 99 of Operation at functions.*operations\[2\]"):
        to_text(program, strict=True)


def test_the_order_of_map_entries_does_not_matter() -> None:
    program = program_of('fp16 y = f(b = x, a = x, ab = x)[name = string("y"), a = int32(1), val = int32(2)];')
    wire = program.functions["f"].block_specializations["CoreML8"].operations[0].SerializeToString(deterministic=True)
    parts = [(number, wire[start:end]) for number, start, _, end in spans(wire)]
    parts.reverse()
    parts.sort(key=lambda part: part[0])
    around = BLOCK_OPERATIONS, ENTRY_VALUE, FUNCTION_BLOCKS, ENTRY_VALUE, PROGRAM_FUNCTIONS
    operations = Operations(Printer())
    operations.take_out(reduce(lambda inner, field: sized(field, inner), around, b"".join(part for _, part in parts)))
    assert operations.lines["", ""] == lines_of(program)
    assert taken(program) == (1, 1)


@cache
def samples() -> list[bytes]:
    texts = [PLAIN, BLOB % 300, 'fp16 a, tensor<fp16, [?]> b = f(x = x)[name = string("a")];']
    return [program_of(text).SerializeToString(deterministic=True) for text in texts]


@pytest.mark.skipif(OLD, reason="this protobuf crashes on damaged bytes, or reads strings that are no UTF-8")
@given(st.data())
@settings(max_examples=500)
def test_damaged_bytes(data: st.DataObject) -> None:
    """Whatever protobuf still reads, be it with fields that no schema has, is said alike."""
    wire = bytearray(data.draw(st.sampled_from(samples())))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(wire) - 1))
        wire[place] = data.draw(st.one_of(st.integers(0, 255), st.sampled_from([0x0A, 0x12, 0x1A, 0x22, 0x2A, 0x10])))
    try:
        program = Program.FromString(bytes(wire))
    except Exception:  # noqa: BLE001  # each of protobuf's backends has an error of its own
        return
    check_both_ways(program)


@pytest.mark.parametrize(
    "inside",
    [
        lambda operation: operation,
        lambda operation: operation.outputs[0],
        lambda operation: operation.outputs[0].type.tensorType,
        lambda operation: operation.inputs["x"],
        lambda operation: operation.inputs["x"].arguments[0],
        lambda operation: operation.attributes["name"],
        lambda operation: operation.attributes["val"].immediateValue.tensor.ints,
    ],
)
def test_a_field_that_the_schema_lacks_is_found(inside: Any) -> None:
    program = program_of(PLAIN)
    message = inside(program.functions["f"].block_specializations["CoreML8"].operations[0])
    message.MergeFromString(bytes([99 << 3 & 127 | 0x82, 99 >> 4, 1, 0]))
    with pytest.raises(PrintError, match=f"field 99 of {message.DESCRIPTOR.name} at functions"):
        to_text(program)
