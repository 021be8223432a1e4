"""Programs of elementwise ops, reductions and ops that only change a shape, for `coremltools_programs`.

Shapes and values are our own; what each op takes is coremltools' registry's to say.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from support.coremltools_programs import (
    FROM16,
    FROM17,
    IOS15,
    IOS16,
    IOS17,
    IOS18,
    OPSETS,
    add,
    weight,
)

# Elementwise, one input.

FLOATS = {"x": "fp32[2,3]", "h": "fp16[b,4]", "s": "fp32[]"}
UNARY_FLOAT = (
    "acos asin atan atanh ceil cos cosh erf exp floor round sin sinh sqrt tan tanh "
    "relu relu6 sigmoid silu softplus softsign"
)


def each(op: str, mb: Any, constants: dict[str, Any] | None = None, **inputs: Any) -> list[Any]:
    """The op applied to each input, with scalar constants of the input's type."""
    made = []
    for x in inputs.values():
        scalar = np.float16 if x.dtype.__type_info__().name == "fp16" else np.float32
        typed = {key: scalar(value) for key, value in (constants or {}).items()}
        made.append(getattr(mb, op)(x=x, **typed))
    return made


for name in UNARY_FLOAT.split():
    add(name, OPSETS, partial(each, name), **FLOATS)
for name in ("abs", "exp2", "sign", "square", "identity"):
    add(name, OPSETS, partial(each, name), i="int32[2,n]", **FLOATS)
add("logical_not", OPSETS, partial(each, "logical_not"), x="bool[2,n]", s="bool[]")
for name in ("elu", "leaky_relu", "thresholded_relu", "threshold"):
    add(name, OPSETS, partial(each, name, constants={"alpha": 0.5}), **FLOATS)
for name in ("clamped_relu", "linear_activation", "scaled_tanh", "sigmoid_hard", "clip"):
    add(name, OPSETS, partial(each, name, constants={"alpha": -0.5, "beta": 0.5}), **FLOATS)
for name in ("log", "rsqrt", "inverse"):
    add(name, OPSETS, partial(each, name), **FLOATS)
    add(f"{name}-epsilon", OPSETS, partial(each, name, constants={"epsilon": 1e-4}), **FLOATS)


def gelu(mb: Any, x: Any, h: Any) -> list[Any]:
    return [mb.gelu(x=x), mb.gelu(x=x, mode="TANH_APPROXIMATION"), mb.gelu(x=h, mode="SIGMOID_APPROXIMATION")]


def per_channel(mb: Any, x: Any) -> list[Any]:
    alpha, beta = weight(3), weight(3)
    return [mb.prelu(x=x, alpha=alpha), mb.softplus_parametric(x=x, alpha=alpha, beta=beta)]


def softmax(mb: Any, x: Any, h: Any) -> list[Any]:
    return [mb.softmax(x=x), mb.softmax(x=x, axis=0), mb.softmax(x=h, axis=-2)]


add("gelu", OPSETS, gelu, x="fp32[2,3]", h="fp16[b]")
add("per_channel", OPSETS, per_channel, x="fp32[b,3,4,5]")
add("softmax", OPSETS, softmax, x="fp32[2,3]", h="fp16[1,b,4]")

# cast: the four types of ios15, and those that ios17 adds.
CASTS = {IOS15: "fp32 fp16 int32 bool", IOS16: "fp32 fp16 int32 bool"}
CASTS[IOS17] = CASTS[IOS18] = "fp32 fp16 int32 bool int8 uint8 int16 uint16"


def cast(targets: str, mb: Any, **inputs: Any) -> list[Any]:
    return [mb.cast(x=x, dtype=target) for x in inputs.values() for target in targets.split()]


for opset, targets in CASTS.items():
    add("cast", (opset,), partial(cast, targets), x="fp32[2,b]", h="fp16[3]", i="int32[]", t="bool[2,2]")
add("cast-small", FROM17, partial(cast, CASTS[IOS17]), a="int8[2]", b="uint8[n]", c="int16[1,2]", d="uint16[]")

# Elementwise, two inputs.

ARITHMETIC = "add sub mul real_div floor_div mod pow maximum minimum"
COMPARISONS = "equal not_equal greater greater_equal less less_equal"
BROADCASTS = {"x": "fp32[2,3]", "y": "fp32[3]", "z": "fp32[b,1,1]", "s": "fp32[]"}


