" Vim syntax file
" Language: MIL, the text of Core ML's programs
" Made by editors/generate.py from src/miltext/highlight.py.

if exists('b:current_syntax')
  finish
endif

syntax case match
syntax iskeyword a-z,A-Z,48-57,_,@-@

syntax cluster milMarker contains=@milGap,milMarker2,milMarker3,milMarker4,milMarker6
syntax cluster milFunctions contains=@milGap,@milBody,milFunctions3
syntax cluster milBody contains=milBody0,milBody1,@milStatement
syntax cluster milFunction contains=@milGap,milFunction2,milFunction3,@milPhrase,milFunction5,milFunction6
syntax cluster milInputs contains=@milGap,milInputs2,milInputs3,milInputs4,milInputs5,milInputs6,milInputs7,@milConstant,milInputs10
syntax cluster milBlock contains=@milGap,milBlock2,@milStatement,milBlock4
syntax cluster milStatement contains=milStatement0,milStatement1,milStatement2,@milPhrase,milStatement4,milStatement5,milStatement6,milStatement7
syntax cluster milMade contains=@milGap,milMade2,milMade3,milMade4,milMade5,milMade6,milMade8
syntax cluster milPhrase contains=milPhrase0,milPhrase1,milPhrase2,milPhrase3,milPhrase4,milPhrase5,milPhrase6,milPhrase7,milPhrase8,@milConstant
syntax cluster milOpset contains=@milGap,milOpset2,milOpset4
syntax cluster milArguments contains=@milGap,milArguments2,milArguments3,milArguments4,milArguments5,@milBound,milArguments8
syntax cluster milAttributes contains=@milGap,milAttributes2,milAttributes3,@milNamed,milAttributes5
syntax cluster milNamed contains=milNamed0,@milConstant
syntax cluster milBinding contains=@milGap,@milBound,milBinding3
syntax cluster milBound contains=milBound0,milBound1,milBound2,@milWorded,milBound4,milBound5,milBound6,milBound7,milBound8,milBound9,@milConstant
syntax cluster milOutputs contains=@milGap,milOutputs2,milOutputs3,milOutputs5
syntax cluster milTyped contains=@milGap,milTyped1,milTyped2,milTyped3,milTyped4,milTyped5,milTyped6,milTyped9
syntax cluster milType contains=@milGap,milType2,milType3,milType4,milType5,milType6,milType7,milType8,@milConstant,@milField,milType12,milType13
syntax cluster milLiteral contains=@milGap,@milElement,milLiteral3,milLiteral4
syntax cluster milElements contains=@milGap,milElements2,@milElement,milElements4,milElements5,milElements6
syntax cluster milElement contains=milElement0,milElement1,@milWorded,@milConstant,milElement4,milElement5,milElement6,milElement7,milElement8,@milField,milElement10,milElement11
syntax cluster milWorded contains=milWorded0,milWorded1
syntax cluster milField contains=milField0,milField1
syntax cluster milConstant contains=milConstant0,milConstant1,milConstant2,milConstant3,milConstant4,milConstant5,milConstant6
syntax cluster milString contains=milString0,milString2,milString3,milString5
syntax cluster milGap contains=milGap1,milGap2
syntax cluster milRemark contains=milRemark0,milRemark3
syntax cluster milComment contains=milComment0,milComment2,milComment3

