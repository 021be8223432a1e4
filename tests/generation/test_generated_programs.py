"""Generated programs: what must hold of each, what is requested, but that seeds, bytes and hypothesis all make them."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache
from math import prod

import pytest

import miltext
from miltext.checking.programs import findings_in
from miltext.diagnostics import MiltextError
from miltext.evaluation.random_inputs import random_inputs
from miltext.generation.choices import ByteChoices, SeededChoices
from miltext.generation.growing import WEIGHTED
from miltext.generation.options import NOT_GENERATED, OPSET_NAMES, Options
from miltext.generation.programs import generate, program
from miltext.schema.operations import all_names, signature
from miltext.schema.proto import Program
from miltext.schema.types import StateType, TensorType, read_type
from miltext.schema.walk import operations

ALONE = [name for name in all_names() if name not in NOT_GENERATED]


@cache
def made(seed: int) -> Program:
    return generate(seed, Options(ops=(6, 12), functions=2, flexible=seed % 2 == 1, classifiers=True))


def types_of(made: Program) -> Counter[str]:
    return Counter(operation.type for _, operation in operations(made))


def simplest(op_type: str, opset: str) -> Program:
    return program(ByteChoices(b""), Options(operations=[op_type], opsets=[opset]))


def run(made: Program, function: str) -> None:
    evaluator = miltext.Evaluator(made, function, check=False)
    tensors = {name: each for name, each in evaluator.inputs.items() if isinstance(each, TensorType)}
    shapes = {name: [2 if size is None else size for size in each.shape] for name, each in tensors.items()}
    evaluator.run(random_inputs(evaluator.inputs, shapes=shapes), state={}, seed=1)


@pytest.mark.parametrize("op_type", ALONE)
def test_each_operation_can_be_had_alone_in_each_opset(op_type: str) -> None:
    """The simplest choices always lead to it, and give one of it, with no other but casts, lists and inner blocks."""
    for opset in OPSET_NAMES:
        if signature(op_type, opset):
            found = simplest(op_type, opset)
            assert types_of(found)[op_type] >= 1
            assert findings_in(found) == []
            assert set(types_of(found)) - {op_type, "const", "cast", "make_list", "less", "add", "identity"} == set()


@pytest.mark.parametrize("seed", range(40))
def test_a_generated_program_is_right_and_evaluates(seed: int) -> None:
    found = made(seed)
    assert findings_in(found) == []
    for function in found.functions:
        run(found, function)


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_a_generated_program_reads_back(seed: int) -> None:
    found = made(seed)
    assert miltext.parse(miltext.to_text(found)) == found
    assert miltext.parse(miltext.infer_draft(miltext.to_draft(found))) == found


def test_many_kinds_of_operations_appear() -> None:
    assert len(sum((types_of(made(seed)) for seed in range(40)), Counter[str]())) > 120
    assert any(len(made(seed).functions) > 1 for seed in range(40))


def test_states_are_inputs_of_their_own() -> None:
    found = generate(1, Options(operations=["read_state", "write_state", "add"], ops=(9, 9)))
    states = miltext.Evaluator(found).states
    assert states
    assert all(isinstance(each, StateType) for each in states.values())
    assert {"read_state", "write_state"} <= {*types_of(found)}
    run(found, "main")


@pytest.mark.parametrize("seed", range(10))
def test_states_are_of_fp16_as_core_ml_takes_no_others(seed: int) -> None:
    found = generate(seed, Options(operations=["read_state", "write_state", "cast"], ops=(6, 6)))
    inputs = [read_type(each.type) for function in found.functions.values() for each in function.inputs]
    held = [each.wrapped for each in inputs if isinstance(each, StateType)]
    assert held
    assert {each.dtype for each in held if isinstance(each, TensorType)} == {"fp16"}
    with pytest.raises(MiltextError, match="MIL483"):
        generate(seed, Options(operations=["read_state"], dtypes=["fp32"]))


# ---- what is asked for


def test_a_seed_always_makes_the_same_program() -> None:
    """The same bytes on every system: a new way to generate makes others, and a new line in CHANGELOG.md."""
    wire = generate(7, Options()).SerializeToString(deterministic=True)
    assert wire == generate(7).SerializeToString(deterministic=True)
    assert wire != generate(8).SerializeToString(deterministic=True)
    assert hashlib.sha256(wire).hexdigest()[:16] == "d3f5d15f35959450"


@pytest.mark.parametrize("opset", OPSET_NAMES)
def test_an_opset_and_a_number_of_operations(opset: str) -> None:
    found = generate(3, Options(opsets=[opset], ops=(40, 40), states=False))
    [function] = found.functions.values()
    assert function.opset == f"CoreML{int(opset[3:]) - 10}"
    assert len(function.block_specializations[function.opset].operations) >= 40


def test_only_these_operations_and_data_types() -> None:
    found = generate(1, Options(operations=["conv", "relu"], dtypes=["fp16"], opsets=["ios17"], ops=(12, 12)))
    assert set(types_of(found)) <= {"conv", "relu", "const"}
    outputs = [output.type for _, each in operations(found) for output in each.outputs if each.type != "const"]
    assert {each.tensorType.dataType for each in outputs} == {10}


def test_no_more_inputs_and_outputs_than_requested() -> None:
    for seed in range(5):
        function = generate(seed, Options(inputs=1, outputs=1)).functions["main"]
        assert len(function.inputs) - sum(each.type.HasField("stateType") for each in function.inputs) <= 1
        assert len(function.block_specializations[function.opset].outputs) == 1


@pytest.mark.parametrize("only", [None, ["conv"], ["conv_transpose", "relu"], ["linear"]])
def test_weights_are_constants_of_their_own(only: list[str] | None) -> None:
    """Each program has one, of the least size or a larger one, of what weight files of its opset hold."""
    for seed in range(12):
        found = generate(seed, Options(operations=only, weights=256, ops=(2, 2)))
        held = {each.outputs[0].name: read_type(each.outputs[0].type) for _, each in operations(found) if each.outputs}
        weights = [
            held[binding.name]
            for _, each in operations(found)
            if each.type in WEIGHTED
            for binding in each.inputs["weight"].arguments
        ]
        assert weights
        for weight in weights:
            assert isinstance(weight, TensorType)
            assert prod(size or 0 for size in weight.shape) >= 256
            assert weight.dtype != "int32" or found.functions["main"].opset in ("CoreML8", "CoreML9")
        assert findings_in(found) == []


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        ({"operations": ["relux"]}, "MIL482", "there is no operation `relux`; did you mean `relu`?"),
        ({"operations": []}, "MIL482", "the list of allowed operations is empty, but a program needs one"),
        ({"opsets": ["ios12"]}, "MIL482", "there is no opset `ios12`"),
        ({"operations": "conv"}, "MIL482", "`operations` must be a list of names, not a string"),
        ({"operations": ["custom_layer"]}, "MIL482", "`custom_layer` is not generated"),
        ({"dtypes": ["fp64"]}, "MIL482", "no operation computes with `fp64` in ios15 or ios16"),
        ({"dtypes": ["string"]}, "MIL482", "no operation computes with `string`"),
        ({"dtypes": ["uint1", "bf16"]}, "MIL482", "no operation computes with `uint1` or `bf16`"),
        ({"dtypes": ["int16"], "opsets": ["ios15"]}, "MIL482", "no operation computes with `int16` in ios15"),
        ({"operations": ["read_state"], "states": False}, "MIL482", "`read_state` is requested, but `states` is false"),
        ({"operations": ["constexpr_cast"], "compressed": False}, "MIL482", "but `compressed` is false"),
        ({"operations": ["cond", "add"], "control_flow": False}, "MIL482", "but `control_flow` is false"),
        ({"weights": 99_999_999}, "MIL482", "`weights` is 99999999, and cannot be more than 4194304"),
        ({"weights": -3}, "MIL482", "`weights` is -3"),
        ({"opsets": []}, "MIL482", "the list of allowed opsets is empty"),
        ({"dtypes": ["float"]}, "MIL482", "there is no data type `float`"),
        ({"operations": ["read_state"], "opsets": ["ios15"]}, "MIL482", "ios15 does not have `read_state`"),
        ({"ops": (0, 3)}, "MIL482", "a program has from 1 operation on, and not 0 to 3"),
        ({"ops": (4, 3)}, "MIL482", "not 4 to 3"),
        ({"inputs": -1}, "MIL482", "`inputs` is -1, and cannot be less than 0"),
        ({"outputs": 0}, "MIL482", "`outputs` is 0, and cannot be less than 1"),
        ({"functions": 0}, "MIL482", "`functions` is 0"),
        ({"operations": ["sin"], "dtypes": ["int32"]}, "MIL482", "none of these operations computes with `int32`"),
        ({"operations": ["conv"], "dtypes": ["int32"]}, "MIL483", "1 operation cannot be made of these"),
    ],
)
def test_an_impossible_choice_is_refused(asked: dict[str, object], code: str, message: str) -> None:
    with pytest.raises(MiltextError) as refused:
        generate(0, Options(**asked))  # type: ignore[arg-type]
    assert refused.value.diagnostics[0].code == code
    assert message in refused.value.diagnostics[0].message


def test_a_seed_is_not_negative() -> None:
    """Python's generator makes of -7 what it makes of 7."""
    with pytest.raises(MiltextError, match="the seed is -7"):
        generate(-7)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "int32", "bool", "int8", "uint16"])
