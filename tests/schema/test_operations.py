"""The op table: what it holds, and that nothing that coremltools or Apple's compiler takes is against it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from support.coremltools_programs import PROGRAMS, Sample

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from op_facts import facts_of

from miltext.schema import proto
from miltext.schema.dtypes import DTYPES
from miltext.schema.operations import Parameter, Signature, all_names, first_opset, opset_place, signature, since
from miltext.schema.opsets import OPSETS
from miltext.schema.types import TensorType, Type, read_type, write_type

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("MILTEXT_CORPUS", ROOT.parent / "shared" / "corpus"))
MODELS = sorted([*CORPUS.glob("**/*.mlmodel")])
needs_corpus = pytest.mark.skipif(not MODELS, reason="no corpus beside the checkout, nor in MILTEXT_CORPUS")
needs_coremltools = pytest.mark.skipif(
    importlib.util.find_spec("coremltools") is None, reason="coremltools is not installed"
)

Scope = dict[str, tuple[Type, bool]]
"""The type of each name that is visible, and whether its value is known when the program is compiled."""


def faults(program: proto.Program) -> Iterator[str]:
    """What is against the table in a Program, one line for each."""
    for function in program.functions.values():
        for opset, block in function.block_specializations.items():
            scope = {value.name: (read_type(value.type), False) for value in function.inputs}
            yield from block_faults(block, opset, scope)


def block_faults(block: proto.Block, opset: str, outer: Scope) -> Iterator[str]:
    scope = {**outer, **{value.name: (read_type(value.type), False) for value in block.inputs}}
    for operation in block.operations:
        bound = {name: bindings(argument, scope) for name, argument in operation.inputs.items()}
        found = signature(operation.type, opset)
        for name, value in operation.attributes.items():
            if found and name in found.parameters:
                bound[name] = [(read_type(value.type), True)]
        if found is None:
            yield f"{operation.type}: not in {opset}"
        else:
            yield from operation_faults(operation, found, bound)
        for nested in operation.blocks:
            yield from block_faults(nested, opset, scope)
        constant = all(is_constant for operands in bound.values() for _, is_constant in operands)
        scope.update({output.name: (read_type(output.type), constant) for output in operation.outputs})


def bindings(argument: proto.Argument, scope: Scope) -> list[tuple[Type, bool]]:
    return [
        scope[binding.name] if binding.name else (read_type(binding.value.type), True) for binding in argument.arguments
    ]


def operation_faults(
    operation: proto.Operation, op: Signature, bound: Mapping[str, list[tuple[Type, bool]]]
) -> Iterator[str]:
    least, most = op.outputs
    if len(operation.outputs) < least or (most is not None and len(operation.outputs) > most):
        yield f"{op.name}: {len(operation.outputs)} outputs"
    if len(operation.blocks) != len(op.blocks):
        yield f"{op.name}: {len(operation.blocks)} blocks"
    for parameter in op.parameters.values():
        if parameter.required and parameter.name not in bound:
            yield f"{op.name}: no {parameter.name}"
    domains: dict[str, set[str]] = {}
    for name, operands in bound.items():
        if name not in op.parameters:
            if not op.open:
                yield f"{op.name}: unknown {name}"
            continue
        parameter = op.parameters[name]
        yield from (f"{op.name}: {name} {fault}" for fault in parameter_faults(parameter, operands))
        dtypes = {stated.dtype for stated, _ in operands if isinstance(stated, TensorType)}
        if parameter.domain:
            domains.setdefault(parameter.domain, set()).update(dtypes)
    for domain, dtypes in domains.items():
        if len(dtypes) > 1:
            yield f"{op.name}: {domain} is {' and '.join(sorted(dtypes))}"


def parameter_faults(parameter: Parameter, operands: list[tuple[Type, bool]]) -> Iterator[str]:
    if not parameter.variadic and len(operands) != 1:
        yield f"has {len(operands)} bindings"
    for stated, constant in operands:
        kind = type(stated).__name__.removesuffix("Type").lower()
        if kind not in parameter.kinds:
            yield f"is a {kind}"
        if isinstance(stated, TensorType) and parameter.dtypes and stated.dtype not in parameter.dtypes:
            yield f"is {stated.dtype}"
        if parameter.constant and not constant:
            yield "is no constant"


@needs_coremltools
def test_the_table_equals_the_output_of_the_script() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_ops.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr


@needs_coremltools
def test_every_op_of_the_registry_is_there() -> None:
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

    registered = set(SSAOpRegistry.core_ops)
    assert len(registered) == 168
    assert registered - set(all_names()) == {"_const_symbolic"}
    assert set(all_names()) - registered == {"custom_layer", "write_state"}


@needs_coremltools
@pytest.mark.parametrize("sample", PROGRAMS, ids=str)
def test_nothing_that_coremltools_writes_is_against_the_table(sample: Sample) -> None:
    assert list(faults(proto.Program.FromString(sample.program()))) == []


@needs_corpus
@pytest.mark.parametrize("path", MODELS, ids=lambda path: str(path.relative_to(CORPUS)))
def test_nothing_in_the_corpus_is_against_the_table(path: Path) -> None:
    assert list(faults(proto.Model.FromString(path.read_bytes()).mlProgram)) == []


def test_each_parameter_of_one_tensor_has_an_entry_among_facts() -> None:
    """One that takes tensors of any shape has an empty one, so that none is forgotten."""
    lacking: dict[str, set[str]] = {}
    for name in all_names():
        for opset in OPSETS:
            found = signature(name, opset.text)
            for parameter in found.parameters.values() if found else ():
                takes_one = "tensor" in parameter.kinds and not parameter.variadic
                if takes_one and parameter.name not in facts_of(name, opset.text):
                    lacking.setdefault(name, set()).add(parameter.name)
    assert lacking == {}


def test_names_are_sorted_and_have_versions_in_order() -> None:
    assert all_names() == sorted(set(all_names()))
    order = [opset.text for opset in OPSETS]
    for name in all_names():
        versions = [found.opset for opset in order if (found := signature(name, opset))]
        assert versions == sorted(versions, key=order.index)
        assert versions[0] == first_opset(name)


@pytest.mark.parametrize(
    ("opset", "version", "dtypes"),
    [
        ("ios15", "ios15", "fp16 fp32 int32"),
        ("CoreML6", "ios16", "fp16 fp32 int32"),
        ("ios17", "ios17", "fp16 fp32 int8 int16 int32 uint8 uint16"),
        ("CoreML8", "ios17", "fp16 fp32 int8 int16 int32 uint8 uint16"),
        ("ios19", "ios17", "fp16 fp32 int8 int16 int32 uint8 uint16"),
        ("my_opset", "ios17", "fp16 fp32 int8 int16 int32 uint8 uint16"),
        (None, "ios17", "fp16 fp32 int8 int16 int32 uint8 uint16"),
    ],
)
def test_the_newest_version_that_an_opset_has(opset: str | None, version: str, dtypes: str) -> None:
    assert known("topk", opset).opset == version
    assert known("topk", opset).parameters["x"].dtypes == frozenset(dtypes.split())


def known(op_type: str, opset: str | None = None) -> Signature:
    found = signature(op_type, opset)
    assert found is not None
    return found


def test_ops_that_are_not_there() -> None:
    assert signature("relu7") is None
    assert first_opset("relu7") is None
    assert first_opset("gather", lambda version: "batch_dims" in version.parameters) == "ios16"
    assert first_opset("gather", lambda version: "uint8" in version.dtypes("indices")) == "ios17"
    assert first_opset("gather", lambda version: "fp16" in version.dtypes("nothing")) is None
    assert signature("read_state", "ios17") is None
    assert first_opset("read_state") == "ios18"


def test_facts_of_saved_programs_that_the_registry_lacks() -> None:
    assert known("write_state").outputs == (0, 0)
    assert known("write_state").parameters["input"].kinds == {"state"}
    assert known("custom_layer").open
    assert known("custom_layer").outputs == (0, None)
    assert known("const").parameters["val"].attribute


def test_constexpr_kept_all_in_attributes_before_ios18() -> None:
    for opset, attribute in (("ios17", True), ("ios18", False)):
        parameters = known("constexpr_cast", opset).parameters.values()
        assert {parameter.attribute for parameter in parameters} == {attribute}


def test_defaults_are_known_and_most_share_no_data_type() -> None:
    parameters = known("batch_norm", "ios15").parameters
    assert parameters["epsilon"].default == 1e-05
    assert parameters["epsilon"].domain is None
    assert parameters["gamma"].domain == "T"
    assert known("conv").parameters["strides"].default is None


@pytest.mark.parametrize(
    ("name", "parameter", "opset", "domain", "loose"),
    [
        ("linear", "bias", "ios15", "T", True),
        ("linear", "bias", "ios17", "U", True),
        ("log", "epsilon", "ios16", "T", True),
        ("rsqrt", "epsilon", "ios16", "T", True),
        ("inverse", "epsilon", "ios16", "T", True),
        ("one_hot", "off_value", "ios15", "T", False),
        ("random_normal", "stddev", "ios15", "T", False),
        ("random_uniform", "high", "ios15", "T", False),
        ("layer_norm", "epsilon", "ios15", None, False),
        ("pad", "constant_val", "ios15", None, False),
    ],
)
def test_some_defaults_share_a_data_type(
    name: str, parameter: str, opset: str, domain: str | None, loose: bool
) -> None:
    """What coremltools 9.0 writes of itself for fp16 inputs keeps to these, and breaks those of the last two."""
    found = known(name, opset).parameters[parameter]
    assert (found.domain, found.loose) == (domain, loose)


def test_control_flow_has_blocks_and_no_hidden_parameters() -> None:
    assert known("while_loop").blocks == (("cond", "loop_vars"), ("body", "loop_vars"))
    assert list(known("while_loop").parameters) == ["loop_vars"]
    assert known("while_loop").parameters["loop_vars"].variadic
    assert known("cond").blocks == (("true", None), ("false", None))
    assert list(known("cond").parameters) == ["pred"]


def test_a_signature_reads_as_a_line() -> None:
    line = "concat<ios15>(values: tensor..., axis: const int32, interleave?: const bool = false)"
    assert str(known("concat")) == line


FP32 = write_type(TensorType("fp32", ()))


def one_elu() -> proto.Program:
    """A program of a constant and one `elu`, whose alpha it is."""
    program = proto.Program(version=1)
    function = program.functions["main"]
    function.inputs.add(name="x", type=FP32)
    block = function.block_specializations["CoreML5"]
    const = block.operations.add(type="const")
    const.attributes["val"].type.CopyFrom(FP32)
    const.outputs.add(name="a", type=FP32)
    elu = block.operations.add(type="elu")
    elu.inputs["x"].arguments.add(name="x")
    elu.inputs["alpha"].arguments.add(name="a")
    elu.outputs.add(name="y", type=FP32)
    return program


def second(program: proto.Program) -> proto.Operation:
    return next(iter(program.functions["main"].block_specializations.values())).operations[1]


BREAKAGES: dict[str, tuple[Callable[[proto.Program], object], str]] = {
    "unknown op": (lambda program: setattr(second(program), "type", "elo"), "elo: not in CoreML5"),
    "op of a later opset": (
        lambda program: setattr(second(program), "type", "read_state"),
        "read_state: not in CoreML5",
    ),
    "missing": (lambda program: second(program).inputs.pop("alpha"), "elu: no alpha"),
    "unknown": (lambda program: second(program).inputs["beta"].arguments.add(name="x"), "elu: unknown beta"),
    "no constant": (
        lambda program: setattr(second(program).inputs["alpha"].arguments[0], "name", "x"),
        "elu: alpha is no constant",
    ),
    "data type": (
        lambda program: setattr(program.functions["main"].inputs[0].type.tensorType, "dataType", 23),
        "elu: x is int32",
    ),
    "two bindings": (lambda program: second(program).inputs["x"].arguments.add(name="x"), "elu: x has 2 bindings"),
    "outputs": (lambda program: second(program).outputs.add(name="z", type=FP32), "elu: 2 outputs"),
    "blocks": (lambda program: second(program).blocks.add(), "elu: 1 blocks"),
    "domain": (
        lambda program: setattr(program.functions["main"].inputs[0].type.tensorType, "dataType", 10),
        "elu: T is fp16 and fp32",
    ),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_the_table_reports_a_problem(name: str) -> None:
    change, expected = BREAKAGES[name]
    program = one_elu()
    assert list(faults(program)) == []
    change(program)
    assert expected in list(faults(program))


@pytest.mark.parametrize("dtype", [dtype.name for dtype in DTYPES])
def test_first_opset_that_takes_a_data_type_matches_signatures(dtype: str) -> None:
    def takes(made: Signature) -> bool:
        return any(dtype in parameter.dtypes for parameter in made.parameters.values())

    found = {first_opset(name, takes) for name in all_names()}
    assert since(dtype) == min(filter(None, found), key=opset_place, default="")
