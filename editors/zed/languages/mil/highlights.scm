; Made by editors/generate.py. Each token has one pattern: the first or the last of several wins, by the editor.

["$[" "(" ")" "," ";" "<" ">" "[" "]" "{" "}"] @punctuation
["$absent" "$blob" "$block" "$dictionary" "$doc" "$draft" "$elided" "$empty" "$import" "$list" "$npy" "$npz" "$rank" "$safetensors" "$tensor" "$tuple" "$unset" "$value" "$variadic" "$version"] @keyword.directive
["->" "="] @operator
["?"] @constant.builtin
["BLOBFILE"] @keyword
["dict" "list" "state" "tensor" "tensor_buffer" "tuple"] @type.builtin
["func" "program"] @keyword
["interleave_factors" "offset" "path" "shape" "strides"] @property
(comment) @comment
(string) @string
[(number) (inf) (nan)] @number
(bool) @constant.builtin
[(dtype_name) (code) (draft)] @type.builtin
[(field) (no_block)] @keyword.directive
(draft_marker (name) @keyword.directive)
(function name: (name) @function)
(opset (name) @constant)
(operation_opset (name) @constant)
(named_value name: (name) @variable)
(draft_value name: (name) @variable)
(name_binding (name) @variable)
(outputs (name) @variable)
(single_argument name: (name) @property)
(argument name: (name) @property)
(attribute name: (name) @property)
(draft_attribute name: (name) @property)

([(operation type: (name) @function.builtin) (call type: (name) @function.builtin)]
 (#any-of? @function.builtin
  "abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space"
  "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize"
  "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse"
  "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos"
  "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp"
  "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd"
  "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm"
  "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter"
  "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list"
  "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad"
  "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal"
  "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm"
  "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum"
  "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear"
  "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention"
  "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu"
  "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus"
  "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub"
  "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor"
  "while_loop" "write_state"))

([(operation type: (name) @function) (call type: (name) @function)]
 (#not-any-of? @function
  "abs" "acos" "add" "affine" "argsort" "asin" "atan" "atanh" "avg_pool" "band_part" "batch_norm" "batch_to_space"
  "cast" "ceil" "clamped_relu" "classify" "clip" "concat" "cond" "const" "constexpr_affine_dequantize"
  "constexpr_blockwise_shift_scale" "constexpr_cast" "constexpr_lut_to_dense" "constexpr_lut_to_sparse"
  "constexpr_sparse_blockwise_shift_scale" "constexpr_sparse_to_dense" "conv" "conv_quantized" "conv_transpose" "cos"
  "cosh" "crop" "crop_resize" "cumsum" "custom_layer" "depth_to_space" "dequantize" "einsum" "elu" "equal" "erf" "exp"
  "exp2" "expand_dims" "fill" "fill_like" "flatten2d" "floor" "floor_div" "gather" "gather_along_axis" "gather_nd"
  "gelu" "greater" "greater_equal" "gru" "identity" "instance_norm" "inverse" "l2_norm" "l2_pool" "layer_norm"
  "leaky_relu" "less" "less_equal" "linear" "linear_activation" "list_gather" "list_length" "list_read" "list_scatter"
  "list_write" "local_response_norm" "log" "logical_and" "logical_not" "logical_or" "logical_xor" "lstm" "make_list"
  "matmul" "max_pool" "maximum" "minimum" "mod" "mul" "non_maximum_suppression" "non_zero" "not_equal" "one_hot" "pad"
  "pixel_shuffle" "pixel_unshuffle" "pow" "prelu" "quantize" "random_bernoulli" "random_categorical" "random_normal"
  "random_uniform" "range_1d" "read_state" "real_div" "reduce_argmax" "reduce_argmin" "reduce_l1_norm" "reduce_l2_norm"
  "reduce_log_sum" "reduce_log_sum_exp" "reduce_max" "reduce_mean" "reduce_min" "reduce_prod" "reduce_sum"
  "reduce_sum_square" "relu" "relu6" "resample" "reshape" "reshape_like" "resize" "resize_bilinear"
  "resize_nearest_neighbor" "reverse" "reverse_sequence" "rnn" "round" "rsqrt" "scaled_dot_product_attention"
  "scaled_tanh" "scatter" "scatter_along_axis" "scatter_nd" "select" "shape" "sigmoid" "sigmoid_hard" "sign" "silu"
  "sin" "sinh" "slice_by_index" "slice_by_size" "slice_update" "sliding_windows" "softmax" "softplus"
  "softplus_parametric" "softsign" "space_to_batch" "space_to_depth" "split" "sqrt" "square" "squeeze" "stack" "sub"
  "tan" "tanh" "threshold" "thresholded_relu" "tile" "topk" "transpose" "upsample_bilinear" "upsample_nearest_neighbor"
  "while_loop" "write_state"))
