"""Operations by their names in other frameworks: PyTorch, ONNX, TensorFlow, NumPy, JAX and MLIR's dialects.

The meanings of the names are taken from those projects' own references, the behaviour of MIL's operations from
coremltools'. Names are in lower case and without underscores: one row serves `BatchNormalization` and
`batch_normalization`.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from miltext.schema.operations import all_names

OPERATIONS: dict[str, str] = {
    "abs": "absolute",
    "acos": "arccos",
    "add": "addf addi addn plus biasadd",
    "asin": "arcsin",
    "atan": "arctan",
    "atanh": "arctanh",
    "avg_pool": "averagepool averagepooling",
    "band_part": "matrixbandpart",
    "batch_norm": "batchnormalization fusedbatchnorm batchnorminference",
    "batch_to_space": "batchtospacend",
    "cast": "astype to totype typeas castlike convert converttype extf truncf sitofp fptosi",
    "clip": "clamp clampmin clampmax clipbyvalue hardtanh relu1",
    "concat": "cat concatenate hstack vstack dstack columnstack rowstack",
    "cond": "if ifelse case",
    "const": "constant array parameter",
    "conv": (
        "convolution depthwiseconv depthwiseconvnative depthwiseconv2dnative convolve convgeneral convgeneraldilated"
    ),
    "conv_transpose": "convolutiontranspose deconv deconvolution transposeconv convbackpropinput",
    "crop_resize": "cropandresize roialign",
    "dequantize": "dequantizelinear dequantizepertensor dequantizeperchannel",
    "equal": "eq equalto",
    "expand_dims": "unsqueeze newaxis expanddim",
    "fill": "zeros full empty constantofshape newzeros newfull newempty splat",
    "fill_like": "zeroslike fulllike emptylike",
    "floor_div": "floordivide",
    "gather": "embedding indexselect take embeddinglookup",
    "gather_along_axis": "gatherelements takealongaxis takealongdim",
    "greater": "gt greaterthan",
    "greater_equal": "ge gte greaterorequal greaterequalto greaterthanorequal",
    "identity": "clone copy detach stopgradient contiguous optimizationbarrier checknumerics",
    "instance_norm": "instancenormalization",
    "inverse": "reciprocal recip",
    "layer_norm": "layernormalization nativelayernorm",
    "leaky_relu": "lrelu",
    "less": "lt lessthan",
    "less_equal": "le lte lessorequal lessequalto lessthanorequal",
    "linear": "gemm dense fullyconnected addmm fc innerproduct",
    "list_gather": "tensorliststack tensorlistgather tensorarraygather",
    "list_length": "tensorlistlength tensorarraysize",
    "list_read": "tensorlistgetitem tensorarrayread",
    "list_scatter": "tensorlistscatter tensorlistfromtensor tensorarrayscatter",
    "list_write": "tensorlistsetitem tensorarraywrite",
    "local_response_norm": "lrn localresponsenormalization",
    "log": "ln",
    "logical_and": "and",
    "logical_not": "not",
    "logical_or": "or",
    "logical_xor": "xor",
    "make_list": "tensorlistreserve emptytensorlist tensorarray",
    "matmul": "mm bmm mv dot batchmatmul baddbmm dotgeneral batchdot",
    "max_pool": "maxpooling",
    "maximum reduce_max": "max",
    "minimum reduce_min": "min",
    "mod": "remainder floormod",
    "mul": "multiply mulf muli times",
    "non_maximum_suppression": "nms nonmaxsuppression batchednms",
    "not_equal": "ne neq notequalto",
    "pad": "constantpad zeropad zeropadding",
    "pow": "power powf",
    "quantize": "quantizelinear quantizepertensor quantizeperchannel",
    "random_bernoulli": "bernoulli",
    "random_categorical": "multinomial categorical",
    "random_normal": "randn normal randomstandardnormal",
    "random_uniform": "rand uniform",
    "range_1d": "arange range",
    "real_div": "div divide truediv truedivide divf realdivide",
    "reduce_argmax": "argmax",
    "reduce_argmin": "argmin",
    "reduce_l1_norm": "reducel1",
    "reduce_l2_norm": "reducel2 norm vectornorm euclideannorm",
    "reduce_log_sum_exp": "logsumexp",
    "reduce_max": "amax",
    "reduce_mean": "mean average",
    "reduce_min": "amin",
    "reduce_prod": "prod",
    "reduce_sum": "sum",
    "resample": "gridsample gridsampler",
    "reshape": "view unflatten",
    "resize_bilinear resize_nearest_neighbor upsample_bilinear": "interpolate",
    "resize_nearest_neighbor": "resizenearest",
    "reverse": "flip fliplr flipud rev",
    "rsqrt": "invsqrt reciprocalsqrt",
    "scaled_dot_product_attention": "attention sdpa multiheadattention flashattention dotproductattention",
    "scatter": "indexadd",
    "scatter_along_axis": "scatteradd",
    "scatter_nd": "tensorscatterndadd tensorscatteradd",
    "select": "where maskedfill ifthenelse",
    "shape": "size shapeof",
    "sigmoid": "logistic expit",
    "sigmoid_hard": "hardsigmoid",
    "silu": "swish",
    "slice_by_index": "slice stridedslice narrow getitem extractslice",
    "slice_by_size": "dynamicslice",
    "slice_update": "dynamicupdateslice slicescatter selectscatter insertslice setitem",
    "space_to_batch": "spacetobatchnd",
    "split": "chunk tensorsplit splitv splitwithsizes arraysplit",
    "square": "sqr",
    "stack": "pack",
    "sub": "subtract subf subi minus",
    "tile": "repeat expand broadcastto broadcast broadcastindim expandas",
    "transpose": "permute swapaxes swapdims movedim moveaxis permutedims t",
    "upsample_nearest_neighbor": "upsample upsamplenearest upsampling",
    "while_loop": "while loop foriloop scan for",
}
"""Operations of MIL, and their names in other frameworks. The inputs determine which of several is meant."""

WAYS: dict[str, str] = {
    "it is `mul(x, -1)`": "neg negate negative negf",
    "it is `mul(x, sigmoid_hard(x, alpha = 0.16666667, beta = 0.5))`": "hardswish",
    "it is `mul(x, tanh(softplus(x)))`": "mish",
    "it is `log(sigmoid(x))`": "logsigmoid",
    "it is `sub(x, reduce_log_sum_exp(x, axes = [-1], keep_dims = true))`": "logsoftmax",
    "it is `softmax(mul(x, -1))`": "softmin",
    "it is `mul(elu(x, alpha = 1.6732632), 1.050701)`": "selu",
    "it is `mul(a, sigmoid(b))` of the halves that `split` makes": "glu",
    "it is `mul(silu(a), b)` of the halves that `split` makes": "swiglu",
    'it is `gelu(x, mode = "TANH_APPROXIMATION")`': "gelunew gelutanh fastgelu",
    'it is `gelu(x, mode = "SIGMOID_APPROXIMATION")`': "quickgelu",
    "it is `mul(x, rsqrt(reduce_mean(square(x), axes = [-1], keep_dims = true)))`, times its weight": (
        "rmsnorm rmsnormalization simplifiedlayernormalization"
    ),
    "it is `instance_norm` between two of `reshape`": "groupnorm groupnormalization",
    "`l2_norm` does it over the last three axes; else it is `real_div(x, reduce_l2_norm(x, axes, keep_dims = true))`": (
        "l2normalize lpnormalization normalize"
    ),
    "it is `reduce_mean(x, axes = [-2, -1], keep_dims = true)`": (
        "globalaveragepool globalavgpool globalaveragepooling"
    ),
    "it is `reduce_max(x, axes = [-2, -1], keep_dims = true)`": "globalmaxpool globalmaxpooling",
    "for an output of size 1 it is `reduce_mean(x, axes = [-2, -1], keep_dims = true)`, else `avg_pool`": (
        "adaptiveavgpool adaptiveaveragepool"
    ),
    "for an output of size 1 it is `reduce_max(x, axes = [-2, -1], keep_dims = true)`, else `max_pool`": (
        "adaptivemaxpool"
    ),
    "it is `mul(elu(real_div(x, a), alpha = 1.0), a)`": "celu",
    "it is `conv` between `dequantize` and `quantize`": "qlinearconv convinteger quantizedconv",
    "it is `matmul` between `dequantize` and `quantize`": "qlinearmatmul matmulinteger quantizedmatmul",
    "it is `add` between `dequantize` and `quantize`": "qlinearadd quantizedadd",
    "it is `add(mul(x, cos), mul(turned, sin))`, turned by `split`, `mul` of the second half by -1, and `concat`": (
        "rope rotaryembedding rotaryposemb applyrotaryposemb"
    ),
    "`affine` makes the grid and samples at it": "affinegrid",
    'it is `cast(x, dtype = "fp16")`': "half tohalf",
    'it is `cast(x, dtype = "fp32")`': "float double tofloat",
    'it is `cast(x, dtype = "int32")`': "int long toint32",
    "it is `reduce_prod(shape(x))`": "numel",
    "it is `band_part(x, lower = 0, upper = -1)`, or of a lower part `band_part(x, lower = -1, upper = 0)`": "trilu",
    "it is `band_part(x, lower = 0, upper = 0)` of ones that `fill` makes": "eye eyelike",
    "it is `sqrt(add(square(x), square(y)))`": "hypot",
    "it is `log(add(exp(x), exp(y)))`": "logaddexp",
    "it is `log(real_div(x, sub(1, x)))`": "logit",
    "it is `sub(x, tanh(x))`": "tanhshrink",
    "it is `add(mul(range_1d, step), start)`": "linspace",
    "it is `tile` of the output of `expand_dims`": "meshgrid repeatinterleave",
    "it is `transpose` between two of `reshape`": "channelshuffle",
    "it is `leaky_relu` when a model runs": "rrelu",
    "it is `sliding_windows` of each axis, and `reshape`": "unfold im2col",
    "it is `reduce_sum(square(sub(x, y)))` and `sqrt`": "cdist pairwisedistance",
    "it is `gather`, and `reduce_sum` or `reduce_mean` of its output": "embeddingbag",
    "it is `real_div(log(x), 0.6931472)`": "log2",
    "it is `real_div(log(x), 2.3025851)`": "log10",
    "it is `log(add(x, 1))`": "log1p",
    "it is `write_state(input = s, data = x)`, and `read_state(input = s)` gives the value back": (
        "coremlupdatestate updatestate"
    ),
    "it is `sub(exp(x), 1)`": "expm1",
    "it is `log(add(x, sqrt(add(square(x), 1))))`": "asinh arcsinh",
    "it is `log(add(x, sqrt(sub(square(x), 1))))`": "acosh arccosh",
    "it is `atan(real_div(y, x))`, and `select` for the quadrants": "atan2 arctan2",
    "it is `sub(1, erf(x))`": "erfc",
    "it is `square(sub(x, y))`": "squareddifference",
    "it is `add(input, mul(x, y))`": "addcmul",
    "it is `add(input, real_div(x, y))`": "addcdiv",
    "it is `add(x, mul(sub(y, x), weight))`": "lerp",
    "it is `not_equal(x, x)`": "isnan",
    "it is `equal(abs(x), fp16(inf))`": "isinf",
    "it is `less(abs(x), fp16(inf))`": "isfinite",
    "it is `sub(y, x)`": "rsub",
    "it is `sub(x, floor(x))`": "frac",
    "it is `mul(sign(x), floor(abs(x)))`": "trunc truncate fix",
    "it is `mul(sign(x), mod(abs(x), abs(y)))`": "fmod",
    "it is `reduce_mean(square(sub(x, mean)))`": "var variance",
    "it is `sqrt(reduce_mean(square(sub(x, mean))))`": "std",
    "it is `reduce_max` of the values after `cast` to int32": "any reduceany",
    "it is `reduce_min` of the values after `cast` to int32": "all reduceall",
    "it is `band_part(x, lower = -1, upper = 0)`": "tril",
    "it is `band_part(x, lower = 0, upper = -1)`": "triu",
    "it is `exp(cumsum(log(x)))`, for positive numbers": "cumprod",
    "it is `mul(x, 0.017453293)`": "deg2rad radians",
    "it is `mul(x, 57.29578)`": "rad2deg degrees",
    "it is `fill(shape, value = 1.0)`": "ones newones",
    "it is `fill_like(x, value = 1.0)`": "oneslike",
    'it is `pad(x, pad, mode = "reflect")`': "reflectionpad mirrorpad",
    'it is `pad(x, pad, mode = "replicate")`': "replicationpad",
    'it is `scatter_along_axis(data, indices, updates, mode = "update")`': "scatterelements putalongaxis scatterupdate",
    "it is `scatter_along_axis`, with the mode for that reduction": "scatterreduce",
    'it is `scatter(data, indices, updates, mode = "update")`': "indexcopy",
    'it is `scatter_nd(data, indices, updates, mode = "update")`': "tensorscatterndupdate tensorscatterupdate indexput",
    "it is `flatten2d` where two dimensions are left, and `reshape` for any other shape": "flatten ravel",
    "it is `topk` with both outputs, or `argsort` and `gather_along_axis`": "sort",
    "it is `split` and `squeeze` of each part": "unbind unstack unpack",
    "it is `concat` of two of `slice_by_index`": "roll",
    "it is `einsum`": "tensordot outer inner bilinear",
    "it is `reduce_sum(mul(x, y), axes = [-1])`": "vdot",
    "it is `gather_nd` at the places that `non_zero` returns": "maskedselect booleanmask compress",
    "leave it out: it changes nothing when a model runs": "dropout alphadropout featuredropout requiresgrad",
    "leave it out: Core ML chooses where a model runs": "cpu cuda deviceput todevice",
}
"""Substitutes for operations of other frameworks without a single counterpart in MIL."""

NOWHERE = (
    "fft fft2 ifft ifft2 rfft irfft fftn ifftn stft istft dft svd qr eig eigh eigvals cholesky choleskysolve lu "
    "lufactor matrixinverse inv pinv solve linalgsolve triangularsolve lstsq det slogdet logdet matrixexp unique "
    "uniqueconsecutive bincount histc histogram searchsorted bucketize digitize lgamma digamma polygamma gamma "
    "beta erfinv igamma betainc i0 bitwiseand bitwiseor bitwisexor bitwisenot bitshift leftshift rightshift "
    "shiftleft shiftright popcount ctcloss crossentropy crossentropyloss nllloss mseloss l1loss bceloss kldiv "
    "deformconv maxunpool roipool maxroipool allreduce allgather reducescatter customcall logcumsumexp cummax "
    "cummin median nanmedian quantile kthvalue isin fold col2im hardshrink softshrink maskedscatter cross kron "
    "trace diag diagonal diagembed nextafter ldexp frexp gcd lcm stringsplit stringnormalizer tfidfvectorizer "
    "labelencoder treeensemble sinc gridencode upfirdn melweightmatrix hannwindow hammingwindow blackmanwindow "
    "imagedecoder"
)
"""Names of operations in other frameworks without an equivalent in MIL."""

_NONE = "MIL has no such operation; write it with other operations, or compute it outside of the model"

_VERSION = re.compile(r"(?:[123]d|nd|v\d|op)$")
"""Endings of a name elsewhere, for its number of dimensions or its version: `conv2d`, `ConcatV2`."""


class Meant(NamedTuple):
    """The meaning of another framework's name in MIL: the possible operations, or a `way` to write it, in words."""

    names: tuple[str, ...]
    way: str = ""


def meant(name: str) -> Meant | None:
    """Return the meaning in MIL of an operation's name in another framework; None for an unknown name."""
    plain = name.lower().replace("_", "")
    return _by_name().get(plain) or _by_name().get(_VERSION.sub("", plain))


@functools.cache
def _by_name() -> dict[str, Meant]:
    rows = [(Meant(tuple(operations.split())), names.split()) for operations, names in OPERATIONS.items()]
    rows += [(Meant((), way), names.split()) for way, names in WAYS.items()]
    rows += [(Meant((name,)), [name.replace("_", "")]) for name in all_names()]
    rows += [(Meant((), _NONE), NOWHERE.split())]
    return {name: row for row, names in rows for name in names}