def test_values_are_of_the_data_types_requested(dtype: str) -> None:
    """But for inputs that are cast, and what says how to compute."""
    for seed in range(4):
        found = generate(seed, Options(dtypes=[dtype], opsets=["ios18"], ops=(8, 8), control_flow=False))
        for _, each in operations(found):
            if each.type not in ("const", "cast"):
                made = [read_type(output.type) for output in each.outputs]
                assert {dtype} >= {one.dtype for one in made if isinstance(one, TensorType)}, each


def test_the_opset_has_the_data_types() -> None:
    for seed in range(3):
        assert generate(seed, Options(dtypes=["int16"], ops=(1, 2))).functions["main"].opset != "CoreML5"


@pytest.mark.parametrize("count", [1, 3])
def test_a_classifier_counts_among_the_operations(count: int) -> None:
    found = generate(2, Options(operations=["classify"], ops=(count, count)))
    assert types_of(found)["classify"] == count


def test_a_classifier_of_other_data_types_is_refused() -> None:
    with pytest.raises(MiltextError, match="none of these operations computes with `fp16`"):
        generate(0, Options(operations=["classify"], dtypes=["fp16"]))


def test_branches_compute_and_give_several_outputs() -> None:
    found = [generate(seed, Options(operations=["cond", "relu", "add"], ops=(4, 6))) for seed in range(12)]
    branches = [each for made in found for _, each in operations(made) if each.type == "cond"]
    assert {len(each.outputs) for each in branches} == {1, 2}
    ends = {one.type for each in branches for one in each.blocks[1].operations}
    assert ends & {"relu", "add", "identity"}


def test_loops_carry_several_tensors() -> None:
    found = [generate(seed, Options(operations=["while_loop", "relu"], ops=(2, 4))) for seed in range(8)]
    loops = [each for made in found for _, each in operations(made) if each.type == "while_loop"]
    assert {len(each.outputs) for each in loops} == {2, 3}


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint16"])
def test_the_simplest_choices_are_redrawn_if_they_fail(dtype: str) -> None:
    assert findings_in(program(ByteChoices(b""), Options(dtypes=[dtype]))) == []


# ---- sources of choices


@pytest.mark.parametrize("data", [b"", b"\0" * 9, bytes(range(256)), b"\xff" * 400])
def test_any_bytes_make_a_program(data: bytes) -> None:
    assert findings_in(program(ByteChoices(data), Options(functions=2))) == []


def test_a_seed_draws_every_number_of_a_range() -> None:
    choices = SeededChoices(1)
    assert {choices.integer(-2, 3) for _ in range(200)} == set(range(-2, 4))
    assert choices.shuffled([1, 2, 3]) != choices.shuffled([1, 2, 3]) or choices.shuffled("ab")
