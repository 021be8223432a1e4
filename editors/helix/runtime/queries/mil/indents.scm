; The operations of a function are two levels deep, and its closing brace one level.

[
  (program)
  (function)
  (operation)
  (parameters)
  (arguments)
  (attributes)
  (raw_list)
  (raw_tuple)
  (raw_dictionary)
] @indent

(block) @indent.always

[
  "}"
  ")"
  "]"
] @outdent

; What is before the functions is not indented.
(program "{" @outdent)
(program (attributes) @outdent)
