"""What coremltools compresses evaluates to what coremltools decompresses it to, element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.evaluation import computed
from support.real_packages import convert

import miltext

# ---- what coremltools.optimize.coreml does to a model


def compress(verb: str, config: str, model: Any, *, joint: bool = False, **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    configured = cto.OptimizationConfig(getattr(cto, config)(weight_threshold=10, **options))
    return getattr(cto, verb)(model, configured, joint_compression=joint)


quantize = partial(compress, "linear_quantize_weights", "OpLinearQuantizerConfig")
palettize = partial(compress, "palettize_weights", "OpPalettizerConfig")
uniform = partial(palettize, mode="uniform")
unique = partial(palettize, mode="unique")
prune = partial(compress, "prune_weights", "OpMagnitudePrunerConfig")
sparse = partial(prune, target_sparsity=0.6)
drop = partial(compress, "prune_weights", "OpThresholdPrunerConfig", threshold=0.5, minimum_sparsity_percentile=0.1)

TENSOR = {"granularity": "per_tensor"}
CHANNEL = {"granularity": "per_channel"}
BLOCK = {"granularity": "per_block", "block_size": 4}
GROUPED = {"granularity": "per_grouped_channel", "group_size": 4}
GRAINS: Mapping[str, Mapping[str, Any]] = {"tensor": TENSOR, "channel": CHANNEL, "block": BLOCK}
DTYPES, BITS = ("int8", "uint8", "int4", "uint4"), (1, 2, 3, 4, 6, 8)


class Form(NamedTuple):
    """A way to compress a model: the ops that hold the weights then, and the steps."""

    opset: str
    ops: str
    name: str
    steps: Sequence[Callable[[Any], Any]]


def forms(opset: str, ops: str, steps: Mapping[str, Sequence[Callable[[Any], Any]]]) -> list[Form]:
    return [Form(opset, ops, name, each) for name, each in steps.items()]


OLD = [
    *forms(
        "iOS16",
        "affine_dequantize",
        {
            f"{dtype} {mode} of a {grain}": [partial(quantize, dtype=dtype, mode=mode, **GRAINS[grain])]
            for dtype in ("int8", "uint8")
            for mode, grain in [("linear", "channel"), ("linear", "tensor"), ("linear_symmetric", "channel")]
        },
    ),
    *forms("iOS16", "lut_to_dense", {f"{bits} bits": [partial(uniform, nbits=bits)] for bits in (1, 2, 4, 6, 8)}),
    *forms("iOS16", "lut_to_dense", {"unique": [unique]}),
    *forms("iOS16", "sparse_to_dense", {"magnitude": [sparse], "threshold": [drop]}),
]
PLAIN = [
    *forms(
        "iOS18",
        "blockwise_shift_scale",
        {
            f"{dtype} {mode} of a {grain}": [partial(quantize, dtype=dtype, mode=mode, **GRAINS[grain])]
            for dtype in DTYPES
            for mode, grain in [
                ("linear", "tensor"),
                ("linear", "channel"),
                ("linear", "block"),
                ("linear_symmetric", "block"),
            ]
        },
    ),
    *forms(
        "iOS18",
        "lut_to_dense",
        {
            **{f"{bits} bits": [partial(uniform, nbits=bits)] for bits in BITS},
            **{f"{bits} bits for groups": [partial(uniform, nbits=bits, **GROUPED)] for bits in (1, 3, 6)},
            "groups of the other axis": [partial(uniform, nbits=2, channel_axis=1, **GROUPED)],
            "unique": [unique],
            "unique vectors": [partial(unique, cluster_dim=2)],
            "unique vectors for groups": [partial(unique, cluster_dim=2, **GROUPED)],
        },
    ),
    *forms(
        "iOS18",
        "sparse_to_dense",
        {
            "magnitude": [sparse],
            "n of m": [partial(prune, n_m_ratio=(2, 4))],
            "blocks": [partial(prune, target_sparsity=0.5, block_size=2)],
        },
    ),
]
quantize_tables = partial(quantize, joint=True, **TENSOR)
JOINT = [
    *forms(
        "iOS18",
        "blockwise_shift_scale lut_to_dense",
        {
            "a scale for each channel": [partial(uniform, nbits=4, enable_per_channel_scale=True)],
            **{
                f"tables of {each}": [partial(uniform, nbits=4), partial(quantize_tables, dtype=each)]
                for each in DTYPES
            },
            "tables for groups": [partial(uniform, nbits=4, **GROUPED), partial(quantize_tables, dtype="int8")],
            "tables of vectors": [partial(unique, cluster_dim=2), partial(quantize_tables, dtype="int8")],
            "int8 in a table": [partial(quantize, dtype="int8"), partial(uniform, nbits=4, joint=True)],
        },
    ),
    *forms(
        "iOS18",
        "sparse_blockwise_shift_scale sparse_to_dense",
        {
            f"{dtype} of a {grain}": [sparse, partial(quantize, dtype=dtype, joint=True, **GRAINS[grain])]
            for dtype, grain in [("int8", "tensor"), ("uint8", "channel"), ("int4", "block"), ("uint4", "channel")]
        },
    ),
    *forms(
        "iOS18",
        "lut_to_sparse sparse_to_dense",
        {
            **{f"{bits} bits": [sparse, partial(uniform, nbits=bits, joint=True)] for bits in (1, 3, 8)},
            "4 bits for groups": [sparse, partial(uniform, nbits=4, joint=True, **GROUPED)],
        },
    ),
    *forms(
        "iOS18",
        "blockwise_shift_scale lut_to_sparse sparse_to_dense",
        {"tables of int8": [sparse, partial(uniform, nbits=4, joint=True), partial(quantize_tables, dtype="int8")]},
    ),
]
CASES = [(form, "FLOAT16") for form in (*OLD, *PLAIN, *JOINT)]
CASES += [(form, "FLOAT32") for form in (*OLD[::5], *PLAIN[::8], *JOINT[::5])]

# ---- the model, and its weights


def weights(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Weights of twelve values, so that a palette has room for each of them, and for each pair."""
    random = np.random.default_rng(0)
    return random.choice(random.standard_normal(12).astype(np.float32), shape)


