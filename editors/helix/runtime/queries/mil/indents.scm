; The operations of a function are two levels deep, and the closing brace of its block is one level deep.
[
  (function)
  (block)
] @indent.always

[
  (program)
  (operation)
  (parameters)
  (arguments)
  (attributes)
  (raw_list)
  (raw_tuple)
  (raw_dictionary)
] @indent

[
  "}"
  ")"
  "]"
] @outdent

; What is before the functions is not indented.
(program "{" @outdent)
(program (attributes) @outdent)
