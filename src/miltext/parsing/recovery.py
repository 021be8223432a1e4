"""Recovery: all errors of a text, and the Program of the rest.

After a syntax error the parse continues at the next `;`, or at the end of the block. `Recovered.flawed` contains the
paths of the skipped phrases, so that they are not reported twice.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Diagnostic, ParseError, Span, codes, error
from miltext.parsing.elaboration import elaborate
from miltext.parsing.spans import Enter, find, phrases_by_path
from miltext.parsing.sync_points import SyncPoints, names_in, opset_in
from miltext.parsing.syntax_errors import syntax_error
from miltext.parsing.tolerant_lowering import TolerantLowering, opaque
from miltext.schema.paths import TOO_DEEP, Path, too_deep
from miltext.schema.proto import Program
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.parser import NestingFailure, Parsed, Places, SyntaxFailure
from miltext.syntax.phrases import UNTYPED
from miltext.syntax.recursion import with_room
from miltext.syntax.tree import Node, flat, folded, last_nodes, leaf, transformed, tree_parser

if TYPE_CHECKING:
    from miltext.syntax.editing import EditedText

PATIENCE = 4
"""The number of consecutive failures without progress in the text that ends the parse."""


AROUND = ("operation", "function", "block", "inner_block", "specialization")
"""The rules of phrases whose inner phrases may be skipped."""


class Gap(NamedTuple):
    """A phrase with an omitted type, by the places of its first part, the `_` of an output, and its last, a name or a
    literal.

    Both may be the same part. `is_array`: the last part names an array in a file. There are thousands of gaps, so
    places are plain integers.
    """

    start: int
    first_end: int
    last_start: int
    end: int
    is_array: bool

    @classmethod
    def of(cls, phrase: Node) -> Gap:
        """Return the gap of a phrase."""
        first, last = phrase.children[0], phrase.children[-1]
        return cls(phrase.start, first.end, last.start, phrase.end, last.name == "array_file")

    @property
    def span(self) -> Span:
        """The place of the phrase."""
        return Span(self.start, self.end)

    @property
    def first(self) -> Span:
        """The place of its first part."""
        return Span(self.start, self.first_end)

    @property
    def last(self) -> Span:
        """The place of its last part."""
        return Span(self.last_start, self.end)


class Recovered(NamedTuple):
    """The result of reading a text.

    `program`, and sometimes `root`, is None if no phrase can be kept. `drafts` are the gaps of a draft, by the path of
    the output, the binding or the attribute to infer. All places are in `text`, which is the long form of a draft in
    the short spelling; `relocated` moves diagnostics to their places in the written text. `written_root` is the tree of
    the written text, if it was requested, or if the text has mistakes.
    """

    text: str

    diagnostics: list[Diagnostic]
    program: Program | None
    root: Node | None
    flawed: set[Path]
    drafts: dict[Path, Gap]
    elaborated: EditedText | None = None
    written_root: Node | None = None

    def relocated(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics, with places in the written text."""
        return self.elaborated.relocated(found) if self.elaborated else [*found]

    def written(self, span: Span) -> Span:
        """Return the place of a span in the written text."""
        return self.elaborated.written(span) if self.elaborated else span


@with_room
def recover(text: str, *, keep: bool = False) -> Recovered:
    """Read a text, with recovery from all errors. With `keep`, keep the tree of a draft in the short spelling."""
    with gc_paused:
        reading = _RecoveringParse(text)
        root = written_root = reading.read()
        try:
            long = elaborate(text, root) if root else None
        except ParseError as failure:
            return Recovered(text, [*reading.diagnostics, *failure.diagnostics], None, None, set(), {}, None, root)
        if long:
            reported, reading = reading.reported, _RecoveringParse(long.text)
            written_root, root = root if keep else None, None  # a tree takes many times the memory of its text
            root = reading.read()
            reading.passed += long.wrong
            reading.speak_of(long, reported)
        wire = reading.lowered(root) if root else None
        if root is None:
            reading.lower_rest()
    diagnostics = reading.diagnostics
    if root is None or not isinstance(wire, bytes):
        return Recovered(reading.text, diagnostics, None, None, set(), {}, long, written_root)
    try:
        program = Program.FromString(wire)
    except Exception:  # each backend of protobuf raises another error for it
        if (step := too_deep(wire)) is None:
            raise
        diagnostics.append(error(codes.NESTED_TOO_DEEPLY, TOO_DEEP, find(root, step).span))
        return Recovered(reading.text, diagnostics, None, root, set(), {}, long, written_root)
    found, drafts = list[tuple[Path, Node]](), dict[Path, Gap]()
    for path, phrase in phrases_by_path(root, reading.is_marked()):
        if phrase.name in UNTYPED:
            drafts[path] = Gap.of(phrase)
        if reading.may_be_flawed(phrase):
            found.append((path, phrase))
    if (drafts or long) and not diagnostics:
        written_root = written_root if keep else None
        root = folded(root, reading.text)
    return Recovered(reading.text, diagnostics, program, root, reading.flawed(found), drafts, long, written_root)


