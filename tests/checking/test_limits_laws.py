"""The law of limits: what is just inside the facts of a parameter is silent, what is just outside is told there."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest
from checking.test_limits_shapes import FAMILY

from miltext.checking.inference.operands import Operand, Row, Value, count
from miltext.checking.limits import clashes, wrong_shapes
from miltext.schema.operations import Parameter, Signature, signature
from miltext.schema.opsets import OPSETS
from miltext.schema.shape_patterns import NamedSizes, Term, agreed
from miltext.schema.types import Shape, TensorType

SIZE = 3
"""What a size is that nothing says."""


class Call(NamedTuple):
    """Arguments that an op takes, one of each parameter that takes one; the sizes that its patterns share."""

    known: Signature
    operands: dict[str, Operand]
    sizes: NamedSizes

    def told(self, name: str = "", operand: Operand | None = None) -> list[tuple[str | None, str]]:
        """What is said when an operand takes the place of one: the parameter, and the code."""
        operands = {key: [value] for key, value in self.operands.items()} | ({name: [operand]} if operand else {})
        return [(clash.parameter, clash.code) for clash in clashes(self.known, operands, "1.3")]

    def is_single(self, name: str) -> bool:
        """Whether an argument is of one element."""
        return not isinstance(value := self.operands[name].value, tuple) or len(value) == 1


def call(known: Signature) -> Call:
    sizes = NamedSizes()
    singles = [parameter for parameter in known.parameters.values() if not parameter.variadic]
    shapes = {
        parameter.name: shape_of(parameter, sizes) for parameter in sorted(singles, key=lambda one: not one.required)
    }
    operands = {one.name: operand_of(one, shapes[one.name], sizes) for one in singles}
    return Call(known, operands, sizes)


def shape_of(parameter: Parameter, sizes: NamedSizes) -> Shape:
    """A shape of the parameter's first pattern; names that are bound to nothing yet are bound to it."""
    if not parameter.shape:
        return ()
    pattern, run = parameter.shape[0], list[int | None]()
    if pattern.run is not None:
        known, length = sizes.bound(pattern.run.name), sizes.of(pattern.run.length)
        unknown = (SIZE,) * (max(2, pattern.run.least) if length is None else length)
        run.extend(known.value if known and not isinstance(known.value, int) else unknown)
    before, after = ([size(term, sizes) for term in terms] for terms in (pattern.before, pattern.after))
    shape = (*before, *run, *after)
    sizes.bind({parameter.name: ([pattern], shape)})
    return shape


def size(term: Term, sizes: NamedSizes) -> int:
    value = term.value(sizes)
    return value if value is not None else 1 if term.text == "?" else SIZE


def operand_of(parameter: Parameter, shape: Shape, sizes: NamedSizes) -> Operand:
    """An argument of a shape, with the least that the parameter takes or, of axes, each another one."""
    total = count(shape) or 1
    least = (parameter.least.value(sizes) if parameter.least else None) or 0
    row: Row = tuple(range(total)) if parameter.axes else (parameter.words[0] if parameter.words else least,) * total
    return constant(parameter, shape, row if shape else row[0])


def constant(parameter: Parameter, shape: Shape, value: Value) -> Operand:
    return Operand(TensorType(max(parameter.dtypes, default="fp32"), shape), lambda: value)


def with_first(parameter: Parameter, operand: Operand, element: int | str) -> Operand:
    """The argument with another first element."""
    assert isinstance(operand.type, TensorType)
    value = (element, *operand.value[1:]) if isinstance(operand.value, tuple) else element
    return constant(parameter, operand.type.shape, value)


def edges(parameter: Parameter, sizes: NamedSizes) -> Iterator[tuple[int | str, int | str, str]]:
    """Elements that the parameter takes, the nearest that it does not take, and the code of what is said of those."""
    least, most, rank = (
        None if limit is None else limit.value(sizes) for limit in (parameter.least, parameter.most, parameter.axes)
    )
    if parameter.words:
        yield parameter.words[-1], "no such word", "MIL519"
    if rank is not None:
        yield rank - 1, rank, "MIL516"
        yield max(-rank, least or -rank), -rank - 1, "MIL516"
    elif least is not None:
        yield least, least - 1, "MIL518"
    if most is not None:
        yield most, most + 1, "MIL518"


