"""What `infer --names --consts --defaults` writes, held against what coremltools' builder makes of the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from support.coremltools_programs import exported

import miltext
from miltext.checking.defaults import defaults
from miltext.checking.inference.operands import Arguments, Operand
from miltext.schema.operations import signature
from miltext.schema.proto import Program
from miltext.schema.types import TensorType

np = pytest.importorskip("numpy")
pytest.importorskip("coremltools")

X = "fp32[2,4,6,6]"

Body = Callable[..., Any]


CONV_WEIGHT = "w = const()[val = tensor<fp32, [1, 4, 1, 1]>([[[[1]], [[1]], [[1]], [[1]]]])];"


def ones(*shape: int) -> Any:
    return np.ones(shape, dtype=np.float32)


def rows() -> dict[str, tuple[str, Body]]:
    """Statements of a draft, and the same for the builder; the last value is returned."""
    return {
        "conv": (
            f"{CONV_WEIGHT} y = conv(x, w);",
            lambda mb, x: mb.conv(x=x, weight=mb.const(val=ones(1, 4, 1, 1), name="w"), name="y"),
        ),
        "conv, some given": (
            f'{CONV_WEIGHT} y = conv(x, w, pad_type = "same", groups = 1);',
            lambda mb, x: mb.conv(
                x=x, weight=mb.const(val=ones(1, 4, 1, 1), name="w"), pad_type="same", groups=1, name="y"
            ),
        ),
        "conv of one dimension": (
            "r = reshape(x, [2, 4, 36]); y = conv(r, tensor<fp32,[1,4,1]>([[[1], [1], [1], [1]]]), dilations = [2]);",
            lambda mb, x: mb.conv(
                x=mb.reshape(x=x, shape=[2, 4, 36], name="r"), weight=ones(1, 4, 1), dilations=[2], name="y"
            ),
        ),
        "conv_transpose": (
            "y = conv_transpose(x, tensor<fp32, [4, 1, 1, 1]>([[[[1]]], [[[1]]], [[[1]]], [[[1]]]]));",
            lambda mb, x: mb.conv_transpose(x=x, weight=ones(4, 1, 1, 1), name="y"),
        ),
        "linear": (
            "y = linear(x, tensor<fp32, [1, 6]>([[1, 1, 1, 1, 1, 1]]), tensor<fp32, [1]>([1]));",
            lambda mb, x: mb.linear(x=x, weight=ones(1, 6), bias=ones(1), name="y"),
        ),
        "matmul": ("y = matmul(x, x);", lambda mb, x: mb.matmul(x=x, y=x, name="y")),
        "matmul, one given": (
            "y = matmul(x, x, transpose_y = true);",
            lambda mb, x: mb.matmul(x=x, y=x, transpose_y=True, name="y"),
        ),
        "reduce_mean": (
            "y = reduce_mean(x, [1, 2]);",
            lambda mb, x: mb.reduce_mean(x=x, axes=[1, 2], name="y"),
        ),
        "reduce_sum of all": ("y = reduce_sum(x);", lambda mb, x: mb.reduce_sum(x=x, name="y")),
        "reduce_argmax": ("y = reduce_argmax(x);", lambda mb, x: mb.reduce_argmax(x=x, name="y")),
        "softmax": ("y = softmax(x);", lambda mb, x: mb.softmax(x=x, name="y")),
        "nested": (
            "y = softmax(relu(x), axis = 1);",
            lambda mb, x: mb.softmax(x=mb.relu(x=x, name="y_x"), axis=1, name="y"),
        ),
        "two literals": (
            "y = clip(x, 0.5, 6);",
            lambda mb, x: mb.clip(x=x, alpha=np.float32(0.5), beta=np.float32(6), name="y"),
        ),
        "a name for each": (
            "z = add(x, 0.5); y = mul(z, 2.0);",
            lambda mb, x: mb.mul(x=mb.add(x=x, y=np.float32(0.5), name="z"), y=np.float32(2), name="y"),
        ),
        "concat": ("y = concat((x, x), 1);", lambda mb, x: mb.concat(values=(x, x), axis=1, name="y")),
        "concat of a literal and a value": (
            "s = shape(x); y = concat((tensor<int32, [1]>([1]), s, tensor<int32, [1]>([1])), 0);",
            lambda mb, x: mb.concat(
                values=(np.array([1], np.int32), mb.shape(x=x, name="s"), np.array([1], np.int32)), axis=0, name="y"
            ),
        ),
        "split": (
            's_0, s_1 = split(x, num_splits = 2, axis = 1)[name = "s"]; y = relu(s_1);',
            lambda mb, x: mb.relu(x=mb.split(x=x, num_splits=2, axis=1, name="s")[1], name="y"),
        ),
        "slice_by_index": (
            "y = slice_by_index(x, [0, 0, 0, 0], [1, 2, 3, 4], end_mask = [true, false, false, true]);",
            lambda mb, x: mb.slice_by_index(
                x=x, begin=[0, 0, 0, 0], end=[1, 2, 3, 4], end_mask=[True, False, False, True], name="y"
            ),
        ),
        "slice_by_size": (
            "y = slice_by_size(x, [0, 0, 0, 0], [1, 2, 3, 4]);",
            lambda mb, x: mb.slice_by_size(x=x, begin=[0, 0, 0, 0], size=[1, 2, 3, 4], name="y"),
        ),
        "layer_norm": ("y = layer_norm(x, [3]);", lambda mb, x: mb.layer_norm(x=x, axes=[3], name="y")),
        "batch_norm": (
            "m = const()[val = tensor<fp32, [4]>([1, 1, 1, 1])]; y = batch_norm(x, m, m);",
            lambda mb, x: mb.batch_norm(x=x, mean=(m := mb.const(val=ones(4), name="m")), variance=m, name="y"),
        ),
        "instance_norm": ("y = instance_norm(x);", lambda mb, x: mb.instance_norm(x=x, name="y")),
        "max_pool": (
            'y = max_pool(x, [2, 2], pad_type = "valid");',
            lambda mb, x: mb.max_pool(x=x, kernel_sizes=[2, 2], pad_type="valid", name="y"),
        ),
        "avg_pool, the same literal twice": (
            'y = avg_pool(x, [2, 2], strides = [2, 2], pad_type = "valid");',
            lambda mb, x: mb.avg_pool(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid", name="y"),
        ),
        "gather": (
            "y = gather(x, [0, 1], axis = 1);",
            lambda mb, x: mb.gather(x=x, indices=[0, 1], axis=1, name="y"),
        ),
        "rsqrt": ("y = rsqrt(x);", lambda mb, x: mb.rsqrt(x=x, name="y")),
        "log": ("y = log(x);", lambda mb, x: mb.log(x=x, name="y")),
        "inverse": ("y = inverse(x);", lambda mb, x: mb.inverse(x=x, name="y")),
        "gelu": ("y = gelu(x);", lambda mb, x: mb.gelu(x=x, name="y")),
        "fill": ("y = fill([2, 3]);", lambda mb, x: mb.fill(shape=[2, 3], name="y")),
        "pad": (
            "y = pad(x, [0, 0, 0, 0, 1, 1, 1, 1]);",
            lambda mb, x: mb.pad(x=x, pad=[0, 0, 0, 0, 1, 1, 1, 1], name="y"),
        ),
        "topk": (
            't_0, t_1 = topk(x, 2)[name = "t"]; y = relu(t_0);',
            lambda mb, x: mb.relu(x=mb.topk(x=x, k=2, name="t")[0], name="y"),
        ),
        "topk, no indices": (
            "y = topk(x, k = 2, return_indices = false);",
            lambda mb, x: mb.topk(x=x, k=2, return_indices=False, name="y"),
        ),
        "cumsum": ("y = cumsum(x, axis = 1);", lambda mb, x: mb.cumsum(x=x, axis=1, name="y")),
        "transpose": ("y = transpose(x, [0, 2, 1, 3]);", lambda mb, x: mb.transpose(x=x, perm=[0, 2, 1, 3], name="y")),
        "cast": ('y = cast(x, "fp16");', lambda mb, x: mb.cast(x=x, dtype="fp16", name="y")),
        "cond": (
            "p = less(reduce_sum(x), 1.0); y = cond(p) () { a = add(x, 0.5); } -> (a) () { b = softmax(x); } -> (b);",
            lambda mb, x: mb.cond(
                pred=mb.less(x=mb.reduce_sum(x=x, name="p_x"), y=np.float32(1), name="p"),
                _true_fn=lambda: mb.add(x=x, y=np.float32(0.5), name="a"),
                _false_fn=lambda: mb.softmax(x=x, name="b"),
                name="y",
            ),
        ),
    }


ROWS = rows()


@pytest.mark.parametrize("name", ROWS)
def test_the_result_is_the_message_of_the_builder(name: str) -> None:
    body, make = ROWS[name]
    theirs = Program.FromString(exported("ios18", {"main": (make, {"x": X})}))
    text = f"program(1.3) {{ func main<ios18>(tensor<fp32, [2, 4, 6, 6]> x) {{ {body} }} -> (y); }}"
    ours = miltext.parse(miltext.infer_draft(text, names=True, consts=True, defaults=True))
    assert miltext.to_text(ours) == miltext.to_text(theirs)
    assert ours == theirs
    assert miltext.parse(miltext.infer_draft(text)) != theirs


def test_linear_gets_no_bias() -> None:
    """The builder writes zeros, as many as the weight has rows; a bias that is left out has no default here."""
    theirs = exported("ios18", {"main": (lambda mb, x: mb.linear(x=x, weight=ones(1, 6), name="y"), {"x": X})})
    written = miltext.to_text(Program.FromString(theirs))
    assert "y_bias_0" in written
    body = "y = linear(x, tensor<fp32, [1, 6]>([[1, 1, 1, 1, 1, 1]]));"
    text = f"program(1.3) {{ func main<ios18>(tensor<fp32, [2, 4, 6, 6]> x) {{ {body} }} -> (y); }}"
    ours = miltext.infer_draft(text, names=True, consts=True, defaults=True)
    without = [line for line in written.splitlines() if " y_bias_0 = " not in line]
    expected = [line.replace("bias = y_bias_0, ", "") for line in without]
    assert miltext.to_text(miltext.parse(ours)).splitlines() == expected


# ---- defaults, operation by operation

NO_DEFAULT = {("linear", "bias"), ("crop_resize", "box_indices")}
"""What coremltools makes as long as a weight or a batch, and the table of operations calls left out."""


def registered() -> list[tuple[str, str, Any]]:
    registry = pytest.importorskip("coremltools.converters.mil.mil.ops.registry").SSAOpRegistry.core_ops
    found = [(name, f"ios{target.name[3:]}", made) for name in registry for target, made in registry[name].items()]
    return [each for each in found if each[1] >= "ios15" and signature(each[0], each[1])]


def theirs(made: Any) -> dict[str, Any]:
    """What an operation's class says of its defaults, if all that it is given is of shape [2, 3, 4, 5]."""
    from coremltools.converters.mil.mil import types

    operation = made.__new__(made)
    for name in made.input_spec.input_types:
        given = SimpleNamespace(rank=4, shape=(2, 3, 4, 5), dtype=types.fp32, val=True)
        object.__setattr__(operation, name, given)
    return {name: value for name, value in operation.default_inputs().items() if value is not None}


def test_defaults_match_coremltools_in_their_order() -> None:
    operations = registered()
    assert len(operations) > 400
    for name, opset, made in operations:
        known = signature(name, opset)
        assert known is not None
        x = Operand(TensorType("fp32", (2, 3, 4, 5)))
        given = {each.name: [x] for each in known.parameters.values() if each.required}
        ours = defaults(Arguments(name, given, opset), "1.3")
        stated = {key: value for key, value in theirs(made).items() if (name, key) not in NO_DEFAULT}
        assert [*ours] == [*stated], (name, opset)
        for key, (_, value) in ours.items():
            assert value[value.index("(") + 1 : -1] == json.dumps(plain(stated[key])), (name, opset, key)


def plain(value: Any) -> Any:
    """A default as JSON has it; numpy's float32 as the number that it was written as."""
    if isinstance(value, range):
        return [*value]
    return float(str(value)) if isinstance(value, np.floating) else value
