"""The rules of inference, each by example, and the types that they speak of."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.checking.inference import RULES
from miltext.checking.inference.operands import Arguments, InputConflict, NestedBlock, Operand
from miltext.checking.inference.rules import apply
from miltext.schema import proto
from miltext.schema.types import (
    DictionaryType,
    ListType,
    StateType,
    TensorType,
    TupleType,
    Type,
    compatible,
    read_type,
    write_type,
)

# Types and operands in short: `t("fp32", 2, None)` is `tensor<fp32, [2, ?]>`.


def t(dtype: str, *shape: int | None) -> TensorType:
    return TensorType(dtype, shape)


def operand(given: Any) -> Operand:
    """A type as it is; anything else is a constant of the type that coremltools would give it."""
    if given is None or isinstance(given, TensorType | ListType | StateType | DictionaryType | TupleType):
        return Operand(given)
    if isinstance(given, tuple):
        return Operand(TensorType(_dtype(given[0]), (len(given),)), lambda: given)
    return Operand(TensorType(_dtype(given), ()), lambda: given)


def _dtype(value: object) -> str:
    return {bool: "bool", int: "int32", float: "fp32", str: "string"}[type(value)]


def inferred(op_type: str, opset: str | None = None, blocks: Any = (), **inputs: Any) -> Any:
    """The single output type, or the list of them; a list given is a variadic argument."""
    operands = {name: list(map(operand, x)) if isinstance(x, list) else [operand(x)] for name, x in inputs.items()}
    types = apply(Arguments(op_type, operands, opset, [NestedBlock(*block) for block in blocks]))
    return types if types is None or len(types) != 1 else types[0]


X, IMAGE, HALF = t("fp32", 2, 3, 4), t("fp32", 1, 4, 8, 7), t("fp16", None, 4)
BOXES = {"boxes": t("fp16", 2, 9, 4), "scores": t("fp16", 2, 9, 5), "max_boxes": 7}
BACK = {"initial_h": t("fp32", None, 8), "weight_ih_back": t("fp32", 16, 3), "weight_hh_back": t("fp32", 16, 4)}
STEPS = {"x": t("fp32", 5, None, 3), "initial_h": t("fp32", None, 4), "weight_ih": t("fp32", 16, 3)}
TABLE = {"indices": t("uint4", 6, 8), "lut": t("fp16", 1, 1, 16, 2)}
FULL = (0, 0, 0)

EXAMPLES: list[tuple[str, dict[str, Any], Any]] = [
    ("relu", {"x": HALF}, HALF),
    ("identity", {"x": ListType(X, None)}, ListType(X, None)),
    ("clip", {"x": HALF, "alpha": -1.0, "beta": 1.0}, HALF),
    ("clip", {"x": HALF, "alpha": t("fp16"), "beta": 1.0}, HALF),
    ("prelu", {"x": X, "alpha": (1.0, 1.0, 1.0)}, X),
    ("prelu", {"x": IMAGE, "alpha": (1.0, 2.0, 3.0)}, IMAGE),
    ("add", {"x": X, "y": t("fp32", 3, 1)}, X),
    ("add", {"x": t("fp32", None, 1), "y": t("fp32", 5)}, t("fp32", None, 5)),
    ("add", {"x": t("fp32", None), "y": t("fp32", 1)}, t("fp32", None)),
    ("add", {"x": X, "y": t("fp16", 4)}, None),
    ("greater", {"x": X, "y": 0.0}, t("bool", 2, 3, 4)),
    ("select", {"cond": t("bool", 3, 4), "a": X, "b": 0.0}, X),
    ("select", {"cond": X, "a": 1.0, "b": 0.0}, None),
    ("cast", {"x": HALF, "dtype": "int32"}, t("int32", None, 4)),
    ("cast", {"x": HALF, "dtype": t("string")}, None),
    ("reduce_sum", {"x": X}, t("fp32")),
    ("reduce_max", {"x": X, "axes": (-1, 0)}, t("fp32", 3)),
    ("reduce_mean", {"x": X, "axes": (1,), "keep_dims": True}, t("fp32", 2, 1, 4)),
    ("reduce_argmax", {"x": X}, t("int32", 2, 3)),
    ("reduce_argmin", {"x": X, "axis": 0, "keep_dims": True, "output_dtype": "uint16"}, t("uint16", 1, 3, 4)),
    ("reduce_argmin", {"x": X, "output_dtype": "UINT16"}, t("uint16", 2, 3)),
    ("reshape", {"x": X, "shape": (4, -1)}, t("fp32", 4, 6)),
    ("reshape", {"x": HALF, "shape": (2, -1)}, t("fp16", 2, None)),
    ("reshape", {"x": X, "shape": t("int32", 2)}, t("fp32", None, None)),
    ("reshape", {"x": X, "shape": t("int32", None)}, None),
    ("reshape", {"x": X, "shape": (0, -1)}, t("fp32", 3, 8)),
    (
        "reshape_like",
        {"x": t("fp32", 8), "ref_tensors": [X, X], "begins": [0, 2], "ends": [1, 0], "end_masks": [False, True]},
        t("fp32", 2, 4),
    ),
    ("transpose", {"x": X, "perm": (-1, 0, 1)}, t("fp32", 4, 2, 3)),
    ("transpose", {"x": X, "perm": (0, 0, 1)}, None),
    ("expand_dims", {"x": HALF, "axes": (0, -1)}, t("fp16", 1, None, 4, 1)),
    ("squeeze", {"x": t("fp32", 1, 2, 1), "axes": (-1,)}, t("fp32", 1, 2)),
    ("squeeze", {"x": t("fp32", 1, 2, 1)}, t("fp32", 2)),
    ("squeeze", {"x": t("fp32", 1, None)}, None),
    ("flatten2d", {"x": X}, t("fp32", 2, 12)),
    ("flatten2d", {"x": X, "axis": -1}, t("fp32", 6, 4)),
    ("shape", {"x": HALF}, t("int32", 2)),
    ("tile", {"x": HALF, "reps": (2, 3)}, t("fp16", None, 12)),
    ("concat", {"values": [X, t("fp32", 2, None, 4)], "axis": 0}, t("fp32", 4, 3, 4)),
    ("concat", {"values": [X, t("fp32", 2, None, 4)], "axis": -2}, t("fp32", 2, None, 4)),
    ("concat", {"values": [1, 2], "axis": 0}, t("int32", 2)),
    ("stack", {"values": [X, X], "axis": -1}, t("fp32", 2, 3, 4, 2)),
    ("split", {"x": X, "num_splits": 2, "axis": 2}, [t("fp32", 2, 3, 2)] * 2),
    ("split", {"x": X, "split_sizes": (1, 2), "axis": 1}, [t("fp32", 2, 1, 4), t("fp32", 2, 2, 4)]),
    ("split", {"x": X, "num_splits": 2**31 - 1, "axis": 2}, None),
    ("pad", {"x": X, "pad": (1, 0, 2, 2)}, t("fp32", 2, 4, 8)),
    ("pad", {"x": X, "pad": t("int32", 2)}, t("fp32", 2, 3, None)),
    ("slice_by_index", {"x": X, "begin": (0, 1, -2), "end": (2, 3, 4)}, X._replace(shape=(2, 2, 2))),
    (
        "slice_by_index",
        {"x": X, "begin": FULL, "end": FULL, "end_mask": (True,) * 3, "squeeze_mask": (True, False, False)},
        t("fp32", 3, 4),
    ),
    ("slice_by_index", {"x": X, "begin": (0, 0, 3), "end": (2, 3, 0), "stride": (1, 2, -1)}, t("fp32", 2, 2, 3)),
    ("slice_by_index", {"x": HALF, "begin": (1, -3), "end": (2, -1)}, t("fp16", 1, 2)),
    ("slice_by_index", {"x": HALF, "begin": t("int32", 2), "end": (2, 2)}, t("fp16", None, None)),
    ("slice_by_size", {"x": X, "begin": (1, 0, 2), "size": (1, 2, -1)}, t("fp32", 1, 2, 2)),
    ("slice_by_size", {"x": X, "begin": t("int32", 3), "size": (1, 2, -1)}, t("fp32", 1, 2, None)),
    ("slice_update", {"x": X, "update": t("fp32", 1, 1, 1)}, X),
    ("gather", {"x": X, "indices": t("int32", 5, 6), "axis": 1}, t("fp32", 2, 5, 6, 4)),
    ("gather", {"x": X, "indices": t("int32", 2, 6), "axis": -1, "batch_dims": 1}, t("fp32", 2, 3, 6)),
    ("gather_along_axis", {"x": X, "indices": t("int32", 2, 9, 4), "axis": 1}, t("fp32", 2, 9, 4)),
    ("gather_nd", {"x": X, "indices": t("int32", None, 2)}, t("fp32", None, 4)),
    ("gather_nd", {"x": X, "indices": t("int32", 5, None)}, None),
    ("scatter", {"data": X, "indices": (1, 0), "updates": X, "axis": 0}, X),
    ("scatter", {"data": X, "indices": None, "updates": X}, X),
    ("scatter_along_axis", {"data": X, "indices": t("int32", 2, 1, 4), "updates": t("fp32", 2, 1, 4), "axis": 1}, X),
    ("reverse_sequence", {"x": X, "lengths": (1, 3), "seq_axis": 1, "batch_axis": 0}, X),
    ("scatter_nd", {"data": HALF, "indices": t("int32", 1, 1), "updates": HALF}, HALF),
    ("topk", {"x": X, "k": 2}, [t("fp32", 2, 3, 2), t("int32", 2, 3, 2)]),
    ("topk", {"x": X, "k": t("int32"), "axis": 0, "return_indices": False}, t("fp32", None, 3, 4)),
    ("argsort", {"x": HALF}, t("int32", None, 4)),
    ("non_zero", {"x": X}, t("int32", None, 3)),
    ("one_hot", {"indices": t("int32", 5), "one_hot_vector_size": 3, "axis": 0, "on_value": 1.0}, t("fp32", 3, 5)),
    ("space_to_depth", {"x": t("fp32", 1, 2, 4, None), "block_size": 2}, t("fp32", 1, 8, 2, None)),
    ("pixel_shuffle", {"x": t("fp32", 1, 8, 4, 3), "upscale_factor": 2}, t("fp32", 1, 2, 8, 6)),
    (
        "space_to_batch",
        {"x": t("fp32", 1, 2, 4, 6), "block_shape": (2, 2), "paddings": (0, 0, 1, 1)},
        t("fp32", 4, 2, 2, 4),
    ),
    (
        "batch_to_space",
        {"x": t("fp32", 4, 2, 2, 4), "block_shape": (2, 2), "crops": (0, 0, 1, 1)},
        t("fp32", 1, 2, 4, 6),
    ),
    ("sliding_windows", {"x": X, "axis": -1, "size": 2, "stride": 2}, t("fp32", 2, 3, 2, 2)),
    ("crop", {"x": IMAGE, "crop_height": (1, 2), "crop_width": (0, 1)}, t("fp32", 1, 4, 5, 6)),
    ("conv", {"x": IMAGE, "weight": t("fp32", 5, 4, 3, 3)}, t("fp32", 1, 5, 6, 5)),
    (
        "conv",
        {"x": IMAGE, "weight": t("fp32", 5, 4, 3, 3), "pad_type": "same", "strides": (2, 2)},
        t("fp32", 1, 5, 4, 4),
    ),
    (
        "conv",
        {
            "x": IMAGE,
            "weight": t("fp32", 4, 1, 3, 3),
            "groups": 4,
            "dilations": (2, 3),
            "pad_type": "custom",
            "pad": (1, 1, 0, 2),
        },
        t("fp32", 1, 4, 6, 3),
    ),
    (
        "conv_transpose",
        {"x": IMAGE, "weight": t("fp32", 4, 2, 3, 3), "strides": (2, 2), "groups": 2},
        t("fp32", 1, 4, 17, 15),
    ),
    (
        "conv_transpose",
        {"x": IMAGE, "weight": t("fp32", 4, 2, 3, 3), "output_shape": (1, 2, 9, 9)},
        t("fp32", 1, 2, 9, 9),
    ),
    (
        "max_pool",
        {"x": IMAGE, "kernel_sizes": (3, 3), "strides": (2, 2), "pad_type": "valid", "ceil_mode": True},
        t("fp32", 1, 4, 4, 3),
    ),
    ("avg_pool", {"x": IMAGE, "kernel_sizes": (3, 3), "pad_type": "custom", "pad": (1, 1, 1, 1)}, IMAGE),
    ("linear", {"x": HALF, "weight": t("fp16", 7, 4)}, t("fp16", None, 7)),
    ("matmul", {"x": X, "y": t("fp32", 5, 4), "transpose_y": True}, t("fp32", 2, 3, 5)),
    ("matmul", {"x": t("fp32", 4), "y": t("fp32", 4, 5)}, t("fp32", 5)),
    ("matmul", {"x": t("fp32", 4), "y": t("fp32", 4)}, t("fp32")),
    ("matmul", {"x": X, "y": t("fp32", 4)}, t("fp32", 2, 3)),
    ("matmul", {"x": t("fp32", 4), "y": t("fp32", 7, 1, 4, 5)}, t("fp32", None, 1, 5)),
    (
        "einsum",
        {"values": [t("fp32", 2, 3, 4, 5), t("fp32", 2, 5, 4, 6)], "equation": "nchw,nwhu->nchu"},
        t("fp32", 2, 3, 4, 6),
    ),
    ("scaled_dot_product_attention", {"query": X, "key": X, "value": t("fp32", 2, 3, 9)}, t("fp32", 2, 3, 9)),
    ("gru", {**STEPS, "weight_hh": t("fp32", 12, 4)}, [t("fp32", 1, None, 4), t("fp32", None, 4)]),
    (
        "lstm",
        {**STEPS, **BACK, "weight_hh": t("fp32", 16, 4), "direction": "bidirectional", "output_sequence": True},
        [t("fp32", 5, None, 8), t("fp32", None, 8), t("fp32", None, 8)],
    ),
    ("layer_norm", {"x": X, "axes": (1,)}, X),
    ("const", {"val": X}, X),
    ("fill", {"shape": (2, 3)}, t("fp32", 2, 3)),
    ("fill", {"shape": t("int32", 2), "value": 1}, t("int32", None, None)),
    ("fill_like", {"ref_tensor": HALF, "value": True}, t("bool", None, 4)),
    ("random_uniform", {"shape": (2,), "low": t("fp16")}, t("fp16", 2)),
    ("random_categorical", {"x": X, "size": 9}, t("fp32", 2, 3, 9)),
    ("range_1d", {"start": 0, "end": 7, "step": 2}, t("int32", 4)),
    ("range_1d", {"start": 0.0, "end": 0.3, "step": 0.1}, t("fp32", None)),
    ("range_1d", {"start": 0, "end": t("int32"), "step": 2}, t("int32", None)),
    ("quantize", {"input": X, "scale": 0.5, "output_dtype": "int8"}, t("int8", 2, 3, 4)),
    ("dequantize", {"input": t("int8", None), "scale": 0.5}, t("fp32", None)),
    ("constexpr_affine_dequantize", {"quantized_data": t("uint8", 4, 5), "scale": t("fp16")}, t("fp16", 4, 5)),
    ("constexpr_blockwise_shift_scale", {"data": t("int4", 4, 8), "scale": t("fp16", 4, 2)}, t("fp16", 4, 8)),
    ("constexpr_cast", {"source_val": t("fp16", 3), "output_dtype": "fp32"}, t("fp32", 3)),
    ("constexpr_lut_to_dense", {"indices": t("uint8", 5), "lut": t("fp16", 4), "shape": (4, 5)}, t("fp16", 4, 5)),
    ("constexpr_lut_to_dense", {**TABLE, "vector_axis": 0}, t("fp16", 12, 8)),
    ("constexpr_sparse_to_dense", {"nonzero_data": t("int8", 5), "mask": t("uint1", 3, 3)}, t("int8", 3, 3)),
    (
        "constexpr_lut_to_sparse",
        {
            "indices_mask": t("uint1", 3, 4),
            "indices_nonzero_data": t("uint2", 5),
            "lut": t("fp16", 1, 1, 4, 2),
            "vector_axis": 1,
        },
        [t("uint1", 3, 8), t("fp16", 10)],
    ),
    (
        "constexpr_sparse_blockwise_shift_scale",
        {"data_mask": t("uint1", 3, 4), "nonzero_data": t("int8", 5), "scale": t("fp16", 3, 1)},
        [t("uint1", 3, 4), t("fp16", 5)],
    ),
    ("upsample_bilinear", {"x": IMAGE, "scale_factor_height": 1.5}, t("fp32", 1, 4, 12, 7)),
    ("upsample_bilinear", {"x": t("fp32", 1, 4, 64, 1), "scale_factor_height": 32.0001 / 64}, t("fp32", 1, 4, 32, 1)),
    ("upsample_nearest_neighbor", {"x": IMAGE, "scale_factor_width": 2.9999999}, t("fp32", 1, 4, 8, None)),
    ("resize_bilinear", {"x": IMAGE, "target_size_height": 3}, t("fp32", 1, 4, 3, 1)),
    ("resize", {"x": IMAGE, "shape": (9, 0, 5), "resized_dims": 2}, t("fp32", 1, 4, 8, 5)),
    ("crop_resize", {"x": IMAGE, "roi": t("fp32", 6, 1, 4, 1, 1), "target_height": 2}, t("fp32", 6, 1, 4, 2, 1)),
    (
        "crop_resize",
        {"x": IMAGE, "boxes": t("fp32", 6, 4), "box_indices": (0,) * 6, "target_height": 2},
        t("fp32", 6, 4, 2, 1),
    ),
    ("affine", {"x": IMAGE, "output_height": 2, "output_width": 3}, t("fp32", 1, 4, 2, 3)),
    ("resample", {"x": IMAGE, "coordinates": t("fp32", 1, 5, None, 2)}, t("fp32", 1, 4, 5, None)),
    ("make_list", {"elem_shape": [2, "s0"], "dtype": "int32"}, ListType(t("int32", 2, None), None)),
    ("list_write", {"ls": ListType(X, 2), "index": 0, "value": X}, ListType(X, None)),
    (
        "list_scatter",
        {"ls": ListType(X, 2), "indices": (0, 1), "value": t("fp32", 2, 2, 3, 4)},
        ListType(X, None),
    ),
    ("list_read", {"ls": ListType(X, 2), "index": 0}, X),
    ("list_gather", {"ls": ListType(X, 2), "indices": (0, 1)}, t("fp32", 2, 2, 3, 4)),
    ("list_length", {"ls": ListType(X, 2)}, t("int32")),
    ("read_state", {"input": StateType(t("fp16", 2, 3, 4))}, t("fp16", 2, 3, 4)),
    ("write_state", {"input": StateType(t("fp16", 2, 3, 4)), "data": t("fp16", 2, 3, 4)}, []),
    (
        "classify",
        {"probabilities": X, "classes": ListType(t("string"), 24)},
        [t("string"), DictionaryType(t("string"), t("fp64"))],
    ),
    ("custom_layer", {"x": X}, None),
    ("no_such_op", {"x": X}, None),
    ("relu", {}, None),
    ("transpose", {"x": None, "perm": (0,)}, None),
]


@pytest.mark.parametrize(("op_type", "inputs", "expected"), EXAMPLES)
def test_rules_by_example(op_type: str, inputs: dict[str, Any], expected: Any) -> None:
    assert inferred(op_type, **inputs) == expected


def test_rules_that_depend_on_the_opset() -> None:
    with pytest.raises(InputConflict, match="as long as `x` has dimensions, 3, not 2"):
        inferred("reshape", "CoreML6", x=t("fp32", 2, 3, 4), shape=(0, 4))
    assert inferred("reshape", "ios17", x=t("fp32", 2, 3, 4), shape=(6, 0)) == t("fp32", 6, 4)
    assert inferred("reshape", "ios15", x=X, shape=(0, 6, 2)) == t("fp32", 2, 6, 2)
    kept = inferred("non_maximum_suppression", "ios16", **BOXES)
    assert kept == [t("fp16", 2, 7, 4), t("fp16", 2, 7, 5), t("int32", 2, 7), t("int32", 2)]
    assert len(inferred("non_maximum_suppression", "ios17", **BOXES)) == 3


def test_control_flow_outputs_the_results_of_its_blocks() -> None:
    scalar, wide = t("int32"), t("fp32", None, 3, 4)
    assert inferred("cond", blocks=[((), (X,)), ((), (X,))], pred=True) == X
    assert inferred("cond", blocks=[((), (X,)), ((), (t("fp32", 5, 3, 4),))], pred=True) == wide
    assert inferred("cond", blocks=[((), (X,)), ((), (t("fp16", 2, 3, 4),))], pred=True) is None
    loop = inferred("while_loop", blocks=[((), (t("bool"),)), ((), (scalar, X))], loop_vars=[0, wide])
    assert loop == [scalar, wide]
    assert inferred("while_loop", blocks=[((), (t("bool"),)), ((), (X,))], loop_vars=[0, X]) is None


CONFLICTS: list[tuple[str, dict[str, Any], str]] = [
    ("cast", {"x": X, "dtype": "float"}, "'float' is not a data type; did you mean `fp32`?"),
    (
        "write_state",
        {"input": StateType(X), "data": t("fp32")},
        "is fp32, and the state holds tensor<fp32, [2, 3, 4]>",
    ),
    (
        "add",
        {"x": X, "y": t("fp32", 5)},
        "does not broadcast with `x`: shapes [5] and [2, 3, 4] have 5 and 4 at axis -1",
    ),
    (
        "constexpr_lut_to_dense",
        TABLE,
        "has vectors of 2, so `vector_axis` must give their dimension of `indices`",
    ),
    ("matmul", {"x": X, "y": t("fp32", 5, 6)}, "has 5 rows, and `x` has 4 columns: [2, 3, 4] times [5, 6]"),
    (
        "conv",
        {"x": IMAGE, "weight": t("fp32", 5, 3, 1, 1)},
        "must be of shape [5, 4, 1, 1], not [5, 3, 1, 1]: `x` has 4 channels in 1 group",
    ),
    ("reshape", {"x": X, "shape": (5, 5)}, "requests [5, 5], 25 elements, and `x`, [2, 3, 4], has 24"),
    (
        "concat",
        {"values": [X, t("fp32", 2, 5, 4)], "axis": 0},
        "must be of one size at axis 1, as `axis` is 0; number 2 is [2, 5, 4], number 1 is [2, 3, 4]",
    ),
    (
        "concat",
        {"values": [X, t("fp32", 2)], "axis": 0},
        "must be of one rank; number 2 is [2], number 1 is [2, 3, 4]",
    ),
    (
        "concat",
        {"values": [X, t("fp16", 2, 3, 4)], "axis": 0},
        "must be of one data type; number 2 is fp16, number 1 is fp32",
    ),
    (
        "stack",
        {"values": [X, t("fp16", 2, 3, 4)], "axis": 0},
        "must be of one data type; number 2 is fp16, number 1 is fp32",
    ),
]


@pytest.mark.parametrize(("op_type", "inputs", "message"), CONFLICTS)
def test_inputs_that_cannot_go_together(op_type: str, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(InputConflict) as refused:
        inferred(op_type, **inputs)
    assert str(refused.value) == message


# Types.

types = st.recursive(
    st.builds(
        TensorType,
        st.sampled_from(["fp32", "fp16", "int32", "bool", "string", "uint4"]),
        st.lists(st.none() | st.integers(0, 2**40), max_size=5).map(tuple),
    ),
    lambda inner: st.one_of(
        st.builds(ListType, inner, st.none() | st.integers(0, 9)),
        st.builds(TupleType, st.lists(inner, max_size=3).map(tuple)),
        st.builds(DictionaryType, inner, inner),
        st.builds(StateType, inner),
    ),
    max_leaves=4,
)


@given(types)
def test_types_are_written_and_read_back(known: Type) -> None:
    assert read_type(write_type(known)) == known
    assert compatible(known, known)
    assert compatible(known, None)


@given(types, types)
def test_compatibility_has_no_direction(first: Type, second: Type) -> None:
    assert compatible(first, second) == compatible(second, first)


def test_types_of_which_too_little_is_known() -> None:
    assert read_type(proto.ValueType()) is None
    unknown_rank = write_type(X)
    unknown_rank.tensorType.rank = -1
    assert read_type(unknown_rank) is None
    odd = write_type(X)
    odd.tensorType.dataType = 99
    assert read_type(odd) is None
    variadic = write_type(t("fp32", None))
    variadic.tensorType.dimensions[0].unknown.variadic = True
    assert read_type(variadic) is None
    with pytest.raises(ValueError, match="unknown type"):
        write_type(None)


@pytest.mark.parametrize(
    ("declared", "found", "expected"),
    [
        (t("fp32", 2, None), t("fp32", None, 3), True),
        (t("fp32", 2, 3), t("fp32", 2, 4), False),
        (t("fp32", 2), t("fp16", 2), False),
        (t("fp32", 1), t("fp32"), False),
        (ListType(X, 2), ListType(X, None), True),
        (ListType(X, 2), ListType(HALF, 2), False),
        (StateType(X), X, False),
        (StateType(X), StateType(t("fp32", None, 3, 4)), True),
        (TupleType((X, X)), TupleType((X,)), False),
    ],
)
def test_compatible(declared: Type, found: Type, expected: bool) -> None:
    assert compatible(declared, found) is expected


PARAMETERS = sorted({name for _, inputs, _ in EXAMPLES for name in inputs})
values = st.one_of(
    st.integers(-3, 9),
    st.integers(-(2**31), 2**31 - 1),
    st.floats(width=32),
    st.booleans(),
    st.sampled_from(["fp32", "same", "custom", "ab,bc->ac", ""]),
)
anything = st.one_of(
    st.none().map(Operand),
    types.map(Operand),
    st.builds(
        lambda known, value: Operand(known, lambda: value), types, values | st.lists(values, max_size=4).map(tuple)
    ),
)


@given(
    st.sampled_from(sorted(RULES)),
    st.dictionaries(st.sampled_from(PARAMETERS), st.lists(anything, max_size=3), max_size=8),
    st.lists(st.builds(NestedBlock, st.lists(types, max_size=2), st.lists(types, max_size=2)), max_size=2),
)
def test_no_rule_stumbles(op_type: str, operands: dict[str, list[Operand]], blocks: list[NestedBlock]) -> None:
    """Whatever an op binds, a rule says something, says nothing, or says why that cannot be."""
    found: Sequence[Type] | None = None
    with suppress(InputConflict):
        found = apply(Arguments(op_type, operands, None, blocks))
    sizes = [size for output in found or () if isinstance(output, TensorType) for size in output.shape]
    assert all(size is None or (type(size) is int and size >= 0) for size in sizes)
