/// <reference types="tree-sitter-cli/dsl" />
// @ts-check
// MIL, the text of Core ML's programs.
// Made by editors/generate.py from grammar/mil.lark.

// The tokens of tree-sitter do not look ahead. So these also accept a few texts that miltext refuses, where a token and
// the next name are not separated: `$5x` is the type `$5` and the name `x`, and `$emptyx` the type `$empty` and `x`.

const listed = (item) => seq(item, repeat(seq(",", item)));

module.exports = grammar({
  name: "mil",

  extras: ($) => [/[ \t\r\n]+/, $.comment],

  word: ($) => $._word,

  supertypes: ($) => [
    $._program_field,
    $._argument,
    $._binding,
    $._attribute,
    $._type,
    $._tensor_field,
    $._blob_field,
    $._ours,
  ],

  rules: {
    program: ($) => seq(
      "program",
      "(",
      field("version", $.number),
      ")",
      repeat($._program_field),
      optional(field("attributes", $.attributes)),
      "{",
      optional($._functions),
      "}",
    ),

    _program_field: ($) => choice($.program_version, $.program_doc, $.draft_marker),

    program_version: ($) => seq("$version", "(", $.number, ")"),

    program_doc: ($) => seq("$doc", "(", $.string, ")"),

    draft_marker: ($) => seq("$draft", "(", optional(listed($.name)), ")"),

    _functions: ($) => repeat1($.function),

    function: ($) => seq(
      "func",
      field("name", $.name),
      optional(field("opset", $.opset)),
      field("parameters", $.parameters),
      optional(field("attributes", $.attributes)),
      field("bodies", $.bodies),
      ";",
    ),

    opset: ($) => seq("<", $.name, ">"),

    parameters: ($) => seq("(", optional($._named_values), ")"),

    _named_values: ($) => listed(choice($.named_value, $.draft_value)),

    named_value: ($) => seq(field("type", $._type), field("name", $.name)),

    bodies: ($) => seq(choice($.block, $.specialization, $.no_block), repeat($.specialization)),

    specialization: ($) => seq(
      "$block",
      field("opset", $.opset),
      optional(field("parameters", $.parameters)),
      field("body", $.block),
    ),

    block: ($) => seq("{", $._rest_of_block),

    _rest_of_block: ($) => seq(
      optional($._operations),
      "}",
      "->",
      field("outputs", $.outputs),
      optional(field("attributes", $.marked_attributes)),
    ),

    outputs: ($) => seq("(", optional(listed($.name)), ")"),

    _operations: ($) => repeat1($.operation),

    operation: ($) => seq(
      optional(seq(field("results", $.results), "=")),
      choice(field("type", $.name), field("type", $.imported)),
      optional(field("opset", $.operation_opset)),
      field("arguments", $.arguments),
      optional(field("attributes", $.attributes)),
      repeat(field("block", $.inner_block)),
      ";",
    ),

    operation_opset: ($) => seq("<", $.name, ">"),

    results: ($) => listed(choice($.named_value, $.draft_value)),

    draft_value: ($) => seq(optional($.draft), field("name", $.name)),

    inner_block: ($) => seq(field("parameters", $.parameters), field("body", $.block)),

    arguments: ($) => seq("(", optional(listed($._argument)), ")"),

    _argument: ($) => choice($.single_argument, $.argument, $.positional_argument),

    single_argument: ($) => seq(field("name", $.name), "=", field("value", $._binding)),

    argument: ($) => seq(field("name", $.name), "=", "(", optional(listed(field("value", $._binding))), ")"),

    positional_argument: ($) => choice(
      field("value", $._binding),
      seq("(", optional(listed(field("value", $._binding))), ")"),
    ),

    _binding: ($) => choice(
      $.name_binding,
      $.value_binding,
      $.unset_binding,
      $.draft_binding,
      $.weight_binding,
      $.call_binding,
    ),

    name_binding: ($) => $.name,

    value_binding: ($) => $.value,

    unset_binding: ($) => "$unset",

    draft_binding: ($) => $._draft_literal,

    weight_binding: ($) => $._weight,

    call_binding: ($) => $.call,

    _draft_literal: ($) => choice($.number, $.bool, $.string, $.raw_list),

    call: ($) => seq(
      choice(field("type", $.name), field("type", $.imported)),
      optional(field("opset", $.operation_opset)),
      field("arguments", $.arguments),
      optional(field("attributes", $.attributes)),
    ),

    imported: ($) => choice(seq("$import", "(", $.string, ")"), seq("$import", "(", $.string, ",", $.string, ")")),

    attributes: ($) => seq("[", optional($._attributes), "]"),

    marked_attributes: ($) => seq("$[", optional($._attributes), "]"),

    _attributes: ($) => listed($._attribute),

    _attribute: ($) => choice($.attribute, $.draft_attribute),

    attribute: ($) => seq(field("name", $.name), "=", field("value", $.value)),

    draft_attribute: ($) => seq(
      field("name", $.name),
      "=",
      choice(field("value", $._draft_literal), field("value", $._weight)),
    ),

    _type: ($) => choice(
      $.scalar_type,
      $.tensor_type,
      $.tensor_buffer_type,
      $.list_type,
      $.tuple_type,
      $.dictionary_type,
      $.state_type,
      $.absent_type,
      $.empty_type,
    ),

    scalar_type: ($) => $.dtype,

    tensor_type: ($) => seq(
      "tensor",
      "<",
      field("dtype", $.dtype),
      ",",
      field("dimensions", $.dimensions),
      repeat($._tensor_field),
      ">",
    ),

    tensor_buffer_type: ($) => seq(
      "tensor_buffer",
      "<",
      $.dtype,
      ",",
      "shape",
      "=",
      $.dimensions,
      ",",
      "strides",
      "=",
      $.dimensions,
      ",",
      "interleave_factors",
      "=",
      $.dimensions,
      ">",
    ),

    list_type: ($) => seq("list", "<", $._type, ",", $.dimension, ">"),

    tuple_type: ($) => seq("tuple", "<", optional(listed($._type)), ">"),

    dictionary_type: ($) => seq("dict", "<", $._type, ",", $._type, ">"),

    state_type: ($) => seq("state", "<", $._type, ">"),

    absent_type: ($) => "$absent",

    empty_type: ($) => "$empty",

    dtype: ($) => choice($.dtype_name, $.code),

    dimensions: ($) => seq("[", optional(listed($.dimension)), "]"),

    dimension: ($) => choice($.number, "?", "$variadic", "$empty", "$absent"),

    _tensor_field: ($) => choice($.tensor_rank, $.tensor_attributes),

    tensor_rank: ($) => seq(",", "$rank", "(", $.number, ")"),

    tensor_attributes: ($) => seq(",", $.marked_attributes),

    value: ($) => seq(optional(field("doc", $.value_doc)), field("type", $._type), "(", field("literal", $._raw), ")"),

    value_doc: ($) => seq("$doc", "(", $.string, ")"),

    _raw: ($) => choice(
      $.number,
      $.bool,
      $.string,
      $.inf,
      $.nan,
      $.raw_list,
      $.raw_tuple,
      $.raw_dictionary,
      $.blob,
      $._weight,
      $._ours,
    ),

    raw_list: ($) => seq("[", optional(listed($._raw)), "]"),

    raw_tuple: ($) => seq("(", optional(listed($._raw)), ")"),

    raw_dictionary: ($) => seq("{", optional(listed($.pair)), "}"),

    pair: ($) => seq("{", $._raw, ",", $._raw, "}"),

    blob: ($) => seq("BLOBFILE", "(", $._blob_field, ",", $._blob_field, ")"),

    _blob_field: ($) => choice($.blob_path, $.blob_offset),

    blob_path: ($) => seq("path", "=", $._type, "(", $.string, ")"),

    blob_offset: ($) => seq("offset", "=", $._type, "(", $.number, ")"),

    _weight: ($) => choice($.array_file, $.record),

    array_file: ($) => choice(
      seq(optional($.dtype_name), "$npy", "(", $.string, ")"),
      seq(optional($.dtype_name), "$npz", "(", $.string, ",", $.string, ")"),
      seq(optional($.dtype_name), "$safetensors", "(", $.string, ",", $.string, ")"),
    ),

    record: ($) => seq("$blob", "(", $.string, ",", $.number, ")"),

    _ours: ($) => choice($.values_field, $.any_kind, $.whole_value, $.elided, $.nothing, $.no_value),

    values_field: ($) => seq($.field, "(", $._raw, ")"),

    any_kind: ($) => choice(seq("$list", $.raw_list), seq("$tuple", $.raw_tuple), seq("$dictionary", $.raw_dictionary)),

    whole_value: ($) => seq("$value", "(", $.value, ")"),

    elided: ($) => seq("$elided", "(", $.number, ",", $.string, ")"),

    nothing: ($) => choice("$tensor", "$empty", "$unset"),

    no_value: ($) => "$absent",

    name: ($) => choice($._word, $._quoted_word),

    _word: ($) => /[A-Za-z_][A-Za-z0-9_@]*/,

    _quoted_word: ($) => token(
      seq(
        "$",
        /"[^"\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*(?:\\[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff][^"\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*)*"/,
      ),
    ),

    dtype_name: ($) => token(
      choice(
        "bool",
        "string",
        "fp8e4m3fn",
        "fp8e5m2",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
        "int4",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint1",
        "uint2",
        "uint3",
        "uint4",
        "uint6",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
      ),
    ),

    bool: ($) => token(choice("true", "false")),

    draft: ($) => "_",

    inf: ($) => "inf",

    nan: ($) => "nan",

    no_block: ($) => "$none",

    field: ($) => token(choice("$floats", "$ints", "$bools", "$strings", "$longInts", "$doubles", "$bytes")),

    code: ($) => /\$-?[0-9]+/,

    number: ($) => token(
      choice(
        /[-+]?(?:0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)/,
        /[-+]inf/,
        /\$0[xX][0-9a-fA-F]+/,
      ),
    ),

    string: ($) => /"[^"\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*(?:\\[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff][^"\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*)*"/,

    comment: ($) => token(
      choice(
        seq("//", /[^\r\n\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*/),
        seq(
          "/*",
          /[^*\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*\*+(?:[^/*\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff][^*\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*\*+)*/,
          "/",
        ),
      ),
    ),
  },
});
