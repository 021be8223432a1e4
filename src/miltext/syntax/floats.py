"""Floats as text and as bits, for every float type of MIL.

A literal is rounded once, to nearest even, from the exact value that it spells. Its spellings:

    0x1.8p+3  -0x1p-24    C99 hexadecimal, exponent included
    0.5  1e-6  5  .5  1.  decimal
    inf  -inf  nan        `nan` is the quiet NaN with no sign and no payload
    $0x7fc00001           the bits, as many digits as the type has

`$` is miltext's own (docs/language.md); the others are in real MIL text. The layout of the types is in
`schema/dtypes`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes
from miltext.schema.dtypes import DTYPES, DType
from miltext.syntax.literals import LiteralError, shown

if TYPE_CHECKING:
    from numpy import uint32, uint64
    from numpy.typing import NDArray

    from miltext.schema.packing import Array


class Format(NamedTuple):
    """The layout of one float type: a sign bit, exponent bits, and `mantissa` stored bits of the fraction.

    `quantum` is the exponent of the least subnormal (2^quantum); `greatest`, `infinity` and `nan` are the bits of the
    greatest finite number, of infinity and of the NaN with the spelling `nan`.
    """

    name: str
    bits: int
    mantissa: int
    quantum: int
    greatest: int
    infinity: int | None
    nan: int

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.bits - 1)


def _format(dtype: DType) -> Format:
    """Return the layout of a float type: the greatest exponent means infinity, if there is one."""
    name, bits, mantissa = dtype.name, dtype.bits, dtype.mantissa
    quantum = 2 - (1 << bits - 2 - mantissa) - mantissa
    infinity = (1 << bits - 1) - (1 << mantissa)
    if dtype.infinite:
        return Format(name, bits, mantissa, quantum, infinity - 1, infinity, infinity | 1 << mantissa - 1)
    nan = (1 << bits - 1) - 1
    return Format(name, bits, mantissa, quantum, nan - 1, None, nan)


FORMATS: dict[str, Format] = {dtype.name: _format(dtype) for dtype in DTYPES if dtype.kind == "float"}

_HEX = re.compile(r"[-+]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def bits_of(text: str, form: Format) -> int:
    """Return the bits of a float literal. Raise LiteralError if it is not a literal, or its number is not in the
    type.
    """
    negative = form.sign if text[:1] == "-" else 0
    if _HEX.fullmatch(text):
        if form.name == "fp16" and len(text) <= _LONGEST_EXACT_HEX:
            with suppress(OverflowError):
                return int.from_bytes(struct.pack("<e", float.fromhex(text)), "little")
        try:
            value = float.fromhex(text)
        except OverflowError:
            value = math.inf
    elif _DECIMAL.fullmatch(text):
        value = float(text)
    else:
        return _special_bits(text, form)
    code = _rounded(abs(value), text, form)
    if code is None:
        raise _error(codes.NUMBER_OUT_OF_RANGE, f"`{shown(text)}` is out of range for {form.name}", text)
    return negative | code


def _rounded(value: float, text: str, form: Format) -> int | None:
    """Return the bits of the number nearest to the exact value of `text`; None if out of range.

    `value` is the nearest fp64. Every number half-way between two of a narrower type is an fp64, and rounding keeps the
    order: so the exact value is on the same side of it as `value`, and matters only if `value` is such a number itself.
    """
    if value in (0, math.inf):
        return None if value else 0
    fraction, exponent = math.frexp(value)
    quantum = exponent - form.mantissa - 1
    if quantum < form.quantum:
        quantum = form.quantum
    scaled = math.ldexp(fraction, exponent - quantum)
    units = int(scaled)
    rest = scaled - units
    if rest > 0.5 or (rest == 0.5 and _side(text, value) + (units & 1) > 0):
        units += 1
    code = units + ((quantum - form.quantum) << form.mantissa)  # a carry runs into the exponent, as it should
    return code if code <= form.greatest else None


def _side(text: str, value: float) -> int:
    """Return whether the magnitude of a literal is less (-1), equal (0) or greater (1) than `value`."""
    text = text.lstrip("-+").lower()
    if not text.startswith("0x"):
        from decimal import Decimal

        exact, limit = Decimal(text), Decimal(value)
        return (exact > limit) - (exact < limit)
    mantissa, _, power = text.partition("p")
    whole, _, fraction = mantissa.partition(".")
    magnitude = int(power.lstrip("-+0") or "0")  # few digits: `value` is in the range of fp64
    exponent = (-magnitude if power[0] == "-" else magnitude) - 4 * len(fraction)
    numerator, denominator = value.as_integer_ratio()
    left = int(whole + fraction, 16) * denominator << max(exponent, 0)
    right = numerator << max(-exponent, 0)
    return (left > right) - (left < right)


def _special_bits(text: str, form: Format) -> int:
    if text in ("inf", "+inf", "-inf"):
        if form.infinity is None:
            raise _error(codes.NUMBER_OUT_OF_RANGE, f"{form.name} does not have an infinity", text)
        return form.infinity | (form.sign if text[0] == "-" else 0)
    if text == "nan":
        return form.nan
    raw = re.fullmatch(r"\$0[xX]([0-9a-fA-F]+)", text)
    if raw and len(raw[1]) == form.bits // 4:
        return int(raw[1], 16)
    hint = ""
    if text[:1] == "$" or "nan" in text:
        hint = f"; its bits are spelled `$0x` and {form.bits // 4} hexadecimal digits"
    elif "0x" in text.lower():
        hint = "; a hexadecimal float has an exponent, as in `0x1.8p+3`"
    raise _error(codes.WRONG_ELEMENT, f"`{shown(text)}` is not a valid {form.name} number{hint}", text)


def _error(code: str, message: str, text: str) -> LiteralError:
    return LiteralError(code, message, 0, len(text), text)


def hex_text(bits: int, form: Format) -> str:
    """Return the exact text of a float in Apple's form: `0x1p+0`, `-0x1.9p-1`, `inf`, `nan`, `$0x7fc00001`."""
    special = _special_text(bits, form)
    if special:
        return special
    sign, units, exponent = _parts(bits, form)
    if not units:
        return f"{sign}0x0p+0"
    width = units.bit_length() - 1
    padding = -width % 4
    digits = f"{units << padding:x}".rstrip("0")  # the first digit is the leading 1
    return f"{sign}0x1{'.' * (len(digits) > 1)}{digits[1:]}p{exponent + width:+d}"