def pairs(op: str, mb: Any, **inputs: Any) -> list[Any]:
    """Every input with every other of its type."""
    make, values = getattr(mb, op), list(inputs.values())
    return [make(x=x, y=y) for x in values for y in values if x.dtype == y.dtype]


for name in (ARITHMETIC + " " + COMPARISONS).split():
    add(name, OPSETS, partial(pairs, name), **BROADCASTS, h="fp16[2,n]", g="fp16[1]", i="int32[4,1]", j="int32[k]")
for name in ("logical_and", "logical_or", "logical_xor"):
    add(name, OPSETS, partial(pairs, name), x="bool[2,3]", y="bool[b,1,3]", s="bool[]")


def with_constants(mb: Any, x: Any, h: Any, i: Any) -> list[Any]:
    made = [mb.add(x=x, y=1.0), mb.mul(x=weight(4, 1, 3), y=x), mb.sub(x=h, y=np.float16(2)), mb.mod(x=i, y=3)]
    return [*made, mb.select(cond=mb.greater(x=x, y=0.0), a=x, b=mb.mul(x=x, y=0.1)), mb.add(x=weight(3), y=weight(3))]


def select(mb: Any, c: Any, x: Any, y: Any, i: Any, s: Any) -> list[Any]:
    return [mb.select(cond=c, a=x, b=y), mb.select(cond=c, a=i, b=np.int32(0)), mb.select(cond=s, a=x, b=y)]


add("with_constants", OPSETS, with_constants, x="fp32[b,3]", h="fp16[2]", i="int32[5]")
add("select", OPSETS, select, c="bool[2,3]", x="fp32[2,3]", y="fp32[2,3]", i="int32[2,3]", s="bool[]")

# Reductions.

REDUCTIONS = "l1_norm l2_norm log_sum log_sum_exp max mean min prod sum sum_square"


def reduce(op: str, mb: Any, x: Any, h: Any, i: Any) -> list[Any]:
    make = getattr(mb, op)
    made = [make(x=x), make(x=x, keep_dims=True), make(x=x, axes=[-1]), make(x=i, axes=[0])]
    return [*made, make(x=x, axes=[0, 2], keep_dims=True), make(x=h, axes=[1, -1], keep_dims=False)]


def reduce_arg(op: str, mb: Any, x: Any, i: Any) -> list[Any]:
    make = getattr(mb, op)
    return [make(x=x), make(x=x, axis=0), make(x=x, axis=1, keep_dims=True), make(x=i, axis=0)]


def reduce_arg_typed(mb: Any, x: Any) -> list[Any]:
    return [mb.reduce_argmax(x=x, output_dtype="uint16"), mb.reduce_argmin(x=x, axis=1, output_dtype="int32")]


for name in REDUCTIONS.split():
    add(f"reduce_{name}", OPSETS, partial(reduce, f"reduce_{name}"), x="fp32[2,3,4]", h="fp16[b,3,n]", i="int32[5]")
for name in ("reduce_argmax", "reduce_argmin"):
    add(name, OPSETS, partial(reduce_arg, name), x="fp32[2,b,4]", i="int32[5]")
add("reduce_arg_typed", FROM17, reduce_arg_typed, x="fp32[2,b,4]")

# Shapes.


def reshape(mb: Any, x: Any, d: Any, s: Any) -> list[Any]:
    shape = mb.shape(x=d)
    made = [mb.reshape(x=x, shape=[6, 4]), mb.reshape(x=x, shape=[-1, 4]), mb.reshape(x=d, shape=[4, -1])]
    made += [mb.reshape(x=d, shape=[-1]), mb.reshape(x=x, shape=[1, 2, -1, 2]), mb.reshape(x=x, shape=s)]
    first = mb.slice_by_index(x=shape, begin=[0], end=[1])
    return [*made, mb.reshape(x=d, shape=mb.concat(values=[first, [2, 2]], axis=0)), mb.reshape(x=d, shape=shape)]


def reshape_zero(mb: Any, x: Any) -> list[Any]:
    return [mb.reshape(x=x, shape=[0, -1, 2]), mb.reshape(x=x, shape=[0, 0, 4])]


