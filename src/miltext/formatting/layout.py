"""Layout: each phrase of MIL text to its canonical text, with the comments in it.

`Layout` has one method for each rule of the grammar, as `Lowering` has; what it makes of a phrase is a string. What
only the whole text tells, the indentation above all, is left to the formatter: the strings hold marks for it,
characters below U+0009, which may stand nowhere in MIL text.

A comment is part of the text of the token that it belongs to: `INLINE`, `LINE_END` or `OWN_LINE`, the comment,
and `END`. So it moves along with its argument, attribute or function when these are sorted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from miltext.schema.dtypes import BY_NAME
from miltext.schema.opsets import PROTO_BY_TEXT
from miltext.syntax.literals import LiteralError, unquote, without_spaces
from miltext.syntax.memo import Memo
from miltext.syntax.names import DRAFT, RESERVED, name_text
from miltext.syntax.plain_tokens import (
    argument_pairs,
    attribute_parts,
    blob_parts,
    element,
    is_list,
    operation_parts,
    tensor_parts,
)

INLINE, LINE_END, OWN_LINE, END = "\1", "\2", "\3", "\0"
"""A comment with code on both sides, one that ends its line, one with a line of its own; and where it ends."""

LINE, DEEPER, BACK = "\4", "\5", "\6"
"""A new line; from the next line on, four spaces more, or four fewer."""

BREAKABLE, CLOSING = "\7", "\b"
"""Where a list may be broken: before an item, and before its closing bracket."""

NO_BREAKS = str.maketrans("", "", BREAKABLE + CLOSING)

Keyed = tuple[str, str]
"""A part that is sorted: its key and its text. Python's order of strings is that of their bytes in UTF-8."""

_COMMENT = rf"[{INLINE}{LINE_END}{OWN_LINE}][^{END}]*{END}"
_COMMENTS = re.compile(rf"(?:{_COMMENT})*")
_COMMENT_START = re.compile(f"[{INLINE}{LINE_END}{OWN_LINE}]")
_ENDING_LINE = re.compile(rf"{LINE_END}[^{END}]*{END}(?:{_COMMENT})*\Z")
_AT_LINE_END = re.compile(rf"[{LINE_END}{OWN_LINE}][^{END}]*{END}\Z")
_PLAIN_LIST = rf'\[[^"({{{END}-{OWN_LINE}]*\]'
_DIMENSIONS = re.compile(r"\[\s*(?:(?:\d+|\?)\s*(?:,\s*(?:\d+|\?)\s*)*)?\]")
_RANK_0 = re.compile(r"tensor<([^ ,]+), \[\]>")


class Unfit(Exception):
    """A token of the grammar's fast path holds what only its rules can judge."""


def parted(text: str) -> tuple[str, str, str]:
    """The comments before a text, the text itself, and those after it."""
    if END not in text:
        return "", text, ""
    start, end = _COMMENTS.match(text).end(), len(text)  # type: ignore[union-attr]  # it matches any text
    while end > start and text[end - 1] == END:
        opening = _COMMENT_START.search(text, max(start, text.rfind(END, 0, end - 1)), end)
        assert opening is not None
        end = opening.start()
    return text[:start], text[start:end], text[end:]


def inside(change: Callable[[str], str], text: str) -> str:
    """The text with a change to what stands between the comments around it."""
    if END not in text:
        return change(text)
    before, core, after = parted(text)
    return before + change(core) + after


def closed(text: str, mark: str) -> str:
    """The text and its `,` or `;`, which goes before a comment that ends the line."""
    match = _ENDING_LINE.search(text) if mark in ",;" and text[-1:] == END else None
    return f"{text[: match.start()]}{mark}{match[0]}" if match else text + mark


def name_of(token: str) -> str:
    """The name that a token spells; one with an escape that no string has, an error elsewhere, is taken as it is."""
    try:
        return unquote(token[1:]) if token[:2] == '$"' else token
    except LiteralError:
        return token


def list_text(token: str) -> str:
    """`[[1, 2], [3, 4]]`: a list of plain elements, which are kept as they are. Raises Unfit if it is none."""
    compact = without_spaces(token)
    if not is_list(compact):
        raise Unfit
    return compact.replace(",", ", ")


def literal(token: str) -> str:
    """A literal; a list of plain elements may have been read as one token, and is laid out here."""
    if token[0] == "[" or END in token:
        return inside(lambda core: list_text(core) if _is_plain_list(core) else core, token)
    return token


