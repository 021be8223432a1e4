"""Snippets for VS Code, from signatures: every operation with the parameters that it requires."""

from __future__ import annotations

import json
from collections.abc import Iterator

from miltext.schema.operations import BlockSignature, Parameter, Signature, all_names, signature

LITERALS = {
    "string": 'string("")',
    "bool": "bool(false)",
    "int32": "int32(0)",
    "fp16": "fp16(0x0p+0)",
    "fp32": "fp32(0x0p+0)",
    "uint8": "uint8(0)",
}
"""The value that a snippet gives an attribute: the first of these that the parameter takes."""

TYPE = "tensor<fp16, [1]>"


class _Stops:
    """The numbered places of a snippet, in the order in which an author fills them."""

    def __init__(self) -> None:
        self.count = 0

    def next(self, default: str) -> str:
        self.count += 1
        return f"${{{self.count}:{default}}}"


def operation_snippets() -> str:
    """Make the file `snippets/operations.json`, from the newest version of each operation."""
    found = (signature(name) for name in all_names())
    snippets = {known.name: _snippet(known) for known in found if known}
    return json.dumps(snippets, indent=1) + "\n"


def _snippet(known: Signature) -> dict[str, str | list[str]]:
    stops = _Stops()
    results = [f"{stops.next(TYPE)} {stops.next(name)}" for name in _result_names(known)]
    required = sorted(parameter for parameter in known.parameters.values() if parameter.required)
    arguments = ", ".join(_argument(stops, parameter) for parameter in required if not parameter.attribute)
    attributes = {parameter.name: stops.next(_literal(parameter)) for parameter in required if parameter.attribute}
    attributes["name"] = 'string("$2")' if results else f'string("{stops.next(known.name)}")'
    listed = ", ".join(f"{key} = {value}" for key, value in sorted(attributes.items()))
    line = f"{', '.join(results)}{' = ' if results else ''}{known.name}({arguments})[{listed}]"
    lines = [line, *(text for block in known.blocks for text in _block(stops, block))]
    lines[-1] += ";$0"
    return {"prefix": known.name, "description": str(known), "body": lines}


def _result_names(known: Signature) -> list[str]:
    count = known.outputs[0]
    return ["y"] if count == 1 else [f"y{number}" for number in range(count)]


def _argument(stops: _Stops, parameter: Parameter) -> str:
    if parameter.variadic:
        return f"{parameter.name} = ({stops.next('a')}, {stops.next('b')})"
    return f"{parameter.name} = {stops.next(parameter.name)}"


def _literal(parameter: Parameter) -> str:
    return next(literal for dtype, literal in LITERALS.items() if dtype in parameter.dtypes or not parameter.dtypes)


def _block(stops: _Stops, block: BlockSignature) -> Iterator[str]:
    inputs = f"{stops.next(TYPE)} {stops.next('v')}" if block.inputs else ""
    yield f"\t({inputs}) {{"
    yield f"\t\t{stops.next('// ' + block.name)}"
    yield f"\t}} -> ({stops.next('v')})"
