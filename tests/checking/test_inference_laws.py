"""The law of inference: whatever an operation is given, a rule says something, or raises Unknown or InputConflict.

Nothing hides a mistake in a rule, so a rule must not make one: each is held against operands that no operation takes,
one at a time in place of what is right, then several at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
from checking.test_inference_rules import BOXES, EXAMPLES, X, operand, t, types
from hypothesis import given
from hypothesis import strategies as st

from miltext.checking.inference import RULES
from miltext.checking.inference.operands import Arguments, InputConflict, NestedBlock, Operand, Unknown, Value
from miltext.checking.inference.rules import LARGEST_RANK, LARGEST_SIZE, apply
from miltext.checking.inference.values import VALUES, infer_value
from miltext.schema.operations import signature
from miltext.schema.types import ListType, TensorType, Type

SIZES = (0, 1, 2, 3, None, 2**31, 2**63, LARGEST_SIZE)
SHAPES: list[tuple[int | None, ...]] = [
    (),
    *((size,) for size in SIZES),
    *product((0, 1, None, 2**63), repeat=2),
    *(row for rank in range(3, 7) for row in ((2,) * rank, (None,) * rank, (1,) * rank, (2**63,) * rank)),
]
SCALARS: list[Value] = [
    *(-(2**63), -7, -2, -1, 0, 1, 2, 5, 2**31 - 1, 2**63, LARGEST_SIZE),
    *(0.0, -0.5, 0.3, 1.5, 3e38, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")),
    *(True, False, "", "fp32", "same", "custom", "SAME_LOWER", "ab,bc->ac", "->", "a->b", "iiii,->i", "0", "nan"),
]
ROWS: list[tuple[Any, ...]] = [
    *((value,) * length for value in (0, 1, -1, 2**31 - 1, -(2**63), 1.5, True, None, "a") for length in range(7)),
    *((0, None, -1), (-1, -1), (1, "a"), (1, 2.5), (float("nan"),) * 2, (float("inf"),), ((1, 2), (3, 4)), ((),)),
    (1,) * 256,
]


def known(type: Type, value: Value) -> Operand:
    return Operand(type, lambda: value)


WRONG = [
    [],
    [Operand(None)],
    [Operand(None), operand(1)],
    *([Operand(TensorType(dtype, shape))] for dtype in ("fp32", "string") for shape in SHAPES),
    *([Operand(kind)] for kind in (ListType(X, 2), ListType(None, None), ListType(ListType(X, 1), 2**63))),
    *([operand(kind)] * 3 for kind in (X, t("fp32"), t("fp32", None))),
    *([known(t("int32"), value)] for value in SCALARS),
    *([known(t("int32", len(row)), row)] for row in ROWS),
    *([known(t("fp32"), row)] for row in ROWS),
    *([known(None, value)] for value in (1, (1, 2))),
]
"""What a parameter may be bound to: each is wrong for most, and some is right for each."""

OUTPUTS: list[Type] = [None, t("int32"), t("int32", None), t("int32", 1), t("int32", 0), t("fp32", 2)]
BLOCKS = [
    [NestedBlock((), given) for given in row]
    for length in range(4)
    for row in product(((), (X,), (X, None), (t("int32"), t("fp16"), X)), repeat=length)
]

BY_OPSET = ("reshape", "non_maximum_suppression")

Case = tuple[str, dict[str, Sequence[Operand]]]


def right() -> Iterator[Case]:
    """Each operation of which a rule speaks with what it takes."""
    known, values = set(), {"x": (1, 2), "y": (3, 4), "indices": (0, 1), "values": [1, (2, 3)]}
    cases: list[tuple[str, dict[str, Any]]] = [
        *((op_type, inputs) for op_type, inputs, _ in EXAMPLES if op_type in RULES),
        *((op_type, values) for op_type in VALUES),
        ("slice_by_index", {"x": (1, 2, 3), "begin": (0,), "end": (2,)}),
        ("slice_by_size", {"x": (1, 2, 3), "begin": (0,), "size": (2,)}),
        ("while_loop", {"loop_vars": [X, 0]}),
        ("non_maximum_suppression", BOXES),
    ]
    for op_type, inputs in cases:
        known.add(op_type)
        yield op_type, {name: [*map(operand, x)] if isinstance(x, list) else [operand(x)] for name, x in inputs.items()}
    for op_type in sorted(set(RULES) - known):
        yield op_type, {"x": [operand(X)], "y": [operand(X)]}


RIGHT = list(right())


def parameters(op_type: str, *given: str) -> list[str]:
    """What the operation takes in some opset, and what the example gives it."""
    versions = [signature(op_type, opset) for opset in ("ios15", "ios16", "ios17", "ios18")]
    return sorted({*given, *(name for known in versions if known for name in known.parameters)} - {"name"})


def obey(op_type: str, operands: dict[str, Sequence[Operand]], blocks: Sequence[NestedBlock] = ()) -> None:
    """Ask the rules of an operation, which may raise nothing but Unknown and InputConflict."""
    for opset in ("ios15", "ios18") if op_type in BY_OPSET else ("ios18",):
        arguments = Arguments(op_type, operands, opset, blocks)
        with suppress(Unknown, InputConflict):
            RULES[op_type](arguments)
        with suppress(InputConflict):
            for output in apply(arguments) or ():
                hold(output)
        if op_type in VALUES:
            with suppress(Unknown, InputConflict):
                VALUES[op_type](arguments)
            for output in OUTPUTS:
                infer_value(arguments, output)


def hold(output: Type) -> None:
    """A type that a rule says can be written, and takes little room."""
    if isinstance(output, TensorType):
        assert len(output.shape) <= LARGEST_RANK
        assert all(size is None or (type(size) is int and 0 <= size <= LARGEST_SIZE) for size in output.shape)
    elif isinstance(output, ListType):
        hold(output.element)


@pytest.mark.parametrize(("op_type", "inputs"), RIGHT, ids=[f"{nth}-{name}" for nth, (name, _) in enumerate(RIGHT)])
def test_no_operand_is_a_rules_mistake(op_type: str, inputs: dict[str, Sequence[Operand]]) -> None:
    obey(op_type, {})
    obey(op_type, inputs)
    for name in parameters(op_type, *inputs):
        for bound in WRONG:
            obey(op_type, {**inputs, name: bound})


@pytest.mark.parametrize("op_type", sorted(RULES))
def test_no_block_is_a_rules_mistake(op_type: str) -> None:
    loops: list[Sequence[Operand]] = [[], [operand(X)], [operand(X)] * 2, [Operand(None)] * 3]
    for blocks, variables in product(BLOCKS if op_type in ("cond", "while_loop") else BLOCKS[:9], loops):
        obey(op_type, {"loop_vars": variables, "pred": [operand(True)]}, blocks)


numbers = st.sampled_from(SIZES[:4]) | st.integers(-3, 9) | st.integers(-(2**63), LARGEST_SIZE)
shapes = st.lists(st.none() | st.integers(0, 9) | st.integers(0, LARGEST_SIZE), max_size=6).map(tuple)
tensors = st.builds(TensorType, st.sampled_from(["fp32", "fp16", "int32", "bool", "string", "uint4"]), shapes)
scalars = st.sampled_from(SCALARS) | numbers | st.floats()
elements = st.none() | scalars | st.lists(scalars | st.none(), max_size=7).map(tuple)
operands = st.builds(known, tensors | types | st.none(), elements)
bindings = st.sampled_from(WRONG) | st.lists(operands, max_size=3)
blocks = st.lists(st.builds(NestedBlock, st.lists(types, max_size=2), st.lists(types, max_size=3)), max_size=3)


@given(st.sampled_from(RIGHT), st.data(), blocks)
def test_no_operands_are_a_rules_mistake(case: Case, data: st.DataObject, blocks: list[NestedBlock]) -> None:
    op_type, inputs = case
    names = parameters(op_type, *inputs)
    changed = data.draw(st.dictionaries(st.sampled_from(names), bindings, max_size=4)) if names else {}
    obey(op_type, {**inputs, **changed}, blocks)


def test_a_rank_does_not_double_for_ever() -> None:
    """Each gather gives almost twice the dimensions that it is given: sixty of them would fill any memory."""
    ranks, given = [], operand(X)
    for _ in range(60):
        types = apply(Arguments("gather", {"x": [given], "indices": [given]}))
        given = Operand(types[0] if types else None)
        ranks.append(len(given.type.shape) if isinstance(given.type, TensorType) else 0)
    assert ranks[:3] == [5, 9, 17]
    assert max(ranks) <= LARGEST_RANK
    assert ranks[-1] == 0


def test_equal_parts_share_a_type() -> None:
    parts = apply(Arguments("split", {name: [operand(given)] for name, given in SPLIT.items()}))
    assert parts is not None
    assert len(parts) == 10_000
    assert len(set(map(id, parts))) == 1


SPLIT: dict[str, Any] = {"x": t("fp32", 10_000, 8), "num_splits": 10_000, "axis": 0}
