"""Operations by the names that they have elsewhere: what is written, what is said of it, and what is suggested."""

from __future__ import annotations

import re

import pytest

import miltext
from miltext.schema.elsewhere import NOWHERE, OPERATIONS, WAYS, meant
from miltext.schema.operations import all_names, signature

X, XY, VALUES = "x = x", "x = x, y = x", "values = (x, x), axis = int32(0)"

RENAMED = {
    # PyTorch
    f"cat({VALUES})": "concat",
    f"concatenate({VALUES})": "concat",
    "unsqueeze(x = x, axes = tensor<int32, [1]>([0]))": "expand_dims",
    "permute(x = x, perm = tensor<int32, [2]>([1, 0]))": "transpose",
    "view(x = x, shape = tensor<int32, [1]>([6]))": "reshape",
    "flip(x = x, axes = tensor<int32, [1]>([0]))": "reverse",
    f"sub_({XY})": "sub",
    f"subtract({XY})": "sub",
    f"div({XY})": "real_div",
    f"true_divide({XY})": "real_div",
    f"floor_divide({XY})": "floor_div",
    f"remainder({XY})": "mod",
    f"eq({XY})": "equal",
    f"ne({XY})": "not_equal",
    f"gt({XY})": "greater",
    f"ge({XY})": "greater_equal",
    f"lt({XY})": "less",
    f"le({XY})": "less_equal",
    f"mm({XY})": "matmul",
    f"bmm({XY})": "matmul",
    f"max({XY})": "maximum",
    f"max({X})": "reduce_max",
    f"min({XY})": "minimum",
    f"min({X})": "reduce_min",
    f"amax({X})": "reduce_max",
    f"mean({X})": "reduce_mean",
    f"sum({X})": "reduce_sum",
    f"prod({X})": "reduce_prod",
    f"logsumexp({X})": "reduce_log_sum_exp",
    f"argmax({X})": "reduce_argmax",
    f"reciprocal({X})": "inverse",
    f"relu_({X})": "relu",
    f"absolute({X})": "abs",
    'to(x = x, dtype = string("fp32"))': "cast",
    'type_as(x = x, dtype = string("fp32"))': "cast",
    "DepthwiseConv2dNative(x = x, weight = x)": "conv",
    "select_scatter(x = x, update = x, begin = x, end = x)": "slice_update",
    f"contiguous({X})": "identity",
    f"detach({X})": "identity",
    f"clone({X})": "identity",
    f"nonzero({X})": "non_zero",
    "clamp(x = x, alpha = fp16(0), beta = fp16(1))": "clip",
    "hardsigmoid(x = x, alpha = fp16(0.2), beta = fp16(0.5))": "sigmoid_hard",
    "gelu_(x = x)": "gelu",
    "arange(start = int32(0), end = int32(3), step = int32(1))": "range_1d",
    "zeros(shape = tensor<int32, [1]>([6]))": "fill",
    "index_select(x = x, indices = tensor<int32, [1]>([0]), axis = int32(0))": "gather",
    "take_along_dim(x = x, indices = tensor<int32, [1, 3]>([[0, 0, 0]]), axis = int32(0))": "gather_along_axis",
    "scatter_add(data = x, indices = tensor<int32, [1, 3]>([[0, 0, 0]]), updates = x)": "scatter_along_axis",
    "LeakyReLU(x = x, alpha = fp16(0.1))": "leaky_relu",
    "Conv2d(x = x, weight = x)": "conv",
    "conv_transpose2d(x = x, weight = x)": "conv_transpose",
    "MaxPool2d(x = x, kernel_sizes = tensor<int32, [2]>([2, 2]), pad_type = string(\"valid\"))": "max_pool",
    "LayerNorm(x = x)": "layer_norm",
    # ONNX
    f"ReLU({X})": "relu",
    f"Relu({X})": "relu",
    f"Softmax({X})": "softmax",
    f"Sigmoid({X})": "sigmoid",
    f"MatMul({XY})": "matmul",
    f"Identity({X})": "identity",
    f"Mul({XY})": "mul",
    f"Not({X})": "logical_not",
    f"And({XY})": "logical_and",
    f"ReduceMean({X})": "reduce_mean",
    f"ReduceL2({X})": "reduce_l2_norm",
    f"Concat({VALUES})": "concat",
    "Gather(x = x, indices = tensor<int32, [1]>([0]))": "gather",
    "GatherND(x = x, indices = tensor<int32, [1]>([0]))": "gather_nd",
    "GatherElements(x = x, indices = tensor<int32, [1]>([0]))": "gather_along_axis",
    "Where(cond = x, a = x, b = x)": "select",
    "DepthToSpace(x = x, block_size = int32(2))": "depth_to_space",
    "Conv(x = x, weight = x)": "conv",
    "PRelu(x = x, alpha = x)": "prelu",
    "InstanceNormalization(x = x)": "instance_norm",
    "Constant()[val = fp16(1)]": "const",
    "Cast(x = x, dtype = string(\"fp32\"))": "cast",
    # TensorFlow, NumPy, MLIR
    f"ConcatV2({VALUES})": "concat",
    f"BatchMatMulV2({XY})": "matmul",
    f"RealDiv({XY})": "real_div",
    f"power({XY})": "pow",
    f"multiply({XY})": "mul",
    f"addf({XY})": "add",
    f"swish({X})": "silu",
    f"arctan({X})": "atan",
    f"ln({X})": "log",
    "GreaterEqual(x = x, y = x)": "greater_equal",
    "SpaceToDepth(x = x, block_size = int32(2))": "space_to_depth",
    "StridedSlice(x = x, begin = x, end = x)": "slice_by_index",
}  # fmt: skip
"""What is written with the parameters of MIL: its name there is suggested."""

