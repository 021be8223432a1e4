"""Facts of layers: convolution, pooling, products of matrices, attention, recurrence, images, normalization.

Where a docstring sets a higher limit to a rank and coremltools' own programs go beyond it (`linear` of rank 5,
`local_response_norm` of rank 5), the programs are right.
"""

from __future__ import annotations

from op_facts.words import ANY, SCALAR, Fact, Facts, axes, number, takes, word

POSITIVE = number(least="1")
NOT_NEGATIVE = number(least="0")

WINDOWS: dict[str, Fact] = {
    "strides": takes("[#d]", least="1"),
    "dilations": takes("[#d]", least="1"),
    "pad": takes("[2*#d]", least="0"),
}
CONV: dict[str, Fact] = {
    "x": takes("[n, c, *d{1,3}]"),
    "weight": takes("[o, i, *k{#d}]"),
    "bias": takes("[o]"),
    "pad_type": word("valid custom same same_lower"),
    "groups": POSITIVE,
    **WINDOWS,
}
SAMPLING = word("STRICT_ALIGN_CORNERS ALIGN_CORNERS UNALIGN_CORNERS DEFAULT OFFSET_CORNERS")
BOXES: dict[str, Fact] = {
    "x": takes("[b, c, h, w]"),
    "target_height": POSITIVE,
    "target_width": POSITIVE,
    "normalized_coordinates": SCALAR,
    "spatial_scale": SCALAR,
    "box_coordinate_mode": word(
        "CORNERS_HEIGHT_FIRST CORNERS_WIDTH_FIRST CENTER_SIZE_HEIGHT_FIRST CENTER_SIZE_WIDTH_FIRST"
    ),
    "sampling_mode": SAMPLING,
    "pad_value": SCALAR,
}
ACTIVATION = word("tanh scaled_tanh sigmoid hard_sigmoid sigmoid_hard relu linear", any_case=True)


def gates(count: int) -> dict[str, Fact]:
    """Return the facts of the weights of a recurrent layer with so many gates."""
    rows = "h" if count == 1 else f"{count}*h"
    return {
        "x": takes("[s, b, i]"),
        "weight_ih": takes(f"[{rows}, i]"),
        "weight_hh": takes(f"[{rows}, h]"),
        "bias": takes(f"[{rows}]"),
        "output_sequence": SCALAR,
        "activation": ACTIVATION,
    }