@with_room
def tree_past(text: str) -> Node | None:
    """Return the tree of a text as written, with recovery from all errors; None if no phrase can be kept."""
    with gc_paused:
        return _RecoveringParse(text).read()


class _RecoveringParse:
    """A parse to a tree that repairs its own stack: `anchor` is a place where an operation or a function may begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lowering = TolerantLowering(text)
        self.reported: list[tuple[Diagnostic, list[Node]]] = []
        self.passed: list[int] = []
        self.marks = SyncPoints(text)
        self.parser = tree_parser(STATEMENTS)
        self.states, self.values = self.stack = self.parser.stack()

    def read(self) -> Node | None:
        """Return the tree; None if no phrase can be kept."""
        position: int | None = 0
        furthest, patience = -1, PATIENCE
        while position is not None and patience:
            try:
                return self.parser.run(self.text, Places(leaf, []), self.stack, position)[0]  # type: ignore[no-any-return]
            except NestingFailure as failure:  # noqa: PERF203  # one for each mistake
                self.reported.append((syntax_error(self.text, failure, []), []))
                return None
            except SyntaxFailure as failure:
                self.report(syntax_error(self.text, failure, last_nodes(self.values)))
                position = self.repair(failure.start)
                patience = PATIENCE if failure.start > furthest else patience - 1
                furthest = max(furthest, failure.start)
        return self.finish()

    def lowered(self, phrase: Node) -> Parsed:
        """Return the lowered form of a phrase, the wire form for a program; None for a token."""
        return None if phrase.token is not None else transformed(phrase, self.lowering.lower)

    def lower_rest(self) -> None:
        """Lower the read phrases of a text without a tree, to find their errors."""
        for phrase in flat(self.values):
            self.lowered(phrase)

    def report(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic: only the first at each place, as an error may need several repairs.

        Drop diagnostics about inserted brackets.
        """
        if any(note.span and note.span.start == note.span.end for note in diagnostic.notes):
            return
        if not self.reported or self.reported[-1][0].span != diagnostic.span:
            self.reported.append((diagnostic, last_nodes(self.values)[-1:]))

    def speak_of(self, long: EditedText, written: Iterable[tuple[Diagnostic, list[Node]]]) -> None:
        """Replace the findings at inserted words by the nearest earlier findings in the `written` text."""
        known = {found.span: found for found, _ in written if found.span and not found.notes}
        for index, (found, last) in enumerate(self.reported):
            if found.span is None or long.copies(found.span):
                continue
            same = known.get(long.written(found.span))
            if same and same.code == found.code:
                self.reported[index] = same._replace(span=found.span), last
                continue
            before = [span for span in known if span.start <= long.written(found.span).start]
            if before and (place := long.place_of(max(before))):
                self.reported[index] = known[max(before)]._replace(span=place), last

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics. Errors reported at the definition of a name are not reported again at its uses."""
        own = [diagnostic for diagnostic, last in self.reported if not self.lowering.is_misnamed(*last)]
        return [*self.lowering.diagnostics, *own]

    def may_be_flawed(self, phrase: Node) -> bool:
        """Return whether `flawed` uses a phrase."""
        return phrase.name in AROUND or (phrase.name, phrase.start, phrase.end) in self.lowering.repaired

    def flawed(self, found: list[tuple[Path, Node]]) -> set[Path]:
        """Return the paths of repaired phrases, and of the innermost message at each skipped place."""
        passed = sorted(self.passed)
        flawed = {path for path, phrase in found if (phrase.name, phrase.start, phrase.end) in self.lowering.repaired}
        innermost = {
            place: path
            for path, phrase in found
            if phrase.name in AROUND
            for place in passed[bisect_left(passed, phrase.start) : bisect_right(passed, phrase.end)]
        }
        put_in = {
            path for path, phrase in found if phrase.name == "function" and phrase.start == phrase.children[0].end
        }
        return flawed | put_in | set(innermost.values())

    def is_marked(self) -> Enter:
        """Whether a phrase contains skipped, repaired or omitted parts."""
        marks = sorted([*self.passed, *self.lowering.drafts, *[start for _, start, _ in self.lowering.repaired]])

        def enter(_: Path, phrase: Node) -> bool:
            first = bisect_left(marks, phrase.start)
            return first < len(marks) and marks[first] <= phrase.end

        return enter

    # ---- after a failure: the place to continue at

    def repair(self, start: int) -> int | None:
        """Change the stack so that the parse can continue, and return the place of that; None if it cannot continue."""
        self.parser.settle("RBRACE", self.stack)
        anchor = self.anchor("operation", "function")
        if missing := self.missing(start, anchor):
            self.feed(missing, last_nodes(self.values)[-1].end)
            return start
        begun = self.begun(anchor)
        closed = bool(begun) and begun[0].token == "}"
        if anchor and "operation" in self.states[anchor]:
            return self.repair_closing(start, anchor, begun) if closed else self.repair_operation(start, anchor, begun)
        return None if closed else self.repair_head(start, anchor, begun)

    def missing(self, start: int, anchor: int) -> str | None:
        """Return `;`, `}` or `{` if it is the only missing token before a place."""
        found = self.text[start : start + 2]
        fits = {
            ("SEMICOLON", ";"): found[:1] == "}" or (found[:1] != "(" and self.begins_statement(start)),
            ("RBRACE", "}"): found == "->" and "operation" in self.states[anchor],
            ("LBRACE", "{"): self.is_headed() and self.marks.begins(start, "operation" if anchor else "function"),
        }
        takes = (word for (terminal, word), fit in fits.items() if fit and self.parser.takes(self.states, terminal))
        return next(takes, None)

    def begins_statement(self, start: int) -> bool:
        """Return whether a statement, or the rest of one, begins at a place."""
        return self.marks.begins_line(start) or self.marks.begins(start, "operation")

    def is_headed(self) -> bool:
        """Return whether the read text may be a complete head before a block; after `(`, `{` would begin a
        dictionary.
        """
        last = last_nodes(self.values)[-1:]
        return bool(last) and self.text[last[0].end - 1] in ")]>"

    def repair_operation(self, start: int, anchor: int, begun: list[Node]) -> int | None:
        """Repair a failure at the beginning of an operation or inside it: its names stay defined."""
        head = begun[0].start if begun else start
        if self.marks.begins(head, "function"):
            self.cut(anchor)
            self.close_blocks()
            return head
        end = self.operation_end(start, begun)
        lost = opaque(begun, self.text[head:end], head, start if end is None else end)
        self.cut(anchor)
        self.values.append(lost)
        self.states.append(self.states[-1]["operation"])
        return end

    def operation_end(self, start: int, begun: list[Node]) -> int | None:
        """Return the end of the operation broken at `start`, or the likely beginning of the next.

        Return None at the text's end.
        """
        depth = 0
        for token, at, opens_block in self.tokens(start, begun):
            if depth == 0 and token in (";", "}"):
                if self.marks.ends(at):
                    return at + (token == ";")
                continue
            depth += opens_block - (token == "}")
            is_next = depth == 0 and (begun or at > start) and self.marks.begins_line(at)
            if is_next and self.marks.begins(at, "operation", "function"):
                return at
        return None

    def repair_closing(self, start: int, anchor: int, begun: list[Node]) -> int | None:
        """Repair a failure after the `}` of a block: the next token is missing or wrong, or the `}` is superfluous."""
        closing, *outputs = begun
        if not outputs and self.marks.begins(start, "statement"):
            self.cut(anchor)
            return start
        if not outputs and self.marks.begins(start, "block end"):
            return start + 1
        self.passed.append(closing.end)
        self.cut(anchor + 1)
        written = self.marks.outputs_end(closing.end)
        is_inputs = self.text.startswith("{", start) and len(outputs) > 1 and outputs[1].start > closing.end
        if is_inputs:  # the phrases read as the block's outputs are the inputs of the next block
            written = outputs[1].start
        elif self.text.startswith("(", start) and self.marks.begins(written, "block"):
            is_inputs, written = True, start
        if is_inputs or written > start:
            self.feed("-> ( )", closing.end)
            return written
        for token, at, _ in self.tokens(start):  # up to the `;`
            if token in (";", "{", "}", "$block") or self.marks.begins(at, "function"):
                self.feed("-> ( )" if token in (";", "$block") else "-> ( ) ;", at)
                return at
        return None

    def repair_head(self, start: int, anchor: int, begun: list[Node]) -> int | None:
        """Repair a failure before the first block of the program, or where a function begins, up to its block.

        Without an `anchor`, the program has not begun.
        """
        if anchor and (name := self.input_past(start, anchor)):
            return name
        for token, at, opens_block in self.tokens(start, begun):
            is_function = self.marks.begins(at, "function")
            is_inside = begun and self.marks.begins(at, "definition") and self.marks.begins_line(at)
            if (token == "{" and opens_block) or (is_inside if anchor else is_function):
                self.feed_head(anchor, start, at, begun)
                self.feed("" if token == "{" else "{", at)
                return at
            if is_function and at > start:
                self.cut(anchor)
                return at
        return None

    def input_past(self, start: int, anchor: int) -> int | None:
        """Skip the wrong type of an input, so that the other inputs keep their types; return the place of the input's
        name.
        """
        before = self.anchor("named_value")
        begun = self.begun(before) if before > anchor else []
        head = begun[0].start if begun else start
        if before <= anchor or (len(begun) > 1 and begun[-1].name == "NAME"):
            return None
        named = self.marks.input_name(head)
        if named is None or named < start:
            return None
        self.passed.append(head)
        self.cut(before)
        self.feed("$absent", head)
        return named

    def feed_head(self, anchor: int, start: int, at: int, begun: list[Node]) -> None:
        """Insert the missing tokens before the `{` at a place, for a head broken at `start`.

        Of `func main<ios18>(...)`, the known parts stay: name, opset and inputs.
        """
        head = begun[0].start if begun else start
        title, _, inputs = re.sub(r"->\s*\([^()]*\)", "", self.text[head:at]).partition("(")  # misplaced outputs
        names = [f"$absent {name}" for name in names_in(inputs) if name[0] != "$"]
        of_function = {
            "FUNC": "func",
            "NAME": [f"at_{head}", *names_in(title.partition("<")[0])][-1],
            "opset": opset_in(title),
            "parameters": f"( {' , '.join(names)} )",
        }
        words = of_function if anchor else {"program": "program ( 1.3 )"}
        known = [node.name for node in takewhile(lambda node: node.name in words, begun)]
        self.passed.append(head)
        self.cut(anchor + len(known))
        self.feed(" ".join([*words.values()][[*words].index(known[-1]) + 1 if known else 0 :]), head)

    # ---- the stack

    def anchor(self, *phrases: str) -> int:
        """Return the topmost index of the stack where such a phrase may begin; 0 without one."""
        tops = (index for index in range(len(self.states) - 1, 0, -1) if self.states[index].keys() & phrases)
        return next(tops, 0)

    def begun(self, anchor: int) -> list[Node]:
        """Return the phrases on the stack from an index on."""
        return flat(self.values[anchor:])

    def cut(self, size: int) -> None:
        """Remove the phrases on the stack from an index on, but report their errors."""
        for phrase in self.begun(size):
            self.lowered(phrase)
        del self.values[size:], self.states[size + 1 :]

    def feed(self, words: str, at: int) -> None:
        """Feed inserted words to the parser, at a place of the text."""

        def place(terminal: str, token: str, _: int) -> Node:
            return leaf(terminal, token, at)._replace(end=at)

        with suppress(SyntaxFailure):  # at their end
            self.parser.run(words, Places(place, []), self.stack)

    def close_blocks(self) -> None:
        """Close all blocks of the open function."""
        end = last_nodes(self.values)[-1].end
        while "operation" in self.states[anchor := self.anchor("operation", "function")]:
            self.cut(anchor)
            self.feed("} -> ( ) ;", end)
            self.parser.settle("RBRACE", self.stack)

    def finish(self) -> Node | None:
        """Close the open phrases at the text's end; return the program's tree, None where it has not begun."""
        if not self.anchor("function"):
            return None
        self.close_blocks()
        self.cut(self.anchor("function"))
        self.feed("}", len(self.text))
        self.parser.settle("$END", self.stack)
        return self.values[0]  # type: ignore[no-any-return]

    def tokens(self, start: int, begun: Sequence[Node] = ()) -> Iterator[tuple[str, int, bool]]:
        """Return the tokens of SyncPoints from a place on; the braces of `begun` phrases are open."""
        return self.marks.tokens(start, sum(node.token == "{" for node in begun))