NONE = "MIL has no such operation; write it with other operations, or compute it outside of the model"

OTHERWISE = {
    "cat(tensors = (x, x), dim = int32(0))": "in MIL it is `concat`, which takes `values`, `axis` and `interleave`",
    "unsqueeze(x = x, dim = int32(0))": "in MIL it is `expand_dims`, which takes `x` and `axes`",
    "permute(x = x, dims = x)": "in MIL it is `transpose`, which takes `x` and `perm`",
    "view(x = x, size = x)": "in MIL it is `reshape`, which takes `x` and `shape`",
    "Gemm(A = x, B = x)": "in MIL it is `linear`, which takes `x`, `weight` and `bias`",
    "Dense(input = x)": "in MIL it is `linear`, which takes `x`, `weight` and `bias`",
    "where(condition = x, x = x, y = x)": "in MIL it is `select`, which takes `cond`, `a` and `b`",
    "masked_fill(x = x, mask = x)": "in MIL it is `select`, which takes `cond`, `a` and `b`",
    "clamp(x = x, min = fp16(0))": "in MIL it is `clip`, which takes `x`, `alpha` and `beta`",
    "hardtanh(x = x)": "in MIL it is `clip`, which takes `x`, `alpha` and `beta`",
    "embedding(weight = x)": "in MIL it is `gather`, which takes `x`, `indices`, `axis`, `batch_dims` and "
    "`validate_indices`",
    "BatchNormalization(X = x)": "in MIL it is `batch_norm`, which takes `x`, `mean`, `variance`, `gamma`, `beta` and "
    "`epsilon`",
    "expand(x = x, shape = x)": "in MIL it is `tile`, which takes `x` and `reps`",
    "chunk(x = x, chunks = x)": "in MIL it is `split`, which takes `x`, `num_splits`, `split_sizes` and `axis`",
    "interpolate(x = x)": "in MIL it is `resize_bilinear`, `resize_nearest_neighbor` or `upsample_bilinear`",
    "max(a = x)": "in MIL it is `maximum` or `reduce_max`",
    "neg(x = x)": "it is `mul(x, -1)`",
    "Neg(X = x)": "it is `mul(x, -1)`",
    "log_softmax(x = x)": "it is `sub(x, reduce_log_sum_exp(x, axes = [-1], keep_dims = true))`",
    "HardSwish(x = x)": "it is `mul(x, sigmoid_hard(x, alpha = 0.16666667, beta = 0.5))`",
    "log1p(x = x)": "it is `log(add(x, 1))`",
    "std(x = x)": "it is `sqrt(reduce_mean(square(sub(x, mean))))`",
    "isnan(x = x)": "it is `not_equal(x, x)`",
    "tril(x = x)": "it is `band_part(x, lower = -1, upper = 0)`",
    "ones(shape = x)": "it is `fill(shape, value = 1.0)`",
    "ScatterElements(data = x)": 'it is `scatter_along_axis(data, indices, updates, mode = "update")`',
    "GlobalAveragePool(x = x)": "it is `reduce_mean(x, axes = [-2, -1], keep_dims = true)`",
    "flatten(x = x)": "it is `flatten2d` where two dimensions are left, and `reshape` for any other shape",
    "rope(x = x)": "it is `add(mul(x, cos), mul(turned, sin))`, turned by `split`, `mul` of the second half by -1, "
    "and `concat`",
    "affine_grid(x = x)": "`affine` makes the grid and samples at it",
    "celu(x = x)": "it is `mul(elu(real_div(x, a), alpha = 1.0), a)`",
    "QLinearConv(x = x)": "it is `conv` between `dequantize` and `quantize`",
    "AdaptiveAvgPool2d(x = x)": "for an output of size 1 it is `reduce_mean(x, axes = [-2, -1], keep_dims = true)`, "
    "else `avg_pool`",
    "half(x = x)": 'it is `cast(x, dtype = "fp16")`',
    "float(x = x)": 'it is `cast(x, dtype = "fp32")`',
    "numel(x = x)": "it is `reduce_prod(shape(x))`",
    "Trilu(x = x)": "it is `band_part(x, lower = 0, upper = -1)`, or of a lower part "
    "`band_part(x, lower = -1, upper = 0)`",
    "isinf(x = x)": "it is `equal(abs(x), fp16(inf))`",
    "TensorListGetItem(x = x)": "in MIL it is `list_read`, which takes `ls` and `index`",
    "svd(x = x)": NONE,
    "fft(x = x)": NONE,
    "bitwise_and(x = x, y = x)": NONE,
    "searchsorted(x = x)": NONE,
    "dropout(x = x)": "leave it out: it changes nothing when a model runs",
    "Dropout2d(x = x)": "leave it out: it changes nothing when a model runs",
    "cuda(x = x)": "leave it out: Core ML chooses where a model runs",
}
"""What another name alone does not mend: what is said."""


