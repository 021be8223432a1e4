"""Floats: every spelling of every type, against an oracle of fractions, and the bits back to text."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.schema.dtypes import BY_NAME
from miltext.syntax.encoding import decode, encode
from miltext.syntax.floats import FORMATS, MANY, float_texts, hex_text
from miltext.syntax.literals import LiteralError

FLOATS = ("fp8e4m3fn", "fp8e5m2", "fp16", "bf16", "fp32", "fp64")
NARROW = FLOATS[:4]

# ---- an oracle for floats: bits to exact values by the book, and the nearest by bisection

# The widths of exponent and fraction, the greatest finite number, the NaN that is spelled `nan`.
WIDTHS = {"fp8e4m3fn": (4, 3), "fp8e5m2": (5, 2), "fp16": (5, 10), "bf16": (8, 7), "fp32": (8, 23), "fp64": (11, 52)}
GREATEST = dict(zip(FLOATS, (0x7E, 0x7B, 0x7BFF, 0x7F7F, 0x7F7FFFFF, 0x7FEFFFFFFFFFFFFF), strict=True))
NAN = dict(zip(FLOATS, (0x7F, 0x7E, 0x7E00, 0x7FC0, 0x7FC00000, 0x7FF8000000000000), strict=True))


def value_of(code: int, name: str) -> Fraction:
    """The value of a non-negative code, as if no exponent stood for infinity."""
    exponent_bits, mantissa = WIDTHS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    exponent, fraction = code >> mantissa, Fraction(code & ((1 << mantissa) - 1), 1 << mantissa)
    return (fraction + 1) * Fraction(2) ** (exponent - bias) if exponent else fraction * Fraction(2) ** (1 - bias)


def nearest_code(value: Fraction, name: str) -> int | None:
    """The code of the nearest non-negative number, None if it is out of range."""
    low, high = 0, GREATEST[name] + 1
    if value >= value_of(high, name):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value_of(middle, name) <= value else (low, middle)
    below, above = value - value_of(low, name), value_of(high, name) - value
    code = low if (below, low % 2) < (above, high % 2) else high
    return code if code <= GREATEST[name] else None


def exact(text: str) -> Fraction:
    """The exact value of a short decimal or hexadecimal literal."""
    if "0x" not in text.lower():
        return Fraction(text)
    mantissa, power = text.lower().split("p")
    whole, _, fraction = mantissa.partition(".")
    return int(whole + fraction, 16) * Fraction(2) ** (int(power) - 4 * len(fraction))


def as_decimal(value: Fraction) -> str:
    """A fraction over a power of two as a decimal with all its digits."""
    places = value.denominator.bit_length() - 1
    return f"{value.numerator * 5**places}e-{places}"


def as_hex(value: Fraction) -> str:
    return f"0x{value.numerator:x}p-{value.denominator.bit_length() - 1}"


def data_of(texts: list[str], name: str) -> bytes:
    data = encode(texts, BY_NAME[name])
    assert isinstance(data, bytes)
    return data


def code_of(text: str, name: str) -> int:
    """The bits that a literal is encoded to."""
    data = encode([text], BY_NAME[name])
    assert isinstance(data, bytes)
    return int.from_bytes(data, "little")


def code_or_none(text: str, name: str) -> int | None:
    """The bits that a literal is encoded to, None if it is out of range."""
    try:
        return code_of(text, name)
    except LiteralError as error:
        if error.code == "MIL020":
            return None
        raise


def as_bytes(codes: Iterable[int], name: str) -> bytes:
    return b"".join(code.to_bytes(BY_NAME[name].bits // 8, "little") for code in codes)


# ---- floats


@pytest.mark.parametrize(
    ("text", "name", "bits"),
    [
        ("0x1p+0", "fp16", 0x3C00),
        ("-0x1.9p-1", "fp16", 0xBA40),
        ("0x0p+0", "fp16", 0),
        ("-0x0p+0", "fp16", 0x8000),
        ("0x1p-24", "fp16", 1),
        ("0X1.8P+3", "fp16", 0x4A00),
        ("0xcp0", "fp16", 0x4A00),
        ("0x.8p1", "fp16", 0x3C00),
        ("0x1.p0", "fp16", 0x3C00),
        ("0.5", "fp16", 0x3800),
        ("1e-6", "fp16", 0x0011),
        ("5", "fp16", 0x4500),
        ("+5", "fp16", 0x4500),
        ("-0.0", "fp16", 0x8000),
        ("-0", "fp32", 0x80000000),
        (".5", "fp16", 0x3800),
        ("1.", "fp16", 0x3C00),
        ("1E2", "fp16", 0x5640),
        ("inf", "fp16", 0x7C00),
        ("+inf", "fp16", 0x7C00),
        ("-inf", "bf16", 0xFF80),
        ("inf", "fp8e5m2", 0x7C),
        ("-inf", "fp32", 0xFF800000),
        ("-inf", "fp64", 0xFFF0000000000000),
        *(("nan", name, NAN[name]) for name in FLOATS),
        ("$0x7fc00001", "fp32", 0x7FC00001),
        ("$0x7F800001", "fp32", 0x7F800001),
        ("$0x8000", "bf16", 0x8000),
        ("$0xff", "fp8e4m3fn", 0xFF),
        ("$0xfff8000000000001", "fp64", 0xFFF8000000000001),
        # The greatest numbers, and the last that round down to them.
        ("65504", "fp16", 0x7BFF),
        ("65519.99999999999999999999999999999999", "fp16", 0x7BFF),
        ("448", "fp8e4m3fn", 0x7E),
        ("464", "fp8e4m3fn", 0x7E),
        ("57344", "fp8e5m2", 0x7B),
        ("3.4028235677973366e38", "fp32", 0x7F7FFFFF),
        ("1.7976931348623158e308", "fp64", 0x7FEFFFFFFFFFFFFF),
        # Half-way between two: to the even one, unless a far digit says otherwise.
        ("2049", "fp16", 0x6800),
        ("2049." + "0" * 400 + "1", "fp16", 0x6801),
        ("2048." + "9" * 400, "fp16", 0x6800),
        ("2051", "fp16", 0x6802),
        ("2050." + "9" * 400, "fp16", 0x6801),
        ("0x1.002p0", "fp16", 0x3C00),
        ("0x1.002" + "0" * 400 + "1p0", "fp16", 0x3C01),
        ("0x1.006p0", "fp16", 0x3C02),
        ("0x1.005" + "f" * 400 + "p0", "fp16", 0x3C01),
        ("0x1p-25", "fp16", 0),
        ("0x1.0000000000000000001p-25", "fp16", 1),
        ("-0x1p-25", "fp16", 0x8000),
        ("0x1p-150", "fp32", 0),
        ("0x1.8p-149", "fp32", 2),
        ("7.006492321624085e-46", "fp32", 0),
        ("7.006492321624086e-46", "fp32", 1),
        ("16777217", "fp32", 0x4B800000),
        ("16777217.0000000000000000000000001", "fp32", 0x4B800001),
        ("0x1.0000010000000000000000001p0", "fp32", 0x3F800001),
        ("0x1.000001p0", "fp32", 0x3F800000),
        ("1e-400", "fp64", 0),
        ("5e-324", "fp64", 1),
    ],
)
def test_float_literals(text: str, name: str, bits: int) -> None:
    assert code_of(text, name) == bits
    assert data_of([text, text], name) == as_bytes([bits, bits], name)


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        ("65520", "fp16", "MIL020"),
        ("-65520", "fp16", "MIL020"),
        ("464." + "0" * 300 + "1", "fp8e4m3fn", "MIL020"),
        ("0x1.d000000000000000000001p8", "fp8e4m3fn", "MIL020"),
        ("61440", "fp8e5m2", "MIL020"),
        ("3.4028235677973367e38", "fp32", "MIL020"),
        ("0x1.ffffffp+127", "fp32", "MIL020"),
        ("0x1p128", "fp32", "MIL020"),
        ("1.8e308", "fp64", "MIL020"),
        ("0x1.fffffffffffff8p+1023", "fp64", "MIL020"),
        ("inf", "fp8e4m3fn", "MIL020"),
        *((text, name, "MIL020") for name in FLOATS for text in ("1e999999999", "-0x1p999999999999999999999")),
        *(
            (text, name, "MIL021")
            for name in FLOATS
            for text in (
                "", "abc", "true", "1_0", "1_0.5", "0x1_0p0", "infinity", "INF", "NaN", "-nan", "+nan", "nan(1)",
                "0x1", "0x1.8", "0xp0", "0x.p0", "1p0", "0x1p", "1e", "e5", ".", "-", "+-1", "--1", "1.2.3",
                "$1", "$0x", "$0x1", "$0x12345", "$0x1g", "-$0x7fc00001", "1,2", "0x1p0,0x1p0",
                "\u0661", "\uff11", " 1", "1 ", "0x1p0 ", "\n0x1p0", "1 2",
            )
        ),
    ],
)  # fmt: skip
def test_float_literals_refused(text: str, name: str, code: str) -> None:
    dtype = BY_NAME[name]
    with pytest.raises(LiteralError) as raised:
        encode([text], dtype)
    assert (raised.value.code, raised.value.index) == (code, 0)
    for others in (["0x1p+0"] * 3, ["1.5"] * 3):
        with pytest.raises(LiteralError) as raised:
            encode([*others, text, "also wrong"], dtype)
        assert (raised.value.code, raised.value.index, raised.value.element) == (code, 3, text)
        assert (raised.value.start, raised.value.end) == (0, len(text))


def codes_to_try(name: str) -> Iterable[int]:
    """All finite numbers of an 8-bit type; of others the ends, the least normal one, and a hundred between."""
    greatest, normal, source = GREATEST[name], 1 << WIDTHS[name][1], random.Random(name)
    if greatest < 200:
        return range(greatest + 1)
    edges = {0, 1, 2, normal - 1, normal, normal + 1, greatest - 1, greatest}
    return sorted(edges | {source.randrange(greatest) for _ in range(100)})


@pytest.mark.parametrize("name", FLOATS)
def test_every_tie_and_its_neighbours(name: str) -> None:
    """The middle between two numbers, and values as near to it as text can be, in both spellings."""
    for code in codes_to_try(name):
        tie = (value_of(code, name) + value_of(code + 1, name)) / 2
        for value, nearest in ((tie, code + code % 2), (tie - tie / 2**200, code), (tie + tie / 2**200, code + 1)):
            expected = nearest if nearest <= GREATEST[name] else None
            assert nearest_code(value, name) == expected
            for text, other in ((as_decimal(value), "1.5"), (as_hex(value), "0x1.8p+0")):
                assert code_or_none(text, name) == expected
                if expected is not None:
                    assert data_of([other, text], name) == as_bytes([code_of(other, name), expected], name)


DECIMALS = st.builds(
    "{}{}.{}e{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**20),
    st.from_regex(r"[0-9]{0,25}", fullmatch=True),
    st.integers(-60, 60),
)
HEXADECIMALS = st.builds(
    "{}0x{:x}.{}p{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 2**70),
    st.from_regex(r"[0-9a-fA-F]{0,25}", fullmatch=True),
    st.integers(-200, 200),
)


@given(
    st.lists(DECIMALS, min_size=1, max_size=8) | st.lists(HEXADECIMALS, min_size=1, max_size=8), st.sampled_from(FLOATS)
)
def test_floats_are_rounded_once(texts: list[str], name: str) -> None:
    expected = [nearest_code(abs(exact(text)), name) for text in texts]
    if None in expected:
        with pytest.raises(LiteralError) as raised:
            encode(texts, BY_NAME[name])
        assert (raised.value.code, raised.value.index) == ("MIL020", expected.index(None))
        return
    sign = 1 << (BY_NAME[name].bits - 1)
    codes = ((code or 0) | sign * (text[0] == "-") for code, text in zip(expected, texts, strict=True))
    assert data_of(texts, name) == as_bytes(codes, name)


@given(
    st.lists(
        st.sampled_from(["0x1p+0", "-0x1.8p-3", "inf", "-inf", "nan", "1.5", "5", "$0x7fc00001", "0X1P0"]), max_size=20
    )
)
def test_lists_of_mixed_spellings(texts: list[str]) -> None:
    assert data_of(texts, "fp32") == as_bytes((code_of(text, "fp32") for text in texts), "fp32")


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("decimal", [False, True])
def test_all_bits_of_narrow_floats_survive(name: str, decimal: bool) -> None:
    dtype = BY_NAME[name]
    data = as_bytes(range(1 << dtype.bits), name)
    texts = decode(data, dtype, 1 << dtype.bits, decimal=decimal)
    assert len(set(texts)) == len(texts)
    assert encode(texts, dtype) == data
    infinity = GREATEST[name] + 1 if name != "fp8e4m3fn" else None
    for code, text in enumerate(texts):
        magnitude, sign = code & ((1 << (dtype.bits - 1)) - 1), "-" * (code >> (dtype.bits - 1))
        if magnitude == infinity:
            assert text == f"{sign}inf"
        elif magnitude > GREATEST[name]:
            assert text == ("nan" if code == NAN[name] else f"$0x{code:0{dtype.bits // 4}x}")
        else:
            assert text.startswith("-") == bool(sign)
            assert decimal or exact(text.lstrip("-")) == value_of(magnitude, name)
            assert decimal or re.fullmatch(r"-?0x(0|1(\.[0-9a-f]*[1-9a-f])?)p[+-](0|[1-9][0-9]*)", text)
            assert not decimal or re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]{2,})?", text)


def test_fp16_agrees_with_numpy() -> None:
    data = as_bytes(range(65536), "fp16")
    values = np.frombuffer(data, "<f2")
    finite = np.isfinite(values)
    for decimal in (False, True):
        texts = np.array(decode(data, BY_NAME["fp16"], 65536, decimal=decimal))[finite]
        read = [float(text) if decimal else float.fromhex(text) for text in texts.tolist()]
        assert np.array(read).astype("<f2").tobytes() == values[finite].tobytes()


def shortest_decimal(code: int, name: str) -> Fraction:
    """The nearest of the shortest decimals that are read as `code`; of two as near, the one of even digits."""
    value = value_of(code, name)
    low, high = (value + value_of(code - 1, name)) / 2, (value + value_of(code + 1, name)) / 2
    power = math.floor(math.log10(value)) + 1
    while Fraction(10) ** power > value:
        power -= 1
    for length in range(1, 20):
        unit = Fraction(10) ** (power - length + 1)
        fitting = [
            (abs(digits * unit - value), digits % 2, digits * unit)
            for digits in (value // unit, value // unit + 1)
            if low < digits * unit < high or (code % 2 == 0 and digits * unit in (low, high))
        ]
        if fitting:
            return min(fitting)[2]
    raise AssertionError


def assert_shortest(codes: Iterable[int], name: str) -> None:
    codes = list(codes)
    texts = decode(as_bytes(codes, name), BY_NAME[name], len(codes), decimal=True)
    for code, text in zip(codes, texts, strict=True):
        assert Fraction(text) == shortest_decimal(code, name), (code, text)
        assert repr(float(text)) == text


@pytest.mark.parametrize("name", NARROW)
def test_decimals_are_the_shortest_and_nearest(name: str) -> None:
    assert_shortest(range(1, GREATEST[name] + 1), name)


@pytest.mark.parametrize("name", ["fp32", "fp64"])
def test_decimals_of_powers_of_two_are_the_shortest_and_nearest(name: str) -> None:
    mantissa = WIDTHS[name][1]
    normal = [code << mantissa for code in range(1, (GREATEST[name] >> mantissa) + 1)]
    subnormal = [1 << bit for bit in range(mantissa)]
    assert_shortest([*subnormal, *normal, GREATEST[name]], name)


@given(st.sampled_from(["fp32", "fp64"]), st.data())
def test_decimals_of_wide_floats_are_the_shortest_and_nearest(name: str, data: st.DataObject) -> None:
    assert_shortest(data.draw(st.lists(st.integers(1, GREATEST[name]), max_size=10)), name)


@pytest.mark.parametrize(
    ("bits", "name", "text", "decimal"),
    [
        (0x3F800000, "fp32", "0x1p+0", "1.0"),
        (0x3DCCCCCD, "fp32", "0x1.99999ap-4", "0.1"),
        (0x2E66, "fp16", "0x1.998p-4", "0.1"),
        (0x7BFF, "fp16", "0x1.ffcp+15", "65500.0"),
        (0x0001, "fp16", "0x1p-24", "6e-08"),
        (0x80000000, "fp32", "-0x0p+0", "-0.0"),
        (0, "fp64", "0x0p+0", "0.0"),
        (1, "fp32", "0x1p-149", "1e-45"),
        (1, "fp64", "0x1p-1074", "5e-324"),
        (0x000FFFFFFFFFFFFF, "fp64", "0x1.ffffffffffffep-1023", "2.225073858507201e-308"),
        (0x8000000000000003, "fp64", "-0x1.8p-1073", "-1.5e-323"),
        (0x7FC00000, "fp32", "nan", "nan"),
        (0xFFC00000, "fp32", "$0xffc00000", "$0xffc00000"),
        (0x7F800001, "fp32", "$0x7f800001", "$0x7f800001"),
        (0x7FF0000000000001, "fp64", "$0x7ff0000000000001", "$0x7ff0000000000001"),
        (0xFF800000, "fp32", "-inf", "-inf"),
        (0x49742400, "fp32", "0x1.e848p+19", "1000000.0"),
        (0x358637BD, "fp32", "0x1.0c6f7ap-20", "1e-06"),
        (0x7E, "fp8e4m3fn", "0x1.cp+8", "450.0"),
        (0xFF, "fp8e4m3fn", "$0xff", "$0xff"),
    ],
)
def test_float_texts(bits: int, name: str, text: str, decimal: str) -> None:
    dtype, data = BY_NAME[name], as_bytes([bits], name)
    assert decode(data * 2, dtype, 2) == [text, text]
    assert decode(data * 2, dtype, 2, decimal=True) == [decimal, decimal]


@given(st.sampled_from(["fp32", "fp64"]), st.data(), st.booleans())
def test_all_bits_of_wide_floats_survive(name: str, data: st.DataObject, decimal: bool) -> None:
    dtype = BY_NAME[name]
    bits = st.integers(0, (1 << dtype.bits) - 1) | st.integers(0, 1 << WIDTHS[name][1])
    codes = data.draw(st.lists(bits, max_size=10))
    texts = decode(as_bytes(codes, name), dtype, len(codes), decimal=decimal)
    assert data_of(texts, name) == as_bytes(codes, name)
    alone = [decode(as_bytes([code], name), dtype, 1, decimal=decimal)[0] for code in codes]
    assert alone == texts


@pytest.mark.parametrize("name", ["fp32", "fp64"])
def test_many_floats_at_once_are_written_as_one_by_one(name: str) -> None:
    form, mantissa = FORMATS[name], WIDTHS[name][1]
    shifted = [fraction << shift for fraction in (0, 1, 3) for shift in range(0, mantissa - 1, 3)]
    exponents = range(0, 1 << WIDTHS[name][0], 1 if name == "fp32" else 5)
    codes = [sign | exponent << mantissa | low for sign in (0, form.sign) for exponent in exponents for low in shifted]
    rng = random.Random(1)
    codes += [rng.getrandbits(form.bits) for _ in range(MANY)]
    data = b"".join(code.to_bytes(form.bits // 8, "little") for code in codes)
    assert len(codes) > MANY
    assert float_texts(data, form) == [hex_text(code, form) for code in codes]
