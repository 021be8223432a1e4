"""Diagnostics of syntax errors, in words for authors of texts."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from miltext.diagnostics import SAFE, Diagnostic, Note, Span, codes, error
from miltext.diagnostics.suggestions import certainty, did_you_mean, nearest
from miltext.parsing.lowering.errors import TOO_NESTED
from miltext.parsing.misread_types import NAME, misread_type, unknown_type
from miltext.schema.dtypes import FIELD_DTYPES
from miltext.syntax.lexer import string_body_end
from miltext.syntax.literals import FORBIDDEN, shown
from miltext.syntax.names import ARRAYS, DRAFT
from miltext.syntax.parser import NestingFailure, SyntaxFailure
from miltext.syntax.tables import load_grammar

if TYPE_CHECKING:
    from miltext.syntax.tree import Node

_TERMINALS = {
    "NAME": "a name",
    "DTYPE": "a data type",
    "CODE": "`$` and a data type's number",
    "NUMBER": "a number",
    "BOOL": "`true` or `false`",
    "STRING": "a string",
    "LIST": "`[`",
    "FIELD": "`$` and a field's name",
    "$END": "the end of the text",
}

_PHRASES = {
    "program": "the program",
    "function": "the function",
    "opset": "the opset",
    "operation_opset": "the opset",
    "parameters": "the inputs",
    "named_value": "the value's name",
    "results": "the operation's outputs",
    "block": "the block",
    "outputs": "the block's outputs",
    "operation": "the operation",
    "inner_block": "the operation's block",
    "arguments": "the operation",
    "single_argument": "the argument",
    "argument": "the argument",
    "attribute": "the attribute",
    "attributes": "the attributes",
    "value": "the value",
    "raw_list": "the list",
    "raw_tuple": "the tuple",
    "raw_dictionary": "the dictionary",
    "pair": "the pair",
}

_PATH = re.compile(r"[^\n\r(){};=]+\.(?:mil|mlmodel|mlpackage|mlmodelc|pb|txtpb)/?")

_TYPE_STARTS = {"DTYPE", "CODE", "tensor", "list", "tuple", "dict", "state", "tensor_buffer", "$absent", "$empty"}
_LITERAL_STARTS = {"NUMBER", "BOOL", "STRING", "LIST", "inf", "nan", "[", "(", "{", "BLOBFILE", "FIELD"}
_TYPED = "a typed value such as `int32(1)`"
_NAMED_VALUES = "; each argument and attribute is written `name = value`"
_HINTS = {"'": "; a string belongs in double quotes", "#": "; a comment begins with `//`", ":": _NAMED_VALUES}


def syntax_error(text: str, failure: SyntaxFailure, nodes: list[Node]) -> Diagnostic:
    """Return the error at the place where the parse stopped; `nodes` are the phrases finished by then."""
    if isinstance(failure, NestingFailure):
        return error(codes.NESTED_TOO_DEEPLY, TOO_NESTED, Span(failure.start, failure.end))
    if path := _path(text):
        return path
    from miltext.parsing.slips import slip_error  # it imports all tables, and most texts are valid

    if slip := slip_error(text, failure.start, _possible(failure)):
        return slip
    return _character(text, failure) or _unclosed(text, failure, nodes) or _unexpected(text, failure, nodes)


def _path(text: str) -> Diagnostic | None:
    """Return the error for the path of a file in place of a text: a wrong argument, or a link that git wrote as
    text.
    """
    name = text.strip()
    if not _PATH.fullmatch(name):
        return None
    start = text.index(name)
    message = "this looks like a path, not like MIL text: `miltext.load` opens the file"
    return error(codes.SYNTAX_ERROR, message, Span(start, start + len(name)))


def _character(text: str, failure: SyntaxFailure) -> Diagnostic | None:
    """Return the error for characters that begin no token."""
    start = failure.start
    if not text.strip(" \t\r\n"):
        return error(codes.EMPTY_TEXT, "the text is empty; a program begins with `program(1.3)`", Span(0, 0))
    if text[start : start + 1] == "\ufeff" and start == 0:
        message = "the text begins with a byte-order mark; save it as UTF-8 without one"
        return error(codes.BYTE_ORDER_MARK, message, Span(0, 1), suggestion="", applicability=SAFE)
    if re.match(f"[{FORBIDDEN}]", text[start : start + 1]):
        return _forbidden(text, start)
    if text.startswith(('"', '$"'), start):
        stop = string_body_end(text, text.index('"', start))
        if not text.startswith('"', stop):
            return _unterminated_string(text, start, stop)
    if text.startswith("/*", start):
        return _unterminated_comment(text, start)
    word = re.compile(r"\$?[-+.\w]*", re.ASCII).match(text, start)
    if word and re.fullmatch(r"\$[A-Za-z_]\w*", word[0]) and word[0] not in _literals():
        near = nearest(word[0], _literals())
        message = f"unknown word `{shown(word[0])}` in MIL text{did_you_mean(near)}"
        certain = certainty(word[0], near)
        return error(
            codes.UNEXPECTED_CHARACTER, message, Span(start, word.end()), suggestion=near, applicability=certain
        )
    if word and re.match(r"[-+]?\.?\d", word[0]) and not _is_number(word[0]):
        return error(codes.UNEXPECTED_CHARACTER, f"`{shown(word[0])}` is not a number", Span(start, word.end()))
    if start < len(text) and not re.match(r"[\w\[\](){}<>=,;?\"$/.+-]", text[start], re.ASCII):
        what = f"unexpected character {_named(text[start])}{_HINTS.get(text[start], '')}"
        return error(codes.UNEXPECTED_CHARACTER, what, Span(start, start + 1))
    return None


def _is_number(word: str) -> bool:
    pattern = next(terminal.pattern for terminal in load_grammar().terminals if terminal.name == "NUMBER")
    return re.fullmatch(pattern, word) is not None


def _literals() -> set[str]:
    return {terminal.literal for terminal in load_grammar().terminals if terminal.literal} | {
        f"${field}" for field in (*FIELD_DTYPES, "bytes")
    }


def _named(character: str) -> str:
    if "!" <= character <= "~":
        return f"`{character}`"
    name = unicodedata.name(character, "")
    code = f"U+{ord(character):04X}"
    return f"{code} ({name})" if name else code


def _forbidden(text: str, at: int) -> Diagnostic:
    character = text[at]
    message = f"a raw {_named(character)} is not allowed: it would hide or reorder text"
    if unicodedata.category(character) == "Cc":
        message = f"a raw control character {_named(character)} is not allowed"
    return error(
        codes.CONTROL_CHARACTER, f"{message}; in a string it is written `\\u{{{ord(character):x}}}`", Span(at, at + 1)
    )


def _unterminated_string(text: str, start: int, stop: int) -> Diagnostic:
    """Return the error for a string that ends at a forbidden character, usually the end of its line."""
    if re.match(f"[{FORBIDDEN}]", text[stop : stop + 1]):
        forbidden = _forbidden(text, stop)
        escape = f"\\u{{{ord(text[stop]):x}}}"
        return forbidden._replace(suggestion=escape, applicability=SAFE)
    if text[stop : stop + 1] == "\t":
        message = "a raw tab in a string is not allowed; write `\\t`"
        return error(codes.CONTROL_CHARACTER, message, Span(stop, stop + 1), suggestion="\\t", applicability=SAFE)
    return error(
        codes.UNTERMINATED, 'this string is not closed: `"` is missing before the end of the line', Span(start, stop)
    )


def _unterminated_comment(text: str, start: int) -> Diagnostic:
    closing = text.find("*/", start + 2)
    hidden = re.compile(f"[{FORBIDDEN}]").search(text, start, closing if closing >= 0 else len(text))
    if hidden:
        return _forbidden(text, hidden.start())
    return error(codes.UNTERMINATED, "this comment is not closed: `*/` is missing", Span(start, start + 2))


def _unclosed(text: str, failure: SyntaxFailure, nodes: list[Node]) -> Diagnostic | None:
    """Return the error for a text that ends too early, with the last open bracket."""
    if text[failure.start :].strip(" \t\r\n"):
        return None
    notes = [Note(f"this `{node.token}` is not closed", node.span) for node in _opened(nodes)[-1:]]
    place = Span(len(text.rstrip()), len(text.rstrip()))
    return error(codes.UNEXPECTED_END, f"the text ends too early: {_wanted(text, failure, nodes)}", place, *notes)


def _opened(nodes: list[Node]) -> list[Node]:
    """Return the open brackets; all brackets inside finished phrases are closed."""
    opened: list[Node] = []
    for node in nodes:
        if node.token in ("{", "(", "[", "<", "$["):
            opened.append(node)
        elif node.token in ("}", ")", "]", ">") and opened:
            opened.pop()
    return opened


def _unexpected(text: str, failure: SyntaxFailure, nodes: list[Node]) -> Diagnostic:
    found = text[failure.start : failure.end]
    place = Span(failure.start, failure.end)
    words = _words(failure, nodes)
    if ";" in words and nodes and "\n" in text[nodes[-1].end : failure.start]:
        place = Span(nodes[-1].end, nodes[-1].end)
        return error(codes.SYNTAX_ERROR, _wanted(text, failure, nodes), place, suggestion=";", applicability=SAFE)
    no_type = _no_type(text, place, words, nodes)
    near = nearest(found, _keywords(words))
    hint = _way_out(found, words) or (did_you_mean(near) if len(words) > 1 else "")
    message = f"{_wanted(text, failure, nodes)}, found `{shown(' '.join(found.split()))}`{hint}"
    return no_type or error(codes.SYNTAX_ERROR, message, place, suggestion=near, applicability=certainty(found, near))


def _keywords(words: set[str]) -> set[str]:
    """Return the keywords among terminals: their names are their spellings."""
    truths = {"true", "false"} if "BOOL" in words else set()
    return truths | {word for word in words if word.islower() or word == "BLOBFILE"}


def _way_out(found: str, words: set[str]) -> str:
    """Return the hint at the end of a message if the intention is clear."""
    if words == {"="} and found in (")", ","):
        return _NAMED_VALUES
    return ""


def _no_type(text: str, place: Span, words: set[str], nodes: list[Node]) -> Diagnostic | None:
    """Return the error for a name in place of a type; None for any other error."""
    found = text[place.start : place.end]
    if NAME.fullmatch(found) and "DTYPE" in words and "NAME" not in words:
        return unknown_type(found, place, "type" if "tensor" in words else "data type")
    misread = misread_type(found, words, nodes)
    return unknown_type(text[misread.start : misread.end], misread.span) if misread else None


def _words(failure: SyntaxFailure, nodes: list[Node]) -> set[str]:
    """Return the terminals that may be proposed at the place, as words if a terminal has only one."""
    words = _possible(failure)
    return words - _of_drafts(words, nodes) or words


def _possible(failure: SyntaxFailure) -> set[str]:
    """Return the possible terminals at the place, as words if a terminal has only one."""
    terminals = {terminal.name: terminal for terminal in load_grammar().terminals}
    named = [terminals.get(name) for name in failure.expected]
    words = {terminal.literal or terminal.name for terminal in named if terminal and not terminal.fast}
    if "BLOBFILE" in words:  # the parser allows a literal here; a data type would begin the conversion of an array
        words.discard("DTYPE")
    return words | {name for name in failure.expected if name not in terminals}


def _of_drafts(words: set[str], nodes: list[Node]) -> set[str]:
    """Return those words that only a draft may contain here; they are not proposed."""
    last = nodes[-1].token if nodes else None
    of_drafts = {DRAFT, "$blob", *ARRAYS} | (_LITERAL_STARTS - {"("} if "DTYPE" in words else set())
    if {"(", "<"} <= words:  # after a name
        of_drafts |= {"(", "<"} if ")" in words else {"=", ","}
    elif {"NAME", "$unset", "("} <= words and last in ("(", ","):  # where an argument begins
        of_drafts = words - {"NAME", ")"}
    elif DRAFT in words and last in ("(", ","):  # where an input or an output begins
        of_drafts |= {"NAME"}
    return of_drafts


def _wanted(text: str, failure: SyntaxFailure, nodes: list[Node]) -> str:
    """Return the beginning of a message: the expected text, and its context."""
    words = _words(failure, nodes)
    if ";" in words:
        return f"expected `;` after {_unfinished(nodes)}"
    return f"expected {_listed(_choices(words, nodes))}{_after(text, nodes)}"


def _unfinished(nodes: list[Node]) -> str:
    """Return the noun for the phrase that a `;` would end: a function if only the program's brace is open, else an
    operation.
    """
    depth = sum((node.token == "{") - (node.token == "}") for node in nodes)
    return "the operation" if depth > 1 else "the function"


def _choices(words: set[str], nodes: list[Node]) -> list[str]:
    """Return the expected words for a message: nouns for kinds of tokens, and miltext's own spellings only if nothing
    else is possible.
    """
    chosen = []
    if len(words & _LITERAL_STARTS) > 4:
        chosen.append("a literal")
        words = words - _LITERAL_STARTS
    if len(words & _TYPE_STARTS) > 4:
        noun, implied = _typed_noun(words, nodes)
        chosen.append(noun)
        words = words - _TYPE_STARTS - implied
    plain = {word for word in words if word == "$END" or (word[0] != "$" and word not in ("CODE", "FIELD"))}
    return chosen + [_TERMINALS.get(word, f"`{word}`") for word in sorted(plain or (set() if chosen else words))]


def _typed_noun(words: set[str], nodes: list[Node]) -> tuple[str, set[str]]:
    """Return the noun for a phrase that begins with a type here, and the words that this noun includes."""
    if {"NAME", "}"} <= words:
        return "an operation", {"NAME"}
    if nodes and nodes[-1].token == "=":
        return _TYPED, {"("}
    return "a type", set()


def _listed(words: list[str]) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _after(text: str, nodes: list[Node]) -> str:
    """Return the context before the place: the last finished phrase, as a noun or as its text."""
    if not nodes:
        return ""
    last = nodes[-1]
    while last.name[0] == "_" and last.children:
        last = last.children[-1]
    if last.token == ";":
        return f" after {_unfinished(nodes)}"
    found = text[last.start : last.end]
    noun = _PHRASES.get(last.name) or (f"`{found}`" if 0 < len(found) <= 40 and found.isprintable() else "")
    return f" after {noun}" if noun else ""