def _is_plain_list(text: str) -> bool:
    return re.fullmatch(_PLAIN_LIST, text) is not None and not re.search(r"\$[A-Za-z]", text)


def _name(token: str) -> str:
    """A name without quotes that it can do without."""
    return inside(_plain_name, token) if '$"' in token else token


def _plain_name(token: str) -> str:
    name = name_of(token)
    return token if name is token or name_text(name)[0] == "$" else name


def _key(name: str) -> str:
    return name_of(parted(name)[1])


def _in_order(parts: Iterable[Keyed]) -> list[str]:
    return [text for _, text in sorted(parts, key=itemgetter(0))]


def _fields(texts: Iterable[str]) -> list[str]:
    """`$version` before `$doc`, `$rank` before `$[...]`, `path` before `offset`: the alphabet's order, reversed."""
    return sorted(texts, key=lambda text: parted(text)[1][:2], reverse=True)


def _items(children: Sequence[Any]) -> list[str]:
    """The items of a list with the comments at its commas: from one on its own line on, they go to the next item."""
    items = [child[1] if isinstance(child, tuple) else child for child in children[::2]]
    for index, comma in enumerate(children[1::2]):
        if comma != ",":
            before, _, after = parted(comma)
            own, inline = _own_lines(before)
            if own:
                items[index + 1] = own + _on_own_lines(inline + after) + items[index + 1]
            else:
                items[index] = _one_line_end(items[index] + inline + after)
    return items


def _one_line_end(text: str) -> str:
    """The text, with lines of their own for the comments that come after the one that ends its line."""
    match = _ENDING_LINE.search(text)
    cut = text.index(END, match.start()) if match else len(text)
    return text[:cut] + _on_own_lines(text[cut:])


def _on_own_lines(comments: str) -> str:
    return re.sub(f"[{INLINE}{LINE_END}]", OWN_LINE, comments)


def _joined(items: Sequence[str], between: str = " ") -> str:
    if not any(END in item for item in items):
        return f",{between}".join(items)
    return between.join([*[closed(item, ",") for item in items[:-1]], items[-1]])


# ---- phrases that are laid out by their form alone


def _tight(children: Sequence[Any]) -> str:
    """`<ios18>`: nothing between the parts."""
    return "".join([literal(child) for child in children])


def _spaced(children: Sequence[Any]) -> str:
    """`fp16 x`: a space between the parts."""
    return " ".join([_name(child) for child in children])


def _separated(children: Sequence[Any]) -> str:
    """`a, b`: parts and commas."""
    parts = list(children)
    parts[1::2] = [comma + " " for comma in parts[1::2]]
    return "".join(parts)


def _bracketed(children: Sequence[Any]) -> str:
    """`[a, b]`: brackets round literals or sizes."""
    return children[0] + _separated([literal(child) for child in children[1:-1]]) + children[-1]  # type: ignore[no-any-return]


def _headed(children: Sequence[Any]) -> str:
    """`tuple<a, b>`: a word before the brackets."""
    return children[0] + _bracketed(children[1:])  # type: ignore[no-any-return]


def _assigned(children: Sequence[Any]) -> str:
    """`path = string("...")`"""
    word, equals, *value = children
    return f"{word} {equals} {_tight(value)}"


def _token(change: Callable[[Layout, str], str]) -> Callable[[Layout, Sequence[Any]], str]:
    """A callback for a phrase of one token."""
    return lambda self, children: inside(partial(change, self), children[0])


