"""Elaboration: conversion of a draft from the short to the long spelling, in which each argument has its parameter's
name.

`y = mul(silu(x), w)` becomes `_ y_x = silu(x = x); y = mul(x = y_x, y = w)`. A weight argument becomes a `const`,
because coremltools accepts no file there. The surrounding text and all comments stay. Findings in the long text can be
reported at their places in the short one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from miltext.diagnostics import Diagnostic, ParseError, Span, codes, error
from miltext.parsing.lowering.blobs import blob_offset, blob_path
from miltext.parsing.lowering.errors import TOO_NESTED
from miltext.parsing.misread_types import is_misread, literal_given
from miltext.schema.operations import Signature, signature
from miltext.syntax import phrases
from miltext.syntax.editing import EditedText, TextPiece, replaced
from miltext.syntax.literals import shown
from miltext.syntax.names import FreshNames, name_of, name_text
from miltext.syntax.phrases import SHORT, WEIGHTS, is_positional, name_in
from miltext.syntax.tree import Node, Statement, tokens

UNNAMED = "argument@"
"""The prefix of the names for unknown parameters."""

MANY = 3
"""The least number of positional arguments that can be several values of one parameter, followed by a value of the
next.
"""

DEEPEST = 150
"""The greatest depth of phrases inside each other.

