"""What a check remembers, of types, values, names and whole operations, changes no finding and not their order."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from conftest import ROOT
from support.mutations import MUTATIONS

import miltext
from miltext.checking import operations, scopes, values
from miltext.checking.findings import Finding
from miltext.checking.inference.program import OUTCOMES
from miltext.checking.inference.reading import Constant, MessageReader, StatedGraph, StatedType
from miltext.checking.programs import verify
from miltext.checking.scopes import name_findings
from miltext.checking.values import value_findings
from miltext.generation.programs import generate
from miltext.schema.proto import Program, Value
from miltext.schema.shape_patterns import certain_sizes
from miltext.weight_files.paths import escape

AT = '(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({})))'
LOOP = """program(1.3)
{
    func main<ios15>(tensor<fp16, [2, 4]> x) {
            bool no = const()[name = string("no"), val = bool(false)];
            tensor<fp16, [4, 4]> w = const()[name = string("w"), val = tensor<fp16, [4, 4]>(64)];
            tensor<fp16, [4, 4]> v = const()[name = string("v"), val = tensor<fp16, [4, 4]>(128)];
            tensor<fp16, [2, 4]> y = while_loop(loop_vars = (x))
                (tensor<fp16, [2, 4]> a) {
                    tensor<fp16, []> all = reduce_sum(axes = tensor<int32, [2]>([0, 1]), keep_dims = no, x = a);
                    bool again = less(x = all, y = fp16(3));
                } -> (again)
                (tensor<fp16, [2, 4]> b) {
                    tensor<fp16, [2, 4]> c = matmul(transpose_x = no, transpose_y = no, x = b, y = w);
                    tensor<fp16, [2, 4]> d = matmul(transpose_x = no, transpose_y = no, x = c, y = v);
                } -> (d);
        } -> (y);
}
"""
LATER = """program(1.3)
{
    func main<ios16>(tensor<fp16, [1, 2, 4, 4]> x) {
            tensor<fp16, [1, 8, 2, 2]> y = pixel_unshuffle(downscale_factor = uint32(2), x = x);
            tensor<fp16, [1, 8, 2, 2]> z = pixel_unshuffle(downscale_factor = uint32(2), x = x);
        } -> (y, z);
}
"""
PROGRAMS = [
    *map(generate, range(5)),
    *map(miltext.parse, (LOOP.replace("(64)", AT.format(64)).replace("(128)", AT.format(128)), LATER)),
    miltext.load(ROOT / "examples" / "Classifier.mlpackage").program,
]
SEEDS = range(len(PROGRAMS))


def broken(name: str) -> Iterator[Program]:
    """The Programs that a mutation can break, each broken in two ways."""
    for seed in SEEDS:
        random = Random(f"{name} {seed}")
        for _ in range(2):
            made = Program.FromString(PROGRAMS[seed].SerializeToString())
            if MUTATIONS[name](random, made) is not None:
                yield made


def forget() -> None:
    for cache in (OUTCOMES, certain_sizes, escape):
        cache.cache_clear()


def as_new(program: Program) -> tuple[list[Finding], set[object]]:
    """What is found, and the operations that are given what is wrong, by a check that remembers nothing."""
    forget()
    return remembering(program)


def remembering(program: Program) -> tuple[list[Finding], set[object]]:
    faulty: set[object] = set()
    return verify(program, faulty=faulty), faulty  # type: ignore[arg-type]


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_checks_before_change_no_finding(mutation: str) -> None:
    programs = [*PROGRAMS, *broken(mutation)]
    found = [as_new(program) for program in programs]
    assert len({str(findings) for findings, _ in found}) > 1
    forget()
    for each in (programs, reversed(programs)):
        for program in each:
            verify(program)
    assert [remembering(program) for program in programs] == found


@pytest.mark.parametrize("program", PROGRAMS, ids=SEEDS)
def test_a_valid_operation_is_not_checked_again(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    made = operations._CheckedCall.findings

    def findings(call: operations._CheckedCall) -> Iterator[Finding]:
        calls.append(call)
        return made(call)

    monkeypatch.setattr(operations._CheckedCall, "findings", findings)
    forget()
    verify(program)
    first, known = len(calls), len(OUTCOMES)
    verify(program)
    assert 0 < known == len(OUTCOMES)
    assert len(calls) - first < first


def test_a_later_opset_is_reported_in_each_function() -> None:
    made = next(found for found in broken("an operation of a later opset") if codes(found) & {"MIL502"})
    twice = Program.FromString(made.SerializeToString())
    for name in list(made.functions):
        twice.functions[f"{name}_again"].CopyFrom(made.functions[name])
    told = [finding.code for finding in verify(made)].count("MIL502")
    assert [finding.code for finding in verify(twice)].count("MIL502") == 2 * told
    assert [finding.code for finding in verify(made)].count("MIL502") == told


def codes(program: Program) -> set[str]:
    return {finding.code for finding in verify(program)}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_remembered_names_equal_computed_names(mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [StatedGraph(program) for program in [*PROGRAMS, *broken(mutation)]]
    looks: list[object] = []
    look = scopes._Names.operation

    def operation(walk: object, *given: object) -> Iterator[Finding]:
        looks.append(given)
        return look(walk, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(scopes._Names, "operation", operation)
    found, few = [[*name_findings(program)] for program in programs], len(looks)
    monkeypatch.setattr(scopes._Names, "is_right", lambda *_: False)
    assert [[*name_findings(program)] for program in programs] == found
    assert few < len(looks) - few


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_values_and_types_that_come_again_are_as_wrong_as_first(mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [StatedGraph(program) for program in [*PROGRAMS, *broken(mutation)]]
    for program in programs:
        contents = values._Contents(program, None)
        for constant in constants(program):
            assert contents.type(constant.stated) == [*values._check_type(constant.stated.message)]
            assert contents.is_open(constant.stated) == values._is_open(constant.stated.message)
            for is_constant in (False, True, False):
                assert contents.value(constant, is_constant) == [*values._check_value(constant.message, is_constant)]
    found = [value_findings(program) for program in programs]
    monkeypatch.setattr(values._Contents, "_right", property(lambda _: set(), lambda *_: None), raising=False)
    assert [value_findings(program) for program in programs] == found


def constants(graph: StatedGraph) -> Iterator[Constant]:
    """All values of a Program."""
    for attributes in graph.attributes.values():
        yield from attributes.values()
    for inputs in graph.inputs.values():
        yield from (each for bound in inputs.values() for each in bound if isinstance(each, Constant))


TEXTS = [
    "",
    "x",
    "xy",
    "\n\x03",
    "\n\x03xyz",
    "é",
    "\0",
    "12",
    *("a" * size for size in (121, 122, 127, 128, 300, 20_000)),
]


def label(*texts: str, dtype: int = 2, rank: int = 0) -> Value:
    made = Value()
    made.type.tensorType.dataType = dtype
    made.type.tensorType.rank = rank
    made.immediateValue.tensor.strings.values.extend(texts)
    return made


LABELS = [
    *(label(text) for text in TEXTS),
    *(label(*texts) for texts in [(), ("\n\x03", "xyz"), ("\n\x03", "x", ""), ("x", ""), ("", "x")]),
    *(label(text, dtype=23) for text in TEXTS[:4]),
    *(label(text, rank=1) for text in TEXTS[:4]),
    Value(),
    Value(docString="x"),
]


@pytest.mark.parametrize("seed", range(20))
def test_names_of_operations_are_read_as_any_value(seed: int) -> None:
    labels = LABELS * 2
    Random(seed).shuffle(labels)
    reader = MessageReader()
    for message in labels:
        assert reader.label(message) == (message, *reader.form(message))


def test_names_of_operations_of_one_length_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Value] = []
    read = MessageReader.form

    def form(reader: MessageReader, message: Value) -> object:
        reads.append(message)
        return read(reader, message)

    monkeypatch.setattr(MessageReader, "form", form)
    reader = MessageReader()
    made = [reader.label(label(text)) for text in ("ab", "cd", "ef", "abc", "def")]
    assert len(reads) == 2
    assert [isinstance(each.stated, StatedType) for each in made] == [True] * 5


def test_values_of_the_same_bytes_are_read_once() -> None:
    reader = MessageReader()
    first, second, other = (reader.value(label(text)) for text in ("same", "same", "other"))
    assert first.value == second.value == "same"
    assert first.form is second.form
    assert (other.value, other.form) == ("other", first.form)
