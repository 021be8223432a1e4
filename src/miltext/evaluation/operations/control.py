"""Rules for constants, control flow, lists, states and classification."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.evaluation.rules import Array, Blocks, Held, Ints, Made, UnfitValues, Value, Values, rule
from miltext.evaluation.values import CARRIERS, FixedList

if TYPE_CHECKING:
    from miltext.evaluation.values import State


@rule("const")
def const(val: Value) -> Value:
    """Return `val`."""
    return val


# ---- blocks


@rule("cond")
def cond(pred: bool, blocks: Blocks) -> Generator[Value, None, tuple[Value, ...]]:
    """Return the outputs of the first block if `pred` is true, else of the second."""
    return tuple((yield from blocks[0 if pred else 1]()))


@rule("while_loop")
def while_loop(loop_vars: Values, blocks: Blocks) -> Generator[Value, None, tuple[Value, ...]]:
    """Return `loop_vars` after the last run of the second block, which runs as long as the first returns true."""
    condition, body = blocks
    while (yield from condition(*loop_vars))[0].item():
        loop_vars = yield from body(*loop_vars)
    return tuple(loop_vars)


# ---- states


@rule("read_state")
def read_state(input: Value) -> Held:
    """Return the value of the state."""
    held: Held = input.held
    return held


@rule("write_state")
def write_state(input: Value, data: Held) -> None:
    """Store `data` in the state."""
    state: State = input
    state.held = data


# ---- lists; writing to one makes another


@rule("make_list")
def make_list(init_length: int, dynamic_length: bool, elem_shape: Values, dtype: str) -> list[Held | None]:
    """Return a list of `init_length` tensors of zeros of the shape `elem_shape`, which grows if `dynamic_length`.

    If `elem_shape` contains a symbolic size, the tensors are None until written.
    """
    if init_length < 0:
        raise UnfitValues(f"`init_length` is {init_length}, and cannot be negative")
    sizes = [size.item() for size in elem_shape]
    named = any(isinstance(size, str) for size in sizes)
    elements = [None if named else np.zeros(sizes, CARRIERS[dtype])] * init_length
    return elements if dynamic_length else FixedList(elements)


@rule("list_length")
def list_length(ls: Value) -> int:
    """Return the number of elements of `ls`."""
    return len(ls)


@rule("list_write")
def list_write(ls: Value, index: int, value: Held) -> list[Held | None]:
    """Return `ls` with `value` at `index`; a list that may grow is extended by zeros up to the index."""
    return _written(ls, (index,), [value], "index")


@rule("list_scatter")
def list_scatter(ls: Value, indices: Ints, value: Held) -> list[Held | None]:
    """Return `ls` with value[i] at indices[i]; a list that may grow is extended by zeros up to the greatest index."""
    if len(indices) != len(value):
        raise UnfitValues(f"`indices` names {len(indices)} places, for {len(value)} elements of `value`")
    return _written(ls, indices, list(value), "indices")


@rule("list_read")
def list_read(ls: Value, index: int) -> Held:
    """Return the element of `ls` at `index`."""
    return _read(ls, index, "index")


@rule("list_gather")
def list_gather(ls: Value, indices: Ints, made: Made) -> Held:
    """Return the elements of `ls` at `indices`, along a new first axis."""
    if not indices:
        declared: Any = made[0]
        return np.zeros([size or 0 for size in declared.shape], CARRIERS[declared.dtype])
    return np.stack([_read(ls, index, "indices") for index in indices])


def _read(ls: list[Held | None], index: int, name: str) -> Held:
    if not 0 <= index < len(ls):
        raise UnfitValues(f"`{name}` is {index}, and `ls` has {len(ls)} elements")
    if (element := ls[index]) is None:
        raise UnfitValues(f"`ls` has nothing at {index}: its elements have no shape before one is written")
    return element


def _written(ls: list[Held | None], indices: Ints, values: list[Held], name: str) -> list[Held | None]:
    least, end = min(indices, default=0), max(indices, default=-1) + 1
    if least < 0:
        raise UnfitValues(f"`{name}` is {least}, and cannot be negative")
    if end > len(ls) and isinstance(ls, FixedList):
        raise UnfitValues(f"`{name}` is {end - 1}, and `ls` has {len(ls)} elements and does not grow")
    written = [*ls, *[None] * (end - len(ls))]
    for index, value in zip(indices, values, strict=True):
        written[index] = value
    zeros = np.zeros_like(values[0]) if values else None
    return type(ls)(zeros if element is None else element for element in written)


# ---- classes


@rule("classify")
def classify(probabilities: Array, classes: Value) -> tuple[Value, dict[Value, float]]:
    """Return the class with the greatest of `probabilities`, and each class with its probability."""
    labels, chances = [label.item() for label in classes], probabilities.reshape(-1)
    if not labels or len(labels) != chances.size:
        raise UnfitValues(f"`classes` names {len(labels)}, for {chances.size} probabilities")
    return labels[int(chances.argmax())], dict(zip(labels, chances.tolist(), strict=True))