def layers(mb: Any, x: Any) -> Any:
    made = mb.conv(x=x, weight=weights(16, 8, 3, 3), pad_type="same")
    made = mb.conv_transpose(x=made, weight=weights(16, 8, 2, 2))
    made = mb.linear(x=mb.reshape(x=made, shape=[10, 20]), weight=weights(32, 20))
    return mb.matmul(x=made, y=weights(32, 16))


@cache
def network(opset: str, precision: str) -> Any:
    return convert(layers, (1, 8, 4, 4), opset=opset, precision=precision)


def decompressed(compressed: Any) -> dict[str, Any]:
    """The weights as coremltools has them, by the names of the ops that made them."""
    import coremltools.optimize.coreml as cto

    program = cto.decompress_weights(compressed)._mil_program
    return {op.outputs[0].name: op.outputs[0].val for op in program.functions["main"].find_ops(op_type="const")}


def opened(package: Path) -> tuple[set[str], dict[str, Any]]:
    """The ops that hold compressed weights, and what the last of each chain of them evaluates to, by name."""
    model = miltext.load(package)
    [block] = model.program.functions["main"].block_specializations.values()
    held = [op for op in block.operations if op.type == "const" or op.type.startswith("constexpr_")]
    made = [op for op in held if op.type != "const"]
    used = {binding.name for op in made for argument in op.inputs.values() for binding in argument.arguments}
    del block.operations[:]
    block.operations.extend(held)
    names = [[output.name for output in op.outputs] for op in made]
    block.outputs[:] = [name for outputs in names if not used.intersection(outputs) for name in outputs]
    ops = {op.type.removeprefix("constexpr_") for op in made}
    return ops, computed(model.program, {"x": np.zeros((1, 8, 4, 4), np.float32)}, weights=model.model_path)


@pytest.mark.filterwarnings(
    "ignore:invalid value:RuntimeWarning"
)  # coremltools divides by the scale of a block of zeros
@pytest.mark.parametrize(
    ("form", "precision"),
    [pytest.param(*case, id=f"{case[0].opset}-{case[0].ops}-{case[0].name}-{case[1]}") for case in CASES],
)
def test_weights_equal_those_that_coremltools_decompresses(form: Form, precision: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    made = network(form.opset, precision)
    for step in form.steps:
        made = step(made)
    made.save(str(tmp_path / "M.mlpackage"))
    ops, found = opened(tmp_path / "M.mlpackage")
    expected = decompressed(made)
    assert ops == set(form.ops.split())
    assert len(found) >= 2  # coremltools leaves alone what does not have whole blocks
    for name, array in found.items():
        assert array.dtype == expected[name].dtype
        assert np.array_equal(array, expected[name])
