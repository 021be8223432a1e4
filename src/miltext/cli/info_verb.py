"""`miltext info`: the contents of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.many_models import ManyModels, models_argument
from miltext.cli.streams import STATUSES, nested_option, open_whole, write_json, write_text
from miltext.diagnostics.wording import tally
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.containers.summary import Summary

EPILOG = """\b
Examples:
  miltext info Model.mlpackage
  miltext info Pipeline.mlpackage --model 1
  miltext info Model.mlmodelc                # with the hash of its source
  miltext info Model.mlpackage --format json | jq .weights
  miltext info --json --jobs auto models     # a line for each model below the folder
"""


@click.command("info", cls=ManyModels, epilog=EPILOG + STATUSES)
@models_argument
@nested_option()
@format_option
def command(model: str, nested: str | None) -> None:
    """Summarize MODEL: kind and specification, functions, operations, weights, the models of a pipeline with their
    connections, and a compiled model's statements about itself. A draft is completed first.
    """
    from miltext.containers.summary import summarize
    from miltext.drafting.programs import outlined

    whole = open_whole(model)
    whole = outlined(whole) if whole.kind == "mil" else whole
    record = summarize(whole.at(nested), whole)
    if asks_json():
        write_json(record)
    else:
        write_text("-", [f"{line}\n" for line in _lines(record)])


def _lines(record: Summary, indent: str = "") -> Iterator[str]:
    version = record.get("specificationVersion")
    kind = f"{record['type']} in a {record['kind']}" + (f", specification {version}" if version else "")
    title = record.get("pipelineName")
    yield indent + (f"{title}: " if title else "") + kind + _system(version)
    for key, text in record.get("metadata", {}).items():
        yield f"{indent}  {key}: {text}"
    yield from _compiled_lines(record.get("compiled", {}), indent + "  ")
    for function in record.get("functions", ()):
        yield from _function_lines(function, indent + "  ")
    for dtype, counts in record.get("weights", {}).items():
        yield f"{indent}  {counts['parameters']:,} parameters of {dtype}, {counts['bytes']:,} bytes"
    for file in record.get("blobFiles", ()):
        size = f"{file['bytes']:,} bytes" if "bytes" in file else file["problem"]
        unused = f", {file['unusedBytes']:,} of them unused" if file.get("unusedBytes") else ""
        cut = file.get("recordsBeyondEnd")
        beyond = f", {cut} of the records {'reaches' if cut == 1 else 'reach'} beyond its end" if cut else ""
        yield f"{indent}  {file['path']}: {tally(file['records'], 'record')}, {size}{unused}{beyond}"
    yield from (f"{indent}  overlay {each['path']}: {_overlay(each)}" for each in record.get("overlays", ()))
    yield from (f"{indent}  item {each['path']}: {quote(each['description'])}" for each in record.get("items", ()))
    for side in ("inputs", "states", "outputs"):
        for feature in record.get(side, ()):
            yield f"{indent}  {side[:-1]} {feature['name']}: {feature['type']}"
    for connection in record.get("connections", ()):
        yield f"{indent}  {_connection(connection)}"
    for index, model in enumerate(record.get("models", ())):
        inner = list(_lines(model, indent + "  "))
        yield f"{indent}  {index}: {inner[0].strip()}"
        yield from inner[1:]


def _overlay(overlay: Summary) -> str:
    """Return the number of texts in an overlay, and its odd parts; or the reason why it cannot be read."""
    if "problem" in overlay:
        return str(overlay["problem"])
    parts = [tally(overlay["texts"], "text")]
    if overlay["replaced"]:
        parts.append(f"{overlay['replaced']} in place of the model's own")
    parts += [f"no feature for {', '.join(overlay['unplaced'])}"] if overlay["unplaced"] else []
    return ", ".join(parts + ([f"unknown: {', '.join(overlay['unknown'])}"] if overlay["unknown"] else []))


def _compiled_lines(compiled: Summary, indent: str) -> Iterator[str]:
    """Yield a compiled model's statements about itself."""
    from miltext.compiled.analytics import SOURCE

    if "modelHash" in compiled:
        yield f"{indent}compiled from {compiled.get('modelName', '')}.mlmodel, SHA-256 {compiled['modelHash']}"
    for version, text in compiled.get("compiler", {}).items():
        yield f"{indent}{version}: {text}"
    for name, table in compiled.get("analytics", {}).items():
        if name != SOURCE:
            yield f"{indent}{name}: {', '.join(f'{key} {text}' for key, text in table.items())}"
    for key, words in {"computePrecision": "computes in", "storagePrecision": "weights stored as"}.items():
        if compiled.get(key):
            yield f"{indent}{words} {compiled[key]}"
    if compiled.get("availability"):
        systems = ", ".join(f"{system} {version}" for system, version in compiled["availability"].items())
        yield f"{indent}available from {systems}"
    if "generatedClassName" in compiled:
        yield f"{indent}class in Xcode: {compiled['generatedClassName']}"
    yield from (f"{indent}{problem}" for problem in compiled.get("problems", ()))


def _connection(connection: Summary) -> str:
    ends = [[connection["from"]], connection["to"]]
    giver, users = [", ".join(f"model {end}" if isinstance(end, int) else str(end) for end in side) for side in ends]
    return f"{connection['name']}: {giver.replace('None', 'nobody')} -> {users or 'nobody'}"


def _system(version: int | None) -> str:
    from miltext.schema.opsets import OPSETS

    names = [opset.text for opset in OPSETS if opset.specification == version]
    return f" ({names[0]})" if names else ""


def _function_lines(function: Summary, indent: str) -> Iterator[str]:
    from miltext.syntax.names import opset_text

    opset = opset_text(function["opset"]) if function["opset"] else ""
    yield f"{indent}function {function['name']}" + (f" ({opset})" if opset else "")
    for side in ("inputs", "states", "outputs"):
        for feature in function[side]:
            yield f"{indent}  {side[:-1]} {feature['name']}: {feature['type']}"
    operations = function["operations"]
    listed = ", ".join(f"{count} {name}" for name, count in operations.items())
    yield (
        f"{indent}  {tally(sum(operations.values()), 'operation')}: {listed}"
        if operations
        else f"{indent}  no operations"
    )
