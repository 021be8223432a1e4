"""Values during lowering: a raw literal becomes the wire bytes of a `Value` once its type is known."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import bool_meant, did_you_mean
from miltext.parsing.lowering.arrays import ArrayReference
from miltext.parsing.lowering.errors import INFER, LoweringError, NamesInBrackets
from miltext.parsing.lowering.names import string_bytes
from miltext.parsing.lowering.types import LoweredType, scalar_type
from miltext.schema import fields
from miltext.schema.dtypes import BY_NAME, FIELD_DTYPES, DType
from miltext.schema.wire import sized, tag, varints
from miltext.syntax.encoding import encode, encode_list
from miltext.syntax.literals import TOKEN, LiteralError, elements, shown, without_spaces
from miltext.syntax.names import PLAIN
from miltext.syntax.plain_tokens import is_list, plain_element

if TYPE_CHECKING:
    from miltext.syntax.parser import Parsed

_NOUNS = {"tensor": "a tensor", "list": "a list", "tuple": "a tuple", "dict": "a dictionary", "state": "a state"}

Children: TypeAlias = "list[Parsed]"
"""The tokens of a phrase, and the lowered phrases inside it: each rule determines the types of its children."""


class Raw:
    """A literal without its type, by its children. A subclass for a literal without a value raises its own error."""

    code = codes.WRONG_KIND_OF_LITERAL
    message = ""

    def __init__(self, children: Sequence[Parsed]) -> None:
        self.children = children

    @property
    def place(self) -> str | None:
        """The first token, for a message's place."""
        first: str | Raw | None = self.children[0] if self.children else None
        return _place(first)

    def content(self, value_type: LoweredType) -> bytes:
        """Return the value's field of the Value message: `immediateValue` or `blobFileValue`."""
        raise LoweringError(self.code, self.message, self.place)


def _place(raw: str | Raw | None) -> str | None:
    return raw.place if isinstance(raw, Raw) else raw


def misfit(value_type: LoweredType, place: str | None) -> LoweringError:
    """Return the error of a literal whose form does not fit its type."""
    noun = _NOUNS.get(value_type.kind, "no type at all")
    way = "$list[...], $tuple(...) or $dictionary{...} spells a literal of another kind than its type"
    return LoweringError(
        codes.WRONG_KIND_OF_LITERAL, f"this literal does not fit its type, which is {noun}; {way}", place
    )


def immediate(member: bytes, message: bytes) -> bytes:
    """Return the field `immediateValue` with the member given."""
    return sized(fields.IMMEDIATE, sized(member, message))


TRAILING = "nothing follows this comma; remove it"

STRING = scalar_type(BY_NAME["string"])
_STRING_HEADS = [STRING.field + head for head in fields.STRING_CONTENT_HEADS]


def lower_value(value_type: LoweredType, raw: str | Raw) -> bytes:
    """Return the Value of a type and a literal."""
    if value_type is STRING and isinstance(raw, str) and raw[0] == '"':
        return string_value(raw)
    content = text_content(value_type, raw) if isinstance(raw, str) else raw.content(value_type)
    return value_type.field + content


def string_value(token: str) -> bytes:
    """Return the Value `string("...")`: a fast path, as half of all values are names of operations."""
    text = string_bytes(token)
    if len(text) < len(_STRING_HEADS):
        return _STRING_HEADS[len(text)] + text
    return STRING.field + tensor_content(BY_NAME["string"], sized(fields.VALUES, text))


def element(value_type: LoweredType | None, raw: str | Raw) -> bytes:
    """Return an inner Value: its type follows from the container, unless the value states its own."""
    if isinstance(raw, WholeValue):
        return raw.children[2]  # type: ignore[no-any-return]
    if value_type is None:
        raise LoweringError(
            codes.WRONG_KIND_OF_LITERAL,
            "the container's type does not imply a type here; write `$value(TYPE(...))`",
            _place(raw),
        )
    return lower_value(value_type, raw)


def text_content(value_type: LoweredType, raw: str) -> bytes:
    """Return the content of a literal of one token: a number, a string, or a list of numbers in brackets."""
    if value_type.kind == "list" and raw[0] == "[":
        children = [child for part in _split(raw) for child in (",", part)]
        try:
            return RawList(["[", *children[1:], "]"]).content(value_type)
        except LoweringError as failure:  # the place is a part of `raw`, which is one token of the tree
            raise LoweringError(failure.code, failure.message, raw) from None
    if value_type.kind != "tensor":
        raise misfit(value_type, raw)
    shape, dtype = _literal_shape(value_type, raw), value_type.dtype
    assert dtype is not None
    if raw[0] == "[":
        return tensor_content(dtype, list_values(raw, shape, dtype))
    if shape:
        meant = f"{'[' * len(shape)}{raw}{']' * len(shape)}" if set(shape) == {1} else None
        message = f"expected a list nested like its type's shape, found `{shown(raw)}`"
        raise LoweringError(codes.WRONG_NESTING, f"{message}{did_you_mean(meant)}", raw, suggestion=meant)
    return tensor_content(dtype, element_values([raw], dtype, raw))


