"""Contradictions of a program that was changed with its description."""

from __future__ import annotations

from typing import Any

from support.contradictions.contradicted import Case, Inapplicable, contradiction, equivalent
from support.contradictions.wrong_features import BOTH
from support.contradictions.wrong_types import SAME, SIZES

from miltext.schema.proto import Argument
from miltext.schema.walk import messages


def _taken(case: Case) -> Any:
    return case.pick(case.function.inputs)


@contradiction("interface", "a parameter renamed with its uses", BOTH)
def _renamed(case: Case) -> str:
    value = _taken(case)
    old, new = value.name, f"{value.name}_2"
    for _, message in messages(case.program):
        for bound in message.arguments if isinstance(message, Argument) else ():
            bound.name = new if bound.name == old else bound.name
    outputs = case.block.outputs
    for index, name in enumerate(outputs):
        outputs[index] = new if name == old else name
    value.name = new
    return f"the program takes `{new}` for `{old}`"


@contradiction("interface", "a parameter of other elements", SAME)
def _elements(case: Case) -> str:
    value = _taken(case)
    kind = value.type.stateType.wrappedType if value.type.HasField("stateType") else value.type
    kind.tensorType.dataType = case.pick(each for each in (10, 11, 23, 1) if each != kind.tensorType.dataType)
    return f"the program takes `{value.name}` of other elements"


@contradiction("interface", "a parameter of another size", SIZES)
def _size(case: Case) -> str:
    value = _taken(case)
    kind = value.type.stateType.wrappedType if value.type.HasField("stateType") else value.type
    fixed = case.pick(each for each in kind.tensorType.dimensions if each.HasField("constant"))
    fixed.constant.size += 3
    return f"the program takes `{value.name}` of another size"


@contradiction("interface", "a parameter more", BOTH)
def _more(case: Case) -> str:
    value = case.function.inputs.add()
    value.CopyFrom(case.function.inputs[0])
    value.name = "unasked"
    return "the program takes `unasked`"


@contradiction("interface", "an output dropped", BOTH)
def _dropped(case: Case) -> str:
    outputs = case.block.outputs
    name = outputs.pop(case.random.randrange(len(outputs)))
    return f"the program does not give `{name}`"


@contradiction("interface", "an output more", BOTH)
def _output_more(case: Case) -> str:
    inner = [
        each.outputs[0].name
        for each in case.block.operations
        if len(each.outputs) == 1 and each.type not in ("const", "read_state")
    ]
    name = case.pick({*inner} - {*case.block.outputs})
    case.block.outputs.append(name)
    return f"the program gives `{name}`"


@contradiction("functions", "a function of the program renamed", "a function is found by its name")
def _function_renamed(case: Case) -> str:
    name = getattr(case.described, "name", "") or "main"
    function = case.program.functions[name]
    case.program.functions[f"{name}_2"].CopyFrom(function)
    del case.program.functions[name]
    return f"the program has `{name}_2` for `{name}`"


@contradiction("functions", "a function of the program missing", "each described function is in the program")
def _function_missing(case: Case) -> str:
    name = getattr(case.described, "name", "")
    if not name:
        raise Inapplicable
    del case.program.functions[name]
    return f"the program lacks `{name}`"


@contradiction("functions", "a function more", "each function of the program is described")
def _function_more(case: Case) -> str:
    case.program.functions["unasked"].CopyFrom(case.function)
    return "the program has `unasked`"


@contradiction("interface", "no program", "the model is an ML Program")
def _none(case: Case) -> str:
    case.program.functions.clear()
    return "the program has no functions"


@equivalent("interface", "the order of parameters", "parameters are found by their names")
def _order(case: Case) -> str:
    inputs = [type(each).FromString(each.SerializeToString()) for each in case.function.inputs]
    if len(inputs) < 2:
        raise Inapplicable
    del case.function.inputs[:]
    case.function.inputs.extend(reversed(inputs))
    return "the order of parameters"


@equivalent("interface", "the order of outputs", "outputs are found by their names")
def _output_order(case: Case) -> str:
    names = [*case.block.outputs]
    if len(names) < 2:
        raise Inapplicable
    del case.block.outputs[:]
    case.block.outputs.extend(reversed(names))
    return "the order of outputs"
