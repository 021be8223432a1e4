"""Arguments that ops on shapes cannot take: what is written, what is said, and the nearest that must stay silent."""

from __future__ import annotations

import pytest
from support.limit_rows import Row, findings

import miltext
from miltext.schema.operations import signature

TAKES = """tensor<fp32, [2, 3]> m, tensor<fp16, [2, 3]> half, tensor<fp32, [4, 3]> four, tensor<fp32, [?, 3]> some,
    tensor<fp32, [6]> v, tensor<fp32, [1, 4, 8, 6]> image, tensor<fp32, [4, 4, 8, 6]> batch, fp32 s,
    tensor<int32, [2]> pair, tensor<int32, [2, 2]> places, tensor<int32, [2, 3]> grid, tensor<int32, [?]> unknown,
    tensor<fp32, [2, 9, 4]> boxes, tensor<fp32, [2, 9, 5]> scores, tensor<fp32, [2, 8, 5]> fewer,
    tensor<fp32, [2, 5, 9]> scores17, tensor<fp32, [2, 4, 9]> boxes17"""


FAMILY = """
reshape reshape_like transpose expand_dims squeeze flatten2d tile pad space_to_depth depth_to_space pixel_shuffle
pixel_unshuffle space_to_batch batch_to_space crop sliding_windows reverse reverse_sequence concat stack split
slice_by_index slice_by_size slice_update gather gather_along_axis gather_nd scatter scatter_along_axis scatter_nd
topk argsort non_zero one_hot band_part cumsum non_maximum_suppression
"""
"""All but `shape` and `identity`, which take all that there is."""

VARIADIC = {"values", "ref_tensors", "begins", "ends", "end_masks"}


NMS17 = "_ a, _ b, _ c = non_maximum_suppression(boxes = {}, scores = scores17, iou_threshold = 0.5, max_boxes = 1)"
NMS = "non_maximum_suppression(boxes = boxes, scores = {}, iou_threshold = 0.5, max_boxes = {}, score_threshold = 0.5)"
GATHER = "gather(axis = {}, batch_dims = {}, indices = {}, validate_indices = {}, x = m)"
SLICE = "slice_by_index(begin = {}, end = {}, stride = {}, x = m)"
WINDOWS = "sliding_windows(axis = {}, size = {}, stride = {}, x = m)"
SCATTER = "{}(axis = {}, data = m, indices = {}, mode = {}, updates = {}, validate_indices = false)"

