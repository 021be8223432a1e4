"""Pipelines made small for tests: models of texts, and what `make_pipeline` of coremltools would put around them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.containers import coremldata

import miltext
from miltext.descriptions.program_descriptions import describe, known_version
from miltext.printing.coremlc import as_coremlc
from miltext.schema.features import features
from miltext.schema.proto import Model

UNARY = """program(1.3)
{{
    func main<ios16>(tensor<fp32, [1, 4]> {x}) {{
            tensor<fp32, [1, 4]> {inner} = relu(x = {x})[name = string("{inner}")];
            tensor<fp32, [1, 4]> {y} = tanh(x = {inner})[name = string("{y}")];
        }} -> ({y});
}}
"""

BINARY = """program(1.3)
{{
    func main<ios16>(tensor<fp32, [1, 4]> {a}, tensor<fp32, [1, 4]> {b}) {{
            tensor<fp32, [1, 4]> {y} = add(x = {a}, y = {b})[name = string("{y}")];
        }} -> ({y});
}}
"""


def of_text(text: str) -> Model:
    """An ML Program, described by its types."""
    program = miltext.parse(text)
    description = describe(program, None)
    return Model(specificationVersion=known_version(program, description), description=description, mlProgram=program)


def unary(x: str, y: str, inner: str = "inner") -> Model:
    return of_text(UNARY.format(x=x, y=y, inner=inner))


def binary(a: str, b: str, y: str) -> Model:
    return of_text(BINARY.format(a=a, b=b, y=y))


def piped(
    *models: Model, names: Iterable[str] = (), kind: str = "pipeline", hidden: Iterable[str] = (), **fields: Any
) -> Model:
    """A pipeline that takes what its models do not give one another, and gives what they do not take, or is `hidden`
    not.
    """
    made = Model(specificationVersion=max(model.specificationVersion for model in models))
    given: set[str] = set()
    for model in models:
        for entry in features(model.description).input:
            if entry.name not in given:
                made.description.input.add().CopyFrom(entry)
                given.add(entry.name)
        given |= {entry.name for entry in features(model.description).output}
    taken = {entry.name for model in models for entry in features(model.description).input}
    for model in models:
        for entry in features(model.description).output:
            if entry.name not in taken and entry.name not in hidden:
                made.description.output.add().CopyFrom(entry)
    for field, value in fields.items():
        setattr(made.description, field, value)
    pipeline = made.pipeline if kind == "pipeline" else getattr(made, kind).pipeline
    pipeline.models.extend(models)
    pipeline.names.extend(names)
    return made


def write_compiled(folder: Path, spec: Model) -> Path:
    """A compiled pipeline of ML Programs without weights."""
    folder.mkdir()
    is_pipeline = spec.WhichOneof("Type") == "pipeline"
    number = 202 if is_pipeline else 502
    count = len(spec.pipeline.models) if is_pipeline else None
    data = coremldata(spec.description, number=number, version=spec.specificationVersion, models=count)
    (folder / "coremldata.bin").write_bytes(data)
    for index, model in enumerate(spec.pipeline.models if is_pipeline else ()):
        write_compiled(folder / f"model{index}", model)
    if not is_pipeline:
        text = as_coremlc(spec.mlProgram, spec.specificationVersion, spec.description)
        (folder / "model.mil").write_bytes(text.encode())
    return folder