def _literal_shape(value_type: LoweredType, place: str | None) -> tuple[int | None, ...]:
    """Return the shape that determines the nesting of a literal of the type."""
    if value_type.dtype is None or value_type.shape is None or value_type.shape.count(None) > 1:
        needed = "a known data type, a known rank and at most one unknown dimension"
        message = f"a plain literal needs a type of {needed}; else name the field, as in `$ints([1, 2])`"
        raise LoweringError(codes.TYPE_WITHOUT_SHAPE, message, place)
    return value_type.shape


def tensor_content(dtype: DType, values: bytes) -> bytes:
    """Return an immediate TensorValue with its usual field, whose message is `values`."""
    return immediate(fields.TENSOR, sized(fields.TENSOR_VALUES[dtype.field], values))


def list_values(raw: str, shape: Sequence[int | None], dtype: DType) -> bytes:
    """RepeatedFloats or its like from a bracketed list of numbers, nested like the shape."""
    try:
        if dtype.kind == "string":  # of strings in brackets, only an empty list is one token
            return element_values(elements(raw, shape), dtype, raw)
        return _repeated(encode_list(raw, shape, dtype))
    except LiteralError as failure:
        refused = trailing_comma(raw)
        raise refused or LoweringError(failure.code, failure.message, raw, failure.start, failure.end) from None


def element_values(texts: list[str], dtype: DType, place: str) -> bytes:
    """RepeatedFloats or its like from element texts; errors are shown at `place`."""
    if dtype.kind == "string":
        return b"".join(sized(fields.VALUES, _string(text, place)) for text in texts)
    try:
        return _repeated(encode(texts, dtype))
    except LiteralError as failure:
        meant = {"0": "false", "1": "true"}.get(place) if dtype.kind == "bool" else None
        message = f"{failure.message}{did_you_mean(meant)}"
        raise LoweringError(failure.code, message, place, suggestion=meant) from None


def _repeated(data: bytes | list[int]) -> bytes:
    if not data:
        return b""
    return sized(fields.VALUES, data if isinstance(data, bytes) else varints(data))


def _string(text: str, place: str) -> bytes:
    if text[0] != '"':
        raise LoweringError(codes.WRONG_ELEMENT, f"expected a string, found `{shown(text)}`", place)
    return string_bytes(text)


def _split(raw: str) -> list[str]:
    """Return the elements of a bracketed list, inner lists whole."""
    if refused := list_error(raw):
        raise refused
    parts, depth, start = [], 0, 1
    for match in re.finditer(r"[\[\],]", raw):
        depth += {"[": 1, "]": -1}.get(match[0], 0)
        if depth == 0 or (depth == 1 and match[0] == ","):
            parts.append(raw[start : match.start()].strip())
            start = match.end()
    return parts if parts != [""] else []


def list_error(token: str) -> LoweringError | None:
    """Return the error of a list of plain elements that was read as one token, by the rules of the grammar."""
    if is_list(without_spaces(token)):
        return None
    if refused := trailing_comma(token):
        return refused
    for piece in TOKEN.finditer(token):
        if piece[0] not in "[]," and not plain_element().fullmatch(piece[0]):
            near = did_you_mean(piece[0].lower() if bool_meant(piece[0]) else None)
            message = f"`{shown(piece[0])}` is not a number, a truth value or a string{near}"
            return LoweringError(codes.WRONG_ELEMENT, message, token, piece.start(), piece.end())
    return LoweringError(codes.WRONG_NESTING, "the brackets and commas of this list do not match", token)


def trailing_comma(token: str) -> LoweringError | None:
    """Return the error of a list with a comma after its last element, and no other error."""
    found = re.search(r",(?=[ \t\r\n]*\])", token)
    if not found or not is_list(without_spaces(token[: found.start()] + token[found.end() :])):
        return None
    return LoweringError(codes.OTHER_LANGUAGE, TRAILING, token, found.start(), found.end(), suggestion="")


def bound_list_error(literal: str) -> LoweringError | None:
    """Return the error of a literal in an argument of a draft, if it is a list that was read as one token."""
    return (_names_in_brackets(literal) if _is_one_token(literal) else None) or plain_list_error(literal)


def plain_list_error(literal: str) -> LoweringError | None:
    """Return the error of a literal of a draft, if it is a list that was read as one token."""
    return list_error(literal) if _is_one_token(literal) else None


