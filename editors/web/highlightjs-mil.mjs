// MIL, the text of Core ML's programs, for highlight.js 11.
// Made by editors/generate.py from src/miltext/highlight.py.

// A rule is its pattern, its class, and the state that it enters, or "#pop" if it leaves one. A string is the name of a
// state whose rules take its place. A rule without a class only looks ahead.

const ENTERED = ["root", "marker", "functions", "function", "inputs", "block", "made", "opset", "arguments", "attributes", "binding", "outputs", "typed", "type", "literal", "elements", "string", "remark", "comment"];
const STATES = {
  "root": [
    "gap",
    ["(?:program)(?![A-Za-z0-9_@])", "keyword"],
    ["(?:\\$draft)(?![A-Za-z0-9_@])", "meta", "marker"],
    "body",
  ],
  "marker": [
    "gap",
    ["\\)", "punctuation", "#pop"],
    ["[(,]", "punctuation"],
    ["(?:names|consts|defaults)(?![A-Za-z0-9_@])", "meta"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable"],
    ["(?=[;{}\\[])", null, "#pop"],
  ],
  "functions": [
    "gap",
    ["\\}", "punctuation", "#pop"],
    "body",
  ],
  "body": [
    ["(?:func)(?![A-Za-z0-9_@])", "keyword", "function"],
    ["\\{", "punctuation", "functions"],
    "statement",
  ],
  "function": [
    "gap",
    [";", "punctuation", "#pop"],
    ["\\{", "punctuation", "block"],
    ["\\(", "punctuation", "inputs"],
    "phrase",
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "title.function"],
  ],
  "inputs": [
    "gap",
    ["\\)", "punctuation", "#pop"],
    [",", "punctuation"],
    ["_(?![A-Za-z0-9_@])", "type", "typed"],
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type", "typed"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta", "typed"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type", "typed"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable.constant"],
    ["(?=[;{}=])", null, "#pop"],
    "constant",
  ],
  "block": [
    "gap",
    ["\\}", "punctuation", "#pop"],
    ["\\{", "punctuation", "block"],
    "statement",
  ],
  "statement": [
    ["_(?![A-Za-z0-9_@])", "type", "typed"],
    ["=", "operator", "made"],
    ["\\((?=[^(){};=\\n]*\\)(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*\\{)", "punctuation", "inputs"],
    "phrase",
    ["(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*[(<])", "title.function.builtin"],
    ["(?:[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\")(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*[(<])", "title.function"],
    ["(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*(?![^]))", "title.function.builtin"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable.constant"],
  ],
  "made": [
    "gap",
    ["(?:\\$import)(?![A-Za-z0-9_@])", "meta", "#pop"],
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type", "typed"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta", "typed"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type", "typed"],
    ["(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])", "title.function.builtin"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "title.function"],
    ["(?=[^A-Za-z_$/ \\t\\r\\n])", null, "#pop"],
  ],
  "phrase": [
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type", "typed"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta", "typed"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type", "typed"],
    ["\\(", "punctuation", "arguments"],
    ["\\$?\\[", "punctuation", "attributes"],
    ["->", "operator", "outputs"],
    ["=", "operator"],
    ["<", "punctuation", "opset"],
    ["[,;>\\])}]", "punctuation"],
    "constant",
  ],
  "opset": [
    "gap",
    [">", "punctuation", "#pop"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "symbol"],
    ["(?=[^A-Za-z_$>/ \\t\\r\\n])", null, "#pop"],
  ],
  "arguments": [
    "gap",
    ["\\)", "punctuation", "#pop"],
    ["=", "operator", "binding"],
    [",", "punctuation"],
    ["_(?![A-Za-z0-9_@])(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*[A-Za-z_$])", "type", "typed"],
    ["(?:[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\")(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*=)", "attr"],
    ["(?=[;{}])", null, "#pop"],
    "bound",
  ],
  "attributes": [
    "gap",
    ["\\]", "punctuation", "#pop"],
    ["=", "operator", "binding"],
    [",", "punctuation"],
    "named",
  ],
  "named": [
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "attr"],
    ["(?=[;{}])", null, "#pop"],
    "constant",
  ],
  "binding": [
    "gap",
    ["(?=[,)\\];{}])", null, "#pop"],
    "bound",
  ],
  "bound": [
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type", "typed"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta", "typed"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type", "typed"],
    "worded",
    ["(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*[(<])", "title.function.builtin"],
    ["(?:[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\")(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*[(<])", "title.function"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable"],
    ["\\(", "punctuation", "arguments"],
    ["\\[", "punctuation", "elements"],
    ["<", "punctuation", "opset"],
    "constant",
  ],
  "outputs": [
    "gap",
    ["\\)", "punctuation", "#pop"],
    ["[(,]", "punctuation"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable"],
    ["(?=[;{}\\[])", null, "#pop"],
  ],
  "typed": [
    "gap",
    ["<", "punctuation", "type"],
    ["\\(", "punctuation", "literal"],
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable.constant"],
    ["(?=\\$[a-z])", null, "#pop"],
    ["(?=[^A-Za-z_$<(/ \\t\\r\\n])", null, "#pop"],
  ],
  "type": [
    "gap",
    [">", "punctuation", "#pop"],
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type"],
    ["\\$\\[", "punctuation", "attributes"],
    ["[,\\[\\]()]", "punctuation"],
    ["\\?", "literal"],
    ["<", "punctuation", "type"],
    "constant",
    "field",
    ["(?=[;{}])", null, "#pop"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable"],
  ],
  "literal": [
    "gap",
    ["\\)", "punctuation", "#pop"],
    "element",
    ["[\\[\\]{}]", "punctuation"],
  ],
  "elements": [
    "gap",
    ["\\]", "punctuation", "#pop"],
    ["(?:[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\")(?=(?:[ \\t\\r\\n]|//[^\\n]*\\n|/\\*(?:[^*]|\\*+[^*/])*\\*+/)*=)", "attr"],
    "element",
    ["\\[", "punctuation", "elements"],
    ["[{}]", "punctuation"],
  ],
  "element": [
    [",", "punctuation"],
    ["(?:inf|nan)(?![A-Za-z0-9_@])", "number"],
    "worded",
    "constant",
    ["(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])", "type"],
    ["(?:\\$absent|\\$empty)(?![A-Za-z0-9_@])", "meta"],
    ["\\$-?[0-9]+(?![0-9A-Za-z_])", "type"],
    ["\\(", "punctuation", "literal"],
    ["(?:BLOBFILE)(?![A-Za-z0-9_@])", "built_in"],
    "field",
    ["<", "punctuation", "type"],
    ["[A-Za-z_][A-Za-z0-9_@]*|\\$\"(?:[^\"\\\\\\n]|\\\\.)*\"", "variable"],
    ["(?=;)", null, "#pop"],
  ],
  "worded": [
    ["[-+]inf(?![A-Za-z0-9_@])", "number"],
    ["(?:false|true)(?![A-Za-z0-9_@])", "literal"],
  ],
  "field": [
    ["(?:interleave_factors|offset|path|shape|strides)(?![A-Za-z0-9_@])", "attr"],
    ["=", "operator"],
  ],
  "constant": [
    ["[-+]?[0-9]+(?![0-9A-Za-z_.])", "number"],
    ["[-+]?0[xX][0-9a-fA-F.]+(?:[pP][-+]?[0-9]+)?(?![0-9A-Za-z_.])", "number"],
    ["[-+]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.])", "number"],
    ["\\\"", "string", "string"],
    ["(?:\\$absent|\\$blob|\\$block|\\$bools|\\$bytes|\\$dictionary|\\$doc|\\$doubles|\\$draft|\\$elided|\\$empty|\\$floats|\\$import|\\$ints|\\$list|\\$longInts|\\$none|\\$npy|\\$npz|\\$rank|\\$safetensors|\\$strings|\\$tensor|\\$tuple|\\$unset|\\$value|\\$variadic|\\$version)(?![A-Za-z0-9_@])", "meta"],
    ["\\$0[xX][0-9a-fA-F]+(?![0-9A-Za-z_])", "number"],
    ["[-+]?[0-9][0-9A-Za-z_.]*|\\$[A-Za-z]+", "illegal"],
  ],
  "string": [
    ["[^\"\\\\\\n\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ufeff]+", "string"],
    ["\\\"", "string", "#pop"],
    ["\\\\(?:[\"\\\\nt]|u\\{[0-9a-fA-F]+\\})", "char.escape"],
    ["\\\\.", "illegal"],
    ["(?=\\n|(?![^]))", null, "#pop"],
  ],
  "gap": [
    ["//", "comment", "remark"],
    ["/\\*", "comment", "comment"],
  ],
  "remark": [
    ["[^\\r\\n\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ufeff]+", "comment"],
    ["(?=\\r)", null, "#pop"],
    ["(?=\\n|(?![^]))", null, "#pop"],
  ],
  "comment": [
    ["[^*\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ufeff]+", "comment"],
    ["\\*/", "comment", "#pop"],
    ["\\*", "comment"],
  ],
};

const flat = (name) => STATES[name].flatMap((entry) => (typeof entry === "string" ? flat(entry) : [entry]));
const looksAhead = ([, scope, target]) => target === "#pop" && scope === null;
const endOf = (name) => flat(name).filter(looksAhead).map(([pattern]) => pattern).join("|") || "(?!)";

export default function mil() {
  const contents = Object.fromEntries(ENTERED.map((name) => [name, []]));
  const mode = ([pattern, scope, target]) => {
    if (!target) return { match: pattern, scope };
    if (target === "#pop") return { match: pattern, scope, endsParent: true };
    return { begin: pattern, beginScope: scope, end: endOf(target), contains: contents[target] };
  };
  for (const name of ENTERED) {
    const unread = { match: `(?!${endOf(name)})[^ \\t\\r\\n]`, scope: "illegal" };
    contents[name].push(...flat(name).filter((rule) => !looksAhead(rule)).map(mode), unread);
  }
  return { name: "MIL", aliases: ["mil"], disableAutodetect: true, contains: contents.root };
}
