"""Small models with weights in files, for tests of what becomes of those: texts, and the files that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import miltext
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.models.model import Model
from miltext.schema.dtypes import BY_NAME
from miltext.schema.walk import values
from miltext.weight_files.blob_storage import BlobFile, BlobWriter

DATA = Path("Data", "com.apple.CoreML")
WEIGHT = "weights/weight.bin"
SIZE = 40

Place = tuple[str, int]
"""A weight file below `@model_path`, and which of its records."""


def numbers(value: int, size: int = SIZE) -> npt.NDArray[Any]:
    return np.full(size, value, np.float16)


def write_weights(path: Path, arrays: Sequence[npt.NDArray[Any]]) -> list[int]:
    """A weight file of fp16 arrays; their offsets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with BlobWriter(path) as writer:
        return [writer.add(BY_NAME["fp16"], array) for array in arrays]


def constant(name: str, file: str, offset: int, size: int = SIZE) -> str:
    kind = f"tensor<fp16, [{size}]>"
    blob = f'BLOBFILE(path = string("@model_path/{file}"), offset = uint64({offset}))'
    return f'            {kind} {name} = const()[name = string("{name}"), val = {kind}({blob})];\n'


def function_of(constants: Mapping[str, tuple[str, int]], name: str = "main", size: int = SIZE) -> str:
    """A function that adds constants to its input, each of which is at an offset of a file."""
    kind, last, lines = f"tensor<fp16, [{size}]>", "x", ""
    for each, place in constants.items():
        lines += constant(each, *place, size)
        lines += f'            {kind} {each}_sum = add(x = {last}, y = {each})[name = string("{each}_sum")];\n'
        last = f"{each}_sum"
    return f"    func {name}<ios18>({kind} x) {{\n{lines}        }} -> ({last});\n"


def program_of(*functions: str) -> str:
    return "program(1.3)\n{\n" + "".join(functions) + "}\n"


def text_model(text: str, folder: Path, name: str = "m.mil") -> TextModel:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return TextModel(text.encode(), str(folder / name), folder / name)


def build(source: Model, output: Path, **choices: Any) -> list[str]:
    """Build, and return what was told of unused weights; what is told as progress is what was expected."""
    told: list[int] = []
    expected: list[int] = []
    found = miltext.build(
        source, output, progress=told.append, expect=lambda size: expected.append(size()), force=True, **choices
    )
    assert [sum(told)] == expected
    return [each.message for each in found if each.code == "MIL312"]


def held_weights(path: Path) -> dict[tuple[str, str], list[float]]:
    """What every value in a weight file holds, by function and name, in all stages of a pipeline."""
    found: dict[tuple[str, str], list[float]] = {}
    model = open_model(path)
    for index, each in enumerate(model.models or [model]):
        if each.type != "mlProgram":
            continue
        for held in values(each.program):
            if held.value.WhichOneof("value") == "blobFileValue":
                key = f"{index}/{held.function}", f"{held.name}/{len(found)}"
                found[key] = each.weights[held.value].ravel().tolist()
    return found


def records(path: Path) -> list[int]:
    """The first number of each record of a weight file."""
    with BlobFile(path) as file:
        return [int(blob.array()[0]) for blob in file]
