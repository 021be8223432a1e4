"""What coremltools compresses evaluates to what coremltools decompresses it to, element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
DTYPES, BITS, MODES = ("int8", "uint8", "int4", "uint4"), (1, 2, 3, 4, 6, 8), ("linear", "linear_symmetric")


class Form(NamedTuple):
    """A way to compress a model: the ops that hold the weights then, and the steps."""

    opset: str
    ops: str
    name: str
    steps: tuple[Callable[[Any], Any], ...]


OLD = [
    *(
        Form(
            "iOS16",
            "affine_dequantize",
            f"{dtype} {mode} of a {grain}",
            (partial(quantize, dtype=dtype, mode=mode, **options),),
        )
        for dtype in DTYPES[:2]
        for mode in MODES
        for grain, options in [("tensor", TENSOR), ("channel", CHANNEL)]
    ),
    *(Form("iOS16", "lut_to_dense", f"{bits} bits", (partial(uniform, nbits=bits),)) for bits in BITS if bits != 3),
    Form("iOS16", "lut_to_dense", "unique", (unique,)),
    Form("iOS16", "sparse_to_dense", "magnitude", (sparse,)),
    Form("iOS16", "sparse_to_dense", "threshold", (drop,)),
]
PLAIN = [
    *(
        Form(
            "iOS18",
            "blockwise_shift_scale",
            f"{dtype} {mode} of a {grain}",
            (partial(quantize, dtype=dtype, mode=mode, **options),),
        )
        for dtype in DTYPES
        for mode in MODES
        for grain, options in GRAINS.items()
    ),
    *(Form("iOS18", "lut_to_dense", f"{bits} bits", (partial(uniform, nbits=bits),)) for bits in BITS),
    *(
        Form("iOS18", "lut_to_dense", f"{bits} bits for groups", (partial(uniform, nbits=bits, **GROUPED),))
        for bits in (1, 3, 6)
    ),
    Form("iOS18", "lut_to_dense", "groups of the other axis", (partial(uniform, nbits=2, channel_axis=1, **GROUPED),)),
    Form("iOS18", "lut_to_dense", "unique", (unique,)),
    Form("iOS18", "lut_to_dense", "unique vectors", (partial(unique, cluster_dim=2),)),
    Form("iOS18", "lut_to_dense", "unique vectors for groups", (partial(unique, cluster_dim=2, **GROUPED),)),
    Form("iOS18", "sparse_to_dense", "magnitude", (sparse,)),
    Form("iOS18", "sparse_to_dense", "n of m", (partial(prune, n_m_ratio=(2, 4)),)),
    Form("iOS18", "sparse_to_dense", "blocks", (partial(prune, target_sparsity=0.5, block_size=2),)),
]
SCALED, QUANTIZED = "blockwise_shift_scale lut_to_dense", partial(quantize, joint=True, **TENSOR)
JOINT = [
    Form("iOS18", SCALED, "a scale for each channel", (partial(uniform, nbits=4, enable_per_channel_scale=True),)),
    *(
        Form("iOS18", SCALED, f"a palette of {dtype}", (partial(uniform, nbits=4), partial(QUANTIZED, dtype=dtype)))
        for dtype in DTYPES
    ),
    Form(
        "iOS18",
        SCALED,
        "palettes of int8 for groups",
        (partial(uniform, nbits=4, **GROUPED), partial(QUANTIZED, dtype="int8")),
    ),
    Form(
        "iOS18", SCALED, "int8 in a palette", (partial(quantize, dtype="int8"), partial(uniform, nbits=4, joint=True))
    ),
    *(
        Form(
            "iOS18",
            "sparse_blockwise_shift_scale sparse_to_dense",
            f"{dtype} of a {grain}",
            (sparse, partial(quantize, dtype=dtype, joint=True, **GRAINS[grain])),
        )
        for dtype, grain in [("int8", "tensor"), ("uint8", "channel"), ("int4", "block"), ("uint4", "channel")]
    ),
    *(
        Form(
            "iOS18", "lut_to_sparse sparse_to_dense", f"{bits} bits", (sparse, partial(uniform, nbits=bits, joint=True))
        )
        for bits in (1, 3, 8)
    ),
    Form(
        "iOS18",
        "lut_to_sparse sparse_to_dense",
        "4 bits for groups",
        (sparse, partial(uniform, nbits=4, joint=True, **GROUPED)),
    ),
    Form(
        "iOS18",
        "blockwise_shift_scale lut_to_sparse sparse_to_dense",
        "a palette of int8",
        (sparse, partial(uniform, nbits=4, joint=True), partial(QUANTIZED, dtype="int8")),
    ),
]
CASES = [(form, "FLOAT16") for form in (*OLD, *PLAIN, *JOINT)] + [
    (form, "FLOAT32") for form in (*OLD[::5], *PLAIN[::8], *JOINT[::4])
]

# ---- the model, and its weights


def weights(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Weights of few values, so that a palette can hold each of them, and each pair."""
    return np.random.default_rng(0).choice(np.array([-0.3, 0.1, 0.7], np.float32), shape)


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


@pytest.mark.parametrize(
    ("form", "precision"),
    [pytest.param(*case, id=f"{case[0].opset}-{case[0].ops}-{case[0].name}-{case[1]}") for case in CASES],
)
def test_weights_are_what_coremltools_decompresses(form: Form, precision: str, tmp_path: Path) -> None:
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