def _is_one_token(literal: str) -> bool:
    """Return whether a literal is a list that was read as one token."""
    return literal[0] == "[" and literal != "["


def _names_in_brackets(token: str) -> LoweringError | None:
    """Return the error of a list with names of values among its elements."""
    words = [word.strip() for word in token[1:-1].split(",")]
    inside = [word.lower() if bool_meant(word) else word for word in words]
    if not any(PLAIN.fullmatch(word) and not bool_meant(word) for word in inside):
        return None
    if not all(PLAIN.fullmatch(word) or plain_element().fullmatch(word) for word in inside):
        return None
    if len(inside) == 1:
        return NamesInBrackets(
            codes.OTHER_LANGUAGE, f"one value is written alone: `{shown(inside[0])}`", token, suggestion=inside[0]
        )
    meant = f"({', '.join(inside)})"
    message = f"several values belong in parentheses: `{shown(meant)}`"
    return NamesInBrackets(codes.OTHER_LANGUAGE, message, token, suggestion=meant)


def untyped(literal: str | Raw, at: int) -> LoweringError:
    """Return the error of a draft's literal without a type; `at` is its index in the phrase."""
    what, like = "literal", "int32(1)"
    if isinstance(literal, ArrayFile):
        what, like = "array", 'tensor<fp16, [2]>($npy("w.npy"))'
    return LoweringError(
        codes.MISSING_TYPE, f"the type of this {what} is left out: write one as in `{like}`, {INFER}", at
    )


def misplaced(literal: str | Raw) -> LoweringError | None:
    """Return the error of a draft's literal whose lists contain anything except plain elements."""
    for child in literal.children if isinstance(literal, RawList) else ():
        if isinstance(child, RawList):
            if refused := misplaced(child):
                return refused
        elif isinstance(child, Raw):
            return LoweringError(codes.WRONG_KIND_OF_LITERAL, _ONLY_PLAIN, child.place)
    return None


_ONLY_PLAIN = "a tensor's literal contains only numbers, truth values or strings"


class Container(Raw):
    """A literal that contains others."""

    kind = ""
    member = b""

    def content(self, value_type: LoweredType) -> bytes:
        if value_type.kind != self.kind:
            raise misfit(value_type, self.place)
        return immediate(self.member, self.values(value_type.parts, strict=True, length=value_type.length))

    @abstractmethod  # without ABC, whose `isinstance` is slower: mypy checks each kind
    def values(self, parts: tuple[LoweredType, ...], strict: bool, length: int | None = None) -> bytes:
        """Return the fields of the ListValue, TupleValue or DictionaryValue."""


class RawList(Container):
    """`[a, b]`: a list's values, or a tensor's elements if they are strings or a comment is between them."""

    kind = "list"
    member = fields.LIST

    def content(self, value_type: LoweredType) -> bytes:
        if value_type.kind != "tensor":
            return super().content(value_type)
        shape, dtype = _literal_shape(value_type, self.place), value_type.dtype
        assert dtype is not None
        return tensor_content(dtype, self.tensor_values(shape, dtype))

    def tensor_values(self, shape: Sequence[int | None], dtype: DType) -> bytes:
        """RepeatedFloats or its like.

        The list's own text, with 0 for each string, shows whether its nesting is correct.
        """
        texts: list[str] = []
        place = self.place or ""
        try:
            numbers = elements("".join(self._flatten(texts)), shape)
        except LiteralError as failure:
            raise LoweringError(failure.code, failure.message, place) from None
        return element_values(texts if any(text[0] == '"' for text in texts) else numbers, dtype, place)

    def _flatten(self, texts: list[str]) -> list[str]:
        """Return the list's text with 0 for each string; collect its elements in `texts`."""
        nesting: list[str] = []
        for child in self.children:
            if isinstance(child, RawList):
                nesting += child._flatten(texts)
            elif isinstance(child, Raw):
                raise LoweringError(codes.WRONG_KIND_OF_LITERAL, _ONLY_PLAIN, child.place)
            elif child in ("[", "]", ","):
                nesting.append(child)
            else:
                texts.append(child)
                nesting.append("0" if child[0] == '"' else child)
        return nesting

    def values(self, parts: tuple[LoweredType, ...], strict: bool, length: int | None = None) -> bytes:
        children = self.children[1:-1:2]
        if strict and length is not None and length != len(children):
            raise LoweringError(codes.WRONG_NESTING, f"expected {length} values, found {len(children)}", self.place)
        implied = parts[0] if parts else None
        return b"".join(sized(fields.VALUES, element(implied, child)) for child in children)


