# frozen_string_literal: true

# MIL, the text of Core ML's programs, for Rouge.
# Made by editors/generate.py from src/miltext/highlight.py.

require 'rouge'

module Rouge
  module Lexers
    class MIL < RegexLexer
      title 'MIL'
      desc "The text of Core ML's programs"
      tag 'mil'
      filenames '*.mil'
      mimetypes 'text/x-mil'

      def self.detect?(text)
        return true if text =~ /\A\s*program\s*\(/
      end

      state :root do
        mixin :gap
        rule %r/(?:program)(?![A-Za-z0-9_@])/, Keyword::Declaration
        rule %r/(?:\$draft)(?![A-Za-z0-9_@])/, Keyword::Pseudo, :marker
        mixin :body
      end

      state :marker do
        mixin :gap
        rule %r/\)/, Punctuation, :pop!
        rule %r/[(,]/, Punctuation
        rule %r/(?:names|consts|defaults)(?![A-Za-z0-9_@])/, Keyword::Pseudo
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name
        rule %r/(?=[;{}\[])/, Text, :pop!
      end

      state :functions do
        mixin :gap
        rule %r/\}/, Punctuation, :pop!
        mixin :body
      end

      state :body do
        rule %r/(?:func)(?![A-Za-z0-9_@])/, Keyword::Declaration, :function
        rule %r/\{/, Punctuation, :functions
        mixin :statement
      end

      state :function do
        mixin :gap
        rule %r/;/, Punctuation, :pop!
        rule %r/\{/, Punctuation, :block
        rule %r/\(/, Punctuation, :inputs
        mixin :phrase
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Function
      end

      state :inputs do
        mixin :gap
        rule %r/\)/, Punctuation, :pop!
        rule %r/,/, Punctuation
        rule %r/_(?![A-Za-z0-9_@])/, Keyword::Type, :typed
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type, :typed
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo, :typed
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type, :typed
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Variable
        rule %r/(?=[;{}=])/, Text, :pop!
        mixin :constant
      end

      state :block do
        mixin :gap
        rule %r/\}/, Punctuation, :pop!
        rule %r/\{/, Punctuation, :block
        mixin :statement
      end

      state :statement do
        rule %r/_(?![A-Za-z0-9_@])/, Keyword::Type, :typed
        rule %r/=/, Operator, :made
        rule %r/\((?=[^(){};=\n]*\)(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*\{)/, Punctuation, :inputs
        mixin :phrase
        rule %r/(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*[(<])/, Name::Builtin
        rule %r/(?:[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*")(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*[(<])/, Name::Function
        rule %r/(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*\z)/, Name::Builtin
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Variable
      end

      state :made do
        mixin :gap
        rule %r/(?:\$import)(?![A-Za-z0-9_@])/, Keyword::Pseudo, :pop!
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type, :typed
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo, :typed
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type, :typed
        rule %r/(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])/, Name::Builtin
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Function
        rule %r/(?=[^A-Za-z_$\/ \t\r\n])/, Text, :pop!
      end

      state :phrase do
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type, :typed
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo, :typed
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type, :typed
        rule %r/\(/, Punctuation, :arguments
        rule %r/\$?\[/, Punctuation, :attributes
        rule %r/->/, Operator, :outputs
        rule %r/=/, Operator
        rule %r/</, Punctuation, :opset
        rule %r/[,;>\])}]/, Punctuation
        mixin :constant
      end

      state :opset do
        mixin :gap
        rule %r/>/, Punctuation, :pop!
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Namespace
        rule %r/(?=[^A-Za-z_$>\/ \t\r\n])/, Text, :pop!
      end

      state :arguments do
        mixin :gap
        rule %r/\)/, Punctuation, :pop!
        rule %r/=/, Operator, :binding
        rule %r/,/, Punctuation
        rule %r/_(?![A-Za-z0-9_@])(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*[A-Za-z_$])/, Keyword::Type, :typed
        rule %r/(?:[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*")(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*=)/, Name::Attribute
        rule %r/(?=[;{}])/, Text, :pop!
        mixin :bound
      end

      state :attributes do
        mixin :gap
        rule %r/\]/, Punctuation, :pop!
        rule %r/=/, Operator, :binding
        rule %r/,/, Punctuation
        mixin :named
      end

      state :named do
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Attribute
        rule %r/(?=[;{}])/, Text, :pop!
        mixin :constant
      end

      state :binding do
        mixin :gap
        rule %r/(?=[,)\];{}])/, Text, :pop!
        mixin :bound
      end

      state :bound do
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type, :typed
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo, :typed
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type, :typed
        mixin :worded
        rule %r/(?:abs|acos|add|affine|argsort|asin|atan|atanh|avg_pool|band_part|batch_norm|batch_to_space|cast|ceil|clamped_relu|classify|clip|concat|cond|const|constexpr_affine_dequantize|constexpr_blockwise_shift_scale|constexpr_cast|constexpr_lut_to_dense|constexpr_lut_to_sparse|constexpr_sparse_blockwise_shift_scale|constexpr_sparse_to_dense|conv|conv_quantized|conv_transpose|cos|cosh|crop|crop_resize|cumsum|custom_layer|depth_to_space|dequantize|einsum|elu|equal|erf|exp|exp2|expand_dims|fill|fill_like|flatten2d|floor|floor_div|gather|gather_along_axis|gather_nd|gelu|greater|greater_equal|gru|identity|instance_norm|inverse|l2_norm|l2_pool|layer_norm|leaky_relu|less|less_equal|linear|linear_activation|list_gather|list_length|list_read|list_scatter|list_write|local_response_norm|log|logical_and|logical_not|logical_or|logical_xor|lstm|make_list|matmul|max_pool|maximum|minimum|mod|mul|non_maximum_suppression|non_zero|not_equal|one_hot|pad|pixel_shuffle|pixel_unshuffle|pow|prelu|quantize|random_bernoulli|random_categorical|random_normal|random_uniform|range_1d|read_state|real_div|reduce_argmax|reduce_argmin|reduce_l1_norm|reduce_l2_norm|reduce_log_sum|reduce_log_sum_exp|reduce_max|reduce_mean|reduce_min|reduce_prod|reduce_sum|reduce_sum_square|relu|relu6|resample|reshape|reshape_like|resize|resize_bilinear|resize_nearest_neighbor|reverse|reverse_sequence|rnn|round|rsqrt|scaled_dot_product_attention|scaled_tanh|scatter|scatter_along_axis|scatter_nd|select|shape|sigmoid|sigmoid_hard|sign|silu|sin|sinh|slice_by_index|slice_by_size|slice_update|sliding_windows|softmax|softplus|softplus_parametric|softsign|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|sub|tan|tanh|threshold|thresholded_relu|tile|topk|transpose|upsample_bilinear|upsample_nearest_neighbor|while_loop|write_state)(?![A-Za-z0-9_@])(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*[(<])/, Name::Builtin
        rule %r/(?:[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*")(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*[(<])/, Name::Function
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name
        rule %r/\(/, Punctuation, :arguments
        rule %r/\[/, Punctuation, :elements
        rule %r/</, Punctuation, :opset
        mixin :constant
      end

      state :outputs do
        mixin :gap
        rule %r/\)/, Punctuation, :pop!
        rule %r/[(,]/, Punctuation
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name
        rule %r/(?=[;{}\[])/, Text, :pop!
      end

      state :typed do
        mixin :gap
        rule %r/</, Punctuation, :type
        rule %r/\(/, Punctuation, :literal
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name::Variable
        rule %r/(?=\$[a-z])/, Text, :pop!
        rule %r/(?=[^A-Za-z_$<(\/ \t\r\n])/, Text, :pop!
      end

      state :type do
        mixin :gap
        rule %r/>/, Punctuation, :pop!
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type
        rule %r/\$\[/, Punctuation, :attributes
        rule %r/[,\[\]()]/, Punctuation
        rule %r/\?/, Keyword::Constant
        rule %r/</, Punctuation, :type
        mixin :constant
        mixin :field
        rule %r/(?=[;{}])/, Text, :pop!
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name
      end

      state :literal do
        mixin :gap
        rule %r/\)/, Punctuation, :pop!
        mixin :element
        rule %r/[\[\]{}]/, Punctuation
      end

      state :elements do
        mixin :gap
        rule %r/\]/, Punctuation, :pop!
        rule %r/(?:[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*")(?=(?:[ \t\r\n]|\/\/[^\n]*\n|\/\*(?:[^*]|\*+[^*\/])*\*+\/)*=)/, Name::Attribute
        mixin :element
        rule %r/\[/, Punctuation, :elements
        rule %r/[{}]/, Punctuation
      end

      state :element do
        rule %r/,/, Punctuation
        rule %r/(?:inf|nan)(?![A-Za-z0-9_@])/, Literal::Number::Float
        mixin :worded
        mixin :constant
        rule %r/(?:dict|list|state|tensor|tensor_buffer|tuple|bool|string|fp8e4m3fn|fp8e5m2|fp16|bf16|fp32|fp64|int4|int8|int16|int32|int64|uint1|uint2|uint3|uint4|uint6|uint8|uint16|uint32|uint64)(?![A-Za-z0-9_@])/, Keyword::Type
        rule %r/(?:\$absent|\$empty)(?![A-Za-z0-9_@])/, Keyword::Pseudo
        rule %r/\$-?[0-9]+(?![0-9A-Za-z_])/, Keyword::Type
        rule %r/\(/, Punctuation, :literal
        rule %r/(?:BLOBFILE)(?![A-Za-z0-9_@])/, Keyword
        mixin :field
        rule %r/</, Punctuation, :type
        rule %r/[A-Za-z_][A-Za-z0-9_@]*|\$"(?:[^"\\\n]|\\.)*"/, Name
        rule %r/(?=;)/, Text, :pop!
      end

      state :worded do
        rule %r/[-+]inf(?![A-Za-z0-9_@])/, Literal::Number::Float
        rule %r/(?:false|true)(?![A-Za-z0-9_@])/, Keyword::Constant
      end

      state :field do
        rule %r/(?:interleave_factors|offset|path|shape|strides)(?![A-Za-z0-9_@])/, Name::Attribute
        rule %r/=/, Operator
      end

      state :constant do
        rule %r/[-+]?[0-9]+(?![0-9A-Za-z_.])/, Literal::Number::Integer
        rule %r/[-+]?0[xX][0-9a-fA-F.]+(?:[pP][-+]?[0-9]+)?(?![0-9A-Za-z_.])/, Literal::Number::Float
        rule %r/[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.])/, Literal::Number::Float
        rule %r/\"/, Literal::String::Double, :string
        rule %r/(?:\$absent|\$blob|\$block|\$bools|\$bytes|\$dictionary|\$doc|\$doubles|\$draft|\$elided|\$empty|\$floats|\$import|\$ints|\$list|\$longInts|\$none|\$npy|\$npz|\$rank|\$safetensors|\$strings|\$tensor|\$tuple|\$unset|\$value|\$variadic|\$version)(?![A-Za-z0-9_@])/, Keyword::Pseudo
        rule %r/\$0[xX][0-9a-fA-F]+(?![0-9A-Za-z_])/, Literal::Number::Hex
        rule %r/[-+]?[0-9][0-9A-Za-z_.]*|\$[A-Za-z]+/, Error
      end

      state :string do
        rule %r/[^"\\\n\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/, Literal::String::Double
        rule %r/\"/, Literal::String::Double, :pop!
        rule %r/\\(?:["\\nt]|u\{[0-9a-fA-F]+\})/, Literal::String::Escape
        rule %r/\\./, Error
        rule %r/(?=$)/, Text, :pop!
      end

      state :gap do
        rule %r/[ \t\r\n]+/, Text::Whitespace
        rule %r/\/\//, Comment::Single, :remark
        rule %r/\/\*/, Comment::Multiline, :comment
      end

      state :remark do
        rule %r/[^\r\n\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/, Comment::Single
        rule %r/(?=\r)/, Text, :pop!
        rule %r/(?=$)/, Text, :pop!
      end

      state :comment do
        rule %r/[^*\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/, Comment::Multiline
        rule %r/\*\//, Comment::Multiline, :pop!
        rule %r/\*/, Comment::Multiline
      end
    end
  end
end
