"""The published measurements of Apple's Neural Engine, in the folder `ane` beside the corpus, and programs of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from conftest import CORPUS

import miltext

FOLDER = CORPUS.parent / "ane" / "arithmetic"
CHANNELS = 64
"""The number of input channels of the measured convolutions."""

SUMS = ("mac_m4", "mac_m6", "mac_m6_odd", "mac_m6_replicate")
PAIRS = ("elementwise_m6", "elementwise_m6_sub")


def needs_measurements() -> pytest.MarkDecorator:
    return pytest.mark.skipif(not FOLDER.exists(), reason=f"no measurements in {FOLDER}")


def rows(*names: str) -> list[dict[str, Any]]:
    """Return the cases of these files."""
    texts = (FOLDER.joinpath(f"{name}.jsonl").read_text(encoding="utf-8") for name in names)
    return [json.loads(line) for text in texts for line in text.splitlines()]


def halves(patterns: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return the numbers of fp16 with these bits."""
    return np.array([int(pattern, 16) for pattern in patterns], np.uint16).view(np.float16)


def bits(value: np.ndarray[Any, Any]) -> str:
    return f"{int(value.reshape(-1).view(np.uint16)[0]):04x}"


def text_of(inputs: str, operations: str) -> str:
    """Return a draft that computes `y`."""
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{operations}\n    }} -> (y);\n}}\n"


def evaluator(inputs: str, operations: str, compute: str) -> miltext.Evaluator:
    """Return an evaluator of such a draft."""
    return miltext.Evaluator(text_of(inputs, operations), compute=compute)


def sums(compute: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each measured sum, with the bits that a convolution of CHANNELS channels computes for it."""
    x = f"tensor<fp16, [1, {CHANNELS}, 1, 1]> x, tensor<fp16, [1, {CHANNELS}, 1, 1]> w"
    plain = evaluator(x, "y = conv(x = x, weight = w);", compute)
    biased = evaluator(f"{x}, tensor<fp16, [1]> b", "y = conv(x = x, weight = w, bias = b);", compute)
    for row in rows(*SUMS):
        given = {name: np.zeros((1, CHANNELS, 1, 1), np.float16) for name in "xw"}
        for name, array in given.items():
            array[0, : len(row[name]), 0, 0] = halves(row[name])
        if row["bias"] is None:
            made = plain.run(given, allow_nan=True)
        else:
            made = biased.run({**given, "b": halves([row["bias"]])}, allow_nan=True)
        yield row, bits(made["y"])


def pairs(compute: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each measured operation of two tensors, with the bits computed for it."""
    known = {
        op: evaluator("tensor<fp16, [1]> x, tensor<fp16, [1]> z", f"y = {op}(x = x, y = z);", compute)
        for op in ("add", "mul", "sub")
    }
    for row in rows(*PAIRS):
        x, z = halves(row["x"])[:, None]
        yield row, bits(known[row["op"]].run({"x": x, "z": z}, allow_nan=True)["y"])


def quantized(compute: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each measured convolution of int8, with the bits computed for it.

    Its weight is in a file, as thousands of numbers in a text take long to read.
    """
    with TemporaryDirectory() as folder:
        draft, array = Path(folder, "draft.mil"), Path(folder, "weight.npy")
        for row in rows("int8_m6"):
            channels, height, scale = row["channels"], row["kernel_height"], 2.0 ** row["scale_exponent"]
            weight = np.empty((1, channels, height, 1), np.int8)
            for place, (first, second) in enumerate(row["rows"]):
                weight[0, : channels // 2, place], weight[0, channels // 2 :, place] = first, second
            np.save(array, weight)
            text = text_of(
                f"tensor<fp16, [1, {channels}, {height}, 1]> x",
                f'q = quantize(input = x, scale = fp16({scale}), output_dtype = "int8");\n'
                f"d = dequantize(input = q, scale = fp16({scale}));\n"
                f'w = constexpr_affine_dequantize()[quantized_data = $npy("{array.name}"), zero_point = int8(0), '
                f"scale = fp16({scale}), axis = 0];\n"
                "y = conv(x = d, weight = w);",
            )
            draft.write_text(text, encoding="utf-8")
            x = np.full((1, channels, height, 1), row["x_int8"] * scale, np.float16)
            yield row, bits(miltext.Evaluator(draft, compute=compute).run({"x": x})["y"])