" Of two groups that match at one place, Vim takes the one that was defined last.
syntax match milRoot30 #[^ \t\r\n]#
highlight default link milRoot30 milError
syntax match milMarker6 contained #[^ \t\r\n]#
highlight default link milMarker6 milError
syntax match milFunctions3 contained #[^ \t\r\n]#
highlight default link milFunctions3 milError
syntax match milFunction6 contained #[^ \t\r\n]#
highlight default link milFunction6 milError
syntax match milInputs10 contained #[^ \t\r\n]#
highlight default link milInputs10 milError
syntax match milBlock4 contained #[^ \t\r\n]#
highlight default link milBlock4 milError
syntax match milMade8 contained #[^ \t\r\n]#
highlight default link milMade8 milError
syntax match milOpset4 contained #[^ \t\r\n]#
highlight default link milOpset4 milError
syntax match milArguments8 contained #[^ \t\r\n]#
highlight default link milArguments8 milError
syntax match milAttributes5 contained #[^ \t\r\n]#
highlight default link milAttributes5 milError
syntax match milBinding3 contained #[^ \t\r\n]#
highlight default link milBinding3 milError
syntax match milOutputs5 contained #[^ \t\r\n]#
highlight default link milOutputs5 milError
syntax match milTyped9 contained #[^ \t\r\n]#
highlight default link milTyped9 milError
syntax match milType13 contained #[^ \t\r\n]#
highlight default link milType13 milError
syntax match milLiteral4 contained #[^ \t\r\n]#
highlight default link milLiteral4 milError
syntax match milElements6 contained #[^ \t\r\n]#
highlight default link milElements6 milError
syntax match milString5 contained #[^ \t\r\n]#
highlight default link milString5 milError
syntax match milRemark3 contained #[^ \t\r\n]#
highlight default link milRemark3 milError
syntax match milComment3 contained #[^ \t\r\n]#
highlight default link milComment3 milError
syntax match milRoot29 #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milRoot29 milDefinition
syntax match milFunction5 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milFunction5 milFunction
syntax match milStatement7 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milStatement7 milDefinition
syntax match milType12 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milType12 milUse
syntax match milLiteral3 contained #[[\]{}]#
highlight default link milLiteral3 milPunctuation
syntax match milElements5 contained #[{}]#
highlight default link milElements5 milPunctuation
syntax match milComment2 contained #\*#
highlight default link milComment2 milComment
syntax match milRoot28 #\%(abs\|acos\|add\|affine\|argsort\|asin\|atan\|atanh\|avg_pool\|band_part\|batch_norm\|batch_to_space\|cast\|ceil\|clamped_relu\|classify\|clip\|concat\|cond\|const\|constexpr_affine_dequantize\|constexpr_blockwise_shift_scale\|constexpr_cast\|constexpr_lut_to_dense\|constexpr_lut_to_sparse\|constexpr_sparse_blockwise_shift_scale\|constexpr_sparse_to_dense\|conv\|conv_quantized\|conv_transpose\|cos\|cosh\|crop\|crop_resize\|cumsum\|custom_layer\|depth_to_space\|dequantize\|einsum\|elu\|equal\|erf\|exp\|exp2\|expand_dims\|fill\|fill_like\|flatten2d\|floor\|floor_div\|gather\|gather_along_axis\|gather_nd\|gelu\|greater\|greater_equal\|gru\|identity\|instance_norm\|inverse\|l2_norm\|l2_pool\|layer_norm\|leaky_relu\|less\|less_equal\|linear\|linear_activation\|list_gather\|list_length\|list_read\|list_scatter\|list_write\|local_response_norm\|log\|logical_and\|logical_not\|logical_or\|logical_xor\|lstm\|make_list\|matmul\|max_pool\|maximum\|minimum\|mod\|mul\|non_maximum_suppression\|non_zero\|not_equal\|one_hot\|pad\|pixel_shuffle\|pixel_unshuffle\|pow\|prelu\|quantize\|random_bernoulli\|random_categorical\|random_normal\|random_uniform\|range_1d\|read_state\|real_div\|reduce_argmax\|reduce_argmin\|reduce_l1_norm\|reduce_l2_norm\|reduce_log_sum\|reduce_log_sum_exp\|reduce_max\|reduce_mean\|reduce_min\|reduce_prod\|reduce_sum\|reduce_sum_square\|relu\|relu6\|resample\|reshape\|reshape_like\|resize\|resize_bilinear\|resize_nearest_neighbor\|reverse\|reverse_sequence\|rnn\|round\|rsqrt\|scaled_dot_product_attention\|scaled_tanh\|scatter\|scatter_along_axis\|scatter_nd\|select\|shape\|sigmoid\|sigmoid_hard\|sign\|silu\|sin\|sinh\|slice_by_index\|slice_by_size\|slice_update\|sliding_windows\|softmax\|softplus\|softplus_parametric\|softsign\|space_to_batch\|space_to_depth\|split\|sqrt\|square\|squeeze\|stack\|sub\|tan\|tanh\|threshold\|thresholded_relu\|tile\|topk\|transpose\|upsample_bilinear\|upsample_nearest_neighbor\|while_loop\|write_state\)[A-Za-z0-9_@]\@!\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*$\)\@=#
highlight default link milRoot28 milOperation
syntax match milMarker4 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milMarker4 milUse
syntax match milStatement6 contained #\%(abs\|acos\|add\|affine\|argsort\|asin\|atan\|atanh\|avg_pool\|band_part\|batch_norm\|batch_to_space\|cast\|ceil\|clamped_relu\|classify\|clip\|concat\|cond\|const\|constexpr_affine_dequantize\|constexpr_blockwise_shift_scale\|constexpr_cast\|constexpr_lut_to_dense\|constexpr_lut_to_sparse\|constexpr_sparse_blockwise_shift_scale\|constexpr_sparse_to_dense\|conv\|conv_quantized\|conv_transpose\|cos\|cosh\|crop\|crop_resize\|cumsum\|custom_layer\|depth_to_space\|dequantize\|einsum\|elu\|equal\|erf\|exp\|exp2\|expand_dims\|fill\|fill_like\|flatten2d\|floor\|floor_div\|gather\|gather_along_axis\|gather_nd\|gelu\|greater\|greater_equal\|gru\|identity\|instance_norm\|inverse\|l2_norm\|l2_pool\|layer_norm\|leaky_relu\|less\|less_equal\|linear\|linear_activation\|list_gather\|list_length\|list_read\|list_scatter\|list_write\|local_response_norm\|log\|logical_and\|logical_not\|logical_or\|logical_xor\|lstm\|make_list\|matmul\|max_pool\|maximum\|minimum\|mod\|mul\|non_maximum_suppression\|non_zero\|not_equal\|one_hot\|pad\|pixel_shuffle\|pixel_unshuffle\|pow\|prelu\|quantize\|random_bernoulli\|random_categorical\|random_normal\|random_uniform\|range_1d\|read_state\|real_div\|reduce_argmax\|reduce_argmin\|reduce_l1_norm\|reduce_l2_norm\|reduce_log_sum\|reduce_log_sum_exp\|reduce_max\|reduce_mean\|reduce_min\|reduce_prod\|reduce_sum\|reduce_sum_square\|relu\|relu6\|resample\|reshape\|reshape_like\|resize\|resize_bilinear\|resize_nearest_neighbor\|reverse\|reverse_sequence\|rnn\|round\|rsqrt\|scaled_dot_product_attention\|scaled_tanh\|scatter\|scatter_along_axis\|scatter_nd\|select\|shape\|sigmoid\|sigmoid_hard\|sign\|silu\|sin\|sinh\|slice_by_index\|slice_by_size\|slice_update\|sliding_windows\|softmax\|softplus\|softplus_parametric\|softsign\|space_to_batch\|space_to_depth\|split\|sqrt\|square\|squeeze\|stack\|sub\|tan\|tanh\|threshold\|thresholded_relu\|tile\|topk\|transpose\|upsample_bilinear\|upsample_nearest_neighbor\|while_loop\|write_state\)[A-Za-z0-9_@]\@!\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*$\)\@=#
highlight default link milStatement6 milOperation
syntax match milMade6 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milMade6 milFunction
syntax match milOpset2 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milOpset2 milOpset
syntax match milOutputs3 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milOutputs3 milUse
syntax region milElements4 contained matchgroup=milPunctuation start=#\[# matchgroup=milPunctuation end=#\]# matchgroup=NONE end=#\%(;\)\@=# contains=@milElements
syntax match milString3 contained #\\.#
highlight default link milString3 milError
syntax match milRoot27 #\%([A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"\)\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[(<]\)\@=#
highlight default link milRoot27 milFunction
syntax keyword milMarker3 contained names consts defaults
highlight default link milMarker3 milMarker
syntax match milStatement5 contained #\%([A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"\)\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[(<]\)\@=#
highlight default link milStatement5 milFunction
syntax keyword milMade5 contained abs acos add affine argsort asin atan atanh avg_pool band_part batch_norm batch_to_space cast ceil clamped_relu classify clip concat cond const constexpr_affine_dequantize constexpr_blockwise_shift_scale constexpr_cast constexpr_lut_to_dense constexpr_lut_to_sparse constexpr_sparse_blockwise_shift_scale constexpr_sparse_to_dense conv conv_quantized conv_transpose cos cosh crop crop_resize cumsum custom_layer depth_to_space dequantize einsum elu equal erf exp exp2 expand_dims fill fill_like flatten2d floor floor_div gather gather_along_axis gather_nd gelu greater greater_equal gru identity instance_norm inverse l2_norm l2_pool layer_norm leaky_relu less less_equal linear linear_activation list_gather list_length list_read list_scatter list_write local_response_norm log logical_and logical_not logical_or logical_xor lstm make_list matmul max_pool maximum minimum mod mul non_maximum_suppression non_zero not_equal one_hot pad pixel_shuffle pixel_unshuffle pow prelu quantize random_bernoulli random_categorical random_normal random_uniform range_1d read_state real_div reduce_argmax reduce_argmin reduce_l1_norm reduce_l2_norm reduce_log_sum reduce_log_sum_exp reduce_max reduce_mean reduce_min reduce_prod reduce_sum reduce_sum_square relu relu6 resample reshape reshape_like resize resize_bilinear resize_nearest_neighbor reverse reverse_sequence rnn round rsqrt scaled_dot_product_attention scaled_tanh scatter scatter_along_axis scatter_nd select shape sigmoid sigmoid_hard sign silu sin sinh slice_by_index slice_by_size slice_update sliding_windows softmax softplus softplus_parametric softsign space_to_batch space_to_depth split sqrt square squeeze stack sub tan tanh threshold thresholded_relu tile topk transpose upsample_bilinear upsample_nearest_neighbor while_loop write_state
highlight default link milMade5 milOperation
syntax match milOutputs2 contained #[(,]#
highlight default link milOutputs2 milPunctuation
syntax match milTyped6 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milTyped6 milDefinition
syntax match milString2 contained #\\\%(["\\nt]\|u{[0-9a-fA-F]\+}\)#
highlight default link milString2 milEscape
syntax match milRemark0 contained #[^\r\n\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]\+#
highlight default link milRemark0 milComment
syntax match milComment0 contained #[^*\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]\+#
highlight default link milComment0 milComment
syntax match milRoot26 #\%(abs\|acos\|add\|affine\|argsort\|asin\|atan\|atanh\|avg_pool\|band_part\|batch_norm\|batch_to_space\|cast\|ceil\|clamped_relu\|classify\|clip\|concat\|cond\|const\|constexpr_affine_dequantize\|constexpr_blockwise_shift_scale\|constexpr_cast\|constexpr_lut_to_dense\|constexpr_lut_to_sparse\|constexpr_sparse_blockwise_shift_scale\|constexpr_sparse_to_dense\|conv\|conv_quantized\|conv_transpose\|cos\|cosh\|crop\|crop_resize\|cumsum\|custom_layer\|depth_to_space\|dequantize\|einsum\|elu\|equal\|erf\|exp\|exp2\|expand_dims\|fill\|fill_like\|flatten2d\|floor\|floor_div\|gather\|gather_along_axis\|gather_nd\|gelu\|greater\|greater_equal\|gru\|identity\|instance_norm\|inverse\|l2_norm\|l2_pool\|layer_norm\|leaky_relu\|less\|less_equal\|linear\|linear_activation\|list_gather\|list_length\|list_read\|list_scatter\|list_write\|local_response_norm\|log\|logical_and\|logical_not\|logical_or\|logical_xor\|lstm\|make_list\|matmul\|max_pool\|maximum\|minimum\|mod\|mul\|non_maximum_suppression\|non_zero\|not_equal\|one_hot\|pad\|pixel_shuffle\|pixel_unshuffle\|pow\|prelu\|quantize\|random_bernoulli\|random_categorical\|random_normal\|random_uniform\|range_1d\|read_state\|real_div\|reduce_argmax\|reduce_argmin\|reduce_l1_norm\|reduce_l2_norm\|reduce_log_sum\|reduce_log_sum_exp\|reduce_max\|reduce_mean\|reduce_min\|reduce_prod\|reduce_sum\|reduce_sum_square\|relu\|relu6\|resample\|reshape\|reshape_like\|resize\|resize_bilinear\|resize_nearest_neighbor\|reverse\|reverse_sequence\|rnn\|round\|rsqrt\|scaled_dot_product_attention\|scaled_tanh\|scatter\|scatter_along_axis\|scatter_nd\|select\|shape\|sigmoid\|sigmoid_hard\|sign\|silu\|sin\|sinh\|slice_by_index\|slice_by_size\|slice_update\|sliding_windows\|softmax\|softplus\|softplus_parametric\|softsign\|space_to_batch\|space_to_depth\|split\|sqrt\|square\|squeeze\|stack\|sub\|tan\|tanh\|threshold\|thresholded_relu\|tile\|topk\|transpose\|upsample_bilinear\|upsample_nearest_neighbor\|while_loop\|write_state\)[A-Za-z0-9_@]\@!\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[(<]\)\@=#
highlight default link milRoot26 milOperation
syntax match milMarker2 contained #[(,]#
highlight default link milMarker2 milPunctuation
syntax match milStatement4 contained #\%(abs\|acos\|add\|affine\|argsort\|asin\|atan\|atanh\|avg_pool\|band_part\|batch_norm\|batch_to_space\|cast\|ceil\|clamped_relu\|classify\|clip\|concat\|cond\|const\|constexpr_affine_dequantize\|constexpr_blockwise_shift_scale\|constexpr_cast\|constexpr_lut_to_dense\|constexpr_lut_to_sparse\|constexpr_sparse_blockwise_shift_scale\|constexpr_sparse_to_dense\|conv\|conv_quantized\|conv_transpose\|cos\|cosh\|crop\|crop_resize\|cumsum\|custom_layer\|depth_to_space\|dequantize\|einsum\|elu\|equal\|erf\|exp\|exp2\|expand_dims\|fill\|fill_like\|flatten2d\|floor\|floor_div\|gather\|gather_along_axis\|gather_nd\|gelu\|greater\|greater_equal\|gru\|identity\|instance_norm\|inverse\|l2_norm\|l2_pool\|layer_norm\|leaky_relu\|less\|less_equal\|linear\|linear_activation\|list_gather\|list_length\|list_read\|list_scatter\|list_write\|local_response_norm\|log\|logical_and\|logical_not\|logical_or\|logical_xor\|lstm\|make_list\|matmul\|max_pool\|maximum\|minimum\|mod\|mul\|non_maximum_suppression\|non_zero\|not_equal\|one_hot\|pad\|pixel_shuffle\|pixel_unshuffle\|pow\|prelu\|quantize\|random_bernoulli\|random_categorical\|random_normal\|random_uniform\|range_1d\|read_state\|real_div\|reduce_argmax\|reduce_argmin\|reduce_l1_norm\|reduce_l2_norm\|reduce_log_sum\|reduce_log_sum_exp\|reduce_max\|reduce_mean\|reduce_min\|reduce_prod\|reduce_sum\|reduce_sum_square\|relu\|relu6\|resample\|reshape\|reshape_like\|resize\|resize_bilinear\|resize_nearest_neighbor\|reverse\|reverse_sequence\|rnn\|round\|rsqrt\|scaled_dot_product_attention\|scaled_tanh\|scatter\|scatter_along_axis\|scatter_nd\|select\|shape\|sigmoid\|sigmoid_hard\|sign\|silu\|sin\|sinh\|slice_by_index\|slice_by_size\|slice_update\|sliding_windows\|softmax\|softplus\|softplus_parametric\|softsign\|space_to_batch\|space_to_depth\|split\|sqrt\|square\|squeeze\|stack\|sub\|tan\|tanh\|threshold\|thresholded_relu\|tile\|topk\|transpose\|upsample_bilinear\|upsample_nearest_neighbor\|while_loop\|write_state\)[A-Za-z0-9_@]\@!\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[(<]\)\@=#
highlight default link milStatement4 milOperation
syntax region milMade4 contained matchgroup=milType start=#\$-\=[0-9]\+[0-9A-Za-z_]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milTyped5 contained #\$-\=[0-9]\+[0-9A-Za-z_]\@!#
highlight default link milTyped5 milType
syntax match milElement11 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milElement11 milUse
syntax match milRoot25 #[\-+]\=[0-9][0-9A-Za-z_.]*\|\$[A-Za-z]\+#
highlight default link milRoot25 milError
syntax region milMade3 contained matchgroup=milMarker start=#\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milTyped4 contained #\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!#
highlight default link milTyped4 milMarker
syntax region milElement10 contained matchgroup=milPunctuation start=#<# matchgroup=milPunctuation end=#># matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milType
syntax match milString0 contained #[^"\\\n\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]\+#
highlight default link milString0 milString
syntax match milRoot24 #\$0[xX][0-9a-fA-F]\+[0-9A-Za-z_]\@!#
highlight default link milRoot24 milNumber
syntax region milMade2 contained matchgroup=milType start=#\%(dict\|list\|state\|tensor\|tensor_buffer\|tuple\|bool\|string\|fp8e4m3fn\|fp8e5m2\|fp16\|bf16\|fp32\|fp64\|int4\|int8\|int16\|int32\|int64\|uint1\|uint2\|uint3\|uint4\|uint6\|uint8\|uint16\|uint32\|uint64\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax keyword milTyped3 contained dict list state tensor tensor_buffer tuple bool string fp8e4m3fn fp8e5m2 fp16 bf16 fp32 fp64 int4 int8 int16 int32 int64 uint1 uint2 uint3 uint4 uint6 uint8 uint16 uint32 uint64
highlight default link milTyped3 milType
syntax match milField1 contained #=#
highlight default link milField1 milOperator
syntax match milRoot23 #\%(\$absent\|\$blob\|\$block\|\$bools\|\$bytes\|\$dictionary\|\$doc\|\$doubles\|\$draft\|\$elided\|\$empty\|\$floats\|\$import\|\$ints\|\$list\|\$longInts\|\$none\|\$npy\|\$npz\|\$rank\|\$safetensors\|\$strings\|\$tensor\|\$tuple\|\$unset\|\$value\|\$variadic\|\$version\)[A-Za-z0-9_@]\@!#
highlight default link milRoot23 milMarker
syntax region milTyped2 contained matchgroup=milPunctuation start=#(# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%(;\)\@=# contains=@milLiteral
syntax keyword milField0 contained interleave_factors offset path shape strides
highlight default link milField0 milParameter
syntax region milRoot22 matchgroup=milString start=#"# matchgroup=milString end=#"# matchgroup=NONE end=#\%($\)\@=# contains=@milString
syntax region milTyped1 contained matchgroup=milPunctuation start=#<# matchgroup=milPunctuation end=#># matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milType
syntax keyword milElement8 contained BLOBFILE
highlight default link milElement8 milBlobfile
syntax match milRoot21 #[\-+]\=\%([0-9]\+\%(\.[0-9]*\)\=\|\.[0-9]\+\)\%([eE][\-+]\=[0-9]\+\)\=[0-9A-Za-z_.]\@!#
highlight default link milRoot21 milNumber
syntax region milElement7 contained matchgroup=milPunctuation start=#(# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%(;\)\@=# contains=@milLiteral
syntax match milRoot20 #[\-+]\=0[xX][0-9a-fA-F.]\+\%([pP][\-+]\=[0-9]\+\)\=[0-9A-Za-z_.]\@!#
highlight default link milRoot20 milNumber
syntax match milElement6 contained #\$-\=[0-9]\+[0-9A-Za-z_]\@!#
highlight default link milElement6 milType
syntax match milRoot19 #[\-+]\=[0-9]\+[0-9A-Za-z_.]\@!#
highlight default link milRoot19 milNumber
syntax match milElement5 contained #\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!#
highlight default link milElement5 milMarker
syntax match milRoot18 #[,;>\])}]#
highlight default link milRoot18 milPunctuation
syntax keyword milElement4 contained dict list state tensor tensor_buffer tuple bool string fp8e4m3fn fp8e5m2 fp16 bf16 fp32 fp64 int4 int8 int16 int32 int64 uint1 uint2 uint3 uint4 uint6 uint8 uint16 uint32 uint64
highlight default link milElement4 milType
syntax region milRoot17 matchgroup=milPunctuation start=#<# matchgroup=milPunctuation end=#># matchgroup=NONE end=#\%([^A-Za-z_$>/ \t\r\n]\)\@=# contains=@milOpset
syntax match milConstant6 contained #[\-+]\=[0-9][0-9A-Za-z_.]*\|\$[A-Za-z]\+#
highlight default link milConstant6 milError
syntax match milRoot16 #=#
highlight default link milRoot16 milOperator
syntax match milConstant5 contained #\$0[xX][0-9a-fA-F]\+[0-9A-Za-z_]\@!#
highlight default link milConstant5 milNumber
syntax region milRoot15 matchgroup=milOperator start=#-># matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}[]\)\@=# contains=@milOutputs
syntax match milConstant4 contained #\%(\$absent\|\$blob\|\$block\|\$bools\|\$bytes\|\$dictionary\|\$doc\|\$doubles\|\$draft\|\$elided\|\$empty\|\$floats\|\$import\|\$ints\|\$list\|\$longInts\|\$none\|\$npy\|\$npz\|\$rank\|\$safetensors\|\$strings\|\$tensor\|\$tuple\|\$unset\|\$value\|\$variadic\|\$version\)[A-Za-z0-9_@]\@!#
highlight default link milConstant4 milMarker
syntax region milRoot14 matchgroup=milPunctuation start=#\$\=\[# matchgroup=milPunctuation end=#\]# matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milAttributes
syntax region milConstant3 contained matchgroup=milString start=#"# matchgroup=milString end=#"# matchgroup=NONE end=#\%($\)\@=# contains=@milString
syntax region milRoot13 matchgroup=milPunctuation start=#(# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milArguments
syntax match milConstant2 contained #[\-+]\=\%([0-9]\+\%(\.[0-9]*\)\=\|\.[0-9]\+\)\%([eE][\-+]\=[0-9]\+\)\=[0-9A-Za-z_.]\@!#
highlight default link milConstant2 milNumber
syntax region milRoot12 matchgroup=milType start=#\$-\=[0-9]\+[0-9A-Za-z_]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milConstant1 contained #[\-+]\=0[xX][0-9a-fA-F.]\+\%([pP][\-+]\=[0-9]\+\)\=[0-9A-Za-z_.]\@!#
highlight default link milConstant1 milNumber
syntax region milRoot11 matchgroup=milMarker start=#\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milConstant0 contained #[\-+]\=[0-9]\+[0-9A-Za-z_.]\@!#
highlight default link milConstant0 milNumber
syntax region milRoot10 matchgroup=milType start=#\%(dict\|list\|state\|tensor\|tensor_buffer\|tuple\|bool\|string\|fp8e4m3fn\|fp8e5m2\|fp16\|bf16\|fp32\|fp64\|int4\|int8\|int16\|int32\|int64\|uint1\|uint2\|uint3\|uint4\|uint6\|uint8\|uint16\|uint32\|uint64\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milPhrase8 contained #[,;>\])}]#
highlight default link milPhrase8 milPunctuation
syntax region milBound9 contained matchgroup=milPunctuation start=#<# matchgroup=milPunctuation end=#># matchgroup=NONE end=#\%([^A-Za-z_$>/ \t\r\n]\)\@=# contains=@milOpset
syntax region milType8 contained matchgroup=milPunctuation start=#<# matchgroup=milPunctuation end=#># matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milType
syntax region milRoot9 matchgroup=milPunctuation start=#(\%([^(){};=\n]*)\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*{\)\@=# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}=]\)\@=# contains=@milInputs
syntax match milInputs7 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milInputs7 milDefinition
syntax region milPhrase7 contained matchgroup=milPunctuation start=#<# matchgroup=milPunctuation end=#># matchgroup=NONE end=#\%([^A-Za-z_$>/ \t\r\n]\)\@=# contains=@milOpset
syntax match milNamed0 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milNamed0 milParameter
syntax region milBound8 contained matchgroup=milPunctuation start=#\[# matchgroup=milPunctuation end=#\]# matchgroup=NONE end=#\%(;\)\@=# contains=@milElements
syntax match milType7 contained #?#
highlight default link milType7 milConstant
syntax region milRoot8 matchgroup=milOperator start=#=# matchgroup=milMarker end=#\%(\$import\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%([^A-Za-z_$/ \t\r\n]\)\@=# contains=@milMade
syntax region milInputs6 contained matchgroup=milType start=#\$-\=[0-9]\+[0-9A-Za-z_]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milPhrase6 contained #=#
highlight default link milPhrase6 milOperator
syntax match milAttributes3 contained #,#
highlight default link milAttributes3 milPunctuation
syntax region milBound7 contained matchgroup=milPunctuation start=#(# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milArguments
syntax match milType6 contained #[,[\]()]#
highlight default link milType6 milPunctuation
syntax region milRoot7 matchgroup=milType start=#_[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax region milInputs5 contained matchgroup=milMarker start=#\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax region milPhrase5 contained matchgroup=milOperator start=#-># matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}[]\)\@=# contains=@milOutputs
syntax region milAttributes2 contained matchgroup=milOperator start=#=# matchgroup=NONE end=#\%([,)\];{}]\)\@=# contains=@milBinding
syntax match milBound6 contained #[A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"#
highlight default link milBound6 milUse
syntax region milType5 contained matchgroup=milPunctuation start=#\$\[# matchgroup=milPunctuation end=#\]# matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milAttributes
syntax region milRoot6 matchgroup=milPunctuation start=#{# matchgroup=milPunctuation end=#}# contains=@milFunctions
syntax region milInputs4 contained matchgroup=milType start=#\%(dict\|list\|state\|tensor\|tensor_buffer\|tuple\|bool\|string\|fp8e4m3fn\|fp8e5m2\|fp16\|bf16\|fp32\|fp64\|int4\|int8\|int16\|int32\|int64\|uint1\|uint2\|uint3\|uint4\|uint6\|uint8\|uint16\|uint32\|uint64\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax region milPhrase4 contained matchgroup=milPunctuation start=#\$\=\[# matchgroup=milPunctuation end=#\]# matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milAttributes
syntax match milBound5 contained #\%([A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"\)\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[(<]\)\@=#
highlight default link milBound5 milFunction
syntax match milType4 contained #\$-\=[0-9]\+[0-9A-Za-z_]\@!#
highlight default link milType4 milType
syntax region milRoot5 matchgroup=milDeclaration start=#\%(func\)[A-Za-z0-9_@]\@!# matchgroup=milPunctuation end=#;# contains=@milFunction
syntax region milInputs3 contained matchgroup=milType start=#_[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax region milPhrase3 contained matchgroup=milPunctuation start=#(# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}]\)\@=# contains=@milArguments
syntax match milBound4 contained #\%(abs\|acos\|add\|affine\|argsort\|asin\|atan\|atanh\|avg_pool\|band_part\|batch_norm\|batch_to_space\|cast\|ceil\|clamped_relu\|classify\|clip\|concat\|cond\|const\|constexpr_affine_dequantize\|constexpr_blockwise_shift_scale\|constexpr_cast\|constexpr_lut_to_dense\|constexpr_lut_to_sparse\|constexpr_sparse_blockwise_shift_scale\|constexpr_sparse_to_dense\|conv\|conv_quantized\|conv_transpose\|cos\|cosh\|crop\|crop_resize\|cumsum\|custom_layer\|depth_to_space\|dequantize\|einsum\|elu\|equal\|erf\|exp\|exp2\|expand_dims\|fill\|fill_like\|flatten2d\|floor\|floor_div\|gather\|gather_along_axis\|gather_nd\|gelu\|greater\|greater_equal\|gru\|identity\|instance_norm\|inverse\|l2_norm\|l2_pool\|layer_norm\|leaky_relu\|less\|less_equal\|linear\|linear_activation\|list_gather\|list_length\|list_read\|list_scatter\|list_write\|local_response_norm\|log\|logical_and\|logical_not\|logical_or\|logical_xor\|lstm\|make_list\|matmul\|max_pool\|maximum\|minimum\|mod\|mul\|non_maximum_suppression\|non_zero\|not_equal\|one_hot\|pad\|pixel_shuffle\|pixel_unshuffle\|pow\|prelu\|quantize\|random_bernoulli\|random_categorical\|random_normal\|random_uniform\|range_1d\|read_state\|real_div\|reduce_argmax\|reduce_argmin\|reduce_l1_norm\|reduce_l2_norm\|reduce_log_sum\|reduce_log_sum_exp\|reduce_max\|reduce_mean\|reduce_min\|reduce_prod\|reduce_sum\|reduce_sum_square\|relu\|relu6\|resample\|reshape\|reshape_like\|resize\|resize_bilinear\|resize_nearest_neighbor\|reverse\|reverse_sequence\|rnn\|round\|rsqrt\|scaled_dot_product_attention\|scaled_tanh\|scatter\|scatter_along_axis\|scatter_nd\|select\|shape\|sigmoid\|sigmoid_hard\|sign\|silu\|sin\|sinh\|slice_by_index\|slice_by_size\|slice_update\|sliding_windows\|softmax\|softplus\|softplus_parametric\|softsign\|space_to_batch\|space_to_depth\|split\|sqrt\|square\|squeeze\|stack\|sub\|tan\|tanh\|threshold\|thresholded_relu\|tile\|topk\|transpose\|upsample_bilinear\|upsample_nearest_neighbor\|while_loop\|write_state\)[A-Za-z0-9_@]\@!\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[(<]\)\@=#
highlight default link milBound4 milOperation
syntax match milType3 contained #\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!#
highlight default link milType3 milMarker
syntax region milRoot4 matchgroup=milMarker start=#\%(\$draft\)[A-Za-z0-9_@]\@!# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}[]\)\@=# contains=@milMarker
syntax match milInputs2 contained #,#
highlight default link milInputs2 milPunctuation
syntax region milPhrase2 contained matchgroup=milType start=#\$-\=[0-9]\+[0-9A-Za-z_]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax keyword milWorded1 contained false true
highlight default link milWorded1 milConstant
syntax keyword milType2 contained dict list state tensor tensor_buffer tuple bool string fp8e4m3fn fp8e5m2 fp16 bf16 fp32 fp64 int4 int8 int16 int32 int64 uint1 uint2 uint3 uint4 uint6 uint8 uint16 uint32 uint64
highlight default link milType2 milType
syntax keyword milRoot3 program
highlight default link milRoot3 milDeclaration
syntax region milPhrase1 contained matchgroup=milMarker start=#\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milWorded0 contained #[\-+]inf[A-Za-z0-9_@]\@!#
highlight default link milWorded0 milNumber
syntax region milRoot2 matchgroup=milComment start=#/\*# matchgroup=milComment end=#\*/# contains=@milComment
syntax region milPhrase0 contained matchgroup=milType start=#\%(dict\|list\|state\|tensor\|tensor_buffer\|tuple\|bool\|string\|fp8e4m3fn\|fp8e5m2\|fp16\|bf16\|fp32\|fp64\|int4\|int8\|int16\|int32\|int64\|uint1\|uint2\|uint3\|uint4\|uint6\|uint8\|uint16\|uint32\|uint64\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax region milBound2 contained matchgroup=milType start=#\$-\=[0-9]\+[0-9A-Za-z_]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax keyword milElement1 contained inf nan
highlight default link milElement1 milNumber
syntax region milRoot1 matchgroup=milComment start=#//# matchgroup=NONE end=#\%(\r\)\@=# matchgroup=NONE end=#\%($\)\@=# contains=@milRemark
syntax region milFunction3 contained matchgroup=milPunctuation start=#(# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}=]\)\@=# contains=@milInputs
syntax region milStatement2 contained matchgroup=milPunctuation start=#(\%([^(){};=\n]*)\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*{\)\@=# matchgroup=milPunctuation end=#)# matchgroup=NONE end=#\%([;{}=]\)\@=# contains=@milInputs
syntax region milBound1 contained matchgroup=milMarker start=#\%(\$absent\|\$empty\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milElement0 contained #,#
highlight default link milElement0 milPunctuation
syntax region milFunction2 contained matchgroup=milPunctuation start=#{# matchgroup=milPunctuation end=#}# contains=@milBlock
syntax region milStatement1 contained matchgroup=milOperator start=#=# matchgroup=milMarker end=#\%(\$import\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%([^A-Za-z_$/ \t\r\n]\)\@=# contains=@milMade
syntax region milBound0 contained matchgroup=milType start=#\%(dict\|list\|state\|tensor\|tensor_buffer\|tuple\|bool\|string\|fp8e4m3fn\|fp8e5m2\|fp16\|bf16\|fp32\|fp64\|int4\|int8\|int16\|int32\|int64\|uint1\|uint2\|uint3\|uint4\|uint6\|uint8\|uint16\|uint32\|uint64\)[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milElements2 contained #\%([A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"\)\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*=\)\@=#
highlight default link milElements2 milParameter
syntax region milStatement0 contained matchgroup=milType start=#_[A-Za-z0-9_@]\@!# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax region milBody1 contained matchgroup=milPunctuation start=#{# matchgroup=milPunctuation end=#}# contains=@milFunctions
syntax region milBlock2 contained matchgroup=milPunctuation start=#{# matchgroup=milPunctuation end=#}# contains=@milBlock
syntax match milArguments5 contained #\%([A-Za-z_][A-Za-z0-9_@]*\|\$"\%([^"\\\n]\|\\.\)*"\)\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*=\)\@=#
highlight default link milArguments5 milParameter
syntax region milBody0 contained matchgroup=milDeclaration start=#\%(func\)[A-Za-z0-9_@]\@!# matchgroup=milPunctuation end=#;# contains=@milFunction
syntax region milArguments4 contained matchgroup=milType start=#_[A-Za-z0-9_@]\@!\%(\%([ \t]\|/\*\%([^*\n]\|\*\+[^*/\n]\)*\*\+/\)*[A-Za-z_$]\)\@=# matchgroup=NONE end=#\%(\$[a-z]\)\@=# matchgroup=NONE end=#\%([^A-Za-z_$<(/ \t\r\n]\)\@=# contains=@milTyped
syntax match milArguments3 contained #,#
highlight default link milArguments3 milPunctuation
syntax region milArguments2 contained matchgroup=milOperator start=#=# matchgroup=NONE end=#\%([,)\];{}]\)\@=# contains=@milBinding
syntax region milGap2 contained matchgroup=milComment start=#/\*# matchgroup=milComment end=#\*/# contains=@milComment
syntax region milGap1 contained matchgroup=milComment start=#//# matchgroup=NONE end=#\%(\r\)\@=# matchgroup=NONE end=#\%($\)\@=# contains=@milRemark

highlight default link milComment Comment
highlight default link milError Error
highlight default link milBlobfile Include
highlight default link milConstant Boolean
highlight default link milDeclaration Keyword
highlight default link milMarker PreProc
highlight default link milType Type
highlight default link milUse NONE
highlight default link milParameter Tag
highlight default link milOperation Statement
highlight default link milFunction Function
highlight default link milOpset PreProc
highlight default link milDefinition Identifier
highlight default link milNumber Number
highlight default link milOperator NONE
highlight default link milPunctuation NONE
highlight default link milString String
highlight default link milEscape SpecialChar

" A statement reads the same in any block, and at the top.
syntax sync minlines=200

let b:current_syntax = 'mil'
