"""Layout: each phrase of MIL text to its document in the canonical form, with the comments in it.

`Layout` has one method for each rule of the grammar, as `Lowering` has. A token with comments is a document, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, TypeAlias

from miltext.formatting.document import (
    LINE,
    Comment,
    CommentPlace,
    Document,
    Group,
    Piece,
    code_of,
    comments_of,
    indented,
    inside,
    joined,
    on_lines,
    parted,
)
from miltext.schema.dtypes import BY_NAME
from miltext.syntax.literals import LiteralError, unquote, without_spaces
from miltext.syntax.memo import Memo
from miltext.syntax.names import DRAFT, DRAFT_WORDS, IMPORT, RESERVED, name_text, opset_of
from miltext.syntax.plain_tokens import (
    argument_parts,
    attribute_parts,
    blob_parts,
    is_list,
    operation_head,
    plain_element,
    tensor_parts,
)

Laid: TypeAlias = Any
"""The result for a part of a phrase: a document, or another callback's result; None for an absent part."""

Children = Sequence[Laid]

Keyed = tuple["str | None", Document]
"""A sorted part: its key and its document. Python's order of strings is the order of their bytes in UTF-8.

A positional argument has no key, and precedes all that have one, even an empty name.
"""

_PLAIN_LIST = re.compile(r'\[[^"({]*\]')
_DIMENSIONS = re.compile(r"\[\s*(?:(?:\d+|\?)\s*(?:,\s*(?:\d+|\?)\s*)*)?\]")
_FIELDS = ("$draft", "$version", "$doc", "$rank", "$[", "path", "offset")
_RANK_0 = re.compile(r"tensor<([^ ,]+), \[\]>")


class FinePhrase(Exception):
    """A coarse token contains a phrase that only the fine rules can judge."""


def closed(document: Document, mark: Document) -> Document:
    """Put a `,` or `;` after a document, but before a comment at the end of the line."""
    text, rest = _up_to_line_end(document) if isinstance(mark, str) else (document, [])
    return joined([text, mark, *rest])


def name_of(token: str) -> str:
    """Return the name that a token spells; keep a name with an invalid escape, which is an error elsewhere."""
    try:
        return unquote(token[1:]) if token[:2] == '$"' else token
    except LiteralError:
        return token


def list_text(token: str) -> str:
    """Lay out a list of plain elements: `[[1, 2], [3, 4]]`. Raise FinePhrase if it is none."""
    compact = without_spaces(token)
    if not is_list(compact):
        raise FinePhrase
    return compact.replace(",", ", ")


def literal(token: str) -> str:
    """Lay out a literal that may be a list of plain elements, read as one token."""
    return list_text(token) if token[0] == "[" and _is_plain_list(token) else token


def _is_plain_list(text: str) -> bool:
    return _PLAIN_LIST.fullmatch(text) is not None and not re.search(r"\$[A-Za-z]", text)


def _plain_name(token: str) -> str:
    """Remove the unnecessary quotes of a name."""
    name = name_of(token)
    return token if name is token or name_text(name)[0] == "$" else name


def _name(token: Document) -> Document:
    return inside(_plain_name, token)


def _operator(token: Document) -> Document:
    """Lay out the name of an operation; an import is laid out already."""
    return token if code_of(token).startswith(IMPORT) else _name(token)


def _key(name: Document) -> str:
    return name_of(code_of(name))


def _in_order(parts: Iterable[Keyed]) -> list[Document]:
    return [document for _, document in sorted(parts, key=lambda part: (part[0] is not None, part[0] or ""))]


def _fields(documents: Iterable[Document]) -> list[Document]:
    """Put the fields of a program, of a tensor type or of a blob in their order."""
    return sorted(documents, key=lambda document: _place(code_of(document)))


def _place(field: str) -> int:
    return next(place for place, begins in enumerate(_FIELDS) if field.startswith(begins))


def _items(children: Children) -> list[Document]:
    """Give the comments at a list's commas to its items: from the first on a line of its own, to the next item."""
    items = [child[1] if isinstance(child, tuple) else child for child in children[::2]]
    for index, comma in enumerate(children[1::2]):
        if comma != ",":
            before, _, after = parted(comma)
            own, inline = _own_lines(before)
            if own:
                items[index + 1] = joined([*own, *_on_own_lines(inline + after), items[index + 1]])
            else:
                items[index] = _one_line_end(joined([items[index], *inline, *after]))
    return items


