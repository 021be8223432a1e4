"""Measurements of the arithmetic of Apple's devices, each fact with its source, and the unknown facts.

docs/neural-engine.md is made of these rows. The study is 751K/Apple-Neural-Engine-Microarchitecture-Study-M6, on one M4
and one M6 with macOS 27.0.1; its files named here are in the folder `data/06_numerics`.
"""

from __future__ import annotations

from typing import NamedTuple

STUDY = "https://github.com/751K/Apple-Neural-Engine-Microarchitecture-Study-M6"
FORGE = "https://github.com/sbryngelson/ANEForge"
ISSUES = "https://github.com/apple/coremltools/issues"
SYSTEM = "macOS 27.0.1"

MEASURED, RECIPE, REPORTED = "measured", "recipe", "reported"
"""Degrees of certainty: bit for bit; a recipe that gives the published largest errors; a threshold in a report."""


class Fact(NamedTuple):
    """A rule of a device's arithmetic, for these operations, on these chips.

    `needs` is the number of cases that decide for the rule. An operation follows all rules of its row.
    """

    device: str
    operations: tuple[str, ...]
    rule: str
    chips: tuple[str, ...]
    certainty: str
    needs: str
    source: str


class Unmeasured(NamedTuple):
    """A fact that no measurement shows, and the assumption in its place."""

    operations: tuple[str, ...]
    what: str
    instead: str


PRODUCTS = ("conv", "conv_transpose", "linear", "matmul", "einsum")
"""The operations that multiply and accumulate."""

BOTH, M6 = ("M4", "M6"), ("M6",)

FACTS = (
    Fact(
        "ane", PRODUCTS, "the accumulator is fixed point: a sign, 15 whole and 16 fraction bits", BOTH, MEASURED,
        "287 of 544 cases", "numerics2_m4.txt, numerics2_m6.txt to numerics5_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS, "a sum of 32768 or more is infinite, with its sign: not saturated", BOTH, MEASURED,
        "40 of 544 cases", "numerics2_m4.txt, numerics2_m6.txt, numerics5_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS, "the range is checked after each product, and infinity stays", BOTH, MEASURED,
        "8 of 544 cases, in 4 programs", "numerics2_m4.txt, numerics2_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS, "a product is rounded to 2^-16, halves away from zero", BOTH, MEASURED,
        "54 of 544 cases", "numerics2_m4.txt, numerics5_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS,
        "a product is dropped if the exponents of its factors add up to -17 or less; a subnormal number has -14", M6,
        MEASURED, "50 of 544 cases", "numerics5_m6.txt, numerics6_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS, "a sum becomes fp16 by rounding halves away from zero; zero is never negative", BOTH, MEASURED,
        "12 of 544 cases", "numerics2_m4.txt, numerics2_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS, "a bias is the start of the sum, rounded as a product is; it may overflow", M6, MEASURED,
        "10 of 544 cases", "numerics5_m6.txt",
    ),
    Fact(
        "ane", PRODUCTS,
        "the exponent 31 is a number: infinity is 65536, and NaN a greater number; a signalling NaN becomes quiet", M6,
        MEASURED, "16 of 544 cases", "numerics3_m6.txt, numerics4_m6.txt",
    ),
    Fact(
        "ane", ("add", "sub", "mul"),
        "the exact result is rounded to fp16, halves away from zero; subnormal numbers stay, and the range is that of "
        "fp16, with the exponent 31 as a number", M6, MEASURED, "57 of 57 cases", "numerics3_m6.txt",
    ),
    Fact(
        "ane", ("conv",),
        "int8 inputs and int8 weights are summed in integers, and scaled at the end; a sum of 2^31 or more is infinite",
        M6, MEASURED, "29 of 29 cases", "numerics_i8/results.json",
    ),
    *(
        Fact("ane", (name,), rule, M6, RECIPE, "the largest error, to four digits", "f3_lut_m6.txt, lut_ulp_m6.txt")
        for name, rule in (
            ("sigmoid", "a table of 33 samples from -8 to 8, then lines to 0 at -9.9375 and to 1"),
            ("tanh", "a table of 33 samples from 0 to 4, then 1"),
            ("erf", "a table of 33 samples from 0 to 2, then a line to 1"),
            ("sin", "a table of 33 samples of a quarter wave; the reduction of the argument is not known"),
            ("exp", "2 to the power of z = x log2(e), with a table of 33 samples for the fraction of z"),
            ("log", "a table of log2 from 0.5 to 1, plus the exponent, times log(2)"),
            ("sqrt", "a table of 25 samples from 0.5 to 2, and half of the exponent"),
            ("rsqrt", "a table of 25 samples from 0.5 to 2, and half of the exponent"),
            ("inverse", "x + epsilon is rounded to fp16 first; a table from 0.5 to 1, and the exponent"),
        )
    ),
    Fact(
        "ane", ("softplus",), "log(1 + e^x) in steps of fp16: 0 from x = 10.4 on, where 1 + e^x is 32768", ("M4",),
        REPORTED, "a sweep over x", f"{ISSUES}/2687",
    ),
    Fact(
        "ane", ("reduce_log_sum_exp",), "log(sum(e^x)) in steps of fp16: 0 where the sum is out of range, from "
        "x = log(65504 / C) on for C equal elements", ("M4",), REPORTED, "a sweep over x for 32 channels",
        f"{ISSUES}/2690",
    ),
    Fact(
        "cpu", PRODUCTS, "products and sums are rounded to fp16, one after the other, halves to even", BOTH, MEASURED,
        "418 of 418 cases", "the column of the CPU in numerics2_m4.txt to numerics6_m6.txt",
    ),
    Fact(
        "cpu", ("add", "sub", "mul"), "as in IEEE 754", M6, MEASURED, "57 of 57 cases", "numerics3_m6.txt",
    ),
)  # fmt: skip
"""The facts, those of a device together."""