def decimal_text(bits: int, form: Format) -> str:
    """Return the shortest decimal that reads back to the same bits of this type, in the form of Python's `repr`.

    If several have as few digits, it is the nearest to the exact value: `0.1`, `1.0`, `1e-06`, `65500.0` for the
    greatest fp16. Infinities and NaNs are spelled as by `hex_text`.
    """
    special = _special_text(bits, form)
    if special:
        return special
    sign, units, exponent = _parts(bits, form)
    value = math.ldexp(units, exponent)
    if form.name == "fp64" or not units:
        return f"{sign}{value!r}"
    power = units == 1 << form.mantissa and exponent > form.quantum  # below a power of two, numbers lie closer
    low, high = math.ldexp(units - (0.25 if power else 0.5), exponent), math.ldexp(units + 0.5, exponent)
    # As many digits as every decimal keeps through a normal number, so that no shorter text is missed.
    digits = int(form.mantissa * math.log10(2)) - 1 if units >> form.mantissa else 0
    for text in _decimals(value, max(digits, 0), power):
        near = float(text)
        if low < near < high or (near in (low, high) and bits_of(text, form) == bits & ~form.sign):
            return f"{sign}{near!r}"
    raise AssertionError("17 digits distinguish any two fp64 numbers")


def _decimals(value: float, digits: int, power: bool) -> Iterator[str]:
    """Yield the nearest decimal with a number of digits after the first, then with one more, and so on.

    Below a power of two, the nearest may be too far off when the next one above is not, so both are yielded.
    """
    for precision in range(digits, 17):
        text = f"{value:.{precision}e}"
        yield text
        if power:
            mantissa, exponent = text.split("e")
            yield f"{int(mantissa.replace('.', '')) + 1}e{int(exponent) - precision}"


