"""Whether what a build tells of a description says that a fact is not there any more: read as people read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from support.description_facts import Owner

WORDS: dict[str, dict[Any, str]] = {
    "colorSpace": {10: "GRAYSCALE", 20: "RGB", 30: "BGR", 40: "GRAYSCALE_FLOAT16"},
    "dataType": {65552: "fp16", 65568: "fp32", 65600: "fp64", 131104: "int32", 131080: "int8"},
    "isOptional": {True: "optional"},
}
"""What numbers of the schema are called, by the field."""


def tells(told: str, owner: Owner, path: str, value: Any) -> bool:
    """Whether a line says it: of what the fact is of, with its value in words; or that all of that is gone."""
    return any(_says(line, owner, path, value) for line in _lines(told, owner))


def _lines(told: str, owner: Owner) -> Iterator[str]:
    """Each line that is about an owner, or the function that it is in: its sign, and what follows the name."""
    where = f"model {owner.stage}: " if owner.stage else ""
    of = f"(?: of {re.escape(owner.function)})?"
    names = {
        owner.name,
        *re.findall(rf"^= {where}{owner.side} {re.escape(owner.name)} -> (\S+?){of}$", told, re.MULTILINE),
    }
    for name in names if owner.side else ():
        for sign, rest in re.findall(rf"^([-~=]) {where}{owner.side} {re.escape(name)}\b(.*)$", told, re.MULTILINE):
            yield f"{sign} {rest}"
    if owner.function and re.search(rf"^- {where}function {re.escape(owner.function)}$", told, re.MULTILINE):
        yield "- function"
    if not owner.side:
        yield from re.findall(rf"^[-~] {where}(?:specification|\w+\.?.*):.*$", told, re.MULTILINE)


def _says(line: str, owner: Owner, path: str, value: Any) -> bool:
    if line == "- function":
        return True
    if path == "exists":
        return line.startswith(("-", "="))
    known = _word(path, value) in line
    return known and (bool(owner.side) or _title(path) in line)


def _title(path: str) -> str:
    return {"specificationVersion": "specification"}.get(path, path.split(".", 1)[0])


def _word(path: str, value: Any) -> str:
    if value == "set":
        return ""
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    if path.endswith("upperBound") and value == -1:
        return ".."
    return str(WORDS.get(path.rpartition(".")[2], {}).get(value, value))