def _one_line_end(document: Document) -> Document:
    """Put the comments after the end of a document's line on lines of their own."""
    text, rest = _up_to_line_end(document)
    return joined([text, *rest[:1], *_on_own_lines(rest[1:])])


def _up_to_line_end(document: Document) -> tuple[Document, list[Comment]]:
    """Split a document before the comment at the end of its line."""
    before, core, after = parted(document)
    cut = next((at for at, comment in enumerate(after) if comment.place is CommentPlace.LINE_END), len(after))
    return joined([*before, core, *after[:cut]]), after[cut:]


def _on_own_lines(comments: list[Comment]) -> list[Comment]:
    return [Comment(CommentPlace.OWN_LINE, comment.text) for comment in comments]


def _with_commas(items: Sequence[Document]) -> list[Document]:
    return [*[closed(item, ",") for item in items[:-1]], *items[-1:]]


# ---- phrases laid out by their form alone


def _tight(children: Sequence[Document], change: Callable[[str], str] = literal) -> Document:
    """Join parts without spaces except after a comma: `tuple<a, b>`."""
    parts = [inside(change, child) for child in children]
    return joined([joined([part, " "]) if code_of(part) == "," else part for part in parts])


def _spaced(children: Sequence[Document]) -> Document:
    """Join parts with spaces: `fp16 x`."""
    return joined([_name(child) for child in children], " ")


def _words(*parts: Document | None) -> Document:
    """Join the present parts with spaces."""
    return joined([part for part in parts if part], " ")


def _token(change: Callable[[Layout, str], str]) -> Callable[[Layout, Sequence[Document]], Document]:
    """Make a callback for a phrase of one token."""
    return lambda self, children: inside(partial(change, self), children[0])


