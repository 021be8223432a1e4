"""The published dumps and cases of the Neural Engine beside the corpus, and small dumps of our own."""

from __future__ import annotations

import csv
import tarfile
from functools import cache

import pytest
from conftest import CORPUS

ANE = CORPUS.parent / "ane"
FOLDERS = ("placement", "placement-2")

needs_measurements = pytest.mark.skipif(not ANE.is_dir(), reason="the measurements beside the corpus are not there")


@cache
def texts_of(kind: str, folder: str) -> dict[str, str]:
    """The texts of an archive by their names, `iso/relu.mil`."""
    with tarfile.open(ANE / folder / f"{kind}.tar.xz") as archive:
        members = [each for each in archive.getmembers() if each.isfile()]
        return {each.name.partition("/")[2]: archive.extractfile(each).read().decode() for each in members}  # type: ignore[union-attr]


def published_dumps() -> dict[str, str]:
    """The dumps of both folders, by folder and name."""
    return {f"{folder}/{name}": text for folder in FOLDERS for name, text in texts_of("dumps", folder).items()}


def index(folder: str) -> list[dict[str, str]]:
    """The operations of a folder, each with what Core ML said."""
    with (ANE / folder / "index.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def support(*backends: str) -> str:
    """The attribute that lists the backends that take an operation."""
    words = ", ".join(f'"{each}"' for each in backends)
    return f"BackendSupport = list<string, {len(backends)}>([{words}])"


def times(**given: float) -> str:
    """The attribute with the estimates of an operation."""
    pairs = ", ".join(f'{{"{key}", {value!r}}}' for key, value in given.items())
    return f"EstimatedRuntime = dict<string, fp64>({{{pairs}}})"


NONE = "unsupported"
ON_CPU = f"{support(NONE, NONE, 'bnns', 'classic_cpu', NONE)}, {times(bnns=0.5, classic_cpu=0.75)}"
ON_ALL = f"{support(NONE, NONE, 'bnns', 'classic_cpu', 'ane')}, {times(ane=0.25, bnns=0.5, classic_cpu=0.75)}"
BUFFER = "tensor_buffer<fp16, shape=[1, 4], strides=[32, 1], interleave_factors=[1, 1]>"
COSTS = (
    "Launch_ane_ms = fp64(0x1p-3), Launch_bnns_ms = fp64(0x0p+0), "
    "Src_ane_Dest_bnns_ms = fp64(0x1p-3), Src_bnns_Dest_ane_ms = fp64(0x1p-3)"
)
BNNS = 'SelectedBackend = string("bnns")'


def small_dump(*operations: str, costs: str = COSTS) -> str:
    """A dump of operations, each with attributes, between the conversions of its input `x` and its output `y`."""
    first = f"tensor_buffer_to_tensor<ios17>(input = x)[{support('bnns', 'ane')}, {times(ane=0.0, bnns=0.0)}, {BNNS}]"
    last = f"tensor_to_tensor_buffer<ios17>(input = y_4D454D5F4F5054)[{support(NONE)}, {BNNS}]"
    lines = "".join(f"            tensor<fp16, [1, 4]> {each};\n" for each in operations)
    return f"""program(1.3)
{{
    func main<ios18>({BUFFER} x) [{costs}] {{
            tensor<fp16, [1, 4]> x_4D454D5F4F5054 = {first};
{lines}            {BUFFER} y = {last};
        }} -> (y);
}}
"""


PLACED = small_dump(
    f'a = relu(x = x_4D454D5F4F5054)[{ON_ALL}, SelectedBackend = string("bnns"), name = string("a")]',
    f'b = acos(x = a)[{ON_CPU}, SelectedBackend = string("bnns"), '
    'ValidationMessage = dict<string, string>({{"ane", "Unsupported MIL operation \\"acos\\"."}}), name = string("b")]',
    f'y_4D454D5F4F5054 = relu(x = b)[{ON_ALL}, SelectedBackend = string("ane"), name = string("y")]',
)
"""A dump of three operations, of which one leaves the Neural Engine."""