FACTS: Facts = {
    # iOS15/conv.py
    "conv conv_quantized": CONV,
    "conv_quantized": {
        "quantization_type": word("linear lut"),
        "nbits": number(least="1", most="8"),
        "quant_scale": ANY,
        "quant_bias": ANY,
    },
    "conv_transpose": {
        "x": takes("[n, c, *d{1,3}]"),
        "weight": takes("[c, i, *k{#d}]"),
        "bias": takes("[?]"),
        "output_shape": takes("[#d+2]", least="1"),
        "pad_type": word("valid custom same"),
        "groups": POSITIVE,
        **WINDOWS,
    },
    # iOS15/pool.py
    "max_pool avg_pool l2_pool": {
        "x": takes("[n, c, *d{1,3}]"),
        "kernel_sizes": takes("[#d]", least="1"),
        "strides": WINDOWS["strides"],
        "pad_type": word("valid same custom same_lower", any_case=True),
        "pad": WINDOWS["pad"],
        "ceil_mode": SCALAR,
    },
    "avg_pool": {"exclude_padding_from_average": SCALAR},
    "l2_pool": {"x": takes("[n, c, *d{1,2}]")},
    # iOS15/linear.py
    "linear": {"x": takes("[..., i]"), "weight": takes("[o, i]"), "bias": takes("[o]")},
    "matmul": {"x": takes("[..., ?]"), "y": takes("[..., ?]"), "transpose_x": SCALAR, "transpose_y": SCALAR},
    "einsum": {"values": ANY, "equation": SCALAR},
    # iOS18/transformers.py
    "scaled_dot_product_attention": {
        "query": takes("[*b{1,}, l, e]"),
        "key": takes("[*b{1,}, s, e]"),
        "value": takes("[*b{1,}, s, ?]"),
        "attn_mask": takes("[..., s]"),
    },
    # iOS15/recurrent.py, iOS18/recurrent.py (gru)
    "rnn": {**gates(1), "initial_h": takes("[b, h]"), "direction": word("forward reverse")},
    "gru": {
        **gates(3),
        "initial_h": takes("[b, h]"),
        "direction": word("forward reverse"),
        "recurrent_activation": ACTIVATION,
    },
    "gru@ios18": {"reset_after": SCALAR, "input_bias": takes("[3*h]")},
    "lstm": {
        **gates(4),
        "initial_h": takes("[b, h] | [b, 2*h]"),
        "initial_c": takes("[b, h] | [b, 2*h]"),
        "weight_ih_back": takes("[4*h, i]"),
        "weight_hh_back": takes("[4*h, h]"),
        "bias_back": takes("[4*h]"),
        "peephole": takes("[3*h]"),
        "peephole_back": takes("[3*h]"),
        "direction": word("forward reverse bidirectional"),
        "recurrent_activation": ACTIVATION,
        "cell_activation": ACTIVATION,
        "clip": NOT_NEGATIVE,
    },
    # iOS15/image_resizing.py, iOS16/image_resizing.py
    "upsample_nearest_neighbor upsample_bilinear": {
        "x": takes("[*d{1,}, h, w]"),
        "scale_factor_height": SCALAR,
        "scale_factor_width": SCALAR,
    },
    "upsample_bilinear": {"align_corners": SCALAR},
    "upsample_bilinear@ios16": {"half_pixel_centers": SCALAR},
    "resize_nearest_neighbor resize_bilinear": {
        "x": takes("[*d{1,}, h, w]"),
        "target_size_height": POSITIVE,
        "target_size_width": POSITIVE,
    },
    "resize_bilinear": {"sampling_mode": SAMPLING},
    "crop_resize": {**BOXES, "roi": takes("[?, 1, 4, 1, 1] | [?, 1, 5, 1, 1]")},
    "affine": {
        "x": takes("[b, c, h, w]"),
        "transform_matrix": takes("[b, 6] | [1, 6]"),
        "output_height": POSITIVE,
        "output_width": POSITIVE,
        "sampling_mode": word("bilinear", any_case=True),
        "padding_mode": word("constant", any_case=True),
        "padding_value": number(least="0", most="0"),
        "coordinates_mode": word("normalized_minus_one_to_one", any_case=True),
        "align_corners": SCALAR,
    },
    "resample": {
        "x": takes("[b, c, h, w]"),
        "coordinates": takes("[b, ?, ?, 2]"),
        "sampling_mode": word("bilinear nearest"),
        "padding_mode": word("constant border reflection symmetric"),
        "padding_value": SCALAR,
        "coordinates_mode": word("unnormalized normalized_minus_one_to_one normalized_zero_to_one"),
        "align_corners": SCALAR,
    },
    # iOS17/image_resizing.py
    "crop_resize@ios17": {"boxes": takes("[n, 4]"), "box_indices": takes("[n]", least="0", most="b-1")},
    "resize": {
        "x": takes("[*d]"),
        "shape": takes("[k]", least="0"),
        "resized_dims": number(most="k"),
        "interpolation_mode": word("LINEAR NEAREST_NEIGHBOR"),
        "sampling_mode": SAMPLING,
    },
    # iOS15/normalization.py
    "batch_norm": {
        "x": takes("[n, c, *d{1,3}]"),
        "mean": takes("[c]"),
        "variance": takes("[c]"),
        "gamma": takes("[c]"),
        "beta": takes("[c]"),
        "epsilon": NOT_NEGATIVE,
    },
    "instance_norm": {
        "x": takes("[n, c, *d{1,3}]"),
        "gamma": takes("[c]"),
        "beta": takes("[c]"),
        "epsilon": NOT_NEGATIVE,
    },
    "l2_norm": {"x": takes("[..., c, h, w]"), "epsilon": NOT_NEGATIVE},
    "layer_norm": {"x": takes("[*d]"), "axes": axes("#d"), "gamma": ANY, "beta": ANY, "epsilon": NOT_NEGATIVE},
    "local_response_norm": {
        "x": takes("[n, c, *d{1,3}]"),
        "size": POSITIVE,
        "alpha": SCALAR,
        "beta": SCALAR,
        "k": SCALAR,
    },
}