def _special_text(bits: int, form: Format) -> str | None:
    magnitude = bits & ~form.sign
    if magnitude <= form.greatest:
        return None
    if magnitude == form.infinity:
        return "inf" if bits == magnitude else "-inf"
    return "nan" if bits == form.nan else f"$0x{bits:0{form.bits // 4}x}"


def _parts(bits: int, form: Format) -> tuple[str, int, int]:
    """Return the sign, and the magnitude of a finite number as units times 2^exponent."""
    biased, fraction = divmod(bits & ~form.sign, 1 << form.mantissa)
    sign = "-" if bits & form.sign else ""
    if biased == 0:
        return sign, fraction, form.quantum
    return sign, fraction | 1 << form.mantissa, form.quantum + biased - 1


def pack_floats(elements: Sequence[str], form: Format) -> bytes:
    """Return the little-endian bytes of fp32 or fp64 literals. Raise LiteralError at the first wrong one."""
    joined = ",".join(elements)
    packed = _pack_hexadecimals(elements, joined, form) or _pack_decimals(elements, joined, form)
    return packed or struct.pack(f"<{len(elements)}{_CODES[form.bits]}", *[bits_of(text, form) for text in elements])


def float_texts(data: bytes, form: Format, decimal: bool = False) -> list[str]:
    """Return the texts of little-endian fp32 or fp64 numbers, as `hex_text` or `decimal_text` gives them."""
    if decimal:
        return [decimal_text(code, form) for code in _codes(data, form)]
    if len(data) < MANY * 4 or not _has_numpy():
        return _hex_texts(data, form)
    step = MANY * 8
    joined = b"".join([_hex_columns(data[start : start + step], form) for start in range(0, len(data), step)]).decode()
    texts = joined.split(" ")
    texts.pop()
    if "?" in joined:
        codes = _codes(data, form)
        texts = [hex_text(code, form) if text == "?" else text for code, text in zip(codes, texts, strict=True)]
    return texts


def _hex_texts(data: bytes, form: Format) -> list[str]:
    """Return the texts of numbers as `hex_text` gives them: texts of `float.hex`, without zeros behind the last digit.

    NaNs and subnormals of fp64, which `float.hex` spells differently, are converted one by one.
    """
    values = struct.unpack(f"<{len(data) * 8 // form.bits}{_VALUES[form.bits]}", data)
    joined = " ".join(map(float.hex, values))
    for zeros in ("0000000p", "000p", "0p", "0p", "0p"):  # as many as can be in a row of 13, the longest first
        joined = joined.replace(zeros, "p")
    joined = joined.replace(".p", "p")
    texts = joined.split(" ") if values else []
    if "nan" in joined or "0x0." in joined:
        codes = _codes(data, form)
        pairs = zip(codes, texts, strict=True)
        texts = [hex_text(code, form) if text == "nan" or "0x0." in text else text for code, text in pairs]
    return texts


def _codes(data: bytes, form: Format) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) * 8 // form.bits}{_CODES[form.bits]}", data)


MANY = 4096
"""The least count of numbers for which a joint conversion is worth the import of numpy."""


def _has_numpy() -> bool:
    """Return whether numpy is available, unlike in a browser."""
    try:
        import numpy as np  # noqa: F401
    except ImportError:
        return False
    return True