GAPS = (
    Unmeasured(
        PRODUCTS,
        "sums that need more than one pass, from many channels or large kernels: whether parts go through fp16",
        "they are added in one pass",
    ),
    Unmeasured(
        ("conv",),
        "3x3 and 1x3 convolutions, which run as Winograd: their rounding",
        "their products are rounded one by one",
    ),
    Unmeasured(
        PRODUCTS,
        "the order of terms in a pass; the order of channels fits, and no case proves another one wrong",
        "channels come first, then the elements of the kernel",
    ),
    Unmeasured(
        ("conv",),
        "int8 with zero points, scales for each channel, a bias, or int8 weights alone; ties of the scaled sum",
        "zero points and int8 weights alone are computed in fp16; ties are rounded away from zero",
    ),
    Unmeasured(
        ("add", "sub", "mul"),
        "ties of mul, results from 65504 to 65536, negative zero",
        "they are rounded as the others; negative zero follows IEEE 754",
    ),
    Unmeasured(
        ("gelu", "silu"),
        "their tables, which are fitted, and not zero at zero",
        "they are computed in float32, and rounded once",
    ),
    Unmeasured(
        ("softmax", "layer_norm", "instance_norm", "batch_norm", "l2_norm"),
        "their bits",
        "they are computed in float32, and rounded once",
    ),
    Unmeasured(
        ("reduce_sum", "reduce_mean", "reduce_max", "avg_pool"),
        "their exact bits; a sum of 2049 ones was 2050 on an M5, as when halves are rounded away from zero",
        "they are computed in float32, and rounded once",
    ),
    Unmeasured(
        ("real_div", "pow", "maximum", "minimum"),
        "their rounding, and their results for infinities",
        "they are computed in float32, and rounded once",
    ),
    Unmeasured(
        (),
        "the chips M1 to M3; in an earlier paper, M1 sums groups of four in fp16, and flushes subnormal numbers",
        "only the measured chips can be chosen",
    ),
    Unmeasured(
        (),
        "which operations the compiler fuses, and so computes without rounding between them",
        "each operation is rounded",
    ),
)
"""The unknown facts, and the assumptions of an evaluation."""


def facts_of(device: str, op_type: str) -> list[Fact]:
    """Return the facts about an operation on a device."""
    return [fact for fact in FACTS if fact.device == device and op_type in fact.operations]