class RawTuple(Container):
    """`(a, b)`."""

    kind = "tuple"
    member = fields.TUPLE

    def values(self, parts: tuple[LoweredType, ...], strict: bool, length: int | None = None) -> bytes:
        children = self.children[1:-1:2]
        if strict and len(parts) != len(children):
            raise LoweringError(codes.WRONG_NESTING, f"expected {len(parts)} values, found {len(children)}", self.place)
        implied = [*parts, *[None] * len(children)]
        return b"".join(sized(fields.VALUES, element(kind, child)) for kind, child in zip(implied, children))  # noqa: B905


class RawDictionary(Container):
    """`{{key, value}, {key, value}}`."""

    kind = "dict"
    member = fields.DICTIONARY

    def values(self, parts: tuple[LoweredType, ...], strict: bool, length: int | None = None) -> bytes:
        key_type, value_type = parts or (None, None)
        return b"".join(
            sized(fields.VALUES, _member(1, key_type, key) + _member(2, value_type, value))
            for _, key, _, value, _ in self.children[1:-1:2]
        )


def _member(field: int, value_type: LoweredType | None, raw: str | Raw) -> bytes:
    return b"" if isinstance(raw, NoValue) else sized(tag(field), element(value_type, raw))


class AnyKind(Raw):
    """`$list[...]`, `$tuple(...)`, `$dictionary{...}`: a literal whose kind or count may differ from its type."""

    def content(self, value_type: LoweredType) -> bytes:
        literal: Container = self.children[1]
        parts = value_type.parts if value_type.kind == literal.kind else ()
        return immediate(literal.member, literal.values(parts, strict=False))


class ValuesField(Raw):
    """`$ints([1, 2])`: a TensorValue's member by name, with any number of elements; `$bytes("0aff")` in hex."""

    def content(self, value_type: LoweredType) -> bytes:
        field, _, raw, _ = self.children
        return immediate(fields.TENSOR, sized(fields.TENSOR_VALUES[field[1:]], self._values(field[1:], raw)))

    def _values(self, field: str, raw: str | Raw) -> bytes:
        if field == "bytes":
            data = _hexadecimal(raw)
            return sized(fields.VALUES, data) if data else b""
        if isinstance(raw, RawList):
            return raw.tensor_values((None,), FIELD_DTYPES[field])
        if isinstance(raw, str) and raw[0] == "[":
            return list_values(raw, (None,), FIELD_DTYPES[field])
        raise LoweringError(
            codes.WRONG_KIND_OF_LITERAL, f"`${field}` takes a flat list: `${field}([...])`", _place(raw)
        )


def _hexadecimal(raw: str | Raw) -> bytes:
    if isinstance(raw, str) and re.fullmatch(r'"(?:[0-9a-fA-F]{2})*"', raw):
        return bytes.fromhex(raw[1:-1])
    raise LoweringError(
        codes.WRONG_KIND_OF_LITERAL, '`$bytes` takes pairs of hexadecimal digits: `$bytes("00ff")`', _place(raw)
    )


class WholeValue(Raw):
    """`$value(TYPE(...))` inside a container: a Value with its own type or docString."""

    message = "`$value` is allowed only inside a list, a tuple or a dictionary"


class NoValue(Raw):
    """`$absent` in a pair: no Value at all."""

    message = "`$absent` is allowed only as a dictionary's key or value"


class Fixed(Raw):
    """`$tensor`, `$empty`, `$unset`: an empty TensorValue, ImmediateValue or Value."""

    contents = {"$tensor": immediate(fields.TENSOR, b""), "$empty": sized(fields.IMMEDIATE, b""), "$unset": b""}

    def content(self, value_type: LoweredType) -> bytes:
        return self.contents[self.children[0]]


class Elided(Raw):
    """`$elided(1000, "sha256:...")`: an omitted literal, without a value."""

    code = codes.ELIDED_LITERAL

    def __init__(self, children: Sequence[Parsed]) -> None:
        super().__init__(children)
        self.message = (
            f"this literal of {shown(children[2])} elements was left out when the text was printed; "
            "print the text with all literals to include it"
        )


class ArrayFile(Raw):
    """`fp16 $npz("weights.npz", "key")`: the values of an array in a file beside the text; only a build reads it."""

    code = codes.VALUE_IN_ARRAY_FILE
    message = (
        "this value is in an array file, and a Program contains only literals; "
        "`miltext build` puts the array into a model's weight file"
    )

    def __init__(self, children: Sequence[Parsed]) -> None:
        super().__init__(children)
        dtype, kind, *arguments = children
        file, *key = (string_bytes(argument).decode() for argument in arguments[1:-1:2])
        self.reference = ArrayReference(kind, file, key[0] if key else None, dtype)

    @property
    def place(self) -> str | None:
        dtype, kind, *_ = self.children
        return _place(dtype or kind)
