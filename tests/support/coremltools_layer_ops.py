"""Programs of layers, gathers, random numbers and image ops, for `coremltools_programs`.

Shapes and values are our own; what each op takes is coremltools' registry's to say.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from support.coremltools_programs import (
    FROM16,
    FROM17,
    IOS18,
    OPSETS,
    TO16,
    add,
    integers,
    weight,
)

# Convolution, pooling, linear algebra.


def conv(mb: Any, x: Any, d: Any, s: Any, v: Any) -> list[Any]:
    made = [
        mb.conv(x=x, weight=weight(8, 4, 3, 3)),
        mb.conv(x=x, weight=weight(8, 4, 3, 3), bias=weight(8), pad_type="same"),
    ]
    made += [mb.conv(x=x, weight=weight(4, 1, 3, 2), pad_type="custom", pad=[1, 1, 0, 1], groups=4, dilations=[2, 1])]
    made += [mb.conv(x=d, weight=weight(2, 4, 3, 3), pad_type="custom", pad=[1, 1, 1, 1], strides=[2, 1])]
    made += [
        mb.conv(x=d, weight=weight(2, 4, 1, 1), pad_type="same", strides=[2, 2]),
        mb.conv(x=s, weight=weight(5, 3, 4)),
    ]
    return [*made, mb.conv(x=v, weight=weight(2, 1, 2, 2, 2), strides=[1, 2, 2])]


def conv_same_lower(mb: Any, x: Any, d: Any) -> list[Any]:
    return [mb.conv(x=v, weight=weight(8, 4, 3, 3), pad_type="same_lower", strides=[2, 2]) for v in (x, d)]


def conv_dynamic(mb: Any, x: Any, w: Any, b: Any) -> list[Any]:
    return [mb.conv(x=x, weight=w), mb.conv(x=x, weight=w, bias=b, pad_type="same")]


def conv_transpose(mb: Any, x: Any, d: Any, s: Any) -> list[Any]:
    made = [
        mb.conv_transpose(x=x, weight=weight(4, 8, 3, 3)),
        mb.conv_transpose(x=s, weight=weight(3, 5, 4), strides=[2]),
    ]
    made += [mb.conv_transpose(x=x, weight=weight(4, 8, 3, 3), pad_type="same", strides=[2, 2], bias=weight(8))]
    made += [
        mb.conv_transpose(
            x=x, weight=weight(4, 1, 2, 2), pad_type="custom", pad=[1, 0, 0, 1], groups=4, dilations=[2, 2]
        )
    ]
    made += [
        mb.conv_transpose(x=x, weight=weight(4, 2, 3, 3), output_shape=[1, 2, 16, 12], strides=[2, 2], pad_type="same")
    ]
    return [*made, mb.conv_transpose(x=d, weight=weight(4, 2, 3, 3), strides=[2, 2])]


def conv_quantized(mb: Any, x: Any) -> list[Any]:
    common = {
        "quant_scale": weight(8, 1, 1, 1),
        "quant_bias": weight(8, 1, 1, 1),
        "weight": integers(8, 4, 3, 3, dtype=np.uint8),
    }
    made = [mb.conv_quantized(x=x, quantization_type="linear", nbits=8, **common)]
    return [
        *made,
        mb.conv_quantized(x=x, quantization_type="linear", nbits=8, pad_type="same", strides=[2, 2], **common),
    ]


def pool(mb: Any, x: Any, d: Any, s: Any) -> list[Any]:
    made = []
    for make in (mb.max_pool, mb.avg_pool, mb.l2_pool):
        made += [
            make(x=x, kernel_sizes=[2, 2], pad_type="valid"),
            make(x=s, kernel_sizes=[3], pad_type="same", strides=[2]),
        ]
        made += [make(x=x, kernel_sizes=[3, 3], strides=[2, 2], pad_type="custom", pad=[1, 1, 1, 1])]
        made += [
            make(x=d, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid"),
            make(x=x, kernel_sizes=[2, 2], pad_type="same"),
        ]
    made += [
        mb.avg_pool(x=x, kernel_sizes=[2, 3], pad_type="custom", pad=[0, 1, 1, 1], exclude_padding_from_average=True)
    ]
    return [
        *made,
        mb.max_pool(x=x, kernel_sizes=[3, 3], strides=[2, 2], pad_type="custom", pad=[0] * 4, ceil_mode=True),
    ]


def linear(mb: Any, x: Any, d: Any, v: Any) -> list[Any]:
    made = [mb.linear(x=x, weight=weight(5, 4)), mb.linear(x=x, weight=weight(5, 4), bias=weight(5))]
    return [*made, mb.linear(x=d, weight=weight(2, 4, dtype=np.float16)), mb.linear(x=v, weight=weight(3, 4))]


def matmul(mb: Any, x: Any, y: Any, z: Any, v: Any, d: Any, i: Any) -> list[Any]:
    made = [mb.matmul(x=x, y=y), mb.matmul(x=x, y=z, transpose_y=True), mb.matmul(x=x, y=x, transpose_x=True)]
    made += [mb.matmul(x=v, y=y), mb.matmul(x=d, y=y), mb.matmul(x=i, y=i)]
    return [
        *made,
        mb.matmul(x=x, y=weight(4, 7)),
        mb.matmul(x=v, y=weight(4, 2)),
        mb.matmul(x=d, y=d, transpose_y=True),
    ]


def einsum(mb: Any, x: Any, y: Any, a: Any, b: Any) -> list[Any]:
    made = [mb.einsum(values=(x, y), equation="nchw,nwhu->nchu"), mb.einsum(values=(a, b), equation="chw,whu->chu")]
    return [*made, mb.einsum(values=(a, b), equation="abc,cbd->abd")]


def attention(mb: Any, q: Any, k: Any, v: Any, m: Any, d: Any) -> list[Any]:
    make = mb.scaled_dot_product_attention
    return [make(query=q, key=k, value=v), make(query=q, key=k, value=v, attn_mask=m), make(query=d, key=d, value=d)]


add("conv", OPSETS, conv, x="fp32[1,4,8,6]", d="fp32[b,4,h,w]", s="fp32[2,3,9]", v="fp32[1,1,4,5,6]")
add("conv_same_lower", FROM16, conv_same_lower, x="fp32[1,4,8,6]", d="fp32[b,4,h,w]")
add("conv_dynamic", FROM17, conv_dynamic, x="fp32[1,4,8,6]", w="fp32[8,4,3,3]", b="fp32[8]")
add("conv_transpose", OPSETS, conv_transpose, x="fp32[1,4,8,6]", d="fp32[b,4,h,w]", s="fp32[2,3,9]")
add("conv_quantized", OPSETS, conv_quantized, x="fp32[1,4,8,6]")
add("pool", OPSETS, pool, x="fp32[1,4,8,7]", d="fp16[b,4,h,w]", s="fp32[2,3,9]")
add("linear", OPSETS, linear, x="fp32[2,3,4]", d="fp16[b,4]", v="fp32[4]")
add(
    "matmul",
    OPSETS,
    matmul,
    x="fp32[2,3,4]",
    y="fp32[2,4,5]",
    z="fp32[1,6,4]",
    v="fp32[4]",
    d="fp32[b,2,n,4]",
    i="int32[2,2]",
)
add("einsum", OPSETS, einsum, x="fp32[2,3,4,5]", y="fp32[2,5,4,6]", a="fp32[3,4,5]", b="fp32[5,4,6]")
add(
    "attention",
    (IOS18,),
    attention,
    q="fp32[2,3,5,8]",
    k="fp32[2,3,7,8]",
    v="fp32[2,3,7,6]",
    m="fp32[2,3,5,7]",
    d="fp16[b,s,4]",
)

# Normalisation and recurrence.


def norms(mb: Any, x: Any, d: Any) -> list[Any]:
    made = [mb.batch_norm(x=x, mean=weight(4), variance=np.abs(weight(4))), mb.l2_norm(x=x), mb.instance_norm(x=x)]
    made += [
        mb.batch_norm(
            x=x, mean=weight(4), variance=np.ones(4, np.float32), gamma=weight(4), beta=weight(4), epsilon=1e-3
        )
    ]
    made += [
        mb.instance_norm(x=d, gamma=weight(4), beta=weight(4)),
        mb.layer_norm(x=x, axes=[-1]),
        mb.local_response_norm(x=d, size=3),
    ]
    return [
        *made,
        mb.layer_norm(x=d, axes=[1], gamma=weight(4), beta=weight(4), epsilon=1e-4),
        mb.l2_norm(x=d, epsilon=1e-4),
    ]


def rnn(mb: Any, x: Any, h: Any) -> list[Any]:
    common = {"initial_h": h, "weight_ih": weight(4, 3), "weight_hh": weight(4, 4)}
    last = mb.rnn(x=x, **common)
    return [*last, *mb.rnn(x=x, bias=weight(4), direction="reverse", output_sequence=True, activation="relu", **common)]


def gru(mb: Any, x: Any, h: Any) -> list[Any]:
    common = {"initial_h": h, "weight_ih": weight(12, 3), "weight_hh": weight(12, 4)}
    return [*mb.gru(x=x, **common), *mb.gru(x=x, bias=weight(12), output_sequence=True, activation="relu", **common)]


def gru_reset(mb: Any, x: Any, h: Any) -> Any:
    common = {"initial_h": h, "weight_ih": weight(12, 3), "weight_hh": weight(12, 4)}
    return mb.gru(x=x, reset_after=True, input_bias=weight(12), bias=weight(12), **common)


def lstm(mb: Any, x: Any, h: Any, c: Any, h2: Any, c2: Any) -> list[Any]:
    forward = {"weight_ih": weight(16, 3), "weight_hh": weight(16, 4)}
    back = {"weight_ih_back": weight(16, 3), "weight_hh_back": weight(16, 4), "bias_back": weight(16)}
    made = [*mb.lstm(x=x, initial_h=h, initial_c=c, **forward)]
    made += mb.lstm(
        x=x, initial_h=h, initial_c=c, output_sequence=True, bias=weight(16), peephole=weight(12), **forward
    )
    both = {"direction": "bidirectional", "bias": weight(16), **forward, **back}
    made += mb.lstm(x=x, initial_h=h2, initial_c=c2, output_sequence=True, **both)
    return [*made, *mb.lstm(x=x, initial_h=h2, initial_c=c2, clip=5.0, activation="sigmoid", **both)]


add("norms", OPSETS, norms, x="fp32[1,4,6,5]", d="fp32[b,4,h,w]")
for name, body in (("rnn", rnn), ("gru", gru)):
    add(name, OPSETS, body, x="fp32[5,2,3]", h="fp32[2,4]")
    add(f"{name}-unknown", OPSETS, body, x="fp32[s,b,3]", h="fp32[b,4]")
add("gru_reset", (IOS18,), gru_reset, x="fp32[5,2,3]", h="fp32[2,4]")
add("lstm", OPSETS, lstm, x="fp32[5,2,3]", h="fp32[2,4]", c="fp32[2,4]", h2="fp32[2,8]", c2="fp32[2,8]")
add("lstm-unknown", OPSETS, lstm, x="fp32[s,b,3]", h="fp32[b,4]", c="fp32[b,4]", h2="fp32[b,8]", c2="fp32[b,8]")

# Gather and scatter.


def gathers(mb: Any, x: Any, i: Any, j: Any, n: Any, d: Any) -> list[Any]:
    made = [
        mb.gather(x=x, indices=i, axis=1),
        mb.gather(x=x, indices=[0, 1]),
        mb.gather(x=x, indices=np.int32(1), axis=-1),
    ]
    made += [mb.gather(x=x, indices=j, axis=0), mb.gather_along_axis(x=x, indices=n, axis=1), mb.gather(x=d, indices=i)]
    made += [mb.gather_nd(x=x, indices=j), mb.gather_nd(x=x, indices=[[0], [1]]), mb.gather_nd(x=d, indices=j)]
    return [*made, mb.gather(x=[1.0, 2.0, 3.0], indices=np.int32(1)), mb.gather_along_axis(x=x, indices=n, axis=-2)]


def gathers_batched(mb: Any, x: Any, i: Any, j: Any) -> list[Any]:
    made = [mb.gather(x=x, indices=i, axis=2, batch_dims=1), mb.gather_nd(x=x, indices=j, batch_dims=1)]
    return [*made, mb.gather(x=x, indices=np.array([0, 1], np.uint16), axis=1), mb.gather_nd(x=x, indices=j)]


def gathers_small(mb: Any, x: Any, i: Any) -> list[Any]:
    made = [mb.gather(x=x, indices=np.array([1, 0], np.int8), axis=0, validate_indices=True)]
    return [*made, mb.gather_along_axis(x=x, indices=i, axis=1), mb.gather(x=x, indices=i, axis=1, batch_dims=1)]


def scatters(mb: Any, x: Any, u: Any, p: Any, n: Any, w: Any) -> list[Any]:
    made = [
        mb.scatter(data=x, indices=[0, 2], updates=u, axis=1),
        mb.scatter(data=x, indices=[0, 1], updates=x, axis=0),
    ]
    made += [mb.scatter_along_axis(data=x, indices=n, updates=w, axis=1, mode="update")]
    return [*made, mb.scatter_nd(data=x, indices=[[0, 1], [1, 2]], updates=p, mode="add")]


add("gathers", OPSETS, gathers, x="fp32[2,3,4]", i="int32[5]", j="int32[2,2]", n="int32[2,2,4]", d="fp16[b,3,2]")
add("gathers_batched", FROM16, gathers_batched, x="fp32[2,3,4]", i="int32[2,5]", j="int32[2,1]")
add("gathers_small", FROM17, gathers_small, x="uint8[2,3]", i="int16[2,3]")
add("scatters", OPSETS, scatters, x="fp32[2,3]", u="fp32[2,2]", p="fp32[2]", n="int32[2,1]", w="fp32[2,1]")

# Sorting, filling, random numbers and the like.


def sorting(mb: Any, x: Any, d: Any) -> list[Any]:
    made = [*mb.topk(x=x, k=2, axis=1), *mb.topk(x=d, k=1), *mb.topk(x=x, k=3, axis=-2, ascending=True)]
    return [
        *made,
        mb.argsort(x=x),
        mb.argsort(x=d, axis=0, ascending=True),
        mb.cumsum(x=x),
        mb.cumsum(x=d, axis=-1, reverse=True),
    ]


def topk16(mb: Any, x: Any) -> list[Any]:
    values = mb.topk(x=x, k=2, axis=1, return_indices=False)
    return [*(values if isinstance(values, tuple) else [values]), *mb.topk(x=x, k=2, axis=0, sort=False)]


def topk17(mb: Any, x: Any, k: Any) -> list[Any]:
    return [*mb.topk(x=x, k=2, output_indices_dtype="uint16"), *mb.topk(x=x, k=np.int16(2), axis=0)]


def fills(mb: Any, x: Any, s: Any, i: Any) -> list[Any]:
    made = [mb.fill(shape=[2, 3], value=1.5), mb.fill(shape=s, value=np.int32(1)), mb.fill(shape=[2], value=True)]
    made += [
        mb.one_hot(indices=i, one_hot_vector_size=4),
        mb.one_hot(indices=i, one_hot_vector_size=3, axis=0, on_value=2.0, off_value=0.0),
    ]
    made += [mb.range_1d(start=0, end=5, step=1), mb.range_1d(start=0.0, end=1.0, step=0.25), mb.non_zero(x=x)]
    return [
        *made,
        mb.range_1d(start=0, end=mb.squeeze(x=mb.slice_by_size(x=mb.shape(x=x), begin=[0], size=[1])), step=1),
    ]


def fill_like(mb: Any, x: Any) -> list[Any]:
    return [mb.fill_like(ref_tensor=x, value=1.0), mb.fill_like(ref_tensor=x, value=np.int32(2))]


def randoms(mb: Any, s: Any, x: Any) -> list[Any]:
    made = [mb.random_bernoulli(shape=[2, 3], prob=0.3), mb.random_normal(shape=s, mean=0.0, stddev=1.0, seed=7)]
    made += [mb.random_uniform(shape=[4], low=np.float16(0), high=np.float16(1)), mb.random_normal(shape=[2, 1])]
    return [*made, mb.random_categorical(x=x), mb.random_categorical(x=x, mode="probs", size=4)]


def suppression(opset: str, mb: Any, b: Any, s: Any) -> list[Any]:
    limits = {"iou_threshold": 0.5, "max_boxes": 7, "per_class_suppression": True}
    if opset in TO16:
        limits["score_threshold"] = 0.2
    return list(mb.non_maximum_suppression(boxes=b, scores=s, **limits))


add("sorting", OPSETS, sorting, x="fp32[2,3,4]", d="int32[b,4]")
add("topk16", FROM16, topk16, x="fp32[2,3]")
add("topk17", FROM17, topk17, x="fp32[2,3]", k="int32[]")
add("fills", OPSETS, fills, x="fp32[n,3]", s="int32[3]", i="int32[2]")
add("fill_like", FROM16, fill_like, x="fp32[n,3]")
add("randoms", OPSETS, randoms, s="int32[2]", x="fp32[2,5]")
for opset in OPSETS:
    add("non_maximum_suppression", (opset,), partial(suppression, opset), b="fp32[2,30,4]", s="fp32[2,30,3]")

# Images.


def resizing(mb: Any, x: Any, d: Any) -> list[Any]:
    made = [
        mb.upsample_nearest_neighbor(x=x, scale_factor_height=2, scale_factor_width=3),
        mb.upsample_nearest_neighbor(x=d),
    ]
    made += [mb.upsample_bilinear(x=x, scale_factor_height=2.0, scale_factor_width=1.5, align_corners=False)]
    made += [
        mb.upsample_nearest_neighbor(x=x, scale_factor_height=1.5, scale_factor_width=2.6),
        mb.upsample_bilinear(x=d, scale_factor_height=2, scale_factor_width=2),
    ]
    made += [
        mb.resize_nearest_neighbor(x=x, target_size_height=5, target_size_width=9),
        mb.resize_bilinear(x=d, target_size_height=3, target_size_width=4),
    ]
    return [*made, mb.resize_bilinear(x=x, target_size_height=12, target_size_width=12, sampling_mode="OFFSET_CORNERS")]


def sampling(mb: Any, x: Any, t: Any, c: Any, i: Any) -> list[Any]:
    modes = {"sampling_mode": "bilinear", "padding_mode": "constant", "padding_value": 0.0, "align_corners": True}
    made = [
        mb.affine(
            x=x,
            transform_matrix=t,
            output_height=5,
            output_width=6,
            coordinates_mode="normalized_minus_one_to_one",
            **modes,
        )
    ]
    made += [mb.resample(x=x, coordinates=c, coordinates_mode="normalized_zero_to_one", **modes)]
    return [*made, mb.resample(x=x, coordinates=i, coordinates_mode="unnormalized", **modes)]


def crop_resize(mb: Any, x: Any, r: Any) -> list[Any]:
    made = [mb.crop_resize(x=x, roi=r, target_height=3, target_width=4), mb.crop_resize(x=x, roi=r)]
    return [
        *made,
        mb.crop_resize(
            x=x,
            roi=r,
            target_height=2,
            target_width=2,
            normalized_coordinates=True,
            box_coordinate_mode="CENTER_SIZE_WIDTH_FIRST",
        ),
    ]


def crop_resize17(mb: Any, x: Any, b: Any, i: Any) -> list[Any]:
    made = [mb.crop_resize(x=x, boxes=b, box_indices=i, target_height=3, target_width=4)]
    return [*made, mb.crop_resize(x=x, boxes=b, box_indices=i, target_height=3, target_width=4, pad_value=1.0)]


def resize(mb: Any, x: Any, s: Any) -> list[Any]:
    made = [
        mb.resize(
            x=x, shape=[1, 1, 10, 12], resized_dims=np.uint32(2), interpolation_mode="LINEAR", sampling_mode="DEFAULT"
        )
    ]
    return [
        *made,
        mb.resize(x=x, shape=s, resized_dims=np.uint32(2)),
        mb.resize(x=x, shape=[0, 4], resized_dims=np.uint32(2)),
    ]


add("resizing", OPSETS, resizing, x="fp32[1,3,4,5]", d="fp16[b,3,h,w]")
add("sampling", OPSETS, sampling, x="fp32[2,3,4,5]", t="fp32[2,6]", c="fp32[2,6,7,2]", i="int32[2,6,7,2]")
add("crop_resize", TO16, crop_resize, x="fp32[2,3,8,8]", r="fp32[4,1,5,1,1]")
add("crop_resize", FROM17, crop_resize17, x="fp32[2,3,8,8]", b="fp32[4,4]", i="int32[4]")
add("resize", FROM17, resize, x="fp32[1,3,4,5]", s="int32[2]")
