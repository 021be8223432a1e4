"""Programs of control flow, states, several functions, constants and compressed weights, for `coremltools_programs`.

Shapes and values are our own; what each op takes is coremltools' registry's to say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from support.coremltools_programs import (
    FROM16,
    FROM17,
    IOS17,
    IOS18,
    IOS26,
    OPSETS,
    add,
    add_converted,
    add_functions,
    integers,
    weight,
)

# Control flow and lists.


def cond(mb: Any, p: Any, x: Any, d: Any) -> list[Any]:
    one = mb.cond(pred=p, _true_fn=lambda: mb.add(x=x, y=1.0), _false_fn=lambda: mb.mul(x=x, y=2.0))
    two = mb.cond(pred=p, _true_fn=lambda: (mb.relu(x=d), x), _false_fn=lambda: (d, mb.identity(x=x)))
    return [one, *two]


def while_loop(mb: Any, x: Any, n: Any) -> list[Any]:
    counted = mb.while_loop(
        _cond=lambda i, a: mb.less(x=i, y=n), _body=lambda i, a: (mb.add(x=i, y=1), mb.mul(x=a, y=a)), loop_vars=(0, x)
    )
    alone = mb.while_loop(_cond=lambda i: mb.less(x=i, y=10), _body=lambda i: mb.add(x=i, y=2), loop_vars=(n,))
    return [*counted, *(alone if isinstance(alone, list | tuple) else [alone])]


def nested(mb: Any, x: Any, p: Any) -> list[Any]:
    def body(i: Any, a: Any) -> tuple[Any, Any]:
        bigger = mb.cond(pred=p, _true_fn=lambda: mb.add(x=a, y=1.0), _false_fn=lambda: mb.sub(x=a, y=1.0))
        return mb.add(x=i, y=1), bigger

    return list(mb.while_loop(_cond=lambda i, a: mb.less(x=i, y=4), _body=body, loop_vars=(0, x)))


def lists(mb: Any, x: Any, v: Any) -> list[Any]:
    made = mb.make_list(init_length=4, elem_shape=[3], dtype="fp32", dynamic_length=False)
    made = mb.list_write(ls=made, index=0, value=v)
    made = mb.list_scatter(ls=made, indices=[1, 2], value=x)
    grown = mb.list_write(ls=mb.make_list(elem_shape=[2], dtype="int32"), index=0, value=[1, 2])
    read = [mb.list_read(ls=made, index=1), mb.list_gather(ls=made, indices=[0, 2]), mb.list_length(ls=made)]
    return [*read, mb.list_read(ls=grown, index=0), mb.list_length(ls=grown), mb.list_gather(ls=grown, indices=[0])]


def list_loop(mb: Any, x: Any) -> Any:
    empty = mb.make_list(init_length=1, elem_shape=[3], dtype="fp32")
    _, filled = mb.while_loop(
        _cond=lambda i, ls: mb.less(x=i, y=2),
        _body=lambda i, ls: (mb.add(x=i, y=1), mb.list_write(ls=ls, index=i, value=mb.gather(x=x, indices=i, axis=0))),
        loop_vars=(0, empty),
    )
    return mb.list_gather(ls=filled, indices=[0, 1])


add("cond", OPSETS, cond, p="bool[]", x="fp32[2,3]", d="fp16[b]")
add("while_loop", OPSETS, while_loop, x="fp32[2,3]", n="int32[]")
add("nested", OPSETS, nested, x="fp32[2,3]", p="bool[]")
add("lists", OPSETS, lists, x="fp32[2,3]", v="fp32[3]")
add("list_loop", OPSETS, list_loop, x="fp32[2,3]")

# States, classification, several functions.


def states(mb: Any, s: Any, x: Any) -> list[Any]:
    old = mb.read_state(input=s)
    mb.coreml_update_state(state=s, value=mb.add(x=old, y=x))
    return [mb.mul(x=mb.coreml_update_state(state=s, value=x), y=x), mb.read_state(input=s)]


def classify(labels: list[Any], mb: Any, p: Any) -> list[Any]:
    from coremltools.converters.mil.mil import mil_list

    return list(mb.classify(probabilities=p, classes=mb.const(val=mil_list(labels))))


add("states", (IOS18,), states, s="state fp16[2,3]", x="fp16[2,3]")
add("classify-strings", OPSETS, partial(classify, ["a", 'b"', "\u00e9\n"]), p="fp32[3]")
add("classify-integers", OPSETS, partial(classify, [np.int64(4), np.int64(2)]), p="fp32[1,2]")
for opset in (IOS17, IOS18):
    add_functions(
        "functions",
        opset,
        {
            "main": (lambda mb, x: mb.relu(x=x), {"x": "fp32[2,3]"}),
            "second": (lambda mb, x, y: [mb.add(x=x, y=y), mb.sub(x=x, y=y)], {"x": "fp32[b]", "y": "fp32[b]"}),
            "third": (lambda mb, q: mb.linear(x=q, weight=weight(4, 20)), {"q": "fp32[2,20]"}),
        },
    )
add_functions(
    "functions-states",
    IOS18,
    {
        "prefill": (states, {"s": "state fp16[2,3]", "x": "fp16[2,3]"}),
        "decode": (lambda mb, s, x: mb.add(x=mb.read_state(input=s), y=x), {"s": "state fp16[2,3]", "x": "fp16[1]"}),
    },
)


def custom_layer(mb: Any, x: Any) -> Any:
    """An op of our own, registered with coremltools as custom: it is saved as `custom_layer`."""
    from coremltools.converters.mil.mil import Operation, types
    from coremltools.converters.mil.mil.input_type import InputSpec, TensorInputType
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

    class miltext_test_op(Operation):
        input_spec = InputSpec(x=TensorInputType(type_domain=types.fp32))
        bindings = {"class_name": "TestOp", "input_order": ["x"], "parameters": ["x"], "description": "an op"}

        def type_inference(self) -> Any:
            return self.x.sym_type

    SSAOpRegistry.register_op(miltext_test_op, is_custom_op=True, allow_override=True)
    return mb.miltext_test_op(x=x)


add("custom_layer", OPSETS, custom_layer, x="fp32[2,3]")

# Constants of every type that coremltools writes, and compressed weights.


def constants(opset: str, mb: Any, x: Any) -> list[Any]:
    made = [mb.const(val=weight(3)), mb.const(val=weight(40, 2)), mb.const(val=weight(3, 4, dtype=np.float16))]
    made += [
        mb.const(val=value)
        for value in (True, 7, 0.25, 'text " \\ \n \u00e9', np.float16(2), np.zeros((0, 3), np.float32))
    ]
    made += [mb.const(val=integers(2, 2, dtype=np.int32)), mb.const(val=np.array([True, False]))]
    made += [mb.const(val=np.array([np.inf, -np.inf, -0.0, 1e-42, np.nan], np.float32))]
    if opset in FROM17:
        made += [mb.const(val=integers(3, 4, dtype=dtype)) for dtype in (np.int8, np.uint8, np.int16, np.uint16)]
    return [mb.identity(x=x), *made]


for opset in OPSETS:
    add("constants", (opset,), partial(constants, opset), x="fp32[1]")


def quantization(mb: Any, x: Any, q: Any) -> list[Any]:
    made = [mb.quantize(input=x, scale=0.5, output_dtype="int8"), mb.dequantize(input=q, scale=0.5)]
    made += [
        mb.quantize(
            input=x, scale=np.abs(weight(3)), zero_point=integers(3, dtype=np.uint8), axis=1, output_dtype="uint8"
        )
    ]
    return [
        *made,
        mb.dequantize(input=q, scale=np.array([1, 2], np.float16), zero_point=np.array([0, 1], np.int8), axis=0),
    ]


def constexpr16(mb: Any, x: Any) -> list[Any]:
    shift = {"scale": np.float32(0.5), "zero_point": np.int8(1), "axis": 0}
    made = [mb.constexpr_affine_dequantize(quantized_data=integers(4, 5), **shift)]
    made += [
        mb.constexpr_lut_to_dense(
            indices=integers(5, dtype=np.uint8), lut=weight(16), shape=np.array([2, 5], np.uint32)
        )
    ]
    made += [mb.constexpr_cast(source_val=weight(2, 3, dtype=np.float16), output_dtype="fp32")]
    mask = np.packbits(np.array([1, 0, 1, 0, 0, 1], np.uint8), bitorder="little")
    made += [mb.constexpr_sparse_to_dense(nonzero_data=weight(3), mask=mask, shape=np.array([2, 3], np.uint32))]
    return [mb.add(x=x, y=made[0]), *made[1:]]


def narrow(values: Any, name: str) -> Any:
    """An array of one of the integer types that numpy has no name for."""
    from coremltools.converters.mil.mil import types

    return values.astype(types.nptype_from_builtin(types.string_to_builtin(name)))


def constexpr18(mb: Any, x: Any) -> list[Any]:
    made = [
        mb.constexpr_blockwise_shift_scale(data=narrow(integers(4, 8), kind), scale=np.abs(weight(4, 2)) + 0.5)
        for kind in ("int4", "uint4", "int8")
    ]
    made += [
        mb.constexpr_blockwise_shift_scale(
            data=integers(4, 8), scale=np.ones((1, 8), np.float16), offset=integers(1, 8)
        )
    ]
    for kind, bits in (("uint1", 1), ("uint2", 2), ("uint3", 3), ("uint4", 4), ("uint6", 6), ("uint8", 8)):
        indices = narrow(integers(4, 6, high=2**bits), kind)
        made += [mb.constexpr_lut_to_dense(indices=indices, lut=weight(2, 1, 2**bits, 1))]
    vectors = {"indices": narrow(integers(4, 3, high=4), "uint2"), "lut": weight(1, 1, 4, 2)}
    made += [mb.constexpr_lut_to_dense(vector_axis=1, **vectors), mb.constexpr_lut_to_dense(vector_axis=0, **vectors)]
    mask = np.array([[1, 0, 1], [0, 1, 1]])
    made += [mb.constexpr_sparse_to_dense(nonzero_data=weight(4), mask=narrow(mask, "uint1"))]
    made += [mb.constexpr_cast(source_val=weight(2, 3, dtype=np.float16), output_dtype="fp32")]
    made += mb.constexpr_lut_to_sparse(
        indices_mask=narrow(mask, "uint1"),
        indices_nonzero_data=narrow(integers(4, high=4), "uint2"),
        lut=weight(1, 1, 4, 1),
    )
    sparse = mb.constexpr_sparse_blockwise_shift_scale(
        data_mask=narrow(mask, "uint1"), nonzero_data=integers(4), scale=np.ones((2, 1), np.float16)
    )
    return [mb.identity(x=x), *made, *sparse, mb.constexpr_sparse_to_dense(mask=sparse[0], nonzero_data=sparse[1])]


add("quantization", FROM17, quantization, x="fp32[2,3]", q="int8[2,b]")
add("constexpr16", FROM16[:2], constexpr16, x="fp32[4,5]")
add("constexpr18", (IOS18,), constexpr18, x="fp32[1]")

# Small networks through all the passes of `coremltools.convert`, plain and compressed.


def network(mb: Any, x: Any) -> Any:
    made = mb.conv(x=x, weight=weight(16, 3, 3, 3), bias=weight(16), pad_type="same", strides=[2, 2])
    made = mb.relu(
        x=mb.batch_norm(x=made, mean=weight(16), variance=np.ones(16, np.float32), gamma=weight(16), beta=weight(16))
    )
    made = mb.max_pool(x=mb.add(x=made, y=mb.sigmoid(x=made)), kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid")
    made = mb.linear(x=mb.reshape(x=made, shape=[1, -1]), weight=weight(32, 256), bias=weight(32))
    return mb.softmax(x=made, axis=-1, name="probabilities")


def transformer(mb: Any, x: Any) -> Any:
    heads = []
    for part in range(3):
        made = mb.linear(x=x, weight=weight(32, 32) * (part + 1), bias=weight(32))
        heads.append(mb.transpose(x=mb.reshape(x=made, shape=[1, -1, 4, 8]), perm=[0, 2, 1, 3]))
    scores = mb.softmax(x=mb.mul(x=mb.matmul(x=heads[0], y=heads[1], transpose_y=True), y=0.35), axis=-1)
    joined = mb.reshape(x=mb.transpose(x=mb.matmul(x=scores, y=heads[2]), perm=[0, 2, 1, 3]), shape=[1, -1, 32])
    normal = mb.layer_norm(x=mb.add(x=joined, y=x), axes=[-1], gamma=weight(32), beta=weight(32), epsilon=1e-5)
    return mb.gelu(x=mb.linear(x=normal, weight=weight(64, 32)), mode="EXACT", name="output")


def recurrent(mb: Any, x: Any, h: Any, c: Any) -> Any:
    return mb.lstm(
        x=x, initial_h=h, initial_c=c, weight_ih=weight(64, 8), weight_hh=weight(64, 16), output_sequence=True
    )


def spectrum(mb: Any, x: Any) -> list[Any]:
    made = mb.complex_fft(data=mb.complex(real_data=x, imag_data=x))
    return [mb.complex_real(data=made), mb.complex_imag(data=made)]


def palettized(bits: int, granularity: str, model: Any) -> Any:
    from coremltools.optimize.coreml import OpPalettizerConfig, OptimizationConfig, palettize_weights

    sizes = {"group_size": 8} if granularity == GROUPED else {}
    config = OpPalettizerConfig(mode="uniform", nbits=bits, granularity=granularity, weight_threshold=100, **sizes)
    return palettize_weights(model, OptimizationConfig(config))


def quantized(dtype: str, granularity: str, model: Any) -> Any:
    from coremltools.optimize.coreml import OpLinearQuantizerConfig, OptimizationConfig, linear_quantize_weights

    sizes = {"block_size": 16} if granularity == "per_block" else {}
    config = OpLinearQuantizerConfig(dtype=dtype, granularity=granularity, weight_threshold=100, **sizes)
    return linear_quantize_weights(model, OptimizationConfig(config))


def pruned(model: Any) -> Any:
    from coremltools.optimize.coreml import OpMagnitudePrunerConfig, OptimizationConfig, prune_weights

    return prune_weights(model, OptimizationConfig(OpMagnitudePrunerConfig(target_sparsity=0.6, weight_threshold=100)))


def classified(mb: Any, x: Any) -> Any:
    return mb.softmax(x=mb.linear(x=x, weight=weight(3, 20)), axis=-1)


def pruned_and(compress: Callable[[Any], Any], model: Any) -> Any:
    return compress(pruned(model))


GROUPED = "per_grouped_channel"
IMAGE, SEQUENCE = {"x": "fp32[1,3,16,16]"}, {"x": "fp32[1,s,32]"}
STATES = {"s": "state fp16[2,3]", "x": "fp16[2,3]"}
LSTM = {"x": "fp32[s,1,8]", "h": "fp32[1,16]", "c": "fp32[1,16]"}
for opset in OPSETS:
    add_converted("network", opset, network, IMAGE)
    add_converted("transformer", opset, transformer, SEQUENCE)
    add_converted("recurrent", opset, recurrent, LSTM)
    add_converted("spectrum", opset, spectrum, {"x": "fp32[2,8]"})
    add_converted("while_loop-converted", opset, while_loop, {"x": "fp32[2,3]", "n": "int32[]"})
    add_converted("classified", opset, classified, {"x": "fp32[1,20]"}, labels=["a", "b", "c"])
for opset in FROM16:
    add_converted("network-palettized", opset, network, IMAGE, partial(palettized, 4, "per_tensor"))
    add_converted("network-quantized", opset, network, IMAGE, partial(quantized, "int8", "per_channel"))
    add_converted("network-pruned", opset, network, IMAGE, pruned)
    add_converted("transformer-quantized", opset, transformer, SEQUENCE, partial(quantized, "uint8", "per_tensor"))
add_converted("network-palettized-pruned", IOS18, network, IMAGE, partial(pruned_and, partial(palettized, 2, GROUPED)))
add_converted(
    "network-quantized-pruned", IOS18, network, IMAGE, partial(pruned_and, partial(quantized, "int8", "per_channel"))
)
add_converted("transformer-int4", IOS18, transformer, SEQUENCE, partial(quantized, "int4", "per_block"))
add_converted("transformer-grouped", IOS18, transformer, SEQUENCE, partial(palettized, 6, GROUPED))
add_converted("recurrent-palettized", IOS17, recurrent, LSTM, partial(palettized, 8, "per_tensor"))
for name, body, inputs in (
    ("network", network, IMAGE),
    ("transformer", transformer, SEQUENCE),
    ("states", states, STATES),
):
    add_converted(name, IOS26, body, inputs)
add_converted("transformer-int4", IOS26, transformer, SEQUENCE, partial(quantized, "int4", "per_block"))
