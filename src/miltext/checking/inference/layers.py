"""Rules for layers: convolution, pooling, recurrence, normalization."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown
from miltext.checking.inference.positions import row_of
from miltext.checking.inference.rules import linear, rule, tensor
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, Shape, TensorType, Type, compatible, show


@rule("conv", "conv_quantized")
def conv(op: Arguments) -> Sequence[Type]:
    """Return batch, output channels of the weight, and spatial dimensions after padding, strides and dilations."""
    n, c, *spatial = op.shape("x", least=2)
    outputs, inputs, *kernel = op.shape("weight", least=2)
    groups = op.scalar("groups", int, 1, least=1)
    _split("x", c, groups)
    _split("weight", outputs, groups)
    if c is not None and inputs is not None and c != inputs * groups:
        must, many = show((outputs, c // groups, *kernel)), f"{groups} group{'s' * (groups > 1)}"
        clause = f"must be of shape {must}, not {show(op.shape('weight'))}: `x` has {c} channels in {many}"
        raise InputConflict(clause, "weight", *op.given("x", "groups"), code=codes.WRONG_ARGUMENT_SHAPE)
    dilations = op.vector("dilations", int, len(kernel), 1, least=1)
    if max(dilations, default=1) > 1 and not op.all("weight")[0].constant:
        clause = f"must be known when the program is compiled, where `dilations` are {[*dilations]}"
        raise InputConflict(clause, "weight", "dilations", code=codes.NOT_CONSTANT)
    return tensor(op.tensor("x").dtype, n, outputs, *_windows(op, spatial, kernel, dilations))


def _split(name: str, channels: Dimension, groups: int) -> None:
    """Require a number of channels that splits into equal groups. Raise InputConflict."""
    if channels is not None and channels % groups:
        clause = f"is {groups}, and the {channels} channels of `{name}` do not split into {groups} equal groups"
        raise InputConflict(clause, "groups", name, code=codes.VALUE_OUT_OF_RANGE)


@rule("max_pool", "avg_pool", "l2_pool")
def pool(op: Arguments) -> Sequence[Type]:
    """Return batch and channels, and the spatial dimensions after padding and strides."""
    n, c, *spatial = op.shape("x", least=2)
    kernel = op.vector("kernel_sizes", int, least=1)
    _hold_ceiling(op, len(spatial))
    return tensor(op.tensor("x").dtype, n, c, *_windows(op, spatial, kernel, (1,) * len(kernel)))


def _hold_ceiling(op: Arguments, rank: int) -> None:
    """Require ranks and paddings that `ceil_mode` supports. Raise InputConflict."""
    if not op.scalar("ceil_mode", bool, False):
        return
    if rank > 2:
        clause = f"is true, which requires one or two spatial dimensions; `x` has {rank}"
        raise InputConflict(clause, "ceil_mode", "x", code=codes.VALUE_OUT_OF_RANGE)
    if op.scalar("pad_type", str).lower() == "same":
        clause = 'is true, which requires a `pad_type` of "valid" or "custom", not "same"'
        raise InputConflict(clause, "ceil_mode", "pad_type", code=codes.VALUE_OUT_OF_RANGE)
    pads = op.vector("pad", int, 2 * rank, 0)
    for before, after in zip(pads[::2], pads[1::2], strict=True):
        if before != after:
            clause = f"adds {before} before and {after} after; they must be equal, as `ceil_mode` is true"
            raise InputConflict(clause, "pad", "ceil_mode", code=codes.VALUE_OUT_OF_RANGE)


def _windows(
    op: Arguments, spatial: Sequence[Dimension], kernel: Sequence[Dimension], dilations: Sequence[int]
) -> Shape:
    """Return the number of windows of the kernel along each spatial dimension."""
    if len(kernel) != len(spatial):
        raise Unknown
    strides = op.vector("strides", int, len(spatial), 1, least=1)
    padding, ceil = op.scalar("pad_type", str, "valid").lower(), op.scalar("ceil_mode", bool, False)
    if padding == "same_lower" and not op.since("ios16"):
        raise InputConflict('may be "same_lower" from ios16 on', "pad_type", code=codes.NOT_IN_OPSET)
    if padding in ("same", "same_lower"):
        pairs = zip(spatial, strides, strict=True)
        return tuple(None if size is None or ceil else -(-size // stride) for size, stride in pairs)
    reach = [linear(size, dilation, 1 - dilation) for size, dilation in zip(kernel, dilations, strict=True)]
    amounts = _paddings(op, padding, len(spatial))
    columns = zip(spatial, reach, strides, amounts, strict=True)
    counts = tuple(_fitting(*column, ceil) for column in columns)
    for place, found in enumerate(counts):
        if found is not None and found < 1:
            raise _no_window(op, place, spatial[place], reach[place], amounts[place], dilations[place])
    return counts


def _no_window(
    op: Arguments, place: int, size: Dimension, reach: Dimension, padding: int, dilation: int
) -> InputConflict:
    """Return the conflict of a kernel too large by itself or by its dilations."""
    kernel = "weight" if op.has("weight") else "kernel_sizes"
    padded = f" and {padding} of padding" if padding else ""
    clause = f"spans {reach} at axis {place + 2}, where `x` has only {size}{padded}"
    names = ("dilations", kernel) if dilation > 1 else (kernel,)
    return InputConflict(clause, *names, *op.given("x", *["pad"] * bool(padding)), code=codes.WRONG_ARGUMENT_SHAPE)


def _paddings(op: Arguments, pad_type: str, rank: int) -> list[int]:
    """Return the padding of each spatial dimension, before and after it."""
    if pad_type == "valid":
        _doubt_padding(op)
        return [0] * rank
    if pad_type != "custom":
        raise Unknown
    pads = op.vector("pad", int, 2 * rank, 0, least=0)
    return [before + after for before, after in zip(pads[::2], pads[1::2], strict=True)]


def _doubt_padding(op: Arguments) -> None:
    """Note a doubt about a `pad` without effect; exporters write one beside any `pad_type`."""
    if op.has("pad") and not op.has("pad_type") and any(amounts := row_of(op, "pad")):
        clause = f'is {[*amounts]} and has no effect, as `pad_type` is left out; write `pad_type = "custom"` beside it'
        op.doubt(clause, "pad", code=codes.VALUE_OUT_OF_RANGE)


def _fitting(size: Dimension, kernel: Dimension, stride: int, padding: int, ceil: bool) -> Dimension:
    """Return the number of windows that fit, 0 or negative where the kernel is too large."""
    if size is None or kernel is None:
        return None
    room = size + padding - kernel
    if not ceil:
        return room // stride + 1
    windows = -(-room // stride) + 1
    starts_in_padding = padding > 0 and (windows - 1) * stride >= size + padding / 2
    return windows - 1 if starts_in_padding else windows


@rule("conv_transpose")
def conv_transpose(op: Arguments) -> Sequence[Type]:
    """Return batch, the weight's output channels, and the input sizes of a convolution with the same parameters."""
    dtype = op.tensor("x").dtype
    n, c, *spatial = op.shape("x", least=2)
    _, per_group, *kernel = op.shape("weight", len(spatial) + 2)
    groups = op.scalar("groups", int, 1, least=1)
    outputs = linear(per_group, groups)
    _split("x", c, groups)
    if op.has("bias") and not compatible(op.shape("bias", 1), (outputs,)):
        clause = f"must be of shape [{outputs}], not {show(op.shape('bias'))}: one number for each output channel"
        raise InputConflict(clause, "bias", *op.given("weight", "groups"), code=codes.WRONG_ARGUMENT_SHAPE)
    if op.has("output_shape"):
        stated = _stated(op, (n, outputs), len(spatial))
        with suppress(Unknown):
            _hold_stated(op, stated[2:], spatial, kernel)
        return tensor(dtype, *stated)
    return tensor(dtype, n, outputs, *_spread(op, spatial, kernel, op.scalar("pad_type", str, "valid")))


