"""Operations that work element by element, held against torch in float64 and Python's own integers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.one_operation import applied, taken

from miltext.evaluation.failures import OperationFailure

Array = npt.NDArray[Any]

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 6e-8, -6e-8, 100.0, -100.0, 3e4]
FLOATS = [(np.float32, "float32"), (np.float16, "float32"), (np.float16, "native")]
NEAR = {(np.float32, "float32"): 2e-6, (np.float16, "float32"): 5e-4, (np.float16, "native"): 4e-3}
"""How far from the true number results may be, relative to it: fp16 is rounded once, or at each step."""

SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (5,), (2, 3), (2, 0, 3), (1, 2, 1, 3, 2)]


def numbers(dtype: npt.DTypeLike, least: float = -8, most: float = 8) -> Array:
    """Floats within limits, and special ones."""
    spread = np.linspace(least, most, 401)
    return np.concatenate([spread, SPECIAL, spread / 1000, np.geomspace(1e-7, 1, 50)]).astype(dtype)


def exactly(torch_name: str) -> Callable[..., Array]:
    """The function of torch, in float64."""
    torch = pytest.importorskip("torch")

    def computed(*arrays: Array) -> Array:
        found = getattr(torch, torch_name)(*[torch.from_numpy(np.asarray(each, np.float64)) for each in arrays])
        result: Array = found.numpy()
        return result

    return computed


def assert_near(made: Array, expected: Array, dtype: Any, compute: str) -> None:
    assert made.dtype == dtype
    tolerance = NEAR[dtype, compute]
    smallest = float(np.finfo(dtype).tiny) if compute == "float32" else 1e-3
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(made, expected.astype(dtype), rtol=tolerance, atol=smallest)


ROUNDED = ["ceil", "floor", "round", "abs", "square", "sqrt"]
CURVES = ["exp", "exp2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "atanh", "erf"]


@pytest.mark.parametrize(("dtype", "compute"), FLOATS)
@pytest.mark.parametrize("name", ROUNDED + CURVES)
def test_a_function_of_one_number(name: str, dtype: Any, compute: str) -> None:
    x = numbers(dtype)
    [made] = applied(f"{name}(x)", {"x": x}, compute=compute)
    assert_near(made, exactly(name)(x), dtype, compute)


@pytest.mark.parametrize("name", ["ceil", "floor", "round", "abs", "sign", "logical_not"])
@pytest.mark.parametrize("shape", SHAPES)
def test_any_shape_is_kept(name: str, shape: tuple[int, ...]) -> None:
    for dtype in taken(name):
        x = np.full(shape, 2, dtype)
        [made] = applied(f"{name}(x)", {"x": x})
        assert (made.shape, made.dtype) == (shape, dtype)


@pytest.mark.parametrize(("dtype", "compute"), FLOATS)
def test_signs(dtype: Any, compute: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, -3], dtype)
    np.testing.assert_array_equal(applied("sign(x)", {"x": x}, compute=compute)[0], [np.nan, 1, -1, 0, 0, 1, -1])


def test_halves_are_rounded_to_the_even_number() -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997], np.float32)
    assert applied("round(x)", {"x": x})[0].tolist() == [-2, -2, -0.0, 0, 2, 2, 0]


@pytest.mark.parametrize(("dtype", "compute"), FLOATS)
@pytest.mark.parametrize(
    ("name", "usual", "function"),
    [
        ("log", 1e-45, math.log),
        ("rsqrt", 1e-12, lambda x: 1 / math.sqrt(x)),
        ("inverse", 1e-4, lambda x: 1 / x),
    ],
)
def test_epsilon_is_added(
    name: str, usual: float, function: Callable[[float], float], dtype: Any, compute: str
) -> None:
    x = np.array([0.01, 0.5, 1, 2, 1000], dtype)
    for call, added in (("", usual), (", epsilon = 0.25", 0.25), (", epsilon = 0.0", 0.0)):
        expected = np.array([function(value + float(dtype(added))) for value in x.tolist()])
        assert_near(applied(f"{name}(x{call})", {"x": x}, compute=compute)[0], expected, dtype, compute)


@pytest.mark.parametrize(("dtype", "at_zero"), [(np.float32, [-103.27893, 1e6]), (np.float16, [-np.inf, np.inf])])
@pytest.mark.parametrize("compute", ["float32", "native"])
def test_the_usual_little_is_of_the_type_of_x(dtype: Any, at_zero: list[float], compute: str) -> None:
    x = np.zeros((), dtype)
    made = [applied(f"{name}(x)", {"x": x}, compute=compute)[0] for name in ("log", "rsqrt")]
    np.testing.assert_allclose(made, at_zero, rtol=1e-6)


def test_the_little_may_be_of_another_type() -> None:
    x = np.array([0.75], np.float16)
    text = "log(x, epsilon = fp32(0.25))"
    assert applied(text, {"x": x})[0].tolist() == applied(text, {"x": x}, compute="native")[0].tolist() == [0]


def test_undefined_results_are_nan_or_infinite() -> None:
    x = np.array([-1, 0], np.float32)
    assert np.isnan(applied("sqrt(x)", {"x": x})[0][0])
    assert np.isnan(applied("log(x)", {"x": x})[0][0])
    assert applied("inverse(x, epsilon = 0.0)", {"x": x})[0].tolist() == [-1, np.inf]


# ---- two tensors

PAIRS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((), (3,)),
    ((3,), (3,)),
    ((2, 1), (1, 3)),
    ((4,), (2, 3, 1)),
    ((0, 3), (1, 3)),
    ((2, 1, 2, 1, 2), (2, 1, 1)),
]
ARITHMETIC = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "real_div": "div",
    "floor_div": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "maximum": "maximum",
    "minimum": "minimum",
}
COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


@pytest.mark.parametrize(("dtype", "compute"), FLOATS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_floats(name: str, dtype: Any, compute: str) -> None:
    x = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 7.25, -7.25, np.inf, -np.inf, np.nan, 300], dtype)
    [made] = applied(f"{name}(x, y)", {"x": x, "y": x[:, None]}, compute=compute)
    expected = exactly(ARITHMETIC[name])(x, x[:, None])
    assert_near(made, expected, dtype, compute)
    # which 0 is the greater is left open, and torch's remainder 0 has the sign of x
    zeros = (expected == 0) & (name not in ("maximum", "minimum", "mod"))
    assert (np.signbit(made) == np.signbit(expected))[zeros].all()


def test_a_remainder_has_the_sign_of_the_divisor() -> None:
    x, y = np.array([[7.5, -7.5, 5, -5, 0]], np.float32), np.array([[2.5], [-2.5], [3], [-3]], np.float32)
    [made] = applied("mod(x, y)", {"x": x, "y": y})
    expected = [[each % by for each in x[0].tolist()] for by in y[:, 0].tolist()]
    assert str(made.tolist()) == str(expected)


@pytest.mark.parametrize(("x_shape", "y_shape"), PAIRS)
@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
def test_shapes_are_broadcast(name: str, x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> None:
    for dtype in taken(name):
        x, y = np.full(x_shape, 3, dtype), np.full(y_shape, 2, dtype)
        [made] = applied(f"{name}(x, y)", {"x": x, "y": y})
        assert made.shape == np.broadcast_shapes(x_shape, y_shape)
        assert made.dtype == (np.bool_ if name in COMPARISONS else dtype)


def wrapped(value: int) -> int:
    """An integer as int32 has it."""
    return (value + 2**31) % 2**32 - 2**31


WHOLE: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "real_div": lambda x, y: abs(x) // abs(y) * (1 if x * y > 0 else -1),
    "floor_div": operator.floordiv,
    "mod": operator.mod,
    "pow": lambda x, y: x ** abs(y),
    "maximum": max,
    "minimum": min,
}


@pytest.mark.parametrize("name", WHOLE)
def test_arithmetic_of_integers(name: str) -> None:
    x = [0, 1, -1, 2, 7, -7, 40, -40, 2**31 - 1, -(2**31) + 1, -(2**31)]
    y = [1, 2, -2, 3, -3, 31, 65537] if name != "pow" else [0, 1, 2, 3, 31]
    [made] = applied(f"{name}(x, y)", {"x": np.array(x, np.int32), "y": np.array(y, np.int32)[:, None]})
    assert made.tolist() == [[wrapped(WHOLE[name](each, by)) for each in x] for by in y]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["real_div", "floor_div", "mod"])
def test_integers_are_not_divided_by_zero(name: str, shape: tuple[int, ...]) -> None:
    x, y = np.ones(shape, np.int32), np.zeros(shape, np.int32)
    if not y.size:
        assert applied(f"{name}(x, y)", {"x": x, "y": y})[0].shape == shape
        return
    with pytest.raises(OperationFailure, match="integer division by zero: `y` contains a 0"):
        applied(f"{name}(x, y)", {"x": x, "y": y})


def test_integers_are_not_raised_to_negative_powers() -> None:
    with pytest.raises(OperationFailure, match="integer power with a negative exponent"):
        applied("pow(x, y)", {"x": np.array([2, 1], np.int32), "y": np.array([1, -1], np.int32)})


@pytest.mark.parametrize(("dtype", "compute"), [*FLOATS, (np.int32, "float32")])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, dtype: Any, compute: str) -> None:
    values = [0, 1, -1, 2049, 2048] if dtype == np.int32 else [0.0, -0.0, 1, np.inf, -np.inf, np.nan, 0.3333, 2048]
    x = np.array(values, dtype)
    [made] = applied(f"{name}(x, y)", {"x": x, "y": x[:, None]}, compute=compute)
    assert made.tolist() == [[COMPARISONS[name](each, by) for each in x.tolist()] for by in x.tolist()]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("logical_and", [0, 0, 0, 1]), ("logical_or", [0, 1, 1, 1]), ("logical_xor", [0, 1, 1, 0])],
)
def test_logic(name: str, expected: list[int]) -> None:
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert applied(f"{name}(x, y)", {"x": x, "y": y})[0].tolist() == [bool(each) for each in expected]


def test_not() -> None:
    assert applied("logical_not(x)", {"x": np.array([True, False])})[0].tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("abs", [-3, 0, 3, -(2**31)], [3, 0, 3, -(2**31)]),
        ("sign", [-3, 0, 3], [-1, 0, 1]),
        ("square", [-3, 46341, 65536], [9, wrapped(46341**2), 0]),
        ("exp2", [0, 1, 30, 31, 32, 40, -1], [1, 2, 2**30, -(2**31), 0, 0, 0]),
    ],
)
def test_integers_wrap_around_here_too(name: str, x: list[int], expected: list[int]) -> None:
    made = applied(f"{name}(x)", {"x": np.array(x, np.int32)})[0]
    assert (made.dtype, made.tolist()) == (np.int32, expected)
    assert applied(f"{name}(x)", {"x": np.array(x[0], np.int32)})[0].tolist() == expected[0]


# ---- limits and choices


@pytest.mark.parametrize(("dtype", "compute"), FLOATS)
def test_limits(dtype: Any, compute: str) -> None:
    x = np.array([-np.inf, -2, -0.5, 0.25, 1.5, np.inf, np.nan], dtype)
    [clipped] = applied("clip(x, -0.5, 1.0)", {"x": x}, compute=compute)
    np.testing.assert_array_equal(clipped, np.array([-0.5, -0.5, -0.5, 0.25, 1, 1, np.nan], dtype))
    [raised] = applied("threshold(x, alpha = 0.1)", {"x": x}, compute=compute)
    np.testing.assert_array_equal(raised, np.array([0.1, 0.1, 0.1, 0.25, 1.5, np.inf, np.nan], dtype))
    assert clipped.dtype == raised.dtype == dtype
    for call in ("clip(x, -0.5, 1.0)", "threshold(x, alpha = 0.1)"):
        assert applied(call, {"x": np.float32(2).reshape(())}, compute=compute)[0].shape == ()


def test_limits_that_are_one_before_ios17() -> None:
    assert applied("clip(x, 1.0, 1.0)", {"x": np.array([0, 2], np.float32)}, opset="ios16")[0].tolist() == [1, 1]


def test_a_threshold_of_integers() -> None:
    x = np.array([-3, 2**31 - 1, 16777217], np.int32)
    assert applied("threshold(x, alpha = 2)", {"x": x})[0].tolist() == [2, 2**31 - 1, 16777217]


@pytest.mark.parametrize(
    ("cond", "a", "b"),
    [
        ((), (2, 3), (2, 3)),
        ((2, 3), (), (2, 3)),
        ((3,), (2, 1), (2, 3)),
        ((2, 1), (1, 3), (2, 1)),
        ((), (), ()),
        ((0,), (0,), ()),
    ],
)
def test_select_broadcasts(cond: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> None:
    shape = np.broadcast_shapes(cond, a, b)
    for dtype in taken("select", parameter="a"):
        where = np.arange(math.prod(cond)).reshape(cond) % 2 == 0
        given = {"cond": where, "a": np.ones(a, dtype), "b": np.zeros(b, dtype)}
        [made] = applied("select(cond, a, b)", given)
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, np.broadcast_to(where, shape))


def test_select_takes_each_number_as_it_is() -> None:
    a = np.array([np.nan, -0.0, 65504, 6e-8], np.float16)
    [made] = applied("select(cond, a, b)", {"cond": np.array([1, 1, 0, 1], bool), "a": a, "b": a[::-1].copy()})
    assert made.tobytes() == np.array([a[0], a[1], a[1], a[3]]).tobytes()


def test_a_larger_condition_makes_a_larger_result() -> None:
    given = {"cond": np.array([[True], [False]]), "a": np.ones(1, np.float32), "b": np.zeros(1, np.float32)}
    [made] = applied("select(cond, a, b)", given, {"made": "tensor<fp32, [2, 1]>"})
    assert made.tolist() == [[1], [0]]


@pytest.mark.parametrize("shape", SHAPES)
def test_identity(shape: tuple[int, ...]) -> None:
    for dtype in (np.float16, np.float32, np.int32, np.bool_):
        x = np.ones(shape, dtype)
        [made] = applied("identity(x)", {"x": x})
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, x)


# ---- casts

CAST = {"fp16": np.float16, "fp32": np.float32, "bool": np.bool_, "int32": np.int32}
CAST |= {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16}


def cast(value: Any, dtype: npt.DTypeLike) -> Any:
    """A number as a data type has it, by Python's own means."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return value != 0
    if kind == "f":
        with np.errstate(over="ignore"):
            return float(np.float64(value).astype(dtype))
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if isinstance(value, float):
        return 0 if math.isnan(value) else least if value < least else most if value > most else math.trunc(value)
    return (int(value) - least) % (most - least + 1) + least


