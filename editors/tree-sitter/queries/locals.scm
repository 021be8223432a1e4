; A block is inside the scope of its inputs. Its outputs are a part of it.

(program) @local.scope
(function) @local.scope
(specialization) @local.scope
(inner_block) @local.scope
(block) @local.scope

(named_value name: (name) @local.definition)
(draft_value name: (name) @local.definition)

(name_binding (name) @local.reference)
(outputs (name) @local.reference)
