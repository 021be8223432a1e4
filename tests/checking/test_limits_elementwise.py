"""Arguments that elementwise ops, reductions, quantization, compressed constants, lists and states cannot take.

What is written, what is said, and the nearest that must stay silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest
from support.limit_rows import Row, findings

import miltext
from miltext.checking.inference import infer_types
from miltext.checking.inference.operands import Arguments, Operand
from miltext.checking.limits import clashes
from miltext.schema.operations import Parameter, all_names, signature
from miltext.schema.types import TensorType

TAKES = """tensor<fp32, [2, 3]> m, tensor<fp16, [2, 3]> half, tensor<fp32, [?, 3]> some, tensor<fp32, [3]> v, fp32 s,
    tensor<fp32, [1, 3, 8, 6]> image, tensor<fp32, [1, 3, 4]> row, tensor<bool, [2, 3]> flags, tensor<bool, [2]> two,
    bool flag, tensor<int32, [2]> pair, tensor<int32, [3]> three, tensor<int32, [2, 2]> square, int32 place,
    tensor<int8, [2, 3]> codes, tensor<fp32, [2, 3, 4]> cube, list<tensor<fp32, [3]>, 4> ls,
    list<tensor<fp32, [3]>, ?> any,
    state<tensor<fp16, [2, 3]>> held"""
OLDER = TAKES.rpartition(",\n")[0]
"""Without states, which came with ios18."""

UNARY = "abs acos asin atan atanh ceil cos cosh erf exp exp2 floor identity logical_not relu relu6 round sigmoid sign"
UNARY += " silu sin sinh softplus softsign sqrt square tan tanh"
BINARY = "add sub mul real_div floor_div mod pow maximum minimum equal not_equal greater greater_equal less less_equal"
REDUCTIONS = [
    f"reduce_{name}" for name in "l1_norm l2_norm log_sum log_sum_exp max mean min prod sum sum_square".split()
]


AFFINE = "constexpr_affine_dequantize(axis = {}, quantized_data = tensor<int8, [2, 3]>([[1, 2, 3], [4, 5, 6]])"
AFFINE += ", scale = {}, zero_point = {})"
LUT = "constexpr_lut_to_dense(indices = tensor<uint8, [{}]>({}), lut = tensor<fp16, [{}]>({}), shape = {})"
LUT = LUT.replace("shape = {}", "shape = tensor<uint32, [2]>({})")
LUT18 = "constexpr_lut_to_dense(indices = tensor<uint1, [2, 2]>([[0, 1], [1, 0]]), lut = {})"
SPARSE = (
    "constexpr_sparse_to_dense(mask = tensor<uint8, [{}]>({}), nonzero_data = {}, shape = tensor<uint32, [1]>([{}]))"
)
SPARSE18 = "constexpr_sparse_to_dense(mask = tensor<uint1, [3]>([1, 0, 1]), nonzero_data = {})"
HALVES = "tensor<fp16, [2]>([0.5, 0.5])"
TABLE = "tensor<fp16, {}>({})"
BLOCKS = "constexpr_blockwise_shift_scale(data = tensor<int8, [2, 2]>([[1, 2], [3, 4]]), scale = {}, offset = {})"
ONES = "tensor<fp16, [1, 1]>([[1]])"
MASK = "tensor<uint1, [2, 2]>([[1, 0], [0, 1]])"
SHIFTED = f"_ a, _ b = constexpr_sparse_blockwise_shift_scale(data_mask = {MASK}, "
SHIFTED += f"nonzero_data = tensor<int8, [{{}}]>({{}}), scale = {ONES})"
LOOKED_UP = f"_ a, _ b = constexpr_lut_to_sparse(indices_mask = {MASK}, "
LOOKED_UP += "indices_nonzero_data = tensor<uint1, [{}]>({}), lut = tensor<fp16, [1, 1, 2, 1]>([[[[1], [2]]]]))"

ROWS = [
    # ---- activations and the like
    Row("clip(alpha = [0.1], beta = 1.0, x = m)", "MIL514", "not a tensor of shape [1]; write `0.1`",
        "clip(alpha = 0.0, beta = 1.0, x = m)"),
    Row("clip(alpha = 2.0, beta = 1.0, x = m)", "MIL518", "is 1 and must be larger than `alpha`, which is 2",
        "clip(alpha = 0.0, beta = 1.0, x = m)"),
    Row("clip(alpha = 1.0, beta = 1.0, x = m)", "MIL518", "is 1 and must be larger",
        "clip(alpha = fp32(-inf), beta = fp32(inf), x = m)"),
    Row("clip(alpha = fp32(inf), beta = 1.0, x = m)", "MIL518", "which is inf",
        "clip(alpha = fp32(nan), beta = 1.0, x = m)"),
    Row("clip(alpha = 2.0, beta = 1.0, x = m)", "MIL518", "is 1 and must not be smaller than `alpha`, which is 2",
        "clip(alpha = 1.0, beta = 1.0, x = m)", "ios16"),
    Row("threshold(alpha = [0.0], x = m)", "MIL514", "takes a scalar, not", "threshold(alpha = 0.0, x = m)"),
    *(Row(f"{op}(alpha = [0.5], x = m)", "MIL514", "takes a scalar, not", f"{op}(alpha = 0.5, x = m)")
      for op in ("elu", "leaky_relu", "thresholded_relu")),
    *(Row(f"{op}(alpha = 0.5, beta = [1.0], x = m)", "MIL514", "takes a scalar, not",
          f"{op}(alpha = 0.5, beta = 1.0, x = m)")
      for op in ("clamped_relu", "linear_activation", "scaled_tanh", "sigmoid_hard")),
    *(Row(f"{op}(epsilon = [0.5], x = m)", "MIL514", "takes a scalar, not", f"{op}(epsilon = 0.5, x = m)")
      for op in ("inverse", "log", "rsqrt")),
    *(Row(f"log(epsilon = tensor<fp32, [1]>([{number}]), x = m)", "MIL514", f"write `fp32({number})`",
      "log(epsilon = 0.1, x = m)")
      for number in ("inf", "nan", "1e-45")),
    Row('gelu(mode = "TANH", x = m)', "MIL519", "takes `EXACT`, `TANH_APPROXIMATION` or `SIGMOID_APPROXIMATION`",
        'gelu(mode = "TANH_APPROXIMATION", x = m)'),
    Row('gelu(mode = "exact", x = m)', "MIL519", "did you mean `EXACT`?", 'gelu(mode = "EXACT", x = m)'),
    Row('gelu(mode = ["EXACT"], x = m)', "MIL514", 'write `"EXACT"`', 'gelu(mode = "EXACT", x = m)'),
    Row("softmax(axis = 2, x = m)", "MIL516", "names axis 2; the axes here are from -2 to 1",
        "softmax(axis = -2, x = m)"),
    Row("softmax(axis = [1], x = m)", "MIL514", "write `1`", "softmax(axis = 0, x = v)"),
    Row("prelu(alpha = [0.5, 0.5], x = image)", "MIL515", "must be of shape [3], not [2]; `x` is of shape [1, 3, 8, 6]",
        "prelu(alpha = [0.1, 0.2, 0.3], x = image)"),
    Row("prelu(alpha = [0.5, 0.5], x = m)", "MIL514", "takes a tensor of rank 3 to 5",
        "prelu(alpha = [0.5, 0.5, 0.5], x = row)"),
    Row("prelu(alpha = [0.1, 0.2, 0.3], x = row)", "MIL518",
        "one number for all channels where `x` is not of rank 4; it has",
        "prelu(alpha = [0.1, 0.1, 0.1], x = row)"),
    Row("softplus_parametric(alpha = [1.0, 1.0], beta = [1.0, 1.0, 1.0], x = image)", "MIL515", "of shape [3], not [2]",
        "softplus_parametric(alpha = [1.0, 1.0, 1.0], beta = [1.0, 1.0, 1.0], x = image)"),
    Row("softplus_parametric(alpha = [1.0, 1.0, 1.0], beta = 1.0, x = image)", "MIL514", "takes a vector, not a scalar",
        "softplus_parametric(alpha = [1.0, 2.0, 3.0], beta = [1.0, 1.0, 1.0], x = row)"),
    Row("softplus_parametric(alpha = [1.0, 1.0, 1.0], beta = [1.0, 1.0, 1.0], x = m)", "MIL514", "rank 3 or more",
        "softplus_parametric(alpha = [1.0, 1.0, 1.0], beta = [1.0, 1.0, 1.0], x = row)"),
    # ---- two operands
    *(Row(f"{op}(x = cube, y = v)", "MIL702",
          "does not broadcast with `x`: shapes [3] and [2, 3, 4] have 3 and 4 at axis -1", f"{op}(x = some, y = v)")
      for op in BINARY.split()),
    *(Row(f"{op}(x = flags, y = two)", "MIL702", "shapes [2] and [2, 3] have 2 and 3 at axis -1",
        f"{op}(x = flags, y = flag)")
      for op in ("logical_and", "logical_or", "logical_xor")),
    Row("select(a = m, b = cube, cond = flags)", "MIL702",
        "does not broadcast with `a`: shapes [2, 3, 4] and [2, 3] have 4",
        "select(a = m, b = v, cond = flags)"),
    Row("select(a = m, b = s, cond = two)", "MIL702", "does not broadcast with `a` and `b`",
        "select(a = m, b = s, cond = flag)"),
    # ---- data types
    Row('cast(dtype = "float32", x = m)', "MIL519", "did you mean `fp32`?", 'cast(dtype = "fp32", x = m)'),
    Row('cast(dtype = "int8", x = m)', "MIL519", 'takes `fp16`, `fp32`, `int32` or `bool`, not "int8"',
        'cast(dtype = "bool", x = m)', "ios16"),
    Row('cast(dtype = "fp64", x = m)', "MIL519", '`int32` or `bool`, not "fp64"', 'cast(dtype = "int8", x = m)',
        "ios17"),
    Row('cast(dtype = ["fp16"], x = m)', "MIL514", 'write `"fp16"`', 'cast(dtype = "fp16", x = m)'),
    # ---- reductions
    *(Row(f"{op}(axes = [2], x = m)", "MIL516", "names axis 2; the axes here are from -2 to 1",
        f"{op}(axes = [-2, 1], x = m)")
      for op in REDUCTIONS),
    Row("reduce_sum(axes = 1, x = m)", "MIL514", "takes a vector, not a scalar", "reduce_sum(axes = [1], x = m)"),
    Row("reduce_sum(axes = [1, -1], x = m)", "MIL517", "names axis 1 more than once",
        "reduce_sum(axes = [1, 0], x = m)"),
    Row("reduce_sum(axes = [0], keep_dims = [false], x = m)", "MIL514", "write `false`",
        "reduce_sum(axes = [0], keep_dims = false, x = m)"),
    Row("reduce_sum(x = s)", "MIL514", "takes a tensor of rank 1 or more, not a scalar", "reduce_sum(x = v)"),
    Row("reduce_argmax(x = s)", "MIL514", "not a scalar", "reduce_argmax(x = v)"),
    Row("reduce_argmax(axis = -3, x = m)", "MIL516", "names axis -3", "reduce_argmax(axis = -2, x = m)"),
    Row('reduce_argmin(axis = 0, output_dtype = "fp32", x = m)', "MIL519", 'takes `int32` or `uint16`, not "fp32"',
        'reduce_argmin(axis = 0, output_dtype = "uint16", x = m)'),
    Row('reduce_argmax(output_dtype = "UINT8", x = m)', "MIL519", 'takes `int32` or `uint16`, not "UINT8"',
        'reduce_argmax(output_dtype = "UINT16", x = m)'),
    Row("reduce_argmin(axis = [0], x = m)", "MIL514", "takes a scalar", "reduce_argmin(axis = 0, x = m)"),
    # ---- quantization
    Row('quantize(input = m, output_dtype = "int4", scale = 0.5)', "MIL519", 'takes `int8` or `uint8`, not "int4"',
        'quantize(input = m, output_dtype = "int8", scale = 0.5)'),
    Row('quantize(input = m, output_dtype = "uint8", scale = 0.5, zero_point = int8(1))', "MIL506",
        "names uint8, but `zero_point` is int8",
        'quantize(input = m, output_dtype = "int8", scale = 0.5, zero_point = int8(1))'),
    Row('quantize(input = m, output_dtype = "int8", scale = 0.0)', "MIL518", "must not be 0",
        'quantize(axis = 0, input = m, output_dtype = "int8", scale = [0.0, 1.0])'),
    Row('quantize(axis = 1, input = m, output_dtype = "int8", scale = [0.5, 0.5])', "MIL515",
        "must be of shape [3], not [2]: the size of `input` at `axis` 1",
        'quantize(axis = 0, input = m, output_dtype = "int8", scale = [0.5, 0.5])'),
    Row('quantize(axis = 1, input = m, output_dtype = "int8", scale = 0.5)', "MIL702",
        "left out where `scale` is a scalar",
        'quantize(axis = 0, input = some, output_dtype = "int8", scale = [0.5, 0.5])'),
    Row('quantize(input = m, output_dtype = "int8", scale = [0.5, 0.5])', "MIL702", "so `axis` must give",
        'quantize(input = m, output_dtype = "int8", scale = 0.5)'),
    Row(f"dequantize(axis = 2, input = codes, scale = {HALVES})", "MIL516", "names axis 2",
        f"dequantize(axis = -2, input = codes, scale = {HALVES})"),
    Row(f"dequantize(axis = 0, input = codes, scale = {HALVES}, zero_point = int8(1))", "MIL515",
        "must be of shape [2], not []; `scale` is of shape [2]",
        f"dequantize(axis = 0, input = codes, scale = {HALVES}, zero_point = tensor<int8, [2]>([1, 2]))"),
    Row("dequantize(axis = 0, input = codes, scale = tensor<fp16, [1, 2]>([[0.5, 0.5]]))", "MIL514",
        "takes a scalar or a vector, not",
        "dequantize(input = codes, scale = fp16(0.5))"),
    # ---- made of shapes and numbers
    Row("fill(shape = [-1, 3], value = fp16(1))", "MIL518", "takes numbers from 0 on, not -1",
        "fill(shape = [1, 3], value = fp16(1))"),
    Row("fill(shape = 3, value = fp16(1))", "MIL514", "takes a vector", "fill(shape = three)"),
    Row("fill(shape = square, value = fp16(1))", "MIL514", "not a tensor of shape [2, 2]",
        "fill(shape = pair, value = fp16(1))"),
    Row("fill(shape = [3], value = tensor<fp16, [1]>([1]))", "MIL514", "takes a scalar",
        "fill(shape = [3], value = fp16(1))"),
    Row("fill_like(ref_tensor = m, value = tensor<fp16, [1]>([1]))", "MIL514", "takes a scalar",
        "fill_like(ref_tensor = m, value = 1.0)"),
    Row("random_bernoulli(prob = fp16(1.5), shape = [3])", "MIL518", "takes numbers from 0 to 1, not 1.5",
        "random_bernoulli(prob = fp16(1.0), shape = [3])"),
    Row("random_bernoulli(prob = fp16(0.5), seed = [1], shape = [3])", "MIL514", "takes a scalar",
        "random_bernoulli(prob = fp16(0.5), seed = -1, shape = [3])"),
    Row("random_normal(mean = fp16(0), shape = [3], stddev = fp16(-1.0))", "MIL518", "from 0 on, not -1.0",
        "random_normal(mean = fp16(-1.0), shape = [3], stddev = fp16(0))"),
    Row("random_normal(mean = fp16(0), shape = [3], stddev = fp32(1))", "MIL506", "is fp32, but `mean` is fp16",
        "random_normal(mean = fp16(0), shape = [3], stddev = fp16(1))"),
    Row("random_uniform(high = fp16(-1.0), low = fp16(0), shape = [3])", "MIL518",
        "is -1 and must not be smaller than `low`, which is 0",
        "random_uniform(high = fp16(0), low = fp16(0), shape = [3])"),
    Row("random_uniform(high = fp16(1), low = fp16(0), shape = [[3]])", "MIL514", "takes a vector",
        "random_uniform(high = fp16(1), low = fp16(0), shape = [3])"),
    Row('random_categorical(mode = "probabilities", x = m)', "MIL519", "takes `logits` or `probs`",
        'random_categorical(mode = "probs", x = m)'),
    Row("random_categorical(size = 0, x = m)", "MIL518", "from 1 on, not 0", "random_categorical(size = 1, x = m)"),
    Row("random_categorical(x = s)", "MIL514", "rank 1 or more", "random_categorical(x = v)"),
    Row("range_1d(end = 5, start = 0, step = 0)", "MIL518", "must not be 0", "range_1d(end = 0, start = 5, step = -1)"),
    Row("range_1d(end = 10, start = 0, step = -1)", "MIL518",
        "`step` of `range_1d` is -1, and does not lead from `start`, 0, to `end`, 10",
        "range_1d(end = 0, start = 0, step = -1)"),
    Row("range_1d(end = fp32(0), start = fp32(1.5), step = fp32(0.5))", "MIL518", "is 0.5, and does not lead from",
        "range_1d(end = fp32(0), start = fp32(1.5), step = fp32(-0.5))"),
    Row("range_1d(end = [5], start = 0, step = 1)", "MIL514", "takes a scalar",
        "range_1d(end = place, start = 0, step = 1)"),
    Row("range_1d(end = fp32(nan), start = fp32(0), step = fp32(1))", "MIL518", "must be finite, not nan",
        "range_1d(end = fp32(1), start = fp32(0), step = fp32(1))"),
    # ---- compressed constants
    Row(AFFINE.format(2, HALVES, "int8(0)"), "MIL516", "names axis 2", AFFINE.format(0, HALVES, "int8(0)"), "ios16"),
    Row(AFFINE.format(1, HALVES, "int8(0)"), "MIL515",
        "must be of shape [3], not [2]: the size of `quantized_data` at `axis` 1",
        AFFINE.format(1, "fp16(0.5)", "int8(0)"), "ios16"),
    Row(AFFINE.format(0, "fp16(0.5)", "tensor<int8, [3]>([0, 0, 0])"), "MIL515", "must be of shape [2], not [3]",
        AFFINE.format(-1, "fp16(0.5)", "tensor<int8, [3]>([0, 0, 0])"), "ios16"),
    Row(AFFINE.format(0, "tensor<fp16, [1, 2]>([[0.5, 0.5]])", "int8(0)"), "MIL514",
        "takes a scalar or a vector", AFFINE.format(0, "fp16(0.5)", "int8(0)"), "ios16"),
    Row('constexpr_cast(output_dtype = "fp16", source_val = fp16(1))', "MIL519", "takes `fp32`, not \"fp16\"",
        'constexpr_cast(output_dtype = "fp32", source_val = fp16(1))', "ios16"),
    Row(LUT.format(1, "[7]", 3, "[1, 2, 3]", "[2, 2]"), "MIL515",
        "must be of shape [2] or [4] or [16] or [64] or [256], not [3]",
        LUT.format(1, "[7]", 4, "[1, 2, 3, 4]", "[2, 2]"), "ios16"),
    Row(LUT.format(3, "[7, 7, 7]", 4, "[1, 2, 3, 4]", "[2, 2]"), "MIL515",
        "must be of shape [1], not [3]: 2 bits for each element of `shape`, [2, 2]",
        LUT.format(4, "[0, 1, 2, 3]", 4, "[1, 2, 3, 4]", "[2, 2]"), "ios16"),
    Row(LUT.format(1, "[7]", 2, "[1, 2]", "[0, 2]"), "MIL518", "from 1 on, not 0", LUT.format(1, "[7]", 2, "[1, 2]",
        "[1, 2]"), "ios16"),
    Row(LUT18.format(TABLE.format("[1, 2, 1]", "[[[1], [2]]]")), "MIL514",
        "must be of rank 4, two more than `indices`, not 3",
        LUT18.format(TABLE.format("[1, 1, 2, 1]", "[[[[1], [2]]]]"))),
    Row(LUT18.format(TABLE.format("[1, 1, 3, 1]", "[[[[1], [2], [3]]]]")), "MIL515",
        "has 3 entries, its last size but one, and uint1 indices count 2",
        LUT18.format(TABLE.format("[2, 1, 2, 1]", "[[[[1], [2]]], [[[3], [4]]]]"))),
    Row(LUT18.format(TABLE.format("[3, 1, 2, 1]", "[[[[1], [2]]], [[[3], [4]]], [[[5], [6]]]]")), "MIL515",
        "has 3 at axis 0, which does not divide the 2 of `indices`",
        LUT18.format(TABLE.format("[1, 1, 2, 1]", "[[[[1], [2]]]]"))),
    Row(LUT18.format(TABLE.format("[1, 1, 2, 2]", "[[[[1, 1], [2, 2]]]]")), "MIL702",
        "`vector_axis` must give their",
        LUT18.format(TABLE.format("[1, 1, 2, 2]", "[[[[1, 1], [2, 2]]]]") + ", vector_axis = 1")),
    Row(LUT18.format(TABLE.format("[1, 1, 2, 1]", "[[[[1], [2]]]]") + ", vector_axis = 2"), "MIL516", "names axis 2",
        LUT18.format(TABLE.format("[1, 1, 2, 1]", "[[[[1], [2]]]]") + ", vector_axis = -2")),
    Row(SPARSE.format(2, "[5, 0]", "tensor<fp16, [2]>([1, 2])", 3), "MIL515",
        "must be of shape [1], not [2]: a bit for each element of `shape`, [3]",
        SPARSE.format(2, "[5, 0]", "tensor<fp16, [2]>([1, 2])", 9), "ios16"),
    Row(SPARSE.format(1, "[5]", "tensor<fp16, [1]>([1])", 3), "MIL515",
        "must be of shape [2], not [1]: as many as `mask` has ones",
        SPARSE.format(1, "[5]", "tensor<fp16, [2]>([1, 2])", 3), "ios16"),
    Row(SPARSE.format(1, "[9]", "tensor<fp16, [2]>([1, 2])", 3), "MIL518",
        "has set bits after the 3 elements of `shape`",
        SPARSE.format(1, "[9]", "tensor<fp16, [2]>([1, 2])", 4), "ios16"),
    Row(SPARSE18.format("tensor<fp16, [3]>([1, 2, 3])"), "MIL515",
        "must be of shape [2], not [3]: as many as `mask` has ones",
        SPARSE18.format("tensor<fp16, [2]>([1, 2])")),
    Row(SPARSE18.format("fp16(1)"), "MIL514", "takes a vector", SPARSE18.format("tensor<fp16, [2]>([1, 2])")),
    Row(BLOCKS.format("tensor<fp16, [2]>([1, 2])", "tensor<int8, [2]>([1, 2])"), "MIL514",
        "must be of rank 2, as `data` is, not 1",
        BLOCKS.format("tensor<fp16, [2, 1]>([[1], [2]])", "tensor<int8, [2, 1]>([[1], [2]])")),
    Row(BLOCKS.format("tensor<fp16, [1, 3]>([[1, 2, 3]])", "tensor<int8, [1, 3]>([[1, 2, 3]])"), "MIL515",
        "has 3 at axis 1, which does not divide the 2 of `data`", BLOCKS.format(ONES, ONES)),
    Row(BLOCKS.format(ONES, "tensor<int8, [1, 2]>([[1, 2]])"), "MIL515", "must be of shape [1, 1], not [1, 2]",
        BLOCKS.format(ONES, "tensor<int8, [1, 1]>([[1]])")),
    Row(BLOCKS.format(ONES, "tensor<uint8, [1, 1]>([[1]])"), "MIL506", "is uint8, but `data` is int8",
        BLOCKS.format(ONES, ONES)),
    Row(SHIFTED.format(3, "[1, 2, 3]"), "MIL515", "must be of shape [2], not [3]: as many as `data_mask` has ones",
        SHIFTED.format(2, "[1, 2]")),
    Row(LOOKED_UP.format(1, "[1]"), "MIL515", "must be of shape [2], not [1]: as many as `indices_mask` has ones",
        LOOKED_UP.format(2, "[1, 0]")),
    # ---- lists, states, classes
    Row("make_list(elem_shape = (2, [3]), init_length = 1)", "MIL514", "takes scalars, one for each size",
        "make_list(elem_shape = (2, 3), init_length = 1)"),
    Row("make_list(elem_shape = (2, -3), init_length = 1)", "MIL518", "takes sizes from 0 on, not -3",
        'make_list(elem_shape = (2, "n"), init_length = 1)'),
    Row('make_list(dtype = "half", elem_shape = (2), init_length = 1)', "MIL519", "did you mean `fp16`?",
        'make_list(dtype = "fp16", elem_shape = (2), init_length = 1)'),
    Row("make_list(elem_shape = (2), init_length = -1)", "MIL518", "from 0 on",
        "make_list(elem_shape = (2), init_length = 0)"),
    Row("list_read(index = -1, ls = ls)", "MIL518", "from 0 on, not -1", "list_read(index = 0, ls = ls)"),
    Row("list_read(index = [0], ls = ls)", "MIL514", "takes a scalar", "list_read(index = place, ls = ls)"),
    Row("list_write(index = 0, ls = ls, value = m)", "MIL702",
        "is tensor<fp32, [2, 3]>, and `ls` holds tensor<fp32, [3]>",
        "list_write(index = 0, ls = any, value = v)"),
    Row("list_gather(indices = 0, ls = ls)", "MIL514", "takes a vector", "list_gather(indices = [0], ls = ls)"),
    Row("list_scatter(indices = [0], ls = ls, value = m)", "MIL515", "must be of shape [1, ...], not [2, 3]",
        "list_scatter(indices = pair, ls = ls, value = m)"),
    Row("list_scatter(indices = [0, 1], ls = ls, value = pair)", "MIL702",
        "has elements that are int32, and `ls` holds",
        "list_scatter(indices = [0, 1], ls = ls, value = some)"),
    Row("write_state(data = half, input = m)", "MIL509", "takes a state", "write_state(data = half, input = held)"),
    Row("write_state(data = m, input = held)", "MIL702",
        "is tensor<fp32, [2, 3]>, and the state holds tensor<fp16, [2, 3]>",
        "write_state(data = half, input = held)"),
    Row('_ a, _ b = classify(classes = list<string, 2>(["a", "b"]), probabilities = v)', "MIL702",
        "has 2 classes, but `probabilities` has 3 elements",
        '_ a, _ b = classify(classes = list<string, 3>(["a", "b", "c"]), probabilities = v)'),
    Row('_ a, _ b = classify(classes = list<bool, 3>([true, true, true]), probabilities = v)', "MIL702",
        "takes a list of string or int64, not of bool",
        '_ a, _ b = classify(classes = list<int64, 3>([1, 2, 3]), probabilities = v)'),
    Row("_ a = cond(pred = flags) () { _ b = relu(x = m); } -> (b) () { _ c = relu6(x = m); } -> (c)", "MIL514",
        "takes a scalar or a vector",
        "_ a = cond(pred = flag) () { _ b = relu(x = m); } -> (b) () { _ c = relu6(x = m); } -> (c)"),
]  # fmt: skip


def text_of(call: str, opset: str) -> str:
    """A draft of one call."""
    statement = call if call.startswith(("_", "write_state")) else f"_ y = {call}"
    takes = TAKES if opset >= "ios18" else OLDER
    body = f"{statement};\n_ given = identity(x = m);\n"
    return f"program(1.3)\n{{\nfunc main<{opset}>({takes}) {{\n{body}}} -> (given);\n}}\n"


def found(call: str, opset: str, severity: str = "error") -> list[tuple[str, str, str]]:
    """What is said of a call."""
    return findings(text_of(call, opset), severity)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.wrong)
def test_a_problem_is_reported_once_at_its_argument(row: Row) -> None:
    [(code, message, place)] = found(row.wrong, row.opset)
    assert (code, row.message in message) == (row.code, True), message
    name = message.split("`")[1]
    assert place
    assert place in row.wrong.partition(f"{name} = ")[2]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.right)
def test_correct_neighbours_are_not_reported(row: Row) -> None:
    assert found(row.right, row.opset) == []


@pytest.mark.parametrize("op_type", ["floor_div", "mod"])
@pytest.mark.parametrize("zero", ["0", "[0, 0]", "[2, 0]"])
def test_a_division_of_integers_by_0_is_a_warning(op_type: str, zero: str) -> None:
    call = f"{op_type}(x = pair, y = {zero})"
    message = f"`y` of `{op_type}` divides by 0, which has no result among integers"
    assert found(call, "ios18", "warning") == [("MIL518", message, zero)]
    assert not found(call, "ios18")


@pytest.mark.parametrize(
    "call", ["floor_div(x = pair, y = [2, -1])", "mod(x = v, y = 0.0)", "floor_div(x = 0, y = pair)"]
)
def test_no_other_division_is(call: str) -> None:
    assert not found(call, "ios18") + found(call, "ios18", "warning")


@pytest.mark.parametrize("axis", [0, -1, 1])
def test_an_axis_of_a_scalar_is_left_alone_where_torch_takes_one(axis: int) -> None:
    assert found(f"softmax(axis = {axis}, x = s)", "ios18") == []


def operation(call: str) -> str:
    return call.partition("(")[0].rpartition(" ")[2]


FAMILY = {operation(row.wrong) for row in ROWS}
TAKES_ALL = {*UNARY.split(), "const", "list_length", "read_state", "while_loop"}
"""Those whose parameters take tensors of any shape and value, or none."""


def test_each_operation_of_the_family_has_a_row() -> None:
    ours = re.compile(
        r"reduce_\w+|constexpr_\w+|list_\w+|random_\w+|fill\w*|range_1d|quantize|dequantize|cast|classify"
    )
    named = {
        *BINARY.split(),
        *filter(ours.fullmatch, all_names()),
        "cond",
        "make_list",
        "write_state",
        "select",
        "clip",
    }
    assert named - FAMILY - TAKES_ALL == set()
    for name in TAKES_ALL:
        known = signature(name)
        assert known
        assert not any(one.limited or one.shape for one in known.parameters.values())


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        ("uint1", (1, 0, 1)),
        ("uint2", (3, 0, 2, 1, 3)),
        ("uint3", (7, 0, 5, 1, 6)),
        ("uint6", (63, 0, 33, 1, 2)),
        ("int4", (-8, 7, -1, 0, 1)),
        ("uint4", (15, 0, 8, 1, 7)),
    ],
)
def test_elements_that_share_bytes_are_known(dtype: str, numbers: tuple[int, ...]) -> None:
    stated = f"tensor<{dtype}, [{len(numbers)}]>"
    text = f"program(1.3) {{ func main<ios18>() {{ {stated} y = const()[val = {stated}({[*numbers]})]; }} -> (y); }}"
    (made,) = infer_types(miltext.parse(text))
    assert made.arguments.operands["val"][0].value == numbers


# ---- the law: what is just outside the facts of a parameter is told of it


class Case(NamedTuple):
    """A parameter of a call that is right, a shape and an element that it does not take, the code of what is said."""

    call: str
    opset: str
    parameter: str
    shape: tuple[int, ...]
    element: float | str
    code: str

    def __str__(self) -> str:
        return f"{operation(self.call)}-{self.opset}-{self.parameter}-{self.code}-{self.shape}-{self.element}"


def wrong_arguments(parameter: Parameter) -> Iterator[tuple[tuple[int, ...], int | str, str]]:
    """Yield shapes and elements just outside what a parameter takes, whatever the others are, with the code of each."""
    ranks = [rank for rank in range(8) if not parameter.shape or any(one.has_rank(rank) for one in parameter.shape)]
    inside: int | str = parameter.words[0] if parameter.words else 1
    yield from (((1,) * rank, inside, "MIL514") for rank in range(8) if rank not in ranks)
    shape = (1,) * ranks[0]
    if parameter.words:
        yield shape, f"{inside}_", "MIL519"
    if parameter.axes:
        yield from ((shape, axis, "MIL516") for axis in (9, -9))
    for limit, beyond in ((parameter.least, -1), (parameter.most, 1)):
        if limit and limit.text.isdigit():
            yield shape, int(limit.text) + beyond, "MIL518"


def cases() -> Iterator[Case]:
    for call, opset in dict.fromkeys((row.right, row.opset) for row in ROWS):
        known = signature(operation(call), opset)
        for parameter in known.parameters.values() if known else ():
            if f"{parameter.name} = " in call and "tensor" in parameter.kinds and not parameter.variadic:
                for shape, element, code in wrong_arguments(parameter):
                    yield Case(call, opset, parameter.name, shape, element, code)


CASES = list(cases())


@cache
def arguments(call: str, opset: str) -> Arguments:
    """What the operation of a call is given."""
    program = miltext.parse(miltext.infer_draft(text_of(call, opset)))
    return next(made.arguments for made in infer_types(program) if made.operation.type == operation(call))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_value_just_outside_the_facts_is_reported(case: Case) -> None:
    operands, known = arguments(case.call, case.opset).operands, signature(operation(case.call), case.opset)
    assert known
    assert list(clashes(known, operands, "1.3")) == []
    value = (case.element,) if case.shape else case.element
    wrong = Operand(TensorType("fp32", case.shape), lambda: value)
    told = clashes(known, {**operands, case.parameter: [wrong]}, "1.3")
    assert (case.parameter, case.code) in {(clash.parameter, clash.code) for clash in told}


def test_the_law_reaches_each_kind_of_fact() -> None:
    assert {case.code for case in CASES} == {"MIL514", "MIL516", "MIL518", "MIL519"}
