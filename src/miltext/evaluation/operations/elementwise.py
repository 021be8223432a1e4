"""Rules for ops that work element by element.

Floats follow IEEE 754: NaN is propagated. Integers are computed as integers and wrap around (coremltools computes
constants with numpy's operators: iOS15/elementwise_unary.py and elementwise_binary.py).
"""

from __future__ import annotations

import numpy as np

from miltext.evaluation import pointwise
from miltext.evaluation.pointwise import bounded, in_pieces
from miltext.evaluation.rules import Array, Held, Made, UnfitValues, Value, rule
from miltext.evaluation.values import rounded
from miltext.schema.types import TensorType

# ---- of two tensors


@rule("add")
def add(x: Array, y: Array) -> Array:
    """Return x + y."""
    return x + y


@rule("sub")
def sub(x: Array, y: Array) -> Array:
    """Return x - y."""
    return x - y


@rule("mul")
def mul(x: Array, y: Array) -> Array:
    """Return x * y."""
    return x * y


@rule("real_div")
def real_div(x: Array, y: Array) -> Array:
    """Return x / y; for integers, the quotient without its fraction."""
    if x.dtype.kind == "f":
        return x / y
    _refuse_zero(y)
    return x / y  # in float64, which holds each quotient of int32; the machine leaves out its fraction


@rule("floor_div")
def floor_div(x: Array, y: Array) -> Array:
    """Return floor(x / y)."""
    _refuse_zero(y)
    return np.floor_divide(x, y)


@rule("mod")
def mod(x: Array, y: Array) -> Array:
    """Return x - floor(x / y) * y, which has the sign of y."""
    _refuse_zero(y)
    return np.mod(x, y)


def _refuse_zero(divisor: Array) -> None:
    """Raise UnfitValues for integers that divide by 0."""
    if divisor.dtype.kind != "f" and not np.all(divisor):
        raise UnfitValues("integer division by zero: `y` contains a 0")


@rule("pow")
def power(x: Array, y: Array) -> Array:
    """Return x to the power of y; NaN for negative x where y is not whole."""
    if y.dtype.kind != "f" and np.any(y < 0):
        raise UnfitValues("integer power with a negative exponent: `y` contains a negative number")
    return np.power(x, y)


@rule("maximum")
def maximum(x: Array, y: Array) -> Array:
    """Return the greater of x and y; NaN if either is NaN."""
    return np.maximum(x, y)


@rule("minimum")
def minimum(x: Array, y: Array) -> Array:
    """Return the lesser of x and y; NaN if either is NaN."""
    return np.minimum(x, y)


# ---- comparisons


@rule("equal")
def equal(x: Array, y: Array) -> Array:
    """Return whether x = y."""
    return np.equal(x, y)


@rule("not_equal")
def not_equal(x: Array, y: Array) -> Array:
    """Return whether x and y differ; NaN differs from every number."""
    return np.not_equal(x, y)


@rule("less")
def less(x: Array, y: Array) -> Array:
    """Return whether x < y."""
    return np.less(x, y)


@rule("less_equal")
def less_equal(x: Array, y: Array) -> Array:
    """Return whether x <= y."""
    return np.less_equal(x, y)


@rule("greater")
def greater(x: Array, y: Array) -> Array:
    """Return whether x > y."""
    return np.greater(x, y)


@rule("greater_equal")
def greater_equal(x: Array, y: Array) -> Array:
    """Return whether x >= y."""
    return np.greater_equal(x, y)


# ---- bools


@rule("logical_and")
def logical_and(x: Held, y: Held) -> Held:
    """Return whether x and y are both true."""
    return np.logical_and(x, y)


@rule("logical_or")
def logical_or(x: Held, y: Held) -> Held:
    """Return whether x or y is true, or both."""
    return np.logical_or(x, y)


@rule("logical_xor")
def logical_xor(x: Held, y: Held) -> Held:
    """Return whether either x or y is true, but not both."""
    return np.logical_xor(x, y)


@rule("logical_not")
def logical_not(x: Held) -> Held:
    """Return whether x is not true."""
    return np.logical_not(x)


@rule("select")
def select(cond: Held, a: Held, b: Held) -> Held:
    """Return a where `cond` is true, b elsewhere."""
    return np.where(cond, a, b)


# ---- values left as they are, or nearly


@rule("identity")
def identity(x: Value) -> Value:
    """Return x, of any type."""
    return x