def reshape_like(mb: Any, x: Any, a: Any, b: Any) -> list[Any]:
    first = mb.reshape_like(x=x, ref_tensors=(a, b), begins=[0, 1], ends=[2, 2], end_masks=[False, False])
    return [first, mb.reshape_like(x=x, ref_tensors=(a, b), begins=[0, 1], ends=[2, 0], end_masks=[False, True])]


def axes_ops(mb: Any, x: Any, d: Any, i: Any) -> list[Any]:
    made = [mb.transpose(x=x, perm=[2, 0, 1]), mb.transpose(x=d, perm=[-1, 0]), mb.transpose(x=x, perm=[-1, 1, -3])]
    made += [mb.expand_dims(x=x, axes=[0]), mb.expand_dims(x=d, axes=[-1, 1]), mb.expand_dims(x=i, axes=[0])]
    made += [mb.squeeze(x=x), mb.squeeze(x=x, axes=[1]), mb.squeeze(x=x, axes=[-2])]
    made += [mb.squeeze(x=mb.expand_dims(x=i, axes=[0]))]
    made += [mb.flatten2d(x=x), mb.flatten2d(x=x, axis=-1), mb.flatten2d(x=d, axis=0)]
    return [*made, mb.shape(x=x), mb.shape(x=d), mb.reverse(x=x, axes=[0]), mb.reverse(x=d)]


def tiles(mb: Any, x: Any, d: Any, r: Any) -> list[Any]:
    return [mb.tile(x=x, reps=[2, 3]), mb.tile(x=d, reps=[1, 2]), mb.tile(x=x, reps=r)]


def joins(mb: Any, x: Any, y: Any, d: Any, i: Any) -> list[Any]:
    made = [mb.concat(values=[x, y], axis=0), mb.concat(values=[x, d], axis=0), mb.concat(values=[x, x, x], axis=-1)]
    made += [mb.stack(values=[x, x], axis=0), mb.stack(values=[x, x, x], axis=-1), mb.stack(values=[i, i], axis=0)]
    return [*made, mb.concat(values=[x, x], axis=1, interleave=True), mb.concat(values=[x], axis=0)]


def splits(mb: Any, x: Any, d: Any) -> list[Any]:
    made = mb.split(x=x, num_splits=3, axis=1) + mb.split(x=x, split_sizes=[1, 5], axis=-1)
    return list(made + mb.split(x=d, num_splits=2, axis=1) + mb.split(x=d, split_sizes=[2, 1, 1], axis=1))


def slices(mb: Any, x: Any, d: Any, b: Any) -> list[Any]:
    made = [
        mb.slice_by_index(x=x, begin=[0, 1, 0], end=[2, 3, 4]),
        mb.slice_by_size(x=x, begin=[0, 1, 2], size=[1, 2, -1]),
    ]
    made.append(mb.slice_by_index(x=x, begin=[0, 0, 3], end=[2, 3, 0], stride=[1, 2, -1]))
    made.append(
        mb.slice_by_index(x=x, begin=[0, 0, 0], end=[0, 2, 0], begin_mask=[True] * 3, end_mask=[True, False, True])
    )
    made.append(
        mb.slice_by_index(x=x, begin=[1, 0, 0], end=[0, 0, 0], end_mask=[True] * 3, squeeze_mask=[True, False, False])
    )
    made.append(mb.slice_by_index(x=x, begin=[1, 2, 3], end=[2, 3, 4], squeeze_mask=[True] * 3))
    made.append(mb.slice_by_index(x=x, begin=[0, -2, -3], end=[2, -1, -1]))
    made.append(mb.slice_by_index(x=d, begin=[1, 0], end=[-1, 2], stride=[2, 1]))
    made.append(mb.slice_by_index(x=d, begin=[0, 0], end=[0, 0], end_mask=[True, True], squeeze_mask=[False, False]))
    made.append(mb.slice_by_index(x=d, begin=b, end=[5, 5], squeeze_mask=[False, True]))
    return [*made, mb.slice_by_size(x=d, begin=b, size=[2, 2]), mb.slice_by_size(x=d, begin=[1, 0], size=[-1, 2])]


