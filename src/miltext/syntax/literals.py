"""Literals as text: lists of elements nested like a shape, and strings.

`encoding` handles data types. A wrong literal is a `LiteralError` of a code from MIL020 to MIL024.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from miltext.diagnostics import codes

FORBIDDEN = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    r"\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
)
"""Body of a regular expression's character class: characters never allowed raw in MIL text. Control characters other
than tab, line feed and carriage return; Unicode's bidirectional controls (CVE-2021-42574), line and paragraph
separators, and the byte-order mark.
"""

MOST_EMPTY_LISTS = 4096
"""The greatest number of `[]` in the literal of a shape without elements, such as `[1000, 0]`."""

Shape = Sequence["int | None"]

TOKEN = re.compile(r"[\[\],]|[^\s\[\],]+")
"""A bracket, a comma or an element of a list."""

TO_ELEMENTS = str.maketrans("", "", "[]")
"""Removes the brackets of a list."""

_ELEMENT = re.compile(r"[^\s\[\],]+")
_TO_SPACE = str.maketrans("\t\r\n", "   ")
_TO_OUTLINE = {code: None for code in range(128) if chr(code) not in "[],"}


class LiteralError(ValueError):
    """A wrong literal.

    `start` and `end` are offsets, end exclusive, into the text given to the function. Where that was a sequence of
    elements, `index` is the place of the wrong one among them, `element` its text, and the offsets point into
    `element`; `locate` finds it in the list's text.
    """

    def __init__(self, code: str, message: str, start: int, end: int, element: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.element = element
        self.index: int | None = None


def elements(text: str, shape: Shape) -> list[str]:
    """Return the element texts of a list literal such as `[[1, 2], [3, 4]]`, in order, without white space.

    `shape` has at most one None: a dimension of unknown size. Raise LiteralError at the first place where
    the text is not nested like the shape.
    """
    flat = flatten(text, shape)
    return _Walk(text, shape).elements() if flat is None else flat.split(",")


def flatten(text: str, shape: Shape) -> str | None:
    """Return the element texts of a list literal, joined with `,`, without checking each.

    None if the literal has no elements or is wrong: `elements` then determines which.
    """
    compact = without_spaces(text)
    count = compact.count(",") + 1
    sizes = _known_sizes(shape, count)
    if " " in compact or _product(sizes, count) != count:
        return None
    if len(sizes) == 1:
        flat = compact[1:-1]
        nested = compact[:1] == "[" and compact[-1:] == "]" and "[" not in flat and "]" not in flat
    else:
        flat = compact.translate(TO_ELEMENTS)
        nested = _is_nested(compact, sizes)
    every = nested and flat != "" and flat[0] != "," and flat[-1] != "," and ",," not in flat
    return flat if every else None


def rows(text: str, shape: Shape) -> list[str] | None:
    """Return the texts in the innermost brackets of a list literal in the usual layout: `a, b` of each `[a, b]`.

    The elements are not looked at. None if the layout is another, or the literal is not nested like the shape.
    """
    depth = len(shape)
    if not (text.startswith("[" * depth) and text.endswith("]" * depth)):
        return None
    parts = [text[depth:-depth]]
    for axis, size in enumerate(shape[:-1]):
        inner = depth - 1 - axis
        lists = [part.split("]" * inner + ", " + "[" * inner) for part in parts]
        if any(len(each) != size for each in lists):
            return None
        parts = [part for each in lists for part in each]
    return parts


def chunks(flat: str, size: int) -> Iterator[str]:
    """Yield the element texts of `flatten` in pieces, each except the last of at least a number of characters."""
    start = 0
    while start <= len(flat):
        end = flat.find(",", start + size)
        end = len(flat) if end < 0 else end
        yield flat[start:end]
        start = end + 1


def without_spaces(text: str) -> str:
    """Return the text without white space, except one space between elements (or brackets) that nothing else parts."""
    compact = text.replace(", ", ",")
    if not (" " in compact or "\n" in compact or "\t" in compact or "\r" in compact):
        return compact
    compact = compact.translate(_TO_SPACE)
    while "  " in compact:
        compact = compact.replace("  ", " ")
    for mark in "[],":
        compact = compact.replace(mark + " ", mark).replace(" " + mark, mark)
    return compact


def _known_sizes(shape: Shape, count: int) -> list[int]:
    """Return the shape with its unknown dimension, if any, as a literal of `count` elements must have it."""
    if None not in shape:
        return [size for size in shape if size is not None]
    known = _product([size for size in shape if size is not None], count)
    return [size if size is not None else count // known if known else 0 for size in shape]


def _product(sizes: Sequence[int], most: int) -> int:
    """Return the product of the sizes, or any number above `most` if it is above: there may be 100,000 large ones."""
    product = 1
    for size in sizes:
        product *= size
        if product > most:
            return 0 if 0 in sizes else product
    return product


def _is_nested(compact: str, sizes: list[int]) -> bool:
    """Return whether brackets and commas are at the places that the sizes, none of them zero, require.

    This holds under two conditions: without its elements, the text is the outline of the sizes; and the text has as
    many unbroken separators (`]],[[`) as the outline, so that elements are only in their places.
    """
    outline, depth = "", 0
    for axis in range(len(sizes) - 1, -1, -1):
        if sizes[axis] != 1:
            separator = "]" * depth + "," + "[" * depth
            if compact.count(separator) != math.prod(sizes[: axis + 1]) - 1:
                return False
            outline = (outline + separator) * (sizes[axis] - 1) + outline
        depth += 1
    opening, closing = "[" * depth, "]" * depth
    framed = compact.startswith(opening) and compact.endswith(closing)
    return framed and compact.translate(_TO_OUTLINE) == opening + outline + closing


class _Walk:
    """A list literal read token by token: slow, and exact about errors and their places."""

    def __init__(self, text: str, shape: Shape) -> None:
        self.text = text
        self.shape = shape
        self.sizes = list(shape)
        self.texts: list[str] = []
        self.open: list[int] = []  # the start of each open list
        self.found: list[int] = []  # how many items it has so far
        self.last = ""
        self.start = self.end = 0

    def elements(self) -> list[str]:
        for match in TOKEN.finditer(self.text):
            self.start, self.end = match.span()
            token = match[0]
            if not self.open and self.last:
                self.fail(f"expected the literal to end here, found `{shown(token)}`")
            if token == ",":
                self.comma()
            elif token == "]":
                self.close()
            else:
                self.item(token)
            self.last = token
        if self.open or not self.last:
            self.start = self.end = len(self.text)
            self.fail(f"expected {'`]`' if self.open else self.noun()}, found the end of the literal")
        return self.texts

    def comma(self) -> None:
        if self.last in ("", "[", ","):
            self.fail(f"expected {self.noun()} before `,`")

    def close(self) -> None:
        if self.last in ("", ","):
            self.fail(f"expected {self.noun()}, found `]`")
        axis = len(self.open) - 1
        expected = self.sizes[axis]
        if expected is None:
            self.sizes[axis] = self.found[-1]
        elif self.found[-1] != expected:
            self.fail_count(expected, self.found[-1])
        self.open.pop()
        self.found.pop()

    def item(self, token: str) -> None:
        if self.last not in ("", "[", ","):
            self.fail(f"expected `,` or `]`, found `{shown(token)}`")
        if self.open:
            self.found[-1] += 1
            expected = self.sizes[len(self.open) - 1]
            if expected is not None and self.found[-1] > expected:
                self.fail_count(expected, self.length())
        wanted = len(self.open) < len(self.sizes)
        if (token == "[") != wanted:
            expected_token = "`[`" if wanted else "an element"
            self.fail(f"expected {expected_token}, found `{shown(token)}`: the shape is {_spelled(self.shape)}")
        if wanted:
            self.open.append(self.start)
            self.found.append(0)
        else:
            self.texts.append(token)

    def length(self) -> int:
        """Return the number of items of the innermost open list."""
        items = depth = 0
        for match in TOKEN.finditer(self.text, self.open[-1]):
            token = match[0]
            items += depth == 1 and token not in ("]", ",")
            depth += (token == "[") - (token == "]")
            if depth == 0:
                break
        return items

    def noun(self) -> str:
        return "an element" if len(self.open) == len(self.sizes) else "a list"

    def fail_count(self, expected: int, found: int) -> None:
        noun = self.noun().split()[-1] + ("" if expected == 1 else "s")
        where = f" in dimension {len(self.open) - 1} of {_spelled(self.shape)}" if len(self.sizes) > 1 else ""
        self.fail(f"expected {expected} {noun}{where}, found {found}")

    def fail(self, message: str) -> None:
        raise LiteralError(codes.WRONG_NESTING, message, self.start, self.end)


def locate(text: str, index: int) -> tuple[int, int]:
    """Return the place of the element number `index` of a list literal: its offsets in the text, end exclusive."""
    return next(islice(_ELEMENT.finditer(text), index, None)).span()


def nest(texts: Sequence[str], shape: Sequence[int]) -> str:
    """Return a list literal from element texts, such as `[[1, 2], [3, 4]]`; for the empty shape, the one text.

    Raise LiteralError if the shape has another number of elements, or has none and needs more than `MOST_EMPTY_LISTS`
    empty lists.
    """
    if _product(shape, len(texts)) != len(texts):
        raise LiteralError(codes.WRONG_NESTING, f"{len(texts)} elements do not fill the shape {_spelled(shape)}", 0, 0)
    if not texts:
        spelled, shape = _spelled(shape), shape[: shape.index(0)]
        lists = _product(shape, MOST_EMPTY_LISTS)
        if lists > MOST_EMPTY_LISTS:
            raise LiteralError(codes.WRONG_NESTING, f"the shape {spelled} has too many empty lists to write", 0, 0)
        texts = ["[]"] * lists
    depth = 0
    for size in reversed(shape):
        if size != 1:
            separator = "]" * depth + ", " + "[" * depth
            texts = [separator.join(texts[start : start + size]) for start in range(0, len(texts), size)]
        depth += 1
    return "[" * depth + texts[0] + "]" * depth


def _spelled(shape: Shape) -> str:
    sizes = ["?" if size is None else str(size) for size in shape[:8]]
    return "[" + ", ".join(sizes + ["..."] * (len(shape) > 8)) + "]"


def shown(text: str, most: int = 40) -> str:
    """Return a piece of source for a message: cut in the middle if it has more than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2 - 2]}...{text[2 - most // 2 :]}"


_ESCAPED = rf'[\t\n\r"\\{FORBIDDEN}]'
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_UNESCAPED = {escape[1]: char for char, escape in _SHORT_ESCAPES.items()}
_IN_STRING = rf"(?s:\\u\{{([^{{}}]*)\}}|\\(.?)|([{FORBIDDEN}\ud800-\udfff]))"


def quote(value: str) -> str:
    r"""Return a string as MIL text: in double quotes, with `\"`, `\\`, `\n`, `\t`, and `\u{hex}` for the other
    characters not allowed raw (`FORBIDDEN`, and the carriage return).
    """
    if value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return '"' + re.sub(_ESCAPED, _escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(match[0]) or f"\\u{{{ord(match[0]):x}}}"


def unquote(text: str) -> str:
    """Return the contents of a quoted string. Raise LiteralError at a wrong escape or at a character not allowed raw.

    `text` includes the quotes; tabs and line ends in it stay unchanged.
    """
    if "\\" not in text and text.isprintable():
        return text[1:-1]
    return re.sub(_IN_STRING, _character, text[1:-1])


def _character(match: re.Match[str]) -> str:
    start, end = match.start() + 1, match.end() + 1  # the quote before
    if match[3]:
        raise LiteralError(codes.CONTROL_CHARACTER, _raw(match[3]), start, end)
    if match[1] is not None:
        return _code_point(match[1], start, end)
    if match[2] == "u":
        raise LiteralError(
            codes.UNKNOWN_ESCAPE, r"expected `\u{...}` with the hexadecimal number of a character", start, end
        )
    if match[2] not in _UNESCAPED:
        raise LiteralError(codes.UNKNOWN_ESCAPE, rf"unknown escape `\{visible(match[2])}`", start, end)
    return _UNESCAPED[match[2]]


def _raw(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return f"U+{ord(char):04X} is a surrogate, which no string may contain"
    name = unicodedata.name(char, "control character")
    return rf"U+{ord(char):04X} ({name}) may not be raw in a string: write `\u{{{ord(char):x}}}`"


def _code_point(digits: str, start: int, end: int) -> str:
    number = re.fullmatch(r"0*([0-9a-fA-F]{1,6})", digits)
    code = int(number[1], 16) if number else 0x110000
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        problem = "is a surrogate, which is not a character" if code <= 0xFFFF else "is not the number of a character"
        raise LiteralError(codes.UNKNOWN_ESCAPE, rf"`\u{{{visible(shown(digits))}}}` {problem}", start, end)
    return chr(code)


def visible(text: str) -> str:
    """Return a text made safe for a line: a character not allowed raw becomes its number, as in `<U+2028>`."""
    return re.sub(rf"[\t\n\r{FORBIDDEN}\ud800-\udfff]", lambda match: f"<U+{ord(match[0]):04X}>", text)
