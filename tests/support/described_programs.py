"""The programs of `coremltools_programs`, each in a model whose description says more than the types do."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

from support.containers import write_package
from support.made_up_weights import write_weights

from miltext.descriptions.program_descriptions import describe, known_version
from miltext.diagnostics import ModelError
from miltext.schema.function_io import interfaces
from miltext.schema.proto import (
    FeatureDescription,
    FunctionDescription,
    ImageFeatureType,
    Model,
    ModelDescription,
    Program,
)
from miltext.schema.types import TensorType, read_type

COLOURS = {1: ImageFeatureType.GRAYSCALE, 3: ImageFeatureType.RGB}


def described(program: Program, folder: Path) -> Path | None:
    """Write a package of a program, with made-up weights; None for one that no description can have."""
    try:
        description = describe(program, None)
        version = known_version(program, description)
    except ModelError:
        return None
    description.metadata.author, description.metadata.shortDescription = "The tests", "A program"
    description.metadata.userDefined["a key"] = "a value"
    types = {(name, each): kind for name, side in interfaces(program).items() for each, kind in side.inputs.items()}
    functions: list[FunctionDescription | ModelDescription] = [*description.functions]
    for function in functions or [description]:
        for entry in (*function.input, *function.output, *function.state):
            entry.shortDescription = f"what is called {entry.name}"
        said = cycle([_optional, _ranged, _pictured, _enumerated])
        for entry in function.input:
            known = [kind for (_, name), kind in types.items() if name == entry.name]
            type_ = read_type(known[0]) if known and known[0] else None
            if isinstance(type_, TensorType) and entry.type.HasField("multiArrayType"):
                _say(entry, type_, said)
    made = Model(specificationVersion=version, description=description, mlProgram=program)
    write_package(folder, made.SerializeToString())
    write_weights(program, folder / "Data" / "com.apple.CoreML")
    return folder


def _say(entry: FeatureDescription, kind: TensorType, said: Any) -> None:
    """Have an entry say the next thing that can be said of its type."""
    for _ in range(4):
        if next(said)(entry, kind):
            return


def _optional(entry: FeatureDescription, kind: TensorType) -> bool:
    if None in kind.shape:
        return False
    array = entry.type.multiArrayType
    entry.type.isOptional = True
    if kind.dtype == "int32":
        array.intDefaultValue = 3
    else:
        array.floatDefaultValue = 0.25
    return True


def _ranged(entry: FeatureDescription, kind: TensorType) -> bool:
    array = entry.type.multiArrayType
    if None not in kind.shape:
        return False
    del array.shape[:]
    array.shapeRange.Clear()
    for size in kind.shape:
        array.shape.append(size or 2)
        array.shapeRange.sizeRanges.add(lowerBound=size or 2, upperBound=size or 64)
    return True


def _enumerated(entry: FeatureDescription, kind: TensorType) -> bool:
    array = entry.type.multiArrayType
    if None not in kind.shape:
        return False
    array.ClearField("ShapeFlexibility")
    array.shape[:] = [size or 2 for size in kind.shape]
    for factor in (1, 4):
        array.enumeratedShapes.shapes.add(shape=[size or 2 * factor for size in kind.shape])
    return True


def _pictured(entry: FeatureDescription, kind: TensorType) -> bool:
    sizes = entry.type.multiArrayType.shape
    if len(sizes) != 4 or sizes[0] != 1 or sizes[1] not in COLOURS or None in kind.shape or kind.dtype != "fp32":
        return False
    _, channels, height, width = sizes
    image = ImageFeatureType(colorSpace=COLOURS[channels], height=height, width=width)
    entry.type.imageType.CopyFrom(image)
    return True
