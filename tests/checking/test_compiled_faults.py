"""Each fault in a compiled model is told, but for a short list of what no other part of it shows.

`scripts/bundle_faults.py` does so thoroughly, on any compiled model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from models.test_build_safety import text_model, weight_file
from models.test_compiling import suppressing, vector
from support.bundle_faults import faults, told, untold
from support.containers import write_package
from support.pipelines import piped, unary

import miltext
from miltext.containers.opening import open_model

WEIGHTS = """program(1.3)
{
    func main<ios16>(tensor<fp32, [?, 4]> x) {
            tensor<fp32, [4, 4]> w = const()[name = string("w"), val = tensor<fp32, [4, 4]>(BLOBFILE(path = \
string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp32, [?, 4]> z = mul(x = x, y = x)[name = string("z")];
            tensor<fp32, [?, 4]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = z, y = w)\
[name = string("y")];
        } -> (y, z);
}
"""

FUNCTIONS = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> y = relu(x = x)[name = string("y")];
        } -> (y);
    func more<ios18>(tensor<int32, [2]> a, tensor<int32, [2]> b) {
            tensor<int32, [2]> c = sub(x = a, y = b)[name = string("c")];
        } -> (c);
}
"""


def with_weights(folder: Path) -> Path:
    weight_file(folder)
    miltext.build(text_model(WEIGHTS, folder), folder / "W.mlmodelc", ranges={"x": [(1, 8), 4]})
    return folder / "W.mlmodelc"


def with_functions(folder: Path) -> Path:
    miltext.build(text_model(FUNCTIONS, folder), folder / "F.mlmodelc")
    return folder / "F.mlmodelc"


def with_stages(folder: Path) -> Path:
    spec = piped(unary("x", "a"), unary("a", "y", "other"), names=["first", "second"])
    spec.description.metadata.author = "Somebody"
    package = write_package(folder / "P.mlpackage", spec.SerializeToString())
    miltext.build(open_model(package), folder / "P.mlmodelc", check=False)
    return folder / "P.mlmodelc"


def with_suppression(folder: Path) -> Path:
    program, stage = unary("x", "y"), suppressing(vector(100, b"cat", b"dog"))
    for entry in (stage.description.input[0], stage.description.output[0]):
        entry.type.CopyFrom(program.description.output[0].type)
    spec = piped(program, stage)
    package = write_package(folder / "P.mlpackage", spec.SerializeToString())
    miltext.build(open_model(package), folder / "S.mlmodelc", check=False)
    return folder / "S.mlmodelc"


@pytest.mark.parametrize("make", [with_weights, with_functions, with_stages, with_suppression])
def test_each_fault_is_reported(make: Callable[[Path], Path], tmp_path: Path) -> None:
    bundle = make(tmp_path)
    assert told(bundle).total() == 0
    assert sum(1 for _ in faults(bundle, 37)) > 100
    assert [(fault.file, fault.what) for fault in untold(bundle, tmp_path / "Copy.mlmodelc", 37)] == []
