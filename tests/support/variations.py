"""Examples of operations with small changes: in shapes, data types, numbers, words, opsets, and what is left out."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from miltext.evaluation.values import CARRIERS
from miltext.reference.entries import Example
from miltext.schema.operations import signature
from miltext.schema.opsets import OPSETS
from miltext.schema.types import TensorType, Type

BODY = "{\n            "
DTYPES = "fp16 fp32 int32 bool int8 uint8 int16 uint16".split()
OPSET_NAMES = [opset.text for opset in OPSETS if opset.text.startswith("ios")]
SHAPE, DTYPE, OPSET = (
    re.compile(r"(?<=, )\[([^\]]*)\](?=>)"),
    re.compile(r"(?<=<)\w+(?=, \[)"),
    re.compile(r"\bios\d+\b"),
)
NUMBER, TRUTH, WORD = re.compile(r"(?<![\w.])-?\d+(?![\w.])"), re.compile(r"\b(?:true|false)\b"), re.compile(r'"\w+"')
LEFT_OUT = re.compile(r', \w+ = (\[[^\[\]]*\]|[-\w."]+)(?=[,)])')


def varied(op_type: str, example: Example, random: Random) -> str:
    """Return the text of an example with a few changes; many make no sense, and `check` refuses these."""
    head, _, body = example.text.partition(BODY)
    for _ in range(random.choice([1, 1, 2, 2, 3])):
        if random.random() < 0.5:
            head = _changed(head, random.choice([SHAPE, SHAPE, DTYPE, OPSET]), op_type, random)
        else:
            body = _changed(body, random.choice([NUMBER, TRUTH, WORD, LEFT_OUT]), op_type, random)
    return f"{head}{BODY}{body}"


def _changed(text: str, pattern: re.Pattern[str], op_type: str, random: Random) -> str:
    """Return a text in which one match of a pattern, if there is any, is another."""
    found = [*pattern.finditer(text)]
    if not found:
        return text
    match = random.choice(found)
    return f"{text[: match.start()]}{_other(match, pattern, op_type, random)}{text[match.end() :]}"


def _other(match: re.Match[str], pattern: re.Pattern[str], op_type: str, random: Random) -> str:
    if pattern is SHAPE:
        return _shape(match[1], random)
    if pattern is NUMBER:
        number = int(match[0])
        return str(random.choice([number - 1, number + 1, 2 * number, -number, -2, -1, 0, 1, 2, 3]))
    others = {DTYPE: DTYPES, OPSET: OPSET_NAMES, TRUTH: ["true", "false"], WORD: _words(op_type), LEFT_OUT: [""]}
    return random.choice(others[pattern] or [match[0]])


def _shape(sizes: str, random: Random) -> str:
    dimensions = sizes.split(", ") if sizes else []
    place = random.randrange(len(dimensions) + 1)
    new = random.choice("0 1 2 3 5 ?".split())
    dimensions[place : place + random.choice([0, 1, 1, 1])] = random.choice([[new], [new], [new], []])
    return f"[{', '.join(dimensions)}]"


@functools.cache
def _words(op_type: str) -> list[str]:
    """Return the strings that parameters of an operation take."""
    known = [signature(op_type, opset) for opset in OPSET_NAMES]
    words = {word for each in known if each for parameter in each.parameters.values() for word in parameter.words}
    return [f'"{word}"' for word in sorted(words)]


def made_up(types: Mapping[str, Type], random: Random, *, odd: bool = True) -> dict[str, Any]:
    """Return arrays of these types, of small sizes where a size is unknown: small numbers; if `odd`, seldom NaN or
    great ones.
    """
    return {name: _array(each, random, odd) for name, each in types.items() if isinstance(each, TensorType)}


def _array(type: TensorType, random: Random, odd: bool) -> Any:
    generator = np.random.default_rng(random.randrange(1 << 32))
    shape = [random.choice([0, 1, 1, 2, 3, 4]) if size is None else size for size in type.shape]
    carrier = CARRIERS[type.dtype]
    if carrier.kind == "f":
        factor = random.choice([np.nan, np.inf, 6e4, 0, 1e-7]) if odd and random.random() < 0.1 else 1
        with np.errstate(over="ignore"):
            return (generator.standard_normal(shape) * factor).astype(carrier)
    if carrier.kind == "O":
        return np.full(shape, "word", object)
    least = -2 if carrier.kind == "i" and random.random() < 0.3 else 0
    return generator.integers(least, random.choice([1, 2, 4]), shape).astype(carrier)
