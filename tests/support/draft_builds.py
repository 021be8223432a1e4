"""Builds of drafts in a working folder of a test's own, as a user runs them."""

from __future__ import annotations

from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

import miltext
from miltext.cli import command
from miltext.containers.programs import TextModel

STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)
"""click before 8.2 mixes the two streams unless it is told not to."""


def run(*arguments: object, input: bytes | None = None) -> Result:
    return RUNNER.invoke(command, [str(each) for each in arguments], input=input and BytesIO(input))


def written(text: str | bytes, name: str = "draft.mil") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def program(*operations: str, inputs: str = "tensor<fp16, [2, 3]> x", outputs: str = "y", opset: str = "ios18") -> str:
    lines = "".join(f"            {line}\n" for line in operations)
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{lines}        }} -> ({outputs});\n}}\n"


HALVED = program("y = mul(silu(x), 0.5);")
ELIDED = program('w = const()[val = tensor<fp16, [2, 3]>($elided(6, "sha256:00"))];', "y = mul(silu(x), w);")


def built(name: str = "Out.mlpackage", function: str = "main") -> list[str]:
    """The operations that a model has."""
    made = miltext.load(name).program.functions[function]
    return [operation.type for block in made.block_specializations.values() for operation in block.operations]


def model_of(text: str, name: str = "draft.mil") -> TextModel:
    return TextModel(text.encode(), name, written(text, name).absolute())