ROWS = [
    # ---- reshaping
    Row("reshape(shape = 6, x = m)", "MIL514", "takes a vector, not a scalar", "reshape(shape = [6], x = m)"),
    Row("reshape(shape = [-2, 3], x = m)", "MIL518", "from -1 on, not -2", "reshape(shape = [-1, 3], x = m)"),
    Row("reshape(shape = [-1, -1], x = m)", "MIL521", "has -1 more than once, [-1, -1]",
        "reshape(shape = [-1], x = m)"),
    Row("reshape(shape = [-1, -1], x = some)", "MIL521", "has -1 more than once", "reshape(shape = [-1, 7], x = some)"),
    Row("reshape(shape = [4, -1], x = m)", "MIL521", "the 6 elements of `x`, [2, 3], are not a multiple of 4",
        "reshape(shape = [6, -1], x = m)"),
    Row("reshape(shape = [5, 3], x = m)", "MIL521", "requests [5, 3], 15 elements, and `x`, [2, 3], has 6",
        "reshape(shape = [3, 2], x = m)"),
    Row("reshape(shape = [0, 6], x = m)", "MIL521", "is [0, 6], where 0 takes the size of `x`: it requests [2, 6], 12",
        "reshape(shape = [0, 3], x = m)"),
    Row("reshape(shape = [0], x = m)", "MIL521", "must be as long as `x` has dimensions, 2, not 1",
        "reshape(shape = [0, 3], x = m)", "ios16"),
    Row("reshape_like(x = m, ref_tensors = (v), begins = (0, 0), ends = (1, 1), end_masks = (false, false))",
        "MIL521", "must have a value for each of the 1 `ref_tensors`, not 2",
        "reshape_like(x = m, ref_tensors = (v), begins = (0), ends = (1), end_masks = (false))"),
    Row("reshape_like(x = m, ref_tensors = (v), begins = (tensor<int32, [1]>([0])), ends = (1), end_masks = (false))",
        "MIL514", "takes scalars, not a tensor of shape [1]",
        "reshape_like(x = m, ref_tensors = (v), begins = (-1), ends = (1), end_masks = (false))"),
    Row("reshape_like(x = m, ref_tensors = (v), begins = (0), ends = (2), end_masks = (false))",
        "MIL520", "names dimension 2 of [6], which has 1",
        "reshape_like(x = m, ref_tensors = (v), begins = (0), ends = (2), end_masks = (true))"),
    Row("reshape_like(x = m, ref_tensors = (four), begins = (0), ends = (2), end_masks = (false))",
        "MIL521", "requests [4, 3], 12 elements, and `x`, [2, 3], has 6",
        "reshape_like(x = m, ref_tensors = (m), begins = (0), ends = (2), end_masks = (false))"),
    Row("reshape_like(x = m, ref_tensors = (), begins = (), ends = (), end_masks = ())",
        "MIL508", "takes one value or more, not none",
        "reshape_like(x = m, ref_tensors = (m), begins = (-2), ends = (0), end_masks = (true))"),
    Row("transpose(perm = [0], x = m)", "MIL515", "must be of shape [2], not [1]; `x` is of shape [2, 3]",
        "transpose(perm = [1, 0], x = m)"),
    Row("transpose(perm = [0, 0], x = m)", "MIL517", "names axis 0 more than once", "transpose(perm = [0, 1], x = m)"),
    Row("transpose(perm = [0, 2], x = m)", "MIL516", "names axis 2; the axes here are from -2 to 1",
        "transpose(perm = [-1, -2], x = m)"),
    Row("expand_dims(axes = 0, x = m)", "MIL514", "takes a vector, not a scalar", "expand_dims(axes = [0], x = m)"),
    Row("expand_dims(axes = [3], x = m)", "MIL516", "axis 3; the axes here are from -3 to 2",
        "expand_dims(axes = [2], x = m)"),
    Row("expand_dims(axes = [0, 0], x = m)", "MIL517", "more than once", "expand_dims(axes = [0, 3], x = m)"),
    Row("squeeze(axes = [4], x = image)", "MIL516", "from -4 to 3", "squeeze(axes = [-4], x = image)"),
    Row("squeeze(axes = [0, -4], x = image)", "MIL517", "[0, -4]", "squeeze(axes = [0], x = image)"),
    Row("squeeze(axes = [0], x = m)", "MIL521", "names axis 0, but `x`, [2, 3], has 2 there: it must be 1",
        "squeeze(axes = [0], x = image)"),
    Row("squeeze(axes = [0, -1], x = image)", "MIL521", "names axis 3, but `x`, [1, 4, 8, 6], has 6 there",
        "squeeze(x = image)"),
    Row("flatten2d(axis = 2, x = s)", "MIL516", "from 0 to 1", "flatten2d(axis = 1, x = s)"),
    Row("flatten2d(axis = 3, x = m)", "MIL516", "from -2 to 2", "flatten2d(axis = 2, x = m)"),
    Row("flatten2d(axis = [1], x = m)", "MIL514", "takes a scalar", "flatten2d(axis = -2, x = m)"),
    Row("tile(reps = [2], x = m)", "MIL515", "must be of shape [2], not [1]", "tile(reps = [2, 1], x = m)"),
    Row("tile(reps = [0, 1], x = m)", "MIL518", "from 1 on, not 0", "tile(reps = [1, 1], x = some)"),
    Row("pad(pad = [1, 1, 1], x = m)", "MIL515", "has 3 numbers, but must have two", "pad(pad = [1, 1], x = m)"),
    Row("pad(pad = [1, 1, 1, 1, 1, 1], x = m)", "MIL515", "has 6 numbers, but must have at most 4",
        "pad(pad = [1, 1, 1, 1], x = m)"),
    Row("pad(pad = pair, x = m)", "MIL515", "as it is not constant, it must have 4", "pad(pad = pair, x = v)"),
    Row("pad(pad = [-1, 0], x = m)", "MIL518", "from 0 on, not -1", "pad(pad = [0, 0], x = m)"),
    Row('pad(pad = [1, 1], mode = "edge", x = m)', "MIL519", "takes `constant`, `reflect` or `replicate`",
        'pad(pad = [1, 1], mode = "replicate", x = m)'),
    Row('pad(pad = [3, 0], mode = "reflect", x = m)', "MIL520", "is 3 at axis 1; this `mode` takes at most 2",
        'pad(pad = [2, 0], mode = "reflect", x = m)'),
    Row('pad(pad = [4, 0], mode = "replicate", x = m)', "MIL520", "at most 3 from the 3 of `x`",
        'pad(pad = [3, 3], mode = "replicate", x = m)'),
    Row('pad(pad = [1, 0], mode = "constant", constant_val = fp16(0), x = m)', "MIL506", "is fp16, but `x` is fp32",
        'pad(pad = [1, 0], mode = "constant", constant_val = fp32(0), x = half)'),
    Row("space_to_depth(block_size = 1, x = image)", "MIL518", "from 2 on, not 1",
        "space_to_depth(block_size = 2, x = image)"),
    Row("space_to_depth(block_size = 4, x = image)", "MIL521", "requires a multiple of 4, but the width of `x` is 6",
        "space_to_depth(block_size = 2, x = image)"),
    Row("depth_to_space(block_size = 3, x = image)", "MIL521", "of 9, but the number of channels of `x` is 4",
        "depth_to_space(block_size = 2, x = image)"),
    Row("depth_to_space(block_size = 2, x = m)", "MIL514", "takes a tensor of rank 4, [n, c, h, w]",
        "depth_to_space(block_size = 2, x = batch)"),
    Row("pixel_shuffle(upscale_factor = 3, x = image)", "MIL521", "a multiple of 9",
        "pixel_shuffle(upscale_factor = 1, x = image)"),
    Row("pixel_unshuffle(downscale_factor = uint32(4), x = image)", "MIL521", "a multiple of 4",
        "pixel_unshuffle(downscale_factor = uint32(2), x = image)"),
    Row("space_to_batch(block_shape = [2], paddings = [[0, 0], [0, 0]], x = image)", "MIL515", "of shape [2], not [1]",
        "space_to_batch(block_shape = [2, 2], paddings = [[0, 0], [0, 0]], x = image)"),
    Row("space_to_batch(block_shape = [2, 2], paddings = [[0, 0], [0, 1]], x = image)", "MIL521",
        "the width of `x` with its `paddings` is 7",
        "space_to_batch(block_shape = [2, 2], paddings = [[0, 0], [1, 1]], x = image)"),
    Row("batch_to_space(block_shape = [3, 1], crops = [[0, 0], [0, 0]], x = batch)", "MIL521",
        "requires a multiple of 3, but the batch of `x` is 4",
        "batch_to_space(block_shape = [4, 1], crops = [[0, 0], [0, 0]], x = batch)"),
    Row("batch_to_space(block_shape = [2, 2], crops = [[0, 0], [6, 6]], x = batch)", "MIL520",
        "removes 12 from a width of 12", "batch_to_space(block_shape = [2, 2], crops = [[0, 0], [6, 5]], x = batch)"),
    Row("batch_to_space(block_shape = [2, 2], crops = [0, 0], x = batch)", "MIL514", "takes a tensor of rank 2, [2, 2]",
        "batch_to_space(block_shape = [2, 2], crops = [[0, 0], [0, 0]], x = batch)"),
    Row("crop(crop_height = [4, 4], crop_width = [0, 0], x = image)", "MIL520", "removes 8 from a height of 8",
        "crop(crop_height = [4, 3], crop_width = [0, 0], x = image)"),
    Row("crop(crop_height = [1, 1], crop_width = [1], x = image)", "MIL515", "of shape [2], not [1]",
        "crop(crop_height = [1, 1], crop_width = [1, 1], x = image)"),
    Row("crop(crop_height = [1, 0], crop_width = [1, 0], x = m)", "MIL514", "rank 3 or more",
        "crop(crop_height = [1, 0], crop_width = [1, 0], x = boxes)"),
    Row(WINDOWS.format(1, 4, 1), "MIL520", "is 4, and `axis` 1 of `x` has 3", WINDOWS.format(1, 3, 1)),
    Row(WINDOWS.format(2, 1, 1), "MIL516", "names axis 2", WINDOWS.format(-2, 1, 1)),
    Row(WINDOWS.format(1, 1, 0), "MIL518", "from 1 on, not 0", WINDOWS.format(1, 1, 9)),
    Row("reverse(axes = [2], x = m)", "MIL516", "names axis 2", "reverse(axes = [0, 1], x = m)"),
    Row("reverse(axes = [1, 1], x = m)", "MIL517", "more than once", "reverse(axes = [-1], x = m)"),
    Row("reverse_sequence(lengths = [1, 1, 1], seq_axis = 1, batch_axis = 0, x = m)", "MIL515",
        "a length for each of the 2 rows along `batch_axis` 0",
        "reverse_sequence(lengths = [1, 1], seq_axis = 1, batch_axis = 0, x = m)"),
    Row("reverse_sequence(lengths = [1, 4], seq_axis = 1, batch_axis = 0, x = m)", "MIL518",
        "a length of 4, and `seq_axis` 1 of `x` is 3 long",
        "reverse_sequence(lengths = [0, 3], seq_axis = 1, batch_axis = 0, x = m)"),
    Row("reverse_sequence(lengths = [1, 1], seq_axis = 0, batch_axis = -2, x = m)", "MIL517",
        "names axis 0, and `seq_axis` and `batch_axis` must be two",
        "reverse_sequence(lengths = [1, 1], seq_axis = -1, batch_axis = 0, x = m)"),
    Row("reverse_sequence(lengths = [1, 1], batch_axis = 0, x = m)", "MIL517", "must be two",
        "reverse_sequence(lengths = [1, 1], seq_axis = 1, x = m)"),
    # ---- joining
    Row("concat(axis = 0, interleave = false, values = (m, v))", "MIL521",
        "must be of one rank; number 2 is [6], number 1 is [2, 3]",
        "concat(axis = 0, interleave = false, values = (m, some))"),
    Row("concat(axis = 1, interleave = false, values = (four, m, m))", "MIL521",
        "of one size at axis 0, as `axis` is 1; number 1 is [4, 3], number 2 is [2, 3]",
        "concat(axis = 0, interleave = false, values = (four, m, m))"),
    Row("concat(axis = 0, interleave = true, values = (m, four))", "MIL521", "as `interleave` is true",
        "concat(axis = 0, interleave = true, values = (m, m))"),
    Row("concat(axis = 2, interleave = false, values = (m, m))", "MIL516", "names axis 2",
        "concat(axis = -2, interleave = false, values = (m, m))"),
    Row("concat(axis = 0, interleave = false, values = (m, half))", "MIL506", "must be of one data type",
        "concat(axis = 0, interleave = false, values = (half, half))"),
    Row("concat(axis = 0, interleave = false, values = ())", "MIL508", "takes one value or more, not none",
        "concat(axis = -1, interleave = false, values = (s, s))"),
    Row("stack(axis = 0, values = (m, four))", "MIL521", "of one size at axis 0; number 2 is [4, 3]",
        "stack(axis = 0, values = (m, some))"),
    Row("stack(axis = 3, values = (m, m))", "MIL516", "from -3 to 2", "stack(axis = 2, values = (m, m))"),
    Row("_ a, _ b = split(axis = 1, split_sizes = [1, 1], x = m)", "MIL521",
        "sums up to 2, [1, 1], and `axis` 1 of `x` has 3", "_ a, _ b = split(axis = 1, split_sizes = [1, 2], x = m)"),
    Row("_ a, _ b = split(axis = 1, num_splits = 2, x = m)", "MIL521", "is 2, and `axis` 1 of `x` has 3, which is not",
        "_ a, _ b = split(axis = 0, num_splits = 2, x = m)"),
    Row("_ a, _ b = split(axis = 0, num_splits = 3, split_sizes = [1, 1], x = m)", "MIL521",
        "has 2 sizes, [1, 1], and `num_splits` is 3",
        "_ a, _ b = split(axis = 0, num_splits = 2, split_sizes = [1, 1], x = m)"),
    Row("_ a, _ b = split(axis = 2, num_splits = 2, x = m)", "MIL516", "names axis 2",
        "_ a, _ b = split(axis = 0, num_splits = 2, x = some)"),
    Row("_ a, _ b = split(axis = 0, x = m)", "MIL503", "one of `num_splits` and `split_sizes`",
        "_ a, _ b = split(axis = 0, num_splits = 2, x = m)"),
    # ---- slicing
    Row(SLICE.format("[0]", "[1, 1]", "[1, 1]"), "MIL515", "must be of shape [2], not [1]",
        SLICE.format("[0, 0]", "[1, 1]", "[1, 1]")),
    Row(SLICE.format("[3, 0]", "[9, 1]", "[1, 1]"), "MIL520", "names position 3; axis 0 of `x`",
        SLICE.format("[-2, 0]", "[2, 1]", "[1, 1]")),
    Row("slice_by_index(begin = [2, 0], end = [3, 1], squeeze_mask = [true, false], x = m)", "MIL520",
        "names position 2; axis 0 of `x`",
        "slice_by_index(begin = [1, 0], end = [9, 1], squeeze_mask = [true, false], x = m)"),
    Row(SLICE.format("[2, 0]", "[1, 1]", "[1, 1]"), "MIL520", "is 2 at axis 0, and `end` is 1: steps of 1",
        SLICE.format("[1, 0]", "[2, 1]", "[1, 1]")),
    Row(SLICE.format("[0, 2]", "[2, -3]", "[1, 1]"), "MIL520",
        "is 2 at axis 1, and `end` is -3 (that is 0): steps of 1 do not lead there",
        SLICE.format("[0, 2]", "[2, -3]", "[1, -1]")),
    Row(SLICE.format("[0, -1]", "[2, 1]", "[1, 1]"), "MIL520", "is -1 (that is 2) at axis 1, and `end` is 1: steps",
        SLICE.format("[0, -1]", "[2, 3]", "[1, 1]")),
    Row(SLICE.format("[0, 1]", "[2, -1]", "[1, -1]"), "MIL520", "is 1 at axis 1, and `end` is -1 (that is 2): steps",
        SLICE.format("[0, 1]", "[2, -4]", "[1, -1]")),
    Row(SLICE.format("[-1, -1]", "[-3, -5]", "[-1, -1]"), "MIL520", "is -5 at axis 1, and `x` has 3 there",
        SLICE.format("[-1, -1]", "[-3, -2147483648]", "[-1, -1]")),
    Row(SLICE.format("[0, 2]", "[2, 1]", "[1, 1]"), "MIL520", "is 2 at axis 1, and `end` is 1: steps of 1",
        SLICE.format("[0, 2]", "[2, 1]", "[1, -1]")),
    Row(SLICE.format("[0, 0]", "[2, 1]", "[1, 0]"), "MIL518", "not 0 at axis 1", SLICE.format("[0, 0]", "[2, -1]",
        "[2, 2]")),
    Row("slice_by_size(begin = [0, 2], size = [1, 2], x = m)", "MIL520",
        "is 2 from `begin` 2 on, and axis 1 of `x` has 3",
        "slice_by_size(begin = [0, 2], size = [1, -1], x = m)"),
    Row("slice_by_size(begin = [0, 4], size = [1, 0], x = m)", "MIL520", "names position 4",
        "slice_by_size(begin = [0, -3], size = [1, 3], x = m)"),
    Row("slice_by_size(begin = [0, 0], size = [1, -2], x = m)", "MIL518", "from -1 on, not -2",
        "slice_by_size(begin = [0, 0], size = [9, 1], x = some)"),
    Row("slice_update(begin = [0, 0], end = [2, 2], update = m, x = m)", "MIL515",
        "must be of shape [2, 2], that of the slice of `x` by `begin`, `end`, not [2, 3]",
        "slice_update(begin = [0, 0], end = [2, 3], update = m, x = m)"),
    Row("slice_update(begin = [0, 0], end = [2, 3], update = s, x = m)", "MIL514", "rank 1 or more",
        "slice_update(begin = [0, 0], end = [2, 3], update = some, x = m)"),
    # ---- picking
    Row(GATHER.format(0, 0, "[2]", "false"), "MIL520", "names position 2; `axis` 0 of `x` has positions from -2 to 1",
        GATHER.format(1, 0, "[2, -3]", "false")),
    Row(GATHER.format(0, 0, "-1", "true"), "MIL520", "with `validate_indices`, has positions from 0 to 1",
        GATHER.format(0, 0, "1", "true")),
    Row(GATHER.format(2, 0, "[0]", "false"), "MIL516", "names axis 2", GATHER.format(-1, 0, "[0]", "false")),
    Row(GATHER.format(0, 1, "places", "false"), "MIL516",
        "names axis 0; with `batch_dims` of 1, the axes to gather from begin at 1",
        GATHER.format(-1, 1, "places", "false")),
    Row("gather(batch_dims = 1, indices = places, x = m)", "MIL518", "is 1, and `axis` is left out, which makes it 0",
        "gather(batch_dims = 0, indices = places, x = m)", "ios16"),
    Row(GATHER.format(1, 2, "places", "false"), "MIL518", "takes numbers from 0 to 1, not 2",
        GATHER.format(1, 1, "places", "false")),
    Row(GATHER.format(1, 1, "0", "false"), "MIL518", "is 1, and `indices` has 0 dimensions",
        GATHER.format(1, 0, "0", "false")),
    Row(GATHER.format(1, 1, "[0, 1, 2]", "false"), "MIL515", "must begin like `x`, [2, 3], in 1 `batch_dims`",
        GATHER.format(1, 1, "[0, 1]", "false")),
    Row("gather(axis = 0, indices = [0], x = s)", "MIL514", "not a scalar", "gather(axis = 0, indices = [0], x = v)"),
    Row("gather_along_axis(axis = 0, indices = pair, x = m, validate_indices = false)", "MIL514",
        "must be of the rank of `x`, 2, and is of shape [2]",
        "gather_along_axis(axis = 1, indices = places, x = m, validate_indices = false)"),
    Row("gather_along_axis(axis = 0, indices = places, x = m, validate_indices = false)", "MIL515",
        "must be of shape [?, 3], like `x` except along `axis` 0, not [2, 2]",
        "gather_along_axis(axis = 0, indices = grid, x = four, validate_indices = false)"),
    Row("gather_along_axis(axis = 1, indices = [[0], [3]], x = m, validate_indices = false)", "MIL520",
        "names position 3", "gather_along_axis(axis = 1, indices = [[0], [2]], x = m, validate_indices = false)"),
    Row("gather_nd(batch_dims = 1, indices = places, x = m, validate_indices = false)", "MIL515",
        "has 2 numbers for each place, and `x` has 1 dimensions after 1 `batch_dims`",
        "gather_nd(batch_dims = 0, indices = places, x = m, validate_indices = false)"),
    Row("gather_nd(batch_dims = 0, indices = [[0, 3]], x = m, validate_indices = false)", "MIL520",
        "names position 3; axis 1", "gather_nd(batch_dims = 0, indices = [[1, 2]], x = m, validate_indices = false)"),
    Row("gather_nd(batch_dims = 0, indices = 1, x = m, validate_indices = false)", "MIL514", "[*i, k]",
        "gather_nd(batch_dims = 0, indices = pair, x = m, validate_indices = false)"),
    Row(SCATTER.format("scatter", 0, "[0]", '"add"', "m"), "MIL515",
        "must be of shape [1, 3], `data` with the shape of `indices`, [1], at `axis` 0, not [2, 3]",
        SCATTER.format("scatter", 0, "[0, 1]", '"add"', "m")),
    Row(SCATTER.format("scatter", 0, "[0, 2]", '"add"', "m"), "MIL520", "names position 2",
        SCATTER.format("scatter", 0, "unknown", '"add"', "m")),
    Row(SCATTER.format("scatter", 0, "[0, 1]", '"ad"', "m"), "MIL519", "did you mean `add`?",
        SCATTER.format("scatter", 0, "[0, 1]", '"update"', "m")),
    Row(SCATTER.format("scatter_along_axis", 0, "grid", '"add"', "four"), "MIL515",
        "must be of shape [2, 3], not [4, 3]; `indices` is of shape [2, 3]",
        SCATTER.format("scatter_along_axis", 0, "grid", '"add"', "some")),
    Row(SCATTER.format("scatter_along_axis", 0, "[0, 1]", '"add"', "pair"), "MIL506", "must be of one data type",
        SCATTER.format("scatter_along_axis", -2, "grid", '"add"', "m")),
    Row('scatter_nd(data = m, indices = [[0, 1, 2]], mode = "add", updates = v)', "MIL515",
        "has 3 numbers for each place, and `data` has 2 dimensions",
        'scatter_nd(data = m, indices = [[0], [1]], mode = "add", updates = m)'),
    Row('scatter_nd(data = m, indices = [[0], [2]], mode = "add", updates = m)', "MIL520", "names position 2; axis 0",
        'scatter_nd(data = m, indices = [[0], [-2]], mode = "add", updates = m)'),
    Row('scatter_nd(data = m, indices = [[0], [1]], mode = "add", updates = v)', "MIL515",
        "must be of shape [2, 3], a slice of `data`, [3], for each of the places in `indices`, [2], not [6]",
        'scatter_nd(data = m, indices = [[0], [1]], mode = "add", updates = some)'),
    Row('scatter_nd(data = m, indices = [0, 1], mode = "add", updates = v)', "MIL515",
        "must be of shape [], an element of `data` for the one place in `indices`, not [6]",
        'scatter_nd(data = m, indices = [0, 1], mode = "add", updates = s)'),
    Row('scatter_nd(data = m, indices = [1], mode = "add", updates = v)', "MIL515",
        "must be of shape [3], a slice of `data`, [3], for the one place in `indices`, not [6]",
        'scatter_nd(data = m, indices = [1], mode = "add", updates = [0.5, 1.5, 2.5])'),
    # ---- sorting, and others
    Row("_ a, _ b = topk(axis = 1, k = 4, x = m)", "MIL518", "must be from 1 to 3, the size of `axis` 1 of `x`",
        "_ a, _ b = topk(axis = 1, k = 3, x = m)"),
    Row("_ a, _ b = topk(axis = 1, k = -1, x = m)", "MIL518", "from 1 on, not -1",
        "_ a, _ b = topk(axis = 0, k = 1, x = m)", "ios16"),
    Row("_ a, _ b = topk(axis = 1, k = 0, x = m)", "MIL518",
        "is 0, but must be from 1 to 3, the size of `axis` 1 of `x`, or -1 for all of it",
        "_ a, _ b = topk(axis = 1, k = -1, x = m)"),
    Row('_ a, _ b = topk(axis = 1, k = 1, x = m, output_indices_dtype = "int64")', "MIL519",
        "takes `int32` or `uint16`",
        '_ a, _ b = topk(axis = 1, k = 1, x = m, output_indices_dtype = "uint16")'),
    Row('topk(k = 1, x = m, return_indices = false, output_indices_dtype = "int32")', "MIL702",
        "`return_indices` is false",
        "topk(k = 1, x = m, return_indices = false)"),
    Row("argsort(axis = 2, x = m)", "MIL516", "names axis 2", "argsort(axis = 1, x = m)"),
    Row("argsort(axis = 0, ascending = [true], x = m)", "MIL514", "takes a scalar", "argsort(axis = -2, x = m)"),
    Row("non_zero(x = s)", "MIL514", "not a scalar", "non_zero(x = v)"),
    Row("one_hot(axis = 2, indices = pair, one_hot_vector_size = 3)", "MIL516", "from -2 to 1",
        "one_hot(axis = 1, indices = pair, one_hot_vector_size = 3)"),
    Row("one_hot(indices = pair, one_hot_vector_size = -1)", "MIL518", "from 0 on, not -1",
        "one_hot(indices = pair, one_hot_vector_size = 3)"),
    Row("one_hot(indices = pair, one_hot_vector_size = 3, on_value = fp16(1), off_value = fp32(0))", "MIL506",
        "is fp32, but `on_value` is fp16",
        "one_hot(indices = pair, one_hot_vector_size = 3, on_value = fp16(1), off_value = fp16(0))"),
    Row("band_part(lower = [1], upper = 1, x = m)", "MIL514", "takes a scalar",
        "band_part(lower = -1, upper = 9, x = v)"),
    Row("cumsum(axis = 2, x = m)", "MIL516", "names axis 2; the axes here are from -1 to 1",
        "cumsum(axis = -1, x = m)"),
    Row("cumsum(axis = -2, x = m)", "MIL516", "names axis -2; the axes here are from -1 to 1",
        "cumsum(axis = 0, exclusive = true, x = m)"),
    Row("_ a, _ b, _ c, _ d = " + NMS.format("fewer", 1), "MIL515", "must be of shape [2, 9, 5], not [2, 8, 5]",
        "_ a, _ b, _ c, _ d = " + NMS.format("scores", 1), "ios15"),
    Row("_ a, _ b, _ c, _ d = " + NMS.format("scores", 0), "MIL518", "from 1 on, not 0",
        "_ a, _ b, _ c, _ d = " + NMS.format("scores", 3), "ios16"),
    Row(NMS17.format("fewer"),
        "MIL515", "must be of shape [2, 4, ?] or [2, ?, 4], not [2, 8, 5]",
        NMS17.format("boxes17")),
]  # fmt: skip