def _stated(op: Arguments, begins: Shape, spatial: int) -> Shape:
    """Return the spatial sizes of `output_shape`, which must begin with batch and channels."""
    stated = op.vector("output_shape", int, len(begins) + spatial, least=1)
    if not compatible(stated[:2], begins):
        clause = f"must begin with {show(begins)}, batch and channels, not with {show(stated[:2])}"
        raise InputConflict(clause, "output_shape", *op.given("x", "weight", "groups"), code=codes.VALUE_OUT_OF_RANGE)
    return stated


def _hold_stated(op: Arguments, stated: Shape, spatial: Sequence[Dimension], kernel: Sequence[Dimension]) -> None:
    """Require sizes of `output_shape` within the full output: the extent of `x` after strides, and the rest of a last
    step.

    Frameworks add less than a stride or a dilation to it (PyTorch's `output_padding`, TensorFlow's `output_shape`).
    Smaller sizes are a crop. coremltools 9.0 takes any size.
    """
    pad_type, rank = op.scalar("pad_type", str, "valid"), len(spatial)
    strides, dilations = (op.vector(name, int, rank, 1, least=1) for name in ("strides", "dilations"))
    spread = _spread(op, spatial, kernel, "valid")
    columns = zip(stated, spread, spatial, strides, dilations, strict=True)
    for axis, (size, whole, before, stride, dilation) in enumerate(columns, 2):
        if size is None or whole is None or before is None:
            continue
        most = max(whole + max(stride, dilation) - 1, before * stride if pad_type == "same" else 0)
        if size > most:
            clause = f"requests {size} at axis {axis}, but the output for `x` has at most {most} there"
            beside = op.given("x", "weight", "strides", "dilations")
            raise InputConflict(clause, "output_shape", *beside, code=codes.VALUE_OUT_OF_RANGE)


