"""Building a model of a generated network with a large weight file, with the check of what is written and without."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from math import prod
from pathlib import Path

import miltext
from benchmarks.measure import Contender, Contest, cold
from benchmarks.programs import network_text
from miltext.models.model_weights import blob_values
from miltext.models.tensor_data import tensor_dtype, tensor_shape
from miltext.models.weights import BlobWriter
from miltext.schema.dtypes import BY_NAME

BUILD, UNCHECKED = "miltext.build", "miltext.build, check=False"

OPERATIONS = (700, 3_000)
"""The operations of the networks: of 12 layers of a transformer, and of a large speech encoder."""

WEIGHTS = 300_000_000
"""Bytes of the weight file."""

PIECE = 1 << 20


def building(size: Callable[[int], int]) -> Iterator[Contest]:
    """Build each network in turn with and without the check."""
    for operations in OPERATIONS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = written(folder, size(operations), size(WEIGHTS))
            actions = {BUILD: partial(build, text, True), UNCHECKED: partial(build, text, False)}
            contenders = [Contender(each, action, before=cold) for each, action in actions.items()]
            yield Contest(named(operations), "run", contenders)


def named(operations: int) -> str:
    """Return the name of the contest of a network."""
    return f"network of {operations:,} operations, 300 MB: build"


def build(text: Path, check: bool) -> None:
    """Build a model of a text beside it, in place of the one before; nothing may be found in it."""
    found = miltext.build(miltext.load(text), text.with_suffix(".mlpackage"), force=True, check=check)
    if found:
        raise ValueError(found)


def written(folder: Path, operations: int, size: int) -> Path:
    """Write the text of a network, and the weights that it names with so many bytes in all; return the text's path."""
    program = miltext.parse(network_text(operations))
    (folder / "weights").mkdir()
    with BlobWriter(folder / "weights" / "weight.bin") as writer:
        for held in blob_values(program):
            dtype, shape = tensor_dtype(held.value.type), tensor_shape(held.value.type)
            if dtype is None or shape is None:
                raise ValueError(held)
            count = prod(shape)
            held.value.blobFileValue.offset = writer.add_pieces(dtype, count, [os.urandom(count * dtype.bits // 8)])
            size -= count * dtype.bits // 8
        pieces = max(size // PIECE, 1)  # the rest of the file is one more record, which is copied as the others are
        writer.add_pieces(BY_NAME["fp16"], pieces * PIECE // 2, repeat(os.urandom(PIECE), pieces))
    text = folder / "network.mil"
    text.write_text(miltext.to_text(program), encoding="utf-8")
    return text
