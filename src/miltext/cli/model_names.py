"""Names in a model, for completion: found fast, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Program

LARGEST = 3 << 20
"""The most bytes of a text or a program read while the user waits: that takes less than 0.1 s."""

_NAME = r"[A-Za-z_][A-Za-z0-9_@]*"
_MADE = re.compile(rf"^[ \t]*([A-Za-z_][^=;(){{}}\n]*?)[ \t]*=[ \t]*({_NAME})(?:<[^<>\n]*>)?\(", re.MULTILINE)
"""The values of a statement, with their types, and the operation that makes them."""
_FUNCTION = re.compile(rf"\bfunc\s+({_NAME})\s*(?:<[^<>]*>)?\s*\(([^()]*)\)")
"""A function's name, and its inputs with their types."""
_LAST = re.compile(rf"({_NAME})[ \t]*(?=,(?![^<]*>)|$)")
"""The name of each value in a list of several, after its type; a comma inside a type separates no values."""


def names_in(path: str, kind: str) -> Iterable[str]:
    """Return the names of a `kind` in a model: `inputs`, `values` of operations, both as `names`, `functions` or
    `stages`. Nothing for a model that cannot be read, or not fast.
    """
    try:
        text = _text_of(path)
        found = READERS[kind][0](text) if text is not None else READERS[kind][1](_opened(path))
        return list(dict.fromkeys(found))
    except (MiltextError, OSError):
        return []


def _text_of(path: str) -> str | None:
    """Return the text of a `.mil`, or of the model.mil in a compiled model; None for another model."""
    inner = os.path.join(path, "model.mil")
    file = inner if os.path.isfile(inner) else path
    if not file.lower().endswith(".mil"):
        return None
    with open(file, "rb") as opened:
        return opened.read(LARGEST).decode(errors="replace") if os.path.getsize(file) <= LARGEST else ""


def _opened(path: str) -> Model:
    """Return a model with small parts, weights aside. Raise OSError for a large one."""
    from miltext.containers.opening import open_model

    programs = (
        [path]
        if os.path.isfile(path)
        else [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if name.endswith((".mlmodel", ".mil"))
        ]
    )
    if sum(map(os.path.getsize, programs)) > LARGEST:
        raise OSError(path)
    return open_model(path)


# ---- of texts


def _text_values(text: str) -> Iterator[str]:
    for made in _MADE.finditer(text):
        if made[2] != "const":
            yield from _LAST.findall(made[1])


def _text_inputs(text: str) -> Iterator[str]:
    for function in _FUNCTION.finditer(text):
        yield from _LAST.findall(" ".join(function[2].split()))


def _text_names(text: str) -> Iterator[str]:
    yield from _text_inputs(text)
    yield from _text_values(text)


def _text_functions(text: str) -> Iterator[str]:
    return (function[1] for function in _FUNCTION.finditer(text))


# ---- of models


def _programs(model: Model) -> Iterator[Program]:
    for stage in model.programs():
        with suppress(MiltextError):
            yield stage.model.program


def _values(model: Model) -> Iterator[str]:
    from miltext.schema.walk import statements

    for program in _programs(model):
        for _, operation in statements(program):
            if operation.type != "const":
                yield from (output.name for output in operation.outputs)


def _inputs(model: Model) -> Iterator[str]:
    for program in _programs(model):
        for function in program.functions.values():
            yield from (each.name for each in function.inputs)


def _names(model: Model) -> Iterator[str]:
    yield from _inputs(model)
    yield from _values(model)


def _functions(model: Model) -> Iterator[str]:
    for program in _programs(model):
        yield from sorted(program.functions)


def _stages(model: Model) -> Iterator[str]:
    return (stage.place for stage in model.stages() if stage.place)


READERS: dict[str, tuple[Callable[[str], Iterable[str]], Callable[[Model], Iterable[str]]]] = {
    "inputs": (_text_inputs, _inputs),
    "values": (_text_values, _values),
    "names": (_text_names, _names),
    "functions": (_text_functions, _functions),
    "stages": (lambda _: (), _stages),
}
"""The readers of each kind of names, in a text and in another model."""