@rule("cast")
def cast(x: Held) -> Held:
    """Return x, which is rounded to the data type of the output as all values are (`values.rounded`)."""
    return x


@rule("clip")
def clip(x: Held, alpha: float, beta: float) -> Held:
    """Return min(max(x, alpha), beta)."""
    return bounded(x, alpha, beta)


@rule("threshold")
def threshold(x: Array, alpha: float) -> Array:
    """Return max(x, alpha)."""
    return np.maximum(x, alpha)


@rule("abs")
def magnitude(x: Held) -> Held:
    """Return |x|."""
    return np.abs(x)


@rule("sign")
def sign(x: Held) -> Held:
    """Return -1, 0 or 1, as x is below 0, 0, or above; NaN of NaN."""
    return np.sign(x)


@rule("ceil")
def ceil(x: Array) -> Array:
    """Return the least whole number not below x."""
    return np.ceil(x)


@rule("floor")
def floor(x: Array) -> Array:
    """Return the greatest whole number not above x."""
    return np.floor(x)


@rule("round")
def nearest(x: Array) -> Array:
    """Return the whole number nearest to x; of two, the even one (0.5 gives 0)."""
    return np.rint(x)


# ---- powers, roots and logarithms


@rule("square")
def square(x: Array) -> Array:
    """Return x²."""
    return np.square(x)


@rule("sqrt")
def sqrt(x: Array) -> Array:
    """Return the square root of x."""
    return np.sqrt(x)


@rule("rsqrt")
def rsqrt(x: Array, epsilon: float | None, made: Made) -> Array:
    """Return 1 / sqrt(x + epsilon), by default 1e-12."""
    return np.reciprocal(np.sqrt(x + _small(epsilon, 1e-12, made)))


@rule("inverse")
def inverse(x: Array, epsilon: float | None, made: Made) -> Array:
    """Return 1 / (x + epsilon), by default 1e-4."""
    return np.reciprocal(x + _small(epsilon, 1e-4, made))


@rule("log")
def log(x: Array, epsilon: float | None, made: Made) -> Array:
    """Return the natural logarithm of x + epsilon, by default 1e-45."""
    return np.log(x + _small(epsilon, 1e-45, made))


def _small(epsilon: float | None, usual: float, made: Made) -> float:
    """Return the number added to x: by default a number of its data type (1e-45 and 1e-12 are 0 in fp16)."""
    stated = made[0]
    if epsilon is not None or not isinstance(stated, TensorType):
        return usual if epsilon is None else epsilon
    return float(rounded(np.asarray(usual), stated.dtype))


@rule("exp")
def exp(x: Array) -> Array:
    """Return e to the power of x."""
    return np.exp(x)


@rule("exp2")
def exp2(x: Array) -> Array:
    """Return 2 to the power of x; of integers, 0 below the power of 0."""
    return np.exp2(x) if x.dtype.kind == "f" else np.left_shift(x.dtype.type(1), x)


@rule("erf")
@in_pieces
def erf(x: Array) -> Array:
    """Return the error function of x."""
    return pointwise.erf(x)


# ---- angles


@rule("sin")
def sin(x: Array) -> Array:
    """Return the sine of x."""
    return np.sin(x)


@rule("cos")
def cos(x: Array) -> Array:
    """Return the cosine of x."""
    return np.cos(x)


@rule("tan")
def tan(x: Array) -> Array:
    """Return the tangent of x."""
    return np.tan(x)


@rule("asin")
def asin(x: Array) -> Array:
    """Return the angle whose sine is x."""
    return np.arcsin(x)


@rule("acos")
def acos(x: Array) -> Array:
    """Return the angle whose cosine is x."""
    return np.arccos(x)


@rule("atan")
def atan(x: Array) -> Array:
    """Return the angle whose tangent is x."""
    return np.arctan(x)


@rule("sinh")
def sinh(x: Array) -> Array:
    """Return (e^x - e^-x) / 2."""
    return np.sinh(x)


@rule("cosh")
def cosh(x: Array) -> Array:
    """Return (e^x + e^-x) / 2."""
    return np.cosh(x)


@rule("tanh")
def tanh(x: Array) -> Array:
    """Return sinh(x) / cosh(x)."""
    return np.tanh(x)


@rule("atanh")
def atanh(x: Array) -> Array:
    """Return log((1 + x) / (1 - x)) / 2."""
    return np.arctanh(x)
