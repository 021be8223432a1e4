"""Programs to measure on: of any size, with large immediates, deeply nested. Each run makes the same ones.

The generated network is a stack of Conformer-like layers, as speech encoders have: attention, feed-forward,
convolution, slices. Two thirds of its operations are constants, as in the models of the corpus, and its shapes agree,
so coremltools loads it too. Its text is canonical.
"""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

from miltext.parsing.parser import parse
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.schema.proto import Program

FRAMES, WIDTH, HEADS = 16, 64, 4
INDENT = " " * 12


class _Network:
    """The operations of the generated function, as lines of text; each method returns the name that it defines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.offset = 64

    def const(self, name: str, value_type: str, value: str) -> str:
        attributes = f'name = string("{name}"), val = {value_type}({value})'
        self.lines.append(f"{INDENT}{value_type} {name} = const()[{attributes}];\n")
        return name

    def weight(self, name: str, *sizes: int) -> str:
        """Add a constant whose values are in the weight file."""
        path = 'string("@model_path/weights/weight.bin")'
        blob = f"BLOBFILE(path = {path}, offset = uint64({self.offset}))"
        self.offset += 64 * 1024
        return self.const(f"{name}_to_fp16", _tensor(*sizes), blob)

    def op(self, kind: str, name: str, sizes: tuple[int, ...], **inputs: str) -> str:
        arguments = ", ".join(f"{key} = {inputs[key]}" for key in sorted(inputs))
        self.lines.append(f'{INDENT}{_tensor(*sizes)} {name} = {kind}({arguments})[name = string("{name}")];\n')
        return name

    def ints(self, name: str, *values: int) -> str:
        return self.const(name, f"tensor<int32, [{len(values)}]>", f"[{', '.join(map(str, values))}]")

    def linear(self, name: str, x: str, width: int, outputs: int) -> str:
        weight, bias = self.weight(f"{name}_weight", outputs, width), self.weight(f"{name}_bias", outputs)
        return self.op("linear", f"{name}_cast_fp16", (1, FRAMES, outputs), x=x, weight=weight, bias=bias)

    def norm(self, name: str, x: str) -> str:
        gamma, beta = self.weight(f"{name}_gamma", WIDTH), self.weight(f"{name}_beta", WIDTH)
        axes, epsilon = self.ints(f"{name}_axes_0", -1), self.const(f"{name}_epsilon_0", "fp16", "0x1.5p-17")
        return self.op(
            "layer_norm",
            f"{name}_cast_fp16",
            (1, FRAMES, WIDTH),
            x=x,
            gamma=gamma,
            beta=beta,
            axes=axes,
            epsilon=epsilon,
        )

    def transpose(self, name: str, x: str, perm: tuple[int, ...], sizes: tuple[int, ...]) -> str:
        return self.op("transpose", f"{name}_cast_fp16", sizes, x=x, perm=self.ints(f"{name}_perm_0", *perm))

    def reshape(self, name: str, x: str, sizes: tuple[int, ...]) -> str:
        return self.op("reshape", f"{name}_cast_fp16", sizes, x=x, shape=self.ints(f"{name}_shape_0", *sizes))

    def matmul(self, name: str, x: str, y: str, transpose_y: str) -> str:
        flags = {
            "transpose_x": self.const(f"{name}_transpose_x_0", "bool", "false"),
            "transpose_y": self.const(f"{name}_transpose_y_0", "bool", transpose_y),
        }
        sizes = (1, HEADS, FRAMES, FRAMES if transpose_y == "true" else WIDTH // HEADS)
        return self.op("matmul", f"{name}_cast_fp16", sizes, x=x, y=y, **flags)

    def conv(self, name: str, x: str, kernel: int, groups: int) -> str:
        inputs = {
            "pad_type": self.const(f"{name}_pad_type_0", "string", '"custom"'),
            "pad": self.ints(f"{name}_pad_0", kernel // 2, kernel // 2),
            "strides": self.ints(f"{name}_strides_0", 1),
            "dilations": self.ints(f"{name}_dilations_0", 1),
            "groups": self.const(f"{name}_groups_0", "int32", str(groups)),
            "weight": self.weight(f"{name}_weight", WIDTH, WIDTH // groups, kernel),
            "bias": self.weight(f"{name}_bias", WIDTH),
        }
        return self.op("conv", f"{name}_cast_fp16", (1, WIDTH, FRAMES), x=x, **inputs)

    def half(self, name: str, x: str, begin: int) -> str:
        inputs = {
            "begin": self.ints(f"{name}_begin_0", 0, begin, 0),
            "end": self.ints(f"{name}_end_0", 1, begin + FRAMES // 2, WIDTH),
            "end_mask": self.const(f"{name}_end_mask_0", "tensor<bool, [3]>", "[true, false, true]"),
        }
        return self.op("slice_by_index", f"{name}_cast_fp16", (1, FRAMES // 2, WIDTH), x=x, **inputs)

    def attention(self, name: str, x: str) -> str:
        split, normed = (1, HEADS, FRAMES, WIDTH // HEADS), self.norm(f"{name}_norm", x)
        heads = []
        for part in ("query", "key", "value"):
            flat = self.linear(f"{name}_{part}", normed, WIDTH, WIDTH)
            parted = self.reshape(f"{name}_{part}_heads", flat, (1, FRAMES, HEADS, WIDTH // HEADS))
            heads.append(self.transpose(f"{name}_{part}_turned", parted, (0, 2, 1, 3), split))
        scores, square = self.matmul(f"{name}_scores", heads[0], heads[1], "true"), (1, HEADS, FRAMES, FRAMES)
        scale, axis = self.const(f"{name}_scale", "fp16", "0x1p-2"), self.const(f"{name}_axis_0", "int32", "-1")
        scaled = self.op("mul", f"{name}_scaled_cast_fp16", square, x=scores, y=scale)
        probabilities = self.op("softmax", f"{name}_softmax_cast_fp16", square, x=scaled, axis=axis)
        mixed = self.matmul(f"{name}_mixed", probabilities, heads[2], "false")
        turned = self.transpose(f"{name}_back", mixed, (0, 2, 1, 3), (1, FRAMES, HEADS, WIDTH // HEADS))
        merged = self.reshape(f"{name}_merged", turned, (1, FRAMES, WIDTH))
        return self.add(f"{name}_residual", x, self.linear(f"{name}_out", merged, WIDTH, WIDTH))

    def add(self, name: str, x: str, y: str) -> str:
        return self.op("add", f"{name}_cast_fp16", (1, FRAMES, WIDTH), x=x, y=y)

    def feed_forward(self, name: str, x: str, inner: int) -> str:
        wide = self.linear(f"{name}_first", self.norm(f"{name}_norm", x), WIDTH, inner)
        active = self.op("silu", f"{name}_silu_cast_fp16", (1, FRAMES, inner), x=wide)
        return self.add(f"{name}_residual", x, self.linear(f"{name}_second", active, inner, WIDTH))

    def convolution(self, name: str, x: str) -> str:
        turned = self.transpose(f"{name}_channels_first", x, (0, 2, 1), (1, WIDTH, FRAMES))
        mixed = self.conv(f"{name}_pointwise", turned, 1, 1)
        active = self.op("silu", f"{name}_silu_cast_fp16", (1, WIDTH, FRAMES), x=mixed)
        smooth = self.conv(f"{name}_depthwise", active, 5, WIDTH)
        back = self.transpose(f"{name}_channels_last", smooth, (0, 2, 1), (1, FRAMES, WIDTH))
        return self.add(f"{name}_residual", x, back)

    def rotation(self, name: str, x: str) -> str:
        first, second = self.half(f"{name}_first", x, 0), self.half(f"{name}_second", x, FRAMES // 2)
        axis = self.const(f"{name}_axis_0", "int32", "1")
        interleave = self.const(f"{name}_interleave_0", "bool", "false")
        inputs = {"values": f"({second}, {first})", "axis": axis, "interleave": interleave}
        return self.op("concat", f"{name}_cast_fp16", (1, FRAMES, WIDTH), **inputs)

    def layer(self, number: int, x: str) -> str:
        x = self.attention(f"layers_{number}_attention", x)
        x = self.feed_forward(f"layers_{number}_feed_forward", x, WIDTH * 2 + 8 * (number % 13))
        x = self.convolution(f"layers_{number}_conv", x)
        return self.rotation(f"layers_{number}_rotation", x)


def _tensor(*sizes: int) -> str:
    return f"tensor<fp16, [{', '.join(map(str, sizes))}]>"


def network_text(operations: int) -> str:
    """Write a network of that many operations or, so that its last layer is whole, up to 90 more."""
    network, x, number = _Network(), "x", 0
    while len(network.lines) < operations:
        x = network.layer(number, x)
        number += 1
    head = f"program(1.3)\n{{\n    func main<ios17>({_tensor(1, FRAMES, WIDTH)} x) {{\n"
    return head + "".join(network.lines) + f"        }} -> ({x});\n}}\n"


def immediate_program(dtype: str, count: int) -> Program:
    """Make a Program of one constant of `count` (a multiple of 1,000) elements: normal floats, else random bits."""
    value_type = f"tensor<{dtype}, [{count // 1000}, 1000]>"
    operation = f"{value_type} w = const()[val = {value_type}($tensor)];"
    program = parse(f"program(1.3) {{ func main<ios18>() {{ {operation} }} -> (w); }}")
    constant = program.functions["main"].block_specializations["CoreML8"].operations[0]
    tensor = constant.attributes["val"].immediateValue.tensor
    source, row = random.Random(1), BY_NAME[dtype]
    weights = [source.gauss(0, 0.05) for _ in range(count)] if row.kind == "float" else []
    if dtype == "fp16":
        tensor.bytes.values = struct.pack(f"<{count}e", *weights)
    elif row.field == "floats":
        tensor.floats.values.extend(weights)
    else:
        tensor.bytes.values = source.randbytes(count * row.bits // 8)
    return program


def nested_text(depth: int, copies: int) -> str:
    """Write `copies` conditionals, each nested `depth` deep; protobuf's readers take about 40."""
    conditionals = []
    for copy in range(copies):
        name = f"c{copy}_0"
        inner = f"{_tensor(1)} {name} = relu(x = x);\n"
        for level in range(1, depth + 1):
            result, other = f"c{copy}_{level}", f"c{copy}_{level}_else"
            then = f"() {{ {inner} }} -> ({name})"
            inner = f'{_tensor(1)} {result} = cond(pred = p)[name = string("{result}")] {then} '
            inner += f"() {{ {_tensor(1)} {other} = sigmoid(x = x); }} -> ({other});\n"
            name = result
        conditionals.append(inner)
    body = "".join(conditionals)
    return f"program(1.3) {{ func main<ios17>({_tensor(1)} x, bool p) {{ {body} }} -> (c0_{depth}); }}"