DOUBTED = [
    Row(SLICE.format("[0, 0]", "[2, 1000]", "[1, 1]"), "MIL520", "`end` of `slice_by_index` is 1000 at axis 1",
        SLICE.format("[0, 0]", "[2, 2147483647]", "[1, 1]")),
    Row(SLICE.format("[0, 0]", "[2, 4]", "[1, 1]"), "MIL520", "is 4 at axis 1; it is cut off at 3, the size",
        SLICE.format("[0, 0]", "[2, 3]", "[1, 1]")),
    Row(SLICE.format("[2, 0]", "[9, 1]", "[1, 1]"), "MIL520", "`begin` of `slice_by_index` names position 2; axis 0",
        SLICE.format("[1, 0]", "[2, 1]", "[1, 1]")),
    Row("slice_by_index(begin = [2, 0], end = [0, 0], end_mask = [true, true], x = m)", "MIL520", "names position 2",
        "slice_by_index(begin = [1, 0], end = [0, 0], end_mask = [true, true], x = m)"),
    Row(SLICE.format("[0, 9]", "[1, 0]", "[1, -1]"), "MIL520", "names position 9; axis 1",
        SLICE.format("[0, 2]", "[1, 0]", "[1, -1]")),
    Row(SLICE.format("[1, 0]", "[1, 3]", "[1, 1]"), "MIL520", "`end` of `slice_by_index` leaves nothing of the 2",
        SLICE.format("[1, 0]", "[2, 3]", "[1, 1]")),
    Row("slice_by_index(begin = [0, 0], end = [0, 3], begin_mask = [true, true], x = m)", "MIL520",
        "leaves nothing of the 2", "slice_by_index(begin = [0, 0], end = [0, 3], begin_mask = [true, true], x = some)"),
    Row("slice_update(begin = [0, 0], end = [9, 3], update = m, x = m)", "MIL520", "is 9 at axis 0",
        "slice_update(begin = [0, 0], end = [9, 3], update = m, x = some)"),
    Row("slice_by_size(begin = [0, 3], size = [1, 0], x = m)", "MIL520",
        "`size` of `slice_by_size` is 0 from `begin` 3 on, and axis 1 of `x` has 3: nothing is left",
        "slice_by_size(begin = [0, 2], size = [1, 1], x = m)"),
    Row("slice_by_size(begin = [2, 0], size = [-1, 3], x = m)", "MIL520", "is -1 from `begin` 2 on",
        "slice_by_size(begin = [2, 0], size = [-1, 3], x = some)"),
    Row("one_hot(indices = [0, 3], one_hot_vector_size = 3)", "MIL520",
        "names position 3, and `one_hot_vector_size` is 3: its row is all `off_value`",
        "one_hot(indices = [-1, 2], one_hot_vector_size = 3)"),
]  # fmt: skip
"""Calls that are taken, and that a warning is given of."""


