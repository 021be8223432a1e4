"""Facts of control flow, lists, states and classification."""

from __future__ import annotations

from op_facts.words import ANY, SCALAR, Facts, number, takes, word

FACTS: Facts = {
    # iOS15/control_flow.py
    "const": {"val": ANY},
    "cond": {"pred": takes("[] | [1]")},  # converters make conditions of loops vectors of one
    "make_list": {
        "init_length": number("0"),
        "dynamic_length": SCALAR,
        "dtype": word("bool fp16 fp32 int32"),
    },
    "list_read": {"index": number("0")},
    "list_write": {"index": number("0"), "value": ANY},
    "list_gather": {"indices": takes("[?]", least="0")},
    "list_scatter": {"indices": takes("[n]", least="0"), "value": takes("[n, ...]")},
    # iOS15/classify.py
    "classify": {"probabilities": ANY},
    # backend/mil/load.py: translate_coreml_update_state_op
    "write_state": {"data": ANY},
    # backend/mil/load.py: translate_generic_op
    "custom_layer": {"class_name": SCALAR, "description": SCALAR},
}
