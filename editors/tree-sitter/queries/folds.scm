[
  (comment)
  (function)
  (inner_block)
  (specialization)
  (arguments)
  (attributes)
  (raw_list)
  (raw_tuple)
  (raw_dictionary)
] @fold
