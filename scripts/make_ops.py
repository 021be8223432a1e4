"""Make src/miltext/schema/ops.json, the table of op signatures, from coremltools; `--check` fails if it is stale.

The script needs coremltools 9.0. The table describes Programs as coremltools saves them, which differ from what its
registry declares: parameters that begin with `_` exist in memory only, the iOS16 `constexpr_*` and `const` keep
everything in attributes, and some ops are made while saving. Facts that the registry lacks are in the tables below and,
of shapes and values, in `op_facts`, each with its source in coremltools/converters/mil.
"""

from __future__ import annotations

import copy
import json
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from generated import settle
from op_facts import facts_of, unknown_parameters

Versions: TypeAlias = "list[dict[str, Any]]"
Table: TypeAlias = "dict[str, Versions]"

TABLE = Path(__file__).resolve().parent.parent / "src" / "miltext" / "schema" / "ops.json"

# The registry's first opsets are those of neural networks: a program starts at iOS15 (coremltools/__init__.py: _OPSET).
OPSETS = {"iOS13": "ios15", "iOS14": "ios15", "iOS15": "ios15", "iOS16": "ios16", "iOS17": "ios17", "iOS18": "ios18"}

# Registered for coremltools' own tests, with symbols for values: no saved Program has it
# (mil/ops/defs/iOS15/control_flow.py).
UNSAVED = {"_const_symbolic"}

# The kinds of value that each class of mil/input_type.py accepts (its _is_compatible).
KINDS = {
    "TensorInputType": "tensor",
    "TupleInputType": "tensor",
    "ListInputType": "list",
    "StateInputType": "state",
    "ListOrTensorOrDictInputType": "tensor list dictionary",
}

# How many outputs, least and most, where that is not one (each op's type_inference in mil/ops/defs).
OUTPUTS: dict[str, dict[str, list[int | None]]] = {
    "classify": {"ios15": [2, 2]},
    "cond": {"ios15": [1, None]},
    "constexpr_lut_to_sparse": {"ios18": [2, 2]},
    "constexpr_sparse_blockwise_shift_scale": {"ios18": [2, 2]},
    "gru": {"ios15": [2, 2]},
    "lstm": {"ios15": [3, 3]},
    "non_maximum_suppression": {"ios15": [4, 4], "ios17": [3, 3]},
    "rnn": {"ios15": [2, 2]},
    "split": {"ios15": [1, None]},
    "topk": {"ios15": [2, 2], "ios16": [1, 2]},
    "while_loop": {"ios15": [1, None]},
}

# Nested blocks in order: a name for each, and the parameter whose values its inputs stand for
# (build_nested_blocks in mil/ops/defs/iOS15/control_flow.py).
BLOCKS: dict[str, list[list[str | None]]] = {
    "cond": [["true", None], ["false", None]],
    "while_loop": [["cond", "loop_vars"], ["body", "loop_vars"]],
}

# Where a parameter takes more or less than its input_spec says: as the op's own code demands (type_inference
# of each), but for `constexpr_lut_to_dense`, whose shape published models also give as int32.
CORRECTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("constexpr_lut_to_dense", "shape"): {"dtypes": "uint32 int32"},
    ("make_list", "elem_shape"): {"dtypes": "int32 string", "constant": True},
    ("reshape_like", "begins"): {"dtypes": "int32", "constant": True},
    ("reshape_like", "ends"): {"dtypes": "int32", "constant": True},
    ("reshape_like", "end_masks"): {"dtypes": "bool", "constant": True},
    ("while_loop", "loop_vars"): {"kinds": "tensor list"},
}

# Parameters that coremltools declares optional and always saves, and that loaders of Core ML refuse to go without:
# "Required param 'mode' is missing" (rustnn, pull requests 102, for `gelu` on watchOS 11, and 60, for `inverse`);
# `log` and `rsqrt` take theirs as `inverse` does. What to write is coremltools' default.
ASKED = {"gelu": "mode", "inverse": "epsilon", "log": "epsilon", "rsqrt": "epsilon"}

# Parameters with defaults that must be of one data type all the same (type_inference of each op).
ALIKE = {"one_hot": ("on_value", "off_value"), "random_normal": ("mean", "stddev"), "random_uniform": ("low", "high")}

STRING = {"dtypes": "string", "constant": True, "attribute": True}
STRINGS = {"kinds": "list", "constant": True, "attribute": True}

# Ops that only a saved Program has, or has in a form of its own, as versions of the table
# (backend/mil/load.py: translate_generic_op, translate_const).
SAVED_ONLY: Table = {
    "const": [
        {
            "opset": "ios15",
            "parameters": {
                "val": {"kinds": "tensor list tuple dictionary", "constant": True, "attribute": True},
            },
        }
    ],
    "custom_layer": [
        {
            "opset": "ios15",
            "parameters": {
                "class_name": STRING,
                "input_order": STRINGS,
                "parameters": STRINGS,
                "weights": STRINGS,
                "description": STRING,
            },
            "outputs": [0, None],
            "open": True,
        }
    ],
}


def op_table() -> Table:
    """List every op's versions, oldest first; facts that have their usual value are left out."""
    table = {name: read() for name, read in readers().items()}
    if strange := unknown_parameters(table):
        sys.exit(f"op_facts speaks of what there is not: {'; '.join(strange)}")
    if later := {version["opset"] for versions in table.values() for version in versions} - {*OPSETS.values()}:
        sys.exit(f"opsets that are not known here: {', '.join(sorted(later))} (scripts/compare_ops.py says more)")
    for name, versions in table.items():
        add_facts(name, versions)
    return dict(sorted(table.items()))


