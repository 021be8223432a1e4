"""Inference over whole Programs: what coremltools and Apple's compiler declare, and what follows."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import runpy
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import google.protobuf
import pytest
from google.protobuf.internal import api_implementation
from support.coremltools_programs import PROGRAMS, Sample

from miltext import parse
from miltext.checking.inference import RULES, Inference, infer_types
from miltext.schema import proto
from miltext.schema.operations import all_names
from miltext.schema.types import ListType, compatible

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("MILTEXT_CORPUS", ROOT.parent / "shared" / "corpus"))
MODELS = sorted(CORPUS.glob("**/*.mlmodel"))
TEXTS = sorted(CORPUS.glob("**/*.mil"))
NO_PROGRAM = ("rejected/", "runtime_dumps/ane-m6-study__ctx")
needs_corpus = pytest.mark.skipif(not MODELS, reason="no corpus beside the checkout, nor in MILTEXT_CORPUS")
needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)


@cache
def program_of(sample: Sample) -> proto.Program:
    return proto.Program.FromString(sample.program())


def disagreements(program: proto.Program) -> list[Inference]:
    return [inference for inference in infer_types(program) if not inference.agrees]


@needs_coremltools
@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_agrees_with_the_types_from_coremltools(sample: Sample) -> None:
    assert disagreements(program_of(sample)) == []


@needs_corpus
@pytest.mark.parametrize("path", MODELS, ids=lambda path: str(path.relative_to(CORPUS)))
def test_agrees_with_the_models_of_the_corpus(path: Path) -> None:
    program = proto.Model.FromString(path.read_bytes()).mlProgram
    assert disagreements(program) == []
    assert all(inference.inferred is not None for inference in infer_types(program))


@needs_corpus
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(CORPUS)))
def test_agrees_with_the_texts_of_the_corpus(path: Path) -> None:
    from miltext.parsing.parser import parse

    if str(path.relative_to(CORPUS)).startswith(NO_PROGRAM):
        pytest.skip("a text that no Program can hold")
    assert disagreements(parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.any_version
@needs_coremltools
def test_reach() -> None:
    """The share of op names with a rule, of ops that one speaks of, and of types that it gets in full."""
    assert len([name for name in all_names() if name in RULES]) >= 0.9 * len(all_names())
    found = [inference for sample in PROGRAMS for inference in infer_types(program_of(sample))]
    spoken_of = [inference for inference in found if inference.inferred is not None]
    exact = [inference for inference in spoken_of if list(inference.inferred or ()) == inference.declared]
    assert len(spoken_of) >= 0.99 * len(found)
    assert len(exact) >= 0.99 * len(found)
    assert {inference.operation.type for inference in found} == set(all_names())


@needs_coremltools
def test_the_page_shows_the_output_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, in which coremltools' programs are made once for all tests."""
    script = ROOT / "scripts" / "inference_reach.py"
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    logging.disable(logging.NOTSET)  # the script has coremltools keep quiet
    printed = capsys.readouterr().out
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    rows = [re.split(r"  +", line.replace("of  ", "of ")) for line in printed.splitlines()]
    assert len(rows) == 4
    for what, part, share in rows:
        assert f"| {what} | {part} | {share} |" in page


