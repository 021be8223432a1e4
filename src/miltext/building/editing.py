"""The two commonest edits of a text: renaming a value, and exposing inner values as outputs.

They change only the necessary tokens, so that comments and layout stay. The new text is parsed to verify the edit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.diagnostics import ModelError, Note, codes
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.scopes import Scopes
from miltext.parsing.spans import bodies_of, opset_in
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.renaming import rename_all
from miltext.schema.walk import blocks_of, own_opset
from miltext.syntax import phrases
from miltext.syntax.editing import Edit, appended, changed_meaning, proven, require_program
from miltext.syntax.literals import LiteralError, quote
from miltext.syntax.names import DRAFT, fitting, name_text, unfit
from miltext.syntax.phrases import name_in, string_of
from miltext.syntax.tree import walk

if TYPE_CHECKING:
    from miltext.parsing.scopes import Meaning
    from miltext.syntax.phrases import Name
    from miltext.syntax.tree import Node


def rename(
    text: str, old: str, new: str, *, function: str | None = None, any_name: bool = False, path: str | None = None
) -> str:
    """Return the text with a renamed value, an input, an output or an inner value, at its definition and all uses.

    An operation's `name` that repeats the value's name is changed, too. All functions with the value are changed, or
    only `function`. Raise ParseError, and ModelError: MIL430 for an unknown name, MIL431 for an empty new name or a
    name in use, and without `any_name`, MIL426 for a name that is not an identifier.
    """
    if not new:
        raise refusal(codes.NAME_IN_USE, "the new name is empty", path)
    functions = _functions(text, function, path)
    if not any_name:
        require_fit(new, _names_of(functions), path)
    edits: list[Edit] = []
    for each in functions:
        if old not in each.names:
            continue
        if new in each.names:
            raise refusal(codes.NAME_IN_USE, f"the function `{each.name}` already has a value `{new}`", path)
        edits += renaming([found for found in each.found if found[0].text == old], new, each.phrase)
    if not edits:
        raise unknown_value(old, _names_of(functions), path)
    return _proven_rename(text, edits, [each.name for each in functions], (old, new), path)


def renaming(names: Sequence[tuple[Name, Meaning | None]], new: str, noting: Node | None) -> Iterator[Edit]:
    """Yield the edits that rename these occurrences of one name, and the strings that repeat the name.

    The strings are the `name` of an operation, and the compiler's notes on inputs of flexible shapes at the function
    `noting`. In a draft, the new name `_` is quoted at a definition without a type: a bare `_` would be read as the
    type.
    """
    repeated = [token for each in phrases.attributes_named(noting, ATTRIBUTE) for token in walk(each)] if noting else []
    for name, value in names:
        made = value if value is not None and value.name is name else None
        is_bare = made is not None and made.type.start == made.type.end
        yield name.start, name.end, f"${quote(new)}" if new == DRAFT and is_bare else name_text(new)
        repeated += filter(None, [phrases.own_name(made.operation)] if made and made.operation else [])
    yield from ((*token.span, quote(new)) for token in repeated if _spells(token, names[0][0].text))


def _spells(token: Node, name: str) -> bool:
    """Return whether a token is a string with this text; false for a string with a wrong escape, which is reported
    elsewhere.
    """
    try:
        return token.name == "STRING" and string_of(token) == name
    except LiteralError:
        return False


def _proven_rename(text: str, edits: list[Edit], functions: list[str], names: tuple[str, str], path: str | None) -> str:
    """Rename in a text, and verify the result: its Program equals the renamed Program, or each name keeps its
    meaning.
    """
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


RENAMED = Note("an output has the name of its value: `miltext rename` changes both")


def require_fit(name: str, taken: Collection[str] = (), path: str | None = None, *more: Note) -> None:
    """Refuse a name that is not an identifier (MIL426), with `more` notes; suggest a name outside `taken`."""
    why = unfit(name)
    if not why:
        return
    near = fitting(name, taken)
    notes = [Note(f"did you mean `{near}`?")] if near else []
    raise refusal(codes.WRONG_NAME, f"the name {quote(name)} {why}", path, *notes, *more)


def expose(
    text: str, names: Iterable[str], *, function: str | None = None, any_name: bool = False, path: str | None = None
) -> str:
    """Return the text with inner values as further outputs of their function: the only one with the values, or
    `function`.

    Raise ParseError, and ModelError: MIL430 for an unknown name, MIL432 for a value of an inner block, for a value that
    is an output already, and for a value in several functions; without `any_name`, MIL426 for a name that is not
    an identifier.
    """
    functions = _functions(text, function, path)
    edits: dict[int, tuple[list[str], bool]] = {}
    program = attempt(text, LeavingOut())
    for name in names:
        holders = [each for each in functions if name in each.top_values()]
        if not holders:
            if name in _names_of(functions):
                raise refusal(codes.NOT_AN_OUTPUT, f"`{name}` is a value of an inner block", path)
            raise unknown_value(name, {known for each in functions for known in each.top_values()}, path)
        if len(holders) > 1:
            raise refusal(codes.NOT_AN_OUTPUT, f"several functions have a value `{name}`; choose one of them", path)
        opset, body = holders[0].bodies[0]
        outputs, listed = phrases.output_list(body), [*map(name_in, phrases.returned(body))]
        added, _ = edits.setdefault(outputs.end - 1, ([], not listed))
        if name in [*listed, *added]:
            raise refusal(codes.NOT_AN_OUTPUT, f"`{name}` is an output already", path)
        if not any_name:
            require_fit(name, _names_of(functions), path, RENAMED)
        added.append(name)
        if program is not None:
            blocks_of(program.functions[holders[0].name])[opset].outputs.append(name)
    listed_more = (appended(at, map(name_text, new), is_first=is_first) for at, (new, is_first) in edits.items())
    made = proven(text, listed_more, path)
    require_program(program and attempt(made, LeavingOut()), program, path)
    return made


def unknown_value(name: str, known: set[str], path: str | None) -> ModelError:
    """Return the error about an unknown value, with similar names."""
    from difflib import get_close_matches

    close = [each for each in sorted(known) if name in each][:3] or get_close_matches(name, known, 3)
    return refusal(
        codes.UNKNOWN_NAME, f"unknown value `{name}`", path, *[Note(f"did you mean `{each}`?") for each in close]
    )


# ---- phrases


class _Function:
    """A function of a text: its phrase, and the names of values in it, with their meanings."""

    def __init__(self, phrase: Node, scopes: Scopes) -> None:
        self.phrase = phrase
        self.name = name_in(phrase)
        self.found = [each for each in scopes.between(*phrase.span) if not (each[1] and each[1].is_function)]
        self.names = {name.text for name, _ in self.found}
        self.bodies = own_bodies(phrase)

    def top_values(self) -> set[str]:
        """Return the possible outputs: the inputs, and the values of the function's own block."""
        operations = (each for _, body in self.bodies[:1] for each in phrases.operations(body))
        made = {name.text for operation in operations for name in phrases.made(operation)}
        return made.union(map(name_in, phrases.inputs(self.phrase))) if self.bodies else made


def _functions(text: str, function: str | None, path: str | None) -> list[_Function]:
    root = parse_tree(text, path).root
    scopes = Scopes(root)
    found = [_Function(each, scopes) for each in phrases.functions(root) if function in (None, name_in(each))]
    if function is not None and not found:
        raise refusal(codes.UNKNOWN_NAME, f"unknown function `{function}`", path)
    return found


def _names_of(functions: Iterable[_Function]) -> set[str]:
    """Return the names of all values of some functions."""
    return {name for each in functions for name in each.names}


def own_bodies(function: Node) -> list[tuple[str, Node]]:
    """Return a function's blocks by their opsets in the Program; the first is the function's own block, whose outputs
    are the model's.
    """
    bodies = [(str(path[-1]), phrases.block(body)) for path, body in bodies_of(function)]
    own = own_opset(opset_in(function), [opset for opset, _ in bodies])
    return sorted(bodies, key=lambda found: found[0] != own)