def found(call: str, opset: str, severity: str = "error") -> list[tuple[str, str, str]]:
    """What is said of a call."""
    statement = call if " = " in call.partition("(")[0] else f"_ y = {call}"
    body = f"{statement};\n_ given = identity(x = m);\n"
    text = f"program(1.3)\n{{\nfunc main<{opset}>({TAKES}) {{\n{body}}} -> (given);\n}}\n"
    return findings(text, severity)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.wrong)
def test_a_problem_is_reported_once_at_its_argument(row: Row) -> None:
    [(code, message, place)] = found(row.wrong, row.opset)
    assert (code, row.message in message) == (row.code, True), message
    if code == "MIL503":  # no argument says how to split
        assert place == operation(row.wrong)
        return
    name = message.split("`")[1]
    given = row.wrong.partition(f"{name} = ")[2]
    if code == "MIL508":  # it is given nothing
        assert place == f"{name} = ()"
    else:
        assert place in given if name in VARIADIC else given.startswith(place)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.right)
def test_correct_neighbours_are_not_reported(row: Row) -> None:
    assert not found(row.right, row.opset)


@pytest.mark.parametrize("row", DOUBTED, ids=lambda row: row.wrong)
def test_an_odd_value_is_a_warning(row: Row) -> None:
    [(code, message, place)] = found(row.wrong, row.opset, "warning")
    assert (code, row.message in message) == (row.code, True), message
    name = message.split("`")[1]
    assert row.wrong.partition(f"{name} = ")[2].startswith(place)
    assert not found(row.wrong, row.opset)


