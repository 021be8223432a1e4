"""Facts of ops that move elements about or pick some."""

from __future__ import annotations

from op_facts.words import ANY, SCALAR, VECTOR, Fact, Facts, axes, axis, number, takes, word

RUN = takes("[*d]")
TENSOR = takes("[*d{1,}]")
"""What has an axis at least."""
PICTURES = takes("[n, c, h, w]")
MODE = word("update add sub mul div max min")


def _slice(**others: Fact) -> dict[str, Fact]:
    """Return the facts of a slice by index, of all dimensions of `x`."""
    bounds = dict.fromkeys(("begin", "end", "stride", "begin_mask", "end_mask", "squeeze_mask"), takes("[#d]"))
    return {"x": RUN, **others, **bounds}


RESHAPING: Facts = {
    # iOS15/tensor_transformation.py, iOS16/tensor_transformation.py
    "reshape": {"x": ANY, "shape": {**VECTOR, "least": "-1"}},
    "reshape_like": dict.fromkeys(("x", "ref_tensors", "begins", "ends", "end_masks"), ANY),
    "transpose": {"x": RUN, "perm": takes("[#d]", axes="#d")},
    "expand_dims": {"x": ANY, "axes": VECTOR},
    "squeeze": {"x": TENSOR, "axes": axes("#d")},
    "space_to_depth depth_to_space": {"x": PICTURES, "block_size": number(least="2")},
    "pixel_shuffle": {"x": PICTURES, "upscale_factor": number(least="1")},
    "pixel_unshuffle": {"x": PICTURES, "downscale_factor": number(least="1")},
    "space_to_batch": {"x": PICTURES, "block_shape": takes("[2]", least="1"), "paddings": takes("[2, 2]", least="0")},
    "batch_to_space": {"x": PICTURES, "block_shape": takes("[2]", least="1"), "crops": takes("[2, 2]", least="0")},
    "sliding_windows": {"x": TENSOR, "axis": axis("#d"), "size": number(least="1"), "stride": number(least="1")},
    "reverse": {"x": RUN, "axes": axes("#d")},
    "reverse_sequence": {
        "x": TENSOR,
        "lengths": {**VECTOR, "least": "0"},
        "seq_axis": axis("#d"),
        "batch_axis": axis("#d"),
    },
    # iOS15/tensor_operation.py
    "flatten2d": {"x": RUN, "axis": SCALAR},
    "shape identity": {"x": ANY},
    "non_zero": {"x": TENSOR},
    "tile": {"x": TENSOR, "reps": takes("[#d]", least="1")},
    "pad": {
        "x": RUN,
        "pad": {**VECTOR, "least": "0"},
        "mode": word("constant reflect replicate"),
        "constant_val": SCALAR,
    },
    # iOS15/image_resizing.py
    "crop": dict.fromkeys(("crop_height", "crop_width"), takes("[2]", least="0")) | {"x": takes("[*d{1,}, h, w]")},
}

JOINING: Facts = {
    # iOS15/tensor_operation.py
    "concat": {"values": ANY, "axis": SCALAR, "interleave": SCALAR},
    "stack": {"values": ANY, "axis": SCALAR},
    "split": {
        "x": TENSOR,
        "num_splits": number(least="1"),
        "split_sizes": {**VECTOR, "least": "0"},
        "axis": axis("#d"),
    },
}

PICKING: Facts = {
    # iOS15/tensor_transformation.py, iOS18/tensor_transformation.py
    "slice_by_index": _slice(),
    "slice_update": _slice(update=takes("[*u{1,}]")),
    "slice_by_size": {"x": RUN, "begin": takes("[#d]"), "size": takes("[#d]", least="-1")},
    # iOS15/scatter_gather.py, iOS16/scatter_gather.py, iOS17/scatter_gather.py
    "gather": {"x": TENSOR, "indices": ANY, "axis": axis("#d")},
    "gather@ios16": {"batch_dims": number(least="0", most="#d-1")},
    "gather_along_axis": {"x": TENSOR, "indices": ANY, "axis": axis("#d")},
    "gather_nd": {"x": TENSOR, "indices": takes("[*i, k]")},
    "gather_nd@ios16": {"batch_dims": number(least="0", most="#d-1")},
    "scatter": {"data": TENSOR, "indices": VECTOR, "updates": ANY, "axis": axis("#d"), "mode": MODE},
    "scatter_along_axis": {
        "data": TENSOR,
        "indices": takes("[*i]"),
        "updates": takes("[*i]"),
        "axis": axis("#d"),
        "mode": MODE,
    },
    "scatter_nd": {"data": TENSOR, "indices": takes("[*i, k]"), "updates": ANY, "mode": MODE},
    "gather gather_along_axis gather_nd scatter scatter_along_axis scatter_nd@ios17": {"validate_indices": SCALAR},
    # iOS15/tensor_operation.py, iOS16/tensor_operation.py, iOS17/tensor_operation.py
    "topk": {"x": TENSOR, "k": number(least="1"), "axis": axis("#d"), "ascending": SCALAR},
    "topk@ios16": {"sort": SCALAR, "return_indices": SCALAR},
    "topk@ios17": {"k": number(least="-1"), "output_indices_dtype": word("int32 uint16")},
    "argsort": {"x": TENSOR, "axis": axis("#d"), "ascending": SCALAR},
    "cumsum": {"x": TENSOR, "axis": {**axis("#d"), "least": "-1"}, "exclusive": SCALAR, "reverse": SCALAR},
    "one_hot": {
        "indices": RUN,
        "one_hot_vector_size": number(least="0"),
        "axis": axis("#d+1"),
        "on_value": SCALAR,
        "off_value": SCALAR,
    },
    "band_part": {"x": ANY, "lower": SCALAR, "upper": SCALAR},
    "non_maximum_suppression": {
        "boxes": takes("[n, b, 4]"),
        "scores": takes("[n, b, k]"),
        "iou_threshold": SCALAR,
        "score_threshold": SCALAR,
        "max_boxes": number(least="1"),
        "per_class_suppression": SCALAR,
    },
    # Real Programs of iOS17 have their boxes in either dimension.
    "non_maximum_suppression@ios17": {"boxes": takes("[n, 4, ?] | [n, ?, 4]"), "scores": takes("[n, ?, ?]")},
}

FACTS: Facts = {**RESHAPING, **JOINING, **PICKING}
