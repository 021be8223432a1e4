"""Parallel operations whose numbers or sizes move from one to the next: each stays the one of its name."""

from __future__ import annotations

import itertools

import pytest

import miltext
from miltext.descriptions.ranges import read_ranges
from miltext.diffing.structure import ChangedOperation
from miltext.drafting.reshaping import reshape

T = "tensor<fp16, [1, 4]>"


def program(body: str, outputs: str, inputs: str = f"{T} x") -> str:
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{body}\n    }} -> ({outputs});\n}}\n"


def heads(*factors: int, through: str = "") -> str:
    """Return a program of several products of the input, each an output by itself or through an operation."""
    lines = [f"{T} h{place} = mul(x = x, y = fp16({factor}));" for place, factor in enumerate(factors)]
    names = [f"h{place}" for place in range(len(factors))]
    if through:
        lines += [f"{T} o{place} = {through}(x = {name});" for place, name in enumerate(names)]
        names = [f"o{place}" for place in range(len(factors))]
    return program(" ".join(lines), ", ".join(names))


@pytest.mark.parametrize("through", ["", "tanh"])
@pytest.mark.parametrize(
    ("old", "new"), [((2, 3), (3, 5)), ((1, 2, 3), (2, 3, 4)), ((2, 3), (3, 2)), ((1, 2, 3), (3, 1, 2))]
)
def test_numbers_that_move_are_other_numbers(old: tuple[int, ...], new: tuple[int, ...], through: str) -> None:
    difference = miltext.diff(heads(*old, through=through), heads(*new, through=through))
    (block,) = difference.functions[0].blocks
    changes = {each.name: (each.changes[0].old, each.changes[0].new) for each in block.changed}
    assert changes == {f"h{place}": (f"{a}.0", f"{b}.0") for place, (a, b) in enumerate(zip(old, new, strict=True))}
    assert (block.changes, block.renamed, len(block.operations)) == ((), (), len(old))
    assert difference.summary.exchanged == ()


def test_slices_of_other_sizes_pair_by_name() -> None:
    body = (
        f"{T} a = relu(x = x); {T} full = slice_by_index(x = a, begin = tensor<int32, [2]>([0, 0]), "
        "end = tensor<int32, [2]>([1, 4])); tensor<fp16, [1, 2]> half = slice_by_index(x = a, "
        "begin = tensor<int32, [2]>([0, 2]), end = tensor<int32, [2]>([1, 4])); "
        f"{T} y = relu(x = full); tensor<fp16, [1, 2]> z = relu(x = half);"
    )
    old = program(body, "y, z")
    difference = miltext.diff(old, reshape(old, read_ranges({"x": [1, 8]})))
    (block,) = difference.functions[0].blocks
    assert len(block.changed) == len(block.operations)
    assert [each.name for each in block.changed if not each.follows] == ["half"]
    assert (block.changes, block.renamed) == ((), ())


def test_numbers_that_move_along_a_chain_still_follow_it() -> None:
    """Where names count, an operation inserted at the front gives each name to the one before."""
    names = [f"v_{place}" for place in range(5)]

    def chain(factors: list[int]) -> str:
        before = ["x", *names]
        lines = [
            f"{T} {name} = mul(x = {before[place]}, y = fp16({factor}));"
            for place, (name, factor) in enumerate(zip(names, factors, strict=False))
        ]
        return program(" ".join(lines), names[len(factors) - 1])

    difference = miltext.diff(chain([2, 3, 4]), chain([7, 2, 3, 4]))
    (block,) = difference.functions[0].blocks
    assert [each.text for each in block.added] == [f"{T} v_0 = mul(x = x, y = fp16(7.0))"]
    assert [each for each in block.changed if not each.follows] == []


@pytest.mark.parametrize("kind", ["abs", "relu", "square"])
@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("is_output", [False, True])
def test_a_user_of_another_equal_operation_is_the_change(kind: str, length: int, is_output: bool) -> None:
    """The operation that it took before may have no user left, and the first one may change, too."""
    chain = " ".join(f"a{place + 1} = {kind}(a{place});" for place in range(length))
    last = f"a{length}"
    outputs = f"y, {last}" if is_output else "y"
    old = program(f"a0 = mul(x, 2.0); {chain} y = exp({last});", outputs, "fp16 x")
    for taken, factor in itertools.product([length - 1], ("2.0", "3.0")):
        new = program(f"a0 = mul(x, {factor}); {chain} y = exp(a{taken});", outputs, "fp16 x")
        for pair, expected in (((old, new), (last, f"a{taken}")), ((new, old), (f"a{taken}", last))):
            [function] = miltext.diff(*pair).functions
            [block] = function.blocks
            changed = {each.name: each for each in block.operations if isinstance(each, ChangedOperation)}
            assert len(changed) == len(block.operations) == 1 + (factor != "2.0")
            assert [(each.kind, each.old, each.new) for each in changed["y"].changes] == [("argument", *expected)]