CALLS = [
    call(known)
    for op_type in [*FAMILY.split(), "conv", "reduce_sum"]
    for opset in OPSETS
    if (known := signature(op_type, opset.text)) and known.opset == opset.text
]
each_call = pytest.mark.parametrize("given", CALLS, ids=lambda given: f"{given.known.name}-{given.known.opset}")


@each_call
def test_allowed_values_are_not_reported(given: Call) -> None:
    assert not given.told()
    for name, parameter in given.known.parameters.items():
        for inside, _, _ in edges(parameter, given.sizes):
            if given.is_single(name):  # among more axes, each has to be another one
                assert not given.told(name, with_first(parameter, given.operands[name], inside))


@each_call
def test_a_value_just_outside_is_reported_with_its_parameter(given: Call) -> None:
    for name, parameter in given.known.parameters.items():
        for _, outside, code in edges(parameter, given.sizes):
            wrong = with_first(parameter, given.operands[name], outside)
            assert given.told(name, wrong) == [(name, code)]


@each_call
def test_a_rank_that_no_pattern_has_is_reported_the_parameter(given: Call) -> None:
    for parameter in given.known.parameters.values():
        ranks = [rank for rank in range(9) if not any(pattern.has_rank(rank) for pattern in parameter.shape)]
        for rank in ranks if parameter.shape else ():
            wrong = Operand(TensorType("fp32", (SIZE,) * rank))
            assert (parameter.name, "MIL514") in given.told(parameter.name, wrong)


def test_the_law_reaches_each_kind_of_fact() -> None:
    parameters = [(parameter, given.sizes) for given in CALLS for parameter in given.known.parameters.values()]
    codes = {code for parameter, sizes in parameters for _, _, code in edges(parameter, sizes)}
    assert codes == {"MIL516", "MIL518", "MIL519"}


def shapes_of(operands: dict[str, Operand]) -> dict[str, Shape]:
    return {name: operand.type.shape for name, operand in operands.items() if isinstance(operand.type, TensorType)}


def with_other_shapes(given: Call, random: Random) -> dict[str, Operand]:
    """The arguments of a call, some with other sizes, with open ones, or of another rank."""
    operands = {}
    for name, shape in shapes_of(given.operands).items():
        sizes = list(shape)
        if random.random() < 0.4:
            sizes = [random.choice((size, None, 1, 2, 4, 6)) for size in sizes]
        if random.random() < 0.1:
            sizes = sizes[1:] or [SIZE]
        operands[name] = Operand(TensorType("fp32", tuple(sizes)))
    return operands


@each_call
def test_agreed_sizes_equal_those_of_the_majority(given: Call) -> None:
    random, taken = Random(given.known.name), 0
    for nth in range(60):
        operands = with_other_shapes(given, random) if nth else given.operands
        shapes = {name: (given.known.parameters[name].shape, shape) for name, shape in shapes_of(operands).items()}
        fast, counted = agreed(shapes), NamedSizes()
        wrong = wrong_shapes(given.known, operands, counted, "1.3")
        if fast is not None:
            taken += 1
            assert not wrong
            names = {*fast.bound_sizes, *counted.bound_sizes}
            assert [said(fast, name) for name in names] == [said(counted, name) for name in names]
    assert taken or not is_plain(given)


def said(sizes: NamedSizes, name: str) -> tuple[object, str] | None:
    bound = sizes.bound(name)
    return None if bound is None else (bound.value, bound.parameter)


def is_plain(given: Call) -> bool:
    """Whether no argument of a call has a rank for which there are two patterns."""
    return all(
        sum(pattern.has_rank(len(shape)) for pattern in given.known.parameters[name].shape) < 2
        for name, shape in shapes_of(given.operands).items()
    )
