"""The formatter: MIL text to the one canonical layout, with every comment kept beside its code.

Dialect, numbers and strings stay as their author wrote them. The formatter settles white space; the order of functions,
arguments and attributes; the spelling of rank 0, by the dialect; unnecessary quotes of a name, empty brackets, and
parentheses around one binding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from heapq import merge
from itertools import accumulate, pairwise
from operator import and_, attrgetter

from miltext.diagnostics import MiltextError, ParseError, Span, codes, error
from miltext.diagnostics.arguments import checked
from miltext.formatting.document import (
    Comment,
    CommentPlace,
    Document,
    Piece,
    comments_of,
    inside,
    joined,
    on_lines,
    render,
)
from miltext.formatting.layout import Children, FinePhrase, Laid, Layout, literal, name_of
from miltext.parsing.lowering.errors import no_dialect
from miltext.parsing.parser import parse_tree
from miltext.schema.opsets import DIALECTS
from miltext.syntax.comments import are_on_line, owned_before
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.phrases import version
from miltext.syntax.recursion import with_room
from miltext.syntax.tree import Node, Statement, Tree, tokens, transformed

_LINE_BREAK = re.compile(r"[\r\n]")
_LINE_ENDS = re.compile(r"(?<!\r)\r+\n")

_layout = lru_cache(maxsize=4)(Layout)


@with_room
@checked("width", "path")
def format_text(text: str, *, width: int | None = None, path: str | None = None) -> str:
    """Return MIL text in canonical layout: Apple's, an operation a line; comments, dialect and numbers are kept.

    Args:
        text: MIL text or a draft; also phrases that no Program can hold, such as a `tensor_buffer`.
        width: The number of columns beyond which lists of arguments, attributes and inputs are broken, an item a line.
        path: The name that errors show.

    Returns:
        The text.

    Raises:
        ParseError: The text is not MIL text.
        MiltextError: A comment would be lost, through a bug in miltext.

    Example:
        text = miltext.format_text(open("model.mil").read(), width=100)
    """
    try:
        return format_tree(text, parse_tree(text, path, whole=True), width=width, path=path)
    except (ParseError, SyntaxFailure, FinePhrase):
        parse_tree(text, path)  # by the grammar's fine rules, which report the first mistake
        raise


def format_tree(text: str, tree: Tree, *, width: int | None = None, path: str | None = None) -> str:
    """Return a text with this tree of whole operations in canonical layout, as `format_text` does.

    Raise ParseError; SyntaxFailure and FinePhrase at a phrase refused by the fine rules, which no text has that was
    read before.
    """
    document = _document(text, tree, path, breakable=width is not None)
    ends = "\n" if _LINE_BREAK.search(text, len(text.rstrip(" \t\r\n"))) else ""
    return render(document, width) + ends


def _document(text: str, tree: Tree, path: str | None, *, breakable: bool) -> Document:
    """Return the document of a text; raise the errors of `format_tree`."""
    dialect = version(tree.root)
    if dialect.token not in DIALECTS:
        raise ParseError(
            [error(codes.UNKNOWN_DIALECT, no_dialect(dialect.token or ""), dialect.span)], text=text, path=path
        )
    comments = Comments(text, tree)
    with gc_paused:
        lay_out = partial(_laid_out, _layout(dialect.token, breakable=breakable))
        document = transformed(tree.root, lay_out, comments.spelled)
    document = joined([document, *comments.last])
    if sorted(comments_of(document)) != sorted(comments.found):
        raise _fault("a comment would be lost or changed", path)
    return document


def verified_format(text: str, *, width: int | None = None, path: str | None = None) -> str:
    """Format a text, and prove the result: the same Program, every comment once, no change by a second pass.

    If the text is not a Program, such as one with an elided literal, the phrases are compared instead. Raise ParseError
    as `format_text` does, and MiltextError, for a bug in miltext, if the proof fails.
    """
    formatted = format_text(text, width=width, path=path)
    if formatted == text:
        return text
    meaning = _meaning(text, path)
    try:
        fault = None if _meaning(formatted) == meaning else "the Program would change"
        if _comments(formatted) != _comments(text):
            fault = "a comment would be lost or changed"
        elif format_text(formatted, width=width) != formatted:
            fault = "a second pass would change the text again"
    except ParseError:
        fault = "the result would not be read back"
    if fault:
        raise _fault(fault, path)
    return formatted


def _fault(what: str, path: str | None) -> MiltextError:
    return MiltextError([error(codes.INTERNAL_ERROR, f"{what}: a bug in miltext; the text is not changed")], path=path)


def _laid_out(layout: Layout, phrase: Node, values: list[Laid]) -> Laid:
    """Return the document of a phrase."""
    if not isinstance(phrase, Statement):
        return getattr(layout, phrase.name)(values)
    token = values[0]
    if isinstance(token, str):  # as most are, without comments
        return _operation(layout, phrase, token)
    return inside(partial(_operation, layout, phrase), token)


def _operation(layout: Layout, statement: Statement, token: str) -> Laid:
    try:
        return layout.plain_operation(token)
    except FinePhrase:
        return transformed(statement.read(), partial(_laid_out, layout))


class Comments:
    """The comments of a tree, each handed to its token: `spelled` contains the tokens with comments by their starts."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.spelled: dict[int, Laid] = {}
        self.found: list[str] = []
        self.last: list[Document | Piece] = []
        self._text = text
        before: Node | None = None
        waiting: list[Span] = []
        both: Iterable[Node | Span] = merge(tokens(tree.root), tree.comments, key=attrgetter("start"))
        for found in both if tree.comments else ():
            if isinstance(found, Span):
                waiting.append(found)
                continue
            if waiting:
                self._hand_out(before, waiting, found)
            before, waiting = found, []
        self._hand_out(before, waiting, None)

    def _hand_out(self, before: Node | None, spans: Sequence[Span], behind: Node | None) -> None:
        """Hand the comments between two tokens to them; the comments after the program's end are `last`."""
        texts = [self._comment(span) for span in spans]
        self.found += texts
        end = behind.start if behind else len(self._text)
        count = owned_before(self._text, before.end if before else 0, spans, end)
        if before and count:
            beside = [Comment(CommentPlace.INLINE if each[1] == "*" else CommentPlace.LINE_END, each) for each in texts]
            self.spelled.setdefault(before.start, [self._text[slice(*before.span)]]).extend(beside[:count])
        on_line = [are_on_line(self._text, *pair) for pair in pairwise([*spans[count:], Span(end, end)])]
        inline = [*accumulate(reversed(on_line), and_, initial=behind is not None)][:0:-1]
        places = (CommentPlace.INLINE if is_inline else CommentPlace.OWN_LINE for is_inline in inline)
        above = list(map(Comment, places, texts[count:]))
        if behind and above:
            self.spelled[behind.start] = [*above, self._text[slice(*behind.span)]]
        elif above:
            self.last = on_lines(above)

    def _comment(self, span: Span) -> str:
        comment = _LINE_ENDS.sub("\n", self._text[slice(*span)])
        return comment.rstrip() if comment[1] == "/" else comment