def slice_updates(mb: Any, x: Any, u: Any, v: Any) -> list[Any]:
    made = [mb.slice_update(x=x, update=u, begin=[0, 1], end=[2, 3])]
    return [*made, mb.slice_update(x=x, update=v, begin=[0, 1], end=[2, 2], squeeze_mask=[False, True])]


def pads(mb: Any, x: Any, d: Any, p: Any) -> list[Any]:
    made = [
        mb.pad(x=x, pad=[1, 1, 2, 2]),
        mb.pad(x=x, pad=[1, 2], mode="reflect"),
        mb.pad(x=x, pad=p, constant_val=1.0),
    ]
    return [*made, mb.pad(x=x, pad=[0, 1], mode="replicate"), mb.pad(x=d, pad=[0, 0, 0, 0, 1, 0, 0, 2])]


def layouts(mb: Any, x: Any, d: Any) -> list[Any]:
    made = [
        mb.space_to_depth(x=x, block_size=2),
        mb.depth_to_space(x=x, block_size=2),
        mb.pixel_shuffle(x=x, upscale_factor=2),
    ]
    made += [mb.space_to_batch(x=x, block_shape=[2, 2], paddings=[[0, 0], [1, 1]])]
    made += [mb.batch_to_space(x=x, block_shape=[2, 1], crops=[[0, 1], [0, 0]])]
    made += [mb.sliding_windows(x=x, axis=2, size=3), mb.sliding_windows(x=x, axis=-1, size=2, stride=2)]
    made += [
        mb.space_to_depth(x=d, block_size=2),
        mb.pixel_shuffle(x=d, upscale_factor=2),
        mb.depth_to_space(x=d, block_size=2),
    ]
    made += [mb.band_part(x=x), mb.band_part(x=d, lower=0, upper=-1)]
    return [
        *made,
        mb.reverse_sequence(x=x, lengths=[1, 2, 1, 2], seq_axis=1, batch_axis=0),
        mb.crop(x=x, crop_height=[1, 1], crop_width=[0, 2]),
    ]


def small_types(mb: Any, a: Any, b: Any) -> list[Any]:
    made = [
        mb.transpose(x=a, perm=[1, 0]),
        mb.expand_dims(x=b, axes=[0]),
        mb.squeeze(x=mb.expand_dims(x=a, axes=[1]), axes=[1]),
    ]
    made += [
        mb.reshape(x=a, shape=np.array([6], np.int16)),
        mb.reverse(x=b, axes=[0]),
        mb.slice_by_size(x=a, begin=[0, 0], size=[1, 2]),
    ]
    return [
        *made,
        mb.slice_by_index(x=a, begin=np.array([0, 0], np.int8), end=np.array([1, 2], np.int8)),
        mb.topk(x=b, k=2, axis=0)[0],
    ]


add("reshape", OPSETS, reshape, x="fp32[2,3,4]", d="fp16[b,4]", s="int32[3]")
add("reshape_zero", FROM16, reshape_zero, x="fp32[2,3,4]")
add("reshape_like", FROM16, reshape_like, x="fp32[8,3]", a="fp32[2,4]", b="fp32[5,3]")
add("axes_ops", OPSETS, axes_ops, x="fp32[2,1,4]", d="fp32[b,4]", i="int32[]")
add("tiles", OPSETS, tiles, x="fp32[2,3]", d="fp16[b,4]", r="int32[2]")
add("joins", OPSETS, joins, x="fp32[2,3]", y="fp32[4,3]", d="fp32[b,3]", i="int32[]")
add("splits", OPSETS, splits, x="fp32[2,6]", d="fp16[b,4]")
add("slices", OPSETS, slices, x="fp32[2,3,4]", d="fp16[n,4]", b="int32[2]")
add("slice_updates", (IOS18,), slice_updates, x="fp32[2,3]", u="fp32[2,2]", v="fp32[2]")
add("pads", OPSETS, pads, x="fp32[2,5,6]", d="fp32[1,c,3,4]", p="int32[6]")
add("layouts", OPSETS, layouts, x="fp32[4,8,4,6]", d="fp16[1,4,h,w]")
add("pixel_unshuffle", FROM16, lambda mb, x: mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(2)), x="fp32[1,2,6,w]")
add("small_types", FROM17, small_types, a="int8[2,3]", b="uint16[n]")