class Layout:
    """A callback for each rule of `grammar/mil.lark`; the children are all of the phrase's symbols.

    `dialect` tells how a type of rank 0 is spelled. With `breakable`, lists of arguments, attributes and inputs
    are marked where they may be broken over lines.
    """

    def __init__(self, dialect: str, *, breakable: bool = False) -> None:
        self._scalar = "{}" if dialect == "1.3" else "tensor<{}, []>"
        self._marks = (BREAKABLE, " " + BREAKABLE, CLOSING) if breakable else ("", " ", "")
        self._type = Memo(self._make_type, 1 << 12)
        self._literal = Memo(self._make_literal, 1 << 14)

    raw_list = raw_tuple = raw_dictionary = pair = dimensions = staticmethod(_bracketed)
    list_type = tuple_type = dictionary_type = state_type = elided = array_file = staticmethod(_headed)
    program_version = program_doc = opset = operation_opset = value_doc = value_binding = unset_binding = staticmethod(
        _tight
    )
    absent_type = empty_type = dtype = dimension = staticmethod(_tight)
    values_field = any_kind = whole_value = draft_binding = nothing = no_value = staticmethod(_tight)
    named_value = draft_value = inner_block = name_binding = staticmethod(_spaced)
    results = staticmethod(_separated)
    blob_path = blob_offset = staticmethod(_assigned)

    # ---- the program, functions, blocks and operations

    def program(self, children: Sequence[Any]) -> str:
        body = next(at for at, child in enumerate(children) if isinstance(child, str) and parted(child)[1] == "{")
        *head, attributes = children[:body]
        lines = ["".join(head[:4]) + "".join([f" {field}" for field in _fields(head[4:])]), attributes, children[body]]
        functions = "".join([LINE + text for text in _in_order(children[body + 1 : -1])])
        return LINE.join(filter(None, lines)) + DEEPER + functions + _end_of_block(children[-1])

    def function(self, children: Sequence[Any]) -> Keyed:
        word, name, opset, inputs, attributes, bodies, semicolon = children
        head = f"{word} {_name(name)}{opset or ''}{inputs}{' ' if attributes else ''}{attributes or ''}"
        return _key(name), closed(f"{head}{DEEPER}{bodies}", semicolon) + BACK

    def parameters(self, children: Sequence[Any]) -> str:
        return self._list(children[0], _items(children[1:-1]), children[-1])

    def bodies(self, children: Sequence[Any]) -> str:
        """The function's own block on its line, then those of other opsets in the order of these."""
        own = [f" {child}" for child in children if isinstance(child, str)]
        others = _in_order(child for child in children if isinstance(child, tuple))
        return "".join([*own, *[LINE + text for text in others]])

    def specialization(self, children: Sequence[Any]) -> Keyed:
        word, opset, inputs, block = children
        spelled = re.sub(_COMMENT, "", opset)[1:-1]
        return PROTO_BY_TEXT.get(spelled) or name_of(spelled), f"{word}{opset}{inputs or ''} {block}"

    def block(self, children: Sequence[Any]) -> str:
        opening, *operations, brace, arrow, outputs, attributes = children
        body = "".join([LINE + operation for operation in operations])
        attributes = inside(_unless_empty, attributes or "")
        text = f"{opening}{DEEPER}{body}{_end_of_block(brace)} {arrow} {outputs}"
        return f"{text} {attributes}" if attributes else text

    def outputs(self, children: Sequence[Any]) -> str:
        return _bracketed([_name(child) for child in children])

    def plain_operation(self, token: str) -> str:
        """An operation that was read as one token. Raises Unfit."""
        value_type, result, name, arguments, attributes = operation_parts(token).groups()  # type: ignore[union-attr]
        head = f"{self._type(value_type)} {result} = {name}{self._plain_arguments(arguments)}"
        return f"{head}{self._plain_attributes(attributes) if attributes else ''};"

    def operation(self, children: Sequence[Any]) -> str:
        results, equals, name, opset, arguments, attributes, *blocks, semicolon = children
        head = f"{results} {equals} " if results else ""
        kind = name if _key(name) == DRAFT else _name(name)
        text = f"{head}{kind}{opset or ''}{arguments}{attributes or ''}"
        if not blocks:
            return closed(text, semicolon)
        inner = "".join([LINE + block for block in blocks])
        return closed(f"{text}{DEEPER}{inner}", semicolon) + BACK

    # ---- arguments and attributes

    def _plain_arguments(self, token: str) -> str:
        pairs = sorted(argument_pairs(token))
        if not RESERVED.isdisjoint([name for _, name in pairs]):
            raise Unfit
        return self._plain_list("(", [f"{key} = {name}" for key, name in pairs], ")")

    def arguments(self, children: Sequence[Any]) -> str:
        items = zip([child[0] for child in children[1:-1:2]], _items(children[1:-1]), strict=True)
        return self._list(children[0], _in_order(items), children[-1])

    marked_attributes = arguments

    def single_argument(self, children: Sequence[Any]) -> Keyed:
        return _key(children[0]), _spaced(children)

    attribute = single_argument

    def argument(self, children: Sequence[Any]) -> Keyed:
        """One binding needs no parentheses; they stay where a comment stands in them."""
        name, equals, *bindings = children
        text = _bracketed(bindings)
        if len(bindings) == 3:
            text = inside(lambda core: core if END in core else core[1:-1], text)
        return _key(name), f"{_name(name)} {equals} {text}"

    def _plain_attributes(self, token: str) -> str:
        members = sorted(attribute_parts(token), key=itemgetter(0))
        return self._plain_list("[", [f"{key} = {self._value(kind, literal)}" for key, kind, literal in members], "]")

    def _plain_list(self, opening: str, items: list[str], closing: str) -> str:
        """A list that may be broken, in which no comment stands, nor another list of the kind."""
        start, between, end = self._marks if items else ("", "", "")
        return f"{opening}{start}{f',{between}'.join(items)}{end}{closing}"

    def attributes(self, children: Sequence[Any]) -> str:
        return inside(_unless_empty, self.arguments(children))

    def _list(self, opening: str, items: list[str], closing: str) -> str:
        """A list that may be broken: after its opening bracket, after each comma, before its closing bracket."""
        if not items:
            return opening + closing
        start, between, end = self._marks
        if start:  # a list inside of one stays on its line
            items = [item.translate(NO_BREAKS) for item in items]
        text = _joined(items, between)
        if END not in closing:
            return f"{opening}{start}{text}{end}{closing}"
        before, core, after = parted(closing)
        own, inline = _own_lines(before)
        end = end + inline if _AT_LINE_END.search(text + own) else inline + end
        return f"{opening}{start}{text}{own}{end}{core}{after}"

    # ---- types

    scalar_type = _token(lambda self, token: self._scalar.format(token))

    def _make_type(self, token: str) -> str:
        """A tensor type, or a data type alone, that was read as one token."""
        if token in BY_NAME:
            return self._scalar.format(token)
        name, sizes = tensor_parts(token).groups()  # type: ignore[union-attr]
        if name not in BY_NAME or not _DIMENSIONS.fullmatch(sizes):
            raise Unfit
        return self._collapsed(f"tensor<{name}, {without_spaces(sizes).replace(',', ', ')}>")

    def _collapsed(self, text: str) -> str:
        """Rank 0 as the dialect spells it; a type with a comment inside stays as it is."""
        match = _RANK_0.fullmatch(text)
        return self._scalar.format(match[1]) if match and END not in text else text

    def tensor_type(self, children: Sequence[Any]) -> str:
        word, opening, dtype, comma, dimensions, *fields, closing = children
        first, second, *others = _items([dtype, comma, dimensions, *[part for field in fields for part in field]])
        others = [field for field in _fields(others) if field != "$[]"]
        return inside(self._collapsed, f"{word}{opening}{_joined([first, second, *others])}{closing}")

    def tensor_rank(self, children: Sequence[Any]) -> tuple[str, str]:
        """The comma before the field, and the field."""
        return children[0], "".join(children[1:])

    tensor_attributes = tensor_rank

    def tensor_buffer_type(self, children: Sequence[Any]) -> str:
        """`=` without spaces, as the runtime writes it."""
        return "".join([f"{child} " if parted(child)[1] == "," else child for child in children])

    # ---- values

    def _value(self, kind: str, literal: str) -> str:
        """A value in a plain operation."""
        text = literal if literal[0] == '"' else self._literal(literal)
        return f"{self._type(kind)}({text})"

    def _make_literal(self, literal: str) -> str:
        if literal[0] == "[":
            if not _is_plain_list(literal):
                raise Unfit
            return list_text(literal)
        if literal[-1] == ")":
            path_type, path, offset_type, offset = blob_parts(literal).groups()  # type: ignore[union-attr]
            path, offset = f"{self._type(path_type)}({path})", f"{self._type(offset_type)}({offset})"
            return f"BLOBFILE(path = {path}, offset = {offset})"
        if not element().fullmatch(literal):
            raise Unfit
        return literal

    def value(self, children: Sequence[Any]) -> str:
        doc, *parts = children
        return f"{doc} {_tight(parts)}" if doc else _tight(parts)

    def blob(self, children: Sequence[Any]) -> str:
        word, opening, *fields, closing = children
        return f"{word}{opening}{_joined(_fields(_items(fields)))}{closing}"


def _unless_empty(attributes: str) -> str:
    """No attributes, no brackets, unless a comment stands in them."""
    return "" if attributes in ("[]", "$[]") else attributes


def _own_lines(before: str) -> tuple[str, str]:
    """The comments before a token: those with lines of their own come first, then those on its line."""
    cut = before.find(END, before.rfind(OWN_LINE)) + 1 if OWN_LINE in before else 0
    return before[:cut], before[cut:]


def _end_of_block(brace: str) -> str:
    """The closing brace on its line; comments on lines of their own before it stand with what they follow."""
    before, core, after = parted(brace)
    own, inline = _own_lines(before)
    return f"{''.join([LINE + comment for comment in re.findall(_COMMENT, own)])}{BACK}{LINE}{inline}{core}{after}"