def _hex_columns(data: bytes, form: Format) -> bytes:
    """Return the texts of numbers as `hex_text` gives them, a space after each; `?` for zero, a subnormal, an infinity
    or NaN.

    They are composed of columns of integers, each with a few characters.
    """
    import numpy as np

    heads, wholes, digits, lasts, tails = _hex_tables(form)
    codes = np.frombuffer(data, f"<u{form.bits // 8}")
    fraction = (codes & (1 << form.mantissa) - 1) << -form.mantissa % 12
    groups = range(form.mantissa // 12 * 12, -1, -12)
    rows = np.empty(len(codes), [("head", "<u8"), *[(f"{at}", "<u4") for at in groups], ("tail", "<u8")])
    ends = np.ones(len(codes), bool)  # whether only zeros follow, which are not written
    for at in reversed(groups):
        group = fraction >> at & 0xFFF
        rows[f"{at}"] = np.where(ends, lasts[group], digits[group])
        ends &= group == 0
    place = codes >> form.mantissa
    rows["head"], rows["tail"] = np.where(ends, wholes[place], heads[place]), tails[place]
    magnitude = codes & form.sign - 1
    odd = (magnitude > form.greatest) | ((magnitude < 1 << form.mantissa) & (fraction > 0))
    rows[odd] = (int.from_bytes(b"? ", "little"), *[0] * (len(groups) + 1))
    return rows.tobytes().translate(None, b"\0")


@lru_cache(maxsize=2)
def _hex_tables(
    form: Format,
) -> tuple[NDArray[uint64], NDArray[uint64], NDArray[uint32], NDArray[uint32], NDArray[uint64]]:
    """Return the tables of `_hex_columns`: by sign and exponent, the text before digits, and the text in its place
    where there are none; the digits of twelve bits, and the same as last digits, without zeros; by sign and exponent,
    the text after.
    """
    import numpy as np

    def characters(texts: list[str], size: int) -> Array:
        return np.frombuffer("".join(text.ljust(size, "\0") for text in texts).encode(), f"<u{size}")

    greatest = (1 << form.bits - 1 - form.mantissa) - 1
    signs = [(sign, biased) for sign in ("", "-") for biased in range(greatest + 1)]
    heads = [f"{sign}0x{int(biased > 0)}." for sign, biased in signs]
    tails = [f"p{biased - greatest // 2 if biased else 0:+d} " for _, biased in signs]
    digits = [f"{number:03x}" for number in range(4096)]
    lasts = [text.rstrip("0") for text in digits]
    return (
        characters(heads, 8),
        characters([head.rstrip(".") for head in heads], 8),
        characters(digits, 4),
        characters(lasts, 4),
        characters(tails, 8),
    )


_CODES = {32: "I", 64: "Q"}
_VALUES = {32: "f", 64: "d"}
_LONGEST_EXACT_HEX = 17
"""The most characters of a hexadecimal literal with at most 13 digits: 52 bits, which an fp64 holds exactly."""


def _pack_hexadecimals(elements: Sequence[str], joined: str, form: Format) -> bytes | None:
    """Pack floats without a step for each element; None if some are neither hexadecimal nor infinite."""
    hexadecimal, infinite = joined.count("0x"), joined.count("inf")
    apart = hexadecimal + infinite == len(elements) and not any(space in joined for space in " \t\n\r\v\f")
    if not (apart and joined.count("p") == hexadecimal and joined.count("n") == infinite):
        return None
    if form.bits == 32 and max(map(len, elements), default=0) > _LONGEST_EXACT_HEX:
        return None
    try:
        return struct.pack(f"<{len(elements)}{_VALUES[form.bits]}", *map(float.fromhex, elements))
    except (ValueError, OverflowError):
        return None


def _pack_decimals(elements: Sequence[str], joined: str, form: Format) -> bytes | None:
    """Pack decimals without a step for each element; None for other texts, or if some may be half-way between
    two fp32.
    """
    if not re.fullmatch("[-+.0-9eE,]*", joined):
        return None
    try:
        values = list(map(float, elements))
        if math.inf in values or -math.inf in values or (form.bits == 32 and _may_tie(values)):
            return None
        return struct.pack(f"<{len(values)}{_VALUES[form.bits]}", *values)
    except (ValueError, OverflowError):
        return None


def _may_tie(values: list[float]) -> bool:
    """Return whether some number is half-way between two fp32 (29 bits are cut off), or so small that it may be."""
    codes = struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values))
    return any(code & 0x1FFFFFFF == 0x10000000 or 0 < code & 0x7FFFFFFFFFFFFFFF < _LEAST_NORMAL_FP32 for code in codes)


_LEAST_NORMAL_FP32 = (1023 - 126) << 52
"""The bits of the least normal fp32 number, as an fp64."""
