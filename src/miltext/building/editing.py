"""The two commonest edits of a text: renaming a value, and exposing inner ones as outputs.

They change only the necessary tokens, so that comments and layout stay. The results are read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from miltext.diagnostics import ModelError, Note, codes
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.parsing.locating import attributes_of, name_token, results, string_of
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.scopes import Scopes
from miltext.parsing.spans import bodies_of, name_of
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.renaming import rename_all
from miltext.schema.walk import blocks_of
from miltext.syntax.editing import Edit, changed_meaning, proven, require_program
from miltext.syntax.literals import quote
from miltext.syntax.names import DRAFT, fitting, name_text, unfit
from miltext.syntax.tree import named, walk

if TYPE_CHECKING:
    from miltext.syntax.tree import Node


def rename(
    text: str, old: str, new: str, *, function: str | None = None, any_name: bool = False, path: str | None = None
) -> str:
    """Return the text with a renamed value: an input, an output or an inner one, everywhere it is made and used.

    An operation's `name` that repeats the value's is changed, too. All functions with the value are changed, or only
    `function`. Raise ParseError, and ModelError: MIL430 for an unknown name, MIL431 for a new name that is taken or
    empty, and without `any_name`, MIL426 for a name that is not an identifier.
    """
    if not new:
        raise refusal(codes.NAME_IN_USE, "the new name is empty", path)
    functions = _functions(text, function, path)
    if not any_name:
        _require_fit(new, functions, path)
    edits: list[Edit] = []
    found: set[str] = set()
    for phrase in functions:
        tokens = list(_value_names(phrase))
        names = set(map(name_in, tokens))
        found |= names
        if old not in names:
            continue
        if new in names:
            raise refusal(
                codes.NAME_IN_USE, f"the function `{function_name(phrase)}` already has a value `{new}`", path
            )
        quoted = _bare(phrase) if new == DRAFT else set()
        edits += [
            (token.start, token.end, f"${quote(new)}" if token.start in quoted else name_text(new))
            for token in tokens
            if name_in(token) == old
        ]
        edits += [(token.start, token.end, quote(new)) for token in _texts(phrase, old)]
    if not edits:
        raise unknown_value(old, found, path)
    return _proven_rename(text, edits, [function_name(phrase) for phrase in functions], (old, new), path)


def _proven_rename(text: str, edits: list[Edit], functions: list[str], names: tuple[str, str], path: str | None) -> str:
    """Rename in a text, and prove the result: its Program is the renamed one, or each name keeps its meaning."""
    made = proven(text, edits, path)
    program = attempt(text, LeavingOut())
    if program is None:  # a draft in the short spelling
        before, after = (Scopes(parse_tree(each, whole=True).root).meaning() for each in (text, made))
        if before != after:
            raise changed_meaning(path)
        return made
    graph = Graph(program)
    for function in functions:
        rename_all(graph.functions[function], dict([names]))
    require_program(attempt(made, LeavingOut()), graph.program(), path)
    return made


RENAMED = Note("an output is called what its value is: `miltext rename` gives that another name")


def _require_fit(name: str, functions: list[Node], path: str | None, *more: Note) -> None:
    """Refuse a name that is not an identifier, with `more` notes; suggest a name that no value of the functions has."""
    why = unfit(name)
    if not why:
        return
    near = fitting(name, {name_in(token) for phrase in functions for token in _value_names(phrase)})
    notes = [Note(f"did you mean `{near}`?")] if near else []
    raise refusal(codes.WRONG_NAME, f"the name {quote(name)} {why}", path, *notes, *more)


def expose(
    text: str, names: Iterable[str], *, function: str | None = None, any_name: bool = False, path: str | None = None
) -> str:
    """Return the text with inner values as further outputs of their function: the only one with the values, or
    `function`.

    Raise ParseError, and ModelError: MIL430 for an unknown name, MIL432 for a value of an inner block, for a value
    already output, and for a value in several functions; without `any_name`, MIL426 for a name that is not an
    identifier.
    """
    functions = _functions(text, function, path)
    edits: dict[int, tuple[list[str], bool]] = {}
    program = attempt(text, LeavingOut())
    for name in names:
        holders = [phrase for phrase in functions if name in _top_values(phrase)]
        if not holders:
            if name in {name_in(token) for phrase in functions for token in _value_names(phrase)}:
                raise refusal(codes.NOT_AN_OUTPUT, f"`{name}` is a value of an inner block", path)
            raise unknown_value(name, {each for phrase in functions for each in _top_values(phrase)}, path)
        if len(holders) > 1:
            raise refusal(
                codes.NOT_AN_OUTPUT, f"several functions have a value `{name}`; choose one with --function", path
            )
        outputs = outputs_of(holders[0])
        listed = [name_in(token) for token in outputs.children if token.name == "NAME"]
        added, _ = edits.setdefault(outputs.end - 1, ([], not listed))
        if name in [*listed, *added]:
            raise refusal(codes.NOT_AN_OUTPUT, f"`{name}` is an output already", path)
        if not any_name:
            _require_fit(name, functions, path, RENAMED)
        added.append(name)
        if program is not None:
            opset, _ = _own_body(holders[0])
            blocks_of(program.functions[function_name(holders[0])])[opset].outputs.append(name)
    made = proven(text, [_listed(place, added, is_first) for place, (added, is_first) in edits.items()], path)
    require_program(program and attempt(made, LeavingOut()), program, path)
    return made


def _listed(place: int, names: list[str], is_first: bool) -> Edit:
    """Return the names at the end of a list of outputs, which is empty if they are the first."""
    spelled = ", ".join(map(name_text, names))
    return place, place, spelled if is_first else f", {spelled}"


def unknown_value(name: str, known: set[str], path: str | None) -> ModelError:
    """Return the error about an unknown value, with similar names."""
    from difflib import get_close_matches

    close = [each for each in sorted(known) if name in each][:3] or get_close_matches(name, known, 3)
    return refusal(
        codes.UNKNOWN_NAME, f"unknown value `{name}`", path, *[Note(f"did you mean `{each}`?") for each in close]
    )


# ---- phrases


def _functions(text: str, function: str | None, path: str | None) -> list[Node]:
    found = [child for child in parse_tree(text, path).root.children if child.name == "function"]
    if function is None:
        return found
    named = [phrase for phrase in found if function_name(phrase) == function]
    if not named:
        raise refusal(codes.UNKNOWN_NAME, f"unknown function `{function}`", path)
    return named


def function_name(function: Node) -> str:
    """Return the name of a function."""
    return name_in(next(child for child in function.children if child.name == "NAME"))


def name_in(token: Node) -> str:
    """Return the name that a token spells."""
    return name_of(token.token or "")


def _value_names(function: Node) -> Iterator[Node]:
    """Yield the tokens that name a value: where it is made, used, or an output."""
    for phrase in walk(function):
        if phrase.name in ("named_value", "draft_value", "name_binding"):
            yield phrase.children[-1]
        elif phrase.name == "outputs":
            yield from (child for child in phrase.children if child.name == "NAME")


def _bare(function: Node) -> set[int]:
    """Return the starts of the values without a type or `_` in a draft; a `_` there would stand for the type."""
    return {phrase.start for phrase in walk(function) if phrase.name == "draft_value" and len(phrase.children) == 1}


def _texts(function: Node, name: str) -> Iterator[Node]:
    """Yield the strings that repeat a value's name: the `name` of its operation, and the compiler's note on inputs of
    flexible shapes.
    """
    for phrase in walk(function):
        if phrase.name == "operation" and name in _names_made(phrase):
            token = name_token(phrase)
            if token is not None and string_of(token) == name:
                yield token
    for attribute in attributes_of(function, ATTRIBUTE):
        yield from (token for token in walk(attribute) if token.name == "STRING" and string_of(token) == name)


def _names_made(operation: Node) -> list[str]:
    return [name_in(named.children[-1]) for named in results(operation)]


def _own_body(function: Node) -> tuple[str, Node]:
    """Return a function's own block, after its opset in the Program; its outputs are the model's."""
    bodies = [(str(path[-1]), body) for path, body in bodies_of(function)]
    own = [(opset, body) for opset, body in bodies if body.name == "block"]
    inner = [(opset, part) for opset, body in bodies for part in named(body, "block")]
    return (own or inner or [("", next(named(function, "bodies")))])[0]


def outputs_of(function: Node) -> Node:
    """Return the list of outputs of a function's own block."""
    return next(named(_own_body(function)[1], "outputs"))


def _top_values(function: Node) -> set[str]:
    """Return the possible outputs of a function: its inputs, and the values of its own block."""
    made = [_names_made(phrase) for phrase in named(_own_body(function)[1], "operation")]
    return {*chain(*made), *(name_in(value.children[-1]) for value in parameters_of(function))}


def parameters_of(function: Node) -> list[Node]:
    """Return the phrases of a function's inputs and states, a type and a name each."""
    parameters = next(child for child in function.children if child.name == "parameters")
    return [child for child in parameters.children if child.name == "named_value"]
