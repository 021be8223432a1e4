"""Sizes that coremltools cannot count with: checks and builds report them where they are, as `reshape` does."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from support.commands import miltext as run

import miltext

FITTING = 2**31 - 1
RELU = 'tensor<fp32, [2, {0}]> y = relu(x = x)[name = string("y")];'
CASES = {
    "input": ("tensor<fp32, [2, {0}]> x", RELU, "y", "tensor<fp32, [2, {0}]> x"),
    "input that is not used": ("tensor<fp32, [{0}]> x, fp32 w", "fp32 y = relu(x = w);", "y", "tensor<fp32, [{0}]> x"),
    "state": (
        "state<tensor<fp16, [{0}]>> s, fp32 w",
        "tensor<fp16, [{0}]> r = read_state(input = s); fp32 y = relu(x = w);",
        "y",
        "state<tensor<fp16, [{0}]>> s",
    ),
    "output": (
        "tensor<fp32, [2, {1}]> x",
        "tensor<fp32, [2, {0}]> y = concat(axis = int32(1), interleave = bool(false), values = (x, x));",
        "y",
        "tensor<fp32, [2, {0}]> y",
    ),
    "inside": (
        "fp32 w, tensor<fp32, [2, {1}]> x",
        (
            "bool b = less(x = w, y = fp32(1)); fp32 y = cond(pred = b) () {{ tensor<fp32, [2, {0}]> z = "
            "concat(axis = int32(1), interleave = bool(false), values = (x, x)); fp32 t = relu(x = w); }} -> (t) "
            "() {{ fp32 u = relu(x = w); }} -> (u);"
        ),
        "y",
        "tensor<fp32, [2, {0}]> z",
    ),
}


def texts(name: str, size: int) -> tuple[str, str]:
    head, lines, given, place = (part.format(size, size // 2) for part in CASES[name])
    return f"program(1.3)\n{{ func main<ios18>({head}) {{ {lines} }} -> ({given}); }}\n", place


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *product(("input", "input that is not used", "state"), (FITTING + 1, 99999999999, 2**62)),
        *product(("output", "inside"), (FITTING + 1, 2 * FITTING)),
    ],
)
def test_a_size_that_is_too_large_is_reported_once_where_it_is(name: str, size: int, tmp_path: Path) -> None:
    text, place = texts(name, size)
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert (found.code, found.severity) == ("MIL493", "error")
    assert f"has {size}, and" in found.message
    assert found.span is not None
    assert text[found.span.start : found.span.end] in place
    (tmp_path / "m.mil").write_text(text)
    built = run("build", tmp_path / "m.mil", "-o", tmp_path / "M.mlpackage")
    assert (built.returncode, b"error[MIL493]" in built.stderr) == (1, True)
    assert not (tmp_path / "M.mlpackage").exists()


@pytest.mark.parametrize("name", ["input", "input that is not used", "state"])
def test_the_greatest_size_is_not_too_large(name: str) -> None:
    assert [each.code for each in miltext.check(texts(name, FITTING)[0]) if each.severity == "error"] == []


def test_a_draft_must_have_the_inferred_sizes() -> None:
    lines = "y = concat(axis = 1, interleave = false, values = (x, x));"
    text = f"program(1.3) {{ func main<ios18>(tensor<fp32, [2, {FITTING}]> x) {{ {lines} }} -> (y); }}"
    [found] = [each for each in miltext.check(text) if each.severity == "error"]
    assert (found.code, found.span is not None) == ("MIL493", True)
    assert f"{2 * FITTING}" in found.message


def test_coremltools_cannot_open_one() -> None:
    """Where a rule counts with the sizes: of a pool, say."""
    ct = pytest.importorskip("coremltools")
    pytest.importorskip("numpy", minversion="2", reason="an older numpy counts on with a wrong number")
    from coremltools.converters.mil.frontend.milproto.load import load

    text = (
        "program(1.3)\n{ func main<ios18>(tensor<fp32, [1, 3, SIZE, 12]> x) { tensor<fp32, [1, 3, POOLED, 4]> y = "
        "max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, [2]>([3, 3]), pad = tensor<int32, [4]>"
        '([0, 0, 0, 0]), pad_type = string("valid"), strides = tensor<int32, [2]>([3, 3]), x = x)'
        '[name = string("y")]; } -> (y); }\n'
    )
    for size, opens in ((3 * (FITTING // 3), True), (3 * (99999999999 // 3), False)):
        program = miltext.parse(text.replace("SIZE", str(size)).replace("POOLED", str(size // 3)))
        spec = ct.proto.Model_pb2.Model(specificationVersion=9)
        spec.mlProgram.ParseFromString(program.SerializeToString())
        described = spec.description.input.add(name="x").type.multiArrayType
        described.dataType, described.shape[:] = 65568, [1, 3, size, 12]
        spec.description.output.add(name="y").type.multiArrayType.dataType = 65568
        if opens:
            load(spec, 9, "")
        else:
            with pytest.raises(OverflowError, match="int32"):
                load(spec, 9, "")
