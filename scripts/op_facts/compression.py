"""Facts of quantization, and of constants that are held quantized, as tables or sparse."""

from __future__ import annotations

from op_facts.words import ANY, VECTOR, Facts, axis, takes, word

_ANY_BUT_SCALAR = takes("[*d{1,}]")
_SCALED = {"input": takes("[*d]"), "scale": takes("[*s{,1}]"), "zero_point": takes("[*s{,1}]"), "axis": axis("#d")}
_SHIFTED = {"scale": takes("[*s{1,}]"), "offset": takes("[*s{1,}]")}
_TABLES = {"lut": takes("[*tables{1,}, entries, size]"), "vector_axis": axis("#d")}

FACTS: Facts = {
    # iOS17/quantization_ops.py
    "quantize": {**_SCALED, "output_dtype": word("int8 uint8")},
    "dequantize": _SCALED,
    # iOS16/constexpr_ops.py
    "constexpr_affine_dequantize": {
        "quantized_data": _ANY_BUT_SCALAR,
        "zero_point": takes("[] | [?]"),
        "scale": takes("[] | [?]"),
        "axis": axis("#d"),
    },
    "constexpr_cast": {"source_val": ANY, "output_dtype": word("fp32")},
    "constexpr_lut_to_dense": {
        "indices": VECTOR,
        "lut": takes("[2] | [4] | [16] | [64] | [256]"),
        "shape": takes("[?]", least="1"),
    },
    "constexpr_sparse_to_dense": {"nonzero_data": VECTOR, "mask": VECTOR, "shape": takes("[?]", least="1")},
    # iOS18/compression.py
    "constexpr_lut_to_dense@ios18": {"indices": _ANY_BUT_SCALAR, **_TABLES},
    "constexpr_sparse_to_dense@ios18": {"nonzero_data": VECTOR, "mask": _ANY_BUT_SCALAR},
    "constexpr_lut_to_sparse": {"indices_mask": _ANY_BUT_SCALAR, "indices_nonzero_data": VECTOR, **_TABLES},
    "constexpr_blockwise_shift_scale": {"data": _ANY_BUT_SCALAR, **_SHIFTED},
    "constexpr_sparse_blockwise_shift_scale": {"data_mask": _ANY_BUT_SCALAR, "nonzero_data": VECTOR, **_SHIFTED},
}
