"""Names, strings and plain numbers in their wire form."""

from __future__ import annotations

from miltext.diagnostics import codes
from miltext.parsing.lowering.errors import LoweringError
from miltext.schema.fields import OPERATION_TYPE
from miltext.schema.wire import sized
from miltext.syntax.literals import LiteralError, shown, unquote
from miltext.syntax.memo import memo
from miltext.syntax.names import RESERVED


def name_bytes(token: str) -> bytes:
    """Return a name, quoted or not, as UTF-8."""
    if token[0] == "$":
        return string_bytes(token, 1)
    if token in RESERVED:
        raise LoweringError(
            codes.RESERVED_WORD, f'`{token}` is a reserved word; as a name it is written `$"{token}"`', token
        )
    return token.encode()


def string_bytes(token: str, start: int = 0) -> bytes:
    """Return the contents of a string literal, as UTF-8; the literal begins at `start` of the token."""
    try:
        return unquote(token[start:]).encode()
    except LiteralError as failure:
        raise LoweringError(failure.code, failure.message, token, start + failure.start, start + failure.end) from None


def whole_number(token: str, bits: int, signed: bool) -> int:
    """Return a decimal integer with a limit on its bits."""
    digits = token.lstrip("+-")
    if not digits.isdecimal() or not digits.isascii():
        raise LoweringError(codes.WRONG_ELEMENT, f"expected a whole number, found `{shown(token)}`", token)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    digits = digits.lstrip("0") or "0"
    magnitude = int(digits) if len(digits) < 40 else 1 << 64  # Python refuses very long integers
    number = -magnitude if token[0] == "-" else magnitude
    if not least <= number <= most:
        raise LoweringError(codes.NUMBER_OUT_OF_RANGE, f"this number is outside {least} to {most}", token)
    return number


@memo(1 << 10)
def operation_type(token: str) -> bytes:
    """Return the type of an Operation, as its field."""
    return sized(OPERATION_TYPE, name_bytes(token))