class Layout:
    """A callback for each rule of `grammar/mil.lark`; the children are all of the phrase's symbols.

    `dialect` decides the spelling of a type of rank 0. With `breakable`, lists of arguments, attributes and inputs are
    groups, which may be broken over lines.
    """

    def __init__(self, dialect: str, *, breakable: bool = False) -> None:
        self._scalar = "{}" if dialect == "1.3" else "tensor<{}, []>"
        self._breakable = breakable
        self._type = Memo(self._make_type, 1 << 12)
        self._literal = Memo(self._make_literal, 1 << 14)

    raw_list = raw_tuple = raw_dictionary = pair = dimensions = results = staticmethod(_tight)
    list_type = tuple_type = dictionary_type = state_type = elided = record = staticmethod(_tight)
    program_version = program_doc = opset = operation_opset = value_doc = value_binding = unset_binding = staticmethod(
        _tight
    )
    absent_type = empty_type = dtype = dimension = staticmethod(_tight)
    values_field = any_kind = whole_value = draft_binding = weight_binding = call_binding = nothing = no_value = (
        staticmethod(_tight)
    )
    named_value = inner_block = name_binding = staticmethod(_spaced)

    # ---- the program, functions, blocks and operations

    def program(self, children: Children) -> Document:
        body = next(at for at, child in enumerate(children) if isinstance(child, str | list) and code_of(child) == "{")
        *head, attributes = children[:body]
        first = _words(joined(head[:4]), *_fields(head[4:]))
        own, brace = _closing_brace(children[-1])
        inner = indented([*on_lines(_in_order(children[body + 1 : -1])), *own])
        return joined([first, *on_lines(filter(None, [attributes, children[body]])), inner, LINE, brace])

    def draft_marker(self, children: Children) -> Document:
        """Put the words in their order, and unknown words after them."""
        word, opening, *words, closing = children
        items = sorted(_items(words), key=lambda item: (*DRAFT_WORDS, code_of(item)).index(code_of(item)))
        return joined([word, self._list(opening, items, closing)])

    def function(self, children: Children) -> Keyed:
        word, name, opset, inputs, attributes, bodies, semicolon = children
        head = _words(word, joined([_name(name), opset or "", inputs]), attributes)
        return _key(name), joined([head, indented([closed(bodies, semicolon)])])

    def parameters(self, children: Children) -> Document:
        return self._list(children[0], _items(children[1:-1]), children[-1])

    def bodies(self, children: Children) -> Document:
        """Put the function's own block on its line, then the blocks of other opsets in the order of the opsets."""
        own = [joined([" ", child]) for child in children if not isinstance(child, tuple)]
        return joined([*own, *on_lines(_in_order(child for child in children if isinstance(child, tuple)))])

    def specialization(self, children: Children) -> Keyed:
        word, opset, inputs, block = children
        return opset_of(code_of(opset)[1:-1]), _words(joined([word, opset, inputs or ""]), block)

    def block(self, children: Children) -> Document:
        opening, *operations, brace, arrow, outputs, attributes = children
        own, closing = _closing_brace(brace)
        end = _words(closing, arrow, outputs, inside(_unless_empty, attributes or ""))
        return joined([opening, indented([*on_lines(operations), *own]), LINE, end])

    def outputs(self, children: Children) -> Document:
        return _tight(children, _plain_name)

    def plain_operation(self, token: str) -> Document:
        """Lay out an operation that was read as one token. Raise FinePhrase."""
        head = operation_head().match(token)
        assert head is not None  # the terminal is stricter
        value_type, result, name, arguments = head.groups()
        parts = self._plain_arguments(arguments), self._plain_attributes(token, head.end())
        return joined([f"{self._type[value_type]} {result} = {name}", *parts, ";"])

    def operation(self, children: Children) -> Document:
        results, equals, name, opset, arguments, attributes, *blocks, semicolon = children
        head = [results, " ", equals, " "] if results else []
        kind = name if _key(name) == DRAFT else _operator(name)
        text = joined([*head, kind, opset or "", arguments, attributes or ""])
        if not blocks:
            return closed(text, semicolon)
        return joined([text, indented([closed(joined(on_lines(blocks)), semicolon)])])

    def imported(self, children: Children) -> Document:
        return _tight(children)

    # ---- arguments and attributes

    def _plain_arguments(self, token: str) -> Document:
        if token == "()":
            return token
        pairs = sorted(argument_parts().findall(token))
        if not RESERVED.isdisjoint([word for pair in pairs for word in pair]):
            raise FinePhrase
        return self._plain_list("(", list(map(" = ".join, pairs)), ")")

    def arguments(self, children: Children) -> Document:
        keys, items = [child[0] for child in children[1:-1:2]], _items(children[1:-1])
        is_mixed = None in keys[sum(key is None for key in keys) :]  # a mistake, which stays as it is
        return self._list(children[0], items if is_mixed else _in_order(zip(keys, items, strict=True)), children[-1])

    marked_attributes = arguments

    def single_argument(self, children: Children) -> Keyed:
        return _key(children[0]), _spaced(children)

    attribute = single_argument

    def draft_attribute(self, children: Children) -> Keyed:
        name, equals, value = children
        return _key(name), _words(_name(name), equals, inside(literal, value))

    def argument(self, children: Children) -> Keyed:
        """Remove the parentheses around one binding, unless a comment is in them."""
        name, equals, *bindings = children
        before, core, after = parted(_tight(bindings))
        if len(bindings) == 3 and not any(comments_of(core)):
            core = inside(literal, bindings[1])
        return _key(name), _words(_name(name), equals, joined([*before, core, *after]))

    def _plain_attributes(self, token: str, start: int) -> Document:
        """Lay out the attributes of a plain operation, from a place on; return an empty text if it has none."""
        type_of, literal_of, quote = self._type, self._literal, '"'
        items = [
            f"{key} = {type_of[kind]}({text if text[0] == quote else literal_of[text]})"
            for key, kind, text in sorted(attribute_parts().findall(token, start), key=itemgetter(0))
        ]
        return self._plain_list("[", items, "]") if items else ""

    def _plain_list(self, opening: str, items: list[str], closing: str) -> Document:
        """Lay out a list without comments."""
        if self._breakable:
            return self._list(opening, items, closing)
        return f"{opening}{', '.join(items)}{closing}"

    def positional_argument(self, children: Children) -> Keyed:
        """Return an argument without a name."""
        return None, _tight(children)

    def call(self, children: Children) -> Document:
        name, opset, arguments, attributes = children
        return joined([_operator(name), opset or "", arguments, attributes or ""])

    def draft_value(self, children: Children) -> Document:
        mark, name = children
        is_marked = mark is not None or _key(name) != "_"  # a single `_` is the mark
        return _words(mark, _name(name) if is_marked else name)

    def attributes(self, children: Children) -> Document:
        return inside(_unless_empty, self.arguments(children))

    def _list(self, opening: Document, items: Sequence[Document], closing: Document) -> Document:
        """Lay out a list that may be broken after its opening bracket, after each comma, and before its closing one."""
        if not items:
            return joined([opening, closing])
        *others, last = _with_commas(items)
        before, core, after = parted(closing)
        own, inline = _own_lines(before)
        end = [*parted(last)[2], *own]
        inner, outer = ([], inline) if end and end[-1].place is not CommentPlace.INLINE else (inline, [])
        group = Group([*others, joined([last, *own, *inner])])
        return joined([opening, group if self._breakable else joined(group, " "), *outer, core, *after])

    # ---- types

    scalar_type = _token(lambda self, token: self._scalar.format(token))

    def _make_type(self, token: str) -> str:
        """Lay out a tensor type, or a data type alone, that was read as one token."""
        if token in BY_NAME:
            return self._scalar.format(token)
        name, sizes = tensor_parts().fullmatch(token).groups()  # type: ignore[union-attr]
        if name not in BY_NAME or not _DIMENSIONS.fullmatch(sizes):
            raise FinePhrase
        return self._collapsed(f"tensor<{name}, {without_spaces(sizes).replace(',', ', ')}>")

    def _collapsed(self, text: str) -> str:
        """Spell rank 0 as the dialect does; a type with a comment inside stays as it is."""
        match = _RANK_0.fullmatch(text)
        return self._scalar.format(match[1]) if match else text

    def tensor_type(self, children: Children) -> Document:
        word, opening, dtype, comma, dimensions, *fields, closing = children
        first, second, *others = _items([dtype, comma, dimensions, *[part for field in fields for part in field]])
        others = [field for field in _fields(others) if field != "$[]"]
        items = joined(_with_commas([first, second, *others]), " ")
        return inside(self._collapsed, joined([word, opening, items, closing]))

    def tensor_rank(self, children: Children) -> tuple[Document, Document]:
        """Return the comma before a field, and the field."""
        return children[0], joined(children[1:])

    tensor_attributes = tensor_rank

    def tensor_buffer_type(self, children: Children) -> Document:
        """Write `=` without spaces, as the runtime does."""
        return _tight(children, str)

    # ---- values

    def _make_literal(self, literal: str) -> str:
        if literal[0] == "[":
            if not _is_plain_list(literal):
                raise FinePhrase
            return list_text(literal)
        if literal[-1] == ")":
            path_type, path, offset_type, offset = blob_parts().fullmatch(literal).groups()  # type: ignore[union-attr]
            path, offset = f"{self._type[path_type]}({path})", f"{self._type[offset_type]}({offset})"
            return f"BLOBFILE(path = {path}, offset = {offset})"
        if not plain_element().fullmatch(literal):
            raise FinePhrase
        return literal

    def value(self, children: Children) -> Document:
        doc, *parts = children
        return _words(doc, _tight(parts))

    def blob_path(self, children: Children) -> Document:
        word, equals, *value = children
        return _words(word, equals, _tight(value))

    blob_offset = blob_path

    array_file = value

    def blob(self, children: Children) -> Document:
        word, opening, *fields, closing = children
        return joined([word, opening, joined(_with_commas(_fields(_items(fields))), " "), closing])


def _unless_empty(attributes: str) -> str:
    """Remove brackets that contain neither an attribute nor a comment."""
    return "" if attributes in ("[]", "$[]") else attributes


def _own_lines(before: list[Comment]) -> tuple[list[Comment], list[Comment]]:
    """Split the comments before a token into comments on lines of their own and comments on its line."""
    cut = max([at for at, comment in enumerate(before, 1) if comment.place is CommentPlace.OWN_LINE], default=0)
    return before[:cut], before[cut:]


def _closing_brace(brace: Document) -> tuple[list[Document | Piece], Document]:
    """Split a block's closing brace from the comments on lines before it, which stay with the preceding operation."""
    before, core, after = parted(brace)
    own, inline = _own_lines(before)
    return on_lines(own), joined([*inline, core, *after])