@pytest.mark.parametrize("row", DOUBTED, ids=lambda row: row.right)
def test_usual_neighbours_are_not_reported(row: Row) -> None:
    assert not found(row.right, row.opset) + found(row.right, row.opset, "warning")


def test_each_axis_of_a_slice_is_reported() -> None:
    told = found(SLICE.format("[2, 0]", "[9, 4]", "[1, 1]"), "ios18", "warning")
    assert [message.split("`")[1] for _, message, _ in told] == ["begin", "end"]


def test_all_of_nothing_is_left_alone() -> None:
    takes = "program(1.3)\n{\nfunc main<ios18>(tensor<fp32, [0, 3]> x) {\n"
    call = "tensor<fp32, [0, 3]> y = slice_by_index(begin = [0, 0], end = [0, 3], x = x)"
    assert not [told for told in miltext.check(f"{takes}{call};\n}} -> (y);\n}}\n") if told.code != "MIL712"]


@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("[2, 3]", SLICE.format("[0, 0]", "[2, 1000]", "[1, 1]")),
        ("[2, 2]", SLICE.format("[0, 1]", "[9, 9]", "[1, 1]")),
        ("[0, 1]", SLICE.format("[2, 0]", "[9, 1]", "[1, 1]")),
        ("[1, 2]", SLICE.format("[0, 9]", "[1, 0]", "[1, -1]")),
        ("[2, 0]", "slice_by_size(begin = [0, 3], size = [-1, -1], x = m)"),
        ("[1, 4, 8, 6]",
         f"slice_by_index(begin = [1, 0, 0, 0], end = [0, 4, 8, 6], end_mask = [true{', false' * 3}], x = image)"),
        ("[0, 4, 8, 6]", "slice_by_index(begin = [1, 0, 0, 0], end = [1, 4, 8, 6], x = image)"),
    ],
)  # fmt: skip
def test_a_slice_declared_by_coremltools_is_accepted(made: str, call: str) -> None:
    assert not found(f"tensor<fp32, {made}> y = {call}", "ios18")


@pytest.mark.parametrize("opset", ["ios15", "ios17"])
@pytest.mark.parametrize("shape", ["[0, -1]", "[0, 0]", "[0, 3]", "[-1, 0]", "[0, 1, -1]"])
def test_coremltools_zeros_of_open_shapes_are_accepted(shape: str, opset: str) -> None:
    """coremltools 9.0 leaves each 0 as it is where a size of `x` is unknown."""
    text = f"program(1.3)\n{{\nfunc main<{opset}>(tensor<fp32, [?, 3]> x) {{\n"
    text += f"tensor<fp32, {shape.replace('-1', '?')}> y = reshape(shape = {shape}, x = x);\n}} -> (y);\n}}\n"
    assert not [told for told in miltext.check(text) if told.code != "MIL712"]


def operation(call: str) -> str:
    return call.partition("(")[0].rpartition(" ")[2]


def test_each_operation_of_the_family_has_a_row() -> None:
    assert {operation(row.wrong) for row in ROWS} == set(FAMILY.split())
    assert all(signature(name) for name in FAMILY.split())