def readers() -> dict[str, Callable[[], Versions]]:
    """Return for each op that a saved Program may have what reads its versions out of the registry."""
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

    names = set(SSAOpRegistry.core_ops) - UNSAVED - set(SAVED_ONLY)
    read: dict[str, Callable[[], Versions]]
    read = {name: partial(op_versions, name, SSAOpRegistry.core_ops[name]) for name in names}
    read["write_state"] = lambda: [write_state(SSAOpRegistry.dialect_ops["coreml_update_state"])]
    return read | {name: partial(copy.deepcopy, versions) for name, versions in SAVED_ONLY.items()}


def add_facts(name: str, versions: Versions) -> None:
    """Enter what `op_facts` says of the parameters of an op."""
    for version in versions:
        for parameter, facts in facts_of(name, version["opset"]).items():
            version["parameters"].get(parameter, {}).update(facts)


def write_state(update: Any) -> dict[str, Any]:
    """Make the signature that `coreml_update_state` is saved with.

    The source is backend/mil/load.py: translate_coreml_update_state_op.
    """
    parameters = op_version("write_state", "ios18", update)["parameters"]
    renamed = {"input": parameters["state"], "data": parameters["value"]}
    return {"opset": "ios18", "parameters": renamed, "outputs": [0, 0]}


def op_versions(name: str, variants: dict[Any, Any]) -> Versions:
    """List one entry for each opset that brings the op or changes its class."""
    versions: Versions = []
    previous = None
    for target in sorted(variants):
        if variants[target] is not previous:
            previous = variants[target]
            versions.append(op_version(name, OPSETS.get(target.name, target.name.lower()), previous))
    return versions


def op_version(name: str, opset: str, op_class: Any) -> dict[str, Any]:
    in_attributes = name.startswith("constexpr_") and opset < "ios18"  # backend/mil/load.py: translate_constexpr
    version: dict[str, Any] = {"opset": opset, "parameters": {}}
    defaults = default_values(op_class)
    for parameter, declared in op_class.input_spec.input_types.items():
        if parameter.startswith("_"):  # backend/mil/load.py: translate_generic_op
            continue
        facts = {**parameter_facts(op_class, declared), **CORRECTIONS.get((name, parameter), {})}
        if parameter in defaults:
            facts |= defaulted(facts, defaults[parameter], alike=parameter in ALIKE.get(name, ()))
        if ASKED.get(name) == parameter:
            facts["asked"] = asked_value(defaults[parameter])
        version["parameters"][parameter] = {**facts, "attribute": True} if in_attributes else facts
    counts = [count for since, count in OUTPUTS.get(name, {}).items() if since <= opset]
    if counts:
        version["outputs"] = counts[-1]
    if name in BLOCKS:
        version["blocks"] = BLOCKS[name]
    return version


def default_values(op_class: Any) -> dict[str, Any]:
    """Find the values that coremltools gives to omitted parameters of an op, on tensors of rank 4."""
    op = op_class.__new__(op_class)
    stand_in = SimpleNamespace(rank=4, shape=(1, 1, 1, 1), dtype=dtype_of("fp32"), val=True)
    for parameter in op_class.input_spec.input_types:
        setattr(op, parameter, stand_in)
    return {name: value for name, value in op.default_inputs().items() if value is not None}


def defaulted(facts: dict[str, Any], value: Any, *, alike: bool) -> dict[str, Any]:
    """Return the default as a fact, if it does not depend on other arguments.

    Most defaults share no data type: coremltools makes the constant (fp32 for a float) and does not check it
    (mil/builder.py: _add_op). A NumPy default is of the data type of another argument, so what coremltools writes
    keeps to the domain; other writers may not. `alike`: the op demands it.
    """
    if isinstance(value, np.generic | np.ndarray):
        return {"loose": True} if "domain" in facts else {}
    if not alike:
        facts.pop("domain", None)
    return {"default": value} if isinstance(value, bool | int | float | str) else {}


def asked_value(default: Any) -> float | str:
    """Return a default as text has it: for a NumPy float, the shortest number that rounds to it."""
    return default if isinstance(default, str) else float(str(default))


def parameter_facts(op_class: Any, declared: Any) -> dict[str, Any]:
    kind = type(declared).__name__
    facts: dict[str, Any] = {}
    if kind == "TensorInputType":
        domain = declared.type_domain_id
        facts["dtypes"] = dtype_names(op_class.type_domains[domain] if domain else declared.type_domain)
        if domain:
            facts["domain"] = domain
    if KINDS[kind] != "tensor":
        facts["kinds"] = KINDS[kind]
    flags = {"optional": declared.optional, "constant": declared.const, "variadic": kind == "TupleInputType"}
    return {**facts, **{flag: True for flag, value in flags.items() if value}}


def dtype_of(name: str) -> Any:
    from coremltools.converters.mil.mil import types

    return types.string_to_builtin(name)


def dtype_names(builtins: tuple[Any, ...]) -> str:
    from coremltools.converters.mil.mil import types

    return " ".join(types.builtin_to_string(builtin) for builtin in builtins)


def render(table: Table) -> str:
    """Spell the table as JSON, one version of one op on a line."""
    ops = []
    for name, versions in table.items():
        lines = ",\n".join(f"  {json.dumps(version)}" for version in versions)
        ops.append(f" {json.dumps(name)}: [\n{lines}\n ]")
    return "{\n" + ",\n".join(ops) + "\n}\n"


def main() -> None:
    """Write the table, or compare it with the file."""
    logging.disable(logging.WARNING)  # coremltools greets with what it cannot load here
    settle(__doc__, [(TABLE, render(op_table()))])


if __name__ == "__main__":
    main()