def told(written: str) -> tuple[str, str | None]:
    """The end of the message about the operation, and the suggestion."""
    text = (
        f"program(1.3) {{ func main<ios18>(tensor<fp16, [2, 3]> x) {{ tensor<fp16, [2, 3]> y = {written}; }} -> (y); }}"
    )
    [found] = [found for found in miltext.check(text) if found.code == "MIL501"]
    name = written.partition("(")[0]
    assert found.span is not None
    assert text[found.span.start : found.span.end] == name
    start, _, end = found.message.partition("; ")
    assert start == f"the operation `{name}` is not known"
    return end, found.suggestion


@pytest.mark.parametrize("written", RENAMED)
def test_another_name_is_suggested(written: str) -> None:
    assert told(written) == (f"in MIL it is `{RENAMED[written]}`", RENAMED[written])


@pytest.mark.parametrize("written", OTHERWISE)
def test_faults_that_another_name_does_not_fix_are_stated(written: str) -> None:
    assert told(written) == (OTHERWISE[written], None)


def test_a_slip_is_still_reported_from_a_name_elsewhere() -> None:
    assert told("rellu(x = x)") == ("did you mean `relu`?", "relu")
    assert told("sofmtax(x = x)") == ("did you mean `softmax`?", "softmax")
    assert told("concta(x = x)") == ("did you mean `concat`?", "concat")
    assert told("an_op_of_ones_own(x = x)") == ("", None)
    assert told("crpo_and(x = x)") == ("", None)
    assert told("rolpe(x = x)") == ("", None)


# ---- the table


def test_the_meaning_of_a_name_is_an_operation() -> None:
    known = set(all_names())
    assert {name for names in OPERATIONS for name in names.split()} <= known
    formulas = [quoted for way in WAYS for quoted in re.findall("`(.*?)`", way) if quoted != "mode"]
    assert {name for quoted in formulas for name in re.findall(r"(\w+)\(", quoted) or [quoted]} <= known | {"fp16"}


def test_the_names_of_parameters_in_a_way_match_the_operation() -> None:
    for way in WAYS:
        for operation, arguments in re.findall(r"(\w+)\(([^()]*)\)", way):
            named = set(re.findall(r"(\w+) = ", arguments))
            assert operation == "fp16" or named <= signature(operation).parameters.keys(), way  # type: ignore[union-attr]


def test_a_name_is_in_the_table_once_and_is_not_a_name_of_mil() -> None:
    names = " ".join([*OPERATIONS.values(), *WAYS.values(), NOWHERE]).split()
    assert sorted(set(names)) == sorted(names)
    assert len(names) > 250
    assert all(name == name.lower() and "_" not in name for name in names)
    assert not set(names) & {name.replace("_", "") for name in all_names()}


@pytest.mark.parametrize("name", all_names())
def test_another_spelling_of_a_name_means_the_same_operation(name: str) -> None:
    camel = "".join(part.capitalize() for part in name.split("_"))
    for written in (name, camel, name.upper(), f"{name}_"):
        known = meant(written)
        assert known is not None
        assert known.names == (name,)
