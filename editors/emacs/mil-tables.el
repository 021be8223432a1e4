;;; mil-tables.el --- The words and states of MIL  -*- lexical-binding: t -*-

;;; Commentary:

;; Made by editors/generate.py from src/miltext/highlight.py.

;;; Code:

(defconst mil-states
  '(
    (root
     gap
     ((words "program") font-lock-keyword-face)
     ((words "$draft") mil-marker marker)
     body
     ("[^ \t\r\n]" mil-error)
     )
    (marker
     gap
     (")" mil-punctuation pop)
     ("[(,]" mil-punctuation)
     ((words "names" "consts" "defaults") mil-marker)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-use)
     ("[;{}[]" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (functions
     gap
     ("}" mil-punctuation pop)
     body
     ("[^ \t\r\n]" mil-error)
     )
    (body
     ((words "func") font-lock-keyword-face function)
     ("{" mil-punctuation functions)
     statement
     )
    (function
     gap
     (";" mil-punctuation pop)
     ("{" mil-punctuation block)
     ("(" mil-punctuation inputs)
     phrase
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" font-lock-function-name-face)
     ("[^ \t\r\n]" mil-error)
     )
    (inputs
     gap
     (")" mil-punctuation pop)
     ("," mil-punctuation)
     ("_\\_>" font-lock-type-face typed)
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face typed)
     ((words "$absent" "$empty") mil-marker typed)
     ("\\$-?[0-9]+\\_>" font-lock-type-face typed)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" font-lock-variable-name-face)
     ("[;{}=]" ahead pop)
     constant
     ("[^ \t\r\n]" mil-error)
     )
    (block
     gap
     ("}" mil-punctuation pop)
     ("{" mil-punctuation block)
     statement
     ("[^ \t\r\n]" mil-error)
     )
    (statement
     ("_\\_>" font-lock-type-face typed)
     ("=" mil-operator made)
     (("(" . "[^(){};=\n]*)\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*{") mil-punctuation inputs)
     phrase
     (((words "abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space" "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize" "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse" "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos" "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp" "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd" "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm" "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter" "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list" "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad" "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal" "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm" "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum" "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear" "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention" "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu" "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus" "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub" "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor" "while_loop" "write_state") . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*[(<]") mil-operation)
     (("\\(?:[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"\\)" . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*[(<]") font-lock-function-name-face)
     (((words "abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space" "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize" "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse" "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos" "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp" "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd" "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm" "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter" "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list" "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad" "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal" "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm" "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum" "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear" "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention" "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu" "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus" "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub" "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor" "while_loop" "write_state") . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*$") mil-operation)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" font-lock-variable-name-face)
     )
    (made
     gap
     ((words "$import") mil-marker pop)
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face typed)
     ((words "$absent" "$empty") mil-marker typed)
     ("\\$-?[0-9]+\\_>" font-lock-type-face typed)
     ((words "abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space" "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize" "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse" "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos" "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp" "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd" "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm" "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter" "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list" "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad" "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal" "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm" "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum" "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear" "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention" "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu" "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus" "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub" "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor" "while_loop" "write_state") mil-operation)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" font-lock-function-name-face)
     ("[^A-Za-z_$/ \t\r\n]" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (phrase
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face typed)
     ((words "$absent" "$empty") mil-marker typed)
     ("\\$-?[0-9]+\\_>" font-lock-type-face typed)
     ("(" mil-punctuation arguments)
     ("\\$?\\[" mil-punctuation attributes)
     ("->" mil-operator outputs)
     ("=" mil-operator)
     ("<" mil-punctuation opset)
     ("[],;>)}]" mil-punctuation)
     constant
     )
    (opset
     gap
     (">" mil-punctuation pop)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-opset)
     ("[^A-Za-z_$>/ \t\r\n]" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (arguments
     gap
     (")" mil-punctuation pop)
     ("=" mil-operator binding)
     ("," mil-punctuation)
     (("_\\_>" . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*[A-Za-z_$]") font-lock-type-face typed)
     (("\\(?:[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"\\)" . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*=") mil-parameter)
     ("[;{}]" ahead pop)
     bound
     ("[^ \t\r\n]" mil-error)
     )
    (attributes
     gap
     ("\\]" mil-punctuation pop)
     ("=" mil-operator binding)
     ("," mil-punctuation)
     named
     ("[^ \t\r\n]" mil-error)
     )
    (named
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-parameter)
     ("[;{}]" ahead pop)
     constant
     )
    (binding
     gap
     ("[],);{}]" ahead pop)
     bound
     ("[^ \t\r\n]" mil-error)
     )
    (bound
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face typed)
     ((words "$absent" "$empty") mil-marker typed)
     ("\\$-?[0-9]+\\_>" font-lock-type-face typed)
     worded
     (((words "abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space" "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize" "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse" "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos" "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp" "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd" "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm" "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter" "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list" "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad" "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal" "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm" "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum" "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear" "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention" "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu" "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus" "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub" "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor" "while_loop" "write_state") . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*[(<]") mil-operation)
     (("\\(?:[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"\\)" . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*[(<]") font-lock-function-name-face)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-use)
     ("(" mil-punctuation arguments)
     ("\\[" mil-punctuation elements)
     ("<" mil-punctuation opset)
     constant
     )
    (outputs
     gap
     (")" mil-punctuation pop)
     ("[(,]" mil-punctuation)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-use)
     ("[;{}[]" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (typed
     gap
     ("<" mil-punctuation type)
     ("(" mil-punctuation literal)
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face)
     ((words "$absent" "$empty") mil-marker)
     ("\\$-?[0-9]+\\_>" font-lock-type-face)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" font-lock-variable-name-face)
     ("\\$[a-z]" ahead pop)
     ("[^A-Za-z_$<(/ \t\r\n]" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (type
     gap
     (">" mil-punctuation pop)
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face)
     ((words "$absent" "$empty") mil-marker)
     ("\\$-?[0-9]+\\_>" font-lock-type-face)
     ("\\$\\[" mil-punctuation attributes)
     ("[],[()]" mil-punctuation)
     ("\\?" mil-constant)
     ("<" mil-punctuation type)
     constant
     field
     ("[;{}]" ahead pop)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-use)
     ("[^ \t\r\n]" mil-error)
     )
    (literal
     gap
     (")" mil-punctuation pop)
     element
     ("[][{}]" mil-punctuation)
     ("[^ \t\r\n]" mil-error)
     )
    (elements
     gap
     ("\\]" mil-punctuation pop)
     (("\\(?:[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"\\)" . "\\(?:[ \t]\\|/\\*\\(?:[^*\n]\\|\\*+[^*/\n]\\)*\\*+/\\)*=") mil-parameter)
     element
     ("\\[" mil-punctuation elements)
     ("[{}]" mil-punctuation)
     ("[^ \t\r\n]" mil-error)
     )
    (element
     ("," mil-punctuation)
     ((words "inf" "nan") mil-number)
     worded
     constant
     ((words "dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64") font-lock-type-face)
     ((words "$absent" "$empty") mil-marker)
     ("\\$-?[0-9]+\\_>" font-lock-type-face)
     ("(" mil-punctuation literal)
     ((words "BLOBFILE") mil-blobfile)
     field
     ("<" mil-punctuation type)
     ("[A-Za-z_][A-Za-z0-9_@]*\\|\\$\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" mil-use)
     (";" ahead pop)
     )
    (worded
     ("[+-]inf\\_>" mil-number)
     ((words "false" "true") mil-constant)
     )
    (field
     ((words "interleave_factors" "offset" "path" "shape" "strides") mil-parameter)
     ("=" mil-operator)
     )
    (constant
     ("[+-]?[0-9]+\\_>" mil-number)
     ("[+-]?0[xX][0-9a-fA-F.]+\\(?:[pP][+-]?[0-9]+\\)?\\_>" mil-number)
     ("[+-]?\\(?:[0-9]+\\(?:\\.[0-9]*\\)?\\|\\.[0-9]+\\)\\(?:[eE][+-]?[0-9]+\\)?\\_>" mil-number)
     ("\"" font-lock-string-face string)
     ((words "$absent" "$blob" "$block" "$bools" "$bytes" "$dictionary" "$doc" "$doubles" "$draft" "$elided" "$empty" "$floats" "$import" "$ints" "$list" "$longInts" "$none" "$npy" "$npz" "$rank" "$safetensors" "$strings" "$tensor" "$tuple" "$unset" "$value" "$variadic" "$version") mil-marker)
     ("\\$0[xX][0-9a-fA-F]+\\_>" mil-number)
     ("[+-]?[0-9][0-9A-Za-z_.]*\\|\\$[A-Za-z]+" mil-error)
     )
    (string
     ("[^\"\\\n\u0000-\b\u000b\f\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+" font-lock-string-face)
     ("\"" font-lock-string-face pop)
     ("\\\\\\(?:[\"\\nt]\\|u{[0-9a-fA-F]+}\\)" mil-escape)
     ("\\\\." mil-error)
     ("$" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (gap
     ("[ \t\r\n]+" nil)
     ("//" font-lock-comment-face remark)
     ("/\\*" font-lock-comment-face comment)
     )
    (remark
     ("[^\r\n\u0000-\b\u000b\f\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+" font-lock-comment-face)
     ("\r" ahead pop)
     ("$" ahead pop)
     ("[^ \t\r\n]" mil-error)
     )
    (comment
     ("[^*\u0000-\b\u000b\f\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+" font-lock-comment-face)
     ("\\*/" font-lock-comment-face pop)
     ("\\*" font-lock-comment-face)
     ("[^ \t\r\n]" mil-error)
     )
    )
  "The states of MIL text.
An entry is the name of a state whose rules take its place, or a rule: its
pattern or words, its face, and the state that it enters, or `pop' where it
leaves one.  The face `ahead' says that the rule only looks ahead.  A pair is a
pattern or words with the pattern of what must follow.")

(defconst mil-ts-patterns
  '(
    ["$[" "(" ")" "," ";" "<" ">" "[" "]" "{" "}"] @mil-punctuation
    ["$absent" "$blob" "$block" "$dictionary" "$doc" "$draft" "$elided" "$empty" "$import" "$list" "$npy" "$npz" "$rank" "$safetensors" "$tensor" "$tuple" "$unset" "$value" "$variadic" "$version"] @mil-marker
    ["->" "="] @mil-operator
    ["?"] @mil-constant
    ["BLOBFILE"] @mil-blobfile
    ["dict" "list" "state" "tensor" "tensor_buffer" "tuple"] @font-lock-type-face
    ["func" "program"] @font-lock-keyword-face
    ["interleave_factors" "offset" "path" "shape" "strides"] @mil-parameter
    (comment) @font-lock-comment-face
    (string) @font-lock-string-face
    [(number) (inf) (nan)] @mil-number
    (bool) @mil-constant
    [(dtype_name) (code) (draft)] @font-lock-type-face
    [(field) (no_block)] @mil-marker
    (draft_marker (name) @mil-marker)
    (function name: (name) @font-lock-function-name-face)
    (opset (name) @mil-opset)
    (operation_opset (name) @mil-opset)
    (named_value name: (name) @font-lock-variable-name-face)
    (draft_value name: (name) @font-lock-variable-name-face)
    (name_binding (name) @mil-use)
    (outputs (name) @mil-use)
    (single_argument name: (name) @mil-parameter)
    (argument name: (name) @mil-parameter)
    (attribute name: (name) @mil-parameter)
    (draft_attribute name: (name) @mil-parameter)
    )
  "The nodes of tree-sitter that have a face, except for operations.")

(defconst mil-type-words
  '("dict" "list" "state" "tensor" "tensor_buffer" "tuple" "bool" "string" "fp8e4m3fn" "fp8e5m2" "fp16" "bf16" "fp32" "fp64" "int4" "int8" "int16" "int32" "int64" "uint1" "uint2" "uint3" "uint4" "uint6" "uint8" "uint16" "uint32" "uint64")
  "The words that begin a type.")

(defconst mil-operations
  '("abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space" "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize" "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse" "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos" "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp" "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd" "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm" "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter" "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list" "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad" "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal" "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm" "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum" "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear" "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention" "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu" "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus" "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub" "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor" "while_loop" "write_state")
  "The operations of all opsets.")

(defconst mil-parameters
  '("a" "activation" "align_corners" "alpha" "ascending" "attn_mask" "axes" "axis" "b" "batch_axis" "batch_dims" "begin" "begin_mask" "begins" "beta" "bias" "bias_back" "block_shape" "block_size" "box_coordinate_mode" "box_indices" "boxes" "ceil_mode" "cell_activation" "class_name" "classes" "clip" "cond" "constant_val" "coordinates" "coordinates_mode" "crop_height" "crop_width" "crops" "data" "data_mask" "description" "dilations" "direction" "downscale_factor" "dtype" "dynamic_length" "elem_shape" "end" "end_mask" "end_masks" "ends" "epsilon" "equation" "exclude_padding_from_average" "exclusive" "gamma" "groups" "half_pixel_centers" "high" "index" "indices" "indices_mask" "indices_nonzero_data" "init_length" "initial_c" "initial_h" "input" "input_bias" "input_order" "interleave" "interpolation_mode" "iou_threshold" "k" "keep_dims" "kernel_sizes" "key" "lengths" "loop_vars" "low" "lower" "ls" "lut" "mask" "max_boxes" "mean" "mode" "nbits" "nonzero_data" "normalized_coordinates" "num_splits" "off_value" "offset" "on_value" "one_hot_vector_size" "output_dtype" "output_height" "output_indices_dtype" "output_sequence" "output_shape" "output_width" "pad" "pad_type" "pad_value" "padding_mode" "padding_value" "paddings" "parameters" "peephole" "peephole_back" "per_class_suppression" "perm" "pred" "prob" "probabilities" "quant_bias" "quant_scale" "quantization_type" "quantized_data" "query" "recurrent_activation" "ref_tensor" "ref_tensors" "reps" "reset_after" "resized_dims" "return_indices" "reverse" "roi" "sampling_mode" "scale" "scale_factor_height" "scale_factor_width" "score_threshold" "scores" "seed" "seq_axis" "shape" "size" "sort" "source_val" "spatial_scale" "split_sizes" "squeeze_mask" "start" "stddev" "step" "stride" "strides" "target_height" "target_size_height" "target_size_width" "target_width" "transform_matrix" "transpose_x" "transpose_y" "update" "updates" "upper" "upscale_factor" "val" "validate_indices" "value" "values" "variance" "vector_axis" "weight" "weight_hh" "weight_hh_back" "weight_ih" "weight_ih_back" "weights" "x" "y" "zero_point")
  "The parameters of all operations.")

(defconst mil-keywords
  '("func" "program" "interleave_factors" "offset" "path" "shape" "strides" "BLOBFILE" "false" "true" "inf" "nan" "$absent" "$blob" "$block" "$bools" "$bytes" "$dictionary" "$doc" "$doubles" "$draft" "$elided" "$empty" "$floats" "$import" "$ints" "$list" "$longInts" "$none" "$npy" "$npz" "$rank" "$safetensors" "$strings" "$tensor" "$tuple" "$unset" "$value" "$variadic" "$version" "names" "consts" "defaults")
  "The other words.")

(provide 'mil-tables)
;;; mil-tables.el ends here