@pytest.mark.parametrize("target", CAST)
@pytest.mark.parametrize("source", CAST)
def test_each_pair_of_types_is_cast(source: str, target: str) -> None:
    values = [0, 1, 2, 100, 127, 128, 200, 255, 256, 32767, 32768, 65504, 65535, 70000, 16777217, 2**31 - 1]
    signed = np.array([*values, *(-value for value in values)], np.int64)
    if CAST[source] in (np.float16, np.float32):
        fractions = [0.5, -0.5, 1.5, -1.9, 254.6, 1e-7, 1e-45, 3e9, -3e9, np.inf, -np.inf, np.nan, 3.4e38]
        with np.errstate(over="ignore"):
            x: Array = np.array([*signed, *fractions]).astype(CAST[source])
    else:
        x = signed.astype(CAST[source])
    [made] = applied(f'cast(x, "{target}")', {"x": x})
    assert made.dtype == CAST[target]
    np.testing.assert_array_equal(made, np.array([cast(value, CAST[target]) for value in x.tolist()], CAST[target]))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_cast_keeps_the_shape(shape: tuple[int, ...]) -> None:
    for target, dtype in CAST.items():
        [made] = applied(f'cast(x, "{target}")', {"x": np.ones(shape, np.float16)})
        assert (made.shape, made.dtype) == (shape, dtype)