@needs_coremltools
@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_agrees_where_defaults_are_left_out(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """coremltools writes every default out; without them the rules must say the same."""
    from coremltools.converters.mil.backend.mil.load import MILProtoExporter

    written = Counter[str]()

    def without_defaults(op: Any) -> Mapping[str, Any]:
        defaults = op.default_inputs()._ordered_dict
        kept = {name: var for name, var in op.inputs.items() if not _is_default(var, defaults.get(name))}
        written["left out"] += len(op.inputs) - len(kept)
        return kept

    monkeypatch.setattr(MILProtoExporter, "_get_input_dict", staticmethod(without_defaults))
    assert disagreements(proto.Program.FromString(sample.make())) == []
    if sample.name == "conv-ios17":
        assert written["left out"] > 10


def _is_default(var: Any, default: Any) -> bool:
    import numpy as np

    if default is None or isinstance(var, list | tuple) or var.val is None:
        return False
    kinds = {"f": "float32", "i": "int32", "b": "bool"}
    value, expected = np.asarray(var.val), np.asarray(default)
    typed = expected.astype(kinds.get(expected.dtype.kind, expected.dtype))
    return value.dtype == typed.dtype and np.array_equal(value, typed)


@needs_coremltools
@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_types_left_out_are_found_again(sample: Sample) -> None:
    """With no op declaring anything, types follow one from another, from the inputs to the outputs."""
    declared = {inference.path: inference.declared for inference in infer_types(program_of(sample))}
    draft = proto.Program.FromString(sample.program())
    for operation in operations(draft):
        for output in operation.outputs:
            output.ClearField("type")
    for inference in infer_types(draft):
        assert inference.clash is None
        if inference.inferred is not None:
            assert inference.declared == [None] * len(inference.inferred)
            assert all(map(compatible, declared[inference.path], inference.inferred)), inference


def operations(program: proto.Program) -> Iterator[proto.Operation]:
    blocks = [block for function in program.functions.values() for block in function.block_specializations.values()]
    while blocks:
        for operation in blocks.pop().operations:
            yield operation
            blocks.extend(operation.blocks)


def sample_named(name: str) -> Sample:
    [sample] = [sample for sample in PROGRAMS if sample.name == name]
    return sample


@needs_coremltools
@pytest.mark.parametrize("op_type", ["relu", "conv", "linear"])
def test_one_wrong_type_is_one_finding(op_type: str) -> None:
    program = proto.Program.FromString(sample_named("network-ios17").program())
    wrong = next(operation for operation in operations(program) if operation.type == op_type)
    wrong.outputs[0].type.tensorType.dimensions[1].constant.size += 1
    assert [inference.operation for inference in disagreements(program)] == [wrong]


@needs_coremltools
def test_one_wrong_value_is_one_finding() -> None:
    program = proto.Program.FromString(sample_named("axes_ops-ios17").program())
    wrong = next(operation for operation in operations(program) if operation.type == "transpose")
    [perm] = [op for op in operations(program) if op.outputs[0].name == wrong.inputs["perm"].arguments[0].name]
    perm.attributes["val"].immediateValue.tensor.ints.values[:] = [0, 1, 2]
    assert [inference.operation for inference in disagreements(program)] == [wrong]


@needs_coremltools
@pytest.mark.parametrize("name", ["reshape-ios17", "fills-ios15", "constexpr16-ios16", "lists-ios18", "joins-ios15"])
def test_values_are_followed_to_the_shapes_they_make(name: str) -> None:
    """`shape`, slices and `concat` into `reshape`, constants in bytes, and so on: nothing is left unknown."""
    for inference in infer_types(program_of(sample_named(name))):
        if not isinstance(inference.declared[0], ListType):  # lengths of lists are not followed
            assert inference.inferred == inference.declared


@needs_coremltools
def test_reads_the_messages_of_coremltools() -> None:
    from coremltools.proto import MIL_pb2

    sample = PROGRAMS[0]
    theirs, ours = infer_types(MIL_pb2.Program.FromString(sample.program())), infer_types(program_of(sample))
    facts = attrgetter("path", "declared", "inferred", "clash", "doubts")
    assert [*map(facts, theirs)] == [*map(facts, ours)]


@needs_coremltools
def test_paths_lead_to_the_ops() -> None:
    program = program_of(sample_named("nested-ios17"))
    found = infer_types(program)
    assert len(found) == len(list(operations(program)))
    assert any(len(inference.path) == 7 for inference in found)
    for inference in found:
        function, opset, *places = inference.path
        block = program.functions[str(function)].block_specializations[str(opset)]
        for place, nested in zip(places[::2], places[1::2], strict=False):
            block = block.operations[int(place)].blocks[int(nested)]
        assert block.operations[int(places[-1])] == inference.operation


@pytest.mark.skipif(
    api_implementation.Type() == "upb" and tuple(map(int, google.protobuf.__version__.split(".")[:2])) < (4, 25),
    reason="upb before protobuf 4.25 ends the process where it copies a message that is deeper than it reads",
)
def test_inference_with_a_type_nested_too_deep() -> None:
    program = parse("program(1.3){func main<ios18>(fp16 x){ fp16 y = relu(x = x); } -> (y);}")
    innermost = program.functions["main"].inputs[0].type
    innermost.Clear()
    for _ in range(110):
        innermost = innermost.listType.type
    innermost.tensorType.dataType = 10
    (inference,) = infer_types(program)
    assert inference.inferred is not None
    assert isinstance(inference.inferred[0], ListType)
