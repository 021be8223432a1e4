(function
  "func" @context
  name: (name) @name) @item
