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
from miltext.schema.tensors import tensor_dtype, tensor_shape
from miltext.weight_files.blob_storage import BlobWriter
from miltext.weight_files.model_weights import blob_values

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
    text = folder / "network.mil"
    program = miltext.parse(with_table(network_text(operations), size))
    (folder / "weights").mkdir()
    with BlobWriter(folder / "weights" / "weight.bin") as writer:
        for held in blob_values(program):
            dtype, shape = tensor_dtype(held.value.type), tensor_shape(held.value.type)
            if dtype is None or shape is None:
                raise ValueError(held)
            count = prod(shape)
            held.value.blobFileValue.offset = writer.add_pieces(dtype, count, random_bytes(count * dtype.bits // 8))
    text.write_text(miltext.to_text(program), encoding="utf-8")
    return text


def with_table(text: str, size: int) -> str:
    """Return the text of a network with one more constant of so many bytes in its weight file, as of embeddings."""
    head, start, rest = text.partition(" x) {\n")
    kind = f"tensor<fp16, [{size // 2}]>"
    blob = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))'
    return f'{head}{start}{kind} table = const()[name = string("table"), val = {kind}({blob})];\n{rest}'


def random_bytes(size: int) -> Iterator[bytes]:
    """Yield so many bytes, in pieces of which all that are whole are the same."""
    piece = os.urandom(min(size, PIECE))
    yield from repeat(piece, size // PIECE)
    yield piece[: size % PIECE]