def _spread(op: Arguments, spatial: Sequence[Dimension], kernel: Sequence[Dimension], pad_type: str) -> Shape:
    rank = len(spatial)
    strides, dilations = (op.vector(name, int, rank, 1, least=1) for name in ("strides", "dilations"))
    if pad_type == "same":
        return tuple(linear(size, stride) for size, stride in zip(spatial, strides, strict=True))
    paddings = _paddings(op, pad_type, rank)
    sizes: list[Dimension] = []
    for size, reach, stride, dilation, padding in zip(spatial, kernel, strides, dilations, paddings, strict=True):
        whole = None if size is None or reach is None else (size - 1) * stride + (reach - 1) * dilation + 1
        if whole is not None and whole <= padding:
            clause = f"removes {padding} from axis {len(sizes) + 2}, whose size before that is only {whole}"
            raise InputConflict(clause, "pad", "x", "weight", code=codes.VALUE_OUT_OF_RANGE)
        sizes.append(None if whole is None else whole - padding)
    return tuple(sizes)


# ---- recurrence


@rule("rnn", "gru")
def recurrent(op: Arguments) -> Sequence[Type]:
    """Return all outputs or the last one, and the state."""
    return _states(op, op.shape("weight_hh", 2)[1])[:2]


@rule("lstm")
def lstm(op: Arguments) -> Sequence[Type]:
    """Return all outputs or the last one, and the two states; both directions are concatenated."""
    both = op.scalar("direction", str, "forward") == "bidirectional"
    if both and not (op.has("weight_ih_back") and op.has("weight_hh_back")):
        clause = 'is "bidirectional", which requires `weight_ih_back` and `weight_hh_back`'
        raise InputConflict(clause, "direction", code=codes.MISSING_PARAMETER)
    hidden = linear(op.shape("weight_hh", 2)[1], 2 if both else 1)
    for name in ("initial_h", "initial_c"):
        if op.has(name) and not compatible(op.shape(name, 2)[1], hidden):
            must, stated = show((op.shape(name)[0], hidden)), "two directions" if both else "one direction"
            clause = f"must be of shape {must}, not {show(op.shape(name))}: the states of {stated}"
            raise InputConflict(clause, name, *op.given("weight_hh", "direction"), code=codes.WRONG_ARGUMENT_SHAPE)
    return _states(op, hidden)


def _states(op: Arguments, hidden: Dimension) -> list[Type]:
    length, batch, _ = op.shape("x", 3)
    dtype = op.tensor("x").dtype
    outputs = length if op.scalar("output_sequence", bool, False) else 1
    state = TensorType(dtype, (batch, hidden))
    return [TensorType(dtype, (outputs, batch, hidden)), state, state]


# ---- normalization


@rule("layer_norm")
def layer_norm(op: Arguments) -> Sequence[Type]:
    """Return the type of `x`; `gamma` and `beta` have its sizes along `axes`.

    coremltools 9.0 checks `gamma` twice and not `beta`, which 9.1 fixes; no converter makes them differ.
    """
    x = op.tensor("x")
    normalized = _along(op, x.shape)
    for name in op.given("gamma", "beta"):
        if normalized is not None and not compatible(op.shape(name), normalized):
            clause = f"must be of shape {show(normalized)}, not {show(op.shape(name))}: the sizes of `x` along `axes`"
            raise InputConflict(clause, name, *op.given("x", "axes"), code=codes.WRONG_ARGUMENT_SHAPE)
    return [x]


def _along(op: Arguments, shape: Shape) -> Shape | None:
    """Return the sizes along `axes`, all of them by default, in their order in the shape; None for unknown axes."""
    if not op.has("axes"):
        return shape
    value = op.all("axes")[0].value
    rank = len(shape)
    if not isinstance(value, tuple) or not all(isinstance(axis, int) and -rank <= axis < rank for axis in value):
        return None
    places = {axis % rank for axis in value if isinstance(axis, int)}
    return tuple(size for place, size in enumerate(shape) if place in places)
