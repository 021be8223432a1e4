"""Unmeasured facts about the devices of operations, for the page of known facts."""

from __future__ import annotations

from typing import NamedTuple


class UnknownPlacement(NamedTuple):
    """An unmeasured fact about placements, and miltext's answer in its place."""

    what: str
    instead: str


UNKNOWN_PLACEMENTS = (
    UnknownPlacement(
        "other chips and systems under Core ML; Apple's compiler took the same models for M4 and M6, apart from topk",
        "there are no profiles of others",
    ),
    UnknownPlacement(
        "parameters that no measured operation had, such as the bias of a convolution; other data types; "
        "one constant argument of an addition",
        "the answer is unknown",
    ),
    UnknownPlacement("kernels of a convolution that are neither square nor a line", "the answer is unknown"),
    UnknownPlacement(
        "numbers that were not measured together: a dilation of 2 apart from 3x3 kernels, strides with other kernels "
        "than of their own size, groups apart from 3x3 kernels; more than 64 channels of a convolution in or out",
        "the answer is unknown",
    ),
    UnknownPlacement(
        "ranks, axes and permutations that no measured operation of the type had; tensors without elements, scalars, "
        "and tensors of more than 4,194,304 elements",
        "the answer is unknown",
    ),
    UnknownPlacement("a max_pool 32 columns wide, which Apple's message allows", "the answer is unknown"),
    UnknownPlacement(
        "compressed weights, states, sizes that are open, and operations with blocks", "the answer is unknown"
    ),
    UnknownPlacement("the GPU: whether it takes an operation, and its estimates", "profiles do not cover it"),
    UnknownPlacement(
        "estimates of convolutions, products of matrices, add, sub, mul, concat, gather, gelu, transpose and others, "
        "which come from unpublished decision trees",
        "no choice is predicted for a function with any of them",
    ),
    UnknownPlacement(
        "limits of the Neural Engine's compiler for a whole segment: depth, or memory",
        "each operation is answered by itself",
    ),
)
