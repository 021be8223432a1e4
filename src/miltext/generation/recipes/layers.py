"""Recipes for layers that slide or step: convolution, pooling, recurrence; for normalization and quantization."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.generation.recipes.table import recipe

if TYPE_CHECKING:
    from miltext.generation.calls import Call

PAD_TYPES = ("valid", "same", "custom")


def padding(call: Call, kernel: list[int]) -> str:
    """Generate `pad_type` and `pad`, small enough that each window contains elements of `x`. Return the first."""
    word = call.choices.pick([*PAD_TYPES, *["same_lower"] * call.scope.has("ios16")])
    if call.parameter("pad_type").required or word != "valid":
        call.number("pad_type", word)
    if word == "custom":
        call.vector("pad", [call.choices.integer(0, size // 2) for size in kernel for _ in range(2)])
    call.leave_out("pad_type", "pad")
    return word


def kernel_for(call: Call) -> list[int]:
    """Choose the sizes of a kernel, none larger than the tensor."""
    spatial = call.shape("x")[2:]
    return [call.choices.integer(1, min(size, 3)) for size in spatial]


def groups_of(call: Call, channels: int) -> int:
    """Choose a number of groups, and give it if it is not 1."""
    groups = call.choices.pick([number for number in range(1, channels + 1) if channels % number == 0])
    if groups > 1:
        call.number("groups", groups)
    call.leave_out("groups")
    return groups


@recipe("conv", "conv_quantized")
def conv(call: Call) -> None:
    """Generate a weight with the channels of the input in groups, and a kernel that fits."""
    call.tensor("x")
    kernel = kernel_for(call)
    groups = groups_of(call, call.size("c"))
    inputs = call.size("c") // groups
    outputs = groups * call.steps_of_weight(groups * inputs * prod(kernel))
    call.sizes |= {"o": outputs, "i": inputs, "k": tuple(kernel)}
    padding(call, kernel)
    dilations = [
        2 if size * 2 - 1 <= room and call.choices.rarely() else 1
        for size, room in zip(kernel, call.shape("x")[2:], strict=True)
    ]
    if max(dilations) > 1:  # then the weight must be constant
        call.filled("weight", (outputs, inputs, *kernel))
        call.vector("dilations", dilations)
    if call.known.name == "conv_quantized":
        call.number("quantization_type", "linear")
        call.number("quant_scale", 0.125)
        call.number("quant_bias", 0.5)
    call.leave_out("dilations")


@recipe("conv_transpose")
def conv_transpose(call: Call) -> None:
    """Generate a weight with the channels of the input, and a padding that does not remove everything."""
    call.tensor("x")
    spatial = call.shape("x")[2:]
    kernel = [call.choices.integer(1, 3) for _ in spatial]
    groups = groups_of(call, call.size("c"))
    per_group = call.steps_of_weight(call.size("c") * prod(kernel))
    call.sizes |= {"i": per_group, "k": tuple(kernel)}
    call.of_shape("weight", (call.size("c"), per_group, *kernel))
    if call.choices.flag():  # a computed bias fails in coremltools 9.0 (iOS15/conv.py)
        call.filled("bias", (groups * per_group,), dtype=call.type("weight").dtype)
    way = call.choices.pick(["valid", "same", "custom", "output_shape"])
    if way in ("same", "custom"):
        call.number("pad_type", way)
    if way == "custom":
        call.vector("pad", [call.choices.integer(0, size // 2) * (step == 1) for size in kernel for step in range(2)])
    if way == "output_shape":
        sizes = [size + reach - 1 for size, reach in zip(spatial, kernel, strict=True)]
        call.vector("output_shape", [call.size("n"), groups * per_group, *sizes])
        call.leave_out("strides", "dilations")
    call.leave_out("bias", "output_shape", "pad_type", "pad")


@recipe("max_pool", "avg_pool", "l2_pool")
def pool(call: Call) -> None:
    """Generate a kernel that fits."""
    call.tensor("x")
    kernel = kernel_for(call)
    call.vector("kernel_sizes", kernel)
    if padding(call, kernel) == "valid" and len(kernel) < 3 and call.choices.rarely():
        call.number("ceil_mode", True)
    call.leave_out("ceil_mode")


@recipe("lstm")
def lstm(call: Call) -> None:
    """Generate the weights of one direction, or of both."""
    both = call.choices.rarely()
    call.tensor("x")
    hidden = call.choices.integer(1, 4)
    call.sizes["h"] = hidden
    states = call.size("b"), hidden * 2 if both else hidden
    call.of_shape("initial_h", states)
    call.of_shape("initial_c", states)
    call.sizes["h"] = hidden
    if both:
        for name in ("weight_ih", "weight_hh", "weight_ih_back", "weight_hh_back"):
            call.fill_in(call.parameter(name))
        call.number("direction", "bidirectional")
        if call.choices.flag():
            for name in ("bias", "bias_back", "peephole", "peephole_back"):
                call.fill_in(call.parameter(name))
        call.leave_out("bias", "peephole", "bias_back", "peephole_back")
    else:
        call.leave_out("weight_ih_back", "weight_hh_back", "bias_back", "peephole_back", "direction")


@recipe("layer_norm")
def layer_norm(call: Call) -> None:
    """Generate some of the last axes, and a scale and a shift of their sizes."""
    call.ranked("x")
    shape = call.shape("x")
    first = call.choices.integer(0, len(shape) - 1)
    call.vector("axes", list(range(first, len(shape))))
    for name in ("gamma", "beta")[: call.choices.integer(0, 2)]:  # a `beta` alone fails in coremltools 9.0
        call.of_shape(name, shape[first:])
    call.leave_out("gamma", "beta")


@recipe("quantize", "dequantize")
def quantize(call: Call) -> None:
    """Generate one scale, or one for each place along an axis."""
    call.ranked("input")
    shape = call.shape("input")
    axis = call.choices.integer(0, len(shape) - 1)
    sizes = (shape[axis],) if call.choices.flag() else ()
    count = shape[axis] if sizes else 1
    call.number("scale", *(call.choices.integer(1, 8) / 8 for _ in range(count)), shape=sizes)
    if call.choices.flag():
        call.number("zero_point", *(call.choices.integer(0, 9) for _ in range(count)), shape=sizes)
    if sizes:
        call.number("axis", axis)
    if call.known.name == "quantize":
        given = call.given.get("zero_point")
        call.number("output_dtype", call.type("zero_point").dtype if given else call.choices.pick(["int8", "uint8"]))
    call.leave_out("axis", "zero_point")


@recipe("batch_norm")
def batch_norm(call: Call) -> None:
    """Generate a scale and a shift, or none of the two."""
    call.tensor("x")
    if call.choices.flag():
        for name in ("mean", "variance", "gamma", "beta"):
            call.fill_in(call.parameter(name))
    call.leave_out("gamma", "beta")
