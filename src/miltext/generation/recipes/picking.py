"""Recipes for operations that pick elements by their places: gather, scatter, sorting, boxes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from miltext.generation.calls import Requirements
from miltext.generation.constants import list_constant
from miltext.generation.recipes.table import recipe
from miltext.schema.types import ListType, TensorType

if TYPE_CHECKING:
    from miltext.generation.calls import Call

MODES = ("update", "add", "sub", "mul", "max", "min")
"""The modes of scatter, except division, which integers do not have by 0."""


def places(call: Call, size: int, shape: tuple[int, ...], name: str = "indices") -> None:
    """Generate places along a dimension, as a constant."""
    call.number(name, *(call.choices.integer(0, size - 1) for _ in range(prod(shape))), shape=shape)


def axis_of(call: Call, shape: tuple[int, ...]) -> int:
    """Choose an axis, and give it if it is not the first."""
    axis = call.choices.integer(0, len(shape) - 1)
    if axis:
        call.number("axis", axis)
    call.leave_out("axis")
    return axis


@recipe("gather")
def gather(call: Call) -> None:
    """Generate places along an axis, or for each of the first dimension along the second."""
    call.ranked("x")
    shape = call.shape("x")
    if call.has("batch_dims") and len(shape) > 1 and call.choices.rarely():
        places(call, shape[1], (shape[0], call.choices.integer(1, 3)))
        call.number("axis", 1)
        call.number("batch_dims", 1)
        return
    axis = axis_of(call, shape)
    places(call, shape[axis], call.choices.pick([(1,), (3,), (2, 2), ()]))
    call.leave_out("batch_dims")


@recipe("gather_along_axis")
def gather_along_axis(call: Call) -> None:
    """Generate places along an axis, as many as there are others."""
    call.ranked("x")
    shape = call.shape("x")
    axis = axis_of(call, shape)
    places(call, shape[axis], (*shape[:axis], call.choices.integer(1, 3), *shape[axis + 1 :]))


@recipe("gather_nd")
def gather_nd(call: Call) -> None:
    """Generate places in the first dimensions."""
    call.ranked("x")
    shape = call.shape("x")
    if call.has("batch_dims") and len(shape) > 1 and call.choices.rarely():
        places(call, shape[1], (shape[0], 1))
        call.number("batch_dims", 1)
        call.leave_out("validate_indices")
    else:
        _deep_places(call, shape)
    call.leave_out("batch_dims")


def _deep_places(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Generate places of one number or more each, and return the shape of the values there."""
    depth, count = call.choices.integer(1, len(shape)), call.choices.integer(1, 3)
    numbers = [call.choices.integer(0, size - 1) for _ in range(count) for size in shape[:depth]]
    call.number("indices", *numbers, shape=(count, depth))
    if depth < len(shape):  # coremltools 9.0 compares each number with all of the sizes (iOS17/scatter_gather.py)
        call.leave_out("validate_indices")
    return (count, *shape[depth:])


def _scatter_at_axis(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    axis, count = axis_of(call, shape), call.choices.integer(1, 3)
    places(call, shape[axis], (count,))
    return (*shape[:axis], count, *shape[axis + 1 :])


def _scatter_along_axis(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    axis = axis_of(call, shape)
    sizes = (*shape[:axis], call.choices.integer(1, 3), *shape[axis + 1 :])
    places(call, shape[axis], sizes)
    return sizes


UPDATES: dict[str, Callable[[Call, tuple[int, ...]], tuple[int, ...]]] = {
    "scatter": _scatter_at_axis,
    "scatter_along_axis": _scatter_along_axis,
    "scatter_nd": _deep_places,
}
"""A function that gives the places, and returns the shape of the values written there."""


@recipe(*UPDATES)
def scatter(call: Call) -> None:
    """Generate places, and the values to write there."""
    call.ranked("data")
    sizes = UPDATES[call.known.name](call, call.shape("data"))
    call.of_shape("updates", sizes, call.type("data").dtype)
    if call.choices.flag():
        call.number("mode", call.choices.pick(MODES))
    call.leave_out("mode")


@recipe("topk")
def topk(call: Call) -> None:
    """Generate the number of values kept of an axis."""
    call.ranked("x")
    shape = call.shape("x")
    axis = call.choices.integer(0, len(shape) - 1)
    call.number("axis", axis)
    call.number("k", call.choices.integer(1, shape[axis]))
    if call.has("return_indices") and call.choices.rarely():
        call.number("return_indices", False)
        call.leave_out("output_indices_dtype")
    call.leave_out("return_indices")


@recipe("one_hot")
def one_hot(call: Call) -> None:
    """Generate places below the size of the rows."""
    size = call.choices.integer(1, 5)
    places(call, size, tuple(call.choices.integer(1, 3) for _ in range(call.choices.integer(1, 3))))
    call.number("one_hot_vector_size", size)
    if call.choices.flag():
        dtype = call.choices.pick(["int32", "fp32", "fp16", "bool"])
        call.number("on_value", 1, dtype=dtype)
        call.number("off_value", 0, dtype=dtype)
    call.leave_out("on_value", "off_value")


@recipe("non_maximum_suppression")
def non_maximum_suppression(call: Call) -> None:
    """Generate boxes, each with its scores: the boxes come last since ios17 (iOS17/tensor_operation.py)."""
    batch, count, classes = (call.choices.integer(1, 3) for _ in range(3))
    last = call.scope.has("ios17")
    call.of_shape("boxes", (batch, 4, count) if last else (batch, count, 4), fresh=True)
    call.of_shape("scores", (batch, classes, count) if last else (batch, count, classes), fresh=True)
    call.number("iou_threshold", 0.5)
    call.number("max_boxes", call.choices.integer(1, 3))


@recipe("non_zero")
def non_zero(call: Call) -> None:
    """Generate a tensor, where the program may have unknown sizes."""
    call.ranked("x")


@recipe("classify")
def classify(call: Call) -> None:
    """Generate a probability for each of a few classes."""
    call.tensor(
        "probabilities",
        Requirements(where=lambda shape: len(shape) == 1),
        dtype="fp32",
        new=lambda: (call.choices.integer(1, 4),),
    )
    count = call.shape("probabilities")[0]
    dtype = call.choices.pick(["string", "int64"])
    labels = [f"class {place}" if dtype == "string" else place for place in range(count)]
    scalar = TensorType(dtype, ())
    call.give("classes", call.held("classes", list_constant(scalar, labels), ListType(scalar, count)))
