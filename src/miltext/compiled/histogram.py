"""The counts of operations in `metadata.json`: each under the name of its definition, as in `Ios16.reduceMax`.

The name begins with the opset that brought the definition for the function's opset; a name for iOS15 has no such
beginning, and a capital instead. A `const` is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.doubts import Doubt
from miltext.schema.opsets import OPSETS, TEXT_BY_PROTO

if TYPE_CHECKING:
    from miltext.ir.parts import Op

KEY = "mlProgramOperationTypeHistogram"
"""The key of the counts."""

_COLUMNS = [opset.proto for opset in OPSETS]
_NUMBERS = [opset.text.removeprefix("ios") for opset in OPSETS]
_OLDEST, _UNSEEN = _NUMBERS[0], "-"

_SEEN = """
    add                         15 16 17
    cast                        15 16 17
    clip                        15 16 17
    concat                      15 15 17
    constexpr_affine_dequantize -  16 16
    constexpr_lut_to_dense      -  16
    constexpr_sparse_to_dense   -  16
    conv                        15 16 17
    expand_dims                 15 15 17
    floor                       -  -  17
    floor_div                   -  -  17
    gather                      15 -  17
    gather_along_axis           -  -  17
    gelu                        -  16
    greater_equal               -  -  17
    identity                    -  -  15
    layer_norm                  -  -  17
    less                        15 -  17
    linear                      15 -  17
    log                         -  -  17
    logical_and                 -  -  17
    logical_not                 -  -  17
    lstm                        15 16 17
    matmul                      -  16 17
    max_pool                    15 16
    mul                         15 16 17
    pad                         15 15 15
    pow                         15 16 17
    range_1d                    -  -  15
    reduce_argmax               -  16 17
    reduce_max                  -  16
    reduce_sum                  -  -  16
    relu                        15 16 16 18
    reshape                     15 16 17
    reverse                     15
    scatter                     15
    select                      -  -  15
    shape                       -  -  15
    sigmoid                     15 16 16
    silu                        15 -  16
    slice_by_index              15 15 17
    softmax                     15 -  16
    split                       15 -  15
    sqrt                        15 16
    squeeze                     15 15 17
    stack                       -  -  15
    sub                         15 16 17
    tanh                        15
    tile                        -  -  15
    topk                        -  -  17
    transpose                   15 15 17
    upsample_nearest_neighbor   15
    while_loop                  15
"""
"""The opset of an operation's definition in functions of iOS15, 16, 17 and 18, as far as it was seen.

Source: 30 compiled models of public repositories, the tests' corpus among them, which never contradict one another; for
`gelu` github.com/apple/ml-stable-diffusion, `Unet.swift`; for iOS18 and `constexpr_affine_dequantize` in iOS17 the
fixtures of github.com/rebeckerspecialties/mlmodelc-export.
"""

_TABLE = {name: columns for name, *columns in map(str.split, _SEEN.strip().splitlines())}


class Histogram(NamedTuple):
    """The number of operations of each name; `doubts` are about unseen names."""

    counts: dict[str, int]
    doubts: list[Doubt]


def histogram(operations: Iterable[Op], opset: str) -> Histogram:
    """Return the number of operations by name, for a function of an opset."""
    found = Counter(operation.type for operation in operations if operation.type != "const")
    named = {operation: _name(operation, opset) for operation in found}
    counts = {name: found[operation] for operation, (name, _) in named.items()}
    doubts = [_doubt(operation, opset, name) for operation, (name, is_seen) in named.items() if not is_seen]
    return Histogram(counts, doubts)


def _name(operation: str, opset: str) -> tuple[str, bool]:
    """Return the name of an operation in functions of an opset, and whether it was seen."""
    definition, is_seen = _definition(operation, opset)
    first, *rest = operation.split("_")
    words = [word.capitalize() for word in rest]
    if definition == _OLDEST:
        return "".join([first.capitalize(), *words]), is_seen
    return f"Ios{definition}.{''.join([first, *words])}", is_seen


def _definition(operation: str, opset: str) -> tuple[str, bool]:
    """Return the opset of an operation's definition in functions of an opset, and whether it was seen.

    A definition that later functions still have was the newest before. Without evidence, the definition of earlier
    functions is used.
    """
    column = _COLUMNS.index(opset) if opset in _COLUMNS else len(_COLUMNS)
    seen = _TABLE.get(operation, [])
    for definition in seen[column:]:
        if definition != _UNSEEN and _NUMBERS.index(definition) <= column:
            return definition, True
    earlier = [definition for definition in seen[:column] if definition != _UNSEEN]
    return (earlier or [_OLDEST])[-1], False


def _doubt(operation: str, opset: str, name: str) -> Doubt:
    what = f"the name of `{operation}` of {TEXT_BY_PROTO.get(opset, opset)} in the histogram of metadata.json"
    return Doubt(what, (KEY, name))