It is greater than the depth of any Program, whose messages nest 100 deep, and less than the depth of Python's calls, so
that the place of the error does not depend on the caller.
"""

_NOT_ONE = "`{}` {}; give it a statement of its own, and name its outputs"
_SHAPELESS = "a record of a weight file has no shape: write its type, as in `tensor<fp16, [2, 3]>($blob(...))`"


def elaborate(text: str, root: Node) -> EditedText | None:
    """Return the long form of a text, given its tree; None if no part is short.

    Raise ParseError (MIL006) for deeper nesting than any Program has.
    """
    if not _is_short(root):
        return None
    elaboration = _Elaboration(text, root)
    try:
        return elaboration.run()
    except RecursionError:
        found = error(codes.NESTED_TOO_DEEPLY, TOO_NESTED, Span(elaboration.reached, elaboration.reached + 1))
    raise ParseError([found], text=text)


def _is_short(phrase: Node) -> bool:
    """Return whether a phrase has short parts. Plain operations, which never have, are not read."""
    todo = [phrase]
    while todo:
        found = todo.pop()
        if found.name in SHORT or _weight_in(found):
            return True
        if not isinstance(found, Statement):
            todo += found.children
    return False


def _weight_in(binding: Node) -> Node | None:
    """Return the weight in a binding, with or without a type; None for any other binding."""
    if binding.name == "weight_binding":
        return phrases.held(binding)
    weight = phrases.contents(phrases.held(binding)) if binding.name == "value_binding" else None
    return weight if weight and weight.name in WEIGHTS else None


class _Elaboration:
    """A walk over a tree. `reached` is the beginning of the current phrase, `depth` the number of enclosing phrases.

    `values` contains the names of the values of hoisted bindings, by the beginning of each binding.
    """

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.root = root
        self.names = FreshNames(names_inside(root))
        self.opset = ""
        self.diagnostics: list[Diagnostic] = []
        self.values: dict[int, str] = {}
        self.reached = self.depth = 0

    def run(self) -> EditedText:
        whole = [(self.root.span, self.phrase(self.root))]
        made = EditedText(self.text, replaced(self.text, Span(0, len(self.text)), whole))
        made.diagnostics += self.diagnostics
        return made

    def rewritten(self, phrase: Node, parts: Iterable[tuple[Node, Iterable[TextPiece]]]) -> list[TextPiece]:
        """Return a phrase with some of its parts replaced by other pieces, in the order of the text."""
        return [*replaced(self.text, phrase.span, ((part.span, instead) for part, instead in parts))]

    # ---- phrases

    def phrase(self, phrase: Node) -> Iterator[TextPiece]:
        """Yield a phrase in the long spelling. Raise RecursionError for a phrase nested too deeply."""
        self.reached = phrase.start
        self.depth += 1
        if self.depth > DEEPEST:
            raise RecursionError
        yield from self.in_long_spelling(phrase)
        self.depth -= 1

    def in_long_spelling(self, phrase: Node) -> Iterable[TextPiece]:
        """Return a phrase in the long spelling, as `phrase` does."""
        if phrase.name == "operation":
            return self.statement(phrase)
        if phrase.name == "function":
            self.opset = phrases.opset_name(phrase)
        if phrase.name == "record":
            return self.record(phrase)
        if phrase.name == "draft_attribute":
            return self.attribute(phrase)
        short = ((child.span, self.phrase(child)) for child in phrase.children if _is_short(child))
        return replaced(self.text, phrase.span, short)  # one by one: the list for a whole program takes much memory

    def statement(self, operation: Node) -> list[TextPiece]:
        """Return an operation after the operations nested in it, innermost first; without recursion, as there may be
        many.
        """
        if mistake := self.misread(operation):
            self.diagnostics.append(mistake)
            return self.emptied(operation)
        named = [each.text for each in phrases.made(operation)]
        todo, found = [(operation, next(iter(named), name_in(operation)))], []
        while todo:
            found.append(todo.pop())
            todo += self.nested(*found[-1])
        pieces = list[TextPiece]()
        for phrase, name in reversed(found[1:]):
            pieces += self.hoisted(phrase, name)
        return [*pieces, *self.operation(operation)]

    def misread(self, operation: Node) -> Diagnostic | None:
        """Return the error of a phrase that was misread as an operation."""
        if literal_given(operation) is None:
            return None
        from miltext.parsing.slips import misread_error  # it imports all tables, and most texts are valid

        return misread_error(self.text, operation)

    def emptied(self, operation: Node) -> list[TextPiece]:
        """Return a statement without its operation: its outputs stay defined."""
        name = phrases.name_token(operation) or operation
        end = operation.children[-1].start
        span = Span(name.start, end)
        nothing = TextPiece("const()", span, is_copy=False, is_wrong=True, is_draft=False)
        return [*replaced(self.text, operation.span, [(span, [nothing])])]

    def operation(self, operation: Node) -> list[TextPiece]:
        """Return an operation or a call in which each argument has a name, and names replace inner calls."""
        kind = _constant_type(operation)
        parts = [
            *self.arguments(operation),
            *((each, self.attribute(each, kind, "$absent($unset)")) for each in phrases.attributes(operation)),
            *((inner, [*self.phrase(inner)]) for inner in phrases.inner_blocks(operation)),
        ]
        return self.rewritten(operation, parts)

    def arguments(self, operation: Node) -> Iterator[tuple[Node, list[TextPiece]]]:
        """Yield the arguments of an operation, with names in place of nested operations."""
        known, given = signature(name_in(operation), self.opset), [*phrases.arguments(operation)]
        mistake = self.apart(given, known) or _mistake(given, known)
        if mistake:
            self.diagnostics.append(error(codes.POSITIONAL_ARGUMENT, mistake[1], mistake[0].span))
        for place, argument in enumerate(given):
            head = list[TextPiece]()
            if is_positional(argument):
                is_wrong = mistake is not None and mistake[0].start <= argument.start
                name = _parameter(None if is_wrong else known, place)
                head = [TextPiece(f"{name_text(name)} = ", argument.span, is_copy=False, is_wrong=is_wrong)]
            yield argument, [*head, *self.bindings(argument)]

    def apart(self, given: list[Node], known: Signature | None) -> tuple[Node, str] | None:
        """Return the second of several separate values for a variadic parameter, and the message: `concat(x, z, 0)`.

        All arguments are values except the last, a whole number, so the second value was not meant for the second
        parameter.
        """
        first = known.positions[0] if known and known.positions else None
        if known is None or first is None or not known.parameters[first].variadic or len(given) < MANY:
            return None
        bound = [[*phrases.bindings(each)] for each in given if is_positional(each)]
        values, last = bound[:-1], self.text[slice(*given[-1].span)]
        are_values = all(len(each) == 1 and each[0].name in ("name_binding", "call_binding") for each in values)
        if len(bound) < len(given) or not are_values or not last.lstrip("-").isdecimal():
            return None
        together = ", ".join(self.text[slice(*each.span)] for each in given[:-1])
        return given[1], f"`{first}` takes all values together: `{shown(f'{known.name}(({together}), {last})')}`"

    def bindings(self, argument: Node) -> list[TextPiece]:
        """Return an argument with a name in place of each nested operation and weight."""
        bindings = [binding for binding in phrases.bindings(argument) if _is_short(binding)]
        return self.rewritten(argument, [(binding, self.binding(binding)) for binding in bindings])

    def binding(self, binding: Node) -> list[TextPiece]:
        """Return the replacement of a binding: the name of the value of a nested operation, or of a weight."""
        if binding.start in self.values:
            name = name_text(self.values[binding.start])
            return [TextPiece(name, binding.span, is_copy=False, is_draft=binding.name != "value_binding")]
        if binding.name not in ("call_binding", "weight_binding"):
            return [*self.phrase(binding)]
        mistake = self.misread(phrases.held(binding)) if binding.name == "call_binding" else _shapeless(binding)
        assert mistake  # otherwise the argument had a name
        self.diagnostics.append(mistake)
        return [
            TextPiece("$unset", binding.span, is_copy=False, is_wrong=True, is_draft=binding.name == "weight_binding")
        ]

    # ---- records

    def record(self, record: Node) -> list[TextPiece]:
        """Return a record as a BLOBFILE."""
        word, _, path, _, offset, _ = record.children
        instead = (word, "BLOBFILE"), (path, blob_path(path.token or "")), (offset, blob_offset(offset.token or ""))
        return self.rewritten(record, [(part, [TextPiece(text, part.span, is_copy=False)]) for part, text in instead])

    def attribute(self, attribute: Node, kind: str | None = None, nothing: str = 'string("")') -> list[TextPiece]:
        """Return an attribute.

        A record without a type as the value of a `const` gets the type `kind`. Any other such record is replaced by
        `nothing`.
        """
        literal = phrases.held(attribute)
        if attribute.name == "attribute" or literal.name != "record":
            return self.rewritten(attribute, [(literal, [*self.phrase(literal)])] if _is_short(literal) else [])
        if name_in(attribute) == "val" and kind is not None:
            around = (TextPiece(mark, literal.span, is_copy=False) for mark in (f"{kind}(", ")"))
            return self.rewritten(attribute, [(literal, [next(around), *self.record(literal), next(around)])])
        self.diagnostics.append(_shapeless(literal))
        return self.rewritten(attribute, [(literal, [TextPiece(nothing, literal.span, is_copy=False, is_wrong=True)])])

    # ---- nested operations and weights

    def nested(self, operation: Node, owner: str) -> list[tuple[Node, str]]:
        """Return the phrases just inside an operation that become statements of their own, with names for their values.

        `owner` is the name of the operation's value. The phrases are in the order of the canonical layout, so that
        formatting a draft does not change its Program.
        """
        if operation.name not in ("operation", "call"):
            return []
        known = signature(name_in(operation), self.opset)
        found = []
        for place, argument in sorted(enumerate(phrases.arguments(operation)), key=_place_in_layout):
            is_named = not is_positional(argument)
            parameter = str(place + 1) if phrases.imported(operation) else _parameter(known, place)
            name = f"{owner}_{name_in(argument) if is_named else parameter}"
            bindings = [*phrases.bindings(argument)]
            for at, binding in enumerate(bindings):
                if _is_hoisted(binding):
                    made = self.values[binding.start] = self.names.fresh(name if len(bindings) == 1 else f"{name}_{at}")
                    found.append((phrases.held(binding), made))
        return found

    def hoisted(self, phrase: Node, name: str) -> list[TextPiece]:
        """Return a nested operation or a weight as a statement of its own."""
        if phrase.name == "call":
            return self.hoisted_call(phrase, name)
        kind = _type_text(phrase) if phrase.name == "value" else None
        texts = f"{kind or '_'} {name_text(name)} = const()[val = ", "]; "
        head, end = (TextPiece(text, phrase.span, is_copy=False, is_draft=kind is None) for text in texts)
        return [head, *self.phrase(phrase), end]

    def hoisted_call(self, call: Node, name: str) -> list[TextPiece]:
        """Return a nested operation as a statement of its own."""
        known = signature(name_in(call), self.opset)
        is_wrong = known is not None and (known.outputs != (1, 1) or bool(known.blocks))
        if is_wrong:
            why = "has blocks" if known and known.blocks else "may return more or fewer than one value"
            self.diagnostics.append(error(codes.NESTED_OPERATION, _NOT_ONE.format(name_in(call), why), call.span))
        head = TextPiece(f"_ {name_text(name)} = ", call.span, is_copy=False, is_wrong=is_wrong)
        return [head, *self.operation(call), TextPiece("; ", call.span, is_copy=False)]


def _is_hoisted(binding: Node) -> bool:
    """Return whether the value of an argument becomes a statement of its own."""
    if binding.name == "call_binding":
        return not is_misread(phrases.held(binding))
    weight = _weight_in(binding)
    return weight is not None and (binding.name == "value_binding" or weight.name == "array_file")


def _shapeless(record: Node) -> Diagnostic:
    return error(codes.UNTYPED_RECORD, _SHAPELESS, record.span)


def _constant_type(operation: Node) -> str | None:
    """Return the type to write for the value of a `const`; None without one, or for another operation."""
    outputs = [*phrases.outputs(operation)]
    is_typed = len(outputs) == 1 and outputs[0].name == "named_value" and name_in(operation) == "const"
    return _type_text(outputs[0]) if is_typed else None


def _type_text(value: Node) -> str | None:
    """Return the type of a value without the comments in it, None without a type."""
    stated = phrases.type_of(value)
    return " ".join(token.token or "" for token in tokens(stated)) if stated else None


def _parameter(known: Signature | None, place: int) -> str:
    """Return the parameter of the argument at a place, or a placeholder name if there is none."""
    return known.positions[place] if known and place < len(known.positions) else f"{UNNAMED}{place + 1}"


def _place_in_layout(argument: tuple[int, Node]) -> tuple[bool, str, int]:
    """Return the sort key of arguments in the layout: those without a name first, others by name."""
    place, phrase = argument
    is_named = not is_positional(phrase)
    return is_named, name_in(phrase) if is_named else "", place


def _mistake(given: list[Node], known: Signature | None) -> tuple[Node, str] | None:
    """Return the first argument that needs its parameter's name, and the reason."""
    by_name = {name_in(argument): argument for argument in given if not is_positional(argument)}
    first = min((argument.start for argument in by_name.values()), default=None)
    for place, argument in enumerate(given):
        if not is_positional(argument):
            continue
        if first is not None and argument.start > first:
            return argument, "a positional argument follows a named one; name this argument, too"
        if known and place >= len(known.positions):
            takes = f"{len(known.positions)} argument{'s' if len(known.positions) != 1 else ''}"
            return argument, f"`{known.name}` takes {takes}, and this is an extra one"
        if known and known.positions[place] in by_name:
            return argument, f"`{known.positions[place]}` is given twice: here by its place, and again by its name"
    return None


def names_inside(root: Node) -> Iterator[str]:
    """Yield every name in a phrase; in plain operations, the names of values."""
    for token in tokens(root):
        if isinstance(token, Statement):
            yield from (name for _, _, name in token.names())
        elif token.name == "NAME":
            yield name_of(token.token or "")
