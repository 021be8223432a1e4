"""Hovering: a description of the word at a place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from miltext.diagnostics import ParseError
from miltext.dumps.recognition import is_dump
from miltext.lsp.calls import opset_at, parameter_around
from miltext.lsp.imports import describe_import
from miltext.lsp.weights import array_in, describe_array, describe_record, describe_weight
from miltext.placement.annotating import answer_words, placed_at, placed_words
from miltext.reference.markdown import described_operation, described_opset, described_parameter, known_signature
from miltext.schema.dtypes import BY_NAME
from miltext.syntax.phrases import (
    ARGUMENTS,
    ATTRIBUTES,
    OPERATIONS,
    OPSETS,
    arguments,
    attributes_named,
    held,
    made,
    name_in,
)

if TYPE_CHECKING:
    from miltext.lsp.documents import View
    from miltext.parsing.scopes import Meaning
    from miltext.syntax.tree import Node

LONGEST = 300
"""The most shown characters of a constant."""

_WORDS = {"bool": "a truth value", "string": "a string", "float": "a float", "int": "an integer", "uint": "an integer"}


def hover(view: View, params: lsp.HoverParams) -> lsp.Hover | None:
    """Return the facts about the name, the operation, the parameter or the weight at a place."""
    phrases = view.chain(view.offset(params.position))
    if (found := view.name_at(params.position)) is not None:
        name, value = found
        known = described_value(view, value) if value else f"`{name.text}` is not defined"
        about = [known, *_parameter(view, phrases), *_placed(view, phrases)]
        return _shown(view, "\n\n".join(about), name.start, name.end)
    for depth in range(len(phrases), 1, -1):
        if described := _described(view, phrases[:depth]):
            described = "\n\n".join([described, *_placed(view, phrases)])
            return _shown(view, described, phrases[depth - 1].start, phrases[depth - 1].end)
    return None


def _shown(view: View, described: str, start: int, end: int) -> lsp.Hover:
    return lsp.Hover(view.client.markup(described), view.range(start, end))


def _placed(view: View, phrases: list[Node]) -> Iterator[str]:
    """Yield the answer of the project's profile about the operation around a place; in a dump also its backend, and
    the reasons against others.
    """
    yield from _answered(view, phrases)
    if not is_dump(view.text):
        return
    with suppress(ParseError):  # the text may be broken
        known = placed_at(view.text)
        found = next((known[each.start] for each in reversed(phrases) if each.start in known), None)
        if found is not None:
            yield f"Backend: {placed_words(found)}"


def _answered(view: View, phrases: list[Node]) -> Iterator[str]:
    """Yield the answer of the project's profile about the innermost operation around a place, if it makes a value."""
    known = view.reading.placed
    operation = next((each for each in reversed(phrases) if each.name in OPERATIONS), None) if known else None
    if operation is None:
        return
    function = next((name_in(each) for each in phrases if each.name == "function"), "")
    for name in made(operation)[:1]:
        if (found := known.get((function, name.text))) is not None:
            yield f"By `{view.reading.profile}`: {answer_words(found)}"


def _described(view: View, phrases: list[Node]) -> str | None:
    """Return the facts about the last of some phrases, each inside the phrase before."""
    *outside, around, phrase = phrases
    if phrase.name == "DTYPE" and phrase.token in BY_NAME:
        dtype = BY_NAME[phrase.token]
        return f"`{dtype.name}`: {_WORDS[dtype.kind]}" + (f" of {dtype.bits} bits" if dtype.bits else "")
    if phrase.name == "draft_binding":
        return "\n\n".join([*_inferred(view, phrase), *_parameter(view, [*outside, around, phrase])])
    if phrase.name == "array_file":
        lines = describe_array(array_in(phrase), view.document.folder)
        return "\n\n".join([*_inferred(view, phrase), *lines, *_parameter(view, [*outside, around])])
    if phrase.name == "imported":
        return describe_import(phrase, view)
    if phrase.name == "record":
        return describe_record(view.text, phrase, around, view.document.folder)
    if phrase.name == "value":
        return describe_weight(view.text[phrase.start : phrase.end], view.document.folder)
    word = name_in(phrase) if phrase.name == "NAME" else ""
    if around.name in OPSETS:
        return described_opset(word)
    opset = opset_at(view.scopes, phrase.start)
    if around.name in OPERATIONS and word:
        described = described_operation(word, opset) or f"Unknown operation `{word}`."
        return "\n\n".join([*_inferred(view, around), *_parameter(view, outside), described])
    operation = next((each for each in reversed(outside) if each.name in OPERATIONS), None)
    if operation is not None and around.name in ARGUMENTS | ATTRIBUTES:
        return _described_parameter(word, operation, opset)
    return None


def _inferred(view: View, phrase: Node) -> Iterator[str]:
    """Yield the omitted type of a draft's literal, or the type of a nested operation, if it is known."""
    found = view.reading.inferred.get(phrase.span)
    if found is not None:
        yield f"```mil\n{found.removesuffix(f'({view.text[phrase.start : phrase.end]})')}\n```"


def _parameter(view: View, phrases: list[Node]) -> Iterator[str]:
    """Yield the facts about the parameter of a positional argument, if the last of some phrases is in one."""
    found = parameter_around(phrases, opset_at(view.scopes, phrases[-1].start))
    if found is not None:
        yield described_parameter(*found)


def _described_parameter(parameter: str, operation: Node, opset: str | None) -> str | None:
    known = known_signature(name_in(operation), opset)
    if known is None or parameter not in known.parameters:
        return "the name of the operation" if parameter == "name" else None
    return described_parameter(known, parameter)


def described_value(view: View, value: Meaning) -> str:
    """Return Markdown about a value: its type, its origin, its number of uses, and the contents of a constant."""
    if value.is_function:
        return f"```mil\nfunc {value.name.text}\n```"
    made = view.reading.type_of(value, ask=True) or "_"
    lines = [f"```mil\n{made} {value.name.text}\n```", f"{_origin(view, value)}; {_uses(value)}"]
    held = constant(view, value)
    if held is not None:
        shown = held if len(held) <= LONGEST else f"{held[:LONGEST]} ..."
        lines.append(describe_weight(held, view.document.folder) or f"```mil\n{shown}\n```")
    return "\n\n".join(lines)


def _origin(view: View, value: Meaning) -> str:
    line = view.range(value.name.start, value.name.end).start.line + 1
    if value.operation is not None:
        return f"made by `{name_in(value.operation) or '?'}` in line {line}"
    scopes = view.scopes.seeing(value)  # none, if a broken head was completed
    function = name_in(scopes[0].phrase) if scopes else None
    return f"input of `{function}`" if function else f"input of the block in line {line}"


def _uses(value: Meaning) -> str:
    count = len(value.uses)
    return "not used" if not count else "used once" if count == 1 else f"used {count} times"


def constant(view: View, value: Meaning) -> str | None:
    """Return the text of a `const`'s value; None for any other value."""
    if value.operation is None or name_in(value.operation) != "const":
        return None
    arguments_named = (
        each for each in arguments(value.operation) if each.name == "single_argument" and name_in(each) == "val"
    )
    found = [held(each) for each in (*attributes_named(value.operation, "val"), *arguments_named)]
    return view.text[found[0].start : found[0].end] if found else None