# ---- proof


def _meaning(text: str, path: str | None = None) -> bytes | str:
    """Return a text's Program in bytes, or its phrases if no Program can hold them. Raise ParseError."""
    from miltext.parsing.parser import parse

    try:
        return parse(text).SerializeToString(deterministic=True)
    except ParseError:
        pass
    return transformed(parse_tree(text, path).root, _written)  # type: ignore[no-any-return]


def _comments(text: str) -> list[str]:
    if "//" not in text and "/*" not in text:
        return []
    comments = [text[span.start : span.end] for span in parse_tree(text).comments]
    return sorted(_LINE_ENDS.sub("\n", comment).rstrip() for comment in comments)


_PUNCTUATION = frozenset(["(", ")", "[", "]", "{", "}", "<", ">", ",", ";", "=", "$[", "->", "tensor"])
_UNORDERED = frozenset(["program", "bodies", "arguments", "attributes", "marked_attributes", "tensor_type", "blob"])
_NOTHING = frozenset([None, "attributes()", "marked_attributes()", "tensor_attributes()", "dimensions()"])
_ONE = {"single_argument": "argument", "scalar_type": "tensor_type"}


def _written(phrase: Node, children: Children) -> str:
    """Write a phrase as `rule(part part)`, with its parts sorted where their order has no meaning."""
    rule = _ONE.get(phrase.name, phrase.name)
    parts = [child for child in children if child not in _PUNCTUATION and child not in _NOTHING]
    if rule == "raw_list":
        return f"[{', '.join(map(literal, parts))}]"
    if rule not in ("opset", "operation_opset"):
        parts = [name_of(part) for part in map(literal, parts)]
    return f"{rule}({' '.join(sorted(parts) if rule in _UNORDERED else parts)})"
