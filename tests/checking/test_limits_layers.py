"""What layers cannot take: convolution, pooling, products, attention, recurrence, images, normalization.

RIGHT is an operation of each, with all of its parameters. WRONG changes some of its arguments: what is said, and where.
STILL_RIGHT are the nearest neighbours of those, which nothing is said of.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import miltext
from miltext.diagnostics import Diagnostic
from miltext.schema.operations import Parameter, signature

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from op_facts import facts_of
from op_facts.layers import FACTS

Arguments = dict[str, Any]


class V:
    """An input of the function."""

    def __init__(self, *shape: int | str, dtype: str = "fp32") -> None:
        self.shape = shape
        self.type = f"tensor<{dtype}, [{', '.join(map(str, shape))}]>" if shape else dtype


class C:
    """A constant of zeros."""

    def __init__(self, *shape: int, dtype: str = "fp32") -> None:
        self.shape = shape
        self.dtype = dtype

    def __str__(self) -> str:
        element = "0.0" if self.dtype.startswith("fp") else "0"
        for size in reversed(self.shape):
            element = f"[{', '.join([element] * size)}]"
        shape = ", ".join(map(str, self.shape))
        return f"tensor<{self.dtype}, [{shape}]>({element})" if self.shape else f"{self.dtype}({element})"


WINDOWS: Arguments = {"strides": "[2, 2]", "pad_type": '"custom"', "pad": "[1, 1, 0, 0]"}
CONV: Arguments = {"x": V(1, 4, 8, 8), "weight": V(6, 2, 3, 3), "bias": V(6), "groups": "2", **WINDOWS}
POOL: Arguments = {"x": V(1, 4, 8, 8), "kernel_sizes": "[2, 3]", **WINDOWS, "ceil_mode": "false"}
CELLS: Arguments = {"x": V(5, 1, 3), "initial_h": V(1, 2), "output_sequence": "true", "activation": '"tanh"'}
GATES: Arguments = {"direction": '"forward"', "recurrent_activation": '"sigmoid"'}
BACK: Arguments = {
    "weight_ih_back": C(8, 3),
    "weight_hh_back": C(8, 2),
    "bias_back": C(8),
    "peephole_back": C(6),
    "initial_h": V(1, 4),
    "initial_c": V(1, 4),
    "direction": '"bidirectional"',
}
TARGET: Arguments = {"target_height": "2", "target_width": "3", "normalized_coordinates": "false"}
CROPS: Arguments = {
    **TARGET,
    "spatial_scale": "1.0",
    "box_coordinate_mode": '"CORNERS_HEIGHT_FIRST"',
    "sampling_mode": '"DEFAULT"',
    "pad_value": "0.0",
}
GRID: Arguments = {
    "sampling_mode": '"bilinear"',
    "padding_mode": '"constant"',
    "padding_value": "0.0",
    "coordinates_mode": '"normalized_minus_one_to_one"',
    "align_corners": "true",
}

RIGHT: dict[str, Arguments] = {
    "conv": {**CONV, "dilations": "[1, 1]"},
    "conv_quantized": {
        "x": V(1, 4, 8, 8),
        "weight": V(6, 2, 3, 3, dtype="uint8"),
        "bias": C(6, dtype="uint8"),
        "groups": "2",
        "strides": "[2, 2]",
        "pad_type": '"custom"',
        "pad": "[1, 1, 0, 0]",
        "dilations": "[1, 1]",
        "quantization_type": '"linear"',
        "nbits": "8",
        "quant_scale": C(6, 1, 1, 1),
        "quant_bias": C(6, 1, 1, 1),
    },
    "conv_transpose": {
        "x": V(1, 4, 8, 8),
        "weight": V(4, 3, 3, 3),
        "bias": V(6),
        "groups": "2",
        **WINDOWS,
        "dilations": "[1, 2]",
        "output_shape": "[1, 6, 15, 17]",
    },
    "max_pool": POOL,
    "avg_pool": {**POOL, "exclude_padding_from_average": "true"},
    "l2_pool": POOL,
    "linear": {"x": V(2, 3, 4), "weight": C(5, 4), "bias": C(5)},
    "matmul": {"x": V(2, 3, 4), "y": V(2, 4, 5), "transpose_x": "false", "transpose_y": "false"},
    "einsum": {"values": [V(1, 2, 3, 4), V(1, 4, 3, 5)], "equation": '"nchw,nwhu->nchu"'},
    "scaled_dot_product_attention": {
        "query": V(2, 8, 5, 4),
        "key": V(2, 8, 7, 4),
        "value": V(2, 8, 7, 6),
        "attn_mask": V(5, 7),
    },
    "rnn": {**CELLS, "weight_ih": C(2, 3), "weight_hh": C(2, 2), "bias": C(2), "direction": '"forward"'},
    "gru": {
        **CELLS,
        **GATES,
        "weight_ih": C(6, 3),
        "weight_hh": C(6, 2),
        "bias": C(6),
        "reset_after": "true",
        "input_bias": C(6),
    },
    "lstm": {
        **CELLS,
        **GATES,
        "weight_ih": C(8, 3),
        "weight_hh": C(8, 2),
        "bias": C(8),
        "peephole": C(6),
        "cell_activation": '"tanh"',
        "clip": "5.0",
        **BACK,
    },
    "upsample_nearest_neighbor": {"x": V(1, 4, 8, 8), "scale_factor_height": "2", "scale_factor_width": "2"},
    "upsample_bilinear": {
        "x": V(1, 4, 8, 8),
        "scale_factor_height": "1.5",
        "scale_factor_width": "2.0",
        "align_corners": "true",
        "half_pixel_centers": "false",
    },
    "resize_nearest_neighbor": {"x": V(1, 4, 8, 8), "target_size_height": "3", "target_size_width": "3"},
    "resize_bilinear": {
        "x": V(1, 4, 8, 8),
        "target_size_height": "3",
        "target_size_width": "3",
        "sampling_mode": '"DEFAULT"',
    },
    "resize": {
        "x": V(1, 4, 8, 8),
        "shape": "[0, 9, 9]",
        "resized_dims": "2",
        "interpolation_mode": '"LINEAR"',
        "sampling_mode": '"DEFAULT"',
    },
    "crop_resize": {"x": V(2, 4, 8, 8), "boxes": V(3, 4), "box_indices": "[0, 1, 1]", **CROPS},
    "affine": {
        "x": V(2, 4, 8, 8),
        "transform_matrix": V(2, 6),
        "output_height": "4",
        "output_width": "4",
        **GRID,
    },
    "resample": {"x": V(2, 4, 8, 8), "coordinates": V(2, 5, 6, 2), **GRID},
    "batch_norm": {
        "x": V(1, 4, 8, 8),
        "mean": C(4),
        "variance": C(4),
        "gamma": C(4),
        "beta": C(4),
        "epsilon": "0.1",
    },
    "instance_norm": {"x": V(1, 4, 8, 8), "gamma": C(4), "beta": C(4), "epsilon": "0.1"},
    "l2_norm": {"x": V(1, 4, 8, 8), "epsilon": "0.1"},
    "layer_norm": {"x": V(2, 3, 4), "axes": "[-1]", "gamma": C(4), "beta": C(4), "epsilon": "0.1"},
    "local_response_norm": {"x": V(1, 4, 8, 8), "size": "3", "alpha": "0.1", "beta": "0.5", "k": "1.0"},
}

WRONG: list[tuple[str, Arguments, str]] = [
    ("conv", {"x": V(2, 3)}, "MIL514 `x` of `conv` takes a tensor of rank 3 to 5, [n, c, *d], not a tensor of shape"),
    ("conv", {"x": V(1, 5, 8, 8)}, "MIL518 `groups` of `conv` is 2, and the 5 channels of `x` do not split into 2"),
    (
        "conv",
        {"x": V(1, 6, 8, 8)},
        "MIL515 `weight` of `conv` must be of shape [6, 3, 3, 3], not [6, 2, 3, 3]: `x` has",
    ),
    ("conv", {"weight": V(5, 2, 3, 3), "bias": None}, "MIL518 `groups` of `conv` is 2, and the 5 channels of `weight`"),
    (
        "conv",
        {"weight": V(6, 2, 3)},
        "MIL515 `weight` of `conv` must be of shape [6, i, ?, ?], not [6, 2, 3]; `x` is of",
    ),
    (
        "conv",
        {"x": V(1, 4, 8)},
        "MIL515 `x` of `conv` must be of shape [n, c, ?, ?], not [1, 4, 8]; `weight` is of shape",
    ),
    ("conv", {"bias": V(5)}, "MIL515 `bias` of `conv` must be of shape [6], not [5]; `weight` is of shape"),
    ("conv", {"bias": V(6, 1)}, "MIL514 `bias` of `conv` takes a vector, not a tensor of shape [6, 1]"),
    ("conv", {"strides": "[0, 1]"}, "MIL518 `strides` of `conv` takes numbers from 1 on, not 0"),
    ("conv", {"strides": "[1, 1, 1]"}, "MIL515 `strides` of `conv` must be of shape [2], not [3]; `x` is of shape"),
    (
        "conv",
        {"strides": "2"},
        "MIL514 `strides` of `conv` takes a vector, not a scalar; write `[2, 2]`",
    ),
    ("conv", {"dilations": "[1, -1]"}, "MIL518 `dilations` of `conv` takes numbers from 1 on, not -1"),
    ("conv", {"dilations": "[2, 1]"}, "MIL507 `weight` of `conv` must be known when the program is compiled, where"),
    ("conv", {"pad": "[1, 1, 1]"}, "MIL515 `pad` of `conv` must be of shape [4], not [3]; `x` is of shape"),
    ("conv", {"pad": "[-1, 0, 0, 0]"}, "MIL518 `pad` of `conv` takes numbers from 0 on, not -1"),
    (
        "conv",
        {"pad_type": None, "pad": "[1, 1, 0, 1]"},
        "MIL518 `pad` of `conv` is [1, 1, 0, 1] and has no effect, as `pad_type` is left out",
    ),
    (
        "conv_transpose",
        {"pad_type": None, "pad": "[1, 0, 0, 0]", "output_shape": None},
        "MIL518 `pad` of `conv_transpo",
    ),
    (
        "upsample_nearest_neighbor",
        {"scale_factor_height": "0.01"},
        "MIL518 `scale_factor_height` of `upsample_nearest_neighbor` reduces the size 8 of `x` to less than 1",
    ),
    ("conv", {"pad_type": '"sam"'}, "MIL519 `pad_type` of `conv` takes `valid`, `custom`, `same` or `same_lower`, not"),
    ("conv", {"groups": "0"}, "MIL518 `groups` of `conv` takes numbers from 1 on, not 0"),
    (
        "conv",
        {"groups": "[2]"},
        "MIL514 `groups` of `conv` takes a scalar, not a tensor of shape [1]; write `2`",
    ),
    ("conv", {"weight": V(6, 2, 3, 9)}, "MIL515 `weight` of `conv` spans 9 at axis 3, where `x` has only 8"),
    ("conv", {"weight": V(6, 2, 11, 3)}, "MIL515 `weight` of `conv` spans 11 at axis 2, where `x` has only 8 and 2 of"),
    (
        "conv",
        {"weight": C(6, 2, 3, 3), "dilations": "[9, 1]"},
        "MIL515 `dilations` of `conv` spans 19 at axis 2, where",
    ),
    ("conv_quantized", {"nbits": "9"}, "MIL518 `nbits` of `conv_quantized` takes numbers from 1 to 8, not 9"),
    ("conv_quantized", {"quantization_type": '"LUT"'}, "MIL519 `quantization_type` of `conv_quantized` takes `linear`"),
    ("conv_quantized", {"x": V(1, 6, 8, 8)}, "MIL515 `weight` of `conv_quantized` must be of shape [6, 3, 3, 3], not"),
    ("conv_transpose", {"bias": V(5)}, "MIL515 `bias` of `conv_transpose` must be of shape [6], not [5]: one number"),
    ("conv_transpose", {"x": V(1, 5, 8, 8)}, "MIL515 `weight` of `conv_transpose` must be of shape [5, 3, 3, 3], not"),
    ("conv_transpose", {"groups": "3"}, "MIL518 `groups` of `conv_transpose` is 3, and the 4 channels of `x` do not"),
    ("conv_transpose", {"output_shape": "[1, 5, 15, 17]"}, "MIL518 `output_shape` of `conv_transpose` must begin with"),
    (
        "conv_transpose",
        {"output_shape": "[1, 6, 15, 40]"},
        "MIL518 `output_shape` of `conv_transpose` requests 40 at axis 3",
    ),
    ("conv_transpose", {"output_shape": "[15, 17]"}, "MIL515 `output_shape` of `conv_transpose` must be of shape [4]"),
    (
        "conv_transpose",
        {"pad_type": '"same_lower"'},
        "MIL519 `pad_type` of `conv_transpose` takes `valid`, `custom` or",
    ),
    (
        "conv_transpose",
        {"output_shape": None, "pad": "[9, 9, 0, 0]"},
        "MIL518 `pad` of `conv_transpose` removes 18 from axis 2, whose size before that is only 17",
    ),
    ("max_pool", {"x": V(4, 8)}, "MIL514 `x` of `max_pool` takes a tensor of rank 3 to 5, [n, c, *d], not a tensor"),
    ("max_pool", {"kernel_sizes": "[2]"}, "MIL515 `kernel_sizes` of `max_pool` must be of shape [2], not [1]; `x` is"),
    ("max_pool", {"kernel_sizes": "[2, 0]"}, "MIL518 `kernel_sizes` of `max_pool` takes numbers from 1 on, not 0"),
    (
        "max_pool",
        {"kernel_sizes": "[2, 9]"},
        "MIL515 `kernel_sizes` of `max_pool` spans 9 at axis 3, where `x` has only",
    ),
    ("max_pool", {"pad_type": '"full"'}, "MIL519 `pad_type` of `max_pool` takes `valid`, `same`, `custom` or"),
    (
        "max_pool",
        {"ceil_mode": "true", "pad_type": '"same"'},
        "MIL518 `ceil_mode` of `max_pool` is true, which requires",
    ),
    ("max_pool", {"ceil_mode": "true", "pad": "[1, 0, 0, 0]"}, "MIL518 `pad` of `max_pool` adds 1 before and 0 after;"),
    ("l2_pool", {"x": V(1, 4, 8, 8, 8)}, "MIL514 `x` of `l2_pool` takes a tensor of rank 3 to 4, [n, c, *d], not"),
    (
        "avg_pool",
        {"exclude_padding_from_average": "[true]"},
        "MIL514 `exclude_padding_from_average` of `avg_pool` takes",
    ),
    ("linear", {"x": V()}, "MIL514 `x` of `linear` takes a tensor of rank 1 or more, [..., i], not a scalar"),
    ("linear", {"weight": C(5, 3)}, "MIL515 `weight` of `linear` must be of shape [5, 4], not [5, 3]; `x` is of shape"),
    (
        "linear",
        {"weight": C(5)},
        "MIL514 `weight` of `linear` takes a tensor of rank 2, [o, i], not a tensor of shape [5]",
    ),
    ("linear", {"bias": C(4)}, "MIL515 `bias` of `linear` must be of shape [5], not [4]; `weight` is of shape [5, 4]"),
    (
        "matmul",
        {"y": V(2, 3, 5)},
        "MIL515 `y` of `matmul` has 3 rows, and `x` has 4 columns: [2, 3, 4] times [2, 3, 5]",
    ),
    ("matmul", {"transpose_x": "true"}, "MIL515 `y` of `matmul` has 4 rows, and `x` has 3 columns: [2, 4, 3] times"),
    ("matmul", {"y": V(3, 4, 5)}, "MIL515 `y` of `matmul` does not broadcast with `x`: [2, 3, 4] times [3, 4, 5]"),
    ("matmul", {"x": V()}, "MIL514 `x` of `matmul` takes a tensor of rank 1 or more, [..., ?], not a scalar"),
    ("matmul", {"x": V(4), "transpose_x": "true"}, "MIL518 `transpose_x` of `matmul` is true, and `x` is a vector"),
    ("matmul", {"y": V(4), "transpose_y": "true"}, "MIL518 `transpose_y` of `matmul` is true, and `y` is a vector"),
    ("matmul", {"y": V(2, 4, 5, dtype="fp16")}, "MIL506 `y` of `matmul` is fp16, but `x` is fp32: they must be of one"),
    ("einsum", {"equation": '"ij,jk->ik"'}, 'MIL522 `equation` of `einsum` takes "chw,whu->chu" or "nchw,nwhu->nchu"'),
    (
        "einsum",
        {"equation": '"chw,whu->chu"'},
        'MIL522 `equation` of `einsum` is "chw,whu->chu", for tensors of rank 3,',
    ),
    ("einsum", {"equation": '""'}, 'MIL522 `equation` of `einsum` takes "chw,whu->chu" or'),
    ("einsum", {"values": [V(1, 2, 3, 4)]}, "MIL702 `values` of `einsum` takes two tensors, not 1"),
    ("einsum", {"values": [V(2, 4), V(4, 5)]}, "MIL514 `values` of `einsum` takes two tensors of rank 3 or 4, not of"),
    (
        "einsum",
        {"values": [V(2, 3, 4), V(1, 4, 3, 5)]},
        "MIL514 `values` of `einsum` takes two tensors of one rank, not",
    ),
    ("einsum", {"values": [V(1, 2, 3, 4), V(1, 6, 3, 5)]}, "MIL515 `values` of `einsum` do not match, 4 and 6"),
    ("einsum", {"values": [V(1, 2, 3, 4), V(1, 4, 2, 5)]}, "MIL515 `values` of `einsum` do not match, 3 and 2"),
    ("einsum", {"values": [V(2, 2, 3, 4), V(3, 4, 3, 5)]}, "MIL515 `values` of `einsum` do not match, 2 and 3"),
    (
        "einsum",
        {"values": [V(1, 2, 3, 4), V(1, 4, 3, 5, dtype="fp16")]},
        "MIL506 `values` of `einsum` are fp32 and fp16: they must be of one data type",
    ),
    (
        "scaled_dot_product_attention",
        {"key": V(2, 8, 7, 5)},
        "MIL515 `key` of `scaled_dot_product_attention` must be of shape [2, 8, 7, 4], not [2, 8, 7, 5]; `query` is",
    ),
    (
        "scaled_dot_product_attention",
        {"value": V(2, 8, 9, 6)},
        "MIL515 `value` of `scaled_dot_product_attention` must be of shape [2, 8, 7, ?], not [2, 8, 9, 6]; `key` is",
    ),
    (
        "scaled_dot_product_attention",
        {"query": V(2, 6, 5, 4), "attn_mask": None},
        "MIL515 `query` of `scaled_dot_product_attention` must be of shape [2, 8, 5, 4], not [2, 6, 5, 4]; `key` is",
    ),
    (
        "scaled_dot_product_attention",
        {"query": V(5, 4), "attn_mask": None},
        "MIL514 `query` of `scaled_dot_product_attention` takes a tensor of rank 3 or more, [*b, l, e], not a tensor",
    ),
    (
        "scaled_dot_product_attention",
        {"attn_mask": V(5, 1)},
        "MIL515 `attn_mask` of `scaled_dot_product_attention` must be of shape [..., 7], not [5, 1]; `key` is",
    ),
    (
        "scaled_dot_product_attention",
        {"attn_mask": V(4, 7)},
        "MIL515 `attn_mask` of `scaled_dot_product_attention` must broadcast to [2, 8, 5, 7], and is of shape [4, 7]",
    ),
    ("rnn", {"direction": '"bidirectional"'}, "MIL519 `direction` of `rnn` takes `forward` or `reverse`, not"),
    ("rnn", {"weight_hh": C(3, 2)}, "MIL515 `weight_hh` of `rnn` must be of shape [2, 2], not [3, 2]; `initial_h` is"),
    ("gru", {"x": V(5, 3)}, "MIL514 `x` of `gru` takes a tensor of rank 3, [s, b, i], not a tensor of shape [5, 3]"),
    ("gru", {"weight_ih": C(6, 4)}, "MIL515 `weight_ih` of `gru` must be of shape [6, 3], not [6, 4]; `x` is of shape"),
    ("gru", {"weight_hh": C(6, 3)}, "MIL515 `weight_hh` of `gru` must be of shape [6, 2], not [6, 3]; `initial_h` is"),
    ("gru", {"bias": C(12)}, "MIL515 `bias` of `gru` must be of shape [6], not [12]; `initial_h` is of shape [1, 2]"),
    ("gru", {"input_bias": C(2)}, "MIL515 `input_bias` of `gru` must be of shape [6], not [2]; `initial_h` is"),
    ("gru", {"initial_h": V(1, 3)}, "MIL515 `initial_h` of `gru` must be of shape [1, 2], not [1, 3]; `weight_ih` is"),
    ("lstm", {"activation": '"swish"'}, "MIL519 `activation` of `lstm` takes `tanh`, `scaled_tanh`, `sigmoid`,"),
    (
        "lstm",
        {"weight_ih": C(7, 3)},
        "MIL515 `weight_ih` of `lstm` must be of shape [8, 3], not [7, 3]; `weight_hh` is",
    ),
    ("lstm", {"weight_hh_back": C(8, 3)}, "MIL515 `weight_hh_back` of `lstm` must be of shape [8, 2], not [8, 3]; "),
    ("lstm", {"weight_hh_back": None}, 'MIL503 `direction` of `lstm` is "bidirectional", which requires'),
    ("lstm", {"initial_h": V(1, 2)}, "MIL515 `initial_h` of `lstm` must be of shape [1, 4], not [1, 2]: the states of"),
    ("lstm", {"initial_c": V(1, 3)}, "MIL515 `initial_c` of `lstm` must be of shape [1, 2] or [1, 4], not [1, 3];"),
    (
        "lstm",
        {"direction": '"forward"'},
        "MIL515 `initial_h` of `lstm` must be of shape [1, 2], not [1, 4]: the states",
    ),
    (
        "lstm",
        {"x": V(5, 2, 3)},
        "MIL515 `x` of `lstm` must be of shape [5, 1, 3], not [5, 2, 3]; `initial_h` is of shape",
    ),
    ("lstm", {"peephole": C(8)}, "MIL515 `peephole` of `lstm` must be of shape [6], not [8]; `weight_ih` is"),
    ("lstm", {"clip": "-1.0"}, "MIL518 `clip` of `lstm` takes numbers from 0 on, not -1.0"),
    ("upsample_nearest_neighbor", {"x": V(8, 8)}, "MIL514 `x` of `upsample_nearest_neighbor` takes a tensor of rank 3"),
    (
        "upsample_nearest_neighbor",
        {"scale_factor_width": "0"},
        "MIL518 `scale_factor_width` of `upsample_nearest_neighbor` takes a finite number above 0, not 0",
    ),
    (
        "upsample_bilinear",
        {"scale_factor_height": "-1.5"},
        "MIL518 `scale_factor_height` of `upsample_bilinear` takes a finite number above 0, not -1.5",
    ),
    (
        "resize_nearest_neighbor",
        {"target_size_width": "0"},
        "MIL518 `target_size_width` of `resize_nearest_neighbor` takes numbers from 1 on, not 0",
    ),
    (
        "resize_bilinear",
        {"target_size_height": "[3]"},
        "MIL514 `target_size_height` of `resize_bilinear` takes a scalar, not a tensor of shape [1]; write `3`",
    ),
    ("resize_bilinear", {"sampling_mode": '"CORNERS"'}, "MIL519 `sampling_mode` of `resize_bilinear` takes"),
    ("resize", {"shape": "[1, 1, 4, 9, 9]"}, "MIL515 `shape` of `resize` has 5 sizes, more than the 4 of `x`"),
    ("resize", {"resized_dims": "4"}, "MIL518 `resized_dims` of `resize` takes numbers up to 3, not 4"),
    ("resize", {"shape": "[0, -1, 9]"}, "MIL518 `shape` of `resize` takes numbers from 0 on, not -1"),
    ("resize", {"interpolation_mode": '"BILINEAR"'}, "MIL519 `interpolation_mode` of `resize` takes `LINEAR` or"),
    ("crop_resize", {"boxes": V(3, 5)}, "MIL515 `boxes` of `crop_resize` must be of shape [3, 4], not [3, 5]"),
    ("crop_resize", {"box_indices": "[0, 1]"}, "MIL515 `box_indices` of `crop_resize` must be of shape [3], not [2];"),
    (
        "crop_resize",
        {"box_indices": "[0, 1, 2]"},
        "MIL518 `box_indices` of `crop_resize` takes numbers from 0 to 1, not",
    ),
    (
        "crop_resize",
        {"box_indices": None},
        "MIL515 `boxes` of `crop_resize` has 3 boxes, and `x` 2 in its batch; give the",
    ),
    (
        "crop_resize",
        {"boxes": V(3, 4, dtype="uint16"), "normalized_coordinates": "true"},
        "MIL505 `boxes` of `crop_resize` takes `fp16` or `fp32`, not `uint16`, where `normalized_coordinates` is true",
    ),
    (
        "affine",
        {"transform_matrix": V(2, 5)},
        "MIL515 `transform_matrix` of `affine` must be of shape [2, 6] or [1, 6]",
    ),
    ("affine", {"padding_value": "1.5"}, "MIL518 `padding_value` of `affine` takes only 0, not 1.5"),
    ("affine", {"sampling_mode": '"nearest"'}, "MIL519 `sampling_mode` of `affine` takes `bilinear`, not"),
    ("affine", {"output_width": "-4"}, "MIL518 `output_width` of `affine` takes numbers from 1 on, not -4"),
    (
        "resample",
        {"coordinates": V(2, 5, 6, 3)},
        "MIL515 `coordinates` of `resample` must be of shape [2, ?, ?, 2], not",
    ),
    (
        "resample",
        {"coordinates": V(3, 5, 6, 2)},
        "MIL515 `coordinates` of `resample` must be of shape [2, ?, ?, 2], not",
    ),
    ("resample", {"padding_mode": '"reflect"'}, "MIL519 `padding_mode` of `resample` takes `constant`, `border`,"),
    ("batch_norm", {"mean": C(7)}, "MIL515 `mean` of `batch_norm` must be of shape [4], not [7]; `x` is of shape"),
    ("batch_norm", {"x": V(1, 3, 8, 8)}, "MIL515 `x` of `batch_norm` must be of shape [1, 4, 8, 8], not [1, 3, 8, 8];"),
    ("batch_norm", {"epsilon": "-0.5"}, "MIL518 `epsilon` of `batch_norm` takes numbers from 0 on, not -0.5"),
    ("instance_norm", {"x": V(4, 8)}, "MIL514 `x` of `instance_norm` takes a tensor of rank 3 to 5, [n, c, *d], not"),
    ("instance_norm", {"gamma": C(5)}, "MIL515 `gamma` of `instance_norm` must be of shape [4], not [5]; `x` is"),
    (
        "l2_norm",
        {"x": V(8, 8)},
        "MIL514 `x` of `l2_norm` takes a tensor of rank 3 or more, [..., c, h, w], not a tensor",
    ),
    ("layer_norm", {"axes": "[3]"}, "MIL516 `axes` of `layer_norm` names axis 3; the axes here are from -3 to 2"),
    ("layer_norm", {"axes": "[2, -1]"}, "MIL517 `axes` of `layer_norm` names axis 2 more than once: [2, -1]"),
    ("layer_norm", {"gamma": C(3)}, "MIL515 `gamma` of `layer_norm` must be of shape [4], not [3]: the sizes of `x`"),
    (
        "layer_norm",
        {"beta": C(1, 4)},
        "MIL515 `beta` of `layer_norm` must be of shape [4], not [1, 4]: the sizes of `x`",
    ),
    ("local_response_norm", {"size": "0"}, "MIL518 `size` of `local_response_norm` takes numbers from 1 on, not 0"),
    ("local_response_norm", {"x": V(4, 8)}, "MIL514 `x` of `local_response_norm` takes a tensor of rank 3 to 5,"),
]

STILL_RIGHT: list[tuple[str, Arguments]] = [
    ("conv", {"x": V("?", 4, "?", 8)}),
    ("conv", {"x": V(1, "?", 8, 8), "weight": V(6, 3, 3, 3)}),
    ("conv", {"bias": None, "strides": None, "groups": "4", "weight": V(8, 1, 8, 8)}),
    ("conv", {"weight": V(6, 2, 10, 8)}),
    ("conv", {"weight": C(6, 2, 3, 3), "dilations": "[4, 1]"}),
    ("conv", {"weight": V(6, 2, 11, 11), "pad_type": '"same"'}),
    ("conv", {"pad_type": '"same_lower"'}),
    ("conv_transpose", {"x": V("?", 4, 8, 8)}),
    ("conv_transpose", {"output_shape": None, "pad": "[8, 8, 0, 0]"}),
    ("conv_transpose", {"output_shape": None, "pad_type": '"same"'}),
    ("max_pool", {"kernel_sizes": "[10, 8]"}),
    ("max_pool", {"ceil_mode": "true", "kernel_sizes": "[3, 9]"}),
    ("max_pool", {"pad_type": '"VALID"', "ceil_mode": "true"}),
    ("linear", {"x": V(4)}),
    ("linear", {"x": V(1, 2, 3, 4, 4)}),
    ("matmul", {"x": V(4)}),
    ("matmul", {"y": V(4)}),
    ("matmul", {"x": V(4), "y": V(4)}),
    ("matmul", {"x": V(7, 1, 4, 3), "transpose_x": "true"}),
    ("matmul", {"x": V(2, 3, "?"), "y": V(9, 5)}),
    ("matmul", {"x": C(2, 4), "y": V(4, 5, dtype="fp16")}),
    ("einsum", {"equation": '"abcd,adce->abce"'}),
    ("einsum", {"values": [V(2, 3, 4), V(4, 3, 5)], "equation": '"vnm,mno->vno"'}),
    ("einsum", {"values": [V(1, 2, 1, 4), V(6, 4, 3, 5)]}),
    ("einsum", {"values": [V("?", 2, "?", 4), V(6, "?", 3, 5)]}),
    ("scaled_dot_product_attention", {"attn_mask": None}),
    ("scaled_dot_product_attention", {"attn_mask": V(2, 1, 1, 7)}),
    ("scaled_dot_product_attention", {"query": V("?", 8, "?", 4)}),
    ("rnn", {"activation": '"ReLU"', "direction": '"reverse"'}),
    ("lstm", {"direction": '"reverse"', "initial_h": V(1, 2), "initial_c": V(1, 2)}),
    ("lstm", {"x": V(5, "?", 3)}),
    ("conv", {"pad_type": None, "pad": "[0, 0, 0, 0]"}),
    ("conv", {"pad_type": None, "pad": None}),
    ("conv", {"pad_type": '"valid"', "pad": "[1, 1, 1, 1]"}),
    ("conv", {"pad_type": '"same"', "pad": "[1, 1, 1, 1]"}),
    ("conv_transpose", {"pad_type": '"valid"', "pad": "[1, 0, 0, 0]", "output_shape": None}),
    ("upsample_nearest_neighbor", {"scale_factor_height": "0.125"}),
    ("upsample_nearest_neighbor", {"x": V(1, 4, "?", 8), "scale_factor_height": "0.01"}),
    ("upsample_bilinear", {"scale_factor_height": "0.5"}),
    ("upsample_nearest_neighbor", {"x": V(4, 8, 8)}),
    ("resize", {"resized_dims": "0"}),
    ("resize", {"shape": "[3, 1, 9, 9]"}),
    ("crop_resize", {"box_indices": None, "boxes": V(2, 4)}),
    ("affine", {"transform_matrix": V(1, 6), "sampling_mode": '"BILINEAR"'}),
    ("batch_norm", {"gamma": None, "beta": None, "x": V(1, 4, 8)}),
    ("layer_norm", {"axes": None, "gamma": C(2, 3, 4), "beta": None}),
    ("layer_norm", {"axes": "[2, 0]", "gamma": C(2, 4), "beta": C(2, 4)}),
    ("layer_norm", {"x": V(2, 3, "?")}),
    ("local_response_norm", {"x": V(1, 4, 8, 8, 8)}),
]

OUTPUTS = {"rnn": 2, "gru": 2, "lstm": 3}


def text(op_type: str, arguments: Arguments, opset: str = "ios18") -> str:
    """A function of one operation, whose inputs are what the arguments need."""
    inputs: list[str] = []

    def written(given: Any) -> str:
        if isinstance(given, list):
            return f"({', '.join(map(written, given))})"
        if isinstance(given, V):
            inputs.append(f"{given.type} v{len(inputs)}")
            return f"v{len(inputs) - 1}"
        return str(given)

    bound = ", ".join(f"{name} = {written(given)}" for name, given in arguments.items() if given is not None)
    outputs = ", ".join(f"_ y{nth}" for nth in range(OUTPUTS.get(op_type, 1)))
    return f"program(1.3){{func main<{opset}>({', '.join(inputs)}){{\n{outputs} = {op_type}({bound});\n}} -> (y0);}}"


@cache
def _said(program: str) -> tuple[Diagnostic, ...]:
    return tuple(found for found in miltext.check(program) if found.code not in ("MIL711", "MIL712"))


def said(op_type: str, changes: Arguments, opset: str = "ios18") -> list[str]:
    program = text(op_type, {**RIGHT[op_type], **changes}, opset)
    return [f"{found.code} {found.message}" for found in _said(program)]


@pytest.mark.parametrize("op_type", RIGHT)
def test_correct_layers_are_not_reported(op_type: str) -> None:
    known = signature(op_type)
    assert known is not None
    assert set(RIGHT[op_type]) == set(known.parameters)
    assert said(op_type, {}) == []


@pytest.mark.parametrize(("op_type", "changes"), STILL_RIGHT)
def test_the_nearest_neighbour_is_left_alone(op_type: str, changes: Arguments) -> None:
    assert said(op_type, changes) == []


@pytest.mark.parametrize(("op_type", "changes", "message"), WRONG)
def test_a_problem_is_reported_at_its_argument(op_type: str, changes: Arguments, message: str) -> None:
    program = text(op_type, {**RIGHT[op_type], **changes})
    found = _said(program)
    assert [f"{one.code} {one.message}"[: len(message)] for one in found][:1] == [message]
    parameter, span = message.split("`")[1], found[0].span
    assert span is not None
    assert f"{parameter} = " in program[: span.start]
    assert program[: span.start].rindex(f"{parameter} = ") >= program[: span.start].rindex("= ") - len(parameter) - 1


def test_the_table_of_wrong_ones_has_a_row_for_each() -> None:
    assert {op_type for op_type, _, _ in WRONG} == set(RIGHT)


def test_an_opset_has_its_own_words() -> None:
    changes = {"pad_type": '"same_lower"', "weight": C(6, 2, 3, 3), "bias": C(6)}
    assert said("conv", changes, "ios16") == []
    message = 'MIL502 `pad_type` of `conv` may be "same_lower" from ios16 on'
    assert said("conv", changes, "ios15") == [message]
    roi = {"boxes": None, "box_indices": None, "roi": V(3, 1, 5, 1, 1)}
    assert said("crop_resize", roi, "ios16") == []
    (found,) = said("crop_resize", {**roi, "roi": V(3, 1, 6, 1, 1)}, "ios16")
    assert found.startswith("MIL515 `roi` of `crop_resize` must be of shape [?, 1, 4, 1, 1] or [?, 1, 5, 1, 1], not")


# ---- laws over the table


def parameters() -> Iterator[tuple[str, Parameter]]:
    for op_type in RIGHT:
        known = signature(op_type)
        assert known is not None
        for parameter in known.parameters.values():
            yield op_type, parameter


def ids(case: object) -> str:
    return case.name if isinstance(case, Parameter) else str(case)


def test_each_parameter_has_an_entry() -> None:
    assert {op_type for key in FACTS for op_type in key.partition("@")[0].split()} == set(RIGHT)
    for op_type in RIGHT:
        for opset in ("ios15", "ios16", "ios17", "ios18"):
            known = signature(op_type, opset)
            assert known is None or set(known.parameters) <= set(facts_of(op_type, opset)), (op_type, opset)


WORDS = [(op_type, parameter) for op_type, parameter in parameters() if parameter.words]


@pytest.mark.parametrize(("op_type", "parameter"), WORDS, ids=ids)
def test_words_are_taken_and_no_others(op_type: str, parameter: Parameter) -> None:
    for word in parameter.words:
        spellings = [word, word.upper()] if parameter.any_case else [word]
        for spelling in spellings:
            found = said(op_type, {parameter.name: json.dumps(spelling)})
            assert not [one for one in found if one.startswith("MIL519")]
        for wrong in (f"{word}x", "", word.swapcase()):
            if wrong == word.swapcase() and parameter.any_case:
                continue
            found = said(op_type, {parameter.name: json.dumps(wrong)})
            assert any(one.startswith(f"MIL519 `{parameter.name}`") for one in found)


LIMITED = [(op_type, parameter) for op_type, parameter in parameters() if parameter.least or parameter.most]


@pytest.mark.parametrize(("op_type", "parameter"), LIMITED, ids=ids)
def test_numbers_are_held_to_their_range(op_type: str, parameter: Parameter) -> None:
    right = json.loads(RIGHT[op_type][parameter.name])
    number = right[-1] if isinstance(right, list) else right

    def told(other: float) -> bool:
        wrong = [*right[:-1], other] if isinstance(right, list) else other
        return any(
            one.startswith("MIL518") and "takes" in one for one in said(op_type, {parameter.name: json.dumps(wrong)})
        )

    step = 1.0 if isinstance(number, float) else 1
    assert not told(number)
    if parameter.least is not None:
        assert told(type(number)(parameter.least.offset) - step)
    assert told(number + 1000 * step) == (parameter.most is not None)


RANKED = [(op_type, parameter) for op_type, parameter in parameters() if parameter.shape]


@pytest.mark.parametrize(("op_type", "parameter"), RANKED, ids=ids)
def test_ranks_are_held_to_the_patterns(op_type: str, parameter: Parameter) -> None:
    given = RIGHT[op_type][parameter.name]
    dtype = "fp32" if "fp32" in parameter.dtypes else max(parameter.dtypes)
    for rank in range(8):
        if not any(pattern.has_rank(rank) for pattern in parameter.shape):
            wrong = (C if isinstance(given, C) else V)(*[1] * rank, dtype=dtype)
            found = said(op_type, {parameter.name: wrong})
            assert any(one.startswith((f"MIL514 `{parameter.name}`", "MIL507")) for one in found)


SIZED = [
    (op_type, name, place)
    for op_type, arguments in RIGHT.items()
    for name, given in arguments.items()
    if isinstance(given, V | C)
    for place in range(len(given.shape))
]


@pytest.mark.parametrize(("op_type", "name", "place"), SIZED)
def test_one_wrong_size_is_reported_once(op_type: str, name: str, place: int) -> None:
    """It may also be right: nothing else says what the size is."""
    given = RIGHT[op_type][name]
    for size in (given.shape[place] + 7, 97):
        wrong = type(given)(*given.shape[:place], size, *given.shape[place + 1 :])
        found = [one for one in said(op_type, {name: wrong}) if not one.startswith("MIL505")]
        assert len(found) <= 1, found


@pytest.mark.parametrize(("op_type", "name"), dict.fromkeys((op_type, name) for op_type, name, _ in SIZED))
def test_one_wrong_rank_is_reported_once(op_type: str, name: str) -> None:
    given = RIGHT[op_type][name]
    dtype = "uint8" if op_type == "conv_quantized" and name in ("weight", "bias") else "fp32"
    for shape in (given.shape[1:], given.shape[:-1], (1, *given.shape), (*given.shape, 1)):
        found = said(op_type, {name: type(given)(*shape, dtype=dtype)})
        assert len(found) <= 1, found
